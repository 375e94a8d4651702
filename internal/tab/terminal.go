package tab

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/launch"
	"davit/internal/model"
	"davit/internal/store"
)

func readSteps(state string, row store.CleanupRow) (cleanup.Report, error) {
	return cleanup.Read(state, row.ID, row.Plan)
}

// OpenTerminal makes the terminal of a launch (launch.Surfaces): in the pane that a tab
// config reserved for it, else in a new tab. The launch's ledger row is what is durable
// beforehand; no act is owed, so that a restarted host never starts an agent by itself
// (spec launch L6.3).
func (s *Service) OpenTerminal(ctx context.Context, req launch.TerminalRequest) (launch.TerminalOpened, error) {
	var row store.PaneRow
	opened := launch.TerminalOpened{TabID: req.Tab, PaneKey: davit.NewPaneKey(req.Tab, req.Pane)}
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		if reserved, ok := m.Rows.Panes[req.Pane]; ok {
			if reserved.Pane.Tab != req.Tab || reserved.Pane.Status != davit.PaneStarting || reserved.Spec.OperationID != "" {
				return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the pane %s is in use", req.PaneKey).WithHint("choose another pane key")
			}
			row = s.agentRow(req, reserved)
			return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &row.Pane}}, Batch: store.Batch{PutPanes: []store.PaneRow{row}}}, nil
		}
		if _, open := model.Tab(m.State, req.Tab); open {
			return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the tab %s has no pane %s", req.Tab, req.Pane)
		}
		row = s.agentRow(req, store.PaneRow{Pane: davit.Pane{ID: req.Pane, Tab: req.Tab}})
		t := s.agentTab(req)
		change := host.Change{
			Events: []davit.Event{{Kind: davit.EventTab, Tab: &t}, {Kind: davit.EventPane, Pane: &row.Pane}},
			Batch:  store.Batch{PutPanes: []store.PaneRow{row}},
		}
		s.place(m, t.ID, req.Placement, &change, &opened)
		return change, nil
	})
	if err != nil {
		return opened, errNothingMade(err)
	}
	if err := s.spawn(ctx, row, slices.Concat(req.Env, req.SecretEnv)); err != nil {
		if davit.CodeOf(err) == davit.CodePaneSpawnFailed {
			s.dropFailed(ctx, row)
			return opened, errNothingMade(err)
		}
		return opened, err
	}
	s.noteLaunch(ctx, req)
	opened.Handle, _, err = s.Handle(ctx, opened.PaneKey)
	return opened, err
}

// Handle gives the terminal handle that is good now for a pane key: another one after its
// program was started anew.
func (s *Service) Handle(_ context.Context, key davit.PaneKey) (string, bool, error) {
	for id, p := range s.cfg.Host.Model().Rows.Panes {
		if p.Pane.PaneKey == key {
			return launch.TerminalHandle(id, p.KeeperBoot+strconv.Itoa(p.Pane.Pid)), true, nil
		}
	}
	return "", false, nil
}

// Holds asks the keeper whether it has a pane's program (launch.Held, spec launch L6.5).
func (s *Service) Holds(ctx context.Context, key davit.PaneKey) (bool, error) {
	select {
	case <-s.cfg.Panes.Ready():
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	client, linked := s.cfg.Panes.Linked()
	if !linked {
		return false, davit.Errorf(davit.CodeKeeperUnreachable, "no keeper can tell what became of pane %s", key)
	}
	infos, err := client.List(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(infos, func(i keeper.PaneInfo) bool { return i.Labels["paneKey"] == string(key) }), nil
}

// errNothingMade says that no program was started: the launch may be told as failed.
func errNothingMade(err error) error { return errors.Join(err, launch.ErrNothingMade) }

func (s *Service) agentRow(req launch.TerminalRequest, row store.PaneRow) store.PaneRow {
	dir, note := s.directory(req.Dir)
	p := row.Pane
	p.Kind, p.Agent, p.Practice, p.Argv, p.PaneKey, p.Note = keeper.PaneAgent, req.Agent, req.Practice, req.Argv[:1], req.PaneKey, note
	made, _ := s.starting(p, store.PaneSpec{Argv: req.Argv, Directory: dir, Agent: req.Agent, OperationID: req.Operation})
	made.Pane.Running = true
	return made
}

func (s *Service) agentTab(req launch.TerminalRequest) davit.Tab {
	t := davit.Tab{
		ID: req.Tab, Title: cmp.Or(req.Title, req.AgentName, req.Agent), Given: req.Title, Worktree: req.Worktree,
		Tree: &davit.Split{Pane: req.Pane}, Focused: req.Pane, Created: s.cfg.Now(),
	}
	if req.Worktree != nil && req.RemoveOnClose {
		t.OnClose = &davit.OnClose{
			Directory: req.Worktree.Repo, Commands: []string{}, Shell: s.cfg.UserShell, ShellKind: string(s.defaultShell().Kind), RemoveWorktree: req.Worktree,
		}
	}
	return t
}

// place puts the tab where the caller wished; a wish that cannot be met is told, never a
// failure (spec launch L1, L2.3). Groups do not exist yet, so that a group wished for is
// always told as gone.
func (s *Service) place(m host.Model, id davit.TabID, wish *davit.Placement, change *host.Change, opened *launch.TerminalOpened) {
	if wish == nil {
		return
	}
	order := model.Order(m.State)
	if at := slices.Index(order, wish.AfterTabID); at >= 0 {
		order = slices.Insert(order, at+1, id)
		change.Events = append(change.Events, davit.Event{Kind: davit.EventTabOrder, Order: order})
		opened.Placement = &davit.PlacementResult{}
		if wish.GroupID != "" {
			opened.Placement.Fallback = "anchor-group"
		}
		return
	}
	if wish.GroupID != "" || wish.AfterTabID != "" {
		opened.Placement = &davit.PlacementResult{Fallback: "active-group"}
	}
}

// dropFailed takes away the tab of a launch whose program never started: nothing was made.
func (s *Service) dropFailed(ctx context.Context, row store.PaneRow) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		t, ok := model.Tab(m.State, row.Pane.Tab)
		if !ok || len(model.PanesOf(t)) != 1 {
			return host.Change{}, nil
		}
		return host.Change{Events: []davit.Event{{Kind: davit.EventTabRemoved, TabID: t.ID}, {Kind: davit.EventPaneRemoved, PaneID: row.Pane.ID}}}, nil
	})
	if err != nil {
		s.cfg.Log.Error("the tab of a failed launch stays", "tab", row.Pane.Tab, "err", err)
	}
}

// noteLaunch puts a launch's receipt on its tab (spec tabs T4.3).
func (s *Service) noteLaunch(ctx context.Context, req launch.TerminalRequest) {
	r := davit.Result{
		Outcome: davit.Outcome{Kind: davit.Terminal, TabID: req.Tab, PaneKey: req.PaneKey}, WorktreeID: req.WorkspaceID, Receipt: req.Receipt,
	}
	if w := req.Worktree; w != nil {
		r.Worktree = &davit.WorktreeRef{Path: w.Path, Branch: w.Branch}
	}
	s.editTab(ctx, req.Tab, func(t *davit.Tab) { t.Launches = append(t.Launches, r) })
}
