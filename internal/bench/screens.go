package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"davit/screen"
)

// inputs are the kinds of output that the emulator is measured with (spec terminal P2.5).
var inputs = []struct {
	name string
	goal float64 // MB/s
	line func(r *rand.Rand, out *bytes.Buffer)
}{
	{"plain", 150, func(r *rand.Rand, out *bytes.Buffer) {
		for range 40 + r.IntN(120) {
			out.WriteByte("abcdefghijklmnopqrstuvwxyz     0123456789./-"[r.IntN(44)])
		}
		out.WriteString("\r\n")
	}},
	{"SGR-heavy", 120, func(r *rand.Rand, out *bytes.Buffer) {
		for range 20 {
			if r.IntN(2) == 0 {
				fmt.Fprintf(out, "\x1b[38;2;%d;%d;%dm", r.IntN(256), r.IntN(256), r.IntN(256))
			} else {
				fmt.Fprintf(out, "\x1b[1;38;5;%d;48;5;%dm", r.IntN(256), r.IntN(256))
			}
			out.WriteString("wordwords"[:2+r.IntN(7)])
			out.WriteString("\x1b[0m ")
		}
		out.WriteString("\r\n")
	}},
	{"coloured log", 100, func(r *rand.Rand, out *bytes.Buffer) {
		fmt.Fprintf(out, "\x1b[2m12:%02d:%02d\x1b[0m \x1b[3%dmINFO\x1b[0m \x1b[1mserver\x1b[0m: request id=%08x path=/a/%d/b took %dms bytes=%d\r\n",
			r.IntN(60), r.IntN(60), 1+r.IntN(6), r.Uint32(), r.IntN(100), r.IntN(1000), r.IntN(100000))
	}},
	{"TUI frames", 100, func(r *rand.Rand, out *bytes.Buffer) {
		out.WriteString("\x1b[?2026h\x1b[?25l")
		for range 30 {
			fmt.Fprintf(out, "\x1b[%d;%dH\x1b[38;5;%dm%s\x1b[K", 1+r.IntN(50), 1+r.IntN(100), r.IntN(256), "some text of a frame that is drawn again and again"[:3+r.IntN(40)])
		}
		out.WriteString("\x1b[?25h\x1b[?2026l")
	}},
	{"CJK and emoji", 0, func(r *rand.Rand, out *bytes.Buffer) {
		for range 60 {
			out.WriteRune(rune(0x4e00 + r.IntN(0x5000)))
			if r.IntN(20) == 0 {
				out.WriteString("👩‍👩‍👧 é")
			}
		}
		out.WriteString("\r\n")
	}},
}

// screens measures the emulator by itself: 200×50, scrollback on, writes of 32 KiB.
func (b *bench) screens() error {
	long := time.Second
	if b.quick {
		long = 100 * time.Millisecond
	}
	for _, input := range inputs {
		random := rand.New(rand.NewPCG(1, 2))
		var data bytes.Buffer
		for data.Len() < 4<<20 {
			input.line(random, &data)
		}
		s := screen.New(cols, rows, screen.Options{})
		s.Write(data.Bytes()) // the scrollback is full from then on
		runtime.GC()
		var speeds, perCPU []float64
		for range 5 {
			bytes, begun, cpu := 0, time.Now(), cpuOf(selfPid())
			for time.Since(begun) < long && b.ctx.Err() == nil {
				for p := data.Bytes(); len(p) > 0; {
					n := min(32<<10, len(p))
					s.Write(p[:n])
					p, bytes = p[n:], bytes+n
				}
			}
			speeds = append(speeds, float64(bytes)/1e6/time.Since(begun).Seconds())
			if used := cpuOf(selfPid()) - cpu; used > 0 {
				perCPU = append(perCPU, float64(bytes)/1e6/used.Seconds())
			}
		}
		goal, verdict := "–", "–"
		if input.goal > 0 {
			goal, verdict = fmt.Sprintf("≥ %.0f MB/s of one core", input.goal), atLeast(median(perCPU), input.goal)
		}
		b.add("`screen`, "+input.name, goal, fmt.Sprintf("%.0f MB per CPU second", median(perCPU)), fmt.Sprintf("%.0f MB/s of wall time", median(speeds)), verdict)
		b.note("  %s %.0f MB/s", input.name, median(speeds))
	}
	return b.ctx.Err()
}
