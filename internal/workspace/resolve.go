package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/git"
)

// Resolve finds the one workspace that a selector means (spec launch L4): `id:`, `path:`,
// `branch:`, `name:`, `folder:`, `active`, or a bare path. Empty is `active`.
//
// `id:`, `branch:` and `name:` look in the repository of callerDir first; the other known
// repositories are looked at when nothing there fits. None or several is an error with
// the candidates in its details.
func (w *Workspaces) Resolve(ctx context.Context, selector, callerDir string) (Workspace, error) {
	if path, isPath := pathOf(selector, callerDir); isPath {
		return w.at(ctx, path, callerDir)
	}
	kind, value, _ := strings.Cut(selector, ":")
	if kind == "folder" {
		return w.folder(value, callerDir)
	}
	return w.search(ctx, kind, value, callerDir)
}

// pathOf gives the path that a selector is, false when it names something else.
func pathOf(selector, callerDir string) (string, bool) {
	kind, value, tagged := strings.Cut(selector, ":")
	switch {
	case selector == "" || selector == "active":
		return callerDir, true
	case tagged && (kind == "id" || kind == "branch" || kind == "name" || kind == "folder"):
		return "", false
	case tagged && kind == "path":
		return value, true
	}
	return selector, true
}

// absolute makes a path of a selector absolute: `~` is the home directory, a relative one
// starts at the caller's directory.
func (w *Workspaces) absolute(path, callerDir string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(w.home(), path[1:])
	}
	if !filepath.IsAbs(path) {
		if path == "" || !filepath.IsAbs(callerDir) {
			return "", davit.Errorf(davit.CodeWorkspaceNotFound, "%q is no path, and there is no directory to start from", path)
		}
		path = filepath.Join(callerDir, path)
	}
	if strings.ContainsRune(path, 0) {
		return "", davit.Errorf(davit.CodeWorkspaceNotFound, "%q is no path", path)
	}
	return filepath.Clean(path), nil
}

func (w *Workspaces) home() string {
	if w.cfg.Home != "" {
		return w.cfg.Home
	}
	home, _ := os.UserHomeDir()
	return home
}

// at resolves a path: inside of a work tree it means its root, a bare repository's means
// it.
func (w *Workspaces) at(ctx context.Context, path, callerDir string) (Workspace, error) {
	dir, err := w.absolute(path, callerDir)
	if err != nil {
		return Workspace{}, err
	}
	repo, found, err := w.open(ctx, dir)
	if err != nil {
		return Workspace{}, notFound(dir, err)
	}
	return w.treeOf(repo, found, dir)
}

// treeOf is the work tree that a directory was found to be in, as its repository lists it.
func (w *Workspaces) treeOf(repo repository, found git.Repository, dir string) (Workspace, error) {
	root := found.Root
	if root == "" && !found.Linked() {
		root = repo.path // the bare repository, or the checkout whose .git this is
	}
	if tree, ok := repo.tree(root); ok {
		return repo.workspace(tree), nil
	}
	return Workspace{}, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is not a worktree that its repository %s knows", dir, repo.path).
		WithHint("`git worktree repair` there can mend it.").With("candidates", w.describe(repo))
}

func (w *Workspaces) folder(path, callerDir string) (Workspace, error) {
	dir, err := w.absolute(path, callerDir)
	if err != nil {
		return Workspace{}, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Workspace{}, davit.Errorf(davit.CodeDirectoryMissing, "the folder %s is not there: %w", dir, err).With("path", dir)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return Workspace{}, davit.Errorf(davit.CodeDirectoryMissing, "%s is not a folder", dir).With("path", dir)
	}
	return Workspace{ID: ID("", real), Path: real, Kind: KindFolder}, nil
}

// search looks for what a tag names.
func (w *Workspaces) search(ctx context.Context, kind, value, callerDir string) (Workspace, error) {
	fits := func(ws Workspace) bool {
		switch kind {
		case "id":
			return ws.ID == value
		case "branch":
			return ws.Branch == value && ws.Kind == KindWorktree
		}
		return filepath.Base(ws.Path) == value
	}
	var all, hits []Workspace
	seen := map[string]bool{}
	look := func(dir string) error {
		found, err := git.Discover(dir)
		if err != nil || seen[found.CommonDir] {
			return nil // a known repository that is gone has no candidates
		}
		seen[found.CommonDir] = true
		repo, err := w.load(ctx, found.CommonDir)
		if err != nil {
			return err
		}
		for _, t := range repo.trees {
			ws := repo.workspace(t)
			all = append(all, ws)
			if fits(ws) {
				hits = append(hits, ws)
			}
		}
		return nil
	}
	if callerDir != "" {
		if err := look(callerDir); err != nil {
			return Workspace{}, err
		}
	}
	if len(hits) == 0 && w.cfg.Known != nil {
		for _, dir := range w.cfg.Known() {
			if err := look(dir); err != nil {
				w.cfg.Log.Warn("a known repository cannot be read", "path", dir, "err", err)
			}
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	if len(hits) > 1 {
		return Workspace{}, davit.Errorf(davit.CodeWorkspaceAmbiguous, "%d workspaces fit %s:%s", len(hits), kind, value).
			With("candidates", candidates(hits))
	}
	return Workspace{}, davit.Errorf(davit.CodeWorkspaceNotFound, "no workspace fits %s:%s", kind, value).
		With("candidates", candidates(all))
}

func (w *Workspaces) describe(repo repository) []string {
	var list []Workspace
	for _, t := range repo.trees {
		list = append(list, repo.workspace(t))
	}
	return candidates(list)
}

// candidates lists workspaces for a person who has to choose one.
func candidates(list []Workspace) []string {
	const most = 20
	lines := []string{}
	for i, ws := range list {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		what := ws.Branch
		switch {
		case ws.Bare:
			what = "bare"
		case what == "":
			what = "detached"
		}
		lines = append(lines, fmt.Sprintf("id:%s %s (%s)", ws.ID, ws.Path, what))
	}
	return lines
}
