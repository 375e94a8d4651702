package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// ErrAlreadyRan refuses a plan whose report exists: a script runs once.
var ErrAlreadyRan = errors.New("this setup has run before; it is never run a second time by itself")

// reset takes back what a script may have left of a terminal's modes: a soft reset, no
// bracketed paste, no mouse.
const reset = "\x1b[!p\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l"

// Terminal is what the process was started with.
type Terminal struct {
	In, Out, Err *os.File
	Environ      []string
}

// Run runs the script of the plan in dir, in this process's terminal, and then becomes the
// program: it returns only when there is none, or when the script failed and the plan does
// not say that the program starts anyway. The status is what the process exits with.
func Run(tty Terminal, dir, program string, argv []string) (status int, err error) {
	plan, err := readPlan(dir)
	if err != nil {
		return 1, err
	}
	report, err := os.OpenFile(filepath.Join(dir, reportFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 1, ErrAlreadyRan
	}
	if err != nil {
		return 1, fmt.Errorf("open the report of a setup: %w", err)
	}
	defer report.Close()
	write := func(r Report) error {
		line, err := json.Marshal(r)
		if err == nil {
			_, err = report.Write(append(line, '\n'))
		}
		return errors.Join(err, report.Sync())
	}
	if err := write(Report{State: Started}); err != nil {
		return 1, fmt.Errorf("note a setup before it runs: %w", err)
	}
	end, took := tty.run(plan, filepath.Join(dir, scriptFile))
	follows := program != "" && (end.State == Passed || plan.Anyway)
	if follows {
		if _, err := exec.LookPath(program); err != nil && end.State == Passed {
			end = Report{State: Failed, Error: fmt.Sprintf("%s cannot be run after it: %v", program, err)}
			follows = false
		}
	}
	tty.tell(plan, end, took, follows)
	if err := write(end); err != nil {
		return 1, fmt.Errorf("note a setup after it ran: %w", err)
	}
	if !follows {
		return exitStatus(end), nil
	}
	return 126, fmt.Errorf("start %s: %w", program, syscall.Exec(program, argv, tty.Environ))
}

// run runs the script on this terminal. Ctrl-C is the script's alone: it ends that,
// and what became of it is noted here.
func (tty Terminal) run(plan Plan, script string) (Report, time.Duration) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT)
	defer signal.Stop(signals)
	modes, modesErr := term.GetState(int(tty.In.Fd()))
	fmt.Fprintf(tty.Out, "\x1b[2mdavit: setup of this worktree, by .davit/workspace.toml\x1b[0m\r\n")
	begun := time.Now()
	cmd := exec.Command("/bin/sh", "-e", script)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = plan.Dir, tty.In, tty.Out, tty.Err
	cmd.Env = slices.DeleteFunc(slices.Clone(tty.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(plan.Hidden, name) || name == "PWD"
	})
	cmd.Env = append(cmd.Env, "PWD="+plan.Dir)
	err := cmd.Run()
	took := time.Since(begun)
	if modesErr == nil {
		_ = term.Restore(int(tty.In.Fd()), modes) // it was a terminal just before; nobody could do more
		fmt.Fprint(tty.Out, reset)
	}
	if err == nil {
		return Report{State: Passed}, took
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return Report{State: Failed, Error: "could not be started: " + err.Error()}, took
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		name := unix.SignalName(status.Signal())
		return Report{State: Failed, Signal: name, Error: "was ended by " + name}, took
	}
	code := exit.ExitCode()
	return Report{State: Failed, Exit: &code, Error: fmt.Sprintf("ended with the exit status %d", code)}, took
}

// tell says on the terminal how the script ended, and what that means.
func (tty Terminal) tell(plan Plan, end Report, took time.Duration, follows bool) {
	took = took.Round(100 * time.Millisecond)
	if end.State == Passed {
		fmt.Fprintf(tty.Out, "\r\x1b[2mdavit: setup done in %s\x1b[0m\r\n", took)
		return
	}
	what := "The worktree is kept."
	if plan.For != "" && !follows {
		what = plan.For + " was not started. " + what
	}
	fmt.Fprintf(tty.Out, "\r\x1b[1mdavit: the setup %s, after %s. %s\x1b[0m\r\n", end.Error, took, what)
}

// exitStatus is what a shell would say of the script.
func exitStatus(end Report) int {
	switch {
	case end.State == Passed:
		return 0
	case end.Exit != nil:
		return *end.Exit
	case end.Signal != "":
		return 128 + int(unix.SignalNum(end.Signal))
	}
	return 1
}
