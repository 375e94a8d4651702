package keeper

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"davit"
)

// A kernel that does not start a program in a control group gets it started without, and
// nothing is left of the try (spec terminal P5.1).
func TestStartWithoutGroup(t *testing.T) {
	dir := t.TempDir() // looks like a control group, and is none
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := &groups{dir: dir, log: slog.New(slog.DiscardHandler), pending: map[string]struct{}{}}
	req := &SpawnRequest{Pane: "p", Path: "/bin/sh", Argv: []string{"sh", "-c", "exit 3"}, Dir: "/", Pipes: true}
	e, err := openPipes()
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	c := &children{byPid: map[int]*pane{}}
	p := &pane{}
	if err := c.start(p, req, e, g); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(p.pid, &status, 0, nil); pid != p.pid || status.ExitStatus() != 3 || p.group != "" {
		t.Errorf("pid %d, status %d, group %q, %v", pid, status.ExitStatus(), p.group, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "p")); !os.IsNotExist(err) {
		t.Errorf("the try left its directory: %v", err)
	}
	req.Path = "/no/such/program"
	if err := c.start(&pane{}, req, e, g); davit.CodeOf(err) != davit.CodePaneSpawnFailed {
		t.Errorf("no program: %v", err)
	}
	g.refused("p", "", syscall.EPERM)
	if s := g.status(); s.Used || !strings.Contains(s.Reason, "not permitted") {
		t.Errorf("after a no for good: %+v", s)
	}
}

// What is ended is decided by a process's number and start time: one that has got the
// number, or the number of the session, of what has gone is left alone (spec terminal P5.1).
func TestCloseSparesReusedNumbers(t *testing.T) {
	const self = 100
	for name, one := range map[string]struct {
		table []process
		want  []int
	}{
		"its session and descendants": {[]process{
			{pid: 10, parent: self, session: 10, start: 5}, {pid: 11, parent: 10, session: 10, start: 6},
			{pid: 12, parent: 11, session: 12, start: 7}, {pid: 13, parent: 1, session: 13, start: 7},
		}, []int{10, 11, 12}},
		"the leader has gone": {[]process{
			{pid: self, parent: 1, session: self, start: 1}, {pid: 11, parent: self, session: 10, start: 6},
			{pid: 12, parent: 11, session: 10, start: 7},
		}, []int{11, 12}},
		"another has the number": {[]process{
			{pid: 10, parent: 1, session: 10, start: 99}, {pid: 11, parent: 10, session: 10, start: 100},
		}, nil},
		"another had the number": {[]process{
			{pid: 1, start: 0}, {pid: 11, parent: 1, session: 10, start: 100}, {pid: 12, parent: 11, session: 10, start: 101},
		}, nil},
		"a zombie": {[]process{
			{pid: 10, parent: self, session: 10, start: 5, zombie: true}, {pid: 11, parent: self, session: 10, start: 6},
		}, []int{11}},
		"a loop of a table read too slowly": {[]process{
			{pid: 11, parent: 12, session: 10, start: 6}, {pid: 12, parent: 11, session: 10, start: 7},
		}, nil},
	} {
		c := &closing{
			p: &pane{pid: 10, start: 5}, self: self, spare: func(int) bool { return false },
			targets: map[identity]*Process{}, kept: map[identity]process{},
		}
		var got []int
		for _, q := range c.pick(one.table) {
			got = append(got, q.pid)
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %v, want %v", name, got, one.want)
		}
	}
}

// A signal reaches the process that was meant or none (spec terminal P5.1).
func TestSignalChecksTheStartTime(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start, alive := ProcessStart(cmd.Process.Pid)
	if !alive {
		t.Fatal("it does not live")
	}
	if err := SignalProcess(cmd.Process.Pid, start+1, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("another process of that number: %v", err)
	}
	if !ProcessAlive(cmd.Process.Pid, start) {
		t.Fatal("it was ended")
	}
	if err := SignalProcess(cmd.Process.Pid, start, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) {
		t.Error(err)
	}
	if err := SignalProcess(os.Getpid(), 1, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
}

// The version 2 hierarchy is found wherever it is mounted (spec terminal P5.1).
func TestGroupDir(t *testing.T) {
	const hybrid = "30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 30 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	for _, one := range []struct{ mounts, group, want string }{
		{hybrid, "/", "/sys/fs/cgroup/unified"},
		{hybrid, "/a/b", "/sys/fs/cgroup/unified/a/b"},
		{"40 30 0:37 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n", "/user.slice/u", "/sys/fs/cgroup/user.slice/u"},
		{"40 30 0:37 /docker/x /my\\040groups rw - cgroup2 cgroup2 rw\n", "/docker/x/y", "/my groups/y"},
		{"40 30 0:37 /docker/x /g rw - cgroup2 cgroup2 rw\n", "/docker/xy", ""},
		{"40 30 0:37 / /g rw - cgroup2 cgroup2 rw\n", "/../outside", ""},
		{"35 30 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw\n", "/", ""},
		{"nonsense\n\n", "/", ""},
	} {
		got, err := groupDir([]byte(one.mounts), one.group)
		if got != one.want || (err == nil) != (one.want != "") {
			t.Errorf("%q in %q: %q, %v; want %q", one.group, one.mounts, got, err, one.want)
		}
	}
	for group, want := range map[string]string{
		"/davit-0123456789abcdef/p":                                   "p",
		"/a/davit-0123456789abcdef/p/below":                           "p",
		"/davit-0123456789abcdef/p/davit-fedcba9876543210/q":          "q",
		"/davit-0123456789abcdef":                                     "",
		"/davit-0123456789abcdef/p/davit-fedcba9876543210":            "p",
		"/davit-0123/p":                                               "",
		"/user.slice/user-0.slice/davit-0123456789abcdef.scope/other": "",
	} {
		if got := paneInGroup(group); got != want {
			t.Errorf("%s: %q, want %q", group, got, want)
		}
	}
}
