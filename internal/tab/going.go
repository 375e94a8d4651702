package tab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
	"davit/internal/workspace"

	"golang.org/x/sync/errgroup"
)

// Bounds of looking, before a close is answered, for what goes with worktrees: the answer
// does not wait for a slow disk (spec tabs T7). What was not looked for is told when the
// cleanup has run.
const (
	lookedAt = 5 // worktrees
	lookTime = 250 * time.Millisecond
)

// going finds out what goes with the worktrees that the cleanups of tabs remove: files that
// git ignores are in no commit (spec launch L9.6).
func (s *Service) going(ctx context.Context, ids []davit.TabID) []wire.WorktreeGoing {
	list := []wire.WorktreeGoing{}
	m := s.cfg.Host.Model()
	for _, id := range ids {
		t, _ := model.Tab(m.State, id)
		if w := removedWith(t); w != nil && !t.OnClose.Ran && len(list) < lookedAt {
			list = append(list, wire.WorktreeGoing{Tab: id, Path: w.Path, Branch: w.Branch, Ignored: []string{}})
		}
	}
	if len(list) == 0 || s.cfg.Workspaces == nil {
		return list
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var looks errgroup.Group
	for i := range list {
		g := &list[i]
		looks.Go(func() error {
			found, err := s.cfg.Workspaces.Ignored(ctx, g.Path)
			if err != nil {
				s.cfg.Log.Debug("what git ignores in a worktree that goes is not known", "path", g.Path, "err", err)
			}
			g.Ignored, g.IgnoredCount = append(g.Ignored, found.Paths...), found.Count
			g.Text = goingText(g.Branch, found)
			return nil
		})
	}
	_ = looks.Wait()
	return list
}

// removedWith is the worktree that a tab's close plan takes away, nil when it takes none.
// Commands do that too: those of the "New worktree" form among them (spec tabs T5.10).
func removedWith(t davit.Tab) *davit.Worktree {
	switch {
	case t.OnClose == nil:
		return nil
	case t.OnClose.RemoveWorktree != nil:
		return t.OnClose.RemoveWorktree
	case t.Worktree == nil:
		return nil
	}
	if slices.ContainsFunc(t.OnClose.Commands, func(c string) bool {
		return removesWorktree(t.OnClose, c, t.Worktree.Path)
	}) {
		return t.Worktree
	}
	return nil
}

func goingText(branch string, i workspace.Ignored) string {
	text := "its worktree goes"
	const unless = ", unless that would lose work"
	if branch != "" {
		text = fmt.Sprintf("the worktree of %s goes", branch)
	}
	text += unless
	if ignored := workspace.IgnoredText(i, false); ignored != "" {
		text += "; " + ignored
	}
	return text
}

// withGoing adds to the refusal of a close what would go although it is in no commit.
func withGoing(err error, going []wire.WorktreeGoing) error {
	e := davit.AsError(err)
	for _, g := range going {
		if g.IgnoredCount > 0 {
			e.Message += "\n" + g.Text
		}
	}
	return e.With("going", going)
}

// closedLines is the body of a batch's notice: what goes with the worktrees of its tabs,
// or, when a cleanup has ended well, what stays and what went. A cleanup that did not end
// well has a notice of its own.
func (d *draft) closedLines(of []davit.ClosedTab) string {
	const most = 8
	rows := d.m.Rows.With(d.change.Batch)
	var lines []string
	for _, e := range of {
		row, closed := rows.Closed[e.ID]
		if e.Kind != "tab" || !closed {
			continue
		}
		line := closedLine(row, d.cleanup(row.Closed.CleanupID))
		if line == "" {
			continue
		}
		if len(of) > 1 {
			line = e.Title + ": " + line
		}
		lines = append(lines, line)
	}
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// cleanup finds a cleanup, as this change leaves it.
func (d *draft) cleanup(id string) store.CleanupRow {
	for _, row := range d.change.Batch.PutCleanups {
		if row.ID == id {
			return row
		}
	}
	return d.m.Cleanups[id]
}

func closedLine(row store.TabRow, c store.CleanupRow) string {
	w := removedWith(row.Tab)
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	switch c.State {
	case store.CleanupQueued, store.CleanupHeld, store.CleanupRunning:
		if w != nil {
			add(goingText(w.Branch, workspace.Ignored{Paths: row.Closed.Ignored, Count: row.Closed.IgnoredCount}))
		}
		add(deletionText("its cleanup", branchDeletions(row.Tab.OnClose)))
		return strings.Join(parts, "; ")
	case store.CleanupDone:
	default:
		return ""
	}
	if w != nil {
		add("its worktree was removed")
	}
	add(deletedText(c))
	if step, ok := removal(c); ok {
		if kept := stillKept(c, step); len(kept) > 0 {
			parts = append(parts, "kept: "+strings.Join(kept, ", "))
		}
		if text := workspace.IgnoredText(workspace.Ignored{Paths: step.Ignored, Count: step.IgnoredCount}, true); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// stillKept is what a removal kept, without the branch that a later command has deleted.
func stillKept(c store.CleanupRow, removed cleanup.Step) []string {
	deleted := deletedText(c)
	return slices.DeleteFunc(slices.Clone(removed.Kept), func(kept string) bool {
		name, isBranch := strings.CutPrefix(kept, "branch ")
		return isBranch && strings.Contains(deleted+" ", "deleted branch "+name+" ")
	})
}

// removal is the record of a cleanup's own removal of a worktree.
func removal(c store.CleanupRow) (cleanup.Step, bool) {
	steps := stepsOf(c)
	i := slices.IndexFunc(steps, func(s cleanup.Step) bool { return s.Kind == cleanup.StepRemove })
	if i < 0 {
		return cleanup.Step{}, false
	}
	return steps[i], true
}

// stepsOf are the steps that a cleanup has taken, none while it has not ended.
func stepsOf(c store.CleanupRow) []cleanup.Step {
	var steps []cleanup.Step
	if json.Unmarshal(c.Steps, &steps) != nil {
		return nil
	}
	return steps
}

// retell brings the notice of a closed tab's batch up to date, while it is shown.
func (d *draft) retell(id davit.TabID, now time.Time) {
	row, closed := d.m.Rows.Closed[id]
	if !closed {
		return
	}
	if _, shown := model.Notice(d.m.State, closedNoticeID(batchOf(row))); shown {
		d.tellClosed(batchOf(row), now)
	}
}

// noteEnded keeps which programs a close has ended, for undo to tell.
func (s *Service) noteEnded(ctx context.Context, id davit.TabID, program string) {
	err := s.decide(ctx, func(d *draft) error {
		row, closed := d.m.Rows.Closed[id]
		if !closed {
			return nil
		}
		c := *row.Closed
		c.Ended = append(slices.Clone(c.Ended), program)
		row.Closed = &c
		d.change.Batch.PutTabs = []store.TabRow{row}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("which program a close has ended could not be stored", "tab", id, "program", program, "err", err)
	}
}

// backNotes says what of a tab that comes back is not as it was (spec tabs T5.8). begun:
// its cleanup had begun, and stays taken; gone: its worktree is not there any more.
func backNotes(row store.TabRow, c store.CleanupRow, begun, gone bool) []string {
	var notes []string
	if n := len(row.Closed.Ended); n > 0 {
		notes = append(notes, plural(n, "program was ended", "programs were ended")+" by the close: "+strings.Join(row.Closed.Ended, ", "))
	}
	if begun {
		switch c.State {
		case store.CleanupRunning:
			notes = append(notes, "its cleanup has begun, goes on, and is not run again")
		case store.CleanupDone, store.CleanupMerged:
			notes = append(notes, "its cleanup has run, and is not run again")
		default:
			notes = append(notes, "its cleanup did not end well, and is not run again by itself")
		}
	}
	w := removedWith(row.Tab)
	switch {
	case gone && row.Tab.Worktree != nil:
		notes = append(notes, "its worktree is gone: "+row.Tab.Worktree.Path)
		if step, ok := removal(c); ok && len(stillKept(c, step)) > 0 {
			notes = append(notes, "kept: "+strings.Join(stillKept(c, step), ", "))
		}
	case begun && w != nil && c.State == store.CleanupRunning:
		notes = append(notes, "its worktree still goes: "+w.Path)
	}
	return notes
}

// goneWorktree says whether a tab's worktree is not there any more.
func goneWorktree(t davit.Tab) bool {
	if t.Worktree == nil {
		return false
	}
	_, err := os.Lstat(t.Worktree.Path)
	return os.IsNotExist(err)
}

// WorktreeGone is told of a worktree that was removed by hand: the open tabs that were
// about it are not any more.
func (s *Service) WorktreeGone(ctx context.Context, path string) {
	for _, t := range s.cfg.Host.State().Tabs {
		if t.Worktree != nil && t.Worktree.Path == path {
			s.forgetWorktree(ctx, t)
		}
	}
}

// forgetWorktree takes the worktree from an open tab whose worktree is gone: neither it nor
// its branch is the tab's any more.
func (s *Service) forgetWorktree(ctx context.Context, t davit.Tab) {
	if goneWorktree(t) {
		s.editTab(ctx, t.ID, func(open *davit.Tab) {
			if open.Worktree != nil && open.Worktree.Path == t.Worktree.Path {
				open.Worktree = nil
			}
		})
	}
}
