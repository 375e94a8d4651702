package runner

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
)

// diff is the last known diff of a tree and how it stands.
type diff struct {
	has     bool // value is one that git gave
	value   chip.Diff
	status  davit.ChipStatus
	reason  string
	at      time.Time // of the last end of a run
	began   time.Time // the last one, or the one that runs
	running bool
	queued  bool
	again   bool // something changed while it ran
	missed  bool // there was a reason for a run while nobody showed it

	tracking chip.Tracking // of branch, by the same call
	branch   string
	cherry   cherry
	ends     string // stamp of the upstream that tracking was counted against
	whole    bool   // both calls had to look at all
}

// cherry is what was counted of a branch and its upstream that have both gone on.
type cherry struct {
	stamp    string // of both ends
	tracking chip.Tracking
}

// counting says what to count.
type counting struct {
	repo   git.Repository
	head   git.Head
	status bool   // somebody shows how the branch stands
	known  cherry // of the last time
	last   string // the upstream of the last time
	whole  bool   // the last time both calls had to look at all
}

// measured is what was counted.
type measured struct {
	value    chip.Diff
	partial  bool
	tracking chip.Tracking
	branch   string
	cherry   cherry
	ends     string
	whole    bool
}

// ranGrace is how long a command's end waits for the watch to tell of the same change.
const ranGrace = 100 * time.Millisecond

// ran is the end of a command in a work tree.
type ran struct {
	tree *tree
	at   time.Time
}

// take takes the end of a run.
func (d *diff) take(m measured, err error) {
	switch {
	case err == nil:
		d.has, d.value, d.status, d.reason = true, m.value, davit.ChipReady, ""
		d.tracking, d.branch, d.cherry, d.ends, d.whole = m.tracking, m.branch, m.cherry, m.ends, m.whole
		if m.partial {
			d.reason = "there are too many untracked lines to count them all"
		}
	case davit.CodeOf(err) == davit.CodeGitMissing:
		d.has, d.status, d.reason = false, davit.ChipDisabled, "Requires the `git` command"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		d.status, d.reason = davit.ChipTimedOut, "git did not answer in time"
	default:
		d.has, d.status, d.reason = false, davit.ChipError, err.Error()
	}
}

func (d *diff) chip() davit.Chip {
	c := davit.Chip{Kind: string(chip.GitDiff)}
	if d.has {
		c = chip.NewDiff(d.value)
	}
	c.Status, c.Reason = d.status, d.reason
	if d.status == "" {
		c.Status = davit.ChipLoading
	}
	return c
}

// statusChip is the branch with its counts, which are of the same calls as the diff. Counts
// of another branch are not shown.
func (d *diff) statusChip(head git.Head, err error) davit.Chip {
	branch := branchChip(head, err)
	if err != nil {
		branch.Kind = string(chip.GitStatus)
		return branch
	}
	tracking := d.tracking
	if d.branch != head.Branch {
		tracking = chip.Tracking{}
	}
	c := chip.NewStatus(branch, tracking)
	if d.status != "" && d.status != davit.ChipReady && d.status != davit.ChipLoading {
		c.Status, c.Reason = d.status, d.reason
	}
	return c
}

func (t *tree) statusChip() davit.Chip { return t.diff.statusChip(t.head, t.headErr) }

// look runs the git calls of a diff (spec chips C1.2). Where the index is as HEAD is, the
// second is asked about what the first one names, so that git looks at every file once, and
// is not made where there is nothing to ask; else both look at all. Side by side they run
// where the last time tells that there will be two such.
func (r *Runner) look(ctx context.Context, c counting) (entries []git.StatusEntry, tracking git.Tracking, stats []git.FileStat, err error) {
	status := func(ctx context.Context) (err error) {
		entries, tracking, err = r.cfg.Git.StatusTracking(ctx, c.repo.Root, git.StatusOptions{})
		return err
	}
	whole := func(ctx context.Context) (err error) {
		stats, err = r.cfg.Git.NumStat(ctx, c.repo.Root, c.head.Unborn)
		return err
	}
	if c.whole {
		calls, ctx := errgroup.WithContext(ctx)
		calls.Go(func() error { return status(ctx) })
		calls.Go(func() error { return whole(ctx) })
		err = calls.Wait()
		return
	}
	if err = status(ctx); err != nil {
		return
	}
	switch paths, ok := git.Unstaged(entries); {
	case !ok:
		err = whole(ctx)
	case len(paths) > 0:
		stats, err = r.cfg.Git.WorkStat(ctx, c.repo.Root, paths)
	}
	return
}

// count counts what the git calls tell, and the lines of untracked files. How the branch
// stands comes of the first call.
func (r *Runner) count(ctx context.Context, c counting) (measured, error) {
	m := measured{branch: c.head.Branch, ends: c.endsOf(c.last)}
	entries, tracking, stats, err := r.look(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return measured{}, err
	}
	_, named := git.Unstaged(entries)
	m.whole = !named
	lines := git.NewLineCounter(c.repo.Root)
	total := git.Total(entries, stats, func(path string) int { return lines.Count(ctx, path) })
	m.value.Files, m.value.Untracked, m.value.Added, m.value.Removed = total.Files, total.Untracked, total.Added, total.Removed
	m.partial = lines.Over()
	m.tracking = chip.Tracking{Upstream: tracking.Upstream, Ahead: tracking.Ahead, Behind: tracking.Behind, Unavailable: tracking.Upstream != "" && !tracking.Counted}
	m.cherry = c.known
	if tracking.Upstream != c.last {
		m.ends = c.endsOf(tracking.Upstream)
	}
	if c.status && tracking.Ahead > 0 && tracking.Behind > 0 {
		r.compare(ctx, c, &m)
	}
	return m, nil
}

// endsOf is a word for where an upstream is.
func (c counting) endsOf(upstream string) string {
	if !c.status || upstream == "" {
		return ""
	}
	return git.UpstreamStamp(c.repo, upstream)
}

// What is compared of two sides that have both gone on, at most.
const (
	maxCompared   = 200 // commits of both
	compareWithin = time.Second
)

// compare finds out whether two sides that have both gone on say the same, as after a
// rebase. Status cannot tell; git is asked once for each pair of ends, and only where
// somebody shows it. Without an answer the plain counts stand.
func (r *Runner) compare(ctx context.Context, c counting, m *measured) {
	if m.tracking.Ahead+m.tracking.Behind > maxCompared {
		return
	}
	stamp := c.head.Commit + " " + m.tracking.Upstream + " " + m.ends
	if stamp != c.known.stamp {
		ctx, cancel := context.WithTimeout(ctx, compareWithin)
		defer cancel()
		ahead, behind, same, err := r.cfg.Git.CherryMark(ctx, c.repo.Root)
		if err != nil {
			r.cfg.Log.Debug("a branch could not be compared with its upstream", "repository", c.repo.Root, "err", err)
			return
		}
		tracking := m.tracking
		tracking.Ahead, tracking.Behind, tracking.Rebased = ahead, behind, ahead == 0 && behind == 0 && same > 0
		m.cherry = cherry{stamp, tracking}
	}
	m.tracking = m.cherry.tracking
}
