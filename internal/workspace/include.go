package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// includeFile lists, in the form of a .gitignore, which ignored files a new worktree gets
// from the checkout that it was started from (spec launch L9.5).
const includeFile = ".worktreeinclude"

// The bounds of what is brought along.
const (
	maxIncluded      = 50_000
	maxIncludedBytes = 2 << 30
)

// Included is what was brought along into a new worktree, and what was not.
type Included struct {
	Files   int
	Bytes   int64
	Skipped []Skip // at most 20 of them
	More    int    // beyond those
}

// Skip is one path that was not brought along.
type Skip struct{ Path, Why string }

const maxSkips = 20

func (i *Included) skip(path, why string) {
	if len(i.Skipped) == maxSkips {
		i.More++
		return
	}
	i.Skipped = append(i.Skipped, Skip{path, why})
}

// warning is one sentence about what was not brought along, "" when all was.
func (i Included) warning() string {
	if len(i.Skipped) == 0 {
		return ""
	}
	var parts []string
	for _, s := range i.Skipped[:min(3, len(i.Skipped))] {
		parts = append(parts, s.Path+" ("+s.Why+")")
	}
	if rest := len(i.Skipped) - len(parts) + i.More; rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more", rest))
	}
	return "not brought along by " + includeFile + ": " + strings.Join(parts, ", ")
}

// include copies the ignored files that the source checkout's .worktreeinclude names into
// a worktree just made. It overwrites nothing, follows no link out of either folder, and
// copies files (by reference where the file system can) and symbolic links only. What
// cannot be copied is told in the answer, and is no fault of the worktree.
func (w *Workspaces) include(ctx context.Context, source, target string) (Included, error) {
	var done Included
	if source == "" || source == target {
		return done, nil
	}
	patterns := filepath.Join(source, includeFile)
	if _, err := readRegular(patterns); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return done, nil
		}
		return done, err
	}
	paths, err := w.wanted(ctx, source, patterns)
	if err != nil || len(paths) == 0 {
		return done, err
	}
	from, err := os.OpenRoot(source)
	if err != nil {
		return done, err
	}
	defer from.Close()
	to, err := os.OpenRoot(target)
	if err != nil {
		return done, err
	}
	defer to.Close()
	for n, p := range paths {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if n >= maxIncluded {
			done.More += len(paths) - n - 1
			done.skip(p, fmt.Sprintf("more than %d files", maxIncluded))
			break
		}
		size, err := bring(from, to, filepath.FromSlash(p), maxIncludedBytes-done.Bytes)
		if err != nil {
			done.skip(p, reason(err))
			continue
		}
		done.Files++
		done.Bytes += size
	}
	return done, nil
}

// wanted are the paths that both the patterns and git's own ignore rules name.
func (w *Workspaces) wanted(ctx context.Context, source, patterns string) ([]string, error) {
	list := func(args ...string) ([]string, error) {
		out, err := w.cfg.Git.Read(ctx, source, append([]string{"ls-files", "-z", "--others", "--ignored"}, args...)...)
		if err != nil {
			return nil, err
		}
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
	}
	named, err := list("--exclude-from=" + patterns)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	ignored, err := list("--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	whole := make(map[string]bool, len(ignored))
	for _, p := range ignored {
		whole[p] = true
	}
	named = slices.DeleteFunc(named, func(p string) bool {
		if whole[p] {
			return false
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if whole[dir+"/"] {
				return false
			}
		}
		return true
	})
	slices.Sort(named)
	return named, nil
}

var (
	errThere    = errors.New("it is there already")
	errKind     = errors.New("neither a file nor a link")
	errTooLarge = fmt.Errorf("more than %d GiB in all", maxIncludedBytes>>30)
)

// reason says why a path was skipped, without the paths that the skip names already.
func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, errThere):
		return errThere.Error()
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}

// bring copies one path, which is at most room bytes large. What it could not finish it
// takes away again.
func bring(from, to *os.Root, name string, room int64) (int64, error) {
	info, err := from.Lstat(name)
	if err != nil {
		return 0, err
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o755); err != nil {
			return 0, err
		}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		aim, err := from.Readlink(name)
		if err != nil {
			return 0, err
		}
		return 0, to.Symlink(aim, name)
	case !info.Mode().IsRegular():
		return 0, errKind
	case info.Size() > room:
		return 0, errTooLarge
	}
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return 0, err
	}
	size, err := fill(out, in, room)
	if err == nil {
		err = out.Chmod(info.Mode().Perm()) // whatever the umask
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return 0, errors.Join(err, to.Remove(name))
	}
	_ = to.Chtimes(name, info.ModTime(), info.ModTime()) // build tools look at it; nobody needs it
	return size, nil
}

// fill copies a file's content, sharing its blocks where the file system can.
func fill(out, in *os.File, room int64) (int64, error) {
	if clone(out, in) == nil {
		info, err := out.Stat()
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	size, err := io.Copy(out, io.LimitReader(in, room+1))
	if err == nil && size > room {
		err = errTooLarge // it grew meanwhile
	}
	return size, err
}

// checkoutOf is the work tree whose ignored files a new worktree gets: the one that the
// caller started from, else the main one; a bare repository has none.
func checkoutOf(repo repository, start Workspace) string {
	switch {
	case start.Kind == KindWorktree && start.Path != "":
		return start.Path
	case repo.bare:
		return ""
	}
	return repo.path
}
