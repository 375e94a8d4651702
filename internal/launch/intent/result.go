package intent

import (
	"davit"
	"davit/internal/route"
)

// CheckResult reads a stored result field by field (L2.4). A fault in it loses its
// replay and nothing else. Unknown fields and unknown words of reason and fallback are
// accepted, for a newer davit may have written them.
func CheckResult(raw []byte) (davit.Result, error) {
	var r davit.Result
	o, err := parseObject("", raw)
	if err != nil {
		return r, err
	}
	err = first(
		need(o, "worktreeId", &r.WorktreeID),
		read(o, "warning", &r.Warning),
		checkOutcome(o, &r.Outcome),
		checkReceipt(o, &r.Receipt),
		checkStoredPrompt(o, &r),
		checkPlacement(o, &r),
		checkWorktree(o, &r),
	)
	return r, err
}

func checkOutcome(o object, into *davit.Outcome) error {
	outcome, ok, err := o.sub("outcome")
	if err != nil {
		return err
	}
	if !ok {
		return &fieldError{"outcome", "is missing"}
	}
	err = first(
		need(outcome, "kind", &into.Kind),
		need(outcome, "handle", &into.Handle),
		read(outcome, "sessionId", &into.SessionID),
		read(outcome, "tabId", &into.TabID),
		read(outcome, "paneKey", &into.PaneKey),
		surface("outcome.kind", into.Kind),
	)
	if err != nil {
		return err
	}
	if into.Handle == "" {
		return &fieldError{"outcome.handle", "is empty"}
	}
	if _, given := outcome.fields["sessionId"]; (given || into.Kind == davit.Structured) && into.SessionID == "" {
		return &fieldError{"outcome.sessionId", "is empty"}
	}
	return nil
}

func surface(field string, s davit.Surface) error {
	if s != davit.Structured && s != davit.Terminal {
		return &fieldError{field, "is neither structured nor terminal"}
	}
	return nil
}

func checkReceipt(o object, into *davit.Receipt) error {
	receipt, ok, err := o.sub("receipt")
	if err != nil {
		return err
	}
	if !ok {
		return &fieldError{"receipt", "is missing"}
	}
	return first(
		need(receipt, "mode", &into.Mode),
		need(receipt, "preferred", &into.Preferred),
		need(receipt, "reason", &into.Reason),
		need(receipt, "detail", &into.Detail),
		surface("receipt.mode", into.Mode),
		surface("receipt.preferred", into.Preferred),
	)
}

func checkStoredPrompt(o object, r *davit.Result) error {
	prompt, ok, err := o.sub("prompt")
	if err != nil || !ok {
		return err
	}
	r.Prompt = new(davit.PromptReceipt)
	err = first(
		need(prompt, "delivery", &r.Prompt.Delivery),
		need(prompt, "outcome", &r.Prompt.Outcome),
		read(prompt, "messageId", &r.Prompt.MessageID),
		read(prompt, "draftPlaced", &r.Prompt.DraftPlaced),
	)
	if err != nil {
		return err
	}
	if d := r.Prompt.Delivery; d != route.Submit && d != route.Draft {
		return &fieldError{"prompt.delivery", "is neither submit nor draft"}
	}
	switch r.Prompt.Outcome {
	case davit.PromptJournaled:
		if r.Prompt.MessageID == "" {
			return &fieldError{"prompt.messageId", "is missing"}
		}
	case davit.PromptHanded, davit.PromptNotDelivered, davit.PromptUnconfirmed:
	default:
		return &fieldError{"prompt.outcome", "is none of the four words"}
	}
	return nil
}

func checkPlacement(o object, r *davit.Result) error {
	placement, ok, err := o.sub("placement")
	if err != nil || !ok {
		return err
	}
	r.Placement = new(davit.PlacementResult)
	return first(
		need(placement, "groupId", &r.Placement.GroupID),
		read(placement, "fallback", &r.Placement.Fallback),
	)
}

func checkWorktree(o object, r *davit.Result) error {
	worktree, ok, err := o.sub("worktree")
	if err != nil || !ok {
		return err
	}
	r.Worktree = new(davit.WorktreeRef)
	return first(
		need(worktree, "path", &r.Worktree.Path),
		read(worktree, "branch", &r.Worktree.Branch),
	)
}
