package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// The menu of a branch chip: the current branch first, then by the time of the last commit,
// remote ones that no local one stands for, and where another worktree has one (spec chips
// C5.2). Names are checked by git's own rules.
func TestBranchMenu(t *testing.T) {
	s := newScratch(t)
	w := s.workspaces()
	repo := filepath.Join(s.dir, "repo")
	s.git(s.dir, "init", "-q", repo)
	commit := func(branch, at string) {
		t.Setenv("GIT_COMMITTER_DATE", at+"T12:00:00Z")
		s.git(repo, "commit", "-q", "--allow-empty", "-m", branch)
	}
	commit("first", "2020-01-01")
	for branch, at := range map[string]string{"old": "2021-01-01", "feature/a": "2023-01-01", "new": "2024-01-01"} {
		s.git(repo, "switch", "-q", "-c", branch, "main")
		commit(branch, at)
	}
	s.git(repo, "switch", "-q", "main")
	s.git(repo, "worktree", "add", "-q", filepath.Join(s.dir, "other"), "new")
	s.git(repo, "remote", "add", "up/stream", repo)
	s.git(repo, "remote", "add", "origin", repo)
	for name, at := range map[string]string{"up/stream/only-there": "old", "origin/new": "new", "origin/topic/x": "feature/a"} {
		s.git(repo, "update-ref", "refs/remotes/"+name, at)
	}
	s.git(repo, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/new")
	at, err := w.Resolve(t.Context(), "active", repo)
	if err != nil {
		t.Fatal(err)
	}
	menu, err := w.Menu(t.Context(), at, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range menu.Branches {
		got = append(got, fmt.Sprintf("%s %s %s", b.Name, b.Remote, filepath.Base(b.Worktree)))
	}
	want := []string{"main  repo", "new  other", "feature/a  .", "topic/x origin .", "old  .", "only-there up/stream ."}
	if menu.Current != "main" || menu.More || !slices.Equal(got, want) {
		t.Errorf("current %q, more %v\n got %q\nwant %q", menu.Current, menu.More, got, want)
	}
	if menu, err = w.Menu(t.Context(), at, "", 2); err != nil || !menu.More || len(menu.Branches) != 2 || menu.Branches[0].Name != "main" {
		t.Errorf("the first two: %+v, %v", menu, err)
	}
	for name, want := range map[string]NameCheck{
		"fine": {true, ""}, "feature/b": {true, ""}, "old": {true, "refs/heads/old"}, "old/x": {true, "refs/heads/old"}, "feature": {true, "refs/heads/feature/a"},
		"-x": {}, "HEAD": {}, "a..b": {}, "a b": {}, "x.lock": {}, "a~1": {}, "日本": {true, ""},
	} {
		if menu, err := w.Menu(t.Context(), at, name, 1); err != nil || menu.Name != want {
			t.Errorf("%q: %+v, %v", name, menu.Name, err)
		}
	}
	s.git(repo, "switch", "-q", "--detach")
	if at, err = w.Resolve(t.Context(), "active", repo); err != nil {
		t.Fatal(err)
	}
	if menu, err = w.Menu(t.Context(), at, "", 10); err != nil || menu.Current != "" || menu.Branches[0].Name != "new" {
		t.Errorf("detached: %+v, %v", menu, err)
	}
}
