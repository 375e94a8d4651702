package configs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
)

// SaveTab answers config.saveTab (spec tabs T6.4). Of a tab in a worktree that davit made
// the config makes a fresh one, because this one goes; the answer says so.
func (s *Service) SaveTab(_ context.Context, in wire.ConfigSaveTab) (wire.ConfigFile, error) {
	state := s.cfg.State()
	i := slices.IndexFunc(state.Tabs, func(t davit.Tab) bool { return t.ID == in.Tab })
	if i < 0 {
		return wire.ConfigFile{}, davit.Errorf(davit.CodeTabNotFound, "there is no tab %s", in.Tab)
	}
	t := state.Tabs[i]
	if t.Tree == nil {
		return wire.ConfigFile{}, davit.Errorf(davit.CodeInvalid, "the tab %s has no panes yet", t.Title)
	}
	saved := tabconfig.Saved{Title: t.Given, Color: t.Color, Root: savedNode(*t.Tree, state.Panes, t.Focused)}
	var warning string
	saved.Worktree, warning = s.savedWorktree(t, state.Panes)
	name := cmp.Or(strings.TrimSpace(in.Name), strings.TrimSpace(t.Title), "My tab")
	if _, err := tabconfig.Serialise(saved); err != nil {
		return wire.ConfigFile{}, davit.Errorf(davit.CodeInvalid, "the tab cannot be written as a config: %w", err)
	}
	s.write.Lock()
	defer s.write.Unlock()
	files := s.cfg.Files()
	path, err := files.Create(name, func(name string) string {
		saved.Name = name
		text, _ := tabconfig.Serialise(saved) // it could, above
		return text
	})
	if err != nil {
		return wire.ConfigFile{}, err
	}
	file := s.file(files.Read(path))
	file.Warning = warning
	return file, nil
}

func savedNode(n davit.Split, panes map[davit.PaneID]davit.Pane, focused davit.PaneID) tabconfig.PlanNode {
	if n.Pane != "" {
		p := panes[n.Pane]
		leaf := &tabconfig.PlanPane{Type: tabconfig.Terminal, Directory: p.Directory, Focused: n.Pane == focused}
		if p.Agent != "" {
			leaf.Type, leaf.Agent = tabconfig.Agent, p.Agent
		}
		return tabconfig.PlanNode{Pane: leaf}
	}
	out := tabconfig.PlanNode{Split: tabconfig.Split(n.Direction), Sizes: n.Sizes}
	for _, c := range n.Children {
		out.Children = append(out.Children, savedNode(c, panes, focused))
	}
	return out
}

// savedWorktree says whether the config of a tab makes a worktree, and what of that is worth
// a warning.
func (s *Service) savedWorktree(t davit.Tab, panes map[davit.PaneID]davit.Pane) (*tabconfig.SavedWorktree, string) {
	made := s.cfg.Made()
	ours := func(path string) bool {
		return slices.ContainsFunc(made, func(m Made) bool { return m.Path == path })
	}
	if w := t.Worktree; w != nil && ours(w.Path) {
		saved := &tabconfig.SavedWorktree{Path: w.Path, Branch: w.Branch, Repo: w.Repo, Base: w.Base,
			RemoveOnClose: w.RemoveOnClose || t.OnClose != nil && t.OnClose.RemoveWorktree != nil}
		return saved, fmt.Sprintf("the worktree %s (branch %s) is not in the config: each opening makes a fresh one from %s, on a new branch", w.Path, w.Branch, w.Repo)
	}
	if w := t.Worktree; w != nil {
		return nil, fmt.Sprintf("the config opens in the worktree %s, as long as that is there", w.Path)
	}
	for _, p := range panes {
		for _, m := range made {
			if p.Tab == t.ID && (p.Directory == m.Path || strings.HasPrefix(p.Directory, m.Path+"/")) {
				return nil, fmt.Sprintf("the config opens in the worktree %s, as long as that is there", m.Path)
			}
		}
	}
	return nil, ""
}
