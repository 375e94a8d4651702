package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/daemon"
	"davit/internal/home"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/practice"

	"github.com/spf13/cobra"
)

func (a *app) keeperCommand() *cobra.Command {
	status := &cobra.Command{
		Use: "status", Short: "Tell what the keeper holds", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.keeperStatus(cmd.Context()) },
	}
	cmd := noun("keeper", "The process that owns terminals and outlives the host", status)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// The host starts `davit keeper`; a person who types it gets the help.
		if a.isTerminal() {
			return run(cmd, args)
		}
		return a.runKeeper(cmd.Context())
	}
	return cmd
}

func (a *app) runKeeper(ctx context.Context) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	runtime, err := h.SocketDir()
	if err != nil {
		return err
	}
	return keeper.Run(ctx, keeper.Config{
		StateDir: h.State, RuntimeDir: runtime, Home: keeperHome(h), Build: davit.Version,
		Log: slog.New(slog.NewTextHandler(a.err, nil)),
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
			fmt.Fprintf(w, "  belongs to no pane: %s (%d)\n", p.Name, p.Pid)
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
