// Package cli is davit's command line: one file per noun, each flags → client → print.
//
// stdout is the answer, stderr all else; --json gives what scripts may rely on (spec
// interfaces A3.4, A3.5). It decides nothing that the host decides, and holds no state.
// Main is the whole program; only cmd/davit calls os.Exit with what it returns.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"davit"
	"davit/internal/client"
	"davit/internal/home"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is one run of the program: its streams, environment and place.
type app struct {
	in       *os.File
	out, err *os.File
	getenv   func(string) string
	environ  []string
	dir      string
	self     string
	json     bool
	exit     int // of a command that ends well but says something with its status
}

// Main runs the program and gives its exit status.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		dir = os.Getenv("PWD")
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, environ: os.Environ(), dir: dir, self: self}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		a.json = a.json || wantsJSON(args) // flags that do not fit are not read at all
		return a.fail(cmd, err)
	}
	return a.exit
}

// wantsJSON looks for --json among words that could not be read as flags.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// fail prints an error of a command as A3.4 says, and gives its exit status.
func (a *app) fail(cmd *cobra.Command, err error) int {
	var usage *usageError
	var left *gaveUp
	if errors.As(err, &left) && !a.json {
		fmt.Fprintln(a.err, left.undone)
		return interrupted
	}
	e := fitHint(cmd, davit.AsError(err))
	if errors.As(err, &usage) || isCobraUsage(err) {
		e = davit.Errorf(davit.CodeUsage, "%s", err.Error()).WithHint("`%s --help` shows how it is used", commandPath(cmd))
	}
	if errors.Is(err, context.Canceled) {
		e = davit.Errorf(davit.CodeInternal, "interrupted; the host goes on with what it was asked").WithHint("`davit status` and `davit tab list` show what there is")
	}
	if e.Hint == "" {
		hinted := *e // every error says what to do: its code's word when it has none of its own
		hinted.Hint = e.Code.Info().Do
		e = fitHint(cmd, &hinted)
	}
	if e.Hint == "" {
		e.Hint = fmt.Sprintf("`%s --help` shows what it takes", commandPath(cmd))
	}
	if a.json {
		_ = a.printJSON(map[string]any{"error": e})
	} else {
		fmt.Fprintf(a.err, "davit: error: %s\n", e.Error())
		for _, line := range append(candidates(e), findings(e)...) {
			fmt.Fprintf(a.err, "  %s\n", line)
		}
		if e.Hint != "" {
			fmt.Fprintf(a.err, "davit: hint: %s\n", e.Hint)
		}
	}
	if errors.Is(err, context.Canceled) || left != nil {
		return interrupted
	}
	return max(e.Code.Info().Exit, 1)
}

// commandPath is what was typed of a command, "davit" when it was none.
func commandPath(cmd *cobra.Command) string {
	if cmd == nil {
		return "davit"
	}
	return cmd.CommandPath()
}

// interrupted is the exit status after Ctrl-C, as shells have it.
const interrupted = 130

// findings are what the details of an unknown operation say of where to look.
func findings(e *davit.Error) []string {
	if e.Code != davit.CodeOperationUnknown {
		return nil
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(e.Details)) {
		if value, ok := e.Details[key].(string); ok && value != "" {
			lines = append(lines, key+": "+value)
		}
	}
	return lines
}

// candidates are what an error's details offer in place of a name that fits none or
// several, unless its hint has them.
func candidates(e *davit.Error) []string {
	var lines []string
	data, err := json.Marshal(e.Details["candidates"])
	if err != nil || json.Unmarshal(data, &lines) != nil || len(lines) > 0 && strings.Contains(e.Hint, lines[0]) {
		return nil
	}
	return lines
}

// usageError is a command line that does not fit.
type usageError struct{ text string }

func (u *usageError) Error() string { return u.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// isCobraUsage knows cobra's own complaints, which have no type.
func isCobraUsage(err error) bool {
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "flag needs", "invalid argument", "accepts ", "requires at least", "bad flag", "required flag"} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "davit", Short: "Launch coding agents, each into its own workspace, and take them back in without losing anything",
		Long: "davit keeps terminals and agents alive behind a web page, a terminal and this command line.\n" +
			"Alone it starts the host for the current directory if need be and prints a fresh login link.",
		SilenceErrors: true, SilenceUsage: true, Version: davit.Version, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.open(cmd.Context()) },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err.Error()} })
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the answer as JSON")
	root.AddCommand(
		a.upCommand(), a.downCommand(), a.statusCommand(), a.logsCommand(), a.doctorCommand(), a.keeperCommand(), a.tryCommand(),
		a.openCommand(), a.configCommand(), a.skillCommand(), a.tabCommand(), a.groupCommand(), a.noticeCommand(),
		a.launchCommand(), a.agentCommand(), a.psCommand(), a.sessionCommand(), a.worktreeCommand(), a.chipsCommand(), a.promptCommand(), a.settingsCommand(),
		a.paneCommand(), a.attachCommand(), a.screenCommand(), a.practiceCommand(), a.cleanupCommand(), a.setupCommand(),
	)
	return root
}

// noun groups verbs; alone it prints its help.
func noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("davit %s has no verb %q", use, args[0])
		}
		return nil
	}, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(verbs...)
	return cmd
}

// onOneCore is for a client that passes bytes on and otherwise waits: with more, the
// runtime wakes and spins threads for every key. Not for the host and the keeper: there a
// key would wait behind another pane's flood (docs/benchmarks.md has the figures).
func (a *app) onOneCore() {
	if a.getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

func (a *app) home() (home.Home, error) { return home.Find(a.getenv) }

// caller says where this call comes from (wire.Caller).
func (a *app) caller() wire.Caller {
	c := wire.Caller{Dir: a.dir, Env: map[string]string{}}
	for _, name := range []string{"SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"} {
		if v := a.getenv(name); v != "" {
			c.Env[name] = v
		}
	}
	return c
}

func (a *app) client() (*client.Client, error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	socket, err := h.Socket()
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{Socket: socket, Caller: a.caller(), Capabilities: capabilities()}), nil
}

// call asks the running host for one operation.
func call[O any](ctx context.Context, a *app, name string, in any) (O, error) {
	var out O
	c, err := a.client()
	if err == nil {
		err = c.Call(ctx, name, in, &out)
	}
	return out, err
}

// started asks for an operation that makes something, and starts the host for it if none
// runs: one step is enough (spec interfaces A3.1). Only a host that was not there is
// started; one that went away while it was asked may have done it.
func started[O any](ctx context.Context, a *app, name string, in any) (O, error) {
	var none O
	if _, err := call[wire.HostInfo](ctx, a, "host.info", wire.None{}); davit.CodeOf(err) == davit.CodeHostDown {
		info, err := a.startDetached(ctx, "")
		if err != nil {
			return none, err
		}
		a.note("started the host (pid %d, %s)", info.Pid, info.URL)
	} else if err != nil {
		return none, err
	}
	return call[O](ctx, a, name, in)
}

func (a *app) printJSON(v any) error {
	encoder := json.NewEncoder(a.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// print answers with JSON or with words.
func (a *app) print(v any, words func(w io.Writer)) error {
	if a.json {
		return a.printJSON(v)
	}
	words(a.out)
	return nil
}

// done says in one line what an act did whose answer says nothing; in JSON, to what.
func (a *app) done(what map[string]any, format string, args ...any) error {
	return a.print(what, func(w io.Writer) { fmt.Fprintf(w, format+"\n", args...) })
}

func (a *app) isTerminal() bool {
	return term.IsTerminal(int(a.in.Fd())) && term.IsTerminal(int(a.out.Fd()))
}

func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.err, "davit: "+format+"\n", args...)
}
