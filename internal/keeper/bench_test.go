package keeper_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"davit/internal/keeper"
)

// colouredFile writes size bytes of coloured log lines.
func colouredFile(tb testing.TB, size int) string {
	tb.Helper()
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\x1b[3%dm%08d\x1b[0m \x1b[1;38;5;%dmlevel\x1b[0m something happened to \x1b[4mnumber %d\x1b[0m and went on\n",
			i%8, i, i%256, i*7919)
	}
	path := filepath.Join(tb.TempDir(), "coloured")
	if err := os.WriteFile(path, []byte(b.String()[:size]), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

const benchSize = 60 << 20

// BenchmarkBarePTY reads `cat` of 60 MB from a PTY and does nothing with it.
func BenchmarkBarePTY(b *testing.B) {
	path := colouredFile(b, benchSize)
	b.SetBytes(benchSize)
	buf := make([]byte, 64<<10)
	for b.Loop() {
		cmd := exec.Command("cat", path)
		f, err := pty.Start(cmd)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := f.Read(buf); err != nil {
				break
			}
		}
		cmd.Wait()
		f.Close()
	}
}

// BenchmarkKeeper is the same through the keeper and one acknowledging follower in
// another process, which also lets old segments go.
func BenchmarkKeeper(b *testing.B) {
	path := colouredFile(b, benchSize)
	in := startKeeper(b, nil)
	c := in.dial()
	b.SetBytes(benchSize)
	before, n := cpuOf(b, in.rec.Pid), 0
	for b.Loop() {
		n++
		pane := fmt.Sprintf("p%d", n)
		in.spawn(c, in.shell(pane, "exec cat "+path))
		s, err := c.Follow(b.Context(), pane, 0, "")
		if err != nil {
			b.Fatal(err)
		}
		retained := uint64(0)
		for {
			f, err := s.Next()
			if err != nil {
				b.Fatal(err)
			}
			if f.Kind == keeper.Exit {
				break
			}
			s.Ack(f.To)
			if f.To > retained+4<<20 {
				retained = f.To
				if err := c.Retain(b.Context(), pane, f.To); err != nil {
					b.Fatal(err)
				}
			}
		}
		s.Close()
		if err := c.Forget(b.Context(), pane); err != nil {
			b.Fatal(err)
		}
	}
	used := cpuOf(b, in.rec.Pid) - before
	b.ReportMetric(used.Seconds()*1000/float64(n*benchSize>>20), "keeper-ms/MB")
}

// cpuOf is the processor time that a process has used.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("no /proc")
	}
	var user, system int64
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// BenchmarkEcho is a key through input, the terminal's echo, and the follower.
func BenchmarkEcho(b *testing.B) {
	in := startKeeper(b, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "stty raw -echo; exec cat"))
	s, err := c.Follow(b.Context(), "p", 0, "")
	if err != nil {
		b.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	var worst time.Duration
	for b.Loop() {
		begun := time.Now()
		go in.send(c, "p", "x")
		for {
			f, err := s.Next()
			if err != nil {
				b.Fatal(err)
			}
			if f.Kind == keeper.Bytes {
				break
			}
		}
		worst = max(worst, time.Since(begun))
	}
	b.ReportMetric(float64(worst.Microseconds()), "worst-us")
	s.Close()
}
