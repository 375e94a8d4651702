package session

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"davit"
)

// bound ends an agent that has not opened its session when the time is over, and says
// before that it has not: nothing hangs on one that never answers (S1.10).
func (c *chat) bound(p *process) {
	opening := func() bool { return c.proc == p && (c.phase == phaseGreeting || c.phase == phaseOpening) }
	since := max(0, c.s.cfg.Now().Sub(c.row.Session.Since)) // of the status starting
	c.after(max(0, c.s.cfg.OpenWait-since), func() {
		if opening() && p.fault == nil && !p.stopped {
			c.slow(max(0, c.s.cfg.OpenLimit-c.s.cfg.OpenWait))
		}
	})
	c.after(max(0, c.s.cfg.OpenLimit-since), func() {
		if opening() {
			st := &step{}
			c.fail(st, p, c.protocolFault(p, "%s has not opened its session within %s, and was ended", c.row.Session.AgentName, c.s.cfg.OpenLimit))
			_ = c.commit(st) // an error is the host's stop
		}
	})
}

func (c *chat) slow(left time.Duration) {
	st := &step{}
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{
		Text:      fmt.Sprintf("%s has not opened its session yet. It is ended when it has not within another %s.", c.row.Session.AgentName, left),
		Lifecycle: &davit.Lifecycle{Event: "slow"},
	}))
	_ = c.commit(st) // an error is the host's stop
}

// protocolFault is what went wrong in the talk with an agent, with the last of its stderr.
func (c *chat) protocolFault(p *process, format string, args ...any) *davit.Error {
	e := davit.Errorf(davit.CodeAgentProtocol, format, args...).WithHint("see the chat's last rows, or launch the agent in a terminal")
	if c.row.Initiated {
		withStderr(e, p)
		return e
	}
	// A chat that never opened has no rows to look at, and often no tab.
	return c.lastWords(p, e.WithHint("launch the agent in a terminal to see what it needs"))
}

func withStderr(e *davit.Error, p *process) {
	if text := strings.TrimSpace(p.tail()); text != "" {
		e.With("stderr", strings.ToValidUTF8(text[max(0, len(text)-faultTail):], "\uFFFD"))
	}
}

// lastWords has a fault before the session was open say the last of stderr: its last line
// in the message, more of it in the hint, the whole in the details (S1.10). A fault that
// has it is left alone.
func (c *chat) lastWords(p *process, fault *davit.Error) *davit.Error {
	lines := lastLines(p.tail())
	if fault == nil || fault.Code != davit.CodeAgentProtocol || len(lines) == 0 || fault.Details["stderr"] != nil {
		return fault
	}
	e := *fault
	e.Details = maps.Clone(fault.Details)
	withStderr(&e, p)
	e.Message += "; the last of its stderr is: " + lines[len(lines)-1]
	if len(lines) > 1 {
		e.Hint = "its stderr ended with: " + strings.Join(lines, " | ")
		if fault.Hint != "" {
			e.Hint = fault.Hint + "; " + e.Hint
		}
	}
	return &e
}

// lastLines are the last lines that say something.
func lastLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, strings.ToValidUTF8(line[:min(len(line), lineMost)], ""))
		}
	}
	return lines[max(0, len(lines)-faultLines):]
}
