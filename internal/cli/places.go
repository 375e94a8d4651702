package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func now() time.Time { return time.Now() }

func (a *app) worktreeCommand() *cobra.Command {
	return noun("worktree", "Git worktrees", a.worktreeListCommand(), a.worktreeOpenCommand(), a.worktreeCreateCommand(), a.worktreeSetupCommand(), a.worktreeRemoveCommand())
}

func (a *app) worktreeListCommand() *cobra.Command {
	var in string
	var sizes bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the worktrees of a repository, and what they hold", Args: cobra.NoArgs,
		Long: "Lists the worktrees of a repository: branch, what each holds, and path. `davit worktree rm` takes the branch, the\nfolder's name or the path of one. What git ignores goes with a worktree, and is in no commit." + selectorHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := call[wire.WorktreeList](cmd.Context(), a, "worktree.list", wire.WorktreeListRequest{InRequest: wire.InRequest{In: in, Dir: a.dir}, Sizes: sizes})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(l.Worktrees)
			}
			rows := newTable(a.out)
			for _, t := range l.Worktrees {
				rows.row(cmp.Or(t.Branch, "(detached)"), strings.Join(worktreeNotes(t), ", "), t.Path)
			}
			return rows.flush()
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "repository (default: of the current directory)")
	cmd.Flags().BoolVar(&sizes, "size", false, "disk use too, which may take seconds")
	return cmd
}

func (a *app) worktreeOpenCommand() *cobra.Command {
	var req wire.WorktreeOpen
	var keep bool
	var promptFile string
	cmd := &cobra.Command{
		Use: "open", Short: "Open a tab on a fresh worktree, which closing the tab removes", Args: cobra.NoArgs,
		Long: "Writes a tab config for it, or takes an equal one, and opens that: the next time, `davit open` with its name does\nthe same. Closing the tab removes the worktree unless that would lose work, and keeps the branch.\n" +
			"--delete-branch (destructive) deletes the branch too, when it is merged." + selectorHelp,
		Example: "  davit worktree open --base main\n  davit worktree open --in ~/src/api --branch login --agent claude --prompt \"fix the login test\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Dir = a.dir
			if keep {
				remove := false
				req.RemoveOnClose = &remove
			}
			var err error
			if req.Prompt, err = a.promptText(req.Prompt, promptFile); err != nil {
				return err
			}
			if req.Setup != "skip" {
				if err := a.askSetup(cmd.Context(), wire.SetupRequest{In: req.In, Dir: a.dir, Base: req.Base, Branch: req.Branch}); err != nil {
					return err
				}
			}
			opened, err := started[wire.WorktreeOpened](cmd.Context(), a, "worktree.open", req)
			if err != nil {
				return err
			}
			for _, w := range opened.Warnings {
				fmt.Fprintln(a.err, w.Text)
			}
			if err := a.print(opened, func(w io.Writer) {
				a.printOpened(w, opened.Opened)
				what := "written"
				if opened.Reused {
					what = "used again"
				}
				fmt.Fprintf(w, "  config %s (%s)\n", opened.Config, what)
			}); err != nil {
				return err
			}
			a.tellNotes(cmd.Context(), opened.Opened)
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&req.In, "in", "", "repository (default: of the current directory)")
	fl.StringVar(&req.Base, "base", "", "what the branch starts from (default: the main branch)")
	fl.StringVar(&req.Branch, "branch", "", "name of the new branch (default: a generated one)")
	fl.StringVar(&req.Agent, "agent", "", "agent to start there (default: a shell)")
	fl.StringVar(&req.Prompt, "prompt", "", "the agent's first turn")
	fl.StringVar(&promptFile, "prompt-file", "", "the first turn, from a file or - for stdin")
	fl.StringVar(&req.Setup, "setup", "", "the repository's setup script: run, skip or inherit (run it when its text is allowed)")
	fl.BoolVar(&keep, "keep", false, "keep the worktree when the tab closes")
	fl.BoolVar(&req.DeleteBranch, "delete-branch", false, "delete the branch when the tab closes, when it is merged (destructive)")
	fl.BoolVar(&req.Background, "background", false, "do not bring the tab to the front")
	return cmd
}

func worktreeNotes(t wire.WorktreeInfo) []string {
	var notes []string
	switch {
	case t.Dirty:
		notes = append(notes, "changed")
	case t.Untracked == 0 && t.Fault == "":
		notes = append(notes, "clean")
	}
	for _, n := range []struct {
		count int
		what  string
	}{{t.Ahead, "ahead of " + t.Base}, {t.Behind, "behind " + t.Base}, {t.Untracked, "untracked"}, {t.Unpushed, "unpushed"}, {t.Stashes, "stashed"}, {t.Ignored, "ignored by git"}} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if t.OwnerTab != "" {
		notes = append(notes, "tab "+string(t.OwnerTab))
	}
	if t.Locked != "" {
		notes = append(notes, "locked: "+t.Locked)
	}
	if t.Fault != "" {
		notes = append(notes, t.Fault)
	}
	if t.Missing {
		notes = append(notes, "its folder is gone")
	}
	if t.Size != nil {
		notes = append(notes, bytesText(*t.Size))
	}
	return notes
}

// bytesText is a size for people.
func bytesText(n int64) string {
	size, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

func (a *app) worktreeCreateCommand() *cobra.Command {
	var in, base string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a worktree on a new branch", Args: cobra.ExactArgs(1),
		Long: "Makes a worktree on a new branch and prints its path; no tab is opened (`davit worktree open` does that)." + selectorHelp,
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
		Use: "rm WORKTREE", Short: "Remove a worktree; its branch is kept", Args: cobra.ExactArgs(1),
		Long: "Removes a worktree, given by its branch, its folder's name or its path, as `davit worktree list` prints them, or by a\nselector. When work would be lost it is refused with the list and a digest; --force=DIGEST removes it all the\nsame, as long as the list is still that one. Files that git ignores go with it, and are named." + selectorHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			selector, err := a.worktreeSelector(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			req.Selector, req.Dir = selector, a.dir
			removed, err := call[wire.WorktreeRemoved](cmd.Context(), a, "worktree.remove", req)
			if err != nil {
				return a.whyNotRemoved(davit.AsError(err), args[0])
			}
			return a.print(removed, func(w io.Writer) { a.printRemoved(w, removed) })
		},
	}
	cmd.Flags().StringVar(&req.Force, "force", "", "the digest that a refusal printed")
	cmd.Flags().BoolVar(&req.External, "external", false, "one that davit did not make")
	cmd.Flags().BoolVar(&req.DeleteBranch, "delete-branch", false, "delete its branch too, when it is merged")
	return cmd
}

// whyNotRemoved gives a refusal the hint that fits what was typed.
func (a *app) whyNotRemoved(e *davit.Error, arg string) error {
	digest, _ := e.Details["digest"].(string)
	switch {
	case e.Code == davit.CodeWorkspaceNotFound:
		return e.WithHint("`davit worktree list` shows them; give a branch, a folder's name or a path of that list")
	case e.Code == davit.CodeWorktreeDirty && digest != "":
		return e.WithHint("save what the list names, or lose it: davit worktree rm --force=%s %s", digest, a.word(arg))
	}
	return e
}

// filesOrFolders counts what is named as git does: a folder for all that is in it.
func filesOrFolders(n int) string {
	if n == 1 {
		return "1 file or folder"
	}
	return fmt.Sprintf("%d files and folders", n)
}

func (a *app) printRemoved(w io.Writer, removed wire.WorktreeRemoved) {
	fmt.Fprintf(w, "removed %s\n", visible(removed.Path))
	if removed.IgnoredCount > 0 {
		fmt.Fprintf(w, "  gone with it, ignored by git: %s\n", filesOrFolders(removed.IgnoredCount))
		for _, path := range removed.Ignored {
			fmt.Fprintf(w, "    %s\n", visible(path))
		}
		if more := removed.IgnoredCount - len(removed.Ignored); more > 0 {
			fmt.Fprintf(w, "    and %d more\n", more)
		}
	}
	for _, k := range removed.Kept {
		fmt.Fprintf(w, "  kept: %s\n", visible(k))
	}
	if removed.DeletedBranch != "" {
		fmt.Fprintf(w, "  deleted: branch %s, which was at %s; `git branch -- %s %s` brings it back\n",
			visible(removed.DeletedBranch), removed.DeletedHead, visible(a.word(removed.DeletedBranch)), removed.DeletedHead)
	}
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
			if _, err := call[wire.Setting](cmd.Context(), a, "settings.set", wire.Setting{Key: args[0], Value: value}); err != nil {
				return err
			}
			return a.done(map[string]any{"key": args[0], "value": value}, "%s is %s", visible(args[0]), visible(string(value)))
		},
	}
	return noun("settings", "What the user has set", get, set)
}
