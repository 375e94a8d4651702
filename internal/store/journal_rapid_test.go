package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"davit"
)

// counters is what a session's owner may rely on, kept beside the store.
type counters struct {
	rows   []davit.Cursor
	at     davit.Cursor
	rpc    uint64
	fence  uint64
	folded uint64
}

// TestJournalsKeepTheirCounters: whatever batches come, refused ones included, no journal
// has a hole or a double, and no counter goes back (spec session S1.1, S1.2, S1.6).
func TestJournalsKeepTheirCounters(t *testing.T) {
	s := fresh(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++ // sessions of its own for each run
		model := map[davit.SessionID]*counters{}
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			id := davit.SessionID(fmt.Sprint(rapid.SampledFrom([]string{"a_", "b_"}).Draw(t, "session"), n))
			b, next, ok := drawBatch(t, id, model[id])
			err := s.AppendJournal(context.Background(), b)
			if (err == nil) != ok {
				t.Fatalf("%+v of %+v: got %v, want ok %v", b, model[id], err, ok)
			}
			if ok {
				model[id] = next
			}
		}
		compare(t, s, model)
	})
}

// drawBatch gives a batch, the counters after it, and whether it must be taken.
func drawBatch(t *rapid.T, id davit.SessionID, now *counters) (JournalBatch, *counters, bool) {
	b, ok := JournalBatch{Session: id}, true
	var next counters
	if now != nil {
		next = *now
		next.rows = append([]davit.Cursor(nil), now.rows...)
	}
	step := func(of uint64, name string) uint64 { // mostly forward
		by := rapid.SampledFrom([]int{0, 1, 1, 2, 5, -1}).Draw(t, name)
		if by < 0 && of == 0 {
			by = 0
		}
		ok = ok && by >= 0
		return of + uint64(by)
	}
	if rapid.Bool().Draw(t, "put") {
		row := chatRow(string(id))
		next.rpc, next.fence = step(next.rpc, "rpc"), step(next.fence, "fence")
		row.NextRPC, row.Session.Fence = next.rpc, next.fence
		b.Put = &row
	} else if now == nil {
		ok = false
	}
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		at := davit.Cursor{Epoch: next.at.Epoch, Seq: next.at.Seq + 1}
		switch rapid.IntRange(0, 11).Draw(t, "place") {
		case 0: // the next epoch
			at = davit.Cursor{Epoch: next.at.Epoch + 1, Seq: 1}
		case 1: // anywhere
			at = davit.Cursor{Epoch: rapid.Uint64Range(0, 3).Draw(t, "epoch"), Seq: rapid.Uint64Range(0, 6).Draw(t, "seq")}
		}
		ok = ok && (at.Epoch == next.at.Epoch && at.Seq == next.at.Seq+1 || at.Epoch > next.at.Epoch && at.Seq == 1)
		b.Rows = append(b.Rows, journalRow(string(id), at.Epoch, at.Seq))
		next.at, next.rows = at, append(next.rows, at)
	}
	if rapid.Bool().Draw(t, "fold") {
		next.folded = step(next.folded, "folded")
		b.Folded = []FoldRow{{Keeper: "k", Stream: "stdout", Offset: next.folded}}
	}
	return b, &next, ok
}

func compare(t *rapid.T, s *Store, model map[davit.SessionID]*counters) {
	chats, err := s.Chats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, chat := range chats {
		want := model[chat.ID]
		if want == nil {
			continue // of an earlier run, or refused from the start
		}
		seen++
		rows, err := s.Journal(context.Background(), chat.ID, davit.Cursor{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := counters{at: chat.Row.Session.Cursor, rpc: chat.Row.NextRPC, fence: chat.Row.Session.Fence}
		for _, row := range rows {
			got.rows = append(got.rows, davit.Cursor{Epoch: row.Epoch, Seq: row.Seq})
		}
		for _, fold := range chat.Folds {
			got.folded = fold.Offset
		}
		if diff := cmp.Diff(*want, got, cmp.AllowUnexported(counters{})); diff != "" {
			t.Fatal(chat.ID, diff)
		}
	}
	if seen != len(model) {
		t.Fatalf("%d of %d sessions are there", seen, len(model))
	}
}
