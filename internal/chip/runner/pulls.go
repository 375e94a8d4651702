package runner

import (
	"cmp"
	"context"
	"slices"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/github"
)

// Bumped is what a finished command may have changed.
type Bumped int

// What may have changed: the pull requests of the repository, or the account as well.
const (
	BumpedRepository Bumped = iota + 1
	BumpedAccount
)

// pullKey is what one fetch is shared by (spec chips C2.5).
type pullKey struct{ host, repository, branch string }

// pull is the pull request of one branch of one repository at one forge.
type pull struct {
	key     pullKey
	trees   map[*tree]bool // that are on this branch
	state   chip.State
	value   *davit.PullRequest
	last    chip.Judgement // of the last question that was taken
	counter int            // of invalidating commands
	ticks   int            // of the timer

	began       time.Time // of the last question
	failures    int       // in a row
	peers       int       // at the same forge
	invalidated bool      // since it began
	forced      time.Time // somebody asked for a question now; zero: nobody
	answered    time.Time // when the last question was settled
	left        time.Time // when the last tree went away
	run         *pullRun  // nil when none is under way
}

type pullRun struct {
	cancel context.CancelFunc
	asked  time.Time
}

// Bounds.
const (
	maxAsking  = 4                // gh at once; more wait
	maxPulls   = 256              // branches that are remembered
	remembered = 10 * time.Minute // how long one without a tree is
	freshTools = 5 * time.Second  // how long a look along a PATH is trusted when gh is about to be asked
	loginAgain = 250 * time.Millisecond
)

// attach finds the pull request that a tree's branch is about; the forge is looked up
// when it is not known, or the repository's configuration has changed.
func (l *loop) attach(t *tree) {
	if !l.wanted(t) {
		l.detach(t)
		t.noPull = ""
		return
	}
	if t.noPull = github.Branch(t.repo, t.head, t.headErr); t.noPull != "" {
		l.detach(t)
		return
	}
	f := l.forges[t.repo.CommonDir]
	if f == nil {
		f = &forge{}
		l.forges[t.repo.CommonDir] = f
	}
	f.stale = f.stale || t.configured
	t.configured = false
	if !f.again.IsZero() {
		f.stale = f.stale || !f.again.After(l.cfg.Now())
		l.wakeBy(f.again)
	}
	if !f.looking && (!f.known || f.stale) {
		l.findForge(f, t)
	}
	if !f.known {
		l.detach(t)
		return
	}
	if t.noPull = f.found.Decided; t.noPull != "" {
		l.detach(t)
		return
	}
	key := pullKey{f.found.Host, f.found.Repository, t.head.Branch}
	if t.pull != nil && t.pull.key == key {
		return
	}
	l.detach(t)
	p := l.pulls[key]
	if p == nil {
		l.prune()
		p = &pull{key: key, trees: map[*tree]bool{}}
		l.pulls[key] = p
	}
	p.trees[t] = true
	t.pull = p
	l.mark(t)
}

// wanted says that a surface of the tree asks for its pull request.
func (l *loop) wanted(t *tree) bool {
	for s := range t.surfaces {
		if s.asks() {
			return true
		}
	}
	return false
}

// asks says that the surface makes gh run: not from another machine's session.
func (s *surface) asks() bool { return s.show.PullRequest && !s.show.Remote }

// detach takes a tree off its pull request: a value is shown on its own branch only.
func (l *loop) detach(t *tree) {
	p := t.pull
	if p == nil {
		return
	}
	t.pull = nil
	delete(p.trees, t)
	if len(p.trees) == 0 {
		p.left = l.cfg.Now()
	}
	l.mark(t)
}

// prune forgets pull requests that nobody has been on for a while.
func (l *loop) prune() {
	now := l.cfg.Now()
	for key, p := range l.pulls {
		if len(p.trees) == 0 && p.run == nil && (now.Sub(p.left) > remembered || len(l.pulls) > maxPulls) {
			delete(l.pulls, key)
		}
	}
}

// bump takes a finished command: its repository's pull requests may be others, and after a
// change of the account also those that were denied elsewhere.
func (l *loop) bump(s *surface, what Bumped) {
	common := ""
	if s.tree != nil {
		common = s.tree.repo.CommonDir
		if f := l.forges[common]; f != nil {
			f.stale = true
			l.attach(s.tree)
		}
	}
	for _, p := range l.pulls {
		hit := what == BumpedAccount && p.state.Failure != ""
		for t := range p.trees {
			hit = hit || t.repo.CommonDir == common
		}
		if hit {
			p.counter++
			p.invalidated = true
		}
	}
}

// askers are the surfaces that ask for a pull request, first come first.
func (p *pull) askers() []*surface {
	var list []*surface
	for t := range p.trees {
		for s := range t.surfaces {
			if s.asks() {
				list = append(list, s)
			}
		}
	}
	slices.SortFunc(list, func(a, b *surface) int { return cmp.Compare(a.arrived, b.arrived) })
	return list
}

// advance begins what is due, and ends what nobody asks for any more.
func (l *loop) advance(now time.Time) {
	for _, t := range l.trees {
		l.attach(t)
	}
	l.judgeMissing(now)
	peers := map[string]int{}
	for _, p := range l.pulls {
		if len(p.askers()) > 0 {
			peers[p.key.host]++
		}
	}
	for _, p := range l.pulls {
		l.step(p, peers[p.key.host], now)
	}
}

func (l *loop) step(p *pull, peers int, now time.Time) {
	askers := p.askers()
	if p.run != nil {
		if len(askers) == 0 {
			p.run.cancel()
		}
		return
	}
	if len(askers) == 0 {
		return
	}
	p.peers = peers
	at, ever := l.dueOf(p)
	if p.last.Verdict == chip.VerdictMissing && l.appeared(askers) {
		at, ever = now, true
	}
	if !p.forced.IsZero() {
		at, ever = l.limits[p.key.host], true
		if at.After(now) { // a question that was asked for is answered with why not
			p.forced, p.answered = time.Time{}, now
			return
		}
	}
	switch {
	case !ever:
	case at.After(now):
		l.wakeBy(at)
	case l.asking < maxAsking: // else the end of one brings us here again
		l.begin(p, askers, now)
	}
}

// appeared says that one of the surfaces is known to have gh.
func (l *loop) appeared(askers []*surface) bool {
	for _, s := range askers {
		path, known := l.pathOf(s)
		if t := l.tools[path]; known && t != nil && t.gh != "" {
			return true
		}
	}
	return false
}

// dueOf says when a pull request may be asked for again (C2.5).
func (l *loop) dueOf(p *pull) (at time.Time, ever bool) {
	settled := p.state.Failure != "" && p.state.Failure == p.state.Fingerprint
	return l.cfg.Pace.Due(chip.Past{Began: p.began, Failures: p.failures, Invalidated: p.invalidated, Settled: settled, Until: l.limits[p.key.host], Peers: p.peers})
}

// begin asks gh, by the steps of spec chips C2.2.
func (l *loop) begin(p *pull, askers []*surface, now time.Time) {
	since := now.Add(-freshTools)
	if p.forced.After(since) {
		since = p.forced
	}
	where, found, ready := l.firstWithGh(askers, since, now)
	if !ready {
		return
	}
	if !p.forced.IsZero() {
		p.counter++
	} else if !p.began.IsZero() && !p.invalidated && p.state.Status != davit.ChipDisabled {
		p.ticks++
	}
	facts := chip.Facts{
		Found: map[string]bool{"gh": found.gh != "", "git": found.git != ""},
		Inputs: map[chip.Input]string{
			chip.InputForge: p.key.host, chip.InputRepository: p.key.repository, chip.InputBranch: p.key.branch,
			chip.InputExecutables: present(found), chip.InputInvalidated: itoa(p.counter) + "." + itoa(p.ticks),
		},
	}
	policy, _ := chip.PolicyOf(chip.GitHubPR)
	state, step := chip.Begin(policy, p.state, facts)
	p.state, p.began, p.invalidated = state, now, false
	switch step {
	case chip.StepRun:
		l.askGh(p, where, found, now)
		return
	case chip.StepDisabled:
		p.value = nil
		p.last = chip.Classify(chip.PRFacts{Gh: found.gh != "", Git: found.git != ""}, chip.PRRun{})
		if found.gh == "" {
			p.state.Failure = chip.Fingerprint(policy, facts.Inputs)
		}
	case chip.StepSuppress:
		p.value = nil
	}
	p.forced, p.answered = time.Time{}, now
	l.markPull(p)
}

func (l *loop) markPull(p *pull) {
	for t := range p.trees {
		l.mark(t)
	}
}

type pullDone struct {
	pull  *pull
	run   *pullRun
	judge chip.Judgement
	text  string // stderr
	moved bool   // the branch is not the branch any more
}

// askGh runs one gh in the directory of one asking surface.
func (l *loop) askGh(p *pull, where *surface, found *tools, now time.Time) {
	t := where.tree
	dir, repo, key := t.repo.Root, t.repo, p.key
	ctx, cancel := context.WithCancel(l.ctx)
	run := &pullRun{cancel: cancel, asked: now}
	p.run, p.forced = run, time.Time{}
	l.asking++
	if p.value == nil {
		l.markPull(p)
	}
	gh, git, search := found.gh, found.git, found.path
	l.spawn(func(send func(any)) {
		defer cancel()
		answer := l.cfg.GitHub.View(ctx, gh, dir, search)
		facts := chip.PRFacts{Gh: true, Git: git != "", Host: key.host, SignedIn: l.cfg.GitHub.Accounts()}
		done := pullDone{pull: p, run: run, judge: chip.Classify(facts, answer), text: answer.Stderr}
		after := l.placeOf(ctx, dir)
		done.moved = ctx.Err() != nil || !after.found || after.repo != repo || after.head.Branch != key.branch
		send(done)
	})
}

// pullDone takes an answer, unless its branch is not the branch any more (C2.5).
func (l *loop) pullDone(d pullDone) {
	p, now := d.pull, l.cfg.Now()
	p.run, p.answered = nil, now
	l.asking--
	l.cfg.Asked(d.judge, now.Sub(d.run.asked))
	if d.moved {
		p.state.Fingerprint, p.state.Status = "", davit.ChipIdle
		p.invalidated = true
		for t := range p.trees {
			l.reread(t)
		}
		return
	}
	policy, _ := chip.PolicyOf(chip.GitHubPR)
	p.state = chip.Settle(policy, p.state, d.judge.Outcome, d.judge.Reason)
	p.last = d.judge
	switch d.judge.Outcome {
	case chip.Succeeded:
		p.value, p.failures = d.judge.PullRequest, 0
	case chip.Denied:
		p.value, p.failures = nil, 0
		p.state.Status = davit.ChipDisabled
	default:
		p.failures++ // the last value stays
	}
	if d.judge.Limited {
		until := chip.RateLimit(d.text, now)
		l.limits[p.key.host] = until
		p.state.Reason += "; asked again at " + until.Format("15:04:05")
	}
	if d.judge.Outcome != chip.Succeeded {
		l.cfg.Log.Debug("gh gave no pull request", "host", p.key.host, "branch", p.key.branch, "line", d.judge.Line, "reason", d.judge.Reason)
	}
	l.markPull(p)
	l.cfg.Judge(d.judge)
}
