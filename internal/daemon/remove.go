package daemon

import (
	"context"
	"slices"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/git"
	"davit/internal/workspace"
)

// RemoveWorktree is the last step of a close plan: `git worktree remove` by the rules of
// spec launch L9.6, in the process of `davit cleanup-run`. The plan names a worktree that
// this davit made; nothing is forced, and the branch is kept.
func RemoveWorktree(environ []string) cleanup.Remove {
	return func(ctx context.Context, state string, w davit.Worktree) (cleanup.Removed, error) {
		spaces := workspace.New(workspace.Config{
			Git: git.Runner{Path: "git", Env: environ}, State: state,
			Owned: func(path string) bool { return path == w.Path },
		})
		report, err := spaces.Remove(ctx, workspace.RemoveRequest{Path: w.Path, Repo: w.Repo, ID: w.ID})
		if err != nil {
			return cleanup.Removed{}, err
		}
		return cleanup.Removed{
			Kept: slices.Concat(report.Notes, workspace.KeptText(report.Kept)), Ignored: report.Ignored.Paths, IgnoredCount: report.Ignored.Count,
		}, nil
	}
}
