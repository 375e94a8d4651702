package pane

import (
	"context"
	"slices"
	"sync"
	"time"

	"davit"
)

// owners decides whose size a pane has: of those who claimed one, the last that typed or
// asked (spec terminal P3.4). A plain value.
type owners struct {
	claims []claim // the owner is the last
}

type claim struct {
	client     string
	cols, rows int
}

// claim takes a client's size in and makes it the owner.
func (o *owners) claim(client string, cols, rows int) {
	o.leave(client)
	o.claims = append(o.claims, claim{client, min(max(cols, MinCols), maxCols), min(max(rows, MinRows), maxRows)})
}

// typed makes a client that has a claim the owner.
func (o *owners) typed(client string) bool {
	i := slices.IndexFunc(o.claims, func(c claim) bool { return c.client == client })
	if i < 0 || i == len(o.claims)-1 {
		return false
	}
	c := o.claims[i]
	o.claims = append(slices.Delete(o.claims, i, i+1), c)
	return true
}

func (o *owners) leave(client string) {
	o.claims = slices.DeleteFunc(o.claims, func(c claim) bool { return c.client == client })
}

// size is the owner's; with nobody there the last size stays.
func (o *owners) size() (cols, rows int, ok bool) {
	if len(o.claims) == 0 {
		return 0, 0, false
	}
	c := o.claims[len(o.claims)-1]
	return c.cols, c.rows, true
}

// sizer holds the owners and what was asked of the keeper.
type sizer struct {
	mu         sync.Mutex // guards all but wake; a leaf
	owners     owners
	cols, rows int // in force, or asked for
	redraw     bool
	wake       chan struct{} // capacity 1

	asked, done uint64        // changes of the owners, and how many of them the keeper has carried out
	settled     chan struct{} // closed, and made anew, when done grows
}

func (s *sizer) init(cols, rows int) {
	s.cols, s.rows = cols, rows
	s.wake = make(chan struct{}, 1)
	s.settled = make(chan struct{})
}

// settleWithin bounds how long an input waits for a size that was asked for before it.
const settleWithin = 500 * time.Millisecond

// settle waits until what was asked for before is in force, so that an input is read at
// the size that its client had claimed when it was typed.
func (s *sizer) settle(ctx context.Context) {
	s.mu.Lock()
	asked := s.asked
	if s.done >= asked {
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	limit := time.NewTimer(settleWithin)
	defer limit.Stop()
	for {
		s.mu.Lock()
		done, settled := s.done, s.settled
		s.mu.Unlock()
		if done >= asked {
			return
		}
		select {
		case <-settled:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// carriedOut notes that everything up to a number of changes is in force.
func (s *sizer) carriedOut(upTo uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = max(s.done, upTo)
	close(s.settled)
	s.settled = make(chan struct{})
}

func (s *sizer) changes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *sizer) change(edit func(*owners) bool) {
	s.mu.Lock()
	wake := edit(&s.owners)
	if wake {
		s.asked++
	}
	s.mu.Unlock()
	if wake {
		poke(s.wake)
	}
}

// inForce takes the size that a mark told.
func (s *sizer) inForce(cols, rows int) {
	s.mu.Lock()
	s.cols, s.rows = cols, rows
	c, r, ok := s.owners.size()
	s.mu.Unlock()
	if ok && (c != cols || r != rows) {
		poke(s.wake)
	}
}

// repaint has the program draw everything again: one column, and back (P1.4).
func (s *sizer) repaint() {
	s.mu.Lock()
	s.redraw = true
	s.mu.Unlock()
	poke(s.wake)
}

// next gives the sizes to ask for, in order.
func (s *sizer) next() (steps [][2]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cols, rows, ok := s.owners.size()
	if !ok {
		cols, rows = s.cols, s.rows
	}
	if s.redraw {
		other := cols - 1
		if other < MinCols {
			other = cols + 1
		}
		steps = append(steps, [2]int{other, rows})
	}
	if s.redraw || cols != s.cols || rows != s.rows {
		steps = append(steps, [2]int{cols, rows})
	}
	s.redraw = false
	s.cols, s.rows = cols, rows
	return steps
}

// Claim says that a client shows the pane at a size and wants it to have that; the pane
// is at least 20×5. Viewers and previews never claim.
func (p *Pane) Claim(client string, cols, rows int) {
	p.size.change(func(o *owners) bool { o.claim(client, cols, rows); return true })
}

// Leave ends a client's claim, as its connection's end does; the next owner's size is
// taken.
func (p *Pane) Leave(client string) {
	p.size.change(func(o *owners) bool { o.leave(client); return true })
}

// resize asks the keeper for the owner's size, newest only: sizes that were overtaken
// while one was asked for are left out.
func (p *Pane) resize(ctx context.Context) {
	for {
		select {
		case <-p.size.wake:
		case <-ctx.Done():
			return
		}
		asked := p.size.changes()
		for _, size := range p.size.next() {
			if !p.running() {
				continue
			}
			err := p.cfg.Keeper.Resize(ctx, "size-"+p.cfg.NewID(), string(p.id), size[0], size[1])
			if err != nil && ctx.Err() == nil && p.running() {
				p.log.Warn("resize", "cols", size[0], "rows", size[1], "err", err)
			}
		}
		p.size.carriedOut(asked)
	}
}

func (p *Pane) running() bool {
	status := p.view.Load().Status
	return status != davit.PaneEnded && status != davit.PaneLost && status != davit.PaneFailed
}
