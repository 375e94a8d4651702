package cli

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"davit"
	"davit/internal/agent"
	"davit/internal/home"
	"davit/internal/launch/intent"
	"davit/internal/wire"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// launchFlags are the words of `davit launch` (spec interfaces A3.2).
type launchFlags struct {
	in, worktree, base, branch, folder    string
	prompt, promptFile, surface, model    string
	effort, args, cwd, reuse, paneKey     string
	session, group, after, setup, host    string
	operation, replay, resume, policy     string
	draft, noArgs, background, removeDone bool
	schema                                bool
	options, accountEnv                   []string
}

// generated is the value of a bare --worktree: help shows it, and no branch can have it.
const generated = "a generated name"

// capabilities are what this command line can do, for launches (spec launch L1.2): it
// shows chats with `davit session`.
func capabilities() []string {
	return []string{davit.CapLaunch, davit.CapPromptUnconfirmed, davit.CapRenderChat}
}

func (a *app) launchCommand() *cobra.Command {
	var f launchFlags
	cmd := &cobra.Command{
		Use: "launch [AGENT]", Short: "Start an agent, into this workspace or a fresh worktree", Args: cobra.MaximumNArgs(1),
		Long: "Starts an agent, the default one when none is named (davit agent default), as a chat or in a terminal of its own, and prints a receipt: what was started, where, why there,\nand what became of the prompt. The operation id on stderr finds the receipt again: davit launch --replay ID." + selectorHelp,
		Example: "  davit launch claude --worktree --prompt \"fix the login test\"\n" +
			"  davit launch codex --in ~/src/api --worktree=login --base main --prompt-file task.md\n" +
			"  davit launch practice --worktree --remove-on-close --prompt hello",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.replay != "" {
				if len(args) > 0 {
					return usagef("--replay takes no agent: it never starts one")
				}
				return a.replay(cmd, f.replay)
			}
			if f.schema {
				return a.printSchema()
			}
			return a.launch(cmd, strings.Join(args, ""), f)
		},
	}
	launchFlagsInto(cmd.Flags(), &f)
	cmd.Flags().StringVar(&f.resume, "resume", "", "continue a session of the agent's own, by its id, in a terminal")
	cmd.Flags().StringVar(&f.replay, "replay", "", "print the receipt of an operation again; starts nothing")
	cmd.Flags().BoolVar(&f.schema, "schema", false, "print the JSON Schema of intent and result; starts nothing")
	return cmd
}

// launchFlagsInto are the flags of everything that launches.
func launchFlagsInto(fl *pflag.FlagSet, f *launchFlags) {
	fl.StringVar(&f.in, "in", "", "repository or workspace, by a selector (default: the current directory)")
	fl.StringVar(&f.worktree, "worktree", "", "into a new worktree; without a name one is generated")
	fl.Lookup("worktree").NoOptDefVal = generated
	fl.StringVar(&f.base, "base", "", "what the new worktree starts from")
	fl.StringVar(&f.branch, "branch", "", "branch of the new worktree (default: its name)")
	fl.StringVar(&f.folder, "folder", "", "into a plain folder, without git")
	fl.StringVar(&f.prompt, "prompt", "", "the first turn")
	fl.StringVar(&f.promptFile, "prompt-file", "", "the first turn, from a file or - for stdin")
	fl.BoolVar(&f.draft, "draft", false, "leave the prompt unsent, for editing")
	fl.StringVar(&f.surface, "surface", "", "structured (a chat) or terminal")
	fl.StringVar(&f.model, "model", "", "model, as the agent names it")
	fl.StringVar(&f.effort, "effort", "", "effort, as the agent names it")
	fl.StringArrayVar(&f.options, "option", nil, "another session option, as key=value")
	fl.StringVar(&f.args, "args", "", "arguments in place of the saved ones")
	fl.BoolVar(&f.noArgs, "no-args", false, "without the saved arguments")
	fl.StringVar(&f.cwd, "cwd", "", "start directory inside the workspace")
	fl.StringVar(&f.reuse, "reuse", "", "give the prompt to a running terminal: its handle, or its pane")
	fl.StringVar(&f.paneKey, "pane-key", "", "identity of the pane, as tabId:paneId")
	fl.StringVar(&f.session, "session-id", "", "identity of the chat")
	fl.StringVar(&f.group, "group", "", "group of the tab")
	fl.StringVar(&f.after, "after", "", "tab that it comes after")
	fl.BoolVar(&f.background, "background", false, "do not bring it to the front")
	fl.StringArrayVar(&f.accountEnv, "account-env", nil, "account routing variable, as NAME=value; never stored")
	fl.BoolVar(&f.removeDone, "remove-on-close", false, "closing the tab removes the new worktree; its branch is kept")
	fl.StringVar(&f.setup, "setup", "", "the repository's setup script in the new worktree: run, skip or inherit (run it when its text is allowed)")
	fl.StringVar(&f.policy, "setup-policy", "", "wait-for-setup, or start-immediately: the agent starts beside the setup script")
	fl.StringVar(&f.host, "host", "", "davit host")
	fl.StringVar(&f.operation, "operation-id", "", "operation id (minted when absent)")
}

// printSchema prints what an intent and a result look like, for programs.
func (a *app) printSchema() error {
	_, err := a.out.Write(intent.Schema())
	return err
}

func (a *app) launch(cmd *cobra.Command, agentID string, f launchFlags) error {
	in, err := a.intent(cmd, agentID, f)
	if err != nil {
		return err
	}
	if in.Target.Kind == davit.TargetWorktree && f.setup != "skip" {
		if err := a.askSetup(cmd.Context(), wire.SetupRequest{In: f.in, Dir: a.dir, Base: f.base, Branch: f.branchOrName()}); err != nil {
			return err
		}
	}
	a.note("operation: %s", in.OperationID)
	result, err := started[davit.Result](cmd.Context(), a, "agent.launch", in)
	if davit.CodeOf(err) == davit.CodeHostDown {
		err = davit.AsError(err).WithHint("start it again with `davit up --detach`; `davit launch --replay %s` then tells what was done", in.OperationID)
	}
	if err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) { a.printReceipt(w, result) })
}

// branchOrName is the branch that a new worktree will be on, "" for a generated one.
func (f launchFlags) branchOrName() string {
	if f.branch == "" && f.worktree != generated {
		return f.worktree
	}
	return f.branch
}

func (a *app) intent(cmd *cobra.Command, agentID string, f launchFlags) (davit.Intent, error) {
	in := davit.Intent{
		Agent: agentID, OperationID: cmp.Or(f.operation, newOperationID(time.Now())), Host: davit.HostID(f.host), LaunchSource: "cli",
		Surface: davit.Surface(f.surface), Cwd: f.cwd, PaneKey: davit.PaneKey(f.paneKey), SessionID: f.session,
	}
	var err error
	if in.Target, err = a.target(cmd, f); err != nil {
		return in, err
	}
	if in.Prompt, err = a.prompt(cmd, f); err != nil {
		return in, err
	}
	if in.SessionOptions, err = pairs("--option", f.options); err != nil {
		return in, err
	}
	for name, value := range map[string]string{"model": f.model, "effort": f.effort} {
		if value != "" {
			if in.SessionOptions == nil {
				in.SessionOptions = map[string]string{}
			}
			in.SessionOptions[name] = value
		}
	}
	if in.AccountEnv, err = pairs("--account-env", f.accountEnv); err != nil {
		return in, err
	}
	if f.reuse != "" {
		in.ReuseTerminal = &davit.ReuseTerminal{Handle: f.reuse}
	}
	switch {
	case f.noArgs && cmd.Flags().Changed("args"):
		return in, usagef("--args and --no-args exclude each other")
	case f.noArgs:
		in.AgentArgs = davit.OptionalString{Present: true, Null: true}
	case cmd.Flags().Changed("args"):
		in.AgentArgs = davit.OptionalString{Present: true, Value: f.args}
	}
	if f.group != "" || f.after != "" {
		in.Placement = &davit.Placement{GroupID: f.group, AfterTabID: davit.TabID(f.after)}
	}
	in.Resume = f.resume
	if f.background {
		in.Presentation = "background"
	}
	return in, nil
}

func (a *app) target(cmd *cobra.Command, f launchFlags) (davit.Target, error) {
	worktree := cmd.Flags().Changed("worktree")
	switch {
	case f.folder != "" && (worktree || f.in != ""):
		return davit.Target{}, usagef("--folder excludes --worktree and --in")
	case f.folder != "":
		dir := f.folder
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.dir, dir)
		}
		return target(davit.TargetFolder, davit.CreateFolder{Path: dir})
	case !worktree && (f.base != "" || f.branch != "" || f.removeDone || f.setup != "" || f.policy != ""):
		return davit.Target{}, usagef("--base, --branch, --setup, --setup-policy and --remove-on-close are for a new worktree: add --worktree")
	case worktree:
		create := davit.CreateWorktree{
			Repo: cmp.Or(f.in, "active"), Name: f.worktree, Branch: f.branch, BaseBranch: f.base, SetupDecision: f.setup, SetupPolicy: f.policy, RemoveOnClose: f.removeDone,
		}
		if f.worktree == generated {
			create.Name, create.NameWasGenerated = "", true
		}
		return target(davit.TargetWorktree, create)
	}
	return davit.Target{Kind: davit.TargetExisting, Worktree: cmp.Or(f.in, "active")}, nil
}

func target(kind davit.TargetKind, payload any) (davit.Target, error) {
	raw, err := json.Marshal(payload)
	return davit.Target{Kind: kind, Create: raw}, err
}

func (a *app) prompt(cmd *cobra.Command, f launchFlags) (*davit.Prompt, error) {
	text := f.prompt
	if f.promptFile != "" {
		if cmd.Flags().Changed("prompt") {
			return nil, usagef("--prompt and --prompt-file exclude each other")
		}
		var data []byte
		var err error
		if f.promptFile == "-" {
			data, err = io.ReadAll(io.LimitReader(a.in, 8<<20))
		} else {
			data, err = os.ReadFile(f.promptFile)
		}
		if err != nil {
			return nil, davit.Errorf(davit.CodeUsage, "the prompt cannot be read: %w", err)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		if f.draft {
			return nil, usagef("--draft needs a prompt")
		}
		return nil, nil
	}
	delivery := "submit"
	if f.draft {
		delivery = "draft"
	}
	return &davit.Prompt{Text: text, Delivery: delivery}, nil
}

func pairs(flag string, list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("%s %q is not name=value", flag, name)
		}
		m[name] = value
	}
	return m, nil
}

// newOperationID mints an id: 13 digits of Unix milliseconds and 32 hex digits (spec
// launch L1).
func newOperationID(now time.Time) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // crypto/rand does not fail
	return fmt.Sprintf("%013d-%s", now.UnixMilli(), hex.EncodeToString(random[:]))
}

func (a *app) replay(cmd *cobra.Command, id string) error {
	result, err := call[davit.Result](cmd.Context(), a, "agent.replayStored", wire.ReplayRequest{OperationID: id})
	if err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) { a.printReceipt(w, result) })
}

// printReceipt says in words what a launch did, no more than the receipt itself.
func (a *app) printReceipt(w io.Writer, r davit.Result) {
	fmt.Fprintf(w, "%s\n", r.Receipt.Detail)
	if r.Worktree != nil {
		line := "  in       " + r.Worktree.Path
		if r.Worktree.Branch != "" {
			line += " (branch " + r.Worktree.Branch + ")"
		}
		fmt.Fprintln(w, line)
	}
	if r.Prompt != nil {
		fmt.Fprintf(w, "  prompt   %s\n", PromptWords(*r.Prompt))
	}
	fmt.Fprintf(w, "  tab      %s\n", r.Outcome.TabID)
	if r.Outcome.Kind == davit.Structured {
		fmt.Fprintf(w, "  chat     %s\n  look     davit session show %s\n", r.Outcome.SessionID, r.Outcome.SessionID)
	} else {
		fmt.Fprintf(w, "  terminal %s\n", r.Outcome.Handle)
	}
	if _, pane, ok := strings.Cut(string(r.Outcome.PaneKey), ":"); ok {
		fmt.Fprintf(w, "  look     davit attach %s\n", pane)
	}
	if r.Warning != "" {
		a.note("warning: %s", r.Warning)
	}
}

// PromptWords says what became of a prompt, and who owns its text now (spec launch L2.2).
func PromptWords(p davit.PromptReceipt) string {
	switch p.Outcome {
	case davit.PromptJournaled:
		return "in the chat's journal"
	case davit.PromptHanded:
		return "handed to the agent's terminal; do not send it again"
	case davit.PromptUnconfirmed:
		return "not confirmed: look before you send it again"
	case davit.PromptNotDelivered:
		if p.DraftPlaced {
			return "in the composer, unsent"
		}
		return "not delivered: it is still yours to send"
	}
	return string(p.Outcome)
}

// knownAgent answers from the catalogue without a host, for `davit config check`.
func (a *app) knownAgent(h home.Home) func(string) bool {
	user, err := os.ReadFile(filepath.Join(h.Config, "agents.toml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.note("warning: agents.toml cannot be read: %v", err)
	}
	catalogue, err := agent.Load(user)
	if err != nil {
		a.note("warning: %v", err)
	}
	return func(id string) bool {
		_, known := catalogue.Find(id)
		return known
	}
}
