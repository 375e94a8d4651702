package screen

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"syscall"
	"testing"
)

// The kinds of output that spec terminal P2.5 and P6 speak of. Each is a few
// megabytes and made the same way each time.
var benchInputs = []struct {
	name string
	make func(r *rand.Rand, out *bytes.Buffer)
}{
	{"plain", func(r *rand.Rand, out *bytes.Buffer) {
		for n := 40 + r.Intn(120); n > 0; n-- {
			out.WriteByte("abcdefghijklmnopqrstuvwxyz     0123456789./-"[r.Intn(44)])
		}
		out.WriteString("\r\n")
	}},
	{"sgr", func(r *rand.Rand, out *bytes.Buffer) {
		for range 20 {
			if r.Intn(2) == 0 {
				fmt.Fprintf(out, "\x1b[38;2;%d;%d;%dm", r.Intn(256), r.Intn(256), r.Intn(256))
			} else {
				fmt.Fprintf(out, "\x1b[1;38;5;%d;48;5;%dm", r.Intn(256), r.Intn(256))
			}
			out.WriteString("wordwords"[:2+r.Intn(7)])
			out.WriteString("\x1b[0m ")
		}
		out.WriteString("\r\n")
	}},
	{"log", func(r *rand.Rand, out *bytes.Buffer) {
		fmt.Fprintf(out, "\x1b[2m2026-11-30T12:%02d:%02d.%03dZ\x1b[0m \x1b[3%dmINFO\x1b[0m \x1b[1mserver\x1b[0m: request id=%08x path=/v1/panes/%d/output took %dms bytes=%d\r\n",
			r.Intn(60), r.Intn(60), r.Intn(1000), 1+r.Intn(6), r.Uint32(), r.Intn(100), r.Intn(1000), r.Intn(100000))
	}},
	{"tui", func(r *rand.Rand, out *bytes.Buffer) {
		out.WriteString("\x1b[?2026h\x1b[?25l")
		for range 30 {
			fmt.Fprintf(out, "\x1b[%d;%dH\x1b[38;5;%dm%s\x1b[K", 1+r.Intn(50), 1+r.Intn(100), r.Intn(256), "┃ some text of a frame that is drawn again ┃"[:3+r.Intn(40)])
		}
		out.WriteString("\x1b[?25h\x1b[?2026l")
	}},
	{"cjk", func(r *rand.Rand, out *bytes.Buffer) {
		for range 60 {
			out.WriteRune(rune(0x4e00 + r.Intn(0x5000)))
			if r.Intn(20) == 0 {
				out.WriteString("👩‍👩‍👧 é")
			}
		}
		out.WriteString("\r\n")
	}},
}

func benchInput(i, size int) []byte {
	r := rand.New(rand.NewSource(1))
	var out bytes.Buffer
	for out.Len() < size {
		benchInputs[i].make(r, &out)
	}
	return out.Bytes()
}

func BenchmarkWrite(b *testing.B) {
	for i, input := range benchInputs {
		b.Run(input.name, func(b *testing.B) {
			data := benchInput(i, 4<<20)
			s := New(200, 50, Options{})
			s.Write(data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			b.ResetTimer()
			cpu := cpuTime()
			for range b.N {
				for p := data; len(p) > 0; {
					n := min(32<<10, len(p))
					s.Write(p[:n])
					p = p[n:]
				}
			}
			// On a busy machine this is the figure to look at.
			b.ReportMetric(float64(len(data))*float64(b.N)/1e6/(cpuTime()-cpu), "MB/cpu-s")
		})
	}
}

// cpuTime is the seconds of processor time that this process has used.
func cpuTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()) / 1e9
}

func BenchmarkResize(b *testing.B) {
	s := New(200, 50, Options{})
	s.Write(benchInput(2, 4<<20))
	b.ResetTimer()
	for i := range b.N {
		s.Resize(100+i%2*100, 50)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := New(200, 50, Options{})
	s.Write(benchInput(1, 4<<20))
	b.ResetTimer()
	for range b.N {
		b.ReportMetric(float64(len(s.Snapshot(SnapshotOptions{Lines: 1000}))), "bytes")
	}
}

func BenchmarkSave(b *testing.B) {
	s := New(200, 50, Options{})
	s.Write(benchInput(1, 4<<20))
	b.ResetTimer()
	for range b.N {
		b.ReportMetric(float64(len(s.Save())), "bytes")
	}
}

// heapOf is the heap that keep needs, after collection.
func heapOf(t testing.TB, keep func() any) float64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := keep()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// TestMemory: bounds in bytes (spec terminal P2.2).
func TestMemory(t *testing.T) {
	worst := func() []byte {
		var out bytes.Buffer
		for y := range 50 {
			for x := range 200 {
				v := y*200 + x
				fmt.Fprintf(&out, "\x1b[1;4:3;38;2;%d;%d;%d;48;2;%d;%d;%d;58;2;%d;%d;%dmx",
					v&255, v>>8&255, v>>16, v>>3&255, v>>5&255, v&7, v&15, v>>4&255, v>>12&255)
			}
		}
		return bytes.Repeat(out.Bytes(), 40)
	}
	log := benchInput(2, 4<<20)
	for _, c := range []struct {
		name  string
		data  []byte
		bytes int
		most  float64
		lines int
	}{
		{"coloured log", log, 0, 8 << 20, 10_000},
		// A quarter of the default bound, to be quick: a quarter of 24 MB.
		{"worst styled", worst(), DefaultScrollbackBytes / 4, 6 << 20, 1000},
	} {
		var s *Screen
		got := heapOf(t, func() any {
			s = New(200, 50, Options{ScrollbackBytes: c.bytes})
			s.Write(c.data)
			return s
		})
		t.Logf("%s: %.1f MB, %d lines", c.name, got/(1<<20), s.ScrollbackLen())
		if got > c.most || s.ScrollbackLen() < c.lines {
			t.Errorf("%s: %.1f MB for %d lines, at most %.0f MB for at least %d", c.name, got/(1<<20), s.ScrollbackLen(), c.most/(1<<20), c.lines)
		}
		runtime.KeepAlive(c.data)
	}
}
