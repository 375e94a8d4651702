package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	lines := lineCounter{root: repo.Root, files: maxUntracked, bytes: maxUntrackedBytes}
	for _, e := range entries {
		value.Files++
		if e.Kind == git.Untracked {
			value.Untracked++
			value.Added += lines.count(ctx, e.Path)
		}
	}
	for _, s := range stats {
		value.Added += s.Added
		value.Removed += s.Removed
	}
	return value, lines.over, nil
}

// What is read of untracked files at most.
const (
	maxUntracked      = 5_000
	maxUntrackedBytes = 64 << 20
	maxUntrackedFile  = 20 << 20
	binaryProbe       = 8_000 // bytes in which git looks for a NUL
)

// lineCounter counts lines as git would after an add. Directories (repositories of their
// own), links, devices, binary and unreadable files count none.
type lineCounter struct {
	root  string
	files int   // that may still be read
	bytes int64 // that may still be read
	over  bool
	buf   []byte
}

func (c *lineCounter) count(ctx context.Context, rel string) int {
	if strings.HasSuffix(rel, "/") || ctx.Err() != nil {
		return 0
	}
	file, err := os.OpenFile(filepath.Join(c.root, filepath.FromSlash(rel)), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	if c.files == 0 || info.Size() > maxUntrackedFile || info.Size() > c.bytes {
		c.over = true
		return 0
	}
	c.files--
	if c.buf == nil {
		c.buf = make([]byte, 64<<10)
	}
	lines, read, last := 0, int64(0), byte('\n')
	for read <= maxUntrackedFile {
		n, err := io.ReadFull(file, c.buf)
		if n > 0 {
			if read == 0 && bytes.IndexByte(c.buf[:min(n, binaryProbe)], 0) >= 0 {
				return 0
			}
			lines += bytes.Count(c.buf[:n], []byte{'\n'})
			last = c.buf[n-1]
			read += int64(n)
			c.bytes -= int64(n)
		}
		if err != nil {
			break
		}
	}
	if last != '\n' {
		lines++
	}
	return lines
}
