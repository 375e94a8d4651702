package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"
	"davit/screen"

	"github.com/spf13/cobra"
)

func (a *app) paneCommand() *cobra.Command {
	return noun("pane", "The panes of the open tabs", a.paneListCommand(), a.paneReadCommand(), a.paneBlocksCommand(), a.paneWriteCommand(), a.paneRunCommand(), a.paneSplitCommand(), a.paneCloseCommand(), a.paneWaitCommand(), a.paneRestartCommand(), a.paneMoveCommand())
}

func (a *app) paneListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the panes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := call[wire.PaneList](cmd.Context(), a, "pane.list", wire.None{})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(l.Panes)
			}
			rows := newTable(a.out)
			for _, p := range l.Panes {
				rows.row(string(p.ID), paneState(p), paneProgram(p), p.Directory, p.Title, startupFailed(p))
			}
			return rows.flush()
		},
	}
}

func paneState(p davit.Pane) string {
	if p.Exit != nil {
		if p.Exit.Signal != "" {
			return "ended by " + p.Exit.Signal
		}
		return fmt.Sprintf("exit %d", p.Exit.Code)
	}
	return string(p.Status)
}

// startupFailed says which of a config's commands failed in a pane, and what was not run
// after it (spec tabs T4.1); "" when all went well.
func startupFailed(p davit.Pane) string {
	if p.Startup == nil {
		return ""
	}
	text := "startup failed: " + p.Startup.Command
	if p.Startup.Exit >= 0 {
		text += fmt.Sprintf(" (exit %d)", p.Startup.Exit)
	}
	if n := len(p.Startup.Skipped); n > 0 {
		text += fmt.Sprintf(", %s not run", count(n, "command"))
	}
	return text
}

func paneProgram(p davit.Pane) string {
	switch {
	case p.Practice:
		return p.Agent + " (practice)"
	case p.Agent != "":
		return p.Agent
	case p.Command != "":
		return p.Command
	case len(p.Argv) > 0:
		return strings.Join(p.Argv, " ")
	}
	return p.Shell
}

func (a *app) paneReadCommand() *cobra.Command {
	var scrollback int
	var follow bool
	var from uint64
	cmd := &cobra.Command{
		Use: "read PANE", Short: "Print what a pane shows; with --follow every byte as it comes", Args: cobra.ExactArgs(1),
		Long: "Prints a pane's screen as text. --follow prints every byte of its output from then on instead and returns when the\nprogram ends; Ctrl-C ends the printing alone. Put & behind it to go on working: davit pane read PANE --follow > log &",
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow || cmd.Flags().Changed("from") {
				return a.readOutput(cmd, davit.PaneID(args[0]), from, follow)
			}
			text, err := call[wire.PaneText](cmd.Context(), a, "pane.read", wire.PaneRead{Pane: davit.PaneID(args[0]), Scrollback: scrollback})
			if err != nil {
				return err
			}
			return a.print(text, func(w io.Writer) {
				fmt.Fprintln(w, strings.TrimRight(strings.Join(text.Rows, "\n"), "\n"))
			})
		},
	}
	cmd.Flags().IntVar(&scrollback, "scrollback", 0, "rows of scrollback to print before the screen")
	cmd.Flags().BoolVar(&follow, "follow", false, "print every byte of its output, until it ends")
	cmd.Flags().Uint64Var(&from, "from", 0, "offset to start from")
	return cmd
}

func (a *app) paneWriteCommand() *cobra.Command {
	var enter, paste bool
	var id string
	cmd := &cobra.Command{
		Use: "write PANE TEXT", Short: "Give text to a pane's program; - reads it from stdin", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[1]
			if text == "-" {
				data, err := io.ReadAll(io.LimitReader(a.in, 4<<20))
				if err != nil {
					return err
				}
				text = string(data)
			}
			if id == "" {
				id = "cli-" + newOperationID(time.Now())
			}
			if _, err := call[wire.None](cmd.Context(), a, "pane.write", wire.PaneWrite{Pane: davit.PaneID(args[0]), ID: id, Text: text, Enter: enter, Paste: paste}); err != nil {
				return err
			}
			what := count(len(text), "byte")
			if enter {
				what += " and Enter"
			}
			return a.done(map[string]any{"pane": args[0], "id": id, "bytes": len(text)}, "pane %s was given %s", args[0], what)
		},
	}
	cmd.Flags().BoolVar(&enter, "enter", false, "press Enter after it")
	cmd.Flags().BoolVar(&paste, "paste", false, "frame it as a paste if the program asked for that")
	cmd.Flags().StringVar(&id, "id", "", "id of this input: the same id is not written twice")
	return cmd
}

func (a *app) paneSplitCommand() *cobra.Command {
	var vertical bool
	cmd := &cobra.Command{
		Use: "split PANE [-- CMD…]", Short: "Open a shell, or a command, beside a pane", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.PaneSplit{Pane: davit.PaneID(args[0]), Direction: string(davit.Horizontal), Argv: args[1:]}
			if vertical {
				req.Direction = string(davit.Vertical)
			}
			opened, err := call[wire.Opened](cmd.Context(), a, "pane.split", req)
			if err != nil {
				return err
			}
			return a.print(opened, func(w io.Writer) { fmt.Fprintln(w, opened.Panes[0]) })
		},
	}
	cmd.Flags().BoolVar(&vertical, "vertical", false, "below it instead of beside it")
	return cmd
}

func (a *app) paneCloseCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "close PANE", Short: "Close a pane; the last one closes its tab", Args: cobra.ExactArgs(1),
		Long: "Closes a pane and ends its program. The last pane of a tab closes the tab, with its cleanup. `davit tab undo` brings\nback what was closed last.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := call[wire.None](cmd.Context(), a, "pane.close", wire.PaneClose{Pane: davit.PaneID(args[0]), Yes: yes}); err != nil {
				return err
			}
			return a.done(map[string]any{"closed": args[0]}, "closed pane %s", args[0])
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "close although a program runs")
	return cmd
}

func (a *app) paneWaitCommand() *cobra.Command {
	var req wire.PaneWait
	cmd := &cobra.Command{
		Use: "wait PANE", Short: "Wait for a pane's exit, prompt, or a text on its screen", Args: cobra.ExactArgs(1),
		Long: "Waits until a pane's program has ended, its shell shows a prompt, or a text stands on its screen; --timeout bounds it\n(30 seconds when left out). It prints nothing: its exit status is 0 when it came, and 7 when it did not in time.",
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Pane = davit.PaneID(args[0])
			if req.Text != "" && req.For == "" {
				req.For = "text"
			}
			if req.For == "" {
				return usagef("say what to wait for: --for exit, --for prompt, or --text TEXT")
			}
			text, err := a.waitFor(cmd.Context(), req)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(text)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&req.For, "for", "", "exit, prompt or text")
	cmd.Flags().StringVar(&req.Text, "text", "", "the text to wait for")
	cmd.Flags().IntVar(&req.Timeout, "timeout", 0, "seconds (30)")
	return cmd
}

func (a *app) screenCommand() *cobra.Command {
	var cols, rows int
	var scrollback bool
	render := &cobra.Command{
		Use: "render FILE|-", Short: "Run bytes through the emulator and print the screen", Args: cobra.ExactArgs(1),
		Long: "Runs bytes through davit's terminal emulator, without a host, and prints what a terminal would show:\nfor bug reports and tests.",
		RunE: func(_ *cobra.Command, args []string) error {
			if cols < 1 || rows < 1 || cols > 2000 || rows > 2000 {
				return usagef("--cols and --rows are between 1 and 2000")
			}
			var data []byte
			var err error
			if args[0] == "-" {
				data, err = io.ReadAll(a.in)
			} else {
				data, err = os.ReadFile(args[0])
			}
			if err != nil {
				return davit.Errorf(davit.CodeUsage, "the bytes cannot be read: %w", err)
			}
			report := screen.RenderReport(data, cols, rows, scrollback)
			return a.print(report, func(w io.Writer) {
				fmt.Fprintln(w, strings.TrimRight(strings.Join(report.Rows, "\n"), "\n"))
			})
		},
	}
	render.Flags().IntVar(&cols, "cols", 80, "columns")
	render.Flags().IntVar(&rows, "rows", 24, "rows")
	render.Flags().BoolVar(&scrollback, "scrollback", false, "the scrollback before the screen")
	return noun("screen", "The terminal emulator, by itself", render)
}
