package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) noticeCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List what has not been dismissed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := call[wire.NoticeList](cmd.Context(), a, "notice.list", wire.None{})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(l.Notices)
			}
			for _, n := range l.Notices {
				a.printNotice(a.out, n)
			}
			return nil
		},
	}
	dismiss := &cobra.Command{
		Use: "dismiss NOTICE", Short: "Take a notice away", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := a.notice(cmd.Context(), args[0])
			if _, err := call[wire.None](cmd.Context(), a, "notice.dismiss", wire.NoticeRef{ID: args[0]}); err != nil {
				return err
			}
			return a.done(map[string]any{"dismissed": args[0]}, "dismissed: %s", visible(n.Title))
		},
	}
	act := &cobra.Command{
		Use: "act NOTICE ACTION", Short: "Do what one of a notice's buttons says", Args: cobra.ExactArgs(2),
		Long: "Does what one of a notice's buttons says; `davit notice list` shows them as commands. A cleanup that is run again goes\non in the background: when it fails once more there is a new notice.",
		RunE: func(cmd *cobra.Command, args []string) error {
			n := a.notice(cmd.Context(), args[0])
			if _, err := call[wire.None](cmd.Context(), a, "notice.act", wire.NoticeAct{ID: args[0], Action: args[1]}); err != nil {
				return a.unknownAction(davit.AsError(err), n)
			}
			label := args[1]
			if i := slices.IndexFunc(n.Actions, func(act davit.NoticeAction) bool { return act.ID == args[1] }); i >= 0 {
				label = n.Actions[i].Label
			}
			return a.done(map[string]any{"notice": args[0], "action": args[1]}, "%s: %s", visible(label), visible(noticeActed(args[1], n)))
		},
	}
	return noun("notice", "What davit has to tell", list, dismiss, act)
}

// noticeActed says what a button has done.
func noticeActed(action string, n davit.Notice) string {
	switch action {
	case "run_again":
		return "the cleanup runs in the background (" + n.Title + ")"
	case "dismiss":
		return n.Title
	}
	return "done (" + n.Title + ")"
}

// unknownAction names the buttons that a notice has.
func (a *app) unknownAction(e *davit.Error, n davit.Notice) error {
	var ids []string
	for _, action := range n.Actions {
		if action.Kind == "host" {
			ids = append(ids, action.ID)
		}
	}
	if e.Code == davit.CodeNoticeActionUnknown && len(ids) > 0 {
		return e.WithHint("it has: %s", strings.Join(ids, ", "))
	}
	return e
}

// notice is the one of an id, as it is before something is done with it; empty when there
// is none, which the act itself tells.
func (a *app) notice(ctx context.Context, id string) davit.Notice {
	l, err := call[wire.NoticeList](ctx, a, "notice.list", wire.None{})
	if err != nil {
		return davit.Notice{}
	}
	if i := slices.IndexFunc(l.Notices, func(n davit.Notice) bool { return n.ID == id }); i >= 0 {
		return l.Notices[i]
	}
	return davit.Notice{}
}

func (a *app) printNotice(w io.Writer, n davit.Notice) {
	fmt.Fprintf(w, "%s  [%s] %s\n", visible(n.ID), n.Level, visible(n.Title))
	for _, line := range strings.Split(strings.TrimSpace(n.Body), "\n") {
		if line != "" {
			fmt.Fprintf(w, "    %s\n", visible(line))
		}
	}
	if output, ok := n.Details["output"].(string); ok && output != "" {
		for line := range strings.Lines(output) {
			fmt.Fprintf(w, "    | %s\n", visible(strings.TrimRight(line, "\r\n")))
		}
	}
	for _, action := range n.Actions {
		if action.Kind == "host" {
			fmt.Fprintf(w, "    %s: davit notice act %s %s\n", action.Label, a.word(n.ID), a.word(action.ID))
		}
	}
}
