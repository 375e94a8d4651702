package configs

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/git"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// seen is what is kept of one repository.
type seen struct {
	Used      time.Time `json:"used"`
	Forgotten time.Time `json:"forgotten,omitzero"`
}

const (
	maxSeen   = 500 // repositories that are kept
	maxListed = 100
)

// mainRepository is the repository that a directory belongs to: of a linked worktree the
// main checkout, of a submodule the repository that it is in, of a bare one itself. No
// process is started.
func mainRepository(dir string) (string, bool) {
	for range 16 { // submodules in submodules
		found, err := git.Discover(dir)
		if err != nil {
			return "", false
		}
		if super, _, inside := strings.Cut(found.CommonDir, "/.git/modules/"); inside {
			dir = super
			continue
		}
		if filepath.Base(found.CommonDir) == ".git" {
			return filepath.Dir(found.CommonDir), true
		}
		return found.CommonDir, true
	}
	return "", false
}

// Workspaces answers workspace.list: the repositories that were used or added, the one
// used last first. What is gone is left out.
func (s *Service) Workspaces(ctx context.Context, dir string) (wire.WorkspaceList, error) {
	known := map[string]seen{}
	s.stored(ctx, settingRepos, &known)
	use := func(dir string, at time.Time) {
		if root, ok := mainRepository(dir); ok && filepath.IsAbs(dir) {
			k := known[root]
			if at.After(k.Used) {
				k.Used = at
			}
			known[root] = k
		}
	}
	state := s.cfg.State()
	opened := map[davit.TabID]time.Time{}
	for _, t := range state.Tabs {
		opened[t.ID] = t.Created
		if t.Worktree != nil {
			use(t.Worktree.Repo, t.Created)
		}
	}
	for _, p := range state.Panes {
		if at, open := opened[p.Tab]; open {
			use(p.Directory, at)
		}
	}
	for _, w := range s.cfg.Made() {
		use(w.Repo, w.Created)
	}
	use(s.cfg.Directory, time.Unix(1, 0))
	use(dir, s.cfg.Now())
	var paths []string
	for path, k := range known {
		if k.Used.After(k.Forgotten) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(known[b].Used.Compare(known[a].Used), strings.Compare(a, b))
	})
	list := wire.WorkspaceList{Workspaces: []wire.Workspace{}}
	for _, path := range paths {
		if w, ok := described(path); ok && len(list.Workspaces) < maxListed {
			list.Workspaces = append(list.Workspaces, w)
		}
	}
	return list, nil
}

// described tells of a main repository what files tell; false when it is gone.
func described(path string) (wire.Workspace, bool) {
	found, err := git.Discover(path)
	if err != nil {
		return wire.Workspace{}, false
	}
	w := wire.Workspace{ID: workspace.ID(found.CommonDir, path), Path: path, Name: filepath.Base(path), Git: true}
	if head, err := git.ReadHead(found); err == nil {
		w.Branch = head.Branch
	}
	return w, true
}

// used notes that something was opened in a directory.
func (s *Service) used(ctx context.Context, dir string) {
	if root, ok := mainRepository(dir); ok && filepath.IsAbs(dir) {
		if err := s.note(ctx, root, func(k *seen) { k.Used = s.cfg.Now() }); err != nil {
			s.cfg.Log.Warn("the use of a repository could not be noted", "path", root, "err", err)
		}
	}
}

func (s *Service) note(ctx context.Context, root string, change func(*seen)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[string]seen{}
	s.stored(ctx, settingRepos, &known)
	k := known[root]
	change(&k)
	known[root] = k
	if len(known) > maxSeen {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(known)), func(a, b string) int { return known[a].Used.Compare(known[b].Used) })
		delete(known, oldest)
	}
	return s.store(ctx, settingRepos, known)
}

// AddWorkspace answers workspace.add.
func (s *Service) AddWorkspace(ctx context.Context, path string) (wire.Workspace, error) {
	if !filepath.IsAbs(path) {
		return wire.Workspace{}, davit.Errorf(davit.CodeInvalid, "%q is not an absolute path", path)
	}
	if _, err := os.Stat(path); err != nil {
		return wire.Workspace{}, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is not there: %w", path, errors.Unwrap(err)).With("path", path)
	}
	root, ok := mainRepository(path)
	if !ok {
		return wire.Workspace{}, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is not in a git repository", path).
			WithHint("`git init` there makes one").With("path", path)
	}
	if err := s.note(ctx, root, func(k *seen) { k.Used, k.Forgotten = s.cfg.Now(), time.Time{} }); err != nil {
		return wire.Workspace{}, err
	}
	w, _ := described(root)
	return w, nil
}

// ForgetWorkspace answers workspace.forget: not listed until it is used again.
func (s *Service) ForgetWorkspace(ctx context.Context, path string) error {
	root := filepath.Clean(path)
	if main, ok := mainRepository(root); ok {
		root = main
	}
	return s.note(ctx, root, func(k *seen) { k.Forgotten = s.cfg.Now() })
}

// Branches answers workspace.branches.
func (s *Service) Branches(ctx context.Context, in wire.InRequest) (wire.BranchList, error) {
	place, err := s.cfg.Workspaces.Resolve(ctx, cmp.Or(in.In, "active"), in.Dir)
	if err != nil {
		return wire.BranchList{}, err
	}
	found, err := s.cfg.Workspaces.Branches(ctx, place, maxBranches)
	if err != nil {
		return wire.BranchList{}, err
	}
	list := wire.BranchList{Branches: []wire.Branch{}, Main: found.Main, Current: found.Current, Repo: place.Repo, More: found.More}
	for _, b := range found.Branches {
		list.Branches = append(list.Branches, wire.Branch{Name: b.Name, Head: b.Head, Date: b.Date, Worktree: b.Worktree})
	}
	return list, nil
}

// maxBranches is how many branches a picker gets.
const maxBranches = 100
