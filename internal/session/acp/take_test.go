package acp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"davit"
)

// said makes a session/update.
func said(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`
}

func quoted(text string) string { b, _ := json.Marshal(text); return string(b) }

func last(t *testing.T, s Step) Row {
	t.Helper()
	if len(s.Rows) == 0 {
		t.Fatalf("no row: %+v", s)
	}
	return s.Rows[len(s.Rows)-1]
}

// TestNothingIsSilent: what davit does not know, or cannot read, is a row that says so.
func TestNothingIsSilent(t *testing.T) { // spec session, driver acp
	for line, want := range map[string]string{
		said(`{"sessionUpdate":"telepathy","thought":"x"}`): "an update of the unknown kind telepathy",
		said(`{"sessionUpdate":7}`):                         "does not say what it is",
		said(`"x"`):                                         "an update that is no object",
		said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"hologram"}}`):         "content of the unknown type hologram",
		said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":5}}`):    "content of type text that cannot be read",
		said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"%"}}`): "content of type image that cannot be read",
		said(`{"sessionUpdate":"agent_message_chunk"}`):                                       "content that is no object",
		said(`{"sessionUpdate":"tool_call","title":"x"}`):                                     "a tool call without an id",
		said(`{"sessionUpdate":"plan","entries":"x"}`):                                        "a plan that cannot be read",
		said(`{"sessionUpdate":"available_commands_update"}`):                                 "commands that cannot be read",
		said(`{"sessionUpdate":"current_mode_update","currentModeId":"x"}`):                   "of which it offered none",
		said(`{"sessionUpdate":"config_option_update"}`):                                      "options that cannot be read",
		`{"jsonrpc":"2.0","method":"session/update"}`:                                         "an update without parameters",
		`{"jsonrpc":"2.0","method":"x.ai/heartbeat","params":{}}`:                             "the notification x.ai/heartbeat",
		`{"jsonrpc":"2.0","id":99,"result":{}}`:                                               "an answer to 99, which is no open request",
		`{"jsonrpc":"2.0","id":"1","result":{}}`:                                              "which is no open request",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad JSON"}}`:            "could not read what davit sent (bad JSON)",
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}`:              "cancel a request that is not open",
	} {
		f := newFold()
		f.do("ask 1 session/prompt")
		s := f.take(line)
		row := last(t, s)
		if row.Kind != davit.JournalLifecycle || row.Body.Lifecycle.Event != "unknown" || !strings.Contains(row.Body.Text, want) || s.Answered != nil {
			t.Errorf("%s\ngave %s", line, show(row))
		}
	}
}

func TestGarbageIsCounted(t *testing.T) { // spec session S1.10
	f := newFold()
	for _, line := range []string{"npm warn", "", "   ", "\xff\xfe", `{"jsonrpc":"2.0"}`} {
		f.take(line)
	}
	merged := Merge(f.rows)
	if len(f.rows) != 3 || len(merged) != 1 || merged[0].Body.Lifecycle.Count != 3 || merged[0].Body.Blob.Head != `{"jsonrpc":"2.0"}` {
		t.Errorf("%s", showAll(merged))
	}
	// A flood of it between two pieces of a message does not cut the message in two.
	f.take(words[0])
	f.take("npm warn")
	if f.take(words[0]); f.rows[len(f.rows)-1].Item != f.rows[len(f.rows)-3].Item {
		t.Errorf("%s", showAll(f.rows))
	}
	if merged := Merge(f.rows); len(merged) != 3 || merged[1].Body.Text != "Hi 😀 Hi 😀 " || merged[2].Body.Lifecycle.Count != 1 || merged[1].Revision != 2 {
		t.Errorf("%s", showAll(merged))
	}
}

// TestAnswersCountOnce: an answer is given once for each request of ours that is open.
func TestAnswersCountOnce(t *testing.T) { // spec session S1.2
	f := newFold()
	f.do("ask 1 initialize")
	f.do("ask 2 session/new")
	s := f.take(`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)
	if a := s.Answered; a == nil || a.ID != 1 || a.Method != "initialize" || string(a.Result) != `{"a":1}` || last(t, s).Body.Request.State != "answered" || last(t, s).Item != f.rows[0].Item {
		t.Errorf("%+v", s)
	}
	if s := f.take(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"again"}}`); s.Answered != nil || len(s.Rows) != 1 {
		t.Errorf("the second answer: %+v", s)
	}
	s = f.take(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}`)
	if a := s.Answered; a == nil || !SignInNeeded(a.Err) || NoMethod(a.Err) || last(t, s).Body.Request.State != "failed" {
		t.Errorf("%+v", s)
	}
	f.do("ask 3 session/set_mode")
	f.do("ask 12 session/set_mode")
	rows := f.c.DropRequests()
	if len(rows) != 2 || rows[0].Body.Request.ID != "3" || rows[1].Body.Request.State != "cancelled" {
		t.Errorf("dropped %s", showAll(rows))
	}
	if s := f.take(`{"jsonrpc":"2.0","id":3,"result":{}}`); s.Answered != nil {
		t.Errorf("an answer after its process was gone: %+v", s)
	}
}

// TestRequestsThatAreNotServed: davit declares neither files nor terminals, and says so at
// once.
func TestRequestsThatAreNotServed(t *testing.T) { // spec session S1.2
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "x/y"} {
		s := newFold().take(`{"jsonrpc":"2.0","id":"q","method":"` + method + `","params":{}}`)
		want := `{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"davit does not serve ` + method + `"}}` + "\n"
		r := last(t, s).Body.Request
		if string(s.Reply) != want || string(s.ReplyTo) != `"q"` || s.Method != method || r == nil || r.Direction != "agent" || r.State != "failed" || r.Method != method {
			t.Errorf("%s: %s, %+v", method, s.Reply, r)
		}
	}
}

const permission = `{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":%q,"title":"Write it"},"options":[{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`

func TestPermission(t *testing.T) { // spec session S1.7
	f := newFold()
	f.do("turn t1")
	first := f.take(fmt.Sprintf(permission, `5`, "never-announced")).Ask
	second := f.take(fmt.Sprintf(permission, `"x"`, "call-2")).Ask
	if first == nil || second == nil || len(f.c.Open()) != 2 || first.Title != "Write it" || len(first.Options) != 2 {
		t.Fatalf("%+v %+v", first, second)
	}
	if s := f.take(fmt.Sprintf(permission, `5`, "call-3")); s.Ask != nil || s.Reply != nil || last(t, s).Body.Lifecycle.Event != "unknown" {
		t.Errorf("a second question under an open id: %+v", s)
	}
	row, ask, err := f.c.Decide(second.Item, second.Revision, "answered", "once", "a page", "")
	if err != nil || string(ask.RPCID) != `"x"` || row.Revision != second.Revision+1 || row.Body.Approval.Choice != "once" || row.Body.Approval.By != "a page" {
		t.Fatalf("%+v %+v %v", row, ask, err)
	}
	for name, c := range map[string]struct {
		item, state, choice string
		revision            uint64
		code                davit.Code
	}{
		"another client answered": {second.Item, "answered", "no", second.Revision, davit.CodeAlreadyResolved},
		"no such question":        {"approval-99", "answered", "no", 1, davit.CodeNotFound},
		"another revision":        {first.Item, "answered", "no", first.Revision + 1, davit.CodeInvalid},
		"no such option":          {first.Item, "answered", "always", first.Revision, davit.CodeInvalid},
		"no such state":           {first.Item, "open", "", first.Revision, davit.CodeInvalid},
	} {
		_, ask, err := f.c.Decide(c.item, c.revision, c.state, c.choice, "me", "")
		if davit.CodeOf(err) != c.code || ask != nil {
			t.Errorf("%s: %v", name, err)
		}
		var e *davit.Error
		if c.code == davit.CodeAlreadyResolved && errors.As(err, &e) {
			if a, ok := e.Details["approval"].(davit.Approval); !ok || a.Choice != "once" {
				t.Errorf("%s: details %v", name, e.Details)
			}
		}
	}
	rows := f.c.EndTurn("cancelled", "", "")
	if rows[0].Item != first.Item || rows[0].Body.Approval.State != "cancelled" || len(f.c.Open()) != 0 {
		t.Errorf("abandoned: %s", showAll(rows))
	}
	if f.c.BeginTurn("t2"); f.take(fmt.Sprintf(permission, `6`, "call-9")).Ask == nil {
		t.Fatal("no question")
	}
	if rows = f.c.EndTurn("exited", "", ""); rows[0].Body.Approval.State != "denied" || rows[0].Body.Approval.Reason == "" {
		t.Errorf("abandoned by its agent: %s", showAll(rows))
	}
}

// TestPermissionThatCannotBeRead is denied at once, and the agent hears it.
func TestPermissionThatCannotBeRead(t *testing.T) { // spec session S1.7
	for _, params := range []string{`null`, `{}`, `[1]`, `{"toolCall":{"toolCallId":"a"},"options":[]}`, `{"toolCall":{"toolCallId":"a"},"options":[{"name":"x"},7]}`,
		`{"toolCall":{},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}`, `{"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}`} {
		f := newFold()
		s := f.take(`{"jsonrpc":"2.0","id":4,"method":"session/request_permission","params":` + params + `}`)
		a := last(t, s).Body.Approval
		if s.Ask != nil || string(s.Reply) != `{"jsonrpc":"2.0","id":4,"result":{"outcome":{"outcome":"cancelled"}}}`+"\n" || a == nil || a.State != "denied" || a.Reason == "" || len(f.c.Open()) != 0 {
			t.Errorf("%s: %s %+v", params, s.Reply, a)
		}
	}
}

func TestPermissionTakenBack(t *testing.T) {
	f := newFold()
	ask := f.take(fmt.Sprintf(permission, `5`, "call-1")).Ask
	s := f.take(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
	if s.Closed == nil || s.Closed.Item != ask.Item || last(t, s).Body.Approval.State != "cancelled" || !strings.Contains(string(s.Reply), `"id":5,"error":{"code":-32800`) {
		t.Errorf("%+v", s)
	}
}

// TestToolCall: updates are partial, rows say the whole; diffs are items of their own.
func TestToolCall(t *testing.T) { // spec session S1.1
	f := newFold()
	f.do("turn t1")
	f.take(said(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","kind":"edit","status":"pending","locations":[{"path":"/a","line":2}],"rawInput":{"path": "/a"}}`))
	f.take(said(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"diff","path":"/a","oldText":"one\ntwo\nthree\n","newText":"one\n2\nthree\nfour\n"},{"type":"content","content":{"type":"text","text":"ok"}}]}`))
	s := f.take(said(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}],"rawOutput":{"x":1}}`))
	call := last(t, s).Body.Tool
	if call.Title != "Edit" || call.Kind != "edit" || call.State != "done" || call.Locations[0] != (davit.ToolLocation{Path: "/a", Line: 2}) ||
		call.Input.Head != `{"path":"/a"}` || len(call.Output) != 1 || call.Output[0].Head != "done" || len(call.Diffs) != 1 {
		t.Errorf("%s", show(last(t, s)))
	}
	for _, r := range f.rows {
		if d := r.Body.Diff; d != nil && (d.Added != 2 || d.Removed != 1 || d.Tool != "tool-2" || r.Item != call.Diffs[0] || d.Old == nil || d.Path != "/a") {
			t.Errorf("%s", show(r))
		}
	}
	// The same again says nothing new.
	if s := f.take(said(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"diff","path":"/a","oldText":"one\ntwo\nthree\n","newText":"one\n2\nthree\nfour\n"}]}`)); len(s.Rows) != 0 {
		t.Errorf("again: %s", showAll(s.Rows))
	}
	// What still runs when a turn ends, ends with it.
	f.take(said(`{"sessionUpdate":"tool_call","toolCallId":"d","title":"Wait","status":"in_progress"}`))
	rows := f.c.EndTurn("error", "it broke", strings.Repeat("é", 5000))
	if len(rows) != 2 || rows[0].Body.Tool.State != "failed" || rows[1].Body.TurnState.Reason != "error" || len(rows[1].Body.TurnState.Stderr) > maxStderr || strings.ContainsRune(rows[1].Body.TurnState.Stderr, '\uFFFD') {
		t.Errorf("%s", showAll(rows))
	}
}

func TestLargePayloads(t *testing.T) { // spec session S1.4
	f := newFold()
	long := strings.Repeat("€", 10000)
	s := f.take(said(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read","content":[{"type":"content","content":{"type":"text","text":` + quoted(long) + `}}]}`))
	out := last(t, s).Body.Tool.Output[0]
	if out.Size != len(long) || len(out.Head) > blobHead || !strings.HasPrefix(long, out.Head) || len(out.Head) < blobHead-3 || f.payloads[out.Digest] != long {
		t.Errorf("%d bytes of head, size %d, digest %s", len(out.Head), out.Size, out.Digest)
	}
	picture := string([]byte{0, 1, 2, 255})
	s = f.take(said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString([]byte(picture)) + `"}}`))
	if b := last(t, s).Body.Blob; b == nil || b.Mime != "image/png" || b.Size != 4 || f.payloads[b.Digest] != picture {
		t.Errorf("%+v", b)
	}
	s = f.take(said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"text/html; x=<script>","data":"aGk="}}`))
	if b := last(t, s).Body.Blob; b.Mime != "application/octet-stream" {
		t.Errorf("%+v", b)
	}
	// A message of 2 MB in one piece is a head and a payload; in small pieces it is several items.
	s = f.take(said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("=", 2<<20) + `"}}`))
	if b := last(t, s).Body.Blob; b == nil || b.Size != 2<<20 || len(f.payloads[b.Digest]) != 2<<20 {
		t.Errorf("%+v", b)
	}
	f.rows = nil
	for range 20 {
		f.take(said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("=", 100<<10) + `"}}`))
	}
	items := map[string]int{}
	for _, r := range f.rows {
		items[r.Item] = r.Body.At + units(r.Body.Text)
		if items[r.Item] > maxRun {
			t.Errorf("%s has %d units", r.Item, items[r.Item])
		}
	}
	if len(items) != 2 {
		t.Errorf("%d items", len(items))
	}
}

// TestLoadTellsThePastAgain: what an agent tells again while it loads is not journaled twice;
// a past that the journal does not know is.
func TestLoadTellsThePastAgain(t *testing.T) { // spec session S1.9
	past := []string{
		said(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Hello"}}`),
		said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}`),
		said(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit"}`),
		said(`{"sessionUpdate":"usage_update","used":3,"size":10}`),
	}
	for _, known := range []bool{true, false} {
		f := newFold()
		if known {
			f.do("user Hello")
		}
		f.do("ask 1 session/load")
		before := len(f.rows)
		for _, line := range past {
			f.take(line)
		}
		if got, want := len(f.rows)-before, map[bool]int{false: 3}[known]; got != want || f.c.View().Usage == nil || f.c.View().Title != "Hello" {
			t.Errorf("known %v: %d rows, want %d: %s", known, got, want, showAll(f.rows[before:]))
		}
		f.take(`{"jsonrpc":"2.0","id":1,"result":null}`)
		if s := f.take(past[1]); len(s.Rows) != 1 {
			t.Errorf("after loading: %+v", s)
		}
	}
}

func TestEchoOfTheUser(t *testing.T) {
	f := newFold()
	f.do("user Hello there")
	f.do("turn t1")
	if s := f.take(said(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Hello there"}}`)); len(s.Rows) != 0 {
		t.Errorf("an echo is no news: %s", showAll(s.Rows))
	}
	if s := f.take(said(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Something else"}}`)); len(s.Rows) != 1 {
		t.Errorf("another message of the user's: %s", showAll(s.Rows))
	}
}

func TestQueuedMessageLeavesTheAnswerWhole(t *testing.T) { // spec session S1.8
	f := newFold()
	f.do("turn t1")
	f.take(words[0])
	f.do("user next")
	if s := f.take(words[0]); last(t, s).Item != f.rows[1].Item || last(t, s).Body.At != 6 {
		t.Errorf("%s", showAll(f.rows))
	}
}

func TestCountLines(t *testing.T) {
	many := func(n int, word string) string { return strings.Repeat(word+"\n", n) }
	var odd strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&odd, "%d\n", i)
	}
	for _, c := range []struct {
		old, text      string
		added, removed int
	}{
		{"", "", 0, 0}, {"", "a\nb", 2, 0}, {"a\nb\n", "", 0, 2}, {"a\nb\nc", "a\nc", 0, 1}, {"a\nb\n", "a\nb\nc\n", 1, 0},
		{"a\nb\nc\nd\n", "b\nX\nd\ne\n", 2, 2}, {"x\n", "y\n", 1, 1}, {many(5, "a"), many(9, "a"), 4, 0},
		{odd.String(), many(6000, "z"), 6000, 6000}, // past the bound: all of it
	} {
		if a, r := countLines(c.old, c.text); a != c.added || r != c.removed {
			t.Errorf("%.20q → %.20q: +%d −%d, want +%d −%d", c.old, c.text, a, r, c.added, c.removed)
		}
	}
}
