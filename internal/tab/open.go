package tab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/configs"
	"davit/internal/git"
	"davit/internal/names"
	"davit/internal/store"
	"davit/internal/tabconfig"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// OpenConfig opens the tab that a config file describes (spec tabs T4).
func (s *Service) OpenConfig(ctx context.Context, req wire.OpenRequest) (wire.Opened, error) {
	loaded, err := s.cfg.Files().ForOpen(req)
	if err != nil {
		return wire.Opened{}, err
	}
	o := opening{s: s, loaded: loaded, config: loaded.Config, req: req, secrets: map[string]string{}}
	if err := o.place(); err != nil {
		return wire.Opened{}, err
	}
	if err := o.takeValues(ctx); err != nil {
		return wire.Opened{}, err
	}
	if err := o.prepare(ctx); err != nil {
		return wire.Opened{}, err
	}
	warnings := configs.WireFaults(loaded.Faults, loaded.Source)
	if req.Print {
		plan, err := o.render()
		return wire.Opened{Plan: plan, Launches: []davit.Result{}, Warnings: warnings}, err
	}
	defer o.end(ctx)
	if err := o.makeWorktree(ctx); err != nil {
		return wire.Opened{}, err
	}
	plan, err := o.render()
	if err != nil {
		return wire.Opened{}, o.withKept(err)
	}
	opened, err := s.carryOut(ctx, plan, &o)
	for _, text := range o.told {
		warnings = append(warnings, wire.Fault{File: loaded.Path, Severity: string(tabconfig.Warning), Code: "setup_not_run", Message: text, Text: "warning: " + text})
	}
	opened.Warnings = warnings
	if err != nil {
		return opened, o.withKept(err)
	}
	return opened, nil
}

// begin stores that a worktree is about to be made for a tab which is not there yet. The
// row goes away in the transaction that brings the tab; one that a starting host finds
// tells of a worktree that nobody would know of.
func (o *opening) begin(ctx context.Context, worktree string) error {
	row := store.OpeningRow{ID: "o_" + randomHex(8), Config: o.config.Name, Worktree: worktree, Created: o.s.cfg.Now()}
	err := o.s.decide(ctx, func(d *draft) error {
		d.change.Batch.PutOpenings = []store.OpeningRow{row}
		return nil
	})
	if err == nil {
		o.row = row.ID
	}
	return err
}

// end takes the row of an opening away that has failed: its caller is told.
func (o *opening) end(ctx context.Context) {
	if o.row == "" {
		return
	}
	err := o.s.decide(context.WithoutCancel(ctx), func(d *draft) error {
		if _, there := d.m.Openings[o.row]; there {
			d.change.Batch.DeleteOpenings = []string{o.row}
		}
		return nil
	})
	if err != nil {
		o.s.cfg.Log.Warn("the row of an opening stays, and is told at the next start", "opening", o.row, "err", err)
	}
}

// opening is one opening of a config, step by step.
type opening struct {
	s        *Service
	loaded   configs.Loaded
	config   *tabconfig.Config
	req      wire.OpenRequest
	in       tabconfig.Input
	secrets  map[string]string
	worktree *davit.Worktree
	agent    string   // of panes that name none, "" for none
	row      string   // id of the durable row of this opening, "" before there is one
	told     []string // warnings of this opening
}

// place is where the opening starts from.
func (o *opening) place() error {
	start := o.req.Dir
	if start == "" {
		start = o.s.cfg.UserHome
	}
	if !filepath.IsAbs(start) {
		return davit.Errorf(davit.CodeInvalid, "the start directory %q is not an absolute path", start)
	}
	o.in.StartDir, o.in.Home, o.in.ConfigDir = start, o.s.cfg.UserHome, filepath.Dir(o.loaded.Path)
	return nil
}

// prepare finds out what rendering needs of the world: the repository, a generated name.
func (o *opening) prepare(ctx context.Context) error {
	o.in.Date = o.s.cfg.Now().Format("2006-01-02")
	o.in.DefaultShell, o.in.CleanupShell = o.s.defaultShell(), o.s.defaultShell()
	o.in.ResolveShell = o.resolveShell
	if root, err := repositoryRoot(o.config.RepositoryDir(o.in)); err == nil {
		o.in.RepoRoot = root
	}
	if o.config.NeedsBranchName() || o.config.Worktree != nil {
		o.in.GeneratedBranch = o.drawName(ctx)
	}
	return nil
}

// repositoryRoot is the main folder of the repository that a directory lies in: of a
// linked worktree the main checkout's, of a bare repository its own.
func repositoryRoot(dir string) (string, error) {
	repo, err := git.Discover(dir)
	if err != nil {
		return "", err
	}
	if filepath.Base(repo.CommonDir) == ".git" {
		return filepath.Dir(repo.CommonDir), nil
	}
	if repo.Bare || repo.Root == "" {
		return repo.CommonDir, nil
	}
	return repo.Root, nil
}

func (o *opening) resolveShell(name string) (tabconfig.Shell, bool) {
	path, err := lookPath(name, o.in.StartDir, o.s.cfg.LoginEnv()["PATH"])
	if err != nil {
		return o.s.defaultShell(), false
	}
	return shellAt(path), true
}

// drawName draws a name that is free among the refs of the repository; the worktree's
// creation draws again under the repository's lock if it was taken meanwhile (L9.4).
func (o *opening) drawName(ctx context.Context) string {
	taken := func(string) bool { return false }
	if o.in.RepoRoot != "" {
		if refs, err := o.s.cfg.Git.Refs(ctx, o.in.RepoRoot, "refs/heads", "refs/remotes"); err == nil {
			taken = func(name string) bool {
				return slices.ContainsFunc(refs, func(ref git.Ref) bool {
					_, short, _ := strings.Cut(strings.TrimPrefix(ref.Name, "refs/"), "/")
					return short == name || strings.HasPrefix(short, name+"/") || strings.HasSuffix(short, "/"+name)
				})
			}
		}
	}
	return names.Generate(randomPick, taken)
}

// makeWorktree makes the worktree that [worktree] asks for, before any pane opens.
func (o *opening) makeWorktree(ctx context.Context) error {
	want, faults := o.config.RenderWorktree(o.in)
	if tabconfig.HasErrors(faults) {
		return configs.FaultError(davit.CodeConfigOpenFault, o.loaded.Path, "cannot be opened with these values", configs.WireFaults(faults, o.loaded.Source))
	}
	if want == nil {
		return nil
	}
	instance := "w_" + randomHex(8)
	if err := o.begin(ctx, instance); err != nil {
		return err
	}
	made, err := o.s.cfg.Workspaces.Create(ctx, workspace.CreateRequest{
		ID: instance, Repo: "path:" + want.Repo, CallerDir: o.in.StartDir, Name: want.Name, Branch: want.Branch, Base: want.Base,
		NameWasGenerated: want.NameGenerated, RemoveOnClose: want.RemoveOnClose,
	})
	if err != nil {
		return err
	}
	o.worktree = &made
	o.in.WorktreePath = made.Path
	if want.NameGenerated {
		o.in.GeneratedBranch = made.Branch
	}
	return nil
}

// withKept names the worktree that a failed opening leaves: it is kept (L5.8).
func (o *opening) withKept(err error) error {
	if o.worktree == nil {
		return err
	}
	e := davit.AsError(err)
	return e.With("worktree", o.worktree).WithHint("%sthe worktree %s (branch %s) was made and is kept", joinHint(e.Hint), o.worktree.Path, o.worktree.Branch)
}

func joinHint(hint string) string {
	if hint == "" {
		return ""
	}
	return hint + "; "
}

func (o *opening) render() (*tabconfig.Plan, error) {
	plan, faults := o.config.Plan(o.in)
	if tabconfig.HasErrors(faults) {
		return nil, configs.FaultError(davit.CodeConfigOpenFault, o.loaded.Path, "cannot be opened with these values", configs.WireFaults(faults, o.loaded.Source))
	}
	return plan, nil
}

// closePlan pins what happens when the tab closes (spec tabs T5.1, T5.10).
func (o *opening) closePlan(plan *tabconfig.Plan) *davit.OnClose {
	remove := o.worktree
	if remove != nil && !remove.RemoveOnClose {
		remove = nil
	}
	if plan.OnClose == nil && remove == nil {
		return nil
	}
	c := &davit.OnClose{Directory: o.in.StartDir, Commands: []string{}, Shell: o.in.CleanupShell.Path, ShellKind: string(o.in.CleanupShell.Kind), RemoveWorktree: remove}
	if plan.OnClose != nil {
		c.Directory, c.Commands = plan.OnClose.Directory, plan.OnClose.Commands
		c.Shell, c.ShellKind = plan.OnClose.Shell.Path, string(plan.OnClose.Shell.Kind)
		c.Timeout = time.Duration(plan.OnClose.Timeout)
	}
	if remove != nil && plan.OnClose == nil {
		c.Directory = remove.Repo // git runs there: the worktree itself goes away
	}
	return c
}

// environment renders a pane's variables into its spec. A value made of a secret is stored
// with its placeholder, and given as it is to this start of the program alone (T2.1).
func (o *opening) environment(vars []tabconfig.EnvVar, spec *store.PaneSpec) (transient []string, err error) {
	for _, v := range vars {
		if spec.Env == nil {
			spec.Env = map[string]string{}
		}
		spec.Env[v.Name] = v.Value
		if len(v.Secrets) == 0 {
			continue
		}
		value, err := v.Resolve(o.secrets)
		if err != nil {
			return nil, davit.Errorf(davit.CodeConfigMissingParam, "the variable %s: %w", v.Name, err)
		}
		spec.Secrets = append(spec.Secrets, v.Name)
		for _, place := range v.Secrets {
			spec.SecretPlaces = append(spec.SecretPlaces, store.SecretPlace{Variable: v.Name, Param: place.Name, Offset: place.Offset})
		}
		transient = append(transient, v.Name+"="+value)
	}
	return transient, nil
}

// missingDirectories lists directories of the plan that do not exist, and makes them when
// the user asked for that ("Create and open", spec tabs T4.2).
func (o *opening) missingDirectories(plan *tabconfig.Plan) ([]string, error) {
	var missing []string
	var faults []error
	var walk func(tabconfig.PlanNode)
	walk = func(n tabconfig.PlanNode) {
		if n.Pane != nil && n.Pane.Directory != "" {
			if _, err := os.Stat(n.Pane.Directory); errors.Is(err, os.ErrNotExist) && !slices.Contains(missing, n.Pane.Directory) {
				missing = append(missing, n.Pane.Directory)
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(plan.Root)
	if !o.req.CreateDirectories {
		return missing, nil
	}
	for _, dir := range missing {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			faults = append(faults, fmt.Errorf("make %s: %w", dir, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return missing, davit.Errorf(davit.CodeDirectoryMissing, "a directory could not be made: %w", err)
	}
	return nil, nil
}
