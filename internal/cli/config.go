package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"davit"
	"davit/internal/configs"
	"davit/internal/tab"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) openCommand() *cobra.Command {
	var pairs []string
	var print, background, create bool
	cmd := &cobra.Command{
		Use: "open FILE|NAME", Short: "Open a tab from a config", Args: cobra.ExactArgs(1),
		Long:    "Opens the tab that a config describes. An argument with a slash or ending in .toml is a file, any other\nthe name of a config. --print shows the rendered plan and runs nothing.",
		Example: "  davit open feature -p name=login\n  davit open ./review.toml --print",
		RunE: func(cmd *cobra.Command, args []string) error {
			req := wire.OpenRequest{Config: args[0], Params: map[string]string{}, Dir: a.dir, Print: print, Background: background, CreateDirectories: create}
			for _, pair := range pairs {
				name, value, ok := strings.Cut(pair, "=")
				if !ok {
					return usagef("-p %q is not name=value", pair)
				}
				req.Params[name] = value
			}
			opened, err := started[wire.Opened](cmd.Context(), a, "config.open", req)
			for davit.CodeOf(err) == davit.CodeConfigMissingParam && a.isTerminal() && a.ask(davit.AsError(err), req.Params) {
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

// ask asks for missing parameters on the terminal (spec tabs T2.2).
func (a *app) ask(e *davit.Error, params map[string]string) bool {
	missing, _ := e.Details["missing"].([]any)
	lines := bufio.NewScanner(a.in)
	for _, name := range missing {
		fmt.Fprintf(a.err, "%v: ", name)
		if !lines.Scan() || lines.Text() == "" {
			return false
		}
		params[fmt.Sprint(name)] = lines.Text()
	}
	return len(missing) > 0
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
	return noun("config", "Tab configs", a.configCheckCommand(), a.configListCommand(), a.configNewCommand(), a.configSchemaCommand())
}

func (a *app) configCheckCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "check FILE…", Short: "Check tab configs; exit 1 when one has errors", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			path := a.getenv("PATH")
			files := configs.NewFiles(h.TabConfigs(), a.getenv("HOME"), a.getenv, tabconfig.LoadEnv{
				DefaultShell: a.getenv("SHELL"), ShellInstalled: func(name string) bool { return tab.Installed(name, path) },
				KnownAgent: a.knownAgent(h),
			})
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
					fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, c.Description, c.Path)
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

func (a *app) configNewCommand() *cobra.Command {
	return &cobra.Command{
		Use: "new NAME", Short: "Write a commented config to start from", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(h.TabConfigs(), 0o700); err != nil {
				return davit.Errorf(davit.CodeHomeUnusable, "make the folder of tab configs: %w", err)
			}
			path := filepath.Join(h.TabConfigs(), fileName(args[0]))
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return davit.Errorf(davit.CodeConfigAmbiguous, "%s cannot be made: %w", path, err).WithHint("choose another name")
			}
			_, err = f.WriteString(tabconfig.NewTemplate(args[0]))
			if err := f.Close(); err != nil {
				return err
			}
			if err != nil {
				return err
			}
			return a.print(map[string]string{"path": path}, func(w io.Writer) {
				fmt.Fprintf(w, "%s\nedit it, then: davit open %q\n", path, args[0])
			})
		},
	}
}

// fileName makes a file's name of a config's: letters, digits, - and _ stay.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || ('0' <= r && r <= '9') || ('a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	return cmp.Or(strings.Trim(safe, "_"), "config") + ".toml"
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
