// Package launch carries out agent.launch: the one operation that starts an agent
// (spec launch). It does the work in the order of L5, with a durable row before each
// effect and a receipt that says what was done:
//
//	caller ─ Launch ─► validate ─ claim ─► resolve ─ half one ─ create ─ half two ─► surface ─ record ─ deliver ─ settle ─► Result
//	                      │        │ledger   │Workspaces  │route   │Workspaces │Sessions │Surfaces  └──── ledger ────┘
//	                   Agents                                                                           │Sessions, Terminals
//
// The Executor owns one goroutine for each launch that runs: a caller that goes away
// decides nothing (L5.9). Its only lock guards the table of launches in flight, which
// lets identical calls share one answer, and is never held over work. Drain waits for
// the goroutines.
//
// It refuses what it cannot do by name, never starts a second agent beside one that may
// exist (L5.6), never rolls a worktree back (L5.4), and keeps accountEnv out of the
// ledger and the log. What a mode is and what a prompt's receipt may say is decided in
// internal/route.
package launch

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/paste"
	"davit/internal/route"
	"davit/internal/store"
)

// ErrNothingMade is in the chain of an error of Surfaces when it is proven that no
// program was started. Without it nobody knows (L5.6).
var ErrNothingMade = errors.New("nothing was made")

// Failpoints are the arrows of L5, in order.
func Failpoints() []string {
	return []string{
		"after-validate", "after-claim", "after-resolve", "after-half1", "after-create",
		"after-half2", "after-surface", "after-record", "after-deliver", "after-settle",
	}
}

// Ledger is the table of operations (spec launch L6); *store.Store is one.
type Ledger interface {
	Admit(ctx context.Context, r store.AdmitRequest) (store.Admission, error)
	Operation(ctx context.Context, caller, id string) (store.OperationRow, bool, error)
	Unsettled(ctx context.Context) ([]store.OperationRow, error)
	NoteWorktree(ctx context.Context, caller, id, path, branch string) error
	Plan(ctx context.Context, caller, id string, result []byte) error
	Record(ctx context.Context, caller, id string, result []byte) error
	Settle(ctx context.Context, caller, id string, result []byte) error
	Fail(ctx context.Context, caller, id string, failure []byte) error
}

// Agents is the catalogue as far as a launch needs it.
type Agents interface {
	// Agent gives an agent that can be started here. Errors: agent_unknown,
	// agent_disabled, agent_not_installed.
	Agent(ctx context.Context, id string) (Agent, error)
	// Command builds the command of a terminal launch.
	Command(ctx context.Context, agent Agent, in CommandInput) (Command, error)
}

// Agent is one agent of the catalogue, found on this machine.
type Agent struct {
	ID       string
	Name     string
	Practice bool
	Driver   string // its structured driver that this build has, "" for none
	Exe      string // where its program was found
}

// CommandInput is what an agent's command is made of.
type CommandInput struct {
	Prompt  *string // the first turn, or the draft when Draft is set; nil for none
	Draft   bool
	Args    davit.OptionalString
	Options map[string]string
	Resume  string // the agent's own id of the session to continue, "" for a new one
}

// Command is what to execute, without a shell (L7.1).
type Command struct {
	Argv        []string
	Env         []string // NAME=value, beside the pane's own
	PromptRides bool     // the prompt is in Argv or Env: as the first turn, or a draft as the agent's own prefill
	Warning     string
}

// Workspaces finds and makes the places that agents work in.
type Workspaces interface {
	// Resolve finds the one place that a selector names (L4).
	Resolve(ctx context.Context, selector, callerDir string) (Place, error)
	// Create makes a worktree under the instance id (L9). Repo is an absolute path by
	// now. Beside an error, a worktree with a path is one that was made. A script that has to
	// run and may not is refused before.
	Create(ctx context.Context, payload davit.CreateWorktree, instance string) (davit.Worktree, string, error)
	// Setup gives the script that is to run in a worktree just made, "" for none, and what
	// is to be told of one that does not (L9.5).
	Setup(ctx context.Context, made davit.Worktree, decision string) (script, warning string, err error)
	// Folder registers a plain folder (L5.5).
	Folder(ctx context.Context, payload davit.CreateFolder, callerDir string) (Place, error)
	// Made finds what a Create under the instance id left, for one that a crash cut off.
	Made(ctx context.Context, instance string) (davit.Worktree, bool, error)
}

// Place is a resolved workspace.
type Place struct {
	ID     string
	Path   string // absolute
	Branch string
	Bare   bool // a bare repository: only for create-worktree
}

// Surfaces makes what an agent shows up in.
type Surfaces interface {
	// OpenTerminal starts the agent in a pane of its own. It has stored what it does
	// before it does it. An error with ErrNothingMade in its chain proves that no program
	// was started.
	OpenTerminal(ctx context.Context, r TerminalRequest) (TerminalOpened, error)
	// OpenChat makes a tab with a chat in it and starts the agent there, likewise. With
	// ErrNothingMade the tab is still there: Drop takes it away, or OpenTerminal turns it
	// into a terminal (TerminalRequest.InPlace).
	OpenChat(ctx context.Context, r ChatRequest) (ChatOpened, error)
	// Drop takes the tab of a chat that was not made away again.
	Drop(ctx context.Context, tab davit.TabID) error
	// Handle gives the handle that is good now for a surface; false when there is none
	// (L6.3: a replay may re-mint it).
	Handle(ctx context.Context, o davit.Outcome) (string, bool, error)
	// Settled gives the whole receipt to the tab that shows the launch.
	Settled(ctx context.Context, result davit.Result)
	// Shows waits a while for a terminal to show a text, and says whether it did.
	Shows(ctx context.Context, key davit.PaneKey, text string) bool
}

// Terminals are the panes in which agents run.
type Terminals interface {
	// Running finds the terminal of a handle, or of a pane's id, in which the agent runs.
	// Error: agent_launch_terminal_not_running_agent (L5.2).
	Running(ctx context.Context, handle string, agent Agent) (Running, error)
	// Paste gives a text to the agent of a pane once its composer is ready (L7.2). It
	// writes under the id once, whatever happens.
	Paste(ctx context.Context, r PasteRequest) paste.Report
}

// Running is a terminal that may be reused.
type Running struct {
	Handle  string
	Tab     davit.TabID
	PaneKey davit.PaneKey
	Dir     string // where its agent was started
}

// PasteRequest says what to paste and where.
type PasteRequest struct {
	PaneKey davit.PaneKey
	Agent   Agent
	ID      string // of the writes
	Text    string
	Draft   bool
}

// Sessions are the host's chats as far as a launch needs them.
type Sessions interface {
	// Support says whether an agent can be a chat in a directory of this host, and why not
	// (L3.3). It starts nothing.
	Support(ctx context.Context, agent, dir string) (route.Verdict, string, error)
	// Known says whether there is a chat of this id.
	Known(id davit.SessionID) bool
	// Submit appends a message to the chat's journal, then sends it. Without an error it is
	// durable.
	Submit(ctx context.Context, id davit.SessionID, message, text string) error
	// Submitted says whether the message's row is there.
	Submitted(ctx context.Context, id davit.SessionID, message string) (bool, error)
	// Draft puts a text into the chat's composer.
	Draft(ctx context.Context, id davit.SessionID, text string) error
}

// TerminalRequest says what to start and where. The ids are minted and stored already.
type TerminalRequest struct {
	Tab           davit.TabID
	Pane          davit.PaneID
	PaneKey       davit.PaneKey
	Agent         string // catalogue id
	AgentName     string
	Practice      bool
	Argv          []string
	Env           []string // NAME=value
	SecretEnv     []string // accountEnv as NAME=value: given to the program, never stored or logged (L1)
	Dir           string
	Title         string
	Worktree      *davit.Worktree // the one that this launch made
	RemoveOnClose bool            // give the tab a plan that removes Worktree (L9.1)
	Placement     *davit.Placement
	Focus         bool // the caller wants to look at it
	Operation     string
	Receipt       davit.Receipt // for the tab's list of launches
	WorkspaceID   string
	InPlace       bool         // the pane is there, of a chat of the same operation that was not made
	Script        *Script      // runs before the agent, in the same terminal
	Beside        davit.PaneID // the tab is there, with this pane, in which the setup runs
}

// TerminalOpened is what came to be. Empty ids are those asked for.
type TerminalOpened struct {
	Handle    string
	TabID     davit.TabID
	PaneKey   davit.PaneKey
	Placement *davit.PlacementResult
	Warning   string
}

// ChatRequest says which chat to start and where. The ids are minted and stored already.
type ChatRequest struct {
	Session       davit.SessionID
	Tab           davit.TabID
	Pane          davit.PaneID
	PaneKey       davit.PaneKey
	Agent         string // catalogue id
	AgentName     string
	Practice      bool
	Dir           string
	Title         string
	Options       map[string]string // model, effort, mode: those that the driver takes
	Worktree      *davit.Worktree
	RemoveOnClose bool
	Placement     *davit.Placement
	Focus         bool
	Operation     string
	Receipt       davit.Receipt
	WorkspaceID   string
	Beside        davit.PaneID // likewise
}

// ChatOpened is what came to be.
type ChatOpened struct {
	Handle    string
	Placement *davit.PlacementResult
	Warning   string // options that were not taken, a start that takes long
}

// Held asks the keeper what it holds (L6.5).
type Held interface {
	// Holds says whether the keeper has the pane's program, running or ended.
	Holds(ctx context.Context, key davit.PaneKey) (bool, error)
	// HoldsChat says whether it has, or had, a process of the chat.
	HoldsChat(ctx context.Context, id davit.SessionID) (bool, error)
}

// Config joins the executor to the rest. Everything but the fields that say so is needed.
type Config struct {
	Ledger     Ledger
	Agents     Agents
	Workspaces Workspaces
	Surfaces   Surfaces
	Setups     Setups
	Held       Held
	Sessions   Sessions // nil: this host has no chats (L3.2 row 7)
	Terminals  Terminals
	Host       davit.HostID
	Key        []byte // of the hash of accountEnv: Store.FingerprintKey

	// SupportLimit is how long half two waits for the host's verdict; 0: 10 s.
	SupportLimit time.Duration
	// SetupLimit is how long a launch that may become a chat waits for a setup; 0: 60 s.
	SetupLimit time.Duration
	// DefaultSurface reads the setting agent.default_surface; nil: structured.
	DefaultSurface func(ctx context.Context) davit.Surface
	// DefaultAgent reads the setting agent.default, for an intent that names no agent; nil:
	// none is set.
	DefaultAgent func(ctx context.Context) string
	// Started hears of each agent that was started, once (L1 launchSource); may be nil.
	Started   func(davit.Launched)
	Failpoint func(name string) // for crash tests; may be nil
	Now       func() time.Time  // nil: time.Now
	Log       *slog.Logger      // nil: nothing is logged
}

// Caller is who asks, from the transport and never from parameters (L6.1).
type Caller struct {
	Key          string   // survives a token's rotation
	Capabilities []string // of the Davit-Capabilities header; nil when there was none (L1.2)
	Dir          string   // the caller's directory, for selectors
}

// DecodeIntent reads an intent from outside (spec launch L1, L1.1).
func DecodeIntent(raw json.RawMessage) (davit.Intent, error) { return intent.Decode(raw) }
