package workspace

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"davit/internal/git"
)

// Branch is one local branch, for pickers.
type Branch struct {
	Name     string
	Head     string
	Date     time.Time // of its commit
	Worktree string    // where it is checked out
}

// BranchList is what a picker shows: the main branch, then the newest commit first.
type BranchList struct {
	Branches []Branch
	Main     string // "" in a repository without any
	Current  string // of the work tree asked for; "" when detached
	More     bool
}

// Branches lists at most limit branches of a workspace's repository. The main branch is the
// remote's HEAD, else main or master of origin, else main, master or develop here, else
// the current one. In a repository without a commit the current name is the only entry.
func (w *Workspaces) Branches(ctx context.Context, at Workspace, limit int) (BranchList, error) {
	if at.CommonDir == "" {
		return BranchList{}, notFound(at.Path, git.ErrNotRepository)
	}
	repo, err := w.load(ctx, at.CommonDir)
	if err != nil {
		return BranchList{}, err
	}
	refs, err := w.branches(ctx, repo)
	if err != nil {
		return BranchList{}, err
	}
	list := BranchList{Current: at.Branch}
	newest, err := w.newest(ctx, repo, limit+1)
	if err != nil {
		return BranchList{}, err
	}
	if list.More = len(newest) > limit; list.More {
		newest = newest[:limit]
	}
	main, err := w.mainName(ctx, repo, refs, list.Current)
	if err != nil {
		return BranchList{}, err
	}
	list.Main = main
	i := slices.IndexFunc(newest, func(b Branch) bool { return b.Name == main })
	switch ref, local := refs.local[main]; {
	case i >= 0:
		first := newest[i]
		newest = append([]Branch{first}, slices.Delete(newest, i, i+1)...)
	case local || main != "":
		newest = append([]Branch{{Name: main, Head: ref.Commit}}, newest[:min(len(newest), limit-1)]...)
	}
	for i := range newest {
		newest[i].Worktree = refs.trees[newest[i].Name]
	}
	list.Branches = newest
	return list, nil
}

// newest lists local branches by the date of their commit.
func (w *Workspaces) newest(ctx context.Context, repo repository, limit int) ([]Branch, error) {
	out, err := w.cfg.Git.Read(ctx, repo.dir(), "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(limit),
		"--format=%(refname:lstrip=2)%00%(objectname)%00%(committerdate:unix)", "refs/heads")
	if err != nil {
		return nil, gitFailed("list the branches of "+repo.path, err)
	}
	var list []Branch
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(fields) != 3 {
			return nil, gitFailed("list the branches of "+repo.path, git.ErrGarbage)
		}
		b := Branch{Name: fields[0], Head: fields[1]}
		if seconds, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			b.Date = time.Unix(seconds, 0).UTC()
		}
		list = append(list, b)
	}
	return list, nil
}

// mainName is the short name of the main branch.
func (w *Workspaces) mainName(ctx context.Context, repo repository, refs branches, current string) (string, error) {
	if refs.origin != "" {
		ref, err := w.cfg.Git.RemoteHead(ctx, repo.dir(), refs.origin)
		if err != nil {
			return "", gitFailed("ask for the HEAD of "+refs.origin, err)
		}
		if name, ok := strings.CutPrefix(ref, "refs/remotes/"+refs.origin+"/"); ok && refs.hasRemote(ref) {
			return name, nil
		}
		for _, name := range []string{"main", "master"} {
			if refs.hasRemote("refs/remotes/" + refs.origin + "/" + name) {
				return name, nil
			}
		}
	}
	for _, name := range []string{"main", "master", "develop"} {
		if _, ok := refs.local[name]; ok {
			return name, nil
		}
	}
	if current == "" && len(repo.trees) > 0 {
		current = repo.trees[0].Branch
	}
	return current, nil
}
