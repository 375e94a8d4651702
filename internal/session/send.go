package session

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"davit"
	"davit/internal/session/acp"
)

const (
	// messageMost is the longest message: its line must be one input of the keeper (4 MiB).
	messageMost = 3 << 20
	inputMost   = 4 << 20
	// acceptAfter is how long an agent may take to refuse a message that reached it before
	// it counts as accepted.
	acceptAfter = time.Second
)

// Send writes a message into the journal, then sends it, or queues it while a turn runs
// (S1.5, S1.8). When it returns without error the message is durable. The same operation
// again gives the message as it is, and sends nothing.
func (s *Service) Send(ctx context.Context, m Mutation, text string) (davit.Submission, error) {
	c, err := s.find(ctx, m.Session)
	if err != nil {
		return davit.Submission{}, err
	}
	if m.Operation == "" {
		return davit.Submission{}, davit.Errorf(davit.CodeInvalid, "a message needs an operation id of its own").WithHint("make a new one for each message")
	}
	if strings.TrimSpace(text) == "" || len(text) > messageMost || !utf8.ValidString(text) {
		return davit.Submission{}, davit.Errorf(davit.CodeInvalid, "a message is text of at most %d bytes, and not empty", messageMost)
	}
	var sub davit.Submission
	err = c.do(ctx, func() (err error) {
		sub, err = c.submit(m, text)
		return err
	})
	return sub, err
}

// Submitted finds a message by its operation id: whether its row is there (spec launch L6.3).
func (s *Service) Submitted(ctx context.Context, id davit.SessionID, operation string) (bool, error) {
	if _, err := s.find(ctx, id); err != nil {
		if davit.CodeOf(err) == davit.CodeSessionNotFound {
			return false, nil
		}
		return false, err
	}
	_, ok, err := s.cfg.Store.Submission(ctx, id, operation)
	return ok, err
}

func (c *chat) submit(m Mutation, text string) (davit.Submission, error) {
	first, again, err := c.s.cfg.Store.Submission(c.ctx, c.id, m.Operation)
	switch {
	case err != nil:
		return davit.Submission{}, davit.AsError(err)
	case again && first.Text != text:
		return davit.Submission{}, davit.Errorf(davit.CodeOperationConflict, "the operation id %s was used in this chat for another message", m.Operation).
			WithHint("send it under an id of its own")
	case again:
		return first, nil
	}
	if err := c.fenced(m); err != nil {
		return davit.Submission{}, err
	}
	if c.phase == phaseNone || c.phase == phaseEnding || c.proc.stopped {
		return davit.Submission{}, c.notRunning()
	}
	if len(c.queue) >= queueMost {
		return davit.Submission{}, davit.Errorf(davit.CodeSessionBusy, "%d messages wait for the turn to end", len(c.queue)).WithHint("wait for it, or cancel it")
	}
	if len(acp.Prompt(1<<62, c.row.Session.Resume, text)) > inputMost {
		return davit.Submission{}, davit.Errorf(davit.CodeInvalid, "the message is too long for one line of the protocol").WithHint("put it into a file and name that")
	}
	st := &step{}
	row := c.conv.UserMessage(m.Operation, text)
	sub := davit.Submission{ID: m.Operation, State: davit.SubmissionPending, Text: text, Item: row.Item}
	st.add(row)
	c.viewed()
	if c.phase == phaseReady && c.turn == nil && len(c.queue) == 0 {
		c.beginTurn(st, sub)
	} else {
		sub.State = davit.SubmissionQueued
		c.queue = append(c.queue, sub)
		c.submission(st, sub)
	}
	if err := c.commit(st); err != nil {
		return davit.Submission{}, err
	}
	c.s.failpoint("chat-message-stored")
	return sub, nil
}

func (c *chat) notRunning() *davit.Error {
	e := davit.Errorf(davit.CodeSessionNotRunning, "%s does not run in this chat", c.row.Session.AgentName)
	if c.row.Session.Resume != "" {
		return e.WithHint("`davit session resume %s` starts it anew and goes on", c.id)
	}
	return e.WithHint("launch a new chat")
}

// submission puts the state of a message into a step (S1.5).
func (c *chat) submission(st *step, sub davit.Submission) {
	st.batch.Submissions = append(st.batch.Submissions, sub)
	st.add(c.conv.Note(davit.JournalSubmission, davit.JournalBody{Submission: &sub}))
}

// beginTurn sends a message: its rows and the input that carries it are one step (S1.2).
func (c *chat) beginTurn(st *step, sub davit.Submission) {
	id := c.rpc()
	sub.State = davit.SubmissionPending
	t := &turn{id: turnID(id), rpc: id, submission: sub}
	c.turn = t
	c.submission(st, sub)
	st.add(c.conv.BeginTurn(t.id))
	t.act = c.ask(st, id, "session/prompt", sub.Item, acp.Prompt(id, c.row.Session.Resume, sub.Text))
	c.row.Session.Fault = nil
	c.status(davit.AgentWorking, "")
}

func turnID(rpc uint64) string { return "turn-" + strconv.FormatUint(rpc, 10) }

// nextTurn sends the oldest message that waits.
func (c *chat) nextTurn(st *step) {
	if c.phase != phaseReady || c.turn != nil || len(c.queue) == 0 || c.proc.stopped {
		return
	}
	sub := c.queue[0]
	c.queue = slices.Clone(c.queue[1:])
	c.beginTurn(st, sub)
}

// accept notes that the agent has taken the message that it works on.
func (c *chat) accept(st *step) { c.settleSubmission(st, davit.SubmissionAccepted, "") }

// acceptLater counts a message that the agent has got as accepted when it does not refuse it
// for a while.
func (c *chat) acceptLater(t *turn) {
	c.after(acceptAfter, func() {
		if c.turn == t && t.submission.State == davit.SubmissionPending {
			st := &step{}
			c.accept(st)
			_ = c.commit(st) // an error is the host's stop
		}
	})
}

// settleSubmission settles the message of the turn; what is settled stays (S1.5).
func (c *chat) settleSubmission(st *step, state davit.SubmissionState, reason string) {
	if c.turn == nil || c.turn.submission.State != davit.SubmissionPending {
		return
	}
	c.turn.submission.State, c.turn.submission.Reason = state, reason
	c.submission(st, c.turn.submission)
}

// endTurn hears the agent's answer to a message.
func (c *chat) endTurn(st *step, a acp.Answered) {
	if c.turn == nil || a.ID != c.turn.rpc {
		return
	}
	reason, message := "", ""
	switch {
	case a.Err != nil:
		fault := c.refusal(c.proc, a, "the agent answered with an error")
		c.row.Session.Fault = fault
		reason, message = "error", a.Err.Error()
		c.settleSubmission(st, davit.SubmissionRejected, message)
	default:
		var err error
		if reason, err = acp.ReadPrompt(a.Result); err != nil {
			reason, message = "error", err.Error()
			c.row.Session.Fault = c.protocolFault(c.proc, "the agent's answer to the message cannot be read: %v", err)
		}
		c.accept(st)
	}
	c.abandon(st, "the turn ended", true)
	st.add(c.conv.EndTurn(reason, message, "")...)
	c.turn = nil
	switch {
	case c.row.Session.Fault != nil:
		c.status(davit.AgentError, "")
	case c.followed():
		c.status(davit.AgentIdle, "")
	default:
		c.status(davit.AgentDone, "")
	}
	if p := c.proc; p.stopped {
		st.then = append(st.then, func() { c.end(p) })
	}
	c.nextTurn(st)
}

// SetDraft replaces the draft of a revision (S1.8). Errors: invalid_request with the
// current draft in the details when the revision is an old one.
func (s *Service) SetDraft(ctx context.Context, id davit.SessionID, text string, revision uint64) (davit.SessionDraft, error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return davit.SessionDraft{}, err
	}
	if len(text) > messageMost || !utf8.ValidString(text) {
		return davit.SessionDraft{}, davit.Errorf(davit.CodeInvalid, "a draft is text of at most %d bytes", messageMost)
	}
	var draft davit.SessionDraft
	err = c.do(ctx, func() error {
		now := c.row.Session.Draft
		if revision != now.Revision {
			return davit.Errorf(davit.CodeInvalid, "the draft was changed meanwhile: it is at revision %d, not %d", now.Revision, revision).
				WithHint("take the current draft over, then change it").With("draft", now)
		}
		c.row.Session.Draft = davit.SessionDraft{Text: text, Revision: now.Revision + 1}
		draft = c.row.Session.Draft
		return c.commit(&step{})
	})
	return draft, err
}
