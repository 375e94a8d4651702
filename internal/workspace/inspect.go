package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/git"
)

// Inspect tells what a removal would lose and what it would keep (spec launch L9.6). A
// worktree that is never removed is an error with CodeWorktreeProtected.
func (w *Workspaces) Inspect(ctx context.Context, req RemoveRequest) (Loss, error) {
	loss, err := w.find(ctx, req)
	if err != nil || loss.repo.commonDir == "" {
		return loss, err
	}
	return loss, w.examine(ctx, &loss, req)
}

// find finds the worktree and its repository. Without a repository the folder is gone
// and nothing knows it any more.
func (w *Workspaces) find(ctx context.Context, req RemoveRequest) (Loss, error) {
	path, err := w.absolute(req.Path, "")
	if err != nil {
		return Loss{}, err
	}
	path = resolved(path)
	loss := Loss{Path: path}
	repo, found, err := w.open(ctx, path)
	_, statErr := os.Lstat(path)
	var link *git.LinkError
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		loss.Gone = true
		return w.findGone(ctx, loss, req)
	case errors.Is(err, git.ErrNotRepository), errors.As(err, &link):
		return loss, protected(path, "it is not a worktree that any repository knows, and davit deletes no folder by its path")
	case err != nil:
		return loss, notFound(path, err)
	case found.Root != "" && found.Root != path:
		return loss, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is inside of a worktree, not its root", path).
			WithHint("The root is %s.", found.Root).With("path", path)
	}
	entry, known := repo.tree(path)
	if !known && path != repo.commonDir {
		return loss, protected(path, "its repository does not list it as a worktree, and davit deletes no folder by its path")
	}
	loss.repo, loss.entry = repo, entry
	return loss, nil
}

// findGone looks for the repository that still lists a folder that is gone.
func (w *Workspaces) findGone(ctx context.Context, loss Loss, req RemoveRequest) (Loss, error) {
	dirs := []string{req.Repo}
	if w.cfg.Known != nil {
		dirs = append(dirs, w.cfg.Known()...)
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		repo, _, err := w.open(ctx, dir)
		if davit.CodeOf(err) == davit.CodeGitMissing {
			return loss, err
		}
		if entry, known := repo.tree(loss.Path); err == nil && known {
			loss.repo, loss.entry = repo, entry
			break
		}
	}
	return loss, nil
}

// resolved resolves symbolic links as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

func protected(path, why string) *davit.Error {
	return davit.Errorf(davit.CodeWorktreeProtected, "%s is not removed: %s", path, why).With("path", path)
}

// guard refuses what is never removed.
func (w *Workspaces) guard(loss Loss, req RemoveRequest) error {
	path := loss.Path
	if loss.entry.Bare || path == loss.repo.path || path == loss.repo.commonDir {
		return protected(path, "it is the main checkout of its repository")
	}
	if below(loss.repo.commonDir, path) {
		return protected(path, "its repository lies in it")
	}
	for what, dir := range map[string]string{"the home directory": w.home(), "davit's own state": w.cfg.State} {
		if dir = resolved(dir); dir == path || below(dir, path) {
			return protected(path, what+" is there")
		}
	}
	if path == filepath.Dir(path) {
		return protected(path, "it is the root directory")
	}
	if loss.entry.Locked {
		reason := loss.entry.LockReason
		if reason == "" {
			reason = "no reason given"
		}
		return protected(path, "it is locked ("+reason+")").WithHint("`git worktree unlock` frees it.")
	}
	for _, t := range loss.repo.trees {
		if below(t.Path, path) {
			return protected(path, "another worktree, "+t.Path+", lies in it")
		}
	}
	if !req.External && (w.cfg.Owned == nil || !w.cfg.Owned(path)) {
		return protected(path, "davit did not make it").WithHint("Name it by its path with --external if you mean it.")
	}
	return nil
}

// examine fills in what would be lost and what is kept.
func (w *Workspaces) examine(ctx context.Context, loss *Loss, req RemoveRequest) error {
	if err := w.guard(*loss, req); err != nil {
		return err
	}
	loss.Branch, loss.Head = loss.entry.Branch, loss.entry.Head
	if strings.Trim(loss.Head, "0") == "" {
		loss.Head = "" // no commit yet
	}
	if !loss.Gone {
		if err := w.examineFiles(ctx, loss); err != nil {
			return err
		}
		if err := w.examineSubmodules(ctx, loss, loss.Path, "", 0); err != nil {
			return err
		}
	}
	if err := w.examineCommits(ctx, loss, req); err != nil {
		return err
	}
	if w.loses(*loss) {
		text, err := json.Marshal([]any{loss.Path, loss.Branch, loss.Head, loss.Uncommitted, loss.Untracked, loss.Commits, loss.Submodules, loss.Nested})
		if err != nil {
			return davit.Errorf(davit.CodeInternal, "digest of a loss: %w", err)
		}
		sum := sha256.Sum256(text)
		loss.Digest = hex.EncodeToString(sum[:])[:16]
	}
	return nil
}

func (w *Workspaces) loses(loss Loss) bool {
	return len(loss.Uncommitted)+len(loss.Untracked)+len(loss.Commits)+len(loss.Submodules)+len(loss.Nested) > 0
}

// unfinished are the operations whose state lies in the work tree's own git directory.
var unfinished = []struct{ file, what string }{
	{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase or am"}, {"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisect"},
}

func (w *Workspaces) examineFiles(ctx context.Context, loss *Loss) error {
	entries, err := w.cfg.Git.Status(ctx, loss.Path, git.StatusOptions{Ignored: true, DirtySubmodules: true})
	if err != nil {
		return gitFailed("look at the files of "+loss.Path, err)
	}
	loss.Ignored = ignoredOf(loss.Path, mainCheckout(loss.repo), entries)
	nested := nestedScan{root: loss.Path}
	for _, e := range entries {
		switch e.Kind {
		case git.Ignored:
			nested.look(e.Path)
		case git.Untracked:
			loss.Untracked = append(loss.Untracked, e.Path)
			if strings.HasSuffix(e.Path, "/") {
				nested.look(e.Path)
			}
		default:
			loss.Uncommitted = append(loss.Uncommitted, e.XY+" "+e.Path)
		}
	}
	hidden, err := w.cfg.Git.HiddenChanges(ctx, loss.Path)
	if err != nil {
		return gitFailed("look at the files of "+loss.Path+" that git does not look at", err)
	}
	for _, path := range hidden { // assume-unchanged or skip-worktree: git status says nothing of them
		loss.Uncommitted = append(loss.Uncommitted, "h  "+path)
	}
	if nested.worktree != "" {
		return protected(loss.Path, "another worktree, "+nested.worktree+", lies in it")
	}
	loss.Nested = nested.found
	if found, err := git.Discover(loss.Path); err == nil {
		for _, u := range unfinished {
			if _, err := os.Lstat(filepath.Join(found.GitDir, u.file)); err == nil {
				loss.Uncommitted = append(loss.Uncommitted, "-- "+u.what+" that is not finished")
			}
		}
	}
	return nil
}

// maxScanned bounds the entries of ignored folders that are looked through.
const maxScanned = 500_000

// nestedScan looks for repositories in folders that git does not look into, and that
// would go with the worktree.
type nestedScan struct {
	root     string
	seen     int
	found    []string
	worktree string
}

func (s *nestedScan) look(rel string) {
	top := filepath.Join(s.root, filepath.FromSlash(rel))
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			s.found = append(s.found, s.name(path)+": cannot be looked into")
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if s.seen++; s.seen > maxScanned {
			s.found = append(s.found, s.name(path)+": too much to look through")
			return fs.SkipAll
		}
		if d.Name() != ".git" {
			return nil
		}
		at := filepath.Dir(path)
		if found, err := git.Discover(at); err == nil && found.Linked() && found.Root == at {
			s.worktree = at
			return fs.SkipAll
		}
		s.found = append(s.found, s.name(at)+": a repository of its own")
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

func (s *nestedScan) name(path string) string {
	rel, err := filepath.Rel(s.root, path)
	if err != nil {
		return path
	}
	return rel
}

// examineSubmodules lists the submodules that are there. git removes a worktree with any
// of them only by force, so each is a line for the user to see, the clean ones too.
func (w *Workspaces) examineSubmodules(ctx context.Context, loss *Loss, root, prefix string, depth int) error {
	const deepest = 8
	out, err := w.cfg.Git.Read(ctx, root, "ls-files", "--stage", "-z")
	if err != nil {
		return gitFailed("list the submodules of "+root, err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, rel, ok := strings.Cut(entry, "\t")
		if !ok || !strings.HasPrefix(meta, "160000 ") {
			continue
		}
		path := filepath.Join(root, filepath.FromSlash(rel))
		if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
			continue // not initialised here
		}
		state, err := w.submoduleState(ctx, path)
		if err != nil {
			state = "cannot be looked at: " + err.Error()
		}
		loss.Submodules = append(loss.Submodules, prefix+rel+": "+state)
		if err == nil && depth < deepest {
			if err := w.examineSubmodules(ctx, loss, path, prefix+rel+"/", depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Workspaces) submoduleState(ctx context.Context, path string) (string, error) {
	entries, err := w.cfg.Git.Status(ctx, path, git.StatusOptions{DirtySubmodules: true})
	if err != nil {
		return "", err
	}
	var parts []string
	for _, e := range entries {
		parts = append(parts, e.XY+" "+e.Path)
	}
	commits, err := w.cfg.Git.Log(ctx, path, "HEAD", "--branches", "--not", "--remotes", "--")
	if err != nil {
		return "", err
	}
	for _, c := range commits {
		parts = append(parts, "commit "+c.Commit+" that no remote has")
	}
	stashes, err := w.cfg.Git.Stashes(ctx, path)
	if err != nil {
		return "", err
	}
	for _, s := range stashes {
		parts = append(parts, "stash "+s)
	}
	if len(parts) == 0 {
		return "initialised, nothing of its own", nil
	}
	return strings.Join(parts, ", "), nil
}

// examineCommits finds the commits that no other ref reaches, where the one that reaches
// them would go, and what stays.
func (w *Workspaces) examineCommits(ctx context.Context, loss *Loss, req RemoveRequest) error {
	dir := loss.repo.dir()
	if loss.Head != "" && (loss.Branch == "" || req.DeleteBranch) {
		expression := []string{loss.Head, "--not"}
		if loss.Branch != "" {
			expression = append(expression, "--exclude=refs/heads/"+loss.Branch)
		}
		commits, err := w.cfg.Git.Log(ctx, dir, append(expression, "--glob=refs/*", "--")...)
		if err != nil {
			return gitFailed("look for commits that nothing else reaches", err)
		}
		loss.Commits = commits
	}
	if loss.Branch != "" && !req.DeleteBranch {
		loss.Kept.Branch, loss.Kept.Head = loss.Branch, loss.Head
		n, err := w.unpushed(ctx, loss.repo, loss.entry, nil)
		if err != nil {
			return gitFailed("count the commits of "+loss.Branch, err)
		}
		loss.Kept.Unpushed = n
	}
	stashes, err := w.cfg.Git.Stashes(ctx, dir)
	if err != nil {
		return gitFailed("list the stashes", err)
	}
	loss.Kept.Stashes = stashesOf(stashes, loss.Branch)
	return nil
}

// stashesOf picks the stashes that were made on a branch ("" for a detached HEAD).
func stashesOf(all []string, branch string) []string {
	if branch == "" {
		branch = "(no branch)"
	}
	var mine []string
	for _, subject := range all {
		if strings.HasPrefix(subject, "WIP on "+branch+": ") || strings.HasPrefix(subject, "On "+branch+": ") {
			mine = append(mine, subject)
		}
	}
	return mine
}

// unpushed counts the commits of a work tree's HEAD that no remote has. In a repository
// without remotes it counts those that no other branch has. remotes may be nil: asked.
func (w *Workspaces) unpushed(ctx context.Context, repo repository, t git.Worktree, remotes []string) (int, error) {
	if strings.Trim(t.Head, "0") == "" {
		return 0, nil
	}
	if remotes == nil {
		var err error
		if remotes, err = w.cfg.Git.Remotes(ctx, repo.dir()); err != nil {
			return 0, err
		}
	}
	if len(remotes) > 0 {
		return w.cfg.Git.Count(ctx, repo.dir(), t.Head, "--not", "--remotes", "--")
	}
	return w.cfg.Git.Count(ctx, repo.dir(), t.Head, "--not", "--exclude="+t.Branch, "--branches", "--")
}
