package screen

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// far are sizes from the largest that anybody has down to one cell and back.
func far(r *rand.Rand, narrowest int) [][2]int {
	sizes := [][2]int{{500, 1000}, {1000, 500}, {200, 50}, {80, 24}, {7, 3}, {narrowest, 1}, {narrowest, 1000}, {500, 1}, {120, 40}}
	for range 4 {
		sizes = append(sizes, [2]int{narrowest + r.Intn(300), 1 + r.Intn(200)})
	}
	r.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	return append(sizes, [2]int{narrowest, 1}, [2]int{500, 1000}, [2]int{1000, 500})
}

// TestReflowLosesNothing: from 500×1000 down to one cell and back every line
// is what it was, with its styles, scrollback included; a column takes half of
// a wide character only, so that text with those goes down to two (spec
// terminal P2.1).
func TestReflowLosesNothing(t *testing.T) {
	for seed := range int64(scaled(12)) {
		r := rand.New(rand.NewSource(seed))
		narrowest, wide := 1, seed%2 == 0
		if wide {
			narrowest = 2
		}
		cols, rows := 500, 1000
		if seed%3 == 0 {
			cols, rows = 20+r.Intn(100), 5+r.Intn(30)
		}
		opts := Options{ScrollbackLines: 1 << 20, ScrollbackBytes: 1 << 30}
		s := New(cols, rows, opts)
		for range 40 + r.Intn(100) {
			line := prose(r, 1)
			if !wide {
				line = bytes.Map(func(c rune) rune {
					if c > 0x7f {
						return 'w'
					}
					return c
				}, line)
			}
			s.Write(line)
		}
		want, style := logical(s), ""
		for _, size := range far(r, narrowest) {
			s.Resize(size[0], size[1])
			checkInvariants(t, s)
			if got := logical(s); !slices.Equal(got, want) {
				t.Fatalf("seed %d at %v: %d lines, want %d", seed, size, len(got), len(want))
			}
			if size[0] >= 200 {
				if got := styles(s); style == "" {
					style = got
				} else if got != style {
					t.Fatalf("seed %d at %v: other styles", seed, size)
				}
			}
			if loaded, err := Load(s.Save(), opts); err != nil || !bytes.Equal(loaded.Save(), s.Save()) {
				t.Fatalf("seed %d at %v: save and load: %v", seed, size, err)
			}
		}
	}
}

// TestReflowCursor: the cursor stays on its character, and DECSC's place on
// its own, wherever the lines go.
func TestReflowCursor(t *testing.T) {
	for seed := range int64(scaled(60)) {
		r := rand.New(rand.NewSource(seed))
		s := New(10+r.Intn(100), 4+r.Intn(30), Options{})
		s.Write(prose(r, r.Intn(60)))
		text := bytes.ReplaceAll(bytes.ReplaceAll(prose(r, 1), []byte("x"), []byte("")), []byte("|\r\n"), nil)
		s.Write(text)
		s.Write([]byte("\x1b7§" + strings.Repeat("y", r.Intn(30)) + "\x1b8"))
		if x, y := s.Cursor(); s.Cell(x, y).Text != "§" {
			continue // it wrapped: the saved place was behind the last column
		}
		for _, size := range far(r, 2) {
			s.Resize(size[0], size[1])
			checkInvariants(t, s)
			if x, y := s.Cursor(); s.Cell(x, y).Text != "§" {
				t.Fatalf("seed %d at %v: the cursor is at %d,%d on %q\n%s", seed, size, x, y, s.Cell(x, y).Text, strings.Join(trimRows(s.Text()), "\n"))
			}
		}
		s.Write([]byte("\x1b[?25h\x1b8Z"))
		if got := strings.Join(logical(s), "\n"); strings.Contains(got, "§") || strings.Count(got, "Z") != 1 {
			t.Fatalf("seed %d: DECRC went elsewhere: %q", seed, got)
		}
	}
}

// FuzzResize: any stream, any sizes, in any order: no panic, no broken cell,
// and the same again from a save between any two steps.
func FuzzResize(f *testing.F) {
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		f.Add(generate(r, 20, 5, 300, false), []byte{1, 1, 200, 7, 30, 40, 2, 1})
	}
	f.Fuzz(func(t *testing.T, data, sizes []byte) {
		if len(data) > 4<<10 || len(sizes) > 32 {
			return
		}
		opts := Options{ScrollbackLines: 100}
		s, again := New(20, 5, opts), New(20, 5, opts)
		for i := 0; i+1 < len(sizes); i += 2 {
			part := data[len(data)*i/len(sizes) : len(data)*(i+2)/len(sizes)]
			s.Write(part)
			s.Resize(int(sizes[i])%90, int(sizes[i+1])%40)
			checkInvariants(t, s)
			again.Write(part)
			var err error
			if again, err = Load(again.Save(), opts); err != nil {
				t.Fatal(err)
			}
			again.Resize(int(sizes[i])%90, int(sizes[i+1])%40)
			if !bytes.Equal(s.Save(), again.Save()) {
				t.Fatalf("a loaded screen resizes otherwise: step %d of %v, %q", i, sizes, data)
			}
			s.Snapshot(SnapshotOptions{Lines: 100})
		}
	})
}

// TestReflowLines: the sizes of P2.1 by name, with the text in full.
func TestReflowLines(t *testing.T) {
	s := New(500, 1000, Options{})
	s.Write([]byte("abc\r\n\r\nde"))
	s.Resize(1, 1)
	if got := append(s.ScrollbackText(), s.Text()...); fmt.Sprint(got) != "[a b c  d e]" {
		t.Errorf("%q", got)
	}
	s.Resize(0, 0)
	if s.Cols() != 1 || s.Rows() != 1 {
		t.Errorf("%d×%d", s.Cols(), s.Rows())
	}
	s.Resize(1000, 500)
	if got := trimRows(s.Text()); fmt.Sprint(got) != "[abc  de]" || s.ScrollbackLen() != 0 {
		t.Errorf("%q, %d lines above", got, s.ScrollbackLen())
	}
}
