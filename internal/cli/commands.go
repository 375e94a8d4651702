package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is one command of davit as the documentation shows it.
type Command struct {
	Path   string // the words that people type, without "davit": "tab close"
	Use    string // its line of use, with "davit"
	Short  string
	Hidden bool // started by davit itself
	Flags  []Flag
}

// Flag is one of a command's own flags.
type Flag struct {
	Name      string
	Shorthand string
	Usage     string
	TakesText bool // a value may follow as a word of its own
}

// Commands lists every command with its flags, nouns before their verbs. It is for the
// documentation and its tests: it runs nothing.
func Commands() []Command {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	var list []Command
	var walk func(cmd *cobra.Command, hidden bool)
	walk = func(cmd *cobra.Command, hidden bool) {
		hidden = hidden || cmd.Hidden
		cmd.InitDefaultHelpFlag()
		path := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), root.Name()))
		use := cmd.Use
		if parent := cmd.Parent(); parent != nil {
			use = parent.CommandPath() + " " + use
		}
		c := Command{Path: path, Use: use, Short: cmd.Short, Hidden: hidden}
		add := func(f *pflag.Flag) {
			c.Flags = append(c.Flags, Flag{Name: f.Name, Shorthand: f.Shorthand, Usage: f.Usage, TakesText: f.NoOptDefVal == ""})
		}
		cmd.InheritedFlags().VisitAll(add)
		cmd.NonInheritedFlags().VisitAll(add)
		list = append(list, c)
		for _, sub := range cmd.Commands() {
			walk(sub, hidden)
		}
	}
	walk(root, false)
	return list
}
