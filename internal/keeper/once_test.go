package keeper_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/testenv"
)

// What is asked twice happens once, also on another connection (spec terminal P1.2).
func TestAtMostOnce(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	req := in.shell("p", "stty -echo; echo ready; while read x; do echo \"<$x>\"; done")
	first := in.spawn(c, req)
	if again := in.spawn(c, req); again.Pid != first.Pid {
		t.Fatalf("a repeated spawn answered pid %d, first %d", again.Pid, first.Pid)
	}
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "ready")
	once := keeper.Input{ID: in.id(), Pane: "p", Data: []byte("once\n")}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := c.Input(ctx(t), once); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c2 := in.dial()
	if err := c2.Input(ctx(t), once); err != nil {
		t.Fatal(err)
	}
	if again := in.spawn(c2, req); again.Pid != first.Pid {
		t.Fatalf("a repeated spawn on a new connection answered pid %d, first %d", again.Pid, first.Pid)
	}
	f = in.follow(c2, "p", 0, "")
	in.send(c2, "p", "end\n")
	f.waitFor(t, "<end>")
	if n := strings.Count(f.output(), "<once>"); n != 1 {
		t.Fatalf("the input arrived %d times: %q", n, f.output())
	}
	err := c2.Resize(ctx(t), once.ID, "p", 10, 10)
	wantCode(t, err, davit.CodeKeeperIDReused)
	wantCode(t, second(c2.Spawn(ctx(t), in.shell("p", "true"))), davit.CodePaneExists)
}

func second[T any](_ T, err error) error { return err }

func wantCode(t *testing.T, err error, code davit.Code) {
	t.Helper()
	if davit.CodeOf(err) != code {
		t.Fatalf("%v (%s), want %s", err, davit.CodeOf(err), code)
	}
}

// A failed spawn answers the same again and leaves nothing; a forgotten pane is not
// started again by its old id.
func TestSpawnAnswers(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	req := in.shell("p", "true")
	req.Path = "/nonexistent/program"
	for range 2 {
		wantCode(t, second(c.Spawn(ctx(t), req)), davit.CodePaneSpawnFailed)
	}
	req = in.shell("p", "exit 3")
	req.Dir = "/nonexistent"
	wantCode(t, second(c.Spawn(ctx(t), req)), davit.CodeDirectoryMissing)
	req = in.shell("../p", "true")
	wantCode(t, second(c.Spawn(ctx(t), req)), davit.CodeInvalid)
	if left, err := os.ReadDir(filepath.Join(in.cfg.StateDir, "panes")); err != nil || len(left) != 0 {
		t.Fatalf("failed spawns left %v (%v)", left, err)
	}
	marker := filepath.Join(t.TempDir(), "ran")
	req = in.shell("p", "echo x >> "+marker)
	in.spawn(c, req)
	in.follow(c, "p", 0, "").waitExit(t)
	if err := c.Forget(ctx(t), "p"); err != nil {
		t.Fatal(err)
	}
	in.spawn(c, req) // the first answer
	if b, _ := os.ReadFile(marker); string(b) != "x\n" {
		t.Fatalf("the program ran again: %q", b)
	}
	wantCode(t, c.Forget(ctx(t), "p"), davit.CodePaneNotFound)
	if left, err := os.ReadDir(filepath.Join(in.cfg.StateDir, "panes")); err != nil || len(left) != 0 {
		t.Fatalf("forget left %v (%v)", left, err)
	}
}

// A host is killed at some point of sending an input in parts. What it sent is taken
// whole or not at all, without it; sending it again under its id makes it exactly once
// (spec terminal P1.2).
func TestInputWholeWhenHostIsKilled(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	const size = 2 << 20
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Repeat("0123456789abcdef", size/16))))
	whole := 0
	for i := range 8 {
		pane := fmt.Sprint("p", i)
		gate := filepath.Join(t.TempDir(), "gate")
		c := in.dial()
		req := in.role(pane, "digest", "GATE="+gate)
		req.Pipes = true
		in.spawn(c, req)
		host := exec.Command(self(t))
		host.Env = append(os.Environ(), "DAVIT_TEST_ROLE=host", "SOCKET="+in.rec.Socket, "PANE="+pane,
			fmt.Sprint("OWED=", size), "OWED_ID=owed")
		stdout, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdout.Read(make([]byte, 16)); err != nil { // "sending"
			t.Fatal(err)
		}
		time.Sleep(time.Duration(2*i) * time.Millisecond) // the place of the kill, not a wait
		_ = host.Process.Kill()
		_ = host.Wait()
		c = in.dial()
		again := i%2 == 1
		var sent chan error
		if again {
			sent = make(chan error, 1)
			go func() {
				sent <- c.Input(ctx(t), keeper.Input{ID: "owed", Pane: pane, Data: []byte(strings.Repeat("0123456789abcdef", size/16))})
			}()
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if again {
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: pane, EOF: true}); err != nil {
			t.Fatal(err)
		}
		f := in.follow(c, pane, 0, "")
		f.waitExit(t)
		got := f.output()
		if strings.Contains(got, fmt.Sprintf("%d %s", size, want)) {
			whole++
			continue
		}
		if again || !strings.Contains(got, "\n0 ") {
			t.Fatalf("round %d (sent again: %v): the program read %q", i, again, got)
		}
	}
	if whole < 4 {
		t.Fatalf("%d whole inputs", whole)
	}
}

// A full queue is busy and takes nothing; the same id may come again (spec terminal P1.2).
func TestInputBusy(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	gate := filepath.Join(t.TempDir(), "gate")
	req := in.role("p", "digest", "GATE="+gate)
	req.Pipes = true
	in.spawn(c, req)
	in.follow(c, "p", 0, "").waitFor(t, "reading")
	big := make([]byte, 3<<20)
	first := make(chan error, 1)
	go func() { first <- c.Input(ctx(t), keeper.Input{ID: "first", Pane: "p", Data: big}) }()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		queued := in.info(c, "p").Queued
		return queued == len(big), fmt.Sprint(queued, " bytes are queued")
	})
	probe := keeper.Input{ID: "second", Pane: "p", Data: big[:3<<19]}
	wantCode(t, c.Input(ctx(t), probe), davit.CodePaneBusy)
	wantCode(t, c.Input(ctx(t), keeper.Input{ID: "large", Pane: "p", Data: make([]byte, 5<<20)}), davit.CodePaneInputTooLarge)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if err := c.Input(ctx(t), probe); err != nil {
		t.Fatal(err)
	}
	if err := c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", EOF: true}); err != nil {
		t.Fatal(err)
	}
	f := in.follow(c, "p", 0, "")
	f.waitExit(t)
	if want := fmt.Sprint(len(big)+len(probe.Data), " "); !strings.Contains(f.output(), want) {
		t.Fatalf("the program read %q, want %s", f.output(), want)
	}
	wantCode(t, c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", Data: []byte("x")}), davit.CodePaneEnded)
}

// Four hundred short programs at once: every exit status arrives, and is the right one
// (spec terminal P1.8).
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	const n = 400
	limit := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i := range n {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			req := in.shell(fmt.Sprint("p", i), fmt.Sprint("exit ", i%251))
			if i%5 == 0 {
				req.Argv[2] = "kill -9 $$"
			}
			req.Pipes = i%2 == 0
			if _, err := c.Spawn(ctx(t), req); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	testenv.Eventually(t, 15*time.Second, func() (bool, string) {
		list, err := c.List(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		for _, p := range list {
			if p.Exit != nil {
				ended++
			}
		}
		return ended == n, fmt.Sprint(ended, " of ", len(list), " have ended")
	})
	list, err := c.List(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		var i int
		fmt.Sscanf(p.Pane, "p%d", &i)
		code, sig := i%251, 0
		if i%5 == 0 {
			code, sig = -1, 9
		}
		if p.Exit.Code != code || p.Exit.Signal != sig {
			t.Errorf("%s: %+v, want code %d signal %d", p.Pane, p.Exit, code, sig)
		}
	}
}

// The host is killed at random while a program prints at full speed; a new one goes on
// at its offset. What they wrote down is what the program printed (spec terminal P1.1).
func TestHostKilledUnderLoad(t *testing.T) {
	t.Parallel()
	// The bound is small, so that the program is still printing when a host is killed.
	in := startKeeper(t, func(c *keeper.Config) { c.PTYAhead = 256 << 10 })
	c := in.dial()
	const count, kills = 150_000, 12
	in.spawn(c, in.role("p", "lines", fmt.Sprint("COUNT=", count)))
	out := filepath.Join(t.TempDir(), "out")
	start := func() (*exec.Cmd, *strings.Builder) {
		host := exec.Command(self(t))
		host.Env = append(os.Environ(), "DAVIT_TEST_ROLE=host", "SOCKET="+in.rec.Socket, "PANE=p", "OUT="+out)
		stderr := new(strings.Builder)
		host.Stderr = stderr
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		return host, stderr
	}
	written := func() int64 {
		st, err := os.Stat(out)
		if err != nil {
			return 0
		}
		return st.Size()
	}
	for i := range kills {
		before := written()
		host, stderr := start()
		testenv.Eventually(t, 20*time.Second, func() (bool, string) {
			return written() > before+int64(i*7919*13%150_000), stderr.String()
		})
		_ = host.Process.Kill()
		if host.Wait() == nil {
			t.Fatalf("the program had ended before kill %d", i)
		}
	}
	host, stderr := start()
	if err := host.Wait(); err != nil {
		t.Fatalf("host: %v: %s", err, stderr)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	if len(lines) != count+1 {
		t.Fatalf("%d lines of %d", len(lines)-1, count)
	}
	for i, line := range lines[:count] {
		if line != fmt.Sprintf("line %d of a program that prints", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}

// An input in parts that was cut off leaves nothing behind: the next try with its id is
// whole, and many such tries do not fill the keeper.
func TestInputCutOff(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	gate := filepath.Join(t.TempDir(), "gate")
	req := in.role("p", "digest", "GATE="+gate)
	req.Pipes = true
	in.spawn(c, req)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	data := []byte(strings.Repeat("0123456789abcdef", 3<<20/16))
	owed := keeper.Input{ID: "owed", Pane: "p", Data: data}
	for i := range 20 {
		short, cancel := context.WithTimeout(context.Background(), time.Duration(i)*200*time.Microsecond)
		err := c.Input(short, owed)
		cancel()
		if err == nil {
			break // done, and the repeats below are answered with it
		}
		other := owed
		other.ID = fmt.Sprint("never finished ", i)
		short, cancel = context.WithCancel(context.Background())
		cancel()
		if err := c.Input(short, other); err == nil {
			t.Fatal("an input under an ended context succeeded")
		}
	}
	if err := c.Input(ctx(t), owed); err != nil {
		t.Fatal(err)
	}
	if err := c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", EOF: true}); err != nil {
		t.Fatal(err)
	}
	f := in.follow(c, "p", 0, "")
	f.waitExit(t)
	if want := fmt.Sprintf("%d %x", len(data), sha256.Sum256(data)); !strings.Contains(f.output(), want) {
		t.Fatalf("the program read %q, want %s", f.output(), want)
	}
}
