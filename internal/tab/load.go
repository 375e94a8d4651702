package tab

import (
	"slices"

	"davit"
	"davit/internal/host"
	"davit/internal/model"
	"davit/internal/store"
)

// Load fills a first model with the tabs, panes and groups that were stored (spec tabs
// T6.2). Where a row is missing, what is left is brought into an order that keeps pins and
// groups; a tab whose group is gone has none, a pane whose row is gone says so in its place.
func Load(e store.Everything) host.Model {
	m := host.Model{}
	m.State.Panes, m.State.Chips = map[davit.PaneID]davit.Pane{}, map[davit.PaneID][]davit.Chip{}
	m.Rows = host.Rows{
		Panes: map[davit.PaneID]store.PaneRow{}, Closed: map[davit.TabID]store.TabRow{}, Openings: map[string]store.OpeningRow{},
		Cleanups: map[string]store.CleanupRow{}, Worktrees: map[string]store.WorktreeRow{},
	}
	for _, c := range e.Cleanups {
		m.Cleanups[c.ID] = c
	}
	for _, o := range e.Openings {
		m.Openings[o.ID] = o
	}
	for _, w := range e.Worktrees {
		m.Worktrees[w.Worktree.Path] = w
	}
	m.State.Notices, m.State.Groups = e.Notices, e.Groups
	for _, row := range e.Tabs {
		if row.Closed != nil {
			m.Rows.Closed[row.Tab.ID] = row
			continue
		}
		m.State.Tabs = append(m.State.Tabs, row.Tab)
	}
	for _, row := range e.Panes {
		m.Rows.Panes[row.Pane.ID] = row
		if _, open := model.Tab(m.State, row.Pane.Tab); open && row.Closed == nil {
			m.State.Panes[row.Pane.ID] = row.Pane
		}
	}
	d := newDraft(m)
	for _, t := range m.State.Tabs {
		for _, id := range model.PanesOf(t) {
			if _, there := m.State.Panes[id]; !there {
				d.add(davit.Event{Kind: davit.EventPane, Pane: lostPane(id, t.ID, faultOf(e, id))})
			}
		}
	}
	d.arrange(d.order().Repair())
	d.m.State.Closed = Closed(d.m.Rows)
	d.m.State.Seq = 0 // nobody has heard of these
	return d.m
}

func faultOf(e store.Everything, id davit.PaneID) string {
	i := slices.IndexFunc(e.Faults, func(f store.RowFault) bool { return f.Table == "panes" && f.ID == string(id) })
	if i < 0 {
		return "what was in this pane is not stored"
	}
	return "what was in this pane could not be read: " + e.Faults[i].Err.Error()
}

func lostPane(id davit.PaneID, tab davit.TabID, why string) *davit.Pane {
	return &davit.Pane{ID: id, Tab: tab, Status: davit.PaneFailed, Fault: why}
}

// Unread lists the tabs whose rows could not be read. Their panes' programs go on.
func Unread(e store.Everything) []davit.TabID {
	var ids []davit.TabID
	for _, f := range e.Faults {
		if f.Table == "tabs" {
			ids = append(ids, f.Tab)
		}
	}
	return ids
}
