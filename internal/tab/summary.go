package tab

import (
	"davit"
	"davit/internal/model"
	"davit/internal/wire"
)

// Summaries lists the open tabs for tab.list (spec interfaces A3.5).
func Summaries(s davit.State) []wire.TabSummary {
	list := make([]wire.TabSummary, 0, len(s.Tabs))
	for _, t := range s.Tabs {
		panes := model.PanesOf(t)
		if panes == nil {
			panes = []davit.PaneID{}
		}
		list = append(list, wire.TabSummary{ID: t.ID, Title: t.Title, Color: t.Color, Panes: panes, Worktree: t.Worktree, OnClose: t.OnClose, Config: t.Config})
	}
	return list
}
