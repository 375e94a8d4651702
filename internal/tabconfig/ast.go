package tabconfig

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// span is a place in the source, in bytes.
type span struct{ from, to int }

type nodeKind string

// The kinds are named as messages name them.
const (
	nodeTable  nodeKind = "a table"
	nodeArray  nodeKind = "an array"
	nodeString nodeKind = "a string"
	nodeBool   nodeKind = "a boolean"
	nodeNumber nodeKind = "a number"
	nodeDate   nodeKind = "a date"
)

// node is a TOML value with its place. A nil node is an absent value.
type node struct {
	kind    nodeKind
	at      span   // a table: its header or key
	text    string // of a string: decoded; of a boolean: true or false
	number  float64
	entries []entry        // of a table, as written
	items   []*node        // of an array
	index   map[string]int // of entries, once they are many
}

type entry struct {
	key   string
	at    span
	value *node
}

func (n *node) entry(key string) *entry {
	if n == nil {
		return nil
	}
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return &n.entries[i]
		}
		return nil
	}
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// add appends an entry whose key is new.
func (n *node) add(e entry) *entry {
	n.entries = append(n.entries, e)
	last := len(n.entries) - 1
	switch {
	case n.index != nil:
		n.index[e.key] = last
	case last == 32:
		n.index = map[string]int{}
		for i := range n.entries {
			n.index[n.entries[i].key] = i
		}
	}
	return &n.entries[last]
}

// get is the value of a key if it has the kind.
func (n *node) get(key string, kind nodeKind) *node {
	if e := n.entry(key); e != nil && e.value.kind == kind {
		return e.value
	}
	return nil
}

func (n *node) str(key string) string {
	if v := n.get(key, nodeString); v != nil {
		return v.text
	}
	return ""
}

func (n *node) flag(key string) bool {
	v := n.get(key, nodeBool)
	return v != nil && v.text == "true"
}

// list is the items of an array that have the kind.
func (n *node) list(key string, kind nodeKind) []*node {
	var items []*node
	if a := n.get(key, nodeArray); a != nil {
		for _, item := range a.items {
			if item.kind == kind {
				items = append(items, item)
			}
		}
	}
	return items
}

// maxKeys bounds one table: the library compares each key with all before it.
const maxKeys = 2_000

// parse reads the text to a tree with places. With a fault in the TOML the tree
// holds what stands before it; whole is then false if anything stands after.
func parse(src []byte) (root *node, fault *tomlFault, whole bool) {
	b := builder{src: src, root: &node{kind: nodeTable}}
	b.table = b.root
	b.parser.Reset(src)
	for b.parser.NextExpression() {
		b.expression(b.parser.Expression())
		if b.crowded != nil {
			return b.root, b.crowded, false
		}
	}
	var any map[string]any
	return b.root, asTOMLFault(src, toml.Unmarshal(src, &any)), b.parser.Error() == nil
}

type tomlFault struct {
	message string
	offset  int
}

func asTOMLFault(src []byte, err error) *tomlFault {
	if err == nil {
		return nil
	}
	f := &tomlFault{message: strings.TrimPrefix(err.Error(), "toml: ")}
	if de, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := de.Position()
		for ; line > 1; line-- {
			next := bytes.IndexByte(src[f.offset:], '\n')
			if next < 0 {
				break
			}
			f.offset += next + 1
		}
		f.offset = min(f.offset+max(column-1, 0), len(src))
	}
	return f
}

// builder turns the parser's expressions into one tree. What the TOML rules
// forbid (a key twice, say) was found before and is only survived here.
type builder struct {
	src     []byte
	parser  unstable.Parser
	root    *node
	table   *node      // the one that the last header opened
	crowded *tomlFault // a table with too many keys
}

func (b *builder) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table:
		b.table = b.walk(b.root, n.Key(), false)
	case unstable.ArrayTable:
		b.table = b.walk(b.root, n.Key(), true)
	case unstable.KeyValue:
		b.keyValue(b.table, n)
	}
}

// walk goes down a header's keys, making tables on its way.
func (b *builder) walk(at *node, keys unstable.Iterator, array bool) *node {
	for keys.Next() {
		key := keys.Node()
		last := !key.Next().Valid()
		e := at.entry(string(key.Data))
		if e == nil {
			child := &node{kind: nodeTable, at: keySpan(key)}
			if last && array {
				child = &node{kind: nodeArray, at: keySpan(key)}
			}
			e = b.add(at, entry{key: string(key.Data), at: keySpan(key), value: child})
		}
		at = e.value
		if at.kind == nodeArray {
			if last && array || len(at.items) == 0 {
				at.items = append(at.items, &node{kind: nodeTable})
			}
			at = at.items[len(at.items)-1]
		}
		if last {
			at.at = keySpan(key)
		}
		if at.kind != nodeTable {
			return &node{kind: nodeTable} // the rules forbid it: goes nowhere
		}
	}
	return at
}

func (b *builder) add(table *node, e entry) *entry {
	if len(table.entries) == maxKeys {
		b.crowded = &tomlFault{message: fmt.Sprintf("a table has more than %d keys", maxKeys), offset: e.at.from}
	}
	return table.add(e)
}

func keySpan(key *unstable.Node) span {
	return span{int(key.Raw.Offset), int(key.Raw.Offset + key.Raw.Length)}
}

// keyValue adds key = value, dotted keys included.
func (b *builder) keyValue(table *node, kv *unstable.Node) {
	keys := kv.Key()
	for keys.Next() {
		key := keys.Node()
		at := keySpan(key)
		e := table.entry(string(key.Data))
		if !key.Next().Valid() {
			if e == nil {
				b.add(table, entry{key: string(key.Data), at: at, value: b.value(kv.Value(), b.valueSpan(at.to))})
			}
			return
		}
		if e == nil {
			e = b.add(table, entry{key: string(key.Data), at: at, value: &node{kind: nodeTable, at: at}})
		}
		if e.value.kind != nodeTable {
			return
		}
		table = e.value
	}
}

// valueSpan is the first byte of the value after a key: the parser gives
// arrays no place.
func (b *builder) valueSpan(from int) span {
	for from < len(b.src) && strings.IndexByte(" \t=", b.src[from]) >= 0 {
		from++
	}
	return span{from, min(from+1, len(b.src))}
}

// value converts; where is its place if the parser knows none.
func (b *builder) value(v *unstable.Node, where span) *node {
	n := &node{at: where}
	if v.Raw.Length > 0 {
		n.at = span{int(v.Raw.Offset), int(v.Raw.Offset + v.Raw.Length)}
	}
	switch v.Kind {
	case unstable.String:
		n.kind, n.text = nodeString, string(v.Data)
	case unstable.Bool:
		n.kind, n.text = nodeBool, string(v.Data)
	case unstable.Integer, unstable.Float:
		n.kind = nodeNumber
		n.number = number(string(v.Data))
	case unstable.Array:
		n.kind = nodeArray
		for it := v.Children(); it.Next(); {
			item := b.value(it.Node(), n.at)
			if item.kind == nodeArray && len(item.items) > 0 {
				item.at = item.items[0].at // the nearest place that is known
			}
			n.items = append(n.items, item)
		}
	case unstable.InlineTable:
		n.kind = nodeTable
		for it := v.Children(); it.Next(); {
			b.keyValue(n, it.Node())
		}
	default:
		n.kind = nodeDate
	}
	return n
}

func number(text string) float64 {
	text = strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(i)
	}
	f, _ := strconv.ParseFloat(text, 64) // an overflow gives infinity, as it should
	return f
}

// within is the place of the bytes from..to of a decoded string.
func (n *node) within(src []byte, from, to int) span {
	raw := string(src[n.at.from:n.at.to])
	body, escapes := 1, strings.HasPrefix(raw, `"`)
	if strings.HasPrefix(raw, `"""`) || strings.HasPrefix(raw, `'''`) {
		body = 3
		if rest := strings.TrimPrefix(raw[3:], "\r"); strings.HasPrefix(rest, "\n") {
			body = len(raw) - len(rest) + 1
		}
	}
	at := span{n.at.from + rawOffset(raw[body:], from, escapes) + body, n.at.from + rawOffset(raw[body:], to, escapes) + body}
	if at.from >= at.to || at.to > n.at.to {
		return n.at
	}
	return at
}

// rawOffset is where the decoded byte number want stands in a string's source.
func rawOffset(raw string, want int, escapes bool) int {
	if !escapes || strings.IndexByte(raw, '\\') < 0 {
		return min(want, len(raw))
	}
	i := 0
	for decoded := 0; decoded < want && i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			i++
			decoded++
			continue
		}
		size, width := 2, 1
		switch c := raw[i+1]; {
		case c == 'x':
			size, width = 4, runeWidth(raw, i+2, 2)
		case c == 'u':
			size, width = 6, runeWidth(raw, i+2, 4)
		case c == 'U':
			size, width = 10, runeWidth(raw, i+2, 8)
		case strings.IndexByte(" \t\r\n", c) >= 0:
			size = len(raw[i:]) - len(strings.TrimLeft(raw[i+1:], " \t\r\n"))
			width = 0
		}
		i += size
		decoded += width
	}
	return min(i, len(raw))
}

func runeWidth(raw string, from, digits int) int {
	if from+digits > len(raw) {
		return 1
	}
	code, err := strconv.ParseUint(raw[from:from+digits], 16, 32)
	if err != nil {
		return 1
	}
	return max(1, utf8.RuneLen(rune(code)))
}
