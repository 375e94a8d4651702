package hooks

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// jsonForm is a settings.json with hooks as Claude Code and Gemini CLI have them:
//
//	"hooks": { "<event>": [ { "matcher": …, "hooks": [ { "type": "command", "command": … } ] } ] }
//
// What install makes tells remove how to take it out to the byte: a list or an object that
// install made begins with a line's end, one that was there, empty, gets its first element
// right behind its bracket.
type jsonForm struct{}

const hooksKey = "hooks"

func (f jsonForm) edit(text string, a Agent, self string, install bool) (string, error) {
	bare, err := f.remove(text, a)
	if err != nil || !install {
		return bare, err
	}
	if bare == "" {
		return trimEnd(f.fresh(a, self)), nil // tells the file that was empty from one that was not there
	}
	next, err := f.insert(bare, a, self)
	if err != nil {
		return "", err
	}
	if again, err := f.remove(next, a); err != nil || again != bare {
		return "", fmt.Errorf("davit could not take its hooks out again as they went in")
	}
	return next, nil
}

// fresh is the file that install makes where there is none.
func (f jsonForm) fresh(a Agent, self string) string {
	return "{\n  " + f.section(a, self, "\n", "  ", "  ") + "\n}\n"
}

func (f jsonForm) byHand(a Agent, self string) string {
	return f.section(a, self, "\n", "", "  ")
}

func (f jsonForm) has(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, m := range f.events(root) {
		for _, group := range m.value.items {
			for _, hook := range f.hooksOf(group).items {
				if command, ours := f.ours(hook); ours {
					list = append(list, command)
				}
			}
		}
	}
	return list, nil
}

// events are the members of the hooks object that are lists.
func (f jsonForm) events(root node) []member {
	m, _ := root.find(hooksKey)
	return slices.DeleteFunc(slices.Clone(m.value.members), func(m member) bool { return m.value.kind != '[' })
}

func (f jsonForm) hooksOf(group node) node {
	m, _ := group.find(hooksKey)
	return m.value
}

func (f jsonForm) ours(hook node) (command string, ours bool) {
	m, _ := hook.find("command")
	return m.value.text, m.value.kind == '"' && isOurs(m.value.text)
}

// section is the whole "hooks" member.
func (f jsonForm) section(a Agent, self, nl, indent, unit string) string {
	var events []string
	for i, event := range a.Events {
		events = append(events, f.event(a, event, a.commands(self)[i], nl, indent+unit, unit))
	}
	return `"hooks": {` + nl + indent + unit + strings.Join(events, ","+nl+indent+unit) + nl + indent + "}"
}

func (f jsonForm) event(a Agent, event, command, nl, indent, unit string) string {
	return `"` + event + `": [` + nl + indent + unit + f.group(a, command) + nl + indent + "]"
}

func (f jsonForm) group(a Agent, command string) string {
	return fmt.Sprintf(`{ "hooks": [{ "type": "command", "command": %s, "timeout": %d }] }`, jsonString(command), a.timeout())
}

// jsonString writes a string without the escapes that only HTML wants.
func jsonString(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string cannot fail
	return strings.TrimSuffix(out.String(), "\n")
}

// insertion is a piece of text for a place.
type insertion struct {
	at   int
	text string
}

func (f jsonForm) insert(text string, a Agent, self string) (string, error) {
	root, err := parse(text)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", fmt.Errorf("it is no JSON object")
	}
	nl := newline(text)
	unit := "  "
	if len(root.members) > 0 {
		if in, own := indentOf(text, root.members[0].at); own && in != "" {
			unit = in
		}
	}
	hooks, count := root.find(hooksKey)
	switch {
	case count > 1:
		return "", fmt.Errorf("it has more than one \"hooks\"")
	case count == 0:
		return apply(text, []insertion{addition(text, root, nl, unit, []string{f.section(a, self, nl, indentIn(text, root, unit), unit)})}), nil
	case hooks.value.kind != '{':
		return "", fmt.Errorf("its \"hooks\" is no object")
	}
	inner := indentIn(text, hooks.value, unit+unit)
	var list []insertion
	var made []string
	for i, event := range a.Events {
		m, count := hooks.value.find(event)
		command := a.commands(self)[i]
		switch {
		case count > 1:
			return "", fmt.Errorf("its hooks have more than one %q", event)
		case count == 0:
			made = append(made, f.event(a, event, command, nl, inner, unit))
		case m.value.kind != '[':
			return "", fmt.Errorf("its hook %q is no list", event)
		default:
			list = append(list, addition(text, m.value, nl, "", []string{f.group(a, command)}))
		}
	}
	if len(made) > 0 {
		list = append(list, addition(text, hooks.value, nl, inner, made))
	}
	return apply(text, list), nil
}

// addition puts elements behind the last one of a list or object, as that stands; into an
// empty one right behind its bracket.
func addition(text string, into node, nl, indent string, elements []string) insertion {
	last, at := 0, 0
	switch {
	case len(into.members) > 0:
		m := into.members[len(into.members)-1]
		last, at = m.end, m.at
	case len(into.items) > 0:
		n := into.items[len(into.items)-1]
		last, at = n.end, n.at
	default:
		return insertion{into.at + 1, strings.Join(elements, ", ")}
	}
	separator := ", "
	if in, own := indentOf(text, at); own {
		separator = "," + nl + in
	} else if len(elements) > 1 {
		separator = "," + nl + indent
	}
	return insertion{last, separator + strings.Join(elements, separator)}
}

// indentIn is how the members of an object are indented.
func indentIn(text string, n node, otherwise string) string {
	if len(n.members) > 0 {
		if in, own := indentOf(text, n.members[0].at); own {
			return in
		}
	}
	return otherwise
}

// indentOf is the white space before a place, and whether nothing else is on its line
// before it.
func indentOf(text string, at int) (indent string, own bool) {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	indent = text[start:at]
	return indent, start > 0 && strings.Trim(indent, " \t") == ""
}

func newline(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func apply(text string, list []insertion) string {
	slices.SortStableFunc(list, func(a, b insertion) int { return b.at - a.at })
	for _, each := range list {
		text = text[:each.at] + each.text + text[each.at:]
	}
	return text
}

// remove takes davit's hooks out, one after the other.
func (f jsonForm) remove(text string, a Agent) (string, error) {
	if text == "" {
		return text, nil
	}
	before, err := parse(text)
	if err != nil {
		return "", err
	}
	was, root := text, before
	for {
		next, found := f.removeOne(text, root)
		if !found {
			break
		}
		text = next
		if root, err = parse(text); err != nil {
			return "", fmt.Errorf("davit's hooks cannot be taken out of it: %w", err)
		}
	}
	if list, err := f.has(text); err != nil || len(list) > 0 || !reflect.DeepEqual(f.others(before.plain(was)), f.others(root.plain(text))) {
		return "", fmt.Errorf("davit's hooks cannot be taken out of it without touching something else")
	}
	return text, nil
}

func (f jsonForm) removeOne(text string, root node) (string, bool) {
	place := slices.IndexFunc(root.members, func(m member) bool { return m.key == hooksKey })
	if place < 0 || root.members[place].value.kind != '{' {
		return text, false
	}
	hooks := root.members[place].value
	for i, event := range hooks.members {
		if event.value.kind != '[' {
			continue
		}
		for j, group := range event.value.items {
			inner := f.hooksOf(group)
			for k, hook := range inner.items {
				if _, ours := f.ours(hook); !ours {
					continue
				}
				if len(inner.items) > 1 {
					return cut(text, itemSpans(inner), k), true
				}
				alone := len(event.value.items) == 1
				if !alone || event.value.at+1 == group.at {
					return cut(text, itemSpans(event.value), j), true
				}
				if len(hooks.members) > 1 || hooks.at+1 == event.at {
					return cut(text, memberSpans(hooks), i), true
				}
				return cut(text, memberSpans(root), place), true
			}
		}
	}
	return text, false
}

type span struct{ at, end int }

func itemSpans(n node) []span {
	var list []span
	for _, item := range n.items {
		list = append(list, span{item.at, item.end})
	}
	return list
}

func memberSpans(n node) []span {
	var list []span
	for _, m := range n.members {
		list = append(list, span{m.at, m.end})
	}
	return list
}

// cut takes one element out, with the comma that goes with it.
func cut(text string, list []span, i int) string {
	switch {
	case i > 0:
		return text[:list[i-1].end] + text[list[i].end:]
	case len(list) > 1:
		return text[:list[0].at] + text[list[1].at:]
	}
	return text[:list[0].at] + text[list[0].end:]
}

// others is a settings value without davit's hooks, and without what is empty for want of
// them.
func (f jsonForm) others(value any) any {
	root, ok := value.(map[string]any)
	if !ok {
		return value
	}
	hooks, ok := root[hooksKey].(map[string]any)
	if !ok {
		return value
	}
	kept := map[string]any{}
	for event, each := range hooks {
		groups, ok := each.([]any)
		if !ok {
			kept[event] = each
			continue
		}
		var rest []any
		for _, group := range groups {
			if left, keep := withoutOurs(group); keep {
				rest = append(rest, left)
			}
		}
		if len(rest) > 0 {
			kept[event] = rest
		}
	}
	out := map[string]any{}
	for key, each := range root {
		if key != hooksKey {
			out[key] = each
		}
	}
	if len(kept) > 0 {
		out[hooksKey] = kept
	}
	return out
}

func withoutOurs(group any) (left any, keep bool) {
	fields, ok := group.(map[string]any)
	if !ok {
		return group, true
	}
	list, ok := fields[hooksKey].([]any)
	if !ok {
		return group, true
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(hook any) bool {
		m, _ := hook.(map[string]any)
		command, _ := m["command"].(string)
		return isOurs(command)
	})
	if len(rest) == len(list) {
		return group, true
	}
	out := map[string]any{}
	for key, each := range fields {
		out[key] = each
	}
	out[hooksKey] = rest
	return out, len(rest) > 0
}
