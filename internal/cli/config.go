package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"davit/internal/configs"
	"davit/internal/tab"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

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
		Use: "check FILE|NAME…", Short: "Check tab configs; exit 1 when one has errors", Args: cobra.MinimumNArgs(1),
		Long: "Checks tab configs, each by its file (anything with a slash or ending in .toml) or by its name. All faults are\ntold at once, with line, column and a caret.",
		RunE: func(_ *cobra.Command, args []string) error {
			faults := []wire.Fault{}
			for _, name := range args {
				loaded, err := a.toCheck(name)
				if err != nil {
					return err
				}
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

// toCheck finds what an argument of `config check` means. A file that is not there is a
// fault like others, so that a list of files is told about as a whole.
func (a *app) toCheck(arg string) (configs.Loaded, error) {
	_, there := os.Stat(a.absolute(arg))
	if !configs.IsFile(arg) || there != nil {
		loaded, err := a.find(arg)
		if err == nil || there != nil && !configs.IsFile(arg) {
			return loaded, err
		}
	}
	files, err := a.files()
	if err != nil {
		return configs.Loaded{}, err
	}
	return files.ReadAny(a.absolute(arg), arg), nil
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
				rows := newTable(w)
				for _, c := range list.Configs {
					rows.row(c.Name, strings.Join(configNotes(c), ", "), c.Path)
				}
				_ = rows.flush()
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
	var write bool
	cmd := &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a tab config, for editors", Args: cobra.NoArgs,
		Long: "Prints the JSON Schema of a tab config. --write puts it where the files of `davit config new` look for it (their\nfirst line names it), and prints that path: once after an upgrade of davit, so that editors know its new keys.",
		RunE: func(*cobra.Command, []string) error {
			if !write {
				_, err := a.out.Write(tabconfig.Schema())
				return err
			}
			files, err := a.files()
			if err != nil {
				return err
			}
			path, err := files.WriteSchema()
			if err != nil {
				return err
			}
			return a.print(map[string]string{"path": path}, func(w io.Writer) { fmt.Fprintln(w, path) })
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "write it into davit's home, and print where")
	return cmd
}
