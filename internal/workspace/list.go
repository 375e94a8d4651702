package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"davit/internal/git"
)

// List lists the worktrees of the repository that a directory is in, the main one first
// (spec interfaces A3.5). One whose state cannot be read is listed with its fault.
func (w *Workspaces) List(ctx context.Context, dir string) ([]Info, error) {
	dir, err := w.absolute(dir, "")
	if err != nil {
		return nil, err
	}
	repo, _, err := w.open(ctx, dir)
	if err != nil {
		return nil, notFound(dir, err)
	}
	stashes, err := w.cfg.Git.Stashes(ctx, repo.dir())
	if err != nil {
		return nil, gitFailed("list the stashes of "+repo.path, err)
	}
	remotes, err := w.cfg.Git.Remotes(ctx, repo.dir())
	if err != nil {
		return nil, gitFailed("list the remotes of "+repo.path, err)
	}
	if remotes == nil {
		remotes = []string{}
	}
	infos := make([]Info, len(repo.trees))
	var group errgroup.Group
	group.SetLimit(4)
	for i, t := range repo.trees {
		group.Go(func() error {
			infos[i] = w.info(ctx, repo, t, stashes, remotes)
			return nil
		})
	}
	return infos, group.Wait()
}

func (w *Workspaces) info(ctx context.Context, repo repository, t git.Worktree, stashes, remotes []string) Info {
	ws := repo.workspace(t)
	info := Info{Path: t.Path, Branch: ws.Branch, Head: ws.Head, ID: ws.ID, Main: ws.Main, Bare: t.Bare,
		Detached: t.Detached, Locked: t.Locked, Missing: t.Prunable}
	if w.cfg.OwnerTab != nil {
		info.OwnerTab = w.cfg.OwnerTab(t.Path)
	}
	if t.Bare {
		return info
	}
	info.Stashes = len(stashesOf(stashes, t.Branch))
	var faults []string
	unpushed, err := w.unpushed(ctx, repo, t, remotes)
	if err != nil {
		faults = append(faults, err.Error())
	}
	info.Unpushed = unpushed
	found, err := git.Discover(t.Path)
	if err != nil || found.CommonDir != repo.commonDir || found.Root != filepath.Clean(t.Path) {
		info.Missing = true
		return info
	}
	entries, err := w.cfg.Git.Status(ctx, t.Path, git.StatusOptions{DirtySubmodules: true})
	if err != nil {
		faults = append(faults, fmt.Sprintf("its files cannot be looked at: %v", err))
	}
	for _, e := range entries {
		if e.Kind == git.Untracked {
			info.Untracked++
		} else {
			info.Dirty = true
		}
	}
	info.Fault = strings.Join(faults, "; ")
	return info
}
