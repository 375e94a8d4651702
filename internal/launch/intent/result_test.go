package intent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"davit"
)

const goodResult = `{"outcome":{"kind":"terminal","handle":"term_1","tabId":"t_1","paneKey":"any string"},"worktreeId":"wt",` +
	`"receipt":{"mode":"terminal","preferred":"structured","reason":"tui_launch_command","detail":"A sentence."},` +
	`"prompt":{"delivery":"submit","outcome":"handed-to-terminal"},"placement":{"groupId":"g","fallback":"anchor-group"},"worktree":{"path":"/w","branch":"b"}}`

func TestCheckResult(t *testing.T) { // spec launch L2.4
	replace := func(old, with string) string {
		if !strings.Contains(goodResult, old) {
			t.Fatalf("%q is not in the result", old)
		}
		return strings.Replace(goodResult, old, with, 1)
	}
	chat := replace(`"kind":"terminal","handle"`, `"kind":"structured","sessionId":"s","handle"`)
	for _, good := range []string{
		goodResult, chat,
		replace(`"tui_launch_command"`, `"a newer reason"`),
		replace(`"anchor-group"`, `"a newer word"`),
		replace(`"worktreeId"`, `"newer":{"x":null},"worktreeId"`),
		replace(`"kind":"terminal"`, `"kind":"terminal","newer":1`),
		replace(`"any string"`, `""`),
		replace(`,"tabId":"t_1","paneKey":"any string"`, ``),
		replace(`"outcome":"handed-to-terminal"`, `"outcome":"journaled","messageId":"m"`),
		replace(`"outcome":"handed-to-terminal"`, `"outcome":"unconfirmed"`),
		replace(`"delivery":"submit","outcome":"handed-to-terminal"`, `"delivery":"draft","outcome":"not-delivered","draftPlaced":true`),
		replace(`"mode":"terminal"`, `"Mode":"nonsense","mode":"terminal"`), // only an unknown field
	} {
		if _, err := CheckResult([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		``, `null`, `[]`, `{}`, goodResult[:len(goodResult)-1], goodResult + `{}`,
		replace(`"kind":"terminal"`, `"kind":"chat"`),
		replace(`"kind":"terminal"`, `"Kind":"terminal"`),
		replace(`"kind":"terminal"`, `"kind":"structured"`), // without a session
		strings.Replace(chat, `"sessionId":"s"`, `"sessionId":""`, 1),
		replace(`"term_1"`, `""`), replace(`"term_1"`, `null`), replace(`"term_1"`, `7`),
		replace(`"t_1"`, `null`), replace(`"any string"`, `7`),
		replace(`"mode":"terminal"`, `"mode":"both"`), replace(`"mode":"terminal"`, `"MODE":"terminal"`),
		replace(`"preferred":"structured"`, `"preferred":""`), replace(`"preferred":"structured",`, ``),
		replace(`"tui_launch_command"`, `null`), replace(`"A sentence."`, `7`),
		replace(`"delivery":"submit"`, `"delivery":"soon"`), replace(`"handed-to-terminal"`, `"delivered"`),
		replace(`"outcome":"handed-to-terminal"`, `"outcome":"journaled"`),
		replace(`"outcome":"handed-to-terminal"`, `"outcome":"journaled","messageId":null`),
		replace(`"outcome":"handed-to-terminal"`, `"outcome":"journaled","MessageId":"m"`),
		replace(`{"delivery":"submit","outcome":"handed-to-terminal"}`, `null`),
		replace(`{"groupId":"g","fallback":"anchor-group"}`, `null`), replace(`"groupId":"g"`, `"groupId":null`),
		replace(`"worktreeId":"wt"`, `"worktreeId":null`), replace(`"worktreeId":"wt"`, `"WorktreeID":"wt"`),
		replace(`"worktreeId":"wt"`, `"worktreeId":"wt","warning":null`),
		replace(`"outcome":{"kind"`, `"Outcome":{"kind"`),
	} {
		if _, err := CheckResult([]byte(bad)); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

func TestCheckedResultIsTheStoredOne(t *testing.T) {
	want := davit.Result{
		Outcome:    davit.Outcome{Kind: davit.Structured, SessionID: "s", Handle: "h", TabID: "t", PaneKey: "k"},
		WorktreeID: "w", Warning: "A. Also: B.", Receipt: davit.Receipt{Mode: davit.Structured, Preferred: davit.Structured, Reason: "r", Detail: "d"},
		Prompt:    &davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptJournaled, MessageID: "m", DraftPlaced: true},
		Placement: &davit.PlacementResult{GroupID: "g", Fallback: "f"}, Worktree: &davit.WorktreeRef{Path: "p", Branch: "b"},
	}
	got, err := CheckResult(Encode(want))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
}

func FuzzCheckResult(f *testing.F) {
	f.Add(goodResult)
	f.Add(strings.Replace(goodResult, `"kind":"terminal"`, `"kind":"structured","sessionId":"s"`, 1))
	f.Add(strings.Replace(goodResult, `"handed-to-terminal"`, `"journaled","messageId":"m"`, 1))
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := CheckResult([]byte(raw))
		if err != nil {
			return
		}
		if r.Outcome.Handle == "" || r.Outcome.Kind != davit.Terminal && r.Outcome.Kind != davit.Structured ||
			r.Outcome.Kind == davit.Structured && r.Outcome.SessionID == "" {
			t.Fatalf("taken: %s", raw)
		}
		if r.Prompt != nil && r.Prompt.Outcome == davit.PromptJournaled {
			// omitempty would drop an empty id, and with it the proof of the journal.
			if r.Prompt.MessageID == "" {
				t.Fatalf("journaled without a message: %s", raw)
			}
		}
		again, err := CheckResult(Encode(r))
		if err != nil {
			t.Fatalf("%s: %v", Encode(r), err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatal(diff)
		}
		if !json.Valid([]byte(raw)) {
			t.Fatalf("taken, and not JSON: %q", raw)
		}
	})
}
