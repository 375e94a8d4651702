package tab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"davit"
	"davit/internal/store"
	"davit/internal/wire"
)

// closeCase is one of the 42 known cases of closing a tab with a close plan: a test, or
// why it cannot occur here. Where a case advises something else, spec tabs T5 stands.
type closeCase struct {
	number, what string
	run          func(*scene)
	cannot       string
}

func closeCases() []closeCase {
	return []closeCase{
		{number: "1", what: "several closed by one act", run: caseSeveral},
		{number: "2", what: "some of them have no plan", run: caseSomeWithout},
		{number: "3", what: "warning cancelled", run: caseCancelled},
		{number: "4", what: "warning confirmed, tabs moved meanwhile", run: caseConfirmed},
		{number: "5", what: "a dialog of one tab that bypasses the plan", cannot: "Service.Close is the only way to close a tab: page, CLI and API call it, ClosePane ends in it"},
		{number: "5a", what: "a dialog that closes another set", run: caseSameSet},
		{number: "6", what: "last tab of a window", run: caseLastTab},
		{number: "7", what: "window close button", cannot: "there are no windows: a page that closes ends its connection, and no handler of that knows tabs"},
		{number: "8", what: "the host is stopped", run: caseHostStopped},
		{number: "9", what: "last shell exits by itself", run: caseShellExits},
		{number: "10", what: "last pane closed", run: caseLastPane},
		{number: "11", what: "one of several panes closed", run: caseOnePane},
		{number: "12", what: "last pane moved to another tab", run: casePaneMoved},
		{number: "13", what: "tab moved", run: caseTabMoved},
		{number: "14", what: "replaced tab", cannot: "nothing replaces a tab: a form opens its tab when it is sent, and a launch that failed drops one that never had a program"},
		{number: "15", what: "undo after the cleanup", run: caseUndoAfter},
		{number: "16", what: "undo while the cleanup runs", run: caseUndoDuring},
		{number: "17", what: "closed again after undo", run: caseClosedAgain},
		{number: "18", what: "undo after the cleanup failed", run: caseUndoFailed},
		{number: "19", what: "the same name opened anew while the cleanup runs", run: caseOpenedAnew},
		{number: "20", what: "two tabs on one worktree", run: caseTwoTabs},
		{number: "21", what: "programs still running in the directory", run: caseStillRunning},
		{number: "22", what: "untracked files", run: caseUntracked},
		{number: "23", what: "directory missing at close", run: caseDirectoryMissing},
		{number: "24", what: "relative directory", run: caseRelative},
		{number: "25", what: "directory with ~", run: caseTilde},
		{number: "26", what: "commands = []", run: caseNoCommands},
		{number: "27", what: "[on_close] without commands", run: caseCommandsMissing},
		{number: "28", what: "unknown key in [on_close]", run: caseUnknownKey},
		{number: "29", what: "pane tree does not resolve", run: caseBadTree},
		{number: "30", what: "open command failed, then close", run: caseOpenFailed},
		{number: "31", what: "parameter without a value", run: caseNoValue},
		{number: "32", what: "unknown placeholder", run: casePlaceholder},
		{number: "33", what: "config edited or deleted while open", run: caseEdited},
		{number: "34", what: "restored tab", run: caseRestored},
		{number: "35", what: "notice pushed out", run: casePushedOut},
		{number: "36", what: "nobody is there when the failure comes", run: caseNobody},
		{number: "37", what: "a command never ends", run: caseNeverEnds},
		{number: "38", what: "a command reads stdin", run: caseStdin},
		{number: "39", what: "huge output", run: caseHugeOutput},
		{number: "40", what: "no panes left", run: caseNoPanes},
		{number: "41", what: "a generated name that only on_close mentions", run: caseNameInClose},
	}
}

// Each case runs on a real store, host loop, keeper, shells and git; those that stop the
// host have a stage of their own.
func TestCases(t *testing.T) { // spec tabs T5
	cases := closeCases()
	if len(cases) != 42 {
		t.Errorf("%d cases, there are 42", len(cases))
	}
	for _, part := range slices.Collect(slices.Chunk(cases, 14)) {
		t.Run(fmt.Sprintf("from %s to %s", part[0].number, part[len(part)-1].number), func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			x := st.start()
			for _, c := range part {
				if c.cannot == "" {
					runCase(t, c, st, x)
				}
			}
		})
	}
}

func runCase(t *testing.T, c closeCase, st *stage, x *tabsHost) {
	t.Run("case "+c.number+" "+c.what, func(t *testing.T) {
		outer := st.tb
		st.tb, x.tb = t, t
		defer func() { st.tb, x.tb = outer, outer }()
		c.run(&scene{T: t, st: st, x: x})
	})
}

// scene is what a case runs in.
type scene struct {
	*testing.T
	st *stage
	x  *tabsHost
}

// alone gives a case a stage of its own.
func (c *scene) alone() {
	c.st = newStage(c.T)
	c.x = c.st.start()
}

// plan is an [on_close] of commands, run where the tab began.
func plan(commands ...string) string {
	var quoted []string
	for _, line := range commands {
		quoted = append(quoted, strconv.Quote(line))
	}
	return "[on_close]\ncommands = [" + strings.Join(quoted, ", ") + "]\n"
}

// worktree is a [worktree] on a branch of a name, in the repository at hand.
func worktree(branch string) string {
	return "[worktree]\nrepo = \"{{repo_root}}\"\nbranch = \"" + branch + "\"\n"
}

// open writes a config of this name, and opens it.
func (c *scene) open(name, text string) wire.Opened {
	c.Helper()
	c.st.config(name, text)
	return c.x.openConfig(c.st, name, nil)
}

func (c *scene) close(ids ...davit.TabID) {
	c.Helper()
	c.x.close(wire.TabClose{Tabs: ids})
}

// note is a command that leaves a line, for ran to count.
func note(line string) string { return "echo " + line + " >> \"$HOME/log\"" }

// slow is a command that notes its begin, and goes on when the file name.go is there.
func slow(name string) string {
	return note(name+"-begun") + "; while ! test -e \"$HOME/" + name + ".go\"; do sleep 0.02; done; " + note(name+"-over")
}

func (c *scene) letGo(name string) { c.st.write("home/"+name+".go", "") }

func (c *scene) ran(line string) int {
	return len(slices.DeleteFunc(strings.Split(c.st.read("home/log"), "\n"), func(l string) bool { return l != line }))
}

func (c *scene) wantRan(line string, times int) {
	c.Helper()
	if n := c.ran(line); n != times {
		c.Errorf("%s ran %d times, want %d", line, n, times)
	}
}

func (c *scene) awaitRan(line string) {
	c.Helper()
	c.x.eventually(line, func() bool { return c.ran(line) > 0 })
}

// done waits for the one cleanup of a tab to end well.
func (c *scene) done(id davit.TabID) {
	c.Helper()
	c.x.cleaned(id, store.CleanupDone)
}

// failed waits for the one cleanup of a tab to fail, and gives its notice.
func (c *scene) failed(id davit.TabID) davit.Notice {
	c.Helper()
	c.x.cleaned(id, store.CleanupFailed)
	for _, n := range c.x.host.State().Notices {
		if n.Kind == NoticeCleanupFailed && n.Tab == id {
			return n
		}
	}
	c.Fatalf("the failure of %s is not told: %+v", id, c.x.host.State().Notices)
	return davit.Notice{}
}

// refused opens a config that does not load, and gives what was said.
func (c *scene) refused(name, text string, code davit.Code) string {
	c.Helper()
	before := len(c.x.host.State().Tabs)
	c.st.config(name, text)
	_, err := c.x.s.OpenConfig(c.Context(), wire.OpenRequest{Config: name, Dir: c.st.repo})
	if davit.CodeOf(err) != code {
		c.Fatalf("opened, or refused otherwise: %v", err)
	}
	if after := len(c.x.host.State().Tabs); after != before {
		c.Errorf("%d tabs, before %d", after, before)
	}
	return err.Error()
}

func (c *scene) undo(id davit.TabID) {
	c.Helper()
	if _, err := c.x.s.Undo(c.Context(), wire.TabRef{Tab: id}); err != nil {
		c.Fatal(err)
	}
}

// neverAgain gives a second cleanup of a tab the time to show itself: another cleanup of
// the same repository, queued after, has its turn.
func (c *scene) neverAgain(id davit.TabID, want ...store.CleanupState) {
	c.Helper()
	marker := c.open("marker-"+randomHex(3), onePane+plan("true"))
	c.close(marker.TabID)
	c.done(marker.TabID)
	if got := c.x.cleanups(id); !slices.Equal(got, want) {
		c.Errorf("cleanups of %s: %v, want %v", id, got, want)
	}
}

// busy starts a program in a pane and waits until it is in the foreground.
func (c *scene) busy(id davit.PaneID, line string) {
	c.Helper()
	c.x.typed(id, line)
	c.x.eventually("a program runs in "+string(id), func() bool {
		program, _ := c.x.s.running(c.Context(), c.x.host.State().Panes[id])
		return program != "" && program != "bash"
	})
}
