package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/route"
	"davit/internal/store"
)

// run is one launch on its way through L5. It belongs to one goroutine.
type run struct {
	x        *Executor
	caller   Caller
	req      intent.Checked
	in       davit.Intent
	minted   store.Minted
	agent    Agent
	command  Command
	place    Place
	made     *davit.Worktree // by this launch: kept whatever happens (L5.8)
	dir      string          // where the agent starts
	decision route.Decision
	reused   Running         // the terminal to reuse, when one is to be
	said     route.Delivered // what has become of the prompt so far
	script   *Script         // to run in the agent's terminal, before it
	beside   davit.PaneID    // where the setup runs, when that is another pane
	placed   *davit.PlacementResult
	warnings []string
}

// validate asks for the agent and builds its command: what they refuse is refused
// before anything is claimed or made.
func (r *run) validate(ctx context.Context) (err error) {
	if r.agent, err = r.x.cfg.Agents.Agent(ctx, r.in.Agent); err != nil {
		return err
	}
	if r.in.ReuseTerminal != nil {
		return nil // it runs already
	}
	input := CommandInput{Args: r.in.AgentArgs, Options: r.in.SessionOptions, Resume: r.in.Resume}
	if r.in.Prompt != nil {
		input.Prompt, input.Draft = &r.in.Prompt.Text, r.in.Prompt.Delivery == route.Draft
	}
	r.command, err = r.x.cfg.Agents.Command(ctx, r.agent, input)
	return err
}

// do is everything from the claim on, in the order of L5.
func (r *run) do(ctx context.Context) (davit.Result, error) {
	fail := r.x.cfg.Failpoint
	if err := r.resolve(ctx); err != nil {
		return davit.Result{}, r.failed(ctx, err, true) // L5.1
	}
	fail("after-resolve")
	r.decision = route.Decide(r.facts(ctx))
	if err := r.checkSession(); err != nil {
		return davit.Result{}, r.failed(ctx, err, true)
	}
	fail("after-half1")
	if err := r.create(ctx); err != nil {
		// No agent runs yet, so the failure is definite; what git left is named in it.
		return davit.Result{}, r.failed(ctx, err, true)
	}
	fail("after-create")
	if err := r.setUp(ctx); err != nil {
		return davit.Result{}, err
	}
	r.askHost(ctx)
	fail("after-half2")
	opened, err := r.open(ctx)
	if err != nil {
		return davit.Result{}, r.unopened(ctx, err)
	}
	if err := r.await(ctx, opened); err != nil {
		return davit.Result{}, err
	}
	if r.in.ReuseTerminal == nil {
		r.x.cfg.Started(davit.Launched{Agent: r.agent.ID, Mode: r.decision.Mode, LaunchSource: r.in.LaunchSource})
	}
	fail("after-surface")
	r.write(ctx, "record", r.x.cfg.Ledger.Record, r.result(opened))
	fail("after-record")
	if err := r.deliver(ctx, opened); err != nil {
		return davit.Result{}, err // recorded, and its prompt stays unconfirmed
	}
	fail("after-deliver")
	result := r.result(opened)
	r.write(ctx, "settle", r.x.cfg.Ledger.Settle, result)
	r.x.cfg.Surfaces.Settled(context.WithoutCancel(ctx), result)
	fail("after-settle")
	return result, nil
}

func (r *run) resolve(ctx context.Context) (err error) {
	if r.in.ReuseTerminal != nil {
		return r.resolveReused(ctx)
	}
	if r.in.PaneKey != "" {
		live, err := r.x.cfg.Held.Holds(ctx, r.in.PaneKey)
		if err != nil && davit.CodeOf(err) != davit.CodeKeeperUnreachable { // no keeper, no live pane
			return fmt.Errorf("ask whether the pane %s is live: %w", r.in.PaneKey, err)
		}
		if live {
			return davit.Errorf(davit.CodeLaunchPaneLive, "the pane key %s is in use", r.in.PaneKey).WithHint("choose another, or leave paneKey out")
		}
	}
	switch r.in.Target.Kind {
	case davit.TargetExisting:
		if r.place, err = r.x.cfg.Workspaces.Resolve(ctx, r.in.Target.Worktree, r.caller.Dir); err != nil {
			return err
		}
		if r.place.Bare {
			return davit.Errorf(davit.CodeWorkspaceNotFound, "%s is a bare repository: there is nothing to work in", r.place.Path).
				WithHint("make a worktree of it (--worktree)")
		}
		r.dir, err = directory(r.place.Path, r.in.Cwd, false)
		return err
	case davit.TargetWorktree:
		r.place, err = r.x.cfg.Workspaces.Resolve(ctx, r.req.Worktree.Repo, r.caller.Dir)
	}
	return err
}

// directory gives the place to start in: cwd is absolute or relative to the root and has
// to exist (L1); for a worktree just made it has to lie inside, links resolved.
func directory(root, cwd string, inside bool) (string, error) {
	dir := strings.TrimSpace(cwd)
	if dir == "" {
		return root, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it does not exist")
		}
		return "", davit.Errorf(davit.CodeDirectoryMissing, "the agent cannot start in %s: %v", dir, err).WithHint("name a directory that is there")
	}
	if !inside {
		return dir, nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", dir, err)
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", root, err)
	}
	if within, err := filepath.Rel(realRoot, real); err != nil || !filepath.IsLocal(within) {
		return "", davit.Errorf(davit.CodeDirectoryMissing, "%s leads out of the worktree", dir).WithHint("name a directory inside of it")
	}
	return dir, nil
}

func (r *run) facts(ctx context.Context) route.Facts {
	sessions := route.SupportNo
	if r.x.cfg.Sessions != nil {
		sessions = route.SupportYes
	}
	f := route.Facts{
		AgentName:         r.agent.Name,
		Surface:           r.in.Surface,
		NativeChatDefault: r.in.NativeChatDefault,
		DefaultSurface:    r.x.cfg.DefaultSurface(ctx),
		HasDriver:         r.agent.Driver != "",
		Reuse:             r.in.ReuseTerminal != nil,
		Cwd:               r.in.Cwd,
		Resume:            r.in.Resume != "",
		Root:              r.place.Path,
		Sessions:          sessions,
		CallerRenders:     route.Capable(r.caller.Capabilities, davit.CapRenderChat),
	}
	// A worktree's root is not known yet, but its cwd is relative to it by now, so any
	// root tells whether the two are the same.
	if r.req.Folder != nil {
		f.Root = r.req.Folder.Path
	}
	return f
}

// create makes what the target asks for (L5.3–L5.5).
func (r *run) create(ctx context.Context) (err error) {
	switch r.in.Target.Kind {
	case davit.TargetWorktree:
		if err := r.createWorktree(ctx); err != nil {
			return err
		}
		r.dir, err = directory(r.place.Path, r.in.Cwd, true)
	case davit.TargetFolder:
		if r.place, err = r.x.cfg.Workspaces.Folder(ctx, *r.req.Folder, r.caller.Dir); err != nil {
			return err
		}
		r.dir, err = directory(r.place.Path, r.in.Cwd, false)
	}
	return err
}

func (r *run) createWorktree(ctx context.Context) error {
	payload := *r.req.Worktree
	payload.Repo = r.place.Path // resolved once (L4)
	worktree, warning, err := r.x.cfg.Workspaces.Create(ctx, payload, r.minted.WorktreeInstance)
	if worktree.Path != "" {
		r.made = &worktree
		r.ledger(ctx, "note the worktree of", func(ctx context.Context) error {
			return r.x.cfg.Ledger.NoteWorktree(ctx, r.caller.Key, r.in.OperationID, worktree.Path, worktree.Branch)
		})
	}
	if err != nil {
		return err
	}
	r.place = Place{ID: worktree.ID, Path: worktree.Path, Branch: worktree.Branch}
	r.warn(worktree.Warning)
	if warning != worktree.Warning {
		r.warn(warning)
	}
	return r.findSetup(ctx)
}

// opened is a surface of either kind.
type opened struct {
	handle    string
	tab       davit.TabID
	paneKey   davit.PaneKey
	placement *davit.PlacementResult
}

// open makes the surface. Its plan is stored before, so that whoever finds it after a
// crash can tell what it is (L6.5). A chat whose refusal proves that nothing was made
// becomes a terminal in the same place; nothing else does (L5.6).
func (r *run) open(ctx context.Context) (opened, error) {
	switch {
	case r.in.ReuseTerminal != nil:
		return r.openReused(ctx), nil
	case r.decision.Mode != davit.Structured:
		return r.openTerminal(ctx, false)
	}
	told := len(r.warnings)
	made, err := r.openChat(ctx)
	if err == nil || !refusal(err) {
		return made, err
	}
	r.warnings = r.warnings[:told]
	r.decision = route.Refused(r.decision, davit.AsError(err).Message)
	return r.openTerminal(ctx, true)
}

func (r *run) openTerminal(ctx context.Context, inPlace bool) (opened, error) {
	r.warn(r.command.Warning)
	r.said = route.Delivered{Mode: davit.Terminal, Rode: r.command.PromptRides, Owed: !r.command.PromptRides}
	r.write(ctx, "plan", r.x.cfg.Ledger.Plan, r.result(opened{}))
	made, err := r.x.cfg.Surfaces.OpenTerminal(ctx, TerminalRequest{
		Tab: r.minted.TabID, Pane: r.minted.PaneID, PaneKey: r.minted.PaneKey,
		Agent: r.agent.ID, AgentName: r.agent.Name, Practice: r.agent.Practice,
		Argv: r.command.Argv, Env: r.command.Env, SecretEnv: pairs(r.in.AccountEnv),
		Dir: r.dir, Title: r.agent.Name, Worktree: r.made, RemoveOnClose: r.removeOnClose(),
		Placement: r.in.Placement, Focus: r.in.Presentation != "background",
		Operation: r.in.OperationID, Receipt: r.decision.Receipt(), WorkspaceID: r.place.ID, InPlace: inPlace,
		Script: r.script, Beside: r.beside,
	})
	if err != nil {
		return opened{}, err
	}
	r.warn(made.Warning)
	return opened{made.Handle, made.TabID, made.PaneKey, cmp.Or(made.Placement, r.placed)}, nil
}

func (r *run) removeOnClose() bool { return r.req.Worktree != nil && r.req.Worktree.RemoveOnClose }

func pairs(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	sort.Strings(list)
	return list
}

// warn keeps every warning; none is dropped (L2.1).
func (r *run) warn(text string) {
	if text != "" {
		r.warnings = append(r.warnings, text)
	}
}

// result is the answer as far as it is known; without a handle it is the plan.
func (r *run) result(made opened) davit.Result {
	result := davit.Result{
		Outcome:    davit.Outcome{Kind: r.decision.Mode, Handle: made.handle, TabID: r.minted.TabID},
		WorktreeID: r.place.ID,
		Warning:    strings.Join(r.warnings, " Also: "),
		Receipt:    r.decision.Receipt(),
		Worktree:   &davit.WorktreeRef{Path: r.place.Path, Branch: r.place.Branch},
	}
	if r.decision.Mode == davit.Structured {
		result.Outcome.SessionID = r.minted.SessionID
	} else {
		result.Outcome.PaneKey = cmp.Or(made.paneKey, r.minted.PaneKey)
	}
	if made.tab != "" {
		result.Outcome.TabID = made.tab
	}
	if r.in.Placement != nil {
		result.Placement = made.placement
	}
	if r.in.Prompt != nil {
		said := r.said
		said.Delivery = r.in.Prompt.Delivery
		prompt := route.Prompt(said)
		result.Prompt = &prompt
	}
	return result
}

// write stores a result; a failing ledger fails no launch whose claim is stored (L5.7).
func (r *run) write(ctx context.Context, what string, put func(context.Context, string, string, []byte) error, result davit.Result) {
	r.ledger(ctx, what, func(ctx context.Context) error {
		return put(ctx, r.caller.Key, r.in.OperationID, intent.Encode(result))
	})
}

func (r *run) ledger(ctx context.Context, what string, put func(context.Context) error) {
	if r.in.OperationID == "" {
		return
	}
	// What has happened is written down even while the host stops.
	if err := put(context.WithoutCancel(ctx)); err != nil {
		r.x.cfg.Log.Error(what+" a launch", "operation", r.in.OperationID, "err", err)
	}
}

// unopened tells a surface that was not made from one that may have been (L5.6).
func (r *run) unopened(ctx context.Context, err error) error {
	if errors.Is(err, ErrNothingMade) {
		e := davit.AsError(err)
		if e.Code == davit.CodeInternal {
			e = davit.Errorf(davit.CodeLaunchFailed, "%s was not started: %w", r.agent.Name, err)
		}
		told := r.failed(ctx, e, true)
		if r.decision.Mode == davit.Structured { // its tab shows nothing that is there
			if err := r.x.cfg.Surfaces.Drop(context.WithoutCancel(ctx), r.minted.TabID); err != nil {
				r.x.cfg.Log.Error("the tab of a failed launch stays", "tab", r.minted.TabID, "err", err)
			}
		}
		return told
	}
	e := davit.Errorf(davit.CodeOperationUnknown, "it cannot be known whether %s was started: %w", r.agent.Name, err).
		With("operationId", r.in.OperationID)
	if r.decision.Mode == davit.Structured {
		e = e.WithHint("look at the chat that the details name before you launch again with a new id").
			With("sessionId", r.minted.SessionID).With("tabId", string(r.minted.TabID))
	} else {
		e = e.WithHint("look at the pane that the details name before you launch again with a new id").
			With("paneKey", string(r.minted.PaneKey))
	}
	return r.failed(ctx, e, false)
}

// failed ends the launch with the truth: what was made is named (L5.8), and the failure
// is stored only when it is definite, that is when nothing ran (L6.3).
func (r *run) failed(ctx context.Context, err error, definite bool) error {
	e := *davit.AsError(err)
	if r.made != nil {
		e.Details = withWorktree(e.Details, r.made.Path, r.made.Branch)
		if !strings.Contains(e.Message, r.made.Path+" is kept") {
			e.Message += "; the worktree " + r.made.Path + " is kept"
		}
	}
	if definite {
		r.ledger(ctx, "fail", func(ctx context.Context) error {
			return r.x.cfg.Ledger.Fail(ctx, r.caller.Key, r.in.OperationID, intent.Encode(e))
		})
	}
	return &e
}

func withWorktree(details map[string]any, path, branch string) map[string]any {
	all := map[string]any{}
	for key, value := range details {
		all[key] = value
	}
	all["worktree"] = map[string]any{"path": path, "branch": branch}
	return all
}
