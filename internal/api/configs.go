package api

import (
	"context"

	"davit/internal/wire"
)

// Configs are the tab config files as the user manages them, and the repositories that are
// known (spec tabs T1.1, T2.1, T6.4).
type Configs interface {
	List(ctx context.Context, dir string) (wire.ConfigList, error)
	Open(ctx context.Context, req wire.OpenRequest) (wire.Opened, error)
	Check(ctx context.Context, in wire.ConfigCheck) (wire.Faults, error)
	Read(ctx context.Context, path string) (wire.ConfigFile, error)
	Save(ctx context.Context, in wire.ConfigSave) (wire.ConfigFile, error)
	New(ctx context.Context, in wire.ConfigNew) (wire.ConfigFile, error)
	Remove(ctx context.Context, in wire.ConfigRef) error
	SetDefault(ctx context.Context, in wire.ConfigRef) error
	SaveTab(ctx context.Context, in wire.ConfigSaveTab) (wire.ConfigFile, error)
	Trust(ctx context.Context, in wire.ConfigRef) (wire.ConfigTrusted, error)
	Untrust(ctx context.Context, in wire.ConfigRef) error
	Skills() []wire.Skill

	Setup(ctx context.Context, in wire.SetupRequest) (wire.Setup, error)
	AllowSetup(ctx context.Context, in wire.SetupAllow) (wire.ConfigTrusted, error)
	OpenWorktree(ctx context.Context, in wire.WorktreeOpen) (wire.WorktreeOpened, error)
	Branches(ctx context.Context, in wire.InRequest) (wire.BranchList, error)
	Workspaces(ctx context.Context, dir string) (wire.WorkspaceList, error)
	AddWorkspace(ctx context.Context, path string) (wire.Workspace, error)
	ForgetWorkspace(ctx context.Context, path string) error
}

func (s *Server) configOperations() {
	op(s, "config.list", "The tab configs that can be opened, and the faults of those that cannot", true, func(ctx context.Context, in wire.ConfigsRequest) (wire.ConfigList, error) {
		return s.cfg.Configs.List(ctx, callerDir(ctx, in.Dir))
	})
	op(s, "config.open", "Open a tab from a config, or with print give its plan", false, func(ctx context.Context, in wire.OpenRequest) (wire.Opened, error) {
		in.Dir = callerDir(ctx, in.Dir)
		return s.cfg.Configs.Open(ctx, in)
	})
	op(s, "config.check", "The faults of a config file, or of a text as it would be loaded", true, func(ctx context.Context, in wire.ConfigCheck) (wire.Faults, error) {
		return s.cfg.Configs.Check(ctx, in)
	})
	op(s, "config.read", "The text of a config file, and its faults", true, func(ctx context.Context, in wire.ConfigRef) (wire.ConfigFile, error) {
		return s.cfg.Configs.Read(ctx, in.Path)
	})
	op(s, "config.save", "Write a config file that nobody changed meanwhile", false, func(ctx context.Context, in wire.ConfigSave) (wire.ConfigFile, error) {
		return s.cfg.Configs.Save(ctx, in)
	})
	op(s, "config.new", "Write a commented config to start from", false, func(ctx context.Context, in wire.ConfigNew) (wire.ConfigFile, error) {
		return s.cfg.Configs.New(ctx, in)
	})
	op(s, "config.remove", "Delete one of the user's config files", false, func(ctx context.Context, in wire.ConfigRef) (wire.None, error) {
		return wire.None{}, s.cfg.Configs.Remove(ctx, in)
	})
	op(s, "config.setDefault", "What a new tab opens: a config, or a plain shell", false, func(ctx context.Context, in wire.ConfigRef) (wire.None, error) {
		return wire.None{}, s.cfg.Configs.SetDefault(ctx, in)
	})
	op(s, "config.saveTab", "Write a config of a tab as it is: no commands, no cleanup", false, func(ctx context.Context, in wire.ConfigSaveTab) (wire.ConfigFile, error) {
		return s.cfg.Configs.SaveTab(ctx, in)
	})
	op(s, "config.trust", "Allow a repository's config, as long as its text is this one", false, func(ctx context.Context, in wire.ConfigRef) (wire.ConfigTrusted, error) {
		return s.cfg.Configs.Trust(ctx, in)
	})
	op(s, "config.untrust", "Take that back", false, func(ctx context.Context, in wire.ConfigRef) (wire.None, error) {
		return wire.None{}, s.cfg.Configs.Untrust(ctx, in)
	})
	op(s, "worktree.setup", "The setup script that a new worktree would have, and whether its text is allowed", true, func(ctx context.Context, in wire.SetupRequest) (wire.Setup, error) {
		in.Dir = callerDir(ctx, in.Dir)
		return s.cfg.Configs.Setup(ctx, in)
	})
	op(s, "worktree.allowSetup", "Allow a repository's setup script, as long as its text is this one", false, func(ctx context.Context, in wire.SetupAllow) (wire.ConfigTrusted, error) {
		in.Dir = callerDir(ctx, in.Dir)
		return s.cfg.Configs.AllowSetup(ctx, in)
	})
	op(s, "skill.list", "Texts for agents that work with davit", true, func(context.Context, wire.None) (wire.SkillList, error) {
		list := wire.SkillList{Skills: []wire.Skill{}}
		for _, skill := range s.cfg.Configs.Skills() {
			skill.Text = ""
			list.Skills = append(list.Skills, skill)
		}
		return list, nil
	})
}
