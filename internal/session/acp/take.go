package acp

import (
	"bytes"
	"fmt"

	"davit"

	"github.com/coder/acp-go-sdk"
)

// Take folds one frame.
func (c *Conversation) Take(f Frame) Step {
	var s Step
	switch f.Kind {
	case Skipped:
		item := c.mint(davit.JournalLifecycle)
		bytes := f.Line.To - f.Line.From
		s.Rows = append(s.Rows, item.row(davit.JournalLifecycle, davit.JournalBody{
			Text:      fmt.Sprintf("The agent printed a line of %d bytes. davit reads lines up to %d MiB, and skipped it.", bytes, MaxLine>>20),
			Lifecycle: &davit.Lifecycle{Event: "skipped", Bytes: bytes},
		}))
	case Garbage:
		if !f.Blank() {
			c.garbageLine(&s, f.Line.Data)
		}
	case Notification:
		c.notification(&s, f)
	case Request:
		if f.Method == acp.ClientMethodSessionRequestPermission {
			c.permission(&s, f)
		} else {
			c.refuse(&s, f, CodeNoMethod, "davit does not serve "+short(f.Method, 100))
		}
	case Response:
		c.answer(&s, f)
	}
	return s
}

// garbageLine counts lines that are no JSON-RPC. Those with nothing said between them are
// one item, so that a flood of them is one row of each step (see Merge).
func (c *Conversation) garbageLine(s *Step, data []byte) {
	if c.garbage == nil {
		item := c.mint(davit.JournalLifecycle)
		c.garbage, c.junk = &item, 0
	}
	c.junk++
	head, _ := cut(valid(string(data[:min(len(data), blobHead)])), blobHead)
	text := "The agent printed a line that is no JSON-RPC message."
	if c.junk > 1 {
		text = fmt.Sprintf("The agent printed %d lines that are no JSON-RPC messages; this is the last of them.", c.junk)
	}
	s.Rows = append(s.Rows, c.garbage.row(davit.JournalLifecycle, davit.JournalBody{
		Text: text, Blob: &davit.Blob{Head: head, Size: len(data), Mime: "text/plain"},
		Lifecycle: &davit.Lifecycle{Event: "garbage", Count: c.junk},
	}))
}

func (c *Conversation) notification(s *Step, f Frame) {
	switch f.Method {
	case acp.ClientMethodSessionUpdate:
		params, ok := readObject(f.Params)
		if !ok {
			c.unknown(s, "an update without parameters", f.Line.Data)
			return
		}
		update, ok := readObject(params.fields["update"])
		if !ok {
			c.unknown(s, "an update that is no object", f.Params)
			return
		}
		c.update(s, update, params.fields["update"])
	case "$/cancel_request":
		c.takeBack(s, f)
	default:
		c.unknown(s, "the notification "+short(f.Method, maxName)+", which davit does not know", f.Params)
	}
}

// update folds one session/update by its discriminator: the SDK's union would take an
// unknown one for an empty known one.
func (c *Conversation) update(s *Step, o *object, raw []byte) {
	kind, _ := get[string](o, "sessionUpdate")
	switch kind {
	case "agent_message_chunk":
		c.chunk(s, davit.JournalMessage, "agent", o, raw)
	case "agent_thought_chunk":
		c.chunk(s, davit.JournalThought, "agent", o, raw)
	case "user_message_chunk":
		c.chunk(s, davit.JournalMessage, "user", o, raw)
	case "tool_call", "tool_call_update":
		if c.load != loadDrop {
			c.toolUpdate(s, o, raw)
		}
	case "plan":
		if c.load != loadDrop {
			c.planUpdate(s, o, raw)
		}
	case "available_commands_update":
		c.commands(s, o, raw)
	case "current_mode_update":
		c.currentMode(s, o, raw)
	case "config_option_update":
		c.configOptions(s, o, raw)
	case "session_info_update":
		c.sessionInfo(s, o)
	case "usage_update":
		c.usage(s, o)
	case "":
		c.unknown(s, "an update that does not say what it is", raw)
	default:
		c.unknown(s, "an update of the unknown kind "+short(kind, maxName), raw)
	}
}

// chunk joins a piece of a message to the one before it, or begins a new item.
func (c *Conversation) chunk(s *Step, kind davit.JournalKind, role string, o *object, raw []byte) {
	if c.load == loadDrop {
		return
	}
	got, what, ok := readContent(o.fields["content"])
	if !ok {
		c.unknown(s, what, raw)
		return
	}
	id := word(o, "messageId", maxName)
	if got.isText && len(got.text) <= maxChunk {
		c.say(s, kind, role, id, valid(got.text))
		return
	}
	if role == "user" && c.echo(got.text) {
		return
	}
	blob, p := got.asBlob()
	s.keep(p)
	if role == "agent" || c.turn == "" {
		c.interrupt()
	}
	c.said = true
	item := c.mint(kind)
	s.Rows = append(s.Rows, item.row(kind, davit.JournalBody{Role: role, Blob: &blob, MessageID: id}))
}

// echo says that text is (a piece of) the user's own message, told again by the agent in its
// turn. The journal has it.
func (c *Conversation) echo(text string) bool {
	return c.load == notLoading && c.turn != "" && bytes.Contains(c.prompt, []byte(text))
}

func (c *Conversation) say(s *Step, kind davit.JournalKind, role, id, text string) {
	if text == "" || role == "user" && c.echo(text) {
		return
	}
	length := units(text)
	if !c.goesOn(kind, role, id, length) {
		if role == "agent" || c.turn == "" {
			c.interrupt()
		}
		fresh := &run{ref: c.mint(kind), kind: kind, role: role, messageID: id}
		if role == "user" && c.load == notLoading {
			c.heard(fresh.item, 0, text)
			s.Rows = append(s.Rows, fresh.row(kind, davit.JournalBody{Role: role, Text: text, MessageID: id}))
			return
		}
		c.run = fresh
	}
	c.said = true
	if role == "user" {
		c.heard(c.run.item, c.run.length, text)
	}
	if c.run.messageID == "" {
		c.run.messageID = id
	}
	s.Rows = append(s.Rows, c.run.row(kind, davit.JournalBody{Role: role, At: c.run.length, Text: text, MessageID: c.run.messageID}))
	c.run.length += length
}

// goesOn says that a piece belongs to the message before it.
func (c *Conversation) goesOn(kind davit.JournalKind, role, id string, length int) bool {
	r := c.run
	return r != nil && r.kind == kind && r.role == role && (role == "agent" || c.load != notLoading) &&
		(id == "" || r.messageID == "" || id == r.messageID) && r.length+length <= maxRun
}

// planUpdate replaces the turn's plan.
func (c *Conversation) planUpdate(s *Step, o *object, raw []byte) {
	entries, ok := get[[]any](o, "entries")
	if !ok {
		c.unknown(s, "a plan that cannot be read", raw)
		return
	}
	body := davit.JournalBody{Plan: []davit.PlanStep{}}
	for i, entry := range entries {
		if i == maxPlan {
			body.Text = fmt.Sprintf("These are the first %d of %d steps.", maxPlan, len(entries))
			break
		}
		step, _ := entry.(map[string]any)
		text, _ := step["content"].(string)
		state, _ := step["status"].(string)
		priority, _ := step["priority"].(string)
		body.Plan = append(body.Plan, davit.PlanStep{Text: short(text, maxName), State: planState(state), Priority: short(priority, 100)})
	}
	if c.plan == nil {
		c.interrupt()
		item := c.mint(davit.JournalPlan)
		c.plan = &item
	}
	s.Rows = append(s.Rows, c.plan.row(davit.JournalPlan, body))
}

func planState(status string) string {
	switch status {
	case "in_progress":
		return "running"
	case "completed":
		return "done"
	}
	return "pending"
}
