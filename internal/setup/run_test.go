package setup

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestMain: the test binary is setup-run too, and what follows it.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "setup-run" {
		program, argv := "", []string(nil)
		if len(os.Args) > 4 {
			program, argv = os.Args[3], os.Args[4:]
		}
		status, err := Run(Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}, os.Args[2], program, argv)
		if err != nil {
			_, _ = os.Stderr.WriteString("refused: " + err.Error() + "\r\n")
		}
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// scene runs one plan in a real terminal and gives what that showed and its status.
func scene(t *testing.T, plan Plan, follows []string, keys func(tty io.Writer, seen func(string))) (shown string, status int, report Report) {
	t.Helper()
	state := t.TempDir()
	if plan.Dir == "" {
		plan.Dir = t.TempDir()
	}
	plan.Pane = "p_1"
	dir, err := Write(state, plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	shown, status = inTerminal(ctx, t, dir, follows, keys)
	report, err = Read(state, "p_1")
	if err != nil {
		t.Fatal(err)
	}
	if again, code := inTerminal(ctx, t, dir, follows, nil); code == 0 || !strings.Contains(again, ErrAlreadyRan.Error()) {
		t.Errorf("it ran a second time: %d %q", code, again)
	}
	if err := Forget(state, "p_1"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("its folder stays:", err)
	}
	return shown, status, report
}

func inTerminal(ctx context.Context, t *testing.T, dir string, follows []string, keys func(io.Writer, func(string))) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"setup-run", dir}, follows...)...)
	cmd.Env = append(os.Environ(), "SECRET=s3cret")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	chunk := make([]byte, 32<<10)
	next := func() bool {
		n, err := tty.Read(chunk)
		out.Write(chunk[:n])
		return err == nil
	}
	if keys != nil {
		keys(tty, func(text string) {
			for !strings.Contains(out.String(), text) && next() {
			}
		})
	}
	for next() {
	}
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.ExitCode()
}

func TestScriptThenProgram(t *testing.T) { // spec launch L5.3
	dir := t.TempDir()
	shown, status, report := scene(t, Plan{
		Dir: dir, Hidden: []string{"SECRET"}, For: "Practice",
		Script: "pwd; echo \"has ${SECRET-none}\" ; printf '\\033[?2004h'; stty raw -echo\necho 'node_modules/' > .gitignore; mkdir node_modules\n",
	}, []string{"/bin/sh", "sh", "-c", `echo "program $SECRET $0 $1"; stty -a | grep -c ' echo '; exit 7`, "-x", "it's"}, nil)
	for _, want := range []string{dir, "has none", "setup done in", "\x1b[?2004l", "program s3cret -x it's", "\n1\r\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %q", want, shown)
		}
	}
	if status != 7 || report.State != Passed || report.Dir != dir {
		t.Errorf("%d %+v", status, report)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Error(err)
	}
}

func TestScriptThatFails(t *testing.T) { // spec launch L5.3
	program := []string{"/bin/sh", "sh", "-c", "echo the program"}
	for _, c := range []struct {
		name   string
		plan   Plan
		keys   func(io.Writer, func(string))
		status int
		shows  []string
		error  string
		runs   bool
	}{
		{"a line fails", Plan{Script: "echo one\nfalse\necho two\n", For: "Practice"}, nil, 1, []string{"one", "ended with the exit status 1", "Practice was not started. The worktree is kept."}, "ended with the exit status 1", false},
		{"a shell follows all the same", Plan{Script: "exit 3", Anyway: true}, nil, 0, []string{"ended with the exit status 3", "the program"}, "ended with the exit status 3", true},
		{"a signal", Plan{Script: "kill -9 $$"}, nil, 137, []string{"was ended by SIGKILL"}, "was ended by SIGKILL", false},
		{"Ctrl-C", Plan{Script: "echo ready; sleep 30"}, func(tty io.Writer, seen func(string)) {
			seen("ready")
			_, _ = tty.Write([]byte{3})
		}, 130, []string{"was ended by SIGINT"}, "was ended by SIGINT", false},
		{"a question", Plan{Script: "printf 'which? '; read -r a; [ \"$a\" = this ] && exit 5"}, func(tty io.Writer, seen func(string)) {
			seen("which?")
			_, _ = tty.Write([]byte("this\r"))
		}, 5, []string{"exit status 5"}, "ended with the exit status 5", false},
		{"a flood", Plan{Script: "yes flood | head -n 50000; exit 4"}, nil, 4, []string{"flood", "exit status 4"}, "ended with the exit status 4", false},
		{"no folder", Plan{Script: "true", Dir: "/nowhere/at/all"}, nil, 1, []string{"could not be started"}, "could not be started", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shown, status, report := scene(t, c.plan, program, c.keys)
			for _, want := range c.shows {
				if !strings.Contains(shown, want) {
					t.Errorf("no %q in %q", want, shown[max(0, len(shown)-600):])
				}
			}
			if status != c.status || report.State != Failed || !strings.Contains(report.Error, c.error) || strings.Contains(shown, "the program") != c.runs {
				t.Errorf("%d %+v", status, report)
			}
		})
	}
	t.Run("the program is not there", func(t *testing.T) {
		_, status, report := scene(t, Plan{Script: "true"}, []string{"/nowhere/program", "program"}, nil)
		if status != 1 || report.State != Failed || !strings.Contains(report.Error, "/nowhere/program cannot be run after it") {
			t.Errorf("%d %+v", status, report)
		}
	})
}

func TestReportOfWhatWasCutOff(t *testing.T) { // a line cut short tells nothing
	state := t.TempDir()
	if r, err := Read(state, "p_1"); err != nil || r.State != None {
		t.Error(r, err)
	}
	dir, err := Write(state, Plan{Pane: "p_1", Dir: "/tree", Script: "true"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Read(state, "p_1"); err != nil || r.State != Planned || r.Dir != "/tree" {
		t.Error(r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, reportFile), []byte("{\"state\":\"started\"}\n{\"state\":\"pas"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(state, "p_1"); err != nil || r.State != Started {
		t.Error(r, err)
	}
}
