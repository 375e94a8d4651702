package tab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/model"
	"davit/internal/shell"
	"davit/internal/store"
)

// NoticeStrangers tells of programs in the keeper that no stored pane is about.
const NoticeStrangers = "strangers"

// stranger is a terminal that the keeper holds and the store does not know.
type stranger struct {
	info  keeper.PaneInfo
	front keeper.Foreground // zero when it could not be looked up
}

// strangers lists the terminals that no stored pane is about. Chats are their sessions' to
// tell; cleanups end by themselves.
func (s *Service) strangers(ctx context.Context) ([]stranger, error) {
	c, linked := s.cfg.Panes.Linked()
	if !linked {
		return nil, nil
	}
	infos, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	known := s.cfg.Host.Model().Rows.Panes
	var found []stranger
	for _, i := range infos {
		_, stored := known[davit.PaneID(i.Pane)]
		if stored || i.Exit != nil || i.Pipes || i.Kind == keeper.PaneChat || i.Kind == keeper.PaneCleanup {
			continue
		}
		found = append(found, stranger{i, s.foreground(ctx, c, i.Pane)})
	}
	return found, nil
}

func (s *Service) foreground(ctx context.Context, c *client.Client, pane string) keeper.Foreground {
	front, err := c.Foreground(ctx, pane)
	if err != nil {
		s.cfg.Log.Warn("what a terminal without a tab runs could not be looked up", "pane", pane, "err", err)
	}
	return front
}

func (n stranger) process() keeper.Process {
	return keeper.Process{Pid: n.info.Pid, StartTime: n.info.StartTime, Name: cmp.Or(n.front.Name, n.info.Kind)}
}

func (n stranger) String() string {
	since := n.info.Started.Local().Format(time.DateTime)
	if n.front.Pid == 0 {
		return fmt.Sprintf("%s, pid %d, since %s", n.info.Kind, n.info.Pid, since)
	}
	return fmt.Sprintf("%s, pid %d, in %s, since %s", strings.Join(n.front.Argv, " "), n.front.Pid, n.front.Dir, since)
}

// tellStrangers tells of strangers: after a damaged store was set aside, the terminals that
// are younger than its last good copy. They run on, and nothing is ended unasked (spec tabs
// T6.2).
func (s *Service) tellStrangers(ctx context.Context) {
	found, err := s.strangers(ctx)
	if err != nil {
		s.cfg.Log.Warn("what the keeper holds could not be listed", "err", err)
		return
	}
	if len(found) == 0 {
		s.forgetStrangers(ctx)
		return
	}
	var list []keeper.Process
	var lines, panes []string
	for _, n := range found {
		list, lines = append(list, n.process()), append(lines, n.String())
		panes = append(panes, n.info.Pane)
	}
	_, which := listed(list)
	s.notify(ctx, davit.Notice{
		ID: strangersNotice, Kind: NoticeStrangers, Level: "warning", Persistent: true,
		Title: plural(len(list), "program runs in no tab", "programs run in no tab"),
		Body:  strings.Join(lines, "\n") + "\nWhat was stored of their tabs is lost. They go on until they end by themselves, you open them again, or you end them.",
		Actions: []davit.NoticeAction{
			{ID: "open_panes", Label: "Open in tabs", Kind: "host", Text: strings.Join(panes, " ")},
			{ID: "end_processes", Label: "End", Kind: "host", Text: which},
			{ID: "dismiss", Label: "Dismiss", Kind: "host"},
		},
	})
}

const strangersNotice = "strangers"

// openStrangers opens tabs for strangers: those of one former tab side by side in one, with
// its id when no other tab has it. Names, colours and cleanups of the former tabs are lost.
func (s *Service) openStrangers(ctx context.Context, notice, panes string) error {
	found, err := s.strangers(ctx)
	if err != nil {
		return err
	}
	wanted := strings.Fields(panes)
	byTab := map[string][]stranger{}
	var order []string
	for _, n := range found {
		if !slices.Contains(wanted, n.info.Pane) {
			continue
		}
		former := cmp.Or(n.info.Labels["tab"], n.info.Pane)
		if byTab[former] == nil {
			order = append(order, former)
		}
		byTab[former] = append(byTab[former], n)
	}
	var faults []error
	for _, former := range order {
		if err := s.openFormer(ctx, davit.TabID(former), byTab[former]); err != nil {
			faults = append(faults, err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		s.tellStrangers(ctx)
		return err
	}
	return s.Dismiss(ctx, notice)
}

func (s *Service) openFormer(ctx context.Context, former davit.TabID, members []stranger) error {
	err := s.decide(ctx, func(d *draft) error {
		t := davit.Tab{ID: former, Created: s.cfg.Now(), Tree: &davit.Split{Direction: davit.Horizontal}}
		_, closed := d.m.Rows.Closed[former]
		if _, taken := model.Tab(d.m.State, former); taken || closed || !strings.HasPrefix(string(former), "t_") {
			t.ID = NewTabID()
		}
		for _, n := range members {
			row := s.rowOf(t.ID, n)
			t.Tree.Children = append(t.Tree.Children, davit.Split{Pane: row.Pane.ID})
			t.Tree.Sizes = append(t.Tree.Sizes, 1)
			d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
			d.add(davit.Event{Kind: davit.EventPane, Pane: &row.Pane})
			t.Title = cmp.Or(t.Title, n.front.Name, paneName(row.Pane))
		}
		if len(members) == 1 {
			t.Tree = &t.Tree.Children[0]
		}
		t.Focused = model.PanesOf(t)[0]
		return d.insert(t, behind(""))
	})
	if err != nil {
		return err
	}
	var faults []error
	for _, n := range members {
		if err := s.cfg.Panes.Take(ctx, n.info); err != nil {
			faults = append(faults, err)
			continue
		}
		s.cfg.Chips.Pane(davit.PaneID(n.info.Pane), n.front.Dir)
	}
	return errors.Join(faults...)
}

// rowOf is a pane's row as far as the keeper knows what was lost. What its program printed
// so far has had its effects: none comes a second time (spec terminal P2.3).
func (s *Service) rowOf(tab davit.TabID, n stranger) store.PaneRow {
	id := davit.PaneID(n.info.Pane)
	p := davit.Pane{
		ID: id, Tab: tab, Kind: n.info.Kind, PaneKey: cmp.Or(davit.PaneKey(n.info.Labels["paneKey"]), davit.NewPaneKey(tab, id)),
		Status: davit.PaneStarting, Directory: n.front.Dir, Cols: n.info.Cols, Rows: n.info.Rows, Running: true,
	}
	spec := store.PaneSpec{Directory: cmp.Or(n.front.Dir, s.cfg.UserHome), OperationID: n.info.Labels["operation"]}
	if own := n.front.OwnChild && len(n.front.Argv) > 0; own && filepath.Base(strings.TrimPrefix(n.front.Argv[0], "-")) != filepath.Base(s.cfg.UserShell) {
		spec.Argv, p.Argv = n.front.Argv, n.front.Argv[:1]
	} else {
		p.Shell, p.Running = s.cfg.UserShell, false
		spec.Shell, spec.ShellKind = s.cfg.UserShell, string(shell.KindOf(s.cfg.UserShell))
	}
	// Of a program that was started for the first time neither label is there: both are 0.
	spec.Starts, _ = strconv.Atoi(n.info.Labels[host.StartLabel])
	spec.LogBase, _ = strconv.ParseUint(n.info.Labels[host.BaseLabel], 10, 64)
	return store.PaneRow{Pane: p, Spec: spec, EffectsThrough: spec.LogBase + n.info.End}
}

// forgetStrangers takes the notice away when none of them is left.
func (s *Service) forgetStrangers(ctx context.Context) {
	for _, n := range s.cfg.Host.State().Notices {
		if n.ID == strangersNotice {
			s.dismiss(ctx, n.ID)
		}
	}
}
