package screen

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// logical is the text of scrollback and screen with wrapped lines put
// together and blank ends cut.
func logical(s *Screen) []string {
	var out []string
	lines := s.Lines(0, s.ScrollbackLen()+s.Rows())
	for i, line := range lines {
		if n := len(line.Cells); n == s.Cols() && i+1 < len(lines) && lines[i+1].Wrapped && line.Cells[n-1].Text == "" &&
			line.Cells[n-1].Width == 1 && len(lines[i+1].Cells) > 0 && lines[i+1].Cells[0].Width == 2 {
			line.Cells = line.Cells[:n-1] // left free by the wide character that follows
		}
		var text strings.Builder
		for _, c := range line.Cells {
			switch {
			case c.Width == 0:
			case c.Text == "":
				text.WriteByte(' ')
			default:
				text.WriteString(c.Text)
			}
		}
		if line.Wrapped && len(out) > 0 {
			out[len(out)-1] += text.String()
		} else {
			out = append(out, text.String())
		}
	}
	return trimRows(out)
}

// TestReflowRestores: narrow and wide again gives the same text, whatever
// lies between (spec terminal P2.1).
func TestReflowRestores(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 4+r.Intn(40), 2+r.Intn(10)
		s := New(cols, rows, Options{})
		for range r.Intn(30) {
			for range r.Intn(60) {
				s.Write([]byte([]string{"a", "b", " ", "日", "é", "👩\u200d👩\u200d👧", "\x1b[3%dm"}[r.Intn(6)]))
			}
			s.Write([]byte("\x1b[m\r\n"))
		}
		want := logical(s)
		style := styles(s)
		for range 1 + r.Intn(4) {
			s.Resize(2+r.Intn(60), 1+r.Intn(20))
			checkInvariants(t, s)
			if got := logical(s); !slices.Equal(got, want) {
				t.Fatalf("seed %d at %dx%d:\n%q\nwant\n%q", seed, s.cols, s.rows, got, want)
			}
		}
		s.Resize(cols, rows)
		if got := styles(s); got != style {
			t.Fatalf("seed %d: styles\n%s\nwant\n%s", seed, got, style)
		}
	}
}

func styles(s *Screen) string {
	var out strings.Builder
	for i := range s.ScrollbackLen() + s.Rows() {
		out.WriteString(s.LineANSI(i))
		out.WriteByte('\n')
	}
	return strings.TrimRight(out.String(), "\n")
}

// TestReflowExtremes: down to 1×1 and up, with anything on the screen, and
// no panic (spec terminal P2.1).
func TestReflowExtremes(t *testing.T) {
	for seed := range int64(150) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 1+r.Intn(30), 1+r.Intn(10)
		s := New(cols, rows, Options{ScrollbackLines: 40})
		for range 6 {
			s.Write(generate(r, s.cols, s.rows, r.Intn(400), false))
			switch r.Intn(4) {
			case 0:
				s.Resize(1, 1)
			case 1:
				s.Resize(0, -5)
			default:
				s.Resize(1+r.Intn(50), 1+r.Intn(20))
			}
			checkInvariants(t, s)
			if loaded, err := Load(s.Save(), s.opts); err != nil || loaded.Cols() != s.Cols() {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

func TestResizeCursor(t *testing.T) {
	for _, c := range []struct {
		name       string
		cols, rows int
		write      string
		toC, toR   int
		x, y       int
		rows0      []string
	}{
		{"prompt stays under its text", 20, 5, "abcdefghijklmnopqrst\r\nprompt$ ", 10, 5, 8, 2, []string{"abcdefghij", "klmnopqrst", "prompt$"}},
		{"cursor in a wrapped line", 10, 4, "0123456789abc\b", 20, 4, 12, 0, []string{"0123456789abc"}},
		{"pending wrap stays pending", 10, 4, "0123456789", 5, 4, 4, 1, []string{"01234", "56789"}},
		{"blank rows below go first", 10, 6, "1\r\n2\r\n3", 10, 3, 1, 2, []string{"1", "2", "3"}},
		{"the bottom stays at the bottom", 10, 3, "1\r\n2\r\n3\r\n4", 10, 2, 1, 1, []string{"3", "4"}},
		{"cursor above text is kept in sight", 10, 5, "1\r\n2\r\n3\r\n4\r\n5\x1b[2;1H", 10, 2, 0, 0, []string{"2", "3"}},
		{"a clear screen does not pull old lines", 10, 3, "1\r\n2\r\n3\r\n4\r\n5\x1b[2J\x1b[H$", 10, 5, 1, 0, []string{"$"}},
		{"wide at the edge", 6, 3, "日本語日", 5, 3, 4, 1, []string{"日本", "語日"}},
		{"wide on one column is blank", 4, 3, "日a", 1, 3, 0, 1, []string{"", "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(c.cols, c.rows, Options{})
			s.Write([]byte(c.write))
			s.Resize(c.toC, c.toR)
			if got := trimRows(s.Text()); !slices.Equal(got, c.rows0) {
				t.Errorf("rows %q, want %q", got, c.rows0)
			}
			if x, y := s.Cursor(); x != c.x || y != c.y {
				t.Errorf("cursor %d,%d, want %d,%d", x, y, c.x, c.y)
			}
		})
	}
}

func TestMarksFollowReflow(t *testing.T) {
	s := New(20, 4, Options{})
	var ids []uint64
	for i := range 8 {
		res := s.Write(fmt.Appendf(nil, "a long line that wraps at most widths %d\r\n\x1b]133;A\aprompt %d\r\n", i, i))
		for _, e := range res.Effects {
			ids = append(ids, e.Mark)
		}
	}
	check := func() {
		t.Helper()
		for i, id := range ids {
			row, ok := s.MarkRow(id)
			if !ok {
				t.Fatalf("mark %d has gone", i)
			}
			if got, want := s.TextOf(int(row-s.FirstRow()), int(row-s.FirstRow())+1)[0], fmt.Sprintf("prompt %d", i); got != want {
				t.Errorf("mark %d is at %q", i, got)
			}
		}
	}
	check()
	for _, size := range [][2]int{{10, 4}, {40, 6}, {9, 3}, {20, 4}} {
		s.Resize(size[0], size[1])
		check()
	}
}

func TestResizeReports(t *testing.T) {
	s := New(20, 5, Options{})
	if res := s.Resize(10, 5); res.Replies != nil {
		t.Error("a report that nobody asked for")
	}
	s.Write([]byte("\x1b[?2048h"))
	if res := s.Resize(30, 7); len(res.Replies) != 1 || string(res.Replies[0].Data) != "\x1b[48;7;30;0;0t" {
		t.Errorf("%+v", res.Replies)
	}
}
