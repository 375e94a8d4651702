package chip

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"davit"
)

var states = []davit.PRValidation{davit.PRUnvalidated, davit.PRValidated, davit.PRSuppressed}

// TestNext: spec chips C4.3, the whole product.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		from    davit.PRValidation
		verdict Verdict
		to      davit.PRValidation
	}{
		{davit.PRUnvalidated, VerdictValidated, davit.PRValidated},
		{davit.PRUnvalidated, VerdictMissing, davit.PRSuppressed},
		{davit.PRUnvalidated, VerdictUnauthenticated, davit.PRSuppressed},
		{davit.PRUnvalidated, VerdictNoChange, davit.PRUnvalidated},
		{davit.PRValidated, VerdictValidated, davit.PRValidated},
		{davit.PRValidated, VerdictMissing, davit.PRSuppressed},
		{davit.PRValidated, VerdictUnauthenticated, davit.PRSuppressed},
		{davit.PRValidated, VerdictNoChange, davit.PRValidated},
		{davit.PRSuppressed, VerdictValidated, davit.PRValidated},
		{davit.PRSuppressed, VerdictMissing, davit.PRSuppressed},
		{davit.PRSuppressed, VerdictUnauthenticated, davit.PRSuppressed},
		{davit.PRSuppressed, VerdictNoChange, davit.PRSuppressed},
		{"", VerdictNoChange, davit.PRUnvalidated},
	} {
		if got := Next(c.from, c.verdict); got != c.to {
			t.Errorf("%s, %s: %s, want %s", c.from, c.verdict, got, c.to)
		}
	}
}

// TestDefaults: spec chips C4.5, each place by flag and state.
func TestDefaults(t *testing.T) {
	words := strings.Fields
	type want struct{ left, right string }
	with := map[Place]want{
		PlacePrompt:    {"conda venv ssh subshell node cwd git_branch git_diff github_pr kube", ""},
		PlaceFooter:    {"ssh cwd git_branch git_diff github_pr input_mode", "agent_plan context_use model attach"},
		PlaceCLIFooter: {"attach git_diff files rich_input", "cwd git_branch settings"},
	}
	for _, place := range Places() {
		for _, flag := range []bool{true, false} {
			for _, state := range states {
				left := words(with[place].left)
				if !flag || state == davit.PRSuppressed {
					left = slices.DeleteFunc(left, func(s string) bool { return s == "github_pr" })
				}
				got := Defaults(place, flag, state)
				if !slices.Equal(got.Left, left) || !slices.Equal(got.Right, words(with[place].right)) {
					t.Errorf("%s, flag %v, %s: %v", place, flag, state, got)
				}
			}
		}
	}
	for _, flag := range []bool{true, false} { // the CLI-agent footer is never touched by validation
		if diff := cmp.Diff(Defaults(PlaceCLIFooter, flag, davit.PRSuppressed), Defaults(PlaceCLIFooter, true, davit.PRValidated)); diff != "" {
			t.Error(diff)
		}
	}
}

func prompt(words string) Edit { list := strings.Fields(words); return Edit{Prompt: &list} }

// TestSavedLayouts: spec chips C4.6.
func TestSavedLayouts(t *testing.T) {
	const whole = "conda venv ssh subshell node cwd git_branch git_diff github_pr kube"
	const without = "conda venv ssh subshell node cwd git_branch git_diff kube"
	for _, c := range []struct {
		name   string
		edit   Edit
		flag   bool
		state  davit.PRValidation
		custom bool
	}{
		{"the default", prompt(whole), true, davit.PRValidated, false},
		{"the default, unvalidated", prompt(whole), true, davit.PRUnvalidated, false},
		{"the effective default while suppressed", prompt(without), true, davit.PRSuppressed, false},
		{"names the chip while suppressed", prompt(whole), true, davit.PRSuppressed, true},
		{"leaves the chip out by choice", prompt(without), true, davit.PRValidated, true},
		{"the default without the flag", prompt(without), false, davit.PRValidated, false},
		{"names the chip without the flag", prompt(whole), false, davit.PRValidated, true},
		{"another order", prompt("cwd conda"), true, davit.PRValidated, true},
	} {
		saved, err := Saved{}.Apply(c.edit, c.flag, c.state)
		if err != nil || (saved.Prompt != nil) != c.custom {
			t.Errorf("%s: %+v %v", c.name, saved, err)
		}
	}

	// Suppression rewrites nothing: what was saved before stays, and comes back.
	own, err := Saved{}.Apply(prompt("cwd github_pr from_tomorrow"), true, davit.PRValidated)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range states {
		l := Resolve(own, true, state, "")
		if !slices.Equal(l.Prompt, []string{"cwd", "github_pr", "from_tomorrow"}) || !slices.Equal(l.Custom, []string{"prompt"}) {
			t.Errorf("%s: %+v", state, l)
		}
		if !l.Badge { // C6.1: a custom layout names the chip
			t.Errorf("%s: no badge", state)
		}
		if names := slices.Contains(l.Footer.Left, "github_pr"); names != (state != davit.PRSuppressed) {
			t.Errorf("%s: footer %v", state, l.Footer)
		}
	}
	back, err := own.Apply(Edit{Reset: []string{"prompt"}}, true, davit.PRSuppressed)
	if err != nil || back.Prompt != nil {
		t.Errorf("reset: %+v %v", back, err)
	}
	for state, badge := range map[davit.PRValidation]bool{davit.PRUnvalidated: true, davit.PRValidated: true, davit.PRSuppressed: false, "": true} {
		if l := Resolve(Saved{}, true, state, ""); l.Badge != badge || l.Validation == "" {
			t.Errorf("%s: %+v", state, l)
		}
		if l := Resolve(own, false, state, ""); l.Badge { // the flag is off: the kind does not exist
			t.Errorf("%s, flag off: %+v", state, l)
		}
	}
	for name, bad := range map[string]Edit{
		"twice": prompt("cwd cwd"), "not a name": prompt("cwd Git!"), "empty": prompt(""), "long": prompt(strings.Repeat("x", 65)),
		"both sides": {Footer: &davit.FooterItems{Left: []string{"cwd"}, Right: []string{"cwd"}}}, "reset": {Reset: []string{"tabs"}},
		"many": prompt(strings.TrimSpace(strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 65 {
				if !yield("k" + strings.Repeat("x", i%60) + string(rune('a'+i%26)) + string(rune('a'+i/26))) {
					return
				}
			}
		}), " "))),
	} {
		if _, err := own.Apply(bad, true, davit.PRValidated); davit.CodeOf(err) != davit.CodeLayoutInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestResolverProperties: whatever was saved, the custom parts come out as they went in,
// the others are the defaults, and a restart (JSON) changes nothing.
func TestResolverProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"cwd", "git_branch", "github_pr", "kube", "model", "unknown_kind", "x.y-z"})
		list := rapid.SliceOfNDistinct(name, 1, 5, rapid.ID[string])
		edit := Edit{}
		if l := list.Draw(t, "prompt"); rapid.Bool().Draw(t, "has prompt") {
			edit.Prompt = &l
		}
		if rapid.Bool().Draw(t, "has footer") {
			all := list.Draw(t, "footer")
			cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
			edit.Footer = &davit.FooterItems{Left: all[:cut], Right: all[cut:]}
		}
		flag, state := rapid.Bool().Draw(t, "flag"), rapid.SampledFrom(states).Draw(t, "state")
		saved, err := Saved{}.Apply(edit, flag, state)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(saved)
		var read Saved
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		later := rapid.SampledFrom(states).Draw(t, "later")
		l := Resolve(read, flag, later, "")
		if diff := cmp.Diff(Resolve(saved, flag, later, ""), l); diff != "" {
			t.Fatal(diff)
		}
		if saved.Prompt != nil && !slices.Equal(l.Prompt, *edit.Prompt) {
			t.Fatalf("%v became %v", *edit.Prompt, l.Prompt)
		}
		if saved.Prompt == nil && !slices.Equal(l.Prompt, Defaults(PlacePrompt, flag, later).Left) {
			t.Fatalf("a default prompt shows %v", l.Prompt)
		}
		if state == davit.PRSuppressed && edit.Prompt != nil && slices.Contains(*edit.Prompt, "github_pr") && saved.Prompt == nil {
			t.Fatal("a layout that names the chip while it is suppressed became the default")
		}
	})
}

// TestNeeds: spec chips C2.4, C4.4 and C6: what is run for a pane is what is seen of it. A
// row of the vertical tabs runs its badges' kinds, a shown pane also those of its place, and
// a pane that nobody sees nothing.
func TestNeeds(t *testing.T) {
	own, err := Saved{}.Apply(Edit{CLIFooter: &davit.FooterItems{Left: []string{"github_pr"}}}, true, davit.PRValidated)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := Saved{}.Apply(Edit{Prompt: &[]string{"cwd", "git_branch", "date"}}, true, davit.PRValidated)
	if err != nil {
		t.Fatal(err)
	}
	view := davit.DefaultTabView()
	compact, noLink, noStats := view, view, view
	compact.Density, noLink.ShowPRLink, noStats.ShowDiffStats = "compact", false, false
	both, pane, row := Sight{Pane: true, Row: true}, Sight{Pane: true}, Sight{Row: true}
	for _, c := range []struct {
		name  string
		saved Saved
		flag  bool
		state davit.PRValidation
		view  davit.TabView
		seen  Sight
		pull  string // the places whose pane runs the pull request
		diff  string // and the diff
	}{
		{"defaults with badge", Saved{}, true, davit.PRUnvalidated, view, both, "prompt footer cliFooter", "prompt footer cliFooter"},
		{"defaults, compact tabs", Saved{}, true, davit.PRValidated, compact, both, "prompt footer", "prompt footer cliFooter"},
		{"defaults, no link", Saved{}, true, davit.PRValidated, noLink, both, "prompt footer", "prompt footer cliFooter"},
		{"defaults, no tab list", Saved{}, true, davit.PRValidated, view, pane, "prompt footer", "prompt footer cliFooter"},
		{"a row", Saved{}, true, davit.PRValidated, view, row, "prompt footer cliFooter", "prompt footer cliFooter"},
		{"a row without stats", Saved{}, true, davit.PRValidated, noStats, row, "prompt footer cliFooter", ""},
		{"a row without link", Saved{}, true, davit.PRValidated, noLink, row, "", "prompt footer cliFooter"},
		{"a compact row", Saved{}, true, davit.PRValidated, compact, row, "", ""},
		{"nobody", Saved{}, true, davit.PRValidated, view, Sight{}, "", ""},
		{"a prompt without a diff", bare, true, davit.PRValidated, compact, both, "footer", "footer cliFooter"},
		{"suppressed", Saved{}, true, davit.PRSuppressed, view, both, "", "prompt footer cliFooter"},
		{"suppressed, one's own", own, true, davit.PRSuppressed, view, both, "cliFooter", "prompt footer cliFooter"},
		{"suppressed, one's own, a row", own, true, davit.PRSuppressed, compact, row, "", ""},
		{"flag off", own, false, davit.PRValidated, view, both, "", "prompt footer cliFooter"},
	} {
		var pull, diff []string
		for _, place := range Places() {
			n := NeedsOf(Resolve(c.saved, c.flag, c.state, ""), c.view, place, c.seen)
			if n.PullRequest {
				pull = append(pull, string(place))
			}
			if n.Diff {
				diff = append(diff, string(place))
			}
			if !c.seen.Pane && len(n.Kinds) > 0 || c.seen.Pane && place == PlacePrompt && len(n.Kinds) == 0 {
				t.Errorf("%s: %s runs %q", c.name, place, n.Kinds)
			}
		}
		if strings.Join(pull, " ") != c.pull {
			t.Errorf("%s: the pull request at %v, want %q", c.name, pull, c.pull)
		}
		if strings.Join(diff, " ") != c.diff {
			t.Errorf("%s: the diff at %v, want %q", c.name, diff, c.diff)
		}
	}
}

// TestListing: spec chips C3.3.
func TestListing(t *testing.T) {
	pull := davit.Chip{Kind: "github_pr", Status: davit.ChipDisabled, Reason: "why"}
	have := []davit.Chip{{Kind: "cwd", Text: "~"}, {Kind: "git_diff", Text: "0"}}
	kinds := func(list []davit.Chip) string {
		var out []string
		for _, c := range list {
			if c.Status == davit.ChipIdle && c.Reason == "" {
				t.Errorf("%s is idle without a reason", c.Kind)
			}
			out = append(out, c.Kind)
		}
		return strings.Join(out, " ")
	}
	if got := kinds(Listing(Resolve(Saved{}, true, davit.PRValidated, ""), have, pull)); got != "conda venv ssh subshell node cwd git_branch git_diff github_pr kube" {
		t.Error(got)
	}
	if got := kinds(Listing(Resolve(Saved{}, true, davit.PRSuppressed, ""), have, pull)); got != "conda venv ssh subshell node cwd git_branch git_diff kube github_pr" {
		t.Error(got)
	}
	if got := kinds(Listing(Resolve(Saved{}, false, davit.PRValidated, ""), have, pull)); strings.Contains(got, "github_pr") {
		t.Error(got)
	}
	for _, c := range []struct {
		flag    bool
		state   davit.PRValidation
		verdict Verdict
		want    string
	}{
		{true, davit.PRUnvalidated, "", ""}, {true, davit.PRSuppressed, VerdictMissing, ReasonNoGh}, {true, davit.PRSuppressed, VerdictUnauthenticated, ReasonSignedOut},
		{false, davit.PRValidated, VerdictValidated, "the pull-request chip is switched off"},
	} {
		if got := Withheld(Resolve(Saved{}, c.flag, c.state, ""), c.verdict); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestSetView: spec chips C6.
func TestSetView(t *testing.T) {
	view := davit.DefaultTabView()
	next, err := SetView(view, []byte(`{"density": "compact", "showPrLink": false}`))
	want := view
	want.Density, want.ShowPRLink = "compact", false
	if err != nil || next != want {
		t.Errorf("%+v %v", next, err)
	}
	for _, bad := range []string{``, `null`, `[]`, `true`, `{"density":"tiny"}`, `{"denisty":"compact"}`, `{"showPrLink":"yes"}`, `{"title":null,"granularity":""}`, `{`} {
		if same, err := SetView(view, []byte(bad)); davit.CodeOf(err) != davit.CodeInvalid || same != view {
			t.Errorf("%s: %+v %v", bad, same, err)
		}
	}
}
