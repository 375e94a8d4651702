package keeper

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is one line of the process table.
type process struct {
	pid, parent, group, session int
	tty                         int // 0: no controlling terminal
	start                       uint64
	zombie                      bool
	stopped                     bool
	name                        string
}

// ProcessAlive says whether the process of that number and start time lives; a zombie
// does not (P5.1).
func ProcessAlive(pid int, start uint64) bool {
	p, ok := lookUp(pid)
	return ok && p.start == start && !p.zombie
}

// ProcessStart gives the start time of the living process of that number; a zombie is not
// one: where nobody reaps, as in many a container, it stays for ever.
func ProcessStart(pid int) (start uint64, alive bool) {
	p, ok := lookUp(pid)
	return p.start, ok && !p.zombie
}

func signalByNumber(pid int, start uint64, sig syscall.Signal) error {
	if !ProcessAlive(pid, start) {
		return unix.ESRCH
	}
	return unix.Kill(pid, sig)
}

// processName is what the process table calls a program.
func processName(path string) string {
	name := filepath.Base(path)
	return name[:min(len(name), 15)] // the kernel's bound
}

// public gives a process the shape of reports.
func (p process) public() Process {
	return Process{Pid: p.pid, StartTime: p.start, Name: p.name, Command: strings.Join(argvOf(p.pid), " ")}
}

// closeOnExec keeps descriptors that this process was started with from its children.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
