package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrGarbage says that git's answer was not of the form that it documents.
var ErrGarbage = errors.New("git gave an answer of an unknown form")

// EntryKind is the kind of a line of `git status`.
type EntryKind string

// The kinds.
const (
	Changed   EntryKind = "changed"
	Renamed   EntryKind = "renamed" // or copied
	Unmerged  EntryKind = "unmerged"
	Untracked EntryKind = "untracked"
	Ignored   EntryKind = "ignored"
)

// StatusEntry is one path that differs.
type StatusEntry struct {
	Kind      EntryKind
	XY        string // index and work tree, as git writes them; "??" and "!!" too
	Path      string // relative to the top, "/" at the end of a directory
	Orig      string // where a renamed one was
	Submodule bool
}

// StatusOptions choose what is looked at.
type StatusOptions struct {
	Ignored         bool // also what .gitignore hides, a folder that a pattern names as one entry
	DirtySubmodules bool // also submodules whose own work tree is dirty (a process each)
	Directories     bool // an untracked directory as one entry
}

// Status runs `git status --porcelain=v2 -z`.
func (r Runner) Status(ctx context.Context, dir string, o StatusOptions) ([]StatusEntry, error) {
	out, err := r.Read(ctx, dir, statusArgs(o)...)
	if err != nil {
		return nil, err
	}
	return parseStatus(string(out))
}

func statusArgs(o StatusOptions) []string {
	args := []string{"status", "--porcelain=v2", "-z", "--find-renames"}
	if o.Directories {
		args = append(args, "--untracked-files=normal")
	} else {
		args = append(args, "--untracked-files=all")
	}
	if o.Ignored {
		args = append(args, "--ignored=matching")
	}
	if o.DirtySubmodules {
		args = append(args, "--ignore-submodules=none")
	} else {
		args = append(args, "--ignore-submodules=dirty")
	}
	return args
}

// fieldsBefore is how many space-separated fields stand before the path, by line type.
var fieldsBefore = map[byte]int{'1': 8, '2': 9, 'u': 10, '?': 1, '!': 1}

func parseStatus(out string) ([]StatusEntry, error) {
	var entries []StatusEntry
	for len(out) > 0 {
		line, rest, ok := strings.Cut(out, "\x00")
		if !ok || line == "" {
			return nil, fmt.Errorf("%w: status entry %q", ErrGarbage, cut(line))
		}
		out = rest
		if line[0] == '#' {
			continue
		}
		count, known := fieldsBefore[line[0]]
		fields := strings.SplitN(line, " ", count+1)
		if !known || len(fields) != count+1 || fields[count] == "" || len(fields[0]) != 1 {
			return nil, fmt.Errorf("%w: status entry %q", ErrGarbage, cut(line))
		}
		entry := StatusEntry{Path: fields[count]}
		switch line[0] {
		case '?':
			entry.Kind, entry.XY = Untracked, "??"
		case '!':
			entry.Kind, entry.XY = Ignored, "!!"
		default:
			entry.Kind, entry.XY = Changed, fields[1]
			entry.Submodule = strings.HasPrefix(fields[2], "S")
		}
		switch line[0] {
		case 'u':
			entry.Kind = Unmerged
		case '2':
			entry.Kind = Renamed
			if entry.Orig, out, ok = strings.Cut(out, "\x00"); !ok {
				return nil, fmt.Errorf("%w: rename without its origin", ErrGarbage)
			}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func cut(s string) string {
	if len(s) > 60 {
		return s[:60]
	}
	return s
}

// FileStat is the size of one file's change.
type FileStat struct {
	Path    string
	Orig    string // where a renamed one was
	Added   int
	Removed int
	Binary  bool
}

// maxNamed is how many paths a numstat names; for more it looks at every file.
const maxNamed = 100

// NumStat runs `git diff --numstat -z` against HEAD, work tree and index together. With
// unborn, where there is no HEAD yet, it gives what the index holds.
func (r Runner) NumStat(ctx context.Context, dir string, unborn bool) ([]FileStat, error) {
	if unborn {
		return r.numStat(ctx, dir, nil, "--cached")
	}
	return r.numStat(ctx, dir, nil, "HEAD")
}

// WorkStat is NumStat where the index is as HEAD is: the work tree's changes of paths,
// relative to dir. git looks at these files alone. (A diff against HEAD of some paths is no
// way: what git does with the rest of a large index takes it seconds.)
func (r Runner) WorkStat(ctx context.Context, dir string, paths []string) ([]FileStat, error) {
	return r.numStat(ctx, dir, paths)
}

// Unstaged gives the paths of entries that git knows and that differ in the work tree alone,
// those where renamed ones were too. ok is false when something is staged or unmerged, or
// they are too many to be named: then NumStat tells.
func Unstaged(entries []StatusEntry) (paths []string, ok bool) {
	for _, e := range entries {
		switch {
		case e.Kind == Untracked || e.Kind == Ignored:
			continue
		case e.Kind == Unmerged || !strings.HasPrefix(e.XY, "."):
			return nil, false
		}
		paths = append(paths, e.Path)
		if e.Orig != "" {
			paths = append(paths, e.Orig)
		}
	}
	return paths, len(paths) <= maxNamed
}

// Totals are what differs in a work tree in all: the one number of the chip and of the
// view of changes (spec chips C1.2).
type Totals struct{ Files, Untracked, Added, Removed int }

// Total adds up what Status and NumStat gave, with the lines of untracked paths.
func Total(entries []StatusEntry, stats []FileStat, lines func(path string) int) Totals {
	t := Totals{Files: len(entries)}
	for _, e := range entries {
		if e.Kind == Untracked {
			t.Untracked++
			t.Added += lines(e.Path)
		}
	}
	for _, s := range stats {
		t.Added += s.Added
		t.Removed += s.Removed
	}
	return t
}

func parseNumStat(out string) ([]FileStat, error) {
	var stats []FileStat
	for len(out) > 0 {
		line, rest, ok := strings.Cut(out, "\x00")
		out = rest
		fields := strings.SplitN(line, "\t", 3)
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("%w: numstat entry %q", ErrGarbage, cut(line))
		}
		stat := FileStat{Path: fields[2]}
		if fields[0] == "-" && fields[1] == "-" {
			stat.Binary = true
		} else {
			var errA, errR error
			stat.Added, errA = strconv.Atoi(fields[0])
			stat.Removed, errR = strconv.Atoi(fields[1])
			if errA != nil || errR != nil || stat.Added < 0 || stat.Removed < 0 {
				return nil, fmt.Errorf("%w: numstat entry %q", ErrGarbage, cut(line))
			}
		}
		if stat.Path == "" {
			var okOrig, okPath bool
			stat.Orig, out, okOrig = strings.Cut(out, "\x00")
			stat.Path, out, okPath = strings.Cut(out, "\x00")
			if !okOrig || !okPath || stat.Path == "" {
				return nil, fmt.Errorf("%w: numstat rename without its paths", ErrGarbage)
			}
		}
		stats = append(stats, stat)
	}
	return stats, nil
}
