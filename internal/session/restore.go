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
	for _, chat := range stored {
		if chat.Fault != nil {
			s.cfg.Log.Error("a stored chat cannot be read; it is left as it is", "session", chat.ID, "err", chat.Fault)
			continue
		}
		c := newChat(s, chat.Row)
		c.took = func() { c.takeUp(chat) }
		over[c.id] = !mayRun(chat.Row)
		if err := s.add(c); err != nil {
			return err
		}
	}
	s.group.Go(func() { s.tidy(ctx, over) })
	return nil
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
	c.tell(false)
	for _, act := range chat.Acts {
		if act.Pane != davit.PaneID(c.row.Keeper) {
			c.paid = append(c.paid, act.ID) // of a process that was before
		}
	}
	if !mayRun(c.row) {
		c.pay()
		return
	}
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
