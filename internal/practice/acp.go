package practice

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"davit"

	"github.com/coder/acp-go-sdk"
)

// chatAgent is the agent that speaks ACP. The reading loop owns nothing that turns
// touch but through the mutex, which guards sessions and what is in them.
type chatAgent struct {
	opts     options
	wire     *wire
	record   *transcript
	mu       sync.Mutex
	sessions map[acp.SessionId]*session
	turns    sync.WaitGroup
	ends     chan int // a fault's end
}

type session struct {
	id        acp.SessionId
	directory string
	mode      acp.SessionModeId
	allowed   bool // allow_always was said
	calls     int
	cancel    context.CancelFunc
	lines     []remembered
}

// remembered is what session/load tells again.
type remembered struct {
	Role string `json:"role"` // user | agent
	Text string `json:"text"`
}

// serveACP speaks ACP until stdin ends, a signal comes, or a fault ends it.
func serveACP(opts options, stdin io.Reader, stdout, stderr io.Writer, record *transcript) int {
	a := &chatAgent{
		opts: opts, record: record, sessions: map[acp.SessionId]*session{}, ends: make(chan int, 8),
		wire: &wire{out: stdout, faults: opts.faults, waiting: map[string]chan frameRPC{}},
	}
	fmt.Fprintln(stderr, label+": speaking ACP")
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(signals)
	var exit <-chan time.Time
	if opts.faults.timedExit {
		exit = time.After(opts.faults.exitAfter)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	read := make(chan struct{})
	go func() {
		defer close(read)
		a.readLoop(ctx, stdin)
	}()
	for {
		select {
		case <-read:
			// A client that closes stdin has left; its turns end unanswered.
			cancel()
			a.turns.Wait()
			return 0
		case s := <-signals:
			record.write(event{Event: "signal", Text: s.String()})
			if s != syscall.SIGINT && opts.faults.ignoreTerm {
				continue
			}
			return 128 + int(s.(syscall.Signal))
		case <-exit:
			a.end()
		case status := <-a.ends:
			return status
		}
	}
}

// end is the end that a fault asks for.
func (a *chatAgent) end() {
	if a.opts.faults.crash != "" {
		a.record.write(event{Event: "exit", Text: "crash"})
		crash(a.opts.faults.crash)
	}
	a.ends <- a.opts.faults.exit
}

func (a *chatAgent) readLoop(ctx context.Context, stdin io.Reader) {
	in := bufio.NewReaderSize(stdin, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil {
			return
		}
		var f frameRPC
		if err := json.Unmarshal(line, &f); err != nil {
			if len(strings.TrimSpace(string(line))) > 0 {
				a.wire.write(frameRPC{ID: json.RawMessage("null"), Error: &rpcError{Code: -32700, Message: "not JSON"}})
			}
			continue
		}
		if f.Method == "" {
			a.wire.answered(f)
			continue
		}
		a.handle(ctx, f)
	}
}

// handle answers one request; a prompt is answered by its own goroutine, when its turn
// is over.
func (a *chatAgent) handle(ctx context.Context, f frameRPC) {
	switch f.Method {
	case acp.AgentMethodSessionPrompt:
		var p acp.PromptRequest
		if err := json.Unmarshal(f.Params, &p); err != nil {
			a.wire.answer(f.ID, nil, &rpcError{-32602, err.Error()})
			return
		}
		a.prompt(ctx, f.ID, p)
		return
	case acp.AgentMethodSessionCancel:
		a.cancel(f.Params)
		return
	}
	if at := a.opts.faults.exitAt; at != "" && "session/"+at == f.Method || at == f.Method {
		a.end()
		return
	}
	result, err := a.result(ctx, f)
	a.wire.answer(f.ID, result, err)
	if s, ok := result.(acp.NewSessionResponse); ok {
		a.update(s.SessionId, commandsUpdate())
	}
}

func (a *chatAgent) result(ctx context.Context, f frameRPC) (any, error) {
	switch f.Method {
	case acp.AgentMethodInitialize:
		_ = pause(ctx, a.opts.faults.mountLate)
		return initialized(), nil
	case acp.AgentMethodAuthenticate:
		return acp.AuthenticateResponse{}, nil
	case acp.AgentMethodSessionNew:
		var p acp.NewSessionRequest
		if err := json.Unmarshal(f.Params, &p); err != nil {
			return nil, &rpcError{-32602, err.Error()}
		}
		return a.newSession(p.Cwd)
	case acp.AgentMethodSessionLoad:
		var p acp.LoadSessionRequest
		if err := json.Unmarshal(f.Params, &p); err != nil {
			return nil, &rpcError{-32602, err.Error()}
		}
		return a.loadSession(p)
	case acp.AgentMethodSessionSetMode:
		var p acp.SetSessionModeRequest
		if err := json.Unmarshal(f.Params, &p); err != nil {
			return nil, &rpcError{-32602, err.Error()}
		}
		return a.setMode(p)
	}
	return nil, &rpcError{-32601, "method not found: " + f.Method}
}

func initialized() acp.InitializeResponse {
	title := "Practice agent (not a real model)"
	return acp.InitializeResponse{
		ProtocolVersion:   acp.ProtocolVersionNumber,
		AgentInfo:         &acp.Implementation{Name: "davit-practice", Title: &title, Version: davit.Version},
		AgentCapabilities: acp.AgentCapabilities{LoadSession: true, PromptCapabilities: acp.PromptCapabilities{EmbeddedContext: true}},
		AuthMethods:       []acp.AuthMethod{},
	}
}

func modes(current acp.SessionModeId) *acp.SessionModeState {
	return &acp.SessionModeState{CurrentModeId: current, AvailableModes: []acp.SessionMode{
		{Id: "ask", Name: "Ask before writing"}, {Id: "auto", Name: "Write without asking"},
	}}
}

func (a *chatAgent) newSession(directory string) (any, error) {
	if a.opts.faults.login {
		return nil, &rpcError{-32000, "Authentication required"}
	}
	if !filepath.IsAbs(directory) {
		return nil, &rpcError{-32602, "cwd must be absolute"}
	}
	random := make([]byte, 8)
	_, _ = rand.Read(random) // crypto/rand does not fail
	s := &session{id: acp.SessionId("practice-" + hex.EncodeToString(random)), directory: directory, mode: "ask"}
	a.mu.Lock()
	a.sessions[s.id] = s
	a.mu.Unlock()
	return acp.NewSessionResponse{SessionId: s.id, Modes: modes(s.mode)}, nil
}

var sessionPattern = regexp.MustCompile(`^practice-[0-9a-f]{16}$`)

func (a *chatAgent) loadSession(p acp.LoadSessionRequest) (any, error) {
	a.mu.Lock()
	s := a.sessions[p.SessionId]
	a.mu.Unlock()
	if s == nil {
		if a.opts.sessions == "" || !sessionPattern.MatchString(string(p.SessionId)) {
			return nil, &rpcError{-32002, "no such session: " + string(p.SessionId)}
		}
		text, err := os.ReadFile(filepath.Join(a.opts.sessions, string(p.SessionId)+".jsonl"))
		if err != nil {
			return nil, &rpcError{-32002, "no such session: " + string(p.SessionId)}
		}
		s = &session{id: p.SessionId, directory: p.Cwd, mode: "ask"}
		for _, line := range strings.Split(string(text), "\n") {
			var r remembered
			if json.Unmarshal([]byte(line), &r) == nil {
				s.lines = append(s.lines, r)
			}
		}
		a.mu.Lock()
		a.sessions[s.id] = s
		a.mu.Unlock()
	}
	a.mu.Lock()
	lines, mode := append([]remembered(nil), s.lines...), s.mode
	a.mu.Unlock()
	for _, line := range lines {
		if line.Role == "user" {
			a.update(s.id, acp.UpdateUserMessageText(line.Text))
		} else {
			a.update(s.id, acp.UpdateAgentMessageText(line.Text))
		}
	}
	return acp.LoadSessionResponse{Modes: modes(mode)}, nil
}

func (a *chatAgent) setMode(p acp.SetSessionModeRequest) (any, error) {
	if p.ModeId != "ask" && p.ModeId != "auto" {
		return nil, &rpcError{-32602, "no such mode: " + string(p.ModeId)}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[p.SessionId]
	if s == nil {
		return nil, &rpcError{-32002, "no such session: " + string(p.SessionId)}
	}
	s.mode = p.ModeId
	return acp.SetSessionModeResponse{}, nil
}

func (a *chatAgent) cancel(params json.RawMessage) {
	var p acp.CancelNotification
	if json.Unmarshal(params, &p) != nil {
		return
	}
	a.record.write(event{Event: "cancel", Text: string(p.SessionId)})
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[p.SessionId]; s != nil && s.cancel != nil && !a.opts.faults.never {
		s.cancel()
	}
}

func (a *chatAgent) update(id acp.SessionId, update acp.SessionUpdate) {
	a.wire.notify(acp.ClientMethodSessionUpdate, acp.SessionNotification{SessionId: id, Update: update})
}

func commandsUpdate() acp.SessionUpdate {
	return acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{
		SessionUpdate: "available_commands_update",
		AvailableCommands: []acp.AvailableCommand{
			{Name: "plan", Description: "Show a plan"}, {Name: "wait", Description: "Work until cancelled"},
		},
	}}
}

// remember keeps a line for session/load, in the sessions folder too when there is one.
func (a *chatAgent) remember(s *session, line remembered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.lines = append(s.lines, line)
	if a.opts.sessions == "" {
		return
	}
	if os.MkdirAll(a.opts.sessions, 0o700) != nil {
		return
	}
	file, err := os.OpenFile(filepath.Join(a.opts.sessions, string(s.id)+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	if text, err := json.Marshal(line); err == nil {
		_, _ = file.Write(append(text, '\n'))
	}
	_ = file.Close()
}
