package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"davit"
	"davit/internal/route"
)

// checkSession refuses the caller's own name for a chat that is there already, before
// anything is made (L1). It is ignored when the mode is terminal.
func (r *run) checkSession() error {
	if !r.decision.AskHost || r.in.SessionID == "" || !r.x.cfg.Sessions.Known(davit.SessionID(r.in.SessionID)) {
		return nil
	}
	return davit.Errorf(davit.CodeLaunchSessionExists, "the chat %s is there already", r.in.SessionID).
		WithHint("choose another sessionId, or leave it out").With("sessionId", r.in.SessionID)
}

// askHost is half two: the executing host's verdict, now that the workspace exists (L3.3,
// L5.4). An error or silence is no verdict.
func (r *run) askHost(ctx context.Context) {
	if !r.decision.AskHost {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.x.cfg.SupportLimit, errors.New("the host did not answer in time"))
	defer cancel()
	verdict, why, err := r.x.cfg.Sessions.Support(ctx, r.agent.ID, r.dir)
	if err != nil {
		r.x.cfg.Log.Warn("ask whether a chat is supported", "agent", r.agent.ID, "err", err)
		verdict, why = route.VerdictUnknown, ""
	}
	r.decision = route.Settle(r.decision, verdict, why)
}

// refusal says whether an error of OpenChat proves that nothing was made and is one of
// the two that may become a terminal (L5.6).
func refusal(err error) bool {
	code := davit.CodeOf(err)
	return errors.Is(err, ErrNothingMade) && (code == davit.CodeSessionUnsupported || code == davit.CodeMethodNotFound)
}

func (r *run) openChat(ctx context.Context) (opened, error) {
	if r.in.AgentArgs.Present {
		r.warn("agentArgs was not used: a chat starts with the arguments that are saved for it.")
	}
	if len(r.in.AccountEnv) > 0 {
		r.warn(fmt.Sprintf("accountEnv was not used: a chat with %s uses the account that is signed in on this host.", r.agent.Name))
	}
	r.said = route.Delivered{Mode: davit.Structured, Owed: true}
	r.write(ctx, "plan", r.x.cfg.Ledger.Plan, r.result(opened{}))
	made, err := r.x.cfg.Surfaces.OpenChat(ctx, ChatRequest{
		Session: davit.SessionID(r.minted.SessionID), Tab: r.minted.TabID, Pane: r.minted.PaneID, PaneKey: r.minted.PaneKey,
		Agent: r.agent.ID, AgentName: r.agent.Name, Practice: r.agent.Practice,
		Dir: r.dir, Title: r.agent.Name, Options: r.in.SessionOptions, Worktree: r.made, RemoveOnClose: r.removeOnClose(),
		Placement: r.in.Placement, Focus: r.in.Presentation != "background",
		Operation: r.in.OperationID, Receipt: r.decision.Receipt(), WorkspaceID: r.place.ID, Beside: r.beside,
	})
	if err != nil {
		return opened{}, err
	}
	r.warn(made.Warning)
	return opened{handle: made.Handle, placement: cmp.Or(made.Placement, r.placed)}, nil
}

// submit sends the prompt as the chat's first message. What is durable is journaled; what
// is proven not to be there is not delivered, and still the caller's (L2.2).
func (r *run) submit(ctx context.Context) error {
	id, message := davit.SessionID(r.minted.SessionID), messageID(r.in.OperationID, r.x.cfg.Now())
	err := r.x.cfg.Sessions.Submit(ctx, id, message, r.in.Prompt.Text)
	if err == nil {
		r.said.MessageID = message
		return nil
	}
	there, lookErr := r.x.cfg.Sessions.Submitted(context.WithoutCancel(ctx), id, message)
	switch {
	case lookErr != nil:
		e := davit.Errorf(davit.CodeOperationUnknown, "%s was started as a chat, and it cannot be known whether its prompt is there: %w", r.agent.Name, err).
			WithHint("look at the chat before you send the prompt again").
			With("operationId", r.in.OperationID).With("sessionId", r.minted.SessionID).With("tabId", string(r.minted.TabID))
		return r.failed(ctx, e, false)
	case there:
		r.said.MessageID = message
	default:
		r.said.Owed = false
		r.warn("The prompt was not delivered: " + davit.AsError(err).Message + ".")
	}
	return nil
}
