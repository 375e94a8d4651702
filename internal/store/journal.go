package store

import (
	"time"

	"davit"
)

// ChatRow is a structured session as stored (spec session S1). Its counters are moved by
// JournalBatch alone; its fence, NextRPC and Spawn never go back, and Session.Cursor is
// read from what the rows made it, whatever was put.
type ChatRow struct {
	Session   davit.Session // the view, with status and draft
	Spec      ChatSpec
	NextRPC   uint64 // the next rpc id: never used before in this session
	Keeper    string // the keeper's name of the spawn that runs or ran last, "" before the first
	Spawn     int    // its number, from 1
	Initiated bool   // the agent has answered session/new or session/load of this spawn
}

// ChatSpec is what it takes to start the agent again.
type ChatSpec struct {
	Agent     string            `json:"agent"`
	Directory string            `json:"directory"`
	Options   map[string]string `json:"options,omitempty"`
	Operation string            `json:"operation,omitempty"` // of the launch

	// KeeperBoot names the keeper that was asked for the last spawn: pid, start time and
	// boot id. Only the same one can do an owed spawn under its old id.
	KeeperBoot string `json:"keeperBoot,omitempty"`
}

// JournalBatch is one step of one session: all of it is stored in one transaction, or
// nothing. Rows carry their epoch and seq: the session's owner counts, and the store
// refuses a row whose place is taken or not the next. Times are kept to the millisecond.
type JournalBatch struct {
	Session     davit.SessionID
	Put         *ChatRow // the row as it is after this step
	Rows        []davit.JournalRow
	Payloads    []PayloadRow
	Requests    []RPCRow
	Submissions []davit.Submission
	Folded      []FoldRow
	PutActs     []ActRow // owed to the keeper: spawn, input, close (their Pane is the keeper's name)
	DoneActs    []string
}

// PayloadRow is what the head of a blob stands for.
type PayloadRow struct {
	Digest string // SHA-256 in hex
	Mime   string
	Data   []byte
}

// RPCRow is a request of either side (spec session S1.2). The agent's are open until
// Answer is stored; an answer is never replaced.
type RPCRow struct {
	Direction string // ours | agent
	ID        string // the rpc id as JSON
	Method    string
	Act       string // that sends it, or its answer
	Item      string // the journal's item, of a permission question
	State     string // open answered failed cancelled
	Answer    []byte
	Asked     time.Time // zero in a later write: as it was
	Spawn     int       // of the process; 0 in a write: the session's. An agent counts anew in each
}

// FoldRow says how far a spawn's output is folded (spec session S1.1, S1.3).
type FoldRow struct {
	Keeper string // the keeper's name of the spawn
	Stream string // stdout | stderr
	Offset uint64
	Skip   uint64 // where the line began that is being skipped; 0 with Skipping false
	// Skipping says that the fold reads on to the next newline.
	Skipping bool
}

// Chat is everything of one session but its rows.
type Chat struct {
	Row         ChatRow
	Requests    []RPCRow           // the open ones
	Submissions []davit.Submission // those that are not settled, oldest first
	Folds       []FoldRow
	Acts        []ActRow // owed, in order
	Fault       error    // the row cannot be decoded: everything else is empty
	ID          davit.SessionID
}
