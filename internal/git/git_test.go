package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
)

// scratch is a directory of its own with a git that sees no other config.
type scratch struct {
	t   *testing.T
	dir string
}

func newScratch(t *testing.T) scratch {
	t.Helper()
	testenv.Require(t, "git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "gitconfig")
	text := "[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[protocol \"file\"]\n\tallow = always\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return scratch{t, dir}
}

func (s scratch) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s scratch) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// repo makes a repository with one commit.
func (s scratch) repo(name string) string {
	s.t.Helper()
	dir := filepath.Join(s.dir, name)
	s.write(filepath.Join(dir, "a.txt"), "one\n")
	s.git(dir, "init", "-q")
	s.git(dir, "add", ".")
	s.git(dir, "commit", "-q", "-m", "first")
	return dir
}

func TestHeadWithoutAProcess(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	first := s.git(repo, "rev-parse", "HEAD")
	s.git(repo, "branch", "feature/ü.1")
	linked := filepath.Join(s.dir, "linked")
	s.git(repo, "worktree", "add", "-q", linked, "feature/ü.1")
	detached := filepath.Join(s.dir, "detached")
	s.git(repo, "worktree", "add", "-q", "--detach", detached)
	packed := s.repo("packed")
	s.git(packed, "pack-refs", "--all")
	unborn := filepath.Join(s.dir, "unborn")
	s.git(s.dir, "init", "-q", unborn)
	bare := filepath.Join(s.dir, "bare.git")
	s.git(s.dir, "clone", "-q", "--bare", repo, bare)
	super := s.repo("super")
	s.git(super, "submodule", "--quiet", "add", repo, "sub")
	deep := filepath.Join(repo, "x", "y")
	s.write(filepath.Join(deep, "f"), "")
	link := filepath.Join(s.dir, "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	dotBare := filepath.Join(s.dir, "dotbare")
	s.git(s.dir, "clone", "-q", "--bare", repo, filepath.Join(dotBare, ".bare"))
	s.write(filepath.Join(dotBare, ".git"), "gitdir: ./.bare\n")

	r := Runner{Path: "/nonexistent/git"} // any process would fail
	for _, c := range []struct {
		name, dir, root, branch string
		detached, unborn, bare  bool
		commit                  string
	}{
		{"plain", repo, repo, "main", false, false, false, first},
		{"below", deep, repo, "main", false, false, false, first},
		{"through a symbolic link", link, repo, "main", false, false, false, first},
		{"linked, slash and Unicode", linked, linked, "feature/ü.1", false, false, false, first},
		{"detached", detached, detached, "", true, false, false, first},
		{"packed refs", packed, packed, "main", false, false, false, s.git(packed, "rev-parse", "HEAD")},
		{"no commit", unborn, unborn, "main", false, true, false, ""},
		{"bare", bare, "", "main", false, false, true, first},
		{"submodule", filepath.Join(super, "sub"), filepath.Join(super, "sub"), "main", false, false, false, first},
		{"bare beside a .git file", dotBare, "", "main", false, false, true, first},
		{"inside of .git", filepath.Join(repo, ".git", "refs"), "", "main", false, false, false, first},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Discover(c.dir)
			if err != nil {
				t.Fatal(err)
			}
			head, err := r.Head(context.Background(), found)
			if err != nil {
				t.Fatal(err)
			}
			want := Head{Branch: c.branch, Commit: c.commit, Detached: c.detached, Unborn: c.unborn}
			if head != want || found.Root != c.root || found.Bare != c.bare {
				t.Errorf("got %+v in %+v, want %+v in root %q, bare %v", head, found, want, c.root, c.bare)
			}
		})
	}
}

func TestDiscoverRefuses(t *testing.T) {
	s := newScratch(t)
	plain := filepath.Join(s.dir, "plain")
	s.write(filepath.Join(plain, "f"), "")
	nowhere := filepath.Join(s.dir, "nowhere")
	s.write(filepath.Join(nowhere, ".git"), "gitdir: /gone/away\n")
	nonsense := filepath.Join(s.dir, "nonsense")
	s.write(filepath.Join(nonsense, ".git"), "\x00\xff")
	var link *LinkError
	if _, err := Discover(plain); !errors.Is(err, ErrNotRepository) {
		t.Errorf("a plain directory: %v", err)
	}
	if _, err := Discover(nowhere); !errors.As(err, &link) || link.Target != "/gone/away" {
		t.Errorf("a .git file to nowhere: %v", err)
	}
	if _, err := Discover(nonsense); !errors.As(err, &link) {
		t.Errorf("a .git file of nonsense: %v", err)
	}
	if _, err := Discover(filepath.Join(s.dir, "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is gone: %v", err)
	}
	fifo := filepath.Join(s.dir, "fifo")
	s.write(filepath.Join(fifo, "f"), "")
	if err := syscall.Mkfifo(filepath.Join(fifo, ".git"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Discover(fifo); !errors.Is(err, ErrNotRepository) {
		t.Errorf("a FIFO called .git: %v", err)
	}
}

func TestHeadOfReftableIsAskedOfGit(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	// What a reftable looks like to those who read files; git here reads the real HEAD.
	if err := os.Mkdir(filepath.Join(repo, ".git", "reftable"), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := Discover(repo)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHead(found); !errors.Is(err, ErrNeedsGit) {
		t.Errorf("reading files said %v, want ErrNeedsGit", err)
	}
	head, err := Runner{}.Head(context.Background(), found)
	if want := (Head{Branch: "main", Commit: s.git(repo, "rev-parse", "HEAD")}); err != nil || head != want {
		t.Errorf("got %+v, %v, want %+v", head, err, want)
	}
}

func TestCallersGitVariablesDoNotLeak(t *testing.T) {
	s := newScratch(t)
	repo, other := s.repo("repo"), s.repo("other")
	s.git(other, "checkout", "-q", "-b", "elsewhere")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(s.dir, "index"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.bare")
	t.Setenv("GIT_CONFIG_VALUE_0", "true")
	list, err := Runner{}.Worktrees(context.Background(), repo)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Path != repo || list[0].Branch != "main" {
		t.Errorf("the caller's GIT_DIR led away: %+v", list)
	}
}

func TestStatusAndNumStat(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("a repo with 'quotes' \"and\" $HOME")
	s.write(filepath.Join(repo, "gone.txt"), "1\n2\n3\n")
	s.write(filepath.Join(repo, "old name"), strings.Repeat("same\n", 20))
	s.write(filepath.Join(repo, "bin"), "\x00\x01")
	s.git(repo, "add", ".")
	s.git(repo, "commit", "-q", "-m", "second")
	s.write(filepath.Join(repo, "a.txt"), "one\ntwo\n")
	s.write(filepath.Join(repo, "bin"), "\x00\x02")
	s.git(repo, "rm", "-q", "gone.txt")
	s.git(repo, "mv", "old name", "new\tname\nü")
	s.write(filepath.Join(repo, "sub dir", "new"), "x\n")
	ctx := context.Background()
	entries, err := Runner{}.Status(ctx, repo, StatusOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]EntryKind{}
	for _, e := range entries {
		got[e.Orig+">"+e.Path] = e.Kind
	}
	want := map[string]EntryKind{">a.txt": Changed, ">bin": Changed, ">gone.txt": Changed, "old name>new\tname\nü": Renamed, ">sub dir/new": Untracked}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for path, kind := range want {
		if got[path] != kind {
			t.Errorf("%q is %q, want %q", path, got[path], kind)
		}
	}
	stats, err := Runner{}.NumStat(ctx, repo, false)
	if err != nil {
		t.Fatal(err)
	}
	added, removed, binary := 0, 0, 0
	for _, st := range stats {
		added, removed = added+st.Added, removed+st.Removed
		if st.Binary {
			binary++
		}
	}
	if len(stats) != 4 || added != 1 || removed != 3 || binary != 1 {
		t.Errorf("numstat %+v", stats)
	}
}

// TestAHangingGitIsEndedWhole stands in a git that ignores SIGTERM and has a child
// (spec chips C1.4, C7: a killed run leaves no process).
func TestAHangingGitIsEndedWhole(t *testing.T) {
	s := newScratch(t)
	pids := filepath.Join(s.dir, "pids")
	script := filepath.Join(s.dir, "git")
	s.write(script, "#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $$ $! > '"+pids+".tmp'\nmv '"+pids+".tmp' '"+pids+"'\nwait\nwait\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Runner{Path: script}.Read(ctx, s.dir, "status")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("took %s", took)
	}
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, 3*time.Second, func() (bool, string) {
			stat, err := os.ReadFile("/proc/" + word + "/stat")
			gone := syscall.Kill(pid, 0) != nil || (err == nil && strings.Contains(string(stat), ") Z "))
			return gone, "process " + word + " lives"
		})
	}
}

func TestOrdinaryFailuresOfGit(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	ctx := context.Background()
	if _, err := (Runner{Path: "/nonexistent/git"}).Worktrees(ctx, repo); davit.CodeOf(err) != davit.CodeGitMissing {
		t.Errorf("no git: %v", err)
	}
	if _, err := (Runner{}).Worktrees(ctx, s.dir); Status(err) != 128 || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("git's own words are lost: %v", err)
	}
	if _, err := (Runner{}).Worktrees(ctx, filepath.Join(s.dir, "gone")); !errors.Is(err, os.ErrNotExist) || davit.CodeOf(err) == davit.CodeGitMissing {
		t.Errorf("a directory that is gone: %v", err)
	}
	garbage := filepath.Join(s.dir, "garbage")
	s.write(garbage, "#!/bin/sh\nprintf 'no\\0such\\0thing\\0'\n")
	if err := os.Chmod(garbage, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (Runner{Path: garbage}).Status(ctx, repo, StatusOptions{}); !errors.Is(err, ErrGarbage) {
		t.Errorf("garbage: %v", err)
	}
	flood := filepath.Join(s.dir, "flood")
	s.write(flood, "#!/bin/sh\nexec yes\n")
	if err := os.Chmod(flood, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (Runner{Path: flood}).Status(ctx, repo, StatusOptions{}); !errors.Is(err, ErrTooMuch) {
		t.Errorf("a flood: %v", err)
	}
}

// TestOlderGit: before 2.36 `git worktree list` knew no -z.
func TestOlderGit(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	s.git(repo, "worktree", "add", "-q", "-b", "side", filepath.Join(s.dir, "with space"))
	old := filepath.Join(s.dir, "old")
	s.write(old, "#!/bin/sh\nfor a in \"$@\"; do test \"$a\" = -z && exit 129; done\nexec git \"$@\"\n")
	if err := os.Chmod(old, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Runner{Path: old}.Worktrees(context.Background(), repo)
	want, _ := Runner{}.Worktrees(context.Background(), repo)
	if err != nil || len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// TestBackgroundChildOfAHook: git has ended, and what a hook left holds the pipe.
func TestBackgroundChildOfAHook(t *testing.T) {
	s := newScratch(t)
	pid := filepath.Join(s.dir, "pid")
	script := filepath.Join(s.dir, "hooked")
	s.write(script, "#!/bin/sh\nsleep 60 &\necho $! > '"+pid+"'\necho done\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out, err := Runner{Path: script}.Write(context.Background(), s.dir, "worktree", "add")
	data, _ := os.ReadFile(pid)
	child, convErr := strconv.Atoi(strings.TrimSpace(string(data)))
	if convErr != nil {
		t.Fatal(convErr)
	}
	if killErr := syscall.Kill(child, syscall.SIGKILL); killErr != nil {
		t.Errorf("the user's background process was ended: %v", killErr)
	}
	if err != nil || string(out) != "done\n" || time.Since(start) > 20*time.Second {
		t.Errorf("got %q, %v after %s", out, err, time.Since(start))
	}
}

func TestBranchNamesAreAskedOfGit(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	for name, want := range map[string]bool{
		"main": true, "feature/x": true, "ü/日本": true, "v1.2.3": true, "$(touch_x)": true, "it's": true,
		"": false, "-x": false, "HEAD": false, "@": false, "a..b": false, "a/": false, "/a": false, "a//b": false,
		"x.lock": false, "a b": false, "a\nb": false, "a~1": false, "@{-1}": false, ".a": false, "a/.b": false, "a.": false,
	} {
		got, err := Runner{}.ValidBranch(context.Background(), repo, name)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", name, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1 .M N... 100644 100644 100644 0 0 a b\x00? x\x00")
	f.Add("2 R. N... 100644 100644 100644 0 0 R100 new\x00old\x00")
	f.Add("1\t2\tpath\x00-\t-\t\x00old\x00new\x00")
	f.Add("worktree /x\x00HEAD 0\x00branch refs/heads/a\x00\x00")
	f.Fuzz(func(t *testing.T, out string) {
		entries, err := parseStatus(out)
		for _, e := range entries {
			if err == nil && (e.Path == "" || e.Kind == "") {
				t.Errorf("entry without a path or kind: %+v", e)
			}
		}
		stats, err := parseNumStat(out)
		for _, s := range stats {
			if err == nil && (s.Added < 0 || s.Removed < 0 || s.Path == "") {
				t.Errorf("impossible %+v", s)
			}
		}
		list, err := parseWorktrees(out, "\x00")
		for _, w := range list {
			if err == nil && w.Path == "" {
				t.Errorf("work tree without a path")
			}
		}
	})
}

// TestWorkStatIsTheWhole: spec chips C1.2: where nothing is staged, the second call about the
// paths that the first one names gives what a call about all gives, whatever they are called
// and whatever happened to them.
func TestWorkStatIsTheWhole(t *testing.T) {
	sc := newScratch(t)
	repo := sc.repo("repo")
	write := func(name, text string) { sc.write(filepath.Join(repo, name), text) }
	long := strings.Repeat("a line of some length\n", 30)
	for _, name := range []string{"edited", "sub/deep", "gone", "becomes-dir", ":(glob)*", "[x]", "a b\tc", "same", "typed", "moved"} {
		write(name, long+name+"\n")
	}
	sc.git(repo, "add", ".")
	sc.git(repo, "commit", "-q", "-m", "all")
	write("edited", long+"more\nand more\n")
	write("sub/deep", "short\n")
	write(":(glob)*", "x\n")
	write("[x]", long)
	write("a b\tc", "")
	for _, name := range []string{"gone", "becomes-dir", "typed"} {
		if err := os.Remove(filepath.Join(repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("becomes-dir/inside", "new\n")
	if err := os.Symlink("same", filepath.Join(repo, "typed")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(repo, "moved"), filepath.Join(repo, "moved here")); err != nil {
		t.Fatal(err)
	}
	write("untracked", "u\n")
	sc.git(repo, "add", "-N", "moved here") // to be added: the one kind of move in a work tree
	look := func() ([]string, bool) {
		entries, err := Runner{}.Status(t.Context(), repo, StatusOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return Unstaged(entries)
	}
	paths, ok := look()
	all, err := Runner{}.NumStat(t.Context(), repo, false)
	if err != nil {
		t.Fatal(err)
	}
	some, err := Runner{}.WorkStat(t.Context(), repo, paths)
	if err != nil || !ok || !slices.Equal(all, some) || len(all) < 9 {
		t.Errorf("%v: of %q\n%+v, but of all\n%+v", err, paths, some, all)
	}
	if slices.Contains(paths, "same") || slices.Contains(paths, "untracked") {
		t.Errorf("%q are asked about", paths)
	}
	// Something staged, as HEAD has it in the work tree too, or unmerged: all is looked at.
	sc.git(repo, "add", "edited")
	if paths, ok := look(); ok {
		t.Errorf("with something staged %q are named", paths)
	}
	write("edited", long+"edited\n")
	if paths, ok := look(); ok {
		t.Errorf("with something staged and undone %q are named", paths)
	}
}
