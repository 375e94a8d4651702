package pane

import (
	"context"
	"slices"
	"sync"
)

// outbox carries events from the owner to Config.Events, so that a slow host never holds
// a pane. Bounded: state events of one kind replace each other while they wait; past the
// bound the oldest that View or Blocks tell anyway goes, and is counted.
type outbox struct {
	mu      sync.Mutex // guards the next two; a leaf
	queue   []Event
	dropped uint64
	wake    chan struct{} // capacity 1
}

func (o *outbox) init() { o.wake = make(chan struct{}, 1) }

func (o *outbox) push(e Event) {
	o.mu.Lock()
	n := len(o.queue)
	switch {
	case n > 0 && o.queue[n-1].Kind == e.Kind && e.Kind.replaces():
		o.queue[n-1] = e
	case n >= eventQueue:
		i := max(slices.IndexFunc(o.queue, func(q Event) bool { return !q.Kind.keeps() }), 0)
		o.queue = slices.Delete(o.queue, i, i+1)
		o.dropped++
		fallthrough
	default:
		o.queue = append(o.queue, e)
	}
	o.mu.Unlock()
	poke(o.wake)
}

func (o *outbox) take() []Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.queue
	o.queue = nil
	return batch
}

// run lets events go. Those that must happen at most once go after the store knows
// (P2.3); when it cannot be told they are left out rather than done twice.
func (o *outbox) run(p *Pane) func(context.Context) {
	return func(ctx context.Context) {
		for {
			select {
			case <-o.wake:
			case <-ctx.Done():
				return
			}
			batch := o.take()
			once := uint64(0)
			for _, e := range batch {
				if e.Kind.once() {
					once = max(once, e.At)
				}
			}
			stored := once == 0 || p.persist(0, once)
			for _, e := range batch {
				if ctx.Err() != nil {
					return
				}
				if p.cfg.Events != nil && (stored || !e.Kind.once()) {
					p.cfg.Events(e)
				}
			}
		}
	}
}

func (p *Pane) persist(checkpoint, effectsThrough uint64) bool {
	if p.cfg.Persist == nil {
		return true
	}
	if err := p.cfg.Persist(checkpoint, effectsThrough); err != nil {
		p.log.Error("store the pane's offsets", "err", err)
		return false
	}
	return true
}

// once: a repeat would be noticed.
func (k EventKind) once() bool {
	return k == EventBell || k == EventNotification || k == EventClipboard
}

// replaces: only the newest matters.
func (k EventKind) replaces() bool {
	switch k {
	case EventTitle, EventDirectory, EventBell, EventProgress, EventResized, EventNote:
		return true
	}
	return false
}

// keeps: never left out for want of room.
func (k EventKind) keeps() bool {
	return k == EventExit || k == EventLost || k == EventNotification
}

// poke fills a channel of capacity 1: "look again".
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
