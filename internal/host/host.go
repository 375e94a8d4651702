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
	Openings  map[string]store.OpeningRow
	// Unread are the ids of tabs and panes whose stored rows could not be read. What stands
	// in for one is not stored: its row stays as it is until a batch of a decision puts or
	// deletes it by name (spec tabs T6.2).
	Unread map[string]bool
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
	if loaded.Openings == nil {
		loaded.Openings = map[string]store.OpeningRow{}
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

// deriveRows adds the rows that follow from events. They hold what the state after the
// change holds, positions too, whatever came between.
func deriveRows(b *store.Batch, before Model, after davit.State, events []davit.Event) {
	d := derived{b: b, before: before, after: after}
	for _, e := range events {
		switch e.Kind {
		case davit.EventTab:
			d.tab(e.Tab.ID)
		case davit.EventTabRemoved:
			d.tab(e.TabID)
		case davit.EventTabOrder:
			d.order = true
		case davit.EventPane:
			d.pane(e.Pane.ID)
		case davit.EventPaneRemoved:
			d.pane(e.PaneID)
		case davit.EventNotice:
			d.notice(e.Notice.ID)
		case davit.EventNoticeRemoved:
			d.notice(e.NoticeID)
		case davit.EventGroup:
			d.group(e.Group.ID)
		case davit.EventGroupRemoved:
			d.group(e.GroupID)
		}
	}
	if d.order {
		b.Order = model.Order(after)
	}
}

type derived struct {
	b      *store.Batch
	before Model
	after  davit.State
	order  bool // it changed
}

func (d *derived) tab(id davit.TabID) {
	at := slices.IndexFunc(d.b.PutTabs, func(r store.TabRow) bool { return r.Tab.ID == id })
	t, open := model.Tab(d.after, id)
	if _, was := model.Tab(d.before.State, id); was != open {
		d.order = true
	}
	switch row := (store.TabRow{Tab: t, Position: slices.Index(model.Order(d.after), id)}); {
	case open && at >= 0:
		d.b.PutTabs[at] = row
	case open && d.before.Unread[string(id)]: // a stand-in
	case open:
		d.b.PutTabs = append(d.b.PutTabs, row)
	case at < 0 && !slices.Contains(d.b.DeleteTabs, id): // else it is put as a closed one
		d.b.DeleteTabs = append(d.b.DeleteTabs, id)
	}
}

func (d *derived) pane(id davit.PaneID) {
	at := slices.IndexFunc(d.b.PutPanes, func(r store.PaneRow) bool { return r.Pane.ID == id })
	p, shown := d.after.Panes[id]
	switch {
	case shown && at >= 0:
		d.b.PutPanes[at].Pane = p
	case shown && d.before.Unread[string(id)]: // a stand-in
	case shown:
		row := d.before.Rows.Panes[id]
		row.Pane = p
		d.b.PutPanes = append(d.b.PutPanes, row)
	case at < 0 && !slices.Contains(d.b.DeletePanes, id):
		d.b.DeletePanes = append(d.b.DeletePanes, id)
	}
}

func (d *derived) notice(id string) {
	d.b.PutNotices = slices.DeleteFunc(d.b.PutNotices, func(n davit.Notice) bool { return n.ID == id })
	if n, ok := model.Notice(d.after, id); ok {
		d.b.PutNotices = append(d.b.PutNotices, n)
	} else if !slices.Contains(d.b.DeleteNotices, id) {
		d.b.DeleteNotices = append(d.b.DeleteNotices, id)
	}
}

func (d *derived) group(id davit.GroupID) {
	d.b.PutGroups = slices.DeleteFunc(d.b.PutGroups, func(g davit.Group) bool { return g.ID == id })
	if g, ok := model.Group(d.after, id); ok {
		d.b.PutGroups = append(d.b.PutGroups, g)
	} else if !slices.Contains(d.b.DeleteGroups, id) {
		d.b.DeleteGroups = append(d.b.DeleteGroups, id)
	}
}

// With gives the rows as they are once the batch is stored.
func (r Rows) With(b store.Batch) Rows { return applyRows(r, b) }

// applyRows keeps the loop's view of the durable facts in step with what was committed.
func applyRows(r Rows, b store.Batch) Rows {
	if len(r.Unread) > 0 {
		r.Unread = stillUnread(r.Unread, b)
	}
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
	if len(b.PutOpenings)+len(b.DeleteOpenings) > 0 {
		r.Openings = maps.Clone(r.Openings)
		for _, row := range b.PutOpenings {
			r.Openings[row.ID] = row
		}
		for _, id := range b.DeleteOpenings {
			delete(r.Openings, id)
		}
	}
	if len(b.PutCleanups)+len(b.DeleteCleanups) > 0 {
		r.Cleanups = maps.Clone(r.Cleanups)
		for _, id := range b.DeleteCleanups {
			delete(r.Cleanups, id)
		}
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

func stillUnread(ids map[string]bool, b store.Batch) map[string]bool {
	ids = maps.Clone(ids)
	for _, row := range b.PutTabs {
		delete(ids, string(row.Tab.ID))
	}
	for _, id := range b.DeleteTabs {
		delete(ids, string(id))
	}
	for _, row := range b.PutPanes {
		delete(ids, string(row.Pane.ID))
	}
	for _, id := range b.DeletePanes {
		delete(ids, string(id))
	}
	return ids
}
