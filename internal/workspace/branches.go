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
	repo, refs, err := w.picture(ctx, at.CommonDir)
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

// MenuBranch is a branch as a branch menu shows it.
type MenuBranch struct {
	Branch
	Remote string // whose it is; "" = local
}

// Menu is what a branch menu shows: the current branch, then the newest commit first, local
// ones before remote ones of the same commit.
type Menu struct {
	Branches []MenuBranch
	Current  string // "" when detached
	Name     NameCheck
	More     bool
}

// NameCheck says whether a new branch could have a name.
type NameCheck struct {
	Valid bool   // by git's own rules
	Taken string // the full ref in its way
}

// Menu lists at most limit branches, local and remote, of a workspace's repository, and
// checks a name for a new one unless it is "". A remote branch that a local one of its name
// stands for is left out: git switches to the local one.
func (w *Workspaces) Menu(ctx context.Context, at Workspace, name string, limit int) (Menu, error) {
	menu := Menu{Current: at.Branch}
	if at.CommonDir == "" {
		return menu, notFound(at.Path, git.ErrNotRepository)
	}
	repo, refs, err := w.picture(ctx, at.CommonDir)
	if err != nil {
		return menu, err
	}
	if name != "" {
		if menu.Name, err = w.checkName(ctx, repo, refs, name); err != nil {
			return menu, err
		}
	}
	out, err := w.cfg.Git.Read(ctx, repo.dir(), "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(4*limit+2),
		"--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(symref)", "refs/heads", "refs/remotes")
	if err != nil {
		return menu, gitFailed("list the branches of "+repo.path, err)
	}
	lines := 0
	for line := range strings.Lines(string(out)) {
		lines++
		b, shown, err := menuBranch(strings.TrimSuffix(line, "\n"), refs, refs.remotes)
		if err != nil {
			return menu, gitFailed("list the branches of "+repo.path, err)
		}
		if shown {
			menu.Branches = append(menu.Branches, b)
		}
	}
	isCurrent := func(b MenuBranch) bool { return b.Remote == "" && b.Name == menu.Current }
	if ref, ok := refs.local[menu.Current]; ok && !slices.ContainsFunc(menu.Branches, isCurrent) {
		menu.Branches = append(menu.Branches, MenuBranch{Branch: Branch{Name: menu.Current, Head: ref.Commit, Worktree: refs.trees[menu.Current]}})
	}
	slices.SortStableFunc(menu.Branches, func(a, b MenuBranch) int {
		switch {
		case isCurrent(a) != isCurrent(b):
			return order(isCurrent(a))
		case !a.Date.Equal(b.Date):
			return b.Date.Compare(a.Date)
		case (a.Remote == "") != (b.Remote == ""):
			return order(a.Remote == "")
		}
		return strings.Compare(a.Name, b.Name)
	})
	if menu.More = len(menu.Branches) > limit || lines > 4*limit+1; len(menu.Branches) > limit {
		menu.Branches = menu.Branches[:limit]
	}
	return menu, nil
}

func order(first bool) int {
	if first {
		return -1
	}
	return 1
}

func menuBranch(line string, refs branches, remotes []string) (b MenuBranch, shown bool, err error) {
	fields := strings.Split(line, "\x00")
	if len(fields) != 4 {
		return b, false, git.ErrGarbage
	}
	b.Head = fields[1]
	if seconds, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
		b.Date = time.Unix(seconds, 0).UTC()
	}
	if name, ok := strings.CutPrefix(fields[0], "refs/heads/"); ok {
		b.Name, b.Worktree = name, refs.trees[name]
		return b, true, nil
	}
	full := strings.TrimPrefix(fields[0], "refs/remotes/")
	b.Name = withoutRemote(full, remotes)
	b.Remote = strings.TrimSuffix(strings.TrimSuffix(full, b.Name), "/")
	_, local := refs.local[b.Name]
	return b, b.Name != "" && fields[3] == "" && !local, nil
}

// checkName asks git whether a new branch could have the name.
func (w *Workspaces) checkName(ctx context.Context, repo repository, refs branches, name string) (NameCheck, error) {
	valid, err := w.cfg.Git.ValidBranch(ctx, repo.dir(), name)
	if err != nil {
		return NameCheck{}, gitFailed("check the name of a branch", err)
	}
	check := NameCheck{Valid: valid}
	if _, taken := refs.local[name]; taken {
		check.Taken = "refs/heads/" + name
	} else if valid {
		check.Taken = refs.inTheWay(name)
	}
	return check, nil
}
