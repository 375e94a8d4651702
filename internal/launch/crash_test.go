package launch

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/store"
)

// TestHostIsKilledAtEachArrow re-executes the test binary, which kills itself with
// SIGKILL at the named point of a launch, and then asks a new host for the same launch,
// again and again. What it answers is the table of L6.3.
func TestHostIsKilledAtEachArrow(t *testing.T) { // spec launch L5, L6.3, L6.5
	if os.Getenv("LAUNCH_TEST_DIR") != "" {
		launchAndDie(t)
		return
	}
	// Every surface with every target: the same with the real host, in internal/daemon.
	for _, c := range []struct {
		agent, target string
		points        []string
	}{
		{"practice", "worktree", append(Failpoints(), "surface-before-spawn", "surface-after-spawn")},
		{"chatty", "existing", append(Failpoints(), "surface-before-spawn", "surface-after-spawn", "deliver-before-row", "deliver-after-row")},
		{"practice", "existing", []string{"after-create", "surface-after-spawn"}},
		{"mute", "existing", []string{"surface-before-spawn", "surface-after-spawn", "after-record", "paste-before-write", "paste-after-text", "after-deliver", "after-settle"}},
		{"chatty", "worktree", []string{"after-create", "surface-before-spawn", "deliver-before-row"}},
	} {
		for _, point := range c.points {
			t.Run(c.agent+" "+c.target+" "+point, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				in := s.existing(1)
				if c.target == "worktree" {
					in = s.worktree(1, "topic")
				}
				in.Agent = c.agent
				killHost(t, s, in, point)
				afterCrash(t, s, in, point)
			})
		}
	}
}

func killHost(t *testing.T, s *stage, in davit.Intent, point string) {
	t.Helper()
	if os.Getenv("LAUNCH_TEST_DIR") != "" { // a test that does not know that it is the child would start children for ever
		t.Fatal("the child of a test kills no host")
	}
	if err := os.WriteFile(s.path("intent"), intent.Encode(in), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostIsKilledAtEachArrow$")
	cmd.Env = append(os.Environ(), "LAUNCH_TEST_DIR="+s.dir, "LAUNCH_TEST_POINT="+point)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the host was not killed at %s: %v\n%s", point, err, out)
	}
}

func launchAndDie(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("LAUNCH_TEST_DIR"), "intent"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := intent.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{dir: os.Getenv("LAUNCH_TEST_DIR")}
	s.failpoint = func(name string) {
		if name == os.Getenv("LAUNCH_TEST_POINT") {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	result, err := s.executor(t, s.store(t)).Launch(context.Background(), local, in)
	t.Fatal("it lived:", result, err)
}

func afterCrash(t *testing.T, s *stage, in davit.Intent, point string) {
	t.Helper()
	db := s.store(t)
	x := s.executor(t, db)
	if slices.Index(Failpoints(), point)%2 == 0 { // both ways: asked at the start, and at the replay
		if _, err := x.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	created := slices.Contains([]string{"after-create", "after-half2", "surface-before-spawn"}, point) && in.Target.Kind == davit.TargetWorktree
	chat := in.Agent == "chatty"
	switch point {
	case "after-validate": // before the claim: runs as new
		_, err := x.Replay(t.Context(), local, in)
		wantCode(t, err, davit.CodeNotFound)
		s.wantAgents(t)
		first, err := x.Launch(t.Context(), local, in)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, x, in, first)
		s.wantAgents(t, hardText)
	case "after-claim", "after-resolve", "after-half1", "after-create", "after-half2", "surface-before-spawn":
		for _, again := range asks(x, in) {
			_, err := again()
			e := wantCode(t, err, davit.CodeOperationUnknown)
			kept, named := e.Details["worktree"].(map[string]any)
			if named != created || (created && kept["path"] != s.path("worktrees", "topic")) {
				t.Errorf("details %v", e.Details)
			}
			if asked := chat && point == "surface-before-spawn"; asked != (e.Details["sessionId"] != nil) {
				t.Errorf("details %v", e.Details)
			}
		}
		s.wantAgents(t)
		if created {
			if _, err := os.Stat(s.path("worktrees", "topic")); err != nil {
				t.Error("the worktree was not kept:", err)
			}
		}
	default: // the surface is there
		first, err := x.Launch(t.Context(), local, in)
		if err != nil {
			t.Fatal(err)
		}
		if first.Prompt == nil || first.Receipt.Detail == "" || first.Outcome.Handle == "" {
			t.Fatalf("%+v", first)
		}
		if chat {
			afterChatCrash(t, s, x, in, point, first)
			return
		}
		if in.Agent == "mute" {
			afterPasteCrash(t, s, x, in, point, first)
			return
		}
		if first.Prompt.Outcome != davit.PromptHanded {
			t.Errorf("%+v", first)
		}
		if point == "after-settle" {
			wantSettled(t, db, in, first)
		}
		wantSame(t, x, in, first)
		s.wantAgents(t, hardText)
	}
}

// afterPasteCrash: the agent is there, and its prompt is pasted at most once: never by
// asking again. Until that is settled nobody knows whether it arrived.
func afterPasteCrash(t *testing.T, s *stage, x *Executor, in davit.Intent, point string, first davit.Result) {
	t.Helper()
	sent, outcome := hardText, davit.PromptUnconfirmed
	switch point {
	case "surface-after-spawn", "after-record", "paste-before-write":
		sent = ""
	case "after-settle":
		outcome = davit.PromptHanded
	}
	if first.Prompt.Outcome != outcome || first.Outcome.Kind != davit.Terminal {
		t.Errorf("%+v %+v", first.Outcome, first.Prompt)
	}
	wantSame(t, x, in, first)
	s.wantAgents(t, sent)
}

// afterChatCrash: the chat is there. Its prompt is in the journal or it is not known; and
// nothing is sent by asking.
func afterChatCrash(t *testing.T, s *stage, x *Executor, in davit.Intent, point string, first davit.Result) {
	t.Helper()
	if first.Outcome.Kind != davit.Structured || first.Outcome.SessionID == "" {
		t.Errorf("%+v", first.Outcome)
	}
	sent := hardText
	switch point {
	case "deliver-after-row", "after-deliver", "after-settle":
		want := davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptJournaled, MessageID: in.OperationID}
		if *first.Prompt != want {
			t.Errorf("%+v", first.Prompt)
		}
		if point == "deliver-after-row" {
			sent = "" // the journal's owner sends it, not the launch
		}
		wantSettled(t, x.cfg.Ledger, in, first)
	default:
		if first.Prompt.Outcome != davit.PromptUnconfirmed || first.Prompt.MessageID != "" {
			t.Errorf("%+v", first.Prompt)
		}
		sent = ""
		old := Caller{Key: local.Key, Capabilities: []string{davit.CapLaunch, davit.CapRenderChat}}
		_, err := x.Launch(t.Context(), old, in)
		wantCode(t, err, davit.CodeOperationUnknown)
	}
	wantSame(t, x, in, first)
	s.wantAgents(t, sent)
}

func wantSettled(t *testing.T, db Ledger, in davit.Intent, want davit.Result) {
	t.Helper()
	row, _, err := db.Operation(t.Context(), local.Key, in.OperationID)
	if err != nil || string(row.Result) != string(intent.Encode(want)) || row.State != store.OperationSettled {
		t.Errorf("stored %s (%s), answered %s: %v", row.Result, row.State, intent.Encode(want), err)
	}
}

func asks(x *Executor, in davit.Intent) []func() (davit.Result, error) {
	ctx := context.Background()
	return []func() (davit.Result, error){
		func() (davit.Result, error) { return x.Launch(ctx, local, in) },
		func() (davit.Result, error) { return x.Replay(ctx, local, in) },
		func() (davit.Result, error) { return x.ReplayStored(ctx, local, in.OperationID) },
		func() (davit.Result, error) { return x.Launch(ctx, local, in) },
	}
}

// wantSame asks in every way and wants the same bytes.
func wantSame(t *testing.T, x *Executor, in davit.Intent, want davit.Result) {
	t.Helper()
	for i, ask := range asks(x, in) {
		got, err := ask()
		if err != nil {
			t.Fatal(i, err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if string(a) != string(b) {
			t.Fatalf("ask %d: %s\nwant %s", i, b, a)
		}
	}
}
