package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"davit"
)

// rpcJump is more requests than one session can have made between two copies of the
// store: ids of the lost part are never used again.
const rpcJump = 1 << 32

// AppendJournal stores one step: all of it in one transaction, or nothing. A row has to be
// the next of the session's epoch, or the first of a later one. Errors: internal for what
// is out of its place or would replace what is settled; agent_session_operation_conflict
// for a message's id with another text; agent_session_not_found without Put for a session
// that is not stored.
func (s *Store) AppendJournal(ctx context.Context, b JournalBatch) error {
	// As in Commit: what cannot be encoded must not open a transaction.
	changes, err := b.encode()
	if err != nil {
		return fmt.Errorf("store a step of chat %s: %w", b.Session, err)
	}
	return s.write(ctx, "store a step of chat "+string(b.Session), func(t *tx) error {
		for _, c := range changes {
			if err := c(t); err != nil {
				return err
			}
		}
		return nil
	})
}

// encode orders the parts: the session first, for the others are held against it.
func (b JournalBatch) encode() ([]change, error) {
	var changes []change
	for _, part := range []func() ([]change, error){b.encodeChat, b.encodeRows, b.encodePayloads} {
		c, err := part()
		if err != nil {
			return nil, err
		}
		changes = append(changes, c...)
	}
	for _, row := range b.Requests {
		changes = append(changes, b.request(row))
	}
	for _, row := range b.Submissions {
		changes = append(changes, b.submission(row))
	}
	for _, row := range b.Folded {
		changes = append(changes, b.fold(row))
	}
	return append(changes, encodeActs(b.Session, b.PutActs, b.DoneActs)...), nil
}

func (b JournalBatch) misplaced(format string, args ...any) error {
	return davit.Errorf(davit.CodeInternal, "chat "+string(b.Session)+": "+format, args...)
}

// encodeChat writes the session's row. Its place in the journal is the store's own column,
// moved by rows alone; the other counters may stay or grow.
func (b JournalBatch) encodeChat() ([]change, error) {
	if b.Put == nil {
		return []change{func(t *tx) error {
			var one int
			err := t.row(`SELECT 1 FROM sessions WHERE id = ?`, []any{string(b.Session)}, &one)
			if errors.Is(err, sql.ErrNoRows) {
				return davit.Errorf(davit.CodeSessionNotFound, "there is no chat %q", b.Session)
			}
			return err
		}}, nil
	}
	row := b.Put
	if b.Session == "" || row.Session.ID != b.Session {
		return nil, b.misplaced("the row holds %q", row.Session.ID)
	}
	body, err := json.Marshal(row.Session)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(row.Spec)
	if err != nil {
		return nil, err
	}
	return []change{func(t *tx) error {
		n, err := t.affect(`INSERT INTO sessions (id, agent, epoch, seq, fence, next_rpc, keeper, spawn, initiated, created, body, spec)
			VALUES (?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, fence = excluded.fence, next_rpc = excluded.next_rpc,
			keeper = excluded.keeper, spawn = excluded.spawn, initiated = excluded.initiated, created = excluded.created,
			body = excluded.body, spec = excluded.spec
			WHERE excluded.fence >= sessions.fence AND excluded.next_rpc >= sessions.next_rpc AND excluded.spawn >= sessions.spawn`,
			string(b.Session), row.Session.Agent, int64(row.Session.Fence), int64(row.NextRPC), row.Keeper, row.Spawn,
			row.Initiated, row.Session.Created.UnixMilli(), string(body), string(spec))
		if err == nil && n == 0 {
			return b.misplaced("its fence, next rpc id or spawn would go back (to %d, %d, %d)", row.Session.Fence, row.NextRPC, row.Spawn)
		}
		return err
	}}, nil
}

// encodeRows: the one statement that moves the counter is the one that refuses.
func (b JournalBatch) encodeRows() (changes []change, err error) {
	for _, row := range b.Rows {
		if row.Session != b.Session {
			return nil, b.misplaced("a row of %q", row.Session)
		}
		body, err := json.Marshal(row.Body)
		if err != nil {
			return nil, fmt.Errorf("row %d.%d: %w", row.Epoch, row.Seq, err)
		}
		epoch, seq := int64(row.Epoch), int64(row.Seq)
		changes = append(changes, func(t *tx) error {
			n, err := t.affect(`UPDATE sessions SET epoch = ?2, seq = ?3
				WHERE id = ?1 AND ((epoch = ?2 AND seq + 1 = ?3) OR (epoch < ?2 AND ?3 = 1))`, string(b.Session), epoch, seq)
			if err == nil && n == 0 {
				return b.misplaced("row %d.%d is not the next", epoch, seq)
			}
			if err != nil {
				return err
			}
			return t.exec(`INSERT INTO journal (session, epoch, seq, fence, time, kind, item, revision, turn, body)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				string(b.Session), epoch, seq, int64(row.Fence), row.Time.UnixMilli(), string(row.Kind), row.Item,
				int64(row.Revision), row.Turn, string(body))
		})
	}
	return changes, nil
}

// encodePayloads: one digest is one payload of a session, whoever brings it.
func (b JournalBatch) encodePayloads() (changes []change, err error) {
	for _, row := range b.Payloads {
		sum := sha256.Sum256(row.Data)
		if hex.EncodeToString(sum[:]) != row.Digest {
			return nil, b.misplaced("a payload of %d bytes under another's digest %q", len(row.Data), row.Digest)
		}
		data := row.Data
		if data == nil {
			data = []byte{}
		}
		changes = append(changes, statement(`INSERT INTO payloads (session, digest, mime, data) VALUES (?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, string(b.Session), row.Digest, row.Mime, data))
	}
	return changes, nil
}

// request stores a request or what became of it (spec session S1.2). One that is not open
// any more stays as it is: the same again is harmless, another answer is refused. Only an
// agent may use an id again, which makes another request: of a later spawn, or, with
// another time of asking, of the same one.
func (b JournalBatch) request(row RPCRow) change {
	return func(t *tx) error {
		spawn := row.Spawn
		if spawn == 0 {
			if err := t.row(`SELECT spawn FROM sessions WHERE id = ?`, []any{string(b.Session)}, &spawn); err != nil {
				return err
			}
		}
		var (
			seq, asked          int64
			method, act, state  string
			answer              []byte
			ours                = row.Direction == "ours"
			key                 = []any{string(b.Session), row.Direction, row.ID, spawn, ours}
			same, open, another bool
		)
		err := t.row(`SELECT seq, method, act, state, answer, asked FROM requests
			WHERE session = ? AND direction = ? AND rpc_id = ? AND (spawn = ? OR ?) ORDER BY seq DESC LIMIT 1`,
			key, &seq, &method, &act, &state, &answer, &asked)
		if errors.Is(err, sql.ErrNoRows) {
			return b.insertRequest(t, row, spawn)
		}
		if err != nil {
			return err
		}
		open = state == "open" && method == row.Method
		same = state == row.State && method == row.Method && act == row.Act && bytes.Equal(answer, row.Answer)
		another = state != "open" && !ours && !row.Asked.IsZero() && row.Asked.UnixMilli() != asked
		switch {
		case open:
			return t.exec(`UPDATE requests SET act = ?, item = ?, state = ?, answer = ? WHERE seq = ?`,
				row.Act, row.Item, row.State, row.Answer, seq)
		case same:
			return nil
		case another:
			return b.insertRequest(t, row, spawn)
		}
		return b.misplaced("request %s %s (%s) is stored as %s of %s", row.Direction, row.ID, row.Method, state, method)
	}
}

func (b JournalBatch) insertRequest(t *tx, row RPCRow, spawn int) error {
	return t.exec(`INSERT INTO requests (session, direction, spawn, rpc_id, method, act, item, state, answer, asked)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(b.Session), row.Direction, spawn, row.ID, row.Method, row.Act, row.Item, row.State, row.Answer, row.Asked.UnixMilli())
}

// submission moves a message one way: queued → pending → accepted, rejected or unknown
// (spec session S1.5). What is settled stays as it is.
func (b JournalBatch) submission(row davit.Submission) change {
	return func(t *tx) error {
		var text string
		var state davit.SubmissionState
		err := t.row(`SELECT text, state FROM submissions WHERE session = ? AND id = ?`, []any{string(b.Session), row.ID}, &text, &state)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return t.exec(`INSERT INTO submissions (session, id, state, item, text, reason) VALUES (?, ?, ?, ?, ?, ?)`,
				string(b.Session), row.ID, string(row.State), row.Item, row.Text, row.Reason)
		case err != nil:
			return err
		case text != row.Text:
			return davit.Errorf(davit.CodeOperationConflict, "the operation id %s was used in chat %s for another message", row.ID, b.Session).
				WithHint("send it under an id of its own")
		case state == row.State && settled(state):
			return nil
		case settled(state), state == davit.SubmissionPending && row.State == davit.SubmissionQueued:
			return b.misplaced("message %s is %s and cannot become %s", row.ID, state, row.State)
		}
		return t.exec(`UPDATE submissions SET state = ?, item = ?, reason = ? WHERE session = ? AND id = ?`,
			string(row.State), row.Item, row.Reason, string(b.Session), row.ID)
	}
}

func settled(s davit.SubmissionState) bool {
	return s != davit.SubmissionQueued && s != davit.SubmissionPending
}

// fold notes how far a log is folded; it never goes back, or rows would come twice (spec
// session S1.1).
func (b JournalBatch) fold(row FoldRow) change {
	return func(t *tx) error {
		n, err := t.affect(`INSERT INTO folds (session, keeper, stream, folded, skip, skipping) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (session, keeper, stream) DO UPDATE SET folded = excluded.folded, skip = excluded.skip, skipping = excluded.skipping
			WHERE excluded.folded >= folds.folded`,
			string(b.Session), row.Keeper, row.Stream, int64(row.Offset), int64(row.Skip), row.Skipping)
		if err == nil && n == 0 {
			return b.misplaced("%s of %s is folded beyond %d", row.Stream, row.Keeper, row.Offset)
		}
		return err
	}
}

// afterLoss is for a copy that took the place of a damaged store: what was lost may have
// given out cursors and rpc ids, and none is given twice.
func afterLoss(t *tx) error {
	return t.exec(`UPDATE sessions SET epoch = epoch + 1, seq = 0, next_rpc = next_rpc + ?`, rpcJump)
}
