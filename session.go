package davit

import (
	"encoding/json"
	"time"
)

// SessionID names one structured session of one host, for ever: "<agent>_<uuid with _
// for ->" (spec launch L1).
type SessionID string

// Session is one structured session, a chat with an agent over its own protocol, as
// clients see it (spec session). What was said in it is its journal; this is the state
// that tabs, footers and lists show.
type Session struct {
	ID        SessionID     `json:"id"`
	Agent     string        `json:"agent"`
	AgentName string        `json:"agentName"`
	Practice  bool          `json:"practice,omitempty"`
	Driver    string        `json:"driver"`
	Tab       TabID         `json:"tab,omitempty"`  // empty when no tab shows it any more
	Pane      PaneID        `json:"pane,omitempty"` // likewise
	Directory string        `json:"directory"`
	Title     string        `json:"title,omitempty"` // the agent's own, else from the first message
	Status    AgentStatus   `json:"status"`
	Waiting   WaitingFor    `json:"waiting,omitempty"` // with the status waiting
	Since     time.Time     `json:"since"`             // of the status
	Source    string        `json:"source"`            // where the status comes from: protocol
	Fence     uint64        `json:"fence"`             // grows with each start and end of its process (S1.6)
	Cursor    Cursor        `json:"cursor"`            // the newest row of its journal
	Queued    int           `json:"queued,omitempty"`  // messages that wait for the turn to end
	Draft     SessionDraft  `json:"draft"`
	Options   []AgentOption `json:"options,omitempty"`  // model, mode, effort: as the agent offers them
	Commands  []AgentSlash  `json:"commands,omitempty"` // its slash commands
	Usage     *AgentUsage   `json:"usage,omitempty"`
	Resume    string        `json:"resume,omitempty"` // the agent's own id, by which it goes on after its process has ended
	Fault     *Error        `json:"fault,omitempty"`  // why it ended or cannot go on, with what mends it
	Created   time.Time     `json:"created"`
}

// AgentStatus is what an agent is doing (spec session S3).
type AgentStatus string

// The statuses of S3.
const (
	AgentStarting  AgentStatus = "starting"
	AgentWorking   AgentStatus = "working"
	AgentWaiting   AgentStatus = "waiting"
	AgentIdle      AgentStatus = "idle"
	AgentDone      AgentStatus = "done" // idle, and nobody has looked since the turn ended
	AgentError     AgentStatus = "error"
	AgentExited    AgentStatus = "exited"
	AgentResumable AgentStatus = "resumable"
	AgentUnknown   AgentStatus = "unknown"
)

// WaitingFor is what a waiting agent waits for.
type WaitingFor string

// What an agent can wait for.
const (
	WaitingPermission WaitingFor = "permission"
	WaitingQuestion   WaitingFor = "question"
	WaitingInput      WaitingFor = "input"
)

// SessionDraft is the unsent text of a session's composer, the same on every client
// (spec session S1.8). A write names the revision that it replaces.
type SessionDraft struct {
	Text     string `json:"text"`
	Revision uint64 `json:"revision"`
}

// AgentOption is one thing that can be picked in a session.
type AgentOption struct {
	ID       string        `json:"id"`            // model, mode, effort, or the agent's own word
	Name     string        `json:"name"`          // for a person
	Value    string        `json:"value"`         // the current choice's id
	Category string        `json:"category"`      // model | mode | effort | other
	Via      string        `json:"via,omitempty"` // which of the protocol's methods sets it: mode | model | config
	Choices  []AgentChoice `json:"choices"`
}

// AgentChoice is one value of an option.
type AgentChoice struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// AgentSlash is one slash command, without the slash.
type AgentSlash struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Hint        string `json:"hint,omitempty"` // what follows it
}

// AgentUsage is what the agent says of its context and cost; zero is not known.
type AgentUsage struct {
	Used     int64   `json:"used,omitempty"` // tokens in context
	Size     int64   `json:"size,omitempty"` // of the context
	Cost     float64 `json:"cost,omitempty"`
	Currency string  `json:"currency,omitempty"`
}

// Cursor is a place in a journal: a subscriber gets the rows after it (spec session S1.4).
type Cursor struct {
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`
}

// JournalKind says what a row is about.
type JournalKind string

// The kinds of S1.1. The body has the field of the same noun.
const (
	JournalMessage    JournalKind = "message"
	JournalThought    JournalKind = "thought"
	JournalTool       JournalKind = "tool"
	JournalDiff       JournalKind = "diff"
	JournalPlan       JournalKind = "plan"
	JournalApproval   JournalKind = "approval"
	JournalQuestion   JournalKind = "question"
	JournalStatus     JournalKind = "status"
	JournalTurn       JournalKind = "turn"
	JournalSubmission JournalKind = "submission"
	JournalLifecycle  JournalKind = "lifecycle"
	JournalRequest    JournalKind = "request"
)

// JournalRow is one row of a session's journal: append-only, in order of (Epoch, Seq).
//
// Rows of one Item are about the same thing. A later row replaces what the earlier ones
// said, with one exception that keeps streaming cheap: a message or thought says its text
// from Body.At on, what lies before stays. So applying a row twice is harmless.
type JournalRow struct {
	Session  SessionID   `json:"session"`
	Epoch    uint64      `json:"epoch"`
	Seq      uint64      `json:"seq"`
	Fence    uint64      `json:"fence"`
	Time     time.Time   `json:"time"`
	Kind     JournalKind `json:"kind"`
	Item     string      `json:"item"`
	Revision uint64      `json:"revision"` // of the item, from 1
	Turn     string      `json:"turn,omitempty"`
	Body     JournalBody `json:"body"`
}

// JournalBody is the state of an item; which field is set goes by the row's kind.
type JournalBody struct {
	// Message and thought.
	Role string `json:"role,omitempty"` // user | agent
	At   int    `json:"at,omitempty"`   // in UTF-16 code units, as browsers count
	Text string `json:"text,omitempty"` // also of status, question and lifecycle
	Blob *Blob  `json:"blob,omitempty"` // content that is not text, or too long to be here
	// MessageID is the agent's own id of a message, when it gives one.
	MessageID string `json:"messageId,omitempty"`

	Tool       *ToolCall   `json:"tool,omitempty"`
	Diff       *FileDiff   `json:"diff,omitempty"`
	Plan       []PlanStep  `json:"plan,omitempty"`
	Approval   *Approval   `json:"approval,omitempty"`
	Status     AgentStatus `json:"status,omitempty"`
	TurnState  *TurnState  `json:"turnState,omitempty"`
	Submission *Submission `json:"submission,omitempty"`
	Lifecycle  *Lifecycle  `json:"lifecycle,omitempty"`
	Request    *RPCRequest `json:"request,omitempty"`
}

// Blob is a large payload: its head is here, the whole is read by its digest
// (agentSession.payload).
type Blob struct {
	Head   string `json:"head"`             // text, cut at a character
	Size   int    `json:"size"`             // bytes of the whole
	Digest string `json:"digest,omitempty"` // "" when Head is the whole
	Mime   string `json:"mime,omitempty"`   // of an image or file
	Name   string `json:"name,omitempty"`
	URI    string `json:"uri,omitempty"` // of a link
}

// ToolCall is a tool call in its current state.
type ToolCall struct {
	ID        string         `json:"id"` // the agent's
	Title     string         `json:"title"`
	Kind      string         `json:"kind"`  // read edit delete move search execute think fetch other, or the agent's word
	State     string         `json:"state"` // pending running done failed cancelled
	Locations []ToolLocation `json:"locations,omitempty"`
	Input     *Blob          `json:"input,omitempty"`  // JSON
	Output    []Blob         `json:"output,omitempty"` // text, images
	Diffs     []string       `json:"diffs,omitempty"`  // items of its diffs
}

// ToolLocation is a place that a tool call is about.
type ToolLocation struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// FileDiff is one file's change.
type FileDiff struct {
	Tool    string `json:"tool"` // the tool call's item
	Path    string `json:"path"`
	Old     *Blob  `json:"old,omitempty"` // nil: the file is new
	New     Blob   `json:"new"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// PlanStep is one step of the agent's plan.
type PlanStep struct {
	Text     string `json:"text"`
	State    string `json:"state"` // pending running done
	Priority string `json:"priority,omitempty"`
}

// Approval is a permission question and what became of it (spec session S1.7). It is
// answered by compare-and-set on the row's revision.
type Approval struct {
	Tool    string           `json:"tool,omitempty"` // the tool call's item
	Title   string           `json:"title"`
	Options []ApprovalOption `json:"options"`
	State   string           `json:"state"`             // open answered cancelled denied
	Choice  string           `json:"choice,omitempty"`  // the option's id
	By      string           `json:"by,omitempty"`      // who answered: a client's name, or davit
	Reason  string           `json:"reason,omitempty"`  // why davit denied it
	Request string           `json:"request,omitempty"` // the agent's rpc id, as JSON
}

// ApprovalOption is one answer that the agent offers.
type ApprovalOption struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once allow_always reject_once reject_always, or the agent's word
}

// TurnState is a turn: from a message that the agent takes to its end.
type TurnState struct {
	State   string `json:"state"`             // running ended
	Reason  string `json:"reason,omitempty"`  // end_turn cancelled refusal max_tokens error exited lost stopped, or the agent's word
	Message string `json:"message,omitempty"` // for a person
	Stderr  string `json:"stderr,omitempty"`  // the last of it, when the agent ended
}

// SubmissionState is how far a user's message has come (spec session S1.5).
type SubmissionState string

// The states of a submission. Queued is pending with a turn before it.
const (
	SubmissionQueued   SubmissionState = "queued"
	SubmissionPending  SubmissionState = "pending"
	SubmissionAccepted SubmissionState = "accepted"
	SubmissionRejected SubmissionState = "rejected"
	SubmissionUnknown  SubmissionState = "unknown"
)

// Submission is a user's message on its way to the agent. Its id is the client's
// operation id: the same id again gives the first answer.
type Submission struct {
	ID     string          `json:"id"`
	State  SubmissionState `json:"state"`
	Text   string          `json:"text"`
	Item   string          `json:"item"` // the message's item in the journal
	Reason string          `json:"reason,omitempty"`
}

// Lifecycle is something that happened to the session or its process.
type Lifecycle struct {
	Event  string `json:"event"` // started initialized created loaded resumed slow cancel stopped exited lost skipped garbage flooded option unknown
	Exit   *Exit  `json:"exit,omitempty"`
	Stderr string `json:"stderr,omitempty"` // the last of it, when the agent ended and no turn's end says it
	Bytes  uint64 `json:"bytes,omitempty"`  // of what was skipped
	Count  int    `json:"count,omitempty"`  // of lines that were garbage
}

// RPCRequest is one request between davit and the agent (spec session S1.2).
type RPCRequest struct {
	Direction string          `json:"direction"` // ours | agent
	ID        string          `json:"id"`
	Method    string          `json:"method"`
	State     string          `json:"state"` // open answered failed cancelled
	Error     json.RawMessage `json:"error,omitempty"`
}
