package keeper_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"davit/internal/keeper"
	"davit/internal/testenv"
)

// small mounts a file system of so many bytes; only root may.
func small(t testing.TB, dir string, size int) {
	t.Helper()
	if os.Getuid() != 0 && os.Getenv("DAVIT_REQUIRE_ALL") != "1" {
		t.Skip("only root may mount a small file system")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("davit-test", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprint("mode=0700,size=", size)); err != nil {
		if os.Getenv("DAVIT_REQUIRE_ALL") == "1" {
			t.Fatal("no small file system can be mounted here, and DAVIT_REQUIRE_ALL=1 forbids skipping: ", err)
		}
		t.Skip("no small file system can be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// fill takes all the space that is left, but for a page, and gives it back.
func fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// The disk is full: a terminal is read on, the last of it is kept in memory and what is
// then missing on disk is told as a gap; a pipe waits and loses nothing; the pane says
// what the trouble is. It goes over an upgrade too. When there is space again everything
// goes on by itself (spec terminal P1.9).
func TestDiskFull(t *testing.T) {
	for _, upgraded := range []bool{false, true} {
		t.Run(fmt.Sprint("upgraded ", upgraded), func(t *testing.T) {
			in := startKeeper(t, func(c *keeper.Config) {
				small(t, c.StateDir, 24<<20)
				c.PTYAhead = 512 << 10 // the follower that is near stays within what memory holds
			})
			c := in.dial()
			gate := filepath.Join(t.TempDir(), "gate")
			const count = 100_000 // 3.8 MB, more than is kept in memory
			script := fmt.Sprintf("echo ready; while ! test -e %s; do sleep 0.01; done; DAVIT_TEST_ROLE=lines COUNT=%d exec %s", gate, count, self(t))
			in.spawn(c, in.shell("pty", script))
			req := in.shell("pipe", script)
			req.Pipes = true
			in.spawn(c, req)
			in.follow(c, "pty", 0, "").waitFor(t, "ready")
			in.follow(c, "pipe", 0, "").waitFor(t, "ready")
			free := fill(t, in.cfg.StateDir)
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			// A follower that falls behind meanwhile is told the gap too, so what was printed is
			// known by the program alone.
			if e := in.follow(c, "pty", 0, "").waitExit(t); e.Code != 0 { // it was not held back
				t.Errorf("exit %+v", e)
			}
			for _, pane := range []string{"pty", "pipe"} {
				testenv.Eventually(t, 10*time.Second, func() (bool, string) {
					trouble := in.info(c, pane).Trouble
					return strings.Contains(trouble, "no space left"), pane + ": " + trouble
				})
			}
			if p := in.info(c, "pipe"); p.Exit != nil || p.End > 1<<20 {
				t.Errorf("the pipe did not wait: %+v", p)
			}
			if upgraded {
				in.upgrade(rebuilt(t, "davit-full"))
				c = in.dial()
				if p := in.info(c, "pty"); p.Trouble == "" || p.Exit == nil {
					t.Errorf("after the upgrade: %+v", p)
				}
			}
			free()
			testenv.Eventually(t, 15*time.Second, func() (bool, string) {
				pty, pipe := in.info(c, "pty"), in.info(c, "pipe")
				return pty.Trouble == "" && pipe.Trouble == "" && pipe.Exit != nil, fmt.Sprintf("%+v\n%+v", pty, pipe)
			})
			piped := in.follow(c, "pipe", 0, "")
			piped.waitEnd(t)
			numbered(t, strings.TrimPrefix(piped.output(), "ready\n"), count)
			printed := []byte("ready\r\n")
			for i := range count {
				printed = fmt.Appendf(printed, "line %d of a program that prints\r\n", i)
			}
			afterTrouble(t, in, string(printed))
		})
	}
}

// afterTrouble checks what the disk has of the terminal, with the keeper and without it.
func afterTrouble(t *testing.T, in *instance, printed string) {
	t.Helper()
	f := in.follow(in.reader(), "pty", 0, "")
	f.waitEnd(t)
	gaps := f.marks(keeper.Gap)
	if len(gaps) == 0 {
		t.Fatal("what the disk lacks is not told as a gap")
	}
	want, at := new(bytes.Buffer), uint64(0)
	for _, gap := range gaps {
		want.WriteString(printed[at:gap.From])
		at = gap.To
	}
	want.WriteString(printed[at:])
	if f.output() != want.String() {
		t.Error("around the gap stands something else than what was printed")
	}
	if kept := uint64(len(printed)) - gaps[len(gaps)-1].To; kept < 1<<19 {
		t.Errorf("%d bytes were kept in memory", kept)
	}
	f.s.Close()
	in.end()
	dead, err := keeper.OpenDead(in.cfg.StateDir, "pty", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	if dead.Damaged != 0 || dead.Exit == nil || dead.Exit.Code != 0 {
		t.Errorf("on disk: %d damaged marks, exit %+v", dead.Damaged, dead.Exit)
	}
}
