package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// BootID names this start of the machine; "" when the system does not tell.
var BootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})

// lookUp reads one process; false when there is none.
func lookUp(pid int) (process, bool) {
	// Three system calls, not the seven of os.ReadFile: a close reads the whole table.
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	defer unix.Close(fd)
	var b [1024]byte
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, b[:]) })
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, b[:n])
}

// parseStat reads a line of /proc/PID/stat; the name may hold spaces and brackets.
func parseStat(pid int, b []byte) (process, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return process{}, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(f[i])
		return n
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return process{}, false
	}
	return process{
		pid: pid, name: string(b[open+1 : end]), start: start,
		zombie: f[0] == "Z" || f[0] == "X", stopped: f[0] == "T" || f[0] == "t",
		parent: number(1), group: number(2), session: number(3), tty: number(4),
	}, true
}

// bootTime is when the machine started, to the second; ticks of start times are 1/100 s for
// every program, whatever the kernel counts in.
var bootTime = sync.OnceValue(func() int64 {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return n
		}
	}
	return 0
})

// startedAt gives a start time its date; zero when the system does not tell.
func startedAt(start uint64) time.Time {
	boot := bootTime()
	if boot == 0 {
		return time.Time{}
	}
	return time.Unix(boot, 0).Add(time.Duration(start) * (time.Second / 100))
}

// processes reads the whole table.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var table []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := lookUp(pid); ok {
			table = append(table, p)
		}
	}
	return table, nil
}

// argvOf gives a process's command line, nil when it cannot be had.
func argvOf(pid int) []string {
	return nulStrings("/proc/" + strconv.Itoa(pid) + "/cmdline")
}

// environOf gives the environment a process was started with.
func environOf(pid int) []string {
	return nulStrings("/proc/" + strconv.Itoa(pid) + "/environ")
}

func nulStrings(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// dirOf gives a process's working directory.
func dirOf(pid int) string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return ""
	}
	return dir
}

// SignalProcess signals exactly the process that was meant: a pidfd is opened, then the
// start time is compared, then the signal goes through the pidfd, so that no reuse of
// the number can be hit.
func SignalProcess(pid int, start uint64, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if errors.Is(err, unix.ESRCH) {
			return err
		}
		return signalByNumber(pid, start, sig) // a kernel before 5.3
	}
	defer unix.Close(fd)
	if !ProcessAlive(pid, start) {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

func openFiles() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names) - 1
}

// adopts: orphans of the keeper's children come to it.
const adopts = true

// becomeSubreaper makes orphans of the children come to this process (P1.1).
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

func peerOf(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return int(cred.Uid), int(cred.Pid), nil
}

// Terminal attributes.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
	iutf8      = unix.IUTF8
)

// memoryFile makes a file without a name or a disk.
func memoryFile(dir string) (*os.File, error) {
	fd, err := unix.MemfdCreate("davit-keeper", unix.MFD_CLOEXEC)
	if err != nil {
		return unlinkedFile(dir)
	}
	return os.NewFile(uintptr(fd), "table"), nil
}

// runningProgram names the file of this very program, also when its path leads elsewhere.
func runningProgram(string) string { return "/proc/self/exe" }

// descriptorPaths is what the paths of open files begin with.
const descriptorPaths = "/proc/self/fd/"

func changeTime(st unix.Stat_t) unix.Timespec { return st.Ctim }
