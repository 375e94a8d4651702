package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"davit"
)

// TestSelectors: spec launch L4.
func TestSelectors(t *testing.T) {
	s := newScratch(t)
	repo, other := s.repo("repo"), s.repo("other")
	linked := filepath.Join(s.dir, "trees", "linked")
	s.git(repo, "worktree", "add", "-q", "-b", "feature/x", linked)
	s.git(other, "worktree", "add", "-q", "-b", "feature/y", filepath.Join(s.dir, "more", "twin"))
	s.git(other, "worktree", "add", "-q", "-b", "feature/z", filepath.Join(s.dir, "most", "twin"))
	bare := filepath.Join(s.dir, "bare.git")
	s.git(s.dir, "clone", "-q", "--bare", repo, bare)
	s.write("plain/deep/f", "")
	plain := filepath.Join(s.dir, "plain")
	s.write("broken/.git", "gitdir: /nowhere/at/all\n")
	link := filepath.Join(s.dir, "link")
	if err := os.Symlink(linked, link); err != nil {
		t.Fatal(err)
	}
	s.write("home/f", "")
	s.git(filepath.Join(s.dir, "home"), "init", "-q", "project")
	w := s.workspaces(func(c *Config) {
		c.Known = func() []string { return []string{filepath.Join(s.dir, "gone"), other, repo} }
	})
	ctx := context.Background()
	for _, c := range []struct {
		selector, from, path string
		kind                 Kind
		code                 davit.Code
	}{
		{repo, "", repo, KindWorktree, ""},
		{"path:" + repo + "/.git", "", repo, KindWorktree, ""},
		{"../trees/linked", repo, linked, KindWorktree, ""},
		{"path:" + link, "", linked, KindWorktree, ""},
		{"active", linked, linked, KindWorktree, ""},
		{"", linked, linked, KindWorktree, ""},
		{"~/project", "", filepath.Join(s.dir, "home", "project"), KindWorktree, ""},
		{"branch:feature/x", repo, linked, KindWorktree, ""},
		{"branch:feature/y", repo, filepath.Join(s.dir, "more", "twin"), KindWorktree, ""},
		{"branch:main", repo, repo, KindWorktree, ""}, // the caller's own repository first
		{"branch:main", plain, "", "", davit.CodeWorkspaceAmbiguous},
		{"branch:none", repo, "", "", davit.CodeWorkspaceNotFound},
		{"name:linked", "", linked, KindWorktree, ""},
		{"name:twin", repo, "", "", davit.CodeWorkspaceAmbiguous},
		{"id:" + ID(filepath.Join(repo, ".git"), linked), plain, linked, KindWorktree, ""},
		{"id:wt_0000000000000000", repo, "", "", davit.CodeWorkspaceNotFound},
		{bare, "", bare, KindBare, ""},
		{bare + "/refs", "", bare, KindBare, ""},
		{"folder:" + plain, "", plain, KindFolder, ""},
		{"folder:gone", s.dir, "", "", davit.CodeDirectoryMissing},
		{plain + "/deep", "", "", "", davit.CodeWorkspaceNotFound},
		{filepath.Join(s.dir, "gone"), "", "", "", davit.CodeWorkspaceNotFound},
		{filepath.Join(s.dir, "broken"), "", "", "", davit.CodeWorkspaceNotFound},
		{"relative", "", "", "", davit.CodeWorkspaceNotFound},
		{"path:a\x00b", repo, "", "", davit.CodeWorkspaceNotFound},
	} {
		ws, err := w.Resolve(ctx, c.selector, c.from)
		if davit.CodeOf(err) != c.code || ws.Path != c.path || ws.Kind != c.kind {
			t.Errorf("%q from %q: %s %q, %v; want %s %q, code %q", c.selector, c.from, ws.Kind, ws.Path, err, c.kind, c.path, c.code)
		}
		if c.code == davit.CodeWorkspaceAmbiguous {
			list := fmt.Sprint(davit.AsError(err).Details["candidates"])
			if strings.Count(list, "id:wt_") != 2 {
				t.Errorf("%q: candidates %s", c.selector, list)
			}
		}
	}
	_, err := w.Resolve(ctx, plain, "")
	if e := davit.AsError(err); !strings.Contains(e.Hint, "--folder") {
		t.Errorf("a plain folder does not hint at --folder: %+v", e)
	}
	one, _ := w.Resolve(ctx, linked, "")
	if one.Repo != repo || one.Main || one.Branch != "feature/x" || one.Head == "" {
		t.Errorf("%+v", one)
	}
}

func TestMissingGitIsSaid(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := s.workspaces(func(c *Config) { c.Git.Path = "/nonexistent/git" })
	if _, err := w.Resolve(context.Background(), repo, ""); davit.CodeOf(err) != davit.CodeGitMissing {
		t.Errorf("resolve: %v", err)
	}
	if _, err := w.Remove(context.Background(), RemoveRequest{Path: repo}); davit.CodeOf(err) != davit.CodeGitMissing {
		t.Errorf("remove: %v", err)
	}
}

// TestFoldersStayBelow is the property behind spec launch L9.2: whatever the name, the
// folder is one element, strictly below the root.
func TestFoldersStayBelow(t *testing.T) {
	root := t.TempDir()
	n := naming{root: root, valid: func(string) (bool, error) { return true, nil }}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./a-z\x00-]{0,12}`), rapid.StringN(0, 300, 900)).Draw(t, "name")
		path, err := n.folder(name)
		if err != nil {
			return
		}
		base := filepath.Base(path)
		if filepath.Dir(path) != root || !below(path, root) || base == "." || base == ".." || len(base) > 255 || strings.ContainsAny(base, "/\x00\n") {
			t.Fatalf("%q became %q", name, path)
		}
	})
}

// TestSanitizedNamesAreNames asks git about what sanitize makes.
func TestSanitizedNamesAreNames(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := s.workspaces()
	for _, name := range []string{"", "/", "...", "a..b", "-", "--", "@", "@{", "HEAD", "a.lock.lock", ".lock", "x.lock/y.", "a~^:?*[\\b", "\x00\x7f",
		"tab\tnew\nline", "  ", "é\xff", "a/./b", "a/../b", ".a/.b", "a@{b", "-a/-b", "a.-.lock"} {
		clean := sanitize(name)
		if ok, err := w.cfg.Git.ValidBranch(context.Background(), repo, clean); !ok || err != nil {
			t.Errorf("%q became %q: %v, %v", name, clean, ok, err)
		}
	}
}
