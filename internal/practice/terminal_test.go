package practice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"davit/internal/testenv"

	"github.com/creack/pty"
)

// running is the agent on a real PTY.
type running struct {
	t          *testing.T
	pty        *os.File
	command    *exec.Cmd
	transcript string
	mu         sync.Mutex // guards seen
	seen       []byte
	ended      chan struct{}
	waited     error
	exited     chan struct{}
}

func start(t *testing.T, faults string, args ...string) *running {
	t.Helper()
	directory := t.TempDir()
	r := &running{t: t, transcript: filepath.Join(directory, "transcript.jsonl"), ended: make(chan struct{}), exited: make(chan struct{})}
	r.command = exec.Command(os.Args[0], append([]string{"practice-agent"}, args...)...)
	r.command.Dir = directory
	r.command.Env = []string{"TERM=xterm-256color", "PATH=/usr/bin:/bin", "DAVIT_PRACTICE=" + faults, "DAVIT_PRACTICE_TRANSCRIPT=" + r.transcript}
	file, err := pty.StartWithSize(r.command, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	r.pty = file
	go func() {
		defer close(r.ended)
		buffer := make([]byte, 64<<10)
		for {
			n, err := file.Read(buffer)
			r.mu.Lock()
			r.seen = append(r.seen, buffer[:n]...)
			r.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		r.waited = r.command.Wait()
		close(r.exited)
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Kill()
		<-r.exited
		for _, e := range r.events("child") {
			_ = syscall.Kill(-e.Pid, syscall.SIGKILL) // its own session and group; it may hold the terminal
		}
		_ = file.Close()
		<-r.ended
	})
	return r
}

func (r *running) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.seen)
}

func (r *running) shows(text string) {
	r.t.Helper()
	testenv.Eventually(r.t, 10*time.Second, func() (bool, string) {
		return strings.Contains(r.output(), text), fmt.Sprintf("%q not in %q", text, tail(r.output()))
	})
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

func (r *running) write(text string) {
	r.t.Helper()
	if _, err := r.pty.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) events(kinds ...string) []event {
	r.t.Helper()
	content, _ := os.ReadFile(r.transcript)
	var events []event
	for _, line := range bytes.Split(content, []byte("\n")) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		for _, kind := range kinds {
			if e.Event == kind {
				events = append(events, e)
			}
		}
	}
	return events
}

// received waits for that many events and gives them.
func (r *running) received(n int, kinds ...string) []event {
	r.t.Helper()
	testenv.Eventually(r.t, 10*time.Second, func() (bool, string) {
		return len(r.events(kinds...)) >= n, fmt.Sprintf("%d of %d %v: %q", len(r.events(kinds...)), n, kinds, tail(r.output()))
	})
	return r.events(kinds...)
}

func (r *running) exits() *os.ProcessState {
	r.t.Helper()
	select {
	case <-r.exited:
	case <-time.After(10 * time.Second):
		r.t.Fatalf("it does not end: %q", tail(r.output()))
	}
	return r.command.ProcessState
}

func paste(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

const composer = "Type a prompt"

func TestPromptByEachWay(t *testing.T) {
	t.Parallel()
	odd := "- it's \"$HOME\" `x`\nü🚢 \\ end"
	r := start(t, "work=50ms", "--model", "small", "--", odd)
	r.shows(label)
	r.shows("\x1b]7501;state=working:app=practice")
	r.shows("2 lines, 7 words")
	r.shows("\x1b]0;◆ practice agent")
	r.write(paste("pasted\r\nwrite FILE"))
	r.shows("write FILE")
	if got := r.events("prompt"); len(got) != 1 {
		t.Fatalf("a paste was submitted without Enter: %+v", got)
	}
	r.write("\r")
	r.shows("I wrote PRACTICE.md.")
	r.write("typed\x7f!\r")
	r.write(paste("both"))
	r.write(" ways\r")
	want := []event{
		{Event: "prompt", Via: "argv", Text: odd}, {Event: "prompt", Via: "paste", Text: "pasted\r\nwrite FILE"},
		{Event: "prompt", Via: "typed", Text: "type!"}, {Event: "prompt", Via: "mixed", Text: "both ways"},
	}
	if got := r.received(4, "prompt"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("received %+v, want %+v", got, want)
	}
	if _, err := os.Stat(filepath.Join(r.command.Dir, "PRACTICE.md")); err != nil {
		t.Error(err)
	}
	r.write("/exit\r")
	if status := r.exits(); status.ExitCode() != 0 {
		t.Errorf("it ended with %v", status)
	}
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		return strings.HasSuffix(r.output(), "\x1b[?1049l\x1b[?25h"), "the terminal is not given back: " + tail(r.output())
	})
}

func TestWritesNothingUnasked(t *testing.T) {
	t.Parallel()
	r := start(t, "work=20ms", "--", "please write a FILE now, write FILE please")
	r.shows("1 line, 8 words")
	if _, err := os.Stat(filepath.Join(r.command.Dir, "PRACTICE.md")); err == nil {
		t.Error("a file was written that no prompt asked for")
	}
}

func TestDraftStaysUnsent(t *testing.T) {
	t.Parallel()
	r := start(t, "", "--prefill", "a draft")
	r.shows("a draft")
	r.write("!\x04\r") // Ctrl-D does not leave while there is text
	if got := r.received(1, "prompt")[0]; got.Text != "a draft!" {
		t.Errorf("received %+v", got)
	}
}

func TestInlineKeepsTheNormalScreen(t *testing.T) {
	t.Parallel()
	r := start(t, "work=20ms", "--inline", "--", "hello there")
	r.shows("1 line, 2 words")
	r.shows(composer)
	if strings.Contains(r.output(), "\x1b[?1049h") || !strings.Contains(r.output(), label) {
		t.Errorf("inline: %q", r.output())
	}
	r.write("\x03\x03")
	r.exits()
}

func TestInputCutAnywhere(t *testing.T) {
	text := "ü🚢 a\nb"
	whole := paste(text) + "x\x7f\r\x1b[A\x1bOB\x1b\r\x03"
	for size := 1; size <= len(whole); size++ {
		var keys keyReader
		var got []key
		for i := 0; i < len(whole); i += size {
			got = append(got, keys.feed([]byte(whole[i:min(i+size, len(whole))]))...)
		}
		want := []key{{keyPaste, text}, {keyText, "x"}, {kind: keyBackspace}, {kind: keyEnter}, {kind: keyOther}, {kind: keyOther}, {kind: keyNewline}, {kind: keyInterrupt}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in pieces of %d: %v, want %v", size, got, want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	r := start(t, "", "--", "wait")
	r.shows("practising")
	r.write("\x1b")
	r.shows("interrupted")
	r.write("\x03")
	r.shows("ctrl-c again to leave")
	r.write("\x03")
	if status := r.exits(); status.ExitCode() != 0 {
		t.Errorf("it ended with %v", status)
	}
}

func TestTerminalFaults(t *testing.T) {
	cases := map[string]func(t *testing.T){
		"mount-late with early paste mode loses what comes before": func(t *testing.T) {
			r := start(t, "mount-late=700ms,early-paste-mode")
			r.shows("\x1b[?2004h")
			r.write(paste("too early") + "\r")
			r.received(1, "lost")
			r.shows(composer)
			if got := r.events("prompt"); len(got) != 0 {
				t.Errorf("received %+v", got)
			}
		},
		"mount-late without it has no paste mode before": func(t *testing.T) {
			r := start(t, "mount-late=300ms")
			r.shows(composer)
			if before, _, _ := strings.Cut(r.output(), label); strings.Count(before, "\x1b[?2004h") != 1 {
				t.Errorf("%q", before)
			}
		},
		"dialog trust": func(t *testing.T) {
			r := start(t, "dialog=trust,work=20ms", "--", "first")
			r.shows("Do you trust the files in this folder?")
			r.shows("\x1b]7501;state=waiting:app=practice")
			r.write(paste("into the dialog"))
			r.received(1, "lost")
			if strings.Contains(r.output(), composer) || len(r.events("prompt")) != 0 {
				t.Error("the dialog is not in the way")
			}
			r.write("1")
			if got := r.received(1, "prompt")[0]; got.Via != "argv" || got.Text != "first" {
				t.Errorf("received %+v", got)
			}
		},
		"dialog trust refused": func(t *testing.T) {
			r := start(t, "dialog=trust")
			r.shows("2. No, leave")
			r.write("2")
			if status := r.exits(); status.ExitCode() != 1 {
				t.Errorf("it ended with %v", status)
			}
		},
		"dialog update": func(t *testing.T) {
			r := start(t, "dialog=update")
			r.shows("Update available")
			r.write("\r")
			r.shows(composer)
		},
		"dialog permission": func(t *testing.T) {
			r := start(t, "dialog=permission,work=20ms", "--", "one two")
			r.shows("Permission required")
			r.write("1")
			r.shows("1 line, 2 words")
			r.received(1, "permission")
		},
		"swallow-first-key": func(t *testing.T) {
			r := start(t, "swallow-first-key")
			r.shows(composer)
			r.write("xab\r")
			if got := r.received(1, "prompt")[0]; got.Text != "ab" {
				t.Errorf("received %+v", got)
			}
		},
		"absorb-enter": func(t *testing.T) {
			r := start(t, "absorb-enter")
			r.shows(composer)
			r.write(paste("stuck"))
			r.shows("stuck")
			r.write("\r")
			r.received(1, "lost")
			if got := r.events("prompt"); len(got) != 0 {
				t.Errorf("received %+v", got)
			}
			r.write("\r")
			r.received(1, "prompt")
		},
		"no-effect": func(t *testing.T) {
			r := start(t, "no-effect")
			r.shows(composer)
			r.write("quiet")
			testenv.Eventually(t, 5*time.Second, func() (bool, string) { // the whole frame
				return strings.Contains(r.output(), "quiet") && strings.HasSuffix(r.output(), "\x1b[?2026l"), tail(r.output())
			})
			before := r.output()
			r.write("\r")
			r.received(1, "prompt")
			if after := r.output(); after != before {
				t.Errorf("there is an effect: %q", after[len(before):])
			}
		},
		"late": func(t *testing.T) {
			r := start(t, "late=500ms,work=1ms", "--", "x")
			r.shows("practising")
			began := time.Now()
			r.shows("I have read your prompt")
			if took := time.Since(began); took < 300*time.Millisecond {
				t.Errorf("it answered after %s", took)
			}
		},
		"never": func(t *testing.T) {
			r := start(t, "never,work=1ms", "--", "x")
			r.shows("practising")
			r.write("\x03later\r")
			r.received(2, "prompt")
			r.shows("queued: later")
			if strings.Contains(r.output(), "I have read") {
				t.Error("it answered")
			}
		},
		"silent": func(t *testing.T) {
			r := start(t, "silent")
			r.received(1, "start")
			r.write("\x04")
			testenv.Eventually(t, 5*time.Second, func() (bool, string) {
				if len(r.events("exit")) == 0 { // typed before it listened: the terminal's own end of file
					_, _ = r.pty.WriteString("\x04")
				}
				return len(r.events("exit")) > 0, "it still runs"
			})
			if text := strings.ReplaceAll(r.output(), "^D\b\b", ""); text != "" {
				t.Errorf("it said %q", text)
			}
		},
		"double": func(t *testing.T) {
			r := start(t, "double,work=1ms", "--", "x")
			testenv.Eventually(t, 10*time.Second, func() (bool, string) {
				frames := strings.Split(r.output(), "\x1b[?2026h")
				return strings.Count(frames[len(frames)-1], "I have read") == 2, tail(r.output())
			})
		},
		"cut-lines": func(t *testing.T) {
			r := start(t, "cut-lines,work=1ms", "--", "ü🚢")
			r.shows("1 line, 1 word, 2 characters (6 bytes)")
		},
		"flood": func(t *testing.T) {
			r := start(t, "flood=256KB,work=1ms", "--", "x")
			r.shows("flood 003")
			r.shows("I have read")
			if n := len(r.output()); n < 256<<10 {
				t.Errorf("%d bytes are no flood", n)
			}
		},
		"huge-line": func(t *testing.T) {
			r := start(t, "huge-line=300KB,work=1ms", "--", "x")
			r.shows(strings.Repeat("=", 300<<10))
			r.shows("I have read")
		},
		"garbage": func(t *testing.T) {
			r := start(t, "garbage,work=1ms", "--", "x")
			r.shows("\xff\xfe")
			r.shows("I have read")
		},
		"half-line": func(t *testing.T) {
			r := start(t, "half-line,work=1ms", "--", "x")
			r.shows("half of a li")
			if !strings.HasSuffix(r.output(), "half of a li") {
				t.Errorf("more than half: %q", tail(r.output()))
			}
		},
		"exit": func(t *testing.T) {
			r := start(t, "exit=3", "--", "x")
			if status := r.exits(); status.ExitCode() != 3 {
				t.Errorf("it ended with %v", status)
			}
		},
		"exit-after": func(t *testing.T) {
			r := start(t, "exit=4,exit-after=0s")
			if status := r.exits(); status.ExitCode() != 4 {
				t.Errorf("it ended with %v", status)
			}
		},
		"crash": func(t *testing.T) {
			r := start(t, "crash=SIGSEGV", "--", "x")
			status, ok := r.exits().Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || status.Signal() != syscall.SIGSEGV {
				t.Errorf("it ended with %v", r.command.ProcessState)
			}
		},
		"SIGTERM": func(t *testing.T) {
			r := start(t, "")
			r.shows(composer)
			_ = r.command.Process.Signal(syscall.SIGTERM)
			if status := r.exits(); status.ExitCode() != 143 {
				t.Errorf("it ended with %v", status)
			}
		},
		"ignore-sigterm": func(t *testing.T) {
			r := start(t, "ignore-sigterm,work=1ms")
			r.shows(composer)
			_ = r.command.Process.Signal(syscall.SIGTERM)
			_ = r.command.Process.Signal(syscall.SIGHUP)
			r.received(2, "signal")
			r.write("alive\r")
			r.shows("I have read")
		},
		"child": func(t *testing.T) {
			r := start(t, "child")
			r.shows(composer)
			child := r.received(1, "child")[0].Pid
			r.write("\x04")
			r.exits()
			_ = syscall.Kill(child, syscall.SIGHUP)
			if err := syscall.Kill(child, 0); err != nil || child == 0 {
				t.Errorf("the child %d is gone: %v", child, err)
			}
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func TestUnknownFaultIsRefused(t *testing.T) {
	for _, list := range []string{"colour=red", "late=soon", "flood=9TB", "crash=SIGSTOP"} {
		var stderr bytes.Buffer
		if status := Main([]string{"--faults", list}, strings.NewReader(""), &stderr, &stderr, nil); status != 2 || stderr.Len() == 0 {
			t.Errorf("%s: status %d, %q", list, status, stderr.String())
		}
	}
}
