package tab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"davit"
	"davit/internal/model"
	"davit/internal/store"
)

// NoticeOrphan tells of a worktree whose tab never came.
const NoticeOrphan = "worktree_without_tab"

// tellOpenings tells of worktrees that a former host made for tabs which did not open: it
// died between git and the tab's row. The worktree is kept (spec launch L5.8).
func (s *Service) tellOpenings(ctx context.Context) {
	err := s.decide(ctx, func(d *draft) error {
		for _, row := range d.m.Openings {
			d.change.Batch.DeleteOpenings = append(d.change.Batch.DeleteOpenings, row.ID)
			for _, w := range d.m.Worktrees {
				if _, err := os.Lstat(filepath.Join(w.Worktree.Path, ".git")); w.Instance != row.Worktree || err != nil {
					continue // nothing came of it
				}
				d.add(davit.Event{Kind: davit.EventNotice, Notice: &davit.Notice{
					ID: "opening-" + row.ID, Kind: NoticeOrphan, Level: "warning", Persistent: true, Created: s.cfg.Now(),
					Title: "A worktree was made for a tab that did not open: " + w.Worktree.Branch,
					Body:  fmt.Sprintf("davit stopped while it opened %q. The worktree is kept: %s", row.Config, w.Worktree.Path),
					Actions: []davit.NoticeAction{
						{ID: "open_terminal", Label: "Open terminal there", Kind: "host", Text: w.Worktree.Path}, {ID: "dismiss", Label: "Dismiss", Kind: "host"},
					},
				}})
			}
		}
		return nil
	})
	if err != nil {
		s.cfg.Log.Error("worktrees without a tab could not be told", "err", err)
	}
}

// sweep drops what nobody can ask for any more: cleanups that have ended, whose tab undo
// does not keep and whose notice is gone; and acts of panes that the keeper holds already.
func (s *Service) sweep(ctx context.Context) {
	err := s.decide(ctx, func(d *draft) error {
		wanted := map[string]bool{}
		for _, row := range d.m.Rows.Closed {
			wanted[row.Closed.CleanupID] = true
		}
		for id, c := range d.m.Cleanups {
			_, told := model.Notice(d.m.State, "cleanup-"+id)
			if ended(c.State) && !wanted[id] && !told {
				d.change.Batch.DeleteCleanups = append(d.change.Batch.DeleteCleanups, id)
			}
		}
		for id, row := range d.m.Rows.Panes {
			if row.Pane.Status == davit.PaneRunning && row.KeeperBoot != "" {
				act, _ := spawnAct(id, row.Spec.Starts)
				d.change.Batch.DoneActs = append(d.change.Batch.DoneActs, act)
			}
		}
		slices.Sort(d.change.Batch.DeleteCleanups)
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("old rows could not be swept", "err", err)
	}
}

func ended(state store.CleanupState) bool {
	return !slices.Contains([]store.CleanupState{store.CleanupQueued, store.CleanupHeld, store.CleanupRunning}, state)
}
