package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/paste"
	"davit/internal/route"
	"davit/internal/store"
)

// stage is a host's surroundings on disk, the same for a process that is killed and for
// the one after it: a store, workspaces that are directories, and agents that are real
// programs, each of which writes what it was told into agents/<pane>.
type stage struct {
	dir       string
	failpoint func(string)
	openErr   error                                    // OpenTerminal gives it before it starts anything
	open      func(TerminalRequest)                    // called in OpenTerminal first
	ledger    func(Ledger) Ledger                      // wraps the store
	started   func(davit.Launched)                     //
	command   func(CommandInput, *Command)             // changes what is executed
	created   func(davit.CreateWorktree, string) error // after the directory is made
	surface   func(context.Context) davit.Surface      // the setting
	mu        sync.Mutex                               // guards asked
	asked     []TerminalRequest                        // of OpenTerminal
	chats     []ChatRequest                            // of OpenChat
	dropped   []davit.TabID                            // of Drop
	verdict   route.Verdict                            // of Support; "" is supported
	support   func(context.Context) error              // called in Support first
	chatErr   error                                    // OpenChat gives it before it starts anything
	submitErr error                                    // Submit gives it before it writes anything
	draftErr  error                                    //
	lookErr   error                                    // of Submitted
	noChats   bool                                     // a host without sessions
	shown     bool                                     // what Shows says
	pasted    paste.Report                             // what Paste says, after it has told the agent; "" is submitted
	pastes    []PasteRequest                           // of Paste

	setupLimit time.Duration
	scripts    sync.WaitGroup // setups that run
}

func newStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir()}
	for _, dir := range []string{"agents", "messages", "worktrees", "repo/sub"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *stage) store(t testing.TB) *store.Store {
	t.Helper()
	db, err := store.Open(context.Background(), store.Config{Path: s.path("davit.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *stage) executor(t testing.TB, db *store.Store) *Executor {
	t.Helper()
	ledger := Ledger(db)
	if s.ledger != nil {
		ledger = s.ledger(db)
	}
	sessions := Sessions(s)
	if s.noChats {
		sessions = nil
	}
	x := New(Config{
		Sessions: sessions, SupportLimit: time.Second, Setups: setups{s}, SetupLimit: s.setupLimit,
		Ledger: ledger, Agents: s, Workspaces: s, Surfaces: s, Held: s, Terminals: s, Host: db.Identity().HostID,
		Key: db.FingerprintKey(), Failpoint: s.failpoint, Started: s.started, DefaultSurface: s.surface,
	})
	t.Cleanup(func() { x.Drain(context.Background()) })
	return x
}

// Agent: "practice" takes prompts, "mute" takes none, "chatty" can be a chat.
func (s *stage) Agent(_ context.Context, id string) (Agent, error) {
	switch id {
	case "practice", "mute":
	case "chatty":
		return Agent{ID: id, Name: "Chatty", Driver: "acp", Exe: "/bin/sh"}, nil
	default:
		return Agent{}, davit.Errorf(davit.CodeAgentUnknown, "there is no agent %s", id)
	}
	return Agent{ID: id, Name: "Practice", Practice: true, Exe: "/bin/sh"}, nil
}

func (s *stage) Command(_ context.Context, agent Agent, in CommandInput) (Command, error) {
	c := Command{Argv: []string{"/bin/sh", "-c", `printf %s "$1" > "$AGENTS/$PANE" && printf '%s\n' "$PANE" >> "$AGENTS/../started"`, "practice"}}
	if in.Prompt != nil && agent.ID != "mute" && len(*in.Prompt) <= rides {
		c.Argv, c.PromptRides = append(c.Argv, *in.Prompt), true
	}
	if s.command != nil {
		s.command(in, &c)
	}
	return c, nil
}

func (s *stage) Resolve(_ context.Context, selector, callerDir string) (Place, error) {
	path := strings.TrimPrefix(selector, "path:")
	if selector == "active" {
		path = callerDir
	}
	if path == s.path("repo", "sub") {
		path = s.path("repo")
	}
	if path != s.path("repo") {
		return Place{}, davit.Errorf(davit.CodeWorkspaceNotFound, "nothing fits %s", selector)
	}
	return Place{ID: "wt_repo", Path: path, Branch: "main"}, nil
}

func (s *stage) Create(_ context.Context, in davit.CreateWorktree, instance string) (davit.Worktree, string, error) {
	w := davit.Worktree{ID: instance, Path: s.path("worktrees", in.Name), Branch: in.Name, Repo: in.Repo, RemoveOnClose: in.RemoveOnClose}
	if err := os.Mkdir(w.Path, 0o700); err != nil {
		return davit.Worktree{}, "", davit.Errorf(davit.CodeWorktreeCollision, "the path %s is taken", w.Path)
	}
	if err := os.WriteFile(s.path("worktrees", instance), []byte(in.Name), 0o600); err != nil {
		return w, "", err
	}
	if s.created != nil {
		if err := s.created(in, instance); err != nil {
			return w, "", err
		}
	}
	return w, "The base is behind its remote.", nil
}

// Setup: the script is a file of the stage.
func (s *stage) Setup(_ context.Context, _ davit.Worktree, decision string) (script, warning string, err error) {
	text, err := os.ReadFile(s.path("script"))
	if errors.Is(err, os.ErrNotExist) || decision == "skip" {
		return "", "", nil
	}
	return string(text), "", err
}

func (s *stage) Folder(_ context.Context, in davit.CreateFolder, _ string) (Place, error) {
	return Place{ID: "folder:" + in.Path, Path: in.Path}, nil
}

func (s *stage) Made(_ context.Context, instance string) (davit.Worktree, bool, error) {
	name, err := os.ReadFile(s.path("worktrees", instance))
	if err != nil {
		return davit.Worktree{}, false, nil
	}
	return davit.Worktree{Path: s.path("worktrees", string(name)), Branch: string(name)}, true, nil
}

// OpenTerminal runs the agent's program to its end: it has really been started.
func (s *stage) OpenTerminal(ctx context.Context, r TerminalRequest) (TerminalOpened, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	if s.open != nil {
		s.open(r)
	}
	if s.openErr != nil {
		return TerminalOpened{}, s.openErr
	}
	if s.failpoint != nil {
		s.failpoint("surface-before-spawn")
	}
	cmd := exec.Command(r.Argv[0], r.Argv[1:]...)
	cmd.Dir = r.Dir
	cmd.Env = append(append(os.Environ(), "AGENTS="+s.path("agents"), "PANE="+string(r.Pane)), append(r.Env, r.SecretEnv...)...)
	if r.Script != nil {
		if err := s.runSetup(r.Pane, *r.Script, cmd); err != nil {
			return TerminalOpened{}, err
		}
	} else if out, err := cmd.CombinedOutput(); err != nil {
		return TerminalOpened{}, fmt.Errorf("run %v: %w: %s", r.Argv, err, out)
	}
	if s.failpoint != nil {
		s.failpoint("surface-after-spawn")
	}
	handle, _, err := s.Handle(ctx, davit.Outcome{Kind: davit.Terminal, PaneKey: r.PaneKey})
	return TerminalOpened{Handle: handle}, err
}

func (s *stage) Handle(_ context.Context, o davit.Outcome) (string, bool, error) {
	life, _ := os.ReadFile(s.path("life"))
	if o.Kind == davit.Structured {
		return ChatHandle(davit.SessionID(o.SessionID), string(life)), true, nil
	}
	_, pane, _ := strings.Cut(string(o.PaneKey), ":")
	return TerminalHandle(davit.PaneID(pane), string(life)), true, nil
}

// Holds: the keeper has the pane when its program was started, or its setup.
func (s *stage) Holds(_ context.Context, key davit.PaneKey) (bool, error) {
	_, pane, _ := strings.Cut(string(key), ":")
	if there, err := s.there("setup-" + pane); there || err != nil {
		return there, err
	}
	return s.there("agents", pane)
}

func (s *stage) HoldsChat(_ context.Context, id davit.SessionID) (bool, error) {
	return s.there("agents", string(id))
}

func (s *stage) there(parts ...string) (bool, error) {
	_, err := os.Stat(s.path(parts...))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// OpenChat starts a program that leaves agents/<session>: what it is told comes there.
func (s *stage) OpenChat(ctx context.Context, r ChatRequest) (ChatOpened, error) {
	s.mu.Lock()
	s.chats = append(s.chats, r)
	s.mu.Unlock()
	if s.chatErr != nil {
		return ChatOpened{}, s.chatErr
	}
	if s.failpoint != nil {
		s.failpoint("surface-before-spawn")
	}
	cmd := exec.Command("/bin/sh", "-c", `: > "$AGENTS/$CHAT" && printf '%s\n' "$CHAT" >> "$AGENTS/../started"`)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "AGENTS="+s.path("agents"), "CHAT="+string(r.Session))
	if out, err := cmd.CombinedOutput(); err != nil {
		return ChatOpened{}, fmt.Errorf("start a chat: %w: %s", err, out)
	}
	if s.failpoint != nil {
		s.failpoint("surface-after-spawn")
	}
	handle, _, err := s.Handle(ctx, davit.Outcome{Kind: davit.Structured, SessionID: string(r.Session)})
	return ChatOpened{Handle: handle, Warning: "It has no such model."}, err
}

// Running finds a terminal whose agent's file is there under its handle.
func (s *stage) Running(_ context.Context, handle string, agent Agent) (Running, error) {
	if there, _ := s.there("agents", handle); there {
		return Running{Handle: handle, Tab: "t_there", PaneKey: davit.PaneKey("t_there:" + handle), Dir: s.path("repo", "sub")}, nil
	}
	return Running{}, davit.Errorf(davit.CodeLaunchReuseNotRunning, "the terminal %s does not run %s", handle, agent.Name)
}

// Paste appends to what the agent was told, unless it is not to be delivered.
func (s *stage) Paste(_ context.Context, r PasteRequest) paste.Report {
	s.mu.Lock()
	s.pastes = append(s.pastes, r)
	s.mu.Unlock()
	fail := s.failpoint
	if fail == nil {
		fail = func(string) {}
	}
	fail("paste-before-write")
	_, pane, _ := strings.Cut(string(r.PaneKey), ":")
	if s.pasted.Outcome != paste.NotDelivered {
		agent, err := os.OpenFile(s.path("agents", pane), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return paste.Report{Outcome: paste.NotDelivered, Warning: err.Error()}
		}
		defer agent.Close()
		if _, err := agent.WriteString(r.Text); err != nil {
			return paste.Report{Outcome: paste.Unknown, Warning: err.Error()}
		}
	}
	fail("paste-after-text")
	switch {
	case s.pasted.Outcome != "":
		return s.pasted
	case r.Draft:
		return paste.Report{Outcome: paste.Placed}
	}
	return paste.Report{Outcome: paste.Submitted}
}

func (s *stage) Drop(_ context.Context, id davit.TabID) error {
	s.dropped = append(s.dropped, id)
	return nil
}

func (s *stage) Settled(context.Context, davit.Result) {}

func (s *stage) Shows(context.Context, davit.PaneKey, string) bool { return s.shown }

// The chats: a message is a file, written before the agent's file gets its text.
func (s *stage) Support(ctx context.Context, _, dir string) (route.Verdict, string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", "", err // the workspace has to exist by now
	}
	if s.support != nil {
		if err := s.support(ctx); err != nil {
			return "", "", err
		}
	}
	if s.verdict != "" {
		return s.verdict, "it is too old", nil
	}
	return route.VerdictSupported, "", nil
}

func (s *stage) Known(id davit.SessionID) bool {
	there, _ := s.there("agents", string(id))
	return there
}

func (s *stage) Submit(_ context.Context, id davit.SessionID, message, text string) error {
	if s.submitErr != nil {
		return s.submitErr
	}
	if s.failpoint != nil {
		s.failpoint("deliver-before-row")
	}
	if err := os.WriteFile(s.path("messages", message), []byte(text), 0o600); err != nil {
		return err
	}
	if s.failpoint != nil {
		s.failpoint("deliver-after-row")
	}
	agent, err := os.OpenFile(s.path("agents", string(id)), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer agent.Close()
	_, err = agent.WriteString(text)
	return err
}

func (s *stage) Submitted(_ context.Context, _ davit.SessionID, message string) (bool, error) {
	if s.lookErr != nil {
		return false, s.lookErr
	}
	return s.there("messages", message)
}

func (s *stage) Draft(_ context.Context, id davit.SessionID, text string) error {
	if s.draftErr != nil {
		return s.draftErr
	}
	return os.WriteFile(s.path("messages", "draft-"+string(id)), []byte(text), 0o600)
}

// agents gives the prompts of the agents that were started, in order.
func (s *stage) agents(t testing.TB) []string {
	t.Helper()
	started, err := os.ReadFile(s.path("started"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var prompts []string
	for _, pane := range strings.Fields(string(started)) {
		prompt, err := os.ReadFile(s.path("agents", pane))
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, string(prompt))
	}
	return prompts
}

func (s *stage) wantAgents(t testing.TB, prompts ...string) {
	t.Helper()
	if got := s.agents(t); !slices.Equal(got, prompts) {
		t.Fatalf("agents were started with %q, want %q", got, prompts)
	}
}

var local = Caller{Key: "local"}

func newID(n int) string { return fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), n) }

// existing asks for the practice agent in the repository, with a prompt.
func (s *stage) existing(n int) davit.Intent {
	return davit.Intent{
		Agent: "practice", OperationID: newID(n),
		Target: davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + s.path("repo")},
		Prompt: &davit.Prompt{Text: hardText, Delivery: "submit"},
	}
}

// worktree asks for it in a worktree to be made.
func (s *stage) worktree(n int, name string) davit.Intent {
	in := s.existing(n)
	in.Target = davit.Target{Kind: davit.TargetWorktree, Create: intent.Encode(davit.CreateWorktree{Repo: s.path("repo"), Name: name, RemoveOnClose: true})}
	return in
}

// chat asks for an agent that can be a chat, in the repository, with a prompt.
func (s *stage) chat(n int) davit.Intent {
	in := s.existing(n)
	in.Agent = "chatty"
	return in
}

// rides is what a command line takes here, in bytes.
const rides = 100_000

// hardText is what a shell would make something else of.
const hardText = "-it's \"$HOME\" `id` \\n\n\t{{x}} ü🙂 \x1b[31m"

func wantCode(t testing.TB, err error, code davit.Code) *davit.Error {
	t.Helper()
	if davit.CodeOf(err) != code {
		t.Fatalf("got %v (%s), want %s", err, davit.CodeOf(err), code)
	}
	return davit.AsError(err)
}
