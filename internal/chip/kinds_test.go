package chip

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"davit"
)

// TestBuiltins: spec chips C1: the kinds that a session and the clock give.
func TestBuiltins(t *testing.T) {
	at := time.Date(2026, time.July, 9, 15, 4, 5, 0, time.UTC)
	s := NewSession(map[string]string{PropertyVenv: "/home/al/work/.venv/", PropertyConda: "base", PropertySSH: ""}, "al", "box")
	for kind, want := range map[Kind][2]string{
		User: {"al", "al"}, Host: {"box", "box"}, Venv: {".venv", "/home/al/work/.venv/"}, Conda: {"base", "base"},
		Date: {"Thu Jul 09 2026", "Thu Jul 09 2026"}, Time12: {"03:04 pm", "03:04 pm"}, Time24: {"15:04", "15:04"},
		SSH: {"", ""}, Subshell: {"", ""}, AgentPlan: {"", ""},
	} {
		c, ok := Builtin(kind, s, at)
		if !ok || c.Text != want[0] || c.Value != want[1] || c.Kind != string(kind) {
			t.Errorf("%s: %+v, want %q", kind, c, want)
		}
		if absent := c.Text == "" && kind != AgentPlan; absent != (c.Status == davit.ChipIdle) || absent == (c.Reason == "") {
			t.Errorf("%s: status %s, reason %q", kind, c.Status, c.Reason)
		}
	}
	far := NewSession(map[string]string{PropertySSH: "root@db.example.com"}, "al", "box")
	if far.User != "root" || far.Host != "db.example.com" || far.SSH != "root@db.example.com" {
		t.Errorf("of another machine: %+v", far)
	}
	hostile := NewSession(map[string]string{PropertyConda: "a\x1b[31mb\x07\u202ec\nsecond " + strings.Repeat("x", 5000)}, "", "")
	if hostile.Conda != "abc" {
		t.Errorf("a told word is shown as %q", hostile.Conda)
	}
}

// TestTick: spec chips C1, refresh: on the marks of the clock on the wall.
func TestTick(t *testing.T) {
	kathmandu := time.FixedZone("+0545", 5*3600+45*60)
	at := time.Date(2026, time.July, 9, 15, 4, 5, 6, kathmandu)
	for kind, want := range map[Kind]time.Time{
		Time12: time.Date(2026, time.July, 9, 15, 5, 0, 0, kathmandu), Time24: time.Date(2026, time.July, 9, 15, 5, 0, 0, kathmandu),
		Date: time.Date(2026, time.July, 9, 15, 30, 0, 0, kathmandu), Cwd: {}, GitHubPR: {},
	} {
		if next := Tick(kind, at); !next.Equal(want) {
			t.Errorf("%s ticks at %s, want %s", kind, next, want)
		}
	}
	if last := time.Date(2026, time.July, 9, 23, 45, 0, 0, kathmandu); !Tick(Date, last).Equal(time.Date(2026, time.July, 10, 0, 0, 0, 0, kathmandu)) {
		t.Errorf("the date does not change at midnight but at %s", Tick(Date, last))
	}
}

func TestSessionsOfCommands(t *testing.T) {
	aliases := map[string]string{"db": "ssh -p 2222 root@db"}
	for line, want := range map[string][2]string{
		"bash": {"bash", ""}, "zsh -l": {"zsh", ""}, "sudo -u al fish": {"fish", ""}, "bash -c ls": {}, "bash -lc ls": {}, "bash script.sh": {}, "nix-shell -p go": {"nix-shell", ""},
		"nix-shell --run make": {}, "ls": {}, "": {},
		"ssh box": {"", "box"}, "ssh al@box": {"", "al@box"}, "ssh -l al box": {"", "al@box"}, "ssh -p 22 -A al@box": {"", "al@box"}, "ssh -tp 22 box": {"", "box"},
		"ssh box uptime": {}, "ssh -N -L 1:h:2 box": {}, "ssh -fN box": {}, "db": {"", "root@db"}, "ssh ssh://al@box:22/": {"", "al@box:22"}, "ssh": {}, "ssh -V": {},
		"ssh 'a\x1b[2Jb'": {"", "ab"},
	} {
		if shell, target := SubshellOf(line, aliases), SSHTarget(line, aliases); shell != want[0] || target != want[1] {
			t.Errorf("%q: subshell %q, ssh %q; want %q", line, shell, target, want)
		}
	}
}

// TestStatusTexts: spec chips C1, git_status: counts, 999+, and the mark of a rebased branch.
func TestStatusTexts(t *testing.T) {
	for _, c := range []struct {
		branch   string
		tracking Tracking
		want     string
	}{
		{"main", Tracking{}, "main"},
		{"main", Tracking{Upstream: "origin/main"}, "main"},
		{"main", Tracking{Upstream: "origin/main", Ahead: 1, Behind: 2}, "main • ↑1 ↓2"},
		{"main", Tracking{Upstream: "origin/main", Behind: 999}, "main • ↓999"},
		{"main", Tracking{Upstream: "origin/main", Ahead: 1000}, "main • ↑999+"},
		{"main", Tracking{Upstream: "origin/main", Rebased: true}, "main • ⇅"},
		{"main", Tracking{Upstream: "origin/main", Ahead: 4, Unavailable: true}, "main"},
		{"a • ↑1", Tracking{Upstream: "origin/x", Behind: 3}, "a • ↑1 • ↓3"},
	} {
		got := StatusText(c.branch, c.tracking)
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.tracking, got, c.want)
		}
	}
	for text, want := range map[string]Tracking{
		"main • ↑1 ↓2": {Ahead: 1, Behind: 2}, "main • ⇅": {Rebased: true}, "main • ↑999+": {Ahead: 1000}, "x • y • ↓3": {Behind: 3},
	} {
		branch, got := ParseStatus(text)
		if got != want || !strings.HasPrefix(text, branch+" • ") {
			t.Errorf("%q is read as %q %+v", text, branch, got)
		}
	}
	for _, text := range []string{"main", "a • b", "a • ↑", "a • ↑0", "a • ↑1 x", "a • ↑01", "a • ↑1000", "a •↑1"} {
		if branch, got := ParseStatus(text); branch != text || got != (Tracking{}) {
			t.Errorf("%q is read as %q %+v", text, branch, got)
		}
	}
	chip := NewStatus(NewBranch("main", "", false, false), Tracking{Upstream: "origin/main", Unavailable: true})
	if chip.Kind != "git_status" || chip.Text != "main" || !chip.Data.CountsUnavailable || !strings.Contains(chip.Reason, "origin/main") || Prompt(chip) != "git:(main)" {
		t.Errorf("an upstream that is gone: %+v", chip)
	}
}

func TestStatusTextsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		branch := rapid.StringMatching(`[a-z•↑↓⇅0-9 /.-]{1,12}`).Draw(t, "branch")
		want := Tracking{Upstream: "u", Ahead: rapid.IntRange(0, 1000).Draw(t, "ahead"), Behind: rapid.IntRange(0, 1000).Draw(t, "behind")}
		text := StatusText(branch, want)
		if text == branch {
			return
		}
		want.Upstream = ""
		if got, tracking := ParseStatus(text); got != branch || tracking != want {
			t.Fatalf("%q is read as %q %+v", text, got, tracking)
		}
	})
}

// TestOutputs: spec chips C1: what a program printed, as text and as it stands in a prompt.
func TestOutputs(t *testing.T) {
	for _, c := range []struct {
		kind                Kind
		stdout              string
		value, text, prompt string
	}{
		{Node, "v18.17.0\n", "v18.17.0", "v18.17.0", "v18.17.0"},
		{Kube, "minikube\n", "minikube", "minikube", "⎈ minikube"},
		{Kube, "", "", "", ""},
		{SVNBranch, "/home/al/wc/trunk", "trunk", "trunk", "svn:(trunk)"},
		{SVNBranch, "  \n", "", "", ""},
		{SVNDirty, "M       a\n?       b\n", "2", "2", "±2"},
		{SVNDirty, "", "", "", ""},
		{CustomKind("x"), "  \x1b[31mred\x1b[0m\x1b]0;title\x07\t\x00end  \nsecond\n", "  red end", "  red end", "  red end"},
		{CustomKind("x"), "\u202eevil", "evil", "evil", "evil"},
		{CustomKind("x"), "\xff\xfe", "\ufffd", "\ufffd", "\ufffd"},
	} {
		policy, _ := PolicyOf(c.kind)
		policy.Kind = c.kind
		got := FromOutput(policy, c.stdout)
		if got.Value != c.value || got.Text != c.text || Prompt(got) != c.prompt {
			t.Errorf("%s of %q: value %q, text %q, prompt %q", c.kind, c.stdout, got.Value, got.Text, Prompt(got))
		}
	}
	wide := FromOutput(Policy{Kind: CustomKind("x")}, strings.Repeat("漢", 5000))
	if w := displaywidth.String(wide.Text); w > 200 || w < 198 || !strings.HasSuffix(wide.Text, "…") {
		t.Errorf("a long output takes %d cells", w)
	}
}

func TestOutputsFitForALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := FromOutput(Policy{Kind: CustomKind("x")}, rapid.String().Draw(t, "stdout"))
		if displaywidth.String(c.Text) > 200 || strings.ContainsAny(c.Text, "\x1b\x07\n\r\x00\u202e\u009b") {
			t.Fatalf("shown as %q", c.Text)
		}
	})
}

// TestWhileTyping: kube is drawn only beside its tools.
func TestWhileTyping(t *testing.T) {
	kube, _ := PolicyOf(Kube)
	branch, _ := PolicyOf(GitBranch)
	aliases := map[string]string{"k": "kubectl"}
	for line, want := range map[string]bool{"kubectl get po": true, "helm ": true, "k": true, "sudo kubectl": true, "/usr/bin/kubectl": true, "ls": false, "": false, "kubectlx": false, "echo kubectl": false} {
		if Drawn(kube, line, aliases) != want {
			t.Errorf("%q: %v", line, !want)
		}
		if !Drawn(branch, line, aliases) {
			t.Errorf("the branch is not drawn beside %q", line)
		}
	}
	if c := FromOutput(kube, "ctx"); len(c.Data.WhileTyping) != len(kubeTools) {
		t.Errorf("the page is not told when: %+v", c)
	}
	aliases = map[string]string{"k": "kubectl", "h": "sudo k3", "k3": "/opt/kubectl -n lamp", "ls": "ls -l", "helm": "helm --debug"}
	if got := Beside([]string{"kubectl", "helm"}, aliases); !slices.Equal(got, []string{"kubectl", "helm", "h", "k", "k3"}) {
		t.Errorf("drawn beside %q", got)
	}
}

// TestAliases: spec chips C2.3: a table that a shell told, bounded.
func TestAliases(t *testing.T) {
	table := Aliases("gs=git status\ngp=git push -o x=y\n=no\nnone\nlong=" + strings.Repeat("x", 5000))
	if len(table) != 2 || table["gs"] != "git status" || table["gp"] != "git push -o x=y" {
		t.Errorf("%v", table)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "a%d=b\n", i)
	}
	if n := len(Aliases(many.String())); n != 256 {
		t.Errorf("%d aliases are kept", n)
	}
	policy, _ := PolicyOf(GitHubPR)
	for line, want := range map[string]bool{"gp": true, "gs": false, "git push": true} {
		if Invalidates(policy, line, table) != want {
			t.Errorf("%q invalidates: %v", line, !want)
		}
	}
}

func TestKubeconfigs(t *testing.T) {
	for told, want := range map[string]string{"": "[/h/.kube/config]", "/a:b": "[/a /d/b]", "::": "[]"} {
		if got := fmt.Sprint(Kubeconfigs(told, "/d", "/h")); got != want {
			t.Errorf("%q: %s", told, got)
		}
	}
}
