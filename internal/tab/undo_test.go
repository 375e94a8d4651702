package tab

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
)

// Undo takes a closed tab's title; of two it says which (spec tabs T6.1).
func TestUndoByTitle(t *testing.T) {
	x := newTabs(t, t.TempDir(), time.Minute)
	ctx := t.Context()
	for _, id := range []davit.TabID{"a", "b", "c"} {
		x.open(id)
	}
	x.edit(wire.TabEdit{Tab: "a", Title: ptr("same")})
	x.edit(wire.TabEdit{Tab: "b", Title: ptr("same")})
	x.close(wire.TabClose{Tabs: []davit.TabID{"a"}})
	x.close(wire.TabClose{Tabs: []davit.TabID{"c"}})
	if back, err := x.s.Undo(ctx, wire.TabRef{Tab: "same"}); err != nil || back.Tab != "a" {
		t.Errorf("%+v %v", back, err)
	}
	x.close(wire.TabClose{Tabs: []davit.TabID{"a"}})
	x.close(wire.TabClose{Tabs: []davit.TabID{"b"}})
	if _, err := x.s.Undo(ctx, wire.TabRef{Tab: "same"}); davit.CodeOf(err) != davit.CodeTabAmbiguous {
		t.Errorf("two of that title: %v", err)
	}
	if _, err := x.s.Undo(ctx, wire.TabRef{Tab: "other"}); davit.CodeOf(err) != davit.CodeNothingToUndo {
		t.Errorf("none of that title: %v", err)
	}
	x.want("")
}

// A launch goes where its caller wished, keeps groups and pins whole, and tells what it
// could not do (spec launch L1, L2.3).
func TestLaunchPlacement(t *testing.T) {
	x := newTabs(t, t.TempDir(), time.Minute)
	ctx := t.Context()
	for _, id := range []davit.TabID{"a", "b", "c", "d"} {
		x.open(id)
	}
	ref, err := x.s.MakeGroup(ctx, wire.GroupMake{Tabs: []davit.TabID{"b", "c"}, Name: "g"})
	x.must(err)
	x.edit(wire.TabEdit{Tab: "a", Pinned: ptr(true)})
	g := string(ref.Group)
	for _, c := range []struct {
		wish *davit.Placement
		want *davit.PlacementResult
		row  string
	}{
		{nil, nil, "*a g:b g:c d n"},
		{&davit.Placement{}, nil, "*a g:b g:c d n"},
		{&davit.Placement{GroupID: g}, &davit.PlacementResult{GroupID: g}, "*a g:b g:c g:n d"},
		{&davit.Placement{GroupID: g, AfterTabID: "b"}, &davit.PlacementResult{GroupID: g}, "*a g:b g:n g:c d"},
		{&davit.Placement{AfterTabID: "b"}, &davit.PlacementResult{GroupID: g}, "*a g:b g:n g:c d"},
		{&davit.Placement{AfterTabID: "d"}, &davit.PlacementResult{}, "*a g:b g:c d n"},
		{&davit.Placement{AfterTabID: "a"}, &davit.PlacementResult{}, "*a *n g:b g:c d"},
		{&davit.Placement{GroupID: "gone", AfterTabID: "c"}, &davit.PlacementResult{GroupID: g, Fallback: "anchor-group"}, "*a g:b g:c g:n d"},
		{&davit.Placement{GroupID: "gone"}, &davit.PlacementResult{Fallback: "active-group"}, "*a g:b g:c d n"},
		{&davit.Placement{AfterTabID: "gone"}, &davit.PlacementResult{Fallback: "active-group"}, "*a g:b g:c d n"},
	} {
		name := asJSON(t, c.wish)
		var got *davit.PlacementResult
		x.must(x.s.decide(ctx, func(d *draft) error {
			var err error
			tab := davit.Tab{ID: "n", Title: "n", Tree: &davit.Split{Pane: "p_n"}, Focused: "p_n"}
			got, err = d.place(tab, store.PaneRow{Pane: davit.Pane{ID: "p_n", Tab: "n"}}, c.wish)
			return err
		}))
		if asJSON(t, got) != asJSON(t, c.want) {
			t.Errorf("%s: told %s, want %s", name, asJSON(t, got), asJSON(t, c.want))
		}
		if row := x.row(); row != c.row {
			t.Errorf("%s: the row is %q, want %q", name, row, c.row)
		}
		x.must(x.s.drop(ctx, "n"))
	}
}

// A program that is to be restarted, and ends five times within a minute, is left as it
// is, and that is told once, with the way to start it (spec tabs T1.2).
func TestRestartsStop(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := New(Config{Now: func() time.Time { return now }})
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		now = now.Add(time.Second)
		if pause, again := s.pause("p_1"); !again || pause != want {
			t.Errorf("end %d: %s %t, want %s", i+1, pause, again, want)
		}
	}
	now = now.Add(time.Second)
	if _, again := s.pause("p_1"); again {
		t.Error("the fifth end within a minute starts it again")
	}
	if pause, again := s.pause("p_2"); !again || pause != time.Second {
		t.Errorf("another pane: %s %t", pause, again)
	}
	now = now.Add(2 * time.Minute)
	if pause, again := s.pause("p_1"); !again || pause != time.Second {
		t.Errorf("after a quiet time: %s %t", pause, again)
	}
}

// The notice of the stop, and that the user's own restart begins the count anew: with a
// real program that ends at once.
func TestRestartsStopIsTold(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	x := st.start()
	st.config("restart", "[[panes]]\nid = \"main\"\ntype = \"terminal\"\non_exit = \"restart\"\n")
	opened := x.openConfig(st, "restart", nil)
	id := opened.Panes[0]
	x.s.mu.Lock() // four ends within the last seconds: the fifth is waited for below
	x.s.ends = map[davit.PaneID][]time.Time{id: {time.Now(), time.Now(), time.Now(), time.Now()}}
	x.s.mu.Unlock()
	x.typed(id, "exit 3")
	x.eventually("the stop is told", func() bool { _, told := x.notice(NoticeRestarts); return told })
	n, _ := x.notice(NoticeRestarts)
	if !n.Persistent || n.Tab != opened.TabID || !strings.Contains(n.Title, "ended 5 times") || !strings.Contains(n.Body, "davit pane restart "+string(id)) {
		t.Errorf("told as %+v", n)
	}
	if p := x.host.State().Panes[id]; p.Status != davit.PaneEnded || p.Exit.Code != 3 {
		t.Errorf("the pane: %+v", p)
	}
	x.must(x.s.RestartPane(t.Context(), wire.PaneRestart{Pane: id}))
	x.typed(id, "exit 4")
	x.eventually("it starts again by itself", func() bool {
		p := x.host.State().Panes[id]
		return p.Status == davit.PaneRunning && x.host.Model().Rows.Panes[id].Spec.Starts == 2
	})
}

// The host died between git and the tab's row: the next one tells of the worktree, once,
// and keeps it; an opening of which nothing came is not told (spec launch L5.8).
func TestOpeningWithoutItsTab(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	x := st.start()
	tree := st.path("tree")
	st.git("worktree", "add", "-q", "-b", "needle", tree)
	put := func(id, path string) {
		x.must(x.host.Change(t.Context(), func(host.Model) (host.Change, error) {
			return host.Change{Batch: store.Batch{
				PutOpenings:  []store.OpeningRow{{ID: "o_" + id, Config: "Feature", Worktree: id, Created: time.Now()}},
				PutWorktrees: []store.WorktreeRow{{ID: id, Instance: id, Created: time.Now(), Worktree: davit.Worktree{ID: id, Path: path, Repo: st.repo, Branch: "needle"}}},
			}}, nil
		}))
	}
	put("w_there", tree)
	put("w_not", filepath.Join(st.dir, "nothing"))
	x.stop()
	for range 2 {
		x = st.start()
		x.eventually("the worktree is told", func() bool { _, told := x.notice(NoticeOrphan); return told && len(x.host.Model().Openings) == 0 })
		n, _ := x.notice(NoticeOrphan)
		if len(x.host.State().Notices) != 1 || !n.Persistent || !strings.Contains(n.Title, "needle") || !strings.Contains(n.Body, tree) || !strings.Contains(n.Body, "Feature") {
			t.Errorf("told: %+v", x.host.State().Notices)
		}
		if !strings.Contains(st.git("worktree", "list"), tree) {
			t.Error("the worktree is gone")
		}
		x.stop()
	}
	x = st.start()
	n, _ := x.notice(NoticeOrphan)
	x.must(x.s.Act(t.Context(), wire.NoticeAct{ID: n.ID, Action: "open_terminal"}))
	state := x.host.State()
	if len(state.Tabs) != 1 || state.Panes[model.PanesOf(state.Tabs[0])[0]].Directory != tree {
		t.Errorf("opened: %+v", state.Panes)
	}
}

// An ended cleanup goes when nobody can ask for it any more: while undo keeps its tab, or
// its notice is there, it stays, and so does one that has not ended. A spawn's act goes
// with the pane that runs.
func TestSweep(t *testing.T) {
	state := t.TempDir()
	x := newTabs(t, state, time.Minute)
	ctx := t.Context()
	x.open("kept")
	x.s.editTab(ctx, "kept", func(t *davit.Tab) { t.OnClose = &davit.OnClose{Directory: "/", Commands: []string{"true"}} })
	row := func(id string, s store.CleanupState) store.CleanupRow {
		return store.CleanupRow{ID: id, Tab: "gone", State: s, Plan: davit.OnClose{Directory: "/"}, Worktree: "/used", Created: time.Now(), Changed: time.Now()}
	}
	x.open("user") // uses the worktree of what is held
	x.s.editTab(ctx, "user", func(t *davit.Tab) { t.Worktree = &davit.Worktree{Path: "/used"} })
	_, body := spawnAct("p_user", 0)
	x.must(x.host.Change(ctx, func(m host.Model) (host.Change, error) {
		d := newDraft(m)
		d.change.Batch.PutCleanups = []store.CleanupRow{
			row("c_done", store.CleanupDone), row("c_told", store.CleanupFailed), row("c_back", store.CleanupGivenBack), row("c_merged", store.CleanupMerged),
			row("c_held", store.CleanupHeld),
		}
		d.add(davit.Event{Kind: davit.EventNotice, Notice: &davit.Notice{ID: "cleanup-c_told", Kind: NoticeCleanupFailed, Persistent: true}})
		d.change.Batch.PutActs = []store.ActRow{{ID: "spawn-p_user", Pane: "p_user", Kind: "spawn", Body: body, Created: time.Now()}}
		running := m.Rows.Panes["p_user"]
		running.KeeperBoot = "boot"
		running.Pane.Status = davit.PaneRunning
		running.Pane.Exit = nil
		d.change.Batch.PutPanes = []store.PaneRow{running}
		return d.change, nil
	}))
	x.must(x.host.Change(ctx, func(m host.Model) (host.Change, error) { // closed, its cleanup done, and kept by undo
		d := newDraft(m)
		_, err := d.bury(burial{at: time.Now(), until: time.Now().Add(time.Hour), batch: "b_1"}, []davit.TabID{"kept"})
		kept := &d.change.Batch.PutCleanups[0]
		kept.ID, kept.State = "c_kept", store.CleanupDone
		for i := range d.change.Batch.PutTabs {
			d.change.Batch.PutTabs[i].Closed.CleanupID = "c_kept"
		}
		return d.change, err
	}))
	x.s.sweep(ctx)
	var left []string
	for id := range x.host.Model().Cleanups {
		left = append(left, id)
	}
	if got := len(left); got != 3 || strings.Contains(fmt.Sprint(left), "done") || strings.Contains(fmt.Sprint(left), "back") || strings.Contains(fmt.Sprint(left), "merged") {
		t.Errorf("cleanups left: %v, want c_told, c_kept, c_held", left)
	}
	all, err := x.store.Load(ctx)
	x.must(err)
	if len(all.Cleanups) != 3 || len(all.Acts) != 0 {
		t.Errorf("stored: %d cleanups, acts %+v", len(all.Cleanups), all.Acts)
	}
}

// What comes while the service ends is begun before Run returns, or never (STYLE 6).
func TestNothingBeginsAfterRun(t *testing.T) {
	x := newTabs(t, t.TempDir(), time.Minute)
	var over, late atomic.Bool
	var callers sync.WaitGroup
	quit := make(chan struct{})
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					x.s.later(func(context.Context) { late.CompareAndSwap(false, over.Load()) })
				}
			}
		})
	}
	x.stop()
	over.Store(true)
	close(quit)
	callers.Wait()
	if late.Load() {
		t.Error("work ran after Run had returned")
	}
}
