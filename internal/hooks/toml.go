package hooks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlForm is a config.toml with hooks as Codex has them:
//
//	[[hooks.<event>]]
//	[[hooks.<event>.hooks]]
//	type = "command"
//	command = …
//
// Ours stand at the end of the file behind a line of comment. Codex itself writes into the
// file later, behind them or between, so they are found by what they are and not by where.
type tomlForm struct{}

// The line before our hooks. The second is for a file whose last line had no end.
const (
	tomlNote     = "# The hooks of davit, by which it knows what Codex does: `davit agent hooks remove codex` takes them out."
	tomlNoteBare = tomlNote + " (The line before had no end.)"
)

func (f tomlForm) edit(text string, a Agent, self string, install bool) (string, error) {
	bare, err := f.remove(text)
	if err != nil || !install {
		return bare, err
	}
	next := bare + f.block(bare, a, self)
	if bare == "" {
		next = trimEnd(next) // tells the file that was empty from one that was not there
	}
	if has, err := f.has(next); err != nil || !slices.Equal(has, a.commands(self)) {
		return "", fmt.Errorf("it has hooks in a form that cannot be added to (an inline table or list)")
	}
	if again, err := f.remove(next); err != nil || again != bare {
		return "", fmt.Errorf("davit could not take its hooks out again as they went in")
	}
	return next, nil
}

func (f tomlForm) block(before string, a Agent, self string) string {
	nl := newline(before)
	lines := []string{tomlNote}
	switch {
	case before == "":
	case !strings.HasSuffix(before, "\n"):
		lines = []string{"", "", tomlNoteBare}
	default:
		lines = []string{"", tomlNote}
	}
	return strings.Join(append(lines, f.lines(a, self)...), nl) + nl
}

func (f tomlForm) lines(a Agent, self string) []string {
	var lines []string
	for i, event := range a.Events {
		lines = append(lines, "[[hooks."+event+"]]", "[[hooks."+event+".hooks]]", `type = "command"`, "command = "+tomlString(a.commands(self)[i]), fmt.Sprintf("timeout = %d", a.timeout()))
	}
	return lines
}

// tomlString writes a basic string: the escapes of JSON are those of TOML.
func tomlString(text string) string { return jsonString(text) }

func (f tomlForm) fresh(a Agent, self string) string { return f.block("", a, self) }

func (f tomlForm) byHand(a Agent, self string) string { return strings.Join(f.lines(a, self), "\n") }

func (f tomlForm) decode(text string) (map[string]any, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("it is not UTF-8")
	}
	all := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	return all, nil
}

func (f tomlForm) has(text string) ([]string, error) {
	if _, err := f.decode(text); err != nil {
		return nil, err
	}
	var list []string
	for _, part := range f.parts(text) {
		list = append(list, part.command)
	}
	return list, nil
}

// part is one hook of ours: the lines from the header of its event on.
type part struct {
	at, end int
	command string
}

// header is a table's header or a value, with the place of its line.
type header struct {
	kind  unstable.Kind
	key   string
	at    int // of the line
	end   int // of the line
	value string
}

func (f tomlForm) parts(text string) []part {
	list := f.headers(text)
	var parts []part
	for i := 0; i+1 < len(list); i++ {
		event, ok := strings.CutPrefix(list[i].key, "hooks.")
		if list[i].kind != unstable.ArrayTable || !ok || list[i+1].kind != unstable.ArrayTable || list[i+1].key != "hooks."+event+".hooks" {
			continue
		}
		p := part{at: list[i].at}
		values := 0
		for _, h := range list[i+2:] {
			if h.kind != unstable.KeyValue {
				break
			}
			values++
			p.end = h.end
			if h.key == "command" {
				p.command = h.value
			}
		}
		if isOurs(p.command) && values == 3 {
			parts = append(parts, p)
		}
	}
	return parts
}

func (f tomlForm) headers(text string) []header {
	var list []header
	var p unstable.Parser
	p.Reset([]byte(text))
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		h := header{kind: e.Kind, at: -1}
		var words []string
		for keys := e.Key(); keys.Next(); {
			if h.at < 0 {
				h.at = int(keys.Node().Raw.Offset)
			}
			words = append(words, string(keys.Node().Data))
		}
		h.key = strings.Join(words, ".")
		h.end = len(text)
		if end := strings.IndexByte(text[h.at:], '\n'); end >= 0 {
			h.end = h.at + end + 1
		}
		h.at = strings.LastIndexByte(text[:h.at], '\n') + 1
		if e.Kind == unstable.KeyValue {
			h.value = string(e.Value().Data)
		}
		list = append(list, h)
	}
	return list
}

func (f tomlForm) remove(text string) (string, error) {
	before, err := f.decode(text)
	if err != nil {
		return "", err
	}
	next := text
	parts := f.parts(text)
	for _, p := range slices.Backward(parts) {
		next = next[:p.at] + next[p.end:]
	}
	if len(parts) > 0 {
		next = withoutNote(next)
	}
	after, err := f.decode(next)
	if err != nil {
		return "", fmt.Errorf("davit's hooks cannot be taken out of it: %w", err)
	}
	if !reflect.DeepEqual(jsonForm{}.others(before), jsonForm{}.others(after)) {
		return "", fmt.Errorf("davit's hooks cannot be taken out of it without touching something else")
	}
	if strings.Contains(next, " agent report ") && !reflect.DeepEqual(jsonForm{}.others(after), any(after)) {
		return "", fmt.Errorf("davit's hooks were changed by hand, and cannot be told from the rest")
	}
	return next, nil
}

// withoutNote takes the comment out, with the empty line before it.
func withoutNote(text string) string {
	nl := newline(text)
	for _, note := range []struct{ line, before string }{{tomlNoteBare, nl + nl}, {tomlNote, nl}} {
		at := strings.Index(text, note.line+nl)
		if at < 0 {
			continue
		}
		start, end := at, at+len(note.line+nl)
		if rest := text[:at]; strings.HasSuffix(rest, note.before) && (note.before != nl || strings.HasSuffix(rest, nl+nl) || rest == nl) {
			start -= len(note.before)
		}
		if note.line == tomlNoteBare && end < len(text) {
			start += len(nl) // something follows by now: the line before needs its end
		}
		return text[:start] + text[end:]
	}
	return text
}
