package session_test

import (
	"strings"
	"sync"
	"testing"

	"davit"
	"davit/internal/session"
	"davit/internal/testenv"
)

// A chat from its start over a message to its stop: the journal has what was said, the pane
// and the list know of it.
func TestStartSendStop(t *testing.T) { // spec session S1.1, S1.2, S1.5
	t.Parallel()
	r := begin(t, "work=100ms")
	v := r.startChat(t)
	if v.Status != davit.AgentIdle || v.Resume == "" || v.Fence != 1 || len(v.Options) == 0 {
		t.Fatalf("started as %+v", v)
	}
	if p := r.host.State().Panes["p_1"]; p.Status != davit.PaneRunning || p.Pid == 0 {
		t.Errorf("its pane: %+v", p)
	}
	sub := r.send(t, "m1", "hello there\nand more")
	if sub.State != davit.SubmissionPending || sub.Item == "" {
		t.Errorf("sent as %+v", sub)
	}
	if turn := r.untilTurns(t, 1); turn.Reason != "end_turn" {
		t.Errorf("the turn ended as %+v", turn)
	}
	if said := r.said(t, "agent"); len(said) != 1 || !strings.HasPrefix(said[0], "I have read your prompt: 2 lines") {
		t.Errorf("it said %q", said)
	}
	if said := r.said(t, "user"); len(said) != 1 || said[0] != "hello there\nand more" {
		t.Errorf("the user said %q", said)
	}
	v = r.untilStatus(t, davit.AgentDone)
	if v.Title != "hello there" || r.submission(t, "m1").State != davit.SubmissionAccepted {
		t.Errorf("title %q, message %+v", v.Title, r.submission(t, "m1"))
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		p, s := r.host.State().Panes["p_1"], r.host.State().Sessions[chatID]
		return p.Title == "hello there" && s.Status == davit.AgentDone, p.Title + " " + string(s.Status)
	})
	if err := r.service.Stop(t.Context(), mutation("s1", v.Fence)); err != nil {
		t.Fatal(err)
	}
	v = r.get(t)
	if v.Status != davit.AgentResumable || v.Fence <= 2 || v.Fault != nil {
		t.Errorf("stopped as %+v", v)
	}
	if got := r.heard(t, "prompt"); len(got) != 1 || got[0] != "hello there\nand more" {
		t.Errorf("it was told %q", got)
	}
	r.rows(t)
	_, err := r.service.Send(t.Context(), session.Mutation{Session: chatID, Operation: "m2"}, "too late")
	wantCode(t, err, davit.CodeSessionNotRunning)
}

// Every request of ours is a row with an id that is never used again, and its answer is one.
func TestRequestsAreRows(t *testing.T) { // spec session S1.2
	t.Parallel()
	r := begin(t, "work=10ms")
	r.startChat(t)
	for _, op := range []string{"a", "b", "c"} {
		r.send(t, op, op)
	}
	r.untilTurns(t, 3)
	seen := map[string]bool{}
	for _, row := range r.items(t, davit.JournalRequest) {
		q := row.Body.Request
		if q.Direction != "ours" || q.State != "answered" || seen[q.ID] {
			t.Errorf("request %+v", q)
		}
		seen[q.ID] = true
	}
	if len(seen) != 5 { // initialize, session/new, three prompts
		t.Errorf("%d requests", len(seen))
	}
}

// The same operation again gives the first answer and sends nothing; another text under it
// is refused (S1.5). Messages queue while a turn runs, at most 32 (S1.8).
func TestMessagesQueueAndRepeat(t *testing.T) { // spec session S1.5, S1.8
	t.Parallel()
	r := begin(t, "work=20ms")
	r.startChat(t)
	first := r.send(t, "m0", "wait")
	if again := r.send(t, "m0", "wait"); again.ID != first.ID || again.Item != first.Item {
		t.Errorf("again: %+v, first %+v", again, first)
	}
	_, err := r.service.Send(t.Context(), session.Mutation{Session: chatID, Operation: "m0"}, "something else")
	wantCode(t, err, davit.CodeOperationConflict)
	for i := range 32 {
		if sub := r.send(t, "q"+string(rune('A'+i)), "message "+string(rune('A'+i))); sub.State != davit.SubmissionQueued {
			t.Fatalf("%+v", sub)
		}
	}
	if v := r.get(t); v.Queued != 32 || v.Status != davit.AgentWorking {
		t.Errorf("%d wait, %s", v.Queued, v.Status)
	}
	_, err = r.service.Send(t.Context(), session.Mutation{Session: chatID, Operation: "too much"}, "x")
	wantCode(t, err, davit.CodeSessionBusy)
	if _, err := r.service.Cancel(t.Context(), mutation("c", 1)); err != nil {
		t.Fatal(err)
	}
	r.untilTurns(t, 33)
	told := r.heard(t, "prompt")
	if len(told) != 33 || told[0] != "wait" || told[1] != "message A" || told[32] != "message "+string(rune('A'+31)) {
		t.Errorf("it was told %q", told)
	}
	if turns := r.items(t, davit.JournalTurn); turns[0].Body.TurnState.Reason != "cancelled" {
		t.Errorf("the first turn ended as %+v", turns[0].Body.TurnState)
	}
}

// Two clients answer one question: one is heard, the other is told by whom (S1.7).
func TestPermissionIsAnsweredOnce(t *testing.T) { // spec session S1.7
	t.Parallel()
	r := begin(t, "work=10ms")
	r.startChat(t)
	r.send(t, "m1", "write FILE")
	q := r.question(t)
	if v := r.untilStatus(t, davit.AgentWaiting); v.Waiting != davit.WaitingPermission {
		t.Errorf("waits for %q", v.Waiting)
	}
	respond := func(op, by, option string, revision uint64) (davit.JournalRow, error) {
		m := mutation(op, 1)
		m.By = by
		return r.service.Respond(t.Context(), m, q.Item, revision, option)
	}
	_, err := respond("x", "browser", "once", q.Revision+1)
	wantCode(t, err, davit.CodeInvalid)
	_, err = respond("y", "browser", "no such", q.Revision)
	wantCode(t, err, davit.CodeInvalid)
	type result struct {
		row davit.JournalRow
		err error
	}
	results := make([]result, 2)
	var both sync.WaitGroup
	for i, option := range []string{"once", "no"} {
		both.Go(func() { results[i].row, results[i].err = respond(option, "client "+option, option, q.Revision) })
	}
	both.Wait()
	won := 0
	if results[0].err != nil {
		won = 1
	}
	if results[won].err != nil {
		t.Fatal(results[won].err)
	}
	a := results[won].row.Body.Approval
	if a.State != "answered" || a.Choice != []string{"once", "no"}[won] || a.By != "client "+a.Choice {
		t.Errorf("decided as %+v", a)
	}
	e := wantCode(t, results[1-won].err, davit.CodeAlreadyResolved)
	if got, ok := e.Details["approval"].(davit.Approval); !ok || got.Choice != a.Choice || got.By != a.By {
		t.Errorf("the second was told %+v", e.Details)
	}
	if again, err := respond(a.Choice, "client "+a.Choice, a.Choice, q.Revision); err != nil || again.Seq != results[won].row.Seq {
		t.Errorf("a repeat of the first: %+v %v", again, err)
	}
	r.untilTurns(t, 1)
	if told := r.heard(t, "permission"); len(told) != 1 || told[0] != a.Choice {
		t.Errorf("the agent heard %q", told)
	}
}

// A question that is open when the turn is cancelled is cancelled with it (S1.7).
func TestPermissionEndsWithTheTurn(t *testing.T) { // spec session S1.7, S1.8
	t.Parallel()
	r := begin(t, "work=10ms")
	r.startChat(t)
	r.send(t, "m1", "ask")
	q := r.question(t)
	if _, err := r.service.Cancel(t.Context(), mutation("c", 1)); err != nil {
		t.Fatal(err)
	}
	if turn := r.untilTurns(t, 1); turn.Reason != "cancelled" {
		t.Errorf("ended as %+v", turn)
	}
	if a := r.items(t, davit.JournalApproval)[0]; a.Body.Approval.State != "cancelled" {
		t.Errorf("the question is %+v", a.Body.Approval)
	}
	_, err := r.service.Respond(t.Context(), mutation("late", 1), q.Item, q.Revision, "once")
	wantCode(t, err, davit.CodeAlreadyResolved)
	testenv.Eventually(t, patience, func() (bool, string) {
		told := r.heard(t, "permission")
		return len(told) == 1 && told[0] == "cancelled", strings.Join(told, ", ")
	})
}

// A change that was made for a state that is over is refused with the fence of now (S1.6).
func TestStaleFence(t *testing.T) { // spec session S1.6
	t.Parallel()
	r := begin(t, "work=10ms")
	r.startChat(t)
	for name, change := range map[string]func(session.Mutation) error{
		"send":   func(m session.Mutation) error { _, err := r.service.Send(t.Context(), m, "x"); return err },
		"cancel": func(m session.Mutation) error { _, err := r.service.Cancel(t.Context(), m); return err },
		"stop":   func(m session.Mutation) error { return r.service.Stop(t.Context(), m) },
		"resume": func(m session.Mutation) error { _, err := r.service.Resume(t.Context(), m); return err },
		"option": func(m session.Mutation) error { return r.service.SetOption(t.Context(), m, "mode", "auto") },
	} {
		e := wantCode(t, change(mutation(name, 7)), davit.CodeSessionStaleFence)
		if e.Details["fence"] != uint64(1) {
			t.Errorf("%s: details %v", name, e.Details)
		}
	}
	if v := r.get(t); v.Status != davit.AgentIdle || v.Fence != 1 {
		t.Errorf("something was changed: %+v", v)
	}
}

// The draft is kept, the same for everyone; an old revision is told what the draft is now.
func TestDraft(t *testing.T) { // spec session S1.8
	t.Parallel()
	s := newStage(t)
	r := s.run(t, "work=10ms")
	r.startChat(t)
	d, err := r.service.SetDraft(t.Context(), chatID, "half a thou", 0)
	if err != nil || d.Revision != 1 {
		t.Fatal(d, err)
	}
	_, err = r.service.SetDraft(t.Context(), chatID, "another", 0)
	e := wantCode(t, err, davit.CodeInvalid)
	if now, ok := e.Details["draft"].(davit.SessionDraft); !ok || now.Text != "half a thou" {
		t.Errorf("details %v", e.Details)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		v := r.host.State().Sessions[chatID].Draft
		return v == d, v.Text
	})
	r.stop()
	if v := s.run(t, "").get(t); v.Draft != d {
		t.Errorf("after a restart: %+v", v.Draft)
	}
}

// An option is set by the agent; what it does not offer is refused with what it does.
func TestOptions(t *testing.T) { // spec session S2
	t.Parallel()
	r := begin(t, "work=10ms")
	r.addPane(t, "p_1")
	req := r.request()
	req.Options = map[string]string{"mode": "auto", "model": "large"}
	started, err := r.service.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(started.Warning, "model") || strings.Contains(started.Warning, "mode ") {
		t.Errorf("warning %q", started.Warning)
	}
	mode := func() string { return r.get(t).Options[0].Value }
	testenv.Eventually(t, patience, func() (bool, string) { return mode() == "auto", mode() })
	if err := r.service.SetOption(t.Context(), mutation("o", 1), "mode", "ask"); err != nil || mode() != "ask" {
		t.Error(err, mode())
	}
	wantCode(t, r.service.SetOption(t.Context(), mutation("o", 1), "mode", "fast"), davit.CodeInvalid)
	wantCode(t, r.service.SetOption(t.Context(), mutation("o", 1), "colour", "red"), davit.CodeInvalid)
}

// The status tells the truth, and done only when nobody looks (S3).
func TestDoneWhenNobodyLooks(t *testing.T) { // spec session S3
	t.Parallel()
	r := begin(t, "work=10ms")
	r.startChat(t)
	r.send(t, "m1", "one")
	r.untilStatus(t, davit.AgentDone)
	sub, err := r.service.Subscribe(t.Context(), chatID, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.get(t); v.Status != davit.AgentDone { // it is followed, and nobody is there
		t.Errorf("followed and not looked at: %s", v.Status)
	}
	sub.Look(true)
	r.untilStatus(t, davit.AgentIdle)
	since := r.get(t).Since
	r.send(t, "m2", "two")
	r.untilTurns(t, 2)
	if v := r.get(t); v.Status != davit.AgentIdle || !v.Since.After(since) {
		t.Errorf("%s since %s", v.Status, v.Since)
	}
	sub.Look(false)
	r.send(t, "m3", "three")
	r.untilStatus(t, davit.AgentDone)
	sub.Close()
}
