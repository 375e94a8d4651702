package api

import (
	"context"
	"slices"
	"strings"

	"davit"
	"davit/internal/session"
	"davit/internal/wire"
)

// sessionOperations are the chats (spec session S1). A chat is made by agent.launch: the
// decision has one home.
func (s *Server) sessionOperations() {
	op(s, "agentSession.list", "The chats that are kept, newest first", true, func(ctx context.Context, _ wire.None) (wire.SessionList, error) {
		if err := s.cfg.Sessions.Known(ctx); err != nil {
			return wire.SessionList{}, err
		}
		list := []davit.Session{}
		for _, v := range s.cfg.Host.State().Sessions {
			list = append(list, v)
		}
		slices.SortFunc(list, func(a, b davit.Session) int {
			if c := b.Created.Compare(a.Created); c != 0 {
				return c
			}
			return strings.Compare(string(a.ID), string(b.ID))
		})
		return wire.SessionList{Sessions: list}, nil
	})
	op(s, "agentSession.get", "One chat's state", true, func(_ context.Context, in wire.SessionRef) (davit.Session, error) {
		return s.cfg.Sessions.Get(in.Session)
	})
	op(s, "agentSession.createSupport", "Whether an agent can be a chat in a place", true, func(ctx context.Context, in wire.SessionSupport) (wire.SessionSupported, error) {
		verdict, reason, err := s.cfg.Sessions.Support(ctx, in.Agent, callerDir(ctx, in.Dir))
		return wire.SessionSupported{Verdict: string(verdict), Reason: reason}, err
	})
	op(s, "agentSession.send", "Send a message, or queue it while a turn runs", false, func(ctx context.Context, in wire.SessionSend) (davit.Submission, error) {
		return s.cfg.Sessions.Send(ctx, mutation(ctx, in.SessionMutation), in.Text)
	})
	op(s, "agentSession.respond", "Answer a permission question", false, func(ctx context.Context, in wire.SessionRespond) (davit.JournalRow, error) {
		return s.cfg.Sessions.Respond(ctx, mutation(ctx, in.SessionMutation), in.Item, in.Revision, in.Option)
	})
	op(s, "agentSession.cancel", "End the running turn", false, func(ctx context.Context, in wire.SessionMutation) (wire.SessionCancelled, error) {
		asked, err := s.cfg.Sessions.Cancel(ctx, mutation(ctx, in))
		return wire.SessionCancelled{Asked: asked}, err
	})
	op(s, "agentSession.stop", "End the turn and the agent's process; the chat can be resumed", false, func(ctx context.Context, in wire.SessionMutation) (wire.None, error) {
		return wire.None{}, s.cfg.Sessions.Stop(ctx, mutation(ctx, in))
	})
	op(s, "agentSession.resume", "Start the agent anew and go on", false, func(ctx context.Context, in wire.SessionMutation) (davit.Session, error) {
		return s.cfg.Sessions.Resume(ctx, mutation(ctx, in))
	})
	op(s, "agentSession.setDraft", "Keep the unsent text of the composer", false, func(ctx context.Context, in wire.SessionSetDraft) (davit.SessionDraft, error) {
		return s.cfg.Sessions.SetDraft(ctx, in.Session, in.Text, in.Revision)
	})
	op(s, "agentSession.setOption", "Pick a model, mode or effort", false, func(ctx context.Context, in wire.SessionSetOption) (wire.None, error) {
		return wire.None{}, s.cfg.Sessions.SetOption(ctx, mutation(ctx, in.SessionMutation), in.Option, in.Value)
	})
	op(s, "agentSession.history", "Rows of a chat's journal", false, func(ctx context.Context, in wire.SessionHistory) (wire.SessionRows, error) {
		rows, err := s.cfg.Sessions.History(ctx, in.Session, in.After, in.Before, in.Limit)
		if rows.Rows == nil {
			rows.Rows = []davit.JournalRow{}
		}
		return wire.SessionRows{Rows: rows.Rows, Cursor: rows.Cursor, More: rows.More, Reset: rows.Reset}, err
	})
	op(s, "agentSession.payload", "A large payload of a chat, by its digest", true, func(ctx context.Context, in wire.SessionPayload) (wire.Payload, error) {
		row, err := s.cfg.Sessions.Payload(ctx, in.Session, in.Digest)
		return wire.Payload{Data: row.Data, Mime: row.Mime}, err
	})
}

func mutation(ctx context.Context, in wire.SessionMutation) session.Mutation {
	by := "browser"
	if caller(ctx).Local {
		by = "cli"
	}
	return session.Mutation{Session: in.Session, Operation: in.Operation, Fence: &in.Fence, By: by}
}

// follow sends the rows of one chat as they come (wire/stream.go). Following again starts
// anew from the cursor given.
func (c *client) follow(f wire.ClientFrame) error {
	c.unfollow(f.Session)
	if len(c.chats) >= maxSubs {
		return davit.Errorf(davit.CodeInvalid, "a client follows at most %d chats at once", maxSubs)
	}
	rows, err := c.server.cfg.Sessions.Subscribe(c.ctx, f.Session, f.Cursor, f.Tail)
	if err != nil {
		return err
	}
	c.chats[f.Session] = rows
	if v, err := c.server.cfg.Sessions.Get(f.Session); err == nil && v.Pane != "" {
		c.rooms[f.Session] = v.Pane
	}
	if !c.away {
		c.lookChat(f.Session, rows)
	}
	c.group.Go(func() {
		for {
			next, err := rows.Next(c.ctx)
			if err != nil {
				return
			}
			c.say(wire.ServerFrame{Type: "journal", Session: f.Session, Rows: next.Rows, Cursor: &next.Cursor, Reset: next.Reset})
		}
	})
	return nil
}

func (c *client) lookChat(id davit.SessionID, rows *session.Subscription) {
	rows.Look(true)
	if v, err := c.server.cfg.Sessions.Get(id); err == nil && v.Pane != "" {
		c.looks[id] = c.server.cfg.Status.Look(v.Pane)
	}
}

// attend says whether nobody is at the client: one that shows panes to nobody looks at none.
func (c *client) attend(away bool) {
	if c.away == away {
		return
	}
	c.away = away
	for id, s := range c.subs {
		switch {
		case s.output == nil:
		case away:
			s.looked()
			s.looked = func() {}
		default:
			s.looked = c.server.cfg.Status.Look(id)
		}
	}
	for id, rows := range c.chats {
		if !away {
			c.lookChat(id, rows)
			continue
		}
		rows.Look(false)
		if done, ok := c.looks[id]; ok {
			delete(c.looks, id)
			done()
		}
	}
}

func (c *client) unfollow(id davit.SessionID) {
	if rows, ok := c.chats[id]; ok {
		delete(c.chats, id)
		rows.Close()
	}
	if done, ok := c.looks[id]; ok {
		delete(c.looks, id)
		delete(c.rooms, id)
		done()
	}
}
