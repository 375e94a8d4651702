package tab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/git"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"

	"golang.org/x/sync/errgroup"
)

// Reason says why a tab closes: a user's wish, or its last program's plain end.
type Reason string

// The reasons. Both run the close plan (spec tabs T5.2); nothing else closes a tab.
const (
	ReasonUser   Reason = "user"
	ReasonExited Reason = "exited"
)

// Close closes tabs: the ids are fixed, warnings come first, then one transaction takes
// the plans and removes the tabs, and the answer is given. All else happens afterwards
// (spec tabs T5.3).
func (s *Service) Close(ctx context.Context, req wire.TabClose, reason Reason) (wire.TabClosed, error) {
	ids, err := selected(s.cfg.Host.Model(), req)
	if err != nil {
		return wire.TabClosed{}, err
	}
	closed := wire.TabClosed{Closed: ids, Undo: s.cfg.Now(), Going: []wire.WorktreeGoing{}, Cleanups: []wire.CleanupAhead{}}
	if len(ids) == 0 {
		return closed, nil
	}
	closed.Going = s.going(ctx, ids)
	if !req.Yes && reason == ReasonUser {
		if err := s.warnings(ctx, ids); err != nil {
			return wire.TabClosed{}, withDeletions(withGoing(err, closed.Going), s.cfg.Host.State(), ids)
		}
	}
	b := burial{at: s.cfg.Now(), batch: newBatch(), places: s.places(ids), going: closed.Going}
	b.until = b.at.Add(s.undoTime())
	var planned []davit.TabID
	err = s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		d := newDraft(m)
		planned, err = d.bury(b, ids)
		return d.change, err
	})
	if err != nil {
		return wire.TabClosed{}, err
	}
	closed.Cleanups = ahead(s.cfg.Host.Model(), planned)
	if len(planned) > 0 && s.cfg.Failpoint != nil {
		s.cfg.Failpoint("cleanup-stored")
	}
	for _, id := range planned {
		s.later(func(ctx context.Context) {
			s.endForeground(ctx, id)
			s.poke()
		})
	}
	s.poke()
	closed.Undo, closed.Batch = b.until, b.batch
	return closed, nil
}

// selected makes one list of ids of what a close names, in the order of the tabs. From
// then on it is this list, whatever moves meanwhile (spec tabs T5.3).
func selected(m host.Model, req wire.TabClose) ([]davit.TabID, error) {
	d := newDraft(m)
	want := map[davit.TabID]bool{}
	for _, id := range req.Tabs {
		if _, err := d.tab(id); err != nil {
			if _, closed := m.Rows.Closed[id]; closed && len(req.Tabs) > 1 {
				continue // it closed by itself since the list was made
			}
			return nil, err
		}
		want[id] = true
	}
	for _, id := range []davit.TabID{req.Others, req.After} {
		if id == "" {
			continue
		}
		if _, err := d.tab(id); err != nil {
			return nil, err
		}
	}
	for _, id := range []davit.GroupID{req.Group, req.Outside} {
		if id == "" {
			continue
		}
		if _, err := d.group(id); err != nil {
			return nil, err
		}
	}
	if len(req.Tabs) == 0 && req.Others == "" && req.After == "" && req.Group == "" && req.Outside == "" {
		return nil, davit.Errorf(davit.CodeInvalid, "no tab is named")
	}
	ids, behind := []davit.TabID{}, false
	for _, t := range m.State.Tabs {
		if want[t.ID] || req.Group != "" && t.Group == req.Group ||
			!t.Pinned && (req.Others != "" && t.ID != req.Others || behind || req.Outside != "" && t.Group != req.Outside) {
			ids = append(ids, t.ID)
		}
		behind = behind || req.After != "" && t.ID == req.After
	}
	return ids, nil
}

// burial is one act of closing.
type burial struct {
	at, until time.Time
	batch     string
	places    map[davit.TabID]place // of those with a plan
	going     []wire.WorktreeGoing
}

// place is what the cleanup of a tab is about.
type place struct {
	repo     string // by what cleanups are queued
	worktree string // what holds it while another tab is there, "" for none
}

// places looks up, before the transaction, what the cleanups of tabs are about.
func (s *Service) places(ids []davit.TabID) map[davit.TabID]place {
	m, places := s.cfg.Host.Model(), map[davit.TabID]place{}
	for _, id := range ids {
		if t, ok := model.Tab(m.State, id); ok && t.OnClose != nil && !t.OnClose.Ran {
			places[id] = place{repo: repositoryOf(t, *t.OnClose), worktree: worktreeOf(m, t)}
		}
	}
	return places
}

// bury closes tabs: their rows become closed ones, their plans are taken and marked as
// run, the cleanups queued; panes leave the view and stay in the store for undo. It gives
// the tabs with a plan.
func (d *draft) bury(b burial, ids []davit.TabID) (planned []davit.TabID, err error) {
	before := d.m.State
	order := model.Order(before)
	for _, id := range ids {
		t, err := d.tab(id)
		if err != nil {
			return nil, err
		}
		if d.m.Unread[string(id)] {
			t = d.whole(t)
		}
		row := store.TabRow{Tab: t, Position: slices.Index(order, id)}
		row.Closed = &store.Closing{At: b.at, Until: b.until, Batch: b.batch, Position: row.Position}
		if row.Position > 0 {
			row.Closed.After = order[row.Position-1]
		}
		if g, ok := model.Group(before, t.Group); ok {
			row.Closed.Group = &g
			row.Closed.Whole = !slices.ContainsFunc(before.Tabs, func(o davit.Tab) bool { return o.Group == g.ID && !slices.Contains(ids, o.ID) })
		}
		if t.OnClose != nil && !t.OnClose.Ran {
			planned = append(planned, id)
			d.takePlan(b, &row)
		}
		d.change.Batch.PutTabs = append(d.change.Batch.PutTabs, row)
		d.add(davit.Event{Kind: davit.EventTabRemoved, TabID: id})
		for _, pid := range model.PanesOf(t) {
			d.hide(pid)
		}
	}
	d.arrange(d.order()) // a group ends with its last tab
	d.closed()
	if b.until.After(b.at) {
		d.tellClosed(b.batch, b.at)
	}
	return planned, nil
}

// whole gives a tab whose row could not be read the panes that are left of it: closed, it
// is a tab like any other, which undo brings back with all of them.
func (d *draft) whole(t davit.Tab) davit.Tab {
	tree := *t.Tree
	for _, id := range orphans(d.m, t.ID) {
		if with, err := layout.Insert(tree, t.Focused, layout.Right, id); err == nil {
			tree = with
		}
	}
	t.Tree = &tree
	return t
}

// takePlan queues the cleanup of a tab that closes.
func (d *draft) takePlan(b burial, row *store.TabRow) {
	plan := *row.Tab.OnClose
	plan.Ran, plan.Worktree = true, row.Tab.Worktree
	row.Tab.OnClose = &plan
	cleanup := store.CleanupRow{
		ID: "c_" + randomHex(8), Tab: row.Tab.ID, TabTitle: row.Tab.Title, Plan: plan, State: store.CleanupQueued,
		Repo: b.places[row.Tab.ID].repo, Worktree: b.places[row.Tab.ID].worktree, Created: b.at, Changed: b.at,
	}
	row.Closed.CleanupID = cleanup.ID
	for _, g := range b.going {
		if g.Tab == row.Tab.ID {
			row.Closed.Ignored, row.Closed.IgnoredCount = g.Ignored, g.IgnoredCount
		}
	}
	d.change.Batch.PutCleanups = append(d.change.Batch.PutCleanups, cleanup)
}

// hide takes a pane out of the view and keeps its row as it was shown last.
func (d *draft) hide(id davit.PaneID) {
	row, ok := d.m.Rows.Panes[id]
	v, shown := d.m.State.Panes[id]
	if !ok && !shown {
		return
	}
	if shown {
		row.Pane = v
	}
	d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
	d.add(davit.Event{Kind: davit.EventPaneRemoved, PaneID: id})
}

// repositoryOf is what cleanups are serialised by: the repository that the tab is about,
// else the directory that the plan runs in (spec tabs T5.6).
func repositoryOf(t davit.Tab, plan davit.OnClose) string {
	if t.Worktree != nil {
		return t.Worktree.Repo
	}
	if root, err := repositoryRoot(plan.Directory); err == nil {
		return root
	}
	return plan.Directory
}

// worktreeOf is the worktree that a tab uses: its own, else the linked one that it started
// in. The main checkout is none: no cleanup takes that away (spec tabs T5.6).
func worktreeOf(m host.Model, t davit.Tab) string {
	if t.Worktree != nil {
		return t.Worktree.Path
	}
	for _, id := range model.PanesOf(t) {
		if repo, err := git.Discover(m.Rows.Panes[id].Spec.Directory); err == nil && repo.Linked() {
			return repo.Root
		}
	}
	return ""
}

// Running is one thing that a close would end: a program, or of a chat its turn or a
// message that was not sent.
type Running struct {
	Tab     davit.TabID  `json:"tab"`
	Title   string       `json:"title"`
	Pane    davit.PaneID `json:"pane"`
	Kind    string       `json:"kind"`    // program | turn | draft
	Program string       `json:"program"` // for a person: a program's name, "a turn of …"
	Pid     int          `json:"pid,omitempty"`
}

// cutOff says what closing a pane would end, and whether that is worth a warning.
func (s *Service) cutOff(ctx context.Context, t davit.Tab, p davit.Pane) (Running, bool) {
	r := Running{Tab: t.ID, Title: t.Title, Pane: p.ID, Kind: "program"}
	if p.Kind == keeper.PaneChat {
		r.Program, r.Kind = s.unsaved(p)
	} else {
		r.Program, r.Pid = s.running(ctx, p)
	}
	return r, r.Program != ""
}

// confirm refuses a close and lists what it would end.
func confirm(list []Running) error {
	var lines []string
	what, hint := "still running", "closing ends it; close again with --yes if that is right"
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%s in %q", r.Program, r.Title))
		if r.Kind != "program" {
			what, hint = "closing cuts off", "close again with --yes if that is right"
		}
	}
	return davit.Errorf(davit.CodeTabCloseConfirm, "%s: %s", what, strings.Join(lines, ", ")).WithHint("%s", hint).With("list", list)
}

// asking is how many panes the keeper is asked about at a time.
const asking = 16

// warnings refuses a close that would end running programs, or cut a chat's turn or an
// unsent message off (spec tabs T5.3).
func (s *Service) warnings(ctx context.Context, ids []davit.TabID) error {
	type question struct {
		t davit.Tab
		p davit.Pane
	}
	var questions []question
	m := s.cfg.Host.Model()
	for _, id := range ids {
		t, ok := model.Tab(m.State, id)
		if !ok {
			continue // the transaction says so
		}
		panes := model.PanesOf(t)
		if m.Unread[string(id)] {
			panes = append(panes, orphans(m, id)...)
		}
		for _, pid := range panes {
			questions = append(questions, question{t, m.State.Panes[pid]})
		}
	}
	answers := make([]*Running, len(questions))
	var group errgroup.Group
	group.SetLimit(asking)
	for i, q := range questions {
		group.Go(func() error {
			if r, warn := s.cutOff(ctx, q.t, q.p); warn {
				answers[i] = &r
			}
			return nil
		})
	}
	_ = group.Wait()
	var list []Running
	for _, r := range answers {
		if r != nil {
			list = append(list, *r)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return davit.AsError(confirm(list)).With("tabs", ids)
}

// running names the program in the foreground of a pane, "" for an idle shell.
func (s *Service) running(ctx context.Context, p davit.Pane) (program string, pid int) {
	if p.Status != davit.PaneRunning || p.Kind == keeper.PaneChat {
		return "", 0
	}
	client, ok := s.cfg.Panes.Linked()
	if !ok {
		return "", 0
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	fg, err := client.Foreground(ctx, string(p.ID))
	if err != nil || fg.Pid == 0 || (fg.OwnChild && p.Kind == keeper.PaneShell && len(p.Argv) == 0) {
		return "", 0
	}
	if fg.OwnChild && p.Agent != "" {
		return p.Agent, fg.Pid // by the agent's own name: its program may be an interpreter, or davit
	}
	return fg.Name, fg.Pid
}

// endForeground ends the foreground programs of a closed tab, and its chats' processes,
// before its cleanup; idle shells stay for undo (spec tabs T5.3).
func (s *Service) endForeground(ctx context.Context, id davit.TabID) {
	row, ok := s.cfg.Host.Model().Rows.Closed[id]
	client, linked := s.cfg.Panes.Linked()
	if !ok || !linked {
		return
	}
	var ends errgroup.Group
	ends.SetLimit(asking)
	for _, pid := range model.PanesOf(row.Tab) {
		ends.Go(func() error {
			s.endForegroundOf(ctx, client, row.Tab, pid)
			return nil
		})
	}
	_ = ends.Wait()
}

func (s *Service) endForegroundOf(ctx context.Context, c *client.Client, t davit.Tab, id davit.PaneID) {
	m := s.cfg.Host.Model()
	if _, closed := m.Rows.Closed[t.ID]; !closed {
		return // undo was quicker
	}
	p := m.Rows.Panes[id].Pane
	if p.Kind == keeper.PaneChat {
		s.stopChat(ctx, t, p)
		return
	}
	program, _ := s.running(ctx, p)
	if program == "" {
		return
	}
	s.noteEnded(ctx, t.ID, program)
	report, err := c.Close(ctx, "foreground-"+string(id)+"-"+randomHex(4), string(id), keeper.CloseOptions{Foreground: true})
	if err != nil {
		s.cfg.Log.Warn("a closed tab's program could not be ended", "pane", id, "err", err)
	} else if len(report.Remaining) > 0 {
		s.noticeRemaining(ctx, t, report.Remaining)
	}
}

// ClosePane closes one pane; the last one of a tab closes the tab.
func (s *Service) ClosePane(ctx context.Context, id davit.PaneID, yes bool, reason Reason) error {
	state := s.cfg.Host.State()
	p, ok := state.Panes[id]
	if !ok {
		return davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", id)
	}
	t, ok := model.Tab(state, p.Tab)
	if !ok {
		return davit.Errorf(davit.CodeTabNotFound, "the tab of pane %s is not open", id)
	}
	if !slices.Contains(model.PanesOf(t), id) {
		return davit.Errorf(davit.CodePaneNotFound, "pane %s is not in the layout of its tab", id).WithHint("`davit pane move %s` gives it a tab of its own", id)
	}
	if len(model.PanesOf(t)) <= 1 {
		_, err := s.Close(ctx, wire.TabClose{Tabs: []davit.TabID{t.ID}, Yes: yes}, reason)
		return err
	}
	if !yes && reason == ReasonUser {
		if r, warn := s.cutOff(ctx, t, p); warn {
			return confirm([]Running{r})
		}
	}
	return s.buryPane(ctx, id, reason)
}

// buryPane takes a pane out of its tab's tree and keeps it for undo: its program goes on
// meanwhile (spec tabs T6.1). One whose program ended by itself is kept without a notice.
func (s *Service) buryPane(ctx context.Context, id davit.PaneID, reason Reason) error {
	now, batch, until := s.cfg.Now(), newBatch(), time.Time{}
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		d := newDraft(m)
		row := m.Rows.Panes[id]
		t, ok := model.Tab(m.State, row.Pane.Tab)
		if !ok || t.Tree == nil {
			return host.Change{}, davit.Errorf(davit.CodePaneNotFound, "pane %q is in no open tab", id)
		}
		left, err := layout.Remove(*t.Tree, id)
		if err != nil {
			return host.Change{}, davit.Errorf(davit.CodePaneNotFound, "pane %q: %w", id, err)
		}
		until = now.Add(s.undoTime())
		closing := &store.PaneClosing{At: now, Until: until, Batch: batch, Title: paneTitle(m.State.Panes[id], t), Tree: *t.Tree, Left: left, Focused: t.Focused == id}
		closing.Beside, closing.Side = layout.Neighbour(*t.Tree, id)
		t.Tree = &left
		if t.Focused == id {
			t.Focused = model.PanesOf(t)[0]
			if closing.Beside != "" {
				t.Focused = closing.Beside
			}
		}
		d.putTab(t)
		d.hide(id)
		for i := range d.change.Batch.PutPanes {
			d.change.Batch.PutPanes[i].Closed = closing
		}
		d.closed()
		if until.After(now) && reason == ReasonUser {
			d.tellClosed(batch, now)
		}
		return d.change, nil
	})
	s.poke()
	return err
}

// paneTitle says what a pane was, for a person.
func paneTitle(p davit.Pane, t davit.Tab) string { return paneName(p) + " of " + t.Title }

// paneName is what runs in a pane, in a word or two.
func paneName(p davit.Pane) string {
	switch {
	case p.Agent != "":
		return p.Agent
	case p.Command != "":
		return p.Command
	case len(p.Argv) > 0:
		return filepath.Base(p.Argv[0])
	case p.Shell != "":
		return filepath.Base(p.Shell)
	}
	return "pane"
}
