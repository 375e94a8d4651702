// Package acp is everything of the Agent Client Protocol (version 1) that needs no I/O:
// it cuts an agent's output into lines, reads them as JSON-RPC 2.0, folds them into rows of
// a session's journal, and writes the requests and answers that davit sends (spec session
// S1, driver acp).
//
//	log of stdout ─ Lines.Feed ─► Line ─ Decode ─► Frame ─ Conversation.Take ─► Step{Rows, Reply, Ask, Answered}
//	stored rows ─ Conversation.Apply ─► the same state as before a restart
//
// It is pure: the same frames give the same rows, however the bytes were cut. It starts no
// goroutine and takes no lock; a Conversation belongs to one goroutine. What comes from an
// agent is hostile: nothing panics, everything is bounded, and nothing is dropped in silence.
// An update, a content or a line that it does not know becomes a row that says what it was,
// because the SDK's unions would swallow it.
//
// It refuses to guess: an answer counts once, for a request of ours that is open; a question
// that cannot be read is denied.
package acp

import (
	"encoding/json"

	"davit"
)

// What is kept of what an agent says. What is over a limit is cut, and the row says so.
const (
	MaxLine       = 32 << 20  // a longer line is skipped (spec session S1.3)
	blobWhole     = 16 << 10  // text up to this stands in the row
	blobHead      = 4 << 10   // what stands there of a longer one
	maxChunk      = 256 << 10 // a longer piece of a message is a payload
	maxRun        = 1 << 20   // UTF-16 units of one message item; then the next begins
	maxStderr     = 4 << 10
	maxName       = 1 << 10
	maxPath       = 4 << 10
	maxLocations  = 100
	maxOutputs    = 100
	maxDiffs      = 100
	maxPlan       = 200
	maxAnswers    = 32 // options of one permission question
	maxOptions    = 32 // pickers of a session
	maxChoices    = 1000
	maxCommands   = 500
	maxTools      = 2000 // tool calls of one turn that are remembered
	maxApprovals  = 1000 // permission questions that are remembered
	maxOpenAsks   = 100
	maxImageBytes = 24 << 20
)

// Row is a row of the journal without what its owner counts: session, epoch, seq, fence,
// time. Turn is the turn that it belongs to, "" between turns; it must be stored as it is,
// for Apply.
type Row struct {
	Kind     davit.JournalKind
	Item     string
	Revision uint64
	Turn     string
	Body     davit.JournalBody
}

// Payload is what the head of a blob stands for. Digest is the SHA-256 in hex.
type Payload struct {
	Digest string
	Mime   string
	Data   []byte
}

// Ask is a permission question of the agent's that is open (spec session S1.7). Item and
// Revision are what Decide takes.
type Ask struct {
	RPCID    json.RawMessage
	Item     string
	Revision uint64
	Title    string
	Options  []davit.ApprovalOption
}

// Answered is the answer to a request of ours; Err is nil when it succeeded.
type Answered struct {
	ID     uint64
	Method string
	Result json.RawMessage
	Err    *RPCError
}

// Step is what one frame means.
type Step struct {
	Rows     []Row
	Payloads []Payload
	Ask      *Ask            // a question that waits for a person; its row is in Rows
	Closed   *Ask            // a question that the agent took back; its row is in Rows, its answer in Reply
	Reply    []byte          // the line to send at once, newline included
	ReplyTo  json.RawMessage // the id of the request that Reply answers
	Method   string          // its method
	Answered *Answered
	View     bool // View changed
}

// View is what a session shows of its agent beside the journal. It is not in the rows: who
// rebuilds a conversation gives it back with SetView.
type View struct {
	Title    string
	Options  []davit.AgentOption
	Commands []davit.AgentSlash
	Usage    *davit.AgentUsage
	Capped   []string // what was more than is kept, for a person
}
