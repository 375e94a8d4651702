package configs

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// branchParam and promptParam are the parameters of a written worktree config: what a later
// opening would want another value for.
const (
	branchParam = "worktree_branch_name"
	promptParam = "prompt"
)

// OpenWorktree answers worktree.open (spec tabs T5.10): everything is checked, then a config
// is written, or an equal one taken, and opened.
func (s *Service) OpenWorktree(ctx context.Context, in wire.WorktreeOpen) (wire.WorktreeOpened, error) {
	place, err := s.cfg.Workspaces.Resolve(ctx, cmp.Or(in.In, "active"), in.Dir)
	if err != nil {
		return wire.WorktreeOpened{}, err
	}
	if place.Kind == workspace.KindFolder {
		return wire.WorktreeOpened{}, davit.Errorf(davit.CodeWorkspaceNotFound, "%s is a plain folder, and worktrees come from repositories", place.Path)
	}
	form := tabconfig.WorktreeForm{
		Repo: place.Repo, Base: in.Base, OwnBranch: in.Branch != "", Agent: in.Agent,
		RemoveOnClose: in.RemoveOnClose == nil || *in.RemoveOnClose, DeleteBranch: in.DeleteBranch,
	}
	if main, ok := mainRepository(place.Repo); ok {
		form.Repo = main
	}
	if err := s.checkForm(ctx, in, form); err != nil {
		return wire.WorktreeOpened{}, err
	}
	path, reused, err := s.worktreeConfig(form, worktreeName(form))
	if err != nil {
		return wire.WorktreeOpened{}, err
	}
	params := map[string]string{}
	if in.Branch != "" {
		params[branchParam] = in.Branch
	}
	if in.Agent != "" && strings.TrimSpace(in.Prompt) != "" {
		params[promptParam] = in.Prompt
	}
	answer := wire.WorktreeOpened{Config: path, Reused: reused}
	answer.Opened, err = s.cfg.Opener.OpenConfig(ctx, wire.OpenRequest{Config: path, Params: params, Dir: form.Repo, Background: in.Background, Setup: in.Setup})
	if err != nil {
		return answer, davit.AsError(err).With("config", path)
	}
	if in.Surface == davit.Structured {
		answer.Warnings = append(answer.Warnings, wire.Fault{
			File: path, Severity: string(tabconfig.Warning), Code: "surface_terminal",
			Message: "the agent was started in a terminal: a tab config cannot open a chat yet",
			Text:    path + ": warning: the agent was started in a terminal: a tab config cannot open a chat yet",
		})
	}
	s.used(ctx, form.Repo)
	return answer, nil
}

// checkForm refuses what could not be opened, before a file is written.
func (s *Service) checkForm(ctx context.Context, in wire.WorktreeOpen, form tabconfig.WorktreeForm) error {
	switch {
	case form.DeleteBranch && !form.RemoveOnClose:
		return davit.Errorf(davit.CodeInvalid, "the branch cannot be deleted while the worktree that has it checked out is kept").
			WithHint("let the worktree be removed too, or keep the branch")
	case in.Agent == "" && strings.TrimSpace(in.Prompt) != "":
		return davit.Errorf(davit.CodeInvalid, "a prompt needs an agent").WithHint("name one; `davit agent list` shows them")
	}
	if in.Agent != "" && s.cfg.CheckAgent != nil {
		if err := s.cfg.CheckAgent(ctx, in.Agent); err != nil {
			return err
		}
	}
	req := workspace.CreateRequest{Repo: "path:" + form.Repo, CallerDir: form.Repo, Name: in.Branch, Branch: in.Branch, Base: in.Base}
	if err := s.cfg.Workspaces.CheckCreate(ctx, req); err != nil || in.Setup != SetupRun {
		return err
	}
	found, err := s.cfg.Files().SetupOf(ctx, s.cfg.Workspaces, req)
	if err != nil {
		return err
	}
	return found.Refuse()
}

// worktreeName names the config by what makes it another one.
func worktreeName(form tabconfig.WorktreeForm) string {
	parts := []string{filepath.Base(form.Repo)}
	for _, part := range []struct {
		there bool
		text  string
	}{{form.Base != "", form.Base}, {form.OwnBranch, "own name"}, {form.Agent != "", form.Agent}} {
		if part.there {
			parts = append(parts, part.text)
		}
	}
	return "New worktree: " + strings.Join(parts, ", ")
}

// worktreeConfig gives the config of a form: one whose text is equal but for its name is
// taken, else one is written.
func (s *Service) worktreeConfig(form tabconfig.WorktreeForm, name string) (path string, reused bool, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	files := s.cfg.Files()
	all := files.All("")
	for _, l := range all {
		if l.From != sourceOwn || l.Config == nil {
			continue
		}
		form.Name = l.Config.Name
		if text, err := form.Text(); err == nil && text == string(l.Source) {
			return l.Path, true, nil
		}
	}
	form.Name = name
	for n := 2; slices.ContainsFunc(all, func(l Loaded) bool { return l.Config != nil && strings.EqualFold(l.Config.Name, form.Name) }); n++ {
		form.Name = fmt.Sprintf("%s %d", name, n)
	}
	text, err := form.Text()
	if err != nil {
		return "", false, davit.Errorf(davit.CodeInvalid, "no config can be written for this worktree: %w", err)
	}
	stem := "worktree_" + strings.TrimSuffix(FileName(strings.TrimPrefix(form.Name, "New worktree: ")), ".toml")
	for n := range 1000 {
		file := stem
		if n > 0 {
			file = fmt.Sprintf("%s_%d", stem, n)
		}
		path, err = files.writeNew(file+".toml", []byte(text))
		if !exists(err) {
			break
		}
	}
	return path, false, err
}
