package daemon

import (
	"context"
	"sync"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/runner"
	"davit/internal/git"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/wire"

	"golang.org/x/sync/errgroup"
)

// lingering is how long chips go on after the last client has left, so that a reload does
// not start everything anew.
const lingering = 5 * time.Second

// chips runs the chips of open panes while somebody looks: with nobody there nothing runs
// (spec chips C2.4). It keeps, under a leaf lock, only who looks and where panes are.
type chips struct {
	d       *daemon
	choices *choices
	runner  *runner.Runner
	watch   *git.Watch

	mu      sync.Mutex // guards what follows
	viewers int
	dirs    map[davit.PaneID]string
	quiet   *time.Timer
}

func newChips(d *daemon, g git.Runner, choices *choices) *chips {
	c := &chips{d: d, choices: choices, dirs: map[davit.PaneID]string{}}
	c.watch = git.NewWatch(git.WatchConfig{Log: d.log})
	c.runner = runner.New(runner.Config{Git: g, Watch: c.watch, Home: d.cfg.Getenv("HOME"), Push: c.push, Log: d.log, Now: time.Now})
	return c
}

func (c *chips) run(ctx context.Context) error {
	var group errgroup.Group
	group.Go(func() error { return c.watch.Run(ctx) })
	group.Go(func() error { return c.runner.Run(ctx) })
	group.Go(func() error { c.follow(ctx); return nil })
	group.Go(func() error { c.choices.run(ctx); return nil })
	err := group.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quiet != nil {
		c.quiet.Stop()
	}
	return err
}

// workEvery is how often the chips of a working agent are looked at again: what it writes
// is no change of the git directory, and no command that a shell tells of.
const workEvery = 3 * time.Second

// follow refreshes the chips of agents' panes that somebody looks at, as long as they
// print: a silent agent costs nothing.
func (c *chips) follow(ctx context.Context) {
	ticker := time.NewTicker(workEvery)
	defer ticker.Stop()
	seen := map[davit.PaneID]uint64{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		c.mu.Lock()
		looked := c.viewers > 0
		c.mu.Unlock()
		if !looked {
			continue
		}
		for id, p := range c.d.host.State().Panes {
			if p.Kind != keeper.PaneAgent {
				continue
			}
			live, err := c.d.panes.Get(id)
			if err != nil {
				continue
			}
			if at := live.View().Offset; at != seen[id] {
				seen[id] = at
				c.runner.Refresh(string(id))
			}
		}
	}
}

// push takes new values into the model.
func (c *chips) push(u runner.Update) {
	id := davit.PaneID(u.Key)
	err := c.d.host.Change(context.Background(), func(m host.Model) (host.Change, error) {
		if _, shown := m.State.Panes[id]; !shown {
			return host.Change{}, nil
		}
		return host.Change{Events: []davit.Event{{Kind: davit.EventChips, PaneID: id, Chips: u.Chips}}, Volatile: true}, nil
	})
	if err != nil {
		c.d.log.Debug("chips were not shown", "pane", id, "err", err)
	}
}

// Pane says which directory a pane is in (tab.Chips).
func (c *chips) Pane(id davit.PaneID, dir string) {
	c.mu.Lock()
	c.dirs[id] = dir
	looked := c.viewers > 0
	c.mu.Unlock()
	if looked {
		c.runner.Watch(string(id), dir)
	}
}

// Command says that a command has finished in a pane (spec chips C2.3).
func (c *chips) Command(id davit.PaneID, line string) {
	if policy, ok := chip.PolicyOf(chip.GitDiff); ok && chip.Invalidates(policy, line, nil) {
		c.runner.Refresh(string(id))
	}
}

// Gone forgets a pane.
func (c *chips) Gone(id davit.PaneID) {
	c.mu.Lock()
	delete(c.dirs, id)
	c.mu.Unlock()
	c.runner.Drop(string(id))
}

// Look says that a client looks until done is called (api.Viewers).
func (c *chips) Look() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewers++
	if c.quiet != nil {
		c.quiet.Stop()
		c.quiet = nil
	}
	if c.viewers == 1 {
		for id, dir := range c.dirs {
			c.runner.Watch(string(id), dir)
		}
	}
	return sync.OnceFunc(c.leave)
}

func (c *chips) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewers--
	if c.viewers > 0 {
		return
	}
	c.quiet = time.AfterFunc(lingering, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.viewers > 0 {
			return
		}
		for id := range c.dirs {
			c.runner.Drop(string(id))
		}
	})
}

// resolved hears what is shown where from now on.
func (c *chips) resolved(davit.ChipLayout, davit.TabView) {}

// Get is chips.get: by pane, else by an absolute directory.
func (c *chips) Get(ctx context.Context, in wire.ChipsRequest) (wire.Chips, error) {
	state := c.d.host.State()
	out := wire.Chips{Chips: state.Chips[in.Pane], Validation: string(state.Layout.Validation), Shown: state.Layout.Prompt}
	if len(out.Chips) == 0 {
		out.Chips = append([]davit.Chip{}, c.runner.Once(ctx, in.Dir)...)
	}
	return out, nil
}

// Revalidate is chips.revalidate.
func (c *chips) Revalidate(context.Context, wire.ChipsRequest) (wire.ChipRevalidated, error) {
	return wire.ChipRevalidated{Layout: c.d.host.State().Layout, Outcome: string(chip.VerdictNoChange)}, nil
}
