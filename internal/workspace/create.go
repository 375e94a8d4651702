package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/git"
)

// checkoutTime is what git gets for making a work tree of a large repository.
const checkoutTime = 15 * time.Minute

// plan is a worktree that can be made: everything is decided, nothing is done.
type plan struct {
	worktree davit.Worktree
	existing bool   // the branch is there and is checked out
	commit   string // what HEAD must be afterwards
	warnings []string
}

// Create makes a worktree (spec launch L9.1 to L9.4). It holds the repository's lock for
// the choice of the name and for git's own work.
//
// With CodeWorktreeUnverified, and only then, the worktree is returned beside the error:
// it is there, and a check afterwards failed. The end of ctx stops the wait for the
// lock; what git has begun is finished (spec launch L5.9).
func (w *Workspaces) Create(ctx context.Context, req CreateRequest) (davit.Worktree, error) {
	at, err := w.locate(ctx, req)
	if err != nil {
		return davit.Worktree{}, err
	}
	wt, source, err := w.make(ctx, at, req)
	if err != nil || source == "" {
		return wt, err
	}
	// git is done and its lock let go: what follows takes as long as it takes (L9.3, L9.5).
	included, err := w.include(context.WithoutCancel(ctx), source, wt.Path)
	if err != nil {
		wt.Warning = join(wt.Warning, "what "+includeFile+" names could not be brought along: "+err.Error())
	}
	wt.Included, wt.Warning = included.Files, join(wt.Warning, included.warning())
	return wt, nil
}

// join puts warnings into one line; none is dropped.
func join(warnings ...string) string {
	return strings.Join(slices.DeleteFunc(warnings, func(s string) bool { return s == "" }), "; ")
}

// make lets git make the worktree, under the repository's lock. source is where ignored
// files may be brought from.
func (w *Workspaces) make(ctx context.Context, at located, req CreateRequest) (wt davit.Worktree, source string, err error) {
	unlock, err := w.lock(ctx, at.commonDir)
	if err != nil {
		return davit.Worktree{}, "", err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkoutTime)
	defer cancel()
	repo, start, p, err := w.plan(ctx, at, req)
	if err != nil {
		return davit.Worktree{}, "", err
	}
	wt, err = w.build(ctx, repo, p)
	return wt, checkoutOf(repo, start), err
}

// CheckCreate says why Create would refuse, and makes nothing. What it found free may be
// taken a moment later.
func (w *Workspaces) CheckCreate(ctx context.Context, req CreateRequest) error {
	at, err := w.locate(ctx, req)
	if err != nil {
		return err
	}
	_, _, _, err = w.plan(ctx, at, req)
	return err
}

// located is where a worktree is to be made from, before its repository is looked at.
type located struct {
	commonDir string
	start     func(repository) (Workspace, error)
}

// locate finds the repository of a request. One that is named by a path costs no process:
// what is there is looked at under the lock.
func (w *Workspaces) locate(ctx context.Context, req CreateRequest) (located, error) {
	if path, isPath := pathOf(req.Repo, req.CallerDir); isPath {
		dir, err := w.absolute(path, req.CallerDir)
		if err != nil {
			return located{}, err
		}
		found, err := git.Discover(dir)
		if err != nil {
			return located{}, notFound(dir, err)
		}
		return located{found.CommonDir, func(repo repository) (Workspace, error) { return w.treeOf(repo, found, dir) }}, nil
	}
	start, err := w.Resolve(ctx, req.Repo, req.CallerDir)
	if err == nil && start.Kind == KindFolder {
		err = davit.Errorf(davit.CodeWorkspaceNotFound, "%s is a plain folder, and worktrees come from repositories", start.Path)
	}
	return located{start.CommonDir, func(repository) (Workspace, error) { return start, nil }}, err
}

// plan looks at the repository and decides name, branch, base and place.
func (w *Workspaces) plan(ctx context.Context, at located, req CreateRequest) (repository, Workspace, plan, error) {
	repo, refs, err := w.picture(ctx, at.commonDir)
	if err != nil {
		return repo, Workspace{}, plan{}, err
	}
	start, err := at.start(repo)
	if err != nil {
		return repo, start, plan{}, err
	}
	p, err := w.decide(ctx, repo, refs, start, req)
	return repo, start, p, err
}

func (w *Workspaces) decide(ctx context.Context, repo repository, refs branches, start Workspace, req CreateRequest) (plan, error) {
	from, baseErr := w.findBase(ctx, repo, start, req.Base, refs)
	if davit.CodeOf(baseErr) == davit.CodeWorktreeUnborn {
		return plan{}, baseErr
	}
	root, err := w.root(repo)
	if err != nil {
		return plan{}, err
	}
	n := naming{repo: repo, branches: refs, root: root, valid: func(name string) (bool, error) {
		return w.cfg.Git.ValidBranch(ctx, repo.dir(), name)
	}}
	branch, existing, err := w.chooseBranch(n, req, from)
	if err != nil {
		return plan{}, err
	}
	if baseErr != nil && !existing {
		return plan{}, baseErr
	}
	name := req.Name
	if name == "" || req.NameWasGenerated {
		name = branch
	}
	path, err := n.folder(name)
	if err != nil {
		return plan{}, err
	}
	p := plan{existing: existing, commit: from.commit, worktree: davit.Worktree{ID: req.ID, Path: path, Branch: branch,
		Repo: repo.path, Base: from.name, RemoveOnClose: req.RemoveOnClose}}
	if p.worktree.ID == "" {
		p.worktree.ID = ID(repo.commonDir, path)
	}
	if existing {
		p.commit, p.worktree.Base = refs.local[branch].Commit, ""
		p.warnings = append(p.warnings, fmt.Sprintf("the branch %s was there already and was checked out as it is", branch))
		if req.Base != "" {
			p.warnings = append(p.warnings, fmt.Sprintf("the base %s was not used", req.Base))
		}
	} else if from.warning != "" {
		p.warnings = append(p.warnings, from.warning)
	}
	return p, nil
}

// chooseBranch follows spec launch L9.4. A caller's own name is taken or refused, never
// changed; a generated one may take a suffix.
func (w *Workspaces) chooseBranch(n naming, req CreateRequest, from base) (branch string, existing bool, err error) {
	wanted := req.Branch
	if wanted == "" {
		wanted = req.Name
	}
	if wanted == "" {
		if w.cfg.Draw == nil {
			return "", false, davit.Errorf(davit.CodeInvalid, "a worktree needs a name")
		}
		wanted, err = w.cfg.Draw(func(name string) bool { return !n.free(name) })
		if err != nil {
			return "", false, davit.Errorf(davit.CodeWorktreeCollision, "no free name was found: %w", err)
		}
		req.NameWasGenerated = true
	}
	if req.NameWasGenerated && (req.Branch == "" || req.Branch == req.Name) {
		if name := n.suggest(wanted); name != "" {
			return name, false, nil
		}
		return "", false, davit.Errorf(davit.CodeWorktreeCollision, "%s and every name like it is taken", wanted)
	}
	valid, err := n.valid(wanted)
	if err != nil {
		return "", false, gitFailed("check the name", err)
	}
	refuse := func(code davit.Code, format string, args ...any) error {
		e := davit.Errorf(code, format, args...).With("name", wanted)
		if free := n.suggest(wanted); free != "" {
			e.WithHint("%s is free.", free).With("suggestion", free)
		}
		return e
	}
	if !valid {
		return "", false, refuse(davit.CodeWorktreeName, "git does not take %q as the name of a branch", wanted)
	}
	if at, taken := n.branches.trees[wanted]; taken {
		e := davit.AsError(refuse(davit.CodeWorktreeCollision, "the branch %s is checked out at %s", wanted, at))
		e.With("path", at).With("worktreeId", ID(n.repo.commonDir, at)).With("ref", "refs/heads/"+wanted)
		return "", false, e.WithHint("Open the worktree at %s, or use another name. %s", at, e.Hint)
	}
	if _, local := n.branches.local[wanted]; local {
		return wanted, true, nil
	}
	way := n.branches.inTheWay(wanted)
	if remote := n.branches.remote[wanted]; way == "" && remote != "" && remote != from.ref {
		way = remote
	}
	if way != "" {
		e := davit.AsError(refuse(davit.CodeWorktreeCollision, "%s is in the way of a branch called %s", way, wanted)).With("ref", way)
		if short, ok := strings.CutPrefix(way, "refs/remotes/"); ok {
			e.WithHint("To work on it, give it as the base: --base %s. %s", short, e.Hint)
		}
		return "", false, e
	}
	return wanted, false, nil
}

// root gives the directory that worktrees of a repository go into, made and resolved
// (spec launch L9.2).
func (w *Workspaces) root(repo repository) (string, error) {
	root, fence := "", ""
	if w.cfg.Root != nil {
		root = w.cfg.Root(repo.path)
	}
	switch {
	case root != "" && !filepath.IsAbs(root):
		return "", davit.Errorf(davit.CodeInvalid, "the place for worktrees must be an absolute path, not %q", root)
	case root != "":
	case repo.bare:
		root = filepath.Dir(repo.commonDir)
	default:
		fence = filepath.Join(w.cfg.State, "worktrees")
		root = filepath.Join(fence, filepath.Base(repo.path)+"-"+short(repo.path, 8))
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", davit.Errorf(davit.CodeHomeUnusable, "cannot make the place for worktrees: %w", err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", davit.Errorf(davit.CodeHomeUnusable, "cannot resolve the place for worktrees: %w", err)
	}
	if fence != "" {
		realFence, err := filepath.EvalSymlinks(fence)
		if err != nil || !below(real, realFence) {
			return "", davit.Errorf(davit.CodeHomeUnusable, "the place for worktrees, %s, leads to %s", root, real).
				WithHint("Something put a symbolic link there; move it away.")
		}
	}
	return real, nil
}

// build lets git do it: record, act, check, record.
func (w *Workspaces) build(ctx context.Context, repo repository, p plan) (davit.Worktree, error) {
	wt := p.worktree
	if err := w.record(wt, StageCreating); err != nil {
		return davit.Worktree{}, davit.Errorf(davit.CodeInternal, "nothing was made, because it could not be recorded: %w", err)
	}
	args := []string{"worktree", "add"}
	if p.existing {
		args = append(args, wt.Path, wt.Branch)
	} else {
		args = append(args, "--no-track", "-b", wt.Branch, wt.Path, p.commit)
	}
	_, addErr := w.cfg.Git.Write(ctx, repo.dir(), args...)
	if addErr != nil && !w.registered(ctx, repo.commonDir, wt.Path) {
		w.note(wt, StageFailed)
		e := gitFailed("make the worktree "+wt.Path, addErr)
		if !p.existing {
			if left, err := w.cfg.Git.Commit(ctx, repo.dir(), "refs/heads/"+wt.Branch); err == nil && left != "" {
				e.With("branchMade", wt.Branch)
				e.Message += fmt.Sprintf(" (the branch %s was made and is kept)", wt.Branch)
			}
		}
		return davit.Worktree{}, e
	}
	if err := w.verify(ctx, repo, p, addErr); err != nil {
		w.note(wt, StageUnverified)
		wt.Warning = strings.Join(append(p.warnings, "created, unverified: "+err.Error()), "; ")
		return wt, davit.Errorf(davit.CodeWorktreeUnverified, "the worktree at %s was created, but is unverified: %w", wt.Path, err).
			With("path", wt.Path).With("branch", wt.Branch).With("worktreeId", wt.ID)
	}
	wt.Warning = strings.Join(p.warnings, "; ")
	if err := w.record(wt, StageCreated); err != nil {
		return wt, davit.Errorf(davit.CodeWorktreeUnverified, "the worktree at %s was created, but could not be recorded: %w", wt.Path, err).
			With("path", wt.Path).With("branch", wt.Branch).With("worktreeId", wt.ID)
	}
	return wt, nil
}

// verify compares what is there with what was meant.
func (w *Workspaces) verify(ctx context.Context, repo repository, p plan, addErr error) error {
	if addErr != nil {
		return addErr // a hook of the user's, most likely: git has made the work tree
	}
	found, err := git.Discover(p.worktree.Path)
	if err != nil {
		return err
	}
	if found.Root != p.worktree.Path || found.CommonDir != repo.commonDir {
		return fmt.Errorf("it is a work tree of %s at %s", found.CommonDir, found.Root)
	}
	head, err := w.cfg.Git.Head(ctx, found)
	if err != nil {
		return err
	}
	if head.Commit != p.commit || head.Branch != p.worktree.Branch {
		return fmt.Errorf("its HEAD is %s on %q, and %s on %q was meant", head.Commit, head.Branch, p.commit, p.worktree.Branch)
	}
	return nil
}

// registered says whether git knows a work tree at path; when git cannot be asked it is
// taken as there, so that a report never says less than what was made.
func (w *Workspaces) registered(ctx context.Context, commonDir, path string) bool {
	repo, err := w.load(ctx, commonDir)
	if err != nil {
		_, statErr := os.Lstat(path)
		return statErr == nil
	}
	_, there := repo.tree(path)
	return there
}

// Probe tells, after a crash, what became of a worktree that was recorded as being made or
// removed: StageUnverified when git has it and its folder is there, StageFailed when
// neither is, StageKept when only one of the two is. It changes nothing.
func (w *Workspaces) Probe(ctx context.Context, wt davit.Worktree) (Stage, error) {
	repo, _, err := w.open(ctx, wt.Repo)
	if err != nil {
		return "", notFound(wt.Repo, err)
	}
	_, registered := repo.tree(wt.Path)
	_, statErr := os.Lstat(wt.Path)
	switch there := statErr == nil; {
	case registered && there:
		return StageUnverified, nil
	case registered || there:
		return StageKept, nil
	}
	return StageFailed, nil
}

func (w *Workspaces) record(wt davit.Worktree, stage Stage) error {
	if w.cfg.Record == nil {
		return nil
	}
	return w.cfg.Record(wt, stage)
}

// note records what cannot be changed any more; that it could not be kept is logged.
func (w *Workspaces) note(wt davit.Worktree, stage Stage) {
	if err := w.record(wt, stage); err != nil {
		w.cfg.Log.Error("a worktree's state could not be recorded", "path", wt.Path, "stage", stage, "err", err)
	}
}
