package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/route"
)

func TestChatIsLaunched(t *testing.T) { // spec launch L2, L2.1, L3.3, L5.4, L7
	s := newStage(t)
	var events []davit.Launched
	s.started = func(l davit.Launched) { events = append(events, l) }
	x := s.executor(t, s.store(t))
	in := s.worktree(1, "topic")
	in.Agent, in.Cwd = "chatty", "./"
	in.SessionID = "chatty_00112233_4455_6677_8899_aabbccddeeff"
	in.PaneKey = "t_0123456789abcdef:p_0123456789abcdef"
	in.SessionOptions = map[string]string{"model": "m"}
	in.AccountEnv = map[string]string{"ACCOUNT": "sk"}
	in.AgentArgs = davit.OptionalString{Present: true, Null: true}
	got, err := x.Launch(t.Context(), local, in)
	if err != nil {
		t.Fatal(err)
	}
	want := davit.Result{
		Outcome:    davit.Outcome{Kind: davit.Structured, Handle: ChatHandle(davit.SessionID(in.SessionID), ""), TabID: "t_0123456789abcdef", SessionID: in.SessionID},
		WorktreeID: got.WorktreeID,
		Warning: "The base is behind its remote. Also: agentArgs was not used: a chat starts with the arguments that are saved for it." +
			" Also: accountEnv was not used: a chat with Chatty uses the account that is signed in on this host. Also: It has no such model.",
		Receipt: davit.Receipt{Mode: davit.Structured, Preferred: davit.Structured, Reason: davit.ReasonUserDefault,
			Detail: "The default is a chat; Chatty was started in a chat."},
		Prompt:   &davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptJournaled, MessageID: in.OperationID},
		Worktree: &davit.WorktreeRef{Path: s.path("worktrees", "topic"), Branch: "topic"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r := s.chats[0]
	if r.Dir != s.path("worktrees", "topic") || !r.RemoveOnClose || r.Worktree == nil || r.Options["model"] != "m" || r.Pane != "p_0123456789abcdef" {
		t.Errorf("asked for %+v", r)
	}
	if diff := cmp.Diff([]davit.Launched{{Agent: "chatty", Mode: davit.Structured}}, events); diff != "" {
		t.Error(diff)
	}
	wantSame(t, x, in, got)
	s.wantAgents(t, hardText)
}

// TestChatsAnswer: every way in which half two and the making of a chat can end.
func TestChatsAnswer(t *testing.T) { // spec launch L3.2, L3.3, L5.6
	refusal := func(code davit.Code) error { return errors.Join(davit.Errorf(code, "it is too old"), ErrNothingMade) }
	for name, c := range map[string]struct {
		change func(*stage, *davit.Intent)
		reason davit.Reason // of a terminal
		detail string
		code   davit.Code // of an error
		asked  bool       // the chat was asked for
	}{
		"refused": {func(s *stage, _ *davit.Intent) { s.verdict = route.VerdictRefused }, davit.ReasonUnsupportedOnHost, "does not support this chat here (it is too old)", "", false},
		"remote":  {func(s *stage, _ *davit.Intent) { s.verdict = route.VerdictRemote }, davit.ReasonRemoteHost, "remote", "", false},
		"wsl":     {func(s *stage, _ *davit.Intent) { s.verdict = route.VerdictWSL }, davit.ReasonWSL, "WSL", "", false},
		"error":   {func(s *stage, _ *davit.Intent) { s.support = func(context.Context) error { return errors.New("no") } }, davit.ReasonSupportUnknown, "did not say", "", false},
		"time-out": {func(s *stage, _ *davit.Intent) {
			s.support = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		}, davit.ReasonSupportUnknown, "did not say", "", false},
		"no sessions": {func(s *stage, _ *davit.Intent) { s.noChats = true }, davit.ReasonSessionsUnavailable, "cannot run chats", "", false},
		"elsewhere":   {func(_ *stage, i *davit.Intent) { i.Cwd = "sub" }, davit.ReasonLaunchCommand, "sub", "", false},
		"unsupported after all": {func(s *stage, _ *davit.Intent) { s.chatErr = refusal(davit.CodeSessionUnsupported) },
			davit.ReasonUnsupportedOnHost, "could not make this chat (it is too old)", "", true},
		"method not found": {func(s *stage, _ *davit.Intent) { s.chatErr = refusal(davit.CodeMethodNotFound) }, davit.ReasonUnsupportedOnHost, "could not make", "", true},
		"unsupported, unproven": {func(s *stage, _ *davit.Intent) { s.chatErr = davit.Errorf(davit.CodeSessionUnsupported, "it may run") },
			"", "", davit.CodeOperationUnknown, true},
		"not signed in": {func(s *stage, _ *davit.Intent) { s.chatErr = refusal(davit.CodeAgentNotSignedIn) }, "", "", davit.CodeAgentNotSignedIn, true},
		"not installed": {func(s *stage, _ *davit.Intent) { s.chatErr = refusal(davit.CodeAgentNotInstalled) }, "", "", davit.CodeAgentNotInstalled, true},
		"nonsense":      {func(s *stage, _ *davit.Intent) { s.chatErr = refusal(davit.CodeAgentProtocol) }, "", "", davit.CodeAgentProtocol, true},
		"nameless":      {func(s *stage, _ *davit.Intent) { s.chatErr = fmt.Errorf("no room: %w", ErrNothingMade) }, "", "", davit.CodeLaunchFailed, true},
		"silence":       {func(s *stage, _ *davit.Intent) { s.chatErr = errors.New("the keeper does not answer") }, "", "", davit.CodeOperationUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := s.worktree(1, "topic")
			in.Agent = "chatty"
			if name == "elsewhere" {
				s.created = func(davit.CreateWorktree, string) error { return os.Mkdir(s.path("worktrees", "topic", "sub"), 0o700) }
			}
			c.change(s, &in)
			x := s.executor(t, s.store(t))
			got, err := x.Launch(t.Context(), local, in)
			if (len(s.chats) == 1) != c.asked {
				t.Errorf("asked for %d chats", len(s.chats))
			}
			if c.code != "" {
				chatFailed(t, s, x, in, err, c.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Receipt.Mode != davit.Terminal || got.Receipt.Preferred != davit.Structured || got.Receipt.Reason != c.reason || !strings.Contains(got.Receipt.Detail, c.detail) {
				t.Errorf("%+v", got.Receipt)
			}
			if got.Outcome.Kind != davit.Terminal || got.Outcome.SessionID != "" || got.Prompt.Outcome != davit.PromptHanded || got.Worktree.Path != s.path("worktrees", "topic") {
				t.Errorf("%+v %+v", got.Outcome, got.Prompt)
			}
			if len(s.asked) != 1 || s.asked[0].InPlace != c.asked || len(s.dropped) > 0 {
				t.Errorf("terminals %+v, dropped %v", s.asked, s.dropped)
			}
			s.chatErr, s.verdict, s.support = nil, "", nil
			wantSame(t, x, in, got)
			s.wantAgents(t, hardText)
		})
	}
}

// chatFailed: the truth is told, now and later; no terminal stands in for the chat; the
// worktree is kept and named. Only a definite failure takes its tab away.
func chatFailed(t *testing.T, s *stage, x *Executor, in davit.Intent, err error, code davit.Code) {
	t.Helper()
	e := wantCode(t, err, code)
	if e.Details["worktree"] == nil || !strings.Contains(e.Message, s.path("worktrees", "topic")) {
		t.Errorf("%s %v", e.Message, e.Details)
	}
	unknown := code == davit.CodeOperationUnknown
	if unknown != (len(s.dropped) == 0) || unknown != (e.Details["sessionId"] != nil) {
		t.Errorf("dropped %v, details %v", s.dropped, e.Details)
	}
	s.chatErr = nil
	for _, ask := range asks(x, in) {
		_, again := ask()
		if a := wantCode(t, again, code); a.Details["worktree"] == nil || unknown && a.Details["sessionId"] == nil {
			t.Errorf("%v", a.Details)
		}
	}
	if len(s.asked) > 0 || len(s.chats) != 1 {
		t.Errorf("a second surface: %v %v", s.asked, s.chats)
	}
	s.wantAgents(t)
}

func TestCallerThatShowsNoChats(t *testing.T) { // spec launch L1.2, L3.2 row 9
	s := newStage(t)
	x := s.executor(t, s.store(t))
	for i, c := range []struct {
		capabilities []string
		mode         davit.Surface
	}{
		{nil, davit.Structured},
		{[]string{}, davit.Terminal},
		{[]string{davit.CapLaunch, davit.CapPromptUnconfirmed}, davit.Terminal},
		{[]string{davit.CapRenderChat}, davit.Structured},
	} {
		got, err := x.Launch(t.Context(), Caller{Key: local.Key, Capabilities: c.capabilities}, s.chat(i))
		if err != nil || got.Receipt.Mode != c.mode || c.mode == davit.Terminal && got.Receipt.Reason != davit.ReasonSessionsUnavailable {
			t.Errorf("%v: %+v %v", c.capabilities, got.Receipt, err)
		}
	}
}

func TestCallersSessionID(t *testing.T) { // spec launch L1: refused when it exists
	s := newStage(t)
	x := s.executor(t, s.store(t))
	in := s.chat(1)
	in.SessionID = "chatty_00112233_4455_6677_8899_aabbccddeeff"
	if _, err := x.Launch(t.Context(), local, in); err != nil {
		t.Fatal(err)
	}
	again := s.worktree(2, "topic")
	again.Agent, again.SessionID = "chatty", in.SessionID
	_, err := x.Launch(t.Context(), local, again)
	wantCode(t, err, davit.CodeLaunchSessionExists)
	if _, err := os.Stat(s.path("worktrees", "topic")); err == nil {
		t.Error("a worktree was made for it")
	}
	// Ignored when the mode is terminal.
	again.OperationID, again.Surface = newID(3), davit.Terminal
	if got, err := x.Launch(t.Context(), local, again); err != nil || got.Outcome.SessionID != "" {
		t.Error(got.Outcome, err)
	}
	// A crash between such a claim and its refusal must not take the other's chat for its own.
	third := s.chat(4)
	third.SessionID = in.SessionID
	killHost(t, s, third, "after-claim")
	_, err = x.Launch(t.Context(), local, third)
	wantCode(t, err, davit.CodeOperationUnknown)
	s.wantAgents(t, hardText, hardText)
}

func TestPromptOfAChat(t *testing.T) { // spec launch L2.2, L5.7, L7
	for name, c := range map[string]struct {
		change  func(*stage, *davit.Intent)
		outcome davit.PromptOutcome
		warning string
		placed  bool
		code    davit.Code
	}{
		"without an id":    {func(_ *stage, i *davit.Intent) { i.OperationID = "" }, davit.PromptJournaled, "", false, ""},
		"long":             {func(_ *stage, i *davit.Intent) { i.Prompt.Text = strings.Repeat("x", 150_000) }, davit.PromptJournaled, "", false, ""},
		"not taken":        {func(s *stage, _ *davit.Intent) { s.submitErr = errors.New("it has ended") }, davit.PromptNotDelivered, "not delivered: it has ended", false, ""},
		"nobody knows":     {func(s *stage, _ *davit.Intent) { s.submitErr, s.lookErr = errDisk, errDisk }, "", "", false, davit.CodeOperationUnknown},
		"draft":            {func(_ *stage, i *davit.Intent) { i.Prompt.Delivery = "draft" }, davit.PromptNotDelivered, "", true, ""},
		"draft not placed": {func(s *stage, i *davit.Intent) { i.Prompt.Delivery, s.draftErr = "draft", errDisk }, davit.PromptNotDelivered, "not placed: the disk is full", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := s.chat(1)
			c.change(s, &in)
			x := s.executor(t, s.store(t))
			got, err := x.Launch(t.Context(), local, in)
			if c.code != "" {
				if e := wantCode(t, err, c.code); e.Details["sessionId"] == nil || e.Hint == "" {
					t.Errorf("%v", e)
				}
				s.submitErr, s.lookErr = nil, nil
				replayed, err := x.Launch(t.Context(), local, in)
				if err != nil || replayed.Prompt.Outcome != davit.PromptUnconfirmed {
					t.Errorf("%+v %v", replayed, err)
				}
				s.wantAgents(t, "")
				return
			}
			if err != nil || got.Prompt.Outcome != c.outcome || got.Prompt.DraftPlaced != c.placed || !strings.Contains(got.Warning, c.warning) {
				t.Fatalf("%+v %q %v", got.Prompt, got.Warning, err)
			}
			if (got.Prompt.MessageID != "") != (c.outcome == davit.PromptJournaled) || in.OperationID != "" && got.Prompt.MessageID != "" && got.Prompt.MessageID != in.OperationID {
				t.Errorf("message %q", got.Prompt.MessageID)
			}
			if in.OperationID != "" {
				s.submitErr, s.draftErr = nil, nil
				wantSame(t, x, in, got)
			}
			want := ""
			if c.outcome == davit.PromptJournaled {
				want = in.Prompt.Text
			}
			s.wantAgents(t, want)
			if text, err := os.ReadFile(s.path("messages", "draft-"+got.Outcome.SessionID)); c.placed && (err != nil || string(text) != in.Prompt.Text) {
				t.Errorf("the composer has %q: %v", text, err)
			}
		})
	}
}

func TestDraftOfATerminal(t *testing.T) { // spec launch L2.2, L7: as seen, never submitted
	for name, c := range map[string]struct {
		agent         string
		shown, placed bool
		warning       string
	}{
		"seen":     {"practice", true, true, ""},
		"not seen": {"practice", false, false, "was not seen in its composer"},
		"pasted":   {"mute", false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.shown = c.shown
			draft := false
			s.command = func(in CommandInput, _ *Command) { draft = in.Draft }
			in := s.existing(1)
			in.Agent, in.Surface, in.Prompt.Delivery = c.agent, davit.Terminal, "draft"
			got, err := s.executor(t, s.store(t)).Launch(t.Context(), local, in)
			want := davit.PromptReceipt{Delivery: "draft", Outcome: davit.PromptNotDelivered, DraftPlaced: c.placed}
			if err != nil || *got.Prompt != want || !strings.Contains(got.Warning, c.warning) || c.placed && got.Warning != "" {
				t.Errorf("%+v %q %v", got.Prompt, got.Warning, err)
			}
			if !draft {
				t.Error("the command was asked for as if it were a first turn")
			}
		})
	}
}

// TestOrderOfWorkOfAChat looks at what is there at each arrow.
func TestOrderOfWorkOfAChat(t *testing.T) { // spec launch L5, L6.3
	s := newStage(t)
	db := s.store(t)
	in := s.worktree(1, "w")
	in.Agent = "chatty"
	var got []string
	s.failpoint = func(name string) {
		row, _, err := db.Operation(context.Background(), local.Key, in.OperationID)
		if err != nil {
			t.Error(err)
		}
		prompt := "-"
		if r, err := intent.CheckResult(row.Result); err == nil {
			prompt = string(r.Prompt.Outcome)
		}
		sent, _ := s.there("messages", in.OperationID)
		got = append(got, fmt.Sprintf("%s: row %s, plan %v, prompt %s, chats %d, sent %v", name, row.State, len(row.Result) > 0, prompt, len(s.agents(t)), sent))
	}
	if _, err := s.executor(t, db).Launch(t.Context(), local, in); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"after-validate: row , plan false, prompt -, chats 0, sent false",
		"after-claim: row unknown, plan false, prompt -, chats 0, sent false",
		"after-resolve: row unknown, plan false, prompt -, chats 0, sent false",
		"after-half1: row unknown, plan false, prompt -, chats 0, sent false",
		"after-create: row unknown, plan false, prompt -, chats 0, sent false",
		"after-half2: row unknown, plan false, prompt -, chats 0, sent false",
		"surface-before-spawn: row unknown, plan true, prompt -, chats 0, sent false",
		"surface-after-spawn: row unknown, plan true, prompt -, chats 1, sent false",
		"after-surface: row unknown, plan true, prompt -, chats 1, sent false",
		"after-record: row recorded, plan true, prompt unconfirmed, chats 1, sent false",
		"deliver-before-row: row recorded, plan true, prompt unconfirmed, chats 1, sent false",
		"deliver-after-row: row recorded, plan true, prompt unconfirmed, chats 1, sent true",
		"after-deliver: row recorded, plan true, prompt unconfirmed, chats 1, sent true",
		"after-settle: row settled, plan true, prompt journaled, chats 1, sent true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// TestRowOfANewerVersion: words and fields that this version does not know are taken; a
// broken row loses its own replay alone (spec launch L2.4).
func TestRowOfANewerVersion(t *testing.T) {
	s := newStage(t)
	db := s.store(t)
	x := s.executor(t, db)
	in := s.chat(1)
	s.failpoint = nil
	killHost(t, s, in, "after-claim")
	newer := `{"outcome":{"kind":"structured","sessionId":"chatty_x","handle":"chat_1","tabId":"t_1","view":{"lines":3}},"worktreeId":"wt","cost":12,` +
		`"receipt":{"mode":"structured","preferred":"structured","reason":"a_word_of_next_year","detail":"A sentence.","weight":1.5},` +
		`"prompt":{"delivery":"submit","outcome":"journaled","messageId":"m","mood":"fine"},"placement":{"groupId":"","fallback":"moon"}}`
	if err := db.Settle(t.Context(), local.Key, in.OperationID, []byte(newer)); err != nil {
		t.Fatal(err)
	}
	got, err := x.Launch(t.Context(), local, in)
	if err != nil || got.Receipt.Reason != "a_word_of_next_year" || got.Placement.Fallback != "moon" || got.Prompt.MessageID != "m" {
		t.Fatalf("%+v %v", got, err)
	}
	broken := s.chat(2)
	killHost(t, s, broken, "after-claim")
	if err := db.Settle(t.Context(), local.Key, broken.OperationID, []byte(strings.Replace(newer, `"kind":"structured"`, `"kind":"hologram"`, 1))); err != nil {
		t.Fatal(err)
	}
	for _, ask := range asks(x, broken) {
		_, err := ask()
		wantCode(t, err, davit.CodeOperationUnknown)
	}
	wantSame(t, x, in, got)
	old := s.chat(3)
	old.OperationID = fmt.Sprintf("%013d-%032x", time.Now().Add(-25*time.Hour).UnixMilli(), 3)
	_, err = x.Launch(t.Context(), local, old)
	wantCode(t, err, davit.CodeOperationExpired)
	s.wantAgents(t)
}
