package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
)

// place is where a directory is.
type place struct {
	key     string
	look    int
	refresh bool

	dir     string
	gone    error // the directory cannot be looked at
	broken  error // a .git that leads nowhere
	found   bool  // a repository
	repo    git.Repository
	head    git.Head
	headErr error
	stamp   string
	config  string
}

// placeOf reads where a directory is, from files only; a reftable costs two short git
// calls.
func (r *Runner) placeOf(ctx context.Context, dir string) *place {
	p := &place{dir: dir}
	repo, err := git.Discover(dir)
	var link *git.LinkError
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return p
	case errors.As(err, &link):
		p.broken = err
		return p
	case err != nil:
		p.gone = err
		return p
	}
	p.found, p.repo = true, repo
	p.head, p.headErr = r.cfg.Git.Head(ctx, repo)
	p.stamp = stamp(repo, p.head)
	p.config = stampOf(filepath.Join(repo.CommonDir, "config"))
	return p
}

// stamp is a word for what a diff depends on in the git directory: HEAD's commit and the
// index.
func stamp(repo git.Repository, head git.Head) string {
	return head.Commit + " " + stampOf(filepath.Join(repo.GitDir, "index"))
}

func stampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d", info.ModTime().UnixNano(), info.Size())
}

// chips gives the chips of a place that need no repository.
func (p *place) chips(home string) []davit.Chip {
	cwd := chip.NewCwd(p.dir, home)
	if p.gone != nil {
		cwd.Status, cwd.Reason = davit.ChipError, "the directory cannot be looked at: "+p.gone.Error()
		if errors.Is(p.gone, fs.ErrNotExist) {
			cwd.Reason = "the directory is gone"
		}
	}
	chips := []davit.Chip{cwd}
	if p.broken != nil {
		chips = append(chips, branchChip(git.Head{}, p.broken))
	}
	return chips
}

func branchChip(head git.Head, err error) davit.Chip {
	if err != nil {
		return davit.Chip{Kind: string(chip.GitBranch), Status: davit.ChipError, Reason: err.Error()}
	}
	return chip.NewBranch(head.Branch, head.Commit, head.Detached, head.Unborn)
}

// tree is one work tree, or bare repository, that surfaces are in.
type tree struct {
	repo     git.Repository
	ctx      context.Context // ends with the last surface
	cancel   context.CancelFunc
	surfaces map[*surface]bool
	head     git.Head
	headErr  error
	stamp    string
	reading  bool // HEAD is being read again
	again    bool // and must be once more
	diff     diff

	config     string // stamp of the repository's own configuration
	configured bool   // which has changed since its remotes were read
	pull       *pull  // of its branch; nil when there is none to ask for, or not yet known
	noPull     string // why there is none to ask for; "" while it is not known
}

// gate lets one pair of git calls through at a time per repository (C1.2).
type gate struct {
	busy  *tree
	queue []*tree // each tree at most once
}

// change says that the git side of a tree has changed.
type change struct{ tree *tree }

// reread is HEAD, read again.
type reread struct {
	tree  *tree
	place *place
	ends  string // of its upstream, while somebody shows how the branch stands
}

// showsStatus says that somebody shows how the tree's branch stands.
func (t *tree) showsStatus() bool {
	for s := range t.surfaces {
		if slices.Contains(s.show.Kinds, chip.GitStatus) {
			return true
		}
	}
	return false
}

// counts says that somebody shows the size of the tree's diff, or how its branch stands,
// which the same calls tell.
func (t *tree) counts() bool {
	for s := range t.surfaces {
		if !s.show.NoDiff || slices.Contains(s.show.Kinds, chip.GitStatus) {
			return true
		}
	}
	return false
}

// treeKey tells trees apart. The inside of a .git is another place than its work tree.
func treeKey(repo git.Repository) string { return repo.GitDir + "\x00" + repo.Root }

// plant begins to watch a tree.
func (l *loop) plant(p *place) *tree {
	t := &tree{repo: p.repo, surfaces: map[*surface]bool{}, head: p.head, headErr: p.headErr, stamp: p.stamp}
	t.ctx, t.cancel = context.WithCancel(l.ctx)
	l.trees[treeKey(p.repo)] = t
	if l.cfg.Watch == nil {
		return t
	}
	where := t.repo.Root
	if where == "" {
		where = t.repo.GitDir
	}
	l.spawn(func(send func(any)) {
		events, end := l.cfg.Watch.Subscribe(t.ctx, where)
		defer end()
		send(change{t}) // what changed before the subscription stood
		for {
			select {
			case <-events:
				send(change{t})
			case <-t.ctx.Done():
				return
			}
		}
	})
	return t
}

// abandon ends a tree. Its surfaces look again where they are.
func (l *loop) abandon(t *tree) {
	t.cancel()
	if l.trees[treeKey(t.repo)] == t {
		delete(l.trees, treeKey(t.repo))
	}
	for s := range t.surfaces {
		s.tree = nil
		l.lookUp(s, false)
	}
	t.surfaces = nil
	l.detach(t)
	l.forgetForge(t.repo.CommonDir)
	g := l.gates[t.repo.CommonDir]
	if g == nil {
		return
	}
	for i, queued := range g.queue {
		if queued == t {
			g.queue = append(g.queue[:i:i], g.queue[i+1:]...)
			break
		}
	}
}

func (l *loop) reread(t *tree) {
	if t.ctx.Err() != nil {
		return
	}
	if t.reading {
		t.again = true
		return
	}
	t.reading = true
	dir := t.repo.Root
	if dir == "" {
		dir = t.repo.GitDir
	}
	c := counting{repo: t.repo, status: t.showsStatus()}
	upstream := t.diff.tracking.Upstream
	l.spawn(func(send func(any)) { send(reread{t, l.placeOf(t.ctx, dir), c.endsOf(upstream)}) })
}

func (l *loop) changed(r reread) {
	t := r.tree
	t.reading = false
	if t.ctx.Err() != nil {
		return
	}
	if r.place.repo != t.repo {
		l.abandon(t) // it is gone, or another one
		return
	}
	before, config := t.stamp, t.config
	if t.setHead(r.place) {
		l.mark(t)
		l.lookBranch(t)
	}
	l.attach(t)
	moved := r.ends != "" && r.ends != t.diff.ends || t.showsStatus() && config != t.config // it may have another upstream
	if t.stamp != before || moved {
		l.measure(t, true)
	}
	if t.again {
		t.again = false
		l.reread(t)
	}
}

// setHead takes what was read, and says whether it is something else.
func (t *tree) setHead(p *place) bool {
	same := t.head == p.head && fmt.Sprint(t.headErr) == fmt.Sprint(p.headErr)
	t.configured = t.configured || t.config != "" && t.config != p.config
	t.head, t.headErr, t.stamp, t.config = p.head, p.headErr, p.stamp, p.config
	return !same
}

// trusted is how long the value of a diff serves surfaces that come new to its tree.
const trusted = 2 * time.Second

// settled says that a surface new to the tree needs no calls of its own.
func (t *tree) settled(now time.Time) bool {
	return t.diff.running || t.diff.queued || (t.diff.has && !t.diff.missed && now.Sub(t.diff.at) < trusted)
}

// measure gets a new diff: now, or when the repository's turn comes. With renew, a run
// under way is followed by another one, because it may have looked too early.
func (l *loop) measure(t *tree, renew bool) {
	if t.repo.Root == "" || t.ctx.Err() != nil || t.diff.queued {
		return
	}
	if t.diff.running {
		t.diff.again = t.diff.again || renew
		return
	}
	if t.diff.missed = !t.counts(); t.diff.missed { // nobody shows it (C2.4)
		return
	}
	g := l.gates[t.repo.CommonDir]
	if g == nil {
		g = &gate{}
		l.gates[t.repo.CommonDir] = g
	}
	if g.busy != nil {
		t.diff.queued = true
		g.queue = append(g.queue, t)
		return
	}
	l.start(g, t)
}

func (l *loop) start(g *gate, t *tree) {
	g.busy = t
	t.diff.running, t.diff.queued, t.diff.began = true, false, l.cfg.Now()
	if !t.diff.has {
		t.diff.status = davit.ChipLoading
		l.mark(t)
	}
	c := counting{repo: t.repo, head: t.head, known: t.diff.cherry, status: t.showsStatus(), last: t.diff.tracking.Upstream, whole: t.diff.whole}
	l.spawn(func(send func(any)) {
		ctx, cancel := context.WithTimeout(t.ctx, l.cfg.Cap)
		defer cancel()
		ended := make(chan diffDone, 1)
		l.children.Go(func() {
			m, err := l.count(ctx, c)
			ended <- diffDone{t, m, err}
		})
		late := time.NewTimer(l.cfg.Deadline)
		defer late.Stop()
		for {
			select {
			case done := <-ended:
				send(done)
				return
			case <-late.C:
				send(diffLate{t})
			}
		}
	})
}

type diffLate struct{ tree *tree }

type diffDone struct {
	tree *tree
	measured
	err error
}

func (l *loop) late(t *tree) {
	if t.diff.has && t.diff.running {
		t.diff.status = davit.ChipStale
		t.diff.reason = fmt.Sprintf("git has not answered within %s", l.cfg.Deadline)
		l.mark(t)
	}
}

func (l *loop) done(d diffDone) {
	t := d.tree
	t.diff.running = false
	t.diff.at = l.cfg.Now()
	if t.ctx.Err() == nil {
		t.diff.take(d.measured, d.err)
		l.mark(t)
		if d.err != nil {
			l.cfg.Log.Debug("a diff could not be counted", "repository", t.repo.Root, "err", d.err)
		}
	}
	g := l.gates[t.repo.CommonDir]
	g.busy = nil
	for len(g.queue) > 0 && g.busy == nil {
		next := g.queue[0]
		g.queue = g.queue[1:]
		if next.diff.queued, next.diff.missed = false, !next.counts(); !next.diff.missed {
			l.start(g, next)
		}
	}
	if t.diff.again {
		t.diff.again = false
		l.measure(t, true)
	}
	if g.busy == nil {
		delete(l.gates, t.repo.CommonDir)
	}
}
