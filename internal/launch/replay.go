package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"os"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/route"
	"davit/internal/store"
)

// Replay is agent.launchReplay (L6.4): the stored answer of the same intent, and never
// anything new. An id that is not stored is not_found.
func (x *Executor) Replay(ctx context.Context, caller Caller, in davit.Intent) (davit.Result, error) {
	if in.OperationID == "" {
		return davit.Result{}, davit.Errorf(davit.CodeOperationInvalid, "agent.launchReplay needs an operationId").
			WithHint("give the id that the launch was made with")
	}
	in, err := x.name(ctx, caller, in)
	if err != nil {
		return davit.Result{}, err
	}
	r, err := x.check(in)
	if err != nil {
		return davit.Result{}, err
	}
	print := intent.Fingerprint(r.Intent, x.cfg.Key)
	if f, ok := x.running(caller, in.OperationID); ok {
		if f.fingerprint != print {
			return davit.Result{}, conflict(in.OperationID)
		}
		return f.wait(ctx)
	}
	a, err := x.cfg.Ledger.Admit(ctx, store.AdmitRequest{
		Caller: caller.Key, OperationID: in.OperationID, Fingerprint: print, Now: x.cfg.Now(), ReplayOnly: true,
	})
	if err != nil {
		return davit.Result{}, err
	}
	return x.answer(ctx, caller, in.OperationID, a)
}

// ReplayStored gives the answer of an operation by its id alone, for `davit launch
// --replay` (L6.4): the intent is the stored one.
func (x *Executor) ReplayStored(ctx context.Context, caller Caller, operationID string) (davit.Result, error) {
	if f, ok := x.running(caller, operationID); ok {
		return f.wait(ctx)
	}
	row, ok, err := x.cfg.Ledger.Operation(ctx, caller.Key, operationID)
	if err != nil {
		return davit.Result{}, err
	}
	if ok {
		return x.replay(ctx, caller, row)
	}
	// Not stored: the ledger says whether that is because it is malformed, old or lost.
	a, err := x.cfg.Ledger.Admit(ctx, store.AdmitRequest{
		Caller: caller.Key, OperationID: operationID, Now: x.cfg.Now(), ReplayOnly: true,
	})
	if err != nil {
		return davit.Result{}, err
	}
	if a.Kind == store.AdmitConflict { // stored just now: there is no intent to differ from
		return x.replay(ctx, caller, a.Row)
	}
	return x.answer(ctx, caller, operationID, a)
}

func (x *Executor) running(caller Caller, operation string) (*flight, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f, ok := x.flights[flightKey{caller.Key, operation}]
	return f, ok
}

// Recover is for a host that has just started, after it has sent the keeper what its
// rows say is owed and before it takes launches: an operation whose pane or chat the keeper
// holds is recorded, not unknown (L6.5). It gives the number of those found.
func (x *Executor) Recover(ctx context.Context) (int, error) {
	rows, err := x.cfg.Ledger.Unsettled(ctx)
	if err != nil {
		return 0, err
	}
	found := 0
	for _, row := range rows {
		if row.State != store.OperationUnknown {
			continue
		}
		if _, ok := x.found(ctx, row, false); ok {
			found++
		}
	}
	return found, ctx.Err()
}

// found asks the keeper for the surface of an operation that nobody knows the end of, and
// records the operation when it is there. The plan says which surface that would be. wait:
// for a setup that runs in it before the agent.
func (x *Executor) found(ctx context.Context, row store.OperationRow, wait bool) (store.OperationRow, bool) {
	var plan davit.Result
	if len(row.Result) == 0 {
		return row, false // no surface was asked for
	}
	if err := json.Unmarshal(row.Result, &plan); err != nil {
		x.cfg.Log.Warn("read the plan of a launch", "operation", row.OperationID, "err", err)
		return row, false
	}
	held, err := x.held(ctx, row, plan)
	if err != nil {
		x.cfg.Log.Warn("ask the keeper about a launch", "operation", row.OperationID, "err", err)
	}
	if err != nil || !held {
		return row, false
	}
	if plan.Outcome.Kind == davit.Terminal {
		if row, held = x.foundSetup(ctx, row, cmp.Or(plan.Outcome.PaneKey, row.Minted.PaneKey), wait); !held {
			return row, false
		}
	}
	plan.Outcome.Handle = x.handle(ctx, plan.Outcome)
	result := intent.Encode(plan)
	if _, err := intent.CheckResult(result); err != nil {
		x.cfg.Log.Warn("check the plan of a launch", "operation", row.OperationID, "err", err)
		return row, false
	}
	if err := x.cfg.Ledger.Record(ctx, row.Caller, row.OperationID, result); err != nil {
		x.cfg.Log.Warn("record a launch that was found", "operation", row.OperationID, "err", err)
	}
	row.State, row.Result = store.OperationRecorded, result
	return row, true
}

// held asks for the pane key of a terminal, or the session id of a chat (L6.5).
func (x *Executor) held(ctx context.Context, row store.OperationRow, plan davit.Result) (bool, error) {
	if plan.Outcome.Kind == davit.Structured {
		return x.cfg.Held.HoldsChat(ctx, davit.SessionID(row.Minted.SessionID))
	}
	return x.cfg.Held.Holds(ctx, cmp.Or(plan.Outcome.PaneKey, row.Minted.PaneKey)) // a reused terminal's, or the minted one
}

// handle gives the handle that is good now, else the one stored (L6.3).
func (x *Executor) handle(ctx context.Context, o davit.Outcome) string {
	handle, ok, err := x.cfg.Surfaces.Handle(ctx, o)
	if err != nil {
		x.cfg.Log.Warn("look up a handle", "pane", o.PaneKey, "session", o.SessionID, "err", err)
	}
	if err != nil || !ok || handle == "" {
		return o.Handle
	}
	return handle
}

// replay answers from a row that is stored, by the table of L6.3.
func (x *Executor) replay(ctx context.Context, caller Caller, row store.OperationRow) (davit.Result, error) {
	if row.State == store.OperationUnknown {
		row, _ = x.found(ctx, row, true)
	}
	switch row.State {
	case store.OperationRecorded, store.OperationSettled:
		result, err := intent.CheckResult(row.Result)
		if err != nil {
			x.cfg.Log.Warn("a stored launch cannot be read", "operation", row.OperationID, "err", err)
			return davit.Result{}, x.unknown(ctx, row, "its stored answer cannot be read")
		}
		x.confirm(ctx, row, &result)
		if !route.ReplayedPrompt(result.Prompt, caller.Capabilities) {
			return davit.Result{}, x.unknown(ctx, row, "it is not known whether its prompt arrived")
		}
		result.Outcome.Handle = x.handle(ctx, result.Outcome)
		return result, nil
	case store.OperationFailed:
		var e davit.Error
		if err := json.Unmarshal(row.Error, &e); err != nil || e.Code == "" {
			return davit.Result{}, x.unknown(ctx, row, "its stored failure cannot be read")
		}
		return davit.Result{}, &e
	}
	return davit.Result{}, x.unknown(ctx, row, "the host stopped before it knew")
}

// confirm looks for the row of a chat's prompt that nobody saw delivered (L6.3). It sends
// nothing: a replay never runs anything (L6.4). What is found is settled, so that the
// answer stays the same.
func (x *Executor) confirm(ctx context.Context, row store.OperationRow, result *davit.Result) {
	p := result.Prompt
	if p == nil || p.Outcome != davit.PromptUnconfirmed || result.Outcome.Kind != davit.Structured || x.cfg.Sessions == nil {
		return
	}
	there, err := x.cfg.Sessions.Submitted(ctx, davit.SessionID(result.Outcome.SessionID), row.OperationID)
	if err != nil {
		x.cfg.Log.Warn("look for the prompt of a launch", "operation", row.OperationID, "err", err)
	}
	if err != nil || !there {
		return
	}
	result.Prompt = &davit.PromptReceipt{Delivery: p.Delivery, Outcome: davit.PromptJournaled, MessageID: row.OperationID}
	if row.State != store.OperationRecorded {
		return
	}
	if err := x.cfg.Ledger.Settle(ctx, row.Caller, row.OperationID, intent.Encode(*result)); err != nil {
		x.cfg.Log.Warn("settle a launch whose prompt was found", "operation", row.OperationID, "err", err)
	}
}

// unknown is the answer where even the keeper cannot tell; it names what is left.
func (x *Executor) unknown(ctx context.Context, row store.OperationRow, why string) error {
	e := davit.Errorf(davit.CodeOperationUnknown, "it cannot be known what operation %s did: %s", row.OperationID, why).
		WithHint("look at what the details name, then launch with a new id").
		With("operationId", row.OperationID).With("paneKey", string(row.Minted.PaneKey))
	var plan davit.Result
	if json.Unmarshal(row.Result, &plan) == nil && plan.Outcome.Kind == davit.Structured {
		e = e.With("sessionId", row.Minted.SessionID).With("tabId", string(row.Minted.TabID))
	}
	path, branch := row.WorktreePath, row.WorktreeBranch
	if path == "" {
		made, ok, err := x.cfg.Workspaces.Made(ctx, row.Minted.WorktreeInstance)
		if err != nil {
			x.cfg.Log.Warn("look for the worktree of a launch", "operation", row.OperationID, "err", err)
		}
		if err == nil && ok {
			path, branch = made.Path, made.Branch
		}
	}
	if path == "" {
		return e
	}
	if _, err := os.Lstat(path); err != nil {
		return e // it is gone since
	}
	e.Details = withWorktree(e.Details, path, branch)
	e.Message += "; the worktree " + path + " is kept"
	return e
}
