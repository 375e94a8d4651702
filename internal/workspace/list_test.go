package workspace

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What a list says of a worktree: how far from its base, why it is locked, what it takes on
// the disk, where a file with two names counts once and a link's target not at all (spec
// interfaces A3.5).
func TestListTellsBaseLockAndSize(t *testing.T) {
	s := newScratch(t)
	w, repo := s.workspaces(), s.repo("repo")
	wt := s.create(w, CreateRequest{Repo: repo, Name: "topic"})
	s.git(wt.Path, "commit", "-q", "--allow-empty", "-m", "one")
	s.git(wt.Path, "commit", "-q", "--allow-empty", "-m", "two")
	s.git(repo, "commit", "-q", "--allow-empty", "-m", "meanwhile")
	s.git(repo, "worktree", "lock", "--reason", "on a stick", wt.Path)
	info := func(options ListOptions) Info {
		t.Helper()
		list, err := w.List(context.Background(), repo, options)
		if err != nil || len(list) != 2 {
			t.Fatalf("%+v %v", list, err)
		}
		return list[1]
	}
	got := info(ListOptions{})
	if got.Base != "main" || got.Ahead != 2 || got.Behind != 1 || got.LockReason != "on a stick" || got.Size != nil {
		t.Errorf("%+v", got)
	}
	s.git(repo, "branch", "older", "HEAD~1")
	if got := info(ListOptions{Base: func(path string) string {
		if path == wt.Path {
			return "older"
		}
		return ""
	}}); got.Base != "older" || got.Ahead != 2 || got.Behind != 0 {
		t.Errorf("from what it was made: %+v", got)
	}
	// A base that is gone is passed over.
	if got := info(ListOptions{Base: func(string) string { return "gone" }}); got.Base != "main" || got.Fault != "" {
		t.Errorf("%+v", got)
	}
	before := *info(ListOptions{Sizes: true}).Size
	big := filepath.Join(wt.Path, "big")
	if err := os.WriteFile(big, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(big, filepath.Join(wt.Path, "again")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr", filepath.Join(wt.Path, "usr")); err != nil {
		t.Fatal(err)
	}
	if grown := *info(ListOptions{Sizes: true}).Size - before; grown < 1<<20 || grown > 1<<20+64<<10 {
		t.Errorf("a megabyte with two names takes %d bytes", grown)
	}
}
