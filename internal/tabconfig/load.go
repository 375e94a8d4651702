package tabconfig

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Load reads a file's text. The faults are sorted by place; when one of them is
// an error there is no Config. path is only for messages and Config.Path.
func Load(path string, src []byte, env LoadEnv) (*Config, []Fault) {
	l := newLoader(path, src, env)
	switch {
	case len(src) > MaxFile:
		l.fault(nowhere(), Error, CodeTooLarge, "", "the file has more than %d bytes", MaxFile)
		return nil, l.faults
	case !utf8.Valid(src):
		l.fault(l.firstInvalid(), Error, CodeEncoding, "save it as UTF-8", "the file is not UTF-8")
		return nil, l.faults
	}
	root, fault, whole := parse(l.src)
	if fault != nil {
		l.fault(span{fault.offset, fault.offset + 1}, Error, CodeSyntax, "", "%s", fault.message)
	}
	l.check(root, fileShape(), span{}, "the file", !whole)
	var cfg *Config
	if whole {
		cfg = l.build(root)
		l.tree()
		l.names()
		l.machine()
	}
	slices.SortStableFunc(l.faults, func(a, b Fault) int {
		return firstNonZero(a.Line-b.Line, a.Column-b.Column, strings.Compare(string(a.Severity), string(b.Severity)))
	})
	l.tellMore()
	if HasErrors(l.faults) {
		return nil, l.faults
	}
	return cfg, l.faults
}

// loader carries one Load.
type loader struct {
	path       string
	src        []byte // without a byte order mark
	env        LoadEnv
	lines      []int // offsets of the lines
	mark       mark
	faults     []Fault
	more       int // faults past maxFaults
	moreErrors bool

	cfg       *Config
	panes     []*node // of cfg.Panes
	rootShell *node
	params    map[string]paramAt
	uses      []use
}

type paramAt struct {
	Param
	at   span
	used bool
}

// nowhere is the place of a fault of the file as a whole.
func nowhere() span { return span{-1, -1} }

func newLoader(path string, src []byte, env LoadEnv) *loader {
	l := &loader{path: path, src: []byte(strings.TrimPrefix(string(src), bom)), env: env, lines: []int{0}, params: map[string]paramAt{}}
	// The parser finds places by capacity: the slice must end where it ends.
	l.src = slices.Clip(l.src)
	for i, c := range l.src {
		if c == '\n' {
			l.lines = append(l.lines, i+1)
		}
	}
	return l
}

func (l *loader) firstInvalid() span {
	for i := 0; i < len(l.src); {
		r, size := utf8.DecodeRune(l.src[i:])
		if r == utf8.RuneError && size == 1 {
			return span{i, i + 1}
		}
		i += size
	}
	return nowhere()
}

// maxFaults is how many faults are told in full; a file with more is no config.
const maxFaults = 100

func (l *loader) fault(at span, severity Severity, code Code, hint, format string, args ...any) {
	if len(l.faults) >= maxFaults {
		l.more++
		l.moreErrors = l.moreErrors || severity == Error
		return
	}
	p := l.position(at)
	l.faults = append(l.faults, Fault{File: l.path, Line: p.line, Column: p.column, width: p.width,
		Severity: severity, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// tellMore says how many faults were left out.
func (l *loader) tellMore() {
	if l.more == 0 {
		return
	}
	f := Fault{File: l.path, Severity: Warning, Code: CodeMore, Message: fmt.Sprintf("%d more faults are not shown", l.more)}
	if l.moreErrors {
		f.Severity = Error
	}
	l.faults = append(l.faults, f)
}

// position is a place as people count: lines and characters from 1.
type position struct{ line, column, width int }

// mark is the last place whose characters were counted, so that a long line is
// not counted from its start for each place.
type mark struct{ start, at, runes int }

func (l *loader) position(at span) position {
	if at.from < 0 {
		return position{}
	}
	from := min(at.from, len(l.src))
	line := sort.Search(len(l.lines), func(i int) bool { return l.lines[i] > from })
	start := l.lines[line-1]
	if l.mark.start != start || l.mark.at > from {
		l.mark = mark{start: start, at: start}
	}
	l.mark.runes += utf8.RuneCount(l.src[l.mark.at:from])
	l.mark.at = from
	text, _, _ := bytes.Cut(l.src[from:max(from, min(at.to, len(l.src)))], []byte("\n"))
	return position{line: line, column: l.mark.runes + 1, width: utf8.RuneCount(text)}
}

// line is the line number of a place.
func (l *loader) line(at span) int { return l.position(at).line }
