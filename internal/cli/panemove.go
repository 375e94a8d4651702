package cli

import (
	"context"
	"fmt"
	"io"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) paneRestartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restart PANE", Short: "Start the program of an ended or lost pane again, in the same pane", Args: cobra.ExactArgs(1),
		Long: "Starts the program of an ended or lost pane again; its output stays above. Startup commands are not typed again.\nSecrets of its environment are kept nowhere: they are asked for on the terminal, and never taken from the command line.",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.PaneRestart{Pane: davit.PaneID(args[0])}
			err := a.restart(cmd.Context(), req)
			if davit.CodeOf(err) != davit.CodeConfigMissingParam || !a.canAsk() {
				return err
			}
			missing, _ := davit.AsError(err).Details["missing"].([]any)
			req.Secrets = map[string]string{}
			err = a.asking(cmd.Context(), "Nothing was started.", func(to asker) error {
				for _, name := range missing {
					text, err := to.line(visible(fmt.Sprint(name))+": ", true)
					if err != nil {
						return err
					}
					req.Secrets[fmt.Sprint(name)] = text
				}
				return nil
			})
			if err != nil {
				return err
			}
			return a.restart(cmd.Context(), req)
		},
	}
}

// restart starts a pane's program again and says so.
func (a *app) restart(ctx context.Context, req wire.PaneRestart) error {
	if _, err := call[wire.None](ctx, a, "pane.restart", req); err != nil {
		return err
	}
	return a.done(map[string]any{"pane": req.Pane}, "pane %s: its program was started again", req.Pane)
}

func (a *app) paneMoveCommand() *cobra.Command {
	var req wire.PaneMove
	var beside, after string
	cmd := &cobra.Command{
		Use: "move PANE", Short: "Move a pane beside another, or into a tab of its own", Args: cobra.ExactArgs(1),
		Long: "Moves a pane beside another, or into a tab of its own. No close plan runs: a tab that loses its last pane goes away,\nand one with a close plan keeps it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Pane, req.Beside = davit.PaneID(args[0]), davit.PaneID(beside)
			if after != "" {
				list, err := a.tabs(cmd.Context())
				if err == nil {
					req.After, err = findTab(list.Tabs, after)
				}
				if err != nil {
					return err
				}
			}
			opened, err := call[wire.Opened](cmd.Context(), a, "pane.move", req)
			if err != nil {
				return err
			}
			return a.print(opened, func(w io.Writer) { fmt.Fprintf(w, "pane %s is in tab %s\n", args[0], opened.TabID) })
		},
	}
	cmd.Flags().StringVar(&beside, "beside", "", "the pane to stand beside; without it the pane gets a tab")
	cmd.Flags().StringVar(&req.Side, "side", "", "left, right, up or down of it (right)")
	cmd.Flags().StringVar(&after, "after", "", "the tab behind which the new tab stands")
	return cmd
}
