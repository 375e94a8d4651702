package runner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
	"davit/internal/testenv"
)

// search is a PATH with the scripts of the bench in front.
func (b *bench) search() string { return filepath.Join(b.dir, "bin") + ":/usr/bin:/bin" }

// kinds shows some kinds at a surface of a directory.
func (b *bench) kinds(key, dir string, session chip.Session, kinds ...chip.Kind) {
	b.runner.Watch(key, dir)
	b.runner.Show(key, Show{Path: b.search(), Kinds: kinds, Session: session})
}

func (b *bench) chip(key string, kind chip.Kind) davit.Chip {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.latest[key] {
		if c.Kind == string(kind) {
			return c
		}
	}
	return davit.Chip{}
}

// becomes waits until a chip shows a text; "" is no value.
func (b *bench) becomes(key string, kind chip.Kind, text string, status ...davit.ChipStatus) davit.Chip {
	b.Helper()
	var c davit.Chip
	testenv.Eventually(b, soon, func() (bool, string) {
		c = b.chip(key, kind)
		return c.Text == text && (len(status) == 0 || c.Status == status[0]), fmt.Sprintf("%s of %s is %+v, want %q %v", kind, key, c, text, status)
	})
	return c
}

// tally makes a program that counts its runs.
func (b *bench) tally(name, body string) (runs func() int) {
	b.Helper()
	log := filepath.Join(b.dir, "runs-"+name)
	b.script("bin/"+name, "echo x >> '"+log+"'\n"+body+"\n")
	return func() int {
		data, _ := os.ReadFile(log)
		return strings.Count(string(data), "\n")
	}
}

// quiet waits until a count stays as it is.
func quiet(count func() int) int {
	n, since := count(), time.Now()
	for time.Since(since) < 300*time.Millisecond {
		time.Sleep(10 * time.Millisecond)
		if now := count(); now != n {
			n, since = now, time.Now()
		}
	}
	return n
}

// TestStatusOfABranch: spec chips C1, git_status: from the call that the diff makes.
func TestStatusOfABranch(t *testing.T) {
	b := newBench(t)
	origin := b.repo("origin")
	repo := filepath.Join(b.dir, "clone")
	b.git(b.dir, "clone", "-q", origin, repo)
	b.kinds("p", repo, chip.Session{}, chip.GitStatus)
	b.becomes("p", chip.GitStatus, "main", davit.ChipReady)
	b.git(repo, "commit", "-q", "--allow-empty", "-m", "mine")
	c := b.becomes("p", chip.GitStatus, "main • ↑1")
	if c.Data.Upstream != "origin/main" || c.Data.Ahead != 1 || chip.Prompt(c) != "git:(main • ↑1)" {
		t.Errorf("%+v", c)
	}
	b.write(filepath.Join(origin, "b.txt"), "theirs\n")
	b.git(origin, "add", ".")
	b.git(origin, "commit", "-q", "-m", "theirs")
	b.git(repo, "fetch", "-q")
	b.becomes("p", chip.GitStatus, "main • ↑1 ↓1")

	before := b.settle()
	b.git(repo, "checkout", "-q", "-b", "lonely")
	if c := b.becomes("p", chip.GitStatus, "lonely"); c.Data.Upstream != "" || c.Reason != "no upstream is configured" {
		t.Errorf("without an upstream: %+v", c)
	}
	if n := b.settle() - before; n > 2 {
		t.Errorf("a checkout cost %d git processes: %q", n, b.calls()[before:])
	}
	// The same change in another commit, as after a rebase on one side: nothing is missing.
	b.git(repo, "checkout", "-q", "-B", "main", "origin/main~1")
	b.git(repo, "cherry-pick", "origin/main")
	b.git(repo, "commit", "-q", "--amend", "-m", "the same in other words")
	if c := b.becomes("p", chip.GitStatus, "main • ⇅"); !c.Data.Rebased {
		t.Errorf("rebased: %+v", c)
	}
	before = b.settle()
	b.write(filepath.Join(repo, "new"), "x\n")
	b.runner.Ran("p")
	b.becomes("p", chip.GitDiff, "1 • +1")
	if n := b.settle() - before; n != 1 { // what is new is untracked: there is nothing to ask the second call
		t.Errorf("ends that are known are compared again: %q", b.calls()[before:])
	}
	b.git(repo, "update-ref", "-d", "refs/remotes/origin/main")
	b.runner.Refresh("p")
	if c := b.becomes("p", chip.GitStatus, "main"); !c.Data.CountsUnavailable || c.Data.Upstream != "origin/main" || !strings.Contains(c.Reason, "origin/main") {
		t.Errorf("an upstream that is gone: %+v", c)
	}
	b.git(repo, "checkout", "-q", "--detach")
	testenv.Eventually(t, soon, func() (bool, string) {
		c, branch := b.chip("p", chip.GitStatus), b.chip("p", chip.GitBranch)
		return c.Data != nil && c.Data.Detached && c.Data.Upstream == "" && c.Text == branch.Text, fmt.Sprintf("detached: %+v", c)
	})
	b.runner.Watch("p", b.dir)
	b.becomes("p", chip.GitStatus, "")
}

// TestNobodyShowsTheStatus: where nobody shows it, two sides that have both gone on cost
// the calls of a diff alone: one for a clean work tree (spec chips C1.2, C2.4).
func TestNobodyShowsTheStatus(t *testing.T) {
	b := newBench(t)
	origin := b.repo("origin")
	repo := filepath.Join(b.dir, "clone")
	b.git(b.dir, "clone", "-q", origin, repo)
	b.git(repo, "commit", "-q", "--allow-empty", "-m", "mine")
	b.git(origin, "commit", "-q", "--allow-empty", "-m", "theirs")
	b.git(repo, "fetch", "-q")
	b.runner.Watch("p", repo)
	b.becomes("p", chip.GitDiff, "0")
	if n := b.settle(); n != 1 {
		t.Errorf("%q", b.calls())
	}
	b.kinds("p", repo, chip.Session{}, chip.GitStatus)
	b.becomes("p", chip.GitStatus, "main • ↑1 ↓1")
}

// TestNode: spec chips C1, node: by the host, along the session's PATH, once per directory
// and PATH, only with a package.json inside of a repository.
func TestNode(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	runs := b.tally("node", "echo v18.17.0")
	deep := filepath.Join(repo, "src", "deep")
	b.write(filepath.Join(deep, "f"), "x\n")
	b.write("plain/package.json", "{}\n")
	b.kinds("p", deep, chip.Session{}, chip.Node)
	b.kinds("plain", filepath.Join(b.dir, "plain"), chip.Session{}, chip.Node)
	b.becomes("p", chip.GitBranch, "main")
	b.becomes("plain", chip.Cwd, filepath.Join(b.dir, "plain"))
	if n := quiet(runs); n != 0 {
		t.Errorf("node ran %d times where there is no package of a repository", n)
	}
	b.write(filepath.Join(repo, "package.json"), "{}\n")
	b.runner.Ran("p")
	b.becomes("p", chip.Node, "v18.17.0", davit.ChipReady)
	for i := range 10 {
		b.kinds(fmt.Sprint(i), deep, chip.Session{}, chip.Node)
		b.becomes(fmt.Sprint(i), chip.Node, "v18.17.0")
		b.runner.Ran("p")
	}
	if n := quiet(runs); n != 1 {
		t.Errorf("node ran %d times for one directory and PATH", n)
	}
	b.tally("node", "echo v20.1.0") // another program in the same place
	b.runner.Finished("p", "nvm use 20", nil)
	b.runner.Ran("p")
	b.becomes("p", chip.Node, "v20.1.0", davit.ChipReady)
	linked := filepath.Join(b.dir, "linked")
	b.git(repo, "worktree", "add", "-q", linked)
	b.write(filepath.Join(linked, "package.json"), "{}\n")
	b.kinds("w", linked, chip.Session{}, chip.Node)
	b.becomes("w", chip.Node, "v20.1.0")
	if err := os.Remove(filepath.Join(repo, "package.json")); err != nil {
		t.Fatal(err)
	}
	b.runner.Ran("p")
	b.becomes("p", chip.Node, "")
	b.runner.Show("w", Show{Path: "/nowhere", Kinds: []chip.Kind{chip.Node}})
	if c := b.becomes("w", chip.Node, "", davit.ChipDisabled); c.Reason != "Requires the `node` command" {
		t.Errorf("without node: %+v", c)
	}
}

// TestKube: spec chips C1, kube: asked again only when its files are others, or a tool ran.
func TestKube(t *testing.T) {
	b := newBench(t)
	b.write("plain/f", "")
	plain := filepath.Join(b.dir, "plain")
	runs := b.tally("kubectl", `cat "${KUBECONFIG:-$HOME/.kube/config}"; echo "$*" >&2`)
	config := filepath.Join(b.dir, "kube")
	b.write("kube", "one\n")
	b.kinds("p", plain, chip.Session{Kubeconfig: config}, chip.Kube)
	c := b.becomes("p", chip.Kube, "one", davit.ChipReady)
	if len(c.Data.WhileTyping) == 0 || c.Data.WhileTyping[0] != "kubectl" || chip.Prompt(c) != "⎈ one" {
		t.Errorf("%+v", c)
	}
	for range 5 {
		b.runner.Ran("p")
	}
	if n := quiet(runs); n != 1 {
		t.Errorf("kubectl ran %d times although nothing changed", n)
	}
	b.kinds("elsewhere", b.dir, chip.Session{Kubeconfig: config}, chip.Kube)
	b.becomes("elsewhere", chip.Kube, "one")
	if n := quiet(runs); n != 1 {
		t.Errorf("kubectl ran %d times for two directories", n)
	}
	b.runner.Drop("elsewhere")
	b.write("kube", "another\n")
	b.runner.Ran("p")
	b.becomes("p", chip.Kube, "another")
	b.runner.Finished("p", "k get po", map[string]string{"k": "kubectl"})
	b.runner.Ran("p")
	testenv.Eventually(t, soon, func() (bool, string) { return runs() == 3, fmt.Sprint(runs()) })
	b.tally("kubectl", "echo 'error: current-context is not set' >&2; exit 1")
	b.runner.Finished("p", "kubectx -u", nil)
	b.runner.Ran("p")
	if c := b.becomes("p", chip.Kube, "", davit.ChipError); c.Reason != "error: current-context is not set" {
		t.Errorf("%+v", c)
	}
}

// TestSubversion: spec chips C1, svn_branch and svn_dirty, in a real working copy.
func TestSubversion(t *testing.T) {
	testenv.Require(t, "svn", "svnadmin")
	b := newBench(t)
	repo, copied := filepath.Join(b.dir, "svn"), filepath.Join(b.dir, "wc", "trunk")
	for _, argv := range [][]string{{"svnadmin", "create", repo}, {"svn", "checkout", "-q", "file://" + repo, copied}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	sub := filepath.Join(copied, "a b")
	b.write(filepath.Join(sub, "one"), "x\n")
	b.kinds("p", sub, chip.Session{}, chip.SVNBranch, chip.SVNDirty)
	c := b.becomes("p", chip.SVNBranch, "trunk", davit.ChipReady)
	if chip.Prompt(c) != "svn:(trunk)" {
		t.Errorf("%+v", c)
	}
	b.kinds("top", copied, chip.Session{}, chip.SVNDirty)
	if c := b.becomes("top", chip.SVNDirty, "1"); chip.Prompt(c) != "±1" {
		t.Errorf("%+v", c)
	}
	if err := os.RemoveAll(sub); err != nil {
		t.Fatal(err)
	}
	b.runner.Ran("top")
	b.becomes("top", chip.SVNDirty, "", davit.ChipReady) // absent when 0
	b.runner.Watch("p", b.dir)
	b.becomes("p", chip.SVNBranch, "")
}

// TestSessionAndClock: spec chips C1: what the shell told, and clocks on the marks of the
// wall, only while somebody looks (C2.4).
func TestSessionAndClock(t *testing.T) {
	started := time.Now()
	noon := time.Date(2026, time.July, 9, 11, 59, 58, 500_000_000, time.Local)
	b := newBench(t, func(c *Config) {
		c.Now = func() time.Time { return noon.Add(time.Since(started)) }
	})
	b.write("plain/f", "")
	plain := filepath.Join(b.dir, "plain")
	session := chip.NewSession(map[string]string{"VIRTUAL_ENV": "/x/.venv", "CONDA_DEFAULT_ENV": "base", "SSH": "al@box"}, "me", "here")
	b.kinds("p", plain, session, chip.Conda, chip.Venv, chip.SSH, chip.Subshell, chip.User, chip.Host, chip.Date, chip.Time12, chip.Time24)
	head := "cwd=" + plain + "/ready conda=base/ready venv=.venv/ready ssh=al@box/ready user=al/ready host=box/ready date=Thu Jul 09 2026/ready time12="
	b.eventually("p", soon, head+"11:59 am/ready time24=11:59/ready")
	b.eventually("p", soon, head+"12:00 pm/ready time24=12:00/ready")
	if late := noon.Add(time.Since(started)).Sub(noon.Truncate(time.Minute).Add(time.Minute)); late < 0 || late > 2*time.Second {
		t.Errorf("the minute was told %s after its mark", late)
	}
}

func custom(name string, change func(*chip.CustomChip)) chip.CustomChip {
	c := chip.CustomChip{Policy: chip.Policy{Kind: chip.CustomKind(name), Title: name, Deadline: time.Second, Cap: 5 * time.Second}}
	change(&c)
	return c
}

// TestCustom: spec chips C1, the user's own command, by the same policy keys; C2.2, C2.3.
func TestCustom(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	runs := b.tally("weather", `printf '  \033[31mhot\033[0m and dry\nsecond line\n'; cat`)
	own := custom("weather", func(c *chip.CustomChip) {
		c.Source.Argv = []string{"weather"}
		c.Policy.Title, c.Policy.Icon = "Weather", "sun"
		c.Policy.Fingerprint = []chip.Input{chip.InputCwd, chip.InputInvalidated}
		c.Policy.InvalidatedBy = []chip.Invalidator{{Command: "make", Verbs: []string{"rain"}}}
	})
	b.kinds("p", repo, chip.Session{}, "custom:weather", "custom:unknown")
	b.becomes("p", chip.GitBranch, "main")
	b.runner.Own([]chip.CustomChip{own})
	c := b.becomes("p", "custom:weather", "  hot and dry", davit.ChipReady)
	if c.Title != "Weather" || c.Icon != "sun" || c.Value != "  hot and dry" {
		t.Errorf("%+v", c)
	}
	b.runner.Finished("p", "make hay", nil)
	b.runner.Ran("p")
	if n := quiet(runs); n != 1 {
		t.Errorf("it ran %d times under the same facts", n)
	}
	b.runner.Finished("p", "m", map[string]string{"m": "make rain"})
	b.runner.Ran("p")
	testenv.Eventually(t, soon, func() (bool, string) { return runs() == 2, fmt.Sprint(runs()) })

	shell := custom("weather", func(c *chip.CustomChip) {
		c.Source.Shell = `echo "$PWD" | tr a-z A-Z; exit 0`
		c.Policy.Refresh.Every = 50 * time.Millisecond
	})
	b.runner.Own([]chip.CustomChip{shell})
	b.becomes("p", "custom:weather", strings.ToUpper(repo))
	b.runner.Own(nil)
	b.becomes("p", "custom:weather", "")
}

// TestCustomOfABranch: spec chips C2.1: a fingerprint that has the branch runs again when
// another terminal changes it, and not for a commit.
func TestCustomOfABranch(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	runs := b.tally("where", "git symbolic-ref --short HEAD")
	plain := b.tally("plain", "echo plain")
	b.runner.Own([]chip.CustomChip{custom("where", func(c *chip.CustomChip) {
		c.Source.Argv = []string{"where"}
		c.Policy.Fingerprint = []chip.Input{chip.InputCwd, chip.InputBranch, chip.InputInvalidated}
	}), custom("plain", func(c *chip.CustomChip) { c.Source.Argv = []string{"plain"} })})
	b.kinds("p", repo, chip.Session{}, "custom:where", "custom:plain")
	b.becomes("p", "custom:where", "main", davit.ChipReady)
	b.becomes("p", "custom:plain", "plain", davit.ChipReady)
	quiet(runs)
	first := runs() // its first look may have come before the branch was known
	b.git(repo, "commit", "-q", "--allow-empty", "-m", "second")
	b.git(repo, "checkout", "-q", "-b", "other")
	b.becomes("p", "custom:where", "other", davit.ChipReady)
	if n := quiet(runs); n != first+1 {
		t.Errorf("it ran %d times for one change of the branch", n-first)
	}
	if n := quiet(plain); n != 1 {
		t.Errorf("one without a fingerprint ran %d times without a command", n)
	}
	b.runner.Finished("p", "make", nil)
	b.runner.Ran("p")
	testenv.Eventually(t, soon, func() (bool, string) { return plain() == 2, fmt.Sprint(plain()) })
	if n := quiet(plain); n != 2 {
		t.Errorf("it ran %d times for one command", n-1)
	}
}

// TestCustomByTimer: spec chips C2.1, refresh every n seconds; C2.4, for nobody nothing.
func TestCustomByTimer(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	runs := b.tally("tick", "echo tick")
	b.runner.Own([]chip.CustomChip{custom("tick", func(c *chip.CustomChip) {
		c.Source.Argv = []string{"tick"}
		c.Policy.Refresh.Every = 50 * time.Millisecond
		c.Policy.Fingerprint = []chip.Input{chip.InputCwd, chip.InputInvalidated}
	})})
	b.kinds("p", repo, chip.Session{}, "custom:tick")
	testenv.Eventually(t, soon, func() (bool, string) { return runs() > 4, fmt.Sprint(runs()) })
	b.runner.Drop("p")
	if n := quiet(runs); runs() != n {
		t.Errorf("it runs for nobody")
	}
}

// TestCustomMisbehaves: spec chips C1.4 and C7: ended whole, bounded, without stdin.
func TestCustomMisbehaves(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	pids := filepath.Join(b.dir, "pids")
	b.script("bin/hang", "sleep 1000 & echo $! >> '"+pids+"'; echo $$ >> '"+pids+"'; trap '' TERM INT; cat; sleep 1000; sleep 1000\n")
	b.script("bin/flood", "exec yes flood\n")
	b.script("bin/leaves", "sleep 1000 >/dev/null 2>&1 & echo $! >> '"+pids+"'; echo done\n")
	b.script("bin/fails", "echo value; printf 'no \\033[1mluck\\033[0m\\n' >&2; exit 3\n")
	one := func(name string) chip.CustomChip {
		return custom(name, func(c *chip.CustomChip) {
			c.Source.Argv = []string{name}
			c.Policy.Deadline, c.Policy.Cap = 50*time.Millisecond, 700*time.Millisecond
			if name == "flood" {
				c.Policy.Cap = 20 * time.Second
			}
		})
	}
	b.runner.Own([]chip.CustomChip{one("hang"), one("flood"), one("leaves"), one("fails"), one("missing")})
	b.kinds("p", repo, chip.Session{}, "custom:hang", "custom:flood", "custom:leaves", "custom:fails", "custom:missing")
	for kind, want := range map[chip.Kind]struct {
		text   string
		status davit.ChipStatus
		reason string
	}{
		"custom:hang":    {"", davit.ChipTimedOut, "hang did not answer within 700ms"},
		"custom:flood":   {"", davit.ChipError, "flood: it printed more than davit reads"},
		"custom:leaves":  {"done", davit.ChipReady, ""},
		"custom:fails":   {"", davit.ChipError, "no luck"},
		"custom:missing": {"", davit.ChipDisabled, "Requires the `missing` command"},
	} {
		if c := b.becomes("p", kind, want.text, want.status); c.Reason != want.reason {
			t.Errorf("%s: %+v", kind, c)
		}
	}
	// Again, and away while it runs.
	b.runner.Ran("p")
	testenv.Eventually(t, soon, func() (bool, string) { return len(b.pids(pids)) >= 5, "it has not begun again" })
	b.runner.Drop("p")
	testenv.Eventually(t, soon, func() (bool, string) {
		for _, pid := range b.pids(pids) {
			if syscall.Kill(pid, 0) == nil && !defunct(pid) {
				return false, fmt.Sprintf("%d still runs", pid)
			}
		}
		return true, ""
	})
}

// defunct says that a process has ended, and that only its parent has not heard of it.
func defunct(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

func (b *bench) pids(file string) []int {
	data, _ := os.ReadFile(file)
	var list []int
	for _, word := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// TestOldValueUntilTheNew: spec chips C2.4: within a session old values stay until new
// ones land; C1.4: the older run of the same chip is ended.
func TestOldValueUntilTheNew(t *testing.T) {
	b := newBench(t)
	one, two := b.repo("one"), b.repo("two")
	gate := filepath.Join(b.dir, "gate")
	b.script("bin/slow", "case $PWD in */two) while [ ! -e '"+gate+"' ]; do sleep 0.02; done;; esac\nbasename $PWD\n")
	b.runner.Own([]chip.CustomChip{custom("slow", func(c *chip.CustomChip) {
		c.Source.Argv = []string{"slow"}
		c.Policy.Deadline, c.Policy.Cap = 100*time.Millisecond, 20*time.Second
	})})
	b.kinds("p", one, chip.Session{}, "custom:slow")
	b.becomes("p", "custom:slow", "one", davit.ChipReady)
	b.runner.Watch("p", two)
	c := b.becomes("p", "custom:slow", "one", davit.ChipStale)
	if c.Reason != "slow has not answered within 100ms" {
		t.Errorf("%+v", c)
	}
	b.write("gate", "")
	b.becomes("p", "custom:slow", "two", davit.ChipReady)
}

// TestPollingIsSaid: where the system gives no events the branch chip says so.
func TestPollingIsSaid(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Watch = polled{c.Watch} })
	repo := b.repo("repo")
	b.runner.Watch("p", repo)
	if c := b.becomes("p", chip.GitBranch, "main", davit.ChipReady); c.Reason != "changes are looked for by timer: no space left on device" {
		t.Errorf("%+v", c)
	}
}

type polled struct{ Watcher }

func (polled) Polling() string { return "no space left on device" }

var _ Watcher = (*git.Watch)(nil)
