package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"
)

const (
	segmentSize  = 2 << 20   // a segment is dropped as a whole
	ringKeep     = 512 << 10 // kept in memory for followers that are near the end
	troubleKeep  = 1 << 20   // kept in memory while the log cannot be written (P1.9)
	chunkMin     = 8 << 10
	chunkMax     = 64 << 10
	chunkRoom    = 4 << 10 // a chunk with less room than this is full
	replyWindow  = 2 * time.Second
	momentLength = 50 * time.Millisecond
)

// outlog is the append-only log of one output: bytes in segments, marks in an index, and
// the last bytes in memory. Appending and marking belong to the holder of the output's
// turn; everything under mu may be read by anyone. mu is a leaf: no I/O under it.
type outlog struct {
	dir, prefix, index string
	now                func() time.Time
	create             func(path string) (*os.File, error) // a new file, for appending
	segMost, ringMost  uint64
	spareMarks         int // records of no use in the index before it is written anew

	// The holder of the turn owns these.
	seg     *os.File
	segFrom uint64 // offset of its first byte
	segLen  uint64
	idx     *os.File
	unsaved []byte // marks that the index did not take yet

	mu        sync.Mutex
	start     uint64 // first offset kept
	end       uint64 // what has been told
	logged    uint64 // what the segments hold; below end only in trouble
	trouble   error
	segments  []segment
	chunks    []chunk // contiguous up to end
	marks     []Mark
	markBase  int    // number of the first of marks
	size      uint64 // in force before marks[0], packed
	moments   []moment
	forgotten uint64 // offsets up to here were logged longer ago than moments tells
	tails     map[*tail]struct{}
	eof       bool // no byte will come any more
	exited    bool // the exit mark is there
}

// segment is one file: [start, start+length).
type segment struct {
	start  uint64
	length uint64
}

// chunk is memory that is only ever appended to, so that followers read what has been
// published without a lock.
type chunk struct {
	start uint64
	data  []byte
}

// moment says that the bytes before end were logged at or shortly after at.
type moment struct {
	end uint64
	at  time.Time
}

func newOutlog(dir, prefix, index string, now func() time.Time) (*outlog, error) {
	l := &outlog{
		dir: dir, prefix: prefix, index: index, now: now, create: createFile,
		segMost: segmentSize, ringMost: ringKeep, spareMarks: spareMarks,
		tails: map[*tail]struct{}{},
	}
	idx, err := l.create(filepath.Join(dir, index))
	if err != nil {
		return nil, err
	}
	l.idx = idx
	return l, nil
}

func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

func segmentName(prefix string, start uint64) string { return fmt.Sprintf("%s.%016x", prefix, start) }

func (l *outlog) segmentPath(start uint64) string {
	return filepath.Join(l.dir, segmentName(l.prefix, start))
}

// space gives room to read into; what is read there goes to append.
func (l *outlog) space() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.chunks); n > 0 {
		last := l.chunks[n-1].data
		if cap(last)-len(last) >= chunkRoom {
			return last[len(last):cap(last)]
		}
	}
	size := chunkMin
	if n := len(l.chunks); n > 0 {
		size = min(2*cap(l.chunks[n-1].data), chunkMax)
	}
	l.chunks = append(l.chunks, chunk{start: l.end, data: make([]byte, 0, size)})
	return l.chunks[len(l.chunks)-1].data[:size]
}

// append logs the first n bytes of space, then tells them. In trouble they are told and
// kept in memory only.
func (l *outlog) append(data []byte) {
	wrote, err := 0, l.trouble // trouble is written by the turn's holder only
	if err == nil {
		wrote, err = l.write(l.end, data)
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = err
	l.grow(uint64(wrote))
	last := &l.chunks[len(l.chunks)-1]
	last.data = last.data[:len(last.data)+len(data)]
	l.end += uint64(len(data))
	l.trim()
	l.remember(now)
	l.wake()
}

// grow notes n more bytes in the last segment. Under mu.
func (l *outlog) grow(n uint64) {
	if n > 0 {
		l.segments[len(l.segments)-1].length += n
		l.logged += n
	}
}

// write puts bytes at the end of the last segment, or of a new one.
func (l *outlog) write(at uint64, data []byte) (int, error) {
	if l.seg == nil || l.segLen >= l.segMost || l.segFrom+l.segLen != at {
		seg, err := l.create(l.segmentPath(at))
		if err != nil {
			return 0, err
		}
		if l.seg != nil {
			l.seg.Close()
		}
		l.seg, l.segFrom, l.segLen = seg, at, 0
		l.mu.Lock()
		l.segments = append(l.segments, segment{start: at})
		l.mu.Unlock()
	}
	n, err := l.seg.Write(data)
	l.segLen += uint64(n)
	if l.segLen == 0 { // an empty segment is of no use, and each retry would leave one
		l.seg.Close()
		l.seg = nil
		os.Remove(l.segmentPath(at))
		l.mu.Lock()
		l.segments = l.segments[:len(l.segments)-1]
		l.mu.Unlock()
	}
	return n, err
}

// trim lets go of memory that followers can read from the segments. Under mu.
func (l *outlog) trim() {
	keep := l.ringMost
	if l.trouble != nil {
		keep = min(max(keep, l.end-l.logged), troubleKeep)
	}
	for len(l.chunks) > 1 && l.end-l.chunks[1].start >= keep {
		l.chunks[0].data = nil
		l.chunks = l.chunks[1:]
	}
}

// remember notes when bytes were logged, for replies that come too late (P2.3). Under mu.
func (l *outlog) remember(now time.Time) {
	if n := len(l.moments); n > 0 && now.Sub(l.moments[n-1].at) < momentLength {
		l.moments[n-1].end = l.end
		return
	}
	for len(l.moments) > 0 && now.Sub(l.moments[0].at) > replyWindow {
		l.forgotten = l.moments[0].end
		l.moments = l.moments[1:]
	}
	l.moments = append(l.moments, moment{l.end, now})
}

// late says whether the bytes before offset were logged more than 2 s ago, or are not
// there at all.
func (l *outlog) late(offset uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset <= l.forgotten || offset > l.end {
		return true
	}
	i := sort.Search(len(l.moments), func(i int) bool { return l.moments[i].end >= offset })
	return i == len(l.moments) || l.now().Sub(l.moments[i].at) > replyWindow
}

// retry writes what trouble kept from the log; the hole becomes a gap mark (P1.9). It
// reports whether the trouble is over. By the turn's holder.
func (l *outlog) retry() bool {
	if l.trouble == nil {
		return true
	}
	l.mu.Lock()
	from := max(l.logged, l.chunks[0].start)
	hole := from > l.logged
	var pending [][]byte
	for _, c := range l.chunks {
		if end := c.start + uint64(len(c.data)); end > from {
			pending = append(pending, c.data[max(from, c.start)-c.start:])
		}
	}
	l.mu.Unlock()
	at := from
	for _, data := range pending {
		n, err := l.write(at, data)
		l.mu.Lock()
		if hole && n > 0 {
			hole = false
			l.putMark(Mark{Kind: MarkGap, Offset: l.logged, Value: from, Time: l.now().UnixNano()})
			l.logged = from
		}
		l.grow(uint64(n))
		l.mu.Unlock()
		at += uint64(n)
		if err != nil {
			return false
		}
	}
	l.saveMarks()
	l.mu.Lock()
	l.trouble = nil
	l.wake()
	l.mu.Unlock()
	return true
}

// mark records an event at the end of the log. By the turn's holder.
func (l *outlog) mark(kind MarkKind, value uint64) Mark {
	m := Mark{Kind: kind, Offset: l.end, Value: value, Time: l.now().UnixNano()}
	l.mu.Lock()
	l.putMark(m)
	l.mu.Unlock()
	l.saveMarks()
	l.mu.Lock()
	if kind == MarkExit {
		l.exited = true
	}
	l.wake()
	l.mu.Unlock()
	return m
}

func (l *outlog) putMark(m Mark) {
	l.marks = append(l.marks, m)
	l.unsaved = AppendMark(l.unsaved, m)
}

// saveMarks writes what the index lacks. A record that was torn by a full disk is
// completed by the next try: nobody else writes the file.
func (l *outlog) saveMarks() {
	n, err := l.idx.Write(l.unsaved)
	l.unsaved = l.unsaved[n:]
	if err == nil {
		l.unsaved = nil
	}
}

// retain drops segments wholly before offset, and memory of marks that lay there.
func (l *outlog) retain(offset uint64) error {
	l.mu.Lock()
	var drop []uint64
	for len(l.segments) > 1 && l.segments[1].start <= min(offset, l.logged) {
		drop = append(drop, l.segments[0].start)
		l.segments = l.segments[1:]
		l.start = l.segments[0].start
	}
	l.dropMarks()
	l.mu.Unlock()
	var err error
	for _, start := range drop {
		err = errors.Join(err, os.Remove(l.segmentPath(start)))
	}
	return err
}

// dropMarks lets go of marks before the first byte kept, but for the size they set.
// Under mu.
func (l *outlog) dropMarks() {
	dead := 0
	for dead < len(l.marks) && l.marks[dead].Offset < l.start {
		if m := l.marks[dead]; m.Kind == MarkStart || m.Kind == MarkResize {
			l.size = m.Value
		}
		dead++
	}
	l.marks = l.marks[dead:]
	l.markBase += dead
}

// discard forgets every byte, before the files are removed.
func (l *outlog) discard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start, l.segments, l.chunks = l.end, nil, nil
	l.wake()
}

// inMemory gives the first offset that chunks hold. Under mu.
func (l *outlog) inMemory() uint64 {
	if len(l.chunks) == 0 {
		return l.end
	}
	return l.chunks[0].start
}

// setEOF says that no byte will come any more.
func (l *outlog) setEOF() {
	l.mu.Lock()
	l.eof = true
	l.wake()
	l.mu.Unlock()
}

func (l *outlog) span() Range {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Range{l.start, l.end}
}

func (l *outlog) troubled() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// closeFiles is for the turn's holder, after EOF.
func (l *outlog) closeFiles() error {
	err := l.idx.Close()
	if l.seg != nil {
		err = errors.Join(err, l.seg.Close())
	}
	return err
}
