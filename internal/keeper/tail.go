package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
)

// tail is one follower's place in a log. It belongs to one goroutine; wake holds one
// token when there may be news (more coalesce).
type tail struct {
	l       *outlog
	pos     uint64
	mark    int // number of the next mark
	sizeDue bool
	wake    chan struct{}

	file  *os.File // the segment being read
	fileN uint64
	buf   []byte
}

// itemKind is what a tail finds at its place.
type itemKind int

const (
	itemWait  itemKind = iota // nothing yet
	itemMark                  // mark
	itemBytes                 // data, from offset at
	itemEnd                   // nothing will ever follow
)

type item struct {
	kind itemKind
	at   uint64
	data []byte // valid until the next call
	mark Mark
}

func (l *outlog) follow(from uint64) *tail {
	t := &tail{l: l, pos: from, wake: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.pos = min(t.pos, l.end)
	t.mark = l.markBase
	for _, m := range l.marks {
		if m.Offset >= t.pos && m.Kind != MarkGap {
			break
		}
		t.mark++
	}
	l.tails[t] = struct{}{}
	return t
}

func (t *tail) close() {
	t.l.mu.Lock()
	delete(t.l.tails, t)
	t.l.mu.Unlock()
	if t.file != nil {
		t.file.Close()
	}
}

// wake tells every follower that there is news. Under mu.
func (l *outlog) wake() {
	for t := range l.tails {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// next gives what comes at the follower's place and moves past it.
func (t *tail) next() (item, error) {
	it, fromFile := t.look()
	if fromFile == 0 {
		return it, nil
	}
	data, err := t.readSegment(it.at, fromFile)
	if errors.Is(err, os.ErrNotExist) { // dropped meanwhile: another look finds the gap
		if it, fromFile = t.look(); fromFile == 0 {
			return it, nil
		}
		data, err = t.readSegment(it.at, fromFile)
	}
	if err != nil {
		return item{}, err
	}
	t.pos += uint64(len(data))
	it.data = data
	return it, nil
}

// look decides what comes. A number > 0 says: that many bytes, from the segments.
func (t *tail) look() (item, int) {
	l := t.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.pos < l.start {
		return t.gap(l.start), 0
	}
	if t.sizeDue {
		t.sizeDue = false
		if m, ok := l.sizeAt(t.pos); ok {
			return item{kind: itemMark, mark: m}, 0
		}
	}
	limit := l.end
	for t.mark = max(t.mark, l.markBase); t.mark-l.markBase < len(l.marks); t.mark++ {
		m := l.marks[t.mark-l.markBase]
		// Gap marks are for the index; a follower is told the gaps that it meets.
		if m.Kind == MarkGap || m.Offset < t.pos {
			continue
		}
		if m.Offset == t.pos {
			t.mark++
			return item{kind: itemMark, mark: m}, 0
		}
		limit = min(limit, m.Offset)
		break
	}
	if t.pos >= limit {
		if l.eof && l.exited {
			return item{kind: itemEnd}, 0
		}
		return item{kind: itemWait}, 0
	}
	return t.bytes(limit)
}

// bytes finds where [pos, limit) begins: in memory, in a segment, or behind a hole.
func (t *tail) bytes(limit uint64) (item, int) {
	l := t.l
	it := item{kind: itemBytes, at: t.pos}
	if t.pos >= l.inMemory() {
		i := sort.Search(len(l.chunks), func(i int) bool { return l.chunks[i].start > t.pos }) - 1
		c := l.chunks[i]
		it.data = c.data[t.pos-c.start : min(uint64(len(c.data)), limit-c.start)]
		t.pos += uint64(len(it.data))
		t.buf = nil
		return it, 0
	}
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].start > t.pos }) - 1
	if i >= 0 {
		if s := l.segments[i]; t.pos < s.start+s.length {
			return it, int(min(s.start+s.length, limit, t.pos+MaxData) - t.pos)
		}
	}
	next := l.inMemory()
	if i+1 < len(l.segments) {
		next = min(next, l.segments[i+1].start)
	}
	return t.gap(next), 0
}

// gap moves to an offset that is kept again; the size in force there comes next.
func (t *tail) gap(to uint64) item {
	m := Mark{Kind: MarkGap, Offset: t.pos, Value: to, Time: t.l.now().UnixNano()}
	t.pos = to
	t.sizeDue = true
	return item{kind: itemMark, mark: m}
}

// sizeAt gives the size in force before the marks at offset as a resize mark. Under mu.
func (l *outlog) sizeAt(offset uint64) (Mark, bool) {
	size := l.size
	for _, m := range l.marks {
		if m.Offset >= offset {
			break
		}
		if m.Kind == MarkStart || m.Kind == MarkResize {
			size = m.Value
		}
	}
	return Mark{Kind: MarkResize, Offset: offset, Value: size, Time: l.now().UnixNano()}, size != 0
}

// readSegment reads up to n bytes of the log at offset at.
func (t *tail) readSegment(at uint64, n int) ([]byte, error) {
	if t.file == nil || at < t.fileN || !t.l.within(t.fileN, at) {
		if err := t.openSegment(at); err != nil {
			return nil, err
		}
	}
	if cap(t.buf) < MaxData {
		t.buf = make([]byte, MaxData)
	}
	got, err := t.file.ReadAt(t.buf[:n], int64(at-t.fileN))
	if got > 0 {
		return t.buf[:got], nil
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("segment %x ends before %x", t.fileN, at)
	}
	return nil, err
}

func (t *tail) openSegment(at uint64) error {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
	start, ok := t.l.segmentOf(at)
	if !ok {
		return os.ErrNotExist
	}
	file, err := os.Open(t.l.segmentPath(start))
	if err != nil {
		return err
	}
	t.file, t.fileN = file, start
	return nil
}

func (l *outlog) segmentOf(at uint64) (uint64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.segments) - 1; i >= 0; i-- {
		if s := l.segments[i]; at >= s.start && at < s.start+s.length {
			return s.start, true
		}
	}
	return 0, false
}

// within says whether the segment that begins at start holds offset at.
func (l *outlog) within(start, at uint64) bool {
	s, ok := l.segmentOf(at)
	return ok && s == start
}
