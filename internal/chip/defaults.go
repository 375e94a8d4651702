package chip

import (
	"slices"

	"davit"
)

// Place is where chips and footer items are shown by a list that the user may change.
type Place string

// The places, by their names in a layout.
const (
	PlacePrompt    Place = "prompt"    // of a terminal
	PlaceFooter    Place = "footer"    // of a chat
	PlaceCLIFooter Place = "cliFooter" // of a terminal that runs an agent
)

// Places lists the places in the order in which they are told.
func Places() []Place { return []Place{PlacePrompt, PlaceFooter, PlaceCLIFooter} }

// The footer items that are no chips (spec chips C4.5).
const (
	ItemInputMode  = "input_mode"  // send, queue, steer
	ItemContextUse = "context_use" // context used
	ItemModel      = "model"       // picker
	ItemAttach     = "attach"      // a file or image
	ItemVoice      = "voice"       // dictation, in the bank only
	ItemFiles      = "files"       // file tree
	ItemRichInput  = "rich_input"  // multi-line composer
	ItemSettings   = "settings"    // of the footer
)

// Defaults gives what a place shows unless the user chose otherwise (spec chips C4.5); of
// a prompt everything is at the left. The pull-request chip is in the defaults of the
// prompt and of the chat's footer, unless its flag is off or it is suppressed.
func Defaults(place Place, flag bool, state davit.PRValidation) davit.FooterItems {
	var items davit.FooterItems
	switch place {
	case PlacePrompt:
		items = davit.FooterItems{Left: names(DefaultPrompt()...), Right: []string{}}
	case PlaceFooter:
		items = davit.FooterItems{
			Left:  append(names(SSH, Cwd, GitBranch, GitDiff, GitHubPR), ItemInputMode),
			Right: append(names(AgentPlan), ItemContextUse, ItemModel, ItemAttach),
		}
	case PlaceCLIFooter:
		items = davit.FooterItems{
			Left:  []string{ItemAttach, string(GitDiff), ItemFiles, ItemRichInput},
			Right: append(names(Cwd, GitBranch), ItemSettings),
		}
	}
	if !flag || state == davit.PRSuppressed {
		items.Left = slices.DeleteFunc(items.Left, func(name string) bool { return name == string(GitHubPR) })
	}
	return items
}

func names(kinds ...Kind) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = string(k)
	}
	return out
}

// Next gives the validation state after a verdict (spec chips C4.3). What decides nothing
// changes nothing.
func Next(state davit.PRValidation, verdict Verdict) davit.PRValidation {
	switch verdict {
	case VerdictValidated:
		return davit.PRValidated
	case VerdictMissing, VerdictUnauthenticated:
		return davit.PRSuppressed
	}
	if state == "" {
		return davit.PRUnvalidated
	}
	return state
}

// Verdict is what one look for a pull request says about the default of its chip (spec
// chips C4.2).
type Verdict string

// The verdicts of C4.2.
const (
	VerdictValidated       Verdict = "validated"
	VerdictMissing         Verdict = "missing_gh"
	VerdictUnauthenticated Verdict = "unauthenticated_gh"
	VerdictNoChange        Verdict = "no_change"
)
