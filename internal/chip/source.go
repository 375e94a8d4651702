package chip

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"davit"
)

// Place kinds of a command chip: where it has a value at all.
const (
	NeedsPackage   = "package.json" // in the directory or above it, inside of a repository
	NeedsSVN       = ".svn"         // in the directory or above it
	maxOutputCells = 200
)

// Source is the program that gives a chip its value.
type Source struct {
	Argv  []string // looked up along the session's PATH
	Shell string   // or a line for sh; one of both
	Needs string   // NeedsPackage, NeedsSVN; "" everywhere
}

// SourceOf gives the program of a kind that is made by one.
func SourceOf(kind Kind) (Source, bool) {
	switch kind {
	case Node:
		return Source{Argv: []string{"node", "--version"}, Needs: NeedsPackage}, true
	case Kube:
		return Source{Argv: []string{"kubectl", "config", "current-context"}}, true
	case SVNBranch:
		return Source{Argv: []string{"svn", "info", "--non-interactive", "--show-item", "wc-root", "--no-newline"}, Needs: NeedsSVN}, true
	case SVNDirty:
		return Source{Argv: []string{"svn", "status", "--non-interactive"}, Needs: NeedsSVN}, true
	}
	return Source{}, false
}

// Program is what a source starts.
func (s Source) Program() string {
	if len(s.Argv) > 0 {
		return s.Argv[0]
	}
	return "sh"
}

// FromOutput makes a chip of what its program printed; without a value it has no text.
func FromOutput(p Policy, stdout string) davit.Chip {
	c := davit.Chip{Kind: string(p.Kind), Status: davit.ChipReady}
	if IsCustom(p.Kind) {
		c.Title, c.Icon = p.Title, p.Icon
	}
	switch p.Kind {
	case SVNBranch:
		if root := Line(stdout, 4096); root != "" {
			c.Value = path.Base(strings.ReplaceAll(root, `\`, "/"))
		}
	case SVNDirty:
		if n := lines(stdout); n > 0 {
			c.Value = fmt.Sprint(n)
			c.Data = &davit.ChipData{Files: n}
		}
	default:
		c.Value = Line(stdout, maxOutputCells)
	}
	c.Text = Cells(c.Value, maxOutputCells)
	if c.Text == "" {
		c.Reason = "it printed nothing"
	}
	if len(p.WhileTyping) > 0 {
		c.Data = &davit.ChipData{WhileTyping: p.WhileTyping}
	}
	return c
}

// lines counts the lines that are not empty.
func lines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// escapes are the sequences of a terminal: CSI, the strings that ST or BEL ends, and the
// two-byte ones.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]")

// Line makes the first line of foreign text fit to be shown: without escape sequences,
// control and direction characters, at most limit cells wide. What stands behind the text
// is trimmed, what stands before it stays.
func Line(text string, limit int) string {
	first, _, _ := strings.Cut(escapes.ReplaceAllString(bounded(text), ""), "\n")
	return Cells(strings.TrimRight(printable(first), " "), limit)
}

// bounded cuts a text that nobody will see the end of.
func bounded(text string) string {
	const most = 16 << 10
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// Cells keeps the beginning of a text, by whole characters.
func Cells(text string, limit int) string {
	if displaywidth.String(text) <= limit {
		return text
	}
	at, width := 0, 0
	for graphemes := displaywidth.StringGraphemes(text); graphemes.Next(); {
		if width += graphemes.Width(); width > limit-1 {
			break
		}
		at += len(graphemes.Value())
	}
	return text[:at] + ellipsis
}

// Drawn says that a chip is drawn beside what is typed, or the command that runs (facts of
// kube): always, but for kinds that belong to some programs.
func Drawn(p Policy, line string, aliases map[string]string) bool {
	if len(p.WhileTyping) == 0 {
		return true
	}
	words := Program(line, aliases)
	return len(words) > 0 && slices.Contains(p.WhileTyping, words[0])
}

// Beside gives the first words that a chip is drawn beside, for those who draw it: its
// programs, and the shell's aliases that lead to one of them.
func Beside(programs []string, aliases map[string]string) []string {
	var also []string
	for name := range aliases {
		if words := Program(name, aliases); len(words) > 0 && slices.Contains(programs, words[0]) && !slices.Contains(programs, name) {
			also = append(also, name)
		}
	}
	slices.Sort(also)
	return slices.Concat(programs, also)
}
