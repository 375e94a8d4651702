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
	// EndPane ends what a chat pane's agent runs; the session stays resumable.
	EndPane(ctx context.Context, pane davit.PaneID) error
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
		if _, open := model.Tab(m.State, req.Tab); open || paneThere {
			return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the tab %s is there already", req.Tab).WithHint("choose another pane key, or leave it out")
		}
		t := s.launchedTab(launched{req.Tab, req.Pane, req.Agent, req.AgentName, req.Title, req.Worktree, req.RemoveOnClose})
		change := host.Change{
			Events: []davit.Event{{Kind: davit.EventTab, Tab: &t}, {Kind: davit.EventPane, Pane: &row.Pane}},
			Batch:  store.Batch{PutPanes: []store.PaneRow{row}},
		}
		opened.Placement = place(m, t.ID, req.Placement, &change)
		return change, nil
	})
	if err != nil {
		return opened, errNothingMade(err)
	}
	started, err := s.cfg.Chats.Start(ctx, session.StartRequest{
		Session: req.Session, Agent: req.Agent, Tab: req.Tab, Pane: req.Pane, Directory: row.Spec.Directory, Options: req.Options, Operation: req.Operation,
	})
	if err != nil {
		s.failPane(context.WithoutCancel(ctx), req.Pane, err)
		if session.NothingRuns(err) {
			return opened, errNothingMade(err)
		}
		return opened, err
	}
	s.chatStands(ctx, req.Pane)
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

// chatStands notes that a chat's session is there. From here on the session tells what
// its agent does: the pane stays "running" as long as there is a chat in it.
func (s *Service) chatStands(ctx context.Context, id davit.PaneID) {
	var dir string
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		v, ok := m.State.Panes[id]
		if !ok {
			return host.Change{}, nil
		}
		dir = v.Directory
		v.Status, v.Fault = davit.PaneRunning, ""
		return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}}}, nil
	})
	if err != nil {
		s.cfg.Log.Error("a started chat could not be noted", "pane", id, "err", err)
	}
	if dir != "" {
		s.cfg.Chips.Pane(id, dir)
	}
}

// restoreChat takes up a chat pane that a former host left. The session decides what goes
// on in it; only one that it knows nothing of was never made.
func (s *Service) restoreChat(row store.PaneRow) {
	if row.Pane.Status != davit.PaneStarting {
		s.cfg.Chips.Pane(row.Pane.ID, row.Pane.Directory)
		return
	}
	s.later(func(ctx context.Context) {
		held, err := s.cfg.Chats.Holds(ctx, row.Pane.Session)
		if ctx.Err() != nil {
			return
		}
		if err == nil && held {
			s.chatStands(ctx, row.Pane.ID)
			return
		}
		fault := fmt.Errorf("davit stopped while this chat was being started; see its operation %s", row.Spec.OperationID)
		if err != nil {
			fault = fmt.Errorf("%w (%w)", fault, err)
		}
		s.failPane(ctx, row.Pane.ID, fault)
	})
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
