package keeper_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/testenv"
)

// TestMain makes the test binary the programs that the tests start: the keeper itself, a
// host to be killed, and what runs in panes.
func TestMain(m *testing.M) {
	switch role := os.Getenv("DAVIT_TEST_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "keeper":
		os.Exit(keeperMain())
	default:
		os.Exit(roles[role]())
	}
}

func keeperMain() int {
	var cfg keeper.Config
	if err := json.Unmarshal([]byte(os.Getenv("DAVIT_TEST_CONFIG")), &cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	if name := filepath.Base(os.Args[0]); strings.HasPrefix(name, "davit-") {
		cfg.Build = name // another build, as TestUpgrade makes them
	}
	for _, arg := range os.Args[1:] {
		if text, ok := strings.CutPrefix(arg, "--check-table="); ok {
			return checkTable(cfg, text)
		}
		if text, ok := strings.CutPrefix(arg, "--table="); ok {
			cfg.Table, _ = strconv.Atoi(text)
			if strings.HasPrefix(cfg.Build, "davit-refuses") {
				cfg.Home = "/another" // it is refused now, though the check had passed
			}
		}
	}
	if err := keeper.Run(context.Background(), cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func checkTable(cfg keeper.Config, text string) int {
	cfg.Table, _ = strconv.Atoi(text)
	can, err := keeper.CheckTable(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(can); err != nil {
		return 1
	}
	return 0
}

// instance is one keeper process of a test.
type instance struct {
	t    testing.TB
	cfg  keeper.Config
	rec  keeper.Record
	next atomic.Int64
}

// startKeeper starts a keeper that the test's end shuts down, and checks that it went.
func startKeeper(t testing.TB, change func(*keeper.Config)) *instance {
	t.Helper()
	in := &instance{t: t}
	dir, err := os.MkdirTemp("", "dk") // short: t.TempDir passes the socket's 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	in.cfg = keeper.Config{
		StateDir: filepath.Join(dir, "state"), RuntimeDir: filepath.Join(dir, "run"),
		TempDir: filepath.Join(dir, "tmp"), Home: dir, Build: "test",
	}
	if err := os.Mkdir(in.cfg.TempDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&in.cfg)
	}
	in.start()
	t.Cleanup(in.end)
	return in
}

func (in *instance) startConfig() client.StartConfig {
	raw, err := json.Marshal(in.cfg)
	if err != nil {
		in.t.Fatal(err)
	}
	return client.StartConfig{
		Exe: self(in.t),
		// Under -race a program sleeps a second at its end unless told otherwise.
		Env:      append(os.Environ(), "DAVIT_TEST_ROLE=keeper", "DAVIT_TEST_CONFIG="+string(raw), "GORACE=atexit_sleep_ms=0"),
		StateDir: in.cfg.StateDir, RuntimeDir: in.cfg.RuntimeDir,
	}
}

func (in *instance) start() {
	in.t.Helper()
	rec, err := client.Start(ctx(in.t), in.startConfig())
	if err != nil {
		in.t.Fatalf("start: %v\n%s", err, in.log())
	}
	in.rec = rec
}

func (in *instance) log() string {
	b, _ := os.ReadFile(filepath.Join(in.cfg.StateDir, "keeper.log"))
	return string(b)
}

func (in *instance) end() {
	if in.t.Failed() {
		in.t.Logf("keeper.log:\n%s", in.log())
	}
	if keeper.Alive(in.rec) {
		if c, err := client.Dial(context.Background(), client.Config{Socket: in.rec.Socket}); err == nil {
			_ = c.Shutdown(context.Background(), true)
			c.Disconnect()
		}
	}
	testenv.Eventually(in.t, 15*time.Second, func() (bool, string) {
		return !keeper.Alive(in.rec), "the keeper does not end:\n" + in.log()
	})
	if strings.Contains(in.log(), "DATA RACE") {
		in.t.Errorf("the keeper had a race:\n%s", in.log())
	}
}

func (in *instance) dial() *client.Client {
	in.t.Helper()
	c, err := client.Dial(ctx(in.t), client.Config{Socket: in.rec.Socket, Build: "test", Home: in.cfg.Home})
	if err != nil {
		in.t.Fatalf("dial: %v\n%s", err, in.log())
	}
	in.t.Cleanup(c.Disconnect)
	return c
}

// id mints an id.
func (in *instance) id() string { return "id-" + strconv.FormatInt(in.next.Add(1), 10) }

// shell is a spawn of a shell command in a terminal.
func (in *instance) shell(pane, script string) keeper.SpawnRequest {
	return keeper.SpawnRequest{
		ID: in.id(), Pane: pane, Kind: keeper.PaneAgent, Path: "/bin/sh", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=" + os.Getenv("PATH"), "DAVIT_PANE=" + in.cfg.Home + pane, "TERM=dumb"},
		Dir: "/", Cols: 80, Rows: 24,
	}
}

// role is a spawn of this test binary in one of its roles.
func (in *instance) role(pane, role string, env ...string) keeper.SpawnRequest {
	req := in.shell(pane, "")
	req.Path = self(in.t)
	req.Argv = []string{role}
	req.Env = append(append(req.Env, "DAVIT_TEST_ROLE="+role, "GORACE=atexit_sleep_ms=0"), env...)
	return req
}

func (in *instance) spawn(c *client.Client, req keeper.SpawnRequest) keeper.PaneInfo {
	in.t.Helper()
	info, err := c.Spawn(ctx(in.t), req)
	if err != nil {
		in.t.Fatalf("spawn: %v", err)
	}
	return info
}

func (in *instance) info(c *client.Client, pane string) keeper.PaneInfo {
	in.t.Helper()
	list, err := c.List(ctx(in.t))
	if err != nil {
		in.t.Fatal(err)
	}
	for _, p := range list {
		if p.Pane == pane {
			return p
		}
	}
	in.t.Fatalf("no pane %s in %v", pane, list)
	return keeper.PaneInfo{}
}

func (in *instance) send(c *client.Client, pane, text string) {
	in.t.Helper()
	if err := c.Input(ctx(in.t), keeper.Input{ID: in.id(), Pane: pane, Data: []byte(text)}); err != nil {
		in.t.Fatalf("input: %v", err)
	}
}

// follower collects a pane's frames in a goroutine.
type follower struct {
	s    *client.Stream
	done chan struct{}

	mu     sync.Mutex
	frames []keeper.Frame // marks; bytes are in text
	text   bytes.Buffer
	next   uint64
	err    error
	faults []string
}

func (in *instance) follow(c *client.Client, pane string, from uint64, which string) *follower {
	in.t.Helper()
	s, err := c.Follow(context.Background(), pane, from, which)
	if err != nil {
		in.t.Fatalf("follow: %v", err)
	}
	f := &follower{s: s, next: from, done: make(chan struct{})}
	go f.run()
	in.t.Cleanup(func() {
		s.Close()
		<-f.done
		for _, fault := range f.faults {
			in.t.Error(fault)
		}
	})
	return f
}

func (f *follower) run() {
	defer close(f.done)
	for {
		fr, err := f.s.Next()
		f.mu.Lock()
		if err != nil {
			f.err = err
			f.mu.Unlock()
			return
		}
		if fr.From != f.next {
			f.faults = append(f.faults, fmt.Sprintf("a frame [%d, %d) of kind %d at offset %d", fr.From, fr.To, fr.Kind, f.next))
		}
		f.next = fr.To
		if fr.Kind == keeper.Bytes {
			f.text.Write(fr.Data)
		} else {
			f.frames = append(f.frames, fr)
		}
		f.mu.Unlock()
		f.s.Ack(fr.To)
	}
}

func (f *follower) output() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

func (f *follower) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *follower) marks(kind keeper.FrameKind) []keeper.Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	var marks []keeper.Frame
	for _, fr := range f.frames {
		if fr.Kind == kind {
			marks = append(marks, fr)
		}
	}
	return marks
}

// waitFor waits until the output holds text.
func (f *follower) waitFor(t testing.TB, text string) {
	t.Helper()
	testenv.Eventually(t, 15*time.Second, func() (bool, string) {
		out := f.output()
		if len(out) > 2000 {
			out = out[len(out)-2000:]
		}
		return strings.Contains(f.output(), text), fmt.Sprintf("no %q in %q (%v)", text, out, f.failure())
	})
}

// waitExit waits for the exit mark.
func (f *follower) waitExit(t testing.TB) keeper.ExitStatus {
	t.Helper()
	testenv.Eventually(t, 15*time.Second, func() (bool, string) { return len(f.marks(keeper.Exit)) > 0, "no exit" })
	return *f.marks(keeper.Exit)[0].Exit
}

// waitEnd waits for the end of the stream.
func (f *follower) waitEnd(t testing.TB) {
	t.Helper()
	select {
	case <-f.done:
		if !errors.Is(f.err, io.EOF) {
			t.Fatalf("the stream ended with %v", f.err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("the stream does not end")
	}
}

func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return c
}

// gone says whether a process has ended; a zombie has.
func gone(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	rest := string(b[bytes.LastIndexByte(b, ')')+1:])
	return strings.HasPrefix(rest, " Z") || strings.HasPrefix(rest, " X")
}

func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// reader is a connection that only looks.
func (in *instance) reader() *client.Client {
	in.t.Helper()
	c, err := client.Dial(ctx(in.t), client.Config{Socket: in.rec.Socket, Reader: true})
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(c.Disconnect)
	return c
}
