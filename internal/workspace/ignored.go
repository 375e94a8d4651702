package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"davit/internal/git"
)

// MaxIgnored is how many ignored entries of a worktree are named.
const MaxIgnored = 20

// Bounds of telling whether the main checkout has the same file.
const (
	maxCompared     = 500      // files
	maxComparedSize = 4 << 20  // bytes of one file
	maxComparedAll  = 64 << 20 // bytes of all
)

// Ignored is what git ignores in a worktree: it is in no commit, and goes with the folder.
// It holds no removal up, and is told (spec launch L9.6). What the main checkout has alike
// is left out. A folder counts once, as `git status --ignored=matching` collapses it.
type Ignored struct {
	Paths []string `json:"paths,omitempty"` // at most MaxIgnored, files first; a folder ends in "/"
	Count int      `json:"count"`
}

// Ignored finds out what git ignores in the worktree at path.
func (w *Workspaces) Ignored(ctx context.Context, path string) (Ignored, error) {
	entries, err := w.cfg.Git.Status(ctx, path, git.StatusOptions{Ignored: true, Directories: true})
	if errors.Is(err, fs.ErrNotExist) {
		return Ignored{}, nil
	}
	if err != nil {
		return Ignored{}, gitFailed("look at the files of "+path, err)
	}
	repo, _, err := w.open(ctx, path)
	if err != nil {
		return Ignored{}, notFound(path, err)
	}
	return ignoredOf(path, mainCheckout(repo), entries), nil
}

// mainCheckout is the directory of the main checkout, "" of a bare repository.
func mainCheckout(repo repository) string {
	if len(repo.trees) == 0 || repo.trees[0].Bare {
		return ""
	}
	return repo.trees[0].Path
}

// ignoredOf picks what is ignored of a status, and leaves out what main has alike.
func ignoredOf(root, main string, entries []git.StatusEntry) Ignored {
	same := comparison{root: root, main: main}
	var files, folders []string
	for _, e := range entries {
		switch {
		case e.Kind != git.Ignored:
		case strings.HasSuffix(e.Path, "/"):
			folders = append(folders, e.Path)
		case !same.file(e.Path):
			files = append(files, e.Path)
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	all := slices.Concat(files, folders)
	return Ignored{Paths: all[:min(len(all), MaxIgnored)], Count: len(all)}
}

// comparison compares files of a worktree with those of the main checkout, within bounds:
// past them a file counts as another.
type comparison struct {
	root, main string
	files      int
	bytes      int64
}

func (c *comparison) file(rel string) bool {
	if c.main == "" || c.main == c.root || c.files >= maxCompared {
		return false
	}
	c.files++
	here, there := filepath.Join(c.root, filepath.FromSlash(rel)), filepath.Join(c.main, filepath.FromSlash(rel))
	a, errA := os.Lstat(here)
	b, errB := os.Lstat(there)
	switch {
	case errA != nil || errB != nil || a.Mode().Type() != b.Mode().Type():
		return false
	case a.Mode()&fs.ModeSymlink != 0:
		x, errX := os.Readlink(here)
		y, errY := os.Readlink(there)
		return errX == nil && errY == nil && x == y
	case !a.Mode().IsRegular() || a.Size() != b.Size() || a.Size() > maxComparedSize || c.bytes+a.Size() > maxComparedAll:
		return false
	}
	c.bytes += a.Size()
	return sameBytes(here, there)
}

func sameBytes(here, there string) bool {
	x, errX := readAtMost(here)
	y, errY := readAtMost(there)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func readAtMost(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxComparedSize+1))
}

// IgnoredText says it for a person: "3 files that git ignores go with it: .env, … and 2
// more". "" when there is nothing. gone: they went.
func IgnoredText(i Ignored, gone bool) string {
	if i.Count == 0 {
		return ""
	}
	noun, verb := "file", "go"
	folders := 0
	for _, p := range i.Paths {
		if strings.HasSuffix(p, "/") {
			folders++
		}
	}
	switch {
	case folders == i.Count:
		noun = "folder"
	case folders > 0 || len(i.Paths) < i.Count:
		noun = "file or folder"
	}
	if i.Count > 1 {
		noun = strings.ReplaceAll(noun, "file or folder", "files and folder") + "s"
	} else {
		verb = "goes"
	}
	if gone {
		verb = "went"
	}
	const most = 5
	shown := make([]string, 0, most)
	for _, p := range i.Paths[:min(len(i.Paths), most)] {
		shown = append(shown, printable(p))
	}
	list := strings.Join(shown, ", ")
	if more := i.Count - len(shown); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d %s that git ignores %s with it: %s", i.Count, noun, verb, list)
}

// KeptText says for a person what a removal left alone.
func KeptText(k Kept) []string {
	var list []string
	if k.Branch != "" {
		list = append(list, "branch "+k.Branch)
	}
	for i, s := range k.Stashes {
		if i == 5 {
			list = append(list, fmt.Sprintf("%d more stashes", len(k.Stashes)-i))
			break
		}
		list = append(list, "stash "+printable(s))
	}
	return list
}
