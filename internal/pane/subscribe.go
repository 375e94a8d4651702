package pane

import (
	"context"
	"errors"
	"sync"
	"time"

	"davit"
)

// SubscribeOptions say where a client stands.
type SubscribeOptions struct {
	// From is the log offset that the client has shown; nil means nothing yet. It is
	// resumed exactly when that can be done, else a snapshot comes first (P3.1).
	From *uint64
	// Lines is how much scrollback goes into a snapshot (P3.3).
	Lines int
	// NoMargins: the client's emulator does not know left-right margins (mode 69, as
	// xterm.js). What is drawn with them comes as snapshots, redrawEvery apart.
	NoMargins bool
}

// redrawEvery bounds the snapshots of a client that cannot follow (NoMargins).
const redrawEvery = 50 * time.Millisecond

// Frame is one thing that a client shows. Data is shared and must not be changed.
type Frame struct {
	// Snapshot tells that Data draws the whole screen as of To on a reset terminal of
	// Cols×Rows; else it is the log's bytes [From, To) without their queries.
	Snapshot   bool
	From, To   uint64
	Cols, Rows int
	Data       []byte
	// Exit is set on a frame of its own once the program has ended and everything
	// before it was given. More may follow from background holders.
	Exit *davit.Exit
}

// Subscription is one client's view of a pane: snapshot, then deltas.
type Subscription struct {
	pane   *Pane
	lines  int
	plain  bool          // NoMargins
	wake   chan struct{} // capacity 1: "look again"
	resume *uint64       // guarded by the ring's mutex; nil once tried

	mu       sync.Mutex // guards what follows; a leaf
	closed   bool
	epoch    uint64 // of the ring when the cursor was last right; 0: needs a snapshot
	cursor   uint64 // end of what was given
	acked    uint64
	pending  int       // bytes of a snapshot that is not acknowledged
	pendTo   uint64    // its offset
	margins  uint64    // of the ring when the cursor was last right
	redrawn  time.Time // the last snapshot, for one that is plain
	sentExit bool
}

// Subscribe makes a subscription. It starts nothing and blocks nobody.
func (p *Pane) Subscribe(opts SubscribeOptions) *Subscription {
	s := &Subscription{pane: p, lines: max(opts.Lines, 0), plain: opts.NoMargins, wake: make(chan struct{}, 1)}
	p.ring.add(s, opts.From)
	return s
}

// Next waits for the next frame. One goroutine calls it. After Close it says ErrClosed;
// when the pane is not served any more, shutting_down.
func (s *Subscription) Next(ctx context.Context) (Frame, error) {
	for {
		var soon <-chan time.Time
		frame, what := s.pane.ring.take(s)
		switch what {
		case given:
			return frame, nil
		case closed:
			return Frame{}, ErrClosed
		case stopped:
			return Frame{}, s.pane.stopped()
		case wantsSnapshot:
			return s.snapshot(ctx)
		case waits:
		case redrawsSoon:
			soon = time.After(redrawEvery)
		}
		select {
		case <-s.wake:
		case <-soon:
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		}
	}
}

// ErrClosed says that the subscription was closed on this side.
var ErrClosed = errors.New("the subscription is closed")

// Ack says that everything up to offset was shown. A client acknowledges each snapshot,
// and deltas at the latest every Window/8 bytes.
func (s *Subscription) Ack(offset uint64) {
	s.mu.Lock()
	s.acked = max(s.acked, min(offset, s.cursor))
	if s.pending > 0 && offset >= s.pendTo {
		s.pending = 0
	}
	s.mu.Unlock()
	s.poke()
}

// Close ends the subscription and a Next that waits.
func (s *Subscription) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.pane.ring.drop(s)
	s.poke()
	return nil
}

func (s *Subscription) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// snapshot has the owner draw the screen, and puts the cursor behind it in one step.
func (s *Subscription) snapshot(ctx context.Context) (Frame, error) {
	var frame Frame
	err := s.pane.look(ctx, func() {
		frame = s.pane.draw(s.lines)
		s.mu.Lock()
		s.epoch, s.margins = s.pane.ring.epoch, s.pane.ring.margins // the owner is the ring's only writer
		s.redrawn = time.Now()
		s.cursor, s.acked, s.pendTo, s.pending = frame.To, frame.To, frame.To, len(frame.Data)
		s.mu.Unlock()
	})
	return frame, err
}

// outcome of a take.
type outcome int

const (
	waits outcome = iota
	given
	wantsSnapshot
	redrawsSoon
	closed
	stopped
)

// take gives a subscription what it may have now. Behind the ring or a boundary it wants
// a snapshot, once it has acknowledged most of what it was sent (P3.2).
func (r *ring) take(s *Subscription) (Frame, outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Frame{}, closed
	}
	if from := s.resume; from != nil && r.live {
		s.resume = nil
		if *from >= max(r.start, r.resumable) && *from <= r.published {
			s.epoch, s.cursor, s.acked = r.epoch, *from, *from
			if *from >= r.marginsTo {
				s.margins = r.margins
			}
		}
	}
	unacked := s.pending + int(s.cursor-s.acked)
	if s.epoch != r.epoch || s.cursor < r.start || s.cursor > r.published {
		switch {
		case r.closed:
			return Frame{}, stopped
		case r.live && unacked <= Window/4:
			return Frame{}, wantsSnapshot
		}
		return Frame{}, waits
	}
	if s.plain && s.margins != r.margins && r.live {
		switch {
		case unacked > Window/4:
			return Frame{}, waits
		case time.Since(s.redrawn) < redrawEvery:
			return Frame{}, redrawsSoon
		}
		return Frame{}, wantsSnapshot
	}
	if s.cursor < r.published {
		if unacked >= Window {
			if r.closed {
				return Frame{}, stopped
			}
			return Frame{}, waits
		}
		frame := r.at(s.cursor).slice(s.cursor, Window-unacked)
		frame.Cols, frame.Rows = r.cols, r.rows
		s.cursor = frame.To
		return frame, given
	}
	if r.exit != nil && !s.sentExit {
		s.sentExit = true
		return Frame{From: s.cursor, To: s.cursor, Cols: r.cols, Rows: r.rows, Exit: r.exit}, given
	}
	if r.closed {
		return Frame{}, stopped
	}
	return Frame{}, waits
}

// slice is what a client at offset gets of a segment, at most limit bytes of the log.
func (g *segment) slice(offset uint64, limit int) Frame {
	end := g.end
	if end-offset > uint64(limit) {
		end = offset + uint64(limit)
	}
	frame := Frame{From: offset, To: end}
	if lo, hi := min(offset, g.to()), min(end, g.to()); lo < hi {
		part := g.sub(lo, hi)
		frame.Data = part.buf[part.at : part.at+part.n : part.at+part.n]
	}
	return frame
}
