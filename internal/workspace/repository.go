package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/git"
	"davit/internal/template"
)

// repository is one repository with all of its work trees, as git lists them.
type repository struct {
	path      string // the main checkout, or the bare repository
	commonDir string
	bare      bool
	trees     []git.Worktree // the first is the main one
}

// dir is where git commands about the whole repository run: never in a linked work tree,
// which may be the one to remove.
func (r repository) dir() string { return r.commonDir }

// open finds the repository of a directory.
func (w *Workspaces) open(ctx context.Context, dir string) (repository, git.Repository, error) {
	found, err := git.Discover(dir)
	if err != nil {
		return repository{}, found, err
	}
	repo, err := w.load(ctx, found.CommonDir)
	return repo, found, err
}

// load lists a repository by its common directory.
func (w *Workspaces) load(ctx context.Context, commonDir string) (repository, error) {
	trees, err := w.cfg.Git.Worktrees(ctx, commonDir)
	if err != nil {
		return repository{}, gitFailed("list the worktrees of "+commonDir, err)
	}
	if len(trees) == 0 {
		return repository{}, gitFailed("list the worktrees of "+commonDir, git.ErrGarbage)
	}
	for i := range trees {
		if real, err := filepath.EvalSymlinks(trees[i].Path); err == nil {
			trees[i].Path = real
		}
	}
	repo := repository{commonDir: commonDir, bare: trees[0].Bare, trees: trees}
	switch {
	case repo.bare:
		repo.path = commonDir
	case filepath.Base(commonDir) == ".git":
		repo.path = filepath.Dir(commonDir)
	default:
		// A submodule: its git directory lies elsewhere and names the work tree.
		out, err := w.cfg.Git.Read(ctx, commonDir, "config", "--get", "core.worktree")
		if err != nil {
			repo.path = trees[0].Path
			break
		}
		repo.path = strings.TrimSuffix(string(out), "\n")
		if !filepath.IsAbs(repo.path) {
			repo.path = filepath.Join(commonDir, repo.path)
		}
	}
	if real, err := filepath.EvalSymlinks(repo.path); err == nil {
		repo.path = real
	}
	trees[0].Path = repo.path
	return repo, nil
}

// tree finds a work tree by its path.
func (r repository) tree(path string) (git.Worktree, bool) {
	for _, t := range r.trees {
		if t.Path == path {
			return t, true
		}
	}
	return git.Worktree{}, false
}

func (r repository) workspace(t git.Worktree) Workspace {
	ws := Workspace{ID: ID(r.commonDir, t.Path), Path: t.Path, Repo: r.path, CommonDir: r.commonDir,
		Branch: t.Branch, Head: t.Head, Main: t.Path == r.path, Kind: KindWorktree}
	if strings.Trim(ws.Head, "0") == "" {
		ws.Head = ""
	}
	if t.Bare {
		ws.Bare, ws.Main, ws.Kind = true, false, KindBare
	}
	return ws
}

// ID gives the stable id of a work tree: "wt_" and 16 hex digits of where its repository
// and itself are. A plain folder has no common directory.
func ID(commonDir, path string) string {
	return "wt_" + short(commonDir+"\x00"+path, 16)
}

// short gives the first digits of a hash.
func short(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}

// below says whether path lies strictly below root; both are clean and resolved.
func below(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// gitFailed gives git's refusal in git's own words. What is a domain error already, such
// as a missing git, stays what it is.
func gitFailed(what string, err error) *davit.Error {
	var domain *davit.Error
	if errors.As(err, &domain) {
		return domain
	}
	e := davit.Errorf(davit.CodeWorktreeGit, "cannot %s: %w", what, err)
	var exit *git.ExitError
	if errors.As(err, &exit) {
		e.With("git", exit.Stderr)
		if strings.Contains(exit.Stderr, "safe.directory") {
			e.WithHint("The repository belongs to another user; git's own words name the setting that allows it.")
		}
	}
	return e
}

// notFound explains why a directory is no workspace (spec launch L4).
func notFound(dir string, err error) *davit.Error {
	var link *git.LinkError
	var domain *davit.Error
	switch {
	case errors.As(err, &domain):
		return domain
	case errors.Is(err, fs.ErrNotExist):
		return davit.Errorf(davit.CodeWorkspaceNotFound, "%s does not exist", dir).With("path", dir)
	case errors.Is(err, git.ErrNotRepository):
		return davit.Errorf(davit.CodeWorkspaceNotFound, "%s is not inside a git repository", dir).
			WithHint("For a plain folder use --folder %s.", template.Word(template.Sh, dir)).With("path", dir)
	case errors.As(err, &link):
		return davit.Errorf(davit.CodeWorkspaceNotFound, "%s", link.Error()).
			WithHint("The repository was moved or deleted; `git worktree repair` there can mend the link.").With("path", dir)
	}
	return davit.Errorf(davit.CodeWorkspaceNotFound, "%s cannot be looked at: %w", dir, err).With("path", dir)
}
