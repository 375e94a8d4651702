package template

import "testing"

// A command line is what a person would type: quotes only where they are needed, and no
// byte that a terminal would obey (spec chips C5.2).
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want map[Shell]string
	}{
		{[]string{"git", "switch", "-c", "feature/x-1"}, map[Shell]string{Sh: "git switch -c feature/x-1", Fish: "git switch -c feature/x-1", PowerShell: "git switch '-c' feature/x-1"}},
		{[]string{"git", "switch", "--", "it's"}, map[Shell]string{Zsh: `git switch -- 'it'\''s'`, Fish: `git switch -- 'it\'s'`, PowerShell: "git switch '--' 'it''s'"}},
		{[]string{"time", "time"}, map[Shell]string{Bash: "'time' time"}},
		{[]string{"my tool", ""}, map[Shell]string{Sh: "'my tool' ''", PowerShell: "& 'my tool' ''"}},
		{[]string{"x", "a\nb'!"}, map[Shell]string{Bash: `x $'a\nb\x27\x21'`, Zsh: `x $'a\nb\x27\x21'`, Fish: `x 'a'\u000a'b\'!'`, Sh: "", PowerShell: ""}},
		{[]string{"x", "\u202egpj"}, map[Shell]string{Bash: `x $'\xe2\x80\xaegpj'`, Fish: `x \u202e'gpj'`, Sh: ""}},
		{[]string{"x", "a\x00b"}, map[Shell]string{Bash: "", Fish: ""}},
		{[]string{"x", "\xff"}, map[Shell]string{Bash: "", Fish: ""}},
		{[]string{""}, map[Shell]string{Bash: ""}},
		{nil, map[Shell]string{Bash: ""}},
	} {
		for shell, want := range c.want {
			got, err := CommandLine(shell, c.argv)
			if got != want || (err != nil) != (want == "") {
				t.Errorf("%s %q: %q, %v; want %q", shell, c.argv, got, err, want)
			}
		}
	}
}
