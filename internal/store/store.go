// Package store keeps what the host must not forget in one SQLite file: layout, panes,
// cleanups, acts owed to the keeper, logins, settings, the ledger of launches and the
// journals of chats. It is the only package with SQL. docs/store.md has the tables and the rules.
//
// Open starts two goroutines and Close waits for both: the writer, which owns the one
// connection that writes and commits what waits in groups, and the copier, which keeps
// the last good copy. There are no locks. Reads go through a pool of connections of
// their own and see the last commit.
//
// It decides nothing about tabs or launches beyond the moves of the ledger. It never
// overwrites a store that it cannot read, never writes into one of a newer version, and
// keeps no secret and no token in clear.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"davit"
)

// Config says where the store is.
type Config struct {
	Path      string           // the file; its directory is made when it is missing
	Log       *slog.Logger     // nil: nothing is logged
	Now       func() time.Time // nil: time.Now
	CopyEvery time.Duration    // how often the last good copy is renewed; 0: each hour
}

// Identity is minted when a store is first made.
type Identity struct {
	HostID   davit.HostID // "h_" and 16 hex digits
	Instance string       // 12 hex digits, in the name of the browser's cookie
}

// Recovery tells what Open had to do because of a damaged store. The zero value: nothing.
type Recovery struct {
	SetAside string    // where the damaged file is now
	Reason   string    // what was wrong with it
	Copy     bool      // the last good copy took its place; else an empty store did
	CopyTime time.Time // when that copy was made
}

// Store is an open store.
type Store struct {
	path     string
	log      *slog.Logger
	now      func() time.Time
	writeDB  *sql.DB
	readDB   *sql.DB
	writer   *writer
	copier   *copier
	identity Identity
	key      []byte // of the hash of accountEnv
	floor    int64  // ms; ids minted before it may be lost (docs/store.md)
	recovery Recovery
	close    func() error
}

// Identity gives the names minted for this store.
func (s *Store) Identity() Identity { return s.identity }

// FingerprintKey keys the hash of secrets that go into a fingerprint (spec launch L6.2).
func (s *Store) FingerprintKey() []byte { return append([]byte(nil), s.key...) }

// SetAside gives the path of the damaged store that Open moved away, "" when there was
// none (spec tabs T6.2).
func (s *Store) SetAside() string { return s.recovery.SetAside }

// Recovery tells the whole story of SetAside.
func (s *Store) Recovery() Recovery { return s.recovery }

// Close makes the writes that wait, then closes the file. Writes after it are refused;
// a second Close does nothing.
func (s *Store) Close() error { return s.close() }

func (s *Store) end() error {
	s.copier.close()
	s.writer.close()
	return errors.Join(s.writer.conn.Close(), s.readDB.Close(), s.writeDB.Close())
}

// write submits a change and gives its error a code when it is about the store.
func (s *Store) write(ctx context.Context, op string, do change) error {
	return told(op, s.writer.submit(ctx, do))
}

// told turns damage found while running into the domain's error; what else happened
// keeps its cause.
func told(op string, err error) error {
	var domain *davit.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &domain):
		return err
	case errors.Is(err, errClosed):
		return &davit.Error{Code: davit.CodeShuttingDown, Op: op, Message: "the host is stopping: " + op + " was not stored", Err: err}
	case isDamage(err):
		e := davit.Errorf(davit.CodeStoreDamaged, "%s: the store is damaged: %w", op, err)
		return e.WithHint("restart davit: it sets the file aside and goes on with its last good copy")
	}
	return fmt.Errorf("%s: %w", op, err)
}

// isDamage tells a broken file from everything that can be mended outside of it.
func isDamage(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// loadMeta reads the identity, and mints what is missing in one transaction.
func (s *Store) loadMeta(ctx context.Context) error {
	minted := map[string]string{
		"host_id":         "h_" + randomHex(8),
		"instance":        randomHex(6),
		"fingerprint_key": randomHex(32),
		"ledger_floor":    "0",
	}
	if s.recovery.SetAside != "" {
		// What ran under ids of before now may be lost with the file (docs/store.md).
		s.floor = s.now().UnixMilli()
	}
	var floor int64
	err := s.write(ctx, "read the store's identity", func(t *tx) error {
		for key, value := range minted {
			if err := t.exec(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, key, value); err != nil {
				return err
			}
			if err := t.row(`SELECT value FROM meta WHERE key = ?`, []any{key}, &value); err != nil {
				return err
			}
			minted[key] = value
		}
		if _, err := fmt.Sscan(minted["ledger_floor"], &floor); err != nil {
			return fmt.Errorf("ledger_floor %q: %w", minted["ledger_floor"], err)
		}
		floor = max(floor, s.floor)
		if s.recovery.Copy {
			if err := afterLoss(t); err != nil {
				return err
			}
		}
		return t.exec(`UPDATE meta SET value = ? WHERE key = 'ledger_floor'`, fmt.Sprint(floor))
	})
	if err != nil {
		return err
	}
	s.floor = floor
	s.identity = Identity{HostID: davit.HostID(minted["host_id"]), Instance: minted["instance"]}
	s.key, err = hex.DecodeString(minted["fingerprint_key"])
	return err
}

// randomHex gives n random bytes as hex digits. crypto/rand does not fail.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
