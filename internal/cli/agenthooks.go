package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/client"
	"davit/internal/hooks"
	"davit/internal/status"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) agentHooksCommand() *cobra.Command {
	verb := func(use, short, long string, used bool, run func(hooks.Place, hooks.Agent) (hooks.Result, error)) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Long: long, Args: cobra.ArbitraryArgs,
			RunE: func(_ *cobra.Command, args []string) error { return a.agentHooks(args, used, run) },
		}
	}
	return noun("hooks", "By which agents in terminals tell davit what they do",
		verb("install [AGENT]...", "Put davit's hooks into the settings of agents",
			"Puts davit's hooks into the settings of the agents named, or of all that are used here. Nothing else in their files changes, a copy of each file as it\nwas is kept, and `davit agent hooks remove` takes out what went in. Outside of davit the hooks do nothing.", true, hooks.Install),
		verb("remove [AGENT]...", "Take davit's hooks out again", "Takes davit's hooks out of the settings of the agents named, or of all.", false, hooks.Remove),
		verb("status [AGENT]...", "Tell which agents have davit's hooks", "Tells which agents have davit's hooks: installed, outdated, absent, foreign or unreadable.", false,
			func(p hooks.Place, agent hooks.Agent) (hooks.Result, error) { return hooks.Check(p, agent), nil }),
		a.agentHooksPrintCommand(),
	)
}

// agentHooksPrintCommand is for files that davit does not edit.
func (a *app) agentHooksPrintCommand() *cobra.Command {
	return &cobra.Command{
		Use: "print AGENT", Short: "Print what `install` would add, to add it by hand", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			agent, ok := hooks.Find(args[0])
			if !ok {
				return noHooks(args[0])
			}
			place, err := a.hooksPlace()
			if err != nil {
				return err
			}
			text := hooks.ByHand(place, agent)
			return a.print(map[string]any{"agent": agent.ID, "file": hooks.File(place, agent), "add": text}, func(w io.Writer) {
				a.note("for %s", hooks.File(place, agent))
				fmt.Fprintln(w, strings.TrimRight(text, "\n"))
			})
		},
	}
}

func noHooks(name string) error {
	return davit.Errorf(davit.CodeAgentUnknown, "davit has no hooks for %q", name).WithHint("it has them for claude, codex, gemini and opencode")
}

func (a *app) hooksPlace() (hooks.Place, error) {
	h, err := a.home()
	if err != nil {
		return hooks.Place{}, err
	}
	place := hooks.Place{Home: a.getenv("HOME"), Getenv: a.getenv, Self: a.self, Backups: filepath.Join(h.State, "hooks"), Now: time.Now}
	if !filepath.IsAbs(place.Home) {
		return place, davit.Errorf(davit.CodeHomeUnusable, "HOME is not set").WithHint("set it: the agents' settings are found below it")
	}
	return place, nil
}

// agentHooks does something for the agents named; one that cannot be done keeps none of
// the others from it.
func (a *app) agentHooks(names []string, used bool, run func(hooks.Place, hooks.Agent) (hooks.Result, error)) error {
	agents := hooks.Agents()
	if len(names) > 0 {
		agents = nil
	}
	for _, name := range names {
		found, ok := hooks.Find(name)
		if !ok {
			return noHooks(name)
		}
		agents = append(agents, found)
	}
	place, err := a.hooksPlace()
	if err != nil {
		return err
	}
	if used && len(names) == 0 {
		if agents = slices.DeleteFunc(agents, func(agent hooks.Agent) bool { return !place.Used(agent) }); len(agents) == 0 {
			return davit.Errorf(davit.CodeAgentNotInstalled, "none of the agents that davit has hooks for has been used here").WithHint("name one to install its hooks all the same: `davit agent hooks install claude`")
		}
	}
	results := []hooks.Result{}
	var failed error
	for _, agent := range agents {
		r, err := run(place, agent)
		if err == nil {
			results = append(results, r)
		} else if failed == nil {
			failed = err
		}
	}
	if a.json && failed != nil {
		return failed
	}
	if err := a.print(results, func(w io.Writer) { printHooks(w, results) }); err != nil {
		return err
	}
	return failed
}

func printHooks(w io.Writer, results []hooks.Result) {
	rows := newTable(w)
	for _, r := range results {
		what := string(r.State)
		switch {
		case r.Changed && r.State == hooks.Absent:
			what = "taken out"
		case r.Changed:
			what = "put in"
		case r.State == hooks.Outdated:
			what = "outdated: `davit agent hooks install " + r.Agent + "` renews them"
		case r.Reason != "":
			what += ": " + r.Reason
		}
		rows.row(r.Agent, visible(r.File), visible(what))
	}
	_ = rows.flush()
	for _, r := range results {
		if r.Backup != "" {
			fmt.Fprintf(w, "%s: the file as it was is kept at %s\n", r.Name, visible(r.Backup))
		}
		if r.Changed && r.Note != "" {
			fmt.Fprintf(w, "%s: %s\n", r.Name, r.Note)
		}
	}
}

// Bounds of a report: an agent waits for its hook.
const (
	reportWithin = 150 * time.Millisecond
	reportMost   = 4 << 20
)

// agentReportCommand is what the hooks run. It says nothing, never fails and never takes
// long; a host that is not there has nothing to be told.
func (a *app) agentReportCommand() *cobra.Command {
	var agent, event string
	cmd := &cobra.Command{
		Use: "report", Hidden: true, Args: cobra.ArbitraryArgs, FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}, Short: "Tell davit what an agent does (its hooks run this)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.json = false
			done := make(chan struct{})
			ctx, cancel := context.WithTimeout(cmd.Context(), reportWithin)
			defer cancel()
			go func() { // reading stdin cannot be interrupted: it ends with the process
				defer close(done)
				a.agentReport(ctx, agent, event)
			}()
			select {
			case <-done:
			case <-ctx.Done():
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "whose hook it is")
	cmd.Flags().StringVar(&event, "event", "", "the agent's own name of what happened")
	return cmd
}

func (a *app) agentReport(ctx context.Context, agent, event string) {
	pane, socket := a.getenv("DAVIT_PANE"), a.getenv("DAVIT_SOCKET")
	payload, _ := io.ReadAll(io.LimitReader(a.in, reportMost)) // what came is enough
	if pane == "" || socket == "" {
		return
	}
	said := status.Read(agent, event, payload)
	c := client.New(client.Config{Socket: socket, Caller: wire.Caller{Dir: a.dir}})
	_ = c.Call(ctx, "agent.report", wire.AgentReport{
		Pane: davit.PaneID(pane), Agent: said.Agent, Event: said.Event, Session: said.Session, Tool: said.Tool, ToolUse: said.ToolUse, Input: said.Input, Message: said.Message,
		Kind: said.Kind, Child: said.Child, ChildType: said.ChildType, Interrupts: said.Interrupts,
	}, nil) // nobody is there to be told of an error
}
