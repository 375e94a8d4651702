// Package session keeps structured sessions: chats with agents over their own protocol
// (spec session S1). An agent's output is a log at the keeper; the journal is its fold.
//
//	clients ─ Send, Respond, … ─► chat loop ─ one transaction ─► store ─► subscribers
//	                                 ▲   └─ acts, after it ─► keeper ─► agent's stdin
//	     keeper's log of stdout ─────┘ lines ─► acp.Conversation (pure) ─► rows, replies
//
// Each session has one goroutine that owns its conversation, counts its rows and writes
// them; it runs as long as the agent does. Run owns all of them. Nothing is sent that is
// not a stored row, and what was sent before a crash is sent again under the same id,
// which the keeper does once.
//
// It refuses to guess: what may have reached an agent and cannot be known is called
// unknown and is never sent again by itself.
package session

import (
	"context"
	"log/slog"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper/client"
	"davit/internal/route"
	"davit/internal/store"
)

// Store is what sessions need of the database; *store.Store is one.
type Store interface {
	AppendJournal(ctx context.Context, b store.JournalBatch) error
	Chats(ctx context.Context) ([]store.Chat, error)
	Journal(ctx context.Context, id davit.SessionID, after davit.Cursor, limit int) ([]davit.JournalRow, error)
	JournalBefore(ctx context.Context, id davit.SessionID, before davit.Cursor, limit int) ([]davit.JournalRow, error)
	JournalItems(ctx context.Context, id davit.SessionID) ([]davit.JournalRow, error)
	Submission(ctx context.Context, id davit.SessionID, operation string) (davit.Submission, bool, error)
	Payload(ctx context.Context, id davit.SessionID, digest string) (store.PayloadRow, bool, error)
}

// Agents tells how an agent is driven as a chat.
type Agents interface {
	// Chat gives what to execute. Errors: agent_unknown, agent_disabled,
	// agent_not_installed, structured_agent_session_unsupported.
	Chat(ctx context.Context, agent string) (Command, error)
}

// Command is an agent's program for a chat.
type Command struct {
	Agent    string // catalogue id
	Name     string
	Practice bool
	Driver   string // acp
	Path     string // resolved executable
	Argv     []string
	Env      []string // NAME=value, beside the pane's own
	SignIn   string   // the command that signs in, "" when it is not known
	Install  string
}

// Config is what the Service needs.
type Config struct {
	Host   *host.Host
	Store  Store
	Agents Agents
	// Keeper gives the connection to the keeper, starting one on first need.
	Keeper func(ctx context.Context) (*client.Client, error)
	// Linked gives it only when there is one.
	Linked func() (*client.Client, bool)
	// Ready is closed when the host knows whether its keeper lives.
	Ready <-chan struct{}
	// Environment makes the agent's environment: login shell, DAVIT_* of the pane, extra.
	Environment func(pane davit.PaneID, extra []string) []string
	Failpoint   func(name string) // for crash tests; may be nil
	Now         func() time.Time
	Log         *slog.Logger
}

// Service keeps the sessions. Make it with New, run it with Run.
type Service struct{ cfg Config }

// New makes a Service. It starts nothing.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Run takes up what a former host left and serves until ctx ends; it returns after all
// sessions' goroutines. Agents go on: their processes are the keeper's.
func (s *Service) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// StartRequest says which session to start. The ids are minted and stored already.
type StartRequest struct {
	Session   davit.SessionID
	Agent     string
	Tab       davit.TabID
	Pane      davit.PaneID // the model has it already, of kind chat
	Directory string
	Options   map[string]string // model, effort, mode, …: see Started.Warning
	Operation string            // of the launch
	Resume    string            // the agent's own id of a session to go on with
}

// Started is what came to be.
type Started struct {
	Session davit.Session
	Warning string // options that the driver does not take, a start that takes long
}

var errNotYet = davit.Errorf(davit.CodeUnsupported, "chats are not there yet")

// Support says whether an agent can be a chat in a directory of this host (spec launch
// L3.3). It starts nothing.
func (s *Service) Support(ctx context.Context, agent, dir string) (route.Verdict, string, error) {
	return route.VerdictRefused, "chats are not there yet", nil
}

// Start stores the session, starts its agent and opens the agent's session, waiting at
// most 30 s; an agent that takes longer goes on starting, which Warning says.
//
// Errors that prove that no agent runs have launch.ErrNothingMade's meaning: the process
// was never started, or has been ended and seen to end; NothingRuns tells them. Codes:
// agent_not_installed, agent_not_signed_in (its hint is the command that signs in),
// structured_agent_session_unsupported and method_not_found (spec launch L5.6),
// agent_protocol_error, agent_launch_session_already_exists. Anything else: it may run.
func (s *Service) Start(ctx context.Context, req StartRequest) (Started, error) {
	return Started{}, errNotYet
}

// NothingRuns says that an error of Start proves that no agent runs.
func NothingRuns(err error) bool { return false }

// Mutation is what every change carries (spec session S1.6). Fence nil means whatever it
// is now, for the host's own calls. By names the caller.
type Mutation struct {
	Session   davit.SessionID
	Operation string
	Fence     *uint64
	By        string
}

// Send writes a message into the journal, then sends it, or queues it while a turn runs
// (S1.5, S1.8). When it returns without error the message is durable.
func (s *Service) Send(ctx context.Context, m Mutation, text string) (davit.Submission, error) {
	return davit.Submission{}, errNotYet
}

// Submitted finds a message by its operation id: whether its row is there (spec launch L6.3).
func (s *Service) Submitted(ctx context.Context, id davit.SessionID, operation string) (bool, error) {
	return false, nil
}

// Respond answers a permission question by compare-and-set (S1.7). An empty option
// cancels. Errors: already_resolved with the row's approval in the details.
func (s *Service) Respond(ctx context.Context, m Mutation, item string, revision uint64, option string) (davit.JournalRow, error) {
	return davit.JournalRow{}, errNotYet
}

// Cancel ends the running turn by the protocol; nothing to cancel is no error.
func (s *Service) Cancel(ctx context.Context, m Mutation) error { return errNotYet }

// Stop cancels the turn, then after a grace ends the process; the session stays resumable
// (S1.8).
func (s *Service) Stop(ctx context.Context, m Mutation) error { return errNotYet }

// Resume starts the agent anew and goes on by its own id (S1.9).
func (s *Service) Resume(ctx context.Context, m Mutation) (davit.Session, error) {
	return davit.Session{}, errNotYet
}

// SetDraft replaces the draft of a revision (S1.8). Errors: invalid_request with the
// current draft in the details when the revision is an old one.
func (s *Service) SetDraft(ctx context.Context, id davit.SessionID, text string, revision uint64) (davit.SessionDraft, error) {
	return davit.SessionDraft{}, errNotYet
}

// SetOption picks a value of one of the session's options.
func (s *Service) SetOption(ctx context.Context, m Mutation, option, value string) error {
	return errNotYet
}

// Get gives a session as clients see it. Errors: agent_session_not_found.
func (s *Service) Get(id davit.SessionID) (davit.Session, error) {
	return davit.Session{}, davit.Errorf(davit.CodeSessionNotFound, "there is no chat %q", id).WithHint("`davit session list` shows what there is")
}

// Rows is a piece of a journal.
type Rows struct {
	Rows   []davit.JournalRow
	Cursor davit.Cursor // of the last row
	More   bool
	Reset  string // why the cursor asked for is no good; Rows are the whole then
}

// History reads rows: after a cursor, or the newest before one (S1.4).
func (s *Service) History(ctx context.Context, id davit.SessionID, after, before *davit.Cursor, limit int) (Rows, error) {
	return Rows{}, errNotYet
}

// Payload reads what the head of a blob stands for (S1.4).
func (s *Service) Payload(ctx context.Context, id davit.SessionID, digest string) (store.PayloadRow, error) {
	return store.PayloadRow{}, errNotYet
}

// Subscription gives the rows of a session as they come.
type Subscription struct{}

// Subscribe follows a session: rows after the cursor, or without one the newest tail rows
// (0: all), then every row as it is stored. A subscriber that is too slow is not waited
// for: it reads from the store what it has missed.
func (s *Service) Subscribe(ctx context.Context, id davit.SessionID, after *davit.Cursor, tail int) (*Subscription, error) {
	return nil, errNotYet
}

// Next waits for rows. It ends with ctx, with Close, or with the host.
func (s *Subscription) Next(ctx context.Context) (Rows, error) { return Rows{}, errNotYet }

// Close ends it.
func (s *Subscription) Close() {}

// Working names the agent of a chat pane when a close would end a turn, "" else (spec
// tabs T5.3).
func (s *Service) Working(pane davit.PaneID) string { return "" }

// EndPane is for a tab that is gone for good: it cancels the turn, ends the process (all of
// it, spec terminal P5.1), and leaves the session resumable without a pane (S1.8). It is
// repeatable. What stays alive is in the report.
func (s *Service) EndPane(ctx context.Context, pane davit.PaneID) error { return nil }

// Holds says whether the keeper has, or had, a process of this session (spec launch L6.5).
func (s *Service) Holds(ctx context.Context, id davit.SessionID) (bool, error) { return false, nil }
