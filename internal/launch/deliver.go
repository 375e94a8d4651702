package launch

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/paste"
	"davit/internal/route"
)

// deliver gives the prompt to the surface that is there, unless it rode its command (L7).
// Its error is that nobody knows whether the prompt arrived: the caller must look before
// it sends the text again.
func (r *run) deliver(ctx context.Context, made opened) error {
	if r.in.Prompt == nil {
		return nil
	}
	chat, draft := r.decision.Mode == davit.Structured, r.in.Prompt.Delivery == route.Draft
	key := cmp.Or(made.paneKey, r.minted.PaneKey)
	switch {
	case chat && draft:
		if err := r.x.cfg.Sessions.Draft(ctx, davit.SessionID(r.minted.SessionID), r.in.Prompt.Text); err != nil {
			r.warn("The draft was not placed: " + davit.AsError(err).Message + ".")
			return nil
		}
		r.said.Placed = true
	case chat:
		return r.submit(ctx)
	case !r.command.PromptRides:
		return r.paste(ctx, key, draft)
	case draft:
		r.said.Placed = r.x.cfg.Surfaces.Shows(ctx, key, seen(r.in.Prompt.Text))
		if !r.said.Placed {
			r.warn(fmt.Sprintf("The draft was given to %s on its command line, and was not seen in its composer.", r.agent.Name))
		}
	}
	return nil
}

// paste gives the prompt to the agent in its terminal, once (L7.2).
func (r *run) paste(ctx context.Context, key davit.PaneKey, draft bool) error {
	report := r.x.cfg.Terminals.Paste(ctx, PasteRequest{
		PaneKey: key, Agent: r.agent, ID: "paste-" + cmp.Or(r.in.OperationID, randomHex(16)), Text: r.in.Prompt.Text, Draft: draft,
	})
	if report.Outcome == paste.Unknown {
		e := davit.Errorf(davit.CodeOperationUnknown, "%s", strings.TrimSuffix(report.Warning, ".")).
			WithHint("look at the pane that the details name before you send the prompt again").
			With("operationId", r.in.OperationID).With("paneKey", string(key))
		return r.failed(ctx, e, false)
	}
	r.said.Owed, r.said.Pasted, r.said.Placed = false, report.Outcome == paste.Submitted, report.Outcome == paste.Placed
	r.warn(report.Warning)
	return nil
}

// seen is the part of a draft that is looked for on a screen: short enough not to be
// broken over lines.
func seen(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(first); len(runes) > 24 {
		first = string(runes[:24])
	}
	return strings.TrimSpace(first)
}

// resolveReused finds the terminal to reuse and the workspace that it works in. `active`
// is that workspace: the caller's own place says nothing of it (L5.2).
func (r *run) resolveReused(ctx context.Context) (err error) {
	if r.reused, err = r.x.cfg.Terminals.Running(ctx, r.in.ReuseTerminal.Handle, r.agent); err != nil {
		return err
	}
	selector := r.in.Target.Worktree
	if selector == "active" {
		selector = "path:" + r.reused.Dir
	}
	r.place, err = r.x.cfg.Workspaces.Resolve(ctx, selector, r.caller.Dir)
	if davit.CodeOf(err) == davit.CodeWorkspaceNotFound && r.in.Target.Worktree == "active" {
		r.place, err = r.x.cfg.Workspaces.Resolve(ctx, "folder:"+r.reused.Dir, r.caller.Dir)
	}
	if err != nil {
		return err
	}
	if !inside(r.place.Path, r.reused.Dir) {
		return davit.Errorf(davit.CodeLaunchReuseNotRunning, "the terminal %s works in %s, not in %s", r.in.ReuseTerminal.Handle, r.reused.Dir, r.place.Path).
			WithHint("name its own workspace, or `active`").With("directory", r.reused.Dir)
	}
	r.dir = r.reused.Dir
	return nil
}

func inside(root, dir string) bool {
	for _, path := range []*string{&root, &dir} {
		if real, err := filepath.EvalSymlinks(*path); err == nil {
			*path = real
		}
	}
	within, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(within)
}

// openReused makes nothing: the terminal is there. What only a start could take is told.
func (r *run) openReused(ctx context.Context) opened {
	var unused []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"agentArgs", r.in.AgentArgs.Present}, {"sessionOptions", len(r.in.SessionOptions) > 0}, {"accountEnv", len(r.in.AccountEnv) > 0},
		{"cwd", strings.TrimSpace(r.in.Cwd) != ""}, {"placement", r.in.Placement != nil},
	} {
		if field.set {
			unused = append(unused, field.name)
		}
	}
	if len(unused) > 0 {
		r.warn(fmt.Sprintf("%s was not used: the terminal runs already.", strings.Join(unused, ", ")))
	}
	r.said = route.Delivered{Mode: davit.Terminal, Owed: true}
	there := opened{handle: r.reused.Handle, tab: r.reused.Tab, paneKey: r.reused.PaneKey}
	r.write(ctx, "plan", r.x.cfg.Ledger.Plan, r.result(there))
	return there
}
