package session_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"davit"
	"davit/internal/session"
	"davit/internal/testenv"
)

func lifecycle(rows []davit.JournalRow, event string) []davit.JournalRow {
	return slices.DeleteFunc(slices.Clone(rows), func(row davit.JournalRow) bool { return row.Body.Lifecycle.Event != event })
}

// noProcess checks that the keeper runs nothing of the stage.
func (r *running) noProcess(t testing.TB) {
	t.Helper()
	cl, err := r.panes.Link(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	infos, err := cl.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if info.Exit == nil {
			t.Errorf("the keeper still runs %+v", info)
		}
	}
}

// A start that fails says why, by its proper name, and proves that nothing runs.
func TestStartFails(t *testing.T) { // spec session S1.10, spec launch L5.6
	t.Parallel()
	for _, c := range []struct {
		name, faults string
		edit         func(*running)
		code         davit.Code
		says, hint   string
	}{
		{"not signed in", "login", nil, davit.CodeAgentNotSignedIn, "not signed in", "practice login"},
		{"not installed", "", func(r *running) {
			r.agents.err = davit.Errorf(davit.CodeAgentNotInstalled, "practice is not installed").WithHint("npm i practice")
		}, davit.CodeAgentNotInstalled, "not installed", "npm"},
		{"no driver", "", func(r *running) { r.agents.err = davit.Errorf(davit.CodeSessionUnsupported, "no driver") }, davit.CodeSessionUnsupported, "", ""},
		{"no program", "", func(r *running) { r.agents.path, r.agents.argv = "/no/such", []string{"such"} }, davit.CodePaneSpawnFailed, "/no/such", ""},
		{"ends at once", "", func(r *running) {
			r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", "echo no such file >&2; echo it is broken >&2; exit 7"}
		}, davit.CodeAgentProtocol, "exit status 7", ""},
		{"no such method", "", func(r *running) {
			r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", `read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}'; read line`}
		}, davit.CodeMethodNotFound, "initialize", ""},
		{"another version", "", func(r *running) {
			r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", `read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":9}}'; read line`}
		}, davit.CodeAgentProtocol, "version 9", ""},
		{"before initialize", "exit-at=initialize,exit=4", nil, davit.CodeAgentProtocol, "exit status 4", ""},
		{"before session/new", "exit-at=new,exit=5", nil, davit.CodeAgentProtocol, "exit status 5", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := begin(t, c.faults)
			if c.edit != nil {
				c.edit(r)
			}
			r.addPane(t, "p_1")
			_, err := r.service.Start(t.Context(), r.request())
			e := wantCode(t, err, c.code)
			if !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("it says %q, with the hint %q", e.Message, e.Hint)
			}
			if !session.NothingRuns(err) {
				t.Error("it does not prove that nothing runs")
			}
			if c.name == "ends at once" {
				r.lastWords(t, e)
			}
			r.noProcess(t)
			// A host that is asked for this launch after a crash must not claim it.
			if held, err := r.service.Holds(t.Context(), chatID); held || err != nil { // spec launch L2.2, L6.5
				t.Error("it is held:", held, err)
			}
			v, err := r.service.Get(chatID)
			if err == nil && (v.Status != davit.AgentExited || v.Fault == nil) {
				t.Errorf("kept as %+v", v)
			}
		})
	}
}

// A second start under the same id is refused and touches nothing.
func TestStartTwice(t *testing.T) { // spec launch L5.6
	t.Parallel()
	r := begin(t, "")
	r.startChat(t)
	_, err := r.service.Start(t.Context(), r.request())
	wantCode(t, err, davit.CodeLaunchSessionExists)
	if session.NothingRuns(err) {
		t.Error("it says that nothing runs")
	}
	if held, err := r.service.Holds(t.Context(), chatID); !held || err != nil {
		t.Error(held, err)
	}
	if held, err := r.service.Holds(t.Context(), "practice_other"); held || err != nil {
		t.Error(held, err)
	}
}

// Support starts nothing and says no only when it knows.
func TestSupport(t *testing.T) { // spec launch L3.3
	t.Parallel()
	r := begin(t, "")
	verdict, _, err := r.service.Support(t.Context(), "practice", r.path("work"))
	if verdict != "supported" || err != nil {
		t.Error(verdict, err)
	}
	verdict, why, err := r.service.Support(t.Context(), "practice", r.path("nowhere"))
	if verdict != "refused" || why == "" || err != nil {
		t.Error(verdict, why, err)
	}
	r.agents.err = davit.Errorf(davit.CodeAgentNotInstalled, "the chat program is not installed")
	verdict, why, err = r.service.Support(t.Context(), "practice", r.path("work"))
	if verdict != "refused" || why != "the chat program is not installed" || err != nil {
		t.Error(verdict, why, err)
	}
	r.agents.err = davit.Errorf(davit.CodeSessionUnsupported, "there is no driver")
	verdict, why, err = r.service.Support(t.Context(), "practice", r.path("work"))
	if verdict != "refused" || why != "there is no driver" || err != nil {
		t.Error(verdict, why, err)
	}
}

// An agent that ends takes its turn along, with the reason and the last of its stderr; what
// it had asked is denied, what waited is told as not sent.
func TestAgentEnds(t *testing.T) { // spec session S1.7, S1.10
	t.Parallel()
	for _, c := range []struct{ name, faults, text, says string }{
		{"in a turn", "exit=3", "hello", "exit status 3"},
		{"by a signal", "crash=SEGV", "hello", "SIGSEGV"},
		{"while it asks", "exit-at=permission,crash=KILL", "ask", "SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := begin(t, c.faults)
			before := r.startChat(t)
			r.send(t, "m1", c.text)
			turn := r.untilTurns(t, 1)
			if turn.Reason != "exited" || !strings.Contains(turn.Message, c.says) || !strings.Contains(turn.Stderr, "speaking ACP") {
				// An exit that is asked for lets the practice agent answer its turn first.
				if !strings.HasPrefix(c.faults, "exit=") || turn.Reason != "cancelled" {
					t.Errorf("ended as %+v", turn)
				}
			}
			v := r.untilStatus(t, davit.AgentResumable)
			if v.Fault == nil || !strings.Contains(v.Fault.Message, c.says) || v.Fence <= before.Fence {
				t.Errorf("%+v", v)
			}
			for _, row := range r.items(t, davit.JournalApproval) {
				if row.Body.Approval.State != "denied" {
					t.Errorf("the question is %+v", row.Body.Approval)
				}
			}
			if sub := r.submission(t, "m1"); sub.State != davit.SubmissionAccepted {
				t.Errorf("%+v", sub)
			}
			if end := lifecycle(r.items(t, davit.JournalLifecycle), "exited"); len(end) != 1 || end[0].Body.Lifecycle.Exit == nil {
				t.Errorf("its end: %+v", end)
			}
			r.noProcess(t)
		})
	}
}

// An agent that ends while nobody asks it anything is told as ended.
func TestAgentEndsIdle(t *testing.T) { // spec session S1.10
	t.Parallel()
	r := begin(t, "")
	r.startChat(t)
	r.killAgent(t)
	v := r.untilStatus(t, davit.AgentResumable)
	if v.Fault == nil || !strings.Contains(v.Fault.Message, "SIGKILL") {
		t.Errorf("%+v", v)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		p := r.host.State().Panes["p_1"]
		return p.Pid == 0 && strings.Contains(p.Fault, "SIGKILL"), fmt.Sprintf("%+v", p)
	})
}

// What is no protocol is told and survived: the turn ends as it does.
func TestNonsense(t *testing.T) { // spec session S1.3, S1.10
	t.Parallel()
	for _, c := range []struct {
		faults, event string
		atMost        int
	}{
		{"garbage", "garbage", 12},
		{"huge-line=50MB", "skipped", 1},
		{"answer-twice", "unknown", 4},
		{"cut-lines", "", 0},
		{"flood=4MB", "", 0},
		{"double", "", 0},
	} {
		t.Run(c.faults, func(t *testing.T) {
			t.Parallel()
			r := begin(t, "work=20ms,"+c.faults)
			r.startChat(t)
			r.send(t, "m1", "hello")
			if turn := r.untilTurns(t, 1); turn.Reason != "end_turn" {
				t.Errorf("ended as %+v", turn)
			}
			if c.event != "" {
				if told := lifecycle(r.items(t, davit.JournalLifecycle), c.event); len(told) == 0 || len(told) > c.atMost {
					t.Errorf("told %d times", len(told))
				}
			}
			said := strings.Join(r.said(t, "agent"), "")
			if strings.HasPrefix(c.faults, "flood") && len(said) < 4<<20 {
				t.Errorf("%d bytes of the flood are there", len(said))
			}
			if n := len(r.rows(t)); n > 3000 {
				t.Errorf("%d rows", n)
			}
			r.send(t, "m2", "again")
			r.untilTurns(t, 2)
			if told := r.heard(t, "prompt"); len(told) != 2 {
				t.Errorf("it was told %q", told)
			}
		})
	}
}

// Half a line holds the turn open; a cancel that is not heeded is said, and a stop ends it
// all and tells of the half line.
func TestHalfALineAndACancelNotHeeded(t *testing.T) { // spec session S1.8, S1.10
	t.Parallel()
	r := begin(t, "half-line,never,child")
	r.startChat(t)
	r.send(t, "m1", "hello")
	r.send(t, "m2", "behind it")
	r.until(t, "the message is accepted", func(davit.Session) bool { return r.submission(t, "m1").State == davit.SubmissionAccepted })
	if _, err := r.service.Cancel(t.Context(), mutation("c", 1)); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		notes := lifecycle(r.items(t, davit.JournalLifecycle), "cancel")
		return len(notes) == 2 && strings.Contains(notes[1].Body.Text, "Stop ends its process"), fmt.Sprint(notes)
	})
	if v := r.get(t); v.Status != davit.AgentWorking {
		t.Errorf("status %s", v.Status)
	}
	if err := r.service.Stop(t.Context(), mutation("s", 1)); err != nil {
		t.Fatal(err)
	}
	turn := r.untilTurns(t, 1)
	if turn.Reason != "stopped" && turn.Reason != "cancelled" {
		t.Errorf("ended as %+v", turn)
	}
	half := lifecycle(r.items(t, davit.JournalLifecycle), "garbage")
	if len(half) != 1 || !strings.Contains(half[0].Body.Text, "in the middle of a line") {
		t.Errorf("%+v", half)
	}
	if sub := r.submission(t, "m2"); sub.State != davit.SubmissionRejected || sub.Reason == "" {
		t.Errorf("what waited is %+v", sub)
	}
	r.noProcess(t)
	r.noChild(t)
}

// noChild checks that what the agent started has ended too.
func (r *running) noChild(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(r.path("transcript"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), `"event":"child"`)
	if !found {
		t.Fatal("the agent started no child")
	}
	var pid int
	if _, err := fmt.Sscanf(after[strings.Index(after, `"pid":`):], `"pid":%d`, &pid); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		return syscall.Kill(pid, 0) != nil, fmt.Sprintf("its child %d lives on", pid)
	})
}

// An agent that never says anything starts for ever: the caller is not held, and a stop
// ends it.
func TestSilentAgent(t *testing.T) { // spec session S1.10
	t.Parallel()
	r := begin(t, "silent")
	r.addPane(t, "p_1")
	failed := make(chan error, 1)
	go func() {
		_, err := r.service.Start(context.Background(), r.request())
		failed <- err
	}()
	r.untilThere(t, func(v davit.Session) bool { return v.Status == davit.AgentStarting && v.Cursor.Seq >= 2 })
	sub := r.send(t, "m1", "are you there?")
	if sub.State != davit.SubmissionQueued {
		t.Errorf("%+v", sub)
	}
	if err := r.service.Stop(t.Context(), session.Mutation{Session: chatID}); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; davit.CodeOf(err) != davit.CodeSessionNotRunning || !session.NothingRuns(err) {
		t.Errorf("the start: %v", err)
	}
	if v := r.get(t); v.Status != davit.AgentExited {
		t.Errorf("%+v", v)
	}
	r.noProcess(t)
}

// untilThere waits for a session that may not be there yet.
func (r *running) untilThere(t testing.TB, is func(davit.Session) bool) {
	t.Helper()
	testenv.Eventually(t, patience, func() (bool, string) {
		v, err := r.service.Get(chatID)
		return err == nil && is(v), fmt.Sprint(v, err)
	})
}

// A stop resumes by the agent's own id: what it tells again of the past is not journaled
// twice, and a resume that fails does not lose the id.
func TestResume(t *testing.T) { // spec session S1.8, S1.9
	t.Parallel()
	r := begin(t, "work=20ms")
	first := r.startChat(t)
	r.send(t, "m1", "one")
	r.untilTurns(t, 1)
	if err := r.service.EndPane(t.Context(), "p_1"); err != nil {
		t.Fatal(err)
	}
	if err := r.service.EndPane(t.Context(), "p_1"); err != nil {
		t.Fatal("again:", err)
	}
	v := r.get(t)
	if v.Pane != "" || v.Tab != "" || v.Status != davit.AgentResumable {
		t.Errorf("ended as %+v", v)
	}
	r.agents.misbehave("login", "DAVIT_PRACTICE_SESSIONS=/nowhere")
	if _, err := r.service.Resume(t.Context(), session.Mutation{Session: chatID}); err == nil {
		t.Error("a resume of what is not there")
	}
	if v = r.get(t); v.Resume != first.Resume || v.Status != davit.AgentResumable || v.Fault == nil {
		t.Errorf("after a failed resume: %+v", v)
	}
	r.agents.misbehave("work=20ms")
	said := len(r.said(t, "agent"))
	v, err := r.service.Resume(t.Context(), mutation("r", v.Fence))
	if err != nil || v.Status != davit.AgentIdle || v.Resume != first.Resume || v.Fault != nil {
		t.Fatalf("resumed as %+v: %v", v, err)
	}
	r.send(t, "m2", "two")
	r.untilTurns(t, 2)
	if now := r.said(t, "agent"); len(now) != said+1 {
		t.Errorf("it said %q", now)
	}
	if users := r.said(t, "user"); !slices.Equal(users, []string{"one", "two"}) {
		t.Errorf("the user said %q", users)
	}
}

// A stop while a question is open answers it, ends the turn, and the process with it.
func TestStopInATurn(t *testing.T) { // spec session S1.8
	t.Parallel()
	r := begin(t, "ignore-sigterm,child")
	r.startChat(t)
	r.send(t, "m1", "ask")
	r.question(t)
	if r.service.Working("p_1") != "Practice agent" || r.service.Working("p_2") != "" {
		t.Error("working", r.service.Working("p_1"))
	}
	if err := r.service.Stop(t.Context(), mutation("s", 1)); err != nil {
		t.Fatal(err)
	}
	if v := r.get(t); v.Status != davit.AgentResumable || v.Fault != nil {
		t.Errorf("%+v", v)
	}
	if turn := r.untilTurns(t, 1); turn.Reason != "cancelled" {
		t.Errorf("ended as %+v", turn)
	}
	if r.service.Working("p_1") != "" {
		t.Error("still working")
	}
	r.noProcess(t)
	r.noChild(t)
}

// A disk that is full for a while holds a chat up and loses nothing of it; the chat says so
// meanwhile.
func TestDiskIsFullForAWhile(t *testing.T) { // spec session S1.1, S1.5
	t.Parallel()
	r := begin(t, "work=300ms")
	r.startChat(t)
	r.send(t, "m1", "count 100")
	r.until(t, "it speaks", func(davit.Session) bool { return len(r.said(t, "agent")) > 0 })
	r.lie.Store(true)
	r.until(t, "the next step is told as failed", func(davit.Session) bool { return !r.lie.Load() })
	r.refuse.Store(true)
	sent := make(chan error, 1)
	go func() {
		_, err := r.service.Send(context.Background(), session.Mutation{Session: chatID, Operation: "m2"}, "count 3")
		sent <- err
	}()
	fault := func() *davit.Error { return r.host.State().Sessions[chatID].Fault }
	testenv.Eventually(t, patience, func() (bool, string) {
		f := fault()
		return f != nil && strings.Contains(f.Message, "the disk is full"), fmt.Sprint(f)
	})
	select {
	case err := <-sent:
		t.Errorf("a message that is not stored was answered: %v", err)
	default:
	}
	r.refuse.Store(false)
	if err := <-sent; err != nil {
		t.Error(err)
	}
	r.untilTurns(t, 2)
	testenv.Eventually(t, patience, func() (bool, string) { return fault() == nil, fmt.Sprint(fault()) })
	said := r.said(t, "agent")
	if len(said) != 2 || len(strings.Fields(said[0])) != 100 || said[1] != "1 2 3 " {
		t.Errorf("%q", said)
	}
	r.rows(t)
}
