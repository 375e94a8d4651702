// Package daemon is the composition root of a davit host: it joins the pure parts, the
// loop, the keeper, the store and the API to one running program, and takes them down in
// the order in which they need each other.
//
//	lock ─► store ─► model ─► [ host loop · panes · tabs · chips · git watch · API ] ─► … ─► stop:
//	API, launches ─► tabs, chips ─► panes (last checkpoints, bye) ─► host loop ─► store ─► lock
//
// Run owns every goroutine and returns after them. It refuses a second host of a home and
// a socket that somebody else holds.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"davit"
	"davit/internal/api"
	"davit/internal/changes"
	"davit/internal/configs"
	"davit/internal/feed"
	"davit/internal/home"
	"davit/internal/host"
	"davit/internal/keeper/client"
	"davit/internal/launch"
	"davit/internal/run"
	"davit/internal/session"
	"davit/internal/shell"
	"davit/internal/store"
	"davit/internal/tab"
	"davit/internal/wire"
	"davit/internal/workspace"
	"davit/web"

	"golang.org/x/sync/errgroup"
)

// DefaultPort is where the page is when the port is free (spec interfaces A3.3).
const DefaultPort = 7420

// Config says which host to be.
type Config struct {
	Home       home.Home
	Listen     string // address for the browser; "" = 127.0.0.1 and the default port, or a free one
	Directory  string // where it was started: the page's default place
	Self       string // this binary
	Environ    []string
	Getenv     func(string) string
	SetupLimit time.Duration // how long a launch that may become a chat waits for a setup; 0: 60 s (spec launch L5.4)
	Undo       time.Duration
	Failpoint  func(name string) // for crash tests
	Log        *slog.Logger
	Ready      func(wire.HostInfo) // called once it answers
}

// daemon holds what Run has made.
type daemon struct {
	cfg       Config
	log       *slog.Logger
	store     *store.Store
	host      *host.Host
	panes     *host.Panes
	tabs      *tab.Service
	launches  *launch.Executor
	terminals *terminals
	sessions  *session.Service
	server    *api.Server
	feed      *feed.Feed
	chips     *chips
	statuses  *statuses
	metrics   metrics
	files     func() configs.Files
	configs   *configs.Service
	socket    string
	url       string
	started   time.Time
	tcp       net.Listener
	local     net.Listener
	stop      context.CancelCauseFunc
	all       bool // down --all
	stopOnce  sync.Once
}

// errStopped is the cause of an ordinary stop.
var errStopped = errors.New("the host was told to stop")

// Run is the host until ctx ends or a client shuts it down.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.Home.Make(); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(cfg.Home.State, "host.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	d := &daemon{cfg: cfg, log: cfg.Log, started: time.Now()}
	d.store, err = store.Open(ctx, store.Config{Path: cfg.Home.Store(), Log: cfg.Log, Now: time.Now})
	if err != nil {
		return err
	}
	defer func() {
		if err := d.store.Close(); err != nil {
			d.log.Error("the store did not close well", "err", err)
		}
	}()
	if err := d.listen(); err != nil {
		return err
	}
	defer d.local.Close()
	defer d.tcp.Close()
	if err := d.build(ctx); err != nil {
		return err
	}
	return d.serve(ctx)
}

// build makes every part; none has started yet.
func (d *daemon) build(ctx context.Context) error {
	everything, err := d.store.Load(ctx)
	if err != nil {
		return err
	}
	identity := d.store.Identity()
	loaded := modelOf(everything, d.store.Recovery(), time.Now())
	choices, err := newChoices(ctx, d, &loaded)
	if err != nil {
		return err
	}
	d.feed = feed.New(0, loaded.Seq)
	login := d.captureLogin()
	agents := &agents{daemon: d, login: login}
	if d.statuses, err = newStatuses(ctx, d, agents, &loaded); err != nil {
		return err
	}
	d.host = host.New(host.Config{HostID: identity.HostID, Store: d.store, Feed: publisher{d.feed, d.statuses}, Now: time.Now, Log: d.log}, loaded)
	runner, err := d.gitRunner(login)
	if err != nil {
		d.log.Warn("git is not there: worktrees and git chips do not work", "err", err)
	}
	d.chips = newChips(d, runner, choices, login)
	d.panes = host.NewPanes(host.PanesConfig{
		Host: d.host, Dir: d.cfg.Home.Panes(), Persist: d.store.SetPaneOffsets, Watcher: late{d}, Prompt: d.chips.Prompt, Lost: func(rows []store.PaneRow) { d.tabs.Lost(rows) }, Hostname: hostname(), Log: d.log,
		Start: client.StartConfig{Exe: d.cfg.Self, Args: []string{"keeper"}, Env: keeperEnv(d.cfg), StateDir: d.cfg.Home.State},
		Dial:  client.Config{Build: davit.Version, Log: d.log},
	})
	spaces := workspace.New(d.workspaceConfig(runner))
	scripts := filepath.Join(d.cfg.Home.State, "shell")
	if err := shell.WriteScripts(scripts); err != nil {
		d.log.Warn("shells are started without integration", "err", err)
		scripts = ""
	}
	userShell := userShell(d.cfg.Getenv)
	d.sessions = session.New(session.Config{
		Host: d.host, Store: d.store, Agents: agents, Keeper: d.panes.Link, Linked: d.panes.Linked, Ready: d.panes.Ready(), StateDir: d.cfg.Home.State,
		Environment: func(pane davit.PaneID, extra []string) []string {
			return shell.PaneEnv(shell.EnvInput{Login: login(), Pane: pane, Socket: d.socket, Extra: extra})
		},
		Failpoint: d.cfg.Failpoint, Now: time.Now, Log: d.log,
	})
	d.files = func() configs.Files { return d.tabFiles(userShell, login, agents) }
	d.tabs = tab.New(tab.Config{
		Host: d.host, Panes: d.panes, Home: d.cfg.Home, Workspaces: spaces, Git: runner, Chats: d.sessions, Chips: d.chips,
		Socket: d.socket, Self: d.cfg.Self, UserHome: d.cfg.Getenv("HOME"), UserShell: userShell, Scripts: scripts,
		LoginEnv: login, Settings: d.store, DefaultAgent: agents.DefaultAgent, Unread: tab.Unread(everything), Files: d.files, Undo: d.cfg.Undo, Failpoint: d.cfg.Failpoint, Now: time.Now, Log: d.log,
	})
	d.terminals = &terminals{d: d, agents: agents}
	d.launches = launch.New(launch.Config{
		Terminals: d.terminals, Ledger: d.store, Agents: agents, Workspaces: places{spaces, d}, Surfaces: d.tabs, Setups: d.tabs, SetupLimit: d.cfg.SetupLimit, Held: held{d.tabs, d.sessions}, Sessions: chats{d.sessions}, Host: identity.HostID,
		Key: d.store.FingerprintKey(), DefaultSurface: d.defaultSurface, DefaultAgent: agents.DefaultAgent, Started: d.agentStarted, Failpoint: d.cfg.Failpoint, Log: d.log,
	})
	d.tabs.SetLauncher(launcher{d.launches})
	d.configs = configs.New(d.configsConfig(spaces, agents))
	d.server = api.New(api.Config{
		Host: d.host, Panes: d.panes, Tabs: d.tabs, Configs: d.configs, Launches: d.launches, Sessions: d.sessions, Agents: agents, Workspaces: spaces,
		Runs: run.New(run.Config{Host: d.host, Panes: d.panes, Ledger: d.store, Scripts: scripts, Log: d.log}), LoginEnv: login,
		Chips: d.chips, Changes: changes.Reader{Git: runner}, Feed: d.feed, Access: access{d.store}, Viewers: d.chips, Status: d.statuses, Page: web.Handler(), Instance: identity.Instance, Metrics: d.metrics.write,
		Info: d.info, Shutdown: d.shutdown, Addresses: func() []string { return api.LocalAddresses(d.tcp.Addr()) }, Log: d.log,
	})
	return nil
}

// serve runs everything until the stop, then takes it down in order.
func (d *daemon) serve(ctx context.Context) error {
	ctx, d.stop = context.WithCancelCause(ctx)
	defer d.stop(nil)
	d.terminals.stopping = ctx
	loopCtx, stopLoop := context.WithCancel(context.Background())
	panesCtx, stopPanes := context.WithCancel(context.Background())
	tabsCtx, stopTabs := context.WithCancel(context.Background())
	defer stopLoop()
	defer stopPanes()
	defer stopTabs()

	var loop, panes, tabs, serving errgroup.Group
	run := func(g *errgroup.Group, name string, work func() error) {
		g.Go(func() error {
			err := work()
			if err != nil {
				d.stop(fmt.Errorf("%s: %w", name, err))
			}
			return err
		})
	}
	run(&loop, "host", func() error { return d.host.Run(loopCtx) })
	run(&panes, "panes", func() error { return d.panes.Run(panesCtx) })
	run(&tabs, "tabs", func() error { return d.tabs.Run(tabsCtx) })
	run(&tabs, "sessions", func() error { return d.sessions.Run(tabsCtx) })
	run(&tabs, "statuses", func() error { return d.statuses.run(tabsCtx) })
	run(&tabs, "chips", func() error { return d.chips.run(tabsCtx) })
	run(&tabs, "configs", func() error { return d.watchConfigs(tabsCtx) })
	run(&tabs, "recovery", func() error { return d.recover(tabsCtx) })
	local := &http.Server{Handler: d.server.Local(), ReadHeaderTimeout: 10 * time.Second}
	browser := &http.Server{Handler: d.server.Browser(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	select {
	case <-d.panes.Ready(): // until then callers wait in the listeners' queues
		run(&serving, "socket", func() error { return ignoreClosed(local.Serve(d.local)) })
		run(&serving, "page", func() error { return ignoreClosed(browser.Serve(d.tcp)) })
		if d.cfg.Ready != nil {
			d.cfg.Ready(d.info())
		}
	case <-ctx.Done():
	}
	<-ctx.Done()
	cause := context.Cause(ctx)
	d.log.Info("stopping", "cause", cause)

	grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	d.server.Close()
	_ = errors.Join(local.Shutdown(grace), browser.Shutdown(grace))
	_ = serving.Wait()
	d.launches.Drain(grace)
	stopTabs()
	err := ignoreStopping(tabs.Wait())
	if d.all {
		d.endKeeper(grace)
	}
	d.panes.SayBye(grace)
	stopPanes()
	err = errors.Join(err, ignoreStopping(panes.Wait()))
	stopLoop()
	err = errors.Join(err, loop.Wait())
	d.feed.Close()
	if errors.Is(cause, errStopped) || errors.Is(cause, context.Canceled) {
		return err
	}
	return errors.Join(cause, err)
}

// endKeeper ends every program and the keeper, and waits until the panes have heard of it,
// so that each exit status is kept.
func (d *daemon) endKeeper(ctx context.Context) {
	c, linked := d.panes.Linked()
	if !linked {
		return
	}
	if err := c.Shutdown(ctx, true); err != nil && davit.CodeOf(err) != davit.CodeKeeperUnreachable {
		d.log.Error("the keeper did not end", "err", err)
		return
	}
	select {
	case <-c.Done():
	case <-ctx.Done():
	}
}

func (d *daemon) shutdown(all bool) {
	d.stopOnce.Do(func() {
		d.all = all
		go func() { // after the answer is on its way
			time.Sleep(20 * time.Millisecond)
			d.stop(errStopped)
		}()
	})
}

func (d *daemon) recover(ctx context.Context) error {
	select {
	case <-d.panes.Ready():
	case <-ctx.Done():
		return nil
	}
	if n, err := d.launches.Recover(ctx); err != nil {
		d.log.Warn("launches of a former host could not all be looked up", "err", err)
	} else if n > 0 {
		d.log.Info("launches of a former host were found at the keeper", "count", n)
	}
	for {
		if _, err := d.store.Sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
			d.log.Warn("old operations could not be swept", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Hour):
		}
	}
}

func (d *daemon) info() wire.HostInfo {
	state, running := d.host.State(), 0
	for _, p := range state.Panes {
		if p.Status == davit.PaneRunning {
			running++
		}
	}
	info := wire.HostInfo{
		Version: davit.Version, HostID: state.HostID, Pid: os.Getpid(), Socket: d.socket, URL: d.url, Home: d.cfg.Home.Name(),
		Panes: running, Tabs: len(state.Tabs), Started: d.started, Directory: d.cfg.Directory,
		Capabilities: []string{davit.CapLaunch, davit.CapPromptUnconfirmed},
	}
	if c, linked := d.panes.Linked(); linked {
		info.KeeperPid = c.Hello().Pid
	}
	return info
}

func (d *daemon) agentStarted(l davit.Launched) {
	_ = d.host.Change(context.Background(), func(host.Model) (host.Change, error) {
		return host.Change{Events: []davit.Event{{Kind: davit.EventLaunched, Launched: &l}}, Volatile: true}, nil
	})
}

// ignoreStopping drops what a part says that the stop itself has cut off.
func ignoreStopping(err error) error {
	if davit.CodeOf(err) == davit.CodeShuttingDown {
		return nil
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// portOf names a port for people.
func portOf(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return strconv.Itoa(tcp.Port)
	}
	return addr.String()
}
