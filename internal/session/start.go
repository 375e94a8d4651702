package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/session/acp"
	"davit/internal/store"
)

const (
	openWait   = 30 * time.Second  // of a caller
	openLimit  = 120 * time.Second // of an agent: a real one took 33 s on a machine that was busy
	faultTail  = 1 << 10           // of stderr, in an error
	faultLines = 3                 // of it, in the hint
	lineMost   = 200               // bytes of each
)

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

// nothingRuns marks an error that proves that no agent runs.
type nothingRuns struct{ error }

func (e nothingRuns) Unwrap() error { return e.error }

// NothingRuns says that an error of Start proves that no agent runs.
func NothingRuns(err error) bool {
	var e nothingRuns
	return errors.As(err, &e)
}

// Start stores the session, starts its agent and opens the agent's session, waiting at
// most Config.OpenWait; an agent that takes longer goes on starting until Config.OpenLimit,
// which Warning says.
//
// Errors that prove that no agent runs have launch.ErrNothingMade's meaning: the process
// was never started, or has been ended and seen to end; NothingRuns tells them. Codes:
// agent_not_installed, agent_not_signed_in (its hint is the command that signs in),
// structured_agent_session_unsupported and method_not_found (spec launch L5.6),
// agent_protocol_error, agent_launch_session_already_exists. Anything else: it may run.
func (s *Service) Start(ctx context.Context, req StartRequest) (Started, error) {
	if err := s.wait(ctx); err != nil {
		return Started{}, nothingRuns{err}
	}
	command, cl, err := s.ready(ctx, req.Agent, req.Directory)
	if err != nil {
		return Started{}, nothingRuns{err}
	}
	now := s.cfg.Now().UTC()
	c := newChat(s, store.ChatRow{
		Session: davit.Session{
			ID: req.Session, Agent: req.Agent, AgentName: command.Name, Practice: command.Practice, Driver: command.Driver,
			Tab: req.Tab, Pane: req.Pane, Directory: req.Directory, Status: davit.AgentStarting, Since: now, Source: "protocol",
			Resume: req.Resume, Created: now,
		},
		Spec: store.ChatSpec{Agent: req.Agent, Directory: req.Directory, Options: req.Options, Operation: req.Operation},
	})
	if err := s.add(c); err != nil {
		return Started{}, err
	}
	return c.start(ctx, command, cl)
}

// ready is what can be looked at before anything is stored: program, directory, keeper.
func (s *Service) ready(ctx context.Context, agent, dir string) (Command, *client.Client, error) {
	command, err := s.cfg.Agents.Chat(ctx, agent)
	if err != nil {
		return command, nil, err
	}
	if command.Driver != "acp" {
		return command, nil, davit.Errorf(davit.CodeSessionUnsupported, "there is no chat driver for %s", command.Name).WithHint("launch it in a terminal")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return command, nil, davit.Errorf(davit.CodeDirectoryMissing, "%s cannot start in %s: it is no directory", command.Name, dir)
	}
	cl, err := s.cfg.Keeper(ctx)
	return command, cl, err
}

// start has the loop begin a process and waits for it to be ready.
func (c *chat) start(ctx context.Context, command Command, cl *client.Client) (Started, error) {
	ready := make(chan error, 1)
	if err := c.do(ctx, func() error { return c.begin(command, cl, ready) }); err != nil {
		return Started{Session: c.seen()}, err
	}
	slow, cancel := context.WithTimeoutCause(ctx, c.s.cfg.OpenWait, errSlow)
	defer cancel()
	err := c.await(slow, ready)
	started := Started{Session: c.seen()}
	switch {
	case errors.Is(context.Cause(slow), errSlow) && err != nil && !NothingRuns(err):
		started.Warning = fmt.Sprintf("%s has not opened its session within %s; it goes on starting", command.Name, c.s.cfg.OpenWait)
		return started, nil
	case err != nil:
		return started, err
	}
	_ = c.do(ctx, func() error { // when the host stops now, the warnings are lost
		if c.proc != nil {
			started.Warning = strings.Join(c.proc.warnings, "; ")
		}
		return nil
	})
	return started, nil
}

var errSlow = errors.New("the agent takes long to start")

// begin stores that a process is about to be, then has the keeper start it (S1.2).
func (c *chat) begin(command Command, cl *client.Client, ready chan error) error {
	if c.phase != phaseNone {
		return davit.Errorf(davit.CodeSessionBusy, "the chat's agent runs, or is about to").WithHint("`davit session show %s` shows it", c.id)
	}
	if err := c.remember(); err != nil {
		return err
	}
	c.to(phaseSpawning)
	c.row.Keeper, c.row.Spawn, c.row.Initiated = mint("p_"), c.row.Spawn+1, false
	c.row.Spec.KeeperBoot = bootOf(cl.Hello())
	c.row.Session.Fence++
	c.row.Session.Fault = nil
	c.row.Session.AgentName, c.row.Session.Practice = command.Name, command.Practice
	c.status(davit.AgentStarting, "")
	p := newProcess(c.row.Keeper, acp.Position{})
	p.command = command
	c.proc = p
	c.owed, c.asks = nil, map[uint64]store.RPCRow{}
	st := &step{}
	st.batch.PutActs = []store.ActRow{{ID: spawnAct(p.keeper), Pane: davit.PaneID(p.keeper), Kind: "spawn", Body: []byte(strconv.Itoa(c.row.Spawn)), Created: c.s.cfg.Now()}}
	st.then = []func(){func() { c.starts = append(c.starts, ready) }}
	if err := c.commit(st); err != nil {
		return err
	}
	c.pane(func(v *davit.Pane) { v.Status, v.Fault, v.Exit, v.Pid = davit.PaneStarting, "", nil, 0 })
	c.s.failpoint("chat-before-spawn")
	c.spawn(p, cl)
	c.bound(p)
	return nil
}

// remember makes the conversation of what is stored, when it is not there yet.
func (c *chat) remember() error {
	if c.conv != nil {
		return nil
	}
	conv := acp.NewConversation(c.id)
	if c.row.Session.Cursor.Epoch > 0 {
		rows, err := c.s.cfg.Store.JournalItems(c.ctx, c.id)
		if err != nil {
			return err
		}
		for _, row := range rows {
			conv.Apply(row)
		}
	}
	v := c.row.Session
	conv.SetView(acp.View{Title: v.Title, Options: v.Options, Commands: v.Commands, Usage: v.Usage})
	c.conv = conv
	return nil
}

func spawnAct(keeper string) string { return "spawn-" + keeper }

// spawn asks the keeper; the row of the act holds no secret, so the request is made of the
// catalogue and the environment of now.
func (c *chat) spawn(p *process, cl *client.Client) {
	v, command, spawn := c.row.Session, p.command, c.row.Spawn
	c.help(func() {
		if command.Path == "" { // after a restart
			var err error
			if command, err = c.s.cfg.Agents.Chat(c.ctx, v.Agent); err != nil {
				c.post(func() { c.unspawned(p, cl, err) })
				return
			}
		}
		mark := v.Pane // what the agent starts is known by it when it is ended (spec terminal P5.1)
		if mark == "" {
			mark = davit.PaneID(p.keeper)
		}
		info, err := cl.Spawn(c.ctx, keeper.SpawnRequest{
			ID: spawnAct(p.keeper), Pane: p.keeper, Kind: keeper.PaneChat, Path: command.Path, Argv: command.Argv,
			Env: c.s.cfg.Environment(mark, command.Env), Dir: v.Directory, Pipes: true,
			Labels: map[string]string{"session": string(c.id), "pane": string(v.Pane), "tab": string(v.Tab), "spawn": strconv.Itoa(spawn)},
		})
		c.post(func() {
			p.command = command
			if err != nil {
				c.unspawned(p, cl, err)
				return
			}
			c.s.failpoint("chat-after-spawn")
			c.spawned(p, cl, info)
		})
	})
}

// unspawned hears that the keeper did not start the process.
func (c *chat) unspawned(p *process, cl *client.Client, err error) {
	if c.proc != p || c.phase != phaseSpawning {
		return
	}
	if code := davit.CodeOf(err); code == davit.CodeKeeperUnreachable || code == davit.CodeKeeperSuperseded {
		c.relink(p, cl)
		return
	}
	p.fault = davit.AsError(err)
	c.gone(p, false)
}

// spawned greets the process that runs now.
func (c *chat) spawned(p *process, cl *client.Client, info keeper.PaneInfo) {
	if c.proc != p || c.phase != phaseSpawning {
		return
	}
	c.to(phaseGreeting)
	c.paid = append(c.paid, spawnAct(p.keeper))
	st := &step{}
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Lifecycle: &davit.Lifecycle{Event: "started"}}))
	id := c.rpc()
	c.ask(st, id, "initialize", "", acp.Initialize(id, davit.Version))
	if c.commit(st) != nil {
		return
	}
	c.pane(func(v *davit.Pane) { v.Status, v.Pid, v.Fault, v.Exit = davit.PaneRunning, info.Pid, "", nil })
	if p.fault != nil || p.stopped { // it was told to end before it was there
		c.end(p)
	}
	c.attach(p, cl, info)
}

// greeted opens the agent's session, or goes on with the one it had.
func (c *chat) greeted(st *step, p *process, a acp.Answered) {
	if c.phase != phaseGreeting {
		return
	}
	if a.Err != nil {
		c.fail(st, p, c.refusal(p, a, "the agent refused to speak the Agent Client Protocol"))
		return
	}
	hello, err := acp.ReadInitialize(a.Result)
	if err != nil {
		c.fail(st, p, c.protocolFault(p, "the agent's answer to initialize cannot be read: %v", err))
		return
	}
	p.hello, p.fresh = hello, true
	c.to(phaseOpening)
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Lifecycle: &davit.Lifecycle{Event: "initialized"}}))
	v, id := c.row.Session, c.rpc()
	switch {
	case v.Resume == "":
		c.ask(st, id, "session/new", "", acp.NewSession(id, v.Directory))
	case hello.CanLoad:
		c.ask(st, id, "session/load", "", acp.LoadSession(id, v.Resume, v.Directory))
	default:
		c.fail(st, p, davit.Errorf(davit.CodeSessionUnsupported, "%s cannot go on with a session of before", v.AgentName).
			WithHint("start a new chat; what was said in this one stays"))
	}
}

// opened is the agent ready for messages, or the reason why it is not.
func (c *chat) opened(st *step, p *process, a acp.Answered) {
	if c.phase != phaseOpening {
		return
	}
	if a.Err != nil {
		c.fail(st, p, c.refusal(p, a, "the agent did not open a session"))
		return
	}
	event := "created"
	if a.Method == "session/load" {
		event = "loaded"
	}
	resume, err := c.conv.ReadSession(a.Result)
	if err == nil && resume == "" && a.Method == "session/new" {
		err = errors.New("it names no session")
	}
	if err != nil {
		c.fail(st, p, c.protocolFault(p, "the agent's answer to %s cannot be read: %v", a.Method, err))
		return
	}
	if a.Method == "session/new" {
		c.row.Session.Resume = resume
	}
	c.to(phaseReady)
	c.row.Initiated = true
	c.row.Session.Fault = nil
	c.viewed()
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{Lifecycle: &davit.Lifecycle{Event: event}}))
	c.pick(st, p)
	c.status(davit.AgentIdle, "")
	c.nextTurn(st)
	st.then = append(st.then, func() { c.answerStarts(nil) })
}

// pick asks for the options that the launch named; what is not offered is told (spec
// launch L1), never a failure.
func (c *chat) pick(st *step, p *process) {
	names := slices.Sorted(maps.Keys(c.row.Spec.Options))
	for _, name := range names {
		value := c.row.Spec.Options[name]
		i := slices.IndexFunc(c.row.Session.Options, func(o davit.AgentOption) bool { return o.ID == name || o.Category == name })
		if value == "" {
			continue
		}
		if i < 0 {
			p.warnings = append(p.warnings, fmt.Sprintf("%s lets nobody pick its %s here", c.row.Session.AgentName, name))
			continue
		}
		o := c.row.Session.Options[i]
		if o.Value == value {
			continue
		}
		if err := c.setOption(st, o, value, nil); err != nil {
			p.warnings = append(p.warnings, fmt.Sprintf("%s does not offer the %s %q", c.row.Session.AgentName, name, value))
		}
	}
}

func (c *chat) answerStarts(err error) {
	for _, wait := range c.starts {
		wait <- err
	}
	c.starts = nil
}

// fail has a process that cannot be talked with end after the step; the reason is told when it has ended.
func (c *chat) fail(st *step, p *process, fault *davit.Error) {
	if p.fault != nil {
		return
	}
	p.fault = fault
	c.row.Session.Fault = fault
	c.status(davit.AgentError, "")
	st.then = append(st.then, func() { c.end(p) })
}

// refusal tells an error answer of the agent by its proper name (S1.10, spec launch L5.6).
func (c *chat) refusal(p *process, a acp.Answered, what string) *davit.Error {
	v := c.row.Session
	switch {
	case acp.SignInNeeded(a.Err):
		e := davit.Errorf(davit.CodeAgentNotSignedIn, "%s is not signed in: %s", v.AgentName, a.Err.Message)
		return e.WithHint("%s", signIn(p))
	case acp.NoMethod(a.Err):
		return davit.Errorf(davit.CodeMethodNotFound, "%s does not know %s, which a chat needs", v.AgentName, a.Method).WithHint("launch it in a terminal, or bring it up to date")
	}
	return c.protocolFault(p, "%s: %s", what, a.Err.Error())
}

func signIn(p *process) string {
	if p.command.SignIn != "" {
		return "run `" + p.command.SignIn + "`, then launch again"
	}
	var names []string
	for _, m := range p.hello.SignIn {
		names = append(names, m.Name)
	}
	if len(names) > 0 {
		return "sign in with the agent's own program (" + strings.Join(names, ", ") + "), then launch again"
	}
	return "sign in with the agent's own program in a terminal, then launch again"
}
