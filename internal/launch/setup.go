package launch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/store"
)

// policyNow is the setupPolicy that does not wait (spec launch L5.3).
const policyNow = "start-immediately"

// Setups run the setup scripts of new worktrees, each once, in a terminal that the user
// sees (spec launch L9.5).
type Setups interface {
	// OpenSetup makes the tab of a launch with a pane in which the script runs, beside
	// which its agent will be. It has stored what it does before it does it.
	OpenSetup(ctx context.Context, r SetupRequest) (*davit.PlacementResult, error)
	// Setup tells what became of the script that runs in a pane, or did before the pane's
	// program began.
	Setup(ctx context.Context, key davit.PaneKey) (Setup, error)
	// AwaitSetup is Setup once that is known, or when ctx ends.
	AwaitSetup(ctx context.Context, key davit.PaneKey) (Setup, error)
}

// SetupState is how far a script has come.
type SetupState string

// The states; none: there is no script.
const (
	SetupNone    SetupState = ""
	SetupRunning SetupState = "running"
	SetupPassed  SetupState = "passed"
	SetupFailed  SetupState = "failed"
)

// Setup is what became of a script.
type Setup struct {
	State  SetupState
	Why    string // of one that failed, in words: "ended with the exit status 3"
	Exit   *int
	Signal string
	Output string // the end of what its pane shows, of one that failed
	Dir    string // the worktree
}

// Script is the setup script of a worktree, allowed by the user.
type Script struct {
	Text string
	Dir  string // the worktree's root
}

// SetupRequest says what to run and where. The ids are minted and stored already.
type SetupRequest struct {
	Tab           davit.TabID
	Pane          davit.PaneID
	PaneKey       davit.PaneKey
	Script        Script
	Agent         string // catalogue id
	AgentName     string
	Title         string
	Worktree      *davit.Worktree
	RemoveOnClose bool
	Placement     *davit.Placement
	Operation     string
}

// setupPane is the pane of a script that does not run in the agent's own: made from the
// agent's, so that whoever knows one knows the other.
func setupPane(m store.Minted) davit.PaneID {
	sum := sha256.Sum256([]byte("setup of " + string(m.PaneKey)))
	return davit.PaneID("p_" + hex.EncodeToString(sum[:8]))
}

// findSetup asks what is to run in the worktree that was just made.
func (r *run) findSetup(ctx context.Context) error {
	if r.made == nil {
		return nil
	}
	text, warning, err := r.x.cfg.Workspaces.Setup(ctx, *r.made, r.req.Worktree.SetupDecision)
	if err != nil {
		return err
	}
	r.warn(warning)
	if text != "" {
		r.script = &Script{Text: text, Dir: r.made.Path}
	}
	return nil
}

// setUp runs the script in a pane of its own, where the agent may become a chat or does not
// wait for it (spec launch L5.3, L5.4). Else it runs in the agent's terminal, before it.
func (r *run) setUp(ctx context.Context) error {
	now := r.made != nil && r.req.Worktree.SetupPolicy == policyNow
	if r.script == nil || !r.decision.AskHost && !now {
		return nil
	}
	pane := setupPane(r.minted)
	key := davit.NewPaneKey(r.minted.TabID, pane)
	placed, err := r.x.cfg.Setups.OpenSetup(ctx, SetupRequest{
		Tab: r.minted.TabID, Pane: pane, PaneKey: key, Script: *r.script, Agent: r.agent.ID, AgentName: r.agent.Name, Title: r.agent.Name,
		Worktree: r.made, RemoveOnClose: r.removeOnClose(), Placement: r.in.Placement, Operation: r.in.OperationID,
	})
	if err != nil {
		return r.failed(ctx, err, true) // no agent was asked for
	}
	r.script, r.beside, r.placed = nil, pane, placed
	r.x.cfg.Failpoint("setup-started")
	if now {
		return nil
	}
	limit := r.x.cfg.SetupLimit
	limited, cancel := context.WithTimeoutCause(ctx, limit, errSetupLong)
	defer cancel()
	end, err := r.x.cfg.Setups.AwaitSetup(limited, key)
	switch {
	case errors.Is(context.Cause(limited), errSetupLong) && (err != nil || end.State == SetupRunning):
		r.warn(fmt.Sprintf("The setup script had not ended after %s; the agent was started beside it.", spell(limit)))
	case ctx.Err() != nil: // the host stops
		return r.failed(ctx, fmt.Errorf("the setup of %s had not ended, and %s was not started: %w", r.made.Path, r.agent.Name, context.Cause(ctx)), false)
	case err != nil:
		return r.failed(ctx, fmt.Errorf("wait for the setup of %s: %w", r.made.Path, err), true)
	case end.State == SetupFailed:
		return r.failed(ctx, setupFailed(end, r.agent.Name, key), true)
	}
	r.x.cfg.Failpoint("setup-ended")
	return nil
}

var errSetupLong = errors.New("the setup takes long")

func spell(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return d.String()
}

// await waits for the script that runs in the agent's own terminal before it: the agent is
// there only when that has ended well. A host that stops meanwhile leaves it to its
// successor (Executor.found).
func (r *run) await(ctx context.Context, made opened) error {
	if r.decision.Mode != davit.Terminal || r.in.ReuseTerminal != nil {
		return nil
	}
	key := cmp.Or(made.paneKey, r.minted.PaneKey)
	end, err := r.x.cfg.Setups.Setup(ctx, key)
	if err == nil && end.State == SetupNone {
		return nil
	}
	r.x.cfg.Failpoint("setup-started")
	if err == nil && end.State == SetupRunning {
		end, err = r.x.cfg.Setups.AwaitSetup(ctx, key)
	}
	switch {
	case err == nil && end.State == SetupFailed:
		return r.failed(ctx, setupFailed(end, r.agent.Name, key), true)
	case err != nil || end.State == SetupRunning:
		e := davit.Errorf(davit.CodeOperationUnknown, "the setup of %s had not ended when davit stopped; %s starts when it has", end.Dir, r.agent.Name).
			WithHint("ask for the receipt again: it waits for the setup").With("operationId", r.in.OperationID).With("paneKey", string(key))
		e.Err = err
		return r.failed(ctx, e, false)
	}
	r.x.cfg.Failpoint("setup-ended")
	return nil
}

// setupFailed is the error of a script that did not end well: its agent was never started
// (spec launch L5.3).
func setupFailed(end Setup, agent string, key davit.PaneKey) *davit.Error {
	e := davit.Errorf(davit.CodeWorktreeSetup, "the setup script %s, so %s was not started", end.Why, agent).
		WithHint("its pane shows why; mend it, then launch the agent in %s", end.Dir).
		With("paneKey", string(key)).With("output", end.Output)
	if end.Exit != nil {
		e = e.With("exit", *end.Exit)
	}
	if end.Signal != "" {
		e = e.With("signal", end.Signal)
	}
	return e
}

// foundSetup looks at the setup of a launch whose terminal the keeper holds: only when that
// has ended well is there an agent (spec launch L6.5). One that failed fails the operation
// for good. wait: until it has ended; else one that runs leaves the operation unknown.
func (x *Executor) foundSetup(ctx context.Context, row store.OperationRow, key davit.PaneKey, wait bool) (store.OperationRow, bool) {
	end, err := x.cfg.Setups.Setup(ctx, key)
	if err == nil && end.State == SetupRunning && wait {
		end, err = x.cfg.Setups.AwaitSetup(ctx, key)
	}
	switch {
	case err != nil:
		x.cfg.Log.Warn("look for the setup of a launch", "operation", row.OperationID, "err", err)
		return row, false
	case end.State == SetupNone || end.State == SetupPassed:
		return row, true
	case end.State == SetupRunning:
		return row, false
	}
	e := setupFailed(end, "the agent", key)
	if row.WorktreePath != "" {
		e.Details = withWorktree(e.Details, row.WorktreePath, row.WorktreeBranch)
		e.Message += "; the worktree " + row.WorktreePath + " is kept"
	}
	failure := intent.Encode(*e)
	if err := x.cfg.Ledger.Fail(ctx, row.Caller, row.OperationID, failure); err != nil {
		x.cfg.Log.Warn("fail a launch whose setup failed", "operation", row.OperationID, "err", err)
	}
	row.State, row.Error = store.OperationFailed, failure
	return row, false
}
