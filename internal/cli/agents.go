package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/agent"
	"davit/internal/configs"
	"davit/internal/git"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) agentCommand() *cobra.Command {
	return noun("agent", "The coding agents that davit knows", a.agentListCommand(), a.agentShowCommand(), a.agentDefaultCommand(), a.agentCheckCommand(),
		a.agentResumeCommand(), a.agentHooksCommand(), a.agentReportCommand())
}

func (a *app) agentListCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the agents, and which are installed", Args: cobra.NoArgs,
		Long: "Lists the agents that are installed, with their versions, and how the best known of the others are installed.\n\"not tested\" says that davit's own tests do not drive that agent: what davit knows of it is what its documentation tells.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := call[wire.AgentList](cmd.Context(), a, "agent.list", wire.None{})
			if err != nil {
				return err
			}
			return a.print(l.Agents, func(w io.Writer) { printAgentList(w, l, all) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that davit knows, installed or not")
	return cmd
}

func printAgentList(w io.Writer, l wire.AgentList, all bool) {
	rows := newTable(w)
	missing, hidden := []wire.Agent{}, 0
	for _, entry := range l.Agents {
		switch {
		case entry.Installed && !entry.Disabled:
			name := visible(entry.Name)
			if entry.ID == l.Default {
				name += " (default)"
			}
			rows.row(visible(entry.ID), name, visible(cmp.Or(entry.Version, "-")), agentNotes(entry))
		case all || entry.Offered:
			missing = append(missing, entry)
		default:
			hidden++
		}
	}
	_ = rows.flush()
	if len(missing) > 0 {
		fmt.Fprintln(w, "\nNot installed:")
		rows := newTable(w)
		for _, entry := range missing {
			why := cmp.Or(entry.InstallHint, entry.Missing)
			if entry.Disabled {
				why = "switched off in your agents.toml"
			}
			rows.row("  "+visible(entry.ID), visible(entry.Name), visible(why))
		}
		_ = rows.flush()
	}
	if hidden > 0 {
		fmt.Fprintf(w, "  and %d more: davit agent list --all\n", hidden)
	}
}

// agentNotes says what one may want to know before one trusts an entry.
func agentNotes(entry wire.Agent) string {
	switch {
	case entry.Practice:
		return "scripted, for practice: no model behind it"
	case entry.Doubt != "":
		return visible(entry.Doubt)
	case entry.Tested:
		return "tested"
	}
	return "not tested"
}

func (a *app) agentShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show what davit knows of an agent, and who says so", Args: cobra.ExactArgs(1),
		Long: "Shows an agent: whether it is installed, and each key of its entry in the catalogue, as agents.toml spells it, with\nwho set it: davit, or your own agents.toml. Values of variables are not shown.",
		RunE: func(cmd *cobra.Command, args []string) error {
			entry, err := call[wire.AgentEntry](cmd.Context(), a, "agent.show", wire.AgentName{Agent: args[0]})
			if err != nil {
				return err
			}
			return a.print(entry, func(w io.Writer) { printAgentEntry(w, entry) })
		},
	}
}

func printAgentEntry(w io.Writer, entry wire.AgentEntry) {
	fmt.Fprintf(w, "%s (%s): %s\n", visible(entry.Agent.Name), visible(entry.Agent.ID), agentNotes(entry.Agent))
	switch {
	case entry.Agent.Disabled:
		fmt.Fprintln(w, "  switched off in your agents.toml")
	case entry.Agent.Installed:
		fmt.Fprintf(w, "  installed  %s  %s\n", visible(cmp.Or(entry.Agent.Path, "-")), visible(entry.Agent.Version))
	default:
		fmt.Fprintf(w, "  missing    %s\n", visible(entry.Agent.Missing))
	}
	fmt.Fprintf(w, "  shows up as %s\n", strings.Join(entry.Agent.Surfaces, " or "))
	rows := newTable(w)
	for _, f := range entry.Fields {
		rows.row("  "+visible(f.Key), visible(fieldWords(f.Value)), map[string]string{"yours": "yours"}[f.Source])
	}
	_ = rows.flush()
	if entry.Line > 0 {
		fmt.Fprintf(w, "yours: %s:%d\n", visible(entry.File), entry.Line)
	}
}

// fieldWords is a value as agents.toml has it, in one line.
func fieldWords(value any) string {
	list, ok := value.([]any)
	if !ok {
		return strings.ReplaceAll(fmt.Sprint(value), "\n", " ")
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprintf("%q", v)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func (a *app) agentDefaultCommand() *cobra.Command {
	var none bool
	cmd := &cobra.Command{
		Use: "default [NAME]", Short: "Print or set the agent that is launched when none is named", Args: cobra.MaximumNArgs(1),
		Long: "Prints the default agent, or sets it: `davit launch` without a name, the launch form of the page, agent panes of tab\nconfigs that name none, and clients of the API that leave the agent out start it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if none && len(args) > 0 {
				return usagef("--none takes no agent")
			}
			if !none && len(args) == 0 {
				l, err := call[wire.AgentList](cmd.Context(), a, "agent.list", wire.None{})
				if err != nil {
					return err
				}
				return a.print(map[string]any{"default": l.Default}, func(w io.Writer) {
					if l.Default == "" {
						a.note("no default agent is set: `davit agent default NAME`")
						return
					}
					fmt.Fprintln(w, visible(l.Default))
				})
			}
			setting, said := wire.Setting{Key: "agent.default", Value: []byte("null")}, "no agent is launched by default any more"
			if !none {
				setting.Value, _ = json.Marshal(args[0]) // a string cannot fail
				said = args[0] + " is launched when no agent is named"
			}
			if _, err := call[wire.Setting](cmd.Context(), a, "settings.set", setting); err != nil {
				return err
			}
			return a.done(map[string]any{"default": strings.Join(args, "")}, "%s", visible(said))
		},
	}
	cmd.Flags().BoolVar(&none, "none", false, "take the default back")
	return cmd
}

func (a *app) agentCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Check your agents.toml, or another file of its shape; exit 1 when it has errors", Args: cobra.MaximumNArgs(1),
		Long: "Checks your own agents.toml. All faults are told at once, with line, column and a caret. An entry with a fault is left\nout, or stays as it comes with davit; the others are used.",
		RunE: func(_ *cobra.Command, args []string) error {
			path, source, err := a.agentsFile(args)
			if err != nil {
				return err
			}
			catalogue, _ := agent.Load(source) // its error is the first of the faults
			faults := catalogue.Faults()
			for i := range faults {
				faults[i].File = path
			}
			if tabconfig.HasErrors(faults) {
				a.exit = 1
			}
			told := configs.WireFaults(faults, source)
			return a.print(told, func(w io.Writer) {
				for _, f := range told {
					fmt.Fprintln(w, f.Text)
				}
				if len(told) == 0 {
					fmt.Fprintf(w, "%s: no faults, %s\n", visible(path), count(ownAgents(catalogue), "agent"))
				}
			})
		},
	}
}

// ownAgents is how many agents the file adds or changes.
func ownAgents(catalogue *agent.Catalogue) (n int) {
	for _, entry := range catalogue.List() {
		if entry.Line > 0 {
			n++
		}
	}
	return n
}

// agentsFile reads the file to check; the user's own need not be there.
func (a *app) agentsFile(args []string) (path string, source []byte, err error) {
	if len(args) > 0 {
		path = a.absolute(args[0])
	} else {
		h, err := a.home()
		if err != nil {
			return "", nil, err
		}
		path = filepath.Join(h.Config, agent.FileName)
	}
	source, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && len(args) == 0 {
		return path, nil, nil
	}
	if err != nil {
		return path, nil, davit.Errorf(davit.CodeUsage, "the file cannot be read: %w", err)
	}
	return path, source, nil
}

func (a *app) agentResumeCommand() *cobra.Command {
	var f launchFlags
	cmd := &cobra.Command{
		Use: "resume AGENT ID|PANE", Short: "Continue a session of an agent's own, in a new terminal", Args: cobra.RangeArgs(1, 2),
		Long: "Starts an agent in a terminal with its own flag for continuing a session. The id is the agent's; of a pane whose agent\ntold it (davit agent hooks) the pane is enough. Chats of davit's are continued with `davit session resume`." + selectorHelp,
		Example: "  davit agent resume claude 0198c0de-7d1a-7b3e-9f0e-5c1d2b3a4f50\n" +
			"  davit agent resume p_3f1c88a09be21d47 --prompt \"go on\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				f.resume = args[1]
				return a.launch(cmd, args[0], f)
			}
			id, err := a.resumable(cmd, davit.PaneID(args[0]), &f)
			if err != nil {
				return err
			}
			return a.launch(cmd, id, f)
		},
	}
	launchFlagsInto(cmd.Flags(), &f)
	return cmd
}

// resumable finds the session that the agent of a pane last told of, and where it worked.
func (a *app) resumable(cmd *cobra.Command, pane davit.PaneID, f *launchFlags) (agentID string, err error) {
	state, err := call[davit.State](cmd.Context(), a, "host.state", wire.None{})
	if err != nil {
		return "", err
	}
	p, there := state.Panes[pane]
	switch {
	case !there:
		return "", davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", pane).WithHint("`davit ps` lists the agents; of one without a pane name the agent and its session's id")
	case p.Kind == "chat":
		return "", davit.Errorf(davit.CodePaneIsChat, "pane %s is a chat", pane).WithHint("`davit session resume %s`", p.Session)
	case p.AgentState == nil || p.AgentState.Session == "":
		return "", davit.Errorf(davit.CodeNotFound, "the agent of pane %s has not told the id of its session", pane).
			WithHint("name the agent and the id; `davit agent hooks install` lets agents tell it")
	}
	f.resume = p.AgentState.Session
	if f.in == "" && f.folder == "" && !cmd.Flags().Changed("worktree") {
		// An agent finds a session where it was begun.
		if repo, err := git.Discover(p.Directory); err != nil || repo.Root == "" {
			f.folder = p.Directory
		} else {
			f.in, f.cwd = "path:"+p.Directory, cmp.Or(f.cwd, p.Directory)
		}
	}
	return cmp.Or(p.Agent, p.AgentState.Agent), nil
}
