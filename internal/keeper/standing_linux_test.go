package keeper_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"davit/internal/keeper"
	"davit/internal/testenv"
)

// The keeper stands in a session of its own, without a terminal, in /; its children are its
// own, and orphans come to it; HUP and INT do not end it (spec terminal P1.1, P1.8).
func TestKeeperStandsAlone(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	pid := in.rec.Pid
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("it is in session %d, %v", sid, err)
	}
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || dir != "/" {
		t.Errorf("its directory is %q, %v", dir, err)
	}
	if f := statOf(t, pid); f[4] != "0" {
		t.Errorf("its terminal is %s", f[4])
	}
	p := in.spawn(c, in.shell("p", "(sleep 1000 & echo orphan $! end); exec sleep 1000"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "end")
	var orphan int
	if _, err := fmt.Sscanf(f.output(), "orphan %d end", &orphan); err != nil {
		t.Fatal(err, f.output())
	}
	for _, child := range []int{p.Pid, orphan} {
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			parent := statOf(t, child)[1]
			return parent == fmt.Sprint(pid), "the parent of " + fmt.Sprint(child) + " is " + parent
		})
	}
	kill(t, pid, syscall.SIGHUP)
	kill(t, pid, syscall.SIGINT)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		return strings.Count(in.log(), "signal ignored") == 2, in.log()
	})
	if in.info(c, "p").Exit != nil || !keeper.Alive(in.rec) {
		t.Error("a signal ended it or its program")
	}
}

// statOf gives the fields of /proc/PID/stat behind the name: state, parent, group, session,
// terminal.
func statOf(t *testing.T, pid int) []string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

// A pane that floods a follower who does not read delays no other pane: each has a
// connection of its own (spec terminal P1.5).
func TestFloodDelaysNoOther(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("flood", "exec yes a line that nobody reads"))
	idle, err := c.Follow(ctx(t), "flood", 0, "")
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	in.spawn(c, in.shell("p", "stty -echo; echo ready; exec cat"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "ready")
	testenv.Eventually(t, 20*time.Second, func() (bool, string) { // the program waits for its host by now
		end := in.info(c, "flood").End
		return end >= 8<<20, fmt.Sprint(end)
	})
	for i := range 50 {
		in.send(c, "p", fmt.Sprintf("line-%d-\n", i))
		f.waitFor(t, fmt.Sprintf("line-%d-", i))
	}
}

// Alive means the very process: pid, start time and boot id (spec terminal P1.9).
func TestAliveIsTheVeryProcess(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	if !keeper.Alive(in.rec) {
		t.Fatal("it lives")
	}
	for name, change := range map[string]func(*keeper.Record){
		"start time": func(r *keeper.Record) { r.StartTime++ },
		"boot id":    func(r *keeper.Record) { r.BootID += "0" },
		"pid":        func(r *keeper.Record) { r.Pid = os.Getpid() },
	} {
		other := in.rec
		change(&other)
		if keeper.Alive(other) {
			t.Errorf("another %s is taken for the keeper", name)
		}
	}
}

// A socket whose owner is too busy to accept is not taken for dead (spec terminal P1.6).
func TestBusySocketIsNotDead(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	in.end()
	if err := os.Remove(in.rec.Socket); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: in.rec.Socket}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for { // until its queue is full
		conn, err := net.Dial("unix", in.rec.Socket)
		if err != nil {
			break
		}
		defer conn.Close()
	}
	var before, after unix.Stat_t
	if err := unix.Lstat(in.rec.Socket, &before); err != nil {
		t.Fatal(err)
	}
	cfg := in.startConfig()
	pid, err := syscall.ForkExec(cfg.Exe, []string{"keeper"}, &syscall.ProcAttr{Env: cfg.Env})
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 1 {
		t.Errorf("a keeper in its place: status %d, %v", status.ExitStatus(), err)
	}
	if err := unix.Lstat(in.rec.Socket, &after); err != nil || after.Ino != before.Ino {
		t.Errorf("the socket was replaced: %v", err)
	}
}
