package store

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strconv"
	"time"

	"davit"
)

// The times of spec launch L6.2 and L6.3.
const (
	operationLife = 24 * time.Hour
	clockSkew     = 5 * time.Minute
)

// AdmissionKind is the answer of the ledger to an operation id (spec launch L6.2).
type AdmissionKind string

// The answers. Lost is ours: the row may have gone with a damaged store (docs/store.md).
const (
	AdmitFresh    AdmissionKind = "fresh"
	AdmitReplay   AdmissionKind = "replay"
	AdmitConflict AdmissionKind = "conflict"
	AdmitExpired  AdmissionKind = "expired"
	AdmitInvalid  AdmissionKind = "invalid"
	AdmitLost     AdmissionKind = "lost"
	AdmitMissing  AdmissionKind = "missing" // only to ReplayOnly: not stored
)

// OperationState is where an operation is; docs/store.md shows the moves.
type OperationState string

// The states. A reader never sees pending: the admission's transaction leaves it.
const (
	OperationPending  OperationState = "pending"
	OperationUnknown  OperationState = "unknown"
	OperationRecorded OperationState = "recorded"
	OperationSettled  OperationState = "settled"
	OperationFailed   OperationState = "failed"
)

// Minted are the names that a launch gives to what it will make, stored before it does.
type Minted struct {
	PaneKey          davit.PaneKey
	TabID            davit.TabID
	PaneID           davit.PaneID
	SessionID        string
	WorktreeInstance string
}

// AdmitRequest asks for an operation to be let in.
type AdmitRequest struct {
	Caller      string // from the transport (spec launch L6.1)
	OperationID string
	Fingerprint string
	Intent      []byte // JSON, accountEnv hashed
	Minted      Minted // used when it is fresh
	Now         time.Time
	ReplayOnly  bool // never claim (spec launch L6.4)
}

// Admission is the answer; Row is set for fresh, replay and conflict.
type Admission struct {
	Kind AdmissionKind
	Row  OperationRow
}

// OperationRow is one row of the ledger.
type OperationRow struct {
	Caller         string
	OperationID    string
	Fingerprint    string
	Intent         []byte
	State          OperationState
	Minted         Minted
	WorktreePath   string
	WorktreeBranch string
	Result         []byte // as written, not checked here; of unknown it is the plan
	Error          []byte // of failed
	RecordedAt     time.Time
	ExpiresAt      time.Time
}

var operationID = regexp.MustCompile(`^([0-9]{13})-[0-9a-f]{32}$`)

// OperationTime gives the time that an operation id was minted at; false when it is
// malformed (spec launch L1).
func OperationTime(id string) (time.Time, bool) {
	m := operationID.FindStringSubmatch(id)
	if m == nil {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(m[1], 10, 64)
	return time.UnixMilli(ms), err == nil
}

// OperationFault says what is wrong with an operation id, nil when it can be used: it is
// malformed, or lies in the future (spec launch L1).
func OperationFault(id string, now time.Time) *davit.Error {
	minted, ok := OperationTime(id)
	fault := func(format string, args ...any) *davit.Error {
		return davit.Errorf(davit.CodeOperationInvalid, format, args...).
			WithHint("mint one: 13 digits of Unix milliseconds, a dash, 32 lowercase hex digits").With("operationId", id)
	}
	switch {
	case !ok:
		return fault("the operation id %q is malformed", id)
	case minted.After(now.Add(clockSkew)):
		return fault("the operation id %q lies in the future: it says %s, and it is %s", id, minted.UTC().Format(time.DateTime), now.UTC().Format(time.DateTime)).
			WithHint("mint one with the time of now, and see whether the clocks agree")
	}
	return nil
}

// Admit looks an operation up and, when it is new, claims it: the row goes from pending
// to unknown in the same transaction, so that from here on a crash leaves a row which
// says that nobody knows (spec launch L6.2).
func (s *Store) Admit(ctx context.Context, r AdmitRequest) (Admission, error) {
	minted, _ := OperationTime(r.OperationID)
	if OperationFault(r.OperationID, r.Now) != nil {
		return Admission{Kind: AdmitInvalid}, nil
	}
	var a Admission
	err := s.write(ctx, "admit an operation", func(t *tx) error {
		row, err := scanOperation(func(into ...any) error {
			return t.row(selectOperation+` WHERE caller = ? AND id = ?`, []any{r.Caller, r.OperationID}, into...)
		})
		switch {
		case err == nil && row.Fingerprint == r.Fingerprint:
			a = Admission{Kind: AdmitReplay, Row: row}
			return nil
		case err == nil:
			a = Admission{Kind: AdmitConflict, Row: row}
			return nil
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		switch {
		case minted.Before(r.Now.Add(-operationLife)):
			a = Admission{Kind: AdmitExpired}
		case minted.UnixMilli() <= s.floor:
			a = Admission{Kind: AdmitLost}
		case r.ReplayOnly:
			a = Admission{Kind: AdmitMissing}
		default:
			a = Admission{Kind: AdmitFresh, Row: freshRow(r, minted)}
			return claim(t, a.Row, minted)
		}
		return nil
	})
	if err != nil {
		return Admission{}, err
	}
	return a, nil
}

func freshRow(r AdmitRequest, minted time.Time) OperationRow {
	later := minted
	if r.Now.After(later) {
		later = r.Now
	}
	return OperationRow{
		Caller: r.Caller, OperationID: r.OperationID, Fingerprint: r.Fingerprint, Intent: r.Intent,
		State: OperationUnknown, Minted: r.Minted, RecordedAt: r.Now,
		ExpiresAt: later.Add(operationLife + clockSkew),
	}
}

func claim(t *tx, row OperationRow, minted time.Time) error {
	err := t.exec(`INSERT INTO operations (caller, id, fingerprint, intent, state, op_time, recorded_at, expires_at,
		pane_key, tab, pane, session, instance) VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)`,
		row.Caller, row.OperationID, row.Fingerprint, string(row.Intent),
		minted.UnixMilli(), row.RecordedAt.UnixMilli(), row.ExpiresAt.UnixMilli(),
		string(row.Minted.PaneKey), string(row.Minted.TabID), string(row.Minted.PaneID),
		row.Minted.SessionID, row.Minted.WorktreeInstance)
	if err != nil {
		return err
	}
	return t.exec(`UPDATE operations SET state = 'unknown' WHERE caller = ? AND id = ? AND state = 'pending'`, row.Caller, row.OperationID)
}

// Plan stores the result that an operation will have when its surface comes to be, so
// that a host which finds the surface later can tell it (spec launch L6.5). The state
// stays unknown.
func (s *Store) Plan(ctx context.Context, caller, id string, result []byte) error {
	return s.write(ctx, "plan an operation", statement(`UPDATE operations SET result = ?
		WHERE caller = ? AND id = ? AND state = 'unknown'`, string(result), caller, id))
}

// Record stores the result of an operation whose surface exists. It does nothing to one
// that is settled or failed.
func (s *Store) Record(ctx context.Context, caller, id string, result []byte) error {
	return s.write(ctx, "record an operation", statement(`UPDATE operations SET state = 'recorded', result = ?
		WHERE caller = ? AND id = ? AND state = 'unknown'`, string(result), caller, id))
}

// Settle stores the last result. It does nothing to one that is settled or failed.
func (s *Store) Settle(ctx context.Context, caller, id string, result []byte) error {
	return s.write(ctx, "settle an operation", statement(`UPDATE operations SET state = 'settled', result = ?
		WHERE caller = ? AND id = ? AND state IN ('unknown', 'recorded')`, string(result), caller, id))
}

// Fail stores a definite failure: it is proven that nothing ran. It does nothing to one
// whose surface was recorded.
func (s *Store) Fail(ctx context.Context, caller, id string, failure []byte) error {
	return s.write(ctx, "fail an operation", statement(`UPDATE operations SET state = 'failed', error = ?
		WHERE caller = ? AND id = ? AND state = 'unknown'`, string(failure), caller, id))
}

// NoteWorktree stores where an operation's worktree is, so that a replay can name it.
func (s *Store) NoteWorktree(ctx context.Context, caller, id, path, branch string) error {
	return s.write(ctx, "note a worktree", statement(`UPDATE operations SET worktree_path = ?, worktree_branch = ?
		WHERE caller = ? AND id = ?`, path, branch, caller, id))
}

// Operation gives a stored operation; false when there is none.
func (s *Store) Operation(ctx context.Context, caller, id string) (OperationRow, bool, error) {
	row, err := scanOperation(s.readDB.QueryRowContext(ctx, selectOperation+` WHERE caller = ? AND id = ?`, caller, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return OperationRow{}, false, nil
	}
	return row, err == nil, told("read an operation", err)
}

// Unsettled lists the operations that a restarted host has to ask the keeper about
// (spec launch L6.5), oldest first: those nobody knows the end of.
func (s *Store) Unsettled(ctx context.Context) ([]OperationRow, error) {
	rows, err := s.readDB.QueryContext(ctx, selectOperation+` WHERE state IN ('unknown', 'recorded') ORDER BY recorded_at, caller, id`)
	if err != nil {
		return nil, told("list operations", err)
	}
	defer rows.Close()
	var list []OperationRow
	for rows.Next() {
		row, err := scanOperation(rows.Scan)
		if err != nil {
			return nil, told("list operations", err)
		}
		list = append(list, row)
	}
	return list, told("list operations", rows.Err())
}

// Sweep forgets what is past its time: operations (spec launch L6.3) and logins. It
// gives the number of operations forgotten.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int64, error) {
	var gone int64
	err := s.write(ctx, "sweep the store", func(t *tx) (err error) {
		if err := t.exec(`DELETE FROM logins WHERE expires <= ?`, now.UnixMilli()); err != nil {
			return err
		}
		gone, err = t.affect(`DELETE FROM operations WHERE expires_at <= ?`, now.UnixMilli())
		return err
	})
	if err != nil {
		return 0, err // a write that was not waited for still goes on: its number is not to be read
	}
	return gone, nil
}

const selectOperation = `SELECT caller, id, fingerprint, intent, state, recorded_at, expires_at,
	pane_key, tab, pane, session, instance, worktree_path, worktree_branch, result, error FROM operations`

func scanOperation(scan func(...any) error) (OperationRow, error) {
	var (
		row               OperationRow
		recorded, expires int64
	)
	err := scan(&row.Caller, &row.OperationID, &row.Fingerprint, &row.Intent, &row.State, &recorded, &expires,
		&row.Minted.PaneKey, &row.Minted.TabID, &row.Minted.PaneID, &row.Minted.SessionID, &row.Minted.WorktreeInstance,
		&row.WorktreePath, &row.WorktreeBranch, &row.Result, &row.Error)
	row.RecordedAt, row.ExpiresAt = time.UnixMilli(recorded), time.UnixMilli(expires)
	return row, err
}
