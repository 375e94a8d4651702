// Package status decides what an agent is said to do (spec session S3): a pure table from
// what hooks, the terminal and the screen tell to the state that is shown. It reads no
// clock, starts nothing and holds nothing; internal/daemon carries it out.
//
//	hook ─ Read ─► Said ─┐
//	OSC 7501, title, screen ─ Guess ─► Told ─┤─► Next ─► State
//	time ─ Tick ─► …, the program's life ─ Began, Ended ─┘
//
// It refuses to let a weaker source overrule a stronger one, a sibling tool clear a
// question that is still open, and a child agent speak for its lead.
package status

import (
	"slices"
	"time"
	"unicode/utf8"

	"davit"
)

// State is what is known of one agent: what is shown, and what the next decision needs.
// Memory is not stored: a host that restarts does without.
type State struct {
	davit.AgentState
	Memory Memory
}

// Memory is what only the next decision needs.
type Memory struct {
	Confirmed time.Time         // when anything last spoke for the status
	Doubt     time.Time         // since when the terminal says that a turn is over which no hook has ended
	Signal    davit.AgentStatus // the last OSC 7501, "" when there was none
}

// Bounds of what is kept of a report (spec session S3).
const (
	MaxInput    = 160
	MaxMessage  = 8000
	MaxType     = 40
	MaxName     = 80
	MaxID       = 200
	MaxChildren = 20
)

// How long a status is believed that nothing confirms.
const (
	StartLimit       = 20 * time.Second   // a start of which nothing is seen
	WorkLimit        = 30 * time.Minute   // working, by a hook or a signal
	GuessLimit       = 2 * time.Minute    // working, by a guess
	RestoredLimit    = 5 * time.Minute    // restored as working or starting
	RestoreFor       = 7 * 24 * time.Hour // what is older is not restored
	DoubtLimit       = 3 * time.Second    // the terminal says idle, and no hook has told an end
	siblingsTogether = 1 * time.Second    // tool calls of one answer begin within this time
	forever          = 100 * 365 * 24 * time.Hour
)

// rank orders the sources: a weaker one never overrules a stronger one.
var rank = map[davit.StatusSource]int{
	davit.StatusFromProcess: 0, davit.StatusFromScreen: 1, davit.StatusFromTitle: 2, davit.StatusFromSignal: 3, davit.StatusFromHook: 4, davit.StatusFromProtocol: 5,
}

// Began is the state of an agent whose program has just been started.
func Began(agent string, now time.Time) State {
	return State{
		AgentState: davit.AgentState{Agent: agent, Status: davit.AgentStarting, Since: now, Source: davit.StatusFromProcess},
		Memory:     Memory{Confirmed: now},
	}
}

// Ended is the state after the agent's program has ended.
func Ended(s State, now time.Time) State {
	return s.to(davit.AgentExited, "", davit.StatusFromProcess, now).without()
}

// without drops what belongs to a running turn.
func (s State) without() State {
	s.Tool, s.Input, s.Question, s.Children = "", "", "", nil
	return s
}

// to moves to a status and notes who said so. Since is the time of a change, not of a
// confirmation.
func (s State) to(next davit.AgentStatus, waiting davit.WaitingFor, source davit.StatusSource, now time.Time) State {
	if s.Status != next || s.Waiting != waiting {
		s.Since = now
		s.Unread = next == davit.AgentWaiting || next == davit.AgentDone
	}
	s.Status, s.Waiting, s.Source, s.Unconfirmed = next, waiting, source, false
	s.Memory.Confirmed, s.Memory.Doubt = now, time.Time{}
	if next != davit.AgentDone && next != davit.AgentIdle {
		s.Interrupted = false
	}
	if next != davit.AgentWaiting {
		s.Question = ""
	}
	return s
}

// Seen is the state after somebody has looked: done is idle from then on, and an agent
// that waits goes on waiting.
func Seen(s State) State {
	s.Unread = false
	if s.Status == davit.AgentDone {
		s.Status = davit.AgentIdle // since the turn's end, so Since stays
	}
	return s
}

// Restored is a stored state as a host that starts shows it: what may have changed while
// nobody watched is unconfirmed. A restore is not a transition: Since and Unread stay.
func Restored(s davit.AgentState, now time.Time) State {
	switch s.Status {
	case davit.AgentStarting, davit.AgentWorking, davit.AgentWaiting:
		s.Unconfirmed = true
	}
	if now.Sub(s.Since) > RestoreFor {
		s.Status, s.Waiting, s.Unread, s.Unconfirmed = davit.AgentUnknown, "", false, false
	}
	return State{AgentState: s, Memory: Memory{Confirmed: now}}
}

// Alive notes that the agent prints: one that works goes on working.
func Alive(s State, now time.Time) State {
	if s.Status == davit.AgentWorking {
		s.Memory.Confirmed = now
	}
	return s
}

// Tick is what the passing of time does: a status that nothing has confirmed for its own
// limit is unknown, and a turn that the terminal says is over has been interrupted.
func Tick(s State, now time.Time) State {
	if !s.Memory.Doubt.IsZero() && now.Sub(s.Memory.Doubt) >= DoubtLimit {
		interrupted := !s.Unconfirmed // else it may have ended while nobody listened
		s = s.over(s.Source, now)
		s.Interrupted = interrupted
		return s
	}
	if now.Sub(s.Memory.Confirmed) < limit(s) {
		return s
	}
	since := s.Since
	s = s.to(davit.AgentUnknown, "", s.Source, now).without()
	s.Since = since
	return s
}

// limit is how long a status lasts that nothing confirms.
func limit(s State) time.Duration {
	working := s.Status == davit.AgentWorking || s.Status == davit.AgentStarting
	switch {
	case !working:
		return forever // a question stays until it is answered, an end is an end
	case s.Unconfirmed:
		return RestoredLimit
	case s.Status == davit.AgentStarting:
		return StartLimit
	case rank[s.Source] >= rank[davit.StatusFromSignal]:
		return WorkLimit
	}
	return GuessLimit
}

// over is the end of a turn: done, when there was one.
func (s State) over(source davit.StatusSource, now time.Time) State {
	next := davit.AgentIdle
	if s.Status == davit.AgentWorking || s.Status == davit.AgentWaiting || s.Status == davit.AgentDone {
		next = davit.AgentDone
	}
	s = s.to(next, "", source, now).without()
	return s
}

// Cut shortens a text to so many characters, the last of which tells that it was cut.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:most-1]) + "…"
}

// Equal tells whether two states look the same to a client.
func Equal(a, b davit.AgentState) bool {
	children := slices.Equal(a.Children, b.Children)
	a.Children, b.Children = nil, nil
	return children && a.Agent == b.Agent && a.Status == b.Status && a.Waiting == b.Waiting && a.Since.Equal(b.Since) && a.Source == b.Source &&
		a.Tool == b.Tool && a.Input == b.Input && a.Message == b.Message && a.Unread == b.Unread && a.Unconfirmed == b.Unconfirmed &&
		a.Interrupted == b.Interrupted && a.Session == b.Session && a.Question == b.Question
}
