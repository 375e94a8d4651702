package tab

import (
	"slices"

	"davit"
	"davit/internal/model"
	"davit/internal/wire"
)

// Summaries lists the open tabs, and their groups, for tab.list (spec interfaces A3.5).
func Summaries(s davit.State) wire.TabList {
	list := make([]wire.TabSummary, 0, len(s.Tabs))
	for _, t := range s.Tabs {
		panes := model.PanesOf(t)
		if panes == nil {
			panes = []davit.PaneID{}
		}
		list = append(list, wire.TabSummary{ID: t.ID, Title: t.Title, Color: t.Color, Panes: panes, Worktree: t.Worktree, OnClose: t.OnClose, Config: t.Config, Group: t.Group, Pinned: t.Pinned})
	}
	groups := []davit.Group{}
	for _, t := range s.Tabs {
		if g, ok := model.Group(s, t.Group); ok && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return wire.TabList{Tabs: list, Groups: groups}
}
