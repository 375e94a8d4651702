package api

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"davit"
	"davit/internal/wire"
	"davit/internal/workspace"
)

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
	made := s.cfg.Host.Model().Worktrees
	infos, err := s.cfg.Workspaces.List(ctx, place.Repo, workspace.ListOptions{
		Sizes: in.Sizes, Base: func(path string) string { return made[path].Worktree.Base },
	})
	if err != nil {
		return wire.WorktreeList{}, err
	}
	list := wire.WorktreeList{Worktrees: []wire.WorktreeInfo{}}
	for _, i := range infos {
		_, ours := made[i.Path]
		list.Worktrees = append(list.Worktrees, wire.WorktreeInfo{
			Path: i.Path, Branch: i.Branch, Head: i.Head, Dirty: i.Dirty, Untracked: i.Untracked, Unpushed: i.Unpushed, Stashes: i.Stashes, Ignored: i.Ignored,
			OwnerTab: i.OwnerTab, Main: i.Main, Made: ours, Base: i.Base, Ahead: i.Ahead, Behind: i.Behind, Size: i.Size,
			Locked: lockReason(i), Missing: i.Missing, Fault: i.Fault,
		})
	}
	return list, nil
}

// lockReason is why git keeps a worktree locked, "" when it does not.
func lockReason(i workspace.Info) string {
	if i.Locked {
		return cmp.Or(i.LockReason, "no reason given")
	}
	return ""
}

func (s *Server) createWorktree(ctx context.Context, in davit.CreateWorktree) (davit.Worktree, error) {
	repo := in.Repo
	if repo == "" {
		repo = "active"
	}
	made, err := s.cfg.Workspaces.Create(ctx, workspace.CreateRequest{
		Repo: repo, CallerDir: callerDir(ctx, ""), Name: in.Name, NameWasGenerated: in.NameWasGenerated, Branch: in.Branch,
		Base: in.BaseBranch, RemoveOnClose: in.RemoveOnClose,
	})
	if err != nil || in.SetupDecision == "skip" {
		return made, err
	}
	if found, readErr := workspace.SettingsOf(made.Path); readErr == nil {
		if settings, _ := workspace.ReadSettings(found.Path, found.Text); settings.Setup != "" {
			made.Warning = join(made.Warning, "the setup script of "+found.Path+" was not run: it runs in a terminal, with `davit launch --worktree` or `davit worktree open`")
		}
	}
	return made, nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (s *Server) removeWorktree(ctx context.Context, in wire.WorktreeRemove) (wire.WorktreeRemoved, error) {
	place, err := s.selector(ctx, in.Selector, in.Dir)
	if err != nil {
		return wire.WorktreeRemoved{}, err
	}
	if err := s.unused(place.Path); err != nil {
		return wire.WorktreeRemoved{}, err
	}
	report, err := s.cfg.Workspaces.Remove(ctx, workspace.RemoveRequest{
		Path: place.Path, Repo: place.Repo, ID: place.ID, ForceDigest: in.Force, External: in.External, DeleteBranch: in.DeleteBranch,
	})
	if err != nil {
		return wire.WorktreeRemoved{}, err
	}
	kept := slices.Concat(report.Notes, workspace.KeptText(report.Kept))
	for _, t := range s.cfg.Host.State().Tabs {
		if t.Worktree != nil && t.Worktree.Path == report.Path {
			kept = append(kept, fmt.Sprintf("the tab %q, whose shell stands in a folder that is gone", t.Title))
		}
	}
	s.cfg.Tabs.WorktreeGone(context.WithoutCancel(ctx), report.Path)
	return wire.WorktreeRemoved{
		Path: report.Path, Kept: append([]string{}, kept...),
		Ignored: append([]string{}, report.Ignored.Paths...), IgnoredCount: report.Ignored.Count,
		DeletedBranch: report.BranchDeleted, DeletedHead: report.BranchLast,
	}, nil
}

// unused refuses to take a worktree from under a program that runs in it: its tab is closed
// first, which asks.
func (s *Server) unused(path string) error {
	state := s.cfg.Host.State()
	for _, p := range state.Panes {
		inside := p.Directory == path || strings.HasPrefix(p.Directory, path+string(filepath.Separator))
		if !inside || p.Status != davit.PaneRunning || !p.Running && p.Agent == "" && len(p.Argv) == 0 {
			continue
		}
		what := cmp.Or(p.Command, p.Agent, "a program")
		return davit.Errorf(davit.CodeWorktreeProtected, "%s is not removed: %s runs in it, in the tab %s", path, what, p.Tab).
			WithHint("end it, or close the tab first: `davit tab close %s`", p.Tab).With("path", path).With("tab", p.Tab)
	}
	return nil
}
