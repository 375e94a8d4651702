package tab

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/home"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
)

type silent struct{}

func (silent) Publish(davit.Event)          {}
func (silent) Pane(davit.PaneID, string)    {}
func (silent) Command(davit.PaneID, string) {}
func (silent) Gone(davit.PaneID)            {}

// tabsHost is a service on a real store and a real host loop, without a keeper: tabs and
// panes are rows, and no program runs.
type tabsHost struct {
	tb    testing.TB
	store *store.Store
	host  *host.Host
	panes *host.Panes
	chips *places
	s     *Service
	stop  func()
}

func newTabs(tb testing.TB, state string, undo time.Duration) *tabsHost {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	opened, err := store.Open(tb.Context(), store.Config{Path: filepath.Join(state, "davit.db"), Log: log})
	if err != nil {
		tb.Fatal(err)
	}
	all, err := opened.Load(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	h := host.New(host.Config{HostID: "h_1", Store: opened, Feed: silent{}, Now: time.Now, Log: log}, Load(all))
	panes := host.NewPanes(host.PanesConfig{Host: h, Dir: filepath.Join(state, "panes"), Start: client.StartConfig{StateDir: state}, Persist: opened.SetPaneOffsets, Log: log})
	s := New(Config{Host: h, Panes: panes, Home: home.Home{State: state}, Settings: opened, Chips: silent{}, UserHome: state, Undo: undo, LoginEnv: func() map[string]string { return nil }, Log: log})
	x := &tabsHost{tb: tb, store: opened, host: h, panes: panes, s: s}
	x.run()
	return x
}

// run starts the host's parts, and ends them in order with the test, or with stop.
func (x *tabsHost) run() {
	ctx, cancel := context.WithCancel(context.Background())
	loop, end := context.WithCancel(context.Background())
	done, tabs := make(chan error, 1), make(chan error, 2)
	go func() { done <- x.host.Run(loop) }()
	go func() { tabs <- x.panes.Run(ctx) }()
	go func() { tabs <- x.s.Run(ctx) }()
	<-x.panes.Ready()
	x.stop = sync.OnceFunc(func() {
		cancel()
		<-tabs
		<-tabs
		end()
		<-done
		if err := x.store.Close(); err != nil {
			x.tb.Error(err)
		}
	})
	x.tb.Cleanup(x.stop)
}

// open puts a tab with ended panes into the store, as if it had been opened.
func (x *tabsHost) open(id davit.TabID, panes ...davit.PaneID) {
	x.tb.Helper()
	if len(panes) == 0 {
		panes = []davit.PaneID{"p_" + davit.PaneID(id)}
	}
	tree := davit.Split{Pane: panes[0]}
	for i, p := range panes[1:] {
		tree, _ = layout.Insert(tree, panes[i], layout.Right, p)
	}
	t := davit.Tab{ID: id, Title: string(id), Given: string(id), Tree: &tree, Focused: panes[0], Created: time.Now()}
	leaves := map[davit.PaneID]*leaf{}
	for _, p := range panes {
		leaves[p] = &leaf{row: store.PaneRow{Pane: davit.Pane{ID: p, Tab: id, Kind: keeper.PaneShell, Status: davit.PaneEnded, Exit: &davit.Exit{Code: 1}, OnExit: "keep"}}}
	}
	if err := x.s.put(x.tb.Context(), t, leaves, panes, "", ""); err != nil {
		x.tb.Fatal(err)
	}
}

func (x *tabsHost) must(err error) {
	x.tb.Helper()
	if err != nil {
		x.tb.Fatal(err)
	}
}

func (x *tabsHost) close(req wire.TabClose) wire.TabClosed {
	x.tb.Helper()
	req.Yes = true
	closed, err := x.s.Close(x.tb.Context(), req, ReasonUser)
	x.must(err)
	return closed
}

func (x *tabsHost) edit(req wire.TabEdit) wire.TabEdited {
	x.tb.Helper()
	edited, err := x.s.Edit(x.tb.Context(), req)
	x.must(err)
	return edited
}

// row is the order with pins and groups, such as "*a g:b c".
func (x *tabsHost) row() string {
	var parts []string
	s := x.host.State()
	for _, t := range s.Tabs {
		part := string(t.ID)
		if g, ok := model.Group(s, t.Group); ok {
			part = g.Name + ":" + part
		}
		if t.Pinned {
			part = "*" + part
		}
		parts = append(parts, part)
	}
	if err := orderOf(s).Check(); err != nil {
		x.tb.Errorf("the order is broken: %v", err)
	}
	return strings.Join(parts, " ")
}

func (x *tabsHost) want(row string) {
	x.tb.Helper()
	if got := x.row(); got != row {
		x.tb.Errorf("the row is %q, want %q", got, row)
	}
}

func ptr[T any](v T) *T { return &v }

// Groups, pins and places, through the host loop and the store, restored by another host
// (spec tabs T6.2, T6.5).
func TestGroupsAndPins(t *testing.T) {
	state := t.TempDir()
	x := newTabs(t, state, time.Minute)
	ctx := t.Context()
	for _, id := range []davit.TabID{"a", "b", "c", "d", "e"} {
		x.open(id)
	}
	ref, err := x.s.MakeGroup(ctx, wire.GroupMake{Tabs: []davit.TabID{"b", "d"}, Name: " work ", Color: "red"})
	x.must(err)
	x.want("a work:b work:d c e")
	x.edit(wire.TabEdit{Tab: "e", Pinned: ptr(true)})
	x.want("*e a work:b work:d c")
	x.edit(wire.TabEdit{Tab: "a", After: ptr(davit.TabID("b"))})
	x.want("*e work:b work:d a c") // never inside a group of others
	x.edit(wire.TabEdit{Tab: "c", Group: &ref.Group, After: ptr(davit.TabID("b"))})
	x.want("*e work:b work:c work:d a")
	x.must(x.s.EditGroup(ctx, wire.GroupEdit{Group: ref.Group, Pinned: ptr(true), Collapsed: ptr(true)}))
	x.want("*e *work:b *work:c *work:d a")
	x.must(x.s.EditGroup(ctx, wire.GroupEdit{Group: ref.Group, After: ptr(davit.TabID(""))}))
	x.want("*work:b *work:c *work:d *e a")
	x.edit(wire.TabEdit{Tab: "c", Group: ptr(davit.GroupID(""))})
	x.want("*work:b *work:d *c *e a")
	_, unknown := x.s.Edit(ctx, wire.TabEdit{Tab: "c", Group: ptr(davit.GroupID("g_none"))})
	for _, err := range []error{
		unknown, x.s.DissolveGroup(ctx, "g_none"),
	} {
		if davit.CodeOf(err) != davit.CodeGroupNotFound {
			t.Errorf("an unknown group: %v", err)
		}
	}
	x.stop()

	x = newTabs(t, state, time.Minute)
	x.want("*work:b *work:d *c *e a")
	g, _ := model.Group(x.host.State(), ref.Group)
	if g != (davit.Group{ID: ref.Group, Name: "work", Color: "red", Pinned: true, Collapsed: true}) {
		t.Errorf("restored as %+v", g)
	}
	x.must(x.s.DissolveGroup(ctx, ref.Group))
	x.want("*b *d *c *e a")
}

// What one close names is one list; pinned tabs are left out of others, after and outside;
// one undo brings all of it back, and a group that ended with it (spec tabs T5.3, T6.1;
// cases 1, 5a).
func TestCloseSelectors(t *testing.T) {
	x := newTabs(t, t.TempDir(), time.Minute)
	ctx := t.Context()
	for _, id := range []davit.TabID{"a", "b", "c", "d", "e"} {
		x.open(id)
	}
	ref, err := x.s.MakeGroup(ctx, wire.GroupMake{Tabs: []davit.TabID{"c", "d"}, Name: "g", Color: "blue"})
	x.must(err)
	x.edit(wire.TabEdit{Tab: "a", Pinned: ptr(true)})
	full := "*a b g:c g:d e"
	x.want(full)
	for name, c := range map[string]struct {
		req    wire.TabClose
		left   string
		notice string
	}{
		"others":  {wire.TabClose{Others: "c"}, "*a g:c", "Closed 3 tabs"},
		"after":   {wire.TabClose{After: "c"}, "*a b g:c", "Closed 2 tabs"},
		"group":   {wire.TabClose{Group: ref.Group}, "*a b e", "Closed 2 tabs"},
		"outside": {wire.TabClose{Outside: ref.Group}, "*a g:c g:d", "Closed 2 tabs"},
		"named":   {wire.TabClose{Tabs: []davit.TabID{"e", "a"}}, "b g:c g:d", "Closed 2 tabs"},
		"one":     {wire.TabClose{Tabs: []davit.TabID{"b"}}, "*a g:c g:d e", "Closed b"},
	} {
		closed := x.close(c.req)
		x.want(c.left)
		notices := x.host.State().Notices
		if len(notices) != 1 || notices[0].Title != c.notice {
			t.Errorf("%s: notices %+v", name, notices)
		}
		if name == "group" && (len(x.host.State().Groups) != 0 || x.host.State().Closed[0].Group != ref.Group) {
			t.Errorf("the group stays: %+v %+v", x.host.State().Groups, x.host.State().Closed)
		}
		back, err := x.s.Undo(ctx, wire.TabRef{Batch: closed.Batch})
		if err != nil || len(back.Tabs) != len(closed.Closed) {
			t.Errorf("%s: %+v %v", name, back, err)
		}
		x.want(full)
		if s := x.host.State(); len(s.Closed)+len(s.Notices) != 0 {
			t.Errorf("%s: left on the stack: %+v %+v", name, s.Closed, s.Notices)
		}
	}
	if g, _ := model.Group(x.host.State(), ref.Group); g.Color != "blue" {
		t.Errorf("the group came back as %+v", g)
	}
	if _, err := x.s.Close(ctx, wire.TabClose{Others: "none"}, ReasonUser); davit.CodeOf(err) != davit.CodeTabNotFound {
		t.Errorf("others of nothing: %v", err)
	}
	if closed := x.close(wire.TabClose{After: "e"}); len(closed.Closed) != 0 {
		t.Errorf("closed %v", closed.Closed)
	}
	// A list that was confirmed holds although one of it closed meanwhile (case 4).
	x.close(wire.TabClose{Tabs: []davit.TabID{"b"}})
	if closed := x.close(wire.TabClose{Tabs: []davit.TabID{"b", "e"}}); !slices.Equal(closed.Closed, []davit.TabID{"e"}) {
		t.Errorf("closed %v", closed.Closed)
	}
	x.want("*a g:c g:d")
}

// A closed pane comes back into its place; beside its neighbour when the tree has changed;
// with its tab when that was closed since. Another host knows the stack (spec tabs T6.1).
func TestUndoPane(t *testing.T) {
	state := t.TempDir()
	x := newTabs(t, state, time.Minute)
	ctx := t.Context()
	x.open("a", "p1", "p2", "p3")
	tree := func() string {
		tab, _ := model.Tab(x.host.State(), "a")
		text, err := json.Marshal(tab.Tree)
		x.must(err)
		return string(text)
	}
	whole := tree()
	x.must(x.s.ClosePane(ctx, "p2", true, ReasonUser))
	x.must(x.s.ClosePane(ctx, "p3", true, ReasonUser))
	x.stop()
	x = newTabs(t, state, time.Minute)
	for _, want := range []davit.PaneID{"p3", "p2"} {
		if back, err := x.s.Undo(ctx, wire.TabRef{}); err != nil || back.Pane != want || back.Tab != "a" {
			t.Fatalf("%+v %v, want %s", back, err, want)
		}
	}
	if tree() != whole {
		t.Errorf("the tree is %s, was %s", tree(), whole)
	}
	x.must(x.s.ClosePane(ctx, "p2", true, ReasonUser))
	x.must(x.s.ClosePane(ctx, "p1", true, ReasonUser))
	batch := x.host.State().Closed[1].Batch
	x.close(wire.TabClose{Tabs: []davit.TabID{"a"}})
	if _, err := x.s.Undo(ctx, wire.TabRef{Batch: batch}); err != nil {
		t.Fatal(err)
	}
	tab, _ := model.Tab(x.host.State(), "a")
	if got := model.PanesOf(tab); !slices.Equal(got, []davit.PaneID{"p3", "p2"}) && !slices.Equal(got, []davit.PaneID{"p2", "p3"}) {
		t.Errorf("panes %v", got)
	}
	if left := x.host.State().Closed; len(left) != 1 || left[0].Pane != "p1" {
		t.Errorf("on the stack: %+v", left)
	}
}

// The time of undo is a setting; 0 lets everything go at once (spec tabs T6.1).
func TestUndoSetting(t *testing.T) {
	x := newTabs(t, t.TempDir(), time.Minute)
	ctx := t.Context()
	x.open("a")
	x.open("b", "p1", "p2")
	x.close(wire.TabClose{Tabs: []davit.TabID{"a"}})
	x.must(x.s.ClosePane(ctx, "p2", true, ReasonUser))
	for _, bad := range []string{`-1`, `86401`, `"x"`, `null`, `1.5`} {
		if known, err := x.s.SetSetting(ctx, SettingUndo, json.RawMessage(bad)); !known || davit.CodeOf(err) != davit.CodeInvalid {
			t.Errorf("%s: %t %v", bad, known, err)
		}
	}
	_, err := x.s.SetSetting(ctx, SettingUndo, json.RawMessage(`0`))
	x.must(err)
	if s := x.host.State(); len(s.Closed)+len(s.Notices) != 0 {
		t.Errorf("kept: %+v %+v", s.Closed, s.Notices)
	}
	x.close(wire.TabClose{Tabs: []davit.TabID{"b"}})
	if _, err := x.s.Undo(ctx, wire.TabRef{}); davit.CodeOf(err) != davit.CodeNothingToUndo {
		t.Errorf("undo while it is off: %v", err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for len(x.host.Model().Rows.Closed)+len(x.host.Model().Rows.Panes) > 0 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if m := x.host.Model(); len(m.Rows.Closed)+len(m.Rows.Panes) > 0 {
		t.Errorf("rows are left: %+v %+v", m.Rows.Closed, m.Rows.Panes)
	}
}

// Moving panes runs no close plan: a last pane's tab keeps its plan, or is refused another
// tab (spec tabs T5.2; cases 12, 13).
func TestMovePane(t *testing.T) {
	x := newTabs(t, t.TempDir(), time.Minute)
	ctx := t.Context()
	x.open("a", "p1", "p2")
	x.open("b", "p3")
	x.s.editTab(ctx, "b", func(t *davit.Tab) { t.OnClose = &davit.OnClose{Directory: "/", Commands: []string{"true"}} })
	opened, err := x.s.MovePane(ctx, wire.PaneMove{Pane: "p2"})
	x.must(err)
	x.want("a " + string(opened.TabID) + " b")
	if _, err := x.s.MovePane(ctx, wire.PaneMove{Pane: "p3", Beside: "p1"}); davit.CodeOf(err) != davit.CodeClosePlanLost {
		t.Errorf("a plan would be lost: %v", err)
	}
	own, err := x.s.MovePane(ctx, wire.PaneMove{Pane: "p3", After: "a"})
	if err != nil || own.TabID != "b" {
		t.Errorf("%+v %v", own, err)
	}
	if tab, _ := model.Tab(x.host.State(), "b"); tab.OnClose == nil || tab.OnClose.Ran {
		t.Errorf("the plan is %+v", tab.OnClose)
	}
	x.want("a b " + string(opened.TabID))
	if _, err := x.s.MovePane(ctx, wire.PaneMove{Pane: "p2", Beside: "p1", Side: "up"}); err != nil {
		t.Error(err)
	}
	x.want("a b")
	if m := x.host.Model(); len(m.Cleanups) != 0 || m.Rows.Panes["p2"].Pane.Tab != "a" {
		t.Errorf("cleanups %v, pane %+v", m.Cleanups, m.Rows.Panes["p2"].Pane)
	}
}

// The close of fifty tabs answers within 50 ms, and one undo brings all back (spec tabs T7).
func BenchmarkClose50(b *testing.B) {
	x := newTabs(b, b.TempDir(), time.Minute)
	var ids []davit.TabID
	for i := range 50 {
		ids = append(ids, davit.TabID(fmt.Sprintf("t%02d", i)))
		x.open(ids[i])
	}
	for b.Loop() {
		closed := x.close(wire.TabClose{Tabs: ids})
		b.StopTimer()
		back, err := x.s.Undo(b.Context(), wire.TabRef{Batch: closed.Batch})
		if err != nil || len(back.Tabs) != 50 {
			b.Fatal(len(back.Tabs), err)
		}
		b.StartTimer()
	}
}
