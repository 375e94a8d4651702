package acp

import (
	"strconv"
	"strings"

	"davit"
)

// ref is an item of the journal as far as it has come.
type ref struct {
	item     string
	revision uint64
	turn     string
}

// run is the message or thought that chunks are being joined to.
type run struct {
	ref
	kind      davit.JournalKind
	role      string
	messageID string
	length    int // UTF-16 units
}

// Conversation folds frames into rows. All of its state but View follows from the rows, so
// Apply can rebuild it; what cannot be told from rows is not kept.
type Conversation struct {
	session davit.SessionID
	view    View
	minted  int // items so far; an item's number is in its id

	turn      string // the running one, "" between turns
	turnRef   ref
	run       *run
	garbage   *ref
	junk      int // lines in the garbage item
	status    ref
	plan      *ref
	tools     tools
	approvals approvals

	submissions map[string]*ref
	requests    map[string]*ours // by rpc id: ours that are open

	said       bool   // there is a message in the journal
	first      string // of the user's first message, for a title
	prompt     []byte // the user's last message
	promptItem string
	load       loading
}

// ours is an open request of ours.
type ours struct {
	ref
	method string
}

// loading says what becomes of the past that an agent tells again while session/load runs.
type loading int

const (
	notLoading loading = iota
	loadImport         // the journal knows nothing of it: it is journaled
	loadDrop           // the journal has it already
)

// NewConversation makes the conversation of a session with an empty journal.
func NewConversation(session davit.SessionID) *Conversation {
	return &Conversation{
		session: session, submissions: map[string]*ref{}, requests: map[string]*ours{},
		tools: newTools(), approvals: newApprovals(),
	}
}

// mint makes an item. Ids come from counting, so that the same frames give the same ones.
func (c *Conversation) mint(kind davit.JournalKind) ref {
	c.minted++
	return ref{item: string(kind) + "-" + strconv.Itoa(c.minted), turn: c.turn}
}

// row makes the next row of an item.
func (r *ref) row(kind davit.JournalKind, body davit.JournalBody) Row {
	r.revision++
	return Row{Kind: kind, Item: r.item, Revision: r.revision, Turn: r.turn, Body: body}
}

// interrupt ends what only goes on while nothing else comes.
func (c *Conversation) interrupt() { c.run, c.garbage = nil, nil }

// View is what the session shows of its agent. Its slices are never changed afterwards.
func (c *Conversation) View() View {
	v := c.view
	if v.Title == "" {
		v.Title = c.first
	}
	return v
}

// SetView gives back, after a restart, what was stored of View.
func (c *Conversation) SetView(v View) { c.view = v }

// UserMessage is the row of a message that the user sends. Its MessageID is the operation's
// id, so that a client finds its own message again.
func (c *Conversation) UserMessage(operation, text string) Row {
	text = valid(text)
	if c.turn == "" {
		c.interrupt() // a message that waits for its turn does not cut the agent's in two
	}
	item := c.mint(davit.JournalMessage)
	c.heard(item.item, 0, text)
	return item.row(davit.JournalMessage, davit.JournalBody{Role: "user", Text: text, MessageID: short(operation, maxName)})
}

// heard remembers the user's last message, of which text is what stands from at on.
func (c *Conversation) heard(item string, at int, text string) {
	if c.first == "" {
		c.first = titleOf(text)
	}
	if at == 0 || item != c.promptItem {
		c.prompt = nil
	}
	c.said, c.prompt, c.promptItem = true, append(c.prompt, text...), item
}

// titleOf is a message's first line, short.
func titleOf(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return short(strings.TrimSpace(first), 80)
}

// BeginTurn begins a turn. What the agent says until EndTurn belongs to it.
func (c *Conversation) BeginTurn(id string) Row {
	c.begin(id)
	c.turnRef = c.mint(davit.JournalTurn)
	return c.turnRef.row(davit.JournalTurn, davit.JournalBody{TurnState: &davit.TurnState{State: "running"}})
}

func (c *Conversation) begin(id string) {
	c.interrupt()
	c.turn, c.plan = id, nil
	c.tools = newTools()
}

// EndTurn ends the turn: questions that are open and tool calls that run end with it, each
// with a row of its own. Who the agent still listens to must answer the questions first
// (Open, Decide, Cancelled). Between turns it gives only what was left open.
func (c *Conversation) EndTurn(reason, message, stderr string) []Row {
	gone := reason == "error" || reason == "exited" || reason == "lost"
	rows := c.abandonAll(gone)
	rows = append(rows, c.tools.endAll(gone)...)
	if c.turn != "" {
		rows = append(rows, c.turnRef.row(davit.JournalTurn, davit.JournalBody{TurnState: &davit.TurnState{
			State: "ended", Reason: short(valid(reason), maxName), Message: short(valid(message), blobHead), Stderr: tail(valid(stderr), maxStderr),
		}}))
		c.end()
	}
	return rows
}

func (c *Conversation) end() {
	c.turn, c.run, c.plan = "", nil, nil
}

// Note makes a row of the service's own: status, lifecycle, submission, request. Rows of one
// submission, of one request and of the status are one item each. A request of ours must
// come through here before it is sent: only then Take knows its answer.
func (c *Conversation) Note(kind davit.JournalKind, body davit.JournalBody) Row {
	switch {
	case kind == davit.JournalStatus:
		c.status.item, c.status.turn = "status", c.turn
		return c.status.row(kind, body)
	case kind == davit.JournalSubmission && body.Submission != nil:
		known := c.submissions[body.Submission.ID]
		if known == nil {
			item := c.mint(kind)
			known = &item
			c.submissions[body.Submission.ID] = known
		}
		return known.row(kind, body)
	case kind == davit.JournalRequest && body.Request != nil && body.Request.Direction == "ours":
		return c.noteRequest(*body.Request)
	}
	item := c.mint(kind)
	return item.row(kind, body)
}

// lifecycle makes a row about what happened.
func (c *Conversation) lifecycle(s *Step, event, text string, blob *davit.Blob) {
	item := c.mint(davit.JournalLifecycle)
	s.Rows = append(s.Rows, item.row(davit.JournalLifecycle, davit.JournalBody{Text: text, Blob: blob, Lifecycle: &davit.Lifecycle{Event: event}}))
}

// unknown is the row of something that davit does not know or cannot read.
func (c *Conversation) unknown(s *Step, what string, raw []byte) {
	blob, p := textBlob(string(raw), "application/json")
	s.keep(p)
	c.lifecycle(s, "unknown", "The agent sent "+what+".", &blob)
}
