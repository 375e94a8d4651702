package session

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/pane"
	"davit/internal/session/acp"
	"davit/internal/store"
)

// stopGrace is how long a turn may take to end before its process is ended (S1.8).
const stopGrace = 3 * time.Second

// restWait is how long the last output of an ended process may take to be folded.
const restWait = 5 * time.Second

// Stop cancels the turn, then after a grace ends the process; the session stays resumable
// (S1.8). It returns when the process has ended, all of it.
func (s *Service) Stop(ctx context.Context, m Mutation) error {
	c, err := s.find(ctx, m.Session)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	if err := c.do(ctx, func() error {
		if err := c.fenced(m); err != nil {
			return err
		}
		return c.stop(ended)
	}); err != nil {
		return err
	}
	return c.await(ctx, ended)
}

// stop has the process end and ended answered then.
func (c *chat) stop(ended chan error) error {
	p := c.proc
	if p == nil {
		ended <- nil
		return nil
	}
	c.ends = append(c.ends, ended)
	if p.closed { // a close that left something alive: again
		p.stopped, p.closed = true, false
		c.close(p)
		return nil
	}
	if p.stopped {
		return nil
	}
	p.stopped = true
	c.row.Session.Fence++
	st := &step{}
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Text: "The agent is stopped.", Lifecycle: &davit.Lifecycle{Event: "stopped"}}))
	turn := c.cancel(st)
	if err := c.commit(st); err != nil {
		return err
	}
	if turn {
		c.after(stopGrace, func() { c.end(p) })
		return nil
	}
	c.end(p)
	return nil
}

// EndPane is for a tab that is gone for good: it cancels the turn, ends the process (all of
// it, spec terminal P5.1), and leaves the session resumable without a pane (S1.8). It is
// repeatable. What stays alive is in the error.
func (s *Service) EndPane(ctx context.Context, id davit.PaneID) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	c := s.inPane(id)
	if c == nil {
		return nil
	}
	if err := s.Stop(ctx, Mutation{Session: c.id, By: "davit"}); err != nil {
		return err
	}
	return c.do(ctx, func() error {
		if c.row.Session.Pane != id {
			return nil
		}
		c.row.Session.Pane, c.row.Session.Tab = "", ""
		return c.commit(&step{})
	})
}

// InTab notes that the chat of a pane is in another tab now. Saying it twice is harmless.
func (s *Service) InTab(ctx context.Context, id davit.PaneID, tab davit.TabID) error {
	c := s.inPane(id)
	if c == nil {
		return nil
	}
	return c.do(ctx, func() error {
		if c.row.Session.Pane != id || c.row.Session.Tab == tab {
			return nil
		}
		c.row.Session.Tab = tab
		return c.commit(&step{})
	})
}

// Resume starts the agent anew and goes on by its own id (S1.9). One that runs is left
// alone.
func (s *Service) Resume(ctx context.Context, m Mutation) (davit.Session, error) {
	c, err := s.find(ctx, m.Session)
	if err != nil {
		return davit.Session{}, err
	}
	runs := false
	if err := c.do(ctx, func() error {
		runs = c.phase != phaseNone && c.phase != phaseEnding
		if err := c.fenced(m); err != nil || runs {
			return err
		}
		if c.row.Session.Resume == "" {
			return c.notRunning()
		}
		return nil
	}); err != nil || runs {
		return c.seen(), err
	}
	v := c.seen()
	command, cl, err := s.ready(ctx, v.Agent, v.Directory)
	if err != nil {
		return v, err
	}
	started, err := c.start(ctx, command, cl)
	return started.Session, err
}

// Holds says whether the keeper has a process of this session, or had one that opened it
// (spec launch L6.5). An agent that ended before that, as one that is not signed in does,
// left nothing that a launch may claim. A start that is under way is waited for.
func (s *Service) Holds(ctx context.Context, id davit.SessionID) (bool, error) {
	c, err := s.find(ctx, id)
	if davit.CodeOf(err) == davit.CodeSessionNotFound {
		return false, nil
	}
	for err == nil {
		held, known := false, false
		if err = c.do(ctx, func() error {
			held, known = c.row.Keeper != "" && (c.phase != phaseNone || c.row.Session.Resume != ""), c.phase != phaseSpawning
			return nil
		}); err != nil || known {
			return held, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			err = davit.AsError(context.Cause(ctx))
		}
	}
	return false, err
}

// end has the keeper end the process; the act is stored first. One that is not there yet is
// ended when it is.
func (c *chat) end(p *process) {
	if c.proc != p || p.closing != "" || c.phase == phaseSpawning {
		return
	}
	c.to(phaseEnding)
	c.close(p)
}

func (c *chat) close(p *process) {
	p.closing = mint("cc_")
	st := &step{}
	st.batch.PutActs = []store.ActRow{{ID: p.closing, Pane: davit.PaneID(p.keeper), Kind: "close", Created: c.s.cfg.Now()}}
	if c.commit(st) == nil {
		c.sendClose(p)
	}
}

// sendClose asks for what is stored; without a connection it is asked when there is one.
func (c *chat) sendClose(p *process) {
	l, act := p.link, p.closing
	if l == nil {
		return
	}
	c.help(func() {
		report, err := l.client.Close(c.ctx, act, p.keeper, keeper.CloseOptions{})
		c.post(func() { c.closed(p, l, act, report, err) })
	})
}

// closed hears what a close ended, and what it could not end.
func (c *chat) closed(p *process, l *link, act string, report keeper.CloseReport, err error) {
	if c.proc != p || p.closing != act {
		return
	}
	switch code := davit.CodeOf(err); {
	case code == davit.CodeKeeperUnreachable || code == davit.CodeKeeperSuperseded || code == davit.CodePaneNotFound:
		c.unlinked(p, l, l.client, err)
		return
	case err != nil:
		c.log.Error("an agent could not be ended", "err", err)
		c.unended(p, davit.AsError(err))
		return
	}
	c.paid = append(c.paid, act)
	p.closed, p.remaining = true, report.Remaining
	if report.Exit == nil {
		c.unended(p, davit.Errorf(davit.CodeInternal, "%s did not end when it was told to: %s", c.row.Session.AgentName, processes(report.Remaining)).
			WithHint("end it yourself, then stop the chat again"))
		return
	}
	c.after(restWait, func() { c.leaveRest(p, report.Exit) })
	c.over(p)
}

// leaveRest lets go of a process that has ended and had printed more than can be folded in
// a while: nothing hangs on a flood (S1.10).
func (c *chat) leaveRest(p *process, exit *keeper.ExitStatus) {
	if c.proc != p {
		return
	}
	read := p.lines.Read() + uint64(len(p.pending))
	if left := exit.Offset - min(exit.Offset, read); left > 0 {
		st := &step{}
		st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{
			Text:      fmt.Sprintf("The last %d bytes of the agent's output were not read: they were too much.", left),
			Lifecycle: &davit.Lifecycle{Event: "flooded", Bytes: left},
		}))
		if c.commit(st) != nil {
			return
		}
		p.lines, p.pending = acp.NewLines(acp.Position{Offset: exit.Offset}), nil
	}
	p.exit = exit
	c.gone(p, false)
}

// unended tells those who wait for the end that it did not come.
func (c *chat) unended(p *process, fault *davit.Error) {
	p.closed = true
	c.row.Session.Fault = fault
	st := &step{}
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Text: fault.Message, Lifecycle: &davit.Lifecycle{Event: "stopped"}}))
	_ = c.commit(st) // an error is the host's stop
	c.answerStarts(fault)
	c.answerEnds(fault)
}

func processes(list []keeper.Process) string {
	text := "it lives on"
	for i, q := range list {
		if i == 0 {
			text = "still alive are"
		}
		text += fmt.Sprintf(" %s (pid %d)", q.Name, q.Pid)
	}
	return text
}

func (c *chat) answerEnds(err error) {
	for _, wait := range c.ends {
		wait <- err
	}
	c.ends = nil
}

// over goes on when everything of a process is known: its exit, the last of its stderr, what
// it took of its input. What it has left running is ended first: a second agent must not
// work beside the rest of a first one (spec launch L5.6).
func (c *chat) over(p *process) {
	if c.proc != p || p.exit == nil || !p.quiet && !p.silent || p.sent > 0 && p.link != nil {
		return
	}
	if p.closing == "" {
		if p.fault == nil && !p.stopped {
			p.fault = c.protocolFault(p, "%s ended with %s", c.row.Session.AgentName, exitWords(*p.exit))
		}
		c.end(p)
		return
	}
	if p.closed {
		c.gone(p, false)
	}
}

func exitWords(e keeper.ExitStatus) string {
	if exit := pane.ExitOf(e); exit.Signal != "" {
		return "signal " + exit.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// gone closes what a process had open: it has ended, was never there, or (lost) its keeper
// is gone and nobody can know (S1.5, S1.9, S1.10).
func (c *chat) gone(p *process, lost bool) {
	name := c.row.Session.AgentName
	p.leave()
	keeperGone := lost
	if lost && c.foldDead(p) { // it had ended all that it had, by request
		lost, p.stopped, p.fault = false, true, nil
	}
	st := &step{}
	c.rest(st, p)
	reason, message := "exited", ""
	switch {
	case lost:
		reason = "lost"
		p.fault = davit.Errorf(davit.CodePaneLost, "the keeper of %s is gone, and the agent with it as far as davit can tell", name).
			WithHint("resume the chat, or look at its last rows first")
	case p.stopped:
		reason = "stopped"
	}
	if p.fault != nil && !c.row.Initiated {
		p.fault = c.lastWords(p, p.fault) // what it said after it was told to end
	}
	if p.fault != nil {
		message = p.fault.Message
	}
	inTurn := c.turn != nil
	idle := c.turn == nil && c.phase == phaseReady
	c.closeTurn(st, p, keeperGone, reason, message)
	c.cancelRequests(st)
	for _, sub := range c.queue {
		sub.State, sub.Reason = davit.SubmissionRejected, name+" ended before the message was sent"
		c.submission(st, sub)
	}
	c.queue = nil
	life := &davit.Lifecycle{Event: "exited"}
	if lost {
		life.Event = "lost"
	}
	if p.exit != nil {
		exit := pane.ExitOf(*p.exit)
		life.Exit = &exit
	}
	if p.fault != nil && !inTurn {
		life.Stderr = p.tail()
	}
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Text: message, Lifecycle: life}))
	c.goneRow(p)
	if lost && idle {
		c.row.Session.Fault = nil // nothing was cut off, and the row says what happened
	}
	for _, act := range c.owed {
		c.paid = append(c.paid, act.ID)
	}
	c.paid = append(c.paid, spawnAct(p.keeper))
	if p.closing != "" {
		c.paid = append(c.paid, p.closing)
	}
	c.owed, c.proc = nil, nil
	c.to(phaseNone)
	if c.commit(st) != nil {
		return
	}
	fault := c.row.Session.Fault
	c.pane(func(v *davit.Pane) {
		v.Pid, v.Status, v.Exit = 0, davit.PaneEnded, life.Exit // lost too: the session tells, and goes on
		if v.Fault = ""; fault != nil {
			v.Fault = fault.Message
		}
	})
	c.settled()
	c.answerGone(p, lost)
	if !lost && p.exit != nil {
		c.forget(p)
	}
}

// goneRow is the session's state after its process.
func (c *chat) goneRow(p *process) {
	v := &c.row.Session
	if c.phase == phaseSpawning && p.exit == nil && davit.CodeOf(p.fault) != davit.CodePaneLost {
		c.row.Keeper = "" // there never was one
	}
	v.Fence++
	v.Fault = nil
	if p.fault != nil {
		v.Fault = p.fault
	}
	if v.Resume != "" && (!p.fresh || p.hello.CanLoad) {
		c.status(davit.AgentResumable, "")
		return
	}
	c.status(davit.AgentExited, "")
}

// closeTurn ends what the agent was at.
func (c *chat) closeTurn(st *step, p *process, lost bool, reason, message string) {
	if t := c.turn; t != nil {
		switch {
		case t.taken:
			c.accept(st)
		case lost:
			c.settleSubmission(st, davit.SubmissionUnknown, "it cannot be known whether the agent got the message; davit does not send it again by itself")
		default:
			c.settleSubmission(st, davit.SubmissionRejected, "the agent ended before it took the message")
		}
	}
	c.abandon(st, "the agent ended", false)
	if c.turn != nil {
		st.add(c.conv.EndTurn(reason, message, p.tail())...)
	}
	c.turn = nil
}

// rest tells of half a line that an agent ended in (S1.10).
func (c *chat) rest(st *step, p *process) {
	left := append(bytes.Clone(p.lines.Rest()), p.pending...)
	p.pending = nil
	if at := p.lines.Position(); at.Skipping {
		st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{
			Text:      fmt.Sprintf("The agent ended in the middle of a line of more than %d MiB, which was skipped.", acp.MaxLine>>20),
			Lifecycle: &davit.Lifecycle{Event: "skipped", Bytes: at.Offset - at.SkipFrom},
		}))
		return
	}
	if len(bytes.TrimSpace(left)) == 0 {
		return
	}
	head := left[:min(len(left), 1<<10)]
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{
		Text:      fmt.Sprintf("The agent ended in the middle of a line of %d bytes.", len(left)),
		Blob:      &davit.Blob{Head: string(bytes.ToValidUTF8(head, []byte("\uFFFD"))), Size: len(left), Mime: "text/plain"},
		Lifecycle: &davit.Lifecycle{Event: "garbage", Bytes: uint64(len(left))},
	}))
}

// answerGone tells those who wait for a start or an end.
func (c *chat) answerGone(p *process, lost bool) {
	if len(p.remaining) > 0 {
		left := davit.Errorf(davit.CodeInternal, "%s has ended, but not all that it started: %s", c.row.Session.AgentName, processes(p.remaining))
		c.answerEnds(left)
	}
	c.answerEnds(nil)
	if len(c.starts) == 0 {
		return
	}
	var err error = davit.Errorf(davit.CodeSessionNotRunning, "the chat was stopped before its agent was ready")
	if p.fault != nil {
		err = p.fault
	}
	if !lost && len(p.remaining) == 0 {
		err = nothingRuns{err}
	}
	c.answerStarts(err)
}

// forget lets the keeper drop a process whose end is stored. Failing costs a row there.
func (c *chat) forget(p *process) {
	cl, ok := c.s.cfg.Linked()
	if !ok {
		return
	}
	c.help(func() {
		ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
		defer cancel()
		if err := cl.Forget(ctx, p.keeper); err != nil {
			c.log.Debug("the keeper keeps the log of a process that has ended", "keeper", p.keeper, "err", err)
		}
	})
}
