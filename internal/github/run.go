package github

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

const (
	maxStdout = 4 << 20  // bytes of an answer; more ends the run
	maxStderr = 16 << 10 // bytes of complaint kept; the rest is dropped
	letGo     = 500 * time.Millisecond
)

type command struct {
	path string
	args []string
	dir  string
	env  []string
}

// result is how a program ended. ended is false when it was not started, was late, or was
// killed; why says which.
type result struct {
	ended, late bool
	why         string
	exit        int
	stdout      []byte
	stderr      string
}

var errTooMuch = errors.New("it printed more than davit reads")

// run runs a program to its end, or ends it with everything that it started.
func run(ctx context.Context, c command) result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout := &bounded{limit: maxStdout, full: func() { cancel(errTooMuch) }}
	stderr := &bounded{limit: maxStderr}
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = letGo
	err := cmd.Run()
	if cmd.Process != nil && (ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay)) {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the leader left behind
	}
	r := result{stdout: stdout.buf.Bytes(), stderr: stderr.buf.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.why = context.Cause(ctx).Error()
		r.late = errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		r.ended = true
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		r.ended, r.exit = true, exit.ExitCode()
	default:
		r.why = err.Error()
	}
	return r
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
