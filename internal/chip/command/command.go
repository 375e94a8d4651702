// Package command runs one program for a chip: an argv in a process group of its own,
// without a terminal and without stdin, with bounded output, stdout kept apart from
// stderr, ended whole when its context ends (spec chips C1.4). It owns no goroutine that
// outlives a call, takes no lock of a repository and interprets nothing of what it reads.
package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	maxStdout = 4 << 20  // bytes of an answer; more ends the run
	maxStderr = 16 << 10 // bytes of complaint kept; the rest is dropped
	letGo     = 500 * time.Millisecond
)

// Command is what to run. Path is absolute; nothing is looked up.
type Command struct {
	Path  string
	Args  []string
	Dir   string
	Env   []string
	Whole bool // what it leaves running in its group is ended with it
}

// Result is how a program ended. Ended is false when it was not started, was late, or was
// killed; Why says which.
type Result struct {
	Ended, Late bool
	Why         string
	Exit        int
	Stdout      []byte
	Stderr      string
}

// ErrTooMuch says that a program printed more than the bound.
var ErrTooMuch = errors.New("it printed more than davit reads")

// Run runs a program to its end, or ends it with everything that it started.
func Run(ctx context.Context, c Command) Result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout := &bounded{limit: maxStdout, full: func() { cancel(ErrTooMuch) }}
	stderr := &bounded{limit: maxStderr}
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = letGo
	err := cmd.Run()
	if cmd.Process != nil && (c.Whole || ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay)) {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the leader left behind
	}
	r := Result{Stdout: stdout.buf.Bytes(), Stderr: stderr.buf.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.Why = context.Cause(ctx).Error()
		r.Late = errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		r.Ended = true
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		r.Ended, r.Exit = true, exit.ExitCode()
	default:
		r.Why = err.Error()
	}
	return r
}

// Find looks a program up on a PATH. Relative entries do not count.
func Find(name, search string) (path string, found bool) {
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// bounded keeps the first bytes of a stream. When it is full the rest is dropped, and
// full is called once.
type bounded struct {
	buf   bytes.Buffer
	limit int
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	b.buf.Write(p[:room])
	if b.full != nil {
		b.full()
		b.full = nil
	}
	return len(p), nil
}
