package daemon

import (
	"cmp"
	"context"
	"slices"

	"davit"
	"davit/internal/git"
	"davit/internal/keeper"
	"davit/internal/model"
)

// order is how the list of agents is sorted: those that wait for a person come first.
var order = map[davit.AgentStatus]int{
	davit.AgentWaiting: 0, davit.AgentError: 1, davit.AgentDone: 2, davit.AgentWorking: 3, davit.AgentStarting: 4,
	davit.AgentIdle: 5, davit.AgentUnknown: 6, davit.AgentExited: 7, davit.AgentResumable: 8,
}

// List is agent.status (api.Status): the agents of open tabs, and the chats that no tab
// shows any more and that still run.
func (s *statuses) List(context.Context) []davit.AgentRow {
	state := s.d.host.State()
	rows := []davit.AgentRow{}
	shown := map[davit.SessionID]bool{}
	for _, t := range state.Tabs {
		for _, id := range model.PanesOf(t) {
			p, there := state.Panes[id]
			if !there {
				continue
			}
			if p.Kind == keeper.PaneChat {
				shown[p.Session] = true
			}
			if row, agent := s.row(state, p); agent {
				rows = append(rows, row)
			}
		}
	}
	for id, v := range state.Sessions {
		running := v.Status == davit.AgentStarting || v.Status == davit.AgentWorking || v.Status == davit.AgentWaiting
		if !shown[id] && running {
			row := davit.AgentRow{}
			s.fillChat(&row, v, false)
			rows = append(rows, row)
		}
	}
	branches := map[string]string{}
	for i := range rows {
		dir := rows[i].Directory
		if _, known := branches[dir]; !known {
			branches[dir] = branchOf(dir)
		}
		rows[i].Branch = branches[dir]
	}
	slices.SortStableFunc(rows, func(a, b davit.AgentRow) int {
		return cmp.Or(order[a.Status]-order[b.Status], a.Since.Compare(b.Since), cmp.Compare(a.Pane, b.Pane), cmp.Compare(a.Session, b.Session))
	})
	return rows
}

// branchOf reads a directory's branch from git's own files; "" where there is none.
func branchOf(dir string) string {
	repo, err := git.Discover(dir)
	if err != nil {
		return ""
	}
	head, err := git.ReadHead(repo)
	if err != nil {
		return ""
	}
	if head.Detached && len(head.Commit) >= 10 {
		return head.Commit[:10]
	}
	return head.Branch
}
