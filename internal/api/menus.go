package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"davit"
	"davit/internal/node"
	"davit/internal/wire"
)

const (
	maxMenuBranches = 500
	menuDeadline    = 5 * time.Second
)

// menuOperations are what the menus of the branch and node chips ask for (spec chips C5.2).
func (s *Server) menuOperations() {
	op(s, "branch.list", "The branches of a directory's repository, local and remote, for a branch menu", true, s.branchList)
	op(s, "node.versions", "The versions of node that version managers have installed, for a pane", true, s.nodeVersions)
}

func (s *Server) branchList(ctx context.Context, in wire.BranchesRequest) (wire.BranchMenu, error) {
	menu := wire.BranchMenu{Branches: []wire.MenuBranch{}, At: s.cfg.Now().UTC()}
	dir, err := s.place(ctx, in.PlaceRequest)
	if err != nil {
		return menu, err
	}
	late := errors.New("git did not list the branches in time")
	ctx, cancel := context.WithTimeoutCause(ctx, menuDeadline, late)
	defer cancel()
	at, err := s.cfg.Workspaces.Resolve(ctx, "active", dir)
	if err != nil {
		return menu, err
	}
	found, err := s.cfg.Workspaces.Menu(ctx, at, in.Name, maxMenuBranches)
	if errors.Is(context.Cause(ctx), late) {
		return menu, davit.Errorf(davit.CodeWaitTimeout, "%s: git did not list the branches within %s", at.Path, menuDeadline).WithHint("ask again")
	}
	if err != nil {
		return menu, err
	}
	menu.Directory, menu.Root, menu.Current, menu.More = dir, at.Path, found.Current, found.More
	if in.Name != "" {
		menu.Name = &wire.BranchName{Valid: found.Name.Valid, Taken: found.Name.Taken}
	}
	state := s.cfg.Host.State()
	for _, b := range found.Branches {
		row := wire.MenuBranch{Branch: wire.Branch(b.Branch), Remote: b.Remote, Current: b.Remote == "" && b.Name == found.Current}
		if b.Worktree != "" && b.Worktree != at.Path {
			row.Tab, row.Pane = tabIn(state, b.Worktree)
		}
		menu.Branches = append(menu.Branches, row)
	}
	return menu, nil
}

// tabIn gives an open tab with a pane in a worktree, the first one in the order shown.
func tabIn(state davit.State, root string) (davit.TabID, davit.PaneID) {
	for _, t := range state.Tabs {
		for id, p := range state.Panes {
			if p.Tab == t.ID && (p.Directory == root || strings.HasPrefix(p.Directory, root+"/")) {
				return t.ID, id
			}
		}
	}
	return "", ""
}

func (s *Server) nodeVersions(ctx context.Context, in wire.PaneRef) (wire.NodeVersions, error) {
	p, err := s.cfg.Panes.Get(in.Pane)
	if err != nil {
		return wire.NodeVersions{}, err
	}
	told, err := p.Properties(ctx)
	if err != nil {
		return wire.NodeVersions{}, err
	}
	return node.Versions(ctx, node.Place{Env: s.cfg.LoginEnv(), Path: told["PATH"], Remote: told["SSH"] != ""}), nil
}
