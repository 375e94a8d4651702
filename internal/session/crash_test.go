package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/session"
	"davit/internal/testenv"
)

// The script of a host that is to be killed: start the chat, or take it up; have each
// message there; answer what is asked; stay.
const (
	crashMessages = 3
	crashNumbers  = 150
)

func crashText(i int) string {
	if i == 1 {
		return "ask\ncount " + strconv.Itoa(crashNumbers)
	}
	return "count " + strconv.Itoa(crashNumbers)
}

func numbers() string {
	var b strings.Builder
	for i := 1; i <= crashNumbers; i++ {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()
}

// hostMain is a host that kills itself at a point, or is killed.
func hostMain() int {
	s := stage{os.Getenv("DAVIT_TEST_DIR")}
	point, times := os.Getenv("DAVIT_TEST_POINT"), 0
	nth, _ := strconv.Atoi(os.Getenv("DAVIT_TEST_NTH"))
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	r, err := s.startHost(log, os.Getenv("DAVIT_TEST_FAULTS"), func(name string) {
		if name != point {
			return
		}
		if times++; times >= nth {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := r.play(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// play goes on with the script from wherever a host before has got to, and returns when all
// is said.
func (r *running) play(ctx context.Context) error {
	if _, err := r.service.Get(chatID); davit.CodeOf(err) == davit.CodeSessionNotFound {
		_ = r.host.Change(ctx, func(host.Model) (host.Change, error) {
			return host.Change{Volatile: true, Events: []davit.Event{{Kind: davit.EventPane, Pane: &davit.Pane{ID: "p_1", Kind: "chat", Session: chatID}}}}, nil
		})
		if _, err := r.service.Start(ctx, r.request()); err != nil {
			return err
		}
	}
	for i := range crashMessages {
		if _, err := r.service.Send(ctx, session.Mutation{Session: chatID, Operation: "m" + strconv.Itoa(i)}, crashText(i)); err != nil {
			return err
		}
	}
	for {
		items, err := r.store.JournalItems(ctx, chatID)
		if err != nil {
			return err
		}
		ended := 0
		for _, row := range items {
			if a := row.Body.Approval; a != nil && a.State == "open" {
				_, err := r.service.Respond(ctx, session.Mutation{Session: chatID, Operation: "answer"}, row.Item, row.Revision, "once")
				if err != nil && davit.CodeOf(err) != davit.CodeAlreadyResolved {
					return err
				}
			}
			if t := row.Body.TurnState; t != nil && t.State == "ended" {
				ended++
			}
		}
		if ended == crashMessages {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s stage) child(t testing.TB, point string, nth int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DAVIT_TEST_ROLE=host", "DAVIT_TEST_DIR="+s.dir, "DAVIT_TEST_POINT="+point, "DAVIT_TEST_NTH="+strconv.Itoa(nth), "DAVIT_TEST_FAULTS=work=300ms")
	log, err := os.OpenFile(filepath.Join(s.dir, "host.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// whole checks that a journal has no hole and nothing twice, and that the agent heard each
// message and each answer once.
func (s stage) whole(t testing.TB) {
	t.Helper()
	r := s.run(t, "work=300ms")
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	if err := r.play(ctx); err != nil {
		log, _ := os.ReadFile(s.path("host.log"))
		t.Fatalf("the last host: %v\n%s", err, log)
	}
	r.rows(t)
	said := strings.Join(r.said(t, "agent"), "")
	if want := strings.Repeat(numbers(), crashMessages); said != want {
		t.Errorf("the journal has a hole or something twice:\n%q", said)
	}
	var want []string
	for i := range crashMessages {
		want = append(want, crashText(i))
		if sub := r.submission(t, "m"+strconv.Itoa(i)); sub.State != davit.SubmissionAccepted {
			t.Errorf("message %d is %+v", i, sub)
		}
	}
	if told := s.heard(t, "prompt"); !slices.Equal(told, want) {
		t.Errorf("the agent was told %q", told)
	}
	if told := s.heard(t, "permission"); !slices.Equal(told, []string{"once"}) {
		t.Errorf("the agent was answered %q", told)
	}
	if started := s.heard(t, "start"); len(started) != 1 {
		t.Errorf("%d agents were started", len(started))
	}
	if v := r.get(t); v.Fault != nil || v.Fence != 1 {
		t.Errorf("%+v", v)
	}
}

// The host is killed at each point where a row is there and its effect is not, or the other
// way round: what follows is as if nothing had happened.
func TestHostIsKilledAtEachPoint(t *testing.T) { // spec session S1.1, S1.2, S1.9
	t.Parallel()
	for _, at := range []struct {
		point string
		nth   int
	}{
		{"chat-before-spawn", 1}, {"chat-after-spawn", 1}, {"chat-before-input", 1}, {"chat-after-input", 1}, {"chat-after-input", 2},
		{"chat-message-stored", 1}, {"chat-before-input", 3}, {"chat-after-input", 3}, {"chat-folded", 3}, {"chat-folded", 6}, {"chat-decision-stored", 1},
	} {
		t.Run(at.point+" "+strconv.Itoa(at.nth), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			err := s.child(t, at.point, at.nth).Run()
			if exit, ok := err.(*exec.ExitError); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				log, _ := os.ReadFile(s.path("host.log"))
				t.Fatalf("the host was not killed: %v\n%s", err, log)
			}
			s.whole(t)
		})
	}
}

// The host is killed again and again at any moment while the agent streams; the chat goes on
// in mid-turn each time.
func TestHostIsKilledWhileStreaming(t *testing.T) { // spec session S1.1, S1.2, S1.9
	t.Parallel()
	s := newStage(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 1))
	for range 7 {
		cmd := s.child(t, "", 0)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(40+dice.IntN(300)) * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	s.whole(t)
}

// A host that comes back takes a chat over in mid-turn, and what it says of it is not new.
func TestRestartInMidTurn(t *testing.T) { // spec session S1.9, S3
	t.Parallel()
	s := newStage(t)
	r := s.run(t, "work=1500ms")
	r.startChat(t)
	r.send(t, "m1", "count 100")
	r.until(t, "half of it", func(davit.Session) bool { return len(strings.Join(r.said(t, "agent"), "")) > 50 })
	before := r.get(t)
	r.stop()
	r = s.run(t, "")
	if v := r.get(t); v.Status != davit.AgentWorking || !v.Since.Equal(before.Since) || v.Fence != before.Fence {
		t.Errorf("after: %+v\nbefore: %+v", v, before)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		v := r.host.State().Sessions[chatID]
		return v.ID == chatID, "the new host's state has no chat"
	})
	if turn := r.untilTurns(t, 1); turn.Reason != "end_turn" {
		t.Errorf("ended as %+v", turn)
	}
	if said := r.said(t, "agent"); len(said) != 1 || strings.Fields(said[0])[99] != "100" || len(strings.Fields(said[0])) != 100 {
		t.Errorf("%q", said)
	}
}

// What happened while no host was there is folded, then the turn ends as it did.
func TestAgentEndsWhileNoHostIsThere(t *testing.T) { // spec session S1.9, S1.10
	t.Parallel()
	s := newStage(t)
	r := s.run(t, "")
	r.startChat(t)
	r.send(t, "m1", "wait")
	r.until(t, "a thought", func(davit.Session) bool { return len(r.items(t, davit.JournalThought)) > 0 })
	r.stop()
	r.killAgent(t)
	r = s.run(t, "")
	turn := r.untilTurns(t, 1)
	if turn.Reason != "exited" || !strings.Contains(turn.Message, "SIGKILL") || !strings.Contains(turn.Stderr, "speaking ACP") {
		t.Errorf("ended as %+v", turn)
	}
	if v := r.untilStatus(t, davit.AgentResumable); v.Fault == nil {
		t.Errorf("%+v", v)
	}
}

// A keeper that was told to end ends its agents first, and had it written down: the turn is
// stopped, and nothing is lost of what it said.
func TestKeeperIsShutDown(t *testing.T) { // spec session S1.1, S1.9
	t.Parallel()
	s := newStage(t)
	r := s.run(t, "work=500ms")
	r.startChat(t)
	r.send(t, "m1", "count 50\nwait")
	r.untilStatus(t, davit.AgentWorking)
	r.until(t, "accepted", func(davit.Session) bool { return r.submission(t, "m1").State == davit.SubmissionAccepted })
	r.stop()
	s.endKeeper(t)
	r = s.run(t, "")
	if turn := r.untilTurns(t, 1); turn.Reason != "stopped" && turn.Reason != "cancelled" {
		t.Errorf("ended as %+v", turn)
	}
	if v := r.untilStatus(t, davit.AgentResumable); v.Fault != nil {
		t.Errorf("%+v", v.Fault)
	}
	if end := lifecycle(r.items(t, davit.JournalLifecycle), "exited"); len(end) != 1 || end[0].Body.Lifecycle.Exit == nil {
		t.Errorf("its end: %+v", end)
	}
}

// A keeper that is gone takes the agent along: the turn is lost, a message on its way is
// unknown and never sent again, the chat can be resumed.
func TestKeeperIsGone(t *testing.T) { // spec session S1.5, S1.9
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			r := s.run(t, "")
			v := r.startChat(t)
			r.send(t, "m1", "wait")
			r.until(t, "accepted", func(davit.Session) bool { return r.submission(t, "m1").State == davit.SubmissionAccepted })
			r.send(t, "m2", "later")
			if restart {
				r.stop()
			}
			rec, _, err := findKeeper(s)
			if err != nil {
				t.Fatal(err)
			}
			_ = syscall.Kill(rec, syscall.SIGKILL)
			if restart {
				r = s.run(t, "")
			}
			if turn := r.untilTurns(t, 1); turn.Reason != "lost" {
				t.Errorf("ended as %+v", turn)
			}
			now := r.untilStatus(t, davit.AgentResumable)
			if now.Resume != v.Resume || davit.CodeOf(now.Fault) != davit.CodePaneLost {
				t.Errorf("%+v", now)
			}
			if sub := r.submission(t, "m2"); sub.State != davit.SubmissionRejected {
				t.Errorf("what was never sent is %+v", sub)
			}
			again, err := r.service.Resume(t.Context(), session.Mutation{Session: chatID})
			if err != nil || again.Status != davit.AgentIdle || again.Resume != v.Resume {
				t.Fatalf("resumed as %+v: %v", again, err)
			}
			if told := s.heard(t, "prompt"); len(told) != 1 {
				t.Errorf("it was told %q", told)
			}
		})
	}
}
