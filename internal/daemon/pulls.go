package daemon

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/runner"
	"davit/internal/github"
	"davit/internal/shell"

	"golang.org/x/sync/errgroup"
)

// pulls is what the host does about pull requests besides running the chip: it takes
// verdicts to the store, and probes while the chip is suppressed (spec chips C4.4).
type pulls struct {
	c        *chips
	login    func() map[string]string // waits until it is known
	env      atomic.Pointer[map[string]string]
	verdicts chan chip.Judgement // bounded; full: the oldest state stands until the next question
	probes   chan davit.PaneID   // bounded; full: one that waits serves as well
	sessions chan davit.PaneID   // bounded; full: dropped, the next command or session tells

	compared map[string]bool // PATHs of sessions that the login shell was asked for; of takeSessions
	again    time.Time       // when it was asked last; of takeSessions
}

func newPulls(c *chips, login func() map[string]string) *pulls {
	return &pulls{c: c, login: login, verdicts: make(chan chip.Judgement, 64), probes: make(chan davit.PaneID, 1), sessions: make(chan davit.PaneID, 64), compared: map[string]bool{}}
}

// loginPath is the login shell's PATH, when it has told.
func (p *pulls) loginPath() (search string, known bool) {
	if env := p.env.Load(); env != nil {
		return (*env)["PATH"], true
	}
	return "", false
}

// environ is what gh starts from: the user's own terminals' environment, and what only the
// host has.
func (p *pulls) environ() []string {
	env := p.env.Load()
	if env == nil {
		return p.c.d.cfg.Environ
	}
	merged := map[string]string{}
	for _, entry := range p.c.d.cfg.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			merged[name] = value
		}
	}
	maps.Copy(merged, *env)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		out = append(out, name+"="+merged[name])
	}
	return out
}

func (p *pulls) run(ctx context.Context) {
	var group errgroup.Group
	group.Go(func() error { p.captureLogin(ctx); return nil })
	group.Go(func() error { p.takeVerdicts(ctx); return nil })
	group.Go(func() error { p.takeSessions(ctx); return nil })
	group.Go(func() error { p.probe(ctx); return nil })
	_ = group.Wait()
}

// captureLogin waits for the login shell, which has a deadline of its own and is not
// waited for when the host stops.
func (p *pulls) captureLogin(ctx context.Context) {
	told := make(chan map[string]string, 1)
	go func() { told <- p.login() }()
	var env map[string]string
	select {
	case env = <-told:
	case <-ctx.Done():
		return
	}
	if len(env) == 0 { // it did not tell: the host's own
		env = map[string]string{"PATH": p.c.d.cfg.Getenv("PATH")}
	}
	p.env.Store(&env)
}

// judge hears what a question to gh came to (runner.Config).
func (p *pulls) judge(j chip.Judgement) {
	if j.Verdict == chip.VerdictNoChange {
		return
	}
	select {
	case p.verdicts <- j:
	default:
		p.c.d.log.Warn("a verdict about gh was dropped: the store is slow", "verdict", j.Verdict)
	}
}

// asked counts the calls of gh.
func (p *pulls) asked(j chip.Judgement, took time.Duration) {
	p.c.d.metrics.add("davit_gh_calls_total", "outcome", string(j.Outcome), "verdict", string(j.Verdict))
	p.c.d.log.Debug("gh was asked for a pull request", "verdict", j.Verdict, "line", j.Line, "took", took)
}

func (p *pulls) takeVerdicts(ctx context.Context) {
	for {
		select {
		case j := <-p.verdicts:
			if err := p.c.choices.judge(ctx, j); err != nil && ctx.Err() == nil {
				p.c.d.log.Warn("a verdict about gh was not stored", "verdict", j.Verdict, "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// finished hears of a command that has ended in a pane (C2.3, C4.4).
func (p *pulls) finished(id davit.PaneID, block davit.Block, aliases map[string]string) {
	policy, _ := chip.PolicyOf(chip.GitHubPR)
	if !chip.Invalidates(policy, block.Command, aliases) {
		return
	}
	words := chip.Program(block.Command, aliases)
	what := runner.BumpedRepository
	if words[0] == "gh" {
		what = runner.BumpedAccount
	}
	p.c.runner.Bump(string(id), what)
	if words[0] == "gh" && block.Exit != nil && *block.Exit == 0 {
		p.ask(id)
	}
}

// ask wants a probe, if the chip is suppressed by then.
func (p *pulls) ask(id davit.PaneID) {
	select {
	case p.probes <- id:
	default:
	}
}

// sessionBegan hears of a new session, or of another PATH of one.
func (p *pulls) sessionBegan(id davit.PaneID) {
	select {
	case p.sessions <- id:
	default:
	}
}

// look asks every pane that has not told its PATH: a host that came back hears it of the
// pane's screen.
func (p *pulls) look() { p.sessionBegan("") }

// takeSessions finds out the PATHs of sessions, and whether gh has appeared on one.
func (p *pulls) takeSessions(ctx context.Context) {
	for {
		var id davit.PaneID
		select {
		case id = <-p.sessions:
		case <-ctx.Done():
			return
		}
		panes := p.c.places()
		for pane, where := range panes {
			if where.search == "" && (id == "" || id == pane) {
				p.readSession(ctx, pane)
			}
		}
		where, known := p.c.places()[id]
		p.compareLogin(ctx, where.search)
		if !known || !p.suppressed() || p.c.choices.verdict() != chip.VerdictMissing {
			continue
		}
		search := where.search
		if search == "" {
			search, _ = p.loginPath()
		}
		if _, found := github.Find("gh", search); found {
			p.ask(id)
		}
	}
}

// readSession takes what a pane's shell told an earlier host.
func (p *pulls) readSession(ctx context.Context, id davit.PaneID) {
	live, err := p.c.d.panes.Get(id)
	if err != nil {
		return // a chat, or not there yet
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if told, err := live.Properties(ctx); err == nil && len(told) > 0 {
		p.c.session(id, func(where *place) { where.tell(told) })
	}
}

// loginAgain is the least time between two questions to the login shell.
const loginAgain = time.Minute

// compareLogin asks the login shell again when a session's PATH is another than its own:
// a program may have been installed since (spec chips C2.6). The same PATH asks once.
func (p *pulls) compareLogin(ctx context.Context, search string) {
	own, known := p.loginPath()
	if !known || search == "" || search == own || p.compared[search] || time.Since(p.again) < loginAgain {
		return
	}
	if len(p.compared) > 64 {
		clear(p.compared)
	}
	p.compared[search], p.again = true, time.Now()
	cfg := p.c.d.cfg
	env, err := shell.LoginEnv(ctx, userShell(cfg.Getenv), cfg.Environ)
	if err != nil || env["PATH"] == "" {
		p.c.d.log.Debug("the login shell was asked again and did not tell", "err", err)
		return
	}
	p.env.Store(&env)
}

func (p *pulls) suppressed() bool {
	layout := p.c.d.host.State().Layout
	return layout.PRChip && layout.Validation == davit.PRSuppressed
}

// Between probes, so that a script that calls gh all the time does not make us ask all
// the time; and how long one may take.
const (
	probeEvery  = 10 * time.Second
	probeWithin = 8 * time.Second
)

// probe asks gh once per sign that it may work now: at the place of the sign, else where
// there is a repository on GitHub. Without one the sign is kept for the next session.
func (p *pulls) probe(ctx context.Context) {
	var last time.Time
	for {
		var id davit.PaneID
		select {
		case id = <-p.probes:
		case <-ctx.Done():
			return
		}
		if wait := time.Until(last.Add(probeEvery)); wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
		if !p.suppressed() {
			continue
		}
		if p.probeFrom(ctx, id) {
			last = time.Now()
		}
	}
}

// probeFrom asks at a pane's place, then at those of the others, until gh has answered.
func (p *pulls) probeFrom(ctx context.Context, id davit.PaneID) (asked bool) {
	panes := p.c.places()
	order := []davit.PaneID{id}
	for _, other := range slices.Sorted(maps.Keys(panes)) {
		if other != id {
			order = append(order, other)
		}
	}
	tried := map[string]bool{}
	for _, at := range order {
		where, known := panes[at]
		if !known || tried[where.dir] || where.remote {
			continue
		}
		tried[where.dir] = true
		search := panes[id].search
		if search == "" {
			search = where.search
		}
		within, cancel := context.WithTimeout(ctx, probeWithin)
		j := p.c.runner.PullRequest(within, runner.Question{Dir: where.dir, Path: search, Force: true}).Judge
		cancel()
		if j.Line >= 5 { // gh was asked; its verdict has been heard
			p.c.d.log.Info("gh was probed while the pull-request chip is suppressed", "directory", where.dir, "verdict", j.Verdict, "reason", j.Reason)
			return true
		}
	}
	return false
}
