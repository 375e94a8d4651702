package chip

import (
	"slices"
	"strings"

	"davit"
)

// maxShown bounds what is kept of one prompt, in bytes of its chips' texts and values.
const maxShown = 16 << 10

// Shown gives the chips that a surface of a place draws while a command is at its prompt, or
// runs there: in the layout's order, without those that have nothing to say (spec chips
// C3.1, C4.6).
func Shown(l davit.ChipLayout, place Place, values []davit.Chip, command string) []davit.Chip {
	items := Items(l, place)
	program := ""
	if words := Program(command, nil); len(words) > 0 {
		program = words[0]
	}
	shown := []davit.Chip{}
	seen := map[string]bool{}
	for _, kind := range slices.Concat(items.Left, items.Right) {
		i := slices.IndexFunc(values, func(c davit.Chip) bool { return c.Kind == kind })
		if i < 0 || seen[kind] || !draws(values[i], program) {
			continue
		}
		seen[kind] = true
		shown = append(shown, values[i])
	}
	return shown
}

func draws(c davit.Chip, program string) bool {
	if c.Data != nil && len(c.Data.WhileTyping) > 0 && !slices.Contains(c.Data.WhileTyping, program) {
		return false
	}
	return c.Text != "" && (c.Status == davit.ChipReady || c.Status == davit.ChipCached || c.Status == davit.ChipStale)
}

// Snapshot is what is kept of drawn chips with a command's block: what they showed, and
// nothing of how it came about (spec chips C5.1).
func Snapshot(shown []davit.Chip) *davit.BlockPrompt {
	var kept []davit.Chip
	left := maxShown
	for _, c := range shown {
		if left -= len(c.Value) + len(c.Text) + len(c.Title); left < 0 {
			break
		}
		c.Reason = "" // may be a program's own words
		if c.Data != nil && len(c.Data.WhileTyping) > 0 {
			data := *c.Data
			data.WhileTyping = nil
			c.Data = &data
		}
		kept = append(kept, c)
	}
	if len(kept) == 0 {
		return &davit.BlockPrompt{Missing: "no chip showed anything when this command started"}
	}
	return &davit.BlockPrompt{Text: Text(kept), Chips: kept}
}

// Text is the text form of a prompt, for "Copy prompt" (spec chips C5.1): one line, the
// chips in the order given. A diff of nothing says nothing where there are no icons.
func Text(chips []davit.Chip) string {
	var parts []string
	for _, c := range chips {
		if d := c.Data; c.Kind == string(GitDiff) && d != nil && d.Files+d.Added+d.Removed+d.Untracked == 0 {
			continue
		}
		if text := Prompt(c); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}
