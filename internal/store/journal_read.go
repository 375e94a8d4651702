package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"davit"
)

// Chats reads all sessions in one snapshot, oldest first, with what is open, unsettled and
// owed in each. One that cannot be decoded is a Fault and leaves the others.
func (s *Store) Chats(ctx context.Context) ([]Chat, error) {
	t, err := s.readDB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, told("read the chats", err)
	}
	defer func() { _ = t.Rollback() }()
	c := chats{at: map[davit.SessionID]int{}}
	for _, load := range []func(context.Context, *sql.Tx) error{
		c.loadSessions, c.loadRequests, c.loadSubmissions, c.loadFolds, c.loadActs,
	} {
		if err := load(ctx, t); err != nil {
			return nil, told("read the chats", err)
		}
	}
	return c.all, nil
}

type chats struct {
	all []Chat
	at  map[davit.SessionID]int // index in all, of those without a fault
}

// of gives the session of a row, nil for one that is not there or cannot be read.
func (c *chats) of(id davit.SessionID) *Chat {
	if i, ok := c.at[id]; ok {
		return &c.all[i]
	}
	return nil
}

func (c *chats) loadSessions(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, epoch, seq, fence, next_rpc, keeper, spawn, initiated, body, spec FROM sessions ORDER BY created, id`, func(scan func(...any) error) error {
		var (
			row                    ChatRow
			id                     davit.SessionID
			epoch, seq, fence, rpc int64
			body, spec             string
		)
		if err := scan(&id, &epoch, &seq, &fence, &rpc, &row.Keeper, &row.Spawn, &row.Initiated, &body, &spec); err != nil {
			return err
		}
		var err error
		row.Session, err = decode(body, func(s davit.Session) string { return string(s.ID) }, string(id))
		if err == nil {
			err = json.Unmarshal([]byte(spec), &row.Spec)
		}
		if err != nil {
			c.all = append(c.all, Chat{ID: id, Fault: fmt.Errorf("the stored chat %s: %w", id, err)})
			return nil
		}
		row.Session.Cursor = davit.Cursor{Epoch: uint64(epoch), Seq: uint64(seq)}
		row.Session.Fence, row.NextRPC = uint64(fence), uint64(rpc)
		c.at[id] = len(c.all)
		c.all = append(c.all, Chat{ID: id, Row: row})
		return nil
	})
}

func (c *chats) loadRequests(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT session, direction, spawn, rpc_id, method, act, item, state, answer, asked FROM requests WHERE state = 'open' ORDER BY seq`, func(scan func(...any) error) error {
		var (
			row   RPCRow
			id    davit.SessionID
			asked int64
		)
		if err := scan(&id, &row.Direction, &row.Spawn, &row.ID, &row.Method, &row.Act, &row.Item, &row.State, &row.Answer, &asked); err != nil {
			return err
		}
		row.Asked = time.UnixMilli(asked).UTC()
		if chat := c.of(id); chat != nil {
			chat.Requests = append(chat.Requests, row)
		}
		return nil
	})
}

func (c *chats) loadSubmissions(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT session, id, state, item, text, reason FROM submissions WHERE state IN ('queued', 'pending') ORDER BY seq`, func(scan func(...any) error) error {
		var (
			row davit.Submission
			id  davit.SessionID
		)
		if err := scan(&id, &row.ID, &row.State, &row.Item, &row.Text, &row.Reason); err != nil {
			return err
		}
		if chat := c.of(id); chat != nil {
			chat.Submissions = append(chat.Submissions, row)
		}
		return nil
	})
}

func (c *chats) loadFolds(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT session, keeper, stream, folded, skip, skipping FROM folds ORDER BY session, keeper, stream`, func(scan func(...any) error) error {
		var (
			row            FoldRow
			id             davit.SessionID
			folded, skip64 int64
		)
		if err := scan(&id, &row.Keeper, &row.Stream, &folded, &skip64, &row.Skipping); err != nil {
			return err
		}
		row.Offset, row.Skip = uint64(folded), uint64(skip64)
		if chat := c.of(id); chat != nil {
			chat.Folds = append(chat.Folds, row)
		}
		return nil
	})
}

func (c *chats) loadActs(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT session, id, pane, kind, body, created FROM acts WHERE session <> '' ORDER BY seq`, func(scan func(...any) error) error {
		var (
			row     ActRow
			id      davit.SessionID
			created int64
		)
		if err := scan(&id, &row.ID, &row.Pane, &row.Kind, &row.Body, &created); err != nil {
			return err
		}
		row.Created = time.UnixMilli(created)
		if chat := c.of(id); chat != nil {
			chat.Acts = append(chat.Acts, row)
		}
		return nil
	})
}

// The two ways to read a piece of a journal; both walk the primary key.
const (
	journalColumns = `SELECT epoch, seq, fence, time, kind, item, revision, turn, body FROM journal `
	journalAfter   = journalColumns + `WHERE session = ? AND (epoch, seq) > (?, ?) ORDER BY epoch, seq LIMIT ?`
	journalBefore  = journalColumns + `WHERE session = ? AND (epoch, seq) < (?, ?) ORDER BY epoch DESC, seq DESC LIMIT ?`
)

// Journal reads at most limit rows after a cursor, oldest first; a limit of 0 is all.
func (s *Store) Journal(ctx context.Context, id davit.SessionID, after davit.Cursor, limit int) ([]davit.JournalRow, error) {
	return s.journal(ctx, id, journalAfter, string(id), int64(after.Epoch), int64(after.Seq), bound(limit))
}

// JournalBefore reads the newest rows before a cursor, oldest first; the zero cursor
// means before everything that is still to come, a limit of 0 all.
func (s *Store) JournalBefore(ctx context.Context, id davit.SessionID, before davit.Cursor, limit int) ([]davit.JournalRow, error) {
	epoch, seq := int64(before.Epoch), int64(before.Seq)
	if before == (davit.Cursor{}) {
		epoch = 1<<63 - 1
	}
	rows, err := s.journal(ctx, id, journalBefore, string(id), epoch, seq, bound(limit))
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows, err
}

// bound turns our "all" into SQLite's.
func bound(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

func (s *Store) journal(ctx context.Context, id davit.SessionID, query string, args ...any) ([]davit.JournalRow, error) {
	var list []davit.JournalRow
	err := s.eachRow(ctx, id, query, args, func(row davit.JournalRow, body string) {
		readBody(&row, body)
		list = append(list, row)
	})
	return list, err
}

// eachRow calls visit for each row of a journal with its body still as text.
func (s *Store) eachRow(ctx context.Context, id davit.SessionID, query string, args []any, visit func(davit.JournalRow, string)) error {
	rows, err := s.readDB.QueryContext(ctx, query, args...)
	if err != nil {
		return told("read the journal of "+string(id), err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			epoch, seq, fence, at, revision int64
			body                            string
		)
		row := davit.JournalRow{Session: id}
		if err := rows.Scan(&epoch, &seq, &fence, &at, &row.Kind, &row.Item, &revision, &row.Turn, &body); err != nil {
			return told("read the journal of "+string(id), err)
		}
		row.Epoch, row.Seq, row.Fence, row.Revision = uint64(epoch), uint64(seq), uint64(fence), uint64(revision)
		row.Time = time.UnixMilli(at).UTC()
		visit(row, body)
	}
	return told("read the journal of "+string(id), rows.Err())
}

// readBody: fields that a newer davit wrote are ignored. A body that cannot be decoded
// says so in its place: a journal has no holes.
func readBody(row *davit.JournalRow, body string) {
	if err := json.Unmarshal([]byte(body), &row.Body); err != nil {
		row.Body = davit.JournalBody{Text: "this row cannot be read: " + err.Error()}
	}
}

// Submission finds a message by its operation id.
func (s *Store) Submission(ctx context.Context, id davit.SessionID, operation string) (davit.Submission, bool, error) {
	sub := davit.Submission{ID: operation}
	err := s.readDB.QueryRowContext(ctx, `SELECT state, item, text, reason FROM submissions WHERE session = ? AND id = ?`,
		string(id), operation).Scan(&sub.State, &sub.Item, &sub.Text, &sub.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return davit.Submission{}, false, nil
	}
	return sub, err == nil, told("read a message", err)
}

// Payload reads what a digest stands for.
func (s *Store) Payload(ctx context.Context, id davit.SessionID, digest string) (PayloadRow, bool, error) {
	row := PayloadRow{Digest: digest}
	err := s.readDB.QueryRowContext(ctx, `SELECT mime, data FROM payloads WHERE session = ? AND digest = ?`,
		string(id), digest).Scan(&row.Mime, &row.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return PayloadRow{}, false, nil
	}
	return row, err == nil, told("read a payload", err)
}
