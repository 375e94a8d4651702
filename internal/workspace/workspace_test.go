package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"davit"
	"davit/internal/testenv"
)

// scratch is a home, a state directory and a git that sees no other config.
type scratch struct {
	*testing.T
	dir string
}

func newScratch(t *testing.T) scratch {
	t.Helper()
	testenv.Require(t, "git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scratch{t, dir}
	config := s.write("gitconfig", "[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[protocol \"file\"]\n\tallow = always\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return s
}

// workspaces makes one that owns every worktree.
func (s scratch) workspaces(change ...func(*Config)) *Workspaces {
	cfg := Config{State: filepath.Join(s.dir, "state"), Home: filepath.Join(s.dir, "home"), Owned: func(string) bool { return true }}
	for _, c := range change {
		c(&cfg)
	}
	return New(cfg)
}

func (s scratch) git(dir string, args ...string) string {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s scratch) write(path, text string) string {
	s.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// repo makes a repository with one commit: the first of a test by git, others as copies.
func (s scratch) repo(name string) string {
	s.Helper()
	dir, first := filepath.Join(s.dir, name), filepath.Join(s.dir, "first-repo")
	if !exists(first) {
		s.write(filepath.Join(first, "a.txt"), "one\n")
		s.write(filepath.Join(first, ".gitignore"), "*.log\nnode_modules/\n")
		s.git(first, "-c", "init.templateDir=", "init", "-q")
		s.git(first, "add", ".")
		s.git(first, "commit", "-q", "-m", "first")
	}
	if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
		s.Fatal(err)
	}
	return dir
}

func (s scratch) create(w *Workspaces, req CreateRequest) davit.Worktree {
	s.Helper()
	wt, err := w.Create(context.Background(), req)
	if err != nil {
		s.Fatalf("create %+v: %v", req, err)
	}
	return wt
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestCreateFromEveryKindOfStart: each input of spec launch L9.4 works or is refused with
// its reason.
func TestCreateFromEveryKindOfStart(t *testing.T) {
	s := newScratch(t)
	w := s.workspaces()
	plain := s.repo("plain")
	first := s.git(plain, "rev-parse", "HEAD")
	odd := s.repo("it's a \"repo\" of $HOME `x`")
	bare := filepath.Join(s.dir, "srv", "bare.git")
	s.git(s.dir, "clone", "-q", "--bare", plain, bare)
	dotBare := filepath.Join(s.dir, "dotbare")
	s.git(s.dir, "clone", "-q", "--bare", plain, filepath.Join(dotBare, ".bare"))
	s.write("dotbare/.git", "gitdir: ./.bare\n")
	super := s.repo("super")
	s.git(super, "submodule", "--quiet", "add", plain, "sub")
	s.git(super, "commit", "-q", "-m", "submodule")
	detached := filepath.Join(s.dir, "detached")
	s.git(s.dir, "clone", "-q", plain, detached)
	s.git(detached, "checkout", "-q", "--detach")
	s.git(detached, "remote", "remove", "origin")
	linked := filepath.Join(s.dir, "linked")
	s.git(plain, "worktree", "add", "-q", "-b", "linked", linked)
	unborn := filepath.Join(s.dir, "unborn")
	s.git(s.dir, "init", "-q", unborn)

	worktrees := filepath.Join(s.dir, "state", "worktrees")
	for _, c := range []struct {
		what, repo, name string
		below            string // where it must lie
		code             davit.Code
	}{
		{what: "plain", repo: plain, name: "work", below: worktrees},
		{what: "below the root", repo: filepath.Join(plain, ".git", "..") + "/./", name: "below", below: worktrees},
		{what: "slashes", repo: plain, name: "feat/ure/x", below: worktrees},
		{what: "flattens alike", repo: plain, name: "feat/ure-x", below: worktrees},
		{what: "Unicode", repo: plain, name: "größe/日本語-🚣", below: worktrees},
		{what: "dots", repo: plain, name: "v1.2.3", below: worktrees},
		{what: "shell characters", repo: plain, name: "$(touch_x)'\"`;&|", below: worktrees},
		{what: "very long", repo: plain, name: strings.Repeat("é", 110), below: worktrees},
		{what: "path with spaces, quotes, $", repo: odd, name: "odd", below: worktrees},
		{what: "bare", repo: bare, name: "from/bare", below: filepath.Join(s.dir, "srv")},
		{what: "bare beside a .git file", repo: dotBare, name: "dot", below: dotBare},
		{what: "submodule", repo: filepath.Join(super, "sub"), name: "in-sub", below: worktrees},
		{what: "repository with a submodule", repo: super, name: "in-super", below: worktrees},
		{what: "detached HEAD", repo: detached, name: "from-detached", below: worktrees},
		{what: "linked worktree", repo: linked, name: "from-linked", below: worktrees},
		{what: "no commit", repo: unborn, name: "x", code: davit.CodeWorktreeUnborn},
		{what: "plain folder", repo: filepath.Join(s.dir, "home"), name: "x", code: davit.CodeWorkspaceNotFound},
	} {
		t.Run(c.what, func(t *testing.T) {
			if err := os.MkdirAll(filepath.Join(s.dir, "home"), 0o700); err != nil {
				t.Fatal(err)
			}
			wt, err := w.Create(context.Background(), CreateRequest{Repo: c.repo, CallerDir: s.dir, Name: c.name})
			if davit.CodeOf(err) != c.code {
				t.Fatalf("got %v, want code %q", err, c.code)
			}
			if c.code != "" {
				if wt.Path != "" || davit.AsError(err).Hint == "" {
					t.Errorf("a refusal made %q, or gives no hint: %+v", wt.Path, davit.AsError(err))
				}
				return
			}
			inner := scratch{t, s.dir}
			if !below(wt.Path, c.below) || wt.Branch != c.name {
				t.Errorf("at %s on %s, want below %s on %s", wt.Path, wt.Branch, c.below, c.name)
			}
			if got := inner.git(wt.Path, "symbolic-ref", "--short", "HEAD"); got != c.name {
				t.Errorf("HEAD is on %q", got)
			}
			if !strings.HasPrefix(c.what, "path") && !strings.Contains(c.what, "submodule") {
				if got := inner.git(wt.Path, "rev-parse", "HEAD"); got != first {
					t.Errorf("starts from %s, want %s", got, first)
				}
			}
			if !exists(filepath.Join(wt.Path, "a.txt")) {
				t.Error("nothing is checked out")
			}
			if got := inner.git(wt.Path, "rev-parse", "--show-toplevel"); got != wt.Path {
				t.Errorf("git says its top is %s", got)
			}
			ws, err := w.Resolve(context.Background(), "id:"+wt.ID, c.repo)
			if err != nil || ws.Path != wt.Path {
				t.Errorf("its id leads to %q, %v", ws.Path, err)
			}
			if _, err := w.Remove(context.Background(), RemoveRequest{Path: wt.Path}); err != nil {
				t.Errorf("a clean worktree is not removed: %v", err)
			}
			if exists(wt.Path) {
				t.Error("it is still there")
			}
		})
	}
	for _, left := range []string{"touch_x"} {
		if exists(filepath.Join(s.dir, left)) || exists(left) {
			t.Errorf("a name was run as a command")
		}
	}
}

func TestFlattenedAlikeGetsAHash(t *testing.T) {
	s := newScratch(t)
	w, repo := s.workspaces(), s.repo("repo")
	one := s.create(w, CreateRequest{Repo: repo, Name: "a/b"})
	two := s.create(w, CreateRequest{Repo: repo, Name: "a-b"})
	if filepath.Base(one.Path) != "a-b" || !regexp.MustCompile(`^a-b-[0-9a-f]{8}$`).MatchString(filepath.Base(two.Path)) || two.Branch != "a-b" {
		t.Errorf("%s and %s on %s", one.Path, two.Path, two.Branch)
	}
	if !regexp.MustCompile(`^repo-[0-9a-f]{8}$`).MatchString(filepath.Base(filepath.Dir(one.Path))) {
		t.Errorf("the place is %s", filepath.Dir(one.Path))
	}
}

// TestNameRefusals: a caller's own name is never changed silently (spec launch L9.4).
func TestNameRefusals(t *testing.T) {
	s := newScratch(t)
	upstream := s.repo("upstream")
	s.git(upstream, "branch", "shared")
	repo := filepath.Join(s.dir, "repo")
	s.git(s.dir, "clone", "-q", upstream, repo)
	s.git(repo, "branch", "a")
	s.git(repo, "branch", "deep/er")
	s.git(repo, "branch", "a-b")
	w := s.workspaces()
	for _, c := range []struct {
		name, ref, suggestion string
		code                  davit.Code
	}{
		{"a/b", "refs/heads/a", "a-b-2", davit.CodeWorktreeCollision},
		{"deep", "refs/heads/deep/er", "deep-2", davit.CodeWorktreeCollision},
		{"main", "refs/heads/main", "main-2", davit.CodeWorktreeCollision},
		{"shared", "refs/remotes/origin/shared", "shared-2", davit.CodeWorktreeCollision},
		{"feature//double", "", "feature/double", davit.CodeWorktreeName},
		{"foo.lock.lock/bar", "", "foo/bar", davit.CodeWorktreeName},
		{"  spaced / seg  ", "", "spaced/seg", davit.CodeWorktreeName},
		{"-x", "", "x", davit.CodeWorktreeName},
		{"..", "", "work", davit.CodeWorktreeName},
		{"../../escape", "", "escape", davit.CodeWorktreeName},
		{"HEAD", "", "work", davit.CodeWorktreeName},
		{"@{-1}", "", "1}", davit.CodeWorktreeName},
		{"new\nline", "", "new-line", davit.CodeWorktreeName},
	} {
		before := s.git(repo, "for-each-ref")
		_, err := w.Create(context.Background(), CreateRequest{Repo: repo, Name: c.name})
		e := davit.AsError(err)
		if davit.CodeOf(err) != c.code {
			t.Errorf("%q: %v, want %s", c.name, err, c.code)
			continue
		}
		if c.ref != "" && (e.Details["ref"] != c.ref || !strings.Contains(e.Message+e.Hint, strings.TrimPrefix(c.ref, "refs/heads/"))) {
			t.Errorf("%q: the ref in the way is not named: %s %v", c.name, e.Message, e.Details)
		}
		if e.Details["suggestion"] != c.suggestion || !strings.Contains(e.Hint, c.suggestion) {
			t.Errorf("%q: suggests %v (%s), want %q", c.name, e.Details["suggestion"], e.Hint, c.suggestion)
		}
		if after := s.git(repo, "for-each-ref"); after != before {
			t.Errorf("%q: refs changed", c.name)
		}
	}
	wt := s.create(w, CreateRequest{Repo: repo, Name: "mine"})
	_, err := w.Create(context.Background(), CreateRequest{Repo: repo, Name: "mine"})
	if e := davit.AsError(err); e.Code != davit.CodeWorktreeCollision || e.Details["path"] != wt.Path || e.Details["worktreeId"] != wt.ID || !strings.Contains(e.Hint, wt.Path) {
		t.Errorf("a branch that is checked out does not offer its worktree: %+v", e)
	}
	shared := s.create(w, CreateRequest{Repo: repo, Name: "shared", Base: "origin/shared"})
	if out, _ := exec.Command("git", "-C", shared.Path, "config", "branch.shared.remote").Output(); len(out) > 0 {
		t.Errorf("it tracks %s", out)
	}
	generated := s.create(w, CreateRequest{Repo: repo, Name: "main", NameWasGenerated: true})
	if generated.Branch != "main-2" || filepath.Base(generated.Path) != "main-2" {
		t.Errorf("a generated name became %s at %s", generated.Branch, generated.Path)
	}
}

func TestExistingBranchIsCheckedOut(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	s.git(repo, "checkout", "-q", "-b", "old/one")
	s.git(repo, "commit", "-q", "--allow-empty", "-m", "on old")
	want := s.git(repo, "rev-parse", "HEAD")
	s.git(repo, "checkout", "-q", "main")
	s.git(repo, "tag", "old/one", "main") // must not be taken for the branch
	wt := s.create(s.workspaces(), CreateRequest{Repo: repo, Name: "old/one", Base: "main"})
	if got := s.git(wt.Path, "rev-parse", "HEAD"); got != want {
		t.Errorf("HEAD is %s, want %s", got, want)
	}
	if !strings.Contains(wt.Warning, "was there already") || !strings.Contains(wt.Warning, "base main was not used") {
		t.Errorf("warning %q", wt.Warning)
	}
}

// TestBaseOrder: what a new branch starts from, and a base that is behind (spec launch L9.3).
func TestBaseOrder(t *testing.T) {
	s := newScratch(t)
	upstream := s.repo("upstream")
	s.git(upstream, "checkout", "-q", "-b", "develop")
	s.git(upstream, "commit", "-q", "--allow-empty", "-m", "develop")
	develop := s.git(upstream, "rev-parse", "HEAD")
	s.git(upstream, "checkout", "-q", "main")
	repo := filepath.Join(s.dir, "repo")
	s.git(s.dir, "clone", "-q", upstream, repo)
	remoteHead := s.git(repo, "rev-parse", "HEAD")
	s.git(repo, "checkout", "-q", "-b", "local")
	s.git(repo, "commit", "-q", "--allow-empty", "-m", "local")
	local := s.git(repo, "rev-parse", "HEAD")
	w := s.workspaces()
	n := 0
	head := func(base string) (string, davit.Worktree) {
		n++
		wt := s.create(w, CreateRequest{Repo: repo, Name: fmt.Sprintf("w%d", n), Base: base})
		return s.git(wt.Path, "rev-parse", "HEAD"), wt
	}
	if got, wt := head(""); got != remoteHead || wt.Base != "origin/main" {
		t.Errorf("by default from %s (%s), want the remote's HEAD", got, wt.Base)
	}
	if got, _ := head("local"); got != local {
		t.Errorf("requested: %s", got)
	}
	if got, _ := head("HEAD"); got != local {
		t.Errorf("HEAD of the start: %s", got)
	}
	if got, _ := head(local[:10]); got != local {
		t.Errorf("a short id: %s", got)
	}
	if got, _ := head("develop"); got != develop {
		t.Errorf("a branch that only the remote has: %s", got)
	}
	s.write(filepath.Join(repo, ".davit/workspace.toml"), "base = \"develop\"\nsetup = \"touch ran\"\n")
	if got, wt := head(""); got != develop || wt.Warning != "" {
		t.Errorf("pinned: %s, warning %q", got, wt.Warning)
	}
	s.git(repo, "add", ".davit")
	s.git(repo, "commit", "-q", "-m", "settings")
	if _, wt := head("local"); exists(filepath.Join(wt.Path, "ran")) {
		t.Error("Create runs nothing of the repository's")
	}
	s.write(filepath.Join(repo, ".davit/workspace.toml"), "base = \"nowhere\"\n")
	for _, base := range []string{"", "missing", "-x", "HEAD:a.txt"} {
		if _, err := w.Create(context.Background(), CreateRequest{Repo: repo, Name: "never", Base: base}); davit.CodeOf(err) != davit.CodeWorktreeBase {
			t.Errorf("base %q: %v", base, err)
		}
	}
	s.write(filepath.Join(repo, ".davit/workspace.toml"), "base = [broken\n")
	if _, err := w.Create(context.Background(), CreateRequest{Repo: repo, Name: "never"}); davit.CodeOf(err) != davit.CodeWorktreeBase {
		t.Errorf("broken settings: %v", err)
	}
	s.git(repo, "branch", "-q", "--track", "tracking", "origin/main")
	s.git(upstream, "commit", "-q", "--allow-empty", "-m", "newer")
	s.git(repo, "fetch", "-q")
	if _, wt := head("tracking"); !strings.Contains(wt.Warning, "1 commit behind origin/main") {
		t.Errorf("a base behind its remote is not told: %q", wt.Warning)
	}
}

// TestOddConfigs: a remote with an empty address, a worktree that lost its folder, a
// folder where the worktree would go.
func TestOddConfigs(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	s.write("extra", "")
	file, err := os.OpenFile(filepath.Join(repo, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.WriteString("[remote \"origin\"]\n\turl =\n")
	file.Close()
	w := s.workspaces()
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	precious := s.write(filepath.Join(filepath.Dir(wt.Path), "taken", "precious.txt"), "mine\n")
	other := s.create(w, CreateRequest{Repo: repo, Name: "taken"})
	if !exists(precious) || other.Path == filepath.Dir(precious) {
		t.Errorf("a folder that was there was used: %s", other.Path)
	}
	if err := os.Rename(wt.Path, filepath.Join(s.dir, "moved")); err != nil {
		t.Fatal(err)
	}
	s.git(repo, "branch", "-m", "x", "y")
	again := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	if again.Path == wt.Path {
		t.Error("the path of a worktree that lost its folder was used again")
	}
}

func TestPlaceIsNotLedAway(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	outside := filepath.Join(s.dir, "outside")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(s.dir, "state", "worktrees", "repo-"+short(repo, 8))
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, place); err != nil {
		t.Fatal(err)
	}
	_, err := s.workspaces().Create(context.Background(), CreateRequest{Repo: repo, Name: "x"})
	if davit.CodeOf(err) != davit.CodeHomeUnusable {
		t.Errorf("a symbolic link led the worktree away: %v", err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("something was made outside: %v", left)
	}
}

// TestTwentyAtOnce: the lock of a repository holds across processes (spec launch L9.3).
func TestTwentyAtOnce(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	linked := filepath.Join(s.dir, "linked")
	s.git(repo, "worktree", "add", "-q", "-b", "linked", linked)
	var mu sync.Mutex
	drawn := 0
	draw := func(taken func(string) bool) (string, error) {
		for _, name := range []string{"calm-otter", "brave-crane"} {
			if !taken(name) {
				return name, nil
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for {
			if drawn++; !taken(fmt.Sprintf("drawn-%d", drawn)) {
				return fmt.Sprintf("drawn-%d", drawn), nil
			}
		}
	}
	var wg sync.WaitGroup
	results := make([]davit.Worktree, 20)
	errs := make([]error, 20)
	for i := range 20 {
		w := s.workspaces(func(c *Config) { c.Draw = draw }) // each as if in a process of its own
		wg.Go(func() {
			from := repo
			if i%2 == 1 {
				from = linked
			}
			results[i], errs[i] = w.Create(context.Background(), CreateRequest{Repo: from})
		})
	}
	wg.Wait()
	paths, names := map[string]bool{}, map[string]bool{}
	for i, wt := range results {
		if errs[i] != nil {
			t.Fatalf("create %d: %v", i, errs[i])
		}
		paths[wt.Path], names[wt.Branch] = true, true
	}
	if len(paths) != 20 || len(names) != 20 || !names["calm-otter"] || !names["brave-crane"] {
		t.Errorf("%d paths, %d names", len(paths), len(names))
	}
	list, err := s.workspaces().List(context.Background(), repo, ListOptions{})
	if err != nil || len(list) != 22 {
		t.Errorf("git lists %d worktrees, %v", len(list), err)
	}
}

func TestRecordBeforeAndAfter(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	var stages []string
	var refuse Stage
	w := s.workspaces(func(c *Config) {
		c.Record = func(wt davit.Worktree, stage Stage) error {
			stages = append(stages, fmt.Sprintf("%s %s there=%v", stage, wt.Branch, exists(wt.Path)))
			if stage == refuse {
				return errors.New("disk full")
			}
			return nil
		}
	})
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	if _, err := w.Remove(context.Background(), RemoveRequest{Path: wt.Path}); err != nil {
		t.Fatal(err)
	}
	if stage, err := w.Probe(context.Background(), wt); stage != StageFailed || err != nil {
		t.Errorf("after its removal it is %q, %v", stage, err)
	}
	want := []string{"creating x there=false", "created x there=true", "removing x there=true", "removed x there=false"}
	if !slices.Equal(stages, want) {
		t.Errorf("recorded %q, want %q", stages, want)
	}
	refuse = StageCreating
	if _, err := w.Create(context.Background(), CreateRequest{Repo: repo, Name: "y"}); err == nil || strings.Contains(s.git(repo, "branch"), "y") {
		t.Errorf("what could not be recorded was made: %v", err)
	}
	refuse = StageCreated
	got, err := w.Create(context.Background(), CreateRequest{Repo: repo, Name: "z"})
	if davit.CodeOf(err) != davit.CodeWorktreeUnverified || !exists(got.Path) || davit.AsError(err).Details["path"] != got.Path {
		t.Errorf("made but not recorded: %+v, %v", got, err)
	}
	if stage, err := w.Probe(context.Background(), got); stage != StageUnverified || err != nil {
		t.Errorf("asked later it is %q, %v", stage, err)
	}
}

// TestFailingHook: git made the worktree and then reports the hook's failure.
func TestFailingHook(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	hook := s.write(filepath.Join(repo, ".git", "hooks", "post-checkout"), "#!/bin/sh\necho the hook says no >&2\nexit 3\n")
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	wt, err := s.workspaces().Create(context.Background(), CreateRequest{Repo: repo, Name: "x"})
	e := davit.AsError(err)
	if e == nil || e.Code != davit.CodeWorktreeUnverified || !exists(wt.Path) || e.Details["path"] != wt.Path || !strings.Contains(e.Message, "the hook says no") {
		t.Errorf("got %+v, %v", wt, err)
	}
}
