package keeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"davit"
)

// Config says which keeper to be. Zero bounds and times mean the specified ones.
type Config struct {
	StateDir   string
	RuntimeDir string // this home's own; "" when there is none
	TempDir    string // for the socket when RuntimeDir does not do; "" means os.TempDir
	Home       string
	Build      string
	Log        *slog.Logger
	// Args are what a build is started with to be the keeper, for an upgrade in place.
	Args []string
	// Table is the descriptor of the table that the keeper before this one in the same
	// process left (P1.7); 0 for none.
	Table int

	IdleExit  time.Duration // leave after so long without child and host (60 s)
	Look      time.Duration // between looks for the socket (10 s)
	Ping      time.Duration // silence after which a host is pinged (3 s)
	Heard     time.Duration // a host is there when heard within (10 s)
	Hold      time.Duration // wait for a host that went without bye (60 s)
	PTYAhead  uint64        // bytes past the acknowledged offset, PTY (8 MiB)
	PipeAhead uint64        // the same for a pipe (64 MiB)
	LogMost   int64         // bytes of keeper.log before a new one begins (4 MiB)
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&c.IdleExit, time.Minute)
	set(&c.Look, 10*time.Second)
	set(&c.Ping, 3*time.Second)
	set(&c.Heard, 10*time.Second)
	set(&c.Hold, time.Minute)
	if c.PTYAhead == 0 {
		c.PTYAhead = 8 << 20
	}
	if c.PipeAhead == 0 {
		c.PipeAhead = 64 << 20
	}
	if c.LogMost == 0 {
		c.LogMost = 4 << 20
	}
	if c.TempDir == "" {
		c.TempDir = os.TempDir()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Keeper is the running process. Run owns it.
type Keeper struct {
	cfg      Config
	hello    Hello
	started  time.Time
	socket   *socket
	children children
	host     presence
	spawns   *acts
	holding  atomic.Bool   // a host is there or awaited
	news     chan struct{} // one token: presence or children changed
	stop     context.CancelFunc
	wg       sync.WaitGroup // everything that Run started
	shutting sync.Once
	lock     *os.File
	signals  chan os.Signal
	gate     *gate          // before every act; shut for an upgrade
	swaps    chan *swap     // upgrades for the loop to carry out
	endings  sync.WaitGroup // ends of children on their way into the log
	groups   *groups
	tables   tables

	// greeting is held over a host's claim and the queueing of its hello, so that nobody
	// is told superseded before hello.
	greeting sync.Mutex

	mu      sync.Mutex // guards what follows; a leaf
	panes   map[string]*pane
	conns   map[*conn]struct{}
	closing bool // no new child
	stopped bool // no new connection
}

// Run is the keeper of cfg.StateDir until ctx ends, a host shuts it down, SIGTERM comes,
// or it has held no child and no host for a minute. It sets the process's working
// directory to / and makes it a subreaper. It returns keeper_start_failed when another
// keeper holds the lock.
func Run(ctx context.Context, cfg Config) error {
	cfg = cfg.withDefaults()
	if !filepath.IsAbs(cfg.StateDir) || !filepath.IsAbs(cfg.RuntimeDir) && cfg.RuntimeDir != "" {
		return davit.Errorf(davit.CodeUsage, "the keeper's directories are to be absolute")
	}
	var inherited *table
	if cfg.Table > 0 {
		var err error
		if inherited, err = inherit(cfg); err != nil {
			return err
		}
	}
	closeOnExec()
	k := newKeeper(cfg)
	err := k.begin(ctx, inherited)
	if err != nil {
		return err
	}
	defer k.lock.Close()
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("go to /: %w", err)
	}
	if err := becomeSubreaper(); err != nil {
		cfg.Log.Warn("orphans will not come to the keeper", "err", err)
	}
	k.catch()
	defer signal.Stop(k.signals)
	chld := make(chan os.Signal, 1) // one token is enough: reap takes all
	signal.Notify(chld, syscall.SIGCHLD)
	defer signal.Stop(chld)
	cfg.Log.Info("keeper started", "pid", k.hello.Pid, "socket", k.socket.path, "build", cfg.Build, "generation", k.hello.Generation)
	k.serve(ctx, chld)
	cfg.Log.Info("keeper ended")
	return nil
}

// catch takes the keeper's signals. HUP and INT are caught, not ignored, so that
// children have them at their default.
func (k *Keeper) catch() {
	signal.Notify(k.signals, caught[:]...)
}

var caught = [...]os.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}

// begin takes the lock and the socket, or what the keeper before this one left.
func (k *Keeper) begin(ctx context.Context, inherited *table) error {
	if inherited != nil {
		return k.takeOver(inherited)
	}
	for _, dir := range []string{k.cfg.StateDir, filepath.Join(k.cfg.StateDir, panesName)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return davit.Errorf(davit.CodeHomeUnusable, "make the state directory: %w", err)
		}
	}
	var err error
	if k.lock, err = takeLock(k.cfg.StateDir); err != nil {
		return err
	}
	if k.socket, err = k.bind(ctx); err == nil {
		before, _ := ReadRecord(k.cfg.StateDir) // without one nothing is known of a keeper before
		k.groups = openGroups(k.cfg.Home, before.Cgroup, k.cfg.Log)
		if err = k.writeRecord(k.socket.path); err == nil {
			return nil
		}
		k.socket.listener.Close()
		err = davit.Errorf(davit.CodeHomeUnusable, "write the keeper's record: %w", err)
	}
	k.lock.Close()
	return err
}

func newKeeper(cfg Config) *Keeper {
	now := time.Now()
	k := &Keeper{
		cfg: cfg, started: now, spawns: newActs(rememberSpawns), news: make(chan struct{}, 1),
		panes: map[string]*pane{}, conns: map[*conn]struct{}{},
		signals: make(chan os.Signal, 16), gate: newGate(), swaps: make(chan *swap),
	}
	k.children.byPid = map[int]*pane{}
	k.host = presence{heardWithin: cfg.Heard, holdFor: cfg.Hold, lost: now}
	k.holding.Store(true)
	k.hello = Hello{
		Protocol: Protocol, Min: Protocol, Max: Protocol, Build: cfg.Build, Features: features[:],
		Pid: os.Getpid(), BootID: BootID(), Home: cfg.Home,
		AckEvery: min(256<<10, max(cfg.PTYAhead/4, 1)),
	}
	if self, ok := lookUp(os.Getpid()); ok {
		k.hello.StartTime = self.start
	}
	return k
}

func (k *Keeper) writeRecord(socket string) error {
	return writeRecord(k.cfg.StateDir, Record{
		Pid: k.hello.Pid, StartTime: k.hello.StartTime, BootID: k.hello.BootID,
		Socket: socket, Build: k.cfg.Build, Home: k.cfg.Home, Protocol: Protocol, Cgroup: k.groups.path(),
	})
}

// serve is the keeper's loop: signals, time, and what others nudge it about. It returns
// when everything that it started has ended.
func (k *Keeper) serve(ctx context.Context, chld <-chan os.Signal) {
	stopped, stop := context.WithCancel(context.Background())
	defer stop()
	k.stop = stop
	k.accept(stopped, k.socket.listener)
	for _, p := range k.allPanes() { // of the keeper before
		p.run()
	}
	k.reap()
	k.tendLog()
	place := filepath.Dir(k.socket.path)
	k.wg.Go(func() { k.sweepPlaces(stopped, place) })
	end := ctx.Done()
	lookAt := time.Now().Add(k.cfg.Look)
	idleSince := time.Now()
	for {
		now := time.Now()
		if !now.Before(lookAt) {
			lookAt = now.Add(k.cfg.Look)
			k.lookForSocket(stopped)
			k.tendLog()
		}
		next := earliest(lookAt, k.tendHost(now))
		if k.host.connected() || !k.children.idle() {
			idleSince = now
		} else if leave := idleSince.Add(k.cfg.IdleExit); now.Before(leave) {
			next = earliest(next, leave)
		} else {
			k.cfg.Log.Info("no child and no host: leaving")
			k.stop()
		}
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-timer.C:
		case <-k.news:
		case <-chld:
			k.reap()
		case s := <-k.swaps:
			s.done <- k.swap(stopped, s)
		case sig := <-k.signals:
			switch sig {
			case syscall.SIGUSR1:
				k.lookForSocket(stopped)
			case syscall.SIGTERM:
				k.shutdown()
			default:
				k.cfg.Log.Info("signal ignored", "signal", sig)
			}
		case <-end:
			end = nil
			k.shutdown()
		case <-stopped.Done():
			timer.Stop()
			k.finish()
			return
		}
		timer.Stop()
	}
}

func earliest(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// tendHost pings a silent host, and lets programs go on when nobody is waited for any
// more. It says when to be called again.
func (k *Keeper) tendHost(now time.Time) time.Time {
	silent, next := k.host.silent(k.cfg.Ping, now)
	if silent != nil {
		silent.ping()
	}
	state, change := k.host.state(now)
	if holding := state != hostGone; k.holding.Swap(holding) != holding {
		for _, p := range k.allPanes() {
			for _, o := range p.outputs() {
				o.nudge()
			}
		}
	}
	if next.IsZero() || !change.IsZero() && change.Before(next) {
		return change
	}
	return next
}

// nudge makes the loop look again.
func (k *Keeper) nudge() {
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// accept serves a listener until it is closed.
func (k *Keeper) accept(ctx context.Context, l *net.UnixListener) {
	k.wg.Go(func() {
		for {
			c, err := l.AcceptUnix()
			switch {
			case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
				return
			case err != nil: // out of descriptors: those who wait get in when there are some
				k.cfg.Log.Warn("accept", "err", err)
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
				}
			default:
				k.wg.Go(func() { k.serveConn(ctx, c) })
			}
		}
	})
}

// reap takes what has ended and lets each pane put its end into its log.
func (k *Keeper) reap() {
	ended, any := k.children.reap()
	if any {
		k.groups.sweep()
	}
	for _, r := range ended {
		k.endings.Add(1)
		k.wg.Go(func() {
			defer k.endings.Done()
			r.pane.ended(r.status, r.at)
			k.groups.leave(r.pane.group)
			k.cfg.Log.Info("child ended", "pane", r.pane.name, "pid", r.pane.pid, "status", int(r.status))
		})
	}
}

func (k *Keeper) paneConfig() paneConfig {
	return paneConfig{
		root: filepath.Join(k.cfg.StateDir, panesName), now: time.Now, hold: k.holding.Load,
		ptyAhead: k.cfg.PTYAhead, pipeAhead: k.cfg.PipeAhead, log: k.cfg.Log,
	}
}

// spawn makes a pane and its child.
func (k *Keeper) spawn(req *SpawnRequest) (PaneInfo, error) {
	if err := k.reserve(req.Pane); err != nil {
		return PaneInfo{}, err
	}
	p, e, err := newPane(k.paneConfig(), req)
	if err == nil {
		err = k.children.start(p, req, e, k.groups)
		e.closeChild()
		if err != nil {
			e.child = nil
			e.close()
			removeFresh(p.dir)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		delete(k.panes, req.Pane)
		return PaneInfo{}, err
	}
	k.panes[req.Pane] = p
	p.run()
	return p.info(), nil
}

// reserve takes a pane's name, so that two spawns cannot have it.
func (k *Keeper) reserve(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return davit.Errorf(davit.CodeShuttingDown, "the keeper is shutting down")
	}
	if _, taken := k.panes[name]; taken {
		return davit.Errorf(davit.CodePaneExists, "there is a pane %s already", name)
	}
	k.panes[name] = nil
	return nil
}

func (k *Keeper) pane(name string) (*pane, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.panes[name]; p != nil {
		return p, nil
	}
	return nil, davit.Errorf(davit.CodePaneNotFound, "the keeper holds no pane %s", name)
}

func (k *Keeper) allPanes() []*pane {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*pane
	for _, p := range k.panes {
		if p != nil {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *pane) int { return strings.Compare(a.name, b.name) })
	return all
}

// forget drops an ended pane, or what a dead keeper left of one.
func (k *Keeper) forget(name string) error {
	dir := filepath.Join(k.cfg.StateDir, panesName, name)
	k.mu.Lock()
	p, here := k.panes[name]
	if here && (p == nil || p.exited() == nil) {
		k.mu.Unlock()
		return davit.Errorf(davit.CodePaneRunning, "the program of pane %s still runs", name).
			WithHint("Close the pane first.")
	}
	delete(k.panes, name)
	k.mu.Unlock()
	if p != nil {
		p.quit()
	}
	err := removeLogs(dir)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist) && !here:
		return davit.Errorf(davit.CodePaneNotFound, "the keeper holds no pane %s", name)
	case errors.Is(err, os.ErrNotExist):
		return nil
	}
	return davit.Errorf(davit.CodeHomeUnusable, "remove the log of pane %s: %w", name, err)
}

// shutdown closes every pane, then stops the keeper. It returns at once.
func (k *Keeper) shutdown() {
	k.shutting.Do(func() {
		k.wg.Go(func() {
			k.closeAll()
			k.stop()
		})
	})
}

func (k *Keeper) closeAll() {
	k.mu.Lock()
	k.closing = true
	k.mu.Unlock()
	table, err := processes()
	var wg sync.WaitGroup
	for _, p := range k.allPanes() {
		if err == nil && len(k.newClosing(p).pick(table)) == 0 {
			continue // nothing is left of it
		}
		wg.Go(func() {
			if report, err := k.closePane(p, CloseOptions{}); err != nil || len(report.Remaining) > 0 {
				k.cfg.Log.Warn("close a pane", "pane", p.name, "remaining", report.Remaining, "err", err)
			}
		})
	}
	wg.Wait()
}

// finish ends connections, panes and the listener. The socket's file stays: nobody
// unlinks a socket (P1.6).
func (k *Keeper) finish() {
	k.mu.Lock()
	k.closing, k.stopped = true, true
	for c := range k.conns {
		c.hangUp()
	}
	k.mu.Unlock()
	k.socket.listener.Close()
	k.reap()
	k.wg.Wait()
	for _, p := range k.allPanes() {
		p.in.end()
		p.quit()
	}
	k.groups.end()
}
