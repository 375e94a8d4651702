package git

import (
	"context"
	"os"
	"slices"
)

// SideStat runs `git diff --numstat -z` of one side: the index against HEAD (staged), or
// the work tree against the index.
func (r Runner) SideStat(ctx context.Context, dir string, staged bool) ([]FileStat, error) {
	if staged {
		return r.numStat(ctx, dir, nil, "--cached")
	}
	return r.numStat(ctx, dir, nil)
}

func (r Runner) numStat(ctx context.Context, dir string, paths []string, sides ...string) ([]FileStat, error) {
	args := []string{"--literal-pathspecs", "-c", "diff.autoRefreshIndex=false", "diff", "--numstat", "-z", "--find-renames", "--no-ext-diff",
		"--no-textconv", "--ignore-submodules=dirty"}
	out, err := r.Read(ctx, dir, slices.Concat(args, sides, []string{"--"}, paths)...)
	if err != nil {
		return nil, err
	}
	return parseNumStat(string(out))
}

// DiffOptions choose one diff.
type DiffOptions struct {
	Staged    bool
	Untracked bool // a file that git does not know, against nothing
	Paths     []string
}

// Diff runs `git diff` of some paths, as text without colour; no program that the
// configuration names is run for it.
func (r Runner) Diff(ctx context.Context, dir string, o DiffOptions) ([]byte, error) {
	args := []string{"--literal-pathspecs", "-c", "diff.autoRefreshIndex=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv",
		"--find-renames", "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3"}
	switch {
	case o.Untracked:
		args = append(args, "--no-index", "--", os.DevNull)
	case o.Staged:
		args = append(args, "--cached", "--")
	default:
		args = append(args, "--")
	}
	out, err := r.Read(ctx, dir, append(args, o.Paths...)...)
	if o.Untracked && Status(err) == 1 {
		err = nil // they differ
	}
	return out, err
}
