// Package feed carries the host's events to its clients: a snapshot of the state with its
// sequence in one step, then the events after it (spec interfaces A1.2, style 9).
//
//	host loop ──Publish──► ring ◄──pull── Subscription.Next (one goroutine each)
//
// It has no goroutine. The ring's mutex is a leaf: nothing is called under it and nothing
// is sent but a wake-up that never waits. A subscriber holds a place in the ring and no
// queue; one that falls out of the ring gets a resync with a fresh snapshot, so that a
// slow one costs no memory and holds up nobody. It refuses events that are out of order.
package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"davit"
)

// ErrClosed says that the feed or the subscription has ended.
var ErrClosed = errors.New("the feed is closed")

// DefaultRing is how many events can be resumed over.
const DefaultRing = 4096

// Feed holds the newest events.
type Feed struct {
	mu     sync.Mutex // guards what follows; a leaf
	ring   []davit.Event
	next   int    // where the next event goes, modulo the ring
	count  int    // how many are held
	last   uint64 // sequence of the newest
	closed bool
	subs   map[*Subscription]struct{}
}

// New makes a feed that holds ringSize events (DefaultRing when that is not positive).
// last is the sequence of the state that the host starts with.
func New(ringSize int, last uint64) *Feed {
	if ringSize <= 0 {
		ringSize = DefaultRing
	}
	return &Feed{ring: make([]davit.Event, ringSize), last: last, subs: map[*Subscription]struct{}{}}
}

// Publish adds events and wakes everybody. It never waits. Each Seq is one more than the
// last one's: anything else is a broken invariant of the host.
func (f *Feed) Publish(events ...davit.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		if e.Seq != f.last+1 {
			panic(fmt.Sprintf("feed: event %d after %d", e.Seq, f.last))
		}
		f.last = e.Seq
		f.ring[f.next] = e
		f.next = (f.next + 1) % len(f.ring)
		f.count = min(f.count+1, len(f.ring))
	}
	for s := range f.subs {
		s.poke()
	}
}

// Last is the sequence of the newest event.
func (f *Feed) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Close ends every subscription after what it can still be given.
func (f *Feed) Close() {
	f.mu.Lock()
	f.closed = true
	for s := range f.subs {
		s.poke()
	}
	f.mu.Unlock()
}

// Update is one thing to tell a client: a state (at first, and after a gap) or events.
type Update struct {
	State  *davit.State  // a fresh snapshot; the client forgets what it had
	Resync bool          // State comes because events were lost to this client
	Events []davit.Event // in order, at most maxBatch
	Seq    uint64        // of what the client knows after this update
}

// maxBatch bounds one update.
const maxBatch = 256

// Subscription is one client's place in the feed.
type Subscription struct {
	feed     *Feed
	snapshot func() davit.State
	wake     chan struct{} // capacity 1: "look again"

	// Guarded by the feed's mutex.
	at     uint64 // sequence of what was given
	known  bool   // at is right; else a snapshot is due
	resync bool   // the snapshot that is due follows a gap
	closed bool

	begun bool // Next has given something; only Next's goroutine looks
}

// Subscribe makes a subscription that goes on after the sequence that the client knows,
// or starts with a snapshot (after nil, unknown, or no longer held). snapshot gives the
// state with its Seq; it is called from Next, never under a lock, and may ask the host's
// loop.
func (f *Feed) Subscribe(after *uint64, snapshot func() davit.State) *Subscription {
	s := &Subscription{feed: f, snapshot: snapshot, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	if after != nil {
		s.at = *after
		s.known = f.holds(*after)
		s.resync = !s.known
	}
	f.subs[s] = struct{}{}
	f.mu.Unlock()
	return s
}

// holds says whether every event after seq is still there. Caller holds mu.
func (f *Feed) holds(seq uint64) bool { return seq <= f.last && f.last-seq <= uint64(f.count) }

// Next waits for the next update; the first comes at once, empty when the client knows
// everything, so that one that resumes with a quiet host is greeted. One goroutine calls it.
func (s *Subscription) Next(ctx context.Context) (Update, error) {
	for {
		events, at, state := s.take()
		first := !s.begun
		s.begun = true
		switch state {
		case gives:
			return Update{Events: events, Seq: events[len(events)-1].Seq}, nil
		case behind:
			return s.fresh(), nil
		case over:
			return Update{}, ErrClosed
		case idle:
			if first {
				return Update{Seq: at}, nil
			}
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Update{}, context.Cause(ctx)
		}
	}
}

type takeState int

const (
	idle takeState = iota
	gives
	behind
	over
)

func (s *Subscription) take() (events []davit.Event, at uint64, state takeState) {
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed {
		return nil, s.at, over
	}
	if s.known && s.at < f.last && !f.holds(s.at) {
		s.known, s.resync = false, true
	}
	switch {
	case !s.known && f.closed:
		return nil, s.at, over
	case !s.known:
		return nil, s.at, behind
	case s.at < f.last:
		n := min(f.last-s.at, maxBatch)
		events = make([]davit.Event, 0, n)
		first := f.next - int(f.last-s.at)
		for i := range int(n) {
			events = append(events, f.ring[(first+i+len(f.ring))%len(f.ring)])
		}
		s.at += n
		return events, s.at, gives
	case f.closed:
		return nil, s.at, over
	}
	return nil, s.at, idle
}

// fresh takes a snapshot. Events between its Seq and the ring's newest are given next; if
// they have left the ring meanwhile, Next sees that.
func (s *Subscription) fresh() Update {
	state := s.snapshot()
	s.feed.mu.Lock()
	resync := s.resync
	s.at, s.known, s.resync = state.Seq, true, false
	s.feed.mu.Unlock()
	return Update{State: &state, Resync: resync, Seq: state.Seq}
}

// Close ends the subscription and a Next that waits.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	s.closed = true
	delete(s.feed.subs, s)
	s.feed.mu.Unlock()
	s.poke()
}

func (s *Subscription) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
