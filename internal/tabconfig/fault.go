package tabconfig

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Severity is how much of a file a fault spoils.
type Severity string

// An error keeps the file out of the menu; with a warning the file works.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Fault is one thing that is wrong with a file, or with opening it.
type Fault struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1; 0 when no place in the file is meant
	Column   int      `json:"column"` // from 1, in characters
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`

	width int // characters to underline
}

// String is the fault on one line: file:line:col: error: message.
func (f Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", f.File, f.Severity, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Line, f.Column, f.Severity, f.Message)
}

// Format is the fault with the line of src that it stands on, a caret under
// the place, and the hint (spec tabs T1.3).
func (f Fault) Format(src []byte) string {
	var b strings.Builder
	b.WriteString(f.String())
	b.WriteByte('\n')
	if line, ok := sourceLine(src, f.Line); ok {
		text, caret := excerpt(line, f.Column-1, f.width)
		num := fmt.Sprint(f.Line)
		fmt.Fprintf(&b, " %s | %s\n", num, text)
		fmt.Fprintf(&b, " %s | %s\n", strings.Repeat(" ", len(num)), caret)
	}
	if f.Hint != "" {
		fmt.Fprintf(&b, "  hint: %s\n", f.Hint)
	}
	return b.String()
}

// HasErrors says whether one of the faults is an error.
func HasErrors(faults []Fault) bool {
	for _, f := range faults {
		if f.Severity == Error {
			return true
		}
	}
	return false
}

func sourceLine(src []byte, line int) (string, bool) {
	if line < 1 {
		return "", false
	}
	rest := strings.TrimPrefix(string(src), bom)
	for ; line > 1; line-- {
		_, after, ok := strings.Cut(rest, "\n")
		if !ok {
			return "", false
		}
		rest = after
	}
	text, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSuffix(text, "\r"), true
}

// maxExcerpt is how many characters of a line are shown.
const maxExcerpt = 120

// excerpt shows the part of a line around column (from 0) and the line with
// the caret below it. Control characters are not passed on to the terminal.
func excerpt(line string, column, width int) (text, caret string) {
	runes := []rune(line)
	column = max(0, min(column, len(runes)))
	from := 0
	if len(runes) > maxExcerpt {
		from = max(0, min(column-maxExcerpt/2, len(runes)-maxExcerpt))
	}
	to := min(len(runes), from+maxExcerpt)
	var t, c strings.Builder
	if from > 0 {
		t.WriteString("…")
		c.WriteByte(' ')
	}
	for i, r := range runes[from:to] {
		if r != '\t' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError) {
			r = '\uFFFD'
		}
		t.WriteRune(r)
		if from+i >= column {
			continue
		}
		if r == '\t' {
			c.WriteByte('\t')
		} else {
			c.WriteString(strings.Repeat(" ", displaywidth.Rune(r)))
		}
	}
	if to < len(runes) {
		t.WriteString("…")
	}
	c.WriteByte('^')
	width = min(width, to-column)
	if width > 1 {
		c.WriteString(strings.Repeat("~", width-1))
	}
	return t.String(), c.String()
}
