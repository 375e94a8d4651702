package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/store"
)

// agentReady is what the measured agent prints first.
const agentReady = "agent-ready"

// launches is what a launch must reach: in repositories of two sizes from the request to
// the agent's first byte, against git and the program alone; many launches at a time; and
// the ledger by itself.
func (b *bench) launches() error {
	in, err := b.instance("l", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if err != nil {
		return err
	}
	defer in.down()
	agent := "[agents.first]\nargv = [\"sh\", \"-c\", \"echo " + agentReady + "; exec sleep 1000\"]\n"
	if err := os.WriteFile(filepath.Join(in.home.Config, "agents.toml"), []byte(agent), 0o600); err != nil {
		return err
	}
	for _, files := range []int{1_000, 50_000} {
		if b.quick && files > 1_000 {
			continue
		}
		if err := b.firstByte(in, files); err != nil {
			return err
		}
	}
	if err := b.manyLaunches(in); err != nil {
		return err
	}
	return b.ledger()
}

// repository makes one with so many files, committed.
func (b *bench) repository(name string, files int) (string, error) {
	dir := filepath.Join(b.dir, name)
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("d%03d", i/100), fmt.Sprintf("f%05d.txt", i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return "", err
			}
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("a line of text\n", 20)+name), 0o600); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "all"}} {
		if err := b.git(dir, args...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (b *bench) git(dir string, args ...string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(b.ctx, "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = dir
	cmd.Env = environ("GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w: %s", args, err, out)
	}
	return nil
}

func (b *bench) firstByte(in *instance, files int) error {
	repo, err := b.repository(fmt.Sprintf("repo%d", files), files)
	if err != nil {
		return err
	}
	runs := 7
	if b.quick {
		runs = 2
	}
	var ours, bare []float64
	for n := range runs + 1 {
		mine, err := in.launchOnce(repo, fmt.Sprintf("ours%d", n))
		if err != nil {
			return err
		}
		alone, err := b.gitAndExec(repo, n)
		if err != nil {
			return err
		}
		if n > 0 { // the first of each warms the disk's cache
			ours, bare = append(ours, mine), append(bare, alone)
		}
	}
	ratio := median(ours) / median(bare)
	b.add(fmt.Sprintf("a launch into a new worktree of %d files: until the agent's first byte", files), "≤ 1.15 × git and the program alone",
		fmt.Sprintf("%.0f ms = %.2f ×", median(ours), ratio), fmt.Sprintf("`git worktree add`, then the program: %.0f ms", median(bare)), atMost(ratio, 1.15))
	return nil
}

func operationID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%013d-%s", time.Now().UnixMilli(), hex.EncodeToString(random[:]))
}

func (in *instance) launch(ctx context.Context, repo, name string) (davit.Result, error) {
	create, err := json.Marshal(map[string]any{"repo": "path:" + repo, "name": name})
	if err != nil {
		return davit.Result{}, err
	}
	var result davit.Result
	err = in.client.Call(ctx, "agent.launch", davit.Intent{
		Agent: "first", OperationID: operationID(), Surface: davit.Terminal, Target: davit.Target{Kind: davit.TargetWorktree, Create: create},
	}, &result)
	return result, err
}

func (in *instance) launchOnce(repo, name string) (ms float64, err error) {
	begun := time.Now()
	result, err := in.launch(in.b.ctx, repo, name)
	if err != nil {
		return 0, err
	}
	_, pane, _ := strings.Cut(string(result.Outcome.PaneKey), ":")
	err = in.shows(davit.PaneID(pane), agentReady)
	return time.Since(begun).Seconds() * 1000, err
}

// gitAndExec is the same work by hand: git makes the worktree, and the program begins in a
// terminal.
func (b *bench) gitAndExec(repo string, n int) (ms float64, err error) {
	begun := time.Now()
	if err := b.git(repo, "worktree", "add", "-q", "--no-track", "-b", fmt.Sprintf("bare%d", n), filepath.Join(b.dir, filepath.Base(repo)+fmt.Sprintf("-bare%d", n)), "main"); err != nil {
		return 0, err
	}
	t, err := b.terminal(environ(), "sh", "-c", "echo "+agentReady+"; exec sleep 1000")
	if err != nil {
		return 0, err
	}
	defer t.end()
	t.drain()
	err = b.until("the agent's first byte", func() bool { return t.seen(agentReady) })
	return time.Since(begun).Seconds() * 1000, err
}

// manyLaunches: 100 launches in 20 repositories at once; each has to succeed.
func (b *bench) manyLaunches(in *instance) error {
	repos, each := 20, 5
	if b.quick {
		repos, each = 4, 2
	}
	var paths []string
	for i := range repos {
		repo, err := b.repository(fmt.Sprintf("many%d", i), 20)
		if err != nil {
			return err
		}
		paths = append(paths, repo)
	}
	begun := time.Now()
	var group sync.WaitGroup
	faults := make([]error, repos*each)
	for i := range faults {
		group.Go(func() {
			_, faults[i] = in.launch(b.ctx, paths[i%repos], fmt.Sprintf("at-once-%d", i))
		})
	}
	group.Wait()
	failed := 0
	for _, err := range faults {
		if err != nil {
			failed++
			b.note("a launch failed: %v", err)
		}
	}
	b.add(fmt.Sprintf("%d launches in %d repositories at once", len(faults), repos), "no lock failure",
		fmt.Sprintf("%d failed, %.1f s in all", failed, time.Since(begun).Seconds()), "", atMost(float64(failed), 0))
	return nil
}

// ledger measures durable admissions by 16 callers, and replays.
func (b *bench) ledger() error {
	db, err := store.Open(b.ctx, store.Config{Path: filepath.Join(b.dir, "ledger.db"), Now: time.Now})
	if err != nil {
		return err
	}
	defer db.Close()
	total := 30_000
	if b.quick {
		total = 2_000
	}
	intent := []byte(`{"agent":"first","target":{"kind":"existing","worktree":"active"},"prompt":{"text":"` + strings.Repeat("x", 200) + `"}}`)
	ids := make([]string, total)
	for i := range ids {
		ids[i] = operationID()
	}
	rate := func(do func(id string) error) (float64, error) {
		var next atomic.Int64
		var group sync.WaitGroup
		faults := make([]error, 16)
		begun := time.Now()
		for i := range faults {
			group.Go(func() {
				for n := next.Add(1); n <= int64(total) && faults[i] == nil; n = next.Add(1) {
					faults[i] = do(ids[n-1])
				}
			})
		}
		group.Wait()
		return float64(total) / time.Since(begun).Seconds(), errors.Join(faults...)
	}
	ask := func(want store.AdmissionKind) func(id string) error {
		return func(id string) error {
			a, err := db.Admit(b.ctx, store.AdmitRequest{Caller: "local", OperationID: id, Fingerprint: "f", Intent: intent, Now: time.Now()})
			if err == nil && a.Kind != want {
				err = fmt.Errorf("%s was answered %s", id, a.Kind)
			}
			return err
		}
	}
	claims, err := rate(ask(store.AdmitFresh))
	if err != nil {
		return err
	}
	replays, err := rate(ask(store.AdmitReplay))
	if err != nil {
		return err
	}
	b.add("durable admissions by 16 callers", "≥ 3,000/s", fmt.Sprintf("%.0f/s", claims), "", atLeast(claims, 3_000))
	b.add("replays by 16 callers", "≥ 20,000/s", fmt.Sprintf("%.0f/s", replays), "", atLeast(replays, 20_000))
	return nil
}
