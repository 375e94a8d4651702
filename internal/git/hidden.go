package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hashedAtOnce is how many files one git hashes.
const hashedAtOnce = 200

// HiddenChanges gives the tracked files that `git status` was told not to look at (marked
// assume-unchanged or skip-worktree) and that are not as the index has them. A file of a
// sparse checkout that is not there is none. It runs one git when nothing is marked.
func (r Runner) HiddenChanges(ctx context.Context, dir string) ([]string, error) {
	out, err := r.Read(ctx, dir, "ls-files", "-v", "-s", "-z")
	if err != nil {
		return nil, err
	}
	var changed, paths []string
	ids := map[string]string{}
	for _, entry := range strings.Split(string(out), "\x00") {
		// "h 100644 ID STAGE\tPATH": a lower-case letter is assume-unchanged, S skip-worktree.
		head, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 4 || !(fields[0] == "S" || fields[0] >= "a" && fields[0] <= "z") {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if fields[0] != "S" && fields[0] != "s" {
				changed = append(changed, path) // deleted, and assumed to be there
			}
		case err != nil:
			return nil, err
		case fields[1] == "160000": // a submodule: looked at by itself
		case !info.Mode().IsRegular() || fields[1] == "120000":
			aim, linkErr := os.Readlink(filepath.Join(dir, filepath.FromSlash(path)))
			blob, err := r.Read(ctx, dir, "cat-file", "blob", fields[2])
			if linkErr != nil || err != nil || string(blob) != aim {
				changed = append(changed, path)
			}
		default:
			paths, ids[path] = append(paths, path), fields[2]
		}
	}
	for batch := range slices.Chunk(paths, hashedAtOnce) {
		out, err := r.Read(ctx, dir, append([]string{"hash-object", "--"}, batch...)...)
		if err != nil {
			return nil, err
		}
		hashes := strings.Fields(string(out))
		for i, path := range batch {
			if i >= len(hashes) || hashes[i] != ids[path] {
				changed = append(changed, path)
			}
		}
	}
	slices.Sort(changed)
	return changed, nil
}
