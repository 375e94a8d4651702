package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/configs"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) configNewCommand() *cobra.Command {
	return &cobra.Command{
		Use: "new NAME", Short: "Write a commented config to start from", Args: cobra.ExactArgs(1),
		Long: "Writes a commented config into your folder of tab configs. A name that is taken gets a number.",
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := a.files()
			if err != nil {
				return err
			}
			path, err := files.CreateTemplate(args[0])
			if err != nil {
				return err
			}
			l := files.Read(path)
			if l.Config == nil {
				return davit.Errorf(davit.CodeInternal, "%s was written, and cannot be read", path)
			}
			return a.print(map[string]string{"path": path, "name": l.Config.Name}, func(w io.Writer) {
				name := a.word(l.Config.Name)
				if configs.IsFile(l.Config.Name) { // that very file, if there is one, comes first
					if _, err := os.Stat(a.absolute(l.Config.Name)); err == nil {
						name = a.word(path)
					}
				}
				fmt.Fprintf(w, "%s\nedit it: davit config edit %s\nopen it: davit open %s\n", visible(path), name, name)
			})
		},
	}
}

func (a *app) configShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show FILE|NAME", Short: "Print the text of a config", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.find(args[0])
			if err != nil {
				return err
			}
			shown := wire.ConfigFile{Path: l.Path, Text: string(l.Source), Digest: l.Digest, Faults: configs.WireFaults(l.Faults, l.Source)}
			return a.print(shown, func(w io.Writer) { fmt.Fprint(w, shown.Text) })
		},
	}
}

// find finds the file that an argument means, with faults or without.
func (a *app) find(arg string) (configs.Loaded, error) {
	files, err := a.files()
	if err != nil {
		return configs.Loaded{}, err
	}
	l, err := files.Find(arg, a.dir)
	if davit.CodeOf(err) == davit.CodeConfigInvalid && l.Digest != "" {
		err = nil // it has faults, and can be looked at all the same
	}
	return l, err
}

func (a *app) configEditCommand() *cobra.Command {
	return &cobra.Command{
		Use: "edit FILE|NAME", Short: "Edit a config in $VISUAL or $EDITOR, and check it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.find(args[0])
			if err != nil {
				return err
			}
			if !a.isTerminal() {
				return davit.Errorf(davit.CodeUsage, "an editor needs a terminal").WithHint("the file is %s", l.Path)
			}
			files, err := a.files()
			if err != nil {
				return err
			}
			for {
				if err := a.editor(cmd, l.Path); err != nil {
					return err
				}
				l = files.Read(l.Path)
				for _, f := range configs.WireFaults(l.Faults, l.Source) {
					fmt.Fprint(a.err, f.Text)
				}
				if !tabconfig.HasErrors(l.Faults) {
					return nil
				}
				if !a.confirm("It cannot be used as it is. Edit it again?") {
					a.exit = 1
					return nil
				}
			}
		},
	}
}

// editor runs the user's editor on a file, with the terminal as its own.
func (a *app) editor(cmd *cobra.Command, path string) error {
	words := strings.Fields(a.getenv("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(a.getenv("EDITOR"))
	}
	if len(words) == 0 {
		words = []string{"vi"}
	}
	c := exec.CommandContext(cmd.Context(), words[0], append(words[1:], path)...)
	c.Stdin, c.Stdout, c.Stderr, c.Dir = a.in, a.out, a.err, a.dir
	if err := c.Run(); err != nil {
		return davit.Errorf(davit.CodeUsage, "the editor %q failed: %w", strings.Join(words, " "), err).WithHint("set VISUAL or EDITOR; the file is %s", path)
	}
	return nil
}

func (a *app) configRemoveCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm FILE|NAME", Short: "Delete one of your config files", Args: cobra.ExactArgs(1),
		Long: "Deletes the file of a config, in your own folder of tab configs only. Open tabs stay as they are, and what\nthey do when they close.",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.find(args[0])
			if err != nil {
				return err
			}
			switch {
			case yes:
			case !a.isTerminal():
				return davit.Errorf(davit.CodeUsage, "%s would be deleted", l.Path).WithHint("say --yes")
			case !a.confirm(fmt.Sprintf("Delete %s for good?", l.Path)):
				return nil
			}
			_, err = started[wire.None](cmd.Context(), a, "config.remove", wire.ConfigRef{Path: l.Path, Digest: l.Digest})
			if err != nil {
				return err
			}
			return a.print(map[string]string{"removed": l.Path}, func(w io.Writer) { fmt.Fprintf(w, "removed %s\n", l.Path) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) configDefaultCommand() *cobra.Command {
	return &cobra.Command{
		Use: "default [NAME|none]", Short: "Print or choose what a new tab opens", Args: cobra.MaximumNArgs(1),
		Long: "The page's new tab and `davit open` without a name open the default config; `none` makes it a plain shell\nagain. `davit tab new` always opens a plain shell.",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			switch {
			case len(args) == 0:
				list, err := started[wire.ConfigList](cmd.Context(), a, "config.list", wire.ConfigsRequest{Dir: a.dir})
				if err != nil {
					return err
				}
				path = list.Default
				if list.DefaultGone {
					a.note("warning: %s is not there any more; a new tab opens a plain shell", path)
				}
			case args[0] != "none":
				l, err := a.find(args[0])
				if err != nil {
					return err
				}
				path = l.Path
				fallthrough
			default:
				if _, err := started[wire.None](cmd.Context(), a, "config.setDefault", wire.ConfigRef{Path: path}); err != nil {
					return err
				}
			}
			return a.print(map[string]string{"default": path}, func(w io.Writer) {
				if path == "" {
					fmt.Fprintln(w, "none: a new tab opens a plain shell")
					return
				}
				fmt.Fprintln(w, path)
			})
		},
	}
}

func (a *app) configSaveTabCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "save-tab TAB", Short: "Write a config of a tab as it is", Args: cobra.ExactArgs(1),
		Long: "Keeps panes, sizes, title, colour, directories and focus; no commands, and nothing that runs at closing.",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := call[wire.TabList](cmd.Context(), a, "tab.list", wire.None{})
			if err != nil {
				return err
			}
			id, err := findTab(list.Tabs, args[0])
			if err != nil {
				return err
			}
			saved, err := call[wire.ConfigFile](cmd.Context(), a, "config.saveTab", wire.ConfigSaveTab{Tab: id, Name: name})
			if err != nil {
				return err
			}
			return a.print(saved, func(w io.Writer) { fmt.Fprintln(w, saved.Path) })
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the config (default: the tab's title)")
	return cmd
}

func (a *app) configTrustCommand() *cobra.Command {
	var digest string
	cmd := &cobra.Command{
		Use: "trust FILE|NAME", Short: "Allow a repository's config, as long as its text is this one", Args: cobra.ExactArgs(1),
		Long: "A config below .davit/tab_configs of a repository is opened by its name, and from the page, only after you\nhave allowed its text. It holds in all worktrees of the repository; another text is asked about again.",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.ofRepository(args[0])
			if err != nil {
				return err
			}
			trusted, err := started[wire.ConfigTrusted](cmd.Context(), a, "config.trust", wire.ConfigRef{Path: path, Digest: digest})
			if err != nil {
				return err
			}
			return a.print(trusted, func(w io.Writer) { fmt.Fprintf(w, "trusted %s (%s)\n", trusted.Path, trusted.Digest[:12]) })
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "the sha256 of the text that you have read; another text is refused")
	return cmd
}

func (a *app) configUntrustCommand() *cobra.Command {
	return &cobra.Command{
		Use: "untrust FILE|NAME", Short: "Take that back", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.ofRepository(args[0])
			if err != nil {
				return err
			}
			if _, err := call[wire.None](cmd.Context(), a, "config.untrust", wire.ConfigRef{Path: path}); err != nil {
				return err
			}
			return a.done(map[string]any{"untrusted": path}, "%s is not trusted any more", visible(path))
		},
	}
}

// ofRepository is the file of a repository's config: given as that, or by a name. A file
// that is gone is still one.
func (a *app) ofRepository(arg string) (string, error) {
	path := a.absolute(arg)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	files, err := a.files()
	if err != nil {
		return "", err
	}
	l, err := files.OfName(arg, a.dir)
	if err != nil && configs.IsFile(arg) {
		return path, nil
	}
	return l.Path, err
}

func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// promptText is a prompt as it is given: on the command line, or in a file, - for stdin.
func (a *app) promptText(text, file string) (string, error) {
	switch {
	case file == "":
		return text, nil
	case text != "":
		return "", usagef("--prompt and --prompt-file exclude each other")
	case file == "-":
		data, err := io.ReadAll(io.LimitReader(a.in, 1<<20))
		return string(data), err
	}
	data, err := os.ReadFile(a.absolute(file))
	if err != nil {
		return "", davit.Errorf(davit.CodeUsage, "the prompt cannot be read: %w", err)
	}
	return string(data), nil
}
