package template

import "testing"

// PowerShell is not run here: its documented grammar (about_Quoting_Rules, about_Parsing,
// about_Special_Characters) stands as this table. Each value is shown as an argument of its
// own, between single quotes, and between double quotes (spec tabs T3.2).
func TestPowerShellQuoting(t *testing.T) {
	for _, c := range []struct{ value, bare, single, double string }{
		{"abc", "abc", "abc", "abc"},
		{"src/a.b:c-d_e", "src/a.b:c-d_e", "src/a.b:c-d_e", "src/a.b:c-d_e"},
		{"", "''", "", ""},
		{" ", "' '", " ", " "},
		{"it's", "'it''s'", "it''s", "it's"},
		{"''", "''''''", "''''", "''"},
		{`say "x"`, `'say "x"'`, `say "x"`, "say `\"x`\""},
		{"‘a’ ‚b‛", "'‘‘a’’ ‚‚b‛‛'", "‘‘a’’ ‚‚b‛‛", "‘a’ ‚b‛"},
		{"“a” „b", "'“a” „b'", "“a” „b", "`“a`” `„b"},
		{"$HOME", "'$HOME'", "$HOME", "`$HOME"},
		{"${x}$(id)", "'${x}$(id)'", "${x}$(id)", "`${x}`$(id)"},
		{"a`nb", "'a`nb'", "a`nb", "a``nb"},
		{"`", "'`'", "`", "``"},
		{`C:\a\`, `'C:\a\'`, `C:\a\`, `C:\a\`},
		{"-n", "'-n'", "-n", "-n"},
		{"--", "'--'", "--", "--"},
		{"--%", "'--%'", "--%", "--%"},
		{"a,b", "'a,b'", "a,b", "a,b"},
		{"@x", "'@x'", "@x", "@x"},
		{"@(1)", "'@(1)'", "@(1)", "@(1)"},
		{"%", "'%'", "%", "%"},
		{"%PATH%", "'%PATH%'", "%PATH%", "%PATH%"},
		{"#x", "'#x'", "#x", "#x"},
		{"a;b|c&d", "'a;b|c&d'", "a;b|c&d", "a;b|c&d"},
		{"{a}(b)[c]<d>", "'{a}(b)[c]<d>'", "{a}(b)[c]<d>", "{a}(b)[c]<d>"},
		{"*?", "'*?'", "*?", "*?"},
		{"~", "'~'", "~", "~"},
		{"a\nb", "'a\nb'", "a\nb", "a\nb"},
		{"a\r\n'b", "'a\r\n''b'", "a\r\n''b", "a\r\n'b"},
		{"1", "'1'", "1", "1"},
		{"0x1F", "'0x1F'", "0x1F", "0x1F"},
		{".5", "'.5'", ".5", ".5"},
		{"2gb", "'2gb'", "2gb", "2gb"},
		{"if", "'if'", "if", "if"},
		{"é日🙂", "'é日🙂'", "é日🙂", "é日🙂"},
		{"{{x}}", "'{{x}}'", "{{x}}", "{{x}}"},
	} {
		for _, f := range []struct{ in, want string }{
			{"tool {{x}}", "tool " + c.bare},
			{"tool {{x}} more", "tool " + c.bare + " more"},
			{"tool 'p {{x}} s'", "tool 'p " + c.single + " s'"},
			{`tool "p {{x}} s"`, `tool "p ` + c.double + ` s"`},
			{`tool "${v}{{x}}"`, `tool "${v}` + c.double + `"`},
		} {
			got, err := Parse(f.in).Quoted(PowerShell, map[string]string{"x": c.value})
			if err != nil || got != f.want {
				t.Errorf("%q in %s: %s (%v), want %s", c.value, f.in, got, err, f.want)
			}
		}
	}
}
