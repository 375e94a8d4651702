package tab

import (
	"os"
	"strings"
	"time"

	"davit"
	"davit/internal/pane"
	"davit/internal/store"
)

// atHome says that a shell has gone home, by what it says itself.
func (c *scene) atHome(id davit.PaneID) {
	c.Helper()
	c.x.eventually("the shell is at home", func() bool { return c.x.host.State().Panes[id].Directory == c.st.path("home") })
	c.x.typed(id, "echo at-$PWD-now")
	c.x.wait(id, pane.Condition{For: "text", Text: "at-" + c.st.path("home") + "-now"})
}

func removing(branch string, before ...string) string {
	return onePane + plan(append(before, "cd {{repo_root}} && git worktree remove {{worktree_path}}")...)
}

func caseUndoAfter(c *scene) {
	opened := c.open("tree15", worktree("tree15")+removing("tree15"))
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.undo(opened.TabID)
	c.atHome(opened.Panes[0])
	c.close(opened.TabID)
	c.neverAgain(opened.TabID, store.CleanupDone)
}

// The directory is still there at the undo; the shell goes home when the cleanup has ended
// and it is gone, and not before.
func caseUndoDuring(c *scene) {
	opened := c.open("tree16", worktree("tree16")+removing("tree16", slow("tree16")))
	c.close(opened.TabID)
	c.awaitRan("tree16-begun")
	c.undo(opened.TabID)
	if got := c.x.tab(opened.TabID).OnClose; !got.Ran {
		c.Errorf("the plan was given back after its first command began: %+v", got)
	}
	c.x.typed(opened.Panes[0], "echo at-$(basename $PWD)-now")
	c.x.wait(opened.Panes[0], pane.Condition{For: "text", Text: "at-tree16-now"})
	c.letGo("tree16")
	c.done(opened.TabID)
	if _, err := os.Stat(opened.Worktree.Path); !os.IsNotExist(err) {
		c.Fatalf("the worktree: %v", err)
	}
	c.atHome(opened.Panes[0])
	c.close(opened.TabID)
	c.neverAgain(opened.TabID, store.CleanupDone)
	c.wantRan("tree16-begun", 1)
}

func caseClosedAgain(c *scene) {
	opened := c.open("again", onePane+plan(note("again")))
	for range 3 {
		c.close(opened.TabID)
		c.done(opened.TabID)
		c.undo(opened.TabID)
		if got := c.x.tab(opened.TabID).OnClose; !got.Ran {
			c.Errorf("given back: %+v", got)
		}
	}
	c.close(opened.TabID)
	c.neverAgain(opened.TabID, store.CleanupDone)
	c.wantRan("again", 1)
}

// A cleanup that failed counts as run: only its notice's button runs it again.
func caseUndoFailed(c *scene) {
	opened := c.open("fails18", onePane+plan(note("fails18"), "test -e \"$HOME/fails18.go\""))
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	c.undo(opened.TabID)
	if got := c.x.tab(opened.TabID).OnClose; !got.Ran {
		c.Errorf("given back: %+v", got)
	}
	if _, still := c.x.notice(NoticeCleanupFailed); !still {
		c.Error("the failure is not told any more")
	}
	c.close(opened.TabID)
	c.neverAgain(opened.TabID, store.CleanupFailed)
	c.wantRan("fails18", 1)
	c.letGo("fails18")
	c.x.must(c.x.s.runAgain(c.Context(), strings.TrimPrefix(told.ID, "cleanup-")))
	c.x.cleaned(opened.TabID, store.CleanupMerged, store.CleanupDone)
	c.wantRan("fails18", 2)
}

// While the cleanup of a name runs, the name is not free: the second opening is refused
// and touches nothing; when it has ended, it opens, and its worktree stays.
func caseOpenedAnew(c *scene) {
	text := worktree("again19") + onePane + plan(slow("again19"), "cd {{repo_root}} && git worktree remove {{worktree_path}} && git branch -d again19")
	first := c.open("again19", text)
	c.close(first.TabID)
	c.awaitRan("again19-begun")
	said := c.refused("again19", text, davit.CodeWorktreeCollision)
	if !strings.Contains(said, "again19") {
		c.Errorf("refused with %q", said)
	}
	if _, err := os.Stat(first.Worktree.Path); err != nil {
		c.Errorf("the first worktree was touched: %v", err)
	}
	c.letGo("again19")
	c.done(first.TabID)
	second := c.x.openConfig(c.st, "again19", nil)
	c.neverAgain(first.TabID, store.CleanupDone)
	if _, err := os.Stat(second.Worktree.Path); err != nil {
		c.Errorf("the second worktree: %v", err)
	}
	c.close(second.TabID)
	c.done(second.TabID)
}

func caseTwoTabs(c *scene) {
	first := c.open("tree20", worktree("tree20")+removing("tree20", note("tree20")))
	second := c.open("beside20", "[[panes]]\nid = \"main\"\ntype = \"terminal\"\ndirectory = \""+first.Worktree.Path+"\"\n")
	c.close(first.TabID)
	c.x.cleaned(first.TabID, store.CleanupHeld)
	if n, told := c.x.notice(NoticeCleanupHeld); !told || !strings.Contains(n.Body, "beside20") {
		c.Errorf("told as %+v", n)
	}
	if _, err := os.Stat(first.Worktree.Path); err != nil {
		c.Error(err)
	}
	c.wantRan("tree20", 0)
	c.close(second.TabID)
	c.done(first.TabID)
	c.wantRan("tree20", 1)
	if _, told := c.x.notice(NoticeCleanupHeld); told {
		c.Error("still told as held")
	}
}

// The tab's programs are ended before its cleanup begins, which finds what they wrote last.
func caseStillRunning(c *scene) {
	opened := c.open("ends21", worktree("ends21")+removing("ends21", "test -e \"$HOME/last21\"", note("ends21")))
	program := c.st.write("home/program21", "trap 'sleep 0.4; touch \"$HOME/last21\"; exit 0' HUP TERM\ntouch \"$HOME/begun21\"\nwhile :; do sleep 0.02; done\n")
	c.x.typed(opened.Panes[0], "sh "+program)
	c.x.eventually("the program has begun", func() bool { _, err := os.Stat(c.st.path("home/begun21")); return err == nil })
	begun := time.Now()
	c.close(opened.TabID)
	if took := time.Since(begun); took > 300*time.Millisecond {
		c.Errorf("the close waited for it: %s", took)
	}
	c.done(opened.TabID)
	c.wantRan("ends21", 1)
}
