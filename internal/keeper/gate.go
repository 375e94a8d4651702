package keeper

import (
	"sync"
	"time"
)

// gate lets acts through. While it is shut none is under way, and those that come wait:
// that is when the keeper may change its program (P1.7). mu is a leaf.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	inside  int
	shut    bool
}

func newGate() *gate {
	g := &gate{}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// enter waits until the gate is open.
func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.shut {
		g.changed.Wait()
	}
	g.inside++
}

// stay is for who is inside and has something going on that outlasts its own leave.
func (g *gate) stay() {
	g.mu.Lock()
	g.inside++
	g.mu.Unlock()
}

func (g *gate) leave() {
	g.mu.Lock()
	g.inside--
	g.changed.Broadcast()
	g.mu.Unlock()
}

// close shuts the gate and waits until nobody is inside, at most for d; false when
// somebody still is, or it is shut already, and then nothing has changed.
func (g *gate) close(d time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	over := false
	timer := time.AfterFunc(d, func() {
		g.mu.Lock()
		over = true
		g.changed.Broadcast()
		g.mu.Unlock()
	})
	defer timer.Stop()
	g.shut = true
	for g.inside > 0 && !over {
		g.changed.Wait()
	}
	g.shut = g.inside == 0
	g.changed.Broadcast()
	return g.shut
}

func (g *gate) open() {
	g.mu.Lock()
	g.shut = false
	g.changed.Broadcast()
	g.mu.Unlock()
}
