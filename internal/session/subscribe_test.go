package session_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/session"
	"davit/internal/testenv"
)

// collect reads a subscription until a turn has ended for the n-th time. It takes its time.
func collect(ctx context.Context, sub *session.Subscription, n int, pause time.Duration) ([]davit.JournalRow, error) {
	var rows []davit.JournalRow
	for {
		next, err := sub.Next(ctx)
		if err != nil {
			return rows, err
		}
		rows = append(rows, next.Rows...)
		for _, row := range next.Rows {
			if row.Kind == davit.JournalTurn && row.Body.TurnState.State == "ended" {
				if n--; n == 0 {
					return rows, nil
				}
			}
		}
		time.Sleep(pause) // a slow reader
	}
}

// Many viewers, fast and slow, from the beginning, from a cursor and from the tail, get the
// rows after their place in order, none lost and none twice.
func TestSubscribersGetEachRowOnce(t *testing.T) { // spec session S1.4, S1.6
	t.Parallel()
	r := begin(t, "work=400ms")
	v := r.startChat(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var viewers sync.WaitGroup
	for i := range 6 {
		from := uint64(0)
		var sub *session.Subscription
		var err error
		switch i % 3 {
		case 0:
			sub, err = r.service.Subscribe(ctx, chatID, nil, 0)
		case 1:
			from = v.Cursor.Seq
			sub, err = r.service.Subscribe(ctx, chatID, &v.Cursor, 0)
		case 2:
			from = v.Cursor.Seq - 2
			sub, err = r.service.Subscribe(ctx, chatID, nil, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		viewers.Go(func() {
			rows, err := collect(ctx, sub, 2, time.Duration(i)*15*time.Millisecond)
			if err != nil {
				t.Errorf("viewer %d after %d rows: %v", i, len(rows), err)
				return
			}
			for j, row := range rows {
				if row.Seq != from+uint64(j)+1 {
					t.Errorf("viewer %d got row %d in place of %d", i, row.Seq, from+uint64(j)+1)
					return
				}
			}
		})
	}
	r.send(t, "m1", "count 200")
	r.send(t, "m2", "count 200")
	viewers.Wait()
}

// A cursor that is no place in the journal is told why, and gets the whole (S1.4).
func TestCursorsAndHistory(t *testing.T) { // spec session S1.4
	t.Parallel()
	r := begin(t, "work=10ms")
	r.startChat(t)
	r.send(t, "m1", "hello")
	r.untilTurns(t, 1)
	all := r.rows(t)
	end := all[len(all)-1].Seq
	for _, bad := range []davit.Cursor{{Epoch: 1, Seq: end + 50}, {Epoch: 9, Seq: 1}} {
		sub, err := r.service.Subscribe(t.Context(), chatID, &bad, 0)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := sub.Next(t.Context())
		if err != nil || rows.Reset == "" || rows.Rows[0].Seq != 1 {
			t.Errorf("after %v: %q %v", bad, rows.Reset, err)
		}
		sub.Close()
		if _, err := sub.Next(t.Context()); err == nil && rows.Cursor.Seq == end {
			t.Error("a closed subscription gives rows")
		}
		h, err := r.service.History(t.Context(), chatID, &bad, nil, 3)
		if err != nil || h.Reset == "" || len(h.Rows) != 3 || h.Rows[0].Seq != 1 || !h.More {
			t.Errorf("history after %v: %+v %v", bad, h, err)
		}
	}
	h, err := r.service.History(t.Context(), chatID, nil, nil, 4)
	if err != nil || len(h.Rows) != 4 || h.Rows[3].Seq < end || !h.More || h.Reset != "" {
		t.Errorf("the newest: %+v %v", h, err)
	}
	older, err := r.service.History(t.Context(), chatID, nil, &davit.Cursor{Epoch: 1, Seq: 3}, 10)
	if err != nil || len(older.Rows) != 2 || older.More {
		t.Errorf("before the third: %+v %v", older, err)
	}
	rest, err := r.service.History(t.Context(), chatID, &davit.Cursor{Epoch: 1, Seq: end - 2}, nil, 10)
	if err != nil || len(rest.Rows) < 2 || rest.More || rest.Cursor.Seq < end {
		t.Errorf("the rest: %+v %v", rest, err)
	}
	_, err = r.service.Subscribe(t.Context(), "practice_other", nil, 0)
	wantCode(t, err, davit.CodeSessionNotFound)
	_, err = r.service.Payload(t.Context(), chatID, "0000")
	wantCode(t, err, davit.CodePayloadNotFound)
}

// A connection to the keeper that is lost is made anew, in mid-turn, and nothing with it.
func TestConnectionIsLost(t *testing.T) { // spec session S1.1, S1.2
	t.Parallel()
	r := begin(t, "work=800ms")
	r.startChat(t)
	r.send(t, "m1", "count 100")
	for i := range 3 {
		r.until(t, "more is said", func(davit.Session) bool { return len(strings.Fields(strings.Join(r.said(t, "agent"), ""))) > 10+20*i })
		cl, ok := r.panes.Linked()
		if !ok {
			t.Fatal("not linked")
		}
		cl.Disconnect()
		testenv.Eventually(t, patience, func() (bool, string) {
			now, ok := r.panes.Linked()
			return ok && now != cl, "no new connection"
		})
	}
	r.send(t, "m2", "hello")
	r.untilTurns(t, 2)
	if told := r.heard(t, "prompt"); len(told) != 2 {
		t.Errorf("it was told %q", told)
	}
	said := strings.Fields(r.said(t, "agent")[0])
	for i, word := range said {
		if word != fmt.Sprint(i+1) {
			t.Fatalf("%q", said)
		}
	}
	if v := r.get(t); v.Fault != nil || v.Fence != 1 {
		t.Errorf("%+v", v)
	}
}

// An agent that asks without end and never reads is not answered without end: what it is
// owed is bounded, and a stop ends it.
func TestAgentThatAsksAndNeverReads(t *testing.T) { // spec session S1.10
	t.Parallel()
	r := begin(t, "")
	r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", `read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read line
echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
while :; do echo '{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{"path":"` + strings.Repeat("x", 300) + `"}}'; done`}
	r.startChat(t)
	r.until(t, "the fold waits", func(v davit.Session) bool { return v.Cursor.Seq > 400 })
	testenv.Eventually(t, patience, func() (bool, string) {
		before := r.get(t).Cursor.Seq
		time.Sleep(300 * time.Millisecond) // long enough for many more, were it not held
		after := r.get(t).Cursor.Seq
		return after == before, fmt.Sprintf("%d rows and then %d", before, after)
	})
	if err := r.service.Stop(t.Context(), session.Mutation{Session: chatID}); err != nil {
		t.Fatal(err)
	}
	r.noProcess(t)
}

// Whatever an agent says, in whatever order and under whatever ids, the chat goes on: each
// line is one that a hostile or broken agent could print.
func TestHostileLines(t *testing.T) { // spec session S1.7, S1.10
	t.Parallel()
	r := begin(t, "")
	ask := `{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t1","title":"x"},"options":[{"optionId":"ok","name":"OK","kind":"allow_once"}]}}`
	lines := []string{
		fmt.Sprintf(ask, `"a"`), fmt.Sprintf(ask, `"a"`), // the same question twice
		`{"jsonrpc":"2.0","id":"a","method":"fs/read_text_file","params":{}}`, // another thing under an open id
		`{"jsonrpc":"2.0","id":7,"method":"terminal/create"}`, `{"jsonrpc":"2.0","id":7,"method":"terminal/create"}`,
		`{"jsonrpc":"2.0","id":null,"method":"what"}`, `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session/request_permission"}`, fmt.Sprintf(ask, "7"), fmt.Sprintf(ask, "1e3"), fmt.Sprintf(ask, `"\u0000"`),
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":null}`, `{"jsonrpc":"2.0","id":99,"error":{"code":1}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`,
		fmt.Sprintf(ask, `"a"`), `null`, `[]`, `{}`, `[{"jsonrpc":"2.0"}]`, "\x00\xff\xfe", `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ud800"}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"again"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the end"}}}}`,
	}
	if err := os.WriteFile(r.path("lines"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.agents.path, r.agents.argv = "/bin/sh", []string{"sh", "-c", `read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read line
echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read line
cat ` + r.path("lines") + `
while read line; do case "$line" in *session/cancel*) echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}';; esac; done`}
	r.startChat(t)
	r.send(t, "m1", "go")
	r.until(t, "the last line is folded", func(davit.Session) bool {
		said := r.said(t, "agent")
		return len(said) > 0 && strings.HasSuffix(said[len(said)-1], "the end")
	})
	open, denied := 0, 0
	for _, row := range r.items(t, davit.JournalApproval) {
		if a := row.Body.Approval; a.State == "denied" && a.By == "davit" {
			denied++
		} else if a.State == "open" {
			open++
			if _, err := r.service.Respond(t.Context(), mutation(row.Item, 1), row.Item, row.Revision, "ok"); err != nil {
				t.Error(err)
			}
		}
	}
	if open == 0 || denied == 0 {
		t.Errorf("%d questions were open, and %d that cannot be read were denied", open, denied)
	}
	if _, err := r.service.Cancel(t.Context(), mutation("c", 1)); err != nil {
		t.Fatal(err)
	}
	if turn := r.untilTurns(t, 1); turn.Reason != "cancelled" {
		t.Errorf("ended as %+v", turn)
	}
	r.rows(t)
	if v := r.get(t); v.Fault != nil {
		t.Errorf("%+v", v.Fault)
	}
}
