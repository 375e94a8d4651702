package keeper_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/testenv"
)

// Several that start a keeper at once get one and the same, and a second one that is
// started by hand does not live (spec terminal P1.6).
func TestOneKeeper(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			rec, err := client.Start(context.Background(), in.startConfig())
			if err != nil || rec.Pid != in.rec.Pid {
				t.Errorf("%+v, %v; want pid %d", rec, err, in.rec.Pid)
			}
		})
	}
	wg.Wait()
	rec, alive, err := client.Find(in.cfg.StateDir)
	if err != nil || !alive || rec != in.rec {
		t.Fatalf("found %+v, %v, %v", rec, alive, err)
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", rec.Pid))
	if err != nil || cwd != "/" {
		t.Errorf("the keeper's directory is %s (%v)", cwd, err)
	}
	if st, err := os.Stat(rec.Socket); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", st, err)
	}
	if sid, err := unix.Getsid(rec.Pid); err != nil || sid != rec.Pid {
		t.Errorf("the keeper's session is %d (%v)", sid, err)
	}
}

// Five that race for the first start end with one keeper.
func TestStartRace(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	in.end()
	pids := make(chan int, 5)
	for range 5 {
		go func() {
			rec, err := client.Start(context.Background(), in.startConfig())
			if err != nil {
				t.Error(err)
			}
			pids <- rec.Pid
		}()
	}
	first := <-pids
	for range 4 {
		if pid := <-pids; pid != first {
			t.Errorf("keepers %d and %d", first, pid)
		}
	}
	var err error
	if in.rec, _, err = client.Find(in.cfg.StateDir); err != nil || in.rec.Pid != first {
		t.Errorf("record %+v, %v", in.rec, err)
	}
}

// A socket that vanished comes back by itself after a while; connections live on (P1.6).
func TestSocketComesBack(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, func(c *keeper.Config) { c.Look = 200 * time.Millisecond })
	c := in.dial()
	if err := os.Remove(in.rec.Socket); err != nil {
		t.Fatal(err)
	}
	in.waitForSocket()
	if _, err := c.List(ctx(t)); err != nil {
		t.Fatalf("the old connection: %v", err)
	}
	in.reader()
}

// On SIGUSR1 it comes back at once; Start does that, and starts no second keeper (spec
// terminal P1.6).
func TestSocketComesBackOnSignal(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, func(c *keeper.Config) { c.Look = time.Hour })
	for range 2 {
		if err := os.Remove(in.rec.Socket); err != nil {
			t.Fatal(err)
		}
		kill(t, in.rec.Pid, syscall.SIGUSR1)
		in.waitForSocket()
	}
	if err := os.RemoveAll(filepath.Dir(in.rec.Socket)); err != nil {
		t.Fatal(err)
	}
	rec, err := client.Start(ctx(t), in.startConfig())
	if err != nil || rec.Pid != in.rec.Pid {
		t.Fatalf("%+v, %v", rec, err)
	}
}

func (in *instance) waitForSocket() {
	in.t.Helper()
	testenv.Eventually(in.t, 10*time.Second, func() (bool, string) {
		_, err := os.Stat(in.rec.Socket)
		return err == nil, fmt.Sprint(err)
	})
}

// A path over 100 bytes goes below the temporary directory, in a directory of this user
// alone; one that somebody else could write to is refused (spec terminal P1.6).
func TestLongPath(t *testing.T) {
	t.Parallel()
	long := ""
	in := startKeeper(t, func(c *keeper.Config) {
		long = filepath.Join(c.Home, strings.Repeat("x", 100))
		c.RuntimeDir = long
	})
	if !strings.HasPrefix(in.rec.Socket, in.cfg.TempDir) || len(in.rec.Socket) > 100 {
		t.Fatalf("socket %s", in.rec.Socket)
	}
	if _, err := os.Stat(long); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the long directory was made: %v", err)
	}
	if st, err := os.Stat(filepath.Dir(in.rec.Socket)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st, err)
	}
	in.dial()
	if err := os.Chmod(filepath.Dir(in.rec.Socket), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := keeper.SocketPath(long, in.cfg.TempDir, in.cfg.Home)
	wantCode(t, err, davit.CodeKeeperForeign)
}

// A dead socket is replaced; one that answers, and a file, are left alone (spec terminal P1.6).
func TestSocketInTheWay(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	in.end()
	in.start() // over the dead socket of the first
	in.end()
	foreign, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(in.cfg.RuntimeDir, "x"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	foreign.SetUnlinkOnClose(false)
	if err := os.Rename(filepath.Join(in.cfg.RuntimeDir, "x"), in.rec.Socket); err != nil {
		t.Fatal(err)
	}
	go func() { // it accepts and talks nonsense
		for {
			c, err := foreign.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		}
	}()
	_, err = client.Dial(ctx(t), client.Config{Socket: in.rec.Socket})
	wantCode(t, err, davit.CodeKeeperForeign)
	_, err = client.Start(ctx(t), in.startConfig())
	wantCode(t, err, davit.CodeKeeperForeign)
	foreign.Close()
	if err := os.Remove(in.rec.Socket); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in.rec.Socket, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = client.Start(ctx(t), in.startConfig())
	wantCode(t, err, davit.CodeKeeperStart)
	if b, _ := os.ReadFile(in.rec.Socket); string(b) != "precious" {
		t.Error("a file in the socket's place was lost")
	}
	if !strings.Contains(in.log(), "is taken") {
		t.Errorf("keeper.log does not say why:\n%s", in.log())
	}
}

// The newest host acts; the older is told and refused; readers only look.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	old := in.dial()
	in.spawn(old, in.shell("p", "stty -echo; echo ready; cat"))
	s, err := old.Follow(ctx(t), "p", 0, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	young := in.dial()
	if young.Hello().Fence != old.Hello().Fence+1 {
		t.Errorf("fences %d and %d", old.Hello().Fence, young.Hello().Fence)
	}
	select {
	case <-old.Done():
		wantCode(t, old.Err(), davit.CodeKeeperSuperseded)
	case <-time.After(5 * time.Second):
		t.Fatal("the older host was not told")
	}
	wantCode(t, old.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", Data: []byte("old")}), davit.CodeKeeperSuperseded)
	in.send(young, "p", "young\n")
	in.follow(young, "p", 0, "").waitFor(t, "young")
	r := in.reader()
	if list, err := r.List(ctx(t)); err != nil || len(list) != 1 {
		t.Errorf("a reader lists %v, %v", list, err)
	}
	in.follow(r, "p", 0, "").waitFor(t, "young")
	wantCode(t, r.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", Data: []byte("x")}), davit.CodeKeeperReadOnly)
	wantCode(t, r.Shutdown(ctx(t), true), davit.CodeKeeperReadOnly)
	wantCode(t, young.Shutdown(ctx(t), false), davit.CodeKeeperRunning)
	wantCode(t, young.Upgrade(ctx(t), "/nonexistent"), davit.CodeInvalid)
	_, err = client.Dial(ctx(t), client.Config{Socket: in.rec.Socket, Home: "/elsewhere"})
	wantCode(t, err, davit.CodeKeeperWrongHome)
	if young.Err() != nil {
		t.Errorf("the refused host had an effect: %v", young.Err())
	}
}

// A superseded connection that goes on sending is refused by its fence.
func TestFence(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	raw := dialRaw(t, in.rec.Socket)
	raw.say(`{"n":1,"verb":"hello","body":{"min":1,"max":1,"kind":"host"}}`, "")
	raw.hear(t)
	young := in.dial()
	in.spawn(young, in.shell("p", "stty -echo; echo ready; cat"))
	if m, _ := raw.hear(t); m.Event != "superseded" {
		t.Fatalf("heard %+v", m)
	}
	raw.say(`{"n":2,"verb":"input","body":{"id":"x","pane":"p"}}`, "old\n")
	if m, _ := raw.hear(t); m.Re != 2 || m.Error == nil || m.Error.Code != "keeper_superseded" {
		t.Fatalf("heard %+v", m)
	}
	raw.say(`{"n":3,"verb":"list","body":{}}`, "")
	if m, _ := raw.hear(t); m.Re != 3 || m.Error != nil {
		t.Fatalf("heard %+v", m)
	}
}

// Garbage ends the connection that it came on, with one clear error, and nothing else (spec
// terminal P1.7).
func TestGarbage(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	hello := frame(`{"n":1,"verb":"hello","body":{"min":1,"max":1,"kind":"reader"}}`, "")
	long := binary.BigEndian.AppendUint32(nil, 1<<31)
	for name, bytes := range map[string]string{
		"http":          "GET / HTTP/1.1\r\n\r\n",
		"length 0":      "\x00\x00\x00\x00",
		"length":        string(long),
		"type":          "\x00\x00\x00\x02\x09x",
		"no json":       frame("{", ""),
		"header":        "\x00\x00\x00\x06\x01\xff\xff\xff\xff{",
		"not hello":     frame(`{"n":1,"verb":"list"}`, ""),
		"kind":          frame(`{"n":1,"verb":"hello","body":{"min":1,"max":1,"kind":"boss"}}`, ""),
		"version":       frame(`{"n":1,"verb":"hello","body":{"min":2,"max":3,"kind":"host"}}`, ""),
		"after hello":   hello + "\x00\x00\x00\x00",
		"data upstream": hello + "\x00\x00\x00\x0a\x02\x00\x00\x00\x00\x00\x00\x00\x00x",
	} {
		t.Run(name, func(t *testing.T) {
			raw := dialRaw(t, in.rec.Socket)
			if _, err := raw.conn.Write([]byte(bytes)); err != nil {
				t.Fatal(err)
			}
			m, _ := raw.hear(t)
			if strings.HasPrefix(bytes, hello) {
				m, _ = raw.hear(t)
			}
			if m.Error == nil || m.Error.Message == "" || !strings.HasPrefix(m.Error.Code, "keeper_") {
				t.Fatalf("heard %+v", m)
			}
			if _, err := raw.frames.ReadByte(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("after the error: %v", err)
			}
		})
	}
	raw := dialRaw(t, in.rec.Socket)
	raw.say(`{"n":1,"verb":"hello","body":{"min":1,"max":7,"kind":"reader","later":true}}`, "")
	raw.hear(t)
	raw.say(`{"n":2,"verb":"dance","body":{"x":1}}`, "")
	if m, _ := raw.hear(t); m.Re != 2 || m.Error == nil || m.Error.Code != "unsupported" {
		t.Fatalf("an unknown verb: %+v", m)
	}
	if _, err := c.List(ctx(t)); err != nil {
		t.Fatalf("another connection: %v", err)
	}
}

// A keeper without child and host leaves; one with a child does not (spec terminal P1.1).
func TestIdleExit(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, func(c *keeper.Config) { c.IdleExit = 300 * time.Millisecond })
	c := in.dial()
	gate := filepath.Join(t.TempDir(), "gate")
	in.spawn(c, in.shell("p", "while ! test -e "+gate+"; do sleep 0.05; done"))
	if err := c.Bye(ctx(t)); err != nil {
		t.Fatal(err)
	}
	left := time.Now()
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return time.Since(left) > 800*time.Millisecond, "" })
	if !keeper.Alive(in.rec) {
		t.Fatal("it left its child")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return !keeper.Alive(in.rec), "it does not leave" })
	rec, alive, err := client.Find(in.cfg.StateDir)
	if err != nil || alive || rec.Pid != in.rec.Pid {
		t.Errorf("found %+v, %v, %v", rec, alive, err)
	}
	_, err = client.Dial(ctx(t), client.Config{Socket: in.rec.Socket})
	wantCode(t, err, davit.CodeKeeperUnreachable)
	// The exit status that nobody fetched is in the log that it left.
	dead, err := keeper.OpenDead(in.cfg.StateDir, "p", "", 0)
	if err != nil || dead.Exit == nil || dead.Exit.Code != 0 {
		t.Fatalf("%+v, %v", dead, err)
	}
	defer dead.Close()
	if f, err := dead.Next(); err != nil || f.Kind != keeper.Start || f.Cols != 80 {
		t.Errorf("first frame %+v, %v", f, err)
	}
	if _, err := keeper.OpenDead(in.cfg.StateDir, "q", "", 0); davit.CodeOf(err) != davit.CodePaneNotFound {
		t.Errorf("an unknown pane: %v", err)
	}
	in.start() // a new keeper forgets what the dead one left
	wantCode(t, second(in.dial().Spawn(ctx(t), in.shell("p", "true"))), davit.CodePaneExists)
	if err := in.dial().Forget(ctx(t), "p"); err != nil {
		t.Error(err)
	}
}

// Descriptors come back when panes are forgotten and followers leave.
func TestNoDescriptorLeaks(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	round := func(n int) {
		for i := range 10 {
			pane := fmt.Sprintf("p%d-%d", n, i)
			req := in.shell(pane, "echo x")
			req.Pipes = i%2 == 0
			in.spawn(c, req)
			s, err := c.Follow(ctx(t), pane, 0, "")
			if err != nil {
				t.Fatal(err)
			}
			for {
				if _, err := s.Next(); err != nil {
					break
				}
			}
			s.Close()
			// Its output may end a moment before the keeper has waited for it.
			testenv.Eventually(t, 15*time.Second, func() (bool, string) {
				err := c.Forget(ctx(t), pane)
				if err != nil && davit.CodeOf(err) != davit.CodePaneRunning {
					t.Fatal(err)
				}
				return err == nil, fmt.Sprint(err)
			})
			req = in.shell(pane+"bad", "")
			req.Path = "/nonexistent"
			wantCode(t, second(c.Spawn(ctx(t), req)), davit.CodePaneSpawnFailed)
		}
	}
	files := func() int {
		s, err := c.Status(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		return s.Files
	}
	round(0)
	before := files()
	round(1)
	round(2)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		after := files()
		return after <= before, fmt.Sprintf("%d descriptors before, %d after", before, after)
	})
}

// A child inherits nothing of the keeper's but its three descriptors, blocking, and its
// signals at their default.
func TestChildIsClean(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	for _, pipes := range []bool{false, true} {
		pane := fmt.Sprint("p", pipes)
		req := in.shell(pane, "ls /proc/self/fd | tr '\\n' ' '; grep -h flags /proc/$$/fdinfo/0 /proc/$$/fdinfo/1; grep SigIgn /proc/self/status; pwd")
		req.Pipes, req.Dir = pipes, "/usr"
		in.spawn(c, req)
		f := in.follow(c, pane, 0, "")
		f.waitEnd(t)
		out := strings.ReplaceAll(f.output(), "\r\n", "\n")
		if !strings.HasPrefix(out, "0 1 2 3 ") { // 3 is ls's own
			t.Errorf("descriptors: %q", out)
		}
		for _, line := range strings.Split(out, "\n") {
			if i := strings.Index(line, "flags:"); i >= 0 {
				var flags int
				fmt.Sscanf(line[i:], "flags:\t%o", &flags)
				if flags&syscall.O_NONBLOCK != 0 {
					t.Errorf("a descriptor is non-blocking: %q", line)
				}
			}
		}
		var ignored uint64
		if i := strings.Index(out, "SigIgn:"); i >= 0 {
			fmt.Sscanf(out[i:], "SigIgn:\t%x", &ignored)
		} else {
			t.Errorf("no signals told: %q", out)
		}
		// 32 and 33 are the C library's own: whoever started the keeper may have set them.
		if ignored&^(1<<31|1<<32) != 0 || !strings.Contains(out, "/usr\n") {
			t.Errorf("signals or directory: %q", out)
		}
	}
}
