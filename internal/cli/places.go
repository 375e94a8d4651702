package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func now() time.Time { return time.Now() }

func (a *app) worktreeCommand() *cobra.Command {
	return noun("worktree", "Git worktrees", a.worktreeListCommand(), a.worktreeCreateCommand(), a.worktreeRemoveCommand())
}

func (a *app) worktreeListCommand() *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use: "list", Short: "List the worktrees of a repository, and what they hold", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := call[wire.WorktreeList](cmd.Context(), a, "worktree.list", wire.InRequest{In: in, Dir: a.dir})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(l.Worktrees)
			}
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, t := range l.Worktrees {
				fmt.Fprintf(table, "%s\t%s\t%s\n", cmp.Or(t.Branch, "(detached)"), strings.Join(worktreeNotes(t), ", "), t.Path)
			}
			return table.Flush()
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "repository (default: of the current directory)")
	return cmd
}

func worktreeNotes(t wire.WorktreeInfo) []string {
	var notes []string
	switch {
	case t.Dirty:
		notes = append(notes, "changed")
	case t.Untracked == 0:
		notes = append(notes, "clean")
	}
	for _, n := range []struct {
		count int
		what  string
	}{{t.Untracked, "untracked"}, {t.Unpushed, "unpushed"}, {t.Stashes, "stashed"}} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if t.OwnerTab != "" {
		notes = append(notes, "tab "+string(t.OwnerTab))
	}
	return notes
}

func (a *app) worktreeCreateCommand() *cobra.Command {
	var in, base string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a worktree on a new branch", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			made, err := call[davit.Worktree](cmd.Context(), a, "worktree.create", davit.CreateWorktree{Repo: cmp.Or(in, "active"), Name: args[0], BaseBranch: base})
			if err != nil {
				return err
			}
			if made.Warning != "" {
				a.note("warning: %s", made.Warning)
			}
			return a.print(made, func(w io.Writer) { fmt.Fprintln(w, made.Path) })
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "repository (default: of the current directory)")
	cmd.Flags().StringVar(&base, "base", "", "what it starts from")
	return cmd
}

func (a *app) worktreeRemoveCommand() *cobra.Command {
	var req wire.WorktreeRemove
	cmd := &cobra.Command{
		Use: "rm SELECTOR", Short: "Remove a worktree; its branch is kept", Args: cobra.ExactArgs(1),
		Long: "Removes a worktree. When work would be lost it is refused with the list and a digest; --force=DIGEST removes it\nall the same, as long as the list is still that one.",
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Selector, req.Dir = args[0], a.dir
			removed, err := call[wire.WorktreeRemoved](cmd.Context(), a, "worktree.remove", req)
			if davit.CodeOf(err) == davit.CodeWorkspaceNotFound {
				err = davit.AsError(err).WithHint("`davit worktree list` shows them; branch:NAME names one by its branch")
			}
			if err != nil {
				return err
			}
			return a.print(removed, func(w io.Writer) {
				fmt.Fprintf(w, "removed %s\n", removed.Path)
				for _, k := range removed.Kept {
					fmt.Fprintf(w, "  kept: %s\n", k)
				}
				if removed.DeletedBranch != "" {
					fmt.Fprintf(w, "  deleted branch %s, which was at %s\n", removed.DeletedBranch, removed.DeletedHead)
				}
			})
		},
	}
	cmd.Flags().StringVar(&req.Force, "force", "", "the digest that a refusal printed")
	cmd.Flags().BoolVar(&req.External, "external", false, "one that davit did not make")
	cmd.Flags().BoolVar(&req.DeleteBranch, "delete-branch", false, "delete its branch too, when it is merged")
	return cmd
}

func (a *app) settingsCommand() *cobra.Command {
	get := &cobra.Command{
		Use: "get KEY", Short: "Print a setting", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := call[wire.Setting](cmd.Context(), a, "settings.get", wire.Setting{Key: args[0]})
			if err != nil {
				return err
			}
			return a.print(s, func(w io.Writer) { fmt.Fprintln(w, string(s.Value)) })
		},
	}
	set := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			value := json.RawMessage(args[1])
			if !json.Valid(value) {
				value, _ = json.Marshal(args[1]) // a string cannot fail
			}
			_, err := call[wire.Setting](cmd.Context(), a, "settings.set", wire.Setting{Key: args[0], Value: value})
			return err
		},
	}
	return noun("settings", "What the user has set", get, set)
}
