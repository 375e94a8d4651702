package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// node is a value of a JSON text with its place. Comments and trailing commas are taken:
// the agents take them.
type node struct {
	kind    byte // { [ " and 0 for numbers and words
	at, end int
	members []member // of an object
	items   []node   // of an array
	text    string   // of a string, decoded
}

type member struct {
	key     string
	at, end int // from the key to the end of the value
	value   node
}

func (n node) find(key string) (member, int) {
	found, count := member{}, 0
	for _, m := range n.members {
		if m.key == key {
			found, count = m, count+1
		}
	}
	return found, count
}

// maxDepth bounds how deep values may lie in each other.
const maxDepth = 200

type reader struct {
	text string
	at   int
}

// parse reads a whole text.
func parse(text string) (node, error) {
	if !utf8.ValidString(text) {
		return node{}, fmt.Errorf("it is not UTF-8")
	}
	r := reader{text: text}
	if strings.HasPrefix(text, "\ufeff") {
		r.at = len("\ufeff")
	}
	n, err := r.value(0)
	if err == nil {
		if err = r.space(); err == nil && r.at < len(text) {
			err = fmt.Errorf("something follows the value")
		}
	}
	if err != nil {
		return node{}, fmt.Errorf("line %d: %w", 1+strings.Count(text[:min(r.at, len(text))], "\n"), err)
	}
	return n, nil
}

// space goes over white space and comments.
func (r *reader) space() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			r.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return fmt.Errorf("a comment does not end")
			}
			r.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

func (r *reader) value(depth int) (node, error) {
	if err := r.space(); err != nil {
		return node{}, err
	}
	switch {
	case depth > maxDepth:
		return node{}, fmt.Errorf("it is too deep")
	case r.at >= len(r.text):
		return node{}, fmt.Errorf("it ends too early")
	}
	switch c := r.text[r.at]; c {
	case '{', '[':
		return r.list(c, depth)
	case '"':
		return r.str()
	}
	start := r.at
	for r.at < len(r.text) && !strings.ContainsRune(" \t\r\n,:{}[]\"/", rune(r.text[r.at])) {
		r.at++
	}
	if word := r.text[start:r.at]; !json.Valid([]byte(word)) {
		return node{}, fmt.Errorf("%q is no value", word)
	}
	return node{at: start, end: r.at}, nil
}

func (r *reader) str() (node, error) {
	start := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			n := node{kind: '"', at: start, end: r.at}
			if err := json.Unmarshal([]byte(r.text[start:r.at]), &n.text); err != nil {
				return n, fmt.Errorf("a string is malformed")
			}
			return n, nil
		}
	}
	r.at = start
	return node{}, fmt.Errorf("a string does not end")
}

// list reads an object or an array.
func (r *reader) list(open byte, depth int) (node, error) {
	n := node{kind: open, at: r.at}
	closing := byte(']')
	if open == '{' {
		closing = '}'
	}
	r.at++
	for first := true; ; first = false {
		if err := r.space(); err != nil {
			return n, err
		}
		if r.at >= len(r.text) {
			return n, fmt.Errorf("a %q does not end", string(open))
		}
		if r.text[r.at] == closing {
			r.at++
			n.end = r.at
			return n, nil
		}
		if !first {
			if r.text[r.at] != ',' {
				return n, fmt.Errorf("a comma is missing")
			}
			r.at++
			if err := r.space(); err != nil {
				return n, err
			}
			if r.at < len(r.text) && r.text[r.at] == closing { // a trailing comma
				continue
			}
		}
		if err := r.element(&n, depth); err != nil {
			return n, err
		}
	}
}

func (r *reader) element(n *node, depth int) error {
	if n.kind == '[' {
		item, err := r.value(depth + 1)
		n.items = append(n.items, item)
		return err
	}
	if r.at >= len(r.text) || r.text[r.at] != '"' {
		return fmt.Errorf("a key is missing")
	}
	key, err := r.str()
	if err != nil {
		return err
	}
	if err := r.space(); err != nil {
		return err
	}
	if r.at >= len(r.text) || r.text[r.at] != ':' {
		return fmt.Errorf("a colon is missing")
	}
	r.at++
	value, err := r.value(depth + 1)
	n.members = append(n.members, member{key: key.text, at: key.at, end: value.end, value: value})
	return err
}

// plain is a value as any JSON decoder gives it, for comparing two texts.
func (n node) plain(text string) any {
	switch n.kind {
	case '{':
		m := map[string]any{}
		for _, each := range n.members {
			m[each.key] = each.value.plain(text)
		}
		return m
	case '[':
		list := []any{}
		for _, item := range n.items {
			list = append(list, item.plain(text))
		}
		return list
	case '"':
		return n.text
	}
	return json.Number(text[n.at:n.end])
}
