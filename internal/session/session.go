// Package session keeps structured sessions: chats with agents over their own protocol
// (spec session S1). An agent's output is a log at the keeper; the journal is its fold.
//
//	clients ─ Send, Respond, … ─► chat loop ─ one transaction ─► store ─► subscribers
//	                                 ▲   └─ acts, after it ─► keeper ─► agent's stdin
//	     keeper's log of stdout ─────┘ lines ─► acp.Conversation (pure) ─► rows, replies
//
// Each session has one goroutine that owns its conversation, counts its rows and is the
// only one that writes them; callers hand it functions through a bounded mailbox and get
// exactly one answer. While an agent runs it has three helpers: two that follow the
// keeper's logs and one that sends acts, in order. Run owns all of them. Nothing is sent
// that is not a stored row, and what was sent before a crash is sent again under the same
// id, which the keeper does once. A lock guards only the view and the count of subscribers.
//
// It refuses to guess: what may have reached an agent and cannot be known is called
// unknown and is never sent again by itself.
package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
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
	// StateDir is the keeper's: logs of a keeper that is gone are read from there. "": not.
	StateDir string
	// Environment makes the agent's environment: login shell, DAVIT_* of the pane, extra.
	Environment func(pane davit.PaneID, extra []string) []string
	Failpoint   func(name string) // for crash tests; may be nil
	OpenWait    time.Duration     // after it a slow start is told of; 0: 30 s
	OpenLimit   time.Duration     // an agent that has not opened its session by then is ended; 0: 120 s
	Now         func() time.Time
	Log         *slog.Logger
}

// Service keeps the sessions. Make it with New, run it with Run.
type Service struct {
	cfg      Config
	restored chan struct{} // closed when Run knows every stored session
	ended    chan struct{} // closed when Run has returned
	group    sync.WaitGroup

	mu    sync.Mutex // guards what follows; never held over I/O
	ctx   context.Context
	chats map[davit.SessionID]*chat
}

// errStopped is the answer of a service that has ended.
var errStopped = davit.Errorf(davit.CodeShuttingDown, "the host is stopping").WithHint("ask again when it is back")

// New makes a Service. It starts nothing.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.OpenWait, cfg.OpenLimit = cmp.Or(cfg.OpenWait, openWait), cmp.Or(cfg.OpenLimit, openLimit)
	return &Service{cfg: cfg, restored: make(chan struct{}), ended: make(chan struct{}), chats: map[davit.SessionID]*chat{}}
}

// Run takes up what a former host left and serves until ctx ends; it returns after all
// sessions' goroutines. Agents go on: their processes are the keeper's.
func (s *Service) Run(ctx context.Context) error {
	defer close(s.ended)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	err := s.restore(ctx)
	if err == nil {
		close(s.restored)
		<-ctx.Done()
	}
	cancel(errStopped)
	s.mu.Lock()
	s.ctx = nil // no chat begins any more
	s.mu.Unlock()
	s.group.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// add makes a chat known and starts its goroutine; one that is known already is refused.
func (s *Service) add(c *chat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || s.ctx.Err() != nil {
		return errStopped
	}
	if _, known := s.chats[c.id]; known {
		return davit.Errorf(davit.CodeLaunchSessionExists, "there is a chat %s already", c.id).WithHint("`davit session show %s` shows it", c.id)
	}
	s.chats[c.id] = c
	ctx := s.ctx
	s.group.Go(func() { c.run(ctx) })
	return nil
}

// find gives a session once those of a former host are known.
func (s *Service) find(ctx context.Context, id davit.SessionID) (*chat, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	c, ok := s.chats[id]
	s.mu.Unlock()
	if !ok {
		return nil, davit.Errorf(davit.CodeSessionNotFound, "there is no chat %q", id).WithHint("`davit session list` shows what there is")
	}
	return c, nil
}

// Known waits, a bounded while, until the sessions of a former host are known.
func (s *Service) Known(ctx context.Context) error { return s.wait(ctx) }

// wait waits until the sessions of a former host are known.
func (s *Service) wait(ctx context.Context) error {
	select {
	case <-s.restored:
		return nil
	case <-s.ended:
		return errStopped
	case <-ctx.Done():
		return davit.AsError(context.Cause(ctx))
	}
}

// inPane finds the session that a pane shows.
func (s *Service) inPane(pane davit.PaneID) *chat {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.chats))
	s.mu.Unlock()
	for _, c := range all {
		if c.seen().Pane == pane {
			return c
		}
	}
	return nil
}

func (s *Service) failpoint(name string) {
	if s.cfg.Failpoint != nil {
		s.cfg.Failpoint(name)
	}
}

// Support says whether an agent can be a chat in a directory of this host (spec launch
// L3.3). It starts nothing.
func (s *Service) Support(ctx context.Context, agent, dir string) (route.Verdict, string, error) {
	command, err := s.cfg.Agents.Chat(ctx, agent)
	switch davit.CodeOf(err) {
	case "":
	case davit.CodeSessionUnsupported, davit.CodeMethodNotFound, davit.CodeAgentNotInstalled:
		return route.VerdictRefused, davit.AsError(err).Message, nil
	default:
		return "", "", err
	}
	if command.Driver != "acp" {
		return route.VerdictRefused, "there is no chat driver for " + command.Name, nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return route.VerdictRefused, dir + " is not a directory of this host", nil
	}
	return route.VerdictSupported, "", nil
}

// Get gives a session as clients see it. Errors: agent_session_not_found.
func (s *Service) Get(id davit.SessionID) (davit.Session, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 10*time.Second, davit.Errorf(davit.CodeShuttingDown, "the chats of this host are not known yet"))
	defer cancel()
	c, err := s.find(ctx, id)
	if err != nil {
		return davit.Session{}, err
	}
	return c.seen(), nil
}

// Payload reads what the head of a blob stands for (S1.4).
func (s *Service) Payload(ctx context.Context, id davit.SessionID, digest string) (store.PayloadRow, error) {
	if _, err := s.find(ctx, id); err != nil {
		return store.PayloadRow{}, err
	}
	row, ok, err := s.cfg.Store.Payload(ctx, id, digest)
	if err != nil {
		return row, davit.AsError(err)
	}
	if !ok {
		return row, davit.Errorf(davit.CodePayloadNotFound, "chat %s has no payload %s", id, digest)
	}
	return row, nil
}

// Working names the agent of a chat pane when a close would end a turn, "" else (spec
// tabs T5.3).
func (s *Service) Working(pane davit.PaneID) string {
	c := s.inPane(pane)
	if c == nil {
		return ""
	}
	if v := c.seen(); v.Status == davit.AgentWorking || v.Status == davit.AgentWaiting {
		return v.AgentName
	}
	return ""
}

// Mutation is what every change carries (spec session S1.6). Fence nil means whatever it
// is now, for the host's own calls. By names the caller.
type Mutation struct {
	Session   davit.SessionID
	Operation string
	Fence     *uint64
	By        string
}
