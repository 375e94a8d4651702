package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What git ignores goes with a worktree without holding the removal up: it is counted
// before and told after, files first, folders whole; what the main checkout has alike is
// left out, and a link or a file of the same size but other bytes is not alike (spec launch
// L9.6).
func TestIgnoredFilesAreTold(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	s.write(filepath.Join(repo, ".gitignore"), ".env*\nnode_modules/\n*.log\nlinked\n")
	s.git(repo, "add", ".gitignore")
	s.git(repo, "commit", "-q", "-m", "ignore")
	w := s.workspaces()
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	for _, root := range []string{repo, wt.Path} {
		s.write(filepath.Join(root, ".env.same"), "SAME=1\n")
		s.write(filepath.Join(root, ".env"), "PATH="+filepath.Base(root)[:1]+"\n") // r and x: as long
		if err := os.Symlink("a.txt", filepath.Join(root, "linked")); err != nil {
			t.Fatal(err)
		}
	}
	s.write(filepath.Join(wt.Path, "node_modules", "a", "b.js"), "js\n")
	s.write(filepath.Join(wt.Path, "node_modules", "a", "c.js"), "js\n")
	s.write(filepath.Join(wt.Path, "deep", "a b.log"), "log\n")
	want := []string{".env", "deep/a b.log", "node_modules/"}
	got, err := w.Ignored(context.Background(), wt.Path)
	if err != nil || !slices.Equal(got.Paths, want) || got.Count != 3 {
		t.Errorf("before: %+v %v, want %q", got, err, want)
	}
	infos, err := w.List(context.Background(), repo, ListOptions{})
	if err != nil || len(infos) != 2 || infos[0].Ignored != 0 || infos[1].Ignored != 3 || infos[1].Dirty || infos[1].Untracked != 0 {
		t.Errorf("the list: %+v %v", infos, err)
	}
	report, err := w.Remove(context.Background(), RemoveRequest{Path: wt.Path})
	if err != nil || exists(wt.Path) {
		t.Fatalf("removed: %v", err)
	}
	if !slices.Equal(report.Ignored.Paths, want) || report.Ignored.Count != 3 {
		t.Errorf("after: %+v, want %q", report.Ignored, want)
	}
	if text := IgnoredText(report.Ignored, true); text != "3 files and folders that git ignores went with it: .env, deep/a b.log, node_modules/" {
		t.Errorf("in words: %s", text)
	}
}

// Many are counted, and the first named (spec launch L9.6).
func TestManyIgnoredFiles(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	s.write(filepath.Join(repo, ".gitignore"), "*.log\nout/\n")
	s.git(repo, "add", ".gitignore")
	s.git(repo, "commit", "-q", "-m", "ignore")
	w := s.workspaces()
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	s.write(filepath.Join(wt.Path, "out", "x"), "x\n")
	for i := range 30 {
		s.write(filepath.Join(wt.Path, fmt.Sprintf("%02d.log", i)), "x\n")
	}
	got, err := w.Ignored(context.Background(), wt.Path)
	if err != nil || got.Count != 31 || len(got.Paths) != MaxIgnored || got.Paths[0] != "00.log" {
		t.Errorf("%+v %v", got, err)
	}
	if text := IgnoredText(got, false); !strings.HasPrefix(text, "31 files and folders that git ignores go with it: 00.log, ") || !strings.HasSuffix(text, " and 26 more") {
		t.Errorf("in words: %s", text)
	}
	for want, i := range map[string]Ignored{
		"": {}, "1 file that git ignores goes with it: .env": {[]string{".env"}, 1}, "2 folders that git ignores go with it: a/, b/": {[]string{"a/", "b/"}, 2},
		"1 file that git ignores goes with it: \"a\\nb\"": {[]string{"a\nb"}, 1},
	} {
		if text := IgnoredText(i, false); text != want {
			t.Errorf("%+v: %q, want %q", i, text, want)
		}
	}
}
