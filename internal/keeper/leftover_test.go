package keeper_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/testenv"
)

// The keeper's own log begins anew when it is large, keeps one before it, and goes on after
// an upgrade in place.
func TestKeeperLogStaysBounded(t *testing.T) {
	t.Parallel()
	const most = 4000
	in := startKeeper(t, func(c *keeper.Config) { c.LogMost, c.Look = most, 20*time.Millisecond })
	size := func(name string) int64 {
		st, err := os.Stat(filepath.Join(in.cfg.StateDir, name))
		if err != nil {
			return -1
		}
		return st.Size()
	}
	chatter := func(turns int) {
		t.Helper()
		seen := map[uint64]bool{}
		testenv.Eventually(t, 20*time.Second, func() (bool, string) {
			kill(t, in.rec.Pid, syscall.SIGHUP) // is logged
			if st, err := os.Stat(filepath.Join(in.cfg.StateDir, "keeper.log.1")); err == nil {
				seen[st.Sys().(*syscall.Stat_t).Ino] = true
			}
			// The log is looked at from time to time: between looks it may pass its bound.
			if n := size("keeper.log"); n > 100*most {
				t.Fatalf("keeper.log has %d bytes", n)
			}
			return len(seen) >= turns, fmt.Sprintf("%d of %d turns, %d bytes", len(seen), turns, size("keeper.log"))
		})
	}
	chatter(2)
	in.upgrade(rebuilt(t, "davit-next"))
	chatter(2)
	if err := in.reader().Err(); err != nil || size("keeper.log.new") != -1 {
		t.Errorf("%v; keeper.log.new has %d bytes", err, size("keeper.log.new"))
	}
	b, err := os.ReadFile(filepath.Join(in.cfg.StateDir, "keeper.log.1"))
	if err != nil || !strings.Contains(string(b), "signal ignored") {
		t.Errorf("keeper.log.1: %q, %v", b, err)
	}
}

// A log that is not the file which the keeper prints into is none of its business.
func TestKeeperLogOfAnother(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, func(c *keeper.Config) { c.LogMost, c.Look = 1, 20*time.Millisecond })
	path := filepath.Join(in.cfg.StateDir, "keeper.log")
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		_, err := os.Stat(path + ".1")
		return err == nil, "no turn"
	})
	c := in.dial() // a host is told of in the log
	other := []byte("somebody else's, and longer than the bound\n")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(in.cfg.RuntimeDir); err != nil { // made again at a look, after which the log was looked at
		t.Fatal(err)
	}
	in.waitForSocket()
	if err := os.RemoveAll(in.cfg.RuntimeDir); err != nil {
		t.Fatal(err)
	}
	in.waitForSocket()
	if b, err := os.ReadFile(path); err != nil || string(b) != string(other) || c.Err() != nil {
		t.Errorf("%q, %v, %v", b, err, c.Err())
	}
}

// What a home that is gone left below the temporary directory goes when the next keeper
// starts; a socket that somebody listens at, a home that is there, a place that nobody
// signed and one with other files in it stay (spec terminal P1.6).
func TestLeftPlacesAreSwept(t *testing.T) {
	t.Parallel()
	temp, err := os.MkdirTemp("", "dk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	top := filepath.Join(temp, "davit-"+strconv.Itoa(os.Getuid()))
	place := func(name, state string, alive bool) string {
		t.Helper()
		dir := filepath.Join(top, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if state != "" {
			if err := os.WriteFile(filepath.Join(dir, "home"), []byte(state+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "keeper.sock"), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if alive {
			t.Cleanup(func() { l.Close() })
		} else {
			l.Close()
		}
		return dir
	}
	absent := filepath.Join(temp, "no such home", "state")
	gonePlace := place("0000000000000001", absent, false)
	stay := []string{
		place("0000000000000002", absent, true),
		place("0000000000000003", temp, false),
		place("0000000000000004", "", false),
		place("0000000000000005", absent, false),
		place("another name", absent, false),
	}
	if err := os.WriteFile(filepath.Join(stay[3], "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *instance {
		return startKeeper(t, func(c *keeper.Config) { c.RuntimeDir, c.TempDir = "", temp })
	}
	first := start()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		_, err := os.Stat(gonePlace)
		return os.IsNotExist(err), "the place of a home that is gone stays:\n" + first.log()
	})
	own := filepath.Dir(first.rec.Socket)
	// Its home vanishes under a keeper that lives: the next one leaves its socket alone.
	if err := os.RemoveAll(first.cfg.StateDir); err != nil {
		t.Fatal(err)
	}
	second := start()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		return strings.Contains(second.log(), "dir="+own), second.log()
	})
	c, err := client.Dial(ctx(t), client.Config{Socket: first.rec.Socket})
	if err != nil {
		t.Fatalf("the living keeper's socket: %v", err)
	}
	if err := c.Shutdown(context.Background(), true); err != nil {
		t.Error(err)
	}
	c.Disconnect()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { return !keeper.Alive(first.rec), "it lives" })
	third := start()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		_, err := os.Stat(own)
		return os.IsNotExist(err), "the place stays:\n" + third.log()
	})
	for _, dir := range append(stay, filepath.Dir(second.rec.Socket), filepath.Dir(third.rec.Socket)) {
		if _, err := os.Lstat(filepath.Join(dir, "keeper.sock")); err != nil {
			t.Errorf("it should have stayed: %v", err)
		}
	}
}
