package cli

import (
	"slices"
	"testing"

	"davit"
	"davit/internal/chip"
	"davit/internal/tabconfig"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLayoutRoundTrip: spec chips C4.6: what is exported is imported as it was, with kinds
// that nobody knows, at any state of the pull request's chip.
func TestLayoutRoundTrip(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"cwd", "git_branch", "git_diff", "github_pr", "from_tomorrow", "custom:weather", "input_mode", "model", "x.y-z", "time24"})
	rapid.Check(t, func(r *rapid.T) {
		list := func(what string, least int) []string {
			return append([]string{}, rapid.SliceOfNDistinct(names, least, 5, func(s string) string { return s }).Draw(r, what)...)
		}
		footer := func(what string) *davit.FooterItems {
			all := list(what, 0)
			at := rapid.IntRange(0, len(all)).Draw(r, what+" right")
			return &davit.FooterItems{Left: append([]string{}, all[:at]...), Right: append([]string{}, all[at:]...)}
		}
		state := rapid.SampledFrom([]davit.PRValidation{davit.PRUnvalidated, davit.PRValidated, davit.PRSuppressed}).Draw(r, "state")
		edit := chip.Edit{}
		if rapid.Bool().Draw(r, "own prompt") {
			prompt := list("prompt", 1)
			edit.Prompt = &prompt
		}
		if rapid.Bool().Draw(r, "own footer") {
			edit.Footer = footer("footer")
		}
		if rapid.Bool().Draw(r, "own cli footer") {
			edit.CLIFooter = footer("cli_footer")
		}
		saved, err := (chip.Saved{}).Apply(edit, true, state)
		if err != nil {
			r.Fatal(err)
		}
		text := encodeLayout(chip.Resolve(saved, true, state, ""))
		set, faults := decodeLayout("layout.toml", text)
		if len(faults) > 0 {
			r.Fatalf("%v in\n%s", faults, text)
		}
		other := []string{"from_elsewhere"}
		got, err := chip.Saved{Prompt: &other, Footer: &davit.FooterItems{}, CLIFooter: &davit.FooterItems{}}.Apply(chip.Edit(set), true, state)
		if diff := cmp.Diff(saved, got); err != nil || diff != "" {
			r.Fatalf("%v %s in\n%s", err, diff, text)
		}
	})
}

// TestLayoutFaults: each fault is told with its line and column, and all of them at once.
func TestLayoutFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"prompt = [\"cwd\"\n":                                  {"1"},
		"prompt = \"mine\"":                                    {`1:10: prompt is not "mine"`},
		"prompt = []":                                          {"1:10: a prompt shows at least one chip"},
		"prompt = [\"cwd\", 3]":                                {`1:18: each entry of "prompt" must be a string, not a number`},
		"prompt = [\"Cwd\"]":                                   {`1:10: "Cwd" in the prompt is not the name of a chip`},
		"\nfooter = { left = [\"a\"], middle = [] }":           {`2:26: unknown key "middle" in [footer]`},
		"footer = [\"a\"]":                                     {`1:10: "footer" must be a table, not an array`},
		"tabs = 1\nprompt = \"x\"":                             {`1:1: unknown key "tabs" in the file`, `2:10: prompt is not "x"`},
		"cli_footer = \"default\"\ncliFooter = \"default\"":    {"2:13: cliFooter is cli_footer by another name"},
		"footer = { left = [\"a\"], right = [\"b\", \"a\"] } ": {"1:10: the footer names a twice"},
		"[footer]\nleft = [\"a\"]":                             nil,
		"":                                                     nil,
	} {
		_, faults := decodeLayout("layout.toml", []byte(text))
		var got []string
		for _, f := range faults {
			got = append(got, f.String())
			if f.Line == 0 || f.Severity != tabconfig.Error {
				t.Errorf("%q: %s has no place", text, f)
			}
		}
		for i, line := range want {
			if line != "1" {
				want[i] = "layout.toml:" + insertSeverity(line)
			}
		}
		if len(want) == 1 && want[0] == "1" {
			if len(got) != 1 {
				t.Errorf("%q: %q", text, got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// insertSeverity writes 1:10: words as a fault does.
func insertSeverity(line string) string {
	colons := 0
	for i, c := range line {
		if c == ':' {
			if colons++; colons == 2 {
				return line[:i] + ": error:" + line[i+1:]
			}
		}
	}
	return line
}
