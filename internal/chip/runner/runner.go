// Package runner runs the chips of the surfaces that somebody looks at: directory, branch,
// diff and pull request, and those that a program, the session or the clock gives.
//
//	Watch, Show, Refresh, Bump, Drop ──asks (newest per surface)──► Run ──Push, Judge──► host
//	                                                                ▲ │
//	                     lookups, git and gh calls, repository watch ┘ └─► one goroutine each, while it lasts
//
// Run owns every map. Surfaces in one work tree share its HEAD and its diff; the pairs of
// git calls of one repository run one after the other. Surfaces on one branch of one
// repository at one forge share its pull request, whatever directories they are in (spec
// chips C2.5). Nothing is run for a surface that was dropped. A branch is read from files,
// without a process (spec chips C1.1); a diff is two git calls side by side (C1.2). The
// package writes nothing, takes no lock of a repository and leaves no process behind.
package runner

import (
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
	"davit/internal/github"
)

// Watcher tells of changes in a repository; *git.Watch is one.
type Watcher interface {
	Subscribe(ctx context.Context, dir string) (<-chan struct{}, func())
	Polling() string // why repositories are looked at by timer, "" when none is
}

// Config says what to run and whom to tell. Push is called from Run's goroutine, one
// call at a time; it must not block for long.
type Config struct {
	Git      git.Runner
	Watch    Watcher // nil: only Watch and Refresh cause reads
	Home     string  // shortened to ~ in the cwd chip
	Push     func(Update)
	Log      *slog.Logger
	Now      func() time.Time
	Deadline time.Duration // after which a diff is shown as stale; the policy's when 0
	Cap      time.Duration // after which the calls are ended; the policy's when 0
	Coalesce time.Duration // between two updates of one surface; 50 ms when 0 (C2.4)

	GitHub github.Client
	Pace   chip.Pace                                  // of pull requests; chip.PullRequestPace when zero
	Login  func() (search string, known bool)         // the login shell's PATH, without waiting for it; nil: not known
	Judge  func(chip.Judgement)                       // hears what each question to gh came to; it must not block for long
	Asked  func(j chip.Judgement, took time.Duration) // hears of each gh that was started
}

// Update is the chips of one surface, all of them, as they are now.
type Update struct {
	Key   string
	Chips []davit.Chip
}

// Runner runs chips. Its methods never block and may be called from any goroutine.
type Runner struct {
	cfg  Config
	mu   sync.Mutex                    // guards asks and own
	asks map[string]ask                // at most one per surface: a newer one takes the older one's place
	wake chan struct{}                 // 1: asks is not empty, or own is new
	own  map[chip.Kind]chip.CustomChip // the user's own chips; never changed in place
	ownN int                           // counts the tables

	questions questions
}

// New makes a Runner; Run starts it.
func New(cfg Config) *Runner {
	policy, _ := chip.PolicyOf(chip.GitDiff)
	if cfg.Deadline == 0 {
		cfg.Deadline = policy.Deadline
	}
	if cfg.Cap == 0 {
		cfg.Cap = policy.Cap
	}
	if cfg.Coalesce == 0 {
		cfg.Coalesce = 50 * time.Millisecond
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Push == nil {
		cfg.Push = func(Update) {}
	}
	if cfg.Judge == nil {
		cfg.Judge = func(chip.Judgement) {}
	}
	if cfg.Asked == nil {
		cfg.Asked = func(chip.Judgement, time.Duration) {}
	}
	if cfg.Login == nil {
		cfg.Login = func() (string, bool) { return "", false }
	}
	if cfg.Pace == (chip.Pace{}) {
		cfg.Pace = chip.PullRequestPace()
	}
	return &Runner{cfg: cfg, asks: map[string]ask{}, wake: make(chan struct{}, 1)}
}

// Run serves until ctx ends, and returns after its children did.
func (r *Runner) Run(ctx context.Context) error {
	l := &loop{
		Runner: r, results: make(chan any), surfaces: map[string]*surface{}, trees: map[string]*tree{}, gates: map[string]*gate{},
		forges: map[string]*forge{}, pulls: map[pullKey]*pull{}, tools: map[string]*tools{}, limits: map[string]time.Time{},
		mades: map[madeKey]*made{},
	}
	l.ctx, l.cancel = context.WithCancel(ctx)
	defer l.children.Wait()
	defer l.cancel()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
			asks, own, n := r.takeAsks()
			if n != l.ownN {
				l.ownN = n
				l.ownChanged(own)
			}
			for key, a := range asks {
				l.serve(key, a)
			}
		case result := <-l.results:
			l.take(result)
		case <-due.C:
		}
		l.wakeAt = time.Time{}
		l.advance(l.cfg.Now())
		l.ticks(l.cfg.Now())
		l.push()
		l.answer()
		if l.wakeAt.IsZero() {
			due.Stop()
		} else {
			due.Reset(max(l.wakeAt.Sub(l.cfg.Now()), 0))
		}
	}
}

// loop is what Run owns.
type loop struct {
	*Runner
	ctx      context.Context
	cancel   context.CancelFunc
	children sync.WaitGroup
	results  chan any // place, change, diffLate, diffDone: blocks until Run takes it
	surfaces map[string]*surface
	trees    map[string]*tree // by treeKey
	gates    map[string]*gate // by common directory
	wakeAt   time.Time        // when the loop must look again without a sign; zero: never
	arrivals int              // surfaces so far

	forges  map[string]*forge // by common directory
	pulls   map[pullKey]*pull
	tools   map[string]*tools    // by PATH
	limits  map[string]time.Time // of a forge's rate limit, by host
	asking  int                  // gh that run
	missing bool                 // it was said that no session has gh

	mades   map[madeKey]*made
	customs map[chip.Kind]chip.CustomChip
	ownN    int // of the table that customs is
}

// wakeBy lets the loop look again at a time, or earlier.
func (l *loop) wakeBy(at time.Time) {
	if l.wakeAt.IsZero() || at.Before(l.wakeAt) {
		l.wakeAt = at
	}
}

// surface is one place that somebody looks at.
type surface struct {
	key, dir string
	look     int    // counts lookups: an older one's answer is dropped
	place    *place // nil before the first answer
	tree     *tree  // nil outside of repositories
	sent     []davit.Chip
	sentAt   time.Time
	changed  bool

	arrived  int // its place in the order of arrival
	show     Show
	question *question // nil but for one that lives as long as it

	mades     map[chip.Kind]*made
	kept      map[chip.Kind]davit.Chip // shown before it went elsewhere
	unsettled bool                     // its PATH is not known yet
	ticked    time.Time                // when a clock that it shows changes
}

// spawn runs work beside the loop and hands its results in.
func (l *loop) spawn(work func(send func(any))) {
	l.children.Go(func() {
		work(func(result any) {
			select {
			case l.results <- result:
			case <-l.ctx.Done():
			}
		})
	})
}

func (l *loop) serve(key string, a ask) {
	s := l.surfaces[key]
	switch {
	case a.drop:
		if s != nil {
			l.leave(s)
			for _, m := range maps.Clone(s.mades) {
				l.part(s, m)
			}
			delete(l.surfaces, key)
		}
		return
	case s == nil && a.dir == "":
		return
	case s == nil:
		l.arrivals++
		s = &surface{key: key, arrived: l.arrivals, question: a.question, mades: map[chip.Kind]*made{}, kept: map[chip.Kind]davit.Chip{}}
		l.surfaces[key] = s
	}
	resettle := a.dir != "" && a.dir != s.dir
	if a.show != nil && !equalShow(*a.show, s.show) {
		s.show, s.changed, resettle = *a.show, true, true
		s.ticked = time.Time{}
		if t := s.tree; t != nil && (t.diff.missed || t.diff.tracking.Upstream != "" && slices.Contains(s.show.Kinds, chip.GitStatus)) {
			l.measure(t, true)
		}
	}
	if a.bump > 0 {
		l.bump(s, a.bump)
	}
	if a.dir != "" {
		s.dir = a.dir
	}
	for _, f := range a.finished {
		l.finished(s, f)
	}
	if !a.ran.IsZero() || a.refresh {
		l.lookAll(s)
	}
	if t := s.tree; t != nil && !a.ran.IsZero() {
		l.spawn(func(send func(any)) {
			select { // the watch's own sign of the same change comes first
			case <-time.After(ranGrace):
				send(ran{t, a.ran})
			case <-t.ctx.Done():
			}
		})
	}
	if a.dir != "" || a.refresh || s.tree == nil && !a.ran.IsZero() { // it may have made a repository
		l.lookUp(s, a.refresh)
	}
	if resettle {
		l.settle(s)
	}
}

// lookUp finds out where a surface is.
func (l *loop) lookUp(s *surface, refresh bool) {
	s.look++
	key, dir, look := s.key, s.dir, s.look
	l.spawn(func(send func(any)) {
		p := l.placeOf(l.ctx, dir)
		p.key, p.look, p.refresh = key, look, refresh
		send(p)
	})
}

func (l *loop) take(result any) {
	switch result := result.(type) {
	case *place:
		l.arrive(result)
	case change:
		l.reread(result.tree)
	case reread:
		l.changed(result)
	case ran:
		if !result.tree.diff.began.After(result.at) {
			l.measure(result.tree, true)
		}
	case diffLate:
		l.late(result.tree)
	case diffDone:
		l.done(result)
	case forgeFound:
		l.forgeFound(result)
	case toolsFound:
		l.toolsFound(result)
	case pullDone:
		l.pullDone(result)
	case madeFacts:
		l.judge(result)
	case madeLate:
		l.madeIsLate(result)
	case madeDone:
		l.madeDone(result)
	}
}

// arrive takes where a surface is.
func (l *loop) arrive(p *place) {
	s := l.surfaces[p.key]
	if s == nil || s.look != p.look {
		return
	}
	s.place, s.changed = p, true
	if !p.found {
		if s.tree != nil {
			l.leave(s)
			s.sentAt = time.Time{} // leaving clears at once (C2.4)
		}
		return
	}
	t := l.trees[treeKey(p.repo)]
	if t != nil && t.repo != p.repo { // another repository in the same place
		l.abandon(t)
		t = nil
	}
	if t == nil {
		t = l.plant(p)
	}
	if s.tree != t {
		if s.tree != nil {
			l.leave(s)
		}
		s.tree, s.sentAt = t, time.Time{}
		t.surfaces[s] = true
	}
	if t.setHead(p) {
		l.mark(t)
	}
	l.attach(t)
	if p.refresh || !t.settled(l.cfg.Now()) {
		l.measure(t, p.refresh)
	}
}

// leave takes a surface out of its tree; a tree without surfaces ends with its watch and
// its calls.
func (l *loop) leave(s *surface) {
	t := s.tree
	if t == nil {
		return
	}
	s.tree = nil
	delete(t.surfaces, s)
	if len(t.surfaces) == 0 {
		l.abandon(t)
	}
}

// mark lets every surface of a tree be told anew.
func (l *loop) mark(t *tree) {
	for s := range t.surfaces {
		s.changed = true
	}
}

// push tells what has changed, not oftener than once per Coalesce and surface; what has to
// wait is told later.
func (l *loop) push() {
	now := l.cfg.Now()
	for _, s := range l.surfaces {
		if !s.changed || s.place == nil || s.question != nil {
			continue
		}
		if wait := s.sentAt.Add(l.cfg.Coalesce).Sub(now); !s.sentAt.IsZero() && wait > 0 {
			l.wakeBy(now.Add(wait))
			continue
		}
		s.changed = false
		chips := l.chips(s)
		if reflect.DeepEqual(chips, s.sent) {
			continue
		}
		s.sent, s.sentAt = chips, now
		l.cfg.Push(Update{Key: s.key, Chips: chips})
	}
}

// chips builds what a surface shows.
func (l *loop) chips(s *surface) []davit.Chip {
	chips := s.place.chips(l.cfg.Home)
	if s.tree == nil {
		return append(chips, l.others(s)...)
	}
	branch := branchChip(s.tree.head, s.tree.headErr)
	if branch.Reason == "" && l.cfg.Watch != nil {
		if why := l.cfg.Watch.Polling(); why != "" {
			branch.Reason = "changes are looked for by timer: " + why
		}
	}
	chips = append(chips, branch)
	if s.tree.repo.Root != "" && !s.show.NoDiff {
		chips = append(chips, s.tree.diff.chip())
	}
	if s.show.PullRequest {
		if c := l.pullChip(s); c.Text != "" { // one without a value draws nothing
			chips = append(chips, c)
		}
	}
	return append(chips, l.others(s)...)
}

// Once gives the chips of a directory without a running Runner: what a host would show,
// waited for at most the diff's cap. Of the other kinds it gives those that show names.
func (r *Runner) Once(ctx context.Context, dir string, show Show) []davit.Chip {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Cap)
	defer cancel()
	p := r.placeOf(ctx, dir)
	others := make(chan []davit.Chip, 1)
	go func() { others <- r.direct(ctx, p, show.Kinds, show) }() // bounded by ctx, and waited for below
	chips := p.chips(r.cfg.Home)
	if p.found {
		chips = append(chips, branchChip(p.head, p.headErr))
		var d diff
		if p.repo.Root != "" && !show.NoDiff {
			m, err := r.count(ctx, counting{repo: p.repo, head: p.head, status: slices.Contains(show.Kinds, chip.GitStatus)})
			d.take(m, err)
			chips = append(chips, d.chip())
		}
		if slices.Contains(show.Kinds, chip.GitStatus) {
			chips = append(chips, d.statusChip(p.head, p.headErr))
		}
	}
	return append(chips, <-others...)
}
