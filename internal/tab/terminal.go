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
// config reserved for it, in that of its own chat which was not made, else in a new tab. The launch's ledger row is what is durable
// beforehand; no act is owed, so that a restarted host never starts an agent by itself
// (spec launch L6.3).
func (s *Service) OpenTerminal(ctx context.Context, req launch.TerminalRequest) (launch.TerminalOpened, error) {
	var row store.PaneRow
	opened := launch.TerminalOpened{TabID: req.Tab, PaneKey: davit.NewPaneKey(req.Tab, req.Pane)}
	if req.InPlace {
		s.letGo(ctx, req.Pane)
	}
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		if reserved, ok := m.Rows.Panes[req.Pane]; ok {
			if reserved.Pane.Tab != req.Tab || !isReserved(reserved, req) {
				return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the pane %s is in use", req.PaneKey).WithHint("choose another pane key")
			}
			row = s.agentRow(req, reserved)
			return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &row.Pane}}, Batch: store.Batch{PutPanes: []store.PaneRow{row}}}, nil
		}
		if req.Beside != "" {
			row = s.agentRow(req, store.PaneRow{Pane: davit.Pane{ID: req.Pane, Tab: req.Tab}})
			d := newDraft(m)
			err := d.beside(req.Beside, row)
			return d.change, err
		}
		if _, open := model.Tab(m.State, req.Tab); open {
			return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the tab %s has no pane %s", req.Tab, req.Pane)
		}
		row = s.agentRow(req, store.PaneRow{Pane: davit.Pane{ID: req.Pane, Tab: req.Tab}})
		t := s.launchedTab(launched{req.Tab, req.Pane, req.Agent, req.AgentName, req.Title, req.Worktree, req.RemoveOnClose})
		d := newDraft(m)
		var err error
		opened.Placement, err = d.place(t, row, req.Placement)
		return d.change, err
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
	s.setupDone(ctx, req.Beside)
	s.noteLaunch(ctx, davit.Result{
		Outcome: davit.Outcome{Kind: davit.Terminal, TabID: req.Tab, PaneKey: req.PaneKey}, WorktreeID: req.WorkspaceID, Receipt: req.Receipt,
	}, req.Worktree)
	opened.Handle, _, err = s.Handle(ctx, davit.Outcome{Kind: davit.Terminal, PaneKey: opened.PaneKey})
	return opened, err
}

// isReserved says whether a pane waits for this launch: one that a tab config reserved for
// an agent, or that of the launch's own chat which was not made.
func isReserved(row store.PaneRow, req launch.TerminalRequest) bool {
	if req.InPlace {
		return row.Pane.Kind == keeper.PaneChat
	}
	return row.Pane.Status == davit.PaneStarting && row.Spec.OperationID == "" && row.Pane.Kind != keeper.PaneChat
}

// Handle gives the handle that is good now for a surface: another one after its program
// was started anew. A chat's is for good: who has it is told by the session.
func (s *Service) Handle(_ context.Context, o davit.Outcome) (string, bool, error) {
	if o.Kind == davit.Structured {
		return launch.ChatHandle(davit.SessionID(o.SessionID), ""), true, nil
	}
	for id, p := range s.cfg.Host.Model().Rows.Panes {
		if p.Pane.PaneKey == o.PaneKey {
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
	p.Session, p.Fault = "", ""
	p.Kind, p.Agent, p.Practice, p.Argv, p.PaneKey, p.Note = keeper.PaneAgent, req.Agent, req.Practice, req.Argv[:1], req.PaneKey, note
	spec := store.PaneSpec{Argv: req.Argv, Directory: dir, Agent: req.Agent, OperationID: req.Operation, Setup: row.Spec.Setup}
	if req.Script != nil {
		spec.Setup = &store.SetupSpec{Script: req.Script.Text, Directory: req.Script.Dir, For: cmp.Or(req.AgentName, req.Agent)}
	}
	made, _ := s.starting(p, spec)
	made.Pane.Running = true
	return made
}

// launched is what the tab of a launch is made of, whichever its surface.
type launched struct {
	tab                davit.TabID
	pane               davit.PaneID
	agent, name, title string
	worktree           *davit.Worktree
	removeOnClose      bool
}

func (s *Service) launchedTab(l launched) davit.Tab {
	t := davit.Tab{
		ID: l.tab, Title: cmp.Or(l.title, l.name, l.agent), Worktree: l.worktree,
		Tree: &davit.Split{Pane: l.pane}, Focused: l.pane, Created: s.cfg.Now(),
	}
	if l.worktree != nil && l.removeOnClose {
		t.OnClose = &davit.OnClose{
			Directory: l.worktree.Repo, Commands: []string{}, Shell: s.cfg.UserShell, ShellKind: string(s.defaultShell().Kind), RemoveWorktree: l.worktree,
		}
	}
	return t
}

// place puts the tab of a launch, with its pane, where the caller wished. A wish that
// cannot be met is told, never a failure: a group that is gone gives way to that of the tab
// to stand behind, else to none, which a page takes as its active one (spec launch L1, L2.3).
func (d *draft) place(t davit.Tab, row store.PaneRow, wish *davit.Placement) (*davit.PlacementResult, error) {
	var result *davit.PlacementResult
	after := davit.TabID("")
	if wish != nil {
		result = &davit.PlacementResult{}
		anchor, anchored := model.Tab(d.m.State, wish.AfterTabID)
		_, there := model.Group(d.m.State, davit.GroupID(wish.GroupID))
		switch {
		case there:
			t.Group = davit.GroupID(wish.GroupID)
		case anchored:
			t.Group = anchor.Group
		}
		switch {
		case anchored && !there && wish.GroupID != "":
			result.Fallback = "anchor-group"
		case !there && (wish.GroupID != "" || wish.AfterTabID != "" && !anchored):
			result.Fallback = "active-group"
		}
		if anchored {
			after, t.Pinned = anchor.ID, anchor.Pinned
		}
		if *wish == (davit.Placement{}) {
			result = nil
		} else {
			result.GroupID = string(t.Group)
		}
	}
	d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
	if err := d.insert(t, behind(after)); err != nil {
		return nil, err
	}
	d.add(davit.Event{Kind: davit.EventPane, Pane: &row.Pane})
	return result, nil
}

// dropFailed takes away the tab of a launch whose program never started: nothing was made.
func (s *Service) dropFailed(ctx context.Context, row store.PaneRow) {
	if err := s.drop(ctx, row.Pane.Tab); err != nil {
		s.cfg.Log.Error("the tab of a failed launch stays", "tab", row.Pane.Tab, "err", err)
	}
}

// drop takes a tab away that has one pane, without undo and without a cleanup.
func (s *Service) drop(ctx context.Context, id davit.TabID) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		t, ok := model.Tab(m.State, id)
		if !ok || len(model.PanesOf(t)) != 1 {
			return host.Change{}, nil // the pane of its setup is there too, and stays with it
		}
		return host.Change{Events: []davit.Event{{Kind: davit.EventTabRemoved, TabID: t.ID}, {Kind: davit.EventPaneRemoved, PaneID: model.PanesOf(t)[0]}}}, nil
	})
}

// Settled puts the whole receipt of a launch, with what became of its prompt, in place of
// what was known when its surface was made (launch.Surfaces). The handle of now is asked
// for, never stored: it changes with the program (spec launch L6.3).
func (s *Service) Settled(ctx context.Context, r davit.Result) {
	r.Outcome.Handle = ""
	s.editTab(ctx, r.Outcome.TabID, func(t *davit.Tab) {
		launches := slices.Clone(t.Launches)
		for i, known := range launches {
			if known.Outcome.PaneKey == r.Outcome.PaneKey && known.Outcome.SessionID == r.Outcome.SessionID {
				launches[i] = r
			}
		}
		t.Launches = launches
	})
}

// noteLaunch puts a launch's receipt on its tab (spec tabs T4.3).
func (s *Service) noteLaunch(ctx context.Context, r davit.Result, made *davit.Worktree) {
	if made != nil {
		r.Worktree = &davit.WorktreeRef{Path: made.Path, Branch: made.Branch}
	}
	s.editTab(ctx, r.Outcome.TabID, func(t *davit.Tab) { t.Launches = append(t.Launches, r) })
}
