package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/pane"
	"davit/internal/store"
)

// PaneWatcher hears what happens in panes, after the model knows it. Calls come from the
// pane's own event goroutine; they may block for a while but hold up only that pane.
type PaneWatcher interface {
	PaneEvent(id davit.PaneID, e pane.Event)
}

// PanesConfig is what Panes needs.
type PanesConfig struct {
	Host     *Host
	Dir      string // of the panes' folders (home.Panes)
	Start    client.StartConfig
	Dial     client.Config // Socket is filled in from the keeper's record
	Persist  func(ctx context.Context, id davit.PaneID, checkpoint, effectsThrough uint64) error
	Watcher  PaneWatcher
	Prompt   func(id davit.PaneID, command string) *davit.BlockPrompt // what a pane's chips say now; it must not wait
	Lost     func([]store.PaneRow)                                    // panes that were running when their keeper went; may be nil
	Hostname string
	Log      *slog.Logger
}

// Panes are the live panes of the host and its connection to the keeper.
//
//	Run ──► link: dial, adopt what the keeper holds, wait for the connection's end, again
//	          └─ one pane.Pane.Run goroutine per pane
//
// Run waits for all of them. A lost connection to a living keeper is made anew; when the
// keeper is gone its panes are told as lost and nothing is restarted (spec terminal P1.9).
type Panes struct {
	cfg PanesConfig

	mu     sync.Mutex // guards what follows; never held over I/O
	link   *link
	live   map[davit.PaneID]*livePane
	ending bool

	start sync.Mutex // one start of a keeper at a time; held over the start on purpose
	group sync.WaitGroup
	ctx   context.Context // of Run; pane goroutines live in it
	ready chan struct{}   // closed when Run has adopted, or found no keeper
	wake  chan struct{}   // capacity 1: a link was made by Spawn
}

// link is one connection to the keeper.
type link struct {
	client *client.Client
	keeper pane.Keeper
	boot   string // which keeper this is: pid, start time, boot id
}

type livePane struct {
	pane *pane.Pane
	stop context.CancelFunc
	done chan struct{}
	told time.Time // when the model last heard of it; the event goroutine's own
}

// NewPanes makes the registry; Run starts it.
func NewPanes(cfg PanesConfig) *Panes {
	return &Panes{cfg: cfg, live: map[davit.PaneID]*livePane{}, ready: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// ErrSuperseded ends a host whose keeper listens to another one.
var ErrSuperseded = davit.Errorf(davit.CodeSocketTaken, "another davit host has taken over this home's keeper")

// Run connects to the keeper if there is one, adopts its panes, and serves until ctx ends.
func (p *Panes) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	err := p.serve(ctx)
	cancel(err)
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	p.group.Wait()
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l != nil {
		l.client.Disconnect()
	}
	return err
}

func (p *Panes) serve(ctx context.Context) error {
	if err := p.reconnect(ctx); err != nil {
		p.cfg.Log.Warn("the keeper cannot be reached", "err", err)
	}
	close(p.ready)
	for {
		var done <-chan struct{}
		p.mu.Lock()
		l := p.link
		p.mu.Unlock()
		if l != nil {
			done = l.client.Done()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
		case <-done:
			if ctx.Err() != nil {
				return nil
			}
			if err := l.client.Err(); davit.CodeOf(err) == davit.CodeKeeperSuperseded {
				return ErrSuperseded
			}
			p.cfg.Log.Warn("the connection to the keeper ended", "err", l.client.Err())
			p.drop(l)
			if err := p.reconnect(ctx); err != nil {
				p.cfg.Log.Warn("the keeper cannot be reached", "err", err)
			}
		}
	}
}

// drop ends the pane goroutines of a link that is gone.
func (p *Panes) drop(l *link) {
	p.mu.Lock()
	if p.link == l {
		p.link = nil
	}
	stopped := p.live
	p.live = map[davit.PaneID]*livePane{}
	p.mu.Unlock()
	for _, lp := range stopped {
		lp.stop()
		<-lp.done
	}
}

// reconnect dials a living keeper and adopts its panes; without one every pane that was
// running is told as lost. It starts none: that is for a first need, and never while
// everything is being ended.
func (p *Panes) reconnect(ctx context.Context) error {
	var failed error
	// A keeper that lives is tried again: it may be in the middle of an upgrade (spec
	// terminal P1.7), and its panes are not lost for one refused connection.
	only := p.cfg.Start
	only.Exe = ""
	for try := 0; try <= redials; try++ {
		_, alive, err := client.Find(p.cfg.Start.StateDir)
		if err != nil {
			return err
		}
		if !alive {
			return p.adopt(ctx, nil)
		}
		l, err := p.dial(ctx, only)
		if err == nil {
			return p.adopt(ctx, l)
		}
		if failed = err; davit.CodeOf(err) != davit.CodeKeeperUnreachable {
			break
		}
		select {
		case <-time.After(redialAfter):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return errors.Join(failed, p.adopt(ctx, nil))
}

// How often, and how long apart, a keeper that lives is dialled before its panes are told
// as lost.
const (
	redials     = 5
	redialAfter = 300 * time.Millisecond
)

// dial makes sure that a keeper answers and connects to it.
func (p *Panes) dial(ctx context.Context, start client.StartConfig) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*time.Second, errors.New("the keeper did not answer within 15 s"))
	defer cancel()
	record, err := client.Start(ctx, start)
	if err != nil {
		return nil, err
	}
	cfg := p.cfg.Dial
	cfg.Socket = record.Socket
	c, err := client.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &link{client: c, keeper: pane.FromClient(c), boot: bootName(c.Hello())}, nil
}

// Link gives the connection to the keeper, starting one on first need (P1.1).
func (p *Panes) Link(ctx context.Context) (*client.Client, error) {
	l, err := p.linked(ctx)
	if err != nil {
		return nil, err
	}
	return l.client, nil
}

// Linked gives the connection when there is one.
func (p *Panes) Linked() (*client.Client, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil {
		return nil, false
	}
	return p.link.client, true
}

func (p *Panes) linked(ctx context.Context) (*link, error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.start.Lock()
	defer p.start.Unlock()
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := p.dial(ctx, p.cfg.Start)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.link = l
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return l, nil
}

// Spawn asks the keeper for a pane's program and serves it. The spawn's act row is
// durable already (P1.2); a repeat with the same id gives the first answer.
func (p *Panes) Spawn(ctx context.Context, req keeper.SpawnRequest) error {
	id := davit.PaneID(req.Pane)
	l, err := p.linked(ctx)
	if err == nil {
		var info keeper.PaneInfo
		if info, err = l.client.Spawn(ctx, req); err == nil {
			return p.begin(ctx, l, info, false, req.ID)
		}
	}
	fault := davit.AsError(err)
	code := davit.CodePaneSpawnFailed
	if fault.Code == davit.CodeKeeperUnreachable || errors.Is(err, context.DeadlineExceeded) {
		code = davit.CodeKeeperUnreachable // it may have happened: the act stays owed
	}
	e := davit.Errorf(code, "%s could not be started: %w", commandName(req.Argv), fault).WithHint("%s", fault.Hint)
	if code == davit.CodePaneSpawnFailed {
		_ = p.cfg.Host.Change(ctx, func(m Model) (Change, error) {
			v, ok := m.State.Panes[id]
			if !ok {
				return Change{}, nil
			}
			v.Status, v.Fault = davit.PaneFailed, e.Message
			return Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}}, Batch: store.Batch{DoneActs: []string{req.ID}}}, nil
		})
	}
	return e
}

// Take serves a program that the keeper holds already and whose pane's row has just been
// stored anew: after a damaged store was set aside (spec tabs T6.2).
func (p *Panes) Take(ctx context.Context, info keeper.PaneInfo) error {
	l, err := p.linked(ctx)
	if err != nil {
		return err
	}
	return p.begin(ctx, l, info, true)
}

// begin notes that the program runs, and starts to serve it; adopted says that it was
// served before.
func (p *Panes) begin(ctx context.Context, l *link, info keeper.PaneInfo, adopted bool, acts ...string) error {
	var row store.PaneRow
	id := davit.PaneID(info.Pane)
	err := p.cfg.Host.Change(ctx, func(m Model) (Change, error) {
		v, ok := m.State.Panes[id]
		if !ok {
			return Change{}, davit.Errorf(davit.CodePaneNotFound, "pane %s was closed meanwhile", id)
		}
		v.Pid, v.Status, v.Cols, v.Rows = info.Pid, davit.PaneRunning, info.Cols, info.Rows
		row = m.Rows.Panes[id]
		row.Pane, row.KeeperBoot = v, l.boot
		return Change{
			Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}},
			Batch:  store.Batch{PutPanes: []store.PaneRow{row}, DoneActs: acts},
		}, nil
	})
	if err != nil {
		return err
	}
	return p.serveRow(row, l.keeper, adopted)
}

func (p *Panes) prompt(id davit.PaneID) func(string) *davit.BlockPrompt {
	if p.cfg.Prompt == nil {
		return nil
	}
	return func(command string) *davit.BlockPrompt { return p.cfg.Prompt(id, command) }
}

// serveRow starts the goroutine of one pane; adopted says that it was served before.
func (p *Panes) serveRow(row store.PaneRow, k pane.Keeper, adopted bool) error {
	id := row.Pane.ID
	lp := &livePane{done: make(chan struct{})}
	served, err := pane.New(pane.Config{
		Pane: row.Pane, Keeper: shifted(k, row.Spec.LogBase), Base: row.Spec.LogBase, Dir: filepath.Join(p.cfg.Dir, string(id)),
		Adopted: adopted, EffectsThrough: row.EffectsThrough,
		Persist: func(checkpoint, effects uint64) error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			return p.cfg.Persist(ctx, id, checkpoint, effects)
		},
		Events:   func(e pane.Event) { p.heard(lp, id, e) },
		Prompt:   p.prompt(id),
		Hostname: p.cfg.Hostname, Log: p.cfg.Log,
	})
	if err != nil {
		return err
	}
	lp.pane = served
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return ErrStopped
	}
	if _, there := p.live[id]; there {
		return nil
	}
	ctx, stop := context.WithCancel(p.ctx)
	lp.stop = stop
	p.live[id] = lp
	p.group.Go(func() {
		defer close(lp.done)
		defer stop()
		if err := served.Run(ctx); err != nil && ctx.Err() == nil {
			p.cfg.Log.Error("a pane is not served any more", "pane", id, "err", err)
			p.tell(id, func(v *davit.Pane) { v.Fault = davit.AsError(err).Message })
		}
	})
	return nil
}

// Get finds a live pane.
func (p *Panes) Get(id davit.PaneID) (*pane.Pane, error) {
	p.mu.Lock()
	lp, ok := p.live[id]
	p.mu.Unlock()
	if !ok {
		v, known := p.cfg.Host.State().Panes[id]
		if known && v.Kind == keeper.PaneChat {
			return nil, davit.Errorf(davit.CodePaneIsChat, "pane %s is a chat: it has no terminal", id).
				WithHint("`davit session show %s` shows what was said, `davit session send` says something", v.Session).With("sessionId", string(v.Session))
		}
		if known {
			return nil, davit.Errorf(davit.CodePaneLost, "pane %s is not served: %s", id, cmp.Or(v.Fault, string(v.Status)))
		}
		return nil, davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", id).WithHint("`davit pane list` shows what there is")
	}
	return lp.pane, nil
}

// Stop ends the goroutine of a pane, with a last checkpoint.
func (p *Panes) Stop(id davit.PaneID) {
	p.mu.Lock()
	lp, ok := p.live[id]
	delete(p.live, id)
	p.mu.Unlock()
	if ok {
		lp.stop()
		<-lp.done
	}
}

// Done tells when a pane's goroutine has ended; a pane that is not live has.
func (p *Panes) Done(id davit.PaneID) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if lp, ok := p.live[id]; ok {
		return lp.done
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// SayBye tells the keeper that this host leaves for good, so that no program waits for it
// (spec terminal P1.3).
func (p *Panes) SayBye(ctx context.Context) {
	c, linked := p.Linked()
	if !linked {
		return
	}
	if err := c.Bye(ctx); err != nil && c.Err() == nil {
		p.cfg.Log.Warn("the keeper was not told that the host leaves", "err", err)
	}
}

// Ready is closed when the panes of a former host have been adopted.
func (p *Panes) Ready() <-chan struct{} { return p.ready }

func bootName(h keeper.Hello) string {
	name, _ := json.Marshal([]any{h.Pid, h.StartTime, h.BootID})
	return string(name)
}

func commandName(argv []string) string {
	if len(argv) == 0 {
		return "the program"
	}
	return filepath.Base(argv[0])
}
