package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/wire"
)

func TestAChatIsFoundByIDPrefixOrTab(t *testing.T) {
	sessions := []davit.Session{{ID: "practice_aa1", Tab: "t_1"}, {ID: "practice_ab2", Tab: "t_2"}, {ID: "practice_ab23", Tab: "t_3"}, {ID: "gone_1"}}
	tabs := []wire.TabSummary{{ID: "t_1", Title: "Login"}, {ID: "t_2", Title: "Twice"}, {ID: "t_3", Title: "Twice"}, {ID: "t_4", Title: "Shell"}, {ID: "t_5", Title: "practice_aa"}}
	for arg, want := range map[string]string{
		"practice_aa1": "practice_aa1", "practice_a": "agent_session_ambiguous", "practice_aa": "practice_aa1",
		"practice_ab2":  "practice_ab2", // exact, though it begins another
		"practice_ab23": "practice_ab23", "Login": "practice_aa1", "t_1": "practice_aa1", "Twice": "agent_session_ambiguous",
		"Shell": "agent_session_not_found", "": "agent_session_not_found", "gone": "gone_1", "login": "agent_session_not_found",
	} {
		got, err := findSession(sessions, tabs, arg)
		word := string(got.ID)
		if err != nil {
			word = string(davit.CodeOf(err))
		}
		if word != want {
			t.Errorf("%q finds %s, want %s", arg, word, want)
		}
	}
}

func TestAnAnswerIsAnOptionOrAWord(t *testing.T) { // spec session S1.7
	q := func(pairs ...string) davit.Approval {
		a := davit.Approval{Title: "may I"}
		for _, pair := range pairs {
			id, kind, _ := strings.Cut(pair, " ")
			a.Options = append(a.Options, davit.ApprovalOption{ID: id, Name: id, Kind: kind})
		}
		return a
	}
	all := q("a allow_always", "b allow_once", "c reject_once", "d reject_always")
	for _, c := range []struct {
		question   davit.Approval
		word, want string
	}{
		{all, "yes", "b"}, {all, "Always", "a"}, {all, "no", "c"}, {all, "d", "d"}, {all, "perhaps", ""}, {all, "", ""},
		{q("x allow_always", "y reject_always"), "yes", "x"}, {q("x allow_always", "y reject_always"), "no", "y"},
		{q("x allow_once"), "always", ""}, // not more than what is offered
		{q("x allow_once"), "no", ""},
		{q("yes reject_once", "no allow_once"), "yes", "yes"}, // an id comes first
		{q(), "yes", ""},
	} {
		got, err := pickOption(c.question, c.word)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q of %+v: %q, %v; want %q", c.word, c.question.Options, got, err, c.want)
		}
	}
}

func TestTheQuestionThatIsMeant(t *testing.T) {
	ask := func(item string) davit.JournalRow {
		return davit.JournalRow{Item: item, Body: davit.JournalBody{Approval: &davit.Approval{Title: item, State: "open"}}}
	}
	for _, c := range []struct {
		open       []davit.JournalRow
		item, want string
	}{
		{nil, "", "already_resolved"}, {nil, "q1", "already_resolved"},
		{[]davit.JournalRow{ask("q1")}, "", "q1"}, {[]davit.JournalRow{ask("q1")}, "q1", "q1"}, {[]davit.JournalRow{ask("q1")}, "q2", "not_found"},
		{[]davit.JournalRow{ask("q1"), ask("q2")}, "", "agent_session_ambiguous"}, {[]davit.JournalRow{ask("q1"), ask("q2")}, "q2", "q2"},
	} {
		row, err := pickQuestion(davit.Session{ID: "s"}, c.open, c.item)
		got := row.Item
		if err != nil {
			got = string(davit.CodeOf(err))
		}
		if got != c.want {
			t.Errorf("%d open, %q: %s, want %s", len(c.open), c.item, got, c.want)
		}
	}
}

// rows makes the rows of a journal from bodies, numbered.
func rows(list ...davit.JournalRow) []davit.JournalRow {
	for i := range list {
		list[i].Session, list[i].Epoch, list[i].Seq = "practice_1", 1, uint64(i+1)
	}
	return list
}

func said(item, turn, role string, at int, text string) davit.JournalRow {
	return davit.JournalRow{Kind: davit.JournalMessage, Item: item, Turn: turn, Body: davit.JournalBody{Role: role, At: at, Text: text}}
}

func turn(id, state, reason string) davit.JournalRow {
	return davit.JournalRow{Kind: davit.JournalTurn, Item: "turn-" + id, Turn: id, Body: davit.JournalBody{TurnState: &davit.TurnState{State: state, Reason: reason}}}
}

func submission(id string, state davit.SubmissionState) davit.JournalRow {
	return davit.JournalRow{Kind: davit.JournalSubmission, Item: "sub-" + id, Body: davit.JournalBody{Submission: &davit.Submission{ID: id, State: state, Text: "x", Reason: "why"}}}
}

func tool(state string) davit.JournalRow {
	return davit.JournalRow{Kind: davit.JournalTool, Item: "tool", Turn: "1", Body: davit.JournalBody{Tool: &davit.ToolCall{Title: "Write\x1b[31m x", Kind: "edit", State: state}}}
}

func approval(state, choice string) davit.JournalRow {
	return davit.JournalRow{Kind: davit.JournalApproval, Item: "ask", Turn: "1", Body: davit.JournalBody{Approval: &davit.Approval{
		Title: "Write x", State: state, Choice: choice, Options: []davit.ApprovalOption{{ID: "once", Name: "Allow once", Kind: "allow_once"}},
	}}}
}

func conversation() []davit.JournalRow {
	return rows(
		said("m1", "", "user", 0, "hello"), submission("op", davit.SubmissionPending), turn("1", "running", ""),
		said("m2", "1", "agent", 0, "Grüße "), said("m2", "1", "agent", 6, "👋 and"), said("m2", "1", "agent", 6, "👋 and"),
		tool("pending"), approval("open", ""), approval("answered", "once"), tool("running"), tool("done"),
		said("m2", "1", "agent", 12, " more"), said("m3", "1", "agent", 0, "end\x1b]0;evil\x07"),
		turn("1", "ended", "refusal"), submission("op", davit.SubmissionAccepted),
	)
}

// TestAChatPrintsWhileItComes: what was printed is not printed again, also when a row comes
// twice; an agent's escape sequences never reach the terminal.
func TestAChatPrintsWhileItComes(t *testing.T) {
	var out bytes.Buffer
	p := newChatPrinter(&out, davit.Session{ID: "practice_1", AgentName: "Practice agent"})
	for _, row := range conversation() {
		p.row(row)
		if row.Kind != davit.JournalTurn {
			p.row(row) // applying a row twice is harmless
		}
	}
	p.endLine()
	want := `you: hello
Practice agent: Grüße 👋 and
* Write[31m x (edit): pending
? Write x
    Allow once: davit session answer practice_1 ask once
? Write x: Allow once
* Write[31m x (edit): running
* Write[31m x (edit): done
Practice agent: … more
Practice agent: end]0;evil
- the turn ended: refusal
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A message that waited stands where its turn begins, not in the turn that it waited for.
func TestAQueuedMessageStandsWhereItsTurnBegins(t *testing.T) { // spec session S1.8
	waits := func(state davit.SubmissionState) davit.JournalRow {
		row := submission("op2", state)
		row.Body.Submission.Item = "m2"
		return row
	}
	var out bytes.Buffer
	p := newChatPrinter(&out, davit.Session{ID: "practice_1", AgentName: "Practice agent"})
	for _, row := range rows(
		said("m1", "", "user", 0, "one"), turn("1", "running", ""), said("m2", "", "user", 0, "two"), waits(davit.SubmissionQueued),
		said("a1", "1", "agent", 0, "first"), turn("1", "ended", "refusal"),
		waits(davit.SubmissionPending), turn("2", "running", ""), said("a2", "2", "agent", 0, "second"), waits(davit.SubmissionAccepted), turn("2", "ended", "end_turn"),
	) {
		p.log.apply(row)
	}
	for _, it := range p.log.items {
		p.item(it)
	}
	p.endLine()
	if want := "you: one\nPractice agent: first\n- the turn ended: refusal\nyou: two\nPractice agent: second\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// What happened to an agent is told in words for people, with what it printed.
func TestWhatHappenedToAnAgent(t *testing.T) { // spec session S1.10
	for _, c := range []struct {
		body davit.JournalBody
		want string
	}{
		{davit.JournalBody{Lifecycle: &davit.Lifecycle{Event: "created"}}, ""},
		{davit.JournalBody{Lifecycle: &davit.Lifecycle{Event: "loaded"}}, "- the agent was started anew and goes on with this chat"},
		{davit.JournalBody{Text: "Bad ended with exit status 1", Lifecycle: &davit.Lifecycle{Event: "exited", Exit: &davit.Exit{Code: 1}, Stderr: "a\n\nb\x1b[31m\n"}},
			"- Bad ended with exit status 1 (exit 1)\n    | a\n    | b[31m"},
		{davit.JournalBody{Text: "The agent printed a line.", Blob: &davit.Blob{Head: "oops", Size: 9000, Mime: "text/plain"}, Lifecycle: &davit.Lifecycle{Event: "garbage"}},
			"- The agent printed a line.\n    | oops\n    | … (9000 bytes in all)"},
		{davit.JournalBody{Lifecycle: &davit.Lifecycle{Event: "frobbed"}}, "- frobbed"},
	} {
		if got := lifecycleWords(c.body); got != c.want {
			t.Errorf("%+v: %q, want %q", c.body.Lifecycle, got, c.want)
		}
	}
}

// awaitedRow feeds the rows until the turn has ended.
func TestAReplyIsTheTurnOfItsMessage(t *testing.T) {
	reply := func(text, id string) davit.JournalRow { return said("a"+id, id, "agent", 0, text) }
	pending, accepted, queued := davit.SubmissionPending, davit.SubmissionAccepted, davit.SubmissionQueued
	for name, c := range map[string]struct {
		status davit.AgentStatus
		rows   []davit.JournalRow
		reply  string // what it says, or the state of the message when no turn is its
	}{
		"at once":               {davit.AgentIdle, rows(submission("op", pending), turn("1", "running", ""), reply("mine", "1"), turn("1", "ended", "end_turn")), "mine"},
		"the turn's row first":  {davit.AgentIdle, rows(turn("1", "running", ""), submission("op", accepted), reply("mine", "1"), turn("1", "ended", "end_turn")), "mine"},
		"queued, seen":          {davit.AgentIdle, rows(turn("1", "running", ""), submission("op", queued), reply("no", "1"), turn("1", "ended", "end_turn"), submission("op", pending), turn("2", "running", ""), reply("mine", "2"), turn("2", "ended", "end_turn")), "mine"},
		"queued behind unseen":  {davit.AgentWorking, rows(submission("op", queued), reply("no", "0"), turn("0", "ended", "end_turn"), submission("op", pending), turn("2", "running", ""), reply("mine", "2"), turn("2", "ended", "end_turn")), "mine"},
		"behind another's":      {davit.AgentWorking, rows(submission("other", queued), submission("op", queued), turn("0", "ended", ""), submission("other", pending), turn("1", "running", ""), reply("no", "1"), turn("1", "ended", ""), submission("op", pending), turn("2", "running", ""), reply("mine", "2"), turn("2", "ended", "")), "mine"},
		"rejected":              {davit.AgentIdle, rows(submission("op", pending), submission("op", davit.SubmissionRejected), turn("1", "running", "")), "rejected"},
		"unknown":               {davit.AgentIdle, rows(submission("op", davit.SubmissionUnknown), turn("1", "running", "")), "unknown"},
		"unknown in mid-turn":   {davit.AgentIdle, rows(submission("op", pending), turn("1", "running", ""), reply("mine", "1"), submission("op", davit.SubmissionUnknown), turn("1", "ended", "lost")), "mine"},
		"others' turns between": {davit.AgentIdle, rows(submission("op", pending), turn("1", "running", ""), reply("mine", "1"), turn("0", "ended", ""), turn("1", "ended", "")), "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &awaited{submission: davit.Submission{ID: "op", State: queued}, log: newChatLog()}
			if c.status == davit.AgentWorking {
				r.turn = "?"
			}
			ended := false
			for i, row := range c.rows {
				if ended = r.row(row); ended {
					if i != len(c.rows)-1 && c.reply == "mine" {
						t.Fatalf("it ended at row %d", i+1)
					}
					break
				}
			}
			got := r.log.said(r.mine)
			if r.mine == "" {
				got = string(r.submission.State)
			}
			if !ended || got != c.reply {
				t.Errorf("ended %v with %q, want %q", ended, got, c.reply)
			}
		})
	}
}

func TestExportIsMarkdown(t *testing.T) { // spec session S2
	log := newChatLog()
	list := append(conversation(), davit.JournalRow{
		Kind: davit.JournalDiff, Item: "d", Body: davit.JournalBody{Diff: &davit.FileDiff{Path: "a.md", Added: 2, New: davit.Blob{Head: "cut", Digest: "d1"}}},
	}, davit.JournalRow{Kind: davit.JournalThought, Item: "th", Body: davit.JournalBody{Text: "hm"}})
	var items []davit.JournalRow
	for _, row := range list {
		log.apply(row)
	}
	for _, it := range log.items {
		items = append(items, it.whole())
	}
	m := markdown{
		session: davit.Session{ID: "practice_1", AgentName: "Practice agent", Directory: "/d", Title: "hello", Created: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)},
		payload: func(digest string) (string, error) { return fmt.Sprintf("whole of %s\n```\ncode\n```\n", digest), nil },
	}
	got, err := m.render(items)
	if err != nil {
		t.Fatal(err)
	}
	want := "# hello\n\nPractice agent, 2026-11-30 in `/d`\n\n## You\n\nhello\n\n## Practice agent\n\nGrüße 👋 and more\n" +
		"\n**Tool** Write[31m x (edit): done\n\n> ? Write x: Allow once\n\n## Practice agent\n\nend]0;evil\n" +
		"\n> - the turn ended: refusal\n" +
		"\n**Change** `a.md` (+2 -0)\n\n````\nwhole of d1\n```\ncode\n```\n````\n" +
		"\n<details><summary>Thought</summary>\n\nhm\n\n</details>\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
