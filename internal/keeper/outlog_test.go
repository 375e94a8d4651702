package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// put logs bytes as a reader would.
func (l *outlog) put(data []byte) {
	for len(data) > 0 {
		n := copy(l.space(), data)
		l.append(l.space()[:n])
		data = data[n:]
	}
}

// collect reads everything that a tail finds, checking that it is in order.
func collect(t rapidOrT, tl *tail) (data []byte, marks []Mark) {
	from := tl.pos
	for {
		it, err := tl.next()
		if err != nil {
			t.Fatalf("next: %v", err)
		}
		switch it.kind {
		case itemBytes:
			if it.at != from || len(it.data) == 0 {
				t.Fatalf("%d bytes at %d, expected at %d", len(it.data), it.at, from)
			}
			from += uint64(len(it.data))
			data = append(data, it.data...)
		case itemMark:
			if it.mark.Offset != from {
				t.Fatalf("mark %+v at %d", it.mark, from)
			}
			marks = append(marks, it.mark)
			if it.mark.Kind == MarkGap {
				from = it.mark.Value
			}
		default:
			return data, marks
		}
	}
}

type rapidOrT interface{ Fatalf(string, ...any) }

// Whatever is logged, marked and dropped in whatever order, and wherever a follower
// begins, it reads what was logged from there on, or a gap.
func TestOutlogProperty(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		pane := filepath.Join(dir, fmt.Sprint(run))
		if err := os.Mkdir(pane, 0o700); err != nil {
			t.Fatalf("%v", err)
		}
		l, err := newOutlog(pane, "log", "index", time.Now)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer l.closeFiles()
		l.segMost, l.ringMost = 40_000, 20_000 // small, so that a run is quick
		l.mark(MarkStart, packSize(80, 24))
		var all []byte
		var marks []Mark
		live := l.follow(0)
		defer live.close()
		var liveData []byte
		var liveMarks []Mark
		seed := byte(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"bytes", "bytes", "bytes", "flood", "resize", "resize", "retain", "read"}).Draw(t, "step") {
			case "bytes":
				seed++
				data := bytes.Repeat([]byte{seed}, rapid.IntRange(1, 5000).Draw(t, "n"))
				l.put(data)
				all = append(all, data...)
			case "flood":
				seed++
				data := bytes.Repeat([]byte{seed}, rapid.IntRange(10_000, 150_000).Draw(t, "n"))
				l.put(data)
				all = append(all, data...)
			case "resize":
				marks = append(marks, l.mark(MarkResize, packSize(rapid.IntRange(1, 500).Draw(t, "cols"), 24)))
			case "retain":
				if err := l.retain(rapid.Uint64Range(0, uint64(len(all))).Draw(t, "offset")); err != nil {
					t.Fatalf("retain: %v", err)
				}
			case "read":
				d, m := collect(t, live)
				liveData, liveMarks = append(liveData, d...), append(liveMarks, m...)
			}
		}
		d, m := collect(t, live)
		liveData, liveMarks = append(liveData, d...), append(liveMarks, m...)
		gaps := slices.ContainsFunc(liveMarks, func(m Mark) bool { return m.Kind == MarkGap })
		if !gaps && (!bytes.Equal(liveData, all) || len(liveMarks) != len(marks)+1) {
			t.Fatalf("a follower from the start read %d bytes and %d marks of %d and %d", len(liveData), len(liveMarks), len(all), len(marks)+1)
		}
		from := rapid.Uint64Range(0, uint64(len(all))).Draw(t, "from")
		tl := l.follow(from)
		defer tl.close()
		data, got := collect(t, tl)
		start := max(from, l.start)
		if !bytes.Equal(data, all[start:]) {
			t.Fatalf("from %d (kept from %d): %d bytes, want %d", from, l.start, len(data), len(all[start:]))
		}
		size := uint64(0)
		for _, m := range got {
			if m.Kind == MarkResize || m.Kind == MarkStart {
				size = m.Value
			}
		}
		if n := len(marks); n > 0 && marks[n-1].Offset >= start && size != marks[n-1].Value {
			t.Fatalf("the last size told is %d, want %d", size, marks[n-1].Value)
		}
		checkDisk(t, pane, l, all)
	})
}

// checkDisk compares the segments and the index with what was logged.
func checkDisk(t rapidOrT, dir string, l *outlog, all []byte) {
	var disk []byte
	for _, s := range l.segments {
		b, err := os.ReadFile(l.segmentPath(s.start))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if uint64(len(b)) != s.length || s.start != l.start+uint64(len(disk)) {
			t.Fatalf("segment %d has %d bytes, believed %d, after %d", s.start, len(b), s.length, len(disk))
		}
		disk = append(disk, b...)
	}
	if !bytes.Equal(disk, all[l.start:]) {
		t.Fatalf("the segments do not hold what was logged")
	}
	b, err := os.ReadFile(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if _, damaged := ParseIndex(b); damaged > 0 {
		t.Fatalf("%d damaged marks", damaged)
	}
}

// A full disk: the program is read on, followers that are near read on, the last 1 MiB
// waits in memory, and what is then missing on disk is a gap mark (spec terminal P1.9).
func TestOutlogDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	dir := filepath.Join(t.TempDir(), "panes", "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := newOutlog(dir, "log", "index", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	live := l.follow(0)
	var all []byte
	put := func(n int) {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(len(all) + i)
		}
		l.put(data)
		all = append(all, data...)
	}
	put(segmentSize)
	first, _ := collect(t, live)
	full := true
	l.create = func(path string) (*os.File, error) {
		if full {
			return os.OpenFile("/dev/full", os.O_WRONLY, 0)
		}
		return createFile(path)
	}
	for range 40 {
		put(100_000)
		more, marks := collect(t, live)
		first = append(first, more...)
		if len(marks) != 0 {
			t.Fatalf("a follower that is near was told %+v", marks)
		}
	}
	if l.troubled() == nil || l.retry() {
		t.Fatal("no trouble")
	}
	held := 0
	for _, c := range l.chunks {
		held += len(c.data)
	}
	if held > troubleKeep+2*chunkMax {
		t.Errorf("%d bytes are held", held)
	}
	full = false
	if !l.retry() || l.troubled() != nil {
		t.Fatalf("still in trouble: %v", l.troubled())
	}
	put(1000)
	more, _ := collect(t, live)
	if !bytes.Equal(append(first, more...), all) {
		t.Error("the follower that was near missed something")
	}
	late := l.follow(0)
	data, marks := collect(t, late)
	var gap Mark
	for _, m := range marks {
		if m.Kind == MarkGap {
			gap = m
		}
	}
	if gap.Offset != segmentSize || gap.Value <= gap.Offset || uint64(len(all))-gap.Value < troubleKeep/2 {
		t.Fatalf("gap %+v of %d", gap, len(all))
	}
	if want := append(bytes.Clone(all[:gap.Offset]), all[gap.Value:]...); !bytes.Equal(data, want) {
		t.Error("what is left is not what was printed")
	}
	b, err := os.ReadFile(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	dead, err := OpenDead(filepath.Dir(filepath.Dir(dir)), filepath.Base(dir), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	var read []byte
	for {
		f, err := dead.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, f.Data...)
	}
	if !bytes.Equal(read, data) {
		t.Error("reading it without a keeper gives something else")
	}
	saved, damaged := ParseIndex(b)
	if damaged != 0 || len(saved) != 1 || saved[0].Kind != MarkGap || saved[0].Offset != gap.Offset || saved[0].Value != gap.Value {
		t.Errorf("the index holds %+v (%d damaged), want the gap %+v", saved, damaged, gap)
	}
}

// Replies: the age of a query is known for 2 s, and older is late.
func TestOutlogLate(t *testing.T) {
	now := time.Unix(1000, 0)
	l, err := newOutlog(t.TempDir(), "log", "index", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	l.put([]byte("0123456789"))
	now = now.Add(1900 * time.Millisecond)
	l.put([]byte("abcdefghij"))
	for _, c := range []struct {
		wait   time.Duration
		offset uint64
		late   bool
	}{{0, 10, false}, {0, 11, false}, {0, 20, false}, {0, 21, true}, {200 * time.Millisecond, 10, true}, {0, 11, false}, {2 * time.Second, 20, true}} {
		now = now.Add(c.wait)
		if got := l.late(c.offset); got != c.late {
			t.Errorf("offset %d after %s: late %v", c.offset, now.Sub(time.Unix(1000, 0)), got)
		}
	}
}
