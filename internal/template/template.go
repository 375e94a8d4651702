// Package template renders {{name}} placeholders, raw or quoted for the shell
// that will read the result.
//
// It is pure: values in, text out. It knows nothing of tab configs. There is
// one pass: a value that itself contains {{x}} is never looked at again. It
// refuses values with NUL, commands over MaxCommand bytes, and to quote at a
// place of a command where no quoting is right (see CheckQuoting).
package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxCommand is the most bytes that a rendered command may have (spec tabs T3.2).
const MaxCommand = 100_000

// Ref is a placeholder of a template.
type Ref struct {
	Name   string
	Offset int // byte offset of its first brace in the template's text
}

// Template is a parsed text. The zero value is the empty template.
type Template struct {
	text string
	refs []Ref
}

// Parse reads a template. It never fails: what is not a placeholder is text.
//
// A placeholder is two opening braces, a name, two closing braces. A name
// starts with a letter, - or _ and goes on with letters, digits, - and _.
// Three or more opening braces are the escape: all of it stays, braces
// included. Of several openings the newest counts ({{a{{b}} holds b).
func Parse(text string) Template {
	t := Template{text: text}
	for i := 0; i < len(text); {
		if text[i] != '{' {
			i++
			continue
		}
		run := braceRun(text[i:])
		name := 0
		if run == 2 {
			name = nameLen(text[i+2:])
		}
		if name == 0 || !strings.HasPrefix(text[i+2+name:], "}}") {
			i += run
			continue
		}
		t.refs = append(t.refs, Ref{Name: text[i+2 : i+2+name], Offset: i})
		i += 2 + name + 2
	}
	return t
}

func braceRun(s string) int {
	n := 0
	for n < len(s) && s[n] == '{' {
		n++
	}
	return n
}

// nameLen is the length of the name that s starts with, 0 when there is none.
func nameLen(s string) int {
	for i, r := range s {
		if !nameRune(r, i == 0) || r == utf8.RuneError {
			return i
		}
	}
	return len(s)
}

func nameRune(r rune, first bool) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || !first && unicode.IsDigit(r)
}

// ValidName says whether a placeholder can name s.
func ValidName(s string) bool { return s != "" && nameLen(s) == len(s) }

// Text is the text that was parsed.
func (t Template) Text() string { return t.text }

// Names lists the placeholders in the order in which they stand.
func (t Template) Names() []Ref { return append([]Ref(nil), t.refs...) }

// Mentions says whether a placeholder names name.
func (t Template) Mentions(name string) bool {
	for _, r := range t.refs {
		if r.Name == name {
			return true
		}
	}
	return false
}

// Raw renders with the values as they are. An unknown name stays as written.
func (t Template) Raw(values map[string]string) string {
	var b strings.Builder
	at := 0
	for _, r := range t.refs {
		v, ok := values[r.Name]
		if !ok {
			continue
		}
		b.WriteString(t.text[at:r.Offset])
		b.WriteString(v)
		at = r.end()
	}
	b.WriteString(t.text[at:])
	return b.String()
}

func (r Ref) end() int { return r.Offset + len(r.Name) + 4 }
