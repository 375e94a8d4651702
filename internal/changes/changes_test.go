package changes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/git"
	"davit/internal/wire"
)

type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r repo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "all")
}

func (r repo) changes() wire.Changes {
	r.t.Helper()
	list, err := Reader{}.Changes(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r repo) diff(side, path string) wire.Diff {
	r.t.Helper()
	d, err := Reader{}.Diff(r.t.Context(), wire.DiffRequest{PlaceRequest: wire.PlaceRequest{Dir: r.dir}, Path: path, Side: side})
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// Spec chips C5.2: what differs is told by where it stands, and each path has its diff.
func TestSides(t *testing.T) {
	r := newRepo(t)
	r.write("both", "one\ntwo\n")
	r.write("old name", "a\nb\nc\nd\n")
	r.write("gone", "x\n")
	r.write("picture", "a\x00b")
	r.commit()
	r.write("both", "one\ntwo\nstaged\n")
	r.git("add", "both")
	r.write("both", "one\nstaged\nloose\n")
	r.git("mv", "old name", "new\tname")
	r.git("rm", "-q", "gone")
	r.write("picture", "a\x00c")
	r.write("dir/*?[new]", "1\n2\nno newline")

	list := r.changes()
	if list.Branch != "main" || len(list.Conflicts) != 0 || list.More != 0 {
		t.Errorf("got %+v", list)
	}
	expect(t, "staged", list.Staged, []wire.Change{
		{Path: "both", Kind: "modified", Added: 1},
		{Path: "gone", Kind: "deleted", Removed: 1},
		{Path: "new\tname", From: "old name", Kind: "renamed"},
	})
	expect(t, "unstaged", list.Unstaged, []wire.Change{
		{Path: "both", Kind: "modified", Added: 1, Removed: 1},
		{Path: "picture", Kind: "modified", Binary: true},
	})
	expect(t, "untracked", list.Untracked, []wire.Change{{Path: "dir/*?[new]", Kind: "untracked", Added: 3}})

	// One number for one truth (spec chips C1.2): of both, "+staged" and "+loose", and "two" is gone.
	if list.Files != 5 || list.Added != 5 || list.Removed != 2 {
		t.Errorf("in all %d files, +%d -%d", list.Files, list.Added, list.Removed)
	}
	contains(t, r.diff(Staged, "both").Text, "+staged")
	loose := r.diff(Unstaged, "both").Text
	contains(t, loose, "-two")
	contains(t, loose, "+loose")
	if strings.Contains(loose, "+staged") {
		t.Errorf("the diff of what is not staged shows what is:\n%s", loose)
	}
	contains(t, r.diff(Untracked, "dir/*?[new]").Text, "+no newline")
	if d := r.diff(Unstaged, "picture"); !d.Binary {
		t.Errorf("a binary file is not told: %+v", d)
	}
	renamed, err := Reader{}.Diff(t.Context(), wire.DiffRequest{PlaceRequest: wire.PlaceRequest{Dir: r.dir}, Path: "new\tname", From: "old name", Side: Staged})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, renamed.Text, "rename from old name")
}

func TestUnbornConflictAndDetached(t *testing.T) {
	r := newRepo(t)
	r.write("first", "1\n")
	r.git("add", "first")
	if list := r.changes(); !list.Unborn || len(list.Staged) != 1 || list.Staged[0].Added != 1 {
		t.Errorf("before the first commit: %+v", list)
	}
	contains(t, r.diff(Staged, "first").Text, "+1")
	r.commit()
	r.git("switch", "-q", "-c", "side")
	r.write("first", "side\n")
	r.commit()
	r.git("switch", "-q", "main")
	r.write("first", "main\n")
	r.commit()
	cmd := exec.Command("git", "-C", r.dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "merge", "side")
	if err := cmd.Run(); err == nil {
		t.Fatal("the merge has no conflict")
	}
	list := r.changes()
	if len(list.Conflicts) != 1 || list.Conflicts[0].Kind != "both_modified" || len(list.Unstaged) != 0 {
		t.Errorf("in a conflict: %+v", list)
	}
	contains(t, r.diff(Conflicts, "first").Text, "<<<<<<<")
	r.git("merge", "--abort")
	r.git("checkout", "-q", "--detach")
	if list := r.changes(); list.Branch != "" || len(list.Staged)+len(list.Unstaged) != 0 {
		t.Errorf("detached and clean: %+v", list)
	}
}

// Nothing that a repository's configuration names is run, and no path leads out of it.
func TestHostileRepository(t *testing.T) {
	r := newRepo(t)
	r.write("file", "a\n")
	r.write(".gitattributes", "* diff=evil\n")
	r.commit()
	ran := filepath.Join(t.TempDir(), "ran")
	r.git("config", "diff.external", "touch "+ran)
	r.git("config", "diff.evil.textconv", "touch "+ran+"; cat")
	r.git("config", "diff.evil.command", "touch "+ran)
	r.git("config", "core.fsmonitor", "touch "+ran)
	r.git("config", "color.diff", "always")
	r.git("config", "diff.noprefix", "true")
	r.write("file", "b\n")
	r.changes()
	text := r.diff(Unstaged, "file").Text
	contains(t, text, "+++ b/file")
	if strings.Contains(text, "\x1b") {
		t.Errorf("coloured: %q", text)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository's configuration was run")
	}
	for _, path := range []string{"../secret", "/etc/passwd", "a/../../b", "", "nul\x00"} {
		_, err := Reader{}.Diff(t.Context(), wire.DiffRequest{PlaceRequest: wire.PlaceRequest{Dir: r.dir}, Path: path, Side: Untracked})
		if davit.CodeOf(err) != davit.CodeInvalid {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestWhatCannotBeShown(t *testing.T) {
	r := newRepo(t)
	if _, err := (Reader{}).Changes(t.Context(), t.TempDir()); davit.CodeOf(err) != davit.CodeWorkspaceNotFound {
		t.Errorf("outside of a repository: %v", err)
	}
	bare := t.TempDir()
	r.git("init", "-q", "--bare", bare)
	if _, err := (Reader{}).Changes(t.Context(), bare); davit.CodeOf(err) != davit.CodeWorkspaceNotFound {
		t.Errorf("bare: %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(r.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := (Reader{}).Diff(ctx, wire.DiffRequest{PlaceRequest: wire.PlaceRequest{Dir: r.dir}, Path: "pipe", Side: Untracked}); davit.CodeOf(err) != davit.CodeInvalid {
		t.Errorf("a fifo: %v", err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	contains(t, r.diff(Untracked, "link").Text, "+/etc/hostname")
	r.write("latin", "caf\xe9\n")
	contains(t, r.diff(Untracked, "latin").Text, "+caf\uFFFD")
	r.write("long", strings.Repeat(strings.Repeat("x", 99)+"\n", 20_000))
	if d := r.diff(Untracked, "long"); !d.More || len(d.Text) > maxDiff || !strings.HasSuffix(d.Text, "\n") {
		t.Errorf("a long diff has %d bytes, more %v", len(d.Text), d.More)
	}
	if d := r.diff(Untracked, "not there"); d.Text != "" {
		t.Errorf("a path that is gone: %+v", d)
	}
	slow := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	hangs := Reader{Git: git.Runner{Path: slow}, Within: 50 * time.Millisecond}
	if _, err := hangs.Changes(t.Context(), r.dir); davit.CodeOf(err) != davit.CodeWorktreeGit || !strings.Contains(err.Error(), "in time") {
		t.Errorf("a git that hangs: %v", err)
	}
	if _, err := (Reader{}).Changes(t.Context(), filepath.Join(r.dir, "gone")); davit.CodeOf(err) != davit.CodeDirectoryMissing {
		t.Errorf("a directory that is gone: %v", err)
	}
	empty := git.Runner{Path: "git-that-is-not-there"}
	if _, err := (Reader{Git: empty}).Changes(t.Context(), r.dir); davit.CodeOf(err) != davit.CodeGitMissing {
		t.Errorf("without git: %v", err)
	}
}

func expect(t *testing.T, what string, got, want []wire.Change) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: got %+v, want %+v", what, got[i], want[i])
		}
	}
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in:\n%s", part, text)
	}
}
