package tab

import (
	"context"
	"fmt"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/launch"
	"davit/internal/model"
	"davit/internal/pane"
	"davit/internal/session"
	"davit/internal/store"
)

// Chats are the structured sessions behind chat panes.
type Chats interface {
	Start(ctx context.Context, req session.StartRequest) (session.Started, error)
	// Working names the agent whose turn the end of a pane would end, "" for none.
	Working(pane davit.PaneID) string
	// Stop ends a session's turn and its process, all of it; the session stays resumable.
	Stop(ctx context.Context, m session.Mutation) error
	// EndPane does the same for a pane that is gone for good, and parts the two.
	EndPane(ctx context.Context, pane davit.PaneID) error
	// InTab notes that a pane's chat is in another tab now.
	InTab(ctx context.Context, pane davit.PaneID, tab davit.TabID) error
	// Holds says whether a session's process was ever started.
	Holds(ctx context.Context, id davit.SessionID) (bool, error)
}

// OpenChat makes a tab with a chat in it and starts its agent (launch.Surfaces). The
// launch's ledger row and the pane's are durable beforehand; the session's are its own.
func (s *Service) OpenChat(ctx context.Context, req launch.ChatRequest) (launch.ChatOpened, error) {
	row := s.chatRow(req)
	var opened launch.ChatOpened
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		_, paneThere := m.Rows.Panes[req.Pane]
		if req.Beside != "" && !paneThere {
			d := newDraft(m)
			err := d.beside(req.Beside, row)
			return d.change, err
		}
		if _, open := model.Tab(m.State, req.Tab); open || paneThere {
			return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the tab %s is there already", req.Tab).WithHint("choose another pane key, or leave it out")
		}
		t := s.launchedTab(launched{req.Tab, req.Pane, req.Agent, req.AgentName, req.Title, req.Worktree, req.RemoveOnClose})
		d := newDraft(m)
		var err error
		opened.Placement, err = d.place(t, row, req.Placement)
		return d.change, err
	})
	if err != nil {
		return opened, errNothingMade(err)
	}
	started, err := s.cfg.Chats.Start(ctx, session.StartRequest{
		Session: req.Session, Agent: req.Agent, Tab: req.Tab, Pane: req.Pane, Directory: row.Spec.Directory, Options: req.Options, Operation: req.Operation,
	})
	if err != nil {
		s.failPane(context.WithoutCancel(ctx), req.Pane, err)
		if session.NothingRuns(err) || davit.CodeOf(err) == davit.CodeLaunchSessionExists { // the other's agent is none of this launch
			return opened, errNothingMade(err)
		}
		return opened, err
	}
	s.cfg.Chips.Pane(req.Pane, row.Spec.Directory)
	s.setupDone(ctx, req.Beside)
	s.noteLaunch(ctx, davit.Result{
		Outcome: davit.Outcome{Kind: davit.Structured, SessionID: string(req.Session), TabID: req.Tab}, WorktreeID: req.WorkspaceID, Receipt: req.Receipt,
	}, req.Worktree)
	opened.Warning = started.Warning
	opened.Handle, _, err = s.Handle(ctx, davit.Outcome{Kind: davit.Structured, SessionID: string(req.Session)})
	return opened, err
}

// Drop takes the tab of a chat that was not made away again (launch.Surfaces).
func (s *Service) Drop(ctx context.Context, id davit.TabID) error {
	t, open := model.Tab(s.cfg.Host.State(), id)
	if !open {
		return nil
	}
	for _, p := range model.PanesOf(t) {
		s.letGo(ctx, p)
	}
	return s.drop(ctx, id)
}

// letGo parts a chat that never ran from its pane.
func (s *Service) letGo(ctx context.Context, id davit.PaneID) {
	if err := s.cfg.Chats.EndPane(ctx, id); err != nil {
		s.cfg.Log.Warn("a chat that was not made keeps its pane", "pane", id, "err", err)
	}
	s.cfg.Chips.Gone(id)
}

func (s *Service) chatRow(req launch.ChatRequest) store.PaneRow {
	dir, note := s.directory(req.Dir)
	return store.PaneRow{
		Pane: davit.Pane{
			ID: req.Pane, Tab: req.Tab, Kind: keeper.PaneChat, Session: req.Session, Agent: req.Agent, Practice: req.Practice,
			Directory: dir, Note: note, Status: davit.PaneStarting, Cols: pane.DefaultCols, Rows: pane.DefaultRows, PaneKey: req.PaneKey,
		},
		Spec: store.PaneSpec{Directory: dir, Agent: req.Agent, OperationID: req.Operation},
	}
}

// restoreChat takes up a chat pane that a former host left. The session decides what goes
// on in it; only one that it knows nothing of was never made.
func (s *Service) restoreChat(row store.PaneRow) {
	s.cfg.Chips.Pane(row.Pane.ID, row.Pane.Directory)
	s.later(func(ctx context.Context) { // the former host may have died between a move and this
		if err := s.cfg.Chats.InTab(ctx, row.Pane.ID, row.Pane.Tab); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("a chat does not know its tab", "pane", row.Pane.ID, "err", err)
		}
	})
	if row.Pane.Status != davit.PaneStarting {
		return
	}
	s.later(func(ctx context.Context) {
		held, err := s.cfg.Chats.Holds(ctx, row.Pane.Session)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.failPane(ctx, row.Pane.ID, fmt.Errorf("davit stopped while this chat was being started, and cannot tell what became of it: %w", err))
		case !held:
			s.failPane(ctx, row.Pane.ID, fmt.Errorf("davit stopped while this chat was being started; see its operation %s", row.Spec.OperationID))
		default:
			s.chatStands(ctx, row.Pane.ID)
		}
	})
}

// chatStands notes that there is a chat in the pane: from here on its session tells what
// its agent does, and the pane is "running" whether that lives or has ended.
func (s *Service) chatStands(ctx context.Context, id davit.PaneID) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		v, ok := m.State.Panes[id]
		if !ok || v.Status != davit.PaneStarting {
			return host.Change{}, nil
		}
		v.Status = davit.PaneRunning
		return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}}}, nil
	})
	if err != nil {
		s.cfg.Log.Error("a chat's pane could not be noted", "pane", id, "err", err)
	}
}

// unsaved tells what closing a chat pane would cut off: its turn, or a text that was never
// sent (spec tabs T5.3). The text is kept with the session all the same.
func (s *Service) unsaved(p davit.Pane) (what, kind string) {
	if agent := s.cfg.Chats.Working(p.ID); agent != "" {
		return "a turn of " + agent, "turn"
	}
	if s.cfg.Host.State().Sessions[p.Session].Draft.Text != "" {
		return "an unsent message", "draft"
	}
	return "", ""
}

// stopChat ends what runs in a chat of a closed tab. Pane and session stay joined: undo may
// bring both back (spec tabs T5.8).
func (s *Service) stopChat(ctx context.Context, t davit.Tab, p davit.Pane) {
	err := s.cfg.Chats.Stop(ctx, session.Mutation{Session: p.Session, By: "davit"})
	if err != nil && davit.CodeOf(err) != davit.CodeSessionNotFound && ctx.Err() == nil {
		s.noticeChat(ctx, t, p, err)
	}
}

// noticeChat tells of a chat that could not be ended, or not whole.
func (s *Service) noticeChat(ctx context.Context, t davit.Tab, p davit.Pane, err error) {
	s.cfg.Log.Warn("a closed tab's chat could not be ended", "pane", p.ID, "session", p.Session, "err", err)
	s.notify(ctx, davit.Notice{
		ID: "chat-" + string(p.ID), Kind: NoticeStillRunning, Level: "warning", Persistent: true, Tab: t.ID,
		Title: "A chat of a closed tab was not ended", Body: davit.AsError(err).Message,
		Actions: []davit.NoticeAction{{ID: "dismiss", Label: "Dismiss", Kind: "host"}},
	})
}

// Shows waits a while for a terminal to show a text (launch.Surfaces): a draft that its
// agent was started with is placed only when it was seen (spec launch L7).
func (s *Service) Shows(ctx context.Context, key davit.PaneKey, text string) bool {
	for id, row := range s.cfg.Host.Model().Rows.Panes {
		if row.Pane.PaneKey != key || text == "" {
			continue
		}
		p, err := s.cfg.Panes.Get(id)
		if err != nil {
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return p.Wait(ctx, pane.Condition{For: "text", Text: text}) == nil
	}
	return false
}
