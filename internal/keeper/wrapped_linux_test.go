package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/testenv"
)

// marked lists from /proc the living processes that carry a pane's DAVIT_PANE.
func marked(t testing.TB, mark string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || gone(pid) {
			continue
		}
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && strings.Contains("\x00"+string(environ), "\x00DAVIT_PANE="+mark+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// An agent as npm installs them: a shell, a node wrapper, and a native child that ignores
// what the wrapper dies of. It is ended with its pane, also when the wrapper has gone
// before it, and also when it has a session of its own (spec terminal P5.1).
func TestCloseWrapped(t *testing.T) {
	t.Parallel()
	testenv.Require(t, "node")
	const wrapper = `const c = require("child_process").spawn(process.env.NATIVE, [], {stdio: "inherit", detached: process.env.DETACHED === "1",
env: {...process.env, DAVIT_TEST_ROLE: "stubborn"}}); require("fs").writeFileSync(process.env.WRAPPERPID, String(process.pid)); c.on("exit", n => process.exit(n ?? 1));`
	for name, one := range map[string]struct{ detached, outlives bool }{
		"wrapper lives": {false, false}, "outlives the wrapper": {false, true},
		"own session": {true, false}, "own session, outlives the wrapper": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := startKeeper(t, nil)
			c := in.dial()
			dir := t.TempDir()
			req := in.shell("p", `node -e "$WRAPPER"; exit 3`)
			req.Env = append(req.Env, "WRAPPER="+wrapper, "NATIVE="+self(t), "PIDFILE="+filepath.Join(dir, "native"),
				"WRAPPERPID="+filepath.Join(dir, "wrapper"), "GORACE=atexit_sleep_ms=0")
			if one.detached {
				req.Env = append(req.Env, "DETACHED=1")
			}
			in.spawn(c, req)
			native, node := pidIn(t, filepath.Join(dir, "native")), pidIn(t, filepath.Join(dir, "wrapper"))
			if one.outlives {
				kill(t, node, syscall.SIGKILL)
				if e := in.follow(c, "p", 0, "").waitExit(t); e.Code != 3 {
					t.Errorf("exit %+v", e)
				}
				if gone(native) {
					t.Fatal("the native child did not outlive the wrapper")
				}
			}
			report, err := c.Close(ctx(t), in.id(), "p", quick)
			if err != nil || len(report.Remaining) != 0 || len(report.Kept) != 0 {
				t.Errorf("report %+v, %v", report, err)
			}
			if left := marked(t, in.cfg.Home+"p"); len(left) != 0 || !gone(native) {
				t.Errorf("of the agent live %v (native %d)", left, native)
			}
			if s, err := c.Status(ctx(t)); err != nil || len(s.Adopted) != 0 {
				t.Errorf("the keeper still has %+v, %v", s.Adopted, err)
			}
		})
	}
}

// An orphan that cannot be attributed to a pane (it wiped its environment and left the
// pane's control group) is not ended, but stands in the status (spec terminal P5.1).
func TestOrphanWithoutMark(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	pidfile := filepath.Join(t.TempDir(), "pid")
	in.spawn(c, in.shell("p", fmt.Sprintf("(env -u DAVIT_PANE %s </dev/null >/dev/null 2>&1 &); exec sleep 1000", stubborn(t, pidfile, true))))
	orphan := pidIn(t, pidfile)
	in.killLater(orphan)
	if s, err := c.Status(ctx(t)); err == nil && s.Cgroup.Used {
		out := filepath.Join(filepath.Dir(s.Cgroup.Path), "cgroup.procs")
		if err := os.WriteFile(out, []byte(strconv.Itoa(orphan)), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Close(ctx(t), in.id(), "p", quick); err != nil {
		t.Fatal(err)
	}
	s, err := c.Status(ctx(t))
	if err != nil || gone(orphan) || len(s.Adopted) != 1 || s.Adopted[0].Pid != orphan || s.Adopted[0].Pane != "" || s.Adopted[0].Name == "" || s.Adopted[0].Since.IsZero() {
		t.Errorf("orphan %d gone: %v, status %+v, %v", orphan, gone(orphan), s.Adopted, err)
	}
}

// Without descriptors a spawn and an upgrade are refused and leave nothing, a host that
// comes waits, and what is there goes on; with descriptors everything works again (spec
// terminal P1.1, P1.9).
func TestNoDescriptorsLeft(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "stty -echo; echo ready; exec cat"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "ready")
	limit := func(n uint64) {
		t.Helper()
		var was unix.Rlimit
		if err := unix.Prlimit(in.rec.Pid, unix.RLIMIT_NOFILE, nil, &was); err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(in.rec.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: was.Max}, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit(3) // what is open stays open
	err := second(c.Spawn(ctx(t), in.shell("q", "true")))
	if err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Errorf("spawn: %v", err)
	}
	if err := c.Upgrade(ctx(t), self(t)); err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Errorf("upgrade: %v", err)
	}
	in.send(c, "p", "typed\n")
	f.waitFor(t, "typed")
	dialled := make(chan error, 1)
	go func() {
		late, err := client.Dial(ctx(t), client.Config{Socket: in.rec.Socket, Reader: true})
		if err == nil {
			late.Disconnect()
		}
		dialled <- err
	}()
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		return strings.Contains(in.log(), "too many open files"), in.log()
	})
	limit(1024)
	if err := <-dialled; err != nil {
		t.Errorf("who waited: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(in.cfg.StateDir, "panes")); err != nil || len(left) != 1 {
		t.Errorf("the refused spawn left %v (%v)", left, err)
	}
	in.spawn(c, in.shell("q", "exit 5"))
	if e := in.follow(c, "q", 0, "").waitExit(t); e.Code != 5 {
		t.Errorf("exit %+v", e)
	}
	wantCode(t, second(c.Spawn(ctx(t), in.shell("p", "true"))), davit.CodePaneExists)
}

// The runtime directory is deleted under a running keeper: it comes back by itself, with
// the same keeper and its panes (spec terminal P1.6).
func TestRuntimeDirectoryDeleted(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, func(c *keeper.Config) { c.Look = 200 * time.Millisecond })
	c := in.dial()
	in.spawn(c, in.shell("p", "exec sleep 1000"))
	if err := os.RemoveAll(in.cfg.RuntimeDir); err != nil {
		t.Fatal(err)
	}
	in.waitForSocket()
	if st, err := os.Stat(in.cfg.RuntimeDir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st, err)
	}
	if in.info(in.reader(), "p").Exit != nil || c.Err() != nil {
		t.Error("the pane or the old connection was lost")
	}
}
