package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
	"davit/internal/github"
	"davit/internal/testenv"
)

// pullBench is a bench with a gh that counts its calls, and hears the verdicts.
type pullBench struct {
	*bench
	mu       sync.Mutex
	verdicts []string
	asked    []time.Time // when each began, a moment late at most
}

// never is a pace that the timer does not disturb.
var never = chip.Pace{Every: time.Hour, After: 300 * time.Millisecond, Slow: time.Hour}

func newPullBench(t *testing.T, pace chip.Pace, change ...func(*Config)) *pullBench {
	t.Helper()
	return patientPullBench(t, git.WatchConfig{}, pace, change...)
}

func patientPullBench(t *testing.T, patience git.WatchConfig, pace chip.Pace, change ...func(*Config)) *pullBench {
	t.Helper()
	p := &pullBench{}
	p.bench = watchedBench(t, patience, append([]func(*Config){func(c *Config) {
		dir := filepath.Dir(c.Home)
		env := append(os.Environ(), "HOME="+c.Home, "GH_CONFIG_DIR="+filepath.Join(dir, "gh"))
		c.GitHub = github.Client{Git: c.Git, Environ: func() []string { return env }}
		c.Pace = pace
		c.Login = func() (string, bool) { return filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), true }
		c.Judge = func(j chip.Judgement) {
			p.mu.Lock()
			p.verdicts = append(p.verdicts, string(j.Verdict))
			p.mu.Unlock()
		}
		c.Asked = func(_ chip.Judgement, took time.Duration) {
			p.mu.Lock()
			p.asked = append(p.asked, time.Now().Add(-took))
			p.mu.Unlock()
		}
	}}, change...)...)
	return p
}

// gh puts a gh in place that writes where it was called, then does as told.
func (b *pullBench) gh(body string) {
	b.Helper()
	b.script("bin/gh", "echo \"$PWD $PATH\" >> '"+filepath.Join(b.dir, "gh-calls")+"'\n"+body+"\n")
}

func answer(number int) string {
	return fmt.Sprintf(`echo '{"number":%d,"url":"https://github.com/o/r/pull/%d","state":"OPEN","title":"T"}'`, number, number)
}

const signedOut = "echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4"

func (b *pullBench) ghCalls() []string {
	data, _ := os.ReadFile(filepath.Join(b.dir, "gh-calls"))
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

func (b *pullBench) clone(name, branch string) string {
	b.Helper()
	dir := b.repo(name)
	b.git(dir, "remote", "add", "origin", "git@github.com:o/r.git")
	b.git(dir, "checkout", "-q", "-B", branch)
	return dir
}

func (b *pullBench) show(key, dir string) {
	b.runner.Watch(key, dir)
	b.runner.Show(key, Show{PullRequest: true})
}

func (b *pullBench) pullOf(key string) davit.Chip {
	b.bench.mu.Lock()
	defer b.bench.mu.Unlock()
	for _, c := range b.latest[key] {
		if c.Kind == "github_pr" {
			return c
		}
	}
	return davit.Chip{}
}

func (b *pullBench) shows(key, text string, status ...davit.ChipStatus) {
	b.Helper()
	testenv.Eventually(b, soon, func() (bool, string) {
		c := b.pullOf(key)
		return c.Text == text && (len(status) == 0 || c.Status == status[0]), fmt.Sprintf("%s shows %+v, want %s %v", key, c, text, status)
	})
}

// calls waits for a number of calls, then for a while without another one.
func (b *pullBench) called(want int) {
	b.Helper()
	testenv.Eventually(b, soon, func() (bool, string) {
		n := len(b.ghCalls())
		return n >= want, fmt.Sprintf("%d calls of gh, want %d", n, want)
	})
	for since := time.Now(); time.Since(since) < 250*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if n := len(b.ghCalls()); n != want {
			b.Fatalf("%d calls of gh, want %d", n, want)
		}
	}
}

func (b *pullBench) answers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.asked)
}

func (b *pullBench) heard(want ...string) {
	b.Helper()
	testenv.Eventually(b, soon, func() (bool, string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return fmt.Sprint(b.verdicts) == fmt.Sprint(want), fmt.Sprintf("verdicts %v, want %v", b.verdicts, want)
	})
}

// TestOneCallForAllTabs: spec chips C2.5 and C7: once per forge host, repository and
// branch, whatever directories the tabs are in; a commit causes no call.
func TestOneCallForAllTabs(t *testing.T) {
	b := newPullBench(t, never)
	b.gh("sleep 0.2\n" + answer(12))
	one, two, other := b.clone("one", "feat"), b.clone("two", "feat"), b.clone("other", "else")
	for i := range 20 {
		b.show(fmt.Sprintf("tab%d", i), filepath.Join(one, ""))
	}
	b.show("clone", two)
	b.shows("tab0", "PR #12", davit.ChipReady)
	b.shows("tab19", "PR #12")
	b.shows("clone", "PR #12")
	b.called(1)
	b.show("branch", other)
	b.shows("branch", "PR #12")
	b.called(2)
	b.git(one, "commit", "-q", "--allow-empty", "-m", "second")
	b.called(2)
	b.show("late", two) // a new tab takes what is known
	b.shows("late", "PR #12")
	b.called(2)
	b.heard("validated", "validated")
}

// TestInvalidation: spec chips C2.3 and C2.5: a push asks again, 10 s after the last
// question or at once when that is longer ago; many pushes ask once.
func TestInvalidation(t *testing.T) {
	b := newPullBench(t, never)
	b.gh(answer(12))
	dir := b.clone("one", "feat")
	b.show("p", dir)
	b.show("q", dir)
	b.shows("p", "PR #12")
	first := time.Now()
	b.gh(answer(13))
	for range 5 {
		b.runner.Bump("p", BumpedRepository)
		b.runner.Bump("q", BumpedRepository)
	}
	b.shows("p", "PR #13")
	b.shows("q", "PR #13")
	b.called(2)
	b.mu.Lock()
	if gap := b.asked[1].Sub(b.asked[0]); gap < never.After-50*time.Millisecond {
		t.Errorf("asked again after %s", gap)
	}
	b.mu.Unlock()
	testenv.Eventually(t, soon, func() (bool, string) { return time.Since(first) > 3*never.After, "waiting" })
	began := time.Now()
	b.gh(answer(14))
	b.runner.Bump("q", BumpedRepository)
	b.shows("p", "PR #14")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("an old answer was replaced after %s", took)
	}
	b.called(3)
}

// TestTimer: spec chips C2.4 and C2.5: by timer while somebody looks, and not after.
func TestTimer(t *testing.T) {
	pace := chip.Pace{Every: 300 * time.Millisecond, After: 10 * time.Millisecond, Slow: time.Minute}
	b := newPullBench(t, pace)
	b.gh(answer(1))
	dir := b.clone("one", "feat")
	b.show("p", dir)
	testenv.Eventually(t, soon, func() (bool, string) { return len(b.ghCalls()) >= 3, "three calls" })
	b.mu.Lock()
	for i := 1; i < len(b.asked); i++ {
		if gap := b.asked[i].Sub(b.asked[i-1]); gap < pace.Every-50*time.Millisecond {
			t.Errorf("two calls within %s", gap)
		}
	}
	b.mu.Unlock()
	b.gh(answer(2)) // a pull request that changes elsewhere shows by itself
	b.shows("p", "PR #2")
	b.runner.Show("p", Show{}) // not shown any more
	b.shows("p", "")
	n := len(b.ghCalls())
	for since := time.Now(); time.Since(since) < 3*pace.Every; time.Sleep(10 * time.Millisecond) {
		if now := len(b.ghCalls()); now > n+1 {
			t.Fatalf("%d calls with nobody looking", now-n)
		}
	}
}

// TestNothingToAsk: spec chips C4.2, line 4, and C2.4.
func TestNothingToAsk(t *testing.T) {
	b := newPullBench(t, never)
	b.gh(answer(12))
	plain := b.repo("plain")
	elsewhere := b.repo("elsewhere")
	b.git(elsewhere, "remote", "add", "origin", "git@gitlab.com:o/r.git")
	detached := b.clone("detached", "feat")
	b.git(detached, "checkout", "-q", "--detach")
	quiet := b.clone("quiet", "feat")
	far := b.clone("far", "feat")
	b.runner.Watch("quiet", quiet) // its surface does not show the chip
	b.runner.Watch("far", far)
	b.runner.Show("far", Show{PullRequest: true, Remote: true})
	for dir, reason := range map[string]string{
		plain: "the repository has no remote", elsewhere: "no remote is on GitHub", detached: "HEAD is detached", b.dir: "the directory is not in a git repository",
	} {
		a := b.runner.PullRequest(t.Context(), Question{Dir: dir})
		if a.Chip.Status != davit.ChipIdle || a.Chip.Reason != reason || a.Judge.Verdict != chip.VerdictNoChange {
			t.Errorf("%s: %+v", dir, a)
		}
	}
	if a := b.runner.PullRequest(t.Context(), Question{Dir: far, Remote: true}); a.Chip.Status != davit.ChipDisabled || a.Chip.Reason != "Requires a local session" {
		t.Errorf("remote: %+v", a)
	}
	b.called(0)
	b.git(plain, "remote", "add", "origin", "https://github.com/o/r") // and then there is
	b.git(plain, "commit", "-q", "--allow-empty", "-m", "x")
	b.show("p", plain)
	b.shows("p", "PR #12")
}

// TestBranchSwitchedDuringTheCall: spec chips C2.5: the result is taken only if its branch
// is still the branch.
func TestBranchSwitchedDuringTheCall(t *testing.T) {
	b := newPullBench(t, never)
	dir := b.clone("one", "feat")
	b.gh(`b=$(sed s,ref:.refs/heads/,, .git/HEAD)
if [ "$b" = feat ]; then while ! [ -e '` + b.dir + `/go' ]; do sleep 0.02; done; ` + answer(12) + `; else ` + answer(99) + `; fi`)
	b.show("p", dir)
	testenv.Eventually(t, soon, func() (bool, string) { return len(b.ghCalls()) == 1, "the call" })
	b.git(dir, "checkout", "-q", "-b", "next")
	b.write("go", "")
	b.shows("p", "PR #99")
	for since := time.Now(); time.Since(since) < 300*time.Millisecond; time.Sleep(5 * time.Millisecond) {
		if c := b.pullOf("p"); c.Text == "PR #12" {
			t.Fatal("the result of another branch was taken")
		}
	}
	b.git(dir, "checkout", "-q", "feat") // clears at once, then asks for its own
	b.shows("p", "PR #12")
}

// TestLeavingClears: spec chips C2.4.
func TestLeavingClears(t *testing.T) {
	b := newPullBench(t, never)
	b.gh(answer(12))
	dir := b.clone("one", "feat")
	b.show("p", dir)
	b.shows("p", "PR #12")
	b.runner.Watch("p", b.dir)
	b.shows("p", "")
	b.runner.Watch("p", dir)
	b.shows("p", "PR #12")
	b.called(1)
}

// TestFailuresKeepTheValue: spec chips C2.2 and C4.2, line 5: what is not an answer
// changes nothing but the status.
func TestFailuresKeepTheValue(t *testing.T) {
	b := newPullBench(t, chip.Pace{Every: time.Hour, After: 50 * time.Millisecond, Slow: time.Hour}, func(c *Config) { c.GitHub.Within = 3 * time.Second })
	b.gh(answer(12))
	dir := b.clone("one", "feat")
	b.show("p", dir)
	b.shows("p", "PR #12", davit.ChipReady)
	for _, c := range []struct {
		body   string
		status davit.ChipStatus
		text   string
	}{
		{"sleep 60", davit.ChipTimedOut, "PR #12"},
		{"echo 'error connecting to api.github.com' >&2; exit 1", davit.ChipError, "PR #12"},
		{"echo '<html>'", davit.ChipError, "PR #12"},
		{"echo '{\"message\":\"hi\"}'", davit.ChipError, "PR #12"},
		{"head -c 200000000 /dev/zero", davit.ChipError, "PR #12"},
		{"echo 'HTTP 404: Not Found' >&2; exit 1", davit.ChipError, "PR #12"},
		{"echo 'A new release of gh is available' >&2; " + answer(13), davit.ChipReady, "PR #13"},
		{"echo 'no pull requests found for branch \"feat\"' >&2; exit 1", "", ""},
	} {
		b.gh(c.body)
		n := b.answers()
		b.runner.Bump("p", BumpedRepository)
		testenv.Eventually(t, 2*soon, func() (bool, string) { return b.answers() > n, "an answer to " + c.body })
		if c.text == "" {
			b.shows("p", "")
			continue
		}
		b.shows("p", c.text, c.status)
	}
	b.heard("validated", "no_change", "no_change", "no_change", "no_change", "no_change", "no_change", "validated", "validated")
	if a := b.runner.PullRequest(t.Context(), Question{Dir: dir}); a.Chip.Status != davit.ChipReady || a.Chip.Reason != "there is no pull request for feat" {
		t.Errorf("%+v", a.Chip)
	}
}

// TestRateLimitStops: spec chips C2.5: until the time that it names, for the whole forge.
func TestRateLimitStops(t *testing.T) {
	b := newPullBench(t, chip.Pace{Every: 50 * time.Millisecond, After: 20 * time.Millisecond, Slow: time.Second})
	b.gh("echo 'HTTP 403: API rate limit exceeded, retry after 2' >&2; exit 1")
	one, two := b.clone("one", "feat"), b.clone("two", "else")
	b.show("p", one)
	testenv.Eventually(t, soon, func() (bool, string) { return len(b.ghCalls()) == 1, "the call" })
	began := time.Now()
	b.heard("no_change")
	b.gh(answer(12))
	b.show("q", two)
	b.runner.Bump("p", BumpedAccount)
	a := b.runner.PullRequest(t.Context(), Question{Dir: two, Force: true})
	if a.Chip.Status != davit.ChipError || !strings.Contains(a.Chip.Reason, "rate limit") {
		t.Errorf("%+v", a)
	}
	testenv.Eventually(t, soon, func() (bool, string) { return len(b.ghCalls()) > 1, "a call after the limit" })
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("asked again after %s", took)
	}
	b.shows("p", "PR #12")
	b.shows("q", "PR #12")
}

// TestSignedOutIsRemembered: spec chips C2.2: unauthenticated is not asked again until
// something changes, and a change of the account reaches every repository.
func TestSignedOutIsRemembered(t *testing.T) {
	b := newPullBench(t, chip.Pace{Every: 100 * time.Millisecond, After: 20 * time.Millisecond, Slow: time.Second})
	b.gh(signedOut)
	dir := b.clone("one", "feat")
	home := b.repo("home/other")
	b.show("p", dir)
	b.show("elsewhere", home)
	b.heard("unauthenticated_gh")
	b.called(1)
	if a := b.runner.PullRequest(t.Context(), Question{Dir: dir}); a.Chip.Status != davit.ChipDisabled || a.Chip.Reason != "Run gh auth login to sign in to GitHub" {
		t.Errorf("%+v", a.Chip)
	}
	b.runner.Bump("elsewhere", BumpedRepository)
	b.called(1)
	b.gh(answer(12))
	b.runner.Bump("elsewhere", BumpedAccount) // gh auth login, in another directory
	b.shows("p", "PR #12")
	b.heard("unauthenticated_gh", "validated")
}

// TestWhosePath: spec chips C2.6.
func TestWhosePath(t *testing.T) {
	b := newPullBench(t, never, func(c *Config) { c.Login = func() (string, bool) { return "", false } })
	dir, other := b.clone("one", "feat"), b.repo("other")
	git := "bin2:" + b.dir + "/bin2"
	if err := os.MkdirAll(filepath.Join(b.dir, "bin2"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.gh(answer(12))
	with := filepath.Join(b.dir, "bin") + ":/usr/bin:/bin"
	b.runner.Watch("unknown", dir) // its PATH is not known: it counts as fine, and waits
	b.runner.Show("unknown", Show{PullRequest: true})
	b.called(0)
	b.heard()
	b.runner.Drop("unknown")
	b.runner.Watch("without", dir)
	b.runner.Show("without", Show{PullRequest: true, Path: git})
	b.heard("missing_gh") // nobody who asks has it
	b.runner.Watch("with", other)
	b.runner.Show("with", Show{PullRequest: true, Path: with})
	b.runner.Watch("second", dir)
	b.runner.Show("second", Show{PullRequest: true, Path: with})
	b.shows("second", "PR #12")
	b.shows("without", "") // its own session has no gh
	b.called(1)
	if call := b.ghCalls()[0]; call != dir+" "+with {
		t.Errorf("gh was called with %q", call)
	}
	b.heard("missing_gh", "validated")
	b.runner.Watch("third", other) // one without gh says nothing while others have it
	b.runner.Show("third", Show{PullRequest: true, Path: git + ":/nowhere"})
	b.heard("missing_gh", "validated")
	a := b.runner.PullRequest(t.Context(), Question{Dir: dir, Path: git})
	if a.Chip.Status != davit.ChipDisabled || a.Chip.Reason != "Requires the GitHub CLI" {
		t.Errorf("%+v", a)
	}
}

// TestGhAppears: spec chips C4.4 and C2.5: an executable that appears is another fact.
func TestGhAppears(t *testing.T) {
	b := newPullBench(t, chip.Pace{Every: 200 * time.Millisecond, After: 20 * time.Millisecond, Slow: time.Second})
	dir := b.clone("one", "feat")
	b.runner.Watch("p", dir)
	b.runner.Show("p", Show{PullRequest: true, Path: filepath.Join(b.dir, "bin")})
	b.heard("missing_gh")
	b.gh(answer(12))
	a := b.runner.PullRequest(t.Context(), Question{Dir: dir, Path: filepath.Join(b.dir, "bin"), Force: true})
	if a.Chip.Text != "PR #12" || a.Judge.Verdict != chip.VerdictValidated {
		t.Errorf("%+v", a)
	}
	b.shows("p", "PR #12")
	b.heard("missing_gh", "validated")
}

// TestQuestions: spec chips C3.3: a question is a surface for that moment, shares what is
// known, and is answered in time.
func TestQuestions(t *testing.T) {
	b := newPullBench(t, never)
	dir := b.clone("one", "feat")
	b.gh(answer(12))
	for range 3 {
		if a := b.runner.PullRequest(t.Context(), Question{Dir: dir}); a.Chip.Text != "PR #12" {
			t.Fatalf("%+v", a)
		}
	}
	b.called(1)
	b.gh(answer(13))
	if a := b.runner.PullRequest(t.Context(), Question{Dir: dir, Force: true}); a.Chip.Text != "PR #13" {
		t.Errorf("forced: %+v", a)
	}
	b.called(2)
	b.gh("sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if a := b.runner.PullRequest(ctx, Question{Dir: b.clone("two", "other")}); a.Chip.Status != davit.ChipTimedOut || time.Since(began) > 3*time.Second {
		t.Errorf("late: %+v", a)
	}
	layout := chip.Resolve(chip.Saved{}, true, davit.PRSuppressed, "")
	n := len(b.ghCalls())
	list := b.runner.List(t.Context(), ListRequest{Dir: dir, Layout: layout, Verdict: chip.VerdictUnauthenticated})
	if last := list[len(list)-1]; last.Kind != "github_pr" || last.Reason != "Run gh auth login to sign in to GitHub" || len(b.ghCalls()) != n {
		t.Errorf("suppressed: %+v", last) // a default that is suppressed is not run (C4.4)
	}
}

// TestFiftyTabsWithEverything: spec chips C7 with the whole of a prompt that has a pull
// request and counts: one commit costs two git processes and no gh.
func TestFiftyTabsWithEverything(t *testing.T) {
	b := patientPullBench(t, git.WatchConfig{Quiet: 300 * time.Millisecond, Most: 5 * time.Second}, never)
	b.gh(answer(12))
	node := b.tally("node", "echo v22.4.0")
	dir := b.clone("repo", "feat")
	b.write(filepath.Join(dir, "package.json"), "{}\n")
	b.write(filepath.Join(dir, "new"), "x\n")
	for i := range 50 {
		key := fmt.Sprint(i)
		b.runner.Watch(key, dir)
		b.runner.Show(key, Show{PullRequest: true, Path: b.search(), Kinds: []chip.Kind{chip.Conda, chip.Venv, chip.SSH, chip.Subshell, chip.Node, chip.GitStatus}})
	}
	all := func(diff string) {
		t.Helper()
		for i := range 50 {
			key := fmt.Sprint(i)
			b.becomes(key, chip.GitDiff, diff)
			b.becomes(key, chip.GitHubPR, "PR #12")
			b.becomes(key, chip.GitStatus, "feat")
			b.becomes(key, chip.Node, "v22.4.0")
		}
	}
	all("2 • +2")
	if n := b.settle(); n != 2 { // status, and once the remotes
		t.Errorf("50 tabs cost %d git processes: %q", n, b.bench.calls())
	}
	before := b.settle()
	b.git(dir, "add", ".")
	all("2 • +2")
	staged := b.settle()
	b.git(dir, "commit", "-q", "-m", "second")
	all("0")
	if n := b.settle() - staged; n > 2 {
		t.Errorf("one commit cost %d git processes: %q", n, b.bench.calls()[before:])
	}
	b.called(1)
	if n := node(); n != 1 {
		t.Errorf("node ran %d times", n)
	}
}
