package tab

import (
	"fmt"
	"slices"
	"strings"

	"davit"
	"davit/internal/host"
	"davit/internal/store"
	"davit/internal/wire"
)

// Cases 1 and 2: each tab's own cleanup, one at a time in a repository.
func caseSeveral(c *scene) {
	keep := c.open("keep1", onePane)
	var ids []davit.TabID
	for i := range 3 {
		name := fmt.Sprintf("several%d", i)
		ids = append(ids, c.open(name, onePane+plan(note("several-in"), "sleep 0.05", note("several-out"), note(name))).TabID)
	}
	closed := c.x.close(wire.TabClose{After: keep.TabID})
	if !slices.Equal(closed.Closed, ids) {
		c.Errorf("closed %v, want %v", closed.Closed, ids)
	}
	for i, id := range ids {
		c.done(id)
		c.wantRan(fmt.Sprintf("several%d", i), 1)
	}
	inside := 0
	for _, line := range strings.Split(c.st.read("home/log"), "\n") {
		switch line {
		case "several-in":
			inside++
		case "several-out":
			inside--
		}
		if inside > 1 {
			c.Fatalf("two cleanups of one repository ran at once:\n%s", c.st.read("home/log"))
		}
	}
	c.close(keep.TabID)
}

func caseSomeWithout(c *scene) {
	with, without := c.open("with", onePane+plan(note("with"))), c.open("without", onePane)
	c.close(with.TabID, without.TabID)
	c.done(with.TabID)
	c.wantRan("with", 1)
	if got := c.x.cleanups(without.TabID); len(got) != 0 {
		c.Errorf("a tab without a plan has cleanups: %v", got)
	}
}

func caseCancelled(c *scene) {
	idle, busy := c.open("idle3", onePane+plan(note("idle3"))), c.open("busy3", onePane+plan(note("busy3")))
	c.busy(busy.Panes[0], "sleep 1000")
	before := c.x.row()
	_, err := c.x.s.Close(c.Context(), wire.TabClose{Tabs: []davit.TabID{idle.TabID, busy.TabID}}, ReasonUser)
	if davit.CodeOf(err) != davit.CodeTabCloseConfirm {
		c.Fatalf("not asked: %v", err)
	}
	c.x.want(before)
	for _, id := range []davit.TabID{idle.TabID, busy.TabID} {
		if got := c.x.tab(id).OnClose; got.Ran || len(c.x.cleanups(id)) != 0 {
			c.Errorf("%s: taken: %+v %v", id, got, c.x.cleanups(id))
		}
	}
	c.close(idle.TabID, busy.TabID)
	c.done(busy.TabID)
	c.wantRan("idle3", 1)
}

func caseConfirmed(c *scene) {
	left, asked := c.open("left4", onePane), c.open("asked4", onePane+plan(note("asked4")))
	c.busy(asked.Panes[0], "sleep 1000")
	_, err := c.x.s.Close(c.Context(), wire.TabClose{After: left.TabID}, ReasonUser)
	ids, _ := davit.AsError(err).Details["tabs"].([]davit.TabID)
	if !slices.Equal(ids, []davit.TabID{asked.TabID}) {
		c.Fatalf("asked about %v: %v", ids, err)
	}
	late := c.open("late4", onePane)
	c.x.edit(wire.TabEdit{Tab: asked.TabID, After: ptr(davit.TabID(""))})
	c.close(ids...)
	c.done(asked.TabID)
	c.wantRan("asked4", 1)
	c.x.tab(left.TabID)
	c.x.tab(late.TabID)
	c.close(left.TabID, late.TabID)
}

// The question names the ids of exactly what will close, and is asked again when they are
// closed without a yes.
func caseSameSet(c *scene) {
	var ids []davit.TabID
	for _, name := range []string{"out5", "in5", "in5b"} {
		ids = append(ids, c.open(name, onePane+plan(note(name))).TabID)
	}
	busy := c.x.tab(ids[1]).Focused
	c.busy(busy, "sleep 1000")
	ref, err := c.x.s.MakeGroup(c.Context(), wire.GroupMake{Tabs: ids[1:], Name: "five"})
	c.x.must(err)
	_, err = c.x.s.Close(c.Context(), wire.TabClose{Group: ref.Group}, ReasonUser)
	set, _ := davit.AsError(err).Details["tabs"].([]davit.TabID)
	if !slices.Equal(set, ids[1:]) {
		c.Fatalf("asked about %v, want %v: %v", set, ids[1:], err)
	}
	if _, err := c.x.s.Close(c.Context(), wire.TabClose{Tabs: set}, ReasonUser); davit.CodeOf(err) != davit.CodeTabCloseConfirm {
		c.Errorf("not asked again: %v", err)
	}
	c.close(set...)
	c.done(ids[1])
	c.done(ids[2])
	if got := c.x.tab(ids[0]).OnClose; got.Ran {
		c.Errorf("outside of the group: %+v", got)
	}
	c.close(ids[0])
	c.done(ids[0])
}

// There are no windows: the last tab closes like any other, and the host stays.
func caseLastTab(c *scene) {
	c.alone()
	only := c.open("only", onePane+plan(note("only")))
	c.close(only.TabID)
	c.done(only.TabID)
	c.wantRan("only", 1)
	next := c.open("next", onePane)
	c.x.tab(next.TabID)
}

// A stop of the host closes nothing; a cleanup that runs goes on without it.
func caseHostStopped(c *scene) {
	c.alone()
	kept := c.open("kept8", onePane+plan(note("kept8")))
	gone := c.open("gone8", onePane+plan(slow("gone8"), note("second8")))
	c.close(gone.TabID)
	c.awaitRan("gone8-begun")
	c.x.stop()
	c.letGo("gone8")
	c.x = c.st.start() // the former one is stopped; until here nobody but the keeper was there
	c.done(gone.TabID)
	c.wantRan("gone8-begun", 1)
	c.wantRan("second8", 1)
	if got := c.x.tab(kept.TabID).OnClose; got == nil || got.Ran {
		c.Errorf("the plan of the open tab: %+v", got)
	}
	c.wantRan("kept8", 0)
}

func caseShellExits(c *scene) {
	opened := c.open("exits", onePane+plan(note("exits")))
	c.x.typed(opened.Panes[0], "exit")
	c.done(opened.TabID)
	c.wantRan("exits", 1)
	killed := c.open("killed", onePane+plan(note("killed")))
	c.x.typed(killed.Panes[0], "kill -KILL $$")
	c.x.eventually("the shell is killed", func() bool { return c.x.host.State().Panes[killed.Panes[0]].Exit != nil })
	c.neverAgain(killed.TabID) // a signal keeps the tab (T5.2)
	c.x.tab(killed.TabID)
	c.close(killed.TabID)
	c.done(killed.TabID)
}

func caseLastPane(c *scene) {
	opened := c.open("lastpane", onePane+plan(note("lastpane")))
	c.x.must(c.x.s.ClosePane(c.Context(), opened.Panes[0], false, ReasonUser))
	c.done(opened.TabID)
	c.wantRan("lastpane", 1)
}

const twoPanes = "[[panes]]\nid = \"both\"\nsplit = \"horizontal\"\nchildren = [\"a\", \"b\"]\n[[panes]]\nid = \"a\"\ntype = \"terminal\"\n[[panes]]\nid = \"b\"\ntype = \"terminal\"\n"

func caseOnePane(c *scene) {
	opened := c.open("onepane", twoPanes+plan(note("onepane")))
	c.x.must(c.x.s.ClosePane(c.Context(), opened.Panes[0], false, ReasonUser))
	c.neverAgain(opened.TabID)
	if got := c.x.tab(opened.TabID).OnClose; got.Ran {
		c.Errorf("the plan was taken: %+v", got)
	}
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan("onepane", 1)
}

// A plan is never lost, and never run, by a move: the last pane stays where its plan waits,
// and leaves when it was run.
func casePaneMoved(c *scene) {
	from, to := c.open("from", onePane+plan(note("from"))), c.open("to", onePane)
	move := wire.PaneMove{Pane: from.Panes[0], Beside: to.Panes[0]}
	if _, err := c.x.s.MovePane(c.Context(), move); davit.CodeOf(err) != davit.CodeClosePlanLost {
		c.Fatalf("moved away from its plan: %v", err)
	}
	c.neverAgain(from.TabID)
	c.close(from.TabID)
	c.done(from.TabID)
	c.undo(from.TabID)
	if _, err := c.x.s.MovePane(c.Context(), move); err != nil {
		c.Fatal(err)
	}
	c.neverAgain(from.TabID, store.CleanupDone)
	c.wantRan("from", 1)
	c.close(to.TabID)
}

func caseTabMoved(c *scene) {
	a, b := c.open("moved13", onePane+plan(note("moved13"))), c.open("other13", onePane)
	ref, err := c.x.s.MakeGroup(c.Context(), wire.GroupMake{Tabs: []davit.TabID{b.TabID, a.TabID}, Name: "g13"})
	c.x.must(err)
	c.x.edit(wire.TabEdit{Tab: a.TabID, Group: ptr(davit.GroupID("")), After: ptr(b.TabID)})
	c.x.edit(wire.TabEdit{Tab: a.TabID, Pinned: ptr(true)})
	if _, err := c.x.s.MovePane(c.Context(), wire.PaneMove{Pane: a.Panes[0], After: b.TabID}); err != nil {
		c.Fatal(err)
	}
	if got := c.x.tab(a.TabID).OnClose; got == nil || got.Ran {
		c.Fatalf("the plan: %+v (group %s)", got, ref.Group)
	}
	c.neverAgain(a.TabID)
	c.close(a.TabID, b.TabID)
	c.done(a.TabID)
	c.wantRan("moved13", 1)
}

// A tab without panes has its plan all the same: it is the tab's.
func caseNoPanes(c *scene) {
	opened := c.open("nopanes", onePane+plan(note("nopanes")))
	tab := c.x.tab(opened.TabID)
	tab.Tree, tab.Focused = nil, ""
	c.x.must(c.x.host.Change(c.Context(), func(host.Model) (host.Change, error) {
		return host.Change{Events: []davit.Event{{Kind: davit.EventTab, Tab: &tab}}}, nil
	}))
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan("nopanes", 1)
}
