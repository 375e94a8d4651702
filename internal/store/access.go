package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Hash is how a token, cookie or key is stored: SHA-256 as hex. They are long and
// random, so that nothing slower is called for.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// WebSessionRow is one logged-in browser (spec interfaces A2.1): both hashes must fit.
type WebSessionRow struct {
	CookieHash string
	KeyHash    string
	Label      string
	Created    time.Time
	LastSeen   time.Time
}

// TokenRow is one bearer token.
type TokenRow struct {
	Hash     string
	Label    string
	Scope    string // view | drive | admin
	Created  time.Time
	LastUsed time.Time
}

// Setting gives the stored value of a key; false when it was never set.
func (s *Store) Setting(ctx context.Context, key string) (json.RawMessage, bool, error) {
	var value string
	err := s.readDB.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return json.RawMessage(value), err == nil, told("read a setting", err)
}

// SetSetting stores the value of a key; nil deletes it.
func (s *Store) SetSetting(ctx context.Context, key string, value json.RawMessage) error {
	if value == nil {
		return s.write(ctx, "store a setting", statement(`DELETE FROM settings WHERE key = ?`, key))
	}
	if !json.Valid(value) {
		return fmt.Errorf("store a setting: %s is not given as JSON", key)
	}
	return s.write(ctx, "store a setting", statement(`INSERT INTO settings (key, value) VALUES (?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, string(value)))
}

// PutLogin stores a one-time login token by its hash.
func (s *Store) PutLogin(ctx context.Context, tokenHash string, expires time.Time) error {
	return s.write(ctx, "store a login", statement(`INSERT INTO logins (token_hash, expires) VALUES (?, ?)
		ON CONFLICT (token_hash) DO NOTHING`, tokenHash, expires.UnixMilli()))
}

// TakeLogin uses a login up: true exactly once, and only before its time is over.
func (s *Store) TakeLogin(ctx context.Context, tokenHash string, now time.Time) (bool, error) {
	var taken bool
	err := s.write(ctx, "take a login", func(t *tx) error {
		n, err := t.affect(`DELETE FROM logins WHERE token_hash = ? AND expires > ?`, tokenHash, now.UnixMilli())
		taken = n == 1
		return err
	})
	return err == nil && taken, err // in this order: a write that was not waited for still goes on
}

// PutWebSession stores a browser's session, or its new LastSeen.
func (s *Store) PutWebSession(ctx context.Context, row WebSessionRow) error {
	return s.write(ctx, "store a session", statement(`INSERT INTO web_sessions (cookie_hash, key_hash, label, created, last_seen)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (cookie_hash) DO UPDATE SET key_hash = excluded.key_hash, label = excluded.label, last_seen = excluded.last_seen`,
		row.CookieHash, row.KeyHash, row.Label, row.Created.UnixMilli(), row.LastSeen.UnixMilli()))
}

// Session gives the session of a cookie; false when there is none.
func (s *Store) WebSession(ctx context.Context, cookieHash string) (WebSessionRow, bool, error) {
	row := WebSessionRow{CookieHash: cookieHash}
	var created, seen int64
	err := s.readDB.QueryRowContext(ctx, `SELECT key_hash, label, created, last_seen FROM web_sessions WHERE cookie_hash = ?`, cookieHash).
		Scan(&row.KeyHash, &row.Label, &created, &seen)
	if errors.Is(err, sql.ErrNoRows) {
		return WebSessionRow{}, false, nil
	}
	row.Created, row.LastSeen = time.UnixMilli(created), time.UnixMilli(seen)
	return row, err == nil, told("read a session", err)
}

// DeleteSession ends a browser's session.
func (s *Store) DeleteSession(ctx context.Context, cookieHash string) error {
	return s.write(ctx, "end a session", statement(`DELETE FROM web_sessions WHERE cookie_hash = ?`, cookieHash))
}

// PutToken stores a bearer token, or its new LastUsed.
func (s *Store) PutToken(ctx context.Context, row TokenRow) error {
	return s.write(ctx, "store a token", statement(`INSERT INTO tokens (token_hash, label, scope, created, last_used)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (token_hash) DO UPDATE SET label = excluded.label, scope = excluded.scope, last_used = excluded.last_used`,
		row.Hash, row.Label, row.Scope, row.Created.UnixMilli(), row.LastUsed.UnixMilli()))
}

// Token gives a bearer token by its hash; false when there is none.
func (s *Store) Token(ctx context.Context, hash string) (TokenRow, bool, error) {
	row := TokenRow{Hash: hash}
	var created, used int64
	err := s.readDB.QueryRowContext(ctx, `SELECT label, scope, created, last_used FROM tokens WHERE token_hash = ?`, hash).
		Scan(&row.Label, &row.Scope, &created, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return TokenRow{}, false, nil
	}
	row.Created, row.LastUsed = time.UnixMilli(created), time.UnixMilli(used)
	return row, err == nil, told("read a token", err)
}

// DeleteToken revokes a bearer token.
func (s *Store) DeleteToken(ctx context.Context, hash string) error {
	return s.write(ctx, "revoke a token", statement(`DELETE FROM tokens WHERE token_hash = ?`, hash))
}
