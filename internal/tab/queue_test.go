package tab

import (
	"strings"
	"testing"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/store"
)

func holding(tabs []davit.Tab, panes map[davit.PaneID]store.PaneRow) host.Model {
	m := host.Model{}
	m.State.Tabs, m.Rows.Panes = tabs, panes
	return m
}

// A worktree is in use while another open tab has it as its own, or has a pane that
// started in it (spec tabs T5.6).
func TestUsedBy(t *testing.T) {
	row := store.CleanupRow{Tab: "t_closed", Worktree: "/w/needle"}
	at := func(tab davit.TabID, dir string) map[davit.PaneID]store.PaneRow {
		return map[davit.PaneID]store.PaneRow{"p": {Pane: davit.Pane{ID: "p", Tab: tab}, Spec: store.PaneSpec{Directory: dir}}}
	}
	for name, c := range map[string]struct {
		m    host.Model
		used bool
	}{
		"nobody":                {holding(nil, nil), false},
		"its own tab, restored": {holding([]davit.Tab{{ID: "t_closed", Worktree: &davit.Worktree{Path: "/w/needle"}}}, nil), false},
		"the same worktree":     {holding([]davit.Tab{{ID: "t", Worktree: &davit.Worktree{Path: "/w/needle"}}}, nil), true},
		"a pane in it":          {holding([]davit.Tab{{ID: "t"}}, at("t", "/w/needle/src")), true},
		"a name that begins so": {holding([]davit.Tab{{ID: "t"}}, at("t", "/w/needle-2")), false},
		"a closed tab's pane":   {holding([]davit.Tab{{ID: "t"}}, at("t_other", "/w/needle")), false},
	} {
		if _, used := usedBy(c.m, row); used != c.used {
			t.Errorf("%s: used = %t", name, used)
		}
	}
	if _, used := usedBy(holding([]davit.Tab{{ID: "t"}}, at("t", "")), store.CleanupRow{}); used {
		t.Error("a cleanup without a worktree is held")
	}
}

// The notice of a failed cleanup says which tab and command, how it ended, what it
// printed, and how much was skipped (spec tabs T5.5).
func TestFailureNotice(t *testing.T) {
	three := 3
	row := store.CleanupRow{ID: "c_1", TabTitle: "needle", Plan: davit.OnClose{
		Directory: "/repo", Commands: []string{"docker compose down", "git worktree remove x", "git branch -d x"},
	}}
	failed := cleanup.Report{Skipped: 1, Steps: []cleanup.Step{
		{Index: 0, Command: "docker compose down", State: cleanup.StepDone},
		{Index: 1, Command: "git worktree remove x", State: cleanup.StepFailed, Exit: &three, Error: "exit status 3", Head: "one\ntwo\nfatal: it is dirty\n"},
	}}
	n := failureNotice(row, failed, "")
	for _, want := range []string{"needle"} {
		if !strings.Contains(n.Title, want) {
			t.Errorf("title %q does not name %q", n.Title, want)
		}
	}
	for _, want := range []string{"git worktree remove x", "exit status 3", "1 command was skipped"} {
		if !strings.Contains(n.Body, want) {
			t.Errorf("body %q does not say %q", n.Body, want)
		}
	}
	if !n.Persistent || n.Level != "error" || !strings.Contains(n.Details["output"].(string), "it is dirty") {
		t.Errorf("%+v", n)
	}
	var ids []string
	for _, a := range n.Actions {
		ids = append(ids, a.ID)
	}
	if got := strings.Join(ids, " "); got != "copy_commands run_again open_terminal dismiss" {
		t.Errorf("actions: %s", got)
	}
	interrupted := cleanup.Report{Steps: []cleanup.Step{{Index: 0, Command: "docker compose down", State: cleanup.StepStarted}}, Skipped: 2}
	if n := failureNotice(row, interrupted, ""); !strings.Contains(n.Title, "interrupted") || !strings.Contains(n.Body, "not known") || !strings.Contains(n.Body, "2 commands were skipped") {
		t.Errorf("an interrupted one: %q %q", n.Title, n.Body)
	}
}

// Plans that do the same are merged while they are held (spec tabs T5.6).
func TestEqualPlans(t *testing.T) {
	a := davit.OnClose{Directory: "/repo", Commands: []string{"x"}}
	b, c := a, a
	c.Commands = []string{"y"}
	if !equalPlans(a, b) || equalPlans(a, c) {
		t.Error("plans are compared wrongly")
	}
}
