package cli

import (
	"strings"
	"testing"

	"davit"
)

// TestCopyOfBlock: spec chips C5.1: "Copy prompt" is the text form, "Copy <chip>" the raw
// value; what was not kept is told.
func TestCopyOfBlock(t *testing.T) {
	blocks := []davit.Block{
		{Command: "git push", Prompt: &davit.BlockPrompt{Text: "user ~/src git:(main) PR #12", Chips: []davit.Chip{
			{Kind: "git_branch", Value: "main", Text: "main"}, {Kind: "github_pr", Value: "https://github.com/o/r/pull/12", Text: "PR #12"},
		}}},
		{Command: "ls", Prompt: &davit.BlockPrompt{Missing: "davit's host did not run when this command started"}},
	}
	for _, c := range []struct {
		nth        int
		what, want string
		fails      string
	}{
		{2, "prompt", "user ~/src git:(main) PR #12", ""},
		{2, "git_branch", "main", ""},
		{2, "github_pr", "https://github.com/o/r/pull/12", ""},
		{2, "node", "", "had no chip node"},
		{1, "prompt", "", "did not run when"},
		{1, "cwd", "", "did not run when"},
		{3, "prompt", "", "it has 2"},
	} {
		got, err := copyOfBlock("p", blocks, c.nth, c.what)
		if c.fails != "" {
			if davit.CodeOf(err) != davit.CodeNotFound || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("block %d, %s: %v, want %q", c.nth, c.what, err, c.fails)
			}
		} else if err != nil || got != c.want {
			t.Errorf("block %d, %s: %q %v, want %q", c.nth, c.what, got, err, c.want)
		}
	}
}
