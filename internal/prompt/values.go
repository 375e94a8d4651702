package prompt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"davit"
	"davit/internal/chip"
)

// Value is what one chip shows.
type Value struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"` // as a prompt has it: git:(main)
	Stale bool   `json:"stale,omitempty"`
}

// Bounds of a board's files.
const (
	MaxText   = 120 // cells of one value
	MaxValues = 64
	MaxFile   = 64 << 10
)

// Values gives what a prompt shows of chips that the host knows. A chip that is drawn
// beside certain programs only has no place in a prompt, which is drawn before any.
func Values(chips []davit.Chip) []Value {
	var values []Value
	for _, c := range chips {
		if Own(chip.Kind(c.Kind)) || !safeName(c.Kind) || c.Text == "" || c.Data != nil && len(c.Data.WhileTyping) > 0 || len(values) == MaxValues {
			continue
		}
		if c.Kind == string(chip.GitDiff) && c.Data != nil && c.Data.Files+c.Data.Added+c.Data.Removed+c.Data.Untracked == 0 {
			continue // a bare 0 says nothing where there are no icons
		}
		switch c.Status {
		case davit.ChipReady, davit.ChipCached, davit.ChipStale, davit.ChipLoading:
		default:
			continue
		}
		short := c
		short.Text = chip.Shorten(chip.Kind(c.Kind), Clean(c.Text), MaxText)
		values = append(values, Value{Kind: c.Kind, Text: chip.Prompt(short), Stale: c.Status == davit.ChipStale})
	}
	return values
}

// Clean makes a text fit for one line of a terminal: what would steer the terminal, turn
// the direction of what stands beside, or cannot be seen, is replaced by "?".
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// EncodeValues writes values, a line each: kind, state, text.
func EncodeValues(values []Value) []byte {
	var b strings.Builder
	b.WriteString(valueMark + "\n")
	for _, v := range values {
		if !safeName(v.Kind) || v.Text == "" {
			continue
		}
		state := "ready"
		if v.Stale {
			state = "stale"
		}
		b.WriteString(v.Kind + " " + state + " " + Clean(v.Text) + "\n")
	}
	return []byte(b.String())
}

// DecodeValues reads values.
func DecodeValues(data []byte) ([]Value, bool) {
	if !utf8.Valid(data) {
		return nil, false
	}
	lines := strings.Split(string(data), "\n")
	if lines[0] != valueMark {
		return nil, false
	}
	var values []Value
	for _, line := range lines[1:] {
		kind, rest, _ := strings.Cut(line, " ")
		state, text, ok := strings.Cut(rest, " ")
		if ok && text != "" && safeName(kind) {
			values = append(values, Value{Kind: kind, Text: Clean(text), Stale: state == "stale"})
		}
	}
	return values, true
}

// Text is the text form of a prompt (spec chips C5.1): the values in the layout's order.
func Text(layout []string, values []Value) string {
	var parts []string
	for _, v := range Ordered(layout, values) {
		parts = append(parts, v.Text)
	}
	return strings.Join(parts, " ")
}

// Ordered gives the values that a layout shows, in its order.
func Ordered(layout []string, values []Value) []Value {
	shown := []Value{}
	for _, kind := range layout {
		if i := slices.IndexFunc(values, func(v Value) bool { return v.Kind == kind }); i >= 0 {
			shown = append(shown, values[i])
		}
	}
	return shown
}
