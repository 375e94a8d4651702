package chip

import (
	"slices"

	"davit"
)

// Withheld says why the pull-request chip is not run for somebody who merely asks for a
// list: it is switched off, or suppressed and no layout of the user's names it (spec
// chips C4.4). "" runs it.
func Withheld(l davit.ChipLayout, last Verdict) string {
	switch {
	case !l.PRChip:
		return "the pull-request chip is switched off"
	case l.Validation != davit.PRSuppressed || l.Badge:
		return ""
	case last == VerdictUnauthenticated:
		return ReasonSignedOut
	}
	return ReasonNoGh
}

// Listing puts chips in the order of the effective prompt, with an entry for each kind
// that the prompt names, and the pull request's in any case while its kind exists (spec
// chips C3.3).
func Listing(l davit.ChipLayout, have []davit.Chip, pull davit.Chip) []davit.Chip {
	have = slices.DeleteFunc(slices.Clone(have), func(c davit.Chip) bool { return c.Kind == string(GitHubPR) })
	if l.PRChip {
		have = append(have, pull)
	}
	list := make([]davit.Chip, 0, len(have)+len(l.Prompt))
	take := func(kind string) bool {
		i := slices.IndexFunc(have, func(c davit.Chip) bool { return c.Kind == kind })
		if i < 0 {
			return false
		}
		list = append(list, have[i])
		have = slices.Delete(have, i, i+1)
		return true
	}
	for _, kind := range l.Prompt {
		if take(kind) || kind == string(GitHubPR) {
			continue
		}
		c := davit.Chip{Kind: kind, Status: davit.ChipIdle, Reason: "it has no value here"}
		if IsCustom(Kind(kind)) {
			c.Reason = "config.toml has no chip of this name"
		} else if _, known := PolicyOf(Kind(kind)); !known {
			c.Reason = "this version of davit does not fetch it"
		}
		list = append(list, c)
	}
	return append(list, have...)
}
