package cli

import (
	"context"
	"fmt"

	"davit"
	"davit/internal/attach"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) attachCommand() *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use: "attach [PANE | --new [-- CMD…]]", Short: "Show a pane in this terminal; Ctrl-\\ detaches",
		Long: "Shows a pane in this terminal: keys go to its program, and it goes on when you detach with Ctrl-\\.\n--new opens a tab with CMD, or with your shell, and attaches to it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if term.IsTerminal(int(a.out.Fd())) && !term.IsTerminal(int(a.in.Fd())) {
				return usagef("attach takes its keys from a terminal, and its input is none: nothing could be typed, and no key would detach it")
			}
			pane, err := a.attachTo(cmd.Context(), args, fresh)
			if err != nil {
				return err
			}
			return a.attach(cmd.Context(), pane)
		},
	}
	cmd.Flags().BoolVar(&fresh, "new", false, "open a new tab and attach to it")
	return cmd
}

// attachTo finds or opens the pane to show.
func (a *app) attachTo(ctx context.Context, args []string, fresh bool) (davit.PaneID, error) {
	if !fresh {
		switch len(args) {
		case 1:
			return davit.PaneID(args[0]), nil
		case 0:
			return a.onlyPane(ctx)
		}
		return "", usagef("attach takes one pane; a command needs --new --")
	}
	req := wire.TabOpen{Directory: a.dir, Argv: args}
	if cols, rows, err := term.GetSize(int(a.out.Fd())); err == nil {
		req.Cols, req.Rows = cols, rows
	}
	opened, err := started[wire.Opened](ctx, a, "tab.open", req)
	if err != nil {
		return "", err
	}
	return opened.Panes[0], nil
}

// onlyPane is the pane of `davit attach` alone, when there is just one.
func (a *app) onlyPane(ctx context.Context) (davit.PaneID, error) {
	l, err := call[wire.PaneList](ctx, a, "pane.list", wire.None{})
	if err != nil {
		return "", err
	}
	switch len(l.Panes) {
	case 0:
		return "", davit.Errorf(davit.CodePaneNotFound, "there is no pane yet").WithHint("`davit attach --new` opens one")
	case 1:
		return l.Panes[0].ID, nil
	}
	return "", davit.Errorf(davit.CodePaneNotFound, "there are %d panes", len(l.Panes)).WithHint("name one of `davit pane list`")
}

func (a *app) attach(ctx context.Context, pane davit.PaneID) error {
	a.onOneCore()
	c, err := a.client()
	if err != nil {
		return err
	}
	name := "attach-" + newOperationID(now())[14:26]
	outcome, err := attach.Run(ctx, attach.Config{
		In: a.in, Out: a.out,
		Dial: func(ctx context.Context, from *uint64, cols, rows int) (attach.Conn, error) {
			return c.Attach(ctx, name, pane, from, cols, rows)
		},
	})
	if err != nil {
		return err
	}
	for _, refused := range outcome.Refused {
		a.note("not typed: %s", refused)
	}
	switch {
	case outcome.Exit != nil:
		a.exit = outcome.Exit.Code
	case outcome.Detached && a.isTerminal():
		fmt.Fprintf(a.err, "davit: detached; it goes on: davit attach %s\n", pane)
	}
	return nil
}
