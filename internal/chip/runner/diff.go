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
}

// ranGrace is how long a command's end waits for the watch to tell of the same change.
const ranGrace = 100 * time.Millisecond

// ran is the end of a command in a work tree.
type ran struct {
	tree *tree
	at   time.Time
}

// take takes the end of a run.
func (d *diff) take(value chip.Diff, partial bool, err error) {
	switch {
	case err == nil:
		d.has, d.value, d.status, d.reason = true, value, davit.ChipReady, ""
		if partial {
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

// count runs the two git calls of a diff side by side (spec chips C1.2), and counts the
// lines of untracked files. partial says that some of those were too many or too large.
func count(ctx context.Context, runner git.Runner, repo git.Repository, unborn bool) (value chip.Diff, partial bool, err error) {
	var entries []git.StatusEntry
	var stats []git.FileStat
	calls, callCtx := errgroup.WithContext(ctx)
	calls.Go(func() (err error) {
		entries, err = runner.Status(callCtx, repo.Root, git.StatusOptions{})
		return err
	})
	calls.Go(func() (err error) {
		stats, err = runner.NumStat(callCtx, repo.Root, unborn)
		return err
	})
	if err := calls.Wait(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return chip.Diff{}, false, err
	}
	lines := git.NewLineCounter(repo.Root)
	for _, e := range entries {
		value.Files++
		if e.Kind == git.Untracked {
			value.Untracked++
			value.Added += lines.Count(ctx, e.Path)
		}
	}
	for _, s := range stats {
		value.Added += s.Added
		value.Removed += s.Removed
	}
	return value, lines.Over(), nil
}
