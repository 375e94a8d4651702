package template

import (
	"slices"
	"strings"
	"testing"
)

func TestRawFollowsTheGrammar(t *testing.T) {
	values := map[string]string{"name": "V", "b": "{{name}}", "é_1-x": "E", "-x": "D", "json": ""}
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"{{name}}", "V"},
		{"a{{name}}b{{name}}", "aVbV"},
		{"{{ name }}", "{{ name }}"},
		{"{{other}}", "{{other}}"},
		{"{{}}", "{{}}"},
		{"{{{name}}}", "{{{name}}}"},
		{"{{{{name}}}}", "{{{{name}}}}"},
		{"{{name}}}", "V}"},
		{"{{a{{b}}", "{{a{{name}}"}, // newest opening; a value is not expanded again
		{"{{name}", "{{name}"},
		{"{{name", "{{name"},
		{"{{é_1-x}}{{-x}}", "ED"},
		{"{{1x}}", "{{1x}}"},
		{"{{a.b}} {{#if x}}", "{{a.b}} {{#if x}}"},
		{"{{json}}", ""},
		{"{ {name}}", "{ {name}}"},
	} {
		if got := Parse(c.in).Raw(values); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	got := Parse("{{a}} {{{b}}} {{c}}{{a}}").Names()
	if want := []Ref{{"a", 0}, {"c", 14}, {"a", 19}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !Parse("x{{c}}").Mentions("c") || Parse("{{{c}}}").Mentions("c") {
		t.Error("Mentions")
	}
}

func TestShellOf(t *testing.T) {
	for program, want := range map[string]Shell{
		"/bin/bash": Bash, "zsh": Zsh, "-zsh": Zsh, "/usr/bin/dash": Sh, "fish": Fish, "pwsh": PowerShell,
		`C:\Windows\System32\WindowsPowerShell\v1.0\PowerShell.EXE`: PowerShell, "nu": "", "/usr/bin/xonsh": "", "tcsh": "",
	} {
		if got, ok := ShellOf(program); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", program, got, ok, want)
		}
	}
}

func TestQuotedText(t *testing.T) {
	for _, c := range []struct {
		shell           Shell
		in, value, want string
	}{
		{Bash, "git switch {{x}}", "fix/a-b", "git switch fix/a-b"},
		{Bash, "echo {{x}}", "", "echo ''"},
		{Bash, "echo {{x}}", "-n", "echo '-n'"},
		{Bash, "echo {{x}}", "~", "echo '~'"},
		{Bash, "echo {{x}}", "a,b", "echo 'a,b'"},
		{Fish, "echo {{x}}", "%self", "echo '%self'"},
		{Bash, "echo {{x}}", "it's", `echo 'it'\''s'`},
		{Fish, "echo {{x}}", `it's \n`, `echo 'it\'s \\n'`},
		{PowerShell, "echo {{x}}", "it's it’s", "echo 'it''s it’’s'"},
		{PowerShell, "echo {{x}}", "a,b", "echo 'a,b'"},
		{PowerShell, "echo {{x}}", "1kb", "echo '1kb'"},
		{PowerShell, `echo "a {{x}}"`, "$x `\"”", "echo \"a `$x ```\"`”\""},
		{PowerShell, `echo 'a {{x}}'`, "it's $x", "echo 'a it''s $x'"},
		{PowerShell, `git log --format={{x}}`, "%h %s", "git log --format='%h %s'"},
		{Bash, `cd "/w/{{x}}"`, "fix-1", `cd "/w/fix-1"`},
		{Bash, `cd "/w/{{x}}/y"`, "a b", `cd "/w/"'a b'"/y"`},
		{Bash, `cd '/w/{{x}}/y'`, "a'b", `cd '/w/a'\''b/y'`},
		{Bash, `echo "$v{{x}}"`, "foo", `echo "$v"'foo'""`},
		{Bash, `echo {{x}}>f`, "2", `echo '2'>f`},
		{Bash, `{{x}} foo`, "if", `'if' foo`},
		{Zsh, `echo {{x}}{{x}}`, "a b", `echo 'a b'""'a b'`},
		{Bash, `echo $(ls {{x}})`, "fix-1", `echo $(ls fix-1)`},
	} {
		got, err := Parse(c.in).Quoted(c.shell, map[string]string{"x": c.value})
		if err != nil || got != c.want {
			t.Errorf("%s %s: %s (%v), want %s", c.shell, c.in, got, err, c.want)
		}
	}
}

// Places where no quoting is right are refused (spec tabs T3.2).
func TestCheckQuoting(t *testing.T) {
	posix := []Shell{Sh, Bash, Zsh}
	no := func(string) bool { return false }
	for _, c := range []struct {
		shells []Shell
		in     string
		want   string
	}{
		{posix, "echo $(ls {{x}})", whereCommand},
		{posix, `echo "$(ls "{{x}}")"`, whereCommand},
		{posix, "echo `ls {{x}}`", whereBacktick},
		{posix, "cat <<EOF\n{{x}}\nEOF\n", whereHere},
		{posix, "cat <<-'E F'\n\ta {{x}}\n\tE F\n", whereHere},
		{posix, "cat <<{{x}}", whereHere},
		{posix, "echo ${v:-{{x}}}", whereBrace},
		{posix, "echo $(( {{x}} + 1 ))", whereArith},
		{posix, "echo hi # {{x}}", whereComment},
		{posix, `echo \{{x}}`, `right after an escaping \`},
		{posix, `echo "\{{x}}"`, `right after an escaping \`},
		{posix, "echo ${{x}}", "right after a $"},
		{posix, "echo $(case a in a) ls;; esac) {{x}}", whereCommand},
		{[]Shell{Sh}, "echo $'{{x}}'", whereUnknown},
		{[]Shell{Fish}, "echo (ls {{x}})", "inside (…)"},
		{[]Shell{Fish}, `echo "$(ls {{x}})"`, whereCommand},
		{[]Shell{Fish}, "# {{x}}", whereComment},
		{[]Shell{Fish}, `echo '\{{x}}'`, `right after an escaping \`},
		{[]Shell{PowerShell}, `echo "$(ls {{x}})"`, whereCommand},
		{[]Shell{PowerShell}, "echo @(ls {{x}})", "inside @(…)"},
		{[]Shell{PowerShell}, "echo `{{x}}", "right after an escaping `"},
		{[]Shell{PowerShell}, "echo @'\n{{x}}\n'@", "in a here-string"},
		{[]Shell{PowerShell}, "echo {{x}}{{y}}", "in a word that is quoted in part (put the whole word in double quotes)"},
		{[]Shell{PowerShell}, "echo {{x}}/y", "in a word that is quoted in part (put the whole word in double quotes)"},
		{[]Shell{PowerShell}, `echo "a"{{x}}`, "in a word that is quoted in part (put the whole word in double quotes)"},
		{[]Shell{PowerShell}, `echo "$v{{x}}"`, "right after a variable (write ${name})"},

		{posix, `echo {{x}} '{{x}}' "a {{x}}" \\{{x}} a#{{x}} "\"{{x}}"`, ""},
		{posix, "cat <<EOF; echo '\n'\nbody $( '\nEOF\necho {{x}}", ""},
		{posix, "cat <<<{{x}}", ""},
		{posix, `echo $(ls) "$(ls ")")" $((1<<2)) ${v:-")"} ` + "`ls`" + ` {{x}}`, ""},
		{posix, "case $a in a) echo {{x}};; esac", ""},
		{[]Shell{Bash, Zsh}, `echo $'it\'s {{x}}'`, ""},
		{[]Shell{Fish}, `echo {{x}} '\'{{x}}' "a {{x}}" (ls) {{x}}`, ""},
		{[]Shell{PowerShell}, "echo {{x}} '{{x}}' \"a {{x}} ${v}{{x}}\" --a={{x}} (ls) {{x}}", ""},
		{[]Shell{PowerShell}, "echo ’’’$(’ {{x}}", ""},
	} {
		for _, sh := range c.shells {
			got := ""
			if f := Parse(c.in).CheckQuoting(sh, no); len(f) > 0 {
				got = f[0].Where
			}
			if got != c.want {
				t.Errorf("%s %q: %q, want %q", sh, c.in, got, c.want)
			}
		}
		if f := Parse(c.in).CheckQuoting(c.shells[0], func(n string) bool { return n == "x" }); slices.ContainsFunc(f, func(f Fault) bool { return f.Name == "x" }) {
			t.Errorf("%q: refused for a value that is always safe", c.in)
		}
	}
}

func TestQuotedRefuses(t *testing.T) {
	x := func(v string) map[string]string { return map[string]string{"x": v} }
	for _, c := range []struct{ in, value, want string }{
		{"echo {{x}}", "a\x00b", "NUL"},
		{"echo $(ls {{x}})", "a b", "inside $(…)"},
		{"echo {{x}}", strings.Repeat("a", MaxCommand), "100005 bytes"},
	} {
		_, err := Parse(c.in).Quoted(Bash, x(c.value))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.in, err, c.want)
		}
	}
	if got, err := Parse("{{y}} {{x}}").Quoted(Bash, x("v")); err != nil || got != "{{y}} v" {
		t.Errorf("unknown name: %q %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{{a}}", "{{{a}}}", `"$({{a}})"`, "cat <<E\n{{a}}\nE\n{{a}}", "`{{a}}", `'\{{a}}`, "${{{a}}", "<<'a{{a}}", "@'{{a}}", "$(({{a}})", "((({{a}}))#{{a}}\n{{a}}", "’{{a}}“"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tm := Parse(s)
		names := map[string]string{}
		for _, r := range tm.Names() {
			if s[r.Offset:r.end()] != "{{"+r.Name+"}}" || !ValidName(r.Name) {
				t.Fatalf("%q: %v", s, r)
			}
			names[r.Name] = "{{" + r.Name + "}}"
		}
		if got := tm.Raw(names); got != s {
			t.Fatalf("names for themselves: %q, want %q", got, s)
		}
		if len(s) > 10_000 {
			return
		}
		for k := range names {
			names[k] = "v-1"
		}
		for _, sh := range []Shell{Sh, Bash, Zsh, Fish, PowerShell} {
			if n := len(places(sh, tm)); n != len(tm.Names()) {
				t.Fatalf("%s %q: %d places of %d", sh, s, n, len(tm.Names()))
			}
			if _, err := tm.Quoted(sh, names); err != nil {
				t.Fatalf("%s %q: a bare value is refused: %v", sh, s, err)
			}
		}
	})
}
