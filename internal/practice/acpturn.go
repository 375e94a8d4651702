package practice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"
)

// prompt starts a turn of its own goroutine, which answers the request.
func (a *chatAgent) prompt(ctx context.Context, id json.RawMessage, p acp.PromptRequest) {
	a.mu.Lock()
	s := a.sessions[p.SessionId]
	busy := s != nil && s.cancel != nil
	var cancel context.CancelFunc
	if s != nil && !busy {
		ctx, cancel = context.WithCancel(ctx)
		s.cancel = cancel
	}
	a.mu.Unlock()
	switch {
	case s == nil:
		a.wire.answer(id, nil, &rpcError{-32002, "no such session: " + string(p.SessionId)})
		return
	case busy:
		a.wire.answer(id, nil, &rpcError{-32600, "a turn is running"})
		return
	}
	text := promptText(p.Prompt)
	a.record.write(event{Event: "prompt", Via: "acp", Text: text})
	a.remember(s, remembered{"user", text})
	a.turns.Add(1)
	go func() {
		defer a.turns.Done()
		defer cancel()
		reason, err := a.turn(ctx, s, text)
		a.mu.Lock()
		s.cancel = nil
		a.mu.Unlock()
		if errors.Is(err, context.Canceled) {
			reason, err = acp.StopReasonCancelled, nil
		}
		a.wire.answer(id, acp.PromptResponse{StopReason: reason}, err)
	}()
}

func promptText(blocks []acp.ContentBlock) string {
	var parts []string
	for _, block := range blocks {
		switch {
		case block.Text != nil:
			parts = append(parts, block.Text.Text)
		case block.ResourceLink != nil:
			parts = append(parts, block.ResourceLink.Uri)
		}
	}
	return strings.Join(parts, "\n")
}

func (a *chatAgent) turn(ctx context.Context, s *session, text string) (acp.StopReason, error) {
	f, asked := a.opts.faults, read(text)
	if f.silent {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if err := pause(ctx, f.late); err != nil {
		return "", err
	}
	a.update(s.id, acp.UpdateAgentThoughtText("I am the practice agent, not a real model. I look at the prompt."))
	if f.ends && !f.timedExit && f.exitAt == "" {
		a.end()
		<-ctx.Done()
		return "", ctx.Err()
	}
	if f.halfLine {
		a.wire.writeHalf()
	}
	if f.never || asked.wait || f.halfLine {
		<-ctx.Done()
		return "", ctx.Err()
	}
	switch {
	case asked.refuse:
		return acp.StopReasonRefusal, nil
	case asked.fail:
		return "", &rpcError{-32603, "it failed, as asked"}
	case asked.plan:
		a.plan(s)
	}
	a.makeNoise(s)
	if asked.write != "" || asked.ask || f.dialog == "permission" {
		if err := a.tool(ctx, s, asked); err != nil {
			return "", err
		}
	}
	if asked.count > 0 {
		return acp.StopReasonEndTurn, a.count(ctx, s, asked.count)
	}
	return acp.StopReasonEndTurn, a.stream(ctx, s, answer(text))
}

// stream says the text in about twelve pieces over the time of work.
func (a *chatAgent) stream(ctx context.Context, s *session, text string) error {
	words := strings.SplitAfter(text, " ")
	size := max(len(words)/12, 1)
	pieces := (len(words) + size - 1) / size
	for len(words) > 0 {
		n := min(size, len(words))
		a.update(s.id, acp.UpdateAgentMessageText(strings.Join(words[:n], "")))
		words = words[n:]
		if len(words) > 0 {
			if err := pause(ctx, a.opts.faults.work/time.Duration(pieces)); err != nil {
				return err
			}
		}
	}
	a.remember(s, remembered{"agent", text})
	return nil
}

// count says the numbers up to n over the time of work.
func (a *chatAgent) count(ctx context.Context, s *session, n int) error {
	var all strings.Builder
	for i := 1; i <= n; i++ {
		piece := strconv.Itoa(i) + " "
		all.WriteString(piece)
		a.update(s.id, acp.UpdateAgentMessageText(piece))
		if err := pause(ctx, a.opts.faults.work/time.Duration(n)); err != nil {
			return err
		}
	}
	a.remember(s, remembered{"agent", all.String()})
	return nil
}

func (a *chatAgent) plan(s *session) {
	entry := func(text string, status acp.PlanEntryStatus) acp.PlanEntry {
		return acp.PlanEntry{Content: text, Priority: acp.PlanEntryPriorityMedium, Status: status}
	}
	a.update(s.id, acp.UpdatePlan(entry("Read the prompt", acp.PlanEntryStatusCompleted), entry("Answer it", acp.PlanEntryStatusInProgress)))
	a.update(s.id, acp.UpdatePlan(entry("Read the prompt", acp.PlanEntryStatusCompleted), entry("Answer it", acp.PlanEntryStatusCompleted)))
}

func (a *chatAgent) makeNoise(s *session) {
	const piece = 1 << 10
	for left := a.opts.faults.flood; left > 0; left -= piece {
		a.update(s.id, acp.UpdateAgentMessageText(filler(min(left, piece))))
	}
	if n := a.opts.faults.hugeLine; n > 0 {
		a.wire.writeHuge(string(s.id), n)
	}
}

// tool is one tool call: announced with its diff, asked for, done, told.
func (a *chatAgent) tool(ctx context.Context, s *session, asked request) error {
	a.mu.Lock()
	s.calls++
	id := acp.ToolCallId(fmt.Sprintf("call-%d", s.calls))
	a.mu.Unlock()
	name := asked.write
	title, kind := "Write "+name, acp.ToolKindEdit
	path := filepath.Join(s.directory, name)
	var content []acp.ToolCallContent
	if name == "" {
		title, kind, path = "Do nothing", acp.ToolKindOther, s.directory
	} else {
		content = []acp.ToolCallContent{acp.ToolDiffContent(path, practiceText)}
	}
	a.update(s.id, acp.StartToolCall(id, title, acp.WithStartKind(kind), acp.WithStartStatus(acp.ToolCallStatusPending),
		acp.WithStartLocations([]acp.ToolCallLocation{{Path: path}}), acp.WithStartContent(content),
		acp.WithStartRawInput(map[string]any{"path": path})))
	a.mu.Lock()
	ask := s.mode != "auto" && !s.allowed
	a.mu.Unlock()
	if ask {
		allowed, err := a.permission(ctx, s, acp.ToolCallUpdate{ToolCallId: id, Title: &title, Kind: &kind, Content: content})
		if err != nil || !allowed {
			a.update(s.id, acp.UpdateToolCall(id, acp.WithUpdateStatus(acp.ToolCallStatusFailed)))
			return err
		}
	}
	a.update(s.id, acp.UpdateToolCall(id, acp.WithUpdateStatus(acp.ToolCallStatusInProgress)))
	said := "Nothing was done."
	status := acp.ToolCallStatusCompleted
	if name != "" {
		var err error
		if said, err = writeFile(s.directory, name); err != nil {
			said, status = err.Error(), acp.ToolCallStatusFailed
		}
	}
	a.update(s.id, acp.UpdateToolCall(id, acp.WithUpdateStatus(status), acp.WithUpdateRawOutput(said)))
	return nil
}

func (a *chatAgent) permission(ctx context.Context, s *session, call acp.ToolCallUpdate) (bool, error) {
	request := acp.RequestPermissionRequest{SessionId: s.id, ToolCall: call, Options: []acp.PermissionOption{
		{OptionId: "once", Name: "Allow once", Kind: acp.PermissionOptionKindAllowOnce},
		{OptionId: "always", Name: "Always allow", Kind: acp.PermissionOptionKindAllowAlways},
		{OptionId: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
	}}
	if a.opts.faults.exitAt == "permission" {
		time.AfterFunc(50*time.Millisecond, a.end)
	}
	var response acp.RequestPermissionResponse
	if err := a.wire.call(ctx, acp.ClientMethodSessionRequestPermission, request, &response); err != nil {
		return false, err
	}
	switch outcome := response.Outcome; {
	case outcome.Selected != nil:
		a.record.write(event{Event: "permission", Text: string(outcome.Selected.OptionId)})
		a.mu.Lock()
		s.allowed = s.allowed || outcome.Selected.OptionId == "always"
		a.mu.Unlock()
		return outcome.Selected.OptionId == "once" || outcome.Selected.OptionId == "always", nil
	default:
		a.record.write(event{Event: "permission", Text: "cancelled"})
		return false, context.Canceled
	}
}
