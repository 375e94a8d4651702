package screen

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// TestBounds: whatever a program prints, and for how long, the screen stays
// within its bytes (spec terminal P2.2), and so does its checkpoint.
func TestBounds(t *testing.T) {
	const size = 100 // columns; 30 rows
	each := func(f func(i int) string) func(i int) []byte {
		return func(i int) []byte { return []byte(f(i)) }
	}
	long := strings.Repeat("long ", 200)
	for _, c := range []struct {
		name string
		most float64 // bytes of heap
		part func(i int) []byte
	}{
		{"an OSC without an end", 3 << 20, each(func(i int) string { return "\x1b]0;"[:4*b2i(i == 0)] + long })},
		{"a DCS without an end", 1 << 20, each(func(i int) string { return "\x1bP$q"[:4*b2i(i == 0)] + long })},
		{"an APC without an end", 1 << 20, each(func(i int) string { return "\x1b_Ga=q;"[:7*b2i(i == 0)] + long })},
		{"a PM without an end", 1 << 20, each(func(i int) string { return "\x1b^"[:2*b2i(i == 0)] + long })},
		{"sixel", 1 << 20, each(func(i int) string { return "\x1bPq#0" + strings.Repeat("~", 900) + "\x1b\\" })},
		{"parameters without an end", 1 << 20, each(func(i int) string { return "\x1b["[:2*b2i(i == 0)] + strings.Repeat("1234567;:", 99) })},
		{"intermediates without an end", 1 << 20, each(func(i int) string { return "\x1b["[:2*b2i(i == 0)] + strings.Repeat(" !", 400) })},
		{"titles pushed", 1 << 20, each(func(i int) string { return fmt.Sprintf("\x1b]0;%d%s\a\x1b[22t", i, long) })},
		{"colours set", 1 << 20, each(func(i int) string { return fmt.Sprintf("\x1b]4;%d;#102030\a\x1b]10;#%06x\a", i, i) })},
		{"modes saved", 1 << 20, each(func(i int) string { return fmt.Sprintf("\x1b[?%d;%d;7;25s", i, i+1) })},
		{"keyboards pushed", 1 << 20, each(func(i int) string { return strings.Repeat("\x1b[>31u", 100) })},
		{"notifications in parts", 1 << 20, each(func(i int) string { return fmt.Sprintf("\x1b]99;i=%d%s:d=0;%s\a", i, long, long) })},
		{"marks", 1 << 20, each(func(i int) string { return strings.Repeat("\x1b]133;A\a", 100) })},
		{"clusters", 4 << 20, each(func(i int) string { return "e" + strings.Repeat(string(rune(0x300+i%0x40)), 1+i%500) })},
		{"links", 24 << 20, each(func(i int) string {
			return strings.Repeat(fmt.Sprintf("\x1b]8;id=%d;http://x/%d/%s\aa\x1b]8;;\ab", i, i, long), 3)
		})},
		{"styles", 24 << 20, each(func(i int) string {
			var out strings.Builder
			for k := range 100 {
				v := i*100 + k
				fmt.Fprintf(&out, "\x1b[4:3;38;2;%d;%d;%d;48;2;%d;%d;%d;58;2;%d;%d;%dmx", v&255, v>>8&255, v>>16, v>>3&255, v>>5&255, v&7, v&15, v>>4&255, v>>12&255)
			}
			return out.String()
		})},
		{"blank lines", 1 << 20, each(func(i int) string { return strings.Repeat("\n", 900) })},
		{"noise", 8 << 20, func(i int) []byte {
			p := make([]byte, 1000)
			rand.New(rand.NewSource(int64(i))).Read(p) //nolint:errcheck // it never fails
			return p
		}},
		{"everything", 8 << 20, func(i int) []byte { return generate(rand.New(rand.NewSource(int64(i))), size, 30, 1000, false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s *Screen
			got := heapOf(t, func() any {
				s = New(size, 30, Options{})
				for i := range scaled(6000) {
					s.Write(c.part(i))
				}
				return s
			})
			saved := float64(len(s.Save()))
			t.Logf("%.2f MB, saved %.2f MB", got/(1<<20), saved/(1<<20))
			if got > c.most || saved > c.most {
				t.Errorf("%.2f MB of heap, %.2f MB saved, at most %.0f MB", got/(1<<20), saved/(1<<20), c.most/(1<<20))
			}
			// It can still be used.
			s.Write([]byte("\x1b\\\x18\x1bc\x1b[Hstill here"))
			if got := s.Text()[0]; got != "still here" {
				t.Errorf("then %q", got)
			}
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestLongStrings: a string at its bound counts, one past it is swallowed
// whole, and what follows is read again.
func TestLongStrings(t *testing.T) {
	for _, c := range []struct {
		name, begin, end string
		bound            int
		counts           func(r Result) bool
	}{
		{"clipboard", "\x1b]52;c;", "\a", maxOSC, func(r Result) bool { return len(r.Effects) == 1 && r.Effects[0].Kind == Clipboard }},
		{"request", "\x1bP+q", "\x1b\\", maxDCS, func(r Result) bool { return len(r.Replies) == 1 }},
	} {
		for _, over := range []int{0, 1, 1 << 20} {
			n := c.bound - len(c.begin) + 2 // without "ESC ]"
			if c.end != "\a" {
				n = c.bound // without the introducer
			}
			s := New(10, 2, Options{})
			fill := strings.Repeat("41", (n+over)/2) + strings.Repeat("=", (n+over)%2)
			if c.name == "clipboard" {
				fill = strings.Repeat("QUFB", (n+over)/4) + strings.Repeat(" ", (n+over)%4)
				fill = strings.TrimRight(fill, " ")
				if over > 0 {
					fill += "QUFBQUFB"
				}
			}
			res := s.Write([]byte(c.begin + fill + c.end + "after"))
			if got := c.counts(res); got != (over == 0) {
				t.Errorf("%s, %d over its bound: counts %v, %d effects, %d replies", c.name, over, got, len(res.Effects), len(res.Replies))
			}
			if s.Text()[0] != "after" {
				t.Errorf("%s, %d over its bound: then %q", c.name, over, s.Text()[0])
			}
		}
	}
}

// FuzzWrite: any bytes at any size: no panic, no broken cell, and what is told
// of a write stays in proportion to it.
func FuzzWrite(f *testing.F) {
	f.Add([]byte("\x1b[999999999b\x1b[99999L"), uint8(1), uint8(1))
	f.Add([]byte("\x1b[?69h\x1b[1;1s\x1b[?6h日\x1b[2@"), uint8(2), uint8(1))
	f.Add(bytes.Repeat([]byte("\x1bP+q"), 3), uint8(9), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8) {
		if len(data) > 4<<10 {
			return
		}
		s := New(1+int(cols), 1+int(rows), Options{ScrollbackLines: 50})
		res := s.Write(data)
		checkInvariants(t, s)
		told := 0
		for _, r := range res.Replies {
			told += len(r.Data)
		}
		if told > 64+20*len(data) || len(res.Effects) > 2*len(data) || len(res.Queries) > len(data) {
			t.Fatalf("%d bytes of replies, %d effects, %d queries for %d bytes", told, len(res.Effects), len(res.Queries), len(data))
		}
		s.Snapshot(SnapshotOptions{Lines: 50})
		s.Text()
	})
}
