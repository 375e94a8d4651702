package tab

import (
	"context"
	"os"
	"slices"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
)

// Undo brings a closed tab back in its place, the last closed one for "". Before its
// first cleanup command has started the plan is given back; after that it stays taken,
// and terminals whose directory is gone go home (spec tabs T5.8).
func (s *Service) Undo(ctx context.Context, req wire.TabRef) (wire.TabBack, error) {
	id := req.Tab
	var back davit.Tab
	ran := false
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		want := id
		if want == "" && len(m.State.Closed) > 0 {
			want = m.State.Closed[0].ID
		}
		row, ok := m.Rows.Closed[want]
		if !ok || !row.Closed.Until.After(s.cfg.Now()) {
			return host.Change{}, davit.Errorf(davit.CodeNothingToUndo, "no closed tab is kept%s", named(id)).
				WithHint("a closed tab is kept for %s", s.cfg.Undo)
		}
		var change host.Change
		back = row.Tab
		if c, ok := m.Cleanups[row.Closed.CleanupID]; ok {
			if c.State == store.CleanupQueued || c.State == store.CleanupHeld {
				c.State, c.Changed = store.CleanupGivenBack, s.cfg.Now()
				change.Batch.PutCleanups = []store.CleanupRow{c}
				plan := *back.OnClose
				plan.Ran = false
				back.OnClose = &plan
			} else {
				ran = true
			}
		}
		order := model.Order(m.State)
		at := min(max(row.Closed.Position, 0), len(order))
		order = slices.Insert(order, at, back.ID)
		closed := slices.DeleteFunc(slices.Clone(m.State.Closed), func(c davit.ClosedTab) bool { return c.ID == want })
		change.Events = append(change.Events,
			davit.Event{Kind: davit.EventTab, Tab: &back}, davit.Event{Kind: davit.EventTabOrder, Order: order},
			davit.Event{Kind: davit.EventClosed, Closed: closed})
		for _, pid := range model.PanesOf(back) {
			p := m.Rows.Panes[pid].Pane
			if live, err := s.cfg.Panes.Get(pid); err == nil {
				p = host.WithView(p, live.View())
			}
			change.Events = append(change.Events, davit.Event{Kind: davit.EventPane, Pane: &p})
		}
		if n, ok := model.Notice(m.State, closedNoticeID(want)); ok {
			change.Events = append(change.Events, davit.Event{Kind: davit.EventNoticeRemoved, NoticeID: n.ID})
		}
		return change, nil
	})
	if err != nil {
		return wire.TabBack{}, err
	}
	if ran {
		s.later(func(ctx context.Context) { s.sendHome(ctx, back) })
	}
	s.poke()
	return wire.TabBack{Tab: back.ID, Tabs: []davit.TabID{back.ID}}, nil
}

func named(id davit.TabID) string {
	if id == "" {
		return " any more"
	}
	return " under the id " + string(id)
}

// sendHome has the idle shells of a tab whose directory is gone go home; a pane that runs
// something, or has ended, is left alone.
func (s *Service) sendHome(ctx context.Context, t davit.Tab) {
	for _, id := range model.PanesOf(t) {
		p, ok := s.cfg.Host.State().Panes[id]
		if !ok || p.Status != davit.PaneRunning || len(p.Argv) > 0 || p.Kind == keeper.PaneChat {
			continue
		}
		if _, err := os.Stat(p.Directory); err == nil {
			continue
		}
		if program, _ := s.running(ctx, p); program != "" {
			continue
		}
		live, err := s.cfg.Panes.Get(id)
		if err != nil {
			continue
		}
		if err := live.Input(ctx, "davit", "home-"+string(id)+"-"+randomHex(4), []byte("\x15cd\r")); err != nil {
			s.cfg.Log.Info("a shell whose directory is gone could not be sent home", "pane", id, "err", err)
		}
	}
}

// runAgain queues a failed or interrupted cleanup once more, because the user asked.
func (s *Service) runAgain(ctx context.Context, id string) error {
	defer s.poke()
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		old, ok := m.Cleanups[id]
		if !ok || (old.State != store.CleanupFailed && old.State != store.CleanupInterrupted) {
			return host.Change{}, davit.Errorf(davit.CodeCleanupNotRepeatable, "the cleanup is not one that failed")
		}
		again := old // a row, a folder and a process of its own: the record of the first stays
		again.ID, again.State, again.Steps, again.Pane = "c_"+randomHex(8), store.CleanupQueued, nil, ""
		again.Created, again.Changed = s.cfg.Now(), s.cfg.Now()
		old.State = store.CleanupMerged
		return host.Change{
			Events: []davit.Event{{Kind: davit.EventNoticeRemoved, NoticeID: failureNotice(old, cleanup.Report{}, "").ID}},
			Batch:  store.Batch{PutCleanups: []store.CleanupRow{old, again}},
		}, nil
	})
}
