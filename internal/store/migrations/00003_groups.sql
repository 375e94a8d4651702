-- +goose Up
CREATE TABLE groups (
  id   TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

-- A tab config that makes a worktree and whose tab is not there yet.
CREATE TABLE openings (
  id       TEXT PRIMARY KEY,
  config   TEXT NOT NULL,
  worktree TEXT NOT NULL,
  created  INTEGER NOT NULL
) STRICT;

-- What undo needs of a pane that was closed; null while it is in its tab.
ALTER TABLE panes ADD COLUMN closing TEXT;
