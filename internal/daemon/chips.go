package daemon

import (
	"context"
	"maps"
	"os/user"
	"slices"
	"strings"
	"sync"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/runner"
	"davit/internal/git"
	"davit/internal/github"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/pane"
	"davit/internal/wire"

	"golang.org/x/sync/errgroup"
)

// chips runs the chips of the panes that somebody looks at (see sights): for a pane with
// nobody looking nothing runs (spec chips C2.4). It keeps, under a leaf lock, only who looks
// at what and where panes are.
//
//	tabs, panes ──directory, PATH, finished commands──► chips ──asks──► runner ──values──► host loop
//	                                                       ▲               │
//	             layouts, flag, view (choices) ────────────┘◄──verdicts────┘
type chips struct {
	d       *daemon
	choices *choices
	runner  *runner.Runner
	watch   *git.Watch
	pulls   *pulls
	owns    *owns
	prompts *prompts
	user    string // whose terminals they are
	machine string

	mu     sync.Mutex // guards what follows
	sights sights
	panes  map[davit.PaneID]place
	layout davit.ChipLayout
	view   davit.TabView
}

// place is where a pane's session is, as far as its shell has told.
type place struct {
	dir    string
	search string // PATH; "" when it was not told
	remote bool
	told   map[string]string // properties; never changed in place
	// Of the command that runs: the shell inside of the pane's own, and where ssh leads.
	subshell, ssh string
}

// same compares two places.
func (p place) same(o place) bool {
	return p.dir == o.dir && p.search == o.search && p.remote == o.remote && p.subshell == o.subshell && p.ssh == o.ssh && maps.Equal(p.told, o.told)
}

// aliases are those of the pane's shell (spec chips C2.3).
func (p place) aliases() map[string]string { return chip.Aliases(p.told[chip.PropertyAliases]) }

// tell joins what a shell has told with what it told before; an empty value is gone.
func (p *place) tell(params map[string]string) {
	told := maps.Clone(p.told)
	if told == nil {
		told = map[string]string{}
	}
	for key, value := range params {
		if told[key] = value; value == "" {
			delete(told, key)
		}
	}
	p.told, p.search = told, told[chip.PropertyPath]
}

func newChips(d *daemon, g git.Runner, choices *choices, login func() map[string]string) *chips {
	c := &chips{d: d, choices: choices, sights: newSights(), panes: map[davit.PaneID]place{}, layout: choices.prefs.Layout(), view: choices.prefs.View()}
	c.watch = git.NewWatch(git.WatchConfig{Log: d.log})
	c.pulls = newPulls(c, login)
	c.owns = newOwns(c)
	c.prompts = newPrompts(c)
	if c.user = d.cfg.Getenv("USER"); c.user == "" {
		if u, err := user.Current(); err == nil {
			c.user = u.Username
		}
	}
	c.machine, _, _ = strings.Cut(hostname(), ".")
	c.runner = runner.New(runner.Config{
		Git: g, Watch: c.watch, Home: d.cfg.Getenv("HOME"), Push: c.push, Log: d.log, Now: time.Now,
		GitHub: github.Client{Git: g, Environ: c.pulls.environ}, Login: c.pulls.loginPath, Judge: c.pulls.judge, Asked: c.pulls.asked,
	})
	return c
}

func (c *chips) run(ctx context.Context) error {
	var group errgroup.Group
	group.Go(func() error { return c.watch.Run(ctx) })
	group.Go(func() error { return c.runner.Run(ctx) })
	group.Go(func() error { c.follow(ctx); return nil })
	group.Go(func() error { c.choices.run(ctx); return nil })
	group.Go(func() error { c.pulls.run(ctx); return nil })
	group.Go(func() error { c.owns.run(ctx); return nil })
	group.Go(func() error { c.prompts.run(ctx); return nil })
	err := group.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sights.end()
	return err
}

// workEvery is how often the chips of a working agent are looked at again: what it writes
// is no change of the git directory, and no command that a shell tells of.
const workEvery = 3 * time.Second

// follow refreshes the chips of agents' panes that somebody looks at, chats too, as long as
// they print: a silent agent costs nothing.
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
		if !c.looked() {
			continue
		}
		state := c.d.host.State()
		for id, p := range state.Panes {
			if at := c.said(state, p); at != seen[id] && c.runs(id) != (chip.Sight{}) {
				seen[id] = at
				c.runner.Refresh(string(id))
			}
		}
	}
}

// said is how much an agent has said in a pane: by its log, or by a chat's journal; 0 where
// there is none.
func (c *chips) said(state davit.State, p davit.Pane) uint64 {
	switch p.Kind {
	case keeper.PaneAgent:
		if live, err := c.d.panes.Get(p.ID); err == nil {
			return live.View().Offset
		}
	case keeper.PaneChat:
		return state.Sessions[p.Session].Cursor.Seq
	}
	return 0
}

// push takes new values into the model.
func (c *chips) push(u runner.Update) {
	if c.prompts.push(u) {
		return
	}
	id := davit.PaneID(u.Key)
	err := c.d.host.Change(context.Background(), func(m host.Model) (host.Change, error) {
		if _, shown := m.State.Panes[id]; !shown {
			return host.Change{}, nil
		}
		return host.Change{Events: []davit.Event{{Kind: davit.EventChips, PaneID: id, Chips: c.besides(id, u.Chips)}}, Volatile: true}, nil
	})
	if err != nil {
		c.d.log.Debug("chips were not shown", "pane", id, "err", err)
	}
}

// besides tells with a chip that belongs to some programs also the aliases that the pane's
// shell has for them, as they are when its value lands.
func (c *chips) besides(id davit.PaneID, values []davit.Chip) []davit.Chip {
	for i, value := range values {
		if value.Data == nil || len(value.Data.WhileTyping) == 0 {
			continue
		}
		data := *value.Data // shared by surfaces
		data.WhileTyping = chip.Beside(data.WhileTyping, c.place(id).aliases())
		values = slices.Clone(values)
		values[i].Data = &data
	}
	return values
}

// Pane says which directory a pane is in (tab.Chips).
func (c *chips) Pane(id davit.PaneID, dir string) {
	c.mu.Lock()
	p, known := c.panes[id]
	p.dir, p.remote, p.subshell, p.ssh = dir, false, "", ""
	c.panes[id] = p
	c.sights.runs[id] = c.sights.runs[id].And(c.sights.of(id))
	if c.sights.runs[id] != (chip.Sight{}) {
		c.watchPane(id, p)
	}
	c.mu.Unlock()
	if !known {
		c.pulls.sessionBegan(id)
	}
}

// watchPane shows a pane's chips. Caller holds mu; the runner's asks never wait.
func (c *chips) watchPane(id davit.PaneID, p place) {
	c.runner.Watch(string(id), p.dir)
	c.showPane(id, p)
}

func (c *chips) showPane(id davit.PaneID, p place) {
	n := chip.NeedsOf(c.layout, c.view, placeOf(c.d.host.State().Panes[id]), c.sights.runs[id])
	c.runner.Show(string(id), runner.Show{
		PullRequest: n.PullRequest, NoDiff: !n.Diff, Path: p.search, Remote: p.remote, Kinds: n.Kinds, Session: c.sessionOf(p),
	})
}

// placeOf is where a pane's chips are shown.
func placeOf(p davit.Pane) chip.Place {
	switch p.Kind {
	case keeper.PaneAgent:
		return chip.PlaceCLIFooter
	case keeper.PaneChat:
		return chip.PlaceFooter
	}
	return chip.PlacePrompt
}

// sessionOf joins what a pane's shell has told with what its running command means.
func (c *chips) sessionOf(p place) chip.Session {
	s := chip.NewSession(p.told, c.user, c.machine)
	if s.Subshell = p.subshell; s.SSH == "" {
		s.SSH = p.ssh
	}
	return s
}

// PaneEvent hears what a pane's shell tells of its session.
func (c *chips) PaneEvent(id davit.PaneID, e pane.Event) {
	switch e.Kind {
	case pane.EventDirectory:
		c.session(id, func(p *place) { p.remote = e.Remote })
	case pane.EventProperty:
		c.session(id, func(p *place) { p.tell(e.Params) })
		if _, told := e.Params[chip.PropertyPath]; told {
			c.pulls.sessionBegan(id)
		}
	case pane.EventCommandStarted:
		if e.Block != nil {
			c.session(id, func(p *place) {
				aliases := p.aliases()
				p.subshell, p.ssh = chip.SubshellOf(e.Block.Command, aliases), chip.SSHTarget(e.Block.Command, aliases)
			})
		}
	case pane.EventCommandFinished:
		c.session(id, func(p *place) { p.subshell, p.ssh = "", "" })
		if e.Block != nil {
			aliases := c.place(id).aliases()
			c.runner.Finished(string(id), e.Block.Command, aliases)
			c.pulls.finished(id, *e.Block, aliases)
		}
	}
}

// session changes what is known of a pane's session.
func (c *chips) session(id davit.PaneID, change func(*place)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, known := c.panes[id]
	if !known {
		return
	}
	change(&p)
	if p.same(c.panes[id]) {
		return
	}
	c.panes[id] = p
	if c.sights.runs[id] != (chip.Sight{}) {
		c.showPane(id, p)
	}
}

// place gives where a pane is.
func (c *chips) place(id davit.PaneID) place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.panes[id]
}

// places gives where all panes are.
func (c *chips) places() map[davit.PaneID]place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.panes)
}

// Command says that a command has finished in a pane (tab.Chips). What it means for the
// pull request is heard by PaneEvent, with its exit.
func (c *chips) Command(id davit.PaneID, _ string) { c.runner.Ran(string(id)) }

// Gone forgets a pane.
func (c *chips) Gone(id davit.PaneID) {
	c.mu.Lock()
	delete(c.panes, id)
	delete(c.sights.runs, id)
	c.mu.Unlock()
	c.runner.Drop(string(id))
}

// resolved hears what is shown where from now on: every surface is told at once (C4.3).
func (c *chips) resolved(layout davit.ChipLayout, view davit.TabView) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.layout, c.view = layout, view
	c.prompts.resolved(layout)
	for id, p := range c.panes {
		if c.sights.runs[id] != (chip.Sight{}) {
			c.showPane(id, p)
		}
	}
}

// Get is chips.get: by pane, else by an absolute directory.
func (c *chips) Get(ctx context.Context, in wire.ChipsRequest) (wire.Chips, error) {
	state := c.d.host.State()
	p := place{dir: in.Dir}
	if in.Pane != "" {
		if known := c.place(in.Pane); known.dir != "" {
			p = known
		}
	}
	if in.Path != "" {
		p.search = in.Path
	}
	if in.Session != nil {
		p.told = in.Session
	}
	c.owns.read(ctx)
	var known []davit.Chip
	if c.runs(in.Pane).Pane { // what nobody looks at may be old: this question looks (C3.3)
		known = state.Chips[in.Pane]
	}
	list := c.runner.List(ctx, runner.ListRequest{
		Dir: p.dir, Path: p.search, Remote: p.remote, Session: c.sessionOf(p), Known: known, Layout: state.Layout, Verdict: c.choices.verdict(),
	})
	after := c.d.host.State().Layout // what was found may have moved it
	return wire.Chips{Chips: list, Validation: string(after.Validation), Shown: after.Prompt, Faults: c.owns.table.Load().faults}, nil
}

// Revalidate is chips.revalidate: gh is asked, whatever is known (spec chips C4.4).
func (c *chips) Revalidate(ctx context.Context, in wire.ChipsRequest) (wire.ChipRevalidated, error) {
	p := place{dir: in.Dir}
	if in.Pane != "" {
		if known := c.place(in.Pane); known.dir != "" {
			p = known
		}
	}
	if in.Path != "" {
		p.search = in.Path
	}
	j := c.runner.Revalidate(ctx, runner.Question{Dir: p.dir, Path: p.search, Remote: p.remote}, c.d.host.State().Layout)
	if err := c.choices.judge(ctx, j); err != nil {
		return wire.ChipRevalidated{}, err
	}
	return wire.ChipRevalidated{Layout: c.d.host.State().Layout, Outcome: string(j.Verdict), Reason: j.Reason}, nil
}
