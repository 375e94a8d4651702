package host

import (
	"context"
	"errors"
	"strconv"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/pane"
	"davit/internal/store"
)

// adopt matches the stored terminals with what the keeper holds, and serves each: a running
// or ended one from the keeper's log, one that no keeper holds from its checkpoint alone.
// Spawns that are still owed are left to the Watcher's owner (tab.Restore), which can
// rebuild what a row may not hold.
func (p *Panes) adopt(ctx context.Context, l *link) error {
	held := map[davit.PaneID]keeper.PaneInfo{}
	boot := ""
	if l != nil {
		infos, err := l.client.List(ctx)
		if err != nil {
			l.client.Disconnect()
			return err
		}
		for _, info := range infos {
			held[davit.PaneID(info.Pane)] = info
		}
		boot = l.boot
	}
	p.mu.Lock()
	p.link = l
	p.mu.Unlock()
	var faults []error
	var lost []store.PaneRow
	for id, row := range p.cfg.Host.Model().Rows.Panes {
		if row.Pane.Kind == keeper.PaneChat {
			continue // its processes are its session's
		}
		info, there := held[id]
		if there && row.Pane.Status == davit.PaneStarting && info.Labels[StartLabel] != StartOf(row) {
			continue // it holds the former program; the start anew is owed
		}
		view := row.Pane
		switch {
		case there:
			view = fromKeeper(view, info)
		case view.Status == davit.PaneRunning:
			view.Status, view.Running, view.Command = davit.PaneLost, false, ""
			view.Note = "its keeper is gone, and the program with it as far as davit can tell"
		}
		if !there && view.Status == davit.PaneLost {
			lost = append(lost, row)
		}
		if !there && view.Status == davit.PaneStarting && (row.KeeperBoot == "" || row.KeeperBoot == boot) {
			continue // its spawn is owed
		}
		row.Pane = view
		if there {
			row.KeeperBoot = boot
		}
		if err := p.cfg.Host.Change(ctx, func(m Model) (Change, error) {
			row.Checkpoint, row.EffectsThrough = m.Rows.Panes[id].Checkpoint, m.Rows.Panes[id].EffectsThrough
			change := Change{Batch: store.Batch{PutPanes: []store.PaneRow{row}}}
			if _, shown := m.State.Panes[id]; shown { // else undo keeps it
				change.Events = []davit.Event{{Kind: davit.EventPane, Pane: &view}}
			}
			return change, nil
		}); err != nil {
			faults = append(faults, err)
		}
		k := pane.FromDisk(p.cfg.Dir)
		if there {
			k = l.keeper
		}
		if err := p.serveRow(row, k, true); err != nil {
			faults = append(faults, err)
		}
	}
	if len(lost) > 0 && p.cfg.Lost != nil {
		p.cfg.Lost(lost)
	}
	return errors.Join(faults...)
}

// StartLabel tells the keeper which start of a pane's program this is, as StartOf says it.
const StartLabel = "start"

// BaseLabel tells the keeper at which offset of the pane this start's log begins, so that a
// pane whose row was lost can be read on.
const BaseLabel = "logBase"

// StartOf names a start: "" for the first.
func StartOf(row store.PaneRow) string {
	if row.Spec.Starts == 0 {
		return ""
	}
	return strconv.Itoa(row.Spec.Starts)
}

// fromKeeper brings a stored pane up to what the keeper says of it.
func fromKeeper(v davit.Pane, info keeper.PaneInfo) davit.Pane {
	v.Pid = info.Pid
	if info.Cols > 0 {
		v.Cols, v.Rows = info.Cols, info.Rows
	}
	if info.Exit == nil {
		v.Status = davit.PaneRunning
		return v
	}
	v.Status, v.Running, v.Command = davit.PaneEnded, false, ""
	exit := pane.ExitOf(*info.Exit)
	v.Exit = &exit
	return v
}

// coalesce is how often at most the model hears of a pane's volatile changes (spec chips
// C2.4: redraws are coalesced over 50 ms).
const coalesce = 50 * time.Millisecond

// heard brings the model up to the pane's view and passes the event on. It runs on the
// pane's event goroutine: while it waits, later events of the pane queue up and find the
// newest view already told.
func (p *Panes) heard(lp *livePane, id davit.PaneID, e pane.Event) {
	urgent := e.Kind == pane.EventExit || e.Kind == pane.EventLost || e.Kind == pane.EventDirectory || e.Kind == pane.EventPromptReady
	if wait := coalesce - time.Since(lp.told); wait > 0 && !urgent {
		select {
		case <-time.After(wait):
		case <-p.ctx.Done():
			return
		}
	}
	lp.told = time.Now()
	view := lp.pane.View()
	err := p.cfg.Host.Change(p.ctx, func(m Model) (Change, error) {
		v, ok := m.State.Panes[id]
		if !ok {
			return Change{}, nil
		}
		next := WithView(v, view)
		if same(v, next) {
			return Change{}, nil
		}
		return Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &next}}, Volatile: e.Kind != pane.EventExit && e.Kind != pane.EventLost}, nil
	})
	if err != nil && !errors.Is(err, ErrStopped) && p.ctx.Err() == nil {
		p.cfg.Log.Warn("a pane's change was not stored", "pane", id, "err", err)
	}
	if p.cfg.Watcher != nil {
		p.cfg.Watcher.PaneEvent(id, e)
	}
}

// WithView takes over what the fold of a pane's log knows better than the model.
func WithView(v, view davit.Pane) davit.Pane {
	v.Title, v.Directory, v.Command, v.Running = view.Title, view.Directory, view.Command, view.Running
	v.Status, v.Exit, v.Cols, v.Rows, v.Offset = view.Status, view.Exit, view.Cols, view.Rows, view.Offset
	v.Note, v.Fault = view.Note, view.Fault
	return v
}

func same(a, b davit.Pane) bool {
	return a.Title == b.Title && a.Directory == b.Directory && a.Command == b.Command && a.Running == b.Running &&
		a.Status == b.Status && (a.Exit == nil) == (b.Exit == nil) && a.Cols == b.Cols && a.Rows == b.Rows &&
		a.Note == b.Note && a.Fault == b.Fault
}

func (p *Panes) tell(id davit.PaneID, edit func(*davit.Pane)) {
	_ = p.cfg.Host.Change(p.ctx, func(m Model) (Change, error) {
		v, ok := m.State.Panes[id]
		if !ok {
			return Change{}, nil
		}
		edit(&v)
		return Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}}, Volatile: true}, nil
	})
}
