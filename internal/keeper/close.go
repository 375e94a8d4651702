package keeper

import (
	"os"
	"slices"
	"syscall"
	"time"

	"davit"
)

// P5.1's times.
const (
	hangupWait = 2 * time.Second
	termWait   = 3 * time.Second
	killWait   = 2 * time.Second // for SIGKILL to take effect before it is called remaining
)

// identity is a process that no reuse of its number can be taken for.
type identity struct {
	pid   int
	start uint64
}

// closing is one close of a pane: what it is after, and what it found.
type closing struct {
	p          *pane
	self       int
	table      func() ([]process, error)
	spare      func(pid int) bool // other panes' children
	targets    map[identity]*Process
	kept       map[identity]process
	foreground int             // process group, of a foreground close
	byPid      map[int]process // the table as it was read last
}

func (k *Keeper) newClosing(p *pane) *closing {
	return &closing{
		p: p, self: os.Getpid(), table: k.tables.read,
		spare: func(pid int) bool {
			// Neither other panes nor the host, should it have been started in this one.
			return pid != p.pid && k.children.own(pid) || pid == k.host.pid()
		},
		targets: map[identity]*Process{}, kept: map[identity]process{},
	}
}

// closePane ends a pane's processes: SIGHUP, 2 s, SIGTERM, 3 s, SIGKILL (P5.1). It looks
// at the process table again before each signal, since what is being ended may fork.
func (k *Keeper) closePane(p *pane, opt CloseOptions) (CloseReport, error) {
	c := k.newClosing(p)
	if opt.Foreground {
		group, idle := k.foregroundGroup(p)
		if idle {
			return CloseReport{Ended: []Process{}, Remaining: []Process{}, Kept: []Process{}, Exit: p.exited()}, nil
		}
		c.foreground = group
	}
	steps := []struct {
		sig  syscall.Signal
		wait time.Duration
	}{
		{syscall.SIGHUP, orDefault(opt.Hangup, hangupWait)},
		{syscall.SIGTERM, orDefault(opt.Term, termWait)},
		{syscall.SIGKILL, killWait},
	}
	for _, step := range steps {
		alive, err := c.look()
		if err != nil {
			return CloseReport{}, davit.Errorf(davit.CodeInternal, "read the process table: %w", err)
		}
		if len(alive) == 0 {
			break
		}
		c.send(alive, step.sig)
		if err := c.await(step.sig, step.wait); err != nil {
			return CloseReport{}, davit.Errorf(davit.CodeInternal, "read the process table: %w", err)
		}
	}
	return c.report()
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// foregroundGroup says which group a foreground close is after: 0 means the whole pane.
// idle: a shell is in the foreground itself, so there is nothing to end.
func (k *Keeper) foregroundGroup(p *pane) (group int, idle bool) {
	if p.kind != PaneShell {
		return 0, false
	}
	fg := p.foreground()
	// A shell that executed another program in its place is no shell any more.
	return fg.Group, fg.Group == 0 || fg.Group == p.pid && fg.Name == p.program
}

// look reads the process table and gives the living targets, known and new ones.
func (c *closing) look() ([]process, error) {
	table, err := c.table()
	if err != nil {
		return nil, err
	}
	return c.pick(table), nil
}

// pick gives the living targets of a process table.
func (c *closing) pick(table []process) []process {
	c.byPid = byNumber(table)
	in := map[int]bool{}
	for _, q := range table {
		if !q.zombie && c.wanted(q) {
			in[q.pid] = true
		}
	}
	for grown := true; grown; { // descendants by parent links
		grown = false
		for _, q := range table {
			if in[q.parent] && !in[q.pid] && !q.zombie && !c.spared(q) {
				in[q.pid], grown = true, true
			}
		}
	}
	var alive []process
	for _, q := range table {
		if !in[q.pid] {
			continue
		}
		alive = append(alive, q)
		id := identity{q.pid, q.start}
		if c.targets[id] == nil {
			public := q.public()
			c.targets[id] = &public
		}
	}
	return alive
}

// spared processes are never a target, whoever their parent is.
func (c *closing) spared(q process) bool {
	return q.pid == c.self || q.pid <= 1 || c.spare(q.pid)
}

// wanted says whether a process is a target by itself, not as a descendant.
func (c *closing) wanted(q process) bool {
	id := identity{q.pid, q.start}
	switch {
	case c.spared(q):
		return false
	case c.targets[id] != nil:
		return true
	case c.foreground != 0:
		return q.group == c.foreground && c.inSession(q)
	case c.inSession(q) || id == identity{c.p.pid, c.p.start}:
		return true
	case q.parent == c.self && c.p.made(q.pid):
		if c.p.kind == PaneShell && q.tty == 0 { // a daemon of the user's own
			c.kept[id] = q
			return false
		}
		return true
	}
	return false
}

func byNumber(table []process) map[int]process {
	byPid := make(map[int]process, len(table))
	for _, q := range table {
		byPid[q.pid] = q
	}
	return byPid
}

// inSession says whether a process is in the session that the pane's program led. The
// number of a session that is over may have become another's: that has another leader, or
// members who do not descend from the keeper.
func (c *closing) inSession(q process) bool {
	if q.session != c.p.pid {
		return false
	}
	if leader, there := c.byPid[c.p.pid]; there {
		return leader.start == c.p.start
	}
	return !adopts || c.descends(q)
}

// descends says whether the parent links lead to the keeper.
func (c *closing) descends(q process) bool {
	for range len(c.byPid) { // a table that was read while processes ended may have a loop
		if q.parent == c.self {
			return true
		}
		parent, ok := c.byPid[q.parent]
		if !ok {
			return false
		}
		q = parent
	}
	return false
}

// made says whether an adopted process was started by the pane's program: it carries the
// pane's DAVIT_PANE, or is in the pane's control group whatever it carries.
func (p *pane) made(pid int) bool {
	return p.mark != "" && slices.Contains(environOf(pid), "DAVIT_PANE="+p.mark) || inGroup(pid, p.group)
}

func (c *closing) send(alive []process, sig syscall.Signal) {
	for _, q := range alive {
		// ESRCH: it ended by itself meanwhile. EPERM: it stays, and is told as remaining.
		if SignalProcess(q.pid, q.start, sig) == nil {
			c.targets[identity{q.pid, q.start}].Signal = int(sig)
		}
		if q.stopped && sig != syscall.SIGKILL {
			_ = SignalProcess(q.pid, q.start, syscall.SIGCONT)
		}
	}
}

// await waits until no target lives, at most for d. What is forked meanwhile gets the
// same signal.
func (c *closing) await(sig syscall.Signal, d time.Duration) error {
	deadline := time.Now().Add(d)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		alive := false
		for id := range c.targets {
			alive = alive || ProcessAlive(id.pid, id.start)
		}
		if !alive {
			fresh, err := c.look()
			if err != nil || len(fresh) == 0 {
				return err
			}
			c.send(fresh, sig)
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil
		}
		time.Sleep(min(pause, left))
	}
}

// report waits for the exit of the pane's own child to be in the log, when it was ended.
func (c *closing) report() (CloseReport, error) {
	alive, err := c.look()
	if err != nil {
		return CloseReport{}, davit.Errorf(davit.CodeInternal, "read the process table: %w", err)
	}
	r := CloseReport{Ended: []Process{}, Remaining: []Process{}, Kept: []Process{}}
	living := map[identity]bool{}
	for _, q := range alive {
		living[identity{q.pid, q.start}] = true
	}
	for id, q := range c.targets {
		if living[id] {
			r.Remaining = append(r.Remaining, *q)
		} else {
			r.Ended = append(r.Ended, *q)
		}
	}
	for _, q := range c.kept {
		r.Kept = append(r.Kept, q.public())
	}
	for _, list := range [][]Process{r.Ended, r.Remaining, r.Kept} {
		slices.SortFunc(list, func(a, b Process) int { return a.Pid - b.Pid })
	}
	if !living[identity{c.p.pid, c.p.start}] && c.foreground == 0 {
		select {
		case <-c.p.told:
		case <-time.After(killWait):
		}
	}
	r.Exit = c.p.exited()
	return r, nil
}
