package keeper

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"davit"
)

// ends are the descriptors of one spawn: ours, and the child's.
type ends struct {
	in, out, err *os.File   // ours, non-blocking; err only of pipes; in and out are one of a PTY
	child        []*os.File // 0, 1, 2
}

func (e *ends) closeChild() {
	for i, f := range e.child {
		if i == 0 || f != e.child[i-1] {
			f.Close()
		}
	}
}

func (e *ends) close() {
	e.closeChild()
	for _, f := range []*os.File{e.in, e.out, e.err} {
		if f != nil {
			f.Close()
		}
	}
}

// openTerminal opens a PTY of a size. The library leaves the master blocking, so that
// deadlines are ignored and each reader costs a thread: it is duplicated and made
// non-blocking once, and Fd is never called after (P1.8).
func openTerminal(cols, rows int) (*ends, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer master.Close()
	if err := unix.SetNonblock(int(slave.Fd()), false); err != nil { // for the child
		slave.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		if err = prepareTerminal(fd, cols, rows); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		slave.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	ours := os.NewFile(uintptr(fd), "terminal")
	return &ends{in: ours, out: ours, child: []*os.File{slave, slave, slave}}, nil
}

func prepareTerminal(fd, cols, rows int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	if t, err := unix.IoctlGetTermios(fd, getTermios); err == nil && t.Iflag&iutf8 == 0 {
		t.Iflag |= iutf8 // erasing in a canonical line takes whole characters
		if err := unix.IoctlSetTermios(fd, setTermios, t); err != nil {
			return err
		}
	}
	return setSize(fd, cols, rows)
}

func setSize(fd, cols, rows int) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
}

// openPipes opens stdin, stdout and stderr; only our ends are non-blocking.
func openPipes() (_ *ends, err error) {
	e := &ends{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	for i, ours := range []**os.File{&e.in, &e.out, &e.err} {
		r, w, err := closeOnExecPipe()
		if err != nil {
			return nil, fmt.Errorf("open a pipe: %w", err)
		}
		mine, theirs := r, w
		if i == 0 {
			mine, theirs = w, r
		}
		e.child = append(e.child, os.NewFile(uintptr(theirs), "pipe"))
		if err := unix.SetNonblock(mine, true); err != nil {
			unix.Close(mine)
			return nil, fmt.Errorf("open a pipe: %w", err)
		}
		*ours = os.NewFile(uintptr(mine), "pipe")
	}
	return e, nil
}

func closeOnExecPipe() (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(p[:]); err != nil {
		return 0, 0, err
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	return p[0], p[1], nil
}

// fork starts the child in a session of its own, and in a control group when one is given:
// it is in there before it can fork. Called under children.mu only.
func fork(req *SpawnRequest, e *ends, group *os.File) (int, error) {
	attr := &syscall.ProcAttr{
		Dir: req.Dir,
		Env: req.Env,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: !req.Pipes},
	}
	for _, f := range e.child {
		attr.Files = append(attr.Files, f.Fd())
	}
	if group != nil {
		intoGroup(attr.Sys, group)
	}
	pid, err := syscall.ForkExec(req.Path, req.Argv, attr)
	if err != nil {
		return 0, spawnError(req, err)
	}
	return pid, nil
}

func spawnError(req *SpawnRequest, err error) error {
	code, what := davit.CodePaneSpawnFailed, req.Path
	if st, statErr := os.Stat(req.Dir); statErr != nil || !st.IsDir() {
		code, what = davit.CodeDirectoryMissing, req.Dir
		if statErr != nil {
			err = errors.Unwrap(statErr)
		} else {
			err = syscall.ENOTDIR
		}
	}
	return davit.Errorf(code, "start %s in %s: %s: %w", req.Path, req.Dir, what, err).
		WithHint("Check the command and its directory.")
}
