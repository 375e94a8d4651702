package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"davit"
	"davit/internal/git"

	"golang.org/x/sync/errgroup"
)

// branches is a picture of the refs of a repository, taken under its lock.
type branches struct {
	remotes []string           // their names; not nil
	local   map[string]git.Ref // short name → ref
	remote  map[string]string  // short name without the remote → full ref
	trees   map[string]string  // branch → the work tree that has it checked out
	origin  string             // the main remote: origin, or the only one; "" when none
}

// picture loads a repository and its branches at one moment, side by side.
func (w *Workspaces) picture(ctx context.Context, commonDir string) (repo repository, b branches, err error) {
	var refs []git.Ref
	var remotes []string
	calls, ctx := errgroup.WithContext(ctx)
	calls.Go(func() (err error) {
		repo, err = w.load(ctx, commonDir)
		return err
	})
	calls.Go(func() (err error) {
		if refs, err = w.cfg.Git.Refs(ctx, commonDir, "refs/heads", "refs/remotes"); err != nil {
			return gitFailed("list the branches of "+commonDir, err)
		}
		return nil
	})
	calls.Go(func() (err error) {
		if remotes, err = w.cfg.Git.Remotes(ctx, commonDir); err != nil {
			return gitFailed("list the remotes of "+commonDir, err)
		}
		return nil
	})
	if err := calls.Wait(); err != nil {
		return repository{}, branches{}, err
	}
	return repo, newBranches(repo, refs, remotes), nil
}

func newBranches(repo repository, refs []git.Ref, remotes []string) branches {
	b := branches{remotes: append([]string{}, remotes...), local: map[string]git.Ref{}, remote: map[string]string{}, trees: map[string]string{}}
	if slices.Contains(remotes, "origin") {
		b.origin = "origin"
	} else if len(remotes) == 1 {
		b.origin = remotes[0]
	}
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref.Name, "refs/heads/"); ok {
			b.local[name] = ref
		} else if !ref.Symbolic {
			b.remote[withoutRemote(strings.TrimPrefix(ref.Name, "refs/remotes/"), remotes)] = ref.Name
		}
	}
	for _, t := range repo.trees {
		if t.Branch != "" && !t.Bare {
			b.trees[t.Branch] = t.Path
		}
	}
	return b
}

func withoutRemote(name string, remotes []string) string {
	for _, remote := range remotes {
		if rest, ok := strings.CutPrefix(name, remote+"/"); ok {
			return rest
		}
	}
	_, rest, _ := strings.Cut(name, "/")
	return rest
}

// inTheWay gives the full ref because of which git could not make a branch of that name
// (`a` against `a/b`), "" when there is none.
func (b branches) inTheWay(name string) string {
	for i, c := range name {
		if _, taken := b.local[name[:i]]; c == '/' && taken {
			return "refs/heads/" + name[:i]
		}
	}
	first := ""
	for other := range b.local {
		if strings.HasPrefix(other, name+"/") && (first == "" || other < first) {
			first = other
		}
	}
	if first != "" {
		return "refs/heads/" + first
	}
	return ""
}

// remoteInTheWay is inTheWay among the branches of the remotes: nothing stops git here,
// but the push later.
func (b branches) remoteInTheWay(name string) string {
	for other, ref := range b.remote {
		if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return ref
		}
	}
	return ""
}

// naming finds names and folders in one repository.
type naming struct {
	repo     repository
	branches branches
	root     string // where worktrees go
	valid    func(name string) (bool, error)
}

// free says whether a new branch and its folder can have that name (spec launch L9.4).
func (n naming) free(name string) bool {
	if ok, err := n.valid(name); err != nil || !ok {
		return false
	}
	_, local := n.branches.local[name]
	_, checkedOut := n.branches.trees[name]
	return !local && !checkedOut && n.branches.inTheWay(name) == "" && n.branches.remoteInTheWay(name) == "" &&
		!n.pathTaken(filepath.Join(n.root, flat(name)))
}

// suggest gives a free name like the one wanted, "" when even a hundred are taken.
func (n naming) suggest(wanted string) string {
	clean := sanitize(wanted)
	for _, stem := range []string{clean, strings.ReplaceAll(clean, "/", "-")} {
		if n.free(stem) {
			return stem
		}
		if n.branches.inTheWay(stem+"-2") != "" {
			continue // it is the first part that is in the way
		}
		for i := 2; i < 100; i++ {
			if name := fmt.Sprintf("%s-%d", stem, i); n.free(name) {
				return name
			}
		}
	}
	return ""
}

// pathTaken says whether something is at path, or a work tree is registered for it whose
// folder is gone. Neither is ever wiped.
func (n naming) pathTaken(path string) bool {
	if _, err := os.Lstat(path); err == nil {
		return true
	}
	_, registered := n.repo.tree(path)
	return registered
}

// folder gives a free folder for a name: the flattened name, with a hash of the name when
// another one flattened alike (spec launch L9.2).
func (n naming) folder(name string) (string, error) {
	stem := flat(name)
	if stem == "" || stem == "." || stem == ".." {
		return "", davit.Errorf(davit.CodeWorktreeName, "%q cannot be the name of a folder", name).With("name", name)
	}
	hash := short(name, 8)
	for i := range 100 {
		folder := stem
		switch {
		case i == 1:
			folder = stem + "-" + hash
		case i > 1:
			folder = fmt.Sprintf("%s-%s-%d", stem, hash, i)
		}
		path := filepath.Join(n.root, folder)
		if !below(path, n.root) || filepath.Dir(path) != n.root {
			return "", davit.Errorf(davit.CodeWorktreeName, "%q does not stay below %s", name, n.root).With("name", name)
		}
		if !n.pathTaken(path) {
			return path, nil
		}
	}
	return "", davit.Errorf(davit.CodeWorktreeCollision, "there is no free folder for %q below %s", name, n.root)
}

// maxFolder is how many bytes of a name go into a folder's: file systems stop at 255.
const maxFolder = 180

// flat turns a name into one path element: `/` becomes `-`, the rest stays.
func flat(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == filepath.Separator {
			return '-'
		}
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	if len(name) > maxFolder {
		cut := maxFolder
		for cut > 0 && name[cut]&0xc0 == 0x80 {
			cut--
		}
		name = name[:cut] + "-" + short(name, 8)
	}
	return name
}

// sanitize makes a name that git would take out of one that it would not, segment by
// segment.
func sanitize(name string) string {
	var kept []string
	for segment := range strings.SplitSeq(strings.ToValidUTF8(name, "-"), "/") {
		segment = strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) {
				return '-'
			}
			return r
		}, strings.TrimSpace(segment))
		segment = strings.ReplaceAll(segment, "@{", "-")
		for strings.Contains(segment, "..") {
			segment = strings.ReplaceAll(segment, "..", ".")
		}
		for {
			shorter := strings.TrimSuffix(strings.Trim(segment, ".-"), ".lock")
			if shorter == segment {
				break
			}
			segment = shorter
		}
		if segment != "" {
			kept = append(kept, segment)
		}
	}
	clean := strings.Join(kept, "/")
	switch clean {
	case "", "@", "HEAD":
		return "work"
	}
	return clean
}
