package practice

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"davit/internal/testenv"

	"github.com/coder/acp-go-sdk"
)

// chat is the agent over pipes, spoken to by raw frames.
type chat struct {
	t       *testing.T
	command *exec.Cmd
	stdin   io.WriteCloser
	frames  chan frameRPC
	junk    chan string // lines that are no frame
	read    chan struct{}
	nextID  int
}

func startChat(t *testing.T, faults string, env ...string) *chat {
	t.Helper()
	c := &chat{t: t, frames: make(chan frameRPC, 4096), junk: make(chan string, 4096), read: make(chan struct{})}
	c.command = exec.Command(os.Args[0], "practice-agent", "--acp")
	c.command.Dir = t.TempDir()
	c.command.Env = append([]string{"PATH=/usr/bin:/bin", "DAVIT_PRACTICE=" + faults}, env...)
	stdin, err := c.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.read)
		defer close(c.frames)
		in := bufio.NewReader(stdout)
		for {
			line, err := in.ReadString('\n')
			var f frameRPC
			if json.Unmarshal([]byte(line), &f) == nil && (f.ID != nil || f.Method != "") {
				c.frames <- f
			} else if line != "" {
				c.junk <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.command.Process.Kill()
		<-c.read
		_ = c.command.Wait()
	})
	return c
}

func (c *chat) send(method string, params any) string {
	c.t.Helper()
	c.nextID++
	text, _ := json.Marshal(params)
	line, _ := json.Marshal(frameRPC{Version: "2.0", ID: json.RawMessage(fmt.Sprint(c.nextID)), Method: method, Params: text})
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprint(c.nextID)
}

// until gives the frames up to the one that fits, which is the last.
func (c *chat) until(fits func(frameRPC) bool) []frameRPC {
	c.t.Helper()
	var seen []frameRPC
	limit := time.After(15 * time.Second)
	for {
		select {
		case f, open := <-c.frames:
			if !open {
				c.t.Fatalf("it ended after %d frames", len(seen))
			}
			seen = append(seen, f)
			if fits(f) {
				return seen
			}
		case <-limit:
			c.t.Fatalf("no such frame among %d", len(seen))
		}
	}
}

func answers(id string) func(frameRPC) bool {
	return func(f frameRPC) bool { return f.Method == "" && string(f.ID) == id }
}

func (c *chat) call(method string, params any) frameRPC {
	c.t.Helper()
	seen := c.until(answers(c.send(method, params)))
	return seen[len(seen)-1]
}

func (c *chat) open() string {
	c.t.Helper()
	c.call("initialize", map[string]any{"protocolVersion": 1})
	var s acp.NewSessionResponse
	f := c.call("session/new", map[string]any{"cwd": c.command.Dir, "mcpServers": []any{}})
	if err := json.Unmarshal(f.Result, &s); err != nil || s.SessionId == "" {
		c.t.Fatalf("session/new: %v %+v", err, f.Error)
	}
	return string(s.SessionId)
}

func promptParams(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

func stopReason(f frameRPC) string {
	var r acp.PromptResponse
	_ = json.Unmarshal(f.Result, &r)
	return string(r.StopReason)
}

// client is the SDK's own client, as a second opinion on the protocol.
type client struct {
	acp.Client
	mu      sync.Mutex
	updates []acp.SessionUpdate
	choose  acp.PermissionOptionId
}

func (c *client) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, n.Update)
	return nil
}

func (c *client) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	if len(r.Options) != 3 || len(r.ToolCall.Content) != 1 || r.ToolCall.Content[0].Diff == nil {
		return acp.RequestPermissionResponse{}, fmt.Errorf("asked %+v", r)
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(c.choose)}, nil
}

func (c *client) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, u := range c.updates {
		if u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil {
			b.WriteString(u.AgentMessageChunk.Content.Text.Text)
		}
	}
	return b.String()
}

func TestTurnWithTheSDK(t *testing.T) { // spec session, driver acp
	t.Parallel()
	directory := t.TempDir()
	command := exec.Command(os.Args[0], "practice-agent", "--acp", "--faults", "work=20ms,cut-lines")
	command.Dir = directory
	stdin, _ := command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = command.Wait() }()
	defer func() { _ = stdin.Close() }()
	peer := &client{choose: "no"}
	conn := acp.NewClientSideConnection(peer, stdin, stdout)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	hello, err := conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil || !hello.AgentCapabilities.LoadSession || !strings.Contains(*hello.AgentInfo.Title, "not a real model") {
		t.Fatalf("initialize: %+v, %v", hello, err)
	}
	made, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: directory, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(directory, "PRACTICE.md")
	for _, c := range []struct {
		choose acp.PermissionOptionId
		there  bool
	}{{"no", false}, {"once", true}} {
		peer.choose = c.choose
		answer, err := conn.Prompt(ctx, acp.PromptRequest{SessionId: made.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("plan\nwrite FILE")}})
		if err != nil || answer.StopReason != acp.StopReasonEndTurn {
			t.Fatalf("prompt: %+v, %v", answer, err)
		}
		if _, err := os.Stat(file); (err == nil) != c.there {
			t.Errorf("after %q the file is there: %v", c.choose, err == nil)
		}
	}
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		return strings.Count(peer.text(), "2 lines, 3 words") == 2, peer.text()
	})
	peer.mu.Lock()
	defer peer.mu.Unlock()
	kinds := map[string]int{}
	for _, u := range peer.updates {
		switch {
		case u.AgentThoughtChunk != nil:
			kinds["thought"]++
		case u.Plan != nil:
			kinds["plan"]++
		case u.ToolCall != nil:
			kinds["call"]++
		case u.ToolCallUpdate != nil:
			kinds["update "+string(*u.ToolCallUpdate.Status)]++
		case u.AvailableCommandsUpdate != nil:
			kinds["commands"]++
		}
	}
	if got := fmt.Sprint(kinds); got != "map[call:2 commands:1 plan:4 thought:2 update completed:1 update failed:1 update in_progress:1]" {
		t.Errorf("updates %s", got)
	}
}

func TestCancelAnswersTheTurn(t *testing.T) {
	t.Parallel()
	c := startChat(t, "")
	session := c.open()
	id := c.send("session/prompt", promptParams(session, "ask"))
	c.until(func(f frameRPC) bool { return f.Method == "session/request_permission" })
	line := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + session + `"}}` + "\n"
	if _, err := io.WriteString(c.stdin, line); err != nil {
		t.Fatal(err)
	}
	seen := c.until(answers(id))
	if got := stopReason(seen[len(seen)-1]); got != "cancelled" {
		t.Errorf("stop reason %q", got)
	}
	if f := c.call("session/prompt", promptParams(session, "refuse")); stopReason(f) != "refusal" {
		t.Errorf("refuse: %+v", f)
	}
	if f := c.call("session/prompt", promptParams(session, "fail")); f.Error == nil {
		t.Errorf("fail: %+v", f)
	}
	if f := c.call("session/unheard", nil); f.Error == nil || f.Error.Code != -32601 {
		t.Errorf("an unknown method: %+v", f)
	}
	_ = c.stdin.Close()
	<-c.read
	if err := c.command.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestLoadSession(t *testing.T) { // spec session S1.9
	t.Parallel()
	kept := "DAVIT_PRACTICE_SESSIONS=" + t.TempDir()
	first := startChat(t, "work=1ms", kept)
	session := first.open()
	first.call("session/prompt", promptParams(session, "remember me"))
	_ = first.stdin.Close()
	<-first.read

	second := startChat(t, "work=1ms", kept)
	second.call("initialize", map[string]any{"protocolVersion": 1})
	seen := second.until(answers(second.send("session/load", map[string]any{"sessionId": session, "cwd": second.command.Dir, "mcpServers": []any{}})))
	told := ""
	for _, f := range seen[:len(seen)-1] {
		told += string(f.Params)
	}
	if !strings.Contains(told, "user_message_chunk") || !strings.Contains(told, "remember me") || !strings.Contains(told, "1 line, 2 words") {
		t.Errorf("told again: %s", told)
	}
	if f := second.call("session/load", map[string]any{"sessionId": "practice-0000000000000000", "cwd": "/", "mcpServers": []any{}}); f.Error == nil {
		t.Errorf("a session that never was: %+v", f)
	}
}

func TestChatFaults(t *testing.T) {
	cases := map[string]func(t *testing.T){
		"login": func(t *testing.T) {
			c := startChat(t, "login")
			if f := c.call("session/new", map[string]any{"cwd": "/", "mcpServers": []any{}}); f.Error == nil || f.Error.Code != -32000 {
				t.Errorf("session/new: %+v", f)
			}
		},
		"garbage and cut-lines": func(t *testing.T) {
			c := startChat(t, "garbage,cut-lines,work=1ms")
			if f := c.call("session/prompt", promptParams(c.open(), "x")); stopReason(f) != "end_turn" {
				t.Errorf("prompt: %+v", f)
			}
			if line := <-c.junk; !strings.Contains(line, "no JSON") {
				t.Errorf("garbage is %q", line)
			}
		},
		"double": func(t *testing.T) {
			c := startChat(t, "double,work=1ms")
			seen := c.until(answers(c.send("session/prompt", promptParams(c.open(), "x"))))
			thoughts := 0
			for _, f := range seen {
				if strings.Contains(string(f.Params), "agent_thought_chunk") {
					thoughts++
				}
			}
			if thoughts != 2 {
				t.Errorf("%d thoughts", thoughts)
			}
		},
		"answer-twice": func(t *testing.T) {
			c := startChat(t, "answer-twice")
			id := c.send("initialize", map[string]any{"protocolVersion": 1})
			c.until(answers(id))
			c.until(answers(id))
		},
		"never": func(t *testing.T) {
			c := startChat(t, "never")
			session := c.open()
			prompt := c.send("session/prompt", promptParams(session, "x"))
			c.until(func(f frameRPC) bool { return strings.Contains(string(f.Params), "agent_thought_chunk") })
			c.send("session/cancel", map[string]any{"sessionId": session})
			for _, f := range c.until(answers(c.send("authenticate", map[string]any{"methodId": "x"}))) {
				if answers(prompt)(f) {
					t.Errorf("the turn was answered: %+v", f)
				}
			}
		},
		"silent": func(t *testing.T) {
			c := startChat(t, "silent")
			c.send("initialize", map[string]any{"protocolVersion": 1})
			_ = c.stdin.Close()
			<-c.read
			if f, said := <-c.frames; said {
				t.Errorf("it said %+v", f)
			}
		},
		"late and mount-late": func(t *testing.T) {
			c := startChat(t, "mount-late=200ms,late=200ms,work=1ms")
			began := time.Now()
			session := c.open()
			if took := time.Since(began); took < 200*time.Millisecond {
				t.Errorf("initialize took %s", took)
			}
			began = time.Now()
			c.call("session/prompt", promptParams(session, "x"))
			if took := time.Since(began); took < 200*time.Millisecond {
				t.Errorf("the turn took %s", took)
			}
		},
		"half-line": func(t *testing.T) {
			c := startChat(t, "half-line")
			c.send("session/prompt", promptParams(c.open(), "x"))
			c.until(func(f frameRPC) bool { return strings.Contains(string(f.Params), "agent_thought_chunk") })
			_ = c.stdin.Close()
			if line := <-c.junk; !strings.HasSuffix(line, `"sess`) {
				t.Errorf("half a line is %q", line)
			}
		},
		"flood": func(t *testing.T) {
			c := startChat(t, "flood=256KB,work=1ms")
			total := 0
			for _, f := range c.until(answers(c.send("session/prompt", promptParams(c.open(), "x")))) {
				total += len(f.Params)
			}
			if total < 256<<10 {
				t.Errorf("%d bytes are no flood", total)
			}
		},
		"huge-line": func(t *testing.T) {
			c := startChat(t, "huge-line=2MB,work=1ms")
			c.send("session/prompt", promptParams(c.open(), "x"))
			c.until(func(f frameRPC) bool { return len(f.Params) > 2<<20 })
		},
		"exit": func(t *testing.T) {
			c := startChat(t, "exit=3")
			c.send("session/prompt", promptParams(c.open(), "x"))
			<-c.read
			if _ = c.command.Wait(); c.command.ProcessState.ExitCode() != 3 {
				t.Errorf("it ended with %v", c.command.ProcessState)
			}
		},
		"crash": func(t *testing.T) {
			c := startChat(t, "crash=KILL")
			c.send("session/prompt", promptParams(c.open(), "x"))
			<-c.read
			_ = c.command.Wait()
			if status, ok := c.command.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Errorf("it ended with %v", c.command.ProcessState)
			}
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
