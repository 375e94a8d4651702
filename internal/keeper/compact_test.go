package keeper

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The index of a program that is resized for ever stays small, a follower misses no mark,
// and who reads it without a keeper finds size, marks and exit as they were, also after a
// keeper that was killed while it wrote (spec terminal P1.4, P1.5).
func TestIndexStaysBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "panes", "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := newOutlog(dir, "log", "index", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	l.segMost, l.ringMost = 1000, 100
	l.mark(MarkStart, packSize(80, 24))
	index := filepath.Join(dir, "index")
	if err := os.WriteFile(index+".new", []byte("half of one"), 0o600); err != nil { // a keeper was killed here
		t.Fatal(err)
	}
	live := l.follow(0)
	defer live.close()
	told, largest := 0, int64(0)
	const rounds = 9000
	for i := range rounds {
		l.mark(MarkResize, packSize(1+i%500, 24))
		l.put(bytes.Repeat([]byte{byte(i)}, 10))
		if i == rounds/2 {
			l.mark(MarkExit, packExit(&ExitStatus{Code: 7})) // of a program whose children print on
		}
		if i%100 == 99 {
			_, marks := collect(t, live)
			told += len(marks)
			if err := l.retain(l.end - 2000); err != nil {
				t.Fatal(err)
			}
			if err := l.compact(); err != nil {
				t.Fatal(err)
			}
			if st, err := os.Stat(index); err != nil {
				t.Fatal(err)
			} else if largest = max(largest, st.Size()); st.Size()%MarkSize != 0 {
				t.Fatalf("the index has %d bytes", st.Size())
			}
		}
	}
	if told != rounds+2 {
		t.Errorf("a follower was told %d marks of %d", told, rounds+2)
	}
	if most := int64(MarkSize * (spareMarks + 600)); largest > most {
		t.Errorf("the index grew to %d bytes, at most %d", largest, most)
	}
	if _, err := os.Stat(index + ".new"); !os.IsNotExist(err) {
		t.Errorf("the temporary file stays: %v", err)
	}
	if err := l.closeFiles(); err != nil {
		t.Fatal(err)
	}
	dead, err := OpenDead(filepath.Dir(filepath.Dir(dir)), "p", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	if dead.Damaged != 0 || dead.Exit == nil || dead.Exit.Code != 7 || dead.Range != (Range{l.start, l.end}) {
		t.Errorf("%d damaged, exit %+v, %+v", dead.Damaged, dead.Exit, dead.Range)
	}
	at := uint64(0)
	var sizes []int
	for {
		f, err := dead.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.From != at {
			t.Fatalf("a frame at %d, expected at %d", f.From, at)
		}
		at = f.To
		if f.Kind == Resize {
			sizes = append(sizes, f.Cols)
		}
	}
	// Each resize comes before ten bytes: the size at an offset is known by it.
	for i, cols := range sizes {
		if want := 1 + (rounds-len(sizes)+i)%500; i > 0 && cols != want {
			t.Fatalf("size %d of %d is %d, want %d", i, len(sizes), cols, want)
		}
	}
	if len(sizes) < 200 {
		t.Errorf("%d sizes are left", len(sizes))
	}
	if err := removeLogs(dir); err != nil {
		t.Errorf("forget: %v", err)
	}
}

// What stays of an index: the size in force at the first byte kept, the exit, and every
// mark from there on.
func TestKeepMarks(t *testing.T) {
	start, one, two := Mark{Kind: MarkStart, Value: 1}, Mark{Kind: MarkResize, Offset: 10, Value: 2}, Mark{Kind: MarkResize, Offset: 20, Value: 3}
	gap, exit := Mark{Kind: MarkGap, Offset: 12, Value: 15}, Mark{Kind: MarkExit, Offset: 16}
	all := []Mark{start, one, gap, exit, two}
	for from, want := range map[uint64][]Mark{0: all, 10: all, 11: {one, gap, exit, two}, 20: {one, exit, two}, 21: {exit, two}} {
		got := keepMarks(all, from)
		if len(got) != len(want) {
			t.Errorf("from %d: %+v", from, got)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("from %d: mark %d is %+v", from, i, got[i])
			}
		}
	}
}
