package status

import (
	"strings"
	"testing"
	"time"

	"davit"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// at makes a state that began a minute ago.
func at(status davit.AgentStatus, edit ...func(*State)) State {
	s := State{AgentState: davit.AgentState{Agent: "claude", Status: status, Since: noon.Add(-time.Minute), Source: davit.StatusFromHook}, Memory: Memory{Confirmed: noon.Add(-time.Minute)}}
	for _, change := range edit {
		change(&s)
	}
	return s
}

func waits(for_ davit.WaitingFor, tool, use string) func(*State) {
	return func(s *State) { s.Waiting, s.Tool, s.Question = for_, tool, use }
}

func from(source davit.StatusSource) func(*State) { return func(s *State) { s.Source = source } }

// TestHooks holds each row of the table: what an event makes of a state (spec session S3;
// hooks are authoritative).
func TestHooks(t *testing.T) {
	const working, waiting, done, idle, exited = davit.AgentWorking, davit.AgentWaiting, davit.AgentDone, davit.AgentIdle, davit.AgentExited
	session := func(s *State) { s.Session = "s1" }
	permission := at(waiting, waits(davit.WaitingPermission, "Bash", "t1"))
	for _, tc := range []struct {
		name string
		from State
		said Said
		want davit.AgentStatus
		for_ davit.WaitingFor
	}{
		{"a conversation begins", at(davit.AgentStarting), Said{Event: "SessionStart", Kind: "startup"}, idle, ""},
		{"it is compacted in a turn", at(working), Said{Event: "SessionStart", Kind: "compact"}, working, ""},
		{"it is cleared", at(done), Said{Event: "SessionEnd", Kind: "clear"}, idle, ""},
		{"it ends", at(idle), Said{Event: "SessionEnd", Kind: "prompt_input_exit"}, exited, ""},
		{"a prompt", at(idle), Said{Event: "UserPromptSubmit"}, working, ""},
		{"a prompt answers a question", permission, Said{Event: "UserPromptSubmit"}, working, ""},
		{"before a tool", at(working), Said{Event: "PreToolUse", Tool: "Bash", ToolUse: "t1"}, working, ""},
		{"before the tool that asks", at(working), Said{Event: "PreToolUse", Tool: "AskUserQuestion", ToolUse: "t1"}, waiting, davit.WaitingQuestion},
		{"the tool that asks is asked about", at(waiting, waits(davit.WaitingQuestion, "AskUserQuestion", "t1")), Said{Event: "PermissionRequest", Tool: "AskUserQuestion"}, waiting, davit.WaitingQuestion},
		{"after a tool", at(working), Said{Event: "PostToolUse", Tool: "Bash", ToolUse: "t1"}, working, ""},
		{"after a tool that failed", at(working), Said{Event: "PostToolUseFailure", Tool: "Bash", ToolUse: "t1"}, working, ""},
		{"permission is asked", at(working), Said{Event: "PermissionRequest", Tool: "Bash", ToolUse: "t1"}, waiting, davit.WaitingPermission},
		{"a notification of it", at(working), Said{Event: "Notification", Kind: "permission_prompt"}, waiting, davit.WaitingPermission},
		{"a notification of what is known", permission, Said{Event: "Notification", Kind: "permission_prompt"}, waiting, davit.WaitingPermission},
		{"a notification of idleness", at(done), Said{Event: "Notification", Kind: "idle_prompt"}, done, ""},
		{"a sibling's end leaves the question", permission, Said{Event: "PostToolUse", Tool: "Read", ToolUse: "t2"}, waiting, davit.WaitingPermission},
		{"a sibling without ids leaves it", at(waiting, waits(davit.WaitingPermission, "Bash", "")), Said{Event: "PostToolUse", Tool: "Read"}, waiting, davit.WaitingPermission},
		{"its own end clears it", permission, Said{Event: "PostToolUse", Tool: "Bash", ToolUse: "t1"}, working, ""},
		{"its own failure clears it", permission, Said{Event: "PostToolUseFailure", Tool: "Bash", ToolUse: "t1"}, working, ""},
		{"a tool that begins much later clears it", permission, Said{Event: "PreToolUse", Tool: "Read", ToolUse: "t3"}, working, ""},
		{"a sibling that begins at once does not", at(waiting, waits(davit.WaitingPermission, "Bash", "t1"), func(s *State) { s.Since = noon.Add(-100 * time.Millisecond) }),
			Said{Event: "PreToolUse", Tool: "Read", ToolUse: "t2"}, waiting, davit.WaitingPermission},
		{"before compacting", at(working), Said{Event: "PreCompact", Kind: "auto"}, working, ""},
		{"after compacting by itself", at(working), Said{Event: "PostCompact", Kind: "auto"}, working, ""},
		{"after compacting on request", at(working), Said{Event: "PostCompact", Kind: "manual"}, done, ""},
		{"the turn ends", at(working), Said{Event: "Stop"}, done, ""},
		{"the turn ends after a question", permission, Said{Event: "Stop"}, done, ""},
		{"it ends twice, seen between", at(idle), Said{Event: "Stop"}, idle, ""},
		{"the turn fails", at(working), Said{Event: "StopFailure"}, done, ""},
		{"the turn is interrupted", at(working), Said{Event: "Interrupt"}, done, ""},
		{"an event that is not in the table", at(working), Said{Event: "ConfigChange"}, working, ""},
		{"a child's tool", at(done), Said{Event: "PreToolUse", Tool: "Bash", Child: "c1"}, done, ""},
		{"a child's end", at(working), Said{Event: "SubagentStop", Child: "c1"}, working, ""},
		{"a child's Stop is not its lead's", at(working), Said{Event: "Stop", Child: "c1"}, working, ""},
		{"a child that needs a person", at(working), Said{Event: "PermissionRequest", Tool: "Bash", ToolUse: "k1", Child: "c1"}, waiting, davit.WaitingPermission},
		{"gemini: a prompt", at(idle), Said{Agent: "gemini", Event: "BeforeAgent"}, working, ""},
		{"gemini: a tool", at(working), Said{Agent: "gemini", Event: "BeforeTool", Tool: "read_file"}, working, ""},
		{"gemini: it asks its user", at(working), Said{Agent: "gemini", Event: "BeforeTool", Tool: "ask_user"}, waiting, davit.WaitingQuestion},
		{"gemini: permission", at(working), Said{Agent: "gemini", Event: "Notification", Kind: "ToolPermission"}, waiting, davit.WaitingPermission},
		{"gemini: the end", at(working), Said{Agent: "gemini", Event: "AfterAgent"}, done, ""},
		{"opencode: works", at(idle), Said{Agent: "opencode", Event: "session.busy"}, working, ""},
		{"opencode: works while it asks", at(waiting, waits(davit.WaitingPermission, "", "")), Said{Agent: "opencode", Event: "session.busy"}, waiting, davit.WaitingPermission},
		{"opencode: asks", at(working), Said{Agent: "opencode", Event: "permission.asked"}, waiting, davit.WaitingPermission},
		{"opencode: is answered", at(waiting, waits(davit.WaitingPermission, "", "")), Said{Agent: "opencode", Event: "permission.replied"}, working, ""},
		{"opencode: a question", at(working), Said{Agent: "opencode", Event: "question.asked"}, waiting, davit.WaitingQuestion},
		{"opencode: the end", at(working), Said{Agent: "opencode", Event: "session.idle"}, done, ""},
		{"opencode: an error", at(working), Said{Agent: "opencode", Event: "session.error"}, done, ""},
		{"codex: permission", at(working), Said{Agent: "codex", Event: "PermissionRequest", Tool: "shell"}, waiting, davit.WaitingPermission},
		{"codex: the end", at(working), Said{Agent: "codex", Event: "Stop"}, done, ""},
		{"an agent inside of a turn ends", at(working, session), Said{Event: "Stop", Session: "s2"}, working, ""},
		{"an agent inside of a turn begins", at(working, session), Said{Event: "SessionStart", Kind: "startup", Session: "s2"}, working, ""},
		{"another conversation is resumed", at(working, session), Said{Event: "SessionStart", Kind: "resume", Session: "s2"}, idle, ""},
		{"another conversation between turns", at(done, session), Said{Event: "UserPromptSubmit", Session: "s2"}, working, ""},
		{"a hook overrules a guess", at(idle, from(davit.StatusFromTitle)), Said{Event: "UserPromptSubmit"}, working, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.said.Agent == "" {
				tc.said.Agent = "claude"
			}
			got := Hook(tc.from, tc.said, noon)
			if got.Status != tc.want || got.Waiting != tc.for_ {
				t.Fatalf("%s: %s (%s), want %s (%s)", tc.said.Event, got.Status, got.Waiting, tc.want, tc.for_)
			}
			same := tc.from.Status == got.Status && tc.from.Waiting == got.Waiting
			if same != got.Since.Equal(tc.from.Since) {
				t.Errorf("since %s: a status that stays keeps its time, one that changes has a new one", got.Since)
			}
			if !same && got.Unread != (got.Status == davit.AgentDone || got.Status == davit.AgentWaiting) {
				t.Errorf("unread is %v in %s", got.Unread, got.Status)
			}
		})
	}
}

// TestChildren: rows of child agents live and die without their lead (spec session S3).
func TestChildren(t *testing.T) {
	s := at(davit.AgentWorking)
	say := func(event, tool, use, child string, later time.Duration) {
		s = Hook(s, Said{Agent: "claude", Event: event, Tool: tool, ToolUse: use, Child: child, ChildType: "Explore"}, noon.Add(later))
	}
	say("PreToolUse", "Read", "a", "c1", 0)
	say("PreToolUse", "Read", "b", "c2", 0)
	if len(s.Children) != 2 || s.Children[0].ID != "c1" || s.Children[0].Type != "Explore" || s.Tool != "" {
		t.Fatalf("children %+v, tool %q", s.Children, s.Tool)
	}
	say("PermissionRequest", "Bash", "k", "c1", time.Second)
	if s.Status != davit.AgentWaiting || s.Children[1].Status != davit.AgentWaiting {
		t.Fatalf("%s %+v: a child that needs a person is told", s.Status, s.Children)
	}
	say("PostToolUse", "Read", "b", "c2", 2*time.Second)
	if s.Status != davit.AgentWaiting {
		t.Fatal("another child's tool cleared the question")
	}
	say("PostToolUse", "Bash", "k", "c1", 3*time.Second)
	if s.Status != davit.AgentWorking {
		t.Fatal("the answered question of a child stays open")
	}
	say("SubagentStop", "", "", "c1", 4*time.Second)
	if len(s.Children) != 1 || s.Children[0].ID != "c2" {
		t.Fatalf("children %+v", s.Children)
	}
	for i := range 50 {
		say("PreToolUse", "Read", "x", strings.Repeat("n", i+1), 5*time.Second)
	}
	if len(s.Children) != MaxChildren {
		t.Fatalf("%d children are kept", len(s.Children))
	}
	say("Stop", "", "", "", 6*time.Second)
	if s.Status != davit.AgentDone || len(s.Children) != 0 {
		t.Fatalf("%s with %d children", s.Status, len(s.Children))
	}
}

// TestGuesses: what the terminal tells where no hook does, and what it may say against one
// (spec session S3: signal, then title, then screen).
func TestGuesses(t *testing.T) {
	const working, waiting, done, idle = davit.AgentWorking, davit.AgentWaiting, davit.AgentDone, davit.AgentIdle
	title := from(davit.StatusFromTitle)
	signal := func(told davit.AgentStatus) func(*State) {
		return func(s *State) { s.Memory.Signal, s.Source = told, davit.StatusFromSignal }
	}
	for _, tc := range []struct {
		name   string
		from   State
		look   Look
		want   davit.AgentStatus
		source davit.StatusSource
	}{
		{"a title works", at(idle, title), Look{Title: working}, working, davit.StatusFromTitle},
		{"a title's end of a turn", at(working, title), Look{Title: idle}, done, davit.StatusFromTitle},
		{"a title that was idle stays", at(idle, title), Look{Title: idle}, idle, davit.StatusFromTitle},
		{"done stays done", at(done, title), Look{Title: idle}, done, davit.StatusFromTitle},
		{"the first composer", at(davit.AgentStarting, from(davit.StatusFromProcess)), Look{Ready: true}, idle, davit.StatusFromScreen},
		{"a start that prints is no work", at(davit.AgentStarting, from(davit.StatusFromProcess)), Look{Moving: true}, davit.AgentStarting, davit.StatusFromProcess},
		{"a dialog beats an idle title", at(working, title), Look{Title: idle, Dialog: "permission"}, waiting, davit.StatusFromScreen},
		{"the dialog is gone", at(waiting, from(davit.StatusFromScreen)), Look{Title: working}, working, davit.StatusFromTitle},
		{"a signal beats a title", at(working, signal(working)), Look{Title: idle}, working, davit.StatusFromSignal},
		{"a dialog while the signal works", at(working, signal(working)), Look{Dialog: "permission"}, waiting, davit.StatusFromScreen},
		{"numbers on the screen of one that says it is idle", at(idle, signal(idle)), Look{Dialog: "permission"}, idle, davit.StatusFromSignal},
		{"moving", at(idle, from(davit.StatusFromScreen)), Look{Moving: true}, working, davit.StatusFromScreen},
		{"nothing is told", at(working, title), Look{}, working, davit.StatusFromTitle},
		{"a title does not overrule a hook's done", at(done), Look{Title: working}, done, davit.StatusFromHook},
		{"nor its question", at(waiting, waits(davit.WaitingPermission, "Bash", "t1")), Look{Title: working}, waiting, davit.StatusFromHook},
		{"nor its work, at once", at(working), Look{Title: idle}, working, davit.StatusFromHook},
		{"a restored hook's word stands as well", at(waiting, func(s *State) { s.Unconfirmed = true }), Look{Title: idle}, waiting, davit.StatusFromHook},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Screen(tc.from, tc.look, noon)
			if got.Status != tc.want || got.Source != tc.source {
				t.Fatalf("%s by %s, want %s by %s", got.Status, got.Source, tc.want, tc.source)
			}
		})
	}
	if got := Signal(at(idle, title), waiting, noon); got.Status != waiting || got.Waiting != davit.WaitingInput || got.Source != davit.StatusFromSignal {
		t.Errorf("a signal to wait gives %+v", got.AgentState)
	}
}

// TestInterrupted: no hook runs when the user interrupts a turn; the terminal, idle for a
// while, tells (spec session S3, the one say of a title).
func TestInterrupted(t *testing.T) {
	working := at(davit.AgentWorking)
	s := Screen(working, Look{Title: davit.AgentIdle}, noon)
	if s = Tick(s, noon.Add(DoubtLimit-time.Millisecond)); s.Status != davit.AgentWorking {
		t.Fatal("it was believed at once")
	}
	if s = Tick(s, noon.Add(DoubtLimit)); s.Status != davit.AgentDone || !s.Interrupted {
		t.Fatalf("%s, interrupted %v", s.Status, s.Interrupted)
	}
	s = Screen(working, Look{Title: davit.AgentIdle}, noon)
	s = Hook(s, Said{Agent: "claude", Event: "PreToolUse", Tool: "Read"}, noon.Add(time.Second))
	if s = Tick(s, noon.Add(DoubtLimit+time.Second)); s.Status != davit.AgentWorking {
		t.Fatal("a hook after it does not count")
	}
	asked := at(davit.AgentWaiting, waits(davit.WaitingPermission, "Bash", "t1"))
	s = Screen(asked, Look{Title: davit.AgentIdle, Dialog: "permission"}, noon)
	if s = Tick(s, noon.Add(time.Hour)); s.Status != davit.AgentWaiting {
		t.Fatalf("%s: a question that stands is none that was dropped", s.Status)
	}
	s = Screen(asked, Look{Title: davit.AgentIdle, Ready: true}, noon)
	if s = Tick(s, noon.Add(DoubtLimit)); s.Status != davit.AgentDone {
		t.Fatalf("%s although the composer is back", s.Status)
	}
}

// TestDecay: a status that nothing confirms for its own limit is unknown, not working for
// ever (spec session S3).
func TestDecay(t *testing.T) {
	restored := func(s *State) { s.Unconfirmed = true }
	for _, tc := range []struct {
		name  string
		from  State
		limit time.Duration // 0: it stays
	}{
		{"working by a hook", at(davit.AgentWorking), WorkLimit},
		{"working by a signal", at(davit.AgentWorking, from(davit.StatusFromSignal)), WorkLimit},
		{"working by a title", at(davit.AgentWorking, from(davit.StatusFromTitle)), GuessLimit},
		{"working by the screen", at(davit.AgentWorking, from(davit.StatusFromScreen)), GuessLimit},
		{"starting", at(davit.AgentStarting, from(davit.StatusFromProcess)), StartLimit},
		{"restored as working", at(davit.AgentWorking, restored), RestoredLimit},
		{"restored as waiting", at(davit.AgentWaiting, restored), 0},
		{"waiting", at(davit.AgentWaiting), 0},
		{"done", at(davit.AgentDone), 0},
		{"idle", at(davit.AgentIdle), 0},
		{"exited", at(davit.AgentExited), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.from.Memory.Confirmed = noon
			before, after := noon.Add(tc.limit-time.Millisecond), noon.Add(tc.limit)
			if tc.limit == 0 {
				after, before = noon.Add(30*24*time.Hour), noon
			}
			if got := Tick(tc.from, before); got.Status != tc.from.Status {
				t.Errorf("%s before its limit", got.Status)
			}
			got := Tick(tc.from, after)
			if (got.Status == davit.AgentUnknown) != (tc.limit > 0) {
				t.Errorf("%s after its limit", got.Status)
			}
			if !got.Since.Equal(tc.from.Since) || got.Unread != tc.from.Unread {
				t.Error("not knowing is no transition")
			}
		})
	}
	s := at(davit.AgentWorking, from(davit.StatusFromTitle))
	s = Alive(s, noon)
	if got := Tick(s, noon.Add(GuessLimit-time.Second)); got.Status != davit.AgentWorking {
		t.Error("an agent that prints is not believed to work")
	}
}

// TestRestored: a restore is not a transition, and what may have changed is unconfirmed
// until something speaks (spec session S3).
func TestRestored(t *testing.T) {
	for _, status := range []davit.AgentStatus{davit.AgentStarting, davit.AgentWorking, davit.AgentWaiting, davit.AgentDone, davit.AgentIdle, davit.AgentExited} {
		was := at(status, func(s *State) { s.Unread = true })
		got := Restored(was.AgentState, noon)
		unsure := status == davit.AgentStarting || status == davit.AgentWorking || status == davit.AgentWaiting
		if got.Status != status || !got.Since.Equal(was.Since) || !got.Unread || got.Unconfirmed != unsure {
			t.Errorf("%s is restored as %+v", status, got.AgentState)
		}
	}
	sure := Screen(Restored(at(davit.AgentWorking).AgentState, noon), Look{Title: davit.AgentWorking}, noon)
	ended := Tick(Screen(Restored(at(davit.AgentWorking).AgentState, noon), Look{Title: davit.AgentIdle}, noon), noon.Add(DoubtLimit))
	if sure.Unconfirmed || ended.Status != davit.AgentDone || ended.Interrupted {
		t.Errorf("a title tells of a restored turn: %+v, %+v", sure.AgentState, ended.AgentState)
	}
	got := Hook(Restored(at(davit.AgentWorking).AgentState, noon), Said{Agent: "claude", Event: "PostToolUse", Tool: "Read"}, noon)
	if got.Unconfirmed || !got.Since.Equal(noon.Add(-time.Minute)) {
		t.Errorf("a hook confirms, and changes no time: %+v", got.AgentState)
	}
	if old := Restored(at(davit.AgentWaiting).AgentState, noon.Add(RestoreFor)); old.Status != davit.AgentUnknown || old.Unread {
		t.Errorf("after a week %+v is still believed", old.AgentState)
	}
}

// TestBounds: what a report says is cut to its bounds (spec session S3).
func TestBounds(t *testing.T) {
	long := strings.Repeat("ä", 20_000)
	got := Said{Tool: long, ToolUse: long, Input: "a\nb " + long, Message: long, ChildType: long, Session: long}.Bounded()
	for name, field := range map[string]struct {
		text string
		most int
	}{"tool": {got.Tool, MaxName}, "id": {got.ToolUse, MaxID}, "input": {got.Input, MaxInput}, "message": {got.Message, MaxMessage}, "type": {got.ChildType, MaxType}, "session": {got.Session, MaxID}} {
		if n := len([]rune(field.text)); n != field.most || !strings.HasSuffix(field.text, "…") {
			t.Errorf("%s has %d characters", name, n)
		}
	}
	if !strings.HasPrefix(got.Input, "a b ää") {
		t.Errorf("input is not one line: %q", got.Input[:10])
	}
}

// TestRead takes reports from what agents give their hooks.
func TestRead(t *testing.T) {
	for _, tc := range []struct {
		agent, event, payload string
		want                  Said
	}{
		{"claude", "PreToolUse", `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"go test ./...","description":"x"}}`,
			Said{Agent: "claude", Event: "PreToolUse", Session: "s1", Tool: "Bash", ToolUse: "toolu_1", Input: "go test ./..."}},
		{"claude", "PreToolUse", `{"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which colour?"}]}}`,
			Said{Agent: "claude", Event: "PreToolUse", Tool: "AskUserQuestion", Message: "Which colour?"}},
		{"claude", "Stop", `{"session_id":"s1","last_assistant_message":"All done."}`, Said{Agent: "claude", Event: "Stop", Session: "s1", Message: "All done."}},
		{"claude", "Notification", `{"notification_type":"permission_prompt","message":"needs you"}`, Said{Agent: "claude", Event: "Notification", Kind: "permission_prompt", Message: "needs you"}},
		{"codex", "PermissionRequest", `{"tool_name":"shell","tool_input":{"command":["rm","-r","x"]}}`, Said{Agent: "codex", Event: "PermissionRequest", Tool: "shell", Input: "rm -r x"}},
		{"gemini", "Notification", `{"notification_type":"ToolPermission","message":"ok?","details":{"tool_name":"write_file"}}`,
			Said{Agent: "gemini", Event: "Notification", Kind: "ToolPermission", Message: "ok?", Tool: "write_file"}},
		{"claude", "", `{"hook_event_name":"Stop","agent_id":"c1","agent_type":"Explore"}`, Said{Agent: "claude", Event: "Stop", Child: "c1", ChildType: "Explore"}},
		{"claude", "UserPromptSubmit", `{"prompt":"a secret of mine"}`, Said{Agent: "claude", Event: "UserPromptSubmit"}},
		{"claude", "Stop", `{"tool_input": 7, "session_id": ["odd"]`, Said{Agent: "claude", Event: "Stop"}},
	} {
		if got := Read(tc.agent, tc.event, []byte(tc.payload)); got != tc.want {
			t.Errorf("%s\n got %+v\nwant %+v", tc.payload, got, tc.want)
		}
	}
}

// FuzzHook: whatever comes, the state stays within its bounds and its words.
func FuzzHook(f *testing.F) {
	f.Add("claude", "PreToolUse", []byte(`{"tool_name":"Bash","agent_id":"x"}`), "Stop")
	f.Add("gemini", "Notification", []byte(`{"notification_type":"ToolPermission"}`), "AfterAgent")
	f.Fuzz(func(t *testing.T, agent, event string, data []byte, then string) {
		s := Began("claude", noon)
		for _, e := range []string{event, then, event} {
			s = Hook(s, Read(agent, e, data), noon)
			if order := len([]rune(s.Input)); order > MaxInput || len([]rune(s.Message)) > MaxMessage || len(s.Children) > MaxChildren {
				t.Fatalf("%+v", s)
			}
			if (s.Status == davit.AgentWaiting) != (s.Waiting != "") {
				t.Fatalf("%s waits for %q", s.Status, s.Waiting)
			}
		}
	})
}
