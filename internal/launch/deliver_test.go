package launch

import (
	"context"
	"os"
	"strings"
	"testing"

	"davit"
	"davit/internal/paste"
)

// TestPromptThatDoesNotRide: it is pasted once, behind the record, and the receipt says
// what the paste said.
func TestPromptThatDoesNotRide(t *testing.T) { // spec launch L2.2, L5.7, L6.3, L7
	long := strings.Repeat("x", rides+1)
	for name, c := range map[string]struct {
		agent, text string
		says        paste.Report
		outcome     davit.PromptOutcome
		told        string
	}{
		"takes no argument": {"mute", hardText, paste.Report{}, davit.PromptHanded, hardText},
		"too long":          {"practice", long, paste.Report{}, davit.PromptHanded, long},
		"not delivered":     {"mute", hardText, paste.Report{Outcome: paste.NotDelivered, Warning: "A dialog (trust) is in the way."}, davit.PromptNotDelivered, ""},
		"without effect":    {"mute", hardText, paste.Report{Outcome: paste.Submitted, Warning: "Nothing was seen to happen."}, davit.PromptHanded, hardText},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.pasted = c.says
			db := s.store(t)
			x := s.executor(t, db)
			in := s.existing(1)
			in.Agent, in.Prompt = c.agent, &davit.Prompt{Text: c.text, Delivery: "submit"}
			got, err := x.Launch(t.Context(), local, in)
			if err != nil || got.Prompt.Outcome != c.outcome || got.Warning != c.says.Warning {
				t.Fatalf("%+v %q %v", got.Prompt, got.Warning, err)
			}
			wantSame(t, x, in, got)
			wantSettled(t, db, in, got)
			s.wantAgents(t, c.told)
			if len(s.pastes) != 1 || s.pastes[0].ID != "paste-"+in.OperationID || s.pastes[0].Text != c.text {
				t.Errorf("%d pastes", len(s.pastes))
			}
		})
	}
}

// TestNobodyKnowsWhetherItWasSubmitted: the launch says so and stays unconfirmed; the
// agent is not started again.
func TestNobodyKnowsWhetherItWasSubmitted(t *testing.T) { // spec launch L2.2
	s := newStage(t)
	s.pasted = paste.Report{Outcome: paste.Unknown, Warning: "It cannot be known whether the prompt was submitted: the keeper is gone."}
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	in.Agent = "mute"
	_, err := x.Launch(t.Context(), local, in)
	if e := wantCode(t, err, davit.CodeOperationUnknown); e.Details["paneKey"] == "" || !strings.Contains(e.Message, "the keeper is gone") {
		t.Errorf("%+v", e)
	}
	got, err := x.Launch(t.Context(), local, in)
	if err != nil || got.Prompt.Outcome != davit.PromptUnconfirmed {
		t.Errorf("%+v %v", got.Prompt, err)
	}
	s.wantAgents(t, hardText)
	_, err = x.Launch(t.Context(), Caller{Key: local.Key, Capabilities: []string{davit.CapLaunch}}, in)
	wantCode(t, err, davit.CodeOperationUnknown)
}

// terminal puts a running agent there, and gives what it was told so far.
func (s *stage) terminal(t *testing.T, handle string) func() string {
	t.Helper()
	file := s.path("agents", handle)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// TestReuse: the running terminal gets the prompt; nothing is made and no host is asked,
// whatever the preference is. What only a start could take is told.
func TestReuse(t *testing.T) { // spec launch L1, L3.2 row 2, L5.2
	s := newStage(t)
	told := s.terminal(t, "term_there")
	s.support = func(context.Context) error { t.Error("the host was asked for a verdict"); return nil }
	started := 0
	s.started = func(davit.Launched) { started++ }
	db := s.store(t)
	x := s.executor(t, db)
	in := s.chat(1)
	in.ReuseTerminal, in.PaneKey = &davit.ReuseTerminal{Handle: "term_there"}, "t_0123456789abcdef:p_0123456789abcdef"
	in.SessionOptions = map[string]string{"model": "m"}
	got, err := x.Launch(t.Context(), local, in)
	want := davit.Outcome{Kind: davit.Terminal, Handle: got.Outcome.Handle, TabID: "t_there", PaneKey: "t_there:term_there"}
	if err != nil || got.Outcome != want || got.Receipt.Mode != davit.Terminal || got.Receipt.Reason != davit.ReasonReusedTerminal ||
		got.Receipt.Preferred != davit.Structured || got.Prompt.Outcome != davit.PromptHanded || got.WorktreeID != "wt_repo" {
		t.Fatalf("%+v %v", got, err)
	}
	if !strings.Contains(got.Warning, "sessionOptions was not used") || !strings.Contains(got.Receipt.Detail, "the running terminal was used instead") {
		t.Errorf("%q %q", got.Warning, got.Receipt.Detail)
	}
	for _, ask := range asks(x, in) {
		again, err := ask()
		if err != nil || again.Prompt.Outcome != davit.PromptHanded || again.Outcome.PaneKey != want.PaneKey {
			t.Errorf("%+v %v", again, err)
		}
	}
	if told() != hardText || started != 0 || len(s.asked)+len(s.chats) != 0 {
		t.Errorf("it was told %q; %d started, %d terminals and %d chats made", told(), started, len(s.asked), len(s.chats))
	}
	t.Run("active is the terminal's own workspace", func(t *testing.T) {
		in := s.existing(2)
		in.Target.Worktree, in.Surface, in.Prompt = "active", davit.Terminal, nil
		in.ReuseTerminal = &davit.ReuseTerminal{Handle: "term_there"}
		got, err := x.Launch(t.Context(), Caller{Key: "local", Dir: "/"}, in)
		if err != nil || got.WorktreeID != "wt_repo" || got.Receipt.Reason != davit.ReasonRequested || got.Prompt != nil {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("a terminal that does not run it", func(t *testing.T) {
		in := s.existing(3)
		in.ReuseTerminal = &davit.ReuseTerminal{Handle: "term_gone"}
		for range 2 { // definite, and stored
			_, err := x.Launch(t.Context(), local, in)
			wantCode(t, err, davit.CodeLaunchReuseNotRunning)
		}
	})
	t.Run("a new worktree", func(t *testing.T) {
		in := s.worktree(4, "w")
		in.ReuseTerminal = &davit.ReuseTerminal{Handle: "term_there"}
		_, err := x.Launch(t.Context(), local, in)
		wantCode(t, err, davit.CodeLaunchReuseExisting)
	})
}

// TestReuseAfterACrash: a host that died before the record is found to have reused the
// terminal, which the keeper holds; its prompt is unconfirmed, and not sent again.
func TestReuseAfterACrash(t *testing.T) { // spec launch L6.3, L6.5
	for _, point := range []string{"after-surface", "paste-after-text"} {
		t.Run(point, func(t *testing.T) {
			s := newStage(t)
			told := s.terminal(t, "term_there")
			in := s.existing(1)
			in.ReuseTerminal = &davit.ReuseTerminal{Handle: "term_there"}
			killHost(t, s, in, point)
			x := s.executor(t, s.store(t))
			for _, ask := range asks(x, in) {
				got, err := ask()
				if err != nil || got.Prompt.Outcome != davit.PromptUnconfirmed || got.Outcome.PaneKey != "t_there:term_there" {
					t.Fatalf("%+v %v", got, err)
				}
			}
			if want := map[string]string{"after-surface": "", "paste-after-text": hardText}[point]; told() != want {
				t.Errorf("it was told %q, want %q", told(), want)
			}
			s.wantAgents(t)
		})
	}
}
