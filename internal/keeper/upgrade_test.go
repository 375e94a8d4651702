package keeper_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/testenv"
)

// rebuilt makes another build of the keeper: the same program in another file.
func rebuilt(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// upgrade replaces the keeper by another build, as a person who is not the host, and
// waits until that answers.
func (in *instance) upgrade(path string) {
	in.t.Helper()
	r := in.reader()
	before := r.Hello()
	if err := r.Upgrade(ctx(in.t), path); err != nil {
		in.t.Fatalf("upgrade: %v\n%s", err, in.log())
	}
	select {
	case <-r.Done():
	case <-time.After(15 * time.Second):
		in.t.Fatal("the connection outlives the upgrade")
	}
	hello := in.reader().Hello()
	if hello.Pid != before.Pid || hello.StartTime != before.StartTime || hello.Fence < before.Fence {
		in.t.Fatalf("after the upgrade %+v, before %+v", hello, before)
	}
	if hello.Generation != before.Generation+1 || hello.Build != filepath.Base(path) {
		in.t.Fatalf("build %s generation %d, want %s", hello.Build, hello.Generation, filepath.Base(path))
	}
}

// numbered checks that a program's numbered lines are all there, each once, in order.
func numbered(t testing.TB, out string, count int) {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(out, "\r\n", "\n"), "\n")
	if len(lines) != count+1 {
		t.Errorf("%d lines of %d", len(lines)-1, count)
		return
	}
	for i, line := range lines[:count] {
		if line != fmt.Sprintf("line %d of a program that prints", i) {
			t.Errorf("line %d is %q", i, line)
			return
		}
	}
}

// following follows a pane over every upgrade, reconnecting as a host does. It reads no
// further than limit, so that the program cannot end before the test is through.
func (in *instance) following(pane string, host bool, limit *atomic.Int64) (output func() string, ended chan struct{}) {
	var mu sync.Mutex
	var text strings.Builder
	next := uint64(0)
	ended = make(chan struct{})
	once := func() bool {
		c, err := client.Dial(context.Background(), client.Config{Socket: in.rec.Socket, Reader: !host})
		if err != nil {
			in.t.Errorf("%s: dial: %v", pane, err) // the socket answers all the time
			return true
		}
		defer c.Disconnect()
		s, err := c.Follow(context.Background(), pane, next, "")
		if err != nil {
			return davit.CodeOf(err) != davit.CodeKeeperUnreachable
		}
		defer s.Close()
		for {
			f, err := s.Next()
			if err != nil {
				return davit.CodeOf(err) != davit.CodeKeeperUnreachable
			}
			if f.From != next || f.Kind == keeper.Gap {
				in.t.Errorf("%s: a frame [%d, %d) of kind %d at %d", pane, f.From, f.To, f.Kind, next)
				return true
			}
			next = f.To
			for int64(next) > limit.Load() {
				time.Sleep(time.Millisecond)
			}
			mu.Lock()
			text.Write(f.Data)
			mu.Unlock()
			s.Ack(f.To)
		}
	}
	go func() {
		defer close(ended)
		for !once() {
		}
	}()
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}, ended
}

func awaitAll(t testing.TB, ended chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("a follower does not come to the end")
	}
}

// The keeper becomes another build five times while programs print at full speed into a
// terminal and a pipe: same pid, every line once, no exit status lost, what was done is
// not done again, what waits is written to its end (spec terminal P1.7).
func TestUpgrade(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, func(c *keeper.Config) { c.PTYAhead = 256 << 10 })
	c := in.dial()
	const count = 400_000
	in.spawn(c, in.role("flood", "lines", fmt.Sprint("COUNT=", count)))
	pipe := in.role("pipe", "lines", fmt.Sprint("COUNT=", count))
	pipe.Pipes = true
	in.spawn(c, pipe)
	in.spawn(c, in.shell("over", "echo bye; exit 7"))
	in.follow(c, "over", 0, "").waitExit(t)
	gate := filepath.Join(t.TempDir(), "gate")
	req := in.role("reads", "digest", "GATE="+gate)
	req.Pipes = true
	in.spawn(c, req)
	in.follow(c, "reads", 0, "").waitFor(t, "reading")
	dies := in.spawn(c, in.shell("dies", "while ! test -e "+gate+"; do sleep 0.01; done; exit 9"))
	once := in.shell("once", "stty -echo; echo ready; while read x; do echo \"<$x>\"; done")
	first := in.spawn(c, once)
	in.follow(c, "once", 0, "").waitFor(t, "ready")
	act := keeper.Input{ID: in.id(), Pane: "once", Data: []byte("act\n")}
	if err := c.Input(ctx(t), act); err != nil {
		t.Fatal(err)
	}
	big := []byte(strings.Repeat("0123456789abcdef", 3<<20/16))
	owed := keeper.Input{ID: in.id(), Pane: "reads", Data: big}
	lost := make(chan error, 1)
	go func() { lost <- c.Input(context.Background(), owed) }()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		queued := in.info(in.reader(), "reads").Queued
		return queued == len(big), fmt.Sprint(queued)
	})
	var limit atomic.Int64
	t.Cleanup(func() { limit.Store(1 << 40) })
	flood, floodEnd := in.following("flood", true, &limit)
	piped, pipedEnd := in.following("pipe", false, &limit)
	for i := range 5 {
		limit.Add(2 << 20)
		testenv.Eventually(t, 15*time.Second, func() (bool, string) {
			n := len(flood())
			return n > i*2<<20+1<<20, fmt.Sprint(n)
		})
		if in.info(in.reader(), "flood").Exit != nil {
			t.Error("the program had ended before the last upgrade")
		}
		in.upgrade(rebuilt(t, fmt.Sprint("davit-", i)))
	}
	if err := <-lost; err == nil {
		t.Error("the input that waits was answered")
	}
	limit.Store(1 << 40)
	awaitAll(t, floodEnd)
	numbered(t, flood(), count)
	c = in.dial()
	if p := in.info(c, "over"); p.Exit == nil || p.Exit.Code != 7 {
		t.Errorf("the exit status of before: %+v", p.Exit)
	}
	repeated := make(chan error, 1)
	go func() { repeated <- c.Input(ctx(t), owed) }()
	if err := c.Input(ctx(t), act); err != nil {
		t.Error(err)
	}
	if again := in.spawn(c, once); again.Pid != first.Pid {
		t.Errorf("a repeated spawn answered pid %d, first %d", again.Pid, first.Pid)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-repeated; err != nil {
		t.Error(err)
	}
	if err := c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "reads", EOF: true}); err != nil {
		t.Error(err)
	}
	digest := in.follow(c, "reads", 0, "")
	digest.waitEnd(t)
	if want := fmt.Sprintf("%d %x", len(big), sha256.Sum256(big)); !strings.Contains(digest.output(), want) {
		t.Errorf("the program read %q, want %s", digest.output(), want)
	}
	if e := in.follow(c, "dies", 0, "").waitExit(t); e.Code != 9 || in.info(c, "dies").Pid != dies.Pid {
		t.Errorf("the exit after the upgrades: %+v", e)
	}
	in.send(c, "once", "end\n")
	f := in.follow(c, "once", 0, "")
	f.waitFor(t, "<end>")
	if n := strings.Count(f.output(), "<act>"); n != 1 {
		t.Errorf("the input arrived %d times: %q", n, f.output())
	}
	if err := c.Resize(ctx(t), in.id(), "once", 101, 31); err != nil || in.info(c, "once").Cols != 101 {
		t.Errorf("resize after the upgrade: %v", err)
	}
	awaitAll(t, pipedEnd)
	numbered(t, piped(), count)
	if report, err := c.Close(ctx(t), in.id(), "once", quick); err != nil || !gone(first.Pid) || report.Exit == nil {
		t.Errorf("close after the upgrades: %+v, %v", report, err)
	}
	for _, pane := range []string{"over", "once", "dies"} {
		if err := c.Forget(ctx(t), pane); err != nil {
			t.Errorf("forget %s after the upgrades: %v", pane, err)
		}
	}
	rec, alive, err := client.Find(in.cfg.StateDir)
	if err != nil || !alive || rec.Pid != in.rec.Pid || rec.Build != "davit-4" {
		t.Errorf("record %+v, %v, %v", rec, alive, err)
	}
}

// A build that cannot take the table over is refused with its own reason, and everything
// goes on as before (spec terminal P1.7).
func TestUpgradeRefused(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "stty -echo; echo ready; exec cat"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "ready")
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "davit")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, one := range map[string]struct{ path, reason string }{
		"older":   {script("echo 'the table has version 1, this build reads 0' >&2; exit 1"), "this build reads 0"},
		"silent":  {script("exit 3"), "status 3"},
		"another": {"/bin/true", "does not know how to"},
		"killed":  {script("kill -9 $$"), "status -1"},
		"no program": {func() string {
			path := script("")
			if err := os.WriteFile(path, []byte("\x7fELF nonsense"), 0o700); err != nil {
				t.Fatal(err)
			}
			return path
		}(), "exec format"},
	} {
		err := c.Upgrade(ctx(t), one.path)
		wantCode(t, err, davit.CodeUnsupported)
		if !strings.Contains(err.Error(), one.reason) {
			t.Errorf("%s: %v, want %q in it", name, err, one.reason)
		}
		in.send(c, "p", name+"\n")
		f.waitFor(t, name)
	}
	wantCode(t, c.Upgrade(ctx(t), "/no/such/davit"), davit.CodeInvalid)
	if c.Err() != nil || in.reader().Hello().Generation != 0 {
		t.Error("a refused upgrade had an effect")
	}
	if e := in.spawn(c, in.shell("q", "exit 4")); e.Pid == 0 {
		t.Error("no spawn after a refused upgrade")
	}
	if e := in.follow(c, "q", 0, "").waitExit(t); e.Code != 4 {
		t.Errorf("exit %+v", e)
	}
}

// A build that passed the check and refuses at the hand-over gives the keeper back, also
// when the file of the build before is gone, and who asked is told at once, with the
// reason; programs, statuses and input go on, and the next upgrade works (spec terminal P1.7).
func TestUpgradeGivenBack(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "stty -echo; echo ready; exec cat"))
	in.follow(c, "p", 0, "").waitFor(t, "ready")
	for _, step := range []string{"its file is there", "its file is gone"} {
		if step == "its file is gone" {
			now := rebuilt(t, "davit-now")
			in.upgrade(now)
			if err := os.Remove(now); err != nil {
				t.Fatal(err)
			}
		}
		started := time.Now()
		before, after, err := client.Upgrade(ctx(t), client.Config{Socket: in.rec.Socket}, rebuilt(t, "davit-refuses"))
		wantCode(t, err, davit.CodeUnsupported)
		if !strings.Contains(err.Error(), "this keeper would be of") || time.Since(started) > 10*time.Second {
			t.Errorf("%s: told %v after %s", step, err, time.Since(started))
		}
		if after.Pid != before.Pid || after.StartTime != before.StartTime || after.Refused == "" {
			t.Errorf("%s: before %+v, after %+v", step, before, after)
		}
		c = in.dial()
		in.send(c, "p", step+"\n")
		in.follow(c, "p", 0, "").waitFor(t, step)
		in.spawn(c, in.shell(strings.ReplaceAll(step, " ", "-"), "exit 4"))
		if e := in.follow(c, strings.ReplaceAll(step, " ", "-"), 0, "").waitExit(t); e.Code != 4 {
			t.Errorf("%s: exit %+v", step, e)
		}
	}
	in.upgrade(rebuilt(t, "davit-next"))
	if hello := in.reader().Hello(); hello.Refused != "" {
		t.Errorf("the upgrade that worked is told as refused: %+v", hello)
	}
	if status := strings.Join(childEnv(t, in.rec.Pid), "\n"); strings.Contains(status, "DAVIT_KEEPER_REFUSED") {
		t.Errorf("the next build was handed the reason of the one before: %s", status)
	}
}

func childEnv(t testing.TB, pid int) []string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\x00")
}

// A file that is changed while it is looked at is refused; one that passed the check and
// cannot be executed is told as that, at once, on the connection that asked; everything
// goes on as before (spec terminal P1.7).
func TestUpgradeThatCannotBeExecuted(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "stty -echo; echo ready; exec cat"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "ready")
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const can = `echo '{"davitKeeperTable": 1, "build": "other"}'`
	sh := filepath.Join(dir, "interpreter")
	b, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	write("interpreter", string(b))
	for name, one := range map[string]struct{ path, reason string }{
		"changed":        {write("changed", "#!/bin/sh\n"+can+"\necho '# more' >>\"$0\"\n"), "was changed while it was looked at"},
		"removed":        {write("removed", "#!/bin/sh\n"+can+"\nrm \"$0\"\n"), "was changed while it was looked at"},
		"no interpreter": {write("script", "#!"+sh+"\n"+can+"\nrm "+sh+"\n"), "no such file"},
	} {
		started := time.Now()
		before, after, err := client.Upgrade(ctx(t), client.Config{Socket: in.rec.Socket}, one.path)
		wantCode(t, err, davit.CodeUnsupported)
		if !strings.Contains(err.Error(), one.reason) || time.Since(started) > 10*time.Second {
			t.Errorf("%s: told %v after %s, want %q", name, err, time.Since(started), one.reason)
		}
		if before.Generation != 0 || after.Generation != 0 {
			t.Errorf("%s: %+v, %+v", name, before, after)
		}
		in.send(c, "p", name+"\n")
		f.waitFor(t, name)
	}
	if c.Err() != nil {
		t.Errorf("the host was cut off: %v", c.Err())
	}
	in.spawn(c, in.shell("q", "exit 4"))
	if e := in.follow(c, "q", 0, "").waitExit(t); e.Code != 4 {
		t.Errorf("exit %+v", e)
	}
}
