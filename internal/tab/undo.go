package tab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
)

// Undo brings back what was closed: what the last act closed, what a batch names, or one
// tab. Before its first cleanup command has started a plan is given back; after that it
// stays taken, and terminals whose directory is gone go home (spec tabs T5.8).
func (s *Service) Undo(ctx context.Context, req wire.TabRef) (wire.TabBack, error) {
	u := undoing{s: s, req: req, now: s.cfg.Now(), taken: s.takeBack(req), gone: s.goneWorktrees(req)}
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		u.d, u.answer, u.ran, u.given = newDraft(m), wire.TabBack{Tabs: []davit.TabID{}, Notes: []string{}}, nil, nil
		if err := u.all(); err != nil {
			return host.Change{}, err
		}
		return u.d.change, nil
	})
	if err != nil {
		u.given = nil
	}
	for _, id := range u.taken {
		if !slices.Contains(u.given, id) {
			s.later(func(ctx context.Context) { s.requeue(ctx, id) })
		}
	}
	if err != nil {
		return wire.TabBack{}, err
	}
	for _, t := range u.ran {
		s.later(func(ctx context.Context) {
			s.forgetWorktree(ctx, t) // it may have gone since
			s.sendHome(ctx, t)
		})
	}
	s.poke()
	return u.answer, nil
}

// wanted gives the entries of the stack that a request means, tabs first, in the order in
// which they stood.
func wanted(m host.Model, req wire.TabRef, now time.Time) ([]davit.ClosedTab, error) {
	var live, list []davit.ClosedTab
	for _, e := range m.State.Closed {
		if e.Until.After(now) {
			live = append(live, e)
		}
	}
	if err := called(m, live, &req.Tab); err != nil {
		return nil, err
	}
	batch := req.Batch
	if batch == "" && req.Tab == "" && len(live) > 0 {
		batch = live[0].Batch
	}
	for _, e := range live {
		if e.Batch == batch || req.Tab != "" && e.Kind == "tab" && e.ID == req.Tab {
			list = append(list, e)
		}
	}
	if i := slices.IndexFunc(live, func(e davit.ClosedTab) bool { return e.ID == req.Tab }); len(list) == 0 && i >= 0 {
		list = append(list, live[i]) // the newest pane of an open tab
	}
	if len(list) == 0 {
		return nil, davit.Errorf(davit.CodeNothingToUndo, "nothing that was closed is kept%s", named(req)).
			WithHint("how long what was closed is kept is the setting %s", SettingUndo)
	}
	position := func(e davit.ClosedTab) int {
		if e.Kind == "pane" {
			return len(m.State.Tabs) + len(m.Rows.Closed) + 1
		}
		return m.Rows.Closed[e.ID].Closed.Position
	}
	slices.SortStableFunc(list, func(a, b davit.ClosedTab) int { return position(a) - position(b) })
	return list, nil
}

// called finds a closed tab by its title, or by the branch of its worktree, when no id is
// like that.
func called(m host.Model, live []davit.ClosedTab, name *davit.TabID) error {
	if *name == "" || slices.ContainsFunc(live, func(e davit.ClosedTab) bool { return e.ID == *name }) {
		return nil
	}
	var ids []davit.TabID
	for _, e := range live {
		w := m.Rows.Closed[e.ID].Tab.Worktree
		if e.Kind == "tab" && (e.Title == string(*name) || w != nil && w.Branch == string(*name)) {
			ids = append(ids, e.ID)
		}
	}
	switch len(ids) {
	case 0:
	case 1:
		*name = ids[0]
	default:
		return davit.Errorf(davit.CodeTabAmbiguous, "%d closed tabs are called %q", len(ids), *name).WithHint("use an id").With("candidates", ids)
	}
	return nil
}

func named(req wire.TabRef) string {
	if id := cmp.Or(string(req.Tab), req.Batch); id != "" {
		return " as " + id
	}
	return " any more"
}

// undoing is one undo, decided on the host loop.
type undoing struct {
	s     *Service
	req   wire.TabRef
	now   time.Time
	taken []string             // cleanups that were started and will not run: takeBack came first
	gone  map[davit.TabID]bool // whose worktree is gone

	d      *draft
	answer wire.TabBack
	ran    []davit.Tab // came back after their cleanup had begun
	given  []string    // of taken, those whose tab came back

	several bool // more than one thing comes back
}

func (u *undoing) all() error {
	list, err := wanted(u.d.m, u.req, u.now)
	if err != nil {
		return err
	}
	u.several = len(list) > 1
	for _, e := range list {
		if e.Kind == "pane" {
			err = u.pane(e.Pane)
		} else if _, open := model.Tab(u.d.m.State, e.ID); !open {
			err = u.tab(e.ID)
		}
		if err != nil {
			return err
		}
	}
	u.d.closed()
	for _, e := range list {
		u.d.tellClosed(e.Batch, u.now)
	}
	return nil
}

// tab brings one tab back into its place, and its group when that ended with it.
func (u *undoing) tab(id davit.TabID) error {
	row := u.d.m.Rows.Closed[id]
	t := row.Tab
	c, ok := u.d.m.Cleanups[row.Closed.CleanupID]
	begun := false
	if ok {
		taken := slices.Contains(u.taken, c.ID)
		if c.State == store.CleanupQueued || c.State == store.CleanupHeld || taken {
			c.State, c.Changed = store.CleanupGivenBack, u.now
			u.d.change.Batch.PutCleanups = append(u.d.change.Batch.PutCleanups, c)
			u.d.dropNotice(heldNoticeID(c.ID))
			plan := *t.OnClose
			plan.Ran = false
			t.OnClose = &plan
			if taken {
				u.given = append(u.given, c.ID)
			}
		} else {
			begun = true
		}
	}
	for _, note := range backNotes(row, c, begun, u.gone[id]) {
		if u.several {
			note = t.Title + ": " + note
		}
		u.answer.Notes = append(u.answer.Notes, note)
	}
	if u.gone[id] {
		t.Worktree = nil // neither it nor its branch is the tab's any more
	}
	if begun {
		u.ran = append(u.ran, t)
	}
	switch g, open := model.Group(u.d.m.State, t.Group); {
	case open && g.Collapsed:
		g.Collapsed = false // what came back is to be seen
		u.d.putGroup(g)
	case !open && row.Closed.Group != nil && row.Closed.Group.ID == t.Group:
		g = *row.Closed.Group
		g.Collapsed = false
		u.d.putGroup(g)
	case !open:
		t.Group = ""
	}
	err := u.d.insert(t, func(o layout.Order, p layout.Tab) (layout.Order, error) {
		return o.InsertAt(row.Closed.Position, p)
	})
	if err != nil {
		return err
	}
	for _, pid := range model.PanesOf(t) {
		u.show(pid, t.ID)
	}
	u.answer.Tab = cmp.Or(u.answer.Tab, t.ID)
	u.answer.Tabs = append(u.answer.Tabs, t.ID)
	return nil
}

// show brings a pane back into view, as its live fold knows it.
func (u *undoing) show(id davit.PaneID, tab davit.TabID) {
	p := u.d.m.Rows.Panes[id].Pane
	if p.ID == "" {
		p = davit.Pane{ID: id, Tab: tab, Status: davit.PaneFailed, Fault: "what was in this pane could not be brought back"}
	}
	if live, err := u.s.cfg.Panes.Get(id); err == nil {
		p = host.WithView(p, live.View())
	}
	u.d.add(davit.Event{Kind: davit.EventPane, Pane: &p})
}

// pane brings one pane back: into exactly its place when the tree is as the close left it,
// else beside its old neighbour, else at the right end of the tab. A tab that was closed
// since comes back with it.
func (u *undoing) pane(id davit.PaneID) error {
	row := u.d.m.Rows.Panes[id]
	c := row.Closed
	t, open := model.Tab(u.d.m.State, row.Pane.Tab)
	if !open {
		if _, kept := u.d.m.Rows.Closed[row.Pane.Tab]; !kept {
			return davit.Errorf(davit.CodeNothingToUndo, "the tab of pane %s is gone", id)
		}
		if err := u.tab(row.Pane.Tab); err != nil {
			return err
		}
		t, _ = model.Tab(u.d.m.State, row.Pane.Tab)
	}
	tree, err := treeWith(t, id, *c)
	if err != nil {
		return davit.Errorf(davit.CodeInternal, "the pane %s has no place in its tab: %w", id, err)
	}
	t.Tree, t.Focused = &tree, id
	u.d.putTab(t)
	u.show(id, t.ID)
	row.Closed = nil
	row.Pane = u.d.m.State.Panes[id]
	u.d.change.Batch.PutPanes = append(u.d.change.Batch.PutPanes, row)
	u.answer.Tab, u.answer.Pane = cmp.Or(u.answer.Tab, t.ID), id
	return nil
}

func treeWith(t davit.Tab, id davit.PaneID, c store.PaneClosing) (davit.Split, error) {
	if t.Tree == nil {
		return davit.Split{Pane: id}, nil
	}
	if reflect.DeepEqual(*t.Tree, c.Left) {
		return c.Tree, nil
	}
	if slices.Contains(model.PanesOf(t), c.Beside) {
		return layout.Insert(*t.Tree, c.Beside, layout.Side(c.Side), id)
	}
	last := model.PanesOf(t)
	return layout.Insert(*t.Tree, last[len(last)-1], layout.Right, id)
}

// takeBack takes the plans of started cleanups back whose first command has not begun:
// whoever makes the steps file first has it, this host or cleanup-run (spec tabs T5.8).
func (s *Service) takeBack(req wire.TabRef) []string {
	m := s.cfg.Host.Model()
	list, _ := wanted(m, req, s.cfg.Now())
	var taken []string
	for _, e := range list {
		row, ok := m.Rows.Closed[e.ID]
		if !ok {
			continue
		}
		c, ok := m.Cleanups[row.Closed.CleanupID]
		if !ok || c.State != store.CleanupRunning {
			continue
		}
		ours, err := cleanup.TakeBack(s.cfg.Home.State, c.ID)
		if ours {
			taken = append(taken, c.ID)
		}
		if err != nil {
			s.cfg.Log.Warn("taking a cleanup back", "cleanup", c.ID, "taken", ours, "err", err)
		}
	}
	return taken
}

// goneWorktrees looks which of the tabs that come back have lost their worktree.
func (s *Service) goneWorktrees(req wire.TabRef) map[davit.TabID]bool {
	m, gone := s.cfg.Host.Model(), map[davit.TabID]bool{}
	list, _ := wanted(m, req, s.cfg.Now())
	for _, e := range list {
		if row, ok := m.Rows.Closed[e.ID]; ok {
			gone[e.ID] = goneWorktree(row.Tab)
		}
	}
	return gone
}

// requeue queues a cleanup anew that was taken back for an undo which did not come about.
func (s *Service) requeue(ctx context.Context, id string) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		old, ok := m.Cleanups[id]
		if !ok || old.State != store.CleanupRunning {
			return host.Change{}, nil
		}
		return s.again(m, old), nil
	})
	if err != nil && ctx.Err() == nil { // the next host finds the row and the steps
		s.cfg.Log.Error("a cleanup that was taken back could not be queued again", "cleanup", id, "err", err)
	}
	s.poke()
}

// again queues a cleanup once more: a row, a folder and a process of its own, so that the
// record of the first stays.
func (s *Service) again(m host.Model, old store.CleanupRow) host.Change {
	again := old
	again.ID, again.State, again.Steps, again.Pane = "c_"+randomHex(8), store.CleanupQueued, nil, ""
	again.Created, again.Changed = s.cfg.Now(), s.cfg.Now()
	old.State = store.CleanupMerged
	d := newDraft(m)
	d.change.Batch.PutCleanups = []store.CleanupRow{old, again}
	if row, closed := m.Rows.Closed[old.Tab]; closed && row.Closed.CleanupID == old.ID {
		c := *row.Closed
		c.CleanupID = again.ID
		row.Closed = &c
		d.change.Batch.PutTabs = []store.TabRow{row}
		d.closed()
	}
	return d.change
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
			continue
		}
		if err := live.Note(ctx, fmt.Sprintf("moved to home: %s is gone", p.Directory)); err != nil && ctx.Err() == nil {
			s.cfg.Log.Info("that a shell was sent home is not told", "pane", id, "err", err)
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
		change := s.again(m, old)
		change.Events = append(change.Events, davit.Event{Kind: davit.EventNoticeRemoved, NoticeID: failureNotice(old, cleanup.Report{}, "").ID})
		return change, nil
	})
}
