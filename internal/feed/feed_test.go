package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"davit"
	"davit/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is the smallest thing that a feed serves: a state with one notice that is
// replaced by each event.
type host struct {
	mu    sync.Mutex
	state davit.State
	feed  *Feed
}

func newHost(ring int) *host { return &host{feed: New(ring, 0)} }

func (h *host) event() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Seq++
	h.state.Notices = []davit.Notice{{ID: fmt.Sprint(h.state.Seq)}}
	h.feed.Publish(davit.Event{Seq: h.state.Seq, Kind: davit.EventNotice, Notice: &h.state.Notices[0]})
}

func (h *host) snapshot() davit.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// client applies updates as a page does and refuses what it could not show.
type client struct {
	seq     uint64
	shown   string
	resyncs int
}

func (c *client) apply(u Update) error {
	if u.State != nil {
		if u.Resync {
			c.resyncs++
		}
		c.seq, c.shown = u.State.Seq, ""
		if n := u.State.Notices; len(n) > 0 {
			c.shown = n[0].ID
		}
	}
	for _, e := range u.Events {
		if e.Seq != c.seq+1 {
			return fmt.Errorf("event %d after %d", e.Seq, c.seq)
		}
		c.seq, c.shown = e.Seq, e.Notice.ID
	}
	if u.Seq != c.seq {
		return fmt.Errorf("the update says %d, the client is at %d", u.Seq, c.seq)
	}
	return nil
}

func next(t *testing.T, s *Subscription) Update {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	u, err := s.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestFirstASnapshotThenWhatFollows(t *testing.T) {
	h := newHost(8)
	h.event()
	s := h.feed.Subscribe(nil, h.snapshot)
	defer s.Close()
	var c client
	if err := c.apply(next(t, s)); err != nil || c.shown != "1" || c.resyncs != 0 {
		t.Fatalf("shown %q, resyncs %d, %v", c.shown, c.resyncs, err)
	}
	h.event()
	h.event()
	for c.seq < 3 {
		if err := c.apply(next(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	if c.shown != "3" {
		t.Fatalf("shown %q", c.shown)
	}
}

func TestResumeWhileTheRingHolds(t *testing.T) {
	h := newHost(4)
	for range 10 {
		h.event()
	}
	for after, resync := range map[uint64]bool{10: false, 8: false, 6: false, 5: true, 0: true, 11: true} {
		s := h.feed.Subscribe(&after, h.snapshot)
		c := client{seq: after}
		u := next(t, s) // at once, also for one that knows everything
		if err := c.apply(u); err != nil {
			t.Errorf("after %d: %v", after, err)
		}
		if (u.State != nil) != resync || u.Resync != resync || u.Seq != 10 {
			t.Errorf("after %d: a snapshot: %v, want %v; at %d", after, u.State != nil, resync, u.Seq)
		}
		if c.seq != 10 {
			t.Errorf("after %d: arrived at %d", after, c.seq)
		}
		s.Close()
	}
}

// A subscriber that sleeps through more than the ring is told so, and costs nothing.
func TestOverflowIsAResync(t *testing.T) {
	h := newHost(4)
	s := h.feed.Subscribe(nil, h.snapshot)
	defer s.Close()
	var c client
	if err := c.apply(next(t, s)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		h.event()
	}
	u := next(t, s)
	if err := c.apply(u); err != nil || !u.Resync || c.shown != "100" {
		t.Fatalf("resync %v, shown %q, %v", u.Resync, c.shown, err)
	}
}

// The host may have applied events to its state that it has not published yet.
func TestASnapshotAheadOfTheRing(t *testing.T) {
	f := New(4, 0)
	s := f.Subscribe(nil, func() davit.State { return davit.State{Seq: 2} })
	defer s.Close()
	if u := next(t, s); u.Seq != 2 {
		t.Fatalf("seq %d", u.Seq)
	}
	f.Publish(davit.Event{Seq: 1}, davit.Event{Seq: 2}, davit.Event{Seq: 3})
	u := next(t, s)
	if u.State != nil || len(u.Events) != 1 || u.Events[0].Seq != 3 {
		t.Fatalf("got %+v", u)
	}
}

func TestCloseEndsAWaitingNext(t *testing.T) {
	for name, end := range map[string]func(*Feed, *Subscription){
		"subscription": func(_ *Feed, s *Subscription) { s.Close() },
		"feed":         func(f *Feed, _ *Subscription) { f.Close() },
	} {
		h := newHost(4)
		s := h.feed.Subscribe(nil, h.snapshot)
		next(t, s)
		done := make(chan error, 1)
		go func() { _, err := s.Next(context.Background()); done <- err }()
		end(h.feed, s)
		select {
		case err := <-done:
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: Next still waits", name)
		}
		s.Close()
	}
}

func TestOutOfOrderIsOurBug(t *testing.T) {
	f := New(4, 7)
	defer func() {
		if recover() == nil {
			t.Error("event 9 after 7 was taken")
		}
	}()
	f.Publish(davit.Event{Seq: 9})
}

// Many clients at their own pace, some leaving and coming back: each sees every event or
// a snapshot in its place, and ends up with what the host has.
func TestManyClientsConverge(t *testing.T) {
	const events = 3000
	h := newHost(64)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			var c client
			s := h.feed.Subscribe(nil, h.snapshot)
			defer func() { s.Close() }()
			for c.seq < events {
				if rng.IntN(20) == 0 {
					s.Close()
					s = h.feed.Subscribe(&c.seq, h.snapshot)
				}
				u, err := s.Next(ctx)
				if err == nil {
					err = c.apply(u)
				}
				if err != nil {
					t.Errorf("client %d at %d: %v", i, c.seq, err)
					return
				}
				if i%2 == 0 {
					for range rng.IntN(5000) { // a slower one
					}
				}
			}
			if c.shown != fmt.Sprint(events) {
				t.Errorf("client %d shows %s", i, c.shown)
			}
		})
	}
	for range events {
		h.event()
	}
	wait.Wait()
	testenv.Eventually(t, time.Second, func() (bool, string) {
		h.feed.mu.Lock()
		defer h.feed.mu.Unlock()
		return len(h.feed.subs) == 0, fmt.Sprint(len(h.feed.subs), " subscriptions left behind")
	})
}
