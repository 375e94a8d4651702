package keeper

import (
	"sync"
	"time"

	"davit"
)

// hostState is whether programs wait for a host (P1.3).
type hostState int

const (
	hostGone    hostState = iota // said bye, or was waited for long enough
	hostAwaited                  // went without bye a short while ago
	hostThere                    // heard within 10 s
)

// presence knows the acting host. mu is a leaf.
type presence struct {
	heardWithin, holdFor time.Duration

	mu    sync.Mutex
	fence uint64
	conn  *conn // nil when none is connected
	build string
	since time.Time
	heard time.Time
	asked time.Time // the last ping
	lost  time.Time // when the last one went; at first the keeper's own start
	bye   bool
}

// claim makes c the host and gives its fence and the host before it.
func (p *presence) claim(c *conn, build string, now time.Time) (fence uint64, before *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.conn
	p.fence++
	p.conn, p.build, p.since, p.heard, p.bye = c, build, now, now, false
	return p.fence, before
}

// leave notes that a connection has ended; bye says that it will not come back.
func (p *presence) leave(c *conn, bye bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == c {
		p.conn, p.lost, p.bye = nil, now, bye
	}
}

// hear notes a sign of life of the host of that fence, and says whether it was not there
// before.
func (p *presence) hear(fence uint64, now time.Time) (back bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fence != p.fence || p.conn == nil {
		return false
	}
	back = now.Sub(p.heard) > p.heardWithin
	p.heard = now
	return back
}

// check refuses whoever is not the acting host.
func (p *presence) check(fence uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fence != p.fence {
		return davit.Errorf(davit.CodeKeeperSuperseded, "a newer host has taken over this keeper").
			With("fence", p.fence)
	}
	return nil
}

// state says where the host is, and when that may change by time alone.
func (p *presence) state(now time.Time) (hostState, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost
	if p.conn != nil {
		lost = p.heard.Add(p.heardWithin)
		if now.Before(lost) {
			return hostThere, lost
		}
	}
	if until := lost.Add(p.holdFor); !p.bye && now.Before(until) {
		return hostAwaited, until
	}
	return hostGone, time.Time{}
}

// silent gives the host's connection when it has neither been heard nor asked for d.
func (p *presence) silent(d time.Duration, now time.Time) (*conn, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil, time.Time{}
	}
	last := p.heard
	if p.asked.After(last) {
		last = p.asked
	}
	if due := last.Add(d); now.Before(due) {
		return nil, due
	}
	p.asked = now
	return p.conn, now.Add(d)
}

func (p *presence) connected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil
}

func (p *presence) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return 0
	}
	return p.conn.pid
}

func (p *presence) current() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fence
}

func (p *presence) info(now time.Time) *HostInfo {
	state, _ := p.state(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil
	}
	return &HostInfo{Pid: p.conn.pid, Build: p.build, Since: p.since, Heard: p.heard, There: state == hostThere}
}
