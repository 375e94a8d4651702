package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) paneBlocksCommand() *cobra.Command {
	var last, nth int
	var what string
	cmd := &cobra.Command{
		Use: "blocks PANE", Short: "List the commands of a pane's shell, with the prompt that each was typed at", Args: cobra.ExactArgs(1),
		Long: "Lists the newest commands of a pane's shell, oldest first: number, exit status, command, and what the pane's chips said when\n" +
			"it started. --copy prompt prints that text alone, and --copy CHIP the raw value of one chip: a whole path, a bare branch, the\n" +
			"address of a pull request. It is of the newest command, or of the one that --block names by its number; 1 is the newest.",
		Example: "  davit pane blocks p1 --last 5\n  davit pane blocks p1 --copy prompt\n  davit pane blocks p1 --block 3 --copy github_pr",
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 || nth < 1 {
				return usagef("--last and --block count from 1")
			}
			req := wire.PaneBlocksRequest{Pane: davit.PaneID(args[0]), Last: last}
			if what != "" {
				req.Last = nth
			}
			answer, err := call[wire.PaneBlocks](cmd.Context(), a, "pane.blocks", req)
			if err != nil {
				return err
			}
			if what != "" {
				text, err := copyOfBlock(args[0], answer.Blocks, nth, what)
				if err != nil {
					return err
				}
				return a.print(map[string]string{"pane": args[0], "text": text}, func(w io.Writer) { fmt.Fprintln(w, text) })
			}
			if a.json {
				return a.printJSON(answer.Blocks)
			}
			rows := newTable(a.out)
			for i, b := range answer.Blocks {
				rows.row(strconv.Itoa(len(answer.Blocks)-i), blockState(b), oneLine(b.Command), promptOf(b))
			}
			return rows.flush()
		},
	}
	cmd.Flags().IntVar(&last, "last", 20, "how many of the newest; 0 is all that are kept")
	cmd.Flags().IntVar(&nth, "block", 1, "which command --copy is about; 1 is the newest")
	cmd.Flags().StringVar(&what, "copy", "", "print one thing alone: prompt, or the name of a chip")
	return cmd
}

// copyOfBlock gives what is to be copied of one block (spec chips C5.1).
func copyOfBlock(pane string, blocks []davit.Block, nth int, what string) (string, error) {
	if len(blocks) < nth {
		return "", davit.Errorf(davit.CodeNotFound, "pane %s has no command %d: it has %d", pane, nth, len(blocks))
	}
	b := blocks[len(blocks)-nth]
	kept := davit.BlockPrompt{Missing: "nothing was kept"}
	if b.Prompt != nil {
		kept = *b.Prompt
	}
	text := kept.Text
	if what != "prompt" {
		i := slices.IndexFunc(kept.Chips, func(c davit.Chip) bool { return c.Kind == what })
		if i < 0 && len(kept.Chips) > 0 {
			return "", davit.Errorf(davit.CodeNotFound, "the prompt of `%s` had no chip %s", oneLine(b.Command), what).WithHint("it was: %s", kept.Text)
		}
		if i >= 0 {
			text = kept.Chips[i].Value
		}
	}
	if text == "" {
		return "", davit.Errorf(davit.CodeNotFound, "there is no prompt of `%s`: %s", oneLine(b.Command), kept.Missing)
	}
	return text, nil
}

func blockState(b davit.Block) string {
	switch {
	case b.End == nil:
		return "runs"
	case b.Exit == nil:
		return "ended"
	}
	return fmt.Sprintf("exit %d", *b.Exit)
}

func promptOf(b davit.Block) string {
	switch {
	case b.Prompt == nil:
		return ""
	case b.Prompt.Text == "":
		return "(" + b.Prompt.Missing + ")"
	}
	return b.Prompt.Text
}
