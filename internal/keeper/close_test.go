package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/testenv"
)

// quick makes P5.1's times short, so that tests need not wait them out.
var quick = keeper.CloseOptions{Hangup: 100 * time.Millisecond, Term: 100 * time.Millisecond}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		b, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(string(b))
		return pid > 0, "no pid in " + file
	})
	return pid
}

// stubborn starts a program that ignores HUP and TERM, as sh text.
func stubborn(t *testing.T, pidfile string, ownSession bool) string {
	own := ""
	if ownSession {
		own = "OWN_SESSION=1 "
	}
	return fmt.Sprintf("%sDAVIT_TEST_ROLE=stubborn PIDFILE=%s %s", own, pidfile, self(t))
}

// Closing ends the session, grandchildren in sessions of their own, and what ignores
// HUP and TERM; nothing of it is alive afterwards (spec terminal P5.1).
func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{keeper.PaneAgent, keeper.PaneShell} {
		t.Run(kind, func(t *testing.T) {
			in := startKeeper(t, nil)
			c := in.dial()
			dir := t.TempDir()
			file := func(n string) string { return filepath.Join(dir, n) }
			req := in.shell("p", fmt.Sprintf("%s & %s & sleep 1000 & exec sleep 1001",
				stubborn(t, file("plain"), false), stubborn(t, file("own"), true)))
			req.Kind = kind
			shell := in.spawn(c, req)
			other := in.spawn(c, in.shell("other", "exec sleep 1002"))
			pids := []int{shell.Pid, pidIn(t, file("plain")), pidIn(t, file("own"))}
			report, err := c.Close(ctx(t), in.id(), "p", quick)
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range pids {
				if !gone(pid) {
					t.Errorf("process %d lives", pid)
				}
			}
			if len(report.Ended) != 4 || len(report.Remaining) != 0 || report.Exit == nil || report.Exit.Signal != 1 {
				t.Errorf("report %+v exit %+v", report, report.Exit)
			}
			killed := 0
			for _, p := range report.Ended {
				if p.Signal == 9 {
					killed++
				}
			}
			if killed != 2 {
				t.Errorf("%d needed SIGKILL: %+v", killed, report.Ended)
			}
			if gone(other.Pid) || in.info(c, "other").Exit != nil {
				t.Error("another pane's program was ended")
			}
		})
	}
}

// A daemon that an agent left behind is ended with its pane; one of a user's shell is
// kept and told (P5.1).
func TestCloseDaemons(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{keeper.PaneAgent, keeper.PaneShell} {
		t.Run(kind, func(t *testing.T) {
			in := startKeeper(t, nil)
			c := in.dial()
			pidfile := filepath.Join(t.TempDir(), "daemon")
			// The subshell ends at once, so that its child comes to the keeper.
			req := in.shell("p", fmt.Sprintf("(%s </dev/null >/dev/null 2>&1 &); exec sleep 1000", stubborn(t, pidfile, true)))
			req.Kind = kind
			in.spawn(c, req)
			daemon := pidIn(t, pidfile)
			t.Cleanup(func() {
				if !gone(daemon) {
					kill(t, daemon, 9)
				}
			})
			report, err := c.Close(ctx(t), in.id(), "p", quick)
			if err != nil {
				t.Fatal(err)
			}
			if kept := kind == keeper.PaneShell; gone(daemon) == kept || (len(report.Kept) == 1) != kept {
				t.Errorf("daemon gone: %v, report %+v", gone(daemon), report)
			}
			status, err := c.Status(ctx(t))
			if err != nil {
				t.Fatal(err)
			}
			if kind == keeper.PaneShell && (len(status.Adopted) != 1 || status.Adopted[0].Pid != daemon) {
				t.Errorf("status names %+v, want the daemon %d", status.Adopted, daemon)
			}
		})
	}
}

// A foreground close ends what runs in the foreground; an idle shell stays (spec tabs T5.3).
func TestCloseForeground(t *testing.T) {
	t.Parallel()
	testenv.Require(t, "bash")
	in := startKeeper(t, nil)
	c := in.dial()
	req := in.shell("p", "")
	req.Kind, req.Path, req.Argv = keeper.PaneShell, "/bin/bash", []string{"bash", "--norc", "--noprofile", "-i"}
	req.Env = append(req.Env, "PS1=$ ")
	shell := in.spawn(c, req)
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "$ ")
	idle, err := c.Close(ctx(t), in.id(), "p", keeper.CloseOptions{Foreground: true})
	if err != nil || len(idle.Ended) != 0 || gone(shell.Pid) {
		t.Fatalf("an idle shell: %+v, %v", idle, err)
	}
	pidfile := filepath.Join(t.TempDir(), "pid")
	in.send(c, "p", stubborn(t, pidfile, false)+" | cat\n")
	pid := pidIn(t, pidfile)
	fg, err := c.Foreground(ctx(t), "p")
	if err != nil || fg.Pid != pid || fg.OwnChild || len(fg.Argv) == 0 || fg.StartTime == 0 {
		t.Fatalf("foreground %+v, %v; want pid %d", fg, err, pid)
	}
	opt := quick
	opt.Foreground = true
	report, err := c.Close(ctx(t), in.id(), "p", opt)
	if err != nil || !gone(pid) || len(report.Ended) != 2 || report.Exit != nil {
		t.Fatalf("report %+v, %v; gone %v", report, err, gone(pid))
	}
	in.send(c, "p", "echo still $((40+2))\n")
	f.waitFor(t, "still 42")
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		fg, err := c.Foreground(ctx(t), "p")
		return err == nil && fg.OwnChild && fg.Name == "bash" && fg.Dir == "/", fmt.Sprintf("%+v %v", fg, err)
	})
}

// A shell that has executed another program in its place is ended like one.
func TestCloseForegroundOfReplacedShell(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	req := in.shell("p", "echo ready; exec sleep 1000")
	req.Kind = keeper.PaneShell
	shell := in.spawn(c, req)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		fg, err := c.Foreground(ctx(t), "p")
		return err == nil && fg.Name == "sleep", fmt.Sprintf("%+v %v", fg, err)
	})
	opt := quick
	opt.Foreground = true
	report, err := c.Close(ctx(t), in.id(), "p", opt)
	if err != nil || len(report.Ended) != 1 || !gone(shell.Pid) {
		t.Fatalf("%+v, %v", report, err)
	}
}

// The terminal says whether it reads whole lines (P3.5).
func TestForegroundModes(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "echo cooked; read x; stty raw -echo; echo raw; cat"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "cooked")
	fg, err := c.Foreground(ctx(t), "p")
	if err != nil || !fg.Canonical || !fg.Echo || !fg.OwnChild || fg.Argv[0] != "sh" {
		t.Fatalf("%+v, %v", fg, err)
	}
	in.send(c, "p", "\n")
	f.waitFor(t, "raw")
	fg, err = c.Foreground(ctx(t), "p")
	if err != nil || fg.Canonical || fg.Echo {
		t.Fatalf("%+v, %v", fg, err)
	}
	wantCode(t, c.Forget(ctx(t), "p"), davit.CodePaneRunning)
	if err := c.Signal(ctx(t), in.id(), "p", 9, true); err != nil {
		t.Fatal(err)
	}
	if e := f.waitExit(t); e.Signal != 9 || e.Code != -1 {
		t.Fatalf("exit %+v", e)
	}
	wantCode(t, c.Signal(ctx(t), in.id(), "p", 9, false), davit.CodePaneEnded)
}

// Forget takes the keeper's own files only.
func TestForgetLeavesOthersFiles(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "echo x"))
	in.follow(c, "p", 0, "").waitEnd(t)
	dir := filepath.Join(in.cfg.StateDir, "panes", "p")
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte("the host's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Forget(ctx(t), "p"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "checkpoint" {
		t.Fatalf("left %v, %v", left, err)
	}
}
