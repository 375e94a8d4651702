package tab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/launch"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/setup"
	"davit/internal/store"
)

// setupLook is how often the report of a setup is looked at while somebody waits for it.
const setupLook = 50 * time.Millisecond

// setupLines is how much of what a failed setup printed is told.
const setupLines = 20

// OpenSetup makes the tab of a launch with the pane of its setup (launch.Setups). The
// agent's pane comes beside it later; one that ended well makes room by itself.
func (s *Service) OpenSetup(ctx context.Context, req launch.SetupRequest) (*davit.PlacementResult, error) {
	dir, note := s.directory(req.Script.Dir)
	row, _ := s.starting(davit.Pane{
		ID: req.Pane, Tab: req.Tab, Kind: keeper.PaneSetup, Argv: []string{"setup"}, PaneKey: req.PaneKey, Note: note, Title: "Setup",
	}, store.PaneSpec{
		Argv: []string{s.cfg.Self, "setup-run"}, Directory: dir, OperationID: req.Operation,
		Setup: &store.SetupSpec{Script: req.Script.Text, Directory: req.Script.Dir, Alone: true},
	})
	row.Pane.Running = true
	var placed *davit.PlacementResult
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		if _, open := model.Tab(m.State, req.Tab); open {
			return host.Change{}, davit.Errorf(davit.CodeLaunchPaneLive, "the tab %s is there already", req.Tab).WithHint("choose another pane key, or leave it out")
		}
		t := s.launchedTab(launched{req.Tab, req.Pane, req.Agent, req.AgentName, req.Title, req.Worktree, req.RemoveOnClose})
		d := newDraft(m)
		var err error
		placed, err = d.place(t, row, req.Placement)
		return d.change, err
	})
	if err != nil {
		return nil, err
	}
	return placed, s.spawn(ctx, row, nil)
}

// beside puts a launch's pane above that of its setup (spec launch L5.4).
func (d *draft) beside(setupPane davit.PaneID, row store.PaneRow) error {
	t, open := model.Tab(d.m.State, row.Pane.Tab)
	if !open || t.Tree == nil {
		return davit.Errorf(davit.CodeTabNotFound, "the tab %s was closed while its setup ran", row.Pane.Tab).WithHint("launch again")
	}
	if !slices.Contains(model.PanesOf(t), setupPane) { // it has ended and was closed: so is the tab
		return davit.Errorf(davit.CodePaneNotFound, "the pane of the setup, %s, was closed", setupPane).WithHint("launch again")
	}
	tree, err := layout.Insert(*t.Tree, setupPane, layout.Up, row.Pane.ID)
	if err != nil {
		return davit.Errorf(davit.CodeInvalid, "the agent's pane cannot be put beside its setup: %w", err)
	}
	t.Tree, t.Focused = &tree, row.Pane.ID
	d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
	d.add(davit.Event{Kind: davit.EventPane, Pane: &row.Pane}, davit.Event{Kind: davit.EventTab, Tab: &t})
	return nil
}

// setupDone closes the pane of a setup that ended well, once something else is in its tab.
func (s *Service) setupDone(ctx context.Context, id davit.PaneID) {
	state := s.cfg.Host.State()
	p, shown := state.Panes[id]
	if !shown || p.Kind != keeper.PaneSetup || p.Exit == nil || p.Exit.Code != 0 || p.Exit.Signal != "" {
		return
	}
	if t, open := model.Tab(state, p.Tab); !open || len(model.PanesOf(t)) < 2 {
		return
	}
	if err := s.buryPane(ctx, id, ReasonExited); err != nil {
		s.cfg.Log.Info("the pane of a setup was not closed", "pane", id, "err", err)
	}
}

// withSetup has a spawn run the setup first, in the terminal of the program (spec launch
// L5.3). The plan is durable before the keeper is asked.
func (s *Service) withSetup(row store.PaneRow, req keeper.SpawnRequest, transient []string) (keeper.SpawnRequest, error) {
	spec := row.Spec.Setup
	plan := setup.Plan{Pane: row.Pane.ID, Dir: spec.Directory, Script: spec.Script, Anyway: spec.Anyway, For: spec.For}
	for _, pair := range transient {
		name, _, _ := strings.Cut(pair, "=")
		plan.Hidden = append(plan.Hidden, name)
	}
	dir, err := setup.Write(s.cfg.Home.State, plan)
	if err != nil {
		return req, davit.Errorf(davit.CodePaneSpawnFailed, "the setup of %s cannot be run: %w", spec.Directory, err)
	}
	argv := []string{"davit", "setup-run", dir}
	if !spec.Alone {
		argv = slices.Concat(argv, []string{req.Path}, req.Argv)
	}
	req.Path, req.Argv = s.cfg.Self, argv
	return req, nil
}

// Setup tells what became of the setup in a pane (launch.Setups).
func (s *Service) Setup(ctx context.Context, key davit.PaneKey) (launch.Setup, error) {
	_, name, _ := strings.Cut(string(key), ":")
	id := davit.PaneID(name)
	row, there := s.cfg.Host.Model().Rows.Panes[id] // before the report: an end is seen after what it reported
	status := row.Pane.Status
	if live, err := s.cfg.Panes.Get(id); err == nil {
		status = live.View().Status // of a closed one too
	}
	report, err := setup.Read(s.cfg.Home.State, id)
	if err != nil {
		return launch.Setup{}, err
	}
	end := launch.Setup{State: launch.SetupRunning, Dir: report.Dir, Exit: report.Exit, Signal: report.Signal, Why: report.Error}
	over := !there || status == davit.PaneEnded || status == davit.PaneFailed || status == davit.PaneLost
	switch {
	case report.State == setup.None:
		end.State = launch.SetupNone
	case report.State == setup.Passed:
		end.State = launch.SetupPassed
	case report.State == setup.Failed:
		end.State = launch.SetupFailed
	case over:
		end.State, end.Why = launch.SetupFailed, "was cut off"
	}
	if end.State == launch.SetupFailed {
		end.Output = s.lastLines(ctx, id)
	}
	return end, nil
}

// AwaitSetup waits until the setup in a pane has ended (launch.Setups). At the end of ctx
// it tells how far that has come.
func (s *Service) AwaitSetup(ctx context.Context, key davit.PaneKey) (launch.Setup, error) {
	tick := time.NewTicker(setupLook)
	defer tick.Stop()
	for had := false; ; had = true {
		end, err := s.Setup(ctx, key)
		if had && err == nil && end.State == launch.SetupNone { // its pane is gone, and its files with it
			end.State, end.Why = launch.SetupFailed, "was cut off, because its pane was closed"
		}
		if err != nil || end.State != launch.SetupRunning {
			return end, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return end, nil
		}
	}
}

// lastLines is the end of what a pane shows.
func (s *Service) lastLines(ctx context.Context, id davit.PaneID) string {
	p, err := s.cfg.Panes.Get(id)
	if err != nil {
		return ""
	}
	text, err := p.Text(ctx, setupLines)
	if err != nil {
		return ""
	}
	rows := slices.DeleteFunc(text.Rows, func(row string) bool { return strings.TrimSpace(row) == "" })
	return strings.Join(rows[max(0, len(rows)-setupLines):], "\n")
}

// afterSetup waits for the setup that a pane's startup commands wait for: of its own
// terminal, or of the tab's first. A fault says that it did not end well.
func (s *Service) afterSetup(ctx context.Context, id davit.PaneID, commands []string) (fault *davit.StartupFault, err error) {
	row := s.cfg.Host.Model().Rows.Panes[id]
	first := row.Spec.After
	if row.Spec.Setup != nil && row.Spec.Starts == 0 {
		first = id
	}
	if first == "" {
		return nil, nil
	}
	end, err := s.AwaitSetup(ctx, davit.NewPaneKey(row.Pane.Tab, first))
	if err != nil || end.State != launch.SetupFailed {
		return nil, cmp.Or(err, context.Cause(ctx))
	}
	exit := exitUnknown
	if end.Exit != nil {
		exit = *end.Exit
	}
	fault = startupFault(append([]string{"setup"}, commands...), 0, exit)
	return fault, nil
}

// setupOf decides which setup the worktree of an opening gets, and where it runs: in the
// first terminal of the tab. What is not run is told.
func (o *opening) setupOf() (script *store.SetupSpec) {
	if o.worktree == nil {
		return nil
	}
	text, warning := o.s.cfg.Files().Setup(o.worktree.Path).Decide(o.req.Setup)
	if warning != "" {
		o.told = append(o.told, warning)
	}
	if text == "" {
		return nil
	}
	return &store.SetupSpec{Script: text, Directory: o.worktree.Path}
}

// giveSetup puts the setup into the first of a new tab's panes; the others wait for it.
func giveSetup(script *store.SetupSpec, ids []davit.PaneID, leaves map[davit.PaneID]*leaf) {
	if script == nil {
		return
	}
	for i, id := range ids {
		l := leaves[id]
		if i > 0 {
			l.row.Spec.After = ids[0]
			continue
		}
		own := *script
		own.Anyway, own.For = l.act != nil, ""
		if l.act == nil {
			own.For = fmt.Sprintf("The agent %s", l.plan.Agent)
		}
		l.row.Spec.Setup = &own
	}
}
