package intent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"davit"
)

const minimal = `{"agent":"practice","target":{"kind":"existing","worktree":"active"}`

func TestDecodeIntent(t *testing.T) { // spec launch L1, L9.1
	raw := `{"agent":"practice","operationId":"1764504000000-0123456789abcdef0123456789abcdef","host":"h_1",
		"target":{"kind":"create-worktree","create":{"repo":"active","name":"n","nameWasGenerated":true,"branch":"b","baseBranch":"main",
			"setupDecision":"skip","removeOnClose":true,"startupAgent":1,"startupCommand":null,"startupPrompt":"","startupDraft":{},
			"startupLaunchConfig":[],"startupEnv":{},"startupCommandDelivery":"x","launchSource":"y"}},
		"prompt":{"text":" a\n","delivery":"submit"},"sessionOptions":{"model":"m"},"agentArgs":null,"cwd":"sub","resume":"0198-x","launchSource":"else",
		"paneKey":"t_0123456789abcdef:p_0123456789abcdef","sessionId":"practice_01234567_0123_0123_0123_0123456789ab",
		"accountEnv":{"A":"b"},"nativeChatDefault":false,"surface":"terminal","placement":{"groupId":"g","afterTabId":"t_1","more":1},"presentation":"background"}`
	got, err := Decode(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := davit.Intent{
		Agent: "practice", OperationID: "1764504000000-0123456789abcdef0123456789abcdef", Host: "h_1",
		Target: davit.Target{Kind: davit.TargetWorktree, Create: Encode(davit.CreateWorktree{
			Repo: "active", Name: "n", NameWasGenerated: true, Branch: "b", BaseBranch: "main", SetupDecision: "skip", RemoveOnClose: true})},
		Prompt: &davit.Prompt{Text: " a\n", Delivery: "submit"}, SessionOptions: map[string]string{"model": "m"},
		AgentArgs: davit.OptionalString{Present: true, Null: true}, Cwd: "sub", Resume: "0198-x", LaunchSource: "else",
		PaneKey: "t_0123456789abcdef:p_0123456789abcdef", SessionID: "practice_01234567_0123_0123_0123_0123456789ab",
		AccountEnv: map[string]string{"A": "b"}, NativeChatDefault: &no, Surface: davit.Terminal,
		Placement: &davit.Placement{GroupID: "g", AfterTabID: "t_1"}, Presentation: "background",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// TestEveryFieldIsDecoded holds the list of names in Decode to the vocabulary.
func TestEveryFieldIsDecoded(t *testing.T) {
	for i := range reflect.TypeFor[davit.Intent]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[davit.Intent]().Field(i).Tag.Get("json"), ",")
		_, err := Decode(json.RawMessage(`{"` + name + `":0}`))
		if davit.CodeOf(err) == davit.CodeLaunchFieldRefused {
			t.Errorf("%s is not known", name)
		}
	}
}

func TestDecodeRefuses(t *testing.T) { // spec launch L1, L1.1
	create := func(payload string) string {
		return `{"agent":"practice","target":{"kind":"create-worktree","create":` + payload + `}`
	}
	for _, c := range []struct {
		raw  string
		code davit.Code
		says string // the field's name
	}{
		{``, davit.CodeInvalid, ""}, {`null`, davit.CodeInvalid, ""}, {`[]`, davit.CodeInvalid, ""}, {`{`, davit.CodeInvalid, ""},
		{minimal + `} {}`, davit.CodeInvalid, "followed"}, {minimal + `,"cwd":"` + "\xff" + `"}`, davit.CodeInvalid, "UTF-8"},
		{`{}`, davit.CodeInvalid, "target"}, {`{"agent":" ","target":{"kind":"existing","worktree":"active"}}`, davit.CodeInvalid, "agent"},
		{`{"agent":"practice"}`, davit.CodeInvalid, "target"},
		{`{"agent":null,"target":{}}`, davit.CodeInvalid, "agent"}, {`{"agent":1,"target":{}}`, davit.CodeInvalid, "agent"},
		{minimal + `,"Agent":"x"}`, davit.CodeLaunchFieldRefused, "Agent"},
		{minimal + `,"agentargs":"x"}`, davit.CodeLaunchFieldRefused, "agentargs"},
		{minimal + `,"yolo":true}`, davit.CodeLaunchFieldRefused, "yolo"},
		{minimal + `,"agent":"other"}`, davit.CodeInvalid, "agent"}, // twice
		{minimal + `,"cwd":null}`, davit.CodeInvalid, "cwd"},
		{minimal + `,"accountEnv":{"A":1}}`, davit.CodeInvalid, "accountEnv"},
		{minimal + `,"accountEnv":{"A=B":"1"}}`, davit.CodeInvalid, "accountEnv"},
		{minimal + `,"agentArgs":7}`, davit.CodeInvalid, "agentArgs"},
		{minimal + `,"nativeChatDefault":"yes"}`, davit.CodeInvalid, "nativeChatDefault"},
		{minimal + `,"resume":"-x"}`, davit.CodeInvalid, "resume"}, {minimal + `,"resume":" "}`, davit.CodeInvalid, "resume"},
		{minimal + `,"resume":"a\u0000b"}`, davit.CodeInvalid, "resume"}, {minimal + `,"resume":null}`, davit.CodeInvalid, "resume"},
		{minimal + `,"resume":"a","reuseTerminal":{"handle":"term_1"}}`, davit.CodeInvalid, "resume"},
		{`{"target":{"kind":"existing","worktree":"active"},"sessionId":"x_01234567_0123_0123_0123_0123456789ab"}`, davit.CodeInvalid, "agent"},
		{minimal + `,"surface":"chat"}`, davit.CodeInvalid, "surface"},
		{minimal + `,"presentation":"hidden"}`, davit.CodeInvalid, "presentation"},
		{minimal + `,"paneKey":"../x:y"}`, davit.CodeInvalid, "paneKey"},
		{minimal + `,"paneKey":"t_0123456789abcdef:p_0123456789abcdef\n"}`, davit.CodeInvalid, "paneKey"},
		{minimal + `,"sessionId":"claude_01234567_0123_0123_0123_0123456789ab"}`, davit.CodeInvalid, "sessionId"},
		{minimal + `,"prompt":"hello"}`, davit.CodeInvalid, "prompt"},
		{minimal + `,"prompt":{"text":"x"}}`, davit.CodeInvalid, "prompt.delivery"},
		{minimal + `,"prompt":{"text":"x","delivery":"later"}}`, davit.CodeInvalid, "prompt.delivery"},
		{minimal + `,"prompt":{"text":"x","delivery":"submit","images":[]}}`, davit.CodeLaunchFieldRefused, "prompt.images"},
		{minimal + `,"prompt":{"text":"x","delivery":"later"}}`, davit.CodeInvalid, "prompt.delivery"},
		{minimal + `,"reuseTerminal":{"handle":" "}}`, davit.CodeInvalid, "reuseTerminal.handle"},
		{create(`{"repo":"active"}`) + `,"reuseTerminal":{"handle":"term_x"}}`, davit.CodeLaunchReuseExisting, "reuseTerminal"},
		{`{"agent":"practice","target":{"kind":"existing"}}`, davit.CodeInvalid, "target.worktree"},
		{`{"agent":"practice","target":{"kind":"existing","worktree":"active","workspacePath":"/"}}`, davit.CodeLaunchFieldRefused, "target.workspacePath"},
		{`{"agent":"practice","target":{"kind":"existing","worktree":"active","connectionId":"c"}}`, davit.CodeLaunchFieldRefused, "target.connectionId"},
		{`{"agent":"practice","target":{"kind":"existing","worktree":"active","path":"c"}}`, davit.CodeLaunchFieldRefused, "target.path"},
		{`{"agent":"practice","target":{"kind":"clone"}}`, davit.CodeInvalid, "target.kind"},
		{create(`null`) + `}`, davit.CodeInvalid, "target.create"},
		{create(`{}`) + `}`, davit.CodeInvalid, "target.create.repo"},
		{create(`{"repo":""}`) + `}`, davit.CodeInvalid, "target.create.repo"},
		{create(`{"repo":"active","force":true}`) + `}`, davit.CodeLaunchFieldRefused, "target.create.force"},
		{create(`{"repo":"active","Name":"x"}`) + `}`, davit.CodeLaunchFieldRefused, "target.create.Name"},
		{create(`{"repo":"active","setupDecision":"maybe"}`) + `}`, davit.CodeInvalid, "target.create.setupDecision"},
		{create(`{"repo":"active","setupPolicy":"later"}`) + `}`, davit.CodeInvalid, "target.create.setupPolicy"},
		{create(`{"repo":"active"}`) + `,"cwd":"/etc"}`, davit.CodeInvalid, "cwd"},
		{create(`{"repo":"active"}`) + `,"cwd":"a/../../b"}`, davit.CodeInvalid, "cwd"},
		{`{"agent":"practice","target":{"kind":"create-folder-workspace","create":{"path":"/d","repo":"x"}}}`, davit.CodeLaunchFieldRefused, "target.create.repo"},
	} {
		_, err := Decode(json.RawMessage(c.raw))
		if davit.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s), want %s naming %q", c.raw, err, davit.CodeOf(err), c.code, c.says)
		}
	}
}

func TestPlacementIsAWish(t *testing.T) { // spec launch L1: wrong types are dropped
	for raw, want := range map[string]*davit.Placement{
		`7`: nil, `null`: nil, `[]`: nil, `{}`: nil, `{"groupId":7}`: nil,
		`{"groupId":"g","afterTabId":null}`: {GroupID: "g"},
		`{"afterTabId":"t_1","groupId":[]}`: {AfterTabID: "t_1"},
	} {
		in, err := Decode(json.RawMessage(minimal + `,"placement":` + raw + `}`))
		if diff := cmp.Diff(want, in.Placement); err != nil || diff != "" {
			t.Errorf("%s: %v %s", raw, err, diff)
		}
	}
}

func TestBlankPromptIsNone(t *testing.T) { // spec launch L1
	for _, raw := range []string{`{"text":"","delivery":"submit"}`, `{"text":" \n\t","delivery":"draft"}`} {
		in, err := Decode(json.RawMessage(minimal + `,"prompt":` + raw + `}`))
		if err != nil || in.Prompt != nil {
			t.Errorf("%s: %v %+v", raw, err, in.Prompt)
		}
	}
}

func TestAgentArgsHaveThreeStates(t *testing.T) { // spec launch L1, L6.2
	prints := map[string]string{}
	for _, raw := range []string{``, `,"agentArgs":null`, `,"agentArgs":""`, `,"agentArgs":"-v"`} {
		in, err := Decode(json.RawMessage(minimal + raw + `}`))
		if err != nil {
			t.Fatal(err)
		}
		print := Fingerprint(in, nil)
		if other, same := prints[print]; same {
			t.Errorf("%q and %q are the same launch", raw, other)
		}
		prints[print] = raw
	}
}

// drawIntent makes any intent that decodes.
func drawIntent(t *rapid.T) davit.Intent {
	text := rapid.StringN(1, 20, -1)
	in := davit.Intent{
		Agent:        rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "agent"),
		OperationID:  rapid.StringMatching(`[0-9]{13}-[0-9a-f]{32}`).Draw(t, "id"),
		Host:         davit.HostID(rapid.StringMatching(`(h_[0-9a-f]{4})?`).Draw(t, "host")),
		LaunchSource: rapid.SampledFrom([]string{"", "web", "cli", "new one"}).Draw(t, "source"),
		PaneKey:      davit.PaneKey(rapid.StringMatching(`(t_[0-9a-f]{16}:p_[0-9a-f]{16})?`).Draw(t, "pane")),
		Surface:      rapid.SampledFrom([]davit.Surface{"", davit.Terminal, davit.Structured}).Draw(t, "surface"),
		Presentation: rapid.SampledFrom([]string{"", "focused", "background"}).Draw(t, "presentation"),
	}
	name := rapid.StringMatching(`[a-z]{1,5}`)
	switch rapid.IntRange(0, 2).Draw(t, "target") {
	case 0:
		in.Target = davit.Target{Kind: davit.TargetExisting, Worktree: "path:/" + name.Draw(t, "path")}
	case 1:
		in.Target = davit.Target{Kind: davit.TargetWorktree, Create: Encode(davit.CreateWorktree{
			Repo: "active", Name: name.Draw(t, "name"), RemoveOnClose: rapid.Bool().Draw(t, "remove")})}
		in.Cwd = rapid.SampledFrom([]string{"", "sub"}).Draw(t, "cwd")
	case 2:
		in.Target = davit.Target{Kind: davit.TargetFolder, Create: Encode(davit.CreateFolder{Path: "/" + name.Draw(t, "path")})}
	}
	if rapid.Bool().Draw(t, "prompted") {
		in.Prompt = &davit.Prompt{Text: "x" + text.Draw(t, "text"), Delivery: "submit"}
	}
	if rapid.Bool().Draw(t, "args") {
		in.AgentArgs = davit.OptionalString{Present: true, Null: rapid.Bool().Draw(t, "null")}
		if !in.AgentArgs.Null {
			in.AgentArgs.Value = text.Draw(t, "value")
		}
	}
	if rapid.Bool().Draw(t, "account") {
		in.AccountEnv = map[string]string{"TOKEN": "secret-" + name.Draw(t, "secret")}
	}
	if rapid.Bool().Draw(t, "default") {
		b := rapid.Bool().Draw(t, "chat")
		in.NativeChatDefault = &b
	}
	if rapid.Bool().Draw(t, "placed") {
		in.Placement = &davit.Placement{GroupID: "g" + name.Draw(t, "group")}
	}
	return in
}

// shuffled writes JSON with the names of every object in another order and blanks between.
func shuffled(t *rapid.T, raw []byte) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return raw
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	var out strings.Builder
	out.WriteString("{ ")
	for i, name := range rapid.Permutation(names).Draw(t, "order") {
		if i > 0 {
			out.WriteString(" ,\n")
		}
		fmt.Fprintf(&out, "%q :\t%s", name, shuffled(t, object[name]))
	}
	out.WriteString(" }")
	return []byte(out.String())
}

func TestFingerprintIsOfTheMeaning(t *testing.T) { // spec launch L6.2
	rapid.Check(t, func(t *rapid.T) {
		key := []byte("key")
		in := drawIntent(t)
		print := Fingerprint(in, key)
		again, err := Decode(shuffled(t, Encode(in)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in, again); diff != "" {
			t.Fatal(diff)
		}
		if Fingerprint(again, key) != print {
			t.Fatal("the order of names changed the fingerprint")
		}
		// What does not make another launch.
		again.OperationID, again.LaunchSource, again.Placement, again.Presentation = "other", "other", &davit.Placement{GroupID: "other"}, "background"
		if Fingerprint(again, key) != print {
			t.Fatal("a field that is left out changed the fingerprint")
		}
		// What does.
		for name, change := range map[string]func(*davit.Intent){
			"agent":          func(i *davit.Intent) { i.Agent += "x" },
			"host":           func(i *davit.Intent) { i.Host += "x" },
			"target":         func(i *davit.Intent) { i.Target = davit.Target{Kind: davit.TargetExisting, Worktree: "other"} },
			"prompt":         func(i *davit.Intent) { i.Prompt = &davit.Prompt{Text: "other", Delivery: "draft"} },
			"sessionOptions": func(i *davit.Intent) { i.SessionOptions = map[string]string{"model": "m"} },
			"reuseTerminal":  func(i *davit.Intent) { i.ReuseTerminal = &davit.ReuseTerminal{Handle: "h"} },
			"agentArgs":      func(i *davit.Intent) { i.AgentArgs = davit.OptionalString{Present: true, Value: "other"} },
			"cwd":            func(i *davit.Intent) { i.Cwd += "x" },
			"paneKey":        func(i *davit.Intent) { i.PaneKey += "x" },
			"sessionId":      func(i *davit.Intent) { i.SessionID += "x" },
			"accountEnv":     func(i *davit.Intent) { i.AccountEnv = map[string]string{"TOKEN": "other"} },
			"nativeChatDefault": func(i *davit.Intent) {
				b := in.NativeChatDefault == nil || !*in.NativeChatDefault
				i.NativeChatDefault = &b
			},
			"surface": func(i *davit.Intent) { i.Surface += "x" },
		} {
			changed := in
			change(&changed)
			if Fingerprint(changed, key) == print {
				t.Fatalf("%s does not count", name)
			}
		}
		for _, secret := range in.AccountEnv {
			if strings.Contains(string(Stored(in, key)), secret) {
				t.Fatal("accountEnv is stored in clear")
			}
		}
	})
}

func FuzzDecodeIntent(f *testing.F) {
	f.Add(minimal + `}`)
	f.Add(minimal + `,"agentArgs":null,"prompt":{"text":"x","delivery":"submit"},"placement":7}`)
	f.Add(`{"agent":"a","target":{"kind":"create-worktree","create":{"repo":"r","startupEnv":{}}},"cwd":"."}`)
	f.Add(`{"agent":"a","agent":"b"}`)
	f.Add(`{"aGent":"a"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		in, err := Decode(json.RawMessage(raw))
		if err != nil {
			if code := davit.CodeOf(err); code == davit.CodeInternal || davit.AsError(err).Message == "" {
				t.Fatalf("%v has no code of its own", err)
			}
			return
		}
		// What was taken is normal: it decodes to itself, and names the same launch.
		again, err := Decode(Encode(in))
		if err != nil {
			t.Fatalf("%s: %v", Encode(in), err)
		}
		if Fingerprint(in, nil) != Fingerprint(again, nil) || string(Encode(in)) != string(Encode(again)) {
			t.Fatalf("%s became %s", Encode(in), Encode(again))
		}
		if in.ReuseTerminal != nil || in.Prompt != nil && in.Prompt.Delivery != "submit" {
			t.Fatalf("not served, but taken: %s", raw)
		}
	})
}
