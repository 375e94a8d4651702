package tabconfig

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Document is a TOML file that is no tab config, read with the same care: each fault has
// its place, and the hint that helps. Its reader asks for the keys that it knows.
type Document struct {
	l    *loader
	root *node
}

// Table is one table of a Document.
type Table struct {
	l    *loader
	n    *node
	at   span
	name string // for messages
	read []string
	bad  bool // an error stands in it
}

// OpenDocument reads a file's text. What cannot be read at all is a fault, and then the
// document is empty.
func OpenDocument(path string, src []byte) *Document {
	d := &Document{l: newLoader(path, src, LoadEnv{}), root: &node{kind: nodeTable}}
	switch {
	case len(src) > MaxFile:
		d.l.fault(nowhere(), Error, CodeTooLarge, "", "the file has more than %d bytes", MaxFile)
		return d
	case !utf8.Valid(src):
		d.l.fault(d.l.firstInvalid(), Error, CodeEncoding, "save it as UTF-8", "the file is not UTF-8")
		return d
	}
	root, fault, _ := parse(d.l.src)
	if fault != nil {
		d.l.fault(span{fault.offset, fault.offset + 1}, Error, CodeSyntax, "", "%s", fault.message)
		return d
	}
	d.root = root
	return d
}

// Root is the file's own table.
func (d *Document) Root() *Table {
	return &Table{l: d.l, n: d.root, at: span{}, name: "the file"}
}

// Faults are all that were found, by place.
func (d *Document) Faults() []Fault {
	slices.SortStableFunc(d.l.faults, func(a, b Fault) int {
		return firstNonZero(a.Line-b.Line, a.Column-b.Column, strings.Compare(string(a.Severity), string(b.Severity)))
	})
	d.l.tellMore()
	return d.l.faults
}

// Bad says that an error stands in the table itself.
func (t *Table) Bad() bool { return t.bad }

// Line is where the table begins.
func (t *Table) Line() int { return t.l.line(t.at) }

// Fault tells what is wrong with the value of a key, or with the table when it has none.
func (t *Table) Fault(key string, severity Severity, code Code, hint, format string, args ...any) {
	at := t.at
	if e := t.n.entry(key); e != nil {
		at = e.value.at
	}
	t.tell(at, severity, code, hint, format, args...)
}

func (t *Table) tell(at span, severity Severity, code Code, hint, format string, args ...any) {
	t.bad = t.bad || severity == Error
	t.l.fault(at, severity, code, hint, format, args...)
}

// value takes a key, and tells when its value is of another kind.
func (t *Table) value(key string, kind nodeKind) *node {
	t.read = append(t.read, key)
	e := t.n.entry(key)
	switch {
	case e == nil:
		return nil
	case e.value.kind != kind:
		t.tell(e.value.at, Error, CodeType, "", "%q must be %s, not %s", key, kind, e.value.kind)
		return nil
	}
	return e.value
}

// Has says that a key is there.
func (t *Table) Has(key string) bool { return t.n.entry(key) != nil }

// Keys are the keys of the table, as written.
func (t *Table) Keys() []string {
	keys := make([]string, len(t.n.entries))
	for i, e := range t.n.entries {
		keys[i] = e.key
	}
	return keys
}

// Table gives a table inside of this one; nil when there is none.
func (t *Table) Table(key string) *Table {
	n := t.value(key, nodeTable)
	if n == nil {
		return nil
	}
	return &Table{l: t.l, n: n, at: n.at, name: "[" + key + "]"}
}

// Tables gives the tables of an array; each is called name in messages.
func (t *Table) Tables(key, name string) []*Table {
	var list []*Table
	if array := t.value(key, nodeArray); array != nil {
		for _, item := range array.items {
			if item.kind != nodeTable {
				t.tell(item.at, Error, CodeType, "", "each entry of %q must be %s, not %s", key, nodeTable, item.kind)
				continue
			}
			list = append(list, &Table{l: t.l, n: item, at: item.at, name: name})
		}
	}
	return list
}

// Text gives a string, "" when there is none.
func (t *Table) Text(key string) string {
	if n := t.value(key, nodeString); n != nil {
		return n.text
	}
	return ""
}

// Flag gives a boolean, false when there is none.
func (t *Table) Flag(key string) bool {
	n := t.value(key, nodeBool)
	return n != nil && n.text == "true"
}

// Count gives a whole number from 0 to most, 0 when there is none.
func (t *Table) Count(key string, most int) int {
	n := t.value(key, nodeNumber)
	if n == nil {
		return 0
	}
	if n.number != math.Trunc(n.number) || n.number < 0 || n.number > float64(most) {
		t.tell(n.at, Error, CodeValue, "", "%q is a whole number from 0 to %d", key, most)
		return 0
	}
	return int(n.number)
}

// Texts gives a list of strings.
func (t *Table) Texts(key string) []string {
	var list []string
	array := t.value(key, nodeArray)
	if array == nil {
		return nil
	}
	for _, item := range array.items {
		if item.kind != nodeString {
			t.tell(item.at, Error, CodeType, "", "each entry of %q must be %s, not %s", key, nodeString, item.kind)
			continue
		}
		list = append(list, item.text)
	}
	return list
}

// TextOrTexts gives a string, or a list of them: one of the two.
func (t *Table) TextOrTexts(key string) (text string, list []string) {
	if e := t.n.entry(key); e != nil && e.value.kind == nodeString {
		return t.Text(key), nil
	}
	return "", t.Texts(key)
}

// Duration gives a span like "5s" within bounds; otherwise when there is none.
func (t *Table) Duration(key string, otherwise, least, most time.Duration) time.Duration {
	n := t.value(key, nodeString)
	if n == nil {
		return otherwise
	}
	d, err := time.ParseDuration(n.text)
	switch {
	case err != nil:
		t.tell(n.at, Error, CodeDuration, `write it as "500ms", "5s" or "2m"`, "%q is no duration", n.text)
	case d < least || d > most:
		t.tell(n.at, Error, CodeDuration, fmt.Sprintf("it is between %s and %s", least, most), "%s is out of bounds for %q", n.text, key)
	default:
		return d
	}
	return otherwise
}

// Nearest is the hint for a word that is not one of those known.
func (t *Table) Nearest(word string, known []string) string { return t.l.nearest(word, known, nil) }

// Close tells of the keys that nobody has asked for, and of those that are missing.
func (t *Table) Close(unknown Severity, required ...string) {
	for _, e := range t.n.entries {
		if !slices.Contains(t.read, e.key) {
			t.tell(e.at, unknown, CodeUnknownKey, t.l.nearest(e.key, t.read, nil), "unknown key %q in %s", e.key, t.name)
		}
	}
	for _, key := range required {
		if !t.Has(key) {
			t.tell(t.at, Error, CodeMissingKey, fmt.Sprintf("add %s = \"…\"", key), "%s has no %q", t.name, key)
		}
	}
}
