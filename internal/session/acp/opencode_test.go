package acp

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
)

// agent is a real agent over pipes, driven by this package alone: its frames are folded as
// they come, and the script of it is kept for testdata.
type agent struct {
	t      *testing.T
	fold   *fold
	stdin  io.Writer
	lines  chan Line
	nextID uint64
	script []string
}

func startOpenCode(t *testing.T, model *testenv.Model, home, directory string) *agent {
	program, env := testenv.OpenCode(t, model, home)
	command := exec.Command(program, "acp")
	command.Dir = directory
	command.Env = append(env, "PATH="+os.Getenv("PATH"))
	return startAgent(t, command)
}

func startAgent(t *testing.T, command *exec.Cmd) *agent {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its launcher leaves its child behind
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, fold: newFold(), stdin: stdin, lines: make(chan Line, 10000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(a.lines)
		lines, buffer := NewLines(Position{}), make([]byte, 64<<10)
		for {
			n, err := stdout.Read(buffer)
			for _, line := range lines.Feed(buffer[:n]) {
				a.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		<-read
		_ = command.Wait()
	})
	return a
}

// do is one of davit's own acts.
func (a *agent) do(line string) {
	a.script = append(a.script, line)
	a.fold.do(line)
}

func (a *agent) send(line []byte) {
	if _, err := a.stdin.Write(line); err != nil {
		a.t.Fatal(err)
	}
}

// ask sends a request of davit's.
func (a *agent) ask(method string, line func(id uint64) []byte) uint64 {
	a.nextID++
	a.do("ask " + itoa(a.nextID) + " " + method)
	a.send(line(a.nextID))
	return a.nextID
}

// until takes frames until a step fits.
func (a *agent) until(what string, fits func(Step) bool) Step {
	a.t.Helper()
	limit := time.After(4 * time.Minute) // it starts slowly where the machine is busy
	for {
		select {
		case line, open := <-a.lines:
			if !open {
				a.t.Fatalf("it ended before %s", what)
			}
			a.script = append(a.script, string(line.Data))
			s := a.fold.take(string(line.Data))
			if s.Reply != nil {
				a.send(s.Reply)
			}
			if fits(s) {
				return s
			}
		case <-limit:
			a.t.Fatalf("waited for %s in vain; rows so far:\n%s", what, showAll(a.fold.rows))
		}
	}
}

func (a *agent) answer(id uint64) Answered {
	a.t.Helper()
	s := a.until("an answer", func(s Step) bool { return s.Answered != nil && s.Answered.ID == id })
	if s.Answered.Err != nil {
		a.t.Fatalf("request %d: %v", id, s.Answered.Err)
	}
	return *s.Answered
}

// open initializes and gives the agent's session.
func (a *agent) open(directory string) string {
	a.t.Helper()
	if i, err := ReadInitialize(a.answer(a.ask("initialize", func(id uint64) []byte { return Initialize(id, "test") })).Result); err != nil || !i.CanLoad || i.AgentName == "" {
		a.t.Fatalf("initialize: %+v, %v", i, err)
	}
	result := a.answer(a.ask("session/new", func(id uint64) []byte { return NewSession(id, directory) })).Result
	resume, err := a.fold.c.ReadSession(result)
	if err != nil || resume == "" {
		a.t.Fatalf("session/new: %q, %v", resume, err)
	}
	a.script = append(a.script, "session "+string(result))
	return resume
}

func (a *agent) prompt(resume, turn, text string) uint64 {
	a.do("user " + text)
	a.do("turn " + turn)
	return a.ask("session/prompt", func(id uint64) []byte { return Prompt(id, resume, text) })
}

var agentIDs = regexp.MustCompile(`\b(msg|prt|ses)_[0-9A-Za-z]{20,}|chatcmpl-[0-9A-Za-z]+`)

// record writes the script to testdata, with this machine's paths and the agent's ids made
// neutral, when -update is given.
func (a *agent) record(name string, home, directory string) {
	if !*update {
		return
	}
	text := strings.Join(a.script, "\n") + "\n"
	for _, path := range []struct{ from, to string }{{directory, "/home/me/project"}, {home, "/home/me"}} {
		text = strings.ReplaceAll(text, path.from, path.to)
		text = strings.ReplaceAll(text, path.from[1:], path.to[1:])
	}
	known := map[string]string{}
	text = agentIDs.ReplaceAllStringFunc(text, func(id string) string {
		if known[id] == "" {
			kind, _, _ := strings.Cut(id, "_")
			known[id] = kind + "_" + itoa(uint64(len(known)+1))
		}
		return known[id]
	})
	if err := os.WriteFile(filepath.Join("testdata", name+".frames"), []byte(text), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// TestOpenCode drives the real OpenCode through the whole protocol.
func TestOpenCode(t *testing.T) { // spec session S4
	model := testenv.StartModel(t, func(q testenv.ModelQuestion) testenv.ModelAnswer { return testenv.OpenCodeModel(q, nil) })
	home, directory := t.TempDir(), t.TempDir()
	a := startOpenCode(t, model, home, directory)
	resume := a.open(directory)

	id := a.prompt(resume, "turn-1", "Say hello.")
	if reason, err := ReadPrompt(a.answer(id).Result); reason != "end_turn" || err != nil {
		t.Fatal(reason, err)
	}
	a.do("end end_turn")
	if !strings.Contains(showAll(Merge(a.fold.rows)), `"text":"Hello from the stand-in."`) {
		t.Errorf("rows:\n%s", showAll(Merge(a.fold.rows)))
	}

	for i, c := range []struct {
		prompt, file, choice string
		there                bool
	}{
		{"Please make a file.", "made-by-agent.txt", "reject", false},
		{"Please make a file.", "made-by-agent.txt", "once", true},
		{"Please write a file <" + filepath.Join(directory, "written.txt") + ">.", "written.txt", "once", true},
	} {
		id = a.prompt(resume, "turn-"+itoa(uint64(i+2)), c.prompt)
		ask := a.until("a permission question", func(s Step) bool { return s.Ask != nil }).Ask
		a.do("decide " + ask.Item + " " + c.choice)
		a.send(Allow(ask.RPCID, c.choice))
		if reason, err := ReadPrompt(a.answer(id).Result); err != nil {
			t.Fatal(reason, err)
		}
		a.do("end end_turn")
		if _, err := os.Stat(filepath.Join(directory, c.file)); (err == nil) != c.there {
			t.Errorf("after %q of %+v: %s is there: %v\n%s", c.choice, ask.Options, c.file, err == nil, showAll(Merge(a.fold.rows)))
		}
	}
	for _, r := range a.fold.rows {
		if r.Body.Lifecycle != nil && r.Body.Lifecycle.Event == "unknown" {
			t.Errorf("not understood: %s", show(r))
		}
	}
	a.record("opencode", home, directory)
}

// TestOpenCodeCancelAndLoad cancels a turn, ends the process, and goes on in another.
func TestOpenCodeCancelAndLoad(t *testing.T) { // spec session S4
	hold := make(chan struct{}) // never closed: only the cancel ends it
	model := testenv.StartModel(t, func(q testenv.ModelQuestion) testenv.ModelAnswer { return testenv.OpenCodeModel(q, hold) })
	home, directory := t.TempDir(), t.TempDir()
	a := startOpenCode(t, model, home, directory)
	resume := a.open(directory)
	id := a.prompt(resume, "turn-1", "Please hold.")
	a.until("a message", func(s Step) bool { return len(s.Rows) > 0 && s.Rows[0].Kind == davit.JournalMessage })
	a.send(Cancel(resume))
	if reason, err := ReadPrompt(a.answer(id).Result); reason != "cancelled" || err != nil {
		t.Fatal(reason, err)
	}
	a.do("end cancelled")

	b := startOpenCode(t, model, home, directory)
	b.fold, b.script, b.nextID = a.fold, a.script, a.nextID
	b.answer(b.ask("initialize", func(id uint64) []byte { return Initialize(id, "test") }))
	before := len(b.fold.rows)
	b.answer(b.ask("session/load", func(id uint64) []byte { return LoadSession(id, resume, directory) }))
	if told := b.fold.rows[before:]; len(told) != 2 { // the request, asked and answered
		t.Errorf("loading told the past again:\n%s", showAll(told))
	}
	id = b.prompt(resume, "turn-2", "Say hello.")
	if reason, err := ReadPrompt(b.answer(id).Result); reason != "end_turn" || err != nil {
		t.Fatal(reason, err)
	}
	b.do("end end_turn")
	for _, r := range b.fold.rows {
		if r.Body.Lifecycle != nil && r.Body.Lifecycle.Event == "unknown" {
			t.Errorf("not understood: %s", show(r))
		}
	}
	b.record("opencode-cancel-load", home, directory)
}
