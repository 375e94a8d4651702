package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) tabCommand() *cobra.Command {
	return noun("tab", "The open tabs", a.tabListCommand(), a.tabNewCommand(), a.tabCloseCommand(), a.tabUndoCommand(), a.tabRenameCommand(),
		a.tabColorCommand(), a.tabMoveCommand(), a.tabPinCommand(), a.tabUnpinCommand(), a.tabGroupCommand(), a.tabUngroupCommand())
}

func (a *app) tabListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the open tabs, with their groups and pins", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list.Tabs)
			}
			rows := newTable(a.out)
			for _, t := range list.Tabs {
				where := ""
				if t.Worktree != nil {
					where = t.Worktree.Branch
				}
				var marks []string
				if t.Pinned {
					marks = append(marks, "pinned")
				}
				if g := groupOf(list, t); g != "" {
					marks = append(marks, "in "+g)
				}
				rows.row(string(t.ID), t.Title, count(len(t.Panes), "pane"), where, strings.Join(marks, ", "))
			}
			return rows.flush()
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
	var others, after, group, outside string
	cmd := &cobra.Command{
		Use: "close [TAB…]", Short: "Close tabs and run their cleanup",
		Long: "Closes tabs, by id, by title, or by the branch of their worktree; or those that --others, --after, --group and --outside name.\nTheir cleanup runs in the background; `davit tab undo` brings them back for a minute.",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 0 && others+after+group+outside == "" {
				return usagef("say which tabs: their ids or titles, or one of --others, --after, --group, --outside")
			}
			req := wire.TabClose{Yes: yes}
			if req.Tabs, err = findTabs(list, args); err == nil {
				err = errors.Join(name(tabIn, list, others, &req.Others), name(tabIn, list, after, &req.After), name(findGroup, list, group, &req.Group), name(findGroup, list, outside, &req.Outside))
			}
			if err != nil {
				return err
			}
			closed, err := a.closeTabs(cmd.Context(), req)
			if err != nil {
				return err
			}
			return a.print(closed, func(w io.Writer) { printClosed(w, closed) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "close although programs run")
	cmd.Flags().StringVar(&others, "others", "", "every tab but this one and pinned ones")
	cmd.Flags().StringVar(&after, "after", "", "those behind this tab, pinned ones left out")
	cmd.Flags().StringVar(&group, "group", "", "those of this group")
	cmd.Flags().StringVar(&outside, "outside", "", "those not of this group, pinned ones left out")
	return cmd
}

// closeTabs closes, and asks on a terminal when something would be cut off. What is
// confirmed is the list that the refusal named, not what the selectors mean by then.
func (a *app) closeTabs(ctx context.Context, req wire.TabClose) (wire.TabClosed, error) {
	closed, err := call[wire.TabClosed](ctx, a, "tab.close", req)
	if davit.CodeOf(err) != davit.CodeTabCloseConfirm || !a.isTerminal() || !a.confirm(davit.AsError(err).Message+". Close all the same?") {
		return closed, err
	}
	again := wire.TabClose{Yes: true}
	ids, _ := davit.AsError(err).Details["tabs"].([]any)
	for _, id := range ids {
		text, _ := id.(string)
		again.Tabs = append(again.Tabs, davit.TabID(text))
	}
	if len(again.Tabs) == 0 {
		again.Tabs = req.Tabs
	}
	return call[wire.TabClosed](ctx, a, "tab.close", again)
}

func printClosed(w io.Writer, closed wire.TabClosed) {
	switch left := time.Until(closed.Undo); {
	case len(closed.Closed) == 0:
		fmt.Fprintln(w, "there is no such tab: nothing was closed")
	case left <= 0:
		fmt.Fprintf(w, "closed %s\n", count(len(closed.Closed), "tab"))
	default:
		fmt.Fprintf(w, "closed %s; `davit tab undo` brings %s back until %s\n", count(len(closed.Closed), "tab"), pronoun(len(closed.Closed)), closed.Undo.Local().Format("15:04:05"))
	}
	for _, going := range closed.Going {
		printLines(w, going.Text)
	}
	for _, ahead := range closed.Cleanups {
		printLines(w, ahead.Text)
	}
}

func printLines(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "  %s\n", visible(strings.TrimRight(line, "\n")))
	}
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
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
	var ref wire.TabRef
	cmd := &cobra.Command{
		Use: "undo [TAB]", Short: "Bring back what was closed last: tabs, their group, or a pane", Args: cobra.MaximumNArgs(1),
		Long: "Brings back what the last close closed, all of it. With a tab (its id, its title, or its branch), that tab alone; with --batch, what one close closed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && ref.Batch != "" {
				return usagef("name a tab or a batch, not both")
			}
			if len(args) > 0 {
				ref.Tab = davit.TabID(args[0])
			}
			back, err := call[wire.TabBack](cmd.Context(), a, "tab.undoClose", ref)
			if err != nil {
				return err
			}
			return a.print(back, func(w io.Writer) { a.printBack(cmd.Context(), w, back) })
		},
	}
	cmd.Flags().StringVar(&ref.Batch, "batch", "", "what one close closed, as its --json names it")
	return cmd
}

// printBack says what came back, and what did not.
func (a *app) printBack(ctx context.Context, w io.Writer, back wire.TabBack) {
	list, err := a.tabs(ctx)
	if err != nil {
		list = wire.TabList{} // it is back; the rest is a courtesy
	}
	for _, id := range back.Tabs {
		i := slices.IndexFunc(list.Tabs, func(t wire.TabSummary) bool { return t.ID == id })
		if i < 0 {
			fmt.Fprintf(w, "tab %s is back\n", id)
			continue
		}
		t := list.Tabs[i]
		group := ""
		if g := groupOf(list, t); g != "" {
			group = " in " + g
		}
		fmt.Fprintf(w, "tab %s is back%s\n", id, group)
	}
	for _, note := range back.Notes {
		fmt.Fprintf(w, "  %s\n", visible(note))
	}
	if back.Pane != "" {
		fmt.Fprintf(w, "pane %s is back in tab %s\n", back.Pane, back.Tab)
	}
}

func (a *app) tabRenameCommand() *cobra.Command {
	return a.tabEdit("rename TAB TITLE", "Give a tab a title; an empty one takes it back", "tab.rename", func(_ wire.TabList, edit *wire.TabEdit, arg string) error {
		edit.Title = &arg
		return nil
	})
}
