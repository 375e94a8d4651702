package chip

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"davit"
)

const kindsOfTheSpec = `cwd user host ssh subshell venv conda node date time12 time24 git_branch git_status git_diff github_pr kube svn_branch svn_dirty agent_plan`

func TestPoliciesAreWhole(t *testing.T) {
	seen := map[Kind]bool{}
	for _, p := range Policies() {
		if p.Title == "" || seen[p.Kind] || p.Cap < p.Deadline {
			t.Errorf("policy %+v", p)
		}
		seen[p.Kind] = true
		_, made := SourceOf(p.Kind)
		_, builtin := Builtin(p.Kind, Session{}, time.Time{})
		read := slices.Contains([]Kind{Cwd, GitBranch, GitStatus, GitDiff, GitHubPR}, p.Kind)
		if n := count(made, builtin, read); n != 1 {
			t.Errorf("%s has a value from nowhere, or from two places", p.Kind)
		}
	}
	for _, kind := range strings.Fields(kindsOfTheSpec) { // spec chips C1
		if !seen[Kind(kind)] {
			t.Errorf("there is no %s", kind)
		}
	}
	want := []Kind{"conda", "venv", "ssh", "subshell", "node", "cwd", "git_branch", "git_diff", "github_pr", "kube"} // spec chips C4.5
	if !slices.Equal(DefaultPrompt(), want) {
		t.Errorf("default prompt %v", DefaultPrompt())
	}
}

func count(facts ...bool) (n int) {
	for _, fact := range facts {
		if fact {
			n++
		}
	}
	return n
}

// pr is the policy of a kind that uses every column (spec chips C2.1).
var pr = Policy{Kind: GitHubPR, Requires: []string{"gh", "git"}, LocalOnly: true, SuppressOnFailure: true, SuppressOnly: []Outcome{Denied},
	Fingerprint: []Input{InputCwd, InputBranch, InputExecutables, InputInvalidated},
	InvalidatedBy: []Invalidator{{Command: "git", Verbs: strings.Fields("push fetch pull checkout switch branch remote merge rebase reset")},
		{Command: "gh"}, {Command: "gt"}}}

func TestAvailability(t *testing.T) {
	yes, no := true, false
	both := map[string]bool{"gh": true, "git": true}
	for _, c := range []struct {
		name  string
		facts Facts
		want  string
	}{
		{"nothing known", Facts{}, ""},
		{"all there", Facts{Remote: &no, Found: both}, ""},
		{"remote comes first", Facts{Remote: &yes, Found: map[string]bool{}}, "Requires a local session"},
		{"gh before git", Facts{Found: map[string]bool{}}, "Requires the GitHub CLI"},
		{"git", Facts{Found: map[string]bool{"gh": true}}, "Requires the `git` command"},
		{"signed out", Facts{Found: both, Unauthenticated: true}, "Run gh auth login to sign in to GitHub"},
	} {
		if got := Available(pr, c.facts); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFetchSteps walks through spec chips C2.2.
func TestFetchSteps(t *testing.T) {
	facts := func(branch, counter string) Facts {
		return Facts{Inputs: map[Input]string{InputBranch: branch, InputInvalidated: counter}}
	}
	s, step := Begin(pr, State{}, facts("main", "0"))
	if step != StepRun || s.Status != davit.ChipLoading || s.Fingerprint == "" {
		t.Fatalf("first: %v %+v", step, s)
	}
	if again, step := Begin(pr, s, facts("main", "0")); step != StepCached || again.Status != davit.ChipLoading {
		t.Errorf("while it runs: %v %+v", step, again)
	}
	s = Settle(pr, s, Succeeded, "")
	if again, step := Begin(pr, s, facts("main", "0")); step != StepCached || again.Status != davit.ChipCached {
		t.Errorf("same facts: %v %+v", step, again)
	}
	if _, step := Begin(pr, s, facts("main", "1")); step != StepRun {
		t.Errorf("invalidated: %v", step)
	}
	for _, outcome := range []Outcome{TimedOut, Failed} {
		bad := Settle(pr, s, outcome, "why")
		if _, step := Begin(pr, bad, facts("main", "0")); step != StepRun || bad.Failure != "" || bad.Reason != "why" {
			t.Errorf("%s must stay retryable: %v %+v", outcome, step, bad)
		}
	}
	denied := Settle(pr, s, Denied, "not signed in")
	if denied.Status != davit.ChipError {
		t.Errorf("denied: %+v", denied)
	}
	denied, step = Begin(pr, denied, facts("main", "0"))
	if step != StepSuppress {
		t.Errorf("denied under the same facts: %v", step)
	}
	if denied, step = Begin(pr, denied, facts("other", "0")); step != StepRun {
		t.Errorf("denied, other branch: %v", step)
	}
	if back, step := Begin(pr, denied, facts("main", "0")); step != StepSuppress {
		t.Errorf("back to what was denied: %v %+v", step, back)
	}
	if s, step = Begin(pr, s, Facts{Found: map[string]bool{}}); step != StepDisabled || s.Status != davit.ChipDisabled {
		t.Errorf("no gh: %v %+v", step, s)
	}
	plain := Policy{Kind: GitDiff}
	for range 2 { // without a fingerprint nothing is skipped
		if _, step := Begin(plain, State{Status: davit.ChipReady}, Facts{}); step != StepRun {
			t.Errorf("no fingerprint: %v", step)
		}
	}
}

// TestInvalidation: spec chips C2.3.
func TestInvalidation(t *testing.T) {
	aliases := map[string]string{"g": "git", "gp": "git push", "ls": "ls --color", "loop": "pool", "pool": "loop", "s": "sudo "}
	for command, want := range map[string]bool{
		"git push":                          true,
		"git commit -m push":                false,
		"git status":                        false,
		"git -C /x -c a=b --no-pager fetch": true,
		"git --git-dir=/x merge main":       true,
		"gh pr view":                        true,
		"gt submit":                         true,
		"/usr/bin/gh":                       true,
		"  FOO=1 BAR='a b' git pull":        true,
		"sudo -u root env -i X=1 git pull":  true,
		"time -p git rebase main":           true,
		"command git reset":                 true,
		"command -v git":                    false,
		"g switch x":                        true,
		"gp origin main":                    true,
		"s git push":                        true,
		"\\g push":                          false,
		"'git' push":                        true,
		"loop push":                         false,
		"ls":                                false,
		"echo git push":                     false,
		"github push":                       false,
		"cat x | git push":                  false,
		"git push && ls":                    true,
		"git; push":                         false,
		"":                                  false,
		"sudo":                              false,
		"= git push":                        false,
		"git 'unclosed":                     false,
	} {
		if got := Invalidates(pr, command, aliases); got != want {
			t.Errorf("%q: %v, want %v (%q)", command, got, want, Program(command, aliases))
		}
	}
	if Invalidates(Policy{Kind: Cwd}, "git push", nil) {
		t.Error("a policy without invalidators was invalidated")
	}
}

func TestTexts(t *testing.T) {
	for _, c := range [][3]string{
		{"/home/al", "/home/al", "~"}, {"/home/al/src", "/home/al", "~/src"}, {"/home/alice", "/home/al", "/home/alice"},
		{"/home/al/x", "/home/al/", "~/x"}, {"/", "", "/"}, {"/etc", "/", "/etc"},
	} {
		if got := Tilde(c[0], c[1]); got != c[2] {
			t.Errorf("%q with home %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for want, d := range map[string]Diff{
		"0": {}, "3 • +10 -2": {Files: 3, Added: 10, Removed: 2}, "1": {Files: 1}, "1 • -5": {Files: 1, Removed: 5}, "2 • +1": {Files: 2, Added: 1},
	} {
		if got := NewDiff(d); got.Text != want || got.Data.Files != d.Files {
			t.Errorf("%+v: %q, want %q", d, got.Text, want)
		}
	}
	id := strings.Repeat("ab12", 10)
	if c := NewBranch("", id, true, false); c.Text != id[:8] || c.Value != id || !c.Data.Detached {
		t.Errorf("detached: %+v", c)
	}
	if c := NewBranch("feature/x", id, false, false); Prompt(c) != "git:(feature/x)" || c.Value != "feature/x" {
		t.Errorf("branch: %+v", c)
	}
}

// TestShorten: spec chips C1.3.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
		room int
		want string
	}{
		{GitBranch, "hello world", 10, "…llo world"},
		{GitBranch, "hello", 5, "hello"},
		{GitBranch, "hello", 1, "…"},
		{GitBranch, "hello", 0, ""},
		{GitBranch, "日本語", 5, "…本語"},
		{GitBranch, "日本語", 4, "…語"},
		{Cwd, "~/work/davit/internal/chip", 40, "~/work/davit/internal/chip"},
		{Cwd, "~/work/davit/internal/chip", 20, "…/internal/chip"},
		{Cwd, "~/work/davit/internal/chip", 6, "…/chip"},
		{Cwd, "~/work/davit/internal/chip", 4, "chip"},
		{Cwd, "~/work/davit/internal/chip", 3, "…ip"},
		{Cwd, "/usr/share", 8, "…/share"},
	} {
		if got := Shorten(c.kind, c.text, c.room); got != c.want {
			t.Errorf("%s %q in %d: %q, want %q", c.kind, c.text, c.room, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]Kind{Cwd, GitBranch}).Draw(t, "kind")
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(/[a-z日🚣]{0,5}){0,6}`)).Draw(t, "text")
		room := rapid.IntRange(0, 30).Draw(t, "room")
		if got := Shorten(kind, text, room); displaywidth.String(got) > room {
			t.Fatalf("%q in %d became %q, %d wide", text, room, got, displaywidth.String(got))
		}
	})
}

func FuzzProgram(f *testing.F) {
	f.Add("sudo -u root git push", "x")
	f.Add("a\\ b 'c\" d", "a")
	f.Fuzz(func(t *testing.T, command, alias string) {
		words := Program(command, map[string]string{alias: command, "a": alias})
		if len(words) > 0 && strings.Contains(words[0], "/") {
			t.Errorf("%q runs %q", command, words[0])
		}
	})
}
