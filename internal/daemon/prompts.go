package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/runner"
	"davit/internal/prompt"
	"davit/internal/prompt/board"
)

// prompts keeps the board from which shells with davit's prompt read last values (spec
// chips C7). A directory whose shell has drawn a prompt lately is a surface like another
// (C2.4): it shares the work tree's calls with the panes, and it ends when no prompt was
// drawn there for a while.
//
//	board ──Asked──► prompts ──Watch, Show, Ran──► runner ──push──► prompts ──Values──► board
type prompts struct {
	c     *chips
	board *board.Board
	dir   string // of the board

	mu     sync.Mutex // guards what follows; taken after chips.mu
	layout davit.ChipLayout
	asked  map[string]*asked // by key; at most promptSurfaces
}

// asked is one directory that prompts are drawn for.
type asked struct {
	ask    prompt.Ask
	at     time.Time // of the last prompt
	since  time.Time // of the first one
	chips  []davit.Chip
	values []prompt.Value // as they were told last
}

const (
	promptSurface  = "prompt " // begins the key of such a surface
	promptLinger   = 2 * time.Minute
	promptSurfaces = 64
	promptGrace    = 10 * time.Second // as long as a new surface may lack what it showed before
	promptTick     = 5 * time.Second
)

func newPrompts(c *chips) *prompts {
	p := &prompts{c: c, dir: board.Dir(filepath.Dir(c.d.socket)), layout: c.layout, asked: map[string]*asked{}}
	p.board = board.New(board.Config{Dir: p.dir, Pid: os.Getpid(), Log: c.d.log, Now: time.Now, Asked: p.ask})
	p.board.Layout(c.layout.Prompt)
	return p
}

func (p *prompts) run(ctx context.Context) {
	done := make(chan struct{})
	go func() { // ends with ctx, and is waited for
		defer close(done)
		if err := p.board.Run(ctx); err != nil {
			p.c.d.log.Warn("shells' prompts get no values", "err", err)
		}
	}()
	defer func() { <-done }()
	ticker := time.NewTicker(promptTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.tick(now)
		}
	}
}

// ask hears of a prompt that was drawn.
func (p *prompts) ask(a prompt.Ask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	at := p.asked[a.Key]
	if at == nil {
		at = &asked{since: now}
		_, at.values, _ = board.Read(p.dir, a.Key) // of an earlier surface
		p.asked[a.Key] = at
	}
	at.ask, at.at = a, now
	key := promptSurface + a.Key
	p.c.runner.Watch(key, a.Dir)
	p.show(at)
	p.c.runner.Ran(key)
	p.bound()
}

// show says which chips a surface runs. Caller holds mu.
func (p *prompts) show(at *asked) {
	names := slices.Concat(p.layout.Prompt, at.ask.Kinds)
	kinds := slices.DeleteFunc(chip.Others(davit.ChipLayout{Prompt: names}), prompt.Own)
	p.c.runner.Show(promptSurface+at.ask.Key, runner.Show{
		PullRequest: p.layout.PRChip && slices.Contains(names, string(chip.GitHubPR)), Path: at.ask.Path, Kinds: kinds,
		Session: chip.NewSession(nil, p.c.user, p.c.machine),
	})
}

// bound ends the surfaces that were asked for the longest time ago. Caller holds mu.
func (p *prompts) bound() {
	for len(p.asked) > promptSurfaces {
		oldest := ""
		for key, at := range p.asked {
			if oldest == "" || at.at.Before(p.asked[oldest].at) {
				oldest = key
			}
		}
		p.drop(oldest)
	}
}

func (p *prompts) drop(key string) {
	p.c.runner.Drop(promptSurface + key)
	delete(p.asked, key)
}

// tick ends surfaces without prompts, and tells what was kept back for a while.
func (p *prompts) tick(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, at := range p.asked {
		switch {
		case now.Sub(at.at) > promptLinger:
			p.drop(key)
		case at.chips != nil && now.Sub(at.since) > promptGrace:
			p.tell(key, at, now)
		}
	}
}

// push takes new values to the board; false when they are of no prompt.
func (p *prompts) push(u runner.Update) bool {
	key, ours := strings.CutPrefix(u.Key, promptSurface)
	if !ours {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.asked[key]; at != nil {
		at.chips = u.Chips
		p.tell(key, at, time.Now())
	}
	return true
}

// tell gives the board the values of a key. Caller holds mu.
func (p *prompts) tell(key string, at *asked, now time.Time) {
	at.values = keepLast(at.values, at.chips, now.Sub(at.since) <= promptGrace)
	p.board.Values(key, at.values)
}

// keepLast gives the values of chips, and those of before that are on their way: a chip
// that loads, and in a young surface the pull request while the branch is the same.
func keepLast(before []prompt.Value, chips []davit.Chip, young bool) []prompt.Value {
	values := prompt.Values(chips)
	find := func(list []prompt.Value, kind string) (string, bool) {
		i := slices.IndexFunc(list, func(v prompt.Value) bool { return v.Kind == kind })
		if i < 0 {
			return "", false
		}
		return list[i].Text, true
	}
	was, _ := find(before, string(chip.GitBranch))
	is, inside := find(values, string(chip.GitBranch))
	for _, v := range before {
		if _, told := find(values, v.Kind); told {
			continue
		}
		loads := slices.ContainsFunc(chips, func(c davit.Chip) bool { return c.Kind == v.Kind && c.Status == davit.ChipLoading })
		if loads || young && v.Kind == string(chip.GitHubPR) && inside && was == is {
			v.Stale = true
			values = append(values, v)
		}
	}
	return values
}

// resolved hears what is shown where from now on.
func (p *prompts) resolved(layout davit.ChipLayout) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.layout = layout
	p.board.Layout(layout.Prompt)
	for _, at := range p.asked {
		p.show(at)
	}
}
