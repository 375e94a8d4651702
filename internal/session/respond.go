package session

import (
	"context"
	"slices"
	"time"

	"davit"
	"davit/internal/session/acp"
	"davit/internal/store"
)

const (
	cancelGrace = 5 * time.Second  // before it is said that an agent does not heed a cancel
	optionWait  = 15 * time.Second // for an agent to take a choice
	decidedMost = 64               // answers that are remembered for a repeat
)

// Respond answers a permission question by compare-and-set (S1.7). An empty option
// cancels. Errors: already_resolved with the row's approval in the details. The same
// operation again gives the first answer.
func (s *Service) Respond(ctx context.Context, m Mutation, item string, revision uint64, option string) (davit.JournalRow, error) {
	c, err := s.find(ctx, m.Session)
	if err != nil {
		return davit.JournalRow{}, err
	}
	var row davit.JournalRow
	err = c.do(ctx, func() (err error) {
		row, err = c.respond(m, item, revision, option)
		return err
	})
	return row, err
}

func (c *chat) respond(m Mutation, item string, revision uint64, option string) (davit.JournalRow, error) {
	if i := slices.IndexFunc(c.decided, func(d decision) bool { return m.Operation != "" && d.operation == m.Operation }); i >= 0 && c.decided[i].row.Item == item {
		return c.decided[i].row, nil
	}
	if err := c.remember(); err != nil {
		return davit.JournalRow{}, err
	}
	state := "answered"
	if option == "" {
		state = "cancelled"
	}
	// Who comes second is told by whom it was answered, whatever happened to the agent since.
	if slices.ContainsFunc(c.conv.Open(), func(a acp.Ask) bool { return a.Item == item }) {
		if err := c.fenced(m); err != nil {
			return davit.JournalRow{}, err
		}
	}
	row, ask, err := c.conv.Decide(item, revision, state, option, m.By, "")
	if err != nil {
		return davit.JournalRow{}, err
	}
	st := &step{}
	st.add(row)
	c.decide(st, ask, option, true)
	c.settle()
	at := c.row.Session.Cursor.Seq
	if err := c.commit(st); err != nil {
		return davit.JournalRow{}, err
	}
	c.s.failpoint("chat-decision-stored")
	stored := st.batch.Rows[slices.IndexFunc(st.batch.Rows, func(r davit.JournalRow) bool { return r.Item == item && r.Seq > at })]
	c.decided = append(c.decided, decision{m.Operation, stored})
	if over := len(c.decided) - decidedMost; over > 0 {
		c.decided = slices.Clone(c.decided[over:])
	}
	return stored, nil
}

// decision is an answer to a permission question, for a repeat.
type decision struct {
	operation string
	row       davit.JournalRow
}

// decide puts the answer to a question into a step, behind its row (S1.7). told is false
// when there is no agent any more to hear it.
func (c *chat) decide(st *step, ask *acp.Ask, option string, told bool) {
	line, state := acp.Cancelled(ask.RPCID), "cancelled"
	if option != "" {
		line, state = acp.Allow(ask.RPCID, option), "answered"
	}
	act := ""
	if told {
		act = c.input(st, line)
	}
	st.batch.Requests = append(st.batch.Requests, c.asked(ask, state, act, line))
}

// abandon denies every question that is open (S1.7).
func (c *chat) abandon(st *step, reason string, told bool) {
	for _, open := range c.conv.Open() {
		row, ask, err := c.conv.Decide(open.Item, open.Revision, "denied", "", "davit", reason)
		if err != nil {
			c.log.Error("an open question could not be denied", "item", open.Item, "err", err)
			continue
		}
		st.add(row)
		c.decide(st, ask, "", told)
	}
}

// Cancel asks the agent to end the running turn; asked is false when there is none to end.
func (s *Service) Cancel(ctx context.Context, m Mutation) (asked bool, err error) {
	c, err := s.find(ctx, m.Session)
	if err != nil {
		return false, err
	}
	err = c.do(ctx, func() error {
		if err := c.fenced(m); err != nil {
			return err
		}
		st := &step{}
		if asked = c.cancel(st); !asked {
			asked = c.turn != nil && c.turn.cancelled
			return nil
		}
		st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Text: "The agent is asked to end its turn.", Lifecycle: &davit.Lifecycle{Event: "cancel"}}))
		return c.commit(st)
	})
	return asked && err == nil, err
}

// cancel asks the agent to end its turn, once, and answers what it asked.
func (c *chat) cancel(st *step) bool {
	t := c.turn
	if t == nil || t.cancelled || c.phase != phaseReady {
		return false
	}
	t.cancelled = true
	// The questions first: the agent must not take their end for a go-ahead.
	for _, open := range c.conv.Open() {
		row, ask, err := c.conv.Decide(open.Item, open.Revision, "cancelled", "", "davit", "the turn was cancelled")
		if err != nil {
			c.log.Error("an open question could not be cancelled", "item", open.Item, "err", err)
			continue
		}
		st.add(row)
		c.decide(st, ask, "", true)
	}
	c.input(st, acp.Cancel(c.row.Session.Resume))
	c.settle()
	c.after(cancelGrace, func() {
		if c.turn != t || c.phase != phaseReady {
			return
		}
		st := &step{}
		st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{
			Text: "The agent was asked to end its turn and has not. Stop ends its process.", Lifecycle: &davit.Lifecycle{Event: "cancel"},
		}))
		_ = c.commit(st) // an error is the host's stop
	})
	return true
}

// setting is an option that the agent is asked to set.
type setting struct {
	option davit.AgentOption
	value  string
	done   chan error // may be nil
}

// SetOption picks a value of one of the session's options.
func (s *Service) SetOption(ctx context.Context, m Mutation, option, value string) error {
	c, err := s.find(ctx, m.Session)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	err = c.do(ctx, func() error {
		if err := c.fenced(m); err != nil {
			return err
		}
		if c.phase != phaseReady {
			return c.notRunning()
		}
		i := slices.IndexFunc(c.row.Session.Options, func(o davit.AgentOption) bool { return o.ID == option })
		if i < 0 {
			return davit.Errorf(davit.CodeInvalid, "%s has no option %q", c.row.Session.AgentName, option)
		}
		st := &step{}
		if err := c.setOption(st, c.row.Session.Options[i], value, done); err != nil {
			return err
		}
		return c.commit(st)
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, optionWait, davit.Errorf(davit.CodeAgentProtocol, "the agent has not answered within %s", optionWait))
	defer cancel()
	return c.await(ctx, done)
}

func (c *chat) setOption(st *step, o davit.AgentOption, value string, done chan error) error {
	id := max(c.row.NextRPC, 1)
	line, err := acp.SetOption(id, c.row.Session.Resume, o, value)
	if err != nil {
		return err
	}
	c.rpc()
	c.ask(st, id, methodOf(line), "", line)
	c.settings[id] = &setting{option: o, value: value, done: done}
	return nil
}

// optionSet hears what the agent made of a choice.
func (c *chat) optionSet(st *step, a acp.Answered) {
	s := c.settings[a.ID]
	delete(c.settings, a.ID)
	if s == nil {
		return
	}
	var err error
	if a.Err == nil {
		c.conv.ReadOption(s.option, s.value, a.Result)
		c.viewed()
	} else {
		err = davit.Errorf(davit.CodeAgentProtocol, "the agent did not take %q as its %s: %s", s.value, s.option.Name, a.Err.Error())
	}
	if s.done != nil {
		st.then = append(st.then, func() { s.done <- err })
	}
}

// methodOf reads the method of a line of ours.
func methodOf(line []byte) string {
	return acp.Decode(acp.Line{Data: line}).Method
}

// cancelRequests closes the requests of a process that is gone.
func (c *chat) cancelRequests(st *step) {
	for _, row := range c.asks {
		row.State, row.Asked = "cancelled", time.Time{}
		st.batch.Requests = append(st.batch.Requests, row)
	}
	c.asks = map[uint64]store.RPCRow{}
	st.add(c.conv.DropRequests()...)
	for id, s := range c.settings {
		delete(c.settings, id)
		if s.done != nil {
			s.done <- c.notRunning()
		}
	}
}
