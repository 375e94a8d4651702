package daemon_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// TestOpenCodeAsAChat drives the real OpenCode through the real host, with a stand-in model:
// a launch with its prompt, a tool call with its permission, a cancel, the host killed in
// mid-turn, a resume after the keeper is gone (spec session S4).
func TestOpenCodeAsAChat(t *testing.T) {
	var hold atomic.Pointer[chan struct{}]
	never := make(chan struct{})
	hold.Store(&never)
	model := testenv.StartModel(t, func(q testenv.ModelQuestion) testenv.ModelAnswer { return testenv.OpenCodeModel(q, *hold.Load()) })
	s := newChatScene(t, model)
	s.up()

	s.launch("Say hello.")
	turn := s.ended(1)
	if turn.Reason != "end_turn" || !strings.Contains(s.said(), "agent: Hello from the stand-in.") {
		t.Fatalf("turn %+v, said:\n%s", turn, s.said())
	}

	s.send("Please make a file.")
	ask := s.question()
	file := filepath.Join(s.repo, "made-by-agent.txt")
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there before the permission")
	}
	if v := s.session(); v.Status != davit.AgentWaiting || v.Waiting != davit.WaitingPermission {
		t.Errorf("the session is %s for %s", v.Status, v.Waiting)
	}
	answer := wire.SessionRespond{SessionMutation: s.mutation(), Item: ask.Item, Revision: ask.Revision, Option: "once"}
	s.call("agentSession.respond", answer, nil)
	answer.SessionMutation = s.mutation()
	if err := s.client.Call(t.Context(), "agentSession.respond", answer, nil); davit.CodeOf(err) != davit.CodeAlreadyResolved { // S1.7
		t.Errorf("the second answer: %v", err)
	}
	if turn = s.ended(2); turn.Reason != "end_turn" {
		t.Errorf("turn %+v", turn)
	}
	if made, err := os.ReadFile(file); string(made) != "made\n" {
		t.Errorf("the file is %q, %v", made, err)
	}

	s.send("Please hold.")
	s.wait("the first piece", func() bool { return strings.HasSuffix(s.said(), "agent: Before. \n") })
	s.call("agentSession.cancel", s.mutation(), nil)
	if turn = s.ended(3); turn.Reason != "cancelled" {
		t.Errorf("turn %+v", turn)
	}

	// The host is killed in mid-turn; the agent says the rest while nobody listens (S1.9).
	release := make(chan struct{})
	hold.Store(&release)
	s.send("Please hold again.")
	s.wait("the first piece", func() bool { return strings.HasSuffix(s.said(), "user: Please hold again.\nagent: Before. \n") })
	s.kill()
	close(release)
	s.up()
	if turn = s.ended(4); turn.Reason != "end_turn" || !strings.HasSuffix(s.said(), "user: Please hold again.\nagent: Before. After.\n") {
		t.Errorf("turn %+v, said:\n%s", turn, s.said())
	}

	// The provider fails, and OpenCode asks it again and again: a cancel ends that (S1.10).
	s.send("Please refuse it.")
	s.wait("the provider to be asked twice", func() bool {
		asked := 0
		for _, q := range model.Asked() {
			if len(q.Tools) > 0 && strings.Contains(q.Text, "refuse it") {
				asked++
			}
		}
		return asked >= 2
	})
	s.call("agentSession.cancel", s.mutation(), nil)
	s.ended(5) // for whatever reason: between two tries OpenCode says that it is done

	// The keeper is gone, and the agent with it: the chat goes on by the agent's own id.
	resume, before := s.session().Resume, s.said()
	s.killKeeper()
	s.wait("the chat to be resumable", func() bool { return s.session().Status == davit.AgentResumable })
	s.call("agentSession.resume", s.mutation(), nil)
	s.wait("the chat to be idle", func() bool { v := s.session(); return v.Status == davit.AgentIdle || v.Status == davit.AgentDone })
	if v := s.session(); v.Resume != resume || s.said() != before {
		t.Errorf("resumed as %s, was %s; said:\n%s\nbefore:\n%s", v.Resume, resume, s.said(), before)
	}
	s.send("Say hello again.")
	if turn = s.ended(6); turn.Reason != "end_turn" || s.said() != before+"user: Say hello again.\nagent: Hello from the stand-in.\n" {
		t.Errorf("turn %+v, said:\n%s", turn, s.said())
	}
	s.whole()
	s.down()
}

// chatScene is a scene with a repository and one chat.
type chatScene struct {
	*launchScene
	id davit.SessionID
}

func newChatScene(t *testing.T, model *testenv.Model) *chatScene {
	s := &chatScene{launchScene: newLaunchScene(t)}
	program, env := testenv.OpenCode(t, model, s.dir)
	var profile strings.Builder // agents get the login shell's environment
	for _, variable := range append(env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH")) {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&profile, "export %s='%s'\n", name, value)
	}
	if err := os.WriteFile(filepath.Join(s.dir, ".profile"), []byte(profile.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *chatScene) call(name string, in, into any) {
	s.t.Helper()
	if err := s.client.Call(s.t.Context(), name, in, into); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
}

func (s *chatScene) operation() string {
	return fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), s.rand.Uint64())
}

// launch starts the agent as a chat.
func (s *chatScene) launch(prompt string) {
	s.t.Helper()
	var result davit.Result
	s.call("agent.launch", davit.Intent{
		Agent: "opencode", OperationID: s.operation(), Surface: davit.Structured,
		Target: davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + s.repo},
		Prompt: &davit.Prompt{Text: prompt, Delivery: "submit"},
	}, &result)
	if s.id = davit.SessionID(result.Outcome.SessionID); result.Outcome.Kind != davit.Structured || s.id == "" {
		s.t.Fatalf("launched %+v", result.Outcome)
	}
}

func (s *chatScene) session() davit.Session {
	s.t.Helper()
	var v davit.Session
	s.call("agentSession.get", wire.SessionRef{Session: s.id}, &v)
	return v
}

func (s *chatScene) mutation() wire.SessionMutation {
	return wire.SessionMutation{Session: s.id, Operation: s.operation(), Fence: s.session().Fence}
}

func (s *chatScene) send(text string) {
	s.t.Helper()
	s.call("agentSession.send", wire.SessionSend{SessionMutation: s.mutation(), Text: text}, nil)
}

func (s *chatScene) wait(what string, holds func() bool) {
	s.t.Helper()
	testenv.Eventually(s.t, 3*patience, func() (bool, string) { // a real agent starts slowly
		if holds() {
			return true, ""
		}
		time.Sleep(25 * time.Millisecond) // each look reads the whole journal
		return false, fmt.Sprintf("waiting for %s; the session is %+v; said:\n%s", what, s.session(), s.said())
	})
}

// rows reads the whole journal.
func (s *chatScene) rows() []davit.JournalRow {
	s.t.Helper()
	var all []davit.JournalRow
	for {
		req := wire.SessionHistory{Session: s.id, After: &davit.Cursor{}, Limit: 100}
		if n := len(all); n > 0 {
			req.After = &davit.Cursor{Epoch: all[n-1].Epoch, Seq: all[n-1].Seq}
		}
		var page wire.SessionRows
		s.call("agentSession.history", req, &page)
		if page.Reset != "" {
			all = nil
		}
		all = append(all, page.Rows...)
		if len(page.Rows) == 0 || !page.More {
			return all
		}
	}
}

// said is what was said in the chat, in order.
func (s *chatScene) said() string {
	s.t.Helper()
	var order []string
	text, role := map[string][]uint16{}, map[string]string{}
	for _, row := range s.rows() {
		if row.Kind != davit.JournalMessage {
			continue
		}
		if _, seen := role[row.Item]; !seen {
			order = append(order, row.Item)
		}
		role[row.Item] = row.Body.Role
		text[row.Item] = append(text[row.Item][:row.Body.At:row.Body.At], utf16.Encode([]rune(row.Body.Text))...)
	}
	var b strings.Builder
	for _, item := range order {
		fmt.Fprintf(&b, "%s: %s\n", role[item], string(utf16.Decode(text[item])))
	}
	return b.String()
}

// ended waits for the n-th turn to end.
func (s *chatScene) ended(n int) davit.TurnState {
	s.t.Helper()
	var turn davit.TurnState
	s.wait(fmt.Sprintf("turn %d to end", n), func() bool {
		count := 0
		for _, row := range s.rows() {
			if row.Body.TurnState != nil && row.Body.TurnState.State == "ended" {
				count++
				turn = *row.Body.TurnState
			}
		}
		return count >= n
	})
	return turn
}

// question waits for an open permission question.
func (s *chatScene) question() davit.JournalRow {
	s.t.Helper()
	var ask davit.JournalRow
	s.wait("a permission question", func() bool {
		ask = davit.JournalRow{}
		for _, row := range s.rows() {
			if a := row.Body.Approval; a != nil && a.State == "open" {
				ask = row
			} else if a != nil && row.Item == ask.Item {
				ask = davit.JournalRow{}
			}
		}
		return ask.Item != ""
	})
	return ask
}

// whole: the journal has no hole, no item was told twice, and nothing of what the agent sent
// was not understood.
func (s *chatScene) whole() {
	s.t.Helper()
	revision := map[string]uint64{}
	for i, row := range s.rows() {
		if row.Seq != uint64(i+1) {
			s.t.Errorf("row %d has the number %d", i+1, row.Seq)
		}
		if row.Revision <= revision[row.Item] {
			s.t.Errorf("%s goes from revision %d to %d", row.Item, revision[row.Item], row.Revision)
		}
		revision[row.Item] = row.Revision
		if l := row.Body.Lifecycle; l != nil && (l.Event == "unknown" || l.Event == "garbage") {
			s.t.Errorf("not understood: %s", row.Body.Text)
		}
	}
}

// killKeeper kills the keeper and what it holds, as a restart of the machine would, and the
// host with it.
func (s *chatScene) killKeeper() {
	s.t.Helper()
	s.kill()
	for _, process := range s.processes() {
		pid, err := strconv.Atoi(strings.Fields(process)[0])
		if err != nil {
			s.t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.t.Fatal(err)
		}
	}
	testenv.Eventually(s.t, patience, func() (bool, string) {
		left := s.processes()
		return len(left) == 0, fmt.Sprint("processes are left: ", left)
	})
	s.up()
}
