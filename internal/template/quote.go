package template

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTooLong is a command of more than MaxCommand bytes.
var ErrTooLong = errors.New("the command is too long")

// A Fault is a placeholder at a place where a value cannot be quoted.
type Fault struct {
	Ref
	Where string // "inside $(…)", "in a here-document"
}

// CheckQuoting lists the placeholders that Quoted could refuse for some value
// (spec tabs T3.2). safe names the placeholders whose values never need quotes.
func (t Template) CheckQuoting(shell Shell, safe func(name string) bool) []Fault {
	var faults []Fault
	for i, p := range places(shell, t) {
		if p.where != "" && !safe(t.refs[i].Name) {
			faults = append(faults, Fault{Ref: t.refs[i], Where: p.where})
		}
	}
	return faults
}

// Quoted renders a command for the shell, each value as (a part of) one word.
// An unknown name stays as written. The error is for the person who gave the
// values; it does not repeat them.
func (t Template) Quoted(shell Shell, values map[string]string) (string, error) {
	var b strings.Builder
	at := 0
	places := places(shell, t)
	for i, r := range t.refs {
		v, ok := values[r.Name]
		if !ok {
			continue
		}
		if strings.ContainsRune(v, 0) {
			return "", fmt.Errorf("the value of %q contains a NUL byte, which no command can carry", r.Name)
		}
		if places[i].where != "" && !Bare(v) {
			return "", fmt.Errorf("the value of %q needs quotes, which cannot be right %s", r.Name, places[i].where)
		}
		b.WriteString(t.text[at:r.Offset])
		at = r.end()
		b.WriteString(places[i].word(shell, v, lastByte(b.String())))
	}
	b.WriteString(t.text[at:])
	if b.Len() > MaxCommand {
		return "", fmt.Errorf("%w: %d bytes with its values, at most %d", ErrTooLong, b.Len(), MaxCommand)
	}
	return b.String(), nil
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}
