package daemon

import (
	"sync"
	"time"

	"davit"
	"davit/internal/api"
	"davit/internal/chip"
)

// lingering is how long chips go on after the last one has looked away, so that a reload or
// a look at another tab does not start everything anew.
const lingering = 5 * time.Second

// sights are who looks at which pane, and what is run for that (spec chips C2.4). They are
// of chips, and guarded by its lock.
//
//	unseen ──a client shows it──► run at once
//	run    ──nobody shows it───► for a while, then less or nothing
type sights struct {
	clients map[*looker]api.Sight
	runs    map[davit.PaneID]chip.Sight // what each pane's chips are run for; none for those that are not
	quiet   *time.Timer                 // lowers what nobody looks at any more; nil when there is none
}

// looker is one client that may look (api.Viewer).
type looker struct {
	c    *chips
	once sync.Once
}

func newSights() sights {
	return sights{clients: map[*looker]api.Sight{}, runs: map[davit.PaneID]chip.Sight{}}
}

// of gives what is seen of a pane now.
func (s *sights) of(id davit.PaneID) chip.Sight {
	var seen chip.Sight
	for _, sight := range s.clients {
		seen.Row = seen.Row || sight.Tabs
		for _, shown := range sight.Panes {
			seen.Pane = seen.Pane || shown == id
		}
	}
	return seen
}

// any says that somebody looks at all.
func (s *sights) any() bool {
	for _, sight := range s.clients {
		if sight.Tabs || len(sight.Panes) > 0 {
			return true
		}
	}
	return false
}

func (s *sights) end() {
	if s.quiet != nil {
		s.quiet.Stop()
	}
}

// looked says that somebody looks.
func (c *chips) looked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sights.any()
}

// runs gives what a pane's chips are run for.
func (c *chips) runs(id davit.PaneID) chip.Sight {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sights.runs[id]
}

// Look begins with a client that shows nothing yet (api.Viewers).
func (c *chips) Look() api.Viewer { return &looker{c: c} }

// Shows takes what the client shows from now on.
func (l *looker) Shows(sight api.Sight) {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.sights.any()
	c.sights.clients[l] = sight
	c.sighted()
	if !before && c.sights.any() {
		c.pulls.look()
		c.owns.look()
	}
}

// Done ends it.
func (l *looker) Done() {
	l.once.Do(func() {
		l.c.mu.Lock()
		defer l.c.mu.Unlock()
		delete(l.c.sights.clients, l)
		l.c.sighted()
	})
}

// sighted brings every pane up to what is seen of it now; less comes after a while. Caller
// holds mu; the runner's asks never wait.
func (c *chips) sighted() {
	less := false
	for id, p := range c.panes {
		was, now := c.sights.runs[id], c.sights.of(id)
		both := was.And(now)
		less = less || both != now
		if both == was {
			continue
		}
		c.sights.runs[id] = both
		if was == (chip.Sight{}) {
			c.watchPane(id, p)
		} else {
			c.showPane(id, p)
		}
	}
	if !less {
		return
	}
	if c.sights.quiet == nil {
		c.sights.quiet = time.AfterFunc(lingering, c.lower)
	} else {
		c.sights.quiet.Reset(lingering)
	}
}

// lower ends what nobody has looked at for a while.
func (c *chips) lower() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.panes {
		was, now := c.sights.runs[id], c.sights.of(id)
		switch {
		case was == now:
		case now == (chip.Sight{}):
			delete(c.sights.runs, id)
			c.runner.Drop(string(id))
		default:
			c.sights.runs[id] = now
			c.showPane(id, p)
		}
	}
}

// Prompt gives what a pane's chips say to whoever looks at it, for the block of a command
// that starts (spec chips C5.1, host.PanesConfig): by the layout and values of this moment.
func (c *chips) Prompt(id davit.PaneID, command string) *davit.BlockPrompt {
	if !c.runs(id).Pane {
		return &davit.BlockPrompt{Missing: "nobody looked at the pane when this command started"}
	}
	state := c.d.host.State()
	return chip.Snapshot(chip.Shown(state.Layout, placeOf(state.Panes[id]), state.Chips[id], command))
}
