package board_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"davit/internal/prompt"
	"davit/internal/prompt/board"
	"davit/internal/shell"
	"davit/internal/testenv"
	"davit/screen"

	"github.com/creack/pty"
)

// host is a board with a Run, as a davit host keeps it.
type host struct {
	*board.Board
	dir  string
	mu   sync.Mutex // guards asks
	asks []prompt.Ask
	stop func()
}

func startHost(t *testing.T, dir string, layout ...string) *host {
	t.Helper()
	h := &host{dir: dir}
	h.Board = board.New(board.Config{Dir: dir, Pid: os.Getpid(), Asked: func(a prompt.Ask) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.asks = append(h.asks, a)
	}})
	h.Layout(layout)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the board: %v", err)
		}
	})
	t.Cleanup(h.stop)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		_, _, alive := board.Read(dir, "/")
		return alive, "the board is not there"
	})
	return h
}

// tell gives a value, and waits until a shell can read it.
func (h *host) tell(t *testing.T, key string, values ...prompt.Value) {
	t.Helper()
	h.Values(key, values)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		_, have, _ := board.Read(h.dir, key)
		return string(prompt.EncodeValues(have)) == string(prompt.EncodeValues(values)), fmt.Sprint(have)
	})
}

func (h *host) asked() []prompt.Ask {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]prompt.Ask{}, h.asks...)
}

// terminal is a real shell in a real terminal, which is drawn by the emulator.
type terminal struct {
	t    *testing.T
	pty  *os.File
	home string
	cmd  *exec.Cmd
	mu   sync.Mutex // guards s and raw
	s    *screen.Screen
	raw  []byte
}

// start says how a shell is started: what stands in its start-up file before and behind
// davit's prompt, and whether davit's integration starts it.
type start struct {
	options       prompt.Options
	before, after string
	dir           string
	integrated    bool
	env           []string
	without       bool // no prompt of davit's
}

var startFile = map[prompt.Shell]string{prompt.Bash: ".bashrc", prompt.Zsh: ".zshrc", prompt.Fish: ".config/fish/config.fish"}

func open(t *testing.T, kind prompt.Shell, in start) *terminal {
	t.Helper()
	testenv.Require(t, string(kind))
	path, err := exec.LookPath(string(kind))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, startFile[kind])
	code, _, err := prompt.Script(kind, in.options)
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(home, "davit-prompt")
	if err := os.WriteFile(place, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	line := `eval "$(<` + place + `)"` // as a user's file has it
	if kind == prompt.Fish {
		line = "set -g fish_greeting\nsource " + place
	}
	if in.without {
		line = ""
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(in.before+"\n"+line+"\n"+in.after+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append([]string{
		"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "USER=sailor", "SHELL=" + path,
	}, in.env...)
	spawn := shell.Spawn{Argv: []string{path, "-i"}}
	if in.integrated {
		scripts := filepath.Join(t.TempDir(), "scripts")
		if err := shell.WriteScripts(scripts); err != nil {
			t.Fatal(err)
		}
		spawn, _ = shell.Prepare(shell.PrepareInput{Shell: path, Dir: scripts, Env: env})
	}
	cmd := exec.Command(spawn.Argv[0], spawn.Argv[1:]...)
	cmd.Env, cmd.Dir = append(env, spawn.Env...), home
	if in.dir != "" {
		cmd.Dir = in.dir
		cmd.Env = append(cmd.Env, "PWD="+in.dir)
	}
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 220})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, pty: f, home: home, cmd: cmd, s: screen.New(220, 30, screen.Options{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 64<<10)
		for {
			n, err := f.Read(buffer)
			if err != nil {
				return
			}
			term.mu.Lock()
			result := term.s.Write(buffer[:n])
			term.raw = append(term.raw, buffer[:n]...)
			term.mu.Unlock()
			for _, r := range result.Replies {
				_, _ = f.Write(r.Data)
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
		<-ended
	})
	return term
}

func (term *terminal) send(text string) {
	term.t.Helper()
	if _, err := term.pty.Write([]byte(text)); err != nil {
		term.t.Fatal(err)
	}
}

// text is what is drawn, without blanks at the ends of lines.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	lines := term.s.Text()
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (term *terminal) seen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.raw)
}

// last is the line that the cursor is on.
func (term *terminal) last() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	_, y := term.s.Cursor()
	return strings.TrimRight(term.s.Text()[y], " ")
}

// until waits for a drawn line that the cursor is on.
func (term *terminal) until(line string) {
	term.t.Helper()
	testenv.Eventually(term.t, 10*time.Second, func() (bool, string) {
		last := term.last()
		return last == line, fmt.Sprintf("the line is %q, not %q; all:\n%s", last, line, term.text())
	})
}

// shows waits for a text.
func (term *terminal) shows(text string) {
	term.t.Helper()
	testenv.Eventually(term.t, 10*time.Second, func() (bool, string) {
		return strings.Contains(term.text(), text), fmt.Sprintf("%q is not in:\n%s", text, term.text())
	})
}

// run types a command on a cleared screen.
func (term *terminal) run(command string) { term.t.Helper(); term.send(command + "\r") }

// repository is a directory that a shell takes for a work tree.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "harbor")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sign is what ends a prompt.
func sign(kind prompt.Shell) string {
	switch {
	case kind == prompt.Zsh && os.Geteuid() != 0:
		return "%"
	case kind == prompt.Bash && os.Geteuid() != 0:
		return "$"
	case kind == prompt.Fish && os.Geteuid() != 0:
		return ">"
	}
	return "#"
}

// shells runs a test in each.
func shells(t *testing.T, work func(t *testing.T, kind prompt.Shell)) {
	t.Helper()
	for _, kind := range []prompt.Shell{prompt.Bash, prompt.Zsh, prompt.Fish} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			work(t, kind)
		})
	}
}
