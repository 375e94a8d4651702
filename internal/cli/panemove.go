package cli

import (
	"fmt"
	"io"
	"strings"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) paneRestartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restart PANE", Short: "Start the program of an ended or lost pane again, in the same pane", Args: cobra.ExactArgs(1),
		Long: "Starts the program of an ended or lost pane again; its output stays above. Startup commands are not typed again.\nSecrets of its environment are kept nowhere: they are asked for on the terminal, and never taken from the command line.",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.PaneRestart{Pane: davit.PaneID(args[0])}
			_, err := call[wire.None](cmd.Context(), a, "pane.restart", req)
			if davit.CodeOf(err) != davit.CodeConfigMissingParam || !a.isTerminal() {
				return err
			}
			missing, _ := davit.AsError(err).Details["missing"].([]any)
			req.Secrets = map[string]string{}
			for _, name := range missing {
				text, err := a.askSecret(fmt.Sprint(name))
				if err != nil {
					return err
				}
				req.Secrets[fmt.Sprint(name)] = text
			}
			_, err = call[wire.None](cmd.Context(), a, "pane.restart", req)
			return err
		},
	}
}

// askSecret asks for a value on the terminal, which does not show it.
func (a *app) askSecret(name string) (string, error) {
	fmt.Fprintf(a.err, "%s: ", name)
	value, err := term.ReadPassword(int(a.in.Fd()))
	fmt.Fprintln(a.err)
	return strings.TrimRight(string(value), "\r\n"), err
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
