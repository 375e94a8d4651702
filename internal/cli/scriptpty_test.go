package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"davit/screen"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// terminal is a program in a real PTY, and what its terminal shows.
type terminal struct {
	ts         *testscript.TestScript
	cmd        *exec.Cmd
	master     *os.File
	cols, rows int
	ended      chan error

	mu   sync.Mutex // guards seen
	seen bytes.Buffer
}

// cmdPTY runs a program in a terminal and goes through a file of steps:
//
//	expect TEXT     until the screen or its scrollback shows it
//	gone TEXT       until the screen does not show it
//	type TEXT       keys; enter, ctrl-\ and ctrl-c are keys of their own
//	size COLS ROWS  the terminal changes its size
//	killhost        kill -9 of the host
//	run CMD…        another program, which has to end well
//	status N        it ends with that status; without such a step with 0
func cmdPTY(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "pty FILE CMD…")
	steps := ts.ReadFile(args[0])
	t := &terminal{ts: ts, cmd: storyExec(ts, args[1:]...), cols: 80, rows: 24, ended: make(chan error, 1)}
	master, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: 80, Rows: 24})
	ts.Check(err)
	t.master = master
	read := make(chan struct{})
	go func() {
		defer close(read)
		t.read()
	}()
	go func() { t.ended <- t.cmd.Wait() }()
	ts.Defer(func() {
		_ = t.cmd.Process.Kill()
		_ = master.Close()
		<-read
	})
	status := 0
	for line := range strings.Lines(steps) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "status "); ok {
			status, err = strconv.Atoi(rest)
			ts.Check(err)
			continue
		}
		t.step(line)
	}
	t.awaitEnd(status)
}

func (t *terminal) read() {
	chunk := make([]byte, 32<<10)
	for {
		n, err := t.master.Read(chunk)
		t.mu.Lock()
		t.seen.Write(chunk[:n])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *terminal) step(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "expect":
		t.await(line, func(shown string) bool { return strings.Contains(shown, rest) })
	case "gone":
		t.await(line, func(shown string) bool { return !strings.Contains(shown, rest) })
	case "type":
		t.press(rest)
	case "enter":
		t.press("\r")
	case `ctrl-\`:
		t.press("\x1c")
	case "ctrl-c":
		t.press("\x03")
	case "size":
		cols, rows, _ := strings.Cut(rest, " ")
		t.cols, _ = strconv.Atoi(cols)
		t.rows, _ = strconv.Atoi(rows)
		t.ts.Check(pty.Setsize(t.master, &pty.Winsize{Cols: uint16(t.cols), Rows: uint16(t.rows)}))
	case "killhost":
		killHost(t.ts)
	case "run":
		if out, err := storyExec(t.ts, strings.Fields(rest)...).CombinedOutput(); err != nil {
			t.ts.Fatalf("%s: %v: %s", rest, err, out)
		}
	default:
		t.ts.Fatalf("unknown step %q", line)
	}
}

func (t *terminal) press(keys string) {
	_, err := t.master.Write([]byte(keys))
	t.ts.Check(err)
}

// shown is the text of the terminal, its scrollback before it.
func (t *terminal) shown() string {
	t.mu.Lock()
	data := bytes.Clone(t.seen.Bytes())
	t.mu.Unlock()
	return strings.Join(screen.RenderReport(data, t.cols, t.rows, true).Rows, "\n")
}

func (t *terminal) await(step string, holds func(string) bool) {
	deadline := time.Now().Add(patience)
	for {
		shown := t.shown()
		if holds(shown) {
			return
		}
		if time.Now().After(deadline) {
			t.ts.Fatalf("%q did not come:\n%s", step, shown)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (t *terminal) awaitEnd(status int) {
	select {
	case err := <-t.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.ts.Fatalf("wait: %v", err)
		}
		if got := t.cmd.ProcessState.ExitCode(); got != status {
			t.ts.Fatalf("it ended with %d, not %d:\n%s", got, status, t.shown())
		}
	case <-time.After(patience):
		t.ts.Fatalf("it did not end:\n%s", t.shown())
	}
}
