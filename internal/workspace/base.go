package workspace

import (
	"context"
	"fmt"

	"davit"
	"davit/internal/git"
)

// base is where a new branch starts.
type base struct {
	name    string // as a person would say it
	ref     string // full ref, "" when it is a plain revision
	commit  string
	warning string
}

// findBase follows the order of spec launch L9.3: the requested one, the pinned one, the
// remote's HEAD, the main checkout's branch.
func (w *Workspaces) findBase(ctx context.Context, repo repository, start Workspace, requested string, refs branches) (base, error) {
	remote := refs.origin
	if requested != "" {
		return w.namedBase(ctx, repo, start.Path, requested, refs, "the requested base")
	}
	pinned, err := w.pinnedBase(ctx, repo)
	if err != nil {
		return base{}, davit.Errorf(davit.CodeWorktreeBase, "cannot tell the base that the repository pins: %w", err).
			WithHint("Mend the file, or name a base.")
	}
	if pinned != "" {
		return w.namedBase(ctx, repo, repo.dir(), pinned, refs, "the base pinned in "+SettingsFile)
	}
	if remote != "" {
		ref, err := w.cfg.Git.RemoteHead(ctx, repo.dir(), remote)
		if err != nil {
			return base{}, gitFailed("ask for the HEAD of "+remote, err)
		}
		if ref != "" {
			commit, err := w.cfg.Git.Commit(ctx, repo.dir(), ref)
			if err != nil {
				return base{}, gitFailed("read "+ref, err)
			}
			if commit != "" {
				return base{name: ref[len("refs/remotes/"):], ref: ref, commit: commit}, nil
			}
		}
	}
	return w.mainBranch(ctx, repo, refs)
}

// mainBranch is the last resort: what the main checkout, or the bare repository, is on.
func (w *Workspaces) mainBranch(ctx context.Context, repo repository, refs branches) (base, error) {
	head, err := w.cfg.Git.Head(ctx, git.Repository{GitDir: repo.commonDir, CommonDir: repo.commonDir})
	if err != nil {
		return base{}, gitFailed("read HEAD of "+repo.path, err)
	}
	if head.Unborn {
		if len(refs.local) == 0 && len(refs.remote) == 0 {
			return base{}, davit.Errorf(davit.CodeWorktreeUnborn, "%s has no commit yet, so no worktree can start from it", repo.path).
				WithHint("Make the first commit there (`git commit --allow-empty -m start`); davit never commits for you.").With("repo", repo.path)
		}
		return base{}, davit.Errorf(davit.CodeWorktreeBase, "the branch %s of %s has no commit yet", head.Branch, repo.path).
			WithHint("Name a base.").With("repo", repo.path)
	}
	if head.Detached {
		return base{name: head.Commit[:12], commit: head.Commit}, nil
	}
	b := base{name: head.Branch, ref: "refs/heads/" + head.Branch, commit: head.Commit}
	return w.behind(ctx, repo, b, refs)
}

// namedBase finds the commit of a base that somebody named: a branch before a tag of the
// same name, and a branch that only the remote has.
func (w *Workspaces) namedBase(ctx context.Context, repo repository, dir, name string, refs branches, whose string) (base, error) {
	if ref, ok := refs.local[name]; ok {
		return w.behind(ctx, repo, base{name: name, ref: ref.Name, commit: ref.Commit}, refs)
	}
	for _, try := range []base{{name: name}, {name: name, ref: "refs/remotes/" + refs.origin + "/" + name}} {
		revision := try.ref
		if revision == "" {
			revision = name
		}
		commit, err := w.cfg.Git.Commit(ctx, dir, revision)
		if err != nil {
			return base{}, gitFailed("look "+name+" up", err)
		}
		if commit != "" {
			try.commit = commit
			if full := "refs/remotes/" + name; try.ref == "" && refs.hasRemote(full) {
				try.ref = full
			}
			return try, nil
		}
	}
	return base{}, davit.Errorf(davit.CodeWorktreeBase, "%s, %q, is no commit of %s", whose, name, repo.path).
		With("base", name).With("repo", repo.path)
}

func (b branches) hasRemote(ref string) bool {
	for _, full := range b.remote {
		if full == ref {
			return true
		}
	}
	return false
}

// behind warns of a local branch that its upstream, as last fetched, is ahead of.
func (w *Workspaces) behind(ctx context.Context, repo repository, b base, refs branches) (base, error) {
	upstream := ""
	for _, ref := range refs.local {
		if ref.Name == b.ref {
			upstream = ref.Upstream
		}
	}
	if upstream == "" {
		return b, nil
	}
	n, err := w.cfg.Git.Count(ctx, repo.dir(), b.commit+".."+upstream, "--")
	if err != nil || n == 0 {
		return b, nil // an upstream that is gone cannot be compared with
	}
	b.warning = fmt.Sprintf("the base %s is %d commit%s behind %s", b.name, n, plural(n), upstream[len("refs/remotes/"):])
	return b, nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
