package pane

import (
	"sort"
	"sync"

	"davit"
	"davit/screen"
)

// chunkBytes is the size of the buffers that the reader copies output into: the one copy
// of a byte in this package. Buffers are written once and shared from then on.
const chunkBytes = 64 << 10

// maxSegments bounds the ring's bookkeeping under a flood of queries.
const maxSegments = 16 << 10

// piece is a range of the log that lies in one buffer.
type piece struct {
	from uint64
	buf  []byte // whole buffer
	at   int    // where the piece begins in it
	n    int
}

func (c piece) to() uint64 { return c.from + uint64(c.n) }

// sub is the part [from, to) of c.
func (c piece) sub(from, to uint64) piece {
	return piece{from: from, buf: c.buf, at: c.at + int(from-c.from), n: int(to - from)}
}

// segment is output as clients get it: data, perhaps followed by a range of the log that
// was cut out (a query). So to−from ≥ n.
type segment struct {
	piece
	end uint64 // end of what it stands for in the log
}

// ring holds the newest output of a pane for its subscribers. Its owner appends and never
// waits; subscribers take. Its mutex is a leaf: no call is made under it but the
// non-blocking pokes and a subscription's own leaf.
type ring struct {
	mu        sync.Mutex
	segs      []segment
	start     uint64 // first offset that can be resumed from
	published uint64 // end of what clients may have: where the parser has nothing unfinished
	resumable uint64 // one past the last resize or gap: clients from before it cannot resume
	epoch     uint64 // grows with each resize or gap (sync boundary)
	margins   uint64 // grows with output that used left-right margins
	marginsTo uint64 // end of the newest of it
	live      bool   // caught up with the log: clients are served
	cols      int    // size of the newest output
	rows      int
	exit      *davit.Exit
	subs      map[*Subscription]struct{}
	closed    bool
}

func (r *ring) init() {
	r.epoch, r.margins = 1, 1
	r.subs = map[*Subscription]struct{}{}
}

// goLive begins to serve clients.
func (r *ring) goLive() {
	r.mu.Lock()
	r.live = true
	r.wakeAll()
	r.mu.Unlock()
}

// open puts the ring behind what was restored.
func (r *ring) open(offset, resumable uint64, cols, rows int) {
	r.mu.Lock()
	r.segs, r.start, r.published = nil, offset, offset
	r.resumable, r.cols, r.rows = resumable, cols, rows
	r.mu.Unlock()
}

// bound makes a sync boundary at the log's offset at: everybody needs a snapshot. What
// is not published yet starts at safe.
func (r *ring) bound(at, safe uint64, cols, rows int) {
	r.mu.Lock()
	r.segs, r.start, r.published = nil, safe, safe
	r.resumable, r.cols, r.rows = at+1, cols, rows
	r.epoch++
	r.wakeAll()
	r.mu.Unlock()
}

// append adds the output of pieces up to safe without the cut ranges, and wakes clients.
func (r *ring) append(pieces []piece, cuts []screen.Range, safe uint64) {
	r.mu.Lock()
	for _, c := range pieces {
		at, end := max(c.from, r.published), min(c.to(), safe)
		for at < end {
			for len(cuts) > 0 && cuts[0].To <= at {
				cuts = cuts[1:]
			}
			switch {
			case len(cuts) == 0 || cuts[0].From >= end:
				r.push(c.sub(at, end))
				at = end
			case cuts[0].From > at:
				r.push(c.sub(at, cuts[0].From))
				at = cuts[0].From
			default:
				to := min(cuts[0].To, end)
				r.cut(at, to)
				at = to
			}
		}
		r.published = max(r.published, end)
	}
	r.trim()
	r.wakeAll()
	r.mu.Unlock()
}

func (r *ring) push(c piece) {
	if n := len(r.segs); n > 0 {
		last := &r.segs[n-1]
		if last.end == last.to() && last.end == c.from && last.at+last.n == c.at && &last.buf[0] == &c.buf[0] {
			last.n += c.n
			last.end = c.to()
			return
		}
	}
	r.segs = append(r.segs, segment{piece: c, end: c.to()})
}

func (r *ring) cut(from, to uint64) {
	if n := len(r.segs); n > 0 && r.segs[n-1].end == from {
		r.segs[n-1].end = to
		return
	}
	r.segs = append(r.segs, segment{piece: piece{from: from}, end: to})
}

// sided notes that what comes up to an offset is drawn with left-right margins: a client
// whose emulator does not know them needs a snapshot (SubscribeOptions.NoMargins).
func (r *ring) sided(to uint64) {
	r.mu.Lock()
	r.margins++
	r.marginsTo = max(r.marginsTo, to)
	r.mu.Unlock()
}

// trim drops the oldest output beyond the bounds.
func (r *ring) trim() {
	drop := 0
	for drop < len(r.segs)-1 && (r.published-r.segs[drop].end >= ringBytes || len(r.segs)-drop > maxSegments) {
		r.segs[drop] = segment{}
		drop++
	}
	if drop > 0 {
		r.segs = r.segs[drop:]
		r.start = r.segs[0].from
	}
}

func (r *ring) wakeAll() {
	for s := range r.subs {
		s.poke()
	}
}

func (r *ring) end(exit *davit.Exit) {
	r.mu.Lock()
	r.exit = exit
	r.wakeAll()
	r.mu.Unlock()
}

func (r *ring) close() {
	r.mu.Lock()
	r.closed = true
	r.wakeAll()
	r.mu.Unlock()
}

// add takes a subscription in. One that comes with an offset resumes exactly when what
// follows is still here and no resize lies between (P3.1).
func (r *ring) add(s *Subscription, from *uint64) {
	r.mu.Lock()
	r.subs[s] = struct{}{}
	s.resume = from
	r.mu.Unlock()
	s.poke()
}

func (r *ring) drop(s *Subscription) {
	r.mu.Lock()
	delete(r.subs, s)
	r.mu.Unlock()
}

// safe is the end of what clients may have.
func (r *ring) safe() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.published
}

// at finds the segment that holds offset, which is below published.
func (r *ring) at(offset uint64) *segment {
	i := sort.Search(len(r.segs), func(i int) bool { return r.segs[i].end > offset })
	return &r.segs[i]
}
