package chip

import (
	"slices"

	"davit"
)

// Saved is what is stored of the layouts: nil is the default, all else the user's own
// (spec chips C4.6). It is never rewritten by what happens to a chip.
type Saved struct {
	Prompt    *[]string          `json:"prompt,omitempty"`
	Footer    *davit.FooterItems `json:"footer,omitempty"`
	CLIFooter *davit.FooterItems `json:"cliFooter,omitempty"`
}

// Edit is a change of the saved layouts: absent parts stay, Reset names places that go
// back to the default.
type Edit struct {
	Prompt    *[]string
	Footer    *davit.FooterItems
	CLIFooter *davit.FooterItems
	Reset     []string
}

// Bounds of a layout.
const (
	maxItems    = 64
	maxItemName = 64
)

// Apply gives the saved layouts after an edit. A part that equals the effective default of
// this moment is stored as the default; one that names the pull-request chip while that is
// suppressed equals no default, and is the user's own (spec chips C4.6).
func (s Saved) Apply(e Edit, flag bool, state davit.PRValidation) (Saved, error) {
	for _, name := range e.Reset {
		switch Place(name) {
		case PlacePrompt:
			s.Prompt = nil
		case PlaceFooter:
			s.Footer = nil
		case PlaceCLIFooter:
			s.CLIFooter = nil
		default:
			return s, davit.Errorf(davit.CodeLayoutInvalid, "%q has no layout", name).WithHint("reset prompt, footer or cliFooter")
		}
	}
	if e.Prompt != nil {
		list, err := checked(PlacePrompt, davit.FooterItems{Left: *e.Prompt})
		if err != nil {
			return s, err
		}
		s.Prompt = &list.Left
		if same(list, Defaults(PlacePrompt, flag, state)) {
			s.Prompt = nil
		}
	}
	for _, part := range []struct {
		place Place
		from  *davit.FooterItems
		to    **davit.FooterItems
	}{{PlaceFooter, e.Footer, &s.Footer}, {PlaceCLIFooter, e.CLIFooter, &s.CLIFooter}} {
		if part.from == nil {
			continue
		}
		list, err := checked(part.place, *part.from)
		if err != nil {
			return s, err
		}
		*part.to = &list
		if same(list, Defaults(part.place, flag, state)) {
			*part.to = nil
		}
	}
	return s, nil
}

func same(a, b davit.FooterItems) bool {
	return slices.Equal(a.Left, b.Left) && slices.Equal(a.Right, b.Right)
}

// checked copies a list and refuses what no layout can hold. Names that nobody knows are
// kept: a newer davit may know them.
func checked(place Place, items davit.FooterItems) (davit.FooterItems, error) {
	out := davit.FooterItems{Left: append([]string{}, items.Left...), Right: append([]string{}, items.Right...)}
	if len(out.Left)+len(out.Right) > maxItems {
		return out, davit.Errorf(davit.CodeLayoutInvalid, "the %s has %d items, and may have %d", place, len(out.Left)+len(out.Right), maxItems)
	}
	if place == PlacePrompt && len(out.Left) == 0 {
		return out, davit.Errorf(davit.CodeLayoutInvalid, "a prompt shows at least one chip").WithHint("reset it for the default")
	}
	seen := map[string]bool{}
	for _, name := range slices.Concat(out.Left, out.Right) {
		if !isName(name) {
			return out, davit.Errorf(davit.CodeLayoutInvalid, "%q in the %s is not the name of a chip", name, place).
				WithHint("names are lower case letters, digits and _")
		}
		if seen[name] {
			return out, davit.Errorf(davit.CodeLayoutInvalid, "the %s names %s twice", place, name)
		}
		seen[name] = true
	}
	return out, nil
}

func isName(name string) bool {
	if name == "" || len(name) > maxItemName {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' && c != ':' {
			return false
		}
	}
	return true
}

// Resolve gives what is shown where: the one answer for the prompt and its text,
// snapshots, footers, badges and popups (spec chips C4.6).
func Resolve(saved Saved, flag bool, state davit.PRValidation, cause string) davit.ChipLayout {
	if state == "" {
		state = davit.PRUnvalidated
	}
	l := davit.ChipLayout{
		Validation: state, PRChip: flag, Cause: cause, Custom: []string{},
		Prompt: Defaults(PlacePrompt, flag, state).Left, Footer: Defaults(PlaceFooter, flag, state), CLIFooter: Defaults(PlaceCLIFooter, flag, state),
	}
	named := false
	own := func(place Place, items davit.FooterItems) davit.FooterItems {
		l.Custom = append(l.Custom, string(place))
		items = davit.FooterItems{Left: append([]string{}, items.Left...), Right: append([]string{}, items.Right...)}
		named = named || namesKind(items, GitHubPR)
		return items
	}
	if saved.Prompt != nil {
		l.Prompt = own(PlacePrompt, davit.FooterItems{Left: *saved.Prompt}).Left
	}
	if saved.Footer != nil {
		l.Footer = own(PlaceFooter, *saved.Footer)
	}
	if saved.CLIFooter != nil {
		l.CLIFooter = own(PlaceCLIFooter, *saved.CLIFooter)
	}
	l.Badge = flag && (state != davit.PRSuppressed || named) // C6.1
	return l
}

func namesKind(items davit.FooterItems, kind Kind) bool {
	return slices.Contains(items.Left, string(kind)) || slices.Contains(items.Right, string(kind))
}

// Items gives what a layout shows in a place.
func Items(l davit.ChipLayout, place Place) davit.FooterItems {
	switch place {
	case PlacePrompt:
		return davit.FooterItems{Left: l.Prompt}
	case PlaceFooter:
		return l.Footer
	case PlaceCLIFooter:
		return l.CLIFooter
	}
	return davit.FooterItems{}
}

// Sight is what somebody sees of a pane; the zero value is nothing.
type Sight struct {
	Pane bool // its terminal or chat, with the prompt bar or footer
	Row  bool // its row in the vertical tabs
}

// And gives what either of two sees.
func (s Sight) And(o Sight) Sight { return Sight{Pane: s.Pane || o.Pane, Row: s.Row || o.Row} }

// Needs are what a surface runs besides directory and branch, which cost no process.
type Needs struct {
	PullRequest bool
	Diff        bool
	Kinds       []Kind // the others, in order
}

// NeedsOf gives what is run for a pane that is seen so, with the chips of a place (spec
// chips C2.4): the kinds that the place's list names, and those of its row's badges. While
// the pull request is suppressed a badge alone does not want it, nor does a default (C4.4).
func NeedsOf(l davit.ChipLayout, view davit.TabView, place Place, seen Sight) Needs {
	var n Needs
	if seen.Row && view.Density == "expanded" {
		n.Diff = view.ShowDiffStats
		n.PullRequest = view.ShowPRLink && l.PRChip && l.Badge && l.Validation != davit.PRSuppressed
	}
	if seen.Pane {
		items := Items(l, place)
		n.Diff = n.Diff || namesKind(items, GitDiff) || namesKind(items, GitStatus)
		n.PullRequest = l.PRChip && (n.PullRequest || namesKind(items, GitHubPR))
		n.Kinds = Kinds(l, place)
	}
	return n
}

// Kinds gives the kinds that a surface of a place shows besides directory, branch, diff
// and pull request, in order (spec chips C2.4). Footer items and unknown names are no
// kinds.
func Kinds(l davit.ChipLayout, place Place) []Kind {
	items := Items(l, place)
	return others(slices.Concat(items.Left, items.Right))
}

// Others gives such kinds of a prompt's list.
func Others(l davit.ChipLayout) []Kind { return others(l.Prompt) }

func others(list []string) []Kind {
	var kinds []Kind
	for _, name := range list {
		kind := Kind(name)
		_, known := PolicyOf(kind)
		if !known && !IsCustom(kind) || slices.Contains([]Kind{Cwd, GitBranch, GitDiff, GitHubPR}, kind) || slices.Contains(kinds, kind) {
			continue
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
