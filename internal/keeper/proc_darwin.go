package keeper

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process states of sys/proc.h.
const (
	stateStopped = 4
	stateZombie  = 5
)

// BootID names this start of the machine; "" when the system does not tell.
var BootID = sync.OnceValue(func() string {
	if id, err := unix.Sysctl("kern.bootsessionuuid"); err == nil {
		return id
	}
	if t, err := unix.SysctlTimeval("kern.boottime"); err == nil {
		return strconv.FormatInt(t.Sec, 10)
	}
	return ""
})

func lookUp(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	return fromKinfo(k), true
}

func fromKinfo(k *unix.KinfoProc) process {
	p := process{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		start:  uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		zombie: k.Proc.P_stat == stateZombie, stopped: k.Proc.P_stat == stateStopped,
		name: unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
	if k.Eproc.Tdev != -1 {
		p.tty = int(k.Eproc.Tdev)
	}
	if sid, err := unix.Getsid(p.pid); err == nil {
		p.session = sid
	}
	return p
}

// startedAt gives a start time its date.
func startedAt(start uint64) time.Time { return time.UnixMicro(int64(start)) }

func processes() ([]process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make([]process, 0, len(all))
	for i := range all {
		table = append(table, fromKinfo(&all[i]))
	}
	return table, nil
}

// argvOf, environOf and dirOf need calls that x/sys does not have; macOS is untested and
// goes by session and parent links only (P5.1).
func argvOf(int) []string    { return nil }
func environOf(int) []string { return nil }
func dirOf(int) string       { return "" }

// SignalProcess signals a process after comparing its start time; macOS has no pidfd.
func SignalProcess(pid int, start uint64, sig syscall.Signal) error {
	return signalByNumber(pid, start, sig)
}

func openFiles() int { return 0 }

const adopts = false

// becomeSubreaper: macOS has none; orphans go to launchd.
func becomeSubreaper() error { return nil }

func peerOf(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return int(cred.Uid), pid, err
}

// Terminal attributes.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	iutf8      = unix.IUTF8
)

// memoryFile makes a file without a name; macOS has none without a disk.
func memoryFile(dir string) (*os.File, error) { return unlinkedFile(dir) }

// runningProgram: macOS does not tell the file of a program whose path leads elsewhere.
func runningProgram(path string) string { return path }

// descriptorPaths: a program cannot be executed by its descriptor.
const descriptorPaths = ""

func changeTime(st unix.Stat_t) unix.Timespec { return st.Ctim }
