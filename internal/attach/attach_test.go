package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/pane"
	"davit/internal/testenv"
	"davit/screen"
)

// TestMain makes the test binary the keeper that the tests start.
func TestMain(m *testing.M) {
	if raw := os.Getenv("DAVIT_TEST_KEEPER"); raw != "" {
		var cfg keeper.Config
		err := json.Unmarshal([]byte(raw), &cfg)
		if err == nil {
			err = keeper.Run(context.Background(), cfg)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// host serves one pane as a davit host does; it can be restarted.
type host struct {
	t      testing.TB
	keeper *client.Client
	dir    string

	mu     sync.Mutex
	pane   *pane.Pane
	cancel context.CancelFunc
	lose   int      // so many answers to inputs get lost
	busy   int      // so many inputs are refused as busy
	ids    []string // of inputs that arrived
}

// newHost starts a keeper with a program in a pane, and serves it.
func newHost(t testing.TB, argv ...string) *host {
	t.Helper()
	dir, err := os.MkdirTemp("", "da") // short: a socket's path has 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cfg := keeper.Config{StateDir: filepath.Join(dir, "state"), RuntimeDir: filepath.Join(dir, "run"), Home: dir, Build: "test"}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	record, err := client.Start(ctx, client.StartConfig{
		Exe: exe, Env: append(os.Environ(), "DAVIT_TEST_KEEPER="+string(raw)), StateDir: cfg.StateDir, RuntimeDir: cfg.RuntimeDir,
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(ctx, client.Config{Socket: record.Socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := c.Shutdown(ctx, true); err != nil {
			t.Errorf("shut the keeper down: %v", err)
		}
		c.Disconnect()
		testenv.Eventually(t, 20*time.Second, func() (bool, string) { return !keeper.Alive(record), "the keeper lives" })
	})
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Spawn(ctx, keeper.SpawnRequest{
		ID: "spawn-1", Pane: "p_1", Kind: keeper.PaneShell, Path: path, Argv: argv, Dir: t.TempDir(), Cols: 100, Rows: 30,
		Env: []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=ready> "},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, keeper: c, dir: t.TempDir()}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *host) start() {
	p, err := pane.New(pane.Config{
		Pane: davit.Pane{ID: "p_1", Status: davit.PaneRunning, Cols: 100, Rows: 30}, Keeper: pane.FromClient(h.keeper), Dir: h.dir,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go p.Run(ctx)
	h.mu.Lock()
	h.pane, h.cancel = p, cancel
	h.mu.Unlock()
}

func (h *host) stop() {
	h.mu.Lock()
	p := h.pane
	h.cancel()
	h.mu.Unlock()
	<-p.Done()
}

func (h *host) serving() *pane.Pane {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pane
}

func (h *host) dial(_ context.Context, from *uint64, cols, rows int) (Conn, error) {
	p := h.serving()
	select {
	case <-p.Done():
		return nil, errors.New("connection refused")
	default:
	}
	if cols > 0 {
		p.Claim("attach", cols, rows)
	}
	return &conn{host: h, pane: p, sub: p.Subscribe(pane.SubscribeOptions{From: from})}, nil
}

// conn is what the CLI's WebSocket carries, without it.
type conn struct {
	host *host
	pane *pane.Pane
	sub  *pane.Subscription
}

func (c *conn) Next(ctx context.Context) (Frame, error) {
	f, err := c.sub.Next(ctx)
	return Frame{Snapshot: f.Snapshot, From: f.From, To: f.To, Cols: f.Cols, Rows: f.Rows, Data: f.Data, Exit: f.Exit}, err
}

func (c *conn) Input(ctx context.Context, id string, data []byte) error {
	c.host.mu.Lock()
	c.host.ids = append(c.host.ids, id)
	lose, busy := c.host.lose > 0, c.host.busy > 0
	if busy {
		c.host.busy--
	} else if lose {
		c.host.lose--
	}
	c.host.mu.Unlock()
	if busy {
		return davit.Errorf(davit.CodePaneBusy, "the queue is full")
	}
	err := c.pane.Input(ctx, "attach", id, data)
	if lose {
		return errors.New("connection reset")
	}
	return err
}

func (c *conn) Resize(_ context.Context, cols, rows int) error {
	c.pane.Claim("attach", cols, rows)
	return nil
}
func (c *conn) Ack(_ context.Context, offset uint64) error { c.sub.Ack(offset); return nil }
func (c *conn) Close() error                               { return c.sub.Close() }

// terminal is the user's: a real PTY, with an emulator at its other end.
type terminal struct {
	t      testing.TB
	master *os.File
	tty    *os.File
	before *term.State

	mu      sync.Mutex
	screen  *screen.Screen
	replied string
	done    chan struct{}
}

func newTerminal(t testing.TB, cols, rows int) *terminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	// A master that blocks could not be closed while it is read.
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	master.Close()
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "master")
	u := &terminal{t: t, master: master, tty: tty, screen: screen.New(cols, rows, screen.Options{}), done: make(chan struct{})}
	u.size(cols, rows)
	if u.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	u.mu.Lock()
	u.screen.Write([]byte("user@box:~$ davit attach"))
	u.mu.Unlock()
	go func() {
		defer close(u.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := master.Read(buf)
			u.mu.Lock()
			for _, reply := range u.screen.Write(buf[:n]).Replies {
				u.replied += string(reply.Data)
			}
			u.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { tty.Close(); master.Close(); <-u.done })
	return u
}

func (u *terminal) size(cols, rows int) {
	u.t.Helper()
	if err := pty.Setsize(u.tty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		u.t.Fatal(err)
	}
}

func (u *terminal) types(keys string) {
	u.t.Helper()
	if _, err := u.master.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

func (u *terminal) text() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.screen.Text(), "\n")
}

func (u *terminal) shows(what string) {
	u.t.Helper()
	testenv.Eventually(u.t, 15*time.Second, func() (bool, string) {
		text := u.text()
		return strings.Contains(text, what), fmt.Sprintf("no %q in\n%s", what, text)
	})
}

// isRestored checks what a shell finds when attach is over.
func (u *terminal) isRestored() {
	u.t.Helper()
	fresh := screen.New(10, 10, screen.Options{}).Modes()
	testenv.Eventually(u.t, 5*time.Second, func() (bool, string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		modes := u.screen.Modes()
		return modes == fresh && !u.screen.AltScreen(), fmt.Sprintf("alternate screen %v, modes %+v, want %+v", u.screen.AltScreen(), modes, fresh)
	})
	after, err := term.GetState(int(u.tty.Fd()))
	if err != nil {
		u.t.Fatal(err)
	}
	if fmt.Sprint(*after) != fmt.Sprint(*u.before) {
		u.t.Errorf("the terminal's settings are %+v, were %+v", *after, *u.before)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.replied != "" {
		u.t.Errorf("the terminal was asked, and replied %q", u.replied)
	}
}

type result struct {
	Outcome
	err error
}

func attach(t testing.TB, h *host, u *terminal) <-chan result {
	ended := make(chan result, 1)
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		out, err := Run(ctx, Config{Dial: h.dial, In: u.tty, Out: u.tty})
		ended <- result{out, err}
	}()
	t.Cleanup(func() { cancel(); <-gone })
	return ended
}

func wait(t testing.TB, ended <-chan result) Outcome {
	t.Helper()
	select {
	case r := <-ended:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.Outcome
	case <-time.After(15 * time.Second):
		t.Fatal("attach goes on")
		return Outcome{}
	}
}

// A shell in the pane, its own size, its exit status.
func TestAttach(t *testing.T) {
	h := newHost(t, "sh", "-i")
	u := newTerminal(t, 70, 20)
	ended := attach(t, h, u)
	u.shows("ready>")
	u.types("stty size; echo $((6*7))\r")
	u.shows("20 70")
	u.shows("42")
	if strings.Contains(u.text(), "davit attach") {
		t.Errorf("the screen was not cleared:\n%s", u.text())
	}
	u.mu.Lock()
	back := strings.Join(u.screen.ScrollbackText(), "\n")
	u.mu.Unlock()
	if !strings.Contains(back, "davit attach") {
		t.Errorf("what was on the screen is lost; the scrollback has\n%s", back)
	}
	u.size(90, 25)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		v := h.serving().View()
		return v.Cols == 90 && v.Rows == 25, fmt.Sprintf("%dx%d", v.Cols, v.Rows)
	})
	u.types("exit 7\r")
	if out := wait(t, ended); out.Detached || out.Exit == nil || out.Exit.Code != 7 {
		t.Errorf("%+v", out)
	}
	u.isRestored()
}

// Whatever the program has switched on, the shell gets its terminal back (A3.4).
func TestDetachRestoresTheTerminal(t *testing.T) {
	h := newHost(t, "sh", "-c", `printf '\033[?1049h\033[?1003;1006;2004;1004;1;2027h\033[?25l\033[5;9r\033[>1u\033[4 q\033[?7l\033=menu'; printf '\033[c\033[6n\033]11;?\007'; read x; echo "got $x"; read y`)
	u := newTerminal(t, 80, 24)
	ended := attach(t, h, u)
	u.shows("menu")
	u.types("word\r\x1c") // what was typed before the key arrives
	if out := wait(t, ended); !out.Detached || out.Exit != nil {
		t.Errorf("%+v", out)
	}
	u.isRestored()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := h.serving().Wait(ctx, pane.Condition{For: "text", Text: "got word"}); err != nil {
		t.Error(err)
	}
	again := attach(t, h, u) // the program went on without us
	u.shows("got word")
	u.types("\x1b[92;5u") // the key as a kitty keyboard sends it
	if out := wait(t, again); !out.Detached {
		t.Errorf("%+v", out)
	}
	u.isRestored()
}

// The host restarts, and an answer is lost: nothing is shown or typed twice.
func TestTheHostRestarts(t *testing.T) {
	h := newHost(t, "sh", "-c", `stty -echo; printf 'ready\n'; while read x; do echo "<$x>"; done`)
	u := newTerminal(t, 80, 24)
	ended := attach(t, h, u)
	u.shows("ready")
	u.types("one\r")
	u.shows("<one>")
	h.mu.Lock()
	h.lose = 1
	h.mu.Unlock()
	u.types("two\r")
	u.shows("<two>")
	h.stop()
	u.types("three\r")
	h.start()
	u.shows("<three>")
	h.mu.Lock()
	h.busy = 2
	h.mu.Unlock()
	u.types("four\r")
	u.shows("<four>")
	text := u.text()
	for _, word := range []string{"<one>", "<two>", "<three>", "<four>", "ready"} {
		if n := strings.Count(text, word); n != 1 {
			t.Errorf("%q is there %d times:\n%s", word, n, text)
		}
	}
	u.types("\x1c")
	wait(t, ended)
	u.isRestored()
}

// The terminal's own window closes: attach ends, the program does not.
func TestTheTerminalGoesAway(t *testing.T) {
	h := newHost(t, "sh", "-i")
	u := newTerminal(t, 80, 24)
	ended := attach(t, h, u)
	u.shows("ready>")
	u.master.Close()
	select {
	case r := <-ended:
		if !r.Detached {
			t.Errorf("%+v", r)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("attach goes on")
	}
	if v := h.serving().View(); v.Exit != nil {
		t.Errorf("the program ended: %+v", v.Exit)
	}
}
