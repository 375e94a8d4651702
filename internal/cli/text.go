package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"davit/internal/template"
)

// word is a value as one argument of a command that is printed to be copied, quoted for
// the caller's own shell.
func (a *app) word(value string) string {
	shell, known := template.ShellOf(a.getenv("SHELL"))
	if !known {
		shell = template.Sh
	}
	return template.Word(shell, value)
}

// visible is a text in one row, as it is but for what a terminal would not show or would
// obey: a newline is \n, an escape \x1b, a turn of the writing direction \u202e.
func visible(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }

// table lists rows in columns; nothing in a cell can begin another row or column.
type table struct{ to *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (t table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = visible(cell)
	}
	fmt.Fprintln(t.to, strings.Join(cells, "\t"))
}

func (t table) flush() error { return t.to.Flush() }
