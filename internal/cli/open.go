package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"davit"
	"davit/internal/configs"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) openCommand() *cobra.Command {
	var pairs []string
	var print, background, create bool
	var setup string
	cmd := &cobra.Command{
		Use: "open [FILE|NAME]", Short: "Open a tab from a config", Args: cobra.MaximumNArgs(1),
		Long: "Opens the tab that a config describes. An argument with a slash or ending in .toml is a file, any other\nthe name of a config. Without one the default config is opened, or a plain shell when there is none.\n" +
			"What it needs and --param does not give is asked for on a terminal; a secret is not shown while you type it.\n" +
			"--print shows the rendered plan and runs nothing. A config that the repository brings along is shown first,\nand asked about: it is opened when you have allowed that very text.",
		Example: "  davit open feature -p name=login\n  davit open ./review.toml --print",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.OpenRequest{Params: map[string]string{}, Dir: a.dir, Print: print, Background: background, CreateDirectories: create, Setup: setup}
			if len(args) > 0 {
				req.Config, req.Named = args[0], configs.IsFile(args[0])
			}
			for _, pair := range pairs {
				name, value, ok := strings.Cut(pair, "=")
				if !ok || name == "" {
					return usagef("--param %q is not name=value", pair)
				}
				req.Params[name] = value
			}
			opened, err := started[wire.Opened](cmd.Context(), a, "config.open", req)
			if davit.CodeOf(err) == davit.CodeConfigUntrusted && a.isTerminal() && a.allow(cmd.Context(), davit.AsError(err)) {
				opened, err = call[wire.Opened](cmd.Context(), a, "config.open", req)
			}
			if davit.CodeOf(err) == davit.CodeConfigMissingParam && !a.canAsk() {
				return a.howToGive(cmd.Context(), davit.AsError(err), req)
			}
			for asked := false; davit.CodeOf(err) == davit.CodeConfigMissingParam || asked && len(unfitValues(davit.AsError(err))) > 0; asked = true {
				if err := a.ask(cmd.Context(), req, davit.AsError(err)); err != nil {
					return err
				}
				opened, err = call[wire.Opened](cmd.Context(), a, "config.open", req)
			}
			if err != nil {
				return err
			}
			for _, w := range opened.Warnings {
				fmt.Fprintln(a.err, w.Text)
			}
			if print {
				return a.printJSON(opened.Plan)
			}
			if err := a.print(opened, func(w io.Writer) { a.printOpened(w, opened) }); err != nil {
				return err
			}
			a.tellNotes(cmd.Context(), opened)
			return nil
		},
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter's value, as name=value; again for each")
	cmd.Flags().BoolVar(&print, "print", false, "show the rendered plan, run nothing")
	cmd.Flags().BoolVar(&background, "background", false, "do not bring the tab to the front")
	cmd.Flags().StringVar(&setup, "setup", "", "the setup script of the repository, when the config makes a worktree: skip or inherit (run it when its text is allowed)")
	cmd.Flags().BoolVar(&create, "create-directories", false, "make directories that do not exist")
	return cmd
}

// allow shows the text of a repository's config and asks whether that text may be used.
func (a *app) allow(ctx context.Context, e *davit.Error) bool {
	path, _ := e.Details["path"].(string)
	text, _ := e.Details["text"].(string)
	digest, _ := e.Details["digest"].(string)
	a.note("%s", e.Message)
	fmt.Fprintf(a.err, "--- %s\n%s\n---\n", path, printable(text))
	if !a.confirm("Use this config, and again as long as its text stays as it is?") {
		return false
	}
	_, err := call[wire.ConfigTrusted](ctx, a, "config.trust", wire.ConfigRef{Path: path, Digest: digest})
	if err != nil {
		a.fail(nil, err)
	}
	return err == nil
}

// printable is a text without what would move a terminal's cursor: what is asked about must
// be what is seen.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.TrimRight(text, "\n"))
}

// tellNotes says what the panes of a fresh tab have to say: a directory that was not there.
func (a *app) tellNotes(ctx context.Context, o wire.Opened) {
	l, err := call[wire.PaneList](ctx, a, "pane.list", wire.None{})
	if err != nil {
		return // it is open; the notices have it too
	}
	for _, p := range l.Panes {
		if p.Note != "" && slices.Contains(o.Panes, p.ID) {
			a.note("warning: %s", p.Note)
		}
	}
}

func (a *app) printOpened(w io.Writer, o wire.Opened) {
	fmt.Fprintf(w, "opened tab %s with %s\n", o.TabID, count(len(o.Panes), "pane"))
	if o.Worktree != nil {
		fmt.Fprintf(w, "  worktree %s on branch %s\n", o.Worktree.Path, o.Worktree.Branch)
		if o.Worktree.Warning != "" {
			a.note("warning: %s", o.Worktree.Warning)
		}
	}
	for _, l := range o.Launches {
		a.printReceipt(w, l)
	}
}
