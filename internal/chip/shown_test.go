package chip

import (
	"slices"
	"strings"
	"testing"

	"davit"
)

func kindsOf(chips []davit.Chip) (kinds []string) {
	for _, c := range chips {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}

// TestTextOfAPrompt: spec chips C5.1: the text form, and the raw value beside it.
func TestTextOfAPrompt(t *testing.T) {
	pr := NewPullRequest(davit.PullRequest{Number: 12, URL: "https://github.com/o/r/pull/12"})
	chips := []davit.Chip{
		{Kind: string(User), Value: "user", Text: "user", Status: davit.ChipReady}, NewCwd("/home/user/src", "/home/user"),
		NewBranch("main", "", false, false), NewDiff(Diff{}), pr,
	}
	if got := Text(chips); got != "user ~/src git:(main) PR #12" {
		t.Errorf("the text is %q", got)
	}
	chips[3] = NewDiff(Diff{Files: 3, Added: 10})
	if got := Text(chips); got != "user ~/src git:(main) 3 • +10 PR #12" {
		t.Errorf("with a diff the text is %q", got)
	}
	if pr.Value != "https://github.com/o/r/pull/12" || chips[2].Value != "main" || chips[1].Value != "/home/user/src" {
		t.Errorf("the raw values are %q, %q, %q", pr.Value, chips[2].Value, chips[1].Value)
	}
	if got := Text([]davit.Chip{NewCwd("/x/a\nb\x1b[31m", ""), NewBranch("a • ↑1", "", false, false)}); got != "/x/a b[31m git:(a • ↑1)" {
		t.Errorf("a hostile directory and branch give %q", got)
	}
}

// TestShown: spec chips C4.6 and C5.1: a snapshot is of the one resolver's layout: its
// order, the default or the user's own, with the chip while the state has it.
func TestShown(t *testing.T) {
	values := []davit.Chip{
		NewPullRequest(davit.PullRequest{Number: 12, URL: "https://github.com/o/r/pull/12"}), NewCwd("/src", ""), NewBranch("main", "", false, false),
		{Kind: string(Kube), Value: "prod", Text: "prod", Status: davit.ChipCached, Data: &davit.ChipData{WhileTyping: []string{"kubectl", "k"}}},
		{Kind: string(Node), Text: "v20", Status: davit.ChipError}, {Kind: string(Venv), Status: davit.ChipReady},
		{Kind: "custom:load", Value: "0.3", Text: "0.3", Status: davit.ChipStale, Reason: "token=hunter2"},
	}
	own := []string{"git_branch", "from_tomorrow", "custom:load", "git_branch", "github_pr", "cwd"}
	for _, c := range []struct {
		name    string
		saved   Saved
		state   davit.PRValidation
		command string
		want    []string
	}{
		{"the default", Saved{}, davit.PRValidated, "ls", []string{"cwd", "git_branch", "github_pr"}},
		{"the default, suppressed", Saved{}, davit.PRSuppressed, "ls", []string{"cwd", "git_branch"}},
		{"beside its program", Saved{}, davit.PRSuppressed, "sudo k get pods", []string{"cwd", "git_branch", "kube"}},
		{"the user's own", Saved{Prompt: &own}, davit.PRSuppressed, "ls", []string{"git_branch", "custom:load", "github_pr", "cwd"}},
	} {
		shown := Shown(Resolve(c.saved, true, c.state, ""), PlacePrompt, values, c.command)
		if got := kindsOf(shown); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q are shown, want %q", c.name, got, c.want)
		}
		kept := Snapshot(shown)
		if got := kindsOf(kept.Chips); !slices.Equal(got, c.want) || kept.Missing != "" {
			t.Errorf("%s: %q are kept (%s)", c.name, got, kept.Missing)
		}
		for _, one := range kept.Chips {
			if one.Reason != "" || one.Data != nil && one.Data.WhileTyping != nil {
				t.Errorf("%s: more than what it showed is kept: %+v", c.name, one)
			}
		}
	}
	if values[3].Data.WhileTyping == nil || values[6].Reason == "" {
		t.Error("the values of the model were changed")
	}
	if none := Snapshot(nil); none.Missing == "" || none.Text != "" {
		t.Errorf("without chips: %+v", none)
	}
	big := Snapshot([]davit.Chip{NewBranch("main", "", false, false), NewCwd("/"+strings.Repeat("x", 20_000), "")})
	if got := kindsOf(big.Chips); !slices.Equal(got, []string{"git_branch"}) {
		t.Errorf("of a path without end %q are kept", got)
	}
}
