package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"davit"
)

func chatRow(id string) ChatRow {
	return ChatRow{
		Session: davit.Session{
			ID: davit.SessionID(id), Agent: "practice", AgentName: "Practice agent", Driver: "acp", Tab: "t_1", Pane: "p_1",
			Directory: "/d", Status: davit.AgentIdle, Source: "protocol", Since: day, Created: day, Fence: 1,
			Draft: davit.SessionDraft{Text: "not yet sent", Revision: 3}, Resume: "their-id",
		},
		Spec:    ChatSpec{Agent: "practice", Directory: "/d", Options: map[string]string{"model": "m"}, Operation: "op"},
		NextRPC: 1, Keeper: "c_1-1", Spawn: 1,
	}
}

func journalRow(id string, epoch, seq uint64) davit.JournalRow {
	return davit.JournalRow{
		Session: davit.SessionID(id), Epoch: epoch, Seq: seq, Fence: 1, Time: day, Kind: davit.JournalTool,
		Item: fmt.Sprintf("i%d", seq), Revision: 1, Turn: "turn1",
		Body: davit.JournalBody{Tool: &davit.ToolCall{ID: "x", Title: "ls", Kind: "execute", State: "done"}},
	}
}

func piece(id string, seq uint64, item string, at int, text string) davit.JournalRow {
	row := journalRow(id, 1, seq)
	row.Kind, row.Item, row.Body = davit.JournalMessage, item, davit.JournalBody{Role: "agent", At: at, Text: text}
	return row
}

func payload(text string) PayloadRow {
	sum := sha256.Sum256([]byte(text))
	return PayloadRow{Digest: hex.EncodeToString(sum[:]), Mime: "text/plain", Data: []byte(text)}
}

func mustAppend(t testing.TB, s *Store, b JournalBatch) {
	t.Helper()
	if err := s.AppendJournal(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

// refused appends what must not be stored, and sees to it that it left nothing.
func refused(t testing.TB, s *Store, code davit.Code, b JournalBatch) {
	t.Helper()
	before := mustChats(t, s)
	rows := mustJournal(t, s, b.Session)
	if err := s.AppendJournal(context.Background(), b); davit.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	if diff := cmp.Diff(before, mustChats(t, s), cmpopts.EquateErrors()); diff != "" {
		t.Fatalf("what was refused left something: %s", diff)
	}
	if diff := cmp.Diff(rows, mustJournal(t, s, b.Session)); diff != "" {
		t.Fatalf("what was refused left rows: %s", diff)
	}
}

func mustChats(t testing.TB, s *Store) []Chat {
	t.Helper()
	chats, err := s.Chats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return chats
}

func mustJournal(t testing.TB, s *Store, id davit.SessionID) []davit.JournalRow {
	t.Helper()
	rows, err := s.Journal(context.Background(), id, davit.Cursor{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func chatStore(t testing.TB, ids ...string) *Store {
	t.Helper()
	s := fresh(t)
	for _, id := range ids {
		row := chatRow(id)
		mustAppend(t, s, JournalBatch{Session: row.Session.ID, Put: &row})
	}
	return s
}

func TestAChatComesBackWhole(t *testing.T) { // spec session S1.1, S1.2, S1.8
	path := filepath.Join(t.TempDir(), "davit.db")
	s := open(t, path)
	row, other := chatRow("a_1"), chatRow("b_1")
	row.Session.Created, row.NextRPC = day.Add(-time.Hour), 7
	mustAppend(t, s, JournalBatch{Session: "b_1", Put: &other})
	mustAppend(t, s, JournalBatch{
		Session: "a_1", Put: &row,
		Rows:     []davit.JournalRow{journalRow("a_1", 1, 1), journalRow("a_1", 1, 2)},
		Payloads: []PayloadRow{payload("large")},
		Requests: []RPCRow{
			{Direction: "ours", ID: "1", Method: "initialize", Act: "s1", State: "answered", Answer: []byte(`{}`), Asked: day},
			{Direction: "agent", ID: `"q"`, Method: "session/request_permission", Item: "i2", State: "open", Asked: day},
		},
		Submissions: []davit.Submission{
			{ID: "z", State: davit.SubmissionPending, Text: "first", Item: "m1"},
			{ID: "y", State: davit.SubmissionAccepted, Text: "gone", Item: "m2"},
			{ID: "x", State: davit.SubmissionQueued, Text: "second", Item: "m3"},
		},
		Folded:  []FoldRow{{Keeper: "c_1-1", Stream: "stdout", Offset: 99, Skip: 7, Skipping: true}},
		PutActs: []ActRow{{ID: "s1", Pane: "c_1-1", Kind: "spawn", Body: []byte("one"), Created: day.Local()}, {ID: "s0", Pane: "c_1-1", Kind: "input", Body: []byte("two"), Created: day.Local()}},
	})
	s.Close()
	s = open(t, path)
	row.Session.Cursor = davit.Cursor{Epoch: 1, Seq: 2}
	want := []Chat{
		{
			ID: "a_1", Row: row,
			Requests: []RPCRow{{Direction: "agent", ID: `"q"`, Method: "session/request_permission", Item: "i2", State: "open", Asked: day, Spawn: 1}},
			Submissions: []davit.Submission{
				{ID: "z", State: davit.SubmissionPending, Text: "first", Item: "m1"},
				{ID: "x", State: davit.SubmissionQueued, Text: "second", Item: "m3"},
			},
			Folds: []FoldRow{{Keeper: "c_1-1", Stream: "stdout", Offset: 99, Skip: 7, Skipping: true}},
			Acts:  []ActRow{{ID: "s1", Pane: "c_1-1", Kind: "spawn", Body: []byte("one"), Created: day.Local()}, {ID: "s0", Pane: "c_1-1", Kind: "input", Body: []byte("two"), Created: day.Local()}},
		},
		{ID: "b_1", Row: other},
	}
	if diff := cmp.Diff(want, mustChats(t, s)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]davit.JournalRow{journalRow("a_1", 1, 1), journalRow("a_1", 1, 2)}, mustJournal(t, s, "a_1")); diff != "" {
		t.Error(diff)
	}
	if sub, ok, err := s.Submission(t.Context(), "a_1", "y"); err != nil || !ok || sub != (davit.Submission{ID: "y", State: davit.SubmissionAccepted, Text: "gone", Item: "m2"}) {
		t.Error(sub, ok, err)
	}
	if _, ok, err := s.Submission(t.Context(), "b_1", "y"); ok || err != nil {
		t.Error("another chat's message", ok, err)
	}
	if got, ok, err := s.Payload(t.Context(), "a_1", payload("large").Digest); err != nil || !ok || string(got.Data) != "large" || got.Mime != "text/plain" {
		t.Error(got, ok, err)
	}
	if _, ok, err := s.Payload(t.Context(), "b_1", payload("large").Digest); ok || err != nil {
		t.Error("another chat's payload", ok, err)
	}
}

// The tabs' own part of the store neither reads nor deletes what a chat owes.
func TestTabsLeaveAChatsActsAlone(t *testing.T) {
	s := chatStore(t, "a_1")
	act := ActRow{ID: "k1", Pane: "p_1", Kind: "spawn", Body: []byte("x"), Created: day.Local()} // even under a pane's name
	mustAppend(t, s, JournalBatch{Session: "a_1", PutActs: []ActRow{act}})
	mustCommit(t, s, Batch{PutActs: []ActRow{{ID: "k2", Pane: "p_1", Kind: "input", Created: day}}})
	if acts := mustLoad(t, s).Acts; len(acts) != 1 || acts[0].ID != "k2" {
		t.Errorf("the tabs load %+v", acts)
	}
	mustCommit(t, s, Batch{DeletePanes: []davit.PaneID{"p_1"}})
	if diff := cmp.Diff([]ActRow{act}, mustChats(t, s)[0].Acts); diff != "" {
		t.Error(diff)
	}
	refused(t, s, davit.CodeInternal, JournalBatch{Session: "a_1", PutActs: []ActRow{{ID: "k1", Pane: "p_1", Kind: "spawn", Body: []byte("y"), Created: day}}})
	mustAppend(t, s, JournalBatch{Session: "a_1", PutActs: []ActRow{act}}) // the same again
	mustAppend(t, s, JournalBatch{Session: "a_1", DoneActs: []string{"k1"}})
	if acts := mustChats(t, s)[0].Acts; acts != nil {
		t.Error(acts)
	}
}

func TestRowsOutOfPlaceAreRefused(t *testing.T) { // spec session S1.1, S1.4
	s := chatStore(t, "a_1")
	mustAppend(t, s, JournalBatch{Session: "a_1", Rows: []davit.JournalRow{journalRow("a_1", 2, 1), journalRow("a_1", 2, 2)}})
	for name, rows := range map[string][]davit.JournalRow{
		"taken":                 {journalRow("a_1", 2, 2)},
		"a hole":                {journalRow("a_1", 2, 4)},
		"a hole after a good":   {journalRow("a_1", 2, 3), journalRow("a_1", 2, 5)},
		"a double in one":       {journalRow("a_1", 2, 3), journalRow("a_1", 2, 3)},
		"an older epoch":        {journalRow("a_1", 1, 1)},
		"a newer, not at first": {journalRow("a_1", 3, 2)},
		"seq 0":                 {journalRow("a_1", 3, 0)},
		"of another chat":       {journalRow("b_1", 2, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, s, davit.CodeInternal, JournalBatch{Session: "a_1", Rows: rows, PutActs: []ActRow{{ID: "never", Created: day}}})
		})
	}
	refused(t, s, davit.CodeSessionNotFound, JournalBatch{Session: "c_1", Rows: []davit.JournalRow{journalRow("c_1", 1, 1)}})
	mustAppend(t, s, JournalBatch{Session: "a_1", Rows: []davit.JournalRow{journalRow("a_1", 2, 3), journalRow("a_1", 5, 1), journalRow("a_1", 5, 2)}})
	if got := mustChats(t, s)[0].Row.Session.Cursor; got != (davit.Cursor{Epoch: 5, Seq: 2}) {
		t.Error(got)
	}
}

func TestCountersNeverGoBack(t *testing.T) { // spec session S1.1, S1.2, S1.6
	s := chatStore(t, "a_1")
	row := chatRow("a_1")
	row.NextRPC, row.Session.Fence, row.Spawn = 10, 4, 3
	mustAppend(t, s, JournalBatch{Session: "a_1", Put: &row, Folded: []FoldRow{{Keeper: "k", Stream: "stdout", Offset: 50}}})
	for name, change := range map[string]func(*ChatRow){
		"rpc":          func(r *ChatRow) { r.NextRPC = 9 },
		"fence":        func(r *ChatRow) { r.Session.Fence = 3 },
		"spawn":        func(r *ChatRow) { r.Spawn = 2 },
		"another's id": func(r *ChatRow) { r.Session.ID = "b_1" },
	} {
		t.Run(name, func(t *testing.T) {
			row := row
			change(&row)
			refused(t, s, davit.CodeInternal, JournalBatch{Session: "a_1", Put: &row})
		})
	}
	refused(t, s, davit.CodeInternal, JournalBatch{Session: "a_1", Folded: []FoldRow{{Keeper: "k", Stream: "stdout", Offset: 49}}})
	mustAppend(t, s, JournalBatch{Session: "a_1", Folded: []FoldRow{{Keeper: "k", Stream: "stderr", Offset: 1}, {Keeper: "k", Stream: "stdout", Offset: 50}}})
	row.Session.Cursor = davit.Cursor{Epoch: 9, Seq: 9} // the rows say where the journal is
	mustAppend(t, s, JournalBatch{Session: "a_1", Put: &row})
	if got := mustChats(t, s)[0].Row.Session.Cursor; got != (davit.Cursor{}) {
		t.Error(got)
	}
}

func TestAnAnswerIsNeverReplaced(t *testing.T) { // spec session S1.2, S1.7
	s := chatStore(t, "a_1")
	put := func(row RPCRow) JournalBatch { return JournalBatch{Session: "a_1", Requests: []RPCRow{row}} }
	question := RPCRow{Direction: "agent", ID: "5", Method: "session/request_permission", Item: "i1", State: "open", Asked: day}
	answered := question
	answered.State, answered.Answer, answered.Act = "answered", []byte(`"allow"`), "act1"
	mustAppend(t, s, put(question))
	mustAppend(t, s, put(answered))
	mustAppend(t, s, put(answered)) // the same again
	denied := answered
	denied.Answer, denied.Act = []byte(`"reject"`), "act2"
	refused(t, s, davit.CodeInternal, put(denied))
	denied.Asked = time.Time{}
	refused(t, s, davit.CodeInternal, put(denied))
	refused(t, s, davit.CodeInternal, put(question)) // nor opened again
	if open := mustChats(t, s)[0].Requests; open != nil {
		t.Fatal(open)
	}

	// An agent may use an id again: later, and in its next process.
	later := question
	later.Asked = day.Add(time.Second)
	mustAppend(t, s, put(later))
	next := question
	next.Spawn = 2
	mustAppend(t, s, put(next))
	later.Spawn = 1
	if diff := cmp.Diff([]RPCRow{later, next}, mustChats(t, s)[0].Requests); diff != "" {
		t.Fatal(diff)
	}

	// Ours are never used again, in no process and at no time.
	ours := RPCRow{Direction: "ours", ID: "5", Method: "session/prompt", Act: "act3", State: "failed", Answer: []byte(`{}`), Asked: day}
	mustAppend(t, s, put(ours))
	for _, again := range []RPCRow{
		{Direction: "ours", ID: "5", Method: "session/prompt", Act: "act4", State: "open", Asked: day.Add(time.Hour)},
		{Direction: "ours", ID: "5", Method: "session/prompt", Act: "act4", State: "open", Asked: day.Add(time.Hour), Spawn: 2},
		{Direction: "ours", ID: "5", Method: "session/new", Act: "act3", State: "failed", Answer: []byte(`{}`), Asked: day},
	} {
		refused(t, s, davit.CodeInternal, put(again))
	}
}

func TestASubmissionMovesOneWay(t *testing.T) { // spec session S1.5
	legal := map[[2]davit.SubmissionState]bool{}
	states := []davit.SubmissionState{davit.SubmissionQueued, davit.SubmissionPending, davit.SubmissionAccepted, davit.SubmissionRejected, davit.SubmissionUnknown}
	for i, from := range states {
		for j, to := range states {
			legal[[2]davit.SubmissionState{from, to}] = i == j || (i < 2 && j > i)
		}
	}
	s := chatStore(t, "a_1")
	for move, ok := range legal {
		sub := davit.Submission{ID: string(move[0] + move[1]), State: move[0], Text: "hello", Item: "m"}
		mustAppend(t, s, JournalBatch{Session: "a_1", Submissions: []davit.Submission{sub}})
		sub.State = move[1]
		b := JournalBatch{Session: "a_1", Submissions: []davit.Submission{sub}}
		if !ok {
			refused(t, s, davit.CodeInternal, b)
			sub.State = move[0]
		} else {
			mustAppend(t, s, b)
		}
		if got, _, err := s.Submission(t.Context(), "a_1", sub.ID); err != nil || got != sub {
			t.Errorf("%v: %+v, %v", move, got, err)
		}
		sub.Text = "another"
		refused(t, s, davit.CodeOperationConflict, JournalBatch{Session: "a_1", Submissions: []davit.Submission{sub}})
	}
}

func TestPayloadsAreStoredOnce(t *testing.T) { // spec session S1.4
	s := chatStore(t, "a_1")
	for range 3 {
		mustAppend(t, s, JournalBatch{Session: "a_1", Payloads: []PayloadRow{payload("x"), payload("x"), payload("")}})
	}
	var n int
	if err := s.readDB.QueryRow(`SELECT count(*) FROM payloads`).Scan(&n); err != nil || n != 2 {
		t.Error(n, err)
	}
	wrong := payload("x")
	wrong.Data = []byte("y")
	refused(t, s, davit.CodeInternal, JournalBatch{Session: "a_1", Payloads: []PayloadRow{wrong}})
}

func TestPiecesMakeTheText(t *testing.T) { // davit.JournalRow: text from At on, in UTF-16
	for name, c := range map[string]struct {
		want   string
		pieces []davit.JournalRow
	}{
		"in order":             {"Grüße 👋 an alle", []davit.JournalRow{piece("a_1", 1, "m", 0, "Grüße "), piece("a_1", 2, "m", 6, "👋"), piece("a_1", 3, "m", 8, " an alle")}},
		"twice":                {"ab👋c", []davit.JournalRow{piece("a_1", 1, "m", 0, "ab"), piece("a_1", 2, "m", 2, "👋"), piece("a_1", 3, "m", 2, "👋"), piece("a_1", 4, "m", 4, "c")}},
		"anew":                 {"new", []davit.JournalRow{piece("a_1", 1, "m", 0, "something old"), piece("a_1", 2, "m", 0, "new")}},
		"from the middle":      {"👋👋z", []davit.JournalRow{piece("a_1", 1, "m", 0, "👋👋👋"), piece("a_1", 2, "m", 4, "z")}},
		"inside of a surrogat": {"👋z", []davit.JournalRow{piece("a_1", 1, "m", 0, "👋👋"), piece("a_1", 2, "m", 3, "z")}},
		"beyond the end":       {"ab", []davit.JournalRow{piece("a_1", 1, "m", 0, "a"), piece("a_1", 2, "m", 9, "b")}},
		"below zero":           {"b", []davit.JournalRow{piece("a_1", 1, "m", 0, "a"), piece("a_1", 2, "m", -4, "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := chatStore(t, "a_1")
			mustAppend(t, s, JournalBatch{Session: "a_1", Rows: c.pieces})
			items, err := s.JournalItems(t.Context(), "a_1")
			if err != nil || len(items) != 1 {
				t.Fatal(items, err)
			}
			want := c.pieces[len(c.pieces)-1]
			want.Body.At, want.Body.Text = 0, c.want
			if diff := cmp.Diff(want, items[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestItemsAreTheNewestInOrderOfTheFirst(t *testing.T) {
	s := chatStore(t, "a_1")
	tool := journalRow("a_1", 1, 1)
	tool.Item, tool.Body.Tool.State = "tool", "running"
	done := journalRow("a_1", 1, 4)
	done.Item, done.Revision = "tool", 2
	thought := piece("a_1", 3, "thought", 0, "hm")
	thought.Kind = davit.JournalThought
	mustAppend(t, s, JournalBatch{Session: "a_1", Rows: []davit.JournalRow{tool, piece("a_1", 2, "m", 0, "Hel"), thought, done, piece("a_1", 5, "m", 3, "lo")}})
	items, err := s.JournalItems(t.Context(), "a_1")
	if err != nil {
		t.Fatal(err)
	}
	hello := piece("a_1", 5, "m", 0, "Hello")
	if diff := cmp.Diff([]davit.JournalRow{done, hello, thought}, items); diff != "" {
		t.Error(diff)
	}
}

func TestAChatThatCannotBeReadLeavesTheOthers(t *testing.T) { // spec tabs T6.2
	s := chatStore(t, "a_1", "b_1", "c_1")
	mustAppend(t, s, JournalBatch{Session: "a_1", Submissions: []davit.Submission{{ID: "x", State: davit.SubmissionPending}}, Rows: []davit.JournalRow{journalRow("a_1", 1, 1), journalRow("a_1", 1, 2)}})
	raw(t, s, `UPDATE sessions SET body = '{"id": 7' WHERE id = 'a_1'`)
	raw(t, s, `UPDATE sessions SET body = replace(body, '"id":"c_1"', '"id":"b_1"') WHERE id = 'c_1'`)
	raw(t, s, `UPDATE journal SET body = '{' WHERE seq = 1`)
	chats := mustChats(t, s)
	if len(chats) != 3 || chats[0].Fault == nil || chats[0].ID != "a_1" || chats[0].Submissions != nil ||
		chats[1].Fault != nil || chats[1].Row.Session.ID != "b_1" || chats[2].Fault == nil {
		t.Errorf("%+v", chats)
	}
	rows := mustJournal(t, s, "a_1")
	if len(rows) != 2 || !strings.Contains(rows[0].Body.Text, "cannot be read") || rows[1].Body.Tool == nil {
		t.Errorf("%+v", rows)
	}
}

func TestRowsOfANewerVersionRead(t *testing.T) {
	s := chatStore(t, "a_1")
	mustAppend(t, s, JournalBatch{Session: "a_1", Rows: []davit.JournalRow{journalRow("a_1", 1, 1), piece("a_1", 2, "m", 0, "hello")}})
	raw(t, s, `UPDATE journal SET kind = 'hologram', body = '{"hologram": {"depth": 3}, "text": "as text"}' WHERE seq = 1`)
	raw(t, s, `UPDATE journal SET body = json_set(body, '$.later', json('[1]')) WHERE seq = 2`)
	raw(t, s, `UPDATE sessions SET body = json_set(body, '$.later', json('{"a":1}'), '$.status', 'dreaming'), spec = json_set(spec, '$.later', 1)`)
	chats := mustChats(t, s)
	if chats[0].Fault != nil || chats[0].Row.Session.Status != "dreaming" || chats[0].Row.Spec.Agent != "practice" {
		t.Errorf("%+v", chats[0])
	}
	items, err := s.JournalItems(t.Context(), "a_1")
	if err != nil || len(items) != 2 || items[0].Kind != "hologram" || items[0].Body.Text != "as text" || items[1].Body.Text != "hello" {
		t.Errorf("%+v, %v", items, err)
	}
}

// raw changes what only a damage, or another davit, could change.
func raw(t testing.TB, s *Store, statement string) {
	t.Helper()
	err := s.write(t.Context(), "test", func(t *tx) error { return t.exec(statement) })
	if err != nil {
		t.Fatal(err)
	}
}

// The two ways to read a piece of a journal walk the primary key: no sort, no scan.
func TestPiecesAreReadByTheKey(t *testing.T) {
	s := fresh(t)
	for _, query := range []string{journalAfter, journalBefore} {
		rows, err := s.readDB.Query("EXPLAIN QUERY PLAN "+query, "a_1", 1, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		rows.Close()
		if len(plan) != 1 || !strings.Contains(plan[0], "USING PRIMARY KEY (session=? AND (epoch") {
			t.Errorf("%s: %q", query, plan)
		}
	}
}

// longJournal is how many rows a long journal has: the figure of session S2.
var longJournal uint64 = 100_000

func TestALongJournalReadsFast(t *testing.T) { // spec session S2: 100,000 rows
	s := chatStore(t, "a_1", "b_1")
	rows := longJournal
	// Messages of 500 pieces each. Appending so many is not what is measured.
	raw(t, s, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)
		INSERT INTO journal (session, epoch, seq, fence, time, kind, item, revision, turn, body)
		SELECT 'a_1', 1, i + 1, 1, 0, 'message', 'm' || (i / 500), i %% 500 + 1, 'turn1',
		json_object('role', 'agent', 'at', i %% 500 * 10, 'text', '0123456789') FROM n`, rows))
	raw(t, s, fmt.Sprintf(`UPDATE sessions SET epoch = 1, seq = %d WHERE id = 'a_1'`, rows))
	start := time.Now()
	for range 20 {
		got, err := s.JournalBefore(t.Context(), "a_1", davit.Cursor{}, 100)
		if err != nil || len(got) != 100 || got[0].Seq != rows-99 || got[99].Seq != rows {
			t.Fatal(len(got), err)
		}
		got, err = s.JournalBefore(t.Context(), "a_1", davit.Cursor{Epoch: 1, Seq: rows/2 + 1}, 100)
		if err != nil || len(got) != 100 || got[99].Seq != rows/2 {
			t.Fatal(len(got), err)
		}
		got, err = s.Journal(t.Context(), "a_1", davit.Cursor{Epoch: 1, Seq: rows - 10}, 100)
		if err != nil || len(got) != 10 || got[0].Seq != rows-9 {
			t.Fatal(len(got), err)
		}
		mustChats(t, s)
		mustLoad(t, s)
	}
	pieces := time.Since(start)
	start = time.Now()
	items, err := s.JournalItems(t.Context(), "a_1")
	if err != nil || uint64(len(items)) != rows/500 || len(items[7].Body.Text) != 5000 {
		t.Fatal(len(items), err)
	}
	whole := time.Since(start)
	t.Logf("80 reads in %v, all items in %v", pieces, whole)
	// One read that walks the journal takes about as long as all items do.
	if pieces > 8*whole {
		t.Errorf("80 reads in %v, all items in %v", pieces, whole)
	}
}

func TestBodiesHoldTheWholeVocabulary(t *testing.T) {
	s := chatStore(t, "a_1")
	code := 3
	bodies := map[davit.JournalKind]davit.JournalBody{
		davit.JournalDiff:       {Diff: &davit.FileDiff{Tool: "t", Path: "/x", New: davit.Blob{Head: "a", Size: 1}, Added: 1}},
		davit.JournalPlan:       {Plan: []davit.PlanStep{{Text: "a", State: "done"}}},
		davit.JournalApproval:   {Approval: &davit.Approval{Title: "may I", State: "open", Options: []davit.ApprovalOption{{ID: "y", Name: "Yes", Kind: "allow_once"}}}},
		davit.JournalTurn:       {TurnState: &davit.TurnState{State: "ended", Reason: "exited", Stderr: "boom"}},
		davit.JournalSubmission: {Submission: &davit.Submission{ID: "o", State: davit.SubmissionUnknown, Text: "t"}},
		davit.JournalLifecycle:  {Lifecycle: &davit.Lifecycle{Event: "exited", Exit: &davit.Exit{Code: code}}},
		davit.JournalRequest:    {Request: &davit.RPCRequest{Direction: "ours", ID: "1", Error: json.RawMessage(`{"code":-32601}`)}},
	}
	var want []davit.JournalRow
	for kind, body := range bodies {
		row := journalRow("a_1", 1, uint64(len(want)+1))
		row.Kind, row.Body = kind, body
		want = append(want, row)
	}
	mustAppend(t, s, JournalBatch{Session: "a_1", Rows: want})
	if diff := cmp.Diff(want, mustJournal(t, s, "a_1")); diff != "" {
		t.Error(diff)
	}
	items, err := s.JournalItems(t.Context(), "a_1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Error(diff)
	}
}
