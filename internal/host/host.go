// Package host is the single writer of a davit host's model: one goroutine takes changes
// from a mailbox, makes them durable, applies them and tells everyone.
//
//	API, tabs, launches, panes ──Change(decide)──► mailbox (256, blocks when full)
//	                                                  │  decide(model) → events + rows
//	                                                  │  store.Commit(rows)      durable first
//	                                                  │  model.Apply(events)
//	                                                  ▼  feed.Publish(events)    then told
//	                                               answer
//
// decide runs on the loop and must not block or do I/O: it takes the model as a value and
// gives a Change back. Whoever wants an effect on the world makes it after its Change was
// answered, and reports with another Change (STYLE 11).
//
// Changes that are volatile (a program's title, chips) are told at once and made durable
// within a second, or with the next durable change.
package host

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/model"
	"davit/internal/store"
)

// Store is what the loop needs of the database.
type Store interface {
	Commit(ctx context.Context, b store.Batch) error
}

// Publisher hears every event once it is durable (or volatile) and applied. It must not
// block.
type Publisher interface {
	Publish(davit.Event)
}

// Config is what a Host is made of.
type Config struct {
	HostID davit.HostID
	Store  Store
	Feed   Publisher
	Now    func() time.Time
	Log    *slog.Logger
}

// Model is everything the loop owns. A decide function gets it by value and must treat
// maps and slices in it as constant.
type Model struct {
	davit.State
	Rows
}

// Rows are the durable facts behind the state that clients do not see whole.
type Rows struct {
	Panes     map[davit.PaneID]store.PaneRow
	Closed    map[davit.TabID]store.TabRow // what undo can bring back
	Cleanups  map[string]store.CleanupRow
	Worktrees map[string]store.WorktreeRow // by path
}

// Change is what a decision asks for. Rows that follow from events (tabs, panes,
// notices, order) are added by the loop; Batch is for everything else.
type Change struct {
	Events   []davit.Event
	Batch    store.Batch
	Volatile bool // nothing is lost that matters if the host dies within a second
}

// Decide looks at the model and says what changes. An error changes nothing.
type Decide func(Model) (Change, error)

// Host is the loop. Make it with New, run it with Run.
type Host struct {
	cfg     Config
	mailbox chan request // bounded; senders block when it is full
	state   atomic.Pointer[Model]
	stopped chan struct{}

	// owned by the loop
	pending store.Batch // volatile rows that await a commit
	dirty   bool
}

type request struct {
	decide Decide
	answer chan error // capacity 1: exactly one answer each (STYLE 10)
}

// ErrStopped is the answer to a change that comes when the loop has ended.
var ErrStopped = &davit.Error{Code: davit.CodeShuttingDown, Message: "the host is stopping", Hint: "ask again when it is back"}

// New makes a host with the model that was loaded.
func New(cfg Config, loaded Model) *Host {
	if loaded.State.Panes == nil {
		loaded.State.Panes = map[davit.PaneID]davit.Pane{}
	}
	if loaded.Chips == nil {
		loaded.Chips = map[davit.PaneID][]davit.Chip{}
	}
	if loaded.Rows.Panes == nil {
		loaded.Rows.Panes = map[davit.PaneID]store.PaneRow{}
	}
	if loaded.Rows.Closed == nil {
		loaded.Rows.Closed = map[davit.TabID]store.TabRow{}
	}
	if loaded.Cleanups == nil {
		loaded.Cleanups = map[string]store.CleanupRow{}
	}
	if loaded.Worktrees == nil {
		loaded.Worktrees = map[string]store.WorktreeRow{}
	}
	loaded.HostID = cfg.HostID
	h := &Host{cfg: cfg, mailbox: make(chan request, 256), stopped: make(chan struct{})}
	h.state.Store(&loaded)
	return h
}

// Model gives the current model. It is a value to read, never to change.
func (h *Host) Model() Model { return *h.state.Load() }

// State gives what clients see.
func (h *Host) State() davit.State { return h.state.Load().State }

// Change has the loop decide and carry a change out. It returns when the change is
// durable and told, or when decide refused. Once the loop has taken it the change
// happens whether or not ctx ends.
func (h *Host) Change(ctx context.Context, decide Decide) error {
	r := request{decide: decide, answer: make(chan error, 1)}
	select {
	case h.mailbox <- r:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.stopped:
		return ErrStopped
	}
	select {
	case err := <-r.answer:
		return err
	case <-h.stopped:
		select {
		case err := <-r.answer: // it was answered in the loop's last round
			return err
		default:
			return ErrStopped
		}
	}
}

// flushAfter is how long a volatile change may wait for its row.
const flushAfter = time.Second

// Run is the loop. It returns after ctx has ended and what was pending is durable.
func (h *Host) Run(ctx context.Context) error {
	defer close(h.stopped)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case r := <-h.mailbox:
			r.answer <- h.handle(r.decide)
			if h.dirty && timer.Stop() || h.dirty {
				timer.Reset(flushAfter)
			}
		case <-timer.C:
			h.flush()
		case <-ctx.Done():
			h.drain()
			h.flush()
			return nil
		}
	}
}

// drain carries out what had been taken into the mailbox when the host was told to stop.
func (h *Host) drain() {
	for {
		select {
		case r := <-h.mailbox:
			r.answer <- h.handle(r.decide)
		default:
			return
		}
	}
}

func (h *Host) handle(decide Decide) (err error) {
	defer func() {
		if p := recover(); p != nil {
			h.cfg.Log.Error("a decision panicked; nothing of it was applied", "panic", p)
			err = davit.Errorf(davit.CodeInternal, "davit made a mistake while it decided: %v", p)
		}
	}()
	m := h.Model()
	change, err := decide(m)
	if err != nil || (len(change.Events) == 0 && isEmpty(change.Batch)) {
		return err
	}
	next := m
	for i := range change.Events {
		e := &change.Events[i]
		e.Seq, e.HostID, e.At = next.Seq+1, h.cfg.HostID, h.cfg.Now()
		next.State = model.Apply(next.State, *e)
	}
	batch := change.Batch
	deriveRows(&batch, m, next.State, change.Events)
	if change.Volatile {
		h.pending, h.dirty = merge(h.pending, batch), true
	} else if err := h.commit(merge(h.pending, batch)); err != nil {
		return err
	}
	next.Rows = applyRows(next.Rows, batch)
	h.state.Store(&next)
	for _, e := range change.Events {
		h.cfg.Feed.Publish(e)
	}
	return nil
}

// commit writes with a context of its own: a change that was decided is not half
// abandoned because the host is told to stop.
func (h *Host) commit(b store.Batch) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 30*time.Second, errors.New("the store did not answer within 30 s"))
	defer cancel()
	if err := h.cfg.Store.Commit(ctx, b); err != nil {
		h.cfg.Log.Error("the store refused a change; nothing of it was applied", "err", err)
		return davit.Errorf(davit.CodeInternal, "the change could not be stored: %w", err).WithHint("check that the disk of the state directory has room and can be written")
	}
	h.pending, h.dirty = store.Batch{}, false
	return nil
}

func (h *Host) flush() {
	if !h.dirty {
		return
	}
	if err := h.commit(h.pending); err != nil {
		h.cfg.Log.Warn("volatile state stays unsaved for now", "err", err)
	}
}

// deriveRows adds the rows that follow from events. Positions are those of the state
// after the change.
func deriveRows(b *store.Batch, before Model, after davit.State, events []davit.Event) {
	orderChanged := false
	for _, e := range events {
		switch e.Kind {
		case davit.EventTab:
			if !slices.ContainsFunc(b.PutTabs, func(r store.TabRow) bool { return r.Tab.ID == e.Tab.ID }) {
				b.PutTabs = append(b.PutTabs, store.TabRow{Tab: *e.Tab, Position: slices.Index(model.Order(after), e.Tab.ID)})
			}
			if _, known := model.Tab(before.State, e.Tab.ID); !known {
				orderChanged = true
			}
		case davit.EventTabRemoved:
			orderChanged = true
			if !slices.ContainsFunc(b.PutTabs, func(r store.TabRow) bool { return r.Tab.ID == e.TabID }) {
				b.DeleteTabs = append(b.DeleteTabs, e.TabID)
			}
		case davit.EventTabOrder:
			orderChanged = true
		case davit.EventPane:
			if slices.ContainsFunc(b.PutPanes, func(r store.PaneRow) bool { return r.Pane.ID == e.Pane.ID }) {
				continue
			}
			row := before.Rows.Panes[e.Pane.ID]
			row.Pane = *e.Pane
			b.PutPanes = append(b.PutPanes, row)
		case davit.EventPaneRemoved:
			if !slices.ContainsFunc(b.PutPanes, func(r store.PaneRow) bool { return r.Pane.ID == e.PaneID }) {
				b.DeletePanes = append(b.DeletePanes, e.PaneID)
			}
		case davit.EventNotice:
			b.PutNotices = append(b.PutNotices, *e.Notice)
		case davit.EventNoticeRemoved:
			b.DeleteNotices = append(b.DeleteNotices, e.NoticeID)
		}
	}
	if orderChanged {
		b.Order = model.Order(after)
	}
}

// applyRows keeps the loop's view of the durable facts in step with what was committed.
func applyRows(r Rows, b store.Batch) Rows {
	if len(b.PutPanes)+len(b.DeletePanes) > 0 {
		r.Panes = maps.Clone(r.Panes)
		for _, row := range b.PutPanes {
			r.Panes[row.Pane.ID] = row
		}
		for _, id := range b.DeletePanes {
			delete(r.Panes, id)
		}
	}
	if len(b.PutTabs)+len(b.DeleteTabs) > 0 {
		r.Closed = maps.Clone(r.Closed)
		for _, row := range b.PutTabs {
			if row.Closed != nil {
				r.Closed[row.Tab.ID] = row
			} else {
				delete(r.Closed, row.Tab.ID)
			}
		}
		for _, id := range b.DeleteTabs {
			delete(r.Closed, id)
		}
	}
	if len(b.PutCleanups) > 0 {
		r.Cleanups = maps.Clone(r.Cleanups)
		for _, row := range b.PutCleanups {
			r.Cleanups[row.ID] = row
		}
	}
	if len(b.PutWorktrees)+len(b.DeleteWorktrees) > 0 {
		r.Worktrees = maps.Clone(r.Worktrees)
		for _, row := range b.PutWorktrees {
			r.Worktrees[row.Worktree.Path] = row
		}
		for _, id := range b.DeleteWorktrees {
			maps.DeleteFunc(r.Worktrees, func(_ string, row store.WorktreeRow) bool { return row.ID == id })
		}
	}
	return r
}
