package session

import (
	"context"
	"slices"
	"strconv"
	"time"

	"davit"
	"davit/internal/session/acp"
	"davit/internal/store"
)

// restore makes every stored session known. Those whose agent may run look for it by
// themselves; the others only tell that they are there (S1.9).
func (s *Service) restore(ctx context.Context) error {
	select {
	case <-s.cfg.Ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	stored, err := s.cfg.Store.Chats(ctx)
	if err != nil {
		return err
	}
	over := map[davit.SessionID]bool{}
	var open []*chat
	for _, chat := range stored {
		if chat.Fault != nil {
			s.cfg.Log.Error("a stored chat cannot be read; it is left as it is", "session", chat.ID, "err", chat.Fault)
			continue
		}
		c := newChat(s, chat.Row)
		c.took = func() { c.takeUp(chat) }
		over[c.id] = !mayRun(chat.Row)
		if mayRun(chat.Row) {
			open = append(open, c)
		}
		if err := s.add(c); err != nil {
			return err
		}
	}
	s.reconcile(ctx, open)
	s.group.Go(func() { s.tidy(ctx, over) })
	return nil
}

// reconcileWait is how long clients wait for the chats of a former host to be known.
const reconcileWait = 2 * time.Second

// reconcile waits a while until it is known which agents live, so that who asks at once
// is not told what was true before the host stopped.
func (s *Service) reconcile(ctx context.Context, open []*chat) {
	ctx, cancel := context.WithTimeout(ctx, reconcileWait)
	defer cancel()
	for _, c := range open {
		select {
		case <-c.known:
		case <-c.done:
		case <-ctx.Done():
			return
		}
	}
}

// unknown lets clients see a chat of which nothing is known yet. Its row is left alone: a
// restore is no transition (S3).
func (c *chat) unknown() {
	v := c.row.Session
	v.Status, v.Waiting = davit.AgentUnknown, ""
	c.mu.Lock()
	c.view = v
	c.mu.Unlock()
	c.tell(false)
}

// settled notes that it is known what became of a former host's agent, and tells.
func (c *chat) settled() {
	select {
	case <-c.known:
	default:
		close(c.known)
		c.show()
		c.tell(false)
	}
}

// tidy lets the keeper drop processes whose end is stored already.
func (s *Service) tidy(ctx context.Context, over map[davit.SessionID]bool) {
	cl, ok := s.cfg.Linked()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	infos, err := cl.List(ctx)
	if err != nil {
		return // the next start does it
	}
	for _, info := range infos {
		if over[davit.SessionID(info.Labels["session"])] && info.Exit != nil {
			_ = cl.Forget(ctx, info.Pane) // the next start does it
		}
	}
}

// mayRun says that the stored state leaves open whether a process runs.
func mayRun(row store.ChatRow) bool {
	return row.Keeper != "" && row.Session.Status != davit.AgentExited && row.Session.Status != davit.AgentResumable
}

// takeUp goes on where a former host stopped: at the place up to which the output is folded,
// with what is owed, in mid-turn if need be. A restore is no transition (S3).
func (c *chat) takeUp(chat store.Chat) {
	for _, act := range chat.Acts {
		if act.Pane != davit.PaneID(c.row.Keeper) {
			c.paid = append(c.paid, act.ID) // of a process that was before
		}
	}
	if !mayRun(c.row) {
		c.settled()
		c.pane(func(v *davit.Pane) {
			if v.Status != davit.PaneFailed {
				v.Status, v.Pid = davit.PaneEnded, 0
			}
		})
		c.pay()
		return
	}
	c.unknown()
	for err := c.remember(); err != nil; err = c.remember() {
		if c.ctx.Err() != nil {
			return
		}
		c.log.Error("the journal of a chat cannot be read; it is tried again", "err", err)
		select {
		case <-time.After(time.Second):
		case <-c.ctx.Done():
		}
	}
	p := newProcess(c.row.Keeper, acp.Position{})
	for _, f := range chat.Folds {
		if f.Keeper == c.row.Keeper && f.Stream == "stdout" {
			at := acp.Position{Offset: f.Offset, Skipping: f.Skipping, SkipFrom: f.Skip}
			p.lines, p.retained, p.stored = acp.NewLines(at), at.Offset, at.Offset
		}
	}
	c.proc = p
	spawning := c.takeActs(chat, p)
	c.takeRequests(chat)
	c.phase = c.phaseOf(p, spawning)
	if c.phase == phaseGreeting && len(c.asks) == 0 { // what it answered was its end
		if p.fault = c.row.Session.Fault; p.fault == nil {
			p.fault = c.protocolFault(p, "%s could not be talked with", c.row.Session.AgentName)
		}
		c.end(p)
	}
	if c.phase == phaseGreeting || c.phase == phaseOpening {
		c.bound(p)
	}
	c.relink(p, nil)
}

func (c *chat) takeActs(chat store.Chat, p *process) (spawning bool) {
	for _, act := range chat.Acts {
		switch {
		case act.Pane != davit.PaneID(c.row.Keeper):
		case act.Kind == "spawn":
			spawning = true
		case act.Kind == "close":
			p.closing, p.stopped, p.fault = act.ID, c.row.Session.Fault == nil, c.row.Session.Fault
		default:
			c.owed = append(c.owed, act)
		}
	}
	return spawning
}

// takeRequests takes up what was asked and is not answered, the turn among it.
func (c *chat) takeRequests(chat store.Chat) {
	for _, sub := range chat.Submissions {
		if sub.State == davit.SubmissionQueued {
			c.queue = append(c.queue, sub)
		}
	}
	for _, row := range chat.Requests {
		id, err := strconv.ParseUint(row.ID, 10, 64)
		if row.Direction != "ours" || err != nil || row.Spawn != c.row.Spawn {
			continue
		}
		c.asks[id] = row
		if row.Method != "session/prompt" {
			continue
		}
		t := &turn{id: turnID(id), rpc: id, act: row.Act, submission: davit.Submission{Item: row.Item, State: davit.SubmissionAccepted}}
		t.taken = !slices.ContainsFunc(c.owed, func(a store.ActRow) bool { return a.ID == row.Act })
		for _, sub := range chat.Submissions {
			if sub.Item == row.Item {
				t.submission = sub
			}
		}
		c.turn = t
		if t.taken {
			c.acceptLater(t)
		}
	}
}

func (c *chat) phaseOf(p *process, spawning bool) phase {
	switch {
	case spawning:
		return phaseSpawning
	case p.closing != "":
		return phaseEnding
	case c.row.Initiated:
		return phaseReady
	}
	for _, row := range c.asks {
		if row.Method == "session/new" || row.Method == "session/load" {
			return phaseOpening
		}
	}
	return phaseGreeting
}
