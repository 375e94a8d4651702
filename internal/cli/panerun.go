package cli

import (
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) paneRunCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use: "run PANE -- CMD…", Short: "Run a command in a pane's shell, at its prompt, as its user would", Args: cobra.MinimumNArgs(2),
		Long: "Runs a command in the shell of a pane, where its user sees it and finds it in the history. A half-typed line there\nis put aside and comes back at the next prompt. It is refused while a program runs in the pane; it returns when\nthe command has begun: `davit pane wait PANE --for prompt` waits for its end.",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, word := range args[1:] {
				if !utf8.ValidString(word) {
					return usagef("the argument %q is not valid UTF-8, and could not be run as it is", word)
				}
			}
			if id == "" {
				id = newOperationID(time.Now())
			}
			ran, err := call[wire.PaneRan](cmd.Context(), a, "pane.run", wire.PaneRun{Pane: davit.PaneID(args[0]), Argv: args[1:], ClientOperationID: id})
			if err != nil {
				return err
			}
			return a.print(ran, func(w io.Writer) {
				switch {
				case ran.Replayed:
					fmt.Fprintf(w, "the command of %s ran in pane %s before\n", id, ran.Pane)
				case ran.Kept:
					fmt.Fprintf(w, "pane %s runs %s; the half-typed line comes back after it\n", ran.Pane, visible(ran.Line))
				default:
					fmt.Fprintf(w, "pane %s runs %s\n", ran.Pane, visible(ran.Line))
				}
			})
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "operation id: the same one never runs twice")
	return cmd
}
