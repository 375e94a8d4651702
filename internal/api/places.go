package api

import (
	"context"
	"path/filepath"
	"slices"

	"davit"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// workspaces lists where a launch can go: the caller's own repository first, then those
// of open tabs and of worktrees that davit made.
func (s *Server) workspaces(ctx context.Context, in wire.InRequest) (wire.WorkspaceList, error) {
	m := s.cfg.Host.Model()
	dirs := []string{callerDir(ctx, in.Dir), s.cfg.Info().Directory}
	for _, t := range m.State.Tabs {
		if t.Worktree != nil {
			dirs = append(dirs, t.Worktree.Repo)
		}
	}
	for _, w := range m.Worktrees {
		dirs = append(dirs, w.Worktree.Repo)
	}
	for _, p := range m.State.Panes {
		dirs = append(dirs, p.Directory)
	}
	list := wire.WorkspaceList{Workspaces: []wire.Workspace{}}
	seen := map[string]bool{}
	for _, dir := range dirs {
		if dir == "" || len(list.Workspaces) >= 50 {
			continue
		}
		place, err := s.cfg.Workspaces.Resolve(ctx, "path:"+dir, dir)
		if err != nil || seen[place.Path] {
			continue
		}
		seen[place.Path] = true
		list.Workspaces = append(list.Workspaces, wire.Workspace{
			ID: place.ID, Path: place.Path, Name: filepath.Base(place.Path), Branch: place.Branch, Git: place.Kind != workspace.KindFolder,
		})
	}
	return list, nil
}

func (s *Server) selector(ctx context.Context, in, dir string) (workspace.Workspace, error) {
	dir = callerDir(ctx, dir)
	if in == "" {
		in = "active"
	}
	return s.cfg.Workspaces.Resolve(ctx, in, dir)
}

func (s *Server) worktrees(ctx context.Context, in wire.WorktreeListRequest) (wire.WorktreeList, error) {
	place, err := s.selector(ctx, in.In, in.Dir)
	if err != nil {
		return wire.WorktreeList{}, err
	}
	infos, err := s.cfg.Workspaces.List(ctx, place.Repo)
	if err != nil {
		return wire.WorktreeList{}, err
	}
	made := s.cfg.Host.Model().Worktrees
	list := wire.WorktreeList{Worktrees: []wire.WorktreeInfo{}}
	for _, i := range infos {
		_, ours := made[i.Path]
		list.Worktrees = append(list.Worktrees, wire.WorktreeInfo{
			Path: i.Path, Branch: i.Branch, Head: i.Head, Dirty: i.Dirty, Untracked: i.Untracked, Unpushed: i.Unpushed, Stashes: i.Stashes,
			OwnerTab: i.OwnerTab, Main: i.Main, Made: ours,
		})
	}
	return list, nil
}

func (s *Server) createWorktree(ctx context.Context, in davit.CreateWorktree) (davit.Worktree, error) {
	repo := in.Repo
	if repo == "" {
		repo = "active"
	}
	return s.cfg.Workspaces.Create(ctx, workspace.CreateRequest{
		Repo: repo, CallerDir: callerDir(ctx, ""), Name: in.Name, NameWasGenerated: in.NameWasGenerated, Branch: in.Branch,
		Base: in.BaseBranch, SetupDecision: in.SetupDecision, RemoveOnClose: in.RemoveOnClose,
	})
}

func (s *Server) removeWorktree(ctx context.Context, in wire.WorktreeRemove) (wire.WorktreeRemoved, error) {
	place, err := s.selector(ctx, in.Selector, in.Dir)
	if err != nil {
		return wire.WorktreeRemoved{}, err
	}
	report, err := s.cfg.Workspaces.Remove(ctx, workspace.RemoveRequest{
		Path: place.Path, Repo: place.Repo, ID: place.ID, ForceDigest: in.Force, External: in.External, DeleteBranch: in.DeleteBranch,
	})
	if err != nil {
		return wire.WorktreeRemoved{}, err
	}
	kept := slices.Clone(report.Notes)
	if report.Kept.Branch != "" {
		kept = append(kept, "branch "+report.Kept.Branch)
	}
	return wire.WorktreeRemoved{Path: report.Path, Kept: append([]string{}, kept...), DeletedBranch: report.BranchDeleted, DeletedHead: report.BranchLast}, nil
}
