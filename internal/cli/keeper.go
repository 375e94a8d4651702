package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/daemon"
	"davit/internal/home"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/practice"
	"davit/internal/setup"

	"github.com/spf13/cobra"
)

func (a *app) keeperCommand() *cobra.Command {
	status := &cobra.Command{
		Use: "status", Short: "Tell what the keeper holds", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.keeperStatus(cmd.Context()) },
	}
	cmd := noun("keeper", "The process that owns terminals and outlives the host", status, a.keeperUpgradeCommand())
	// What a keeper says to the build that takes its place (spec terminal P1.7).
	var table, check int
	cmd.Flags().IntVar(&table, "table", 0, "take over the table in this descriptor")
	cmd.Flags().IntVar(&check, "check-table", 0, "say whether the table in this descriptor could be taken over")
	for _, name := range []string{"table", "check-table"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// The host starts `davit keeper`; a person who types it gets the help.
		if a.isTerminal() {
			return run(cmd, args)
		}
		return a.runKeeper(cmd.Context(), table, check)
	}
	return cmd
}

func (a *app) runKeeper(ctx context.Context, table, check int) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	cfg := keeper.Config{
		StateDir: h.State, Home: keeperHome(h), Build: davit.Version, Args: []string{"keeper"},
		Log: slog.New(slog.NewTextHandler(a.err, nil)),
	}
	if check > 0 {
		cfg.Table = check
		can, err := keeper.CheckTable(cfg)
		if err != nil {
			return err
		}
		return json.NewEncoder(a.out).Encode(can)
	}
	cfg.Table = table
	if cfg.RuntimeDir, err = h.SocketDir(); err != nil && table == 0 {
		return err
	}
	return keeper.Run(ctx, cfg)
}

// keeperUpgradeCommand makes the running keeper go on as another build.
func (a *app) keeperUpgradeCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Make the running keeper go on as this build of davit", Args: cobra.NoArgs,
		Long: "Make the running keeper go on as this build of davit: the same process, with every program, terminal and\n" +
			"unfetched exit status. It is refused, with the reason, when this build could not take it over.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.keeperUpgrade(cmd.Context(), path) },
	}
	cmd.Flags().StringVar(&path, "path", "", "another program than this one")
	return cmd
}

func (a *app) keeperUpgrade(ctx context.Context, path string) (err error) {
	if path == "" {
		path, err = os.Executable()
	} else {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	h, record, alive, err := a.findKeeper()
	if err != nil {
		return err
	}
	if !alive {
		return davit.Errorf(davit.CodeKeeperUnreachable, "no keeper runs for %s", h.Name()).
			WithHint("It starts with the first terminal, as the build that starts it.")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("the keeper did not answer within 30 s"))
	defer cancel()
	before, after, err := client.Upgrade(ctx, client.Config{Socket: record.Socket, Build: davit.Version}, path)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"pid": after.Pid, "before": before.Build, "build": after.Build, "generation": after.Generation}, func(w io.Writer) {
		fmt.Fprintf(w, "the keeper (%d) goes on as davit %s, before %s; its programs have not noticed\n", after.Pid, after.Build, before.Build)
	})
}

// keeperHome names the home to the keeper, which refuses a host of another one.
func keeperHome(h home.Home) string { return h.State }

// findKeeper looks for a living keeper; none is not an error.
func (a *app) findKeeper() (home.Home, keeper.Record, bool, error) {
	h, err := a.home()
	if err != nil {
		return h, keeper.Record{}, false, err
	}
	record, alive, err := client.Find(h.State)
	return h, record, alive, err
}

func (a *app) keeperStatus(ctx context.Context) error {
	h, record, alive, err := a.findKeeper()
	if err != nil {
		return err
	}
	if !alive {
		return a.print(map[string]any{"running": false}, func(w io.Writer) {
			fmt.Fprintf(w, "no keeper runs for %s: it starts with the first terminal\n", h.Name())
		})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("the keeper did not answer within 10 s"))
	defer cancel()
	c, err := client.Dial(ctx, client.Config{Socket: record.Socket, Build: davit.Version, Reader: true})
	if err != nil {
		return err
	}
	defer c.Disconnect()
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	return a.print(status, func(w io.Writer) {
		fmt.Fprintf(w, "keeper %s, pid %d, since %s\n", status.Build, status.Pid, status.Started.Local().Format(time.DateTime))
		if status.Host != nil && status.Host.There {
			fmt.Fprintf(w, "  host    pid %d\n", status.Host.Pid)
		} else {
			fmt.Fprintln(w, "  host    none")
		}
		if g := status.Cgroup; g != nil && g.Used {
			fmt.Fprintf(w, "  cgroup  %s\n", g.Path)
		} else if g != nil {
			fmt.Fprintf(w, "  cgroup  not used: %s\n", g.Reason)
		}
		for _, p := range status.Panes {
			state := "running"
			if p.Exit != nil {
				state = fmt.Sprintf("ended with status %d", p.Exit.Code)
				if p.Exit.Signal != 0 {
					state = fmt.Sprintf("ended by signal %d", p.Exit.Signal)
				}
			}
			fmt.Fprintf(w, "  %-20s %-8s pid %-7d %s, %d bytes\n", p.Pane, p.Kind, p.Pid, state, p.End)
		}
		for _, p := range status.Adopted {
			whose := "belongs to no pane"
			if p.Pane != "" {
				whose = "left by " + p.Pane
			}
			fmt.Fprintf(w, "  %s: %s (%d) since %s\n", whose, p.Name, p.Pid, p.Since.Local().Format(time.DateTime))
		}
	})
}

// endKeeper is `down --all` when no host runs.
func (a *app) endKeeper(ctx context.Context) error {
	_, record, alive, err := a.findKeeper()
	if err != nil {
		return err
	}
	if alive {
		c, err := client.Dial(ctx, client.Config{Socket: record.Socket, Build: davit.Version})
		if err != nil {
			return err
		}
		defer c.Disconnect()
		if err := c.Shutdown(ctx, true); err != nil {
			return err
		}
		if err := awaitEnd(ctx, "keeper", record.Pid); err != nil {
			return err
		}
	}
	return a.print(map[string]bool{"running": false}, func(w io.Writer) { fmt.Fprintln(w, "davit does not run; its programs and the keeper have ended") })
}

// practiceCommand is the scripted agent of tests and tours: hidden, because people start it
// by `davit launch practice`.
func (a *app) practiceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "practice-agent", Short: "The scripted practice agent", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			a.exit = practice.Main(args, a.in, a.out, a.err, a.environ)
			return nil
		},
	}
}

// setupCommand runs the setup script of a worktree in its terminal, and then becomes the
// program of the terminal (spec launch L5.3).
func (a *app) setupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "setup-run DIR [PROGRAM ARGV...]", Short: "Run the setup script of a worktree", Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			program, argv := "", []string(nil)
			if len(args) > 2 {
				program, argv = args[1], args[2:]
			}
			status, err := setup.Run(setup.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: a.environ}, args[0], program, argv)
			if err != nil {
				fmt.Fprintln(os.Stderr, "davit:", err)
			}
			a.exit = status
			return nil
		},
	}
}

// cleanupCommand carries out one close plan under the keeper (spec tabs T5.4).
func (a *app) cleanupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cleanup-run PLAN", Short: "Carry out the close plan of a tab", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := cleanup.Run(cmd.Context(), args[0], daemon.RemoveWorktree(a.environ), time.Now)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				a.exit = 1
			}
			return nil
		},
	}
}
