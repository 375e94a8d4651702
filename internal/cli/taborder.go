package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) tabs(ctx context.Context) (wire.TabList, error) {
	return call[wire.TabList](ctx, a, "tab.list", wire.None{})
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

func tabIn(list wire.TabList, arg string) (davit.TabID, error) { return findTab(list.Tabs, arg) }

func findTabs(list wire.TabList, args []string) ([]davit.TabID, error) {
	var ids []davit.TabID
	for _, arg := range args {
		id, err := findTab(list.Tabs, arg)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// findGroup finds a group by id, else by name without regard to case.
func findGroup(list wire.TabList, arg string) (davit.GroupID, error) {
	var ids []davit.GroupID
	for _, g := range list.Groups {
		if string(g.ID) == arg {
			return g.ID, nil
		}
		if strings.EqualFold(g.Name, arg) {
			ids = append(ids, g.ID)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", davit.Errorf(davit.CodeGroupNotFound, "there is no group %q", arg).WithHint("`davit group list` shows what there is")
	}
	return "", davit.Errorf(davit.CodeTabAmbiguous, "%d groups are called %q", len(ids), arg).WithHint("use an id").With("candidates", ids)
}

// name fills in what an argument names; an empty one names nothing.
func name[ID ~string](find func(wire.TabList, string) (ID, error), list wire.TabList, arg string, into *ID) (err error) {
	if arg != "" {
		*into, err = find(list, arg)
	}
	return err
}

// groupOf names the group of a tab, for a person.
func groupOf(list wire.TabList, t wire.TabSummary) string {
	for _, g := range list.Groups {
		if g.ID == t.Group && t.Group != "" {
			if g.Name != "" {
				return g.Name
			}
			return string(g.ID)
		}
	}
	return ""
}

// tabEdit is a command that changes one tab by its second argument.
func (a *app) tabEdit(use, short, operation string, set func(wire.TabList, *wire.TabEdit, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(len(strings.Fields(use)) - 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			var edit wire.TabEdit
			if edit.Tab, err = findTab(list.Tabs, args[0]); err != nil {
				return err
			}
			if err := set(list, &edit, args[len(args)-1]); err != nil {
				return err
			}
			done, err := call[wire.TabEdited](cmd.Context(), a, operation, edit)
			if err != nil {
				return err
			}
			return a.print(done, func(w io.Writer) {
				fmt.Fprintf(w, "tab %s %s\n", edit.Tab, edited(edit))
				printNotes(w, done.Notes)
			})
		},
	}
}

func printNotes(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(w, "  %s\n", visible(note))
	}
}

// edited says what an edit made of a tab.
func edited(edit wire.TabEdit) string {
	switch {
	case edit.Title != nil && *edit.Title == "":
		return "has no title of its own any more"
	case edit.Title != nil:
		return "is called " + visible(*edit.Title)
	case edit.Color != nil && *edit.Color == "":
		return "has no colour any more"
	case edit.Color != nil:
		return "is " + *edit.Color
	case edit.Pinned != nil && *edit.Pinned:
		return "is pinned"
	case edit.Pinned != nil:
		return "is not pinned any more"
	}
	return "was moved"
}

func (a *app) tabColorCommand() *cobra.Command {
	return a.tabEdit("color TAB COLOR", "Give a tab a colour; none takes it back", "tab.recolor", func(_ wire.TabList, edit *wire.TabEdit, arg string) error {
		if arg == "none" {
			arg = ""
		}
		edit.Color = &arg
		return nil
	})
}

func (a *app) tabPinCommand() *cobra.Command {
	return a.tabEdit("pin TAB", "Pin a tab, and its group with it: it stands before all others", "tab.pin", pinned(true))
}

func (a *app) tabUnpinCommand() *cobra.Command {
	return a.tabEdit("unpin TAB", "Let a pinned tab go", "tab.pin", pinned(false))
}

func pinned(yes bool) func(wire.TabList, *wire.TabEdit, string) error {
	return func(_ wire.TabList, edit *wire.TabEdit, _ string) error {
		edit.Pinned = &yes
		return nil
	}
}

func (a *app) tabMoveCommand() *cobra.Command {
	var after string
	var first, last bool
	cmd := a.tabEdit("move TAB", "Move a tab within its group, on its side of the pins", "tab.move", func(list wire.TabList, edit *wire.TabEdit, _ string) error {
		behind := davit.TabID("")
		switch {
		case last:
			behind = list.Tabs[len(list.Tabs)-1].ID
		case after != "":
			var err error
			if behind, err = findTab(list.Tabs, after); err != nil {
				return err
			}
		case !first:
			return usagef("say where to: --after TAB, --first or --last")
		}
		edit.After = &behind
		return nil
	})
	cmd.Flags().StringVar(&after, "after", "", "behind this tab")
	cmd.Flags().BoolVar(&first, "first", false, "to the front")
	cmd.Flags().BoolVar(&last, "last", false, "to the end")
	cmd.MarkFlagsMutuallyExclusive("after", "first", "last")
	return cmd
}

func (a *app) tabGroupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "group NAME TAB…", Short: "Put tabs into the group of that name, which is made when it is not there", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			ids, err := findTabs(list, args[1:])
			if err != nil {
				return err
			}
			made := wire.GroupMade{}
			switch made.Group, err = findGroup(list, args[0]); {
			case err == nil:
				made.Notes, err = a.intoGroup(cmd.Context(), made.Group, ids)
			case davit.CodeOf(err) == davit.CodeGroupNotFound:
				made, err = call[wire.GroupMade](cmd.Context(), a, "group.make", wire.GroupMake{Name: args[0], Tabs: ids})
			}
			if err != nil {
				return err
			}
			return a.print(made, func(w io.Writer) { printGroup(w, made) })
		},
	}
}

func (a *app) intoGroup(ctx context.Context, group davit.GroupID, ids []davit.TabID) (notes []string, err error) {
	notes = []string{}
	for _, id := range ids {
		done, err := call[wire.TabEdited](ctx, a, "tab.move", wire.TabEdit{Tab: id, Group: &group})
		if err != nil {
			return notes, err
		}
		notes = append(notes, done.Notes...)
	}
	return notes, nil
}

func printGroup(w io.Writer, made wire.GroupMade) {
	fmt.Fprintln(w, made.Group)
	printNotes(w, made.Notes)
}

func (a *app) tabUngroupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ungroup TAB…", Short: "Take tabs out of their groups", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			ids, err := findTabs(list, args)
			if err != nil {
				return err
			}
			if _, err := a.intoGroup(cmd.Context(), "", ids); err != nil {
				return err
			}
			return a.done(map[string]any{"tabs": ids}, "%s in no group now", count(len(ids), "tab"))
		},
	}
}

func (a *app) groupCommand() *cobra.Command {
	return noun("group", "The groups of tabs", a.groupListCommand(), a.groupMakeCommand(), a.groupEditCommand(), a.groupDissolveCommand())
}

func (a *app) groupListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the groups, in their order", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list.Groups)
			}
			rows := newTable(a.out)
			for _, g := range list.Groups {
				tabs := 0
				for _, t := range list.Tabs {
					if t.Group == g.ID {
						tabs++
					}
				}
				var marks []string
				if g.Pinned {
					marks = append(marks, "pinned")
				}
				if g.Collapsed {
					marks = append(marks, "collapsed")
				}
				rows.row(string(g.ID), g.Name, count(tabs, "tab"), g.Color, strings.Join(marks, ", "))
			}
			return rows.flush()
		},
	}
}

func (a *app) groupMakeCommand() *cobra.Command {
	var req wire.GroupMake
	cmd := &cobra.Command{
		Use: "make TAB…", Short: "Put tabs into a new group, at the place of the first", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			if req.Tabs, err = findTabs(list, args); err != nil {
				return err
			}
			made, err := call[wire.GroupMade](cmd.Context(), a, "group.make", req)
			if err != nil {
				return err
			}
			return a.print(made, func(w io.Writer) { printGroup(w, made) })
		},
	}
	cmd.Flags().StringVar(&req.Name, "name", "", "its name")
	cmd.Flags().StringVar(&req.Color, "color", "", "its colour")
	return cmd
}

func (a *app) groupEditCommand() *cobra.Command {
	var name, color, after string
	var pin, collapse, first bool
	cmd := &cobra.Command{
		Use: "edit GROUP", Short: "Change a group's name, colour, pin, fold or place", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			var req wire.GroupEdit
			if req.Group, err = findGroup(list, args[0]); err != nil {
				return err
			}
			behind := davit.TabID("")
			if after != "" {
				if behind, err = findTab(list.Tabs, after); err != nil {
					return err
				}
			}
			if color == "none" {
				color = ""
			}
			set := cmd.Flags().Changed
			req.Name, req.Color, req.Pinned, req.Collapsed = given(set("name"), name), given(set("color"), color), given(set("pin"), pin), given(set("collapse"), collapse)
			req.After = given(after != "" || first, behind)
			if req == (wire.GroupEdit{Group: req.Group}) {
				return usagef("say what to change: --name, --color, --pin, --collapse, --after or --first")
			}
			if _, err = call[wire.None](cmd.Context(), a, "group.edit", req); err != nil {
				return err
			}
			return a.done(map[string]any{"group": req.Group}, "group %s was changed", req.Group)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "its new name")
	cmd.Flags().StringVar(&color, "color", "", "its new colour, or none")
	cmd.Flags().BoolVar(&pin, "pin", false, "pin it; --pin=false lets it go")
	cmd.Flags().BoolVar(&collapse, "collapse", false, "fold it; --collapse=false unfolds it")
	cmd.Flags().StringVar(&after, "after", "", "move it behind this tab, or behind that tab's group")
	cmd.Flags().BoolVar(&first, "first", false, "move it to the front")
	cmd.MarkFlagsMutuallyExclusive("after", "first")
	return cmd
}

// given is a field that is sent only when the user gave it.
func given[T any](yes bool, value T) *T {
	if !yes {
		return nil
	}
	return &value
}

func (a *app) groupDissolveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "dissolve GROUP", Short: "End a group; its tabs stay", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.tabs(cmd.Context())
			if err != nil {
				return err
			}
			group, err := findGroup(list, args[0])
			if err != nil {
				return err
			}
			if _, err = call[wire.None](cmd.Context(), a, "group.dissolve", wire.GroupRef{Group: group}); err != nil {
				return err
			}
			return a.done(map[string]any{"dissolved": group}, "group %s has ended; its tabs stay", group)
		},
	}
}
