package tab

import (
	"strings"
	"testing"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/store"
)

// Each way not to succeed is told with the tab, the command, how it ended, the tail of its
// output, how many did not run, and the buttons with what they do (spec tabs T5.5, T5.7).
func TestEachFailureIsTold(t *testing.T) {
	nine := 9
	row := store.CleanupRow{ID: "c_1", Tab: "t_1", TabTitle: "needle", Plan: davit.OnClose{
		Directory: "/repo", Commands: []string{"one", "two", "three"}, RemoveWorktree: &davit.Worktree{Path: "/w/needle"},
	}}
	done := cleanup.Step{Command: "one", State: cleanup.StepDone}
	second := func(state, fault string, exit *int) []cleanup.Step {
		head := strings.Repeat("line\n", 100) + "the end\n"
		return []cleanup.Step{done, {Index: 1, Command: "two", State: state, Error: fault, Exit: exit, Head: head}}
	}
	first := func(fault string) []cleanup.Step {
		return []cleanup.Step{{Command: "one", State: cleanup.StepFailed, Error: fault}}
	}
	for name, c := range map[string]struct {
		report cleanup.Report
		cause  string
		title  string
		body   []string
		output bool
	}{
		"exit status": {cleanup.Report{Steps: second(cleanup.StepFailed, "exit status 9", &nine), Skipped: 2}, "", "failed",
			[]string{"two", "exit status 9", "2 commands were skipped"}, true},
		"time-out": {cleanup.Report{Steps: second(cleanup.StepFailed, "it did not end within 15m0s and was stopped", nil), Skipped: 2}, "", "failed",
			[]string{"two", "did not end within 15m0s", "2 commands were skipped"}, true},
		"missing directory": {cleanup.Report{Steps: first("its directory /repo does not exist any more"), Skipped: 3}, "", "failed",
			[]string{"one", "/repo does not exist", "3 commands were skipped"}, false},
		"no shell": {cleanup.Report{Steps: first("the shell /bin/x could not be started"), Skipped: 3}, "", "failed",
			[]string{"one", "/bin/x", "3 commands were skipped"}, false},
		"never begun": {cleanup.Report{Skipped: 4}, "the keeper does not answer", "failed",
			[]string{"the keeper does not answer", "4 commands were skipped"}, false},
		"cut off in one": {cleanup.Report{Steps: second(cleanup.StepStarted, "", nil), Skipped: 2}, "", "was interrupted",
			[]string{"two", "not known", "not run again by itself", "2 commands were skipped"}, true},
		"cut off between": {cleanup.Report{Steps: []cleanup.Step{done}, Skipped: 3}, "", "was interrupted",
			[]string{"one", "ended well", "not run again by itself", "3 commands were skipped"}, false},
	} {
		n := failureNotice(row, c.report, c.cause)
		if n.Title != `Cleanup of "needle" `+c.title || n.Tab != "t_1" || !n.Persistent || n.Level != "error" {
			t.Errorf("%s: %+v", name, n)
		}
		for _, want := range c.body {
			if !strings.Contains(n.Body, want) {
				t.Errorf("%s: %q does not say %q", name, n.Body, want)
			}
		}
		out, _ := n.Details["output"].(string)
		if c.output != strings.HasSuffix(out, "the end") || strings.Count(out, "\n") > 12 {
			t.Errorf("%s: the tail is %q", name, out)
		}
		got := map[string]string{}
		for _, a := range n.Actions {
			got[a.ID] = a.Kind + " " + a.Text
		}
		for id, text := range map[string]string{"copy_commands": "copy one\ntwo\nthree\ngit worktree remove /w/needle", "run_again": "host c_1", "open_terminal": "host /repo", "dismiss": "host "} {
			if got[id] != text {
				t.Errorf("%s: the action %s is %q, want %q", name, id, got[id], text)
			}
		}
	}
}
