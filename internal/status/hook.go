package status

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"davit"
)

// Said is what a hook has told, in the agent's own words; Read takes it from the JSON that
// the agent gives its hook. The fields have the meaning of wire.AgentReport.
type Said struct {
	Agent, Event, Session, Tool, ToolUse, Input, Message, Kind, Child, ChildType string
	Interrupts                                                                   bool
}

// Bounded is a report whose texts are within the bounds.
func (h Said) Bounded() Said {
	h.Agent, h.Event, h.Tool, h.Kind = Cut(h.Agent, MaxName), Cut(h.Event, MaxName), Cut(h.Tool, MaxName), Cut(h.Kind, MaxName)
	h.Session, h.ToolUse, h.Child = Cut(h.Session, MaxID), Cut(h.ToolUse, MaxID), Cut(h.Child, MaxID)
	h.Input, h.Message, h.ChildType = Cut(oneLine(h.Input), MaxInput), Cut(h.Message, MaxMessage), Cut(h.ChildType, MaxType)
	return h
}

// meaning is what an event says.
type meaning string

const (
	nothing   meaning = ""
	opened    meaning = "opened"    // a conversation began
	closed    meaning = "closed"    // it ended, and mostly the agent with it
	prompted  meaning = "prompted"  // a turn began
	works     meaning = "works"     // it goes on
	toolBegan meaning = "toolBegan" // before a tool call
	toolEnded meaning = "toolEnded" // after it, well or not
	asks      meaning = "asks"      // it wants permission
	questions meaning = "questions" // it asks the user
	answered  meaning = "answered"  // what it asked has its answer
	ends      meaning = "ends"      // the turn is over
	cutOff    meaning = "cutOff"    // the turn is over, not by itself
	childEnds meaning = "childEnds" // a child agent is done
)

// hooks is the table: what each event of each agent means. The names are those of the
// agents' own manuals: Claude Code "Hooks reference", Codex "Hooks", Gemini CLI "Hooks
// reference", OpenCode "Plugins" (events). What is not here changes nothing.
var hooks = map[string]map[string]meaning{
	"claude": claudeLike,
	"codex":  claudeLike,
	"gemini": {
		"SessionStart": opened, "SessionEnd": closed, "BeforeAgent": prompted, "AfterAgent": ends,
		"BeforeTool": toolBegan, "AfterTool": toolEnded, "PreCompress": works, "Notification": nothing, // by its kind
	},
	"opencode": {
		"session.created": opened, "session.busy": works, "session.retry": works, "session.idle": ends, "session.error": cutOff,
		"permission.asked": asks, "permission.updated": asks, "permission.replied": answered,
		"question.asked": questions, "question.replied": answered, "question.rejected": answered,
	},
}

var claudeLike = map[string]meaning{
	"SessionStart": opened, "SessionEnd": closed, "UserPromptSubmit": prompted, "PreToolUse": toolBegan, "PostToolUse": toolEnded, "PostToolUseFailure": toolEnded,
	"PermissionRequest": asks, "PreCompact": works, "PostCompact": works, "Stop": ends, "StopFailure": cutOff, "Interrupt": cutOff,
	"SubagentStart": works, "SubagentStop": childEnds, "Notification": nothing, // by its kind
}

// notifications are those that tell of a question; others, such as that it has been idle
// for a minute, tell nothing that was not told.
var notifications = map[string]meaning{
	"permission_prompt": asks, "ToolPermission": asks, "elicitation_dialog": questions, "elicitation_complete": answered,
}

// asking are the tools by which an agent asks its user.
var asking = []string{"AskUserQuestion", "ask_user", "request_user_input", "question", "ExitPlanMode", "exit_plan_mode"}

func meaningOf(h Said) meaning {
	m, known := hooks[h.Agent][h.Event]
	switch {
	case !known:
		return nothing
	case h.Event == "Notification":
		return notifications[h.Kind]
	case m == toolBegan && slices.Contains(asking, h.Tool):
		return questions
	case h.Event == "PostCompact" && h.Kind == "manual":
		return ends
	case m == opened && h.Kind == "compact":
		return nothing // in the middle of a turn
	}
	return m
}

// Known tells whether an agent's hooks are in the table.
func Known(agent string) bool { return hooks[agent] != nil }

// Hook is the state after a report of a hook. Hooks are authoritative.
func Hook(s State, h Said, now time.Time) State {
	h = h.Bounded()
	m := meaningOf(h)
	if m == nothing {
		return s
	}
	if s.another(h, m) {
		return s
	}
	if h.Child != "" {
		return s.child(h, m, now)
	}
	if h.Session != "" {
		s.Session = h.Session
	}
	const by = davit.StatusFromHook
	switch m {
	case opened:
		s.Message = ""
		return s.to(davit.AgentIdle, "", by, now).without()
	case closed:
		if h.Kind == "clear" || h.Kind == "resume" {
			return s.to(davit.AgentIdle, "", by, now).without()
		}
		return s.to(davit.AgentExited, "", by, now).without()
	case prompted:
		s.Message = ""
		return s.to(davit.AgentWorking, "", by, now).without()
	case works:
		if s.Status == davit.AgentWaiting {
			return s.confirmed(now)
		}
		return s.to(davit.AgentWorking, "", by, now)
	case toolBegan:
		if s.open(h) && now.Sub(s.Since) < siblingsTogether {
			return s.confirmed(now)
		}
		s.Tool, s.Input, s.Message = h.Tool, h.Input, ""
		return s.to(davit.AgentWorking, "", by, now)
	case toolEnded:
		if s.open(h) {
			return s.confirmed(now)
		}
		s.Tool, s.Input, s.Message = "", "", ""
		return s.to(davit.AgentWorking, "", by, now)
	case asks, questions:
		return s.ask(h, m, now)
	case answered:
		s.Message = ""
		return s.to(davit.AgentWorking, "", by, now)
	}
	return s.end(h, m, now)
}

// another tells a report of an agent that runs inside of this one, as a tool of its turn:
// it has inherited the pane, and says nothing of its lead. A conversation that is gone on
// with in place of another one says so, or begins between turns.
func (s State) another(h Said, m meaning) bool {
	running := s.Status == davit.AgentWorking || s.Status == davit.AgentWaiting
	if !running || s.Source != davit.StatusFromHook || s.Session == "" || h.Session == "" || h.Session == s.Session {
		return false
	}
	return m != opened || h.Kind == "startup" || h.Kind == ""
}

// confirmed notes that the status still holds.
func (s State) confirmed(now time.Time) State {
	s.Unconfirmed, s.Memory.Confirmed, s.Memory.Doubt = false, now, time.Time{}
	return s
}

// open tells whether a question stays open although this tool call begins or ends: it is
// another call than the one that asked. Calls are told apart by the agent's id, or where
// it gives none by what they are given.
func (s State) open(h Said) bool {
	if s.Status != davit.AgentWaiting || s.Source != davit.StatusFromHook {
		return false
	}
	if s.Question != "" && h.ToolUse != "" {
		return s.Question != h.ToolUse
	}
	return s.Tool != h.Tool || s.Input != h.Input
}

func (s State) ask(h Said, m meaning, now time.Time) State {
	waiting := davit.WaitingPermission
	if m == questions {
		waiting = davit.WaitingQuestion
	}
	if s.Status == davit.AgentWaiting && s.Source == davit.StatusFromHook && h.Event == "Notification" {
		return s.confirmed(now) // the same question once more, with less
	}
	if s.Status == davit.AgentWaiting && h.Event == "PermissionRequest" && slices.Contains(asking, h.Tool) {
		waiting = s.Waiting // the tool that asks is asked about: still its question
	}
	if h.Tool != "" {
		s.Tool, s.Input = h.Tool, h.Input
	}
	s.Message = h.Message
	s = s.to(davit.AgentWaiting, waiting, davit.StatusFromHook, now)
	s.Question = h.ToolUse
	return s
}

func (s State) end(h Said, m meaning, now time.Time) State {
	next := davit.AgentDone
	if s.Status == davit.AgentIdle {
		next = davit.AgentIdle // it ended before, and somebody has looked
	}
	s = s.to(next, "", davit.StatusFromHook, now).without()
	s.Interrupted = m == cutOff || h.Interrupts
	if h.Message != "" {
		s.Message = h.Message
	}
	return s
}

// child keeps the row of an agent that the agent has started. Its lead hears of it only
// when a person is needed, and when that is over.
func (s State) child(h Said, m meaning, now time.Time) State {
	next, waiting := davit.AgentWorking, davit.WaitingFor("")
	switch m {
	case asks:
		next, waiting = davit.AgentWaiting, davit.WaitingPermission
	case questions:
		next, waiting = davit.AgentWaiting, davit.WaitingQuestion
	case childEnds, ends, cutOff, closed:
		next = davit.AgentDone
	}
	asked := s.Status == davit.AgentWaiting
	switch {
	case next == davit.AgentWaiting:
		s = s.ask(h, m, now)
	case asked && s.Question != "" && s.Question == h.ToolUse && (m == toolEnded || m == toolBegan && now.Sub(s.Since) >= siblingsTogether):
		s = s.to(davit.AgentWorking, "", davit.StatusFromHook, now)
	default:
		s = s.confirmed(now)
	}
	children := slices.DeleteFunc(slices.Clone(s.Children), func(c davit.ChildAgent) bool { return c.ID == h.Child })
	if next == davit.AgentDone {
		s.Children = children
		return s
	}
	row := davit.ChildAgent{ID: h.Child, Type: h.ChildType, Status: next, Waiting: waiting, Since: now}
	if i := slices.IndexFunc(s.Children, func(c davit.ChildAgent) bool { return c.ID == h.Child }); i >= 0 {
		if was := s.Children[i]; row.Type == "" || was.Status == row.Status && was.Waiting == row.Waiting {
			row.Type, row.Since = was.Type, was.Since
		}
	}
	if children = append(children, row); len(children) > MaxChildren {
		children = children[len(children)-MaxChildren:]
	}
	s.Children = children
	return s
}

// payload is what the agents give their hooks on stdin, as far as it is read.
type payload struct {
	Session      string          `json:"session_id"`
	Event        string          `json:"hook_event_name"`
	Tool         string          `json:"tool_name"`
	ToolUse      string          `json:"tool_use_id"`
	Input        json.RawMessage `json:"tool_input"`
	Message      string          `json:"message"`
	Last         string          `json:"last_assistant_message"`
	Response     string          `json:"prompt_response"` // Gemini's name of it
	Notification string          `json:"notification_type"`
	Source       string          `json:"source"`
	Trigger      string          `json:"trigger"`
	Reason       string          `json:"reason"`
	Child        string          `json:"agent_id"`
	ChildType    string          `json:"agent_type"`
	Interrupt    bool            `json:"is_interrupt"`
	Details      struct {
		Title string `json:"title"`
		Tool  string `json:"tool_name"`
	} `json:"details"`
}

// Read takes a report from what an agent gave its hook. The prompt of the user is not
// read. A payload that cannot be read still tells its event.
func Read(agent, event string, data []byte) Said {
	var p payload
	_ = json.Unmarshal(data, &p) // what fits is taken; the rest stays empty
	h := Said{
		Agent: agent, Event: event, Session: p.Session, Tool: first(p.Tool, p.Details.Tool), ToolUse: p.ToolUse, Input: inputOf(p.Input), Message: first(p.Message, p.Last, p.Response, p.Details.Title),
		Kind: first(p.Notification, p.Source, p.Trigger, p.Reason), Child: p.Child, ChildType: p.ChildType, Interrupts: p.Interrupt,
	}
	if h.Event == "" {
		h.Event = p.Event
	}
	if h.Message == "" {
		h.Message = questionOf(p.Input)
	}
	return h.Bounded()
}

// telling are the keys of a tool's input that tell most in one line, best first.
var telling = []string{"command", "file_path", "path", "pattern", "url", "query", "description", "prompt"}

// inputOf is a tool's input in one line.
func inputOf(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		var text string
		_ = json.Unmarshal(raw, &text)
		return text
	}
	for _, key := range telling {
		switch value := fields[key].(type) {
		case string:
			return value
		case []any: // Codex gives the words of a command
			var words []string
			for _, word := range value {
				if text, ok := word.(string); ok {
					words = append(words, text)
				}
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// questionOf is what an asking tool asks.
func questionOf(raw json.RawMessage) string {
	var in struct {
		Question  string `json:"question"`
		Questions []struct {
			Question string `json:"question"`
		} `json:"questions"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return ""
	}
	if in.Question == "" && len(in.Questions) > 0 {
		return in.Questions[0].Question
	}
	return in.Question
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(Cut(text, 4*MaxInput)), " ") }
