package runner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
	"davit/internal/testenv"
)

// bench is a home with a git that counts how often it is started, and a running Runner.
type bench struct {
	*testing.T
	dir, counting string
	runner        *Runner

	mu     sync.Mutex
	latest map[string][]davit.Chip
	seen   map[string][]string // every text of the diff chip with its status, per surface
	pushes int
}

func newBench(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	return watchedBench(t, git.WatchConfig{}, change...)
}

func watchedBench(t *testing.T, patience git.WatchConfig, change ...func(*Config)) *bench {
	t.Helper()
	testenv.Require(t, "git", "sh")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, dir: dir, counting: filepath.Join(dir, "bin", "git"), latest: map[string][]davit.Chip{}, seen: map[string][]string{}}
	b.write("gitconfig", "[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	b.script("bin/git", "echo \"$*\" >> '"+filepath.Join(dir, "calls")+"'\nexec '"+real+"' \"$@\"\n")
	watch := git.NewWatch(patience)
	cfg := Config{Git: git.Runner{Path: b.counting}, Watch: watch, Home: filepath.Join(dir, "home"), Push: b.take, Deadline: 10 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	b.runner = New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = watch.Run(ctx) })
	running.Go(func() { _ = b.runner.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		goleak.VerifyNone(t, goleak.IgnoreTopFunction("os/exec.(*Cmd).watchCtx.func1"))
	})
	return b
}

func (b *bench) take(u Update) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest[u.Key] = u.Chips
	b.pushes++
	for _, c := range u.Chips {
		if c.Kind == "git_diff" {
			b.seen[u.Key] = append(b.seen[u.Key], string(c.Status)+" "+c.Text)
		}
	}
}

func (b *bench) write(path, text string) {
	b.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// script puts an executable in place whole, so that nobody runs half of it.
func (b *bench) script(path, body string) {
	b.Helper()
	b.write(path+".new", "#!/bin/sh\n"+body)
	path = filepath.Join(b.dir, path)
	if err := os.Chmod(path+".new", 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) git(dir string, args ...string) {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (b *bench) repo(name string) string {
	b.Helper()
	dir := filepath.Join(b.dir, name)
	b.write(filepath.Join(dir, "a.txt"), "one\n")
	b.git(dir, "init", "-q")
	b.git(dir, "add", ".")
	b.git(dir, "commit", "-q", "-m", "first")
	return dir
}

// calls lists the arguments of every git that was started.
func (b *bench) calls() []string {
	data, _ := os.ReadFile(filepath.Join(b.dir, "calls"))
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")[:strings.Count(string(data), "\n")]
}

// show writes chips as "kind=text/status".
func show(chips []davit.Chip) string {
	var parts []string
	for _, c := range chips {
		parts = append(parts, fmt.Sprintf("%s=%s/%s", c.Kind, c.Text, c.Status))
	}
	return strings.Join(parts, " ")
}

// eventually waits until a surface shows exactly this.
func (b *bench) eventually(key string, limit time.Duration, want string) {
	b.Helper()
	testenv.Eventually(b, limit, func() (bool, string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		got := show(b.latest[key])
		return got == want, fmt.Sprintf("%s shows %q, want %q", key, got, want)
	})
}

const soon = 5 * time.Second

// settle waits until no new git call has come for a while, and gives their number.
func (b *bench) settle() int {
	count, since := len(b.calls()), time.Now()
	for time.Since(since) < 400*time.Millisecond {
		time.Sleep(10 * time.Millisecond)
		if n := len(b.calls()); n != count {
			count, since = n, time.Now()
		}
	}
	return count
}

func TestChipsOfARepository(t *testing.T) {
	b := newBench(t)
	repo := b.repo("home/repo")
	b.runner.Watch("p", repo)
	b.eventually("p", soon, "cwd=~/repo/ready git_branch=main/ready git_diff=0/ready")
	b.write(filepath.Join(repo, "a.txt"), "one\ntwo\nthree\n")
	b.write(filepath.Join(repo, "dir", "new"), "x\ny\nunterminated")
	b.write(filepath.Join(repo, "dir", "binary"), "\x00\n\n")
	if err := os.Symlink("nowhere", filepath.Join(repo, "link")); err != nil {
		t.Fatal(err)
	}
	b.runner.Refresh("p")
	b.eventually("p", soon, "cwd=~/repo/ready git_branch=main/ready git_diff=4 • +5/ready")
	once := show(b.runner.Once(context.Background(), repo, Show{}))
	b.eventually("p", soon, once) // one number for one truth (C1.2)
	b.git(repo, "add", ".")
	b.git(repo, "commit", "-q", "-m", "second")
	b.eventually("p", soon, "cwd=~/repo/ready git_branch=main/ready git_diff=0/ready")
	b.runner.Watch("p", filepath.Join(repo, "dir"))
	b.eventually("p", soon, "cwd=~/repo/dir/ready git_branch=main/ready git_diff=0/ready")
	b.runner.Watch("p", b.dir)
	b.eventually("p", soon, "cwd="+b.dir+"/ready")
}

// TestBranchOfAnotherTerminal: spec chips C1.1, 300 ms.
func TestBranchOfAnotherTerminal(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	b.runner.Watch("p", repo)
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	b.git(repo, "checkout", "-q", "-b", "feature/x")
	b.eventually("p", 300*time.Millisecond, "cwd="+repo+"/ready git_branch=feature/x/ready git_diff=0/ready")
	n := b.settle()
	b.git(repo, "branch", "unrelated")
	if after := b.settle(); after != n {
		t.Errorf("a ref that nobody is on started %d git", after-n)
	}
}

// TestFiftySurfacesOneCommit: spec chips C7, at most two git processes in all.
func TestFiftySurfacesOneCommit(t *testing.T) {
	// More patience than a host has: on a busy machine one commit takes longer than that.
	b := watchedBench(t, git.WatchConfig{Quiet: 300 * time.Millisecond, Most: 5 * time.Second})
	repo := b.repo("repo")
	b.write(filepath.Join(repo, "sub", "f"), "x\n")
	for i := range 50 {
		dir := repo
		if i%2 == 1 {
			dir = filepath.Join(repo, "sub")
		}
		b.runner.Watch(fmt.Sprint(i), dir)
	}
	want := func(diff string) {
		t.Helper()
		for i := range 50 {
			dir := repo
			if i%2 == 1 {
				dir = filepath.Join(repo, "sub")
			}
			b.eventually(fmt.Sprint(i), soon, "cwd="+dir+"/ready git_branch=main/ready git_diff="+diff+"/ready")
		}
	}
	want("1 • +1")
	if n := b.settle(); n != 1 { // nothing that git knows differs
		t.Errorf("50 surfaces cost %d git processes: %q", n, b.calls())
	}
	b.git(repo, "add", ".")
	want("1 • +1")
	before := b.settle()
	b.git(repo, "commit", "-q", "-m", "second")
	want("0")
	if n := b.settle() - before; n > 2 {
		t.Errorf("one commit cost %d git processes: %q", n, b.calls()[before:])
	}
	for _, call := range b.calls() {
		if !strings.Contains(call, "--no-optional-locks") {
			t.Errorf("git %s may lock", call)
		}
	}
}

// TestCommandsThatEnd: any command may have changed files; one that the watch has told of
// already is not measured for each sign (spec chips C1.2, C7).
func TestCommandsThatEnd(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	b.runner.Watch("p", repo)
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	b.write(filepath.Join(repo, "a.txt"), "changed\n")
	b.runner.Ran("p")
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=1 • +1 -1/ready")
	before := b.settle()
	b.git(repo, "commit", "-q", "-a", "-m", "second")
	b.runner.Ran("p")
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	// Two where the watch tells of it first, as it does but on a busy machine.
	if n := b.settle() - before; n > 4 {
		t.Errorf("one commit cost %d git processes: %q", n, b.calls()[before:])
	}
	plain := filepath.Join(b.dir, "plain")
	if err := os.Mkdir(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	b.runner.Watch("q", plain)
	b.eventually("q", soon, "cwd="+plain+"/ready")
	b.git(plain, "init", "-q", "-b", "main")
	b.runner.Ran("q")
	b.eventually("q", soon, "cwd="+plain+"/ready git_branch=main/ready git_diff=0/ready")
}

func TestNobodyLooksNothingRuns(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	b.runner.Refresh("stranger")
	b.runner.Watch("p", repo)
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	b.runner.Drop("p")
	b.runner.Drop("stranger")
	b.runner.Refresh("p")
	n := b.settle()
	b.mu.Lock()
	pushes := b.pushes
	b.mu.Unlock()
	b.write(filepath.Join(repo, "a.txt"), "changed\n")
	b.git(repo, "commit", "-q", "-a", "-m", "second")
	b.git(repo, "checkout", "-q", "-b", "other")
	b.runner.Refresh("p")
	if after := b.settle(); after != n {
		t.Errorf("%d git processes for nobody", after-n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pushes != pushes {
		t.Error("a dropped surface was told")
	}
}

// TestSlowGitIsStaleThenTimedOut: spec chips C1.2.
func TestSlowGitIsStaleThenTimedOut(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Deadline, c.Cap = 100*time.Millisecond, 1500*time.Millisecond })
	repo := b.repo("repo")
	head := "cwd=" + repo + "/ready git_branch=main/ready git_diff="
	b.runner.Watch("p", repo)
	b.eventually("p", soon, head+"0/ready")
	b.write(filepath.Join(repo, "new"), "x\n")
	b.script("bin/git", "trap 'exit 1' TERM\necho started >> '"+filepath.Join(b.dir, "calls")+"'\nwhile test ! -e '"+b.dir+"/go'; do sleep 0.05; done\nexec /usr/bin/env git \"$@\"\n")
	b.runner.Refresh("p")
	b.eventually("p", soon, head+"0/stale")
	b.eventually("p", soon, head+"0/timed_out")
	b.write("go", "")
	b.runner.Refresh("p")
	b.eventually("p", soon, head+"1 • +1/ready")
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.seen["p"], "loading ") && !strings.HasPrefix(b.seen["p"][0], "loading") {
		t.Errorf("a known value was taken away: %q", b.seen["p"])
	}
}

// TestSecondCallOnlyForWhatChanged: spec chips C1.2: at most two calls, the second about
// the files that the first one names; one for a work tree without such; and no call for a
// surface that does not show them (C2.4), until it does.
func TestSecondCallOnlyForWhatChanged(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	b.write(filepath.Join(repo, "a"), "1\n2\n")
	b.write(filepath.Join(repo, "b"), "1\n2\n")
	b.git(repo, "add", ".")
	b.git(repo, "commit", "-q", "-m", "second")
	b.runner.Watch("p", repo)
	b.runner.Show("p", Show{NoDiff: true})
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready")
	b.write(filepath.Join(repo, "a"), "1\n3\n4\n")
	b.runner.Ran("p")
	b.git(repo, "branch", "-m", "trunk")
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=trunk/ready")
	if n := b.settle(); n != 0 {
		t.Errorf("nobody shows the diff, and git ran %d times: %q", n, b.calls())
	}
	b.runner.Show("p", Show{})
	b.becomes("p", chip.GitDiff, "1 • +2 -1")
	calls := b.calls()
	if b.settle() != 2 || !strings.HasSuffix(calls[1], "=dirty -- a") {
		t.Errorf("one changed file cost %q", calls)
	}
	b.git(repo, "add", "a")
	b.write(filepath.Join(repo, "b"), "1\n2\n3\n")
	b.runner.Ran("p")
	b.becomes("p", chip.GitDiff, "2 • +3 -1") // a staged one is of the same number
	b.git(repo, "checkout", "-q", "HEAD", ".")
	b.runner.Ran("p")
	b.becomes("p", chip.GitDiff, "0")
	before := b.settle()
	b.runner.Show("p", Show{NoDiff: true})
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=trunk/ready")
	b.write(filepath.Join(repo, "b"), "1\n")
	b.runner.Ran("p")
	if n := b.settle(); n != before {
		t.Errorf("nobody shows the diff any more, and git ran: %q", b.calls()[before:])
	}
}

// TestOnePairAtATime: two work trees of one repository do not run git together.
func TestOnePairAtATime(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	linked := filepath.Join(b.dir, "linked")
	b.git(repo, "worktree", "add", "-q", "-b", "side", linked)
	running, most := filepath.Join(b.dir, "running"), filepath.Join(b.dir, "most")
	if err := os.Mkdir(running, 0o700); err != nil {
		t.Fatal(err)
	}
	b.script("bin/git", "touch '"+running+"'/$$\nls '"+running+"' | wc -l >> '"+most+"'\nsleep 0.1\n/usr/bin/env git \"$@\"\ncode=$?\nrm '"+running+"'/$$\nexit $code\n")
	b.runner.Watch("a", repo)
	b.runner.Watch("b", linked)
	b.eventually("a", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	b.eventually("b", soon, "cwd="+linked+"/ready git_branch=side/ready git_diff=0/ready")
	data, err := os.ReadFile(most)
	if err != nil {
		t.Fatal(err)
	}
	counts := strings.Fields(string(data))
	if len(counts) != 2 || slices.Max(counts) > "1" {
		t.Errorf("git ran side by side: %q", counts)
	}
}

// TestOrdinaryPlaces: what is no plain repository is no fault either.
func TestOrdinaryPlaces(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	unborn := filepath.Join(b.dir, "unborn")
	b.git(b.dir, "init", "-q", unborn)
	b.write("unborn/new", "x\n")
	b.write("unborn/staged", "x\ny\n")
	b.git(unborn, "add", "staged")
	bare := filepath.Join(b.dir, "bare.git")
	b.git(b.dir, "clone", "-q", "--bare", repo, bare)
	locked := b.repo("locked")
	b.write(filepath.Join(locked, ".git", "index.lock"), "")
	detached := b.repo("detached")
	b.git(detached, "checkout", "-q", "--detach")
	id, err := exec.Command("git", "-C", detached, "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	b.write("nowhere/.git", "gitdir: /gone/away\n")
	b.write("plain/f", "")
	nested := b.repo("nested")
	b.git(nested, "init", "-q", "inner")
	b.write(filepath.Join(nested, "inner", "f"), "x\n")
	for dir, want := range map[string]string{
		unborn:                          "git_branch=main/ready git_diff=2 • +3/ready",
		bare:                            "git_branch=main/ready",
		filepath.Join(repo, ".git"):     "git_branch=main/ready",
		locked:                          "git_branch=main/ready git_diff=0/ready",
		detached:                        "git_branch=" + strings.TrimSpace(string(id)) + "/ready git_diff=0/ready",
		nested:                          "git_branch=main/ready git_diff=1/ready",
		filepath.Join(b.dir, "plain"):   "",
		filepath.Join(b.dir, "gone"):    "",
		filepath.Join(b.dir, "nowhere"): "git_branch=/error",
	} {
		status := "ready"
		if filepath.Base(dir) == "gone" {
			status = "error"
		}
		want = strings.TrimSpace("cwd=" + dir + "/" + status + " " + want)
		if got := show(b.runner.Once(context.Background(), dir, Show{})); got != want {
			t.Errorf("once: %q, want %q", got, want)
		}
		b.runner.Watch(dir, dir)
		b.eventually(dir, soon, want)
	}
	// Two surfaces, one in a work tree and one in its .git, do not drive each other out.
	b.runner.Watch("outside", repo)
	b.eventually("outside", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	n := b.settle()
	if after := b.settle(); after != n {
		t.Errorf("git is started for ever")
	}
	if exists := func() bool { _, err := os.Stat(filepath.Join(locked, ".git", "index.lock")); return err == nil }(); !exists {
		t.Error("somebody's index.lock was taken away")
	}
}

func TestRepositoryVanishes(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	b.runner.Watch("p", repo)
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	if err := os.Rename(filepath.Join(repo, ".git"), filepath.Join(b.dir, "away")); err != nil {
		t.Fatal(err)
	}
	b.eventually("p", soon, "cwd="+repo+"/ready")
	if err := os.Rename(filepath.Join(b.dir, "away"), filepath.Join(repo, ".git")); err != nil {
		t.Fatal(err)
	}
	b.runner.Refresh("p")
	b.eventually("p", soon, "cwd="+repo+"/ready git_branch=main/ready git_diff=0/ready")
	if err := os.Rename(repo, filepath.Join(b.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	b.runner.Refresh("p")
	b.eventually("p", soon, "cwd="+repo+"/error")
}

func TestGitMissingHangingAndGarbage(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Cap = 300 * time.Millisecond })
	repo := b.repo("repo")
	head := "cwd=" + repo + "/ready git_branch=main/ready git_diff="
	b.script("bin/git", "echo garbage\n")
	b.runner.Watch("p", repo)
	b.eventually("p", soon, head+"/error")
	b.script("bin/git", "exec sleep 1000\n")
	b.runner.Refresh("p")
	b.eventually("p", soon, head+"/timed_out")
	if err := os.Remove(b.counting); err != nil {
		t.Fatal(err)
	}
	b.runner.Refresh("p")
	b.eventually("p", soon, head+"/disabled")
	b.mu.Lock()
	reason := b.latest["p"][2].Reason
	b.mu.Unlock()
	if reason != "Requires the `git` command" { // C3.1
		t.Errorf("reason %q", reason)
	}
}

// TestBranchWithoutAProcess: spec chips C7, the branch chip costs no process.
func TestBranchWithoutAProcess(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	p := b.runner.placeOf(context.Background(), repo)
	if p.head.Branch != "main" || len(b.calls()) != 0 {
		t.Errorf("%+v after %q", p.head, b.calls())
	}
}

func BenchmarkBranchAfterCd(bench *testing.B) {
	dir := bench.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		bench.Fatalf("%v: %s", err, out)
	}
	r := New(Config{})
	for bench.Loop() {
		if p := r.placeOf(context.Background(), dir); !p.found {
			bench.Fatal("not found")
		}
	}
}
