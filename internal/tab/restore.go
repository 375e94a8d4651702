package tab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/model"
	"davit/internal/store"
)

// restore takes up what a former host left: spawns that are owed, startup commands that
// are under way, cleanups that run, panes of tabs whose undo time is over.
func (s *Service) restore(ctx context.Context) {
	s.tellOpenings(ctx)
	s.sweep(ctx)
	s.tellStrangers(ctx)
	m := s.cfg.Host.Model()
	tabs := map[davit.TabID]bool{}
	for _, t := range m.State.Tabs {
		tabs[t.ID] = true
	}
	for id := range m.Rows.Closed {
		tabs[id] = true
	}
	for _, id := range s.cfg.Unread {
		tabs[id] = true // its row could not be read: nothing of it is touched (spec tabs T6.2)
	}
	for id, row := range m.Rows.Panes {
		if row.Closed == nil && isOpen(m, row) && row.Pane.Status != davit.PaneStarting {
			s.cfg.Chips.Pane(id, row.Pane.Directory) // an ended or lost pane is still somewhere
		}
		switch {
		case !tabs[row.Pane.Tab] || !s.inTree(m, row):
			s.later(func(ctx context.Context) { s.endPane(ctx, id, davit.Tab{ID: row.Pane.Tab}) })
		case row.Closed != nil: // it goes on, and is looked at when undo brings it back
		case row.Pane.Kind == keeper.PaneChat:
			s.restoreChat(row)
		case row.Pane.Status == davit.PaneStarting && row.Pane.Kind == keeper.PaneAgent:
			s.failPane(ctx, id, fmt.Errorf("davit stopped while this agent was being started; see its operation %s", row.Spec.OperationID))
		case row.Pane.Status == davit.PaneStarting && len(row.Spec.Secrets) > 0:
			s.failPane(ctx, id, fmt.Errorf("davit stopped while this pane was being started, and its secret values (%s) are kept nowhere: open it again", strings.Join(row.Spec.Secrets, ", ")))
		case row.Pane.Status == davit.PaneStarting:
			s.later(func(ctx context.Context) {
				if err := s.spawn(ctx, row, nil); err == nil {
					s.startup(id, row.Spec.ShellKind, row.Spec.Startup)
				}
			})
		case row.Pane.Status == davit.PaneRunning:
			s.startup(id, row.Spec.ShellKind, row.Spec.Startup)
		case row.Pane.Exit != nil && isOpen(m, row):
			s.later(func(ctx context.Context) { s.exited(ctx, id) })
		}
	}
	for _, row := range m.Cleanups {
		switch row.State {
		case store.CleanupRunning:
			s.resumeCleanup(row)
		case store.CleanupQueued, store.CleanupHeld:
			// The former host may have died while it ended the tab's programs: again, before
			// the cleanup's turn comes.
			s.later(func(ctx context.Context) {
				s.endForeground(ctx, row.Tab)
				s.poke()
			})
		}
	}
}

func isOpen(m host.Model, row store.PaneRow) bool {
	_, open := model.Tab(m.State, row.Pane.Tab)
	return open
}

// inTree says whether a pane is still part of its tab, open or closed.
func (s *Service) inTree(m host.Model, row store.PaneRow) bool {
	if row.Closed != nil {
		return true // undo keeps it
	}
	if slices.Contains(s.cfg.Unread, row.Pane.Tab) {
		return true
	}
	t, ok := model.Tab(m.State, row.Pane.Tab)
	if !ok {
		t = m.Rows.Closed[row.Pane.Tab].Tab
	}
	for _, id := range model.PanesOf(t) {
		if id == row.Pane.ID {
			return true
		}
	}
	return false
}
