// Package cleanup is what `davit cleanup-run PLAN` does: it carries out the close plan of
// one tab, command after command, and writes down each step before and after it, so that
// neither the host's death nor a restart of it leaves a doubt about what ran
// (spec tabs T5.4).
//
// The process is a child of the keeper. It owns the folder of its plan and the commands
// it starts, each in a session of its own. It stops at the first failure, adds no force,
// deletes nothing by path, and never runs a step twice (T5.9): a plan whose steps file
// is there already is refused. While it lives it holds the lock in that folder, so that a
// host whose keeper is gone can tell a cleanup that goes on without it from one that was
// cut off (T5.7). It prints nothing before its end: nobody may be there to read it.
package cleanup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/template"
)

// Names of the files in a cleanup's folder.
const (
	planFile  = "plan.json"
	stepsFile = "steps.jsonl"
	lockFile  = "lock"
)

// DefaultTimeout is how long each command may take when the config says nothing (T1.2).
const DefaultTimeout = 15 * time.Minute

// Plan is what cleanup-run is given: the close plan as it was resolved when the tab
// opened, and the few facts of the host that it needs.
type Plan struct {
	ID      string        `json:"id"`
	Tab     davit.TabID   `json:"tab"`
	Title   string        `json:"title"`
	OnClose davit.OnClose `json:"onClose"`
	Path    string        `json:"path"` // PATH of the login shell
	Home    string        `json:"home"` // the user's home directory
	State   string        `json:"state"`
}

// Kinds of step.
const (
	StepCommand = "command"
	StepRemove  = "remove_worktree"
)

// States of a step. A step that stays started when the process is gone is interrupted.
const (
	StepStarted = "started"
	StepDone    = "done"
	StepFailed  = "failed"
	stepBack    = "given_back" // of no step: the plan was taken back
)

// Step is one line of the steps file; the last line of an index counts.
type Step struct {
	Index    int       `json:"index"`
	Kind     string    `json:"kind"`
	Command  string    `json:"command"` // for people; of a removal, what it amounts to
	State    string    `json:"state"`
	Exit     *int      `json:"exit,omitempty"`
	Signal   string    `json:"signal,omitempty"`
	TimedOut bool      `json:"timedOut,omitempty"`
	Error    string    `json:"error,omitempty"`
	Head     string    `json:"head,omitempty"` // first 32 KiB of its output
	Tail     string    `json:"tail,omitempty"` // last 32 KiB, when there was more
	Dropped  int64     `json:"dropped,omitempty"`
	Kept     []string  `json:"kept,omitempty"` // what a removal left alone
	At       time.Time `json:"at"`

	Ignored      []string `json:"ignored,omitempty"` // what git ignores and went with a removal, by path, the first of
	IgnoredCount int      `json:"ignoredCount,omitempty"`
}

// Steps lists what a plan consists of, in order: the commands, then the removal of the
// worktree (T5.10).
func Steps(p davit.OnClose) []Step {
	var steps []Step
	for _, c := range p.Commands {
		kind := StepCommand
		if p.Worktree != nil && IsRemoval(c, shellOf(p), p.Worktree.Path) {
			kind = StepRemove
		}
		steps = append(steps, Step{Index: len(steps), Kind: kind, Command: c})
	}
	if w := p.RemoveWorktree; w != nil {
		steps = append(steps, Step{Index: len(steps), Kind: StepRemove, Command: "git worktree remove " + template.Word(shellOf(p), w.Path)})
	}
	return steps
}

// IsRemoval says whether a command is `git worktree remove` of that path and nothing more.
// One is carried out by the rules of a removal (spec launch L9.6), as git by itself lets go
// what is lost with the folder: commits of a detached HEAD, a repository in an ignored folder,
// edits behind skip-worktree. A command with an option, or with more in it, is the user's own.
func IsRemoval(command string, shell template.Shell, path string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(command), "git worktree remove ")
	rest = strings.TrimSpace(rest)
	return ok && slices.Contains([]string{path, template.Word(shell, path), "'" + path + "'", `"` + path + `"`}, rest)
}

// shellOf is the shell that a plan's commands are for, and shown for: those of the pages
// "Copy commands" are pasted into it.
func shellOf(p davit.OnClose) template.Shell {
	if shell, known := template.ShellOf(p.ShellKind); known {
		return shell
	}
	return template.Sh
}

// Dir is the folder of one cleanup below the state directory.
func Dir(state, id string) string { return filepath.Join(state, "cleanups", id) }

// Write puts the plan into its folder, durably, before the process that runs it is asked
// for. Writing the same plan again is harmless.
func Write(p Plan) (dir string, err error) {
	dir = Dir(p.State, p.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cleanup's folder: %w", err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the cleanup's plan: %w", err)
	}
	temp := filepath.Join(dir, planFile+".new")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("write the cleanup's plan: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write the cleanup's plan: %w", err)
	}
	return dir, os.Rename(temp, filepath.Join(dir, planFile))
}

// Report is what the steps file says of a cleanup.
type Report struct {
	Steps   []Step // one for each index that has begun, its last line
	Skipped int    // steps of the plan that never began
	Back    bool   // it was taken back before the first of them
}

// Failed gives the step that failed or never ended.
func (r Report) Failed() (Step, bool) {
	for _, s := range r.Steps {
		if s.State != StepDone {
			return s, true
		}
	}
	return Step{}, false
}

// CutOff says whether it began and came to no end: a step that never ended, or steps that
// never began although none failed. Only of a cleanup that does not run any more.
func (r Report) CutOff() bool {
	step, failed := r.Failed()
	return failed && step.State == StepStarted || !failed && r.Begun() && r.Skipped > 0
}

// Begun says whether the first step has begun (T5.8: from then on it is not given back).
func (r Report) Begun() bool { return len(r.Steps) > 0 }

// Read folds the steps file of a cleanup. A line cut short by a crash is left out: the
// step it would have ended stays started.
func Read(state, id string, plan davit.OnClose) (Report, error) {
	all := Steps(plan)
	f, err := os.Open(filepath.Join(Dir(state, id), stepsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Report{Skipped: len(all)}, nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("read the steps of cleanup %s: %w", id, err)
	}
	defer f.Close()
	var report Report
	scan := bufio.NewScanner(f)
	scan.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for scan.Scan() {
		var s Step
		if json.Unmarshal(scan.Bytes(), &s) != nil {
			continue
		}
		report.Back = report.Back || s.State == stepBack
		if s.Index < 0 || s.Index > len(report.Steps) {
			continue
		}
		if s.Index == len(report.Steps) {
			report.Steps = append(report.Steps, s)
		} else {
			report.Steps[s.Index] = s
		}
	}
	report.Skipped = max(0, len(all)-len(report.Steps))
	return report, scan.Err()
}

// TakeBack takes a plan back that may have been started: it makes the steps file, which
// Run makes before its first step, so that one of the two has the plan. False: it has
// begun, or was taken back before.
func TakeBack(state, id string) (bool, error) {
	dir := Dir(state, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("make the cleanup's folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, stepsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take cleanup %s back: %w", id, err)
	}
	line, err := json.Marshal(Step{Index: -1, State: stepBack})
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return true, fmt.Errorf("take cleanup %s back: %w", id, err) // the file is there: Run does nothing
	}
	return true, nil
}

// Removed tells of a removal: what stays, and what went although it is in no commit.
type Removed struct {
	Kept         []string // in words
	Ignored      []string // by path, the first of
	IgnoredCount int
}

// Remove removes a worktree by the rules of spec launch L9.6 and says what was kept.
type Remove func(ctx context.Context, state string, w davit.Worktree) (Removed, error)

// ErrAlreadyRan refuses a plan whose steps file exists: a cleanup runs once.
var ErrAlreadyRan = errors.New("this cleanup has run before; it is never run a second time by itself")

// Run carries out the plan in dir. It returns nil when each step is done.
func Run(ctx context.Context, dir string, remove Remove, now func() time.Time) error {
	data, err := os.ReadFile(filepath.Join(dir, planFile))
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	var plan Plan
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&plan); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	steps, err := os.OpenFile(filepath.Join(dir, stepsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrAlreadyRan
	}
	if err != nil {
		return fmt.Errorf("open the steps file: %w", err)
	}
	defer steps.Close()
	write := func(s Step) error {
		s.At = now()
		line, err := json.Marshal(s)
		if err == nil {
			_, err = steps.Write(append(line, '\n'))
		}
		return errors.Join(err, steps.Sync())
	}
	for _, s := range Steps(plan.OnClose) {
		s.State = StepStarted
		if err := write(s); err != nil {
			return fmt.Errorf("note a step before it runs: %w", err)
		}
		if s.Kind == StepRemove {
			s = runRemove(ctx, s, plan, remove)
		} else {
			s = runCommand(ctx, s, plan)
		}
		if err := write(s); err != nil {
			return fmt.Errorf("note a step after it ran: %w", err)
		}
		if s.State != StepDone {
			return fmt.Errorf("%s: %s", s.Command, s.Error)
		}
	}
	return nil
}

func runRemove(ctx context.Context, s Step, plan Plan, remove Remove) Step {
	of := plan.OnClose.RemoveWorktree
	if of == nil {
		of = plan.OnClose.Worktree
	}
	removed, err := remove(ctx, plan.State, *of)
	s.Kept, s.Ignored, s.IgnoredCount = removed.Kept, removed.Ignored, removed.IgnoredCount
	if err != nil {
		s.State, s.Error = StepFailed, err.Error()
		if e := davit.AsError(err); e.Hint != "" {
			s.Error += "\n" + e.Hint
		}
		return s
	}
	s.State = StepDone
	return s
}
