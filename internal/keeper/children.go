package keeper

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// children are the processes this one is the parent of. mu is held over fork and
// registration, and over wait4: a child can neither end unregistered nor be reaped by
// anyone else, so no status is lost and no number is signalled after its reuse (P1.8).
type children struct {
	mu    sync.Mutex
	byPid map[int]*pane // not reaped yet
	none  bool          // wait4 said that there is no child at all, orphans included
}

type reaped struct {
	pane   *pane
	status syscall.WaitStatus
	at     time.Time
}

// start forks and registers in one step. A program that does not start in the pane's
// control group is started without: until it has been executed nothing has happened.
func (c *children) start(p *pane, req *SpawnRequest, e *ends, g *groups) error {
	dir, group := g.enter(req.Pane)
	if group != nil {
		defer group.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := fork(req, e, group)
	if err != nil && group != nil {
		grouped := err
		if pid, err = fork(req, e, nil); err == nil {
			g.refused(req.Pane, dir, grouped)
			dir = ""
		}
	}
	if err != nil {
		g.leave(dir)
		return err
	}
	p.group = dir
	p.pid, p.started = pid, time.Now()
	if proc, ok := lookUp(pid); ok { // a zombie still has its start time
		p.start = proc.start
	}
	c.byPid[pid] = p
	c.none = false
	return nil
}

// reap takes the status of everything that has ended, orphans that came to us included;
// any says that there was something.
func (c *children) reap() (ended []reaped, any bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		c.none = errors.Is(err, syscall.ECHILD)
		if err != nil || pid <= 0 {
			return ended, any
		}
		any = true
		if p := c.byPid[pid]; p != nil {
			delete(c.byPid, pid)
			ended = append(ended, reaped{p, status, time.Now()})
		}
	}
}

// signal reaches a pane's own child, or its group, while it has not been reaped.
func (c *children) signal(p *pane, sig syscall.Signal, group bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byPid[p.pid] != p {
		return endedError(0)
	}
	pid := p.pid
	if group {
		pid = -pid
	}
	return unix.Kill(pid, sig)
}

// idle says whether there is no child at all.
func (c *children) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.none
}

// own says whether pid is a pane's child.
func (c *children) own(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byPid[pid] != nil
}
