package workspace

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"davit"
	"davit/internal/template"
)

// Remove removes a worktree (spec launch L9.6): inspect, refuse what would lose work
// unless its digest was given, record, let git remove it, check, record. It is git that
// deletes; --force is passed on only when the user forced it with the digest of what
// would be lost. A branch is deleted only when asked for, and only while it is still
// where it was seen.
func (w *Workspaces) Remove(ctx context.Context, req RemoveRequest) (RemoveReport, error) {
	loss, err := w.find(ctx, req)
	if err != nil {
		return RemoveReport{}, err
	}
	wt := davit.Worktree{ID: req.ID, Path: loss.Path, Branch: loss.entry.Branch, Repo: loss.repo.path}
	if loss.repo.commonDir == "" {
		w.note(wt, StageRemoved)
		return RemoveReport{Path: loss.Path, Repo: req.Repo, AlreadyGone: true,
			Notes: []string{"the folder was gone already, and no repository lists it"}}, nil
	}
	unlock, err := w.lock(ctx, loss.repo.commonDir)
	if err != nil {
		return RemoveReport{}, err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkoutTime)
	defer cancel()
	// Again under the lock: what was seen before may have changed.
	if loss, err = w.Inspect(ctx, req); err != nil {
		return RemoveReport{}, err
	}
	if loss.repo.commonDir == "" {
		w.note(wt, StageRemoved)
		return RemoveReport{Path: loss.Path, Repo: wt.Repo, AlreadyGone: true}, nil
	}
	if loss.Digest != "" && loss.Digest != req.ForceDigest {
		return RemoveReport{}, wouldLose(loss, req)
	}
	if wt.ID == "" {
		wt.ID = ID(loss.repo.commonDir, loss.Path)
	}
	wt.Branch = loss.Branch
	return w.remove(ctx, wt, loss, req)
}

func (w *Workspaces) remove(ctx context.Context, wt davit.Worktree, loss Loss, req RemoveRequest) (RemoveReport, error) {
	if err := w.record(wt, StageRemoving); err != nil {
		return RemoveReport{}, davit.Errorf(davit.CodeInternal, "nothing was removed, because it could not be recorded: %w", err)
	}
	args := []string{"worktree", "remove"}
	if loss.Digest != "" {
		args = append(args, "--force") // the user's: ForceDigest named this very list
	}
	_, removeErr := w.cfg.Git.Write(ctx, loss.repo.dir(), append(args, loss.Path)...)
	if left := w.left(ctx, loss); left != "" {
		w.note(wt, StageKept)
		if removeErr == nil {
			removeErr = fmt.Errorf("git said that it did, but %s", left)
		}
		return RemoveReport{}, gitFailed("remove the worktree "+loss.Path, removeErr).With("path", loss.Path).With("left", left)
	}
	report := RemoveReport{Path: loss.Path, Repo: loss.repo.path, AlreadyGone: loss.Gone, Kept: loss.Kept, Ignored: loss.Ignored, Notes: loss.Notes}
	if loss.Digest != "" {
		report.Lost = &loss
	}
	if req.DeleteBranch && loss.Branch != "" {
		w.deleteBranch(ctx, loss, &report)
	}
	w.note(wt, StageRemoved)
	return report, nil
}

// left says what of a worktree is still there, "" when it is gone for git and on disk.
func (w *Workspaces) left(ctx context.Context, loss Loss) string {
	if _, err := os.Lstat(loss.Path); err == nil {
		return loss.Path + " is still there"
	}
	if w.registered(ctx, loss.repo.commonDir, loss.Path) {
		return "git still lists " + loss.Path
	}
	return ""
}

// deleteBranch deletes the branch by compare-and-swap on the commit that was inspected:
// commits that came in between keep it.
func (w *Workspaces) deleteBranch(ctx context.Context, loss Loss, report *RemoveReport) {
	ref := "refs/heads/" + loss.Branch
	keep := func(why string) {
		report.Kept.Branch, report.Kept.Head = loss.Branch, loss.Head
		report.Notes = append(report.Notes, fmt.Sprintf("the branch %s was kept: %s", loss.Branch, why))
	}
	if loss.Head == "" {
		return // a branch without a commit is no ref
	}
	repo, err := w.load(ctx, loss.repo.commonDir)
	if err != nil {
		keep(err.Error())
		return
	}
	for _, t := range repo.trees {
		if t.Branch == loss.Branch {
			keep("it is checked out at " + t.Path)
			return
		}
	}
	if _, err := w.cfg.Git.Write(ctx, loss.repo.dir(), "update-ref", "-d", ref, loss.Head); err != nil {
		keep(err.Error())
		return
	}
	report.BranchDeleted, report.BranchLast = loss.Branch, loss.Head
}

// wouldLose is the refusal with its list and digest.
func wouldLose(loss Loss, req RemoveRequest) error {
	var parts []string
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(len(loss.Uncommitted), "uncommitted change", "uncommitted changes")
	count(len(loss.Untracked), "untracked file", "untracked files")
	count(len(loss.Commits), "commit that no other ref reaches", "commits that no other ref reaches")
	count(len(loss.Submodules), "submodule", "submodules")
	count(len(loss.Nested), "repository in an ignored folder", "repositories in ignored folders")
	message := fmt.Sprintf("removing %s would lose %s", loss.Path, strings.Join(parts, ", ")) + lossLines(loss)
	if req.ForceDigest != "" {
		message = "the list has changed since it was shown: " + message
	}
	return davit.Errorf(davit.CodeWorktreeDirty, "%s", message).
		WithHint("save what the list names, or lose it: davit worktree rm --force=%s %s", loss.Digest, template.Word(template.Sh, loss.Path)).
		With("path", loss.Path).With("digest", loss.Digest).
		With("uncommitted", some(loss.Uncommitted)).With("untracked", some(loss.Untracked)).
		With("commits", some(loss.Commits)).With("submodules", some(loss.Submodules)).With("nested", some(loss.Nested)).
		With("kept", loss.Kept)
}

// lossLines is the list itself, for people: at most 20 lines of it.
func lossLines(loss Loss) string {
	const most = 20
	var lines []string
	add := func(what string, names ...string) {
		for _, name := range names {
			lines = append(lines, "\n  "+what+" "+printable(name))
		}
	}
	add("uncommitted", loss.Uncommitted...)
	add("untracked", loss.Untracked...)
	for _, c := range loss.Commits {
		add("commit", c.Commit+" "+c.Subject)
	}
	add("submodule", loss.Submodules...)
	add("repository", loss.Nested...)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("\n  and %d more", more))
	}
	return strings.Join(lines, "")
}

// printable is a name that may hold anything, for people.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// some bounds a list for an error's details; the message has the full count.
func some[T any](list []T) []T {
	const most = 100
	if len(list) > most {
		return list[:most]
	}
	if list == nil {
		return []T{}
	}
	return list
}
