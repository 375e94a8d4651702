package prompt_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"

	"davit"
	"davit/internal/chip"
	"davit/internal/prompt"
	"davit/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What a shell reads is cleaned, in C5.1's form, and without what a prompt cannot show.
func TestValuesOfChips(t *testing.T) {
	t.Parallel()
	ready := func(kind, text string) davit.Chip { return davit.Chip{Kind: kind, Text: text, Status: davit.ChipReady} }
	stale := ready("git_diff", "3 • +10 -2")
	stale.Status = davit.ChipStale
	kube := ready("kube", "staging")
	kube.Data = &davit.ChipData{WhileTyping: []string{"kubectl"}}
	off := ready("github_pr", "PR #12")
	off.Status = davit.ChipDisabled
	got := prompt.Values([]davit.Chip{
		ready("cwd", "~/src"), ready("git_branch", "a\x1b[31mb\nc\u202e"), stale, kube, off, ready("custom:weather", "sun"), ready("bad kind", "x"), ready("node", ""),
		ready("svn_branch", strings.Repeat("x", 500)),
	})
	want := []prompt.Value{
		{Kind: "git_branch", Text: "git:(a?[31mb?c?)"}, {Kind: "git_diff", Text: "3 • +10 -2", Stale: true}, {Kind: "custom:weather", Text: "sun"},
		{Kind: "svn_branch", Text: "svn:(…" + strings.Repeat("x", prompt.MaxText-1) + ")"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text := prompt.Text([]string{"git_diff", "from_tomorrow", "git_branch"}, got); text != "3 • +10 -2 git:(a?[31mb?c?)" {
		t.Errorf("the text is %q", text)
	}
}

// Files are read as they were written, whatever is in a value (spec chips C5.1, C7).
func TestFilesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := prompt.Clean(rapid.StringN(1, 40, 100).Draw(r, "text"))
		in := []prompt.Value{{Kind: "git_branch", Text: text, Stale: rapid.Bool().Draw(r, "stale")}, {Kind: "node", Text: "v22"}}
		out, ok := prompt.DecodeValues(prompt.EncodeValues(in))
		if diff := cmp.Diff(in, out); !ok || diff != "" {
			r.Fatal(diff)
		}
		if strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) }) {
			r.Fatalf("%q steers a terminal", text)
		}
	})
	ask := prompt.Ask{Shell: prompt.Zsh, Key: "/src/a b", Dir: "/src/a b/c", Path: "/bin:/usr/bin", Kinds: []string{"node"}}
	if got, ok := prompt.DecodeAsk(ask.Encode()); !ok || cmp.Diff(ask, got) != "" {
		t.Errorf("an ask is read as %+v", got)
	}
	head := prompt.Head{Pid: 12, Layout: []string{"cwd", "from_tomorrow"}}
	if got, ok := prompt.DecodeHead(head.Encode()); !ok || cmp.Diff(head, got) != "" {
		t.Errorf("a head is read as %+v", got)
	}
}

// Asks come from anybody who can write the file: what names no place is refused.
func TestAsksThatAreRefused(t *testing.T) {
	t.Parallel()
	good := prompt.Ask{Shell: prompt.Bash, Key: "/a", Dir: "/a/b", Path: "/bin"}
	for name, change := range map[string]func(*prompt.Ask){
		"relative":        func(a *prompt.Ask) { a.Key, a.Dir = "a", "a/b" },
		"above":           func(a *prompt.Ask) { a.Dir = "/a/../etc" },
		"elsewhere":       func(a *prompt.Ask) { a.Dir = "/ab" },
		"a line break":    func(a *prompt.Ask) { a.Dir = "/a/b\nc" },
		"NUL":             func(a *prompt.Ask) { a.Path = "/bin\x00" },
		"long":            func(a *prompt.Ask) { a.Key = "/" + strings.Repeat("x", 4000); a.Dir = a.Key },
		"another shell":   func(a *prompt.Ask) { a.Shell = "tcsh" },
		"a doubled slash": func(a *prompt.Ask) { a.Key, a.Dir = "//a", "//a" },
		"too much":        func(a *prompt.Ask) { a.Path = strings.Repeat("x", prompt.MaxFile) },
		"many kinds":      func(a *prompt.Ask) { a.Kinds = strings.Fields(strings.Repeat("k ", 100)) },
	} {
		bad := good
		change(&bad)
		if got, ok := prompt.DecodeAsk(bad.Encode()); ok {
			t.Errorf("%s: %+v was taken", name, got)
		}
	}
	whole := good.Encode()
	for i := range whole {
		if _, ok := prompt.DecodeAsk(whole[:i]); ok {
			t.Errorf("an ask cut off at %d was taken", i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("davit-values-1\ngit_branch ready x\n"))
	f.Add([]byte("davit-prompt-1 12\ncwd\n"))
	f.Add(prompt.Ask{Key: "/a", Dir: "/a", Path: "/bin"}.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if values, ok := prompt.DecodeValues(data); ok {
			again, _ := prompt.DecodeValues(prompt.EncodeValues(values))
			if diff := cmp.Diff(values, again); diff != "" {
				t.Error(diff)
			}
		}
		if ask, ok := prompt.DecodeAsk(data); ok && (!prompt.IsKey(ask.Key) || !strings.HasPrefix(ask.Dir, strings.TrimSuffix(ask.Key, "/"))) {
			t.Errorf("%+v", ask)
		}
		prompt.DecodeHead(data)
	})
}

// Every value that a script gets is one word of its shell; what no shell can do is said.
func TestScripts(t *testing.T) {
	t.Parallel()
	o := prompt.Options{Board: "/run/it's a \\dir$(x)", Layout: []string{"cwd", "bad name", "git_branch"}, Right: []string{"git_diff"}, Transient: true, Newline: true}
	want := map[prompt.Shell][]string{
		prompt.Bash: {`__davitp_board='/run/it'\''s a \dir$(x)'` + "\n", "__davitp_default=' cwd git_branch '\n", "__davitp_right=' git_diff '\n", "__davitp_transient='1'\n"},
		prompt.Zsh:  {`builtin typeset -g __davitp_right='\'' git_diff '\''`},
		prompt.Fish: {`set -g __davitp_board '/run/it\'s a \\dir$(x)'` + "\n", "set -g __davitp_newline '1'\n"},
		prompt.Pwsh: {`$global:__davitp_board = '/run/it''s a \dir$(x)'` + "\n", "$global:__davitp_colours = ' cwd=34 "},
	}
	for _, shell := range prompt.Shells() {
		code, notes, err := prompt.Script(shell, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want[shell] {
			if !strings.Contains(code, line) {
				t.Errorf("%s: %q is not in\n%.600s", shell, line, code)
			}
		}
		if limited := shell == prompt.Bash || shell == prompt.Pwsh; limited != (len(notes) == 2) {
			t.Errorf("%s says %q", shell, notes)
		}
	}
	for name, change := range map[string]func(*prompt.Options, *prompt.Shell){
		"tcsh":       func(_ *prompt.Options, s *prompt.Shell) { *s = "tcsh" },
		"../x":       func(_ *prompt.Options, s *prompt.Shell) { *s = "../x" },
		"no kind":    func(o *prompt.Options, _ *prompt.Shell) { o.Right = []string{"$(x)"} },
		"no such":    func(o *prompt.Options, _ *prompt.Shell) { o.Right = []string{"weather"} },
		"relative":   func(o *prompt.Options, _ *prompt.Shell) { o.Board = "run" },
		"custom bad": func(o *prompt.Options, _ *prompt.Shell) { o.Right = []string{"custom:a b"} },
	} {
		o, shell := o, prompt.Zsh
		if change(&o, &shell); name != "" {
			if _, _, err := prompt.Script(shell, o); err == nil {
				t.Errorf("%s was taken", name)
			}
		}
	}
}

// The scripts are what each shell itself calls well formed.
func TestScriptsAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, shell := range []prompt.Shell{prompt.Bash, prompt.Zsh, prompt.Fish} {
		t.Run(string(shell), func(t *testing.T) {
			t.Parallel()
			testenv.Require(t, string(shell))
			code, _, err := prompt.Script(shell, prompt.Options{Board: "/run/x"})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(string(shell), "-n")
			cmd.Stdin = strings.NewReader(code)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// PowerShell, by its grammar: a prompt's text is returned and never a format, an expression
// or a path with wildcards; names are compared by their case; braces and quotes close.
func TestPwshByItsGrammar(t *testing.T) {
	t.Parallel()
	code, _, err := prompt.Script(prompt.Pwsh, prompt.Options{Board: "/run/x", Layout: []string{"cwd"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		text string
		has  bool
		why  string
	}{
		{"function global:prompt {", true, "the prompt is this function"},
		{"$ok = $?", true, "$? is taken first"},
		{"$global:LASTEXITCODE = $code", true, "and the exit code is put back"},
		{"Invoke-Expression", false, "nothing is evaluated"},
		{"iex", false, "nothing is evaluated"},
		{"ExpandString", false, "no text is expanded"},
		{"Get-Content", false, "its paths have wildcards"},
		{"Start-Process", false, "no process"},
		{"-f ", false, "a format would read braces in a name"},
	} {
		if strings.Contains(code, row.text) != row.has {
			t.Errorf("%q: %s", row.text, row.why)
		}
	}
	body := code[strings.Index(code, "\nfunction global:prompt {")+1:]
	if first := strings.Fields(strings.SplitN(body, "\n", 3)[1]); !slices.Equal(first, []string{"$ok", "=", "$?"}) {
		t.Errorf("the first statement of the prompt is %q", first)
	}
	depth := 0
	for _, c := range stripped(code) {
		switch c {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			depth--
		}
		if depth < 0 {
			t.Fatal("a bracket closes that was not opened")
		}
	}
	if depth != 0 {
		t.Errorf("%d brackets are open", depth)
	}
}

// stripped is code without comments and texts.
func stripped(code string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case quote != 0:
			if c == '`' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#':
			for i < len(code) && code[i] != '\n' {
				i++
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Which kinds a shell fills itself, and which the host tells.
func TestOwnKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []chip.Kind{chip.GitBranch, chip.GitDiff, chip.GitHubPR, chip.Node, chip.Kube, "custom:x"} {
		if prompt.Own(kind) {
			t.Errorf("%s is no fact of the shell's", kind)
		}
	}
	for _, kind := range []chip.Kind{chip.Cwd, chip.Venv, chip.Conda, chip.SSH, chip.Time24} {
		if !prompt.Own(kind) {
			t.Errorf("%s is a fact of the shell's", kind)
		}
	}
}
