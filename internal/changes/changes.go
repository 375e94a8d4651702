// Package changes tells what differs in a work tree, by where it stands (staged, not
// staged, untracked, in conflict), and gives the diff of one path of it (spec chips C5.2).
// It reads by internal/git, takes no lock of the repository, writes nothing, and runs no
// diff or text program that a repository's configuration names. It refuses paths that lead
// out of the work tree.
package changes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"davit"
	"davit/internal/git"
	"davit/internal/template"
	"davit/internal/wire"
)

const (
	maxPaths    = 5_000
	maxDiff     = 1 << 20  // bytes of a diff that are given
	maxDiffFile = 20 << 20 // bytes of a file whose diff is made
	maxWait     = 10 * time.Second
)

// The sides of a work tree.
const (
	Staged    = "staged"
	Unstaged  = "unstaged"
	Untracked = "untracked"
	Conflicts = "conflicts"
)

// Reader answers for directories. It may be used from any goroutine.
type Reader struct {
	Git    git.Runner
	Within time.Duration // for one answer; 0 is 10 s
}

func (r Reader) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	within := r.Within
	if within == 0 {
		within = maxWait
	}
	return context.WithTimeout(ctx, within)
}

// Changes is worktree.changes of a directory.
func (r Reader) Changes(ctx context.Context, dir string) (wire.Changes, error) {
	repo, err := Find(dir)
	if err != nil {
		return wire.Changes{}, err
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	return List(ctx, r.Git, repo)
}

// Diff is worktree.diff of a directory.
func (r Reader) Diff(ctx context.Context, in wire.DiffRequest) (wire.Diff, error) {
	repo, err := Find(in.Dir)
	if err != nil {
		return wire.Diff{}, err
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	return Diff(ctx, r.Git, repo, in)
}

// Find gives the repository that a directory is in, and refuses what has no work tree.
func Find(dir string) (git.Repository, error) {
	repo, err := git.Discover(dir)
	if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) {
		return repo, davit.Errorf(davit.CodeDirectoryMissing, "there is no directory %s any more", dir).WithHint("it may have been moved or removed")
	}
	if err != nil {
		return repo, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is in no git repository", dir).WithHint("changes are shown inside one")
	}
	if repo.Bare {
		return repo, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is a bare repository: it has no files that could differ", dir)
	}
	return repo, nil
}

// List gives what differs, with lines added and removed.
func List(ctx context.Context, runner git.Runner, repo git.Repository) (wire.Changes, error) {
	head, err := git.ReadHead(repo)
	if err != nil {
		head, err = runner.Head(ctx, repo)
	}
	if err != nil {
		return wire.Changes{}, told(repo, err)
	}
	list := wire.Changes{Root: repo.Root, Branch: head.Branch, Unborn: head.Unborn,
		Conflicts: []wire.Change{}, Staged: []wire.Change{}, Unstaged: []wire.Change{}, Untracked: []wire.Change{}}
	var entries []git.StatusEntry
	var all, staged, unstaged []git.FileStat
	calls, callCtx := errgroup.WithContext(ctx)
	calls.Go(func() (err error) {
		entries, err = runner.Status(callCtx, repo.Root, git.StatusOptions{})
		return err
	})
	calls.Go(func() (err error) {
		all, err = runner.NumStat(callCtx, repo.Root, head.Unborn)
		return err
	})
	calls.Go(func() (err error) {
		staged, err = runner.SideStat(callCtx, repo.Root, true)
		return err
	})
	calls.Go(func() (err error) {
		unstaged, err = runner.SideStat(callCtx, repo.Root, false)
		return err
	})
	if err := calls.Wait(); err != nil {
		return list, told(repo, err)
	}
	counter, lines := git.NewLineCounter(repo.Root), map[string]int{}
	total := git.Total(entries, all, func(path string) int {
		lines[path] = counter.Count(ctx, path)
		return lines[path]
	})
	list.Files, list.Added, list.Removed = total.Files, total.Added, total.Removed
	fill(&list, entries, byPath(staged), byPath(unstaged))
	for i := range list.Untracked {
		list.Untracked[i].Added = lines[list.Untracked[i].Path]
	}
	list.Partial = counter.Over()
	return list, nil
}

func byPath(stats []git.FileStat) map[string]git.FileStat {
	out := make(map[string]git.FileStat, len(stats))
	for _, s := range stats {
		out[s.Path] = s
	}
	return out
}

func fill(list *wire.Changes, entries []git.StatusEntry, staged, unstaged map[string]git.FileStat) {
	count := 0
	add := func(to *[]wire.Change, e git.StatusEntry, kind string, stat git.FileStat) {
		if count++; count > maxPaths {
			list.More++
			return
		}
		c := wire.Change{Path: e.Path, Kind: kind, Added: stat.Added, Removed: stat.Removed, Binary: stat.Binary, Submodule: e.Submodule}
		if kind == "renamed" || kind == "copied" {
			c.From = e.Orig
		}
		*to = append(*to, c)
	}
	for _, e := range entries {
		switch {
		case e.Kind == git.Untracked:
			add(&list.Untracked, e, "untracked", git.FileStat{})
		case e.Kind == git.Unmerged:
			add(&list.Conflicts, e, conflictKind(e.XY), unstaged[e.Path])
		case len(e.XY) == 2:
			if kind := kindOf(e.XY[0]); kind != "" {
				add(&list.Staged, e, kind, staged[e.Path])
			}
			if kind := kindOf(e.XY[1]); kind != "" {
				add(&list.Unstaged, e, kind, unstaged[e.Path])
			}
		}
	}
}

// kindOf reads one of the two letters of a status entry; "" is no change on that side.
func kindOf(letter byte) string {
	switch letter {
	case 'A':
		return "added"
	case 'M':
		return "modified"
	case 'D':
		return "deleted"
	case 'R':
		return "renamed"
	case 'C':
		return "copied"
	case 'T':
		return "type_changed"
	}
	return ""
}

// conflictKind says what the two sides of a merge did.
func conflictKind(xy string) string {
	switch xy {
	case "DD":
		return "both_deleted"
	case "AU":
		return "added_by_us"
	case "UD":
		return "deleted_by_them"
	case "UA":
		return "added_by_them"
	case "DU":
		return "deleted_by_us"
	case "AA":
		return "both_added"
	}
	return "both_modified"
}

// Diff gives one path's difference on one side, cut after a bound.
func Diff(ctx context.Context, runner git.Runner, repo git.Repository, in wire.DiffRequest) (wire.Diff, error) {
	paths := []string{in.Path}
	if in.From != "" {
		paths = append(paths, in.From)
	}
	for _, path := range paths {
		if !filepath.IsLocal(filepath.FromSlash(path)) || strings.ContainsRune(path, 0) {
			return wire.Diff{}, davit.Errorf(davit.CodeInvalid, "%q is no path inside %s", path, repo.Root).WithHint("paths are those of worktree.changes")
		}
	}
	info, err := os.Lstat(filepath.Join(repo.Root, filepath.FromSlash(in.Path)))
	switch {
	case err == nil && info.Size() > maxDiffFile && info.Mode().IsRegular():
		return wire.Diff{}, davit.Errorf(davit.CodeInvalid, "%s has %d MB: its diff is not made here", in.Path, info.Size()>>20).WithHint("look at it with `git diff`")
	case in.Side == Untracked && err != nil:
		return wire.Diff{}, nil // gone since it was listed
	case in.Side == Untracked && info.IsDir():
		return wire.Diff{}, davit.Errorf(davit.CodeInvalid, "%s is a repository of its own", in.Path).WithHint("look at it from inside")
	case in.Side == Untracked && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return wire.Diff{}, davit.Errorf(davit.CodeInvalid, "%s is neither a file nor a link", in.Path)
	}
	out, err := runner.Diff(ctx, repo.Root, git.DiffOptions{Staged: in.Side == Staged, Untracked: in.Side == Untracked, Paths: paths})
	if err != nil {
		return wire.Diff{}, told(repo, err)
	}
	return shown(out), nil
}

// shown cuts a diff at a whole line, and makes it text.
func shown(out []byte) wire.Diff {
	var d wire.Diff
	if len(out) > maxDiff {
		out, d.More = out[:maxDiff], true
		if end := strings.LastIndexByte(string(out), '\n'); end >= 0 {
			out = out[:end+1]
		}
	}
	d.Text = string(out)
	if !utf8.ValidString(d.Text) {
		d.Text = strings.ToValidUTF8(d.Text, "\uFFFD")
	}
	for line := range strings.Lines(d.Text) {
		if strings.HasPrefix(line, "@@") {
			break
		}
		if strings.HasPrefix(line, "Binary files ") {
			d.Binary = true
		}
	}
	return d
}

func told(repo git.Repository, err error) error {
	if known := new(davit.Error); errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return davit.Errorf(davit.CodeWorktreeGit, "git did not answer in time in %s: %w", repo.Root, err).
			WithHint("another git may be at work there, or the disk is slow: try again")
	}
	return davit.Errorf(davit.CodeWorktreeGit, "what differs in %s cannot be told: %w", repo.Root, err).
		WithHint("`git -C %s status` says more", template.Word(template.Sh, repo.Root))
}
