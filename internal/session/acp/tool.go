package acp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"davit"
)

// rawName marks an output that is the tool's raw one, shown only while there is no other.
const rawName = "rawOutput"

// tool is one tool call in its current state: the protocol's updates are partial.
type tool struct {
	ref
	call  davit.ToolCall
	note  string
	diffs []*fileDiff
}

type fileDiff struct {
	ref
	diff davit.FileDiff
}

// tools are the tool calls of the current turn, or of the last one while none runs.
type tools struct {
	byID  map[string]*tool
	order []*tool
}

func newTools() tools { return tools{byID: map[string]*tool{}} }

func (t *tools) add(id string, one *tool) {
	if len(t.order) == maxTools {
		delete(t.byID, key(t.order[0].call.ID))
		t.order = t.order[1:]
	}
	t.byID[id] = one
	t.order = append(t.order, one)
}

func (t *tools) apply(at ref, call davit.ToolCall, note string) {
	one := t.byID[key(call.ID)]
	if one == nil || one.item != at.item {
		one = &tool{}
		t.add(key(call.ID), one)
	}
	one.ref, one.call, one.note = at, call, note
}

func (t *tools) applyDiff(at ref, diff davit.FileDiff) {
	for _, one := range t.order {
		if one.item != diff.Tool {
			continue
		}
		for _, d := range one.diffs {
			if d.item == at.item {
				d.ref, d.diff = at, diff
				return
			}
		}
		one.diffs = append(one.diffs, &fileDiff{at, diff})
	}
}

// endAll ends what still runs when its turn ends.
func (t *tools) endAll(failed bool) []Row {
	var rows []Row
	for _, one := range t.order {
		if one.call.State != "pending" && one.call.State != "running" {
			continue
		}
		one.call.State = "cancelled"
		if failed {
			one.call.State = "failed"
		}
		rows = append(rows, one.current())
	}
	return rows
}

// current makes the row of its state.
func (t *tool) current() Row {
	call := t.call
	return t.row(davit.JournalTool, davit.JournalBody{Tool: &call, Text: t.note})
}

// key keeps ids of any length bounded.
func key(id string) string {
	if len(id) <= maxName {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return short(id, 100) + hex.EncodeToString(sum[:])
}

// toolUpdate merges a tool_call or tool_call_update, which a permission question carries
// too, and gives the tool call; nil when it cannot be read.
func (c *Conversation) toolUpdate(s *Step, o *object, raw json.RawMessage) *tool {
	id, ok := get[string](o, "toolCallId")
	if !ok {
		c.unknown(s, "a tool call without an id", raw)
		return nil
	}
	id = key(id)
	one := c.tools.byID[id]
	if one == nil {
		c.interrupt()
		one = &tool{ref: c.mint(davit.JournalTool), call: davit.ToolCall{ID: id, Kind: "other", State: "pending"}}
		c.tools.add(id, one)
	}
	before, noted := one.call, one.note
	var notes []string
	mergeTool(s, &one.call, o, &notes)
	diffs := c.toolContent(s, one, o, &notes)
	if what := o.unread(); what != "" {
		notes = append(notes, what)
	}
	if note := strings.Join(notes, " "); note != "" {
		one.note = note
	}
	if one.revision == 0 || noted != one.note || !reflect.DeepEqual(before, one.call) {
		s.Rows = append(s.Rows, one.current())
	}
	s.Rows = append(s.Rows, diffs...)
	return one
}

// mergeTool takes what an update says beside its content.
func mergeTool(s *Step, call *davit.ToolCall, o *object, notes *[]string) {
	if title, ok := get[string](o, "title"); ok {
		call.Title = short(title, maxName)
	}
	if kind, ok := get[string](o, "kind"); ok {
		call.Kind = short(kind, 100)
	}
	if status, ok := get[string](o, "status"); ok {
		if state := toolState(status); state != "" {
			call.State = state
		} else {
			*notes = append(*notes, "The agent says that it is "+short(status, 100)+", which davit does not know.")
		}
	}
	if places, ok := get[[]json.RawMessage](o, "locations"); ok {
		call.Locations = nil
		for i, raw := range places {
			if i == maxLocations {
				*notes = append(*notes, fmt.Sprintf("These are the first %d of %d locations.", maxLocations, len(places)))
				break
			}
			if place, ok := readObject(raw); ok {
				call.Locations = append(call.Locations, davit.ToolLocation{Path: word(place, "path", maxPath), Line: int(whole(place, "line"))})
			}
		}
	}
	if input := o.fields["rawInput"]; !isNull(input) {
		blob, p := textBlob(compact(input), "application/json")
		s.keep(p)
		call.Input = &blob
	}
}

func toolState(status string) string {
	switch status {
	case "pending":
		return "pending"
	case "in_progress":
		return "running"
	case "completed":
		return "done"
	case "failed":
		return "failed"
	case "cancelled", "canceled":
		return "cancelled"
	}
	return ""
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// toolContent takes the content of an update: outputs replace the outputs before, diffs are
// items of their own that stay with the tool call. It gives the rows of the diffs.
func (c *Conversation) toolContent(s *Step, one *tool, o *object, notes *[]string) []Row {
	pieces, _ := get[[]json.RawMessage](o, "content")
	var outputs []davit.Blob
	var rows []Row
	used := map[string]bool{}
	for i, raw := range pieces {
		if i == maxOutputs {
			*notes = append(*notes, fmt.Sprintf("These are the first %d of %d pieces of content.", maxOutputs, len(pieces)))
			break
		}
		piece, ok := readObject(raw)
		kind := ""
		if ok {
			kind, _ = get[string](piece, "type")
		}
		switch kind {
		case "content":
			got, what, ok := readContent(piece.fields["content"])
			if !ok {
				outputs = append(outputs, s.unread(what, raw))
				continue
			}
			blob, p := got.asBlob()
			s.keep(p)
			outputs = append(outputs, blob)
		case "diff":
			if diff, ok := c.toolDiff(s, one, piece, used, notes); ok {
				rows = append(rows, diff...)
			} else {
				outputs = append(outputs, s.unread("a diff that cannot be read", raw))
			}
		default:
			outputs = append(outputs, s.unread("content of the unknown type "+short(kind, 100), raw))
		}
	}
	switch raw := o.fields["rawOutput"]; {
	case len(outputs) > 0:
		one.call.Output = outputs
	case !isNull(raw) && (len(one.call.Output) == 0 || one.call.Output[0].Name == rawName):
		blob, p := rawOutput(raw)
		s.keep(p)
		one.call.Output = []davit.Blob{blob}
	}
	return rows
}

func rawOutput(raw json.RawMessage) (davit.Blob, *Payload) {
	var text string
	kind := "text/plain"
	if json.Unmarshal(raw, &text) != nil {
		text, kind = compact(raw), "application/json"
	}
	blob, p := textBlob(text, kind)
	blob.Name = rawName
	return blob, p
}

// unread is an output that says what it was.
func (s *Step) unread(what string, raw []byte) davit.Blob {
	blob, p := textBlob(string(raw), "application/json")
	s.keep(p)
	blob.Name = what
	return blob
}
