package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"davit"
	"davit/internal/client"
	"davit/internal/daemon"
	"davit/internal/home"
	"davit/internal/keeper"
	"davit/internal/wire"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"
)

// undoTime is how long undo keeps a closed tab (spec tabs T6.1).
const undoTime = time.Minute

func (a *app) upCommand() *cobra.Command {
	var listen string
	var detach bool
	var report int
	cmd := &cobra.Command{
		Use: "up", Short: "Start the host for this home", Args: cobra.NoArgs,
		Long:    "Starts the host and stays in the foreground until Ctrl-C, with its log on stderr. --detach runs it in the background\ninstead and returns once it answers; `davit logs` prints its log then, and `davit down` stops it. `davit` alone starts\nit so too. Terminals go on without the host. A host that runs already is told, and that is no error.",
		Example: "  davit up --detach",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if info, err := call[wire.HostInfo](cmd.Context(), a, "host.info", wire.None{}); err == nil {
				if listen != "" && info.URL != "http://"+listen {
					a.note("warning: --listen %s is not used: the host that runs has %s; `davit down` first to change it", listen, info.URL)
				}
				return a.print(info, func(w io.Writer) { fmt.Fprintf(w, "davit runs already: %s (pid %d)\n", info.URL, info.Pid) })
			} else if davit.CodeOf(err) != davit.CodeHostDown {
				return err
			}
			if detach {
				info, err := a.startDetached(cmd.Context(), listen)
				if err != nil {
					return err
				}
				return a.print(info, func(w io.Writer) { fmt.Fprintf(w, "davit runs: %s (pid %d)\n", info.URL, info.Pid) })
			}
			if report > 2 {
				syscall.CloseOnExec(report) // the keeper must not hold it open
			}
			err := a.serve(cmd.Context(), listen)
			if err != nil && report > 2 {
				_ = json.NewEncoder(os.NewFile(uintptr(report), "report")).Encode(davit.AsError(err))
			}
			return err
		},
	}
	cmd.Flags().IntVar(&report, "report-fd", 0, "where the starting davit reads why the host did not start")
	_ = cmd.Flags().MarkHidden("report-fd")
	cmd.Flags().StringVar(&listen, "listen", "", "address of the page (default 127.0.0.1:7420 when free, else a free port)")
	cmd.Flags().BoolVar(&detach, "detach", false, "run in the background; return once the host answers")
	return cmd
}

// serve is the host in this very process.
func (a *app) serve(ctx context.Context, listen string) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	var handler slog.Handler = slog.NewTextHandler(a.err, nil)
	if a.isTerminal() {
		handler = tint.NewHandler(a.err, &tint.Options{TimeFormat: time.TimeOnly})
	}
	err = daemon.Run(ctx, daemon.Config{
		Home: h, Listen: listen, Directory: a.dir, Self: a.self, Environ: a.environ, Getenv: a.getenv, Undo: undoTime,
		Failpoint: failpoint(a.getenv), Log: slog.New(handler),
		Ready: func(info wire.HostInfo) {
			if a.json {
				_ = a.printJSON(info)
				return
			}
			fmt.Fprintf(a.out, "davit runs: %s (pid %d)\n", info.URL, info.Pid)
		},
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// failpoint lets a crash test end the host at a named arrow of a launch (spec launch L5).
// It is off unless the variable names one.
func failpoint(getenv func(string) string) func(string) {
	at := getenv("DAVIT_FAILPOINT")
	if at == "" {
		return nil
	}
	return func(name string) {
		if name == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal comes before anything else is done
		}
	}
}

// startDetached starts `davit up` in a session of its own and waits until it answers.
func (a *app) startDetached(ctx context.Context, listen string) (wire.HostInfo, error) {
	h, err := a.home()
	if err != nil {
		return wire.HostInfo{}, err
	}
	if err := h.Make(); err != nil {
		return wire.HostInfo{}, err
	}
	log, err := os.OpenFile(logPath(h), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return wire.HostInfo{}, davit.Errorf(davit.CodeHomeUnusable, "open the host's log: %w", err)
	}
	defer log.Close()
	before, _ := log.Seek(0, io.SeekEnd)
	said, report, err := os.Pipe()
	if err != nil {
		return wire.HostInfo{}, davit.Errorf(davit.CodeInternal, "start the host: %w", err)
	}
	defer said.Close()
	args := []string{"up", "--report-fd", "3"}
	if listen != "" {
		args = append(args, "--listen", listen)
	}
	cmd := exec.Command(a.self, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = a.dir, a.environ, log, log, []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = report.Close()
	if err != nil {
		return wire.HostInfo{}, davit.Errorf(davit.CodeInternal, "start the host: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		ended <- whyEnded(said, err, h, before)
	}()
	return a.await(ctx, h, ended)
}

// whyEnded is the error that a host told before it ended, else the end of its log.
func whyEnded(said io.Reader, cause error, h home.Home, logFrom int64) error {
	told := new(davit.Error)
	if json.NewDecoder(io.LimitReader(said, 1<<20)).Decode(told) == nil && told.Code != "" {
		return told
	}
	return davit.Errorf(davit.CodeHostDown, "the host ended at once: %w\n%s", cause, tailOf(logPath(h), logFrom)).WithHint("its log is %s", logPath(h))
}

// await polls until the host answers; it ends as soon as the host does, unless another up
// has won the race for the lock: then its host is waited for.
func (a *app) await(ctx context.Context, h home.Home, ended <-chan error) (wire.HostInfo, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the host did not answer within a minute"))
	defer cancel()
	socket, err := h.Socket()
	if err != nil {
		return wire.HostInfo{}, err
	}
	c := client.New(client.Config{Socket: socket, Caller: a.caller()})
	for {
		var info wire.HostInfo
		if err := c.Call(ctx, "host.info", wire.None{}, &info); err == nil {
			return info, nil
		}
		select {
		case err := <-ended:
			if davit.CodeOf(err) != davit.CodeHostRunning {
				return info, err
			}
			ended = nil
		case <-ctx.Done():
			return info, davit.Errorf(davit.CodeHostDown, "%w", context.Cause(ctx)).WithHint("its log is %s", logPath(h))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func logPath(h home.Home) string { return filepath.Join(h.State, "host.log") }

// tailOf gives what was logged since an offset, at most 4 KiB.
func tailOf(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		from = max(from, info.Size()-4096)
	}
	_, _ = f.Seek(from, io.SeekStart)
	data, _ := io.ReadAll(io.LimitReader(f, 4096))
	return string(data)
}

// open is `davit` alone: a running host, a fresh login link, the browser where there is a
// display (spec interfaces A3.1).
func (a *app) open(ctx context.Context) error {
	info, err := call[wire.HostInfo](ctx, a, "host.info", wire.None{})
	if davit.CodeOf(err) == davit.CodeHostDown {
		info, err = a.startDetached(ctx, "")
	}
	if err != nil {
		return err
	}
	link, err := call[wire.LoginLink](ctx, a, "host.loginLink", wire.None{})
	if err != nil {
		return err
	}
	opened := a.isTerminal() && a.openBrowser(link.URL)
	return a.print(map[string]any{"url": link.URL, "expires": link.Expires, "host": info}, func(w io.Writer) {
		fmt.Fprintf(w, "davit runs for %s\n\n  %s\n\n", info.Directory, link.URL)
		if opened {
			fmt.Fprintln(w, "The page was opened in your browser. The link works once, for ten minutes.")
		} else {
			fmt.Fprintln(w, "Open the link in a browser. It works once, for ten minutes; `davit` prints a fresh one.")
		}
	})
}

// openBrowser hands the link over where there is a display. The link is in the argv of the
// opener for a moment; it is one-time, and this user's own processes alone can use it.
func (a *app) openBrowser(url string) bool {
	opener := ""
	switch {
	case a.getenv("DAVIT_NO_BROWSER") != "":
		return false
	case a.getenv("DISPLAY") != "" || a.getenv("WAYLAND_DISPLAY") != "":
		opener = "xdg-open"
	}
	path, err := exec.LookPath(opener)
	if opener == "" || err != nil {
		return false
	}
	cmd := exec.Command(path, url)
	return cmd.Start() == nil
}

func (a *app) downCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "down", Short: "Stop the host; programs go on", Args: cobra.NoArgs,
		Long: "Stops the host. Terminals and agents go on under the keeper, and the next `davit up` finds them.\nWith --all they are ended, and the keeper too.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, err := call[wire.HostInfo](cmd.Context(), a, "host.info", wire.None{})
			if davit.CodeOf(err) == davit.CodeHostDown {
				if all {
					return a.endKeeper(cmd.Context())
				}
				return a.print(map[string]bool{"running": false}, func(w io.Writer) { fmt.Fprintln(w, "davit does not run") })
			}
			if err != nil {
				return err
			}
			if all {
				if err := a.tellCutOff(cmd.Context()); err != nil {
					return err
				}
			}
			if _, err := call[wire.None](cmd.Context(), a, "host.shutdown", wire.ShutdownRequest{All: all}); err != nil {
				return err
			}
			if err := awaitEnd(cmd.Context(), "host", info.Pid); err != nil {
				return err
			}
			if all && info.KeeperPid > 0 {
				if err := awaitEnd(cmd.Context(), "keeper", info.KeeperPid); err != nil {
					return err
				}
			}
			return a.print(map[string]bool{"running": false}, func(w io.Writer) {
				switch {
				case all:
					fmt.Fprintln(w, "davit has stopped; its programs and the keeper have ended")
				case info.Panes > 0:
					fmt.Fprintf(w, "davit has stopped; %d programs go on (`davit down --all` ends them)\n", info.Panes)
				default:
					fmt.Fprintln(w, "davit has stopped")
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end the programs and the keeper too")
	return cmd
}

// tellCutOff names the cleanups of closed tabs that the end of all programs cuts off: the
// next host tells how far each got, and runs none twice (spec tabs T5.7).
func (a *app) tellCutOff(ctx context.Context) error {
	state, err := call[davit.State](ctx, a, "host.state", wire.None{})
	if err != nil {
		return err
	}
	for _, c := range state.Closed {
		switch c.Cleanup {
		case "running":
			fmt.Fprintf(a.err, "davit: the cleanup of the closed tab %q is cut off; the next `davit up` says how far it got\n", visible(c.Title))
		case "queued", "held":
			fmt.Fprintf(a.err, "davit: the cleanup of the closed tab %q has not begun\n", visible(c.Title))
		}
	}
	return nil
}

// awaitEnd waits until a process that was told to end has gone. Where nobody reaps, it stays
// as a zombie, which has ended too.
func awaitEnd(ctx context.Context, what string, pid int) error {
	deadline := time.Now().Add(30 * time.Second)
	start, alive := keeper.ProcessStart(pid)
	for alive && keeper.ProcessAlive(pid, start) {
		if time.Now().After(deadline) {
			return davit.Errorf(davit.CodeInternal, "the %s (pid %d) is still stopping after 30 s", what, pid).WithHint("look at `davit logs`")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Tell what runs, and where", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, err := call[wire.HostInfo](cmd.Context(), a, "host.info", wire.None{})
			if err != nil {
				return err
			}
			return a.print(info, func(w io.Writer) {
				fmt.Fprintf(w, "davit %s runs for %s\n", info.Version, info.Directory)
				fmt.Fprintf(w, "  page    %s   (`davit` prints a login link)\n", info.URL)
				fmt.Fprintf(w, "  host    pid %d, since %s\n", info.Pid, info.Started.Local().Format(time.DateTime))
				keeper := "none yet: it starts with the first terminal"
				if info.KeeperPid > 0 {
					keeper = fmt.Sprintf("pid %d", info.KeeperPid)
				}
				fmt.Fprintf(w, "  keeper  %s\n  home    %s\n  socket  %s\n  tabs    %d, with %d running programs\n", keeper, info.Home, info.Socket, info.Tabs, info.Panes)
			})
		},
	}
}

func (a *app) logsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logs", Short: "Print what a detached host logged", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			f, err := os.Open(logPath(h))
			if errors.Is(err, os.ErrNotExist) {
				return davit.Errorf(davit.CodeNotFound, "there is no log at %s yet", logPath(h)).WithHint("a host in the foreground logs to its own terminal")
			}
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(a.out, f)
			return err
		},
	}
}
