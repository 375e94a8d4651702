package api

import (
	"context"
	"path/filepath"

	"davit"
	"davit/internal/directory"
	"davit/internal/wire"
)

// place gives the directory that a request is about: its pane's, the one it names, or the
// caller's own.
func (s *Server) place(ctx context.Context, in wire.PlaceRequest) (string, error) {
	dir := callerDir(ctx, in.Dir)
	if in.Pane != "" {
		p, ok := s.cfg.Host.State().Panes[in.Pane]
		if !ok {
			return "", davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", in.Pane)
		}
		dir = p.Directory
		if in.Dir != "" {
			dir = in.Dir // below or beside it, as a menu goes on from a pane's directory
		}
	}
	if !filepath.IsAbs(dir) {
		return "", davit.Errorf(davit.CodeInvalid, "a directory is absolute, and %q is not", dir).WithHint("give a pane, or an absolute directory")
	}
	return dir, nil
}

// changeOperations are what the menus and views of chips ask for (spec chips C5.2).
func (s *Server) changeOperations() {
	op(s, "directory.list", "What a directory holds, for a menu", true, func(ctx context.Context, in wire.DirectoryRequest) (wire.DirectoryListing, error) {
		dir, err := s.place(ctx, in.PlaceRequest)
		if err != nil {
			return wire.DirectoryListing{Entries: []wire.DirectoryEntry{}}, err
		}
		return directory.List(ctx, dir, in.Hidden)
	})
	op(s, "worktree.changes", "What differs in a work tree: staged, not staged, untracked, in conflict", true, func(ctx context.Context, in wire.PlaceRequest) (wire.Changes, error) {
		dir, err := s.place(ctx, in)
		if err != nil {
			return wire.Changes{}, err
		}
		return s.cfg.Changes.Changes(ctx, dir)
	})
	op(s, "worktree.diff", "The diff of one path of worktree.changes", true, func(ctx context.Context, in wire.DiffRequest) (wire.Diff, error) {
		dir, err := s.place(ctx, in.PlaceRequest)
		if err != nil {
			return wire.Diff{}, err
		}
		in.Dir = dir
		return s.cfg.Changes.Diff(ctx, in)
	})
}
