-- +goose Up
CREATE TABLE sessions (
  id        TEXT PRIMARY KEY,
  agent     TEXT NOT NULL,
  epoch     INTEGER NOT NULL, -- of the newest row of the journal
  seq       INTEGER NOT NULL, -- likewise
  fence     INTEGER NOT NULL,
  next_rpc  INTEGER NOT NULL,
  keeper    TEXT NOT NULL,
  spawn     INTEGER NOT NULL,
  initiated INTEGER NOT NULL,
  created   INTEGER NOT NULL,
  body      TEXT NOT NULL,
  spec      TEXT NOT NULL
) STRICT;

CREATE TABLE journal (
  session  TEXT NOT NULL,
  epoch    INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  fence    INTEGER NOT NULL,
  time     INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  item     TEXT NOT NULL,
  revision INTEGER NOT NULL,
  turn     TEXT NOT NULL,
  body     TEXT NOT NULL,
  PRIMARY KEY (session, epoch, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE payloads (
  session TEXT NOT NULL,
  digest  TEXT NOT NULL,
  mime    TEXT NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (session, digest)
) STRICT;

CREATE TABLE folds (
  session  TEXT NOT NULL,
  keeper   TEXT NOT NULL,
  stream   TEXT NOT NULL,
  folded   INTEGER NOT NULL,
  skip     INTEGER NOT NULL,
  skipping INTEGER NOT NULL,
  PRIMARY KEY (session, keeper, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  session   TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('ours', 'agent')),
  spawn     INTEGER NOT NULL,
  rpc_id    TEXT NOT NULL,
  method    TEXT NOT NULL,
  act       TEXT NOT NULL,
  item      TEXT NOT NULL,
  state     TEXT NOT NULL CHECK (state IN ('open', 'answered', 'failed', 'cancelled')),
  answer    BLOB,
  asked     INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_id ON requests (session, direction, rpc_id, spawn);
CREATE UNIQUE INDEX requests_ours ON requests (session, rpc_id) WHERE direction = 'ours';
CREATE UNIQUE INDEX requests_open ON requests (session, direction, spawn, rpc_id) WHERE state = 'open';

CREATE TABLE submissions (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  id      TEXT NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('queued', 'pending', 'accepted', 'rejected', 'unknown')),
  item    TEXT NOT NULL,
  text    TEXT NOT NULL,
  reason  TEXT NOT NULL,
  UNIQUE (session, id)
) STRICT;
CREATE INDEX submissions_unsettled ON submissions (session, seq) WHERE state IN ('queued', 'pending');

-- An act of a chat has its session here; of a tab's pane, nothing.
ALTER TABLE acts ADD COLUMN session TEXT NOT NULL DEFAULT '';
CREATE INDEX acts_session ON acts (session, seq) WHERE session <> '';
