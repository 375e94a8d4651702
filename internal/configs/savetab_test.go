package configs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
)

// A tab in a worktree that davit made is saved as a config that makes a fresh one on a
// branch of its own, with the panes in it where they were; the answer says so. Of another
// worktree its path is written, and the answer warns (spec tabs T6.4, T5.10).
func TestSaveTabOfWorktree(t *testing.T) {
	now := time.Now()
	s, _ := service(t, &now)
	repo, tree := repository(t), "/state/worktrees/r-1/needle"
	split := davit.Split{Direction: davit.Horizontal, Sizes: []float64{1, 2, 1}, Children: []davit.Split{{Pane: "p_root"}, {Pane: "p_sub"}, {Pane: "p_out"}}}
	tab := davit.Tab{ID: "t_1", Given: "needle", Title: "needle", Tree: &split, Focused: "p_sub",
		Worktree: &davit.Worktree{Path: tree, Branch: "needle", Repo: repo, Base: "main", RemoveOnClose: true}}
	panes := map[davit.PaneID]davit.Pane{
		"p_root": {ID: "p_root", Tab: "t_1", Directory: tree}, "p_sub": {ID: "p_sub", Tab: "t_1", Directory: tree + "/web/src"},
		"p_out": {ID: "p_out", Tab: "t_1", Directory: tree + "-beside"},
	}
	made := []Made{{Worktree: davit.Worktree{Path: tree}}}
	s.cfg.State = func() davit.State { return davit.State{Tabs: []davit.Tab{tab}, Panes: panes} }
	s.cfg.Made = func() []Made { return made }
	save := func(name string) (wire.ConfigFile, *tabconfig.Config) {
		t.Helper()
		file, err := s.SaveTab(context.Background(), wire.ConfigSaveTab{Tab: "t_1", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		config, faults := tabconfig.Load(file.Path, []byte(file.Text), tabconfig.LoadEnv{DefaultShell: "/bin/bash"})
		if len(faults) > 0 {
			t.Fatalf("%v\n%s", faults, file.Text)
		}
		return file, config
	}

	file, config := save("fresh")
	for _, want := range []string{tree, "needle", "fresh one from " + repo} {
		if !strings.Contains(file.Warning, want) {
			t.Errorf("the answer says %q, without %q", file.Warning, want)
		}
	}
	if strings.Contains(file.Text, tree+"\"") || strings.Contains(file.Text, tree+"/") || len(config.Params()) > 0 {
		t.Errorf("the worktree that goes is in it:\n%s", file.Text)
	}
	in := tabconfig.Input{StartDir: "/", Home: "/home/u", Date: "2026-01-02", ConfigDir: filepath.Dir(file.Path), RepoRoot: repo, GeneratedBranch: "new-name", WorktreePath: "/made/new-name"}
	plan, faults := config.Plan(in)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var dirs []string
	for _, n := range plan.Root.Children {
		dirs = append(dirs, n.Pane.Directory)
	}
	if want := []string{"/made/new-name", "/made/new-name/web/src", tree + "-beside"}; !slices.Equal(dirs, want) || plan.Title != "new-name" || !plan.Root.Children[1].Pane.Focused {
		t.Errorf("opens in %q, titled %q, want %q\n%s", dirs, plan.Title, want, file.Text)
	}
	if w := plan.Worktree; w == nil || w.Repo != repo || w.Base != "main" || w.Branch != "new-name" || !w.RemoveOnClose {
		t.Errorf("makes %+v", w)
	}

	made = nil
	file, config = save("other's")
	if config.Worktree != nil || !strings.Contains(file.Text, tree+"/web/src") || !strings.Contains(file.Warning, "as long as that is there") {
		t.Errorf("another's worktree: %q\n%s", file.Warning, file.Text)
	}
	tab.Worktree = nil
	if file, _ = save("none"); file.Warning != "" {
		t.Errorf("no worktree: %q", file.Warning)
	}
	made = []Made{{Worktree: davit.Worktree{Path: tree}}}
	if file, config = save("inside"); config.Worktree != nil || !strings.Contains(file.Warning, tree) {
		t.Errorf("a plain tab in a worktree: %q\n%s", file.Warning, file.Text)
	}
}
