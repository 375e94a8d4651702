package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/session"
	"davit/internal/testenv"
)

// lastWords checks that the last of stderr is in the error, in the journal and in the state.
func (r *running) lastWords(t testing.TB, e *davit.Error) { // spec session S1.10
	t.Helper()
	if !strings.Contains(e.Message, "it is broken") || !strings.Contains(e.Hint, "no such file") || strings.Contains(e.Hint, "last rows") ||
		!strings.Contains(fmt.Sprint(e.Details["stderr"]), "no such file\nit is broken") {
		t.Errorf("it says %q, hint %q, details %v", e.Message, e.Hint, e.Details)
	}
	exited := lifecycle(r.items(t, davit.JournalLifecycle), "exited")
	if len(exited) != 1 || !strings.Contains(exited[0].Body.Lifecycle.Stderr, "no such file\nit is broken") {
		t.Errorf("the journal has %+v", exited)
	}
	if v := r.get(t); v.Fault == nil || !strings.Contains(v.Fault.Message, "it is broken") {
		t.Errorf("the chat says %+v", v.Fault)
	}
}

// What a program says after it was told to end is not lost, nor what it says while its
// answer is refused.
func TestStderrComesLate(t *testing.T) { // spec session S1.10
	t.Parallel()
	for name, script := range map[string]string{
		"after much of it": `i=0; while [ $i -lt 20000 ]; do echo $i of 20000 is nothing to worry about; i=$((i+1)); done >&2; echo no such file >&2; echo it is broken >&2; exit 1`,
		"after a refusal":  `trap 'echo no such file >&2; echo it is broken >&2; exit 1' HUP TERM; read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":9}}'; while :; do sleep 0.1; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := begin(t, "")
			r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", script}
			r.addPane(t, "p_1")
			_, err := r.service.Start(t.Context(), r.request())
			r.lastWords(t, wantCode(t, err, davit.CodeAgentProtocol))
		})
	}
}

// An agent that never answers is told of, then ended; what waited for it was not sent.
func TestAgentNeverOpens(t *testing.T) { // spec session S1.5, S1.10
	t.Parallel()
	r := begin(t, "", func(c *session.Config) { c.OpenWait, c.OpenLimit = 300*time.Millisecond, 3*time.Second })
	r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", "echo waiting for a lock >&2; exec sleep 600"}
	r.addPane(t, "p_1")
	started, err := r.service.Start(t.Context(), r.request())
	if err != nil || !strings.Contains(started.Warning, "has not opened its session within 300ms") {
		t.Fatalf("%+v: %v", started, err)
	}
	r.send(t, "m1", "hello")
	testenv.Eventually(t, patience, func() (bool, string) {
		notes := lifecycle(r.items(t, davit.JournalLifecycle), "slow")
		return len(notes) == 1 && strings.Contains(notes[0].Body.Text, "has not opened its session yet"), fmt.Sprint(notes)
	})
	v := r.untilStatus(t, davit.AgentExited)
	if v.Fault == nil || !strings.Contains(v.Fault.Message, "within 3s") || !strings.Contains(v.Fault.Message, "waiting for a lock") {
		t.Errorf("it ended with %+v", v.Fault)
	}
	if sub := r.submission(t, "m1"); sub.State != davit.SubmissionRejected || !strings.Contains(sub.Reason, "before the message was sent") {
		t.Errorf("what waited is %+v", sub)
	}
	r.noProcess(t)
}

// A host that is started anew does not wait for a silent agent from the beginning.
func TestAgentNeverOpensOverARestart(t *testing.T) { // spec session S1.9, S1.10
	t.Parallel()
	s := newStage(t)
	short := func(c *session.Config) { c.OpenWait, c.OpenLimit = 100*time.Millisecond, 4*time.Second }
	silent := func(r *running) { r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", "exec sleep 600"} }
	r := s.run(t, "", short)
	silent(r)
	r.addPane(t, "p_1")
	if _, err := r.service.Start(t.Context(), r.request()); err != nil {
		t.Fatal(err)
	}
	r.stop()
	r = s.run(t, "", short)
	silent(r)
	if v := r.untilStatus(t, davit.AgentExited); v.Fault == nil || !strings.Contains(v.Fault.Message, "has not opened its session within") {
		t.Errorf("it ended with %+v", v.Fault)
	}
	r.noProcess(t)
}

// A chat's pane says whether its agent runs (spec session S1.8).
func TestPaneFollowsTheSession(t *testing.T) { // spec session S1.8, S1.9
	t.Parallel()
	s := newStage(t)
	r := s.run(t, "")
	r.startChat(t)
	pane := func(r *running, want davit.PaneStatus) davit.Pane {
		t.Helper()
		var p davit.Pane
		testenv.Eventually(t, patience, func() (bool, string) {
			p = r.host.State().Panes["p_1"]
			return p.Status == want, fmt.Sprintf("%+v", p)
		})
		return p
	}
	pane(r, davit.PaneRunning)
	r.send(t, "m1", "hello")
	r.untilTurns(t, 1)
	if err := r.service.Stop(t.Context(), mutation("s", 1)); err != nil {
		t.Fatal(err)
	}
	if p := pane(r, davit.PaneEnded); p.Exit == nil || p.Pid != 0 {
		t.Errorf("%+v", p)
	}
	if _, err := r.service.Resume(t.Context(), session.Mutation{Session: chatID}); err != nil {
		t.Fatal(err)
	}
	pid := pane(r, davit.PaneRunning).Pid
	r.stop()
	r = s.run(t, "")
	testenv.Eventually(t, patience, func() (bool, string) {
		p := r.host.State().Panes["p_1"]
		return p.Status == davit.PaneRunning && p.Pid == pid && pid != 0, fmt.Sprintf("%d: %+v", pid, p)
	})
	r.killAgent(t)
	if p := pane(r, davit.PaneEnded); p.Exit == nil || p.Exit.Signal != "SIGKILL" {
		t.Errorf("%+v", p)
	}
	r.stop()
	r = s.run(t, "")
	pane(r, davit.PaneEnded)
}

// Who asks a host that has just started is not told what was true before (S3).
func TestStatusAfterTheKeeperIsGone(t *testing.T) { // spec session S1.9, S3
	t.Parallel()
	s := newStage(t)
	r := s.run(t, "")
	r.startChat(t)
	r.send(t, "m1", "wait")
	r.untilStatus(t, davit.AgentWorking)
	r.stop()
	s.endKeeper(t)
	r = s.run(t, "")
	if err := r.service.Known(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := r.get(t); v.Status != davit.AgentResumable {
		t.Errorf("the first that is told is %s", v.Status)
	}
	if v := r.host.State().Sessions[chatID]; v.Status != davit.AgentResumable {
		t.Errorf("the model has %s", v.Status)
	}
}

// A cancel says whether there was anything to cancel, and leaves a row.
func TestCancelSaysWhetherItAsked(t *testing.T) { // spec session S1.8
	t.Parallel()
	r := begin(t, "never")
	r.startChat(t)
	if asked, err := r.service.Cancel(t.Context(), mutation("c0", 1)); asked || err != nil {
		t.Errorf("with no turn: %v, %v", asked, err)
	}
	r.send(t, "m1", "wait")
	r.until(t, "the message is accepted", func(davit.Session) bool { return r.submission(t, "m1").State == davit.SubmissionAccepted })
	for _, op := range []string{"c1", "c2"} { // the second finds it asked already
		if asked, err := r.service.Cancel(t.Context(), mutation(op, 1)); !asked || err != nil {
			t.Errorf("%s: %v, %v", op, asked, err)
		}
	}
	notes := lifecycle(r.items(t, davit.JournalLifecycle), "cancel")
	if i := slices.IndexFunc(notes, func(row davit.JournalRow) bool { return strings.Contains(row.Body.Text, "is asked to end its turn") }); i != 0 {
		t.Errorf("%+v", notes)
	}
}
