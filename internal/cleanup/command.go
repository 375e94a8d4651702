package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// outputKept is how much of the beginning, and of the end, of a command's output stays.
const outputKept = 32 << 10

// lingering is how long a command's output is awaited after it ended: something that it
// left in the background may hold the pipe for ever.
const lingering = 2 * time.Second

// runCommand runs one command by the plan's shell: resolved directory, own session, no
// stdin, the login shell's PATH, HOME and a minimal environment (T5.4).
func runCommand(ctx context.Context, s Step, plan Plan) Step {
	fail := func(format string, args ...any) Step {
		s.State, s.Error = StepFailed, fmt.Sprintf(format, args...)
		return s
	}
	dir := plan.OnClose.Directory
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fail("its directory %s does not exist any more", dir)
	} else if err != nil || !info.IsDir() {
		return fail("%s is not a directory that can be used", dir)
	}
	timeout := plan.OnClose.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	var out headTail
	cmd := exec.Command(plan.OnClose.Shell, append(shellFlags(plan.OnClose.ShellKind), s.Command)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(plan), &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = lingering
	if err := cmd.Start(); err != nil {
		return fail("the shell %s could not be started: %v", plan.OnClose.Shell, err)
	}
	timer := time.AfterFunc(timeout, func() { endGroup(cmd.Process.Pid) })
	stop := context.AfterFunc(ctx, func() { endGroup(cmd.Process.Pid) })
	err := cmd.Wait()
	s.TimedOut = !timer.Stop()
	stop()
	s.Head, s.Tail, s.Dropped = out.result()

	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case s.TimedOut:
		return fail("it did not end within %s and was stopped", timeout)
	case status.Signaled():
		s.Signal = unix.SignalName(status.Signal())
		return fail("it was ended by %s", s.Signal)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		code := cmd.ProcessState.ExitCode()
		s.Exit = &code
		if code == 0 {
			s.State = StepDone
			return s
		}
		return fail("exit status %d", code)
	}
	code := cmd.ProcessState.ExitCode()
	s.Exit = &code
	return fail("exit status %d", code)
}

// endGroup asks the command's session to end, and insists two seconds later. The pid is
// still ours: it is not waited for before this is called off.
func endGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGTERM)
	time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
}

// shellFlags make a shell run one command without the user's start files, so that a
// cleanup does the same on every day.
func shellFlags(kind string) []string {
	switch kind {
	case "bash":
		return []string{"--norc", "--noprofile", "-c"}
	case "zsh":
		return []string{"-f", "-c"}
	case "fish":
		return []string{"--no-config", "-c"}
	}
	return []string{"-c"}
}

func environment(plan Plan) []string {
	env := []string{"PATH=" + plan.Path, "HOME=" + plan.Home, "SHELL=" + plan.OnClose.Shell, "PWD=" + filepath.Clean(plan.OnClose.Directory), "TERM=dumb", "GIT_TERMINAL_PROMPT=0"}
	for _, name := range []string{"USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// headTail keeps the first and the last 32 KiB of what is written to it. exec copies
// both streams of a command into it from one goroutine, because they are the same writer.
type headTail struct {
	head, tail []byte
	total      int64
}

func (h *headTail) Write(p []byte) (int, error) {
	n := len(p)
	h.total += int64(n)
	if room := outputKept - len(h.head); room > 0 {
		take := min(room, len(p))
		h.head = append(h.head, p[:take]...)
		p = p[take:]
	}
	h.tail = append(h.tail, p...)
	if over := len(h.tail) - outputKept; over > 0 {
		h.tail = append(h.tail[:0], h.tail[over:]...)
	}
	return n, nil
}

func (h *headTail) result() (head, tail string, dropped int64) {
	return string(h.head), string(h.tail), h.total - int64(len(h.head)) - int64(len(h.tail))
}
