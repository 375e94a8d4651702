package tab

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/launch"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/shell"
	"davit/internal/store"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"golang.org/x/sync/errgroup"
)

func randomPick(n int) int { return rand.IntN(n) }

// leaf is one pane of a plan on its way to a program.
type leaf struct {
	row       store.PaneRow
	act       *store.ActRow // nil for agents: the launch operation is their durable row
	plan      tabconfig.PlanPane
	transient []string
}

// carryOut makes a rendered plan real: one Change with tab, panes and owed acts, then the
// programs, then agents by the launch operation, then startup commands.
func (s *Service) carryOut(ctx context.Context, plan *tabconfig.Plan, o *opening) (wire.Opened, error) {
	missing, err := o.missingDirectories(plan)
	if err != nil {
		return wire.Opened{}, err
	}
	t := davit.Tab{
		ID: NewTabID(), Given: plan.Title, Title: cmp.Or(plan.Title, plan.Name), Color: plan.Color, Icon: plan.Icon,
		Worktree: o.worktree, Config: plan.Name, OnClose: o.closePlan(plan), Created: s.cfg.Now(),
	}
	if s.cfg.DefaultAgent != nil {
		o.agent = s.cfg.DefaultAgent(ctx)
	}
	leaves := map[davit.PaneID]*leaf{}
	tree, err := s.plant(plan.Root, &t, o, leaves)
	if err != nil {
		return wire.Opened{}, err
	}
	t.Tree = &tree
	ids := model.PanesOf(t)
	if t.Focused == "" {
		t.Focused = ids[0]
	}
	giveSetup(o.setupOf(), ids, leaves)
	if err := s.put(ctx, t, leaves, ids, plan.Group, o.row); err != nil {
		return wire.Opened{}, err
	}
	if len(missing) > 0 {
		s.noticeMissing(ctx, t, o, missing)
	}
	opened := wire.Opened{TabID: t.ID, Panes: ids, Worktree: o.worktree, Launches: []davit.Result{}}
	s.startTerminals(ctx, ids, leaves)
	for _, id := range ids {
		l := leaves[id]
		if l.act != nil {
			continue
		}
		result, err := s.launchPane(ctx, t, l)
		if err != nil {
			if davit.CodeOf(err) != davit.CodeWorktreeSetup || l.row.Spec.Setup == nil { // else its terminal shows why
				s.failPane(ctx, id, err) // its pane shows why; the others go on
			}
			if davit.CodeOf(err) == davit.CodeWorktreeSetup {
				o.told = append(o.told, davit.AsError(err).Message)
			}
			continue
		}
		opened.Launches = append(opened.Launches, result)
	}
	return opened, nil
}

// startsAtOnce is how many programs of a tab are asked for at a time.
const startsAtOnce = 16

// startTerminals starts the programs of a new tab together: each waits for the disk and the
// keeper, and a tab is there when the slowest is (spec tabs T7). One that fails says so in
// its pane. An agent's pane is not among them: it has no act.
func (s *Service) startTerminals(ctx context.Context, ids []davit.PaneID, leaves map[davit.PaneID]*leaf) {
	var group errgroup.Group
	group.SetLimit(startsAtOnce)
	for _, id := range ids {
		l := leaves[id]
		if l.act == nil {
			continue
		}
		group.Go(func() error {
			if err := s.spawn(ctx, l.row, l.transient); err != nil {
				s.cfg.Log.Warn("a pane could not be started", "pane", id, "err", err)
				return nil
			}
			s.startup(id, l.row.Spec.ShellKind, l.row.Spec.Startup)
			return nil
		})
	}
	_ = group.Wait()
}

// put stores a new tab with its panes in one transaction, in the group of a name, or at the
// end. opening is the row that announced its worktree, "" for none.
func (s *Service) put(ctx context.Context, t davit.Tab, leaves map[davit.PaneID]*leaf, ids []davit.PaneID, group, opening string) error {
	return s.decide(ctx, func(d *draft) error {
		t := t
		t.Group = d.join(group)
		if err := d.insert(t, behind("")); err != nil {
			return err
		}
		for _, id := range ids {
			l := leaves[id]
			d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, l.row)
			d.add(davit.Event{Kind: davit.EventPane, Pane: &l.row.Pane})
			if l.act != nil {
				d.change.Batch.PutActs = append(d.change.Batch.PutActs, *l.act)
			}
		}
		if opening != "" {
			d.change.Batch.DeleteOpenings = append(d.change.Batch.DeleteOpenings, opening)
		}
		return nil
	})
}

// plant turns the plan's tree into the tab's, minting a pane for each leaf.
func (s *Service) plant(n tabconfig.PlanNode, t *davit.Tab, o *opening, leaves map[davit.PaneID]*leaf) (davit.Split, error) {
	if n.Pane == nil {
		split := davit.Split{Direction: davit.Direction(n.Split), Sizes: n.Sizes}
		for _, c := range n.Children {
			child, err := s.plant(c, t, o, leaves)
			if err != nil {
				return split, err
			}
			split.Children = append(split.Children, child)
		}
		return split, nil
	}
	id := NewPaneID()
	l := &leaf{plan: *n.Pane}
	dir, note := s.directory(n.Pane.Directory)
	p := davit.Pane{ID: id, Tab: t.ID, Kind: keeper.PaneShell, Note: note, Shell: n.Pane.Shell.Path, OnExit: string(n.Pane.OnExit), PaneKey: davit.NewPaneKey(t.ID, id)}
	spec := store.PaneSpec{Directory: dir, Shell: n.Pane.Shell.Path, ShellKind: string(shell.KindOf(n.Pane.Shell.Path)), Startup: n.Pane.Commands}
	transient, err := o.environment(n.Pane.Env, &spec)
	if err != nil {
		return davit.Split{}, err
	}
	l.transient = transient
	switch {
	case n.Pane.Type == tabconfig.Agent && cmp.Or(n.Pane.Agent, o.agent) == "":
		p.Note = "this pane names no agent and no default agent is set (`davit agent default`): it is a shell"
	case n.Pane.Type == tabconfig.Agent:
		id := cmp.Or(n.Pane.Agent, o.agent)
		p.Kind, p.Agent, spec.Agent = keeper.PaneAgent, id, id
	case n.Pane.Type == tabconfig.Cloud:
		p.Note = "panes on another host are not there yet: this is a local shell"
	}
	row, act := s.starting(p, spec)
	l.row = row
	if p.Kind != keeper.PaneAgent {
		l.act = &act
	}
	leaves[id] = l
	if n.Pane.Focused && t.Focused == "" {
		t.Focused = id
	}
	return davit.Split{Pane: id}, nil
}

// launchPane starts a config's agent pane through the one launch operation (T4.3).
func (s *Service) launchPane(ctx context.Context, t davit.Tab, l *leaf) (davit.Result, error) {
	if first := l.row.Spec.After; first != "" {
		key := davit.NewPaneKey(t.ID, first)
		if end, err := s.AwaitSetup(ctx, key); err == nil && end.State == launch.SetupFailed {
			return davit.Result{}, davit.Errorf(davit.CodeWorktreeSetup, "the setup script %s, so %s was not started", end.Why, l.plan.Agent)
		}
	}
	intent := davit.Intent{
		Agent: l.row.Pane.Agent, OperationID: newOperationID(s.cfg.Now()), LaunchSource: "tab_config", Surface: davit.Terminal,
		Target:  davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + l.row.Spec.Directory},
		PaneKey: l.row.Pane.PaneKey,
	}
	if repo, err := repositoryRoot(l.row.Spec.Directory); err != nil || repo == "" {
		intent.Target.Worktree = "folder:" + l.row.Spec.Directory
	}
	if strings.TrimSpace(l.plan.Prompt) != "" {
		intent.Prompt = &davit.Prompt{Text: l.plan.Prompt, Delivery: "submit"}
	}
	return s.cfg.Launcher.Launch(ctx, intent)
}

func newOperationID(now time.Time) string {
	return fmt.Sprintf("%013d-%s", now.UnixMilli(), randomHex(16))
}

// OpenPlain opens a tab with one pane: the login shell, or a command run directly.
func (s *Service) OpenPlain(ctx context.Context, req wire.TabOpen) (wire.Opened, error) {
	dir, note := s.directory(req.Directory)
	id := NewTabID()
	p := davit.Pane{ID: NewPaneID(), Tab: id, Kind: keeper.PaneShell, Argv: req.Argv, Note: note, Cols: req.Cols, Rows: req.Rows}
	p.PaneKey = davit.NewPaneKey(id, p.ID)
	row, act := s.starting(p, store.PaneSpec{Argv: req.Argv, Directory: dir, Shell: s.cfg.UserShell, ShellKind: string(shell.KindOf(s.cfg.UserShell))})
	if len(req.Argv) == 0 {
		row.Pane.Shell = s.cfg.UserShell
	} else if _, err := lookPath(req.Argv[0], dir, s.cfg.LoginEnv()["PATH"]); err != nil {
		return wire.Opened{}, err
	}
	t := davit.Tab{ID: id, Given: req.Title, Title: plainTitle(req, dir), Tree: &davit.Split{Pane: p.ID}, Focused: p.ID, Created: s.cfg.Now()}
	leaves := map[davit.PaneID]*leaf{p.ID: {row: row, act: &act}}
	if err := s.put(ctx, t, leaves, []davit.PaneID{p.ID}, "", ""); err != nil {
		return wire.Opened{}, err
	}
	opened := wire.Opened{TabID: id, Panes: []davit.PaneID{p.ID}, Launches: []davit.Result{}}
	return opened, s.spawn(ctx, row, nil)
}

func plainTitle(req wire.TabOpen, dir string) string {
	switch {
	case req.Title != "":
		return req.Title
	case len(req.Argv) > 0:
		return filepath.Base(req.Argv[0])
	}
	return filepath.Base(dir)
}

// Split opens a shell, or a command, beside a pane.
func (s *Service) Split(ctx context.Context, req wire.PaneSplit) (wire.Opened, error) {
	side := layout.Right
	if davit.Direction(req.Direction) == davit.Vertical {
		side = layout.Down
	}
	var row store.PaneRow
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		beside, ok := m.State.Panes[req.Pane]
		if !ok {
			return host.Change{}, davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", req.Pane)
		}
		t, ok := model.Tab(m.State, beside.Tab)
		if !ok || t.Tree == nil {
			return host.Change{}, davit.Errorf(davit.CodeTabNotFound, "the tab of pane %s is not open", req.Pane)
		}
		dir, note := s.directory(beside.Directory)
		p := davit.Pane{ID: NewPaneID(), Tab: t.ID, Kind: keeper.PaneShell, Argv: req.Argv, Note: note, Shell: s.cfg.UserShell}
		p.PaneKey = davit.NewPaneKey(t.ID, p.ID)
		tree, err := layout.Insert(*t.Tree, req.Pane, side, p.ID)
		if err != nil {
			return host.Change{}, davit.Errorf(davit.CodeInvalid, "the pane cannot be split: %w", err)
		}
		t.Tree, t.Focused = &tree, p.ID
		var act store.ActRow
		row, act = s.starting(p, store.PaneSpec{Argv: req.Argv, Directory: dir, Shell: s.cfg.UserShell, ShellKind: string(shell.KindOf(s.cfg.UserShell))})
		return host.Change{
			Events: []davit.Event{{Kind: davit.EventPane, Pane: &row.Pane}, {Kind: davit.EventTab, Tab: &t}},
			Batch:  store.Batch{PutPanes: []store.PaneRow{row}, PutActs: []store.ActRow{act}},
		}, nil
	})
	if err != nil {
		return wire.Opened{}, err
	}
	opened := wire.Opened{TabID: row.Pane.Tab, Panes: []davit.PaneID{row.Pane.ID}, Launches: []davit.Result{}}
	return opened, s.spawn(ctx, row, nil)
}

// editTab changes a tab that may be open; one that is not is left alone.
func (s *Service) editTab(ctx context.Context, id davit.TabID, edit func(*davit.Tab)) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		t, ok := model.Tab(m.State, id)
		if !ok {
			return host.Change{}, nil
		}
		edit(&t)
		return host.Change{Events: []davit.Event{{Kind: davit.EventTab, Tab: &t}}}, nil
	})
	if err != nil {
		s.cfg.Log.Error("a tab's change could not be stored", "tab", id, "err", err)
	}
}

// Focus notes which pane of a tab is the active one.
func (s *Service) Focus(ctx context.Context, req wire.TabFocus) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		t, ok := model.Tab(m.State, req.Tab)
		if !ok || !slices.Contains(model.PanesOf(t), req.Pane) {
			return host.Change{}, davit.Errorf(davit.CodeTabNotFound, "tab %q has no pane %q", req.Tab, req.Pane)
		}
		if t.Focused == req.Pane {
			return host.Change{}, nil
		}
		t.Focused = req.Pane
		return host.Change{Events: []davit.Event{{Kind: davit.EventTab, Tab: &t}}, Volatile: true}, nil
	})
}

// Sizes sets the weights of one split of a tab.
func (s *Service) Sizes(ctx context.Context, req wire.PaneSizes) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		t, ok := model.Tab(m.State, req.Tab)
		if !ok || t.Tree == nil {
			return host.Change{}, davit.Errorf(davit.CodeTabNotFound, "there is no tab %q", req.Tab)
		}
		tree, err := layout.Resize(*t.Tree, req.Path, req.Sizes)
		if err != nil {
			return host.Change{}, davit.Errorf(davit.CodeInvalid, "the split cannot be resized: %w", err)
		}
		t.Tree = &tree
		return host.Change{Events: []davit.Event{{Kind: davit.EventTab, Tab: &t}}, Volatile: true}, nil
	})
}
