package template

import (
	"bytes"
	"flag"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"davit/internal/testenv"
)

// realShells are the ways in which the property is tried.
func realShells() []realShell {
	return []realShell{
		{Sh, []string{"dash"}},
		{Bash, []string{"bash", "--norc"}},
		{Sh, []string{"bash", "--posix"}},
		{Zsh, []string{"zsh", "-f"}},
		{Zsh, []string{"zsh", "-f", "-o", "rcquotes", "-o", "extendedglob", "-o", "magicequalsubst"}},
		{Fish, []string{"fish", "--no-config"}},
	}
}

type realShell struct {
	kind Shell
	argv []string
}

// word is a word of a command around {{x}} and what the program must see.
type word struct{ template, before, after string }

func wordsFor(kind Shell) []word {
	words := []word{
		{`{{x}}`, "", ""},
		{`"{{x}}"`, "", ""},
		{`'{{x}}'`, "", ""},
		{`"a b/{{x}}/c d"`, "a b/", "/c d"},
		{`'a b/{{x}}/c $d'`, "a b/", "/c $d"},
		{`--k={{x}}`, "--k=", ""},
		{`--k="{{x}}"`, "--k=", ""},
		{`p{{x}}s`, "p", "s"},
		{`"$v{{x}}"`, "V", ""},
		{`$v{{x}}`, "V", ""},
		{`"$v/{{x}}"`, "V/", ""},
		{`'q'{{x}}'q'`, "q", "q"},
		{`"q"{{x}}"q"`, "q", "q"},
		{`"\"{{x}}"`, `"`, ""},
		{`\\{{x}}`, `\`, ""},
		{"\\\n{{x}}", "", ""},
	}
	switch kind {
	case Bash, Zsh:
		words = append(words, word{`$'it\'s {{x}}'`, "it's ", ""}, word{`$'\x4{{x}}1'`, "\x04", "1"})
		fallthrough
	case Sh:
		words = append(words, word{`"${v}{{x}}"`, "V", ""}, word{`'it'\''s {{x}}'`, "it's ", ""},
			word{"\"$(echo ')')\"{{x}}", ")", ""}, word{"`echo '\"'`{{x}}", `"`, ""}, word{`"$((1<<2))"{{x}}`, "4", ""})
	case Fish:
		words = append(words, word{`'it\'s {{x}}'`, "it's ", ""}, word{`(echo ')'){{x}}`, ")", ""}, word{`{$v}{{x}}`, "V", ""})
	}
	return words
}

// For any value and any shell, the argument that a program gets is the value
// (spec tabs T3.2). All values go into one script: shells are slow to start.
func checkArguments(t rapid.TB, s realShell, values []string) {
	t.Helper()
	script := "v=V\n"
	if s.kind == Fish {
		script = "set v V\n"
	}
	var want []string
	named := map[string]string{}
	for i, value := range values {
		script += "printf '%s\\0'"
		name := "x" + strconv.Itoa(i)
		named[name] = value
		for _, w := range wordsFor(s.kind) {
			if i > 0 && strings.ContainsAny(w.template, "()`") {
				continue // a process each: once is enough
			}
			script += " " + strings.ReplaceAll(w.template, "{{x}}", "{{"+name+"}}")
			want = append(want, w.before+value+w.after)
		}
		script += " {{" + name + "}}{{" + name + "}} # it's done\n"
		want = append(want, value+value)
		if s.kind != Fish {
			script += ": <<'E F'\n$( \" ' `\nE F\n"
		}
	}
	if s.kind == Zsh {
		script = strings.ReplaceAll(script, " # it's done", "") // a comment only where a shell is not interactive
	}
	command, err := Parse(script).Quoted(s.kind, named)
	if err != nil {
		t.Fatalf("values %q: %v", values, err)
	}
	checkOutput(t, s, command, want)
}

func checkOutput(t rapid.TB, s realShell, command string, want []string) {
	t.Helper()
	cmd := exec.Command(s.argv[0], append(slices.Clone(s.argv[1:]), "-c", command)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", s.argv, err, stderr.String(), command)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !slices.Equal(got, want) {
		t.Fatalf("%v got %q\nwant %q\n%s", s.argv, got, want, command)
	}
}

func hardValues() []string {
	return []string{
		"", " ", "a", "-", "--", "-n", "~", "~/x", "~root", "=ls", "%self", "!", "!!", "a!b", "#", "#x", "a#b", "$HOME", "$(id)", "`id`",
		"'", "''", "'''", `"`, `\`, `\\`, `\'`, `a\`, "\n", "a\nb\n", "\r", "\t", "*", "?", "[a]", "{a,b}", "a b", "if", "done", "time", "end",
		"a,b", "a=b", "a:b", ":h", ":a", "1", "2", "1kb", "^a^b", "$'x'", "é", "日本語", "🙂", "“”‘’", "\u00a0", "a;b", "a&b", "a|b", "(a)", "<a>", "/dev/../x",
		"\x01\x1b[31m", "{{x}}", "function", "select", "repeat",
	}
}

func TestEveryShellSeesTheValue(t *testing.T) {
	for _, s := range realShells() {
		t.Run(string(s.kind)+" "+strings.Join(s.argv, " "), func(t *testing.T) {
			testenv.Require(t, s.argv[0])
			t.Parallel()
			for values := range slices.Chunk(hardValues(), 30) {
				checkArguments(t, s, values)
			}
			big, err := Parse("/usr/bin/printf '%s\\0' {{x}}").Quoted(s.kind, map[string]string{"x": strings.Repeat("a ü ", 18_000)})
			if err != nil {
				t.Fatal(err)
			}
			checkOutput(t, s, big, []string{strings.Repeat("a ü ", 18_000)})
		})
	}
}

func TestEveryShellSeesAnyValue(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
		_ = f.Value.Set("15")
	}
	value := rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom(hardValues()),
			rapid.StringOfN(rapid.RuneFrom([]rune("'\"\\$`!(){}[]<>|&;*?~#=%^-:/. \n\tab1")), 0, 8, -1),
			rapid.StringN(0, 8, -1),
		), 0, 4).Draw(t, "pieces")
		return strings.ReplaceAll(strings.Join(pieces, ""), "\x00", "")
	})
	for _, s := range realShells() {
		t.Run(string(s.kind)+" "+strings.Join(s.argv, " "), func(t *testing.T) {
			testenv.Require(t, s.argv[0])
			rapid.Check(t, func(t *rapid.T) {
				checkArguments(t, s, rapid.SliceOfN(value, 1, 6).Draw(t, "values"))
			})
		})
	}
}

// Whatever stands around a placeholder: where CheckQuoting lets it pass, a hard
// value ends up exactly where a plain one does, and does nothing else.
func TestHardValuesGoWherePlainOnesGo(t *testing.T) {
	fragments := []string{"{{x}}", "{{x}}", " ", " ", "'", "\"", "\\", "$v", "${v}", "$", "$(", ")", "`", "#", "\n", "a", "echo ", "$'", "((", "$((", "))", "1",
		" <<E\n", " <<'E'\n", "\nE\n", "${v:-", "}", "case a in a) ", ";;esac", "(", ";", "~", "=", "%", "\\\n", "<<<"}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
		_ = f.Value.Set("25")
	}
	for _, s := range realShells() {
		t.Run(string(s.kind)+" "+strings.Join(s.argv, " "), func(t *testing.T) {
			testenv.Require(t, s.argv[0])
			dir := t.TempDir()
			rapid.Check(t, func(t *rapid.T) {
				text := "printf '<%s>' " + strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 14).Draw(t, "fragments"), "") + "\n:\n"
				if strings.Contains(strings.ReplaceAll(text, "\\\n", ""), "$$") {
					return // the process id is another each time
				}
				if strings.Contains(strings.ReplaceAll(text, "\\\n", ""), "=~") {
					return // bash expands the tilde only when what is before "=" looks like a name
				}
				if s.kind != Fish {
					text = "v=V; " + text
				}
				tm := Parse(text)
				if len(tm.CheckQuoting(s.kind, func(string) bool { return false })) > 0 || !tm.Mentions("x") {
					return
				}
				plain, ok := runBuiltins(t, s, dir, tm, "MARK")
				if !ok || !strings.Contains(plain, "MARK") {
					return // not a command, or the placeholder is no argument
				}
				for _, hard := range []string{"$(echo P)'`echo P`\"\n; echo P #", "'\\' \"", " ", "*~"} {
					got, _ := runBuiltins(t, s, dir, tm, hard)
					if want := strings.ReplaceAll(plain, "MARK", hard); got != want {
						t.Fatalf("%v %q with %q: got %q, want %q", s.argv, text, hard, got, want)
					}
				}
			})
		})
	}
}

// runBuiltins runs a command where no program can be found, and answers what it
// prints and whether the shell took it.
func runBuiltins(t rapid.TB, s realShell, dir string, tm Template, value string) (string, bool) {
	t.Helper()
	command, err := tm.Quoted(s.kind, map[string]string{"x": value})
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath(s.argv[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell, append(slices.Clone(s.argv[1:]), "-c", command)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir, "HOME=" + dir}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), err == nil && stderr.Len() == 0
}
