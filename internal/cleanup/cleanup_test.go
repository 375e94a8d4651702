package cleanup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/template"
	"davit/internal/testenv"
)

// write puts a plan with these commands into a fresh state directory.
func write(t *testing.T, on davit.OnClose) Plan {
	t.Helper()
	if on.Shell == "" {
		on.Shell, on.ShellKind = "/bin/sh", "sh"
	}
	if on.Directory == "" {
		on.Directory = t.TempDir()
	}
	p := Plan{ID: "c_1", Tab: "t_1", Title: "needle", OnClose: on, Path: os.Getenv("PATH"), Home: t.TempDir(), State: t.TempDir()}
	if _, err := Write(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, p Plan, remove Remove) (Report, error) {
	t.Helper()
	if remove == nil {
		remove = func(context.Context, string, davit.Worktree) (Removed, error) {
			t.Error("a worktree is removed that no plan names")
			return Removed{}, nil
		}
	}
	err := Run(t.Context(), Dir(p.State, p.ID), remove, time.Now)
	report, readErr := Read(p.State, p.ID, p.OnClose)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return report, err
}

// Commands run in order, each in a shell of its own, then the worktree goes (spec tabs
// T5.4, T5.10).
func TestCommandsThenWorktree(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	p := write(t, davit.OnClose{
		Commands:       []string{"cd / && export X=1; echo one >> " + out, `echo "two in $PWD $X with $(cat)" >> ` + out},
		RemoveWorktree: &davit.Worktree{Path: "/somewhere/needle", Branch: "needle"},
	})
	removed := ""
	report, err := run(t, p, func(_ context.Context, state string, w davit.Worktree) (Removed, error) {
		removed = w.Path
		return Removed{Kept: []string{"branch needle"}, Ignored: []string{".env"}, IgnoredCount: 1}, nil
	})
	if err != nil || removed != "/somewhere/needle" || report.Skipped != 0 || len(report.Steps) != 3 {
		t.Fatalf("%v; removed %q; %+v", err, removed, report)
	}
	data, _ := os.ReadFile(out)
	// cd and export of one command do not reach the next; stdin is at its end.
	if want := "one\ntwo in " + p.OnClose.Directory + "  with \n"; string(data) != want {
		t.Errorf("the commands wrote %q, want %q", data, want)
	}
	if got := report.Steps[2]; len(got.Kept) != 1 || got.Kept[0] != "branch needle" || len(got.Ignored) != 1 || got.IgnoredCount != 1 {
		t.Errorf("what the removal kept, and what went with it, is not told: %+v", got)
	}
}

// It stops at the first failure and says what was skipped (T5.4, T5.5).
func TestStopsAtTheFirstFailure(t *testing.T) {
	p := write(t, davit.OnClose{
		Commands:       []string{"echo fine", "echo to stdout; echo to stderr >&2; exit 3", "echo never"},
		RemoveWorktree: &davit.Worktree{Path: "/somewhere"},
	})
	report, err := run(t, p, nil)
	step, failed := report.Failed()
	if err == nil || !failed || step.Index != 1 || step.Exit == nil || *step.Exit != 3 || report.Skipped != 2 {
		t.Fatalf("%v; %+v", err, report)
	}
	if !strings.Contains(step.Head, "to stdout") || !strings.Contains(step.Head, "to stderr") {
		t.Errorf("its output is not kept: %q", step.Head)
	}
}

// A plan runs once, whatever became of it (T5.2, T5.9).
func TestNeverTwice(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	p := write(t, davit.OnClose{Commands: []string{"echo x >> " + out + "; exit 1"}})
	if _, err := run(t, p, nil); err == nil {
		t.Fatal("exit 1 is no failure")
	}
	if _, err := run(t, p, nil); !errors.Is(err, ErrAlreadyRan) {
		t.Errorf("a second run: %v", err)
	}
	if data, _ := os.ReadFile(out); string(data) != "x\n" {
		t.Errorf("the command ran more than once: %q", data)
	}
}

// Each way not to succeed is named.
func TestFailuresAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		on   davit.OnClose
		want string
	}{
		"missing directory": {davit.OnClose{Directory: "/does/not/exist", Commands: []string{"true"}}, "does not exist"},
		"missing shell":     {davit.OnClose{Shell: "/no/shell", ShellKind: "sh", Commands: []string{"true"}}, "could not be started"},
		"time-out":          {davit.OnClose{Timeout: 50 * time.Millisecond, Commands: []string{"sleep 60"}}, "did not end within 50ms"},
		"a signal":          {davit.OnClose{Commands: []string{"kill -KILL $$"}}, "SIGKILL"},
	} {
		report, err := run(t, write(t, c.on), nil)
		step, failed := report.Failed()
		if err == nil || !failed || !strings.Contains(step.Error, c.want) {
			t.Errorf("%s: %v; %+v, want %q", name, err, step, c.want)
		}
	}
}

// The first and the last 32 KiB of a flood are kept (T5.4).
func TestOutputIsBounded(t *testing.T) {
	testenv.Require(t, "seq")
	p := write(t, davit.OnClose{Commands: []string{"seq 1 100000"}})
	report, err := run(t, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := report.Steps[0]
	if len(s.Head) != outputKept || len(s.Tail) != outputKept || s.Dropped <= 0 {
		t.Fatalf("kept %d and %d, dropped %d", len(s.Head), len(s.Tail), s.Dropped)
	}
	if !strings.HasPrefix(s.Head, "1\n2\n") || !strings.HasSuffix(s.Tail, "99999\n100000\n") {
		t.Errorf("kept %.20q … %.20q", s.Head, s.Tail[len(s.Tail)-20:])
	}
}

// A background process that holds the output does not hold up the cleanup.
func TestBackgroundProcessDoesNotHoldItUp(t *testing.T) {
	p := write(t, davit.OnClose{Commands: []string{"sleep 30 & echo $! > pid; echo started"}})
	began := time.Now()
	if _, err := run(t, p, nil); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it waited %s for a background process", took)
	}
}

// A steps file that a crash cut short leaves the step as begun: interrupted, never done
// (T5.7).
func TestInterruptedSteps(t *testing.T) {
	p := write(t, davit.OnClose{Commands: []string{"true", "true", "true"}})
	lines := `{"index":0,"kind":"command","command":"true","state":"started"}
{"index":0,"kind":"command","command":"true","state":"done"}
{"index":1,"kind":"command","command":"true","state":"started"}
{"index":1,"kind":"comm`
	if err := os.WriteFile(filepath.Join(Dir(p.State, p.ID), stepsFile), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Read(p.State, p.ID, p.OnClose)
	if err != nil {
		t.Fatal(err)
	}
	step, failed := report.Failed()
	if !failed || step.State != StepStarted || step.Index != 1 || report.Skipped != 1 || !report.Begun() {
		t.Errorf("%+v", report)
	}
}

// A steps file of garbage never panics, and never claims that a step is done twice over.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"index":0,"state":"done"}` + "\n"))
	f.Add([]byte("{\n\x00\n{\"index\":-1}\n{\"index\":99}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		state := t.TempDir()
		if err := os.MkdirAll(Dir(state, "c"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(Dir(state, "c"), stepsFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		plan := davit.OnClose{Commands: []string{"a", "b"}}
		report, err := Read(state, "c", plan)
		if err == nil && report.Skipped+len(report.Steps) < 2 {
			t.Errorf("%d steps and %d skipped of 2", len(report.Steps), report.Skipped)
		}
	})
}

// A plan is taken back, or it runs: never both (spec tabs T5.8; cases 15 to 17).
func TestTakeBack(t *testing.T) {
	state := t.TempDir()
	log := filepath.Join(state, "ran")
	plan := Plan{ID: "c_1", State: state, Home: state, Path: os.Getenv("PATH"), OnClose: davit.OnClose{Directory: state, Commands: []string{"echo ran >> " + log}, Shell: "/bin/sh"}}
	dir, err := Write(plan)
	if err != nil {
		t.Fatal(err)
	}
	if ours, err := TakeBack(state, "c_1"); !ours || err != nil {
		t.Fatalf("taken back: %t %v", ours, err)
	}
	if err := Run(t.Context(), dir, nil, time.Now); !errors.Is(err, ErrAlreadyRan) {
		t.Errorf("it ran all the same: %v", err)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("its command ran")
	}
	if r, err := Read(state, "c_1", plan.OnClose); err != nil || !r.Back || r.Begun() {
		t.Errorf("%+v %v", r, err)
	}
	plan.ID = "c_2"
	if dir, err = Write(plan); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), dir, nil, time.Now); err != nil {
		t.Fatal(err)
	}
	if ours, err := TakeBack(state, "c_2"); ours || err != nil {
		t.Errorf("what has run was taken back: %t %v", ours, err)
	}
	if r, err := Read(state, "c_2", plan.OnClose); err != nil || r.Back || len(r.Steps) != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestIsRemoval: what is carried out as a removal is the very command, in any quotes that a
// shell reads as that path; a command with an option, or with more, is the user's (spec tabs
// T5.9, T5.10).
func TestIsRemoval(t *testing.T) {
	path := "/w/it's here"
	for command, want := range map[string]bool{
		`git worktree remove "/w/it's here"`:                      true,
		"git worktree remove " + template.Word(template.Sh, path): true,
		"  git worktree remove  \"/w/it's here\"  ":               true,
		`git worktree remove --force "/w/it's here"`:              false,
		`git worktree remove "/w/it's here" && git branch -d x`:   false,
		`git worktree remove "/w/it's here/below"`:                false,
		`echo git worktree remove "/w/it's here"`:                 false,
		"git worktree remove":                                     false,
	} {
		if IsRemoval(command, template.Sh, path) != want {
			t.Errorf("%q: %t", command, !want)
		}
	}
}
