package tab

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/model"
	"davit/internal/pane"
	"davit/internal/store"
	"davit/internal/wire"
)

// row reads or writes the stored body of a tab while no host runs, as damage would.
func (st *stage) row(query string, args ...any) string {
	st.tb.Helper()
	db, err := sql.Open("sqlite", st.path("state/davit.db"))
	if err != nil {
		st.tb.Fatal(err)
	}
	defer db.Close()
	var text string
	if err := db.QueryRow(query, args...).Scan(&text); err != nil {
		st.tb.Fatal(err)
	}
	return text
}

func (st *stage) body(id davit.TabID) string {
	return st.row(`SELECT body FROM tabs WHERE id = ?`, string(id))
}

// spoil makes the row of a tab one that cannot be read.
func (st *stage) spoil(id davit.TabID) {
	st.row(`UPDATE tabs SET body = '{"id": not JSON' WHERE id = ? RETURNING body`, string(id))
}

// A tab whose row cannot be read is one plain pane that says why, under its own id and in
// its place. Its programs go on, its row stays as it is whatever else changes, and what is
// left of it can be moved out; a close asks, and undo brings all of it back (spec tabs T6.2).
func TestUnreadTab(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	x := st.start()
	ctx := t.Context()
	st.config("one", onePane+plan(note("one")))
	st.config("three", "[[panes]]\nid = \"all\"\nsplit = \"horizontal\"\nchildren = [\"a\", \"b\", \"c\"]\n[[panes]]\nid = \"a\"\ntype = \"terminal\"\n[[panes]]\nid = \"b\"\ntype = \"terminal\"\n[[panes]]\nid = \"c\"\ntype = \"terminal\"\n")
	first := x.openConfig(st, "one", nil)
	lost := x.openConfig(st, "three", nil)
	last := x.openConfig(st, "one", nil)
	pids := map[davit.PaneID]int{}
	for _, id := range lost.Panes {
		pids[id] = x.host.State().Panes[id].Pid
	}
	x.stop()
	st.spoil(lost.TabID)
	spoiled := st.body(lost.TabID)

	var standIn davit.PaneID
	for range 2 {
		x = st.start()
		if got := model.Order(x.host.State()); !slices.Equal(got, []davit.TabID{first.TabID, lost.TabID, last.TabID}) {
			t.Fatalf("the tabs are %v", got)
		}
		panes := model.PanesOf(x.tab(lost.TabID))
		if len(panes) != 1 || slices.Contains(lost.Panes, panes[0]) || standIn != "" && standIn != panes[0] {
			t.Fatalf("it has the panes %v", panes)
		}
		standIn = panes[0]
		p := x.host.State().Panes[standIn]
		if p.Status != davit.PaneFailed || !strings.Contains(p.Fault, "could not be read: invalid character") || !strings.Contains(p.Fault, string(lost.Panes[2])) {
			t.Errorf("it says %q (%s)", p.Fault, p.Status)
		}
		for _, id := range lost.Panes {
			if got := x.host.State().Panes[id]; got.Pid != pids[id] || got.Status != davit.PaneRunning {
				t.Errorf("the pane %s: %+v", id, got)
			}
		}
		x.edit(wire.TabEdit{Tab: last.TabID, Title: ptr("renamed")})
		x.edit(wire.TabEdit{Tab: lost.TabID, Title: ptr("renamed too")})
		x.must(x.s.Focus(ctx, wire.TabFocus{Tab: first.TabID, Pane: first.Panes[0]}))
		x.edit(wire.TabEdit{Tab: lost.TabID, After: ptr(last.TabID)})
		x.edit(wire.TabEdit{Tab: lost.TabID, After: ptr(first.TabID)})
		if _, err := x.s.MovePane(ctx, wire.PaneMove{Pane: standIn, Beside: first.Panes[0]}); davit.CodeOf(err) != davit.CodeInvalid {
			t.Errorf("the stand-in moved: %v", err)
		}
		x.stop()
		if got := st.body(lost.TabID); got != spoiled {
			t.Fatalf("its row was overwritten: %s", got)
		}
	}

	// Another pane's plain end closes nothing of it; one is moved out.
	x = st.start()
	x.typed(lost.Panes[0], "exit")
	x.eventually("the first pane has ended", func() bool { return x.host.State().Panes[lost.Panes[0]].Exit != nil })
	moved, err := x.s.MovePane(ctx, wire.PaneMove{Pane: lost.Panes[1], After: last.TabID})
	x.must(err)
	if got := model.PanesOf(x.tab(moved.TabID)); !slices.Equal(got, lost.Panes[1:2]) {
		t.Errorf("moved out: %v", got)
	}
	(&scene{T: t, st: st, x: x}).busy(lost.Panes[2], "sleep 1000")
	if _, err := x.s.Close(ctx, wire.TabClose{Tabs: []davit.TabID{lost.TabID}}, ReasonUser); davit.CodeOf(err) != davit.CodeTabCloseConfirm {
		t.Fatalf("not asked about the program of a pane that is not shown: %v", err)
	}
	if got := st.body(lost.TabID); got != spoiled {
		t.Fatalf("its row was overwritten: %s", got)
	}
	x.close(wire.TabClose{Tabs: []davit.TabID{lost.TabID}})
	if got := len(x.host.State().Panes); got != 3 {
		t.Errorf("%d panes are shown after the close: %+v", got, x.host.State().Panes)
	}
	x.stop()
	x = st.start()
	if _, err := x.s.Undo(ctx, wire.TabRef{Tab: lost.TabID}); err != nil {
		t.Fatal(err)
	}
	back := model.PanesOf(x.tab(lost.TabID))
	slices.Sort(back)
	want := []davit.PaneID{standIn, lost.Panes[0], lost.Panes[2]}
	slices.Sort(want)
	if !slices.Equal(back, want) {
		t.Errorf("undo brought back %v, want %v", back, want)
	}
	x.stop()
	x = st.start()
	if got := x.host.State().Panes[lost.Panes[2]]; !slices.Contains(model.PanesOf(x.tab(lost.TabID)), lost.Panes[2]) || got.Pid != pids[lost.Panes[2]] || got.Status != davit.PaneRunning {
		t.Errorf("the program: %+v", got)
	}
}

// A closed tab whose row cannot be read stays away, and its programs go on.
func TestUnreadClosedTab(t *testing.T) { // spec tabs T6.2
	t.Parallel()
	st := newStage(t)
	x := st.start()
	st.config("one", onePane)
	opened := x.openConfig(st, "one", nil)
	x.close(wire.TabClose{Tabs: []davit.TabID{opened.TabID}})
	x.stop()
	st.spoil(opened.TabID)
	x = st.start()
	x.want("")
	c, linked := x.panes.Linked()
	if !linked {
		t.Fatal("no keeper")
	}
	infos, err := c.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].Exit != nil {
		t.Errorf("the keeper holds %+v %v", infos, err)
	}
}

// A pane that undo keeps may end in any host's time: that closes no tab, and runs no plan.
func TestHiddenPaneEnds(t *testing.T) { // spec tabs T5.2, T6.1
	t.Parallel()
	st := newStage(t)
	x := st.start()
	st.config("two", twoPanes+plan(note("two")))
	opened := x.openConfig(st, "two", nil)
	x.typed(opened.Panes[0], "while ! test -e $HOME/two.go; do sleep 0.02; done; exit")
	x.must(x.s.ClosePane(t.Context(), opened.Panes[0], true, ReasonUser))
	x.stop()
	x = st.start()
	if _, shown := x.host.State().Panes[opened.Panes[0]]; shown {
		t.Error("a closed pane is shown after the host's restart")
	}
	st.write("home/two.go", "")
	x.eventually("the pane's end is known to the keeper", func() bool {
		c, linked := x.panes.Linked()
		if !linked {
			return false
		}
		infos, err := c.List(t.Context())
		return err == nil && slices.ContainsFunc(infos, func(i keeper.PaneInfo) bool {
			return i.Pane == string(opened.Panes[0]) && i.Exit != nil
		})
	})
	c := &scene{T: t, st: st, x: x}
	c.neverAgain(opened.TabID)
	if got := x.tab(opened.TabID).OnClose; got.Ran {
		t.Errorf("the plan was taken: %+v", got)
	}
	if back, err := x.s.Undo(t.Context(), wire.TabRef{Tab: opened.TabID}); err != nil || back.Pane != opened.Panes[0] {
		t.Errorf("undo: %+v %v", back, err)
	}
}

// shown is what a user sees of the tabs, for comparison over a restart.
func shown(tb testing.TB, s davit.State) string {
	s.Closed, s.Notices, s.Sessions, s.Chips = nil, nil, nil, nil
	s.Panes = maps.Clone(s.Panes)
	for id, p := range s.Panes {
		s.Panes[id] = davit.Pane{ID: p.ID, Tab: p.Tab, Kind: p.Kind, Directory: p.Directory, Title: p.Title, Shell: p.Shell, OnExit: p.OnExit, PaneKey: p.PaneKey}
	}
	return asJSON(tb, []any{s.Tabs, s.Groups, s.Panes})
}

// After a reboot everything stands where it stood; each pane says that its program is lost,
// shows what it had printed, is started by nobody but the user, and starts where it was
// (spec tabs T6.2, terminal P1.9).
func TestReboot(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	x := st.start()
	ctx := t.Context()
	st.config("tree", "color = \"red\"\ntitle = \"A tree\"\n"+worktree("tree")+twoPanes+plan(note("tree")))
	st.config("plain", onePane)
	tree := x.openConfig(st, "tree", nil)
	plain := x.openConfig(st, "plain", nil)
	kept := x.openConfig(st, "plain", nil)
	sub := filepath.Join(tree.Worktree.Path, "sub")
	x.must(os.Mkdir(sub, 0o700))
	x.typed(tree.Panes[1], "cd sub && echo before-$((40+2))")
	x.wait(tree.Panes[1], pane.Condition{For: "text", Text: "before-42"})
	x.eventually("the directory", func() bool { return x.host.State().Panes[tree.Panes[1]].Directory == sub })
	ref, err := x.s.MakeGroup(ctx, wire.GroupMake{Tabs: []davit.TabID{plain.TabID}, Name: "work", Color: "blue"})
	x.must(err)
	x.edit(wire.TabEdit{Tab: plain.TabID, Pinned: ptr(true), Title: ptr("Named"), Color: ptr("green")})
	x.must(x.s.EditGroup(ctx, wire.GroupEdit{Group: ref.Group, Collapsed: ptr(true)}))
	x.must(x.s.Sizes(ctx, wire.PaneSizes{Tab: tree.TabID, Sizes: []float64{1, 3}}))
	x.must(x.s.Focus(ctx, wire.TabFocus{Tab: tree.TabID, Pane: tree.Panes[1]}))
	x.close(wire.TabClose{Tabs: []davit.TabID{kept.TabID}})
	before := shown(t, x.host.State())
	x.stop()
	st.reboot()

	x = st.start()
	if after := shown(t, x.host.State()); after != before {
		t.Errorf("restored as\n%s\nwas\n%s", after, before)
	}
	for _, id := range slices.Concat(tree.Panes, plain.Panes) {
		p := x.host.State().Panes[id]
		if p.Status != davit.PaneLost || !strings.Contains(p.Note, "keeper is gone") {
			t.Errorf("the pane %s is %s: %q", id, p.Status, p.Note)
		}
	}
	if _, alive := st.keeper(); alive {
		t.Error("a keeper was started, and nobody has asked for a program")
	}
	x.eventually("the panes' directories are asked for chips", func() bool {
		return x.chips.dirs()[tree.Panes[1]] == sub && x.chips.dirs()[plain.Panes[0]] == st.repo
	})
	x.must(x.s.RestartPane(ctx, wire.PaneRestart{Pane: tree.Panes[1]}))
	x.typed(tree.Panes[1], "echo after-$((40+2)) in $(basename $PWD)")
	x.wait(tree.Panes[1], pane.Condition{For: "text", Text: "after-42 in tree"})
	p, err := x.panes.Get(tree.Panes[1])
	x.must(err)
	if text, err := p.Text(ctx, 100); err != nil || !strings.Contains(asJSON(t, text), "before-42") {
		t.Errorf("what it had printed is not there: %+v %v", text, err)
	}
	if _, err := x.s.Undo(ctx, wire.TabRef{Tab: kept.TabID}); err != nil {
		t.Errorf("what was closed before: %v", err)
	}
	x.close(wire.TabClose{Tabs: []davit.TabID{tree.TabID}})
	x.cleaned(tree.TabID, store.CleanupDone)
}

// A store that cannot be read is set aside whole and told; its last good copy has tabs,
// groups and pins (spec tabs T6.2).
func TestDamagedStore(t *testing.T) {
	state := t.TempDir()
	x := newTabs(t, state, time.Minute)
	ctx := t.Context()
	for _, id := range []davit.TabID{"a", "b", "c"} {
		x.open(id)
	}
	ref, err := x.s.MakeGroup(ctx, wire.GroupMake{Tabs: []davit.TabID{"b", "c"}, Name: "work", Color: "red"})
	x.must(err)
	x.must(x.s.EditGroup(ctx, wire.GroupEdit{Group: ref.Group, Pinned: ptr(true)}))
	x.want("*work:b *work:c a")
	x.stop()
	path := filepath.Join(state, "davit.db")
	_ = os.Remove(path + ".last-good") // of the empty store, if there is one: each start makes it anew
	x = newTabs(t, state, time.Minute)
	x.eventually("a good copy", func() bool { _, err := os.Stat(path + ".last-good"); return err == nil })
	x.stop()
	damaged := []byte(strings.Repeat("this is no database. ", 1000))
	x.must(os.WriteFile(path, damaged, 0o600))

	x = newTabs(t, state, time.Minute)
	x.want("*work:b *work:c a")
	if g, _ := model.Group(x.host.State(), ref.Group); g.Color != "red" || !g.Pinned || g.Name != "work" {
		t.Errorf("the group: %+v", g)
	}
	told := x.store.Recovery()
	if !told.Copy || told.SetAside == "" {
		t.Fatalf("told: %+v", told)
	}
	if got, err := os.ReadFile(told.SetAside); err != nil || string(got) != string(damaged) {
		t.Errorf("set aside: %d bytes, %v", len(got), err)
	}
}
