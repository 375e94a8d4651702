package acp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"davit"

	"github.com/coder/acp-go-sdk"
)

func TestSessionOptions(t *testing.T) {
	c := NewConversation("s")
	resume, err := c.ReadSession(json.RawMessage(`{"sessionId":"abc","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"plan","name":"Plan","description":"d"}]},
		"models":{"currentModelId":"m1","availableModels":[{"modelId":"m1","name":"M 1"}]},
		"configOptions":[{"id":"thinking","name":"Thinking","type":"select","category":"thought_level","currentValue":"high","options":[{"group":"g","name":"G","options":[{"value":"high","name":"High"}]},{"value":"low","name":"Low"}]},
		{"id":"turbo","name":"Turbo","type":"boolean","currentValue":true}]}`))
	if err != nil || resume != "abc" {
		t.Fatal(resume, err)
	}
	want := []davit.AgentOption{
		{ID: "thinking", Name: "Thinking", Value: "high", Category: "effort", Via: "config", Choices: []davit.AgentChoice{{ID: "high", Name: "High"}, {ID: "low", Name: "Low"}}},
		{ID: "mode", Name: "Mode", Value: "ask", Category: "mode", Via: "mode", Choices: []davit.AgentChoice{{ID: "ask", Name: "Ask"}, {ID: "plan", Name: "Plan", Description: "d"}}},
		{ID: "model", Name: "Model", Value: "m1", Category: "model", Via: "model", Choices: []davit.AgentChoice{{ID: "m1", Name: "M 1"}}},
	}
	if v := c.View(); !reflect.DeepEqual(v.Options, want) || !reflect.DeepEqual(v.Capped, []string{"1 of 2 options"}) {
		t.Errorf("%+v\n%v", v.Options, v.Capped)
	}
	for i, method := range []string{
		`"session/set_config_option","params":{"configId":"thinking","sessionId":"abc","value":"low"}`,
		`"session/set_mode","params":{"modeId":"plan","sessionId":"abc"}`,
	} {
		line, err := SetOption(9, "abc", want[i], []string{"low", "plan"}[i])
		if err != nil || string(line) != `{"jsonrpc":"2.0","id":9,"method":`+method+"}\n" {
			t.Errorf("%s, %v", line, err)
		}
	}
	if _, err := SetOption(9, "abc", want[1], "yolo"); davit.CodeOf(err) != davit.CodeInvalid {
		t.Errorf("a value that is not offered: %v", err)
	}
	before := c.View().Options
	c.ReadOption(want[1], "plan", json.RawMessage(`{}`))
	if c.View().Options[1].Value != "plan" || before[1].Value != "ask" {
		t.Errorf("set to %+v; what was handed out before: %+v", c.View().Options[1], before[1])
	}
	s := c.Take(Decode(Line{Data: []byte(said(`{"sessionUpdate":"current_mode_update","currentModeId":"ask"}`))}))
	if !s.View || len(s.Rows) != 1 || s.Rows[0].Body.Text != "Mode: Ask" {
		t.Errorf("%+v", s)
	}
	// An update of the config options leaves the older kinds alone; one with the same
	// category replaces them.
	c.Take(Decode(Line{Data: []byte(said(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"m","name":"M","category":"model","currentValue":"x","options":[]}]}`))}))
	var ids []string
	for _, o := range c.View().Options {
		ids = append(ids, o.Via+"/"+o.ID)
	}
	if strings.Join(ids, " ") != "config/m mode/mode" {
		t.Errorf("options %v", ids)
	}
}

// TestBounds: what an agent offers by the thousand is cut, and it is said.
func TestBounds(t *testing.T) {
	list := func(n int, item string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	f := newFold()
	f.take(said(`{"sessionUpdate":"available_commands_update","availableCommands":` + list(2000, `{"name":"/c#","description":"d","input":{"hint":"h"}}`) + `}`))
	_, _ = f.c.ReadSession(json.RawMessage(`{"models":{"currentModelId":"m4999","availableModels":` + list(5000, `{"modelId":"m#"}`) + `}}`))
	v := f.c.View()
	if len(v.Commands) != maxCommands || v.Commands[3] != (davit.AgentSlash{Name: "c3", Description: "d", Hint: "h"}) {
		t.Errorf("%d commands, %+v", len(v.Commands), v.Commands[3])
	}
	choices := v.Options[0].Choices
	if len(choices) != maxChoices+1 || choices[maxChoices].ID != "m4999" {
		t.Errorf("%d choices, last %+v", len(choices), choices[len(choices)-1])
	}
	if got := strings.Join(v.Capped, ", "); got != "500 of 2000 commands, 1001 of 5000 choices of Model" {
		t.Errorf("capped: %s", got)
	}
	s := f.take(said(`{"sessionUpdate":"tool_call","toolCallId":"` + strings.Repeat("i", 3000) + `","title":` + quoted(strings.Repeat("é", 5000)) + `,"locations":` + list(500, `{"path":"/#"}`) +
		`,"content":` + list(500, `{"type":"diff","path":"/#","newText":"x"}`) + `}`))
	call := s.Rows[0]
	if len(call.Body.Tool.Locations) != maxLocations || len(s.Rows) != 1+maxDiffs || len(call.Body.Tool.Title) > maxName || len(call.Body.Tool.ID) > maxName ||
		call.Body.Text != "These are the first 100 of 500 locations. These are the first 100 of 500 pieces of content." {
		t.Errorf("%d rows, %s", len(s.Rows), call.Body.Text)
	}
	s = f.take(said(`{"sessionUpdate":"plan","entries":` + list(5000, `{"content":"#","status":"in_progress"}`) + `}`))
	if r := s.Rows[0]; len(r.Body.Plan) != maxPlan || r.Body.Plan[0].State != "running" || r.Body.Text != "These are the first 200 of 5000 steps." {
		t.Errorf("%d steps, %q", len(r.Body.Plan), r.Body.Text)
	}
	s = f.take(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"x"},"options":` + list(100, `{"optionId":"o#","name":"O","kind":"allow_once"}`) + `}}`)
	if s.Ask == nil || len(s.Ask.Options) != maxAnswers || last(t, s).Body.Text != "68 more answers were offered that davit cannot take." {
		t.Errorf("%+v", last(t, s).Body)
	}
	for i := range 3000 {
		f.take(said(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"n%d"}`, i)))
		f.take(fmt.Sprintf(permission, fmt.Sprint(1000+i), fmt.Sprintf("n%d", i)))
	}
	if n, open := len(f.c.tools.order), len(f.c.Open()); n != maxTools || len(f.c.tools.byID) != n || open != maxOpenAsks || len(f.c.approvals.order) != maxApprovals {
		t.Errorf("%d tool calls, %d open questions, %d remembered", n, open, len(f.c.approvals.order))
	}
}

func TestViewUpdates(t *testing.T) {
	f := newFold()
	f.do("user   Fix the build\nplease")
	if got := f.c.View().Title; got != "Fix the build" {
		t.Errorf("title %q", got)
	}
	if s := f.take(said(`{"sessionUpdate":"session_info_update","title":"Build repair"}`)); !s.View || f.c.View().Title != "Build repair" {
		t.Errorf("%+v %q", s, f.c.View().Title)
	}
	if f.take(said(`{"sessionUpdate":"session_info_update","updatedAt":"x"}`)); f.c.View().Title != "Build repair" {
		t.Errorf("title %q", f.c.View().Title)
	}
	f.take(said(`{"sessionUpdate":"usage_update","used":1200,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}`))
	f.take(said(`{"sessionUpdate":"usage_update","used":-5,"size":1e300}`))
	if u := f.c.View().Usage; *u != (davit.AgentUsage{Size: 1 << 53, Cost: 0.25, Currency: "USD"}) {
		t.Errorf("%+v", u)
	}
}

func TestReadResults(t *testing.T) {
	i, err := ReadInitialize(json.RawMessage(`{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"n","title":"The Agent","version":"2"},"authMethods":[{"id":"login","name":"Log in"}]}`))
	if err != nil || !reflect.DeepEqual(i, Initialized{CanLoad: true, Protocol: 1, AgentName: "The Agent", AgentVersion: "2", SignIn: []AuthMethod{{ID: "login", Name: "Log in"}}}) {
		t.Errorf("%+v, %v", i, err)
	}
	for _, result := range []string{`null`, `[]`, `{}`, `{"protocolVersion":2}`, `{"protocolVersion":"1"}`} {
		if _, err := ReadInitialize(json.RawMessage(result)); davit.CodeOf(err) != davit.CodeAgentProtocol {
			t.Errorf("initialize %s: %v", result, err)
		}
	}
	if reason, err := ReadPrompt(json.RawMessage(`{"stopReason":"max_tokens"}`)); reason != "max_tokens" || err != nil {
		t.Error(reason, err)
	}
	for _, result := range []string{`null`, `7`, `{}`, `{"stopReason":9}`} {
		if _, err := ReadPrompt(json.RawMessage(result)); davit.CodeOf(err) != davit.CodeAgentProtocol {
			t.Errorf("prompt %s: %v", result, err)
		}
	}
	c := NewConversation("s")
	for _, result := range []string{`"x"`, `{"sessionId":7}`, `{"sessionId":"` + strings.Repeat("x", 9000) + `"}`} {
		if _, err := c.ReadSession(json.RawMessage(result)); davit.CodeOf(err) != davit.CodeAgentProtocol {
			t.Errorf("session %.30s: %v", result, err)
		}
	}
	for text, want := range map[string][2]bool{
		`{"code":-32000,"message":"Authentication required"}`: {true, false},
		`{"code":-32603,"message":"auth_required: log in"}`:   {true, false},
		`{"code":-32601,"message":"Method not found"}`:        {false, true},
		`{"code":-32000,"message":"rate limit reached"}`:      {false, false},
		`{"code":-32603,"message":"it broke"}`:                {false, false},
	} {
		e := readError(json.RawMessage(text))
		if SignInNeeded(e) != want[0] || NoMethod(e) != want[1] {
			t.Errorf("%s: %v %v", text, SignInNeeded(e), NoMethod(e))
		}
	}
}

// TestRequestsAreTheProtocol: the SDK reads what davit sends.
func TestRequestsAreTheProtocol(t *testing.T) {
	read := func(line []byte, method string, params any) string {
		f := Decode(Line{Data: line[:len(line)-1]})
		if f.Method != method || line[len(line)-1] != '\n' || strings.Count(string(line), "\n") != 1 {
			t.Errorf("%s is no %s", line, method)
		}
		if err := json.Unmarshal(f.Params, params); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return string(f.ID)
	}
	var i acp.InitializeRequest
	if id := read(Initialize(1, "1.2"), "initialize", &i); id != "1" || i.ProtocolVersion != 1 || i.ClientInfo.Version != "1.2" || i.ClientCapabilities.Terminal || i.ClientCapabilities.Fs.ReadTextFile {
		t.Errorf("%+v", i)
	}
	var n acp.NewSessionRequest
	if read(NewSession(2, "/a b"), "session/new", &n); n.Cwd != "/a b" || n.McpServers == nil {
		t.Errorf("%+v", n)
	}
	var l acp.LoadSessionRequest
	if read(LoadSession(3, "abc", "/w"), "session/load", &l); l.SessionId != "abc" || l.Cwd != "/w" || l.McpServers == nil {
		t.Errorf("%+v", l)
	}
	var p acp.PromptRequest
	text := "line 1\nline 2 \u2028 \x00 \xff"
	if read(Prompt(4, "abc", text), "session/prompt", &p); p.SessionId != "abc" || p.Prompt[0].Text.Text != strings.ToValidUTF8(text, "\uFFFD") {
		t.Errorf("%+v", p)
	}
	var c acp.CancelNotification
	if id := read(Cancel("abc"), "session/cancel", &c); id != "" || c.SessionId != "abc" {
		t.Errorf("%+v", c)
	}
	for line, want := range map[string]string{
		string(Allow(json.RawMessage(`"x"`), "once")):        `{"jsonrpc":"2.0","id":"x","result":{"outcome":{"optionId":"once","outcome":"selected"}}}`,
		string(Cancelled(json.RawMessage(`7`))):              `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}`,
		string(Fail(json.RawMessage(`7`), -32601, "no <x>")): `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no \u003cx\u003e"}}`,
	} {
		if line != want+"\n" {
			t.Errorf("%s, want %s", line, want)
		}
	}
}
