package launch

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/route"
)

// setups runs scripts as the keeper does: in processes that outlive the host. What became
// of one lies in setup-<pane>; setup-ran counts.
type setups struct{ s *stage }

// runSetup runs a script in the background, and what follows when it ended well.
func (s *stage) runSetup(pane davit.PaneID, script Script, then *exec.Cmd) error {
	report := s.path("setup-" + string(pane))
	if err := os.WriteFile(report, []byte("running"), 0o600); err != nil {
		return err
	}
	// What it writes to is named by variables of its own, never by an argument.
	cmd := exec.Command("/bin/sh", "-c", `echo ran >> "$SETUP_RAN"
sh -ec "$SETUP_SCRIPT"
end=$?
if [ $end = 0 ]; then printf passed > "$SETUP_REPORT.new"; else printf "failed $end" > "$SETUP_REPORT.new"; fi
mv "$SETUP_REPORT.new" "$SETUP_REPORT"
if [ $end = 0 ] && [ $# -gt 0 ]; then exec "$@"; fi`, "setup")
	cmd.Env = os.Environ()
	if then != nil {
		cmd.Args, cmd.Env = append(cmd.Args, then.Args...), then.Env
	}
	cmd.Env = append(slices.Clone(cmd.Env), "SETUP_RAN="+s.path("setup-ran"), "SETUP_REPORT="+report, "SETUP_SCRIPT="+script.Text)
	cmd.Dir = script.Dir
	if err := cmd.Start(); err != nil {
		return err
	}
	s.scripts.Go(func() { _ = cmd.Wait() }) // its end is in the report
	return nil
}

func (u setups) OpenSetup(_ context.Context, r SetupRequest) (*davit.PlacementResult, error) {
	return nil, u.s.runSetup(r.Pane, r.Script, nil)
}

func (u setups) Setup(_ context.Context, key davit.PaneKey) (Setup, error) {
	_, pane, _ := strings.Cut(string(key), ":")
	state, err := os.ReadFile(u.s.path("setup-" + pane))
	end := Setup{Dir: u.s.path("worktrees", "topic")}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Setup{}, nil
	case string(state) == "running":
		end.State = SetupRunning
	case string(state) == "passed":
		end.State = SetupPassed
	default:
		three := 3
		end.State, end.Why, end.Exit, end.Output = SetupFailed, "ended with the exit status 3", &three, "no compass"
	}
	return end, err
}

func (u setups) AwaitSetup(ctx context.Context, key davit.PaneKey) (Setup, error) {
	for {
		end, err := u.Setup(ctx, key)
		if err != nil || end.State != SetupRunning {
			return end, err
		}
		select {
		case <-ctx.Done():
			return end, nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Scripts that wait until the test lets them go, or is gone.
const (
	waits = "until [ -e ../go ] || ! [ -d ../../agents ]; do sleep 0.01; done; "
	held  = waits + "touch done"
)

func (s *stage) script(t testing.TB, text string) {
	t.Helper()
	if err := os.WriteFile(s.path("script"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.letGo(t)
		s.scripts.Wait()
		for deadline := time.Now().Add(10 * time.Second); s.sets(t) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond) // one that a killed host left
		}
	})
}

// sets says whether a setup runs.
func (s *stage) sets(t testing.TB) bool {
	t.Helper()
	reports, err := filepath.Glob(s.path("setup-p_*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(reports, func(path string) bool {
		state, _ := os.ReadFile(path)
		return string(state) == "running"
	})
}

func (s *stage) letGo(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(s.path("worktrees", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) wantSetups(t testing.TB, n int) {
	t.Helper()
	got := -1
	for deadline := time.Now().Add(10 * time.Second); got < n && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		ran, _ := os.ReadFile(s.path("setup-ran"))
		got = strings.Count(string(ran), "ran")
	}
	if got != n {
		t.Errorf("the setup ran %d times, want %d", got, n)
	}
}

// payload changes the worktree of an intent.
func payload(in davit.Intent, edit func(*davit.CreateWorktree)) davit.Intent {
	create := davit.CreateWorktree{}
	if err := json.Unmarshal(in.Target.Create, &create); err != nil {
		panic(err)
	}
	edit(&create)
	in.Target.Create = intent.Encode(create)
	return in
}

func TestSetupRunsBeforeTheAgent(t *testing.T) { // spec launch L5.3
	s := newStage(t)
	s.script(t, held)
	x := s.executor(t, s.store(t))
	answered := make(chan error, 1)
	in := s.worktree(1, "topic")
	var first davit.Result
	go func() {
		var err error
		first, err = x.Launch(context.Background(), local, in)
		answered <- err
	}()
	for there := false; !there; there, _ = s.there("setup-ran") {
		time.Sleep(time.Millisecond)
	}
	s.wantAgents(t)
	s.letGo(t)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if there, _ := s.there("worktrees", "topic", "done"); !there || first.Prompt.Outcome != davit.PromptHanded || strings.Contains(first.Warning, "setup") {
		t.Errorf("%v %+v", there, first)
	}
	wantSame(t, x, in, first)
	s.wantSetups(t, 1)
	skipped, err := x.Launch(t.Context(), local, payload(s.worktree(2, "other"), func(c *davit.CreateWorktree) { c.SetupDecision = "skip" }))
	if err != nil || strings.Contains(skipped.Warning, "setup") {
		t.Fatal(skipped, err)
	}
	s.wantSetups(t, 1)
}

func TestSetupThatFailsKeepsTheWorktreeAndStartsNoAgent(t *testing.T) { // spec launch L5.3, L5.8
	for _, agent := range []string{"practice", "chatty"} {
		t.Run(agent, func(t *testing.T) {
			s := newStage(t)
			s.script(t, "exit 3")
			db := s.store(t)
			x := s.executor(t, db)
			in := s.worktree(1, "topic")
			in.Agent = agent
			for _, ask := range asks(x, in) {
				_, err := ask()
				e := wantCode(t, err, davit.CodeWorktreeSetup)
				kept, _ := e.Details["worktree"].(map[string]any)
				if kept["path"] != s.path("worktrees", "topic") || !strings.Contains(e.Message, "is kept") || e.Details["output"] != "no compass" || e.Details["exit"] == nil {
					t.Errorf("%s %v", e.Message, e.Details)
				}
			}
			s.wantAgents(t)
			s.wantSetups(t, 1)
		})
	}
}

func TestChatWaitsForSetupAWhile(t *testing.T) { // spec launch L5.4
	for _, c := range []struct {
		name, policy string
		limit        time.Duration
		verdict      route.Verdict
		warns        string
	}{
		{"in time", "", time.Minute, "", ""},
		{"hangs", "", 20 * time.Millisecond, "", "The setup script had not ended after 20ms; the agent was started beside it."},
		{"hangs, and becomes a terminal", "wait-for-setup", 20 * time.Millisecond, route.VerdictRefused, "the agent was started beside it."},
		{"does not wait", "start-immediately", time.Minute, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.setupLimit, s.verdict = c.limit, c.verdict
			script := held
			if c.name == "in time" {
				script = "touch done"
			}
			s.script(t, script)
			x := s.executor(t, s.store(t))
			in := payload(s.worktree(1, "topic"), func(w *davit.CreateWorktree) { w.SetupPolicy = c.policy })
			in.Agent = "chatty"
			got, err := x.Launch(t.Context(), local, in)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got.Warning, "setup") != (c.warns != "") || !strings.Contains(got.Warning, c.warns) {
				t.Errorf("warning %q", got.Warning)
			}
			if want := c.verdict == ""; want != (got.Outcome.Kind == davit.Structured) {
				t.Errorf("%+v", got.Outcome)
			}
			beside := ""
			if len(s.chats) > 0 {
				beside = string(s.chats[0].Beside)
			} else {
				beside = string(s.asked[0].Beside)
			}
			if beside == "" {
				t.Error("it was not put beside its setup")
			}
			s.letGo(t)
			s.wantSetups(t, 1)
			wantSame(t, x, in, got)
		})
	}
}

func TestTerminalThatDoesNotWaitForSetup(t *testing.T) { // spec launch L5.3
	s := newStage(t)
	s.script(t, held)
	x := s.executor(t, s.store(t))
	got, err := x.Launch(t.Context(), local, payload(s.worktree(1, "topic"), func(w *davit.CreateWorktree) { w.SetupPolicy = policyNow }))
	if err != nil || s.asked[0].Script != nil || s.asked[0].Beside == "" {
		t.Fatalf("%+v %v", got, err)
	}
	s.wantAgents(t, hardText)
	s.letGo(t)
}

// TestHostIsKilledWhileSetupRuns: the terminal's process outlives the host; its setup ran
// once, and a replay waits for it and says what became of the agent.
func TestHostIsKilledWhileSetupRuns(t *testing.T) { // spec launch L5.3, L6.3, L6.4, L6.5
	for _, c := range []struct{ agent, point, script string }{
		{"practice", "setup-started", held},
		{"practice", "setup-started", waits + "exit 3"},
		{"practice", "setup-ended", held},
		{"practice", "after-surface", held},
		{"chatty", "setup-started", held},
		{"chatty", "setup-ended", held},
	} {
		t.Run(c.agent+" "+c.point+" "+c.script[len(c.script)-6:], func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.script(t, c.script)
			in := s.worktree(1, "topic")
			in.Agent = c.agent
			if c.point != "setup-started" {
				s.letGo(t)
			}
			killHost(t, s, in, c.point)
			db := s.store(t)
			x := s.executor(t, db)
			found, err := x.Recover(t.Context()) // it does not wait
			if err != nil || found != map[bool]int{true: 1}[c.agent == "practice" && c.point != "setup-started"] {
				t.Errorf("found %d, %v", found, err)
			}
			s.letGo(t)
			replays := asks(x, in)
			if c.agent == "practice" && c.point == "setup-started" {
				slices.Reverse(replays)
			}
			for _, ask := range replays {
				got, err := ask()
				switch {
				case c.agent == "chatty": // no surface was asked for yet (L6.3)
					e := wantCode(t, err, davit.CodeOperationUnknown)
					if e.Details["worktree"] == nil {
						t.Error(e.Details)
					}
				case strings.Contains(c.script, "exit 3"):
					e := wantCode(t, err, davit.CodeWorktreeSetup)
					if !strings.Contains(e.Message, s.path("worktrees", "topic")+" is kept") {
						t.Error(e.Message)
					}
				case err != nil || got.Prompt.Outcome != davit.PromptHanded:
					t.Errorf("%+v %v", got, err)
				}
			}
			s.wantSetups(t, 1)
		})
	}
}
