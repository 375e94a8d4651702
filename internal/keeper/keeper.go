package keeper

import (
	"context"
	"log/slog"
	"time"
)

// Config says which keeper to be. Zero bounds and times mean the specified ones.
type Config struct {
	StateDir   string
	RuntimeDir string // this home's own; "" when there is none
	TempDir    string // for the socket when RuntimeDir does not do; "" means os.TempDir
	Home       string
	Build      string
	Log        *slog.Logger

	IdleExit  time.Duration // leave after so long without child and host (60 s)
	Look      time.Duration // between looks for the socket (10 s)
	Ping      time.Duration // silence after which a host is pinged (3 s)
	Heard     time.Duration // a host is there when heard within (10 s)
	Hold      time.Duration // wait for a host that went without bye (60 s)
	PTYAhead  uint64        // bytes past the acknowledged offset, PTY (8 MiB)
	PipeAhead uint64        // the same for a pipe (64 MiB)
}

var _ = context.Background
