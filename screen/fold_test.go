package screen

import (
	"bytes"
	"math/rand"
	"reflect"
	"slices"
	"testing"
)

// merged puts the results of several writes together.
func (a Result) merged(b Result) Result {
	for _, r := range b.Replies {
		if n := len(a.Replies); n > 0 && a.Replies[n-1].At == r.At {
			a.Replies[n-1].Data = append(a.Replies[n-1].Data, r.Data...)
		} else {
			a.Replies = append(a.Replies, r)
		}
	}
	a.Effects = append(a.Effects, b.Effects...)
	a.Queries = append(a.Queries, b.Queries...)
	return a
}

// checkFold holds every split of data, with a save and load between the
// parts, to the state and the results of one write (spec terminal P2).
func checkFold(t *testing.T, data []byte, cols, rows int, cuts []int) {
	t.Helper()
	opts := Options{ScrollbackLines: 50}
	whole := New(cols, rows, opts)
	want := whole.Write(data)
	saved := whole.Save()
	checkInvariants(t, whole)

	split := New(cols, rows, opts)
	reloaded := New(cols, rows, opts)
	var got, again Result
	at := 0
	for _, cut := range append(cuts, len(data)) {
		if cut < at {
			continue
		}
		got = got.merged(split.Write(data[at:cut]))
		again = again.merged(reloaded.Write(data[at:cut]))
		body := reloaded.Save()
		var err error
		if reloaded, err = Load(body, opts); err != nil {
			t.Fatalf("load of a save: %v", err)
		}
		if !bytes.Equal(reloaded.Save(), body) {
			t.Fatalf("a loaded screen saves other bytes after %q", data[:cut])
		}
		at = cut
	}
	if !bytes.Equal(split.Save(), saved) {
		t.Fatalf("split at %v differs for %q", cuts, data)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("split at %v: results %+v, want %+v for %q", cuts, got, want, data)
	}
	if !bytes.Equal(reloaded.Save(), saved) || !reflect.DeepEqual(again, want) {
		t.Fatalf("save and load at %v differ for %q", cuts, data)
	}
}

// checkInvariants looks for what must hold of any screen.
func checkInvariants(t *testing.T, s *Screen) {
	t.Helper()
	for _, g := range []*grid{s.main, s.alt} {
		if g == nil {
			continue
		}
		if len(g.rows) != s.rows {
			t.Fatalf("%d rows, want %d", len(g.rows), s.rows)
		}
		for y, r := range g.rows {
			if len(r.cells) != s.cols {
				t.Fatalf("row %d has %d cells, want %d", y, len(r.cells), s.cols)
			}
			for x, c := range r.cells {
				if x >= r.used && c != 0 {
					t.Fatalf("cell %d,%d is not zero but not used", x, y)
				}
				if c&cellWide != 0 && (x+1 >= s.cols || r.cells[x+1]&cellTail == 0) {
					t.Fatalf("wide cell %d,%d has no tail", x, y)
				}
				if c&cellTail != 0 && (x == 0 || r.cells[x-1]&cellWide == 0) {
					t.Fatalf("tail %d,%d has no head", x, y)
				}
				if int(c.style()) >= len(s.styles.values) {
					t.Fatalf("cell %d,%d has no style", x, y)
				}
			}
		}
		if c := g.cursor; c.x < 0 || c.x > s.cols || c.y < 0 || c.y >= s.rows || c.x == s.cols && !c.pending {
			t.Fatalf("cursor %+v", c)
		}
	}
	if x, y := s.Cursor(); x < 0 || x >= s.cols || y < 0 || y >= s.rows {
		t.Fatalf("cursor %d,%d", x, y)
	}
	if s.SafeOffset() > s.Offset() {
		t.Fatalf("safe offset %d past %d", s.SafeOffset(), s.Offset())
	}
}

func TestSplit(t *testing.T) {
	for seed := range int64(250) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 1+r.Intn(40), 1+r.Intn(12)
		data := generate(r, cols, rows, 20+r.Intn(1500), false)
		var cuts []int
		for range r.Intn(12) {
			cuts = append(cuts, r.Intn(len(data)))
		}
		slices.Sort(cuts)
		checkFold(t, data, cols, rows, cuts)
	}
}

func FuzzSplit(f *testing.F) {
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		f.Add(generate(r, 20, 5, 200, false), uint8(20), uint8(5), uint16(50), uint16(120))
	}
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8, a, b uint16) {
		if len(data) > 4<<10 {
			return
		}
		cuts := []int{min(int(a), len(data)), min(int(b), len(data))}
		slices.Sort(cuts)
		checkFold(t, data, 1+int(cols)%60, 1+int(rows)%20, cuts)
	})
}

// FuzzLoad: hostile checkpoints never panic (spec terminal P1.4), and what
// loads can be used.
func FuzzLoad(f *testing.F) {
	for seed := range int64(10) {
		r := rand.New(rand.NewSource(seed))
		s := New(10, 4, Options{})
		s.Write(generate(r, 10, 4, 300, false))
		f.Add(s.Save())
	}
	f.Fuzz(useLoaded)
}

func useLoaded(t *testing.T, data []byte) {
	s, err := Load(data, Options{ScrollbackLines: 20})
	if err != nil {
		return
	}
	s.Snapshot(SnapshotOptions{Lines: 100})
	s.Lines(0, 100)
	s.TextOf(0, 100)
	s.Write([]byte("x\u0301日\x1b[b\x1b8x\x1b[?1049hx\x1b[?1049l\r\nx"))
	s.Resize(7, 3)
	s.Resize(30, 9)
	s.Write([]byte("\x1b[3b日本\b\b\bx\x1b[5@\x1b[2Px"))
	s.Snapshot(SnapshotOptions{Lines: 100})
}

// TestLoadDamaged flips and cuts real checkpoints.
func TestLoadDamaged(t *testing.T) {
	for seed := range int64(150) {
		r := rand.New(rand.NewSource(seed))
		s := New(1+r.Intn(20), 1+r.Intn(6), Options{})
		s.Write(generate(r, 20, 6, 400, false))
		body := s.Save()
		for range 10 {
			hostile := slices.Clone(body)
			for range 1 + r.Intn(4) {
				hostile[r.Intn(len(hostile))] = byte(r.Intn(256))
			}
			useLoaded(t, hostile)
		}
		useLoaded(t, body[:r.Intn(len(body))])
	}
	if _, err := Load([]byte("dvsc\x02"), Options{}); err == nil {
		t.Error("a newer version loads")
	}
}
