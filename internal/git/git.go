// Package git runs the git program and reads git's own files, and gives typed results.
//
// Every process is an argv (never a shell line), in a process group of its own that is
// ended whole, with no terminal to prompt on, a scrubbed environment, bounded output
// and stdout kept apart from stderr. Reads take no lock of the repository (spec chips
// C1.4). The current branch is read from files, without a process (spec chips C1.1).
//
// Watch owns one goroutine (its Run) and one file watcher; all else owns nothing and
// may be used from any goroutine. The package never commits, fetches, prunes, forces or
// deletes: it offers no call for it; what callers run through Runner.Write is theirs.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"davit"
)

// Runner runs one git program. The zero value runs the `git` on PATH with the
// environment of this process.
type Runner struct {
	Path string   // the program; "" is `git` on PATH
	Env  []string // the environment to start from; nil is os.Environ()
}

const (
	maxStdout = 64 << 20 // bytes of an answer; more ends the run
	maxStderr = 16 << 10 // bytes of complaint kept; the rest is dropped
	grace     = 500 * time.Millisecond
)

// ErrTooMuch says that git printed more than the bound.
var ErrTooMuch = errors.New("git printed more than davit reads")

// ExitError is git's own refusal.
type ExitError struct {
	Args   []string
	Status int    // exit status, -1 when a signal ended it
	Stderr string // git's own words, trimmed, bounded
	Err    error
}

// Error gives git's last words, which say more than its status.
func (e *ExitError) Error() string {
	words := e.Stderr
	if words == "" {
		words = e.Err.Error()
	}
	return fmt.Sprintf("git %s: %s", firstOf(e.Args), words)
}

// Unwrap gives the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Status gives git's exit status in err's chain, or -1.
func Status(err error) int {
	var exit *ExitError
	if errors.As(err, &exit) {
		return exit.Status
	}
	return -1
}

func firstOf(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
			return arg
		}
	}
	return ""
}

// Read runs git in dir for an answer only: it takes no optional lock and starts no file
// system monitor. The error is an *ExitError when git refused, the context's when time
// was up, and has CodeGitMissing when there is no git.
func (r Runner) Read(ctx context.Context, dir string, args ...string) ([]byte, error) {
	full := append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}, args...)
	return r.run(ctx, dir, args, full, "GIT_OPTIONAL_LOCKS=0")
}

// Write runs git in dir for its effect. The caller gives it the time that it needs: an
// ended write is asked to stop first, so that git takes its lock files with it.
func (r Runner) Write(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return r.run(ctx, dir, args, args)
}

func (r Runner) run(ctx context.Context, dir string, named, args []string, env ...string) ([]byte, error) {
	program := r.Path
	if program == "" {
		program = "git"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, missing(program, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout := &bounded{limit: maxStdout, full: func() { cancel(ErrTooMuch) }}
	stderr := &bounded{limit: maxStderr}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(r.environment(), env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 2 * grace
	err = cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		// The leader is gone; what it left in its group goes too.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	switch {
	case err == nil:
		return stdout.buf.Bytes(), nil
	case ctx.Err() != nil:
		return stdout.buf.Bytes(), fmt.Errorf("git %s: %w", firstOf(named), context.Cause(ctx))
	case errors.Is(err, exec.ErrWaitDelay):
		// git ended well; a hook's background child still held the pipe.
		return stdout.buf.Bytes(), nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return stdout.buf.Bytes(), &ExitError{Args: named, Status: exit.ExitCode(), Stderr: strings.TrimSpace(stderr.buf.String()), Err: err}
	}
	if _, statErr := os.Stat(dir); dir != "" && statErr != nil {
		return nil, fmt.Errorf("git %s: %w", firstOf(named), statErr)
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil, missing(path, err)
	}
	return nil, fmt.Errorf("git %s: %w", firstOf(named), err)
}

func missing(program string, err error) error {
	e := davit.Errorf(davit.CodeGitMissing, "%s cannot be run: %w", program, err)
	return e.WithHint("Install git, or put it on the PATH that davit was started with.")
}

// endGroup asks a process group to stop, and ends it when it does not. git takes its
// lock files away on SIGTERM, which a SIGKILL would leave for the user.
func endGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil {
		return os.ErrProcessDone
	}
	time.AfterFunc(grace, func() {
		// The pid is still the group's: Wait does not return before WaitDelay when a
		// member lives, and a group that is gone gives ESRCH.
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	})
	return nil
}

// keptVariables are the GIT_ variables of a user that say how git works, not where. All
// others (GIT_DIR, GIT_INDEX_FILE, GIT_WORK_TREE, GIT_CONFIG_COUNT …) belong to one
// command of the caller and would lead ours to another repository.
var keptVariables = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY", "GIT_PROXY_COMMAND",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
}

// Environment is what git gets of an environment: without what leads it to another
// repository, and so that it asks nobody anything. Programs that call git get the same.
func Environment(base []string) []string { return Runner{Env: base}.environment() }

func (r Runner) environment() []string {
	base := r.Env
	if base == nil {
		base = os.Environ()
	}
	env := make([]string, 0, len(base)+8)
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if dropped(name) {
			continue
		}
		env = append(env, entry)
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true",
		"GIT_EDITOR=false", "GIT_PAGER=cat", "NO_COLOR=1", "GH_PROMPT_DISABLED=1")
}

func dropped(name string) bool {
	switch name {
	case "LC_ALL", "LANGUAGE", "SSH_ASKPASS", "NO_COLOR", "GH_PROMPT_DISABLED":
		return true
	}
	if !strings.HasPrefix(name, "GIT_") {
		return false
	}
	for _, kept := range keptVariables {
		if name == kept {
			return false
		}
	}
	return true
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
		b.buf.Write(p)
		return len(p), nil
	}
	b.buf.Write(p[:room])
	if b.full != nil {
		b.full()
		b.full = nil
	}
	return len(p), nil
}
