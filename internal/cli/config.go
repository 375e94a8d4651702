package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"davit"
	"davit/internal/configs"
	"davit/internal/tab"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) openCommand() *cobra.Command {
	var pairs []string
	var print, background, create bool
	cmd := &cobra.Command{
		Use: "open [FILE|NAME]", Short: "Open a tab from a config", Args: cobra.MaximumNArgs(1),
		Long: "Opens the tab that a config describes. An argument with a slash or ending in .toml is a file, any other\nthe name of a config. Without one the default config is opened, or a plain shell when there is none.\n" +
			"--print shows the rendered plan and runs nothing. A config that the repository brings along is shown first,\nand asked about: it is opened when you have allowed that very text.",
		Example: "  davit open feature -p name=login\n  davit open ./review.toml --print",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.OpenRequest{Params: map[string]string{}, Dir: a.dir, Print: print, Background: background, CreateDirectories: create}
			if len(args) > 0 {
				req.Config, req.Named = args[0], configs.IsFile(args[0])
			}
			for _, pair := range pairs {
				name, value, ok := strings.Cut(pair, "=")
				if !ok {
					return usagef("-p %q is not name=value", pair)
				}
				req.Params[name] = value
			}
			opened, err := started[wire.Opened](cmd.Context(), a, "config.open", req)
			if davit.CodeOf(err) == davit.CodeConfigUntrusted && a.isTerminal() && a.allow(cmd.Context(), davit.AsError(err)) {
				opened, err = call[wire.Opened](cmd.Context(), a, "config.open", req)
			}
			for davit.CodeOf(err) == davit.CodeConfigMissingParam && a.isTerminal() && a.ask(cmd.Context(), davit.AsError(err), req) {
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
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter's value, as name=value")
	cmd.Flags().BoolVar(&print, "print", false, "show the rendered plan, run nothing")
	cmd.Flags().BoolVar(&background, "background", false, "do not bring the tab to the front")
	cmd.Flags().BoolVar(&create, "create-directories", false, "make directories that do not exist")
	return cmd
}

// ask asks for missing parameters on the terminal (spec tabs T2.2). The value of the last
// opening is offered: an empty line takes it.
func (a *app) ask(ctx context.Context, e *davit.Error, req wire.OpenRequest) bool {
	missing, _ := e.Details["missing"].([]any)
	path, _ := e.Details["path"].(string)
	params := map[string]wire.Param{}
	if list, err := call[wire.ConfigList](ctx, a, "config.list", wire.ConfigsRequest{Dir: a.dir}); err == nil {
		for _, c := range list.Configs {
			if c.Path == path || strings.EqualFold(c.Name, req.Config) || strings.EqualFold(filepath.Base(c.Path), req.Config+".toml") {
				for _, p := range c.Params {
					params[p.Name] = p
				}
			}
		}
	}
	lines := bufio.NewScanner(a.in)
	for _, name := range missing {
		p := params[fmt.Sprint(name)]
		switch {
		case p.Last != nil:
			fmt.Fprintf(a.err, "%v [%s]: ", name, *p.Last)
		default:
			fmt.Fprintf(a.err, "%v: ", name)
		}
		value, ok := a.answer(lines, p.Type == "secret")
		if value == "" && p.Last != nil {
			value = *p.Last
		}
		if !ok || value == "" {
			return false
		}
		req.Params[fmt.Sprint(name)] = value
	}
	return len(missing) > 0
}

// answer reads one line; a secret is not shown while it is typed.
func (a *app) answer(lines *bufio.Scanner, secret bool) (string, bool) {
	if secret && term.IsTerminal(int(a.in.Fd())) {
		value, err := term.ReadPassword(int(a.in.Fd()))
		fmt.Fprintln(a.err)
		return string(value), err == nil
	}
	if !lines.Scan() {
		return "", false
	}
	return lines.Text(), true
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
		a.fail(err)
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

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (a *app) configCommand() *cobra.Command {
	return noun("config", "Tab configs", a.configCheckCommand(), a.configListCommand(), a.configShowCommand(), a.configNewCommand(), a.configEditCommand(),
		a.configRemoveCommand(), a.configDefaultCommand(), a.configSaveTabCommand(), a.configTrustCommand(), a.configUntrustCommand(), a.configSchemaCommand())
}

// files finds config files as the host would, without one.
func (a *app) files() (configs.Files, error) {
	h, err := a.home()
	if err != nil {
		return configs.Files{}, err
	}
	path := a.getenv("PATH")
	return configs.NewFiles(h.TabConfigs(), a.getenv("HOME"), a.getenv, tabconfig.LoadEnv{
		DefaultShell: a.getenv("SHELL"), ShellInstalled: func(name string) bool { return tab.Installed(name, path) },
		KnownAgent: a.knownAgent(h),
	}), nil
}

func (a *app) configCheckCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "check FILE…", Short: "Check tab configs; exit 1 when one has errors", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := a.files()
			if err != nil {
				return err
			}
			faults := []wire.Fault{}
			for _, name := range args {
				loaded := files.Read(name)
				faults = append(faults, configs.WireFaults(loaded.Faults, loaded.Source)...)
			}
			for _, f := range faults {
				if f.Severity == string(tabconfig.Error) || strict {
					a.exit = 1
				}
			}
			return a.print(faults, func(w io.Writer) {
				for _, f := range faults {
					fmt.Fprintln(w, f.Text)
				}
				if len(faults) == 0 {
					fmt.Fprintf(w, "%s: no faults\n", count(len(args), "file"))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit 1 on warnings too")
	return cmd
}

func (a *app) configListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the configs that can be opened", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := call[wire.ConfigList](cmd.Context(), a, "config.list", wire.ConfigsRequest{Dir: a.dir})
			if err != nil {
				return err
			}
			return a.print(list, func(w io.Writer) {
				table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				for _, c := range list.Configs {
					fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, strings.Join(configNotes(c), ", "), c.Path)
				}
				_ = table.Flush()
				for _, f := range list.Faults {
					fmt.Fprintln(a.err, f.Text)
				}
				if len(list.Configs)+len(list.Faults) == 0 {
					fmt.Fprintf(w, "no tab configs yet; `davit config new NAME` writes one into %s\n", list.Dirs[0])
				}
			})
		},
	}
}

// configNotes are what a list says of a config.
func configNotes(c wire.Config) []string {
	var notes []string
	if c.Description != "" {
		notes = append(notes, c.Description)
	}
	if c.Default {
		notes = append(notes, "default")
	}
	if c.Source == "repository" {
		notes = append(notes, "of the repository: "+c.Trust)
	}
	return notes
}

func (a *app) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a tab config, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(tabconfig.Schema())
			return err
		},
	}
}
