package daemon_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/daemon"
	"davit/internal/home"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// TestClosedChatEndsWithItsUndo: closing a chat's tab stops nothing while undo can bring it
// back; then the turn is cancelled, the process ended, and the session stays resumable.
// So it is when the host died in between.
func TestClosedChatEndsWithItsUndo(t *testing.T) { // spec session S1.8, tabs T6.1
	s := newLaunchScene(t)
	stop := s.within(5 * time.Second)
	kept, left := s.working("kept"), s.working("left")
	s.close(kept, left)
	if got := s.session(kept); got.Status != davit.AgentWorking || got.Tab != kept.Outcome.TabID {
		t.Errorf("closing has stopped it: %+v", got)
	}
	var back wire.TabRef
	if err := s.client.Call(t.Context(), "tab.undoClose", wire.TabRef{Tab: kept.Outcome.TabID}, &back); err != nil {
		t.Fatal(err)
	}
	stop()

	// The next host ends it when the time is over.
	stop = s.within(time.Nanosecond)
	s.wantEnded(left)
	if got := s.session(kept); got.Status != davit.AgentWorking || got.Pane == "" {
		t.Errorf("the one that undo brought back: %+v", got)
	}
	s.close(kept)
	s.wantEnded(kept)
	testenv.Eventually(t, patience, func() (bool, string) {
		state := s.state()
		return len(state.Closed) == 0 && len(state.Panes) == 0, fmt.Sprintf("left: %+v %+v", state.Closed, state.Panes)
	})
	data, err := os.ReadFile(s.transcript)
	if err != nil || strings.Count(string(data), `"event":"cancel"`) != 2 || strings.Count(string(data), `"event":"start"`) != 2 {
		t.Errorf("%v\n%s", err, data)
	}
	stop()
	stop = s.within(time.Hour) // nothing of it comes back
	testenv.Eventually(t, patience, func() (bool, string) {
		state := s.state()
		return len(state.Sessions) == 2 && len(state.Tabs)+len(state.Panes)+len(state.Notices) == 0, fmt.Sprintf("%+v", state)
	})
	stop()
}

// TestChatHasChips: a chat's pane has chips of its directory, and they follow what its
// agent does.
func TestChatHasChips(t *testing.T) { // spec chips C2.4
	s := newLaunchScene(t)
	s.up()
	in := davit.Intent{
		Agent: "practice", Surface: davit.Structured, Target: davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + s.repo},
		SessionOptions: map[string]string{"mode": "auto"},
	}
	var r davit.Result
	if err := s.client.Call(t.Context(), "agent.launch", in, &r); err != nil || r.Warning != "" {
		t.Fatal(err, r.Warning)
	}
	v := (&chipScene{scene: s.scene}).view()
	pane := s.session(r).Pane
	shows := func(kind, text string) {
		t.Helper()
		testenv.Eventually(t, patience, func() (bool, string) {
			v.mu.Lock()
			defer v.mu.Unlock()
			i := slices.IndexFunc(v.state.Chips[pane], func(c davit.Chip) bool { return string(c.Kind) == kind })
			return i >= 0 && strings.Contains(v.state.Chips[pane][i].Text, text), fmt.Sprintf("no chip %s with %q: %+v", kind, text, v.state.Chips[pane])
		})
	}
	shows("git_branch", "main")
	send := wire.SessionSend{SessionMutation: wire.SessionMutation{Session: davit.SessionID(r.Outcome.SessionID), Operation: "op-1", Fence: s.session(r).Fence}, Text: "write NOTES.md"}
	if err := s.client.Call(t.Context(), "agentSession.send", send, nil); err != nil {
		t.Fatal(err)
	}
	shows("git_diff", "1")
	s.down()
}

// within runs a host in this process that keeps closed tabs for the time, and gives what
// stops it.
func (s *launchScene) within(undo time.Duration) (stop func()) {
	t := s.t
	t.Helper()
	getenv := func(name string) string {
		for _, pair := range slices.Backward(s.env) {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value
			}
		}
		return ""
	}
	h, err := home.Find(getenv)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "host.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- daemon.Run(ctx, daemon.Config{
			Home: h, Listen: "127.0.0.1:0", Directory: s.dir, Self: s.davit, Environ: s.env, Getenv: getenv, Undo: undo,
			Log: slog.New(slog.NewTextHandler(log, nil)), Ready: func(wire.HostInfo) { close(ready) },
		})
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended badly: %v", err)
		}
		_ = log.Close()
	}
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatalf("the host did not start: %v", err)
	}
	return stop
}

// working launches a chat that works until it is cancelled.
func (s *launchScene) working(name string) davit.Result {
	s.t.Helper()
	in := davit.Intent{
		Agent: "practice", Surface: davit.Structured, Target: davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + s.repo},
		Prompt: &davit.Prompt{Text: name + "\nwait", Delivery: "submit"},
	}
	var r davit.Result
	if err := s.client.Call(s.t.Context(), "agent.launch", in, &r); err != nil {
		s.t.Fatal(err)
	}
	s.wantPrompt(in.Prompt.Text, 1)
	testenv.Eventually(s.t, patience, func() (bool, string) {
		got := s.session(r)
		return got.Status == davit.AgentWorking, fmt.Sprintf("it does not work: %+v", got)
	})
	return r
}

func (s *launchScene) close(results ...davit.Result) {
	s.t.Helper()
	req := wire.TabClose{Yes: true}
	for _, r := range results {
		req.Tabs = append(req.Tabs, r.Outcome.TabID)
	}
	if err := s.client.Call(s.t.Context(), "tab.close", req, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *launchScene) state() davit.State {
	s.t.Helper()
	var state davit.State
	if err := s.client.Call(s.t.Context(), "host.state", wire.None{}, &state); err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *launchScene) session(r davit.Result) davit.Session {
	s.t.Helper()
	var got davit.Session
	if err := s.client.Call(s.t.Context(), "agentSession.get", wire.SessionRef{Session: davit.SessionID(r.Outcome.SessionID)}, &got); err != nil {
		s.t.Fatal(err)
	}
	return got
}

// wantEnded: the session is resumable, in no tab, and its process is gone.
func (s *launchScene) wantEnded(r davit.Result) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) {
		got := s.session(r)
		return got.Status == davit.AgentResumable && got.Pane == "" && got.Tab == "" && got.Resume != "", fmt.Sprintf("it is not ended: %+v", got)
	})
	testenv.Eventually(s.t, patience, func() (bool, string) {
		left := slices.DeleteFunc(s.processes(), func(p string) bool { return !strings.Contains(p, "--acp") })
		open := 0
		for _, v := range s.state().Sessions {
			if v.Status == davit.AgentWorking {
				open++
			}
		}
		return len(left) == open, fmt.Sprintf("agents are left: %q", left)
	})
}
