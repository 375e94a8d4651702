package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/store"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) sessionSendCommand() *cobra.Command {
	var wait bool
	var timeout int
	var operation string
	cmd := &cobra.Command{
		Use: "send SESSION [TEXT|-]", Short: "Send a message; - or nothing reads it from stdin", Args: cobra.RangeArgs(1, 2),
		Long: "Sends a message, or queues it while a turn runs. The operation id on stderr makes it safe to ask again:\nthe same id is never sent twice. --wait waits until the turn of this message has ended and prints the reply;\nthe exit status is 1 when it ended otherwise than by the agent's own word.",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.messageText(args)
			if err != nil {
				return err
			}
			s, err := a.session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if operation != "" {
				if fault := store.OperationFault(operation, time.Now()); fault != nil {
					return fault
				}
			}
			operation := cmp.Or(operation, newOperationID(time.Now()))
			a.note("operation: %s", operation)
			sub, err := mutate[davit.Submission](cmd.Context(), a, s, operation, "agentSession.send", func(m wire.SessionMutation) any {
				return wire.SessionSend{SessionMutation: m, Text: text}
			})
			if davit.CodeOf(err) == davit.CodeHostDown {
				err = davit.AsError(err).WithHint("start it again with `davit up --detach`, then send it again with --operation-id %s: it is not sent twice", operation)
			}
			if err != nil {
				return err
			}
			if wait {
				return a.awaitReply(cmd.Context(), s, sub, timeout)
			}
			return a.print(sub, func(w io.Writer) { fmt.Fprintln(w, sentWords(sub)) })
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the turn and print the reply")
	cmd.Flags().IntVar(&timeout, "timeout", 0, "seconds to wait at most (default: until it ends)")
	cmd.Flags().StringVar(&operation, "operation-id", "", "operation id (minted when absent)")
	return cmd
}

func (a *app) messageText(args []string) (string, error) {
	text := "-"
	if len(args) > 1 {
		text = args[1]
	}
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(a.in, 8<<20))
		if err != nil {
			return "", davit.Errorf(davit.CodeUsage, "the message cannot be read: %w", err)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("the message is empty")
	}
	return text, nil
}

func sentWords(sub davit.Submission) string {
	switch sub.State {
	case davit.SubmissionQueued:
		return "queued until the turn has ended"
	case davit.SubmissionRejected:
		return "not taken: " + oneLine(sub.Reason)
	case davit.SubmissionUnknown:
		return "not known to have reached the agent; look before you send it again"
	}
	return "sent"
}

// replied is `davit session send --wait --json`.
type replied struct {
	Session    davit.SessionID  `json:"sessionId"`
	Submission davit.Submission `json:"submission"`
	Turn       davit.TurnState  `json:"turn"`
	Reply      string           `json:"reply"`
}

// awaitReply follows the journal from before the message to the end of its turn.
func (a *app) awaitReply(ctx context.Context, s davit.Session, sub davit.Submission, timeout int) error {
	late := davit.Errorf(davit.CodeWaitTimeout, "the turn did not end within %d seconds; it goes on", timeout).
		WithHint("`davit session show %s --follow` shows it", s.ID)
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(timeout)*time.Second, late)
		defer cancel()
	}
	reply := &awaited{session: s, submission: sub, log: newChatLog(), tell: func(q string) { a.note("it asks\n%s", q) }}
	if s.Status == davit.AgentWorking || s.Status == davit.AgentWaiting {
		reply.turn = "?" // of an earlier message; its rows may lie before the cursor
	}
	err := a.follow(ctx, s.ID, s.Cursor, reply.row)
	if err != nil {
		return err
	}
	switch sub := reply.submission; sub.State {
	case davit.SubmissionRejected, davit.SubmissionUnknown:
		if reply.end.State == "" {
			return davit.Errorf(davit.CodeSessionNotRunning, "the message was %s", sentWords(sub)).With("submission", sub)
		}
	}
	if reply.end.Reason != "end_turn" {
		a.exit = 1
	}
	return a.print(replied{Session: s.ID, Submission: reply.submission, Turn: reply.end, Reply: reply.log.said(reply.mine)}, func(w io.Writer) {
		if text := plain(reply.log.said(reply.mine)); text != "" {
			fmt.Fprintln(w, strings.TrimRight(text, "\n"))
		}
		if words := turnWords(reply.end); words != "" {
			a.note("%s", strings.TrimPrefix(words, "- "))
		}
	})
}

// awaited finds the turn of one message among the rows. Messages are taken in order and a
// turn begins with each: it is the turn that runs when the message is not queued any more,
// or the next that begins.
type awaited struct {
	session    davit.Session
	submission davit.Submission
	log        *chatLog
	turn       string // the one that runs, "" between turns
	mine       string
	due        bool // the message has left the queue
	end        davit.TurnState
	tell       func(question string)
}

// row says whether the turn has ended.
func (r *awaited) row(row davit.JournalRow) bool {
	r.log.apply(row)
	b := row.Body
	switch {
	case b.Submission != nil && b.Submission.ID == r.submission.ID:
		r.submission = *b.Submission
		r.due = r.submission.State != davit.SubmissionQueued
		if r.submission.State == davit.SubmissionRejected || (r.submission.State == davit.SubmissionUnknown && r.mine == "") {
			return true
		}
	case b.TurnState != nil && b.TurnState.State == "running":
		r.turn = row.Turn
	case b.TurnState != nil && r.mine != "" && row.Turn == r.mine:
		r.end = *b.TurnState
		return true
	case b.TurnState != nil:
		r.turn = ""
	case isOpen(row) && r.mine != "" && row.Turn == r.mine:
		r.tell(newChatPrinter(nil, r.session).question(row))
	}
	if r.due && r.mine == "" && r.turn != "" && r.turn != "?" {
		r.mine = r.turn
	}
	return false
}

func (a *app) sessionAnswerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "answer SESSION [QUESTION] OPTION", Short: "Answer a permission question: an option's id, or yes, always, no", Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			open, err := a.openQuestions(cmd.Context(), s.ID)
			if err != nil {
				return err
			}
			item := ""
			if len(args) == 3 {
				item = args[1]
			}
			question, err := pickQuestion(s, open, item)
			if item != "" && davit.CodeOf(err) != "" {
				err = a.resolved(cmd.Context(), s, item, err)
			}
			if err != nil {
				return err
			}
			option, err := pickOption(*question.Body.Approval, args[len(args)-1])
			if err != nil {
				return err
			}
			row, err := mutate[davit.JournalRow](cmd.Context(), a, s, "", "agentSession.respond", func(m wire.SessionMutation) any {
				return wire.SessionRespond{SessionMutation: m, Item: question.Item, Revision: question.Revision, Option: option}
			})
			if err != nil {
				return err
			}
			return a.print(row, func(w io.Writer) { fmt.Fprintln(w, newChatPrinter(nil, s).question(row)) })
		},
	}
}

// resolved says by whom a question was answered that is not open; otherwise it is the error
// that there is (spec session S1.7).
func (a *app) resolved(ctx context.Context, s davit.Session, item string, otherwise error) error {
	log, _, err := a.readAll(ctx, s.ID)
	if err != nil {
		return err
	}
	it := log.at[item]
	if it == nil || it.row.Body.Approval == nil || it.row.Body.Approval.State == "open" {
		return otherwise
	}
	q := *it.row.Body.Approval
	e := davit.Errorf(davit.CodeAlreadyResolved, "%s is resolved already: %s", item, answerWords(q)).
		WithHint("`davit session show %s` shows what was asked", s.ID).With("approval", q).With("state", q.State)
	if q.Choice != "" {
		e.With("choice", q.Choice)
	}
	if q.By != "" {
		e.With("by", q.By)
	}
	return e
}

// answerWords is what became of a question.
func answerWords(q davit.Approval) string {
	text := oneLine(q.State)
	if i := slices.IndexFunc(q.Options, func(o davit.ApprovalOption) bool { return o.ID == q.Choice }); i >= 0 {
		text += fmt.Sprintf(" with %q", oneLine(q.Options[i].Name))
	} else if q.Choice != "" {
		text += fmt.Sprintf(" with %q", oneLine(q.Choice))
	}
	if q.By != "" {
		text += " by " + oneLine(q.By)
	}
	if q.Reason != "" {
		text += ", " + oneLine(q.Reason)
	}
	return text
}

// pickQuestion finds the question that is meant; with one open it need not be named.
func pickQuestion(s davit.Session, open []davit.JournalRow, item string) (davit.JournalRow, error) {
	var items []string
	for _, row := range open {
		if row.Item == item || (item == "" && len(open) == 1) {
			return row, nil
		}
		items = append(items, fmt.Sprintf("%s: %s", row.Item, oneLine(row.Body.Approval.Title)))
	}
	switch {
	case len(open) == 0:
		return davit.JournalRow{}, davit.Errorf(davit.CodeAlreadyResolved, "%s asks nothing", s.ID).WithHint("`davit session show %s` shows what was asked", s.ID)
	case item == "":
		return davit.JournalRow{}, davit.Errorf(davit.CodeSessionAmbiguous, "%s asks %d questions", s.ID, len(open)).WithHint("name the question").With("candidates", items)
	}
	return davit.JournalRow{}, davit.Errorf(davit.CodeNotFound, "%s has no open question %q", s.ID, item).WithHint("name one that is open").With("candidates", items)
}

// pickOption takes an option's id; or yes, always and no, which mean the kind of option.
func pickOption(q davit.Approval, word string) (string, error) {
	kinds := map[string][]string{
		"yes": {"allow_once", "allow_always"}, "always": {"allow_always"}, "no": {"reject_once", "reject_always"},
	}
	var ids []string
	for _, o := range q.Options {
		if o.ID == word {
			return o.ID, nil
		}
		ids = append(ids, fmt.Sprintf("%s: %s", o.ID, oneLine(o.Name)))
	}
	for _, kind := range kinds[strings.ToLower(word)] {
		for _, o := range q.Options {
			if o.Kind == kind {
				return o.ID, nil
			}
		}
	}
	if len(ids) == 0 {
		return "", errors.New("the question has no options")
	}
	return "", davit.Errorf(davit.CodeInvalid, "%q is no answer to %q", word, oneLine(q.Title)).WithHint("use an option's id, or yes, always, no").With("candidates", ids)
}
