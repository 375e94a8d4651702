package session

import (
	"context"
	"errors"
	"io"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/session/acp"
	"davit/internal/store"
)

const (
	foldBytes   = 256 << 10             // folded at once
	foldEvery   = 50 * time.Millisecond // what comes within it is one step
	retainEvery = 1 << 20
	busyWait    = 100 * time.Millisecond
	relinkWait  = 50 * time.Millisecond
)

// process is one spawn of the session's agent. It belongs to the chat's goroutine.
type process struct {
	keeper string // its name there
	link   *link  // nil while the keeper is not connected
	inbox  chan feed
	out    chan store.ActRow // to the sender
	sent   int               // of the chat's owed acts, to the sender of this link

	lines    *acp.Lines
	pending  []byte // read and not folded yet; at most foldBytes and one feed
	folded   time.Time
	due      bool // a fold is due
	retained uint64
	stored   uint64 // offset of the last stored fold

	stderr stderrTail
	exit   *keeper.ExitStatus // heard of on stdout, behind everything printed
	quiet  bool               // stderr was read to its end
	silent bool               // it was waited for stderr long enough

	endedThen bool // it had ended when this host took it up

	hello     acp.Initialized
	fresh     bool // initialize was answered while this host ran
	command   Command
	warnings  []string
	fault     *davit.Error // why it is to end
	stopped   bool         // somebody asked for its end
	closing   string       // the act that ends it
	closed    bool         // the keeper has answered it
	remaining []keeper.Process
}

// link is the connection of one process: gone as a whole when a part of it is.
type link struct {
	client   *client.Client
	out, err *client.Stream
	stop     context.CancelFunc
}

// feed is what a follower of a log tells.
type feed struct {
	link    *link
	which   string
	data    []byte
	gap     uint64 // with to: how many bytes before it are not kept any more
	to      uint64
	exit    *keeper.ExitStatus
	end     bool
	trouble error
}

// stderrTail is the last of what an agent said on stderr.
type stderrTail struct {
	end  uint64
	text []byte
}

const stderrKeep = 8 << 10

func (t *stderrTail) add(data []byte, to uint64) {
	t.text = append(t.text, data...)
	if over := len(t.text) - stderrKeep; over > 0 {
		t.text = append(t.text[:0:0], t.text[over:]...)
	}
	t.end = to
}

func newProcess(name string, at acp.Position) *process {
	return &process{
		keeper: name, lines: acp.NewLines(at), retained: at.Offset, stored: at.Offset,
		inbox: make(chan feed, 4), // followers wait when it is full, and so the agent in the end
		out:   make(chan store.ActRow),
	}
}

// leave lets go of the process's helpers; the process itself goes on.
func (p *process) leave() {
	if p.link != nil {
		p.link.stop()
		p.link = nil
	}
}

// attach follows the process's logs from where they are folded and sends what is owed.
func (c *chat) attach(p *process, cl *client.Client, info keeper.PaneInfo) {
	at := p.lines.Position()
	p.lines, p.pending = acp.NewLines(at), nil
	from := p.stderr.end
	if r := info.Stderr; r != nil {
		from = min(max(from, r.Start), r.End)
		if r.End-from > stderrKeep {
			from = r.End - stderrKeep
		}
	}
	c.help(func() {
		ctx, cancel := context.WithCancel(c.ctx)
		l := &link{client: cl, stop: cancel}
		err := l.open(ctx, p.keeper, at.Offset, from)
		if err != nil {
			cancel()
			c.post(func() { c.unlinked(p, nil, cl, err) })
			return
		}
		c.post(func() { c.attached(ctx, p, l) })
	})
}

func (l *link) open(ctx context.Context, pane string, from, stderr uint64) (err error) {
	if l.out, err = l.client.Follow(ctx, pane, from, ""); err != nil {
		return err
	}
	l.err, err = l.client.Follow(ctx, pane, stderr, keeper.Stderr)
	return err
}

func (c *chat) attached(ctx context.Context, p *process, l *link) {
	if c.proc != p || p.link != nil {
		l.stop()
		return
	}
	p.link, p.sent = l, 0
	if !p.endedThen { // else its end is about to be read
		c.settled()
	}
	c.help(func() { c.follow(ctx, p, l, l.out, "") })
	c.help(func() { c.follow(ctx, p, l, l.err, keeper.Stderr) })
	c.help(func() { c.send(ctx, p, l) })
	c.help(func() {
		select {
		case <-l.client.Done():
			c.post(func() { c.unlinked(p, l, l.client, l.client.Err()) })
		case <-ctx.Done():
		}
	})
	if p.closing != "" {
		c.sendClose(p)
	}
}

// unlinked looks for the process anew after its connection was lost. l is nil when there
// was none yet.
func (c *chat) unlinked(p *process, l *link, cl *client.Client, cause error) {
	if c.proc != p || p.link != l {
		return
	}
	if davit.CodeOf(cause) == davit.CodePaneNotFound {
		c.log.Warn("the keeper does not know a chat's process", "keeper", p.keeper)
		c.gone(p, true)
		return
	}
	c.log.Warn("the connection to a chat's process ended", "keeper", p.keeper, "err", cause)
	p.leave()
	c.relink(p, cl)
}

// relink waits for a connection to the keeper that has the process, or for the proof that
// this keeper is gone (spec session S1.9).
func (c *chat) relink(p *process, old *client.Client) {
	boot := c.row.Spec.KeeperBoot
	c.help(func() {
		for c.ctx.Err() == nil {
			select {
			case <-time.After(relinkWait):
			case <-c.ctx.Done():
				return
			}
			cl, ok := c.s.cfg.Linked()
			alive := keeperLives(boot)
			if !ok && alive {
				ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
				found, err := c.s.cfg.Keeper(ctx)
				cancel()
				cl, ok = found, err == nil
			}
			if ok && cl.Err() == nil && (cl != old || alive) {
				if info, held, err := c.lookFor(cl, p.keeper); err == nil {
					c.post(func() { c.relinked(p, cl, info, held) })
					return
				}
			}
			if !ok && !alive {
				c.post(func() { c.relinked(p, nil, keeper.PaneInfo{}, false) })
				return
			}
		}
	})
}

func (c *chat) lookFor(cl *client.Client, name string) (keeper.PaneInfo, bool, error) {
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
	defer cancel()
	infos, err := cl.List(ctx)
	for _, info := range infos {
		if info.Pane == name {
			return info, true, nil
		}
	}
	return keeper.PaneInfo{}, false, err
}

func (c *chat) relinked(p *process, cl *client.Client, info keeper.PaneInfo, held bool) {
	switch {
	case c.proc != p || p.link != nil:
	case held && c.phase == phaseSpawning:
		c.spawned(p, cl, info)
	case held:
		if p.endedThen = info.Exit != nil; !p.endedThen {
			c.pane(func(v *davit.Pane) { v.Status, v.Pid, v.Exit = davit.PaneRunning, info.Pid, nil })
		}
		c.attach(p, cl, info)
	case cl != nil && c.phase == phaseSpawning && bootOf(cl.Hello()) == c.row.Spec.KeeperBoot:
		c.spawn(p, cl) // the same keeper: it does the id once (S1.2)
	default:
		c.gone(p, true)
	}
}

// follow reads one log and gives the loop what is there, as much as there is at once.
func (c *chat) follow(ctx context.Context, p *process, l *link, stream *client.Stream, which string) {
	defer stream.Close()
	for {
		fd := feed{link: l, which: which}
		for more := true; more; {
			f, err := stream.Next()
			switch {
			case errors.Is(err, io.EOF):
				fd.end = true
			case err != nil:
				fd.trouble = err
			case f.Kind == keeper.Bytes:
				fd.data, fd.to = append(fd.data, f.Data...), f.To
			case f.Kind == keeper.Gap:
				fd.gap += f.To - f.From
				fd.to = f.To
			case f.Kind == keeper.Exit:
				fd.exit = f.Exit
			}
			more = fd.exit == nil && fd.gap == 0 && !fd.end && fd.trouble == nil && (len(fd.data) == 0 || len(fd.data) < foldBytes && stream.Buffered())
		}
		select {
		case p.inbox <- fd:
		case <-ctx.Done():
			return
		}
		if fd.end || fd.trouble != nil {
			return
		}
	}
}

// send gives the keeper one act after the other, so that they keep their order.
func (c *chat) send(ctx context.Context, p *process, l *link) {
	for {
		var act store.ActRow
		select {
		case act = <-p.out:
		case <-ctx.Done():
			return
		}
		c.s.failpoint("chat-before-input")
		err := l.client.Input(ctx, keeper.Input{ID: act.ID, Pane: p.keeper, Data: act.Body})
		for davit.CodeOf(err) == davit.CodePaneBusy && ctx.Err() == nil { // nothing was taken (P1.2)
			select {
			case <-time.After(busyWait):
			case <-ctx.Done():
			}
			err = l.client.Input(ctx, keeper.Input{ID: act.ID, Pane: p.keeper, Data: act.Body})
		}
		if code := davit.CodeOf(err); code == davit.CodeKeeperUnreachable || code == davit.CodeKeeperSuperseded || ctx.Err() != nil {
			c.post(func() { c.unlinked(p, l, l.client, err) })
			return
		}
		c.s.failpoint("chat-after-input")
		c.post(func() { c.acted(p, l, act, err) })
	}
}

// acted hears what became of an input.
func (c *chat) acted(p *process, l *link, act store.ActRow, err error) {
	if c.proc != p || p.link != l || len(c.owed) == 0 || c.owed[0].ID != act.ID {
		return
	}
	c.owed = c.owed[1:]
	p.sent--
	c.paid = append(c.paid, act.ID)
	taken := err == nil || written(err) == len(act.Body)
	if err != nil && !taken {
		c.log.Info("an agent did not take its input", "act", act.ID, "err", err)
	}
	if t := c.turn; t != nil && t.act == act.ID && taken {
		t.taken = true
		c.acceptLater(t)
	}
	if p.exit != nil {
		c.over(p)
	}
}

// written is how much of an input reached a program that has ended.
func written(err error) int {
	if davit.CodeOf(err) != davit.CodePaneEnded {
		return -1
	}
	n, _ := davit.AsError(err).Details["written"].(float64)
	return int(n)
}
