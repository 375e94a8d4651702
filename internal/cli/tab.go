package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) tabCommand() *cobra.Command {
	return noun("tab", "The open tabs", a.tabListCommand(), a.tabNewCommand(), a.tabCloseCommand(), a.tabUndoCommand(), a.tabRenameCommand())
}

func (a *app) tabListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the open tabs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := call[wire.TabList](cmd.Context(), a, "tab.list", wire.None{})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list.Tabs)
			}
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, t := range list.Tabs {
				where := ""
				if t.Worktree != nil {
					where = t.Worktree.Branch
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.ID, t.Title, count(len(t.Panes), "pane"), where)
			}
			return table.Flush()
		},
	}
}

func (a *app) tabNewCommand() *cobra.Command {
	var title string
	cmd := &cobra.Command{
		Use: "new [-- CMD…]", Short: "Open a tab with a shell, or with a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			opened, err := started[wire.Opened](cmd.Context(), a, "tab.open", wire.TabOpen{Directory: a.dir, Argv: args, Title: title})
			if err != nil {
				return err
			}
			return a.print(opened, func(w io.Writer) { a.printOpened(w, opened) })
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "title of the tab")
	return cmd
}

func (a *app) tabCloseCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "close TAB…", Short: "Close tabs and run their cleanup", Args: cobra.MinimumNArgs(1),
		Long: "Closes tabs, by id, by title, or by the branch of their worktree. Their cleanup runs in the background; `davit tab undo` brings a tab back for a minute.",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := call[wire.TabList](cmd.Context(), a, "tab.list", wire.None{})
			if err != nil {
				return err
			}
			req := wire.TabClose{Yes: yes}
			for _, arg := range args {
				id, err := findTab(list.Tabs, arg)
				if err != nil {
					return err
				}
				req.Tabs = append(req.Tabs, id)
			}
			closed, err := call[wire.TabClosed](cmd.Context(), a, "tab.close", req)
			if davit.CodeOf(err) == davit.CodeTabCloseConfirm && a.isTerminal() && a.confirm(davit.AsError(err).Message+". Close all the same?") {
				req.Yes = true
				closed, err = call[wire.TabClosed](cmd.Context(), a, "tab.close", req)
			}
			if err != nil {
				return err
			}
			return a.print(closed, func(w io.Writer) {
				fmt.Fprintf(w, "closed %s; `davit tab undo` brings it back until %s\n", count(len(closed.Closed), "tab"), closed.Undo.Local().Format("15:04:05"))
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "close although programs run")
	return cmd
}

// findTab finds a tab by id, else by title, or by the branch of its worktree.
func findTab(tabs []wire.TabSummary, arg string) (davit.TabID, error) {
	byTitle := map[davit.TabID]string{}
	for _, t := range tabs {
		if string(t.ID) == arg {
			return t.ID, nil
		}
		if t.Title == arg || (t.Worktree != nil && t.Worktree.Branch == arg) {
			byTitle[t.ID] = t.Title
		}
	}
	switch ids := slices.Sorted(maps.Keys(byTitle)); len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", davit.Errorf(davit.CodeTabNotFound, "there is no open tab %q", arg).WithHint("`davit tab list` shows what there is")
	default:
		return "", davit.Errorf(davit.CodeTabAmbiguous, "%d tabs are called %q", len(ids), arg).WithHint("use an id").With("candidates", ids)
	}
}

func (a *app) confirm(question string) bool {
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	state, err := term.MakeRaw(int(a.in.Fd()))
	if err != nil {
		return false
	}
	defer func() { _ = term.Restore(int(a.in.Fd()), state) }()
	var key [1]byte
	_, err = a.in.Read(key[:])
	fmt.Fprintf(a.err, "%c\r\n", key[0])
	return err == nil && (key[0] == 'y' || key[0] == 'Y')
}

func (a *app) tabUndoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "undo [TAB]", Short: "Bring back a closed tab, the last one when none is named", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ref wire.TabRef
			if len(args) > 0 {
				ref.Tab = davit.TabID(args[0])
			}
			back, err := call[wire.TabBack](cmd.Context(), a, "tab.undoClose", ref)
			if err != nil {
				return err
			}
			return a.print(back, func(w io.Writer) { a.printBack(cmd.Context(), w, back.Tab) })
		},
	}
}

// printBack says what came back with a tab, and what did not.
func (a *app) printBack(ctx context.Context, w io.Writer, id davit.TabID) {
	fmt.Fprintf(w, "tab %s is back\n", id)
	l, err := call[wire.TabList](ctx, a, "tab.list", wire.None{})
	if err != nil {
		return // it is back; the rest is a courtesy
	}
	for _, t := range l.Tabs {
		if t.ID != id || t.OnClose == nil || !t.OnClose.Ran {
			continue
		}
		fmt.Fprintln(w, "  its programs were ended; its cleanup has begun and is not run again")
		if wt := t.Worktree; wt != nil {
			if _, err := os.Stat(wt.Path); errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(w, "  its worktree %s is gone\n", wt.Path)
			}
		}
	}
}

func (a *app) tabRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename TAB TITLE", Short: "Give a tab a title; an empty one takes it back", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := call[wire.TabList](cmd.Context(), a, "tab.list", wire.None{})
			if err != nil {
				return err
			}
			id, err := findTab(list.Tabs, args[0])
			if err != nil {
				return err
			}
			_, err = call[wire.None](cmd.Context(), a, "tab.rename", wire.TabEdit{Tab: id, Title: &args[1]})
			return err
		},
	}
}

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
				fmt.Fprintf(a.out, "%s  [%s] %s\n", n.ID, n.Level, n.Title)
				for _, line := range strings.Split(strings.TrimSpace(n.Body), "\n") {
					if line != "" {
						fmt.Fprintf(a.out, "    %s\n", line)
					}
				}
				if output, ok := n.Details["output"].(string); ok && output != "" {
					for line := range strings.Lines(output) {
						fmt.Fprintf(a.out, "    | %s\n", strings.TrimRight(line, "\r\n"))
					}
				}
				for _, action := range n.Actions {
					if action.Kind == "host" {
						fmt.Fprintf(a.out, "    %s: davit notice act %s %s\n", action.Label, n.ID, action.ID)
					}
				}
			}
			return nil
		},
	}
	dismiss := &cobra.Command{
		Use: "dismiss NOTICE", Short: "Take a notice away", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := call[wire.None](cmd.Context(), a, "notice.dismiss", wire.NoticeRef{ID: args[0]})
			return err
		},
	}
	act := &cobra.Command{
		Use: "act NOTICE ACTION", Short: "Do what one of a notice's buttons says", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := call[wire.None](cmd.Context(), a, "notice.act", wire.NoticeAct{ID: args[0], Action: args[1]})
			return err
		},
	}
	return noun("notice", "What davit has to tell", list, dismiss, act)
}
