package tab

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/pane"
	"davit/internal/setup"
	"davit/internal/store"
)

// PaneEvent hears what happens in panes (host.PaneWatcher).
func (s *Service) PaneEvent(id davit.PaneID, e pane.Event) {
	switch e.Kind {
	case pane.EventDirectory:
		if !e.Remote {
			s.cfg.Chips.Pane(id, e.Text)
		}
	case pane.EventCommandFinished:
		if e.Block != nil {
			s.cfg.Chips.Command(id, e.Block.Command)
		}
	case pane.EventExit:
		s.later(func(ctx context.Context) { s.exited(ctx, id) })
	}
}

// exited applies what a pane does when its program has ended: a shell pane closes on exit
// 0, else stays with its status; an agent's pane stays; the config may say otherwise
// (spec terminal P3.6). An end by a signal keeps the pane whatever is set (tabs T5.2).
func (s *Service) exited(ctx context.Context, id davit.PaneID) {
	p, ok := s.cfg.Host.State().Panes[id]
	if !ok || p.Exit == nil || p.Exit.Signal != "" {
		return
	}
	if p.Kind == keeper.PaneSetup {
		s.setupDone(ctx, id)
		return
	}
	byDefault := "keep"
	if p.Kind == keeper.PaneShell && p.Exit.Code == 0 {
		byDefault = "close"
	}
	switch cmp.Or(p.OnExit, byDefault) {
	case "close":
		if err := s.ClosePane(ctx, id, true, ReasonExited); err != nil {
			s.cfg.Log.Info("an ended pane was not closed", "pane", id, "err", err)
		}
	case "restart":
		s.restartLater(ctx, p)
	}
}

// notePane says something in a pane's own place.
func (s *Service) notePane(ctx context.Context, id davit.PaneID, note string) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		v, ok := m.State.Panes[id]
		if !ok {
			return host.Change{}, nil
		}
		v.Note = note
		return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}}}, nil
	})
	if err != nil {
		s.cfg.Log.Warn("a pane's note was not stored", "pane", id, "note", note, "err", err)
	}
}

// expire ends the programs of what undo keeps no longer, and says how long to wait for the
// next (spec tabs T6.1).
func (s *Service) expire(ctx context.Context) time.Duration {
	now, next := s.cfg.Now(), time.Hour
	m := s.cfg.Host.Model()
	for id, row := range m.Rows.Closed {
		if left := row.Closed.Until.Sub(now); left > 0 {
			next = min(next, left)
			continue
		}
		if c, ok := m.Cleanups[row.Closed.CleanupID]; ok && (c.State == store.CleanupQueued || c.State == store.CleanupRunning) {
			next = min(next, time.Second) // its turn comes first
			continue
		}
		s.letGoOf(ctx, batchOf(row), func(d *draft) []davit.PaneID {
			if row, kept := d.m.Rows.Closed[id]; !kept || row.Closed.Until.After(now) {
				return nil
			}
			d.change.Batch.DeleteTabs = []davit.TabID{id}
			return panesOfTab(d.m, id)
		})
	}
	for id, row := range m.Rows.Panes {
		if row.Closed == nil {
			continue
		}
		if left := row.Closed.Until.Sub(now); left > 0 {
			next = min(next, left)
			continue
		}
		s.letGoOf(ctx, row.Closed.Batch, func(d *draft) []davit.PaneID {
			row := d.m.Rows.Panes[id]
			if row.Closed == nil || row.Closed.Until.After(now) {
				return nil
			}
			return []davit.PaneID{id}
		})
	}
	for _, n := range m.State.Notices {
		if n.Until == nil || n.Persistent {
			continue
		}
		if left := n.Until.Sub(now); left > 0 {
			next = min(next, left)
		} else {
			s.dismiss(ctx, n.ID)
		}
	}
	return max(next, 10*time.Millisecond)
}

// panesOfTab lists the panes of a tab by their rows: those that undo keeps by themselves
// too, and those that a host which died had not ended yet.
func panesOfTab(m host.Model, id davit.TabID) []davit.PaneID {
	var ids []davit.PaneID
	for pid, row := range m.Rows.Panes {
		if row.Pane.Tab == id {
			ids = append(ids, pid)
		}
	}
	return ids
}

// letGoOf takes something off the stack for good, then ends its panes' programs. Until
// those have ended their rows stay, without a place on the stack, so that a host that dies
// in between goes on with them.
func (s *Service) letGoOf(ctx context.Context, batch string, pick func(*draft) []davit.PaneID) {
	var gone []davit.PaneID
	err := s.decide(ctx, func(d *draft) error {
		gone = pick(d)
		for _, id := range gone {
			if row := d.m.Rows.Panes[id]; row.Closed != nil {
				row.Closed = nil
				d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
			}
		}
		d.closed()
		d.tellClosed(batch, s.cfg.Now())
		return nil
	})
	if err != nil {
		s.cfg.Log.Error("what was closed could not be let go", "batch", batch, "err", err)
		return
	}
	for _, id := range gone {
		s.later(func(ctx context.Context) {
			s.endPane(ctx, id, davit.Tab{ID: s.cfg.Host.Model().Rows.Panes[id].Pane.Tab})
		})
	}
}

// endPane ends every process of a pane (spec terminal P5.1), then forgets it: keeper's
// row and log, checkpoint, and our own row, in this order, each repeatable.
//
// A chat pane's processes are its session's, which stays, resumable (spec session S1.8).
func (s *Service) endPane(ctx context.Context, id davit.PaneID, t davit.Tab) {
	if p := s.cfg.Host.Model().Rows.Panes[id].Pane; p.Kind == keeper.PaneChat {
		if err := s.cfg.Chats.EndPane(ctx, id); err != nil {
			if ctx.Err() == nil { // it is tried again at the next start
				s.noticeChat(ctx, t, p, err)
			}
			return
		}
		s.cfg.Chips.Gone(id)
		s.removeRow(ctx, id)
		return
	}
	if client, linked := s.cfg.Panes.Linked(); linked {
		report, err := client.Close(ctx, "close-"+string(id), string(id), keeper.CloseOptions{})
		if err != nil && davit.CodeOf(err) != davit.CodePaneNotFound && davit.CodeOf(err) != davit.CodePaneEnded {
			if ctx.Err() == nil {
				s.cfg.Log.Warn("a pane could not be ended; it is tried again at the next start", "pane", id, "err", err)
			}
			return
		}
		if len(report.Kept)+len(report.Remaining) > 0 {
			s.noticeRemaining(ctx, t, append(report.Kept, report.Remaining...))
		}
	}
	s.cfg.Panes.Stop(id)
	s.cfg.Chips.Gone(id)
	if client, linked := s.cfg.Panes.Linked(); linked {
		if err := client.Forget(ctx, string(id)); err != nil && davit.CodeOf(err) != davit.CodePaneNotFound {
			s.cfg.Log.Warn("the keeper did not forget a pane", "pane", id, "err", err)
			return
		}
	}
	s.removeFiles(id)
	s.removeRow(ctx, id)
}

func (s *Service) removeRow(ctx context.Context, id davit.PaneID) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		change := host.Change{Batch: store.Batch{DeletePanes: []davit.PaneID{id}}}
		if _, shown := m.State.Panes[id]; shown {
			change.Events = []davit.Event{{Kind: davit.EventPaneRemoved, PaneID: id}}
		}
		return change, nil
	})
	if err != nil {
		s.cfg.Log.Warn("a pane's row could not be removed", "pane", id, "err", err)
	}
}

// removeFiles removes the checkpoint, by name, and the pane's folder when it is empty.
func (s *Service) removeFiles(id davit.PaneID) {
	dir := filepath.Join(s.cfg.Home.Panes(), string(id))
	for _, path := range []string{filepath.Join(dir, "checkpoint"), dir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.cfg.Log.Debug("a file of a closed pane stays", "path", path, "err", err)
		}
	}
	if err := setup.Forget(s.cfg.Home.State, id); err != nil {
		s.cfg.Log.Debug("a file of a closed pane's setup stays", "pane", id, "err", err)
	}
}
