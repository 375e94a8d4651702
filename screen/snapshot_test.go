package screen

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// seen is all that a Snapshot must bring across.
type seen struct {
	Lines   []Line
	Alt     bool
	Cursor  [2]int
	Pending bool
	Modes   Modes
	Title   string
	Pen     Style
	Tabs    []bool
	Top     int
	Bottom  int
}

// see looks at s; blanks in a full style count as spaces.
func see(s *Screen, lines int) seen {
	from := max(0, s.ScrollbackLen()-lines)
	all := s.Lines(from, s.ScrollbackLen())
	for y := range s.rows {
		line := Line{}
		for x := range s.cols {
			c := s.Cell(x, y)
			if s.g.cursor.pending && y == s.g.cursor.y && x == s.g.cursor.x-1 && c.Text == "" && c.Width == 1 {
				c.Text = " " // erased since: a snapshot makes a blank of it
			}
			line.Cells = append(line.Cells, c)
		}
		all = append(all, line)
	}
	for i := range all {
		all[i].Wrapped = false
		for k, c := range all[i].Cells {
			if c.Text == "" && c.Width == 1 && c.Style != (Style{Background: c.Style.Background}) {
				all[i].Cells[k].Text = " "
			}
		}
		all[i].Cells = append([]Cell{}, all[i].Cells...)
		for n := len(all[i].Cells); n > 0 && all[i].Cells[n-1] == (Cell{Width: 1}); n-- {
			all[i].Cells = all[i].Cells[:n-1]
		}
	}
	modes := s.Modes()
	modes.InBandResize = false
	x, y := s.Cursor()
	c := s.g.cursor
	return seen{all, s.AltScreen(), [2]int{x, y}, c.pending, modes, s.Title(), s.public(c.pen), s.tabs, s.g.top, s.g.bottom}
}

// brief is a line in a form that a person can read.
func brief(l Line) string {
	var out string
	for _, c := range l.Cells {
		out += fmt.Sprintf("%s/%d/%x.%x.%x.%d ", c.Text, c.Width, uint32(c.Style.Foreground), uint32(c.Style.Background), c.Style.Attrs, c.Style.Underline)
	}
	return out
}

func checkSnapshot(t *testing.T, s *Screen, lines int) *Screen {
	t.Helper()
	// Saying where the prompt ends changes nothing of what is seen.
	snapshot := s.Snapshot(SnapshotOptions{Lines: lines, Input: &Place{Column: s.cols / 2, Row: lines % s.rows}})
	fresh := New(s.cols, s.rows, Options{})
	res := fresh.Write(snapshot)
	if len(res.Queries) > 0 || len(res.Replies) > 0 {
		t.Fatalf("a query in %q", snapshot)
	}
	if fresh.SafeOffset() != fresh.Offset() {
		t.Fatalf("unfinished: %q", snapshot)
	}
	got, want := see(fresh, lines), see(s, lines)
	if !reflect.DeepEqual(got, want) {
		for i := range want.Lines {
			if i < len(got.Lines) && !reflect.DeepEqual(got.Lines[i], want.Lines[i]) {
				t.Errorf("line %d\n%q\nwant\n%q", i, brief(got.Lines[i]), brief(want.Lines[i]))
				break
			}
		}
		t.Logf("%d lines, want %d", len(got.Lines), len(want.Lines))
		got.Lines, want.Lines = nil, nil
		t.Fatalf("%q gives\n%+v\nwant\n%+v", snapshot, got, want)
	}
	return fresh
}

// TestSnapshot: a snapshot brings back what is seen (spec terminal P3.1).
func TestSnapshot(t *testing.T) {
	for seed := range int64(500) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 2+r.Intn(40), 1+r.Intn(12)
		s := New(cols, rows, Options{ScrollbackLines: 60})
		s.Write(generate(r, cols, rows, 20+r.Intn(1500), false))
		s.Gap(0) // what the parser holds is not in a snapshot
		checkSnapshot(t, s, []int{0, 5, 1000}[r.Intn(3)])
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestSnapshotSaysThePrompt: who follows from a snapshot knows where the prompt ends (spec
// terminal P4), with the line in whichever row of the screen.
func TestSnapshotSaysThePrompt(t *testing.T) {
	s := New(20, 4, Options{})
	s.Write([]byte("one\r\ntwo\r\nthree\r\nfour\r\n$ \x1b]133;B\akubectl get"))
	fresh := New(20, 4, Options{})
	result := fresh.Write(s.Snapshot(SnapshotOptions{Lines: 10, Input: &Place{Column: 2, Row: 3}}))
	if len(result.Effects) != 1 || result.Effects[0].Kind != CommandStart || result.Effects[0].Column != 2 {
		t.Fatalf("%+v", result.Effects)
	}
	if row, ok := fresh.MarkRow(result.Effects[0].Mark); !ok || row != fresh.FirstRow()+4 {
		t.Fatalf("the prompt ends in row %d of %v", row, fresh.Text())
	}
}

// TestSnapshotAgents: the same for what real agents print, at every 2,000 bytes.
func TestSnapshotAgents(t *testing.T) {
	recordings, _ := filepath.Glob("testdata/agent-tty/*.tty")
	if len(recordings) != 3 {
		t.Fatal(recordings)
	}
	for _, path := range recordings {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := New(120, 40, Options{})
		for len(data) > 0 {
			n := min(2000, len(data))
			s.Write(data[:n])
			data = data[n:]
			copied, err := Load(s.Save(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			copied.parser.reset()
			checkSnapshot(t, copied, 1000)
		}
	}
}

// TestSnapshotThenFollow: a display that gets the snapshot and then what
// follows from SafeOffset shows the same as one that saw everything, also
// when the cut lies within a sequence, a character or a cluster.
func TestSnapshotThenFollow(t *testing.T) {
	data := []byte("ab\x1b[31mcd\x1b[0m日本👩\u200d👩\u200d👧e\u0301f\r\n0123456789012345678901234567890123\x1b]0;✳ title\x1b\\xyz\x1b[?1049h\x1b[2;3Halt\x1b[K\x1b(0qq\x1b(Bz")
	for cut := range len(data) {
		s := New(20, 5, Options{})
		s.Write(data[:cut])
		from := s.SafeOffset()
		fresh := New(20, 5, Options{})
		fresh.Write(s.Snapshot(SnapshotOptions{Lines: 100}))
		fresh.Write(data[from:])
		s.Write(data[cut:])
		if got, want := fresh.Text(), s.Text(); !slices.Equal(got, want) {
			t.Errorf("cut at %d (%q): %q, want %q", cut, data[from:min(cut+5, len(data))], got, want)
		}
		if x, y := fresh.Cursor(); [2]int{x, y} != [2]int{s.g.cursor.x, s.g.cursor.y} {
			t.Errorf("cut at %d: cursor %d,%d", cut, x, y)
		}
	}
}

// TestSnapshotKeepsWraps: a line that wraps does so in the display, too, so
// that copying and the display's own reflow see one line.
func TestSnapshotKeepsWraps(t *testing.T) {
	s := New(10, 4, Options{})
	s.Write([]byte("0123456789abcdefghijKLM\r\n\x1b[41m日本語日本語\x1b[m\r\nx\r\ny\r\nz"))
	fresh := New(10, 4, Options{})
	fresh.Write(s.Snapshot(SnapshotOptions{Lines: 100}))
	if got, want := logical(fresh), logical(s); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSnapshotSize(t *testing.T) {
	// 200×50 in 256 colours: at most 200 KB (spec terminal P6).
	s := New(200, 50, Options{})
	r := rand.New(rand.NewSource(1))
	var out []byte
	for range 200 * 60 {
		out = append(out, appendSGR([]byte("\x1b["), style{fg: Palette(uint8(16 + r.Intn(240)))})...)
		out = append(out, 'm', byte('a'+r.Intn(26)))
	}
	s.Write(out)
	if n := len(s.Snapshot(SnapshotOptions{})); n > 200_000 {
		t.Errorf("%d bytes", n)
	}
}
