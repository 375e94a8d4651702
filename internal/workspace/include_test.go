package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Spec launch L9.5: ignored files that .worktreeinclude names come along, and nothing else.
func TestInclude(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("harbor")
	s.write(filepath.Join(repo, ".gitignore"), ".env*\nnode_modules/\n*.secret\n")
	s.write(filepath.Join(repo, includeFile), ".env*\n!.env.local\nnode_modules/\nnotes.txt\ntracked.txt\n")
	s.write(filepath.Join(repo, "tracked.txt"), "tracked\n")
	s.git(repo, "add", "-A")
	s.git(repo, "commit", "-q", "-m", "rules")
	old := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	env := s.write(filepath.Join(repo, ".env"), "TOKEN=1\n")
	if err := os.Chmod(env, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(env, old, old); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(repo, ".env.local"), "no\n")
	s.write(filepath.Join(repo, "a b", ".env $x'\n"), "odd\n")
	s.write(filepath.Join(repo, "x.secret"), "ignored, not named\n")
	s.write(filepath.Join(repo, "notes.txt"), "named, not ignored\n")
	s.write(filepath.Join(repo, "node_modules", "m", "index.js"), "js\n")
	if err := os.Symlink("m/index.js", filepath.Join(repo, "node_modules", "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(repo, "node_modules", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	wt, err := s.workspaces().Create(t.Context(), CreateRequest{Repo: repo, Branch: "fog"})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		".env": "TOKEN=1\n", "a b/.env $x'\n": "odd\n", "node_modules/m/index.js": "js\n", "tracked.txt": "tracked\n",
	} {
		if got, err := os.ReadFile(filepath.Join(wt.Path, path)); string(got) != text {
			t.Errorf("%q holds %q, %v", path, got, err)
		}
	}
	for _, path := range []string{".env.local", "x.secret", "notes.txt", "node_modules/pipe"} {
		if _, err := os.Lstat(filepath.Join(wt.Path, path)); err == nil {
			t.Errorf("%s came along", path)
		}
	}
	if aim, err := os.Readlink(filepath.Join(wt.Path, "node_modules", "link")); aim != "m/index.js" {
		t.Errorf("the link leads to %q, %v", aim, err)
	}
	info, err := os.Stat(filepath.Join(wt.Path, ".env"))
	if err != nil || info.Mode().Perm() != 0o600 || !info.ModTime().Equal(old) {
		t.Errorf(".env has mode %v and time %v, %v", info.Mode(), info.ModTime(), err)
	}
	if wt.Included != 4 || strings.Contains(wt.Warning, "tracked.txt") {
		t.Errorf("%d files came along, %q", wt.Included, wt.Warning)
	}
}

// Files come from the worktree that one started from, and a bare repository has none.
func TestIncludeFromLinkedWorktree(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("harbor")
	s.write(filepath.Join(repo, ".gitignore"), ".env\n")
	s.write(filepath.Join(repo, includeFile), ".env\n")
	s.git(repo, "add", "-A")
	s.git(repo, "commit", "-q", "-m", "rules")
	s.write(filepath.Join(repo, ".env"), "main\n")
	first, err := s.workspaces().Create(t.Context(), CreateRequest{Repo: repo, Branch: "first"})
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(first.Path, ".env"), "first\n")
	second, err := s.workspaces().Create(t.Context(), CreateRequest{Repo: first.Path, Branch: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(second.Path, ".env")); string(got) != "first\n" {
		t.Errorf("got %q", got)
	}
}

// Nothing is overwritten, and no link leads a copy out of either folder.
func TestIncludeStaysInside(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("harbor")
	outside := t.TempDir()
	s.write(filepath.Join(repo, ".gitignore"), "*.key\nout/*\nin\n")
	s.write(filepath.Join(repo, includeFile), "*.key\nin\n")
	s.git(repo, "add", "-A")
	s.git(repo, "commit", "-q", "-m", "rules")
	// On the branch "trap" the folder that a copy would go into is a link that leads away.
	s.git(repo, "switch", "-q", "-c", "trap")
	if err := os.Symlink(outside, filepath.Join(repo, "away")); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(repo, "held.key"), "of the branch\n")
	s.git(repo, "add", "-f", "-A")
	s.git(repo, "commit", "-q", "-m", "trap")
	s.git(repo, "switch", "-q", "main")
	s.write(filepath.Join(repo, "away", "stolen.key"), "secret\n")
	s.write(filepath.Join(repo, "held.key"), "mine\n")
	secret := s.write(filepath.Join(outside, "passwd"), "secret\n")
	if err := os.Symlink(secret, filepath.Join(repo, "in")); err != nil {
		t.Fatal(err)
	}
	wt, err := s.workspaces().Create(t.Context(), CreateRequest{Repo: repo, Branch: "trap"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "stolen.key")); err == nil {
		t.Error("a copy left the worktree by a link")
	}
	if got, _ := os.ReadFile(filepath.Join(wt.Path, "held.key")); string(got) != "of the branch\n" {
		t.Errorf("a file of the branch was overwritten: %q", got)
	}
	if aim, _ := os.Readlink(filepath.Join(wt.Path, "in")); aim != secret {
		t.Errorf("a link became %q: it is copied as a link, never as what it leads to", aim)
	}
	for _, part := range []string{"away/stolen.key", "held.key (it is there already)"} {
		if !strings.Contains(wt.Warning, part) {
			t.Errorf("%q is not told: %q", part, wt.Warning)
		}
	}
}

func TestIncludeBounds(t *testing.T) {
	var done Included
	for i := range 30 {
		done.skip(fmt.Sprint("f", i), "why")
	}
	if got := done.warning(); got != "not brought along by .worktreeinclude: f0 (why), f1 (why), f2 (why), 27 more" {
		t.Errorf("got %q", got)
	}
	dir := t.TempDir()
	for _, name := range []string{"from", "to"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "from", "big"), make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	from, err := os.OpenRoot(filepath.Join(dir, "from"))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenRoot(filepath.Join(dir, "to"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if _, err := bring(from, to, "big", 99); err == nil {
		t.Error("more bytes than there is room for came along")
	}
	if _, err := os.Lstat(filepath.Join(dir, "to", "big")); err == nil {
		t.Error("half a file stays")
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "from", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bring(from, to, "pipe", 100); !errors.Is(err, errKind) {
		t.Errorf("a fifo: %v", err)
	}
	if n, err := bring(from, to, "big", 100); n != 100 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := (&Workspaces{}).include(context.Background(), "", dir); n.Files != 0 || err != nil {
		t.Errorf("without a source: %+v, %v", n, err)
	}
}
