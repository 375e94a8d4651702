package tab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
)

// Reason says why a tab closes: a user's wish, or its last program's plain end.
type Reason string

// The reasons. Both run the close plan (spec tabs T5.2); nothing else closes a tab.
const (
	ReasonUser   Reason = "user"
	ReasonExited Reason = "exited"
)

// Close closes tabs: the ids are fixed, warnings come first, then one transaction takes
// the plans and removes the tabs, and the answer is given. All else happens afterwards
// (spec tabs T5.3).
func (s *Service) Close(ctx context.Context, req wire.TabClose, reason Reason) (wire.TabClosed, error) {
	ids := slices.Compact(slices.Sorted(slices.Values(req.Tabs)))
	if len(ids) == 0 {
		return wire.TabClosed{}, davit.Errorf(davit.CodeInvalid, "no tab is named")
	}
	if !req.Yes && reason == ReasonUser {
		if err := s.warnings(ctx, ids); err != nil {
			return wire.TabClosed{}, err
		}
	}
	now := s.cfg.Now()
	until := now.Add(s.cfg.Undo)
	var planned []davit.TabID
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		planned = nil
		var change host.Change
		closed := m.State.Closed
		for _, id := range ids {
			t, ok := model.Tab(m.State, id)
			if !ok {
				return host.Change{}, davit.Errorf(davit.CodeTabNotFound, "there is no open tab %q", id).WithHint("`davit tab list` shows what there is")
			}
			if s.bury(m, t, now, until, &change, &closed) {
				planned = append(planned, id)
			}
		}
		change.Events = append(change.Events, davit.Event{Kind: davit.EventClosed, Closed: closed})
		return change, nil
	})
	if err != nil {
		return wire.TabClosed{}, err
	}
	for _, id := range planned {
		s.later(func(ctx context.Context) {
			s.endForeground(ctx, id)
			s.poke()
		})
	}
	s.poke()
	return wire.TabClosed{Closed: ids, Undo: until}, nil
}

// bury adds to the change what closing one tab means: its row becomes a closed one, its
// plan is taken and marked as run, its cleanup queued, its panes leave the view and stay
// in the store for undo. It says whether there is a plan.
func (s *Service) bury(m host.Model, t davit.Tab, now, until time.Time, change *host.Change, closed *[]davit.ClosedTab) bool {
	order := model.Order(m.State)
	at := slices.Index(order, t.ID)
	row := store.TabRow{Tab: t, Position: at, Closed: &store.Closing{At: now, Until: until, Position: at}}
	if at > 0 {
		row.Closed.After = order[at-1]
	}
	entry := davit.ClosedTab{ID: t.ID, Title: t.Title, Until: until, Cleanup: "none"}
	planned := t.OnClose != nil && !t.OnClose.Ran
	if planned {
		plan := *t.OnClose
		plan.Ran = true
		row.Tab.OnClose = &plan
		cleanup := store.CleanupRow{
			ID: "c_" + randomHex(8), Tab: t.ID, TabTitle: t.Title, Plan: plan, State: store.CleanupQueued,
			Repo: repositoryOf(t, plan), Worktree: worktreeOf(t), Created: now, Changed: now,
		}
		row.Closed.CleanupID = cleanup.ID
		change.Batch.PutCleanups = append(change.Batch.PutCleanups, cleanup)
		entry.Cleanup = string(cleanup.State)
	}
	change.Batch.PutTabs = append(change.Batch.PutTabs, row)
	change.Events = append(change.Events, davit.Event{Kind: davit.EventTabRemoved, TabID: t.ID})
	for _, id := range model.PanesOf(t) {
		if pane, ok := m.Rows.Panes[id]; ok {
			if v, shown := m.State.Panes[id]; shown {
				pane.Pane = v
			}
			change.Batch.PutPanes = append(change.Batch.PutPanes, pane)
			change.Events = append(change.Events, davit.Event{Kind: davit.EventPaneRemoved, PaneID: id})
		}
	}
	*closed = append([]davit.ClosedTab{entry}, *closed...)
	notice := closedNotice(t, until, now)
	change.Events = append(change.Events, davit.Event{Kind: davit.EventNotice, Notice: &notice})
	return planned
}

// repositoryOf is what cleanups are serialised by: the repository that the tab is about,
// else the directory that the plan runs in (spec tabs T5.6).
func repositoryOf(t davit.Tab, plan davit.OnClose) string {
	if t.Worktree != nil {
		return t.Worktree.Repo
	}
	if root, err := repositoryRoot(plan.Directory); err == nil {
		return root
	}
	return plan.Directory
}

func worktreeOf(t davit.Tab) string {
	if t.Worktree != nil {
		return t.Worktree.Path
	}
	return ""
}

// Running is one thing that a close would end: a program, or of a chat its turn or a
// message that was not sent.
type Running struct {
	Tab     davit.TabID  `json:"tab"`
	Title   string       `json:"title"`
	Pane    davit.PaneID `json:"pane"`
	Kind    string       `json:"kind"`    // program | turn | draft
	Program string       `json:"program"` // for a person: a program's name, "a turn of …"
	Pid     int          `json:"pid,omitempty"`
}

// cutOff says what closing a pane would end, and whether that is worth a warning.
func (s *Service) cutOff(ctx context.Context, t davit.Tab, p davit.Pane) (Running, bool) {
	r := Running{Tab: t.ID, Title: t.Title, Pane: p.ID, Kind: "program"}
	if p.Kind == keeper.PaneChat {
		r.Program, r.Kind = s.unsaved(p)
	} else {
		r.Program, r.Pid = s.running(ctx, p)
	}
	return r, r.Program != ""
}

// confirm refuses a close and lists what it would end.
func confirm(list []Running) error {
	var lines []string
	what, hint := "still running", "closing ends it; close again with --yes if that is right"
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%s in %q", r.Program, r.Title))
		if r.Kind != "program" {
			what, hint = "closing cuts off", "close again with --yes if that is right"
		}
	}
	return davit.Errorf(davit.CodeTabCloseConfirm, "%s: %s", what, strings.Join(lines, ", ")).WithHint("%s", hint).With("list", list)
}

// warnings refuses a close that would end running programs, or cut a chat's turn or an
// unsent message off (spec tabs T5.3).
func (s *Service) warnings(ctx context.Context, ids []davit.TabID) error {
	var list []Running
	state := s.cfg.Host.State()
	for _, id := range ids {
		t, ok := model.Tab(state, id)
		if !ok {
			continue // the transaction says so
		}
		for _, pid := range model.PanesOf(t) {
			if r, warn := s.cutOff(ctx, t, state.Panes[pid]); warn {
				list = append(list, r)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return confirm(list)
}

// running names the program in the foreground of a pane, "" for an idle shell.
func (s *Service) running(ctx context.Context, p davit.Pane) (program string, pid int) {
	if p.Status != davit.PaneRunning || p.Kind == keeper.PaneChat {
		return "", 0
	}
	client, ok := s.cfg.Panes.Linked()
	if !ok {
		return "", 0
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	fg, err := client.Foreground(ctx, string(p.ID))
	if err != nil || fg.Pid == 0 || (fg.OwnChild && p.Kind == keeper.PaneShell && len(p.Argv) == 0) {
		return "", 0
	}
	if fg.OwnChild && p.Agent != "" {
		return p.Agent, fg.Pid // by the agent's own name: its program may be an interpreter, or davit
	}
	return fg.Name, fg.Pid
}

// endForeground ends the foreground programs of a closed tab, and its chats' processes,
// before its cleanup; idle shells stay for undo (spec tabs T5.3).
func (s *Service) endForeground(ctx context.Context, id davit.TabID) {
	row, ok := s.cfg.Host.Model().Rows.Closed[id]
	client, linked := s.cfg.Panes.Linked()
	if !ok || !linked {
		return
	}
	for _, pid := range model.PanesOf(row.Tab) {
		p := s.cfg.Host.Model().Rows.Panes[pid].Pane
		if p.Kind == keeper.PaneChat {
			s.stopChat(ctx, row.Tab, p)
			continue
		}
		if program, _ := s.running(ctx, p); program == "" {
			continue
		}
		report, err := client.Close(ctx, "foreground-"+string(pid)+"-"+randomHex(4), string(pid), keeper.CloseOptions{Foreground: true})
		if err != nil {
			s.cfg.Log.Warn("a closed tab's program could not be ended", "pane", pid, "err", err)
		} else if len(report.Remaining) > 0 {
			s.noticeRemaining(ctx, row.Tab, report.Remaining)
		}
	}
}

// ClosePane closes one pane; the last one of a tab closes the tab.
func (s *Service) ClosePane(ctx context.Context, id davit.PaneID, yes bool, reason Reason) error {
	state := s.cfg.Host.State()
	p, ok := state.Panes[id]
	if !ok {
		return davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", id)
	}
	t, ok := model.Tab(state, p.Tab)
	if !ok {
		return davit.Errorf(davit.CodeTabNotFound, "the tab of pane %s is not open", id)
	}
	if len(model.PanesOf(t)) <= 1 {
		_, err := s.Close(ctx, wire.TabClose{Tabs: []davit.TabID{t.ID}, Yes: yes}, reason)
		return err
	}
	if !yes && reason == ReasonUser {
		if r, warn := s.cutOff(ctx, t, p); warn {
			return confirm([]Running{r})
		}
	}
	if err := s.removeFromTree(ctx, id); err != nil {
		return err
	}
	s.later(func(ctx context.Context) { s.endPane(ctx, id, t) })
	return nil
}
