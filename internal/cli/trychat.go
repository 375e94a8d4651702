package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"
)

// The two messages of the tour's chat, and how the practice agent's answers to them begin.
const (
	firstMessage  = "which way is north?"
	firstReply    = "I have read your prompt: 1 line, 4 words"
	secondMessage = "and south?"
	secondReply   = "I have read your prompt: 1 line, 2 words"
)

// checkChat launches the agent a second time, as a chat in the tour's worktree, and looks
// for the prompt and its reply in the journal.
func (t *trip) checkChat(ctx context.Context) error {
	result, err := call[davit.Result](ctx, t.app, "agent.launch", davit.Intent{
		Agent: "practice", OperationID: newOperationID(time.Now()), LaunchSource: "cli", Surface: davit.Structured,
		Target: davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + t.opened.Worktree.Path},
		Prompt: &davit.Prompt{Text: firstMessage, Delivery: "submit"},
	})
	if err != nil {
		return err
	}
	t.report.Launches = append(t.report.Launches, result)
	if result.Outcome.Kind != davit.Structured {
		return fmt.Errorf("the agent was not started in a chat: %s", result.Receipt.Detail)
	}
	t.chat = result.Outcome
	if result.Prompt == nil || result.Prompt.Outcome != davit.PromptJournaled || result.Prompt.MessageID == "" {
		return fmt.Errorf("the receipt does not say that the prompt is in the journal: %+v", result.Prompt)
	}
	return t.awaitReplies(ctx, firstReply)
}

// speak sends the second message, so that a turn runs while the host is killed.
func (t *trip) speak(ctx context.Context) error {
	s, err := call[davit.Session](ctx, t.app, "agentSession.get", wire.SessionRef{Session: davit.SessionID(t.chat.SessionID)})
	if err != nil {
		return err
	}
	_, err = mutate[davit.Submission](ctx, t.app, s, "", "agentSession.send", func(m wire.SessionMutation) any {
		return wire.SessionSend{SessionMutation: m, Text: secondMessage}
	})
	return err
}

// awaitReplies waits until the journal has these replies, in this order, each once and in
// a turn that has ended by the agent's own word.
func (t *trip) awaitReplies(ctx context.Context, want ...string) error {
	for {
		log, _, err := t.readAll(ctx, davit.SessionID(t.chat.SessionID))
		if err != nil {
			return err
		}
		found, err := replies(log)
		switch {
		case err != nil:
			return err
		case len(found) > len(want):
			return fmt.Errorf("the journal has %d replies instead of %d", len(found), len(want))
		case len(found) == len(want):
			for i, text := range found {
				if !strings.HasPrefix(text, want[i]) || strings.Count(text, want[i]) != 1 {
					return fmt.Errorf("reply %d in the journal is %q", i+1, text)
				}
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the reply is not in the journal: %w", context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// replies are what the agent said in the turns that have ended.
func replies(log *chatLog) ([]string, error) {
	var found []string
	for _, it := range log.items {
		turn := it.row.Body.TurnState
		if turn == nil || turn.State != "ended" {
			continue
		}
		if turn.Reason != "end_turn" {
			return nil, errors.New("a turn ended otherwise: " + turn.Reason)
		}
		found = append(found, log.said(it.row.Turn))
	}
	return found, nil
}
