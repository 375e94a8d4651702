package tab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"davit"
	"davit/internal/wire"
)

// hiding opens a config whose worktree goes with its tab, and puts files that git ignores
// into it.
func (c *scene) hiding(name, text string) wire.Opened {
	c.Helper()
	opened := c.open(name, worktree(name)+"remove_on_close = true\n"+onePane+text)
	for _, path := range []string{".env", "node_modules/a.js"} {
		path = filepath.Join(opened.Worktree.Path, path)
		c.x.must(os.MkdirAll(filepath.Dir(path), 0o700))
		c.x.must(os.WriteFile(path, []byte("x\n"), 0o600))
	}
	return opened
}

func (c *scene) ignoring() {
	c.alone()
	c.st.write("home/repo/.gitignore", ".env\nnode_modules/\n")
	c.st.git("add", ".gitignore")
	c.st.git("commit", "-q", "-m", "ignore")
}

const ignoredHere = "2 files and folders that git ignores go with it: .env, node_modules/"

// A close says what git ignores in a worktree that goes: in the refusal, in its answer, and
// in its notice; when the cleanup has run the notice and the record say what went and what
// stays, and nothing else is told (spec launch L9.6, tabs T5.5).
func TestCloseTellsWhatGoesWithTheWorktree(t *testing.T) {
	t.Parallel()
	c := &scene{T: t}
	c.ignoring()
	opened := c.hiding("hides", plan(slow("hides")))
	c.st.git("-C", opened.Worktree.Path, "commit", "-q", "--allow-empty", "-m", "mine")
	c.st.write("home/changed", "")
	c.x.must(os.WriteFile(filepath.Join(opened.Worktree.Path, "README.md"), []byte("kept aside\n"), 0o600))
	c.st.git("-C", opened.Worktree.Path, "stash", "-q")
	c.busy(opened.Panes[0], "sleep 1000")
	_, err := c.x.s.Close(t.Context(), wire.TabClose{Tabs: []davit.TabID{opened.TabID}}, ReasonUser)
	e := davit.AsError(err)
	if davit.CodeOf(err) != davit.CodeTabCloseConfirm || !strings.Contains(e.Message, ignoredHere) {
		t.Fatalf("refused with %v", err)
	}
	if going, _ := e.Details["going"].([]wire.WorktreeGoing); len(going) != 1 || going[0].IgnoredCount != 2 {
		t.Errorf("the refusal's details: %+v", e.Details)
	}
	closed := c.x.close(wire.TabClose{Tabs: []davit.TabID{opened.TabID}})
	if g := closed.Going; len(g) != 1 || g[0].Tab != opened.TabID || g[0].Branch != "hides" || !slices.Equal(g[0].Ignored, []string{".env", "node_modules/"}) || g[0].IgnoredCount != 2 {
		t.Errorf("answered %+v", closed)
	}
	c.awaitRan("hides-begun")
	if n, _ := c.x.notice(NoticeClosed); n.Body != "the worktree of hides goes, unless that would lose work; "+ignoredHere {
		t.Errorf("while the cleanup runs: %q", n.Body)
	}
	c.letGo("hides")
	c.done(opened.TabID)
	n, _ := c.x.notice(NoticeClosed)
	for _, want := range []string{"its worktree was removed", "branch hides", "stash WIP on hides", "2 files and folders that git ignores went with it: .env, node_modules/"} {
		if !strings.Contains(n.Body, want) {
			t.Errorf("after the cleanup: %q does not say %q", n.Body, want)
		}
	}
	if n.Persistent || len(c.x.host.State().Notices) != 1 {
		t.Errorf("told otherwise too: %+v", c.x.host.State().Notices)
	}
	for _, row := range c.x.host.Model().Cleanups {
		if step, ok := removal(row); !ok || step.IgnoredCount != 2 || len(step.Kept) != 2 {
			t.Errorf("recorded: %+v", step)
		}
	}
}

// Nobody is told of a worktree that stays, nor of ignored files that are not there; and a
// notice that was put away stays so when the cleanup ends (spec tabs T5.5).
func TestCloseWithNothingToTell(t *testing.T) {
	t.Parallel()
	c := &scene{T: t}
	c.ignoring()
	stays := c.open("stays", worktree("stays")+onePane+plan("true"))
	closed := c.x.close(wire.TabClose{Tabs: []davit.TabID{stays.TabID}})
	if n, _ := c.x.notice(NoticeClosed); len(closed.Going) != 0 || n.Body != "" {
		t.Errorf("told of %+v, %q", closed.Going, n.Body)
	}
	bare := c.open("bare", worktree("bare")+"remove_on_close = true\n"+onePane+plan(slow("bare")))
	closed = c.x.close(wire.TabClose{Tabs: []davit.TabID{bare.TabID}})
	if g := closed.Going; len(g) != 1 || g[0].IgnoredCount != 0 || g[0].Text != "the worktree of bare goes, unless that would lose work" {
		t.Errorf("told of %+v", g)
	}
	c.x.must(c.x.s.Dismiss(t.Context(), closedNoticeID(closed.Batch)))
	c.letGo("bare")
	c.done(bare.TabID)
	if n, told := c.x.notice(NoticeClosed); told && strings.Contains(fmt.Sprint(n), "bare") {
		t.Errorf("told again: %+v", n)
	}
}

// Undo while and after the cleanup runs says what is so: which programs were ended, that
// the worktree goes or is gone; the tab loses a worktree that is gone, and its shell says
// why it is at home (spec tabs T5.8).
func TestUndoSaysWhatIsSo(t *testing.T) {
	t.Parallel()
	c := &scene{T: t}
	c.ignoring()
	back := func(id davit.TabID) []string {
		t.Helper()
		b, err := c.x.s.Undo(t.Context(), wire.TabRef{Tab: id})
		c.x.must(err)
		return b.Notes
	}
	lost := func(opened wire.Opened) {
		t.Helper()
		path := opened.Worktree.Path
		c.x.eventually("the tab has no worktree", func() bool { return c.x.tab(opened.TabID).Worktree == nil })
		c.atHome(opened.Panes[0])
		c.x.eventually("the pane says why", func() bool {
			return c.x.host.State().Panes[opened.Panes[0]].Note == "moved to home: "+path+" is gone"
		})
	}

	during := c.hiding("during", plan(slow("during")))
	c.close(during.TabID)
	c.awaitRan("during-begun")
	if notes := back(during.TabID); !slices.Equal(notes, []string{"its cleanup has begun, goes on, and is not run again", "its worktree still goes: " + during.Worktree.Path}) {
		t.Errorf("while it runs: %q", notes)
	}
	if c.x.tab(during.TabID).Worktree == nil {
		t.Error("the tab has lost a worktree that is there")
	}
	c.letGo("during")
	c.done(during.TabID)
	lost(during)

	after := c.hiding("after", "")
	c.busy(after.Panes[0], "sleep 1000")
	c.close(after.TabID)
	c.done(after.TabID)
	want := []string{"1 program was ended by the close: sleep", "its cleanup has run, and is not run again", "its worktree is gone: " + after.Worktree.Path, "kept: branch after"}
	if notes := back(after.TabID); !slices.Equal(notes, want) {
		t.Errorf("after it: %q, want %q", notes, want)
	}
	lost(after)

	before := c.open("before", onePane)
	c.close(before.TabID)
	if notes := back(before.TabID); len(notes) != 0 {
		t.Errorf("of a tab without a plan: %q", notes)
	}
}

// A worktree that was removed by hand is no open tab's any more; one that is there stays.
func TestWorktreeRemovedByHand(t *testing.T) { // spec launch L9.6
	t.Parallel()
	c := &scene{T: t}
	c.alone()
	opened := c.open("byhand", worktree("byhand")+onePane)
	shown := func() *davit.Worktree {
		for _, tab := range c.x.host.State().Tabs {
			if tab.ID == opened.TabID {
				return tab.Worktree
			}
		}
		t.Fatal("the tab is gone")
		return nil
	}
	c.x.s.WorktreeGone(t.Context(), opened.Worktree.Path)
	if shown() == nil {
		t.Error("a worktree that is there was taken from its tab")
	}
	c.st.git("worktree", "remove", "--force", opened.Worktree.Path)
	c.x.s.WorktreeGone(t.Context(), opened.Worktree.Path)
	if shown() != nil {
		t.Error("the tab still shows a worktree that is gone")
	}
}
