-- +goose Up
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tabs (
  id       TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  closing  TEXT,
  body     TEXT NOT NULL
) STRICT;

CREATE TABLE panes (
  id              TEXT PRIMARY KEY,
  tab             TEXT NOT NULL,
  body            TEXT NOT NULL,
  spec            TEXT NOT NULL,
  checkpoint      INTEGER NOT NULL,
  effects_through INTEGER NOT NULL,
  keeper_boot     TEXT NOT NULL
) STRICT;

CREATE TABLE notices (
  id      TEXT PRIMARY KEY,
  created INTEGER NOT NULL,
  body    TEXT NOT NULL
) STRICT;

CREATE TABLE cleanups (
  id       TEXT PRIMARY KEY,
  tab      TEXT NOT NULL,
  title    TEXT NOT NULL,
  repo     TEXT NOT NULL,
  worktree TEXT NOT NULL,
  plan     TEXT NOT NULL,
  state    TEXT NOT NULL,
  steps    TEXT NOT NULL,
  pane     TEXT NOT NULL,
  created  INTEGER NOT NULL,
  changed  INTEGER NOT NULL
) STRICT;

CREATE TABLE worktrees (
  id        TEXT PRIMARY KEY,
  path      TEXT NOT NULL,
  repo      TEXT NOT NULL,
  instance  TEXT NOT NULL,
  operation TEXT NOT NULL,
  body      TEXT NOT NULL,
  created   INTEGER NOT NULL
) STRICT;

CREATE TABLE acts (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT NOT NULL UNIQUE,
  pane    TEXT NOT NULL,
  kind    TEXT NOT NULL,
  body    BLOB NOT NULL,
  created INTEGER NOT NULL
) STRICT;

CREATE TABLE operations (
  caller          TEXT NOT NULL,
  id              TEXT NOT NULL,
  fingerprint     TEXT NOT NULL,
  intent          TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('pending', 'unknown', 'recorded', 'settled', 'failed')),
  op_time         INTEGER NOT NULL,
  recorded_at     INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  pane_key        TEXT NOT NULL,
  tab             TEXT NOT NULL,
  pane            TEXT NOT NULL,
  session         TEXT NOT NULL,
  instance        TEXT NOT NULL,
  worktree_path   TEXT NOT NULL DEFAULT '',
  worktree_branch TEXT NOT NULL DEFAULT '',
  result          TEXT,
  error           TEXT,
  PRIMARY KEY (caller, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX operations_expiry ON operations (expires_at);
CREATE INDEX operations_unsettled ON operations (state) WHERE state IN ('unknown', 'recorded');

CREATE TABLE logins (
  token_hash TEXT PRIMARY KEY,
  expires    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE web_sessions (
  cookie_hash TEXT PRIMARY KEY,
  key_hash    TEXT NOT NULL,
  label       TEXT NOT NULL,
  created     INTEGER NOT NULL,
  last_seen   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  token_hash TEXT PRIMARY KEY,
  label      TEXT NOT NULL,
  scope      TEXT NOT NULL,
  created    INTEGER NOT NULL,
  last_used  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
