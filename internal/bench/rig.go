package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"

	"davit"
	"davit/internal/client"
	"davit/internal/home"
	"davit/internal/wire"
)

const (
	cols, rows = 200, 50
	patience   = 3 * time.Minute // for anything to come
)

var errLate = errors.New("it did not come in time")

// until polls a condition.
func (b *bench) until(what string, holds func() bool) error {
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %w", what, errLate)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
	return nil
}

// terminal is a program in a terminal of the harness, as a user's terminal emulator has
// it, but that draws nothing.
type terminal struct {
	cmd  *exec.Cmd
	tty  *os.File
	read atomic.Int64
	done chan struct{} // of drain

	mu   sync.Mutex // guards tail
	tail []byte     // the newest output, for seen
}

func (b *bench) terminal(env []string, argv ...string) (*terminal, error) {
	cmd := exec.CommandContext(b.ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = append(env, "TERM=xterm-256color", "LANG=C.UTF-8"), b.dir
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rows})
	if err != nil {
		return nil, err
	}
	return &terminal{cmd: cmd, tty: tty, done: make(chan struct{})}, nil
}

// drain reads all output in the background and throws it away.
func (t *terminal) drain() {
	go func() {
		defer close(t.done)
		buf := make([]byte, 128<<10)
		for {
			n, err := t.tty.Read(buf)
			t.read.Add(int64(n))
			t.mu.Lock()
			t.tail = append(t.tail[:0], buf[max(0, n-4096):n]...)
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

func (t *terminal) seen(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.tail, []byte(text))
}

// end ends the program and the reading.
func (t *terminal) end() {
	_ = t.cmd.Process.Kill()
	_ = t.cmd.Wait()
	_ = t.tty.Close()
}

func environ(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SHELL=/bin/sh", "TMPDIR=" + os.TempDir()}, more...)
}

// instance is a davit home of the harness.
type instance struct {
	b      *bench
	home   home.Home
	env    []string
	client *client.Client
	info   wire.HostInfo
}

func (b *bench) instance(name string, more ...string) (*instance, error) {
	root := filepath.Join(b.dir, name)
	in := &instance{b: b, env: environ(append(more, "DAVIT_HOME="+root)...)}
	h, err := home.Find(func(key string) string {
		if key == "DAVIT_HOME" {
			return root
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	in.home = h
	if err := h.Make(); err != nil {
		return nil, err
	}
	socket, err := h.Socket()
	if err != nil {
		return nil, err
	}
	in.client = client.New(client.Config{Socket: socket, Caller: wire.Caller{Dir: b.dir}})
	return in, in.up()
}

func (in *instance) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(in.b.ctx, in.b.davit, args...)
	cmd.Env, cmd.Dir = in.env, in.b.dir
	return cmd
}

func (in *instance) up() error {
	if out, err := in.command("up", "--detach", "--listen", "127.0.0.1:0").CombinedOutput(); err != nil {
		return fmt.Errorf("davit up: %w: %s", err, out)
	}
	return in.client.Call(in.b.ctx, "host.info", wire.None{}, &in.info)
}

// down ends every program of the instance; it works after an interrupt too.
func (in *instance) down() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, in.b.davit, "down", "--all")
	cmd.Env, cmd.Dir = in.env, in.b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		in.b.note("davit down --all: %v: %s", err, out)
	}
}

// open opens a tab that runs a command.
func (in *instance) open(argv ...string) (davit.PaneID, error) {
	var opened wire.Opened
	if err := in.client.Call(in.b.ctx, "tab.open", wire.TabOpen{Directory: in.b.dir, Argv: argv, Cols: cols, Rows: rows}, &opened); err != nil {
		return "", err
	}
	if in.info.KeeperPid == 0 {
		if err := in.client.Call(in.b.ctx, "host.info", wire.None{}, &in.info); err != nil {
			return "", err
		}
	}
	return opened.Panes[0], nil
}

// shows waits until a pane's screen has a text.
func (in *instance) shows(pane davit.PaneID, text string) error {
	return in.client.Call(in.b.ctx, "pane.wait", wire.PaneWait{Pane: pane, For: "text", Text: text, Timeout: 300}, nil)
}

// cpu is what host and keeper have used.
func (in *instance) cpu() time.Duration { return cpuOf(in.info.Pid) + cpuOf(in.info.KeeperPid) }

// tmux is a server of the harness.
type tmux struct {
	b    *bench
	name string
	pid  int
}

// hasTmux says whether the peer is there.
func hasTmux() bool { _, err := exec.LookPath("tmux"); return err == nil }

func (b *bench) tmux() *tmux { return &tmux{b: b, name: "davit-bench-" + strconv.Itoa(os.Getpid())} }

func (m *tmux) argv(args ...string) []string {
	return append([]string{"tmux", "-L", m.name, "-f", "/dev/null"}, args...)
}

func (m *tmux) command(args ...string) *exec.Cmd {
	argv := m.argv(args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = environ("TERM=xterm-256color", "LANG=C.UTF-8"), m.b.dir
	return cmd
}

// start runs a command in a new session that is shown in a terminal.
func (m *tmux) start(argv ...string) (*terminal, error) {
	t, err := m.b.terminal(environ(), m.argv(append([]string{"new-session", "-s", "bench", "--"}, argv...)...)...)
	if err != nil {
		return nil, err
	}
	return t, m.b.until("tmux starts", func() bool {
		out, err := m.command("display-message", "-p", "#{pid}").Output()
		if err == nil {
			m.pid, err = strconv.Atoi(strings.TrimSpace(string(out)))
		}
		return err == nil && m.command("set", "-g", "status", "off").Run() == nil
	})
}

func (m *tmux) end() { _ = m.command("kill-server").Run() }

// cpuOf is the processor time that a process has used, in ticks of 10 ms.
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memoryOf is what a process holds of the machine's memory, in bytes.
func memoryOf(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(value)[0])
			return float64(kb) * 1024
		}
	}
	return 0
}

// kill ends the host as a crash would.
func (in *instance) kill() error {
	if err := syscall.Kill(in.info.Pid, syscall.SIGKILL); err != nil {
		return err
	}
	return in.b.until("the host ends", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", in.info.Pid))
		return err != nil || bytes.Contains(stat, []byte(") Z ")) // its parent may be slow to take its status
	})
}
