package tab

import (
	"strings"
	"testing"

	"davit"
	"davit/internal/wire"
)

// What is announced is what a command says as it is written, and no more: a script or an
// alias may delete a branch too, and davit does not guess (spec tabs T5.9, T5.10).
func TestWhichCommandsDeleteABranch(t *testing.T) {
	t.Parallel()
	for command, deletes := range map[string]bool{
		"git branch -d needle":                          true,
		"git branch -D 'a b'":                           true,
		"git branch --delete --force x":                 true,
		"git branch -q -D x":                            true,
		"git branch -fd x":                              true,
		"git -C '/a b' branch -d x":                     true,
		"git -c a.b=c --no-pager branch -D x":           true,
		"git worktree remove /w && git branch -D x":     true,
		"(git branch -d x)":                             true,
		"git branch":                                    false,
		"git branch dev":                                false,
		"git branch --list x-d":                         false,
		"git worktree remove /w":                        false,
		"legit branch -d x":                             false,
		"git log branch -d":                             false,
		"./cleanup.sh -d":                               false,
		"git branch --show-current":                     false,
		"git push origin --delete x":                    false,
		"echo done; git checkout main; git branch -v x": false,
	} {
		got := len(branchDeletions(&davit.OnClose{Commands: []string{command}})) == 1
		if got != deletes {
			t.Errorf("%q: told as deleting: %v", command, got)
		}
	}
}

// A cleanup that deletes a branch says so in the refusal of the close, in its answer and in
// its notice, in the user's own command; afterwards in git's words, which name the commit
// (spec tabs T5.10).
func TestCloseTellsOfABranchThatGoes(t *testing.T) {
	t.Parallel()
	c := &scene{T: t}
	c.alone()
	opened := c.open("goes", worktree("goes")+onePane+plan(slow("goes"), "git worktree remove {{worktree_path}}", "git branch -d goes"))
	c.busy(opened.Panes[0], "sleep 1000")
	const ahead = `the cleanup of "goes" deletes a branch: git branch -d goes`
	_, err := c.x.s.Close(t.Context(), wire.TabClose{Tabs: []davit.TabID{opened.TabID}}, ReasonUser)
	if list, _ := davit.AsError(err).Details["cleanups"].([]wire.CleanupAhead); len(list) != 1 || list[0].Text != ahead || !strings.Contains(err.Error(), ahead) {
		t.Fatalf("refused with %v", err)
	}
	closed := c.x.close(wire.TabClose{Tabs: []davit.TabID{opened.TabID}})
	if list := closed.Cleanups; len(list) != 1 || list[0].Text != ahead || list[0].HeldBy != "" {
		t.Errorf("answered %+v", list)
	}
	c.awaitRan("goes-begun")
	if n, _ := c.x.notice(NoticeClosed); !strings.Contains(n.Body, "its cleanup deletes a branch: git branch -d goes") {
		t.Errorf("while it runs: %q", n.Body)
	}
	c.letGo("goes")
	c.done(opened.TabID)
	n, _ := c.x.notice(NoticeClosed)
	if !strings.Contains(n.Body, "its worktree was removed; deleted branch goes (was ") {
		t.Errorf("after it: %q", n.Body)
	}
}
