package tab

import (
	"fmt"
	"slices"
	"strings"

	"davit"
	"davit/internal/host"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/store"
)

// Load fills a first model with the tabs, panes and groups that were stored (spec tabs
// T6.2). Where a row is missing, what is left is brought into an order that keeps pins and
// groups; a tab whose group is gone has none; for a pane or a tab whose row cannot be read stands
// one plain pane that says why.
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
	m.State.Notices, m.State.Groups, m.Unread = e.Notices, e.Groups, unreadable(e)
	for _, row := range e.Tabs {
		if row.Closed != nil {
			m.Rows.Closed[row.Tab.ID] = row
			continue
		}
		m.State.Tabs = append(m.State.Tabs, row.Tab)
	}
	for _, row := range e.Panes {
		m.Rows.Panes[row.Pane.ID] = row
		if _, open := model.Tab(m.State, row.Pane.Tab); (open || openFault(e, row.Pane.Tab)) && row.Closed == nil {
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
	d.standIn(e)
	d.m.State.Closed = Closed(d.m.Rows)
	d.m.State.Seq = 0 // nobody has heard of these
	return d.m
}

// standIn puts a plain pane in the place of each open tab whose row could not be read. It
// has the tab's id, so that the user finds the tab, and closes it, by that.
func (d *draft) standIn(e store.Everything) {
	for _, f := range e.Faults {
		if f.Table != "tabs" || f.Closed {
			continue
		}
		at := 0
		for _, row := range e.Tabs {
			if row.Closed == nil && row.Position < f.Position {
				at++
			}
		}
		pane := standInPane(f.Tab)
		t := davit.Tab{ID: f.Tab, Title: "Not restored", Tree: &davit.Split{Pane: pane}, Focused: pane}
		err := d.insert(t, func(o layout.Order, p layout.Tab) (layout.Order, error) { return o.InsertAt(at, p) })
		if err != nil {
			continue // another row has its id: it is that one
		}
		d.m.Unread[string(pane)] = true
		d.add(davit.Event{Kind: davit.EventPane, Pane: lostPane(pane, f.Tab, whyUnread(f, orphans(d.m, f.Tab)))})
	}
}

// standInPane names the pane that says why a tab could not be restored: the same one at
// each start.
func standInPane(id davit.TabID) davit.PaneID {
	return davit.PaneID("p_" + strings.TrimPrefix(string(id), "t_"))
}

// orphans are the panes of a tab that are not in its tree, because that could not be read.
func orphans(m host.Model, id davit.TabID) []davit.PaneID {
	var ids []davit.PaneID
	for pid, row := range m.Rows.Panes {
		if row.Pane.Tab == id && row.Closed == nil {
			ids = append(ids, pid)
		}
	}
	slices.Sort(ids)
	return ids
}

func whyUnread(f store.RowFault, left []davit.PaneID) string {
	text := fmt.Sprintf("the stored tab %s could not be read: %v. Its row is left as it is. Its title, layout and close plan are not known; closing this tab runs no cleanup.", f.Tab, f.Err)
	if len(left) > 0 {
		text += " Of its panes are left: " + strings.Join(paneIDs(left), " ") + ". `davit pane move PANE` gives one a tab of its own."
	}
	return text
}

func paneIDs(ids []davit.PaneID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return texts
}

func unreadable(e store.Everything) map[string]bool {
	ids := map[string]bool{}
	for _, f := range e.Faults {
		if f.Table == "tabs" || f.Table == "panes" {
			ids[f.ID] = true
		}
	}
	return ids
}

func openFault(e store.Everything, id davit.TabID) bool {
	return slices.ContainsFunc(e.Faults, func(f store.RowFault) bool { return f.Table == "tabs" && f.Tab == id && !f.Closed })
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
