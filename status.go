package davit

import "time"

// AgentState is what the agent in a terminal does, as far as davit knows (spec session S3).
// Of a chat its Session tells the same. It is kept with its source and time, and stored
// with its pane.
type AgentState struct {
	Agent   string       `json:"agent"` // of the catalogue
	Status  AgentStatus  `json:"status"`
	Waiting WaitingFor   `json:"waiting,omitempty"` // with the status waiting
	Since   time.Time    `json:"since"`             // of the status
	Source  StatusSource `json:"source"`            // who said so
	Tool    string       `json:"tool,omitempty"`    // that runs, or that wants permission
	// Input is what the tool was given, in one line of at most 160 characters.
	Input   string `json:"input,omitempty"`
	Message string `json:"message,omitempty"` // the question, or the last thing that the agent said
	// Unread: it began to wait, or was done, and nobody has looked at its pane since.
	Unread bool `json:"unread,omitempty"`
	// Unconfirmed: the status was restored, and nothing has confirmed it since.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Interrupted: the turn did not end by itself.
	Interrupted bool         `json:"interrupted,omitempty"`
	Session     string       `json:"session,omitempty"`  // the agent's own id of its conversation
	Question    string       `json:"question,omitempty"` // the agent's own id of the tool call that waits for an answer
	Children    []ChildAgent `json:"children,omitempty"` // agents that it has started itself
}

// ChildAgent is one agent that an agent has started. It never sets the state of its lead,
// unless it needs a person.
type ChildAgent struct {
	ID      string      `json:"id"`
	Type    string      `json:"type,omitempty"`
	Status  AgentStatus `json:"status"`
	Waiting WaitingFor  `json:"waiting,omitempty"`
	Since   time.Time   `json:"since"`
}

// StatusSource says who told the status of an agent. The first of them count for more:
// what a hook says is not changed by a guess.
type StatusSource string

// The sources of a status.
const (
	StatusFromProtocol StatusSource = "protocol" // a chat
	StatusFromHook     StatusSource = "hook"     // the agent's own hooks (davit agent hooks)
	StatusFromSignal   StatusSource = "signal"   // OSC 7501
	StatusFromTitle    StatusSource = "title"    // the window title: a guess
	StatusFromScreen   StatusSource = "screen"   // what the screen looks like: a guess
	StatusFromProcess  StatusSource = "process"  // its program was started, or has ended
)

// AgentRow is one agent in the list of all of them (agent.status, `davit ps`).
type AgentRow struct {
	Kind        Surface      `json:"kind"` // terminal | structured
	Agent       string       `json:"agent"`
	AgentName   string       `json:"agentName"`
	Practice    bool         `json:"practice,omitempty"`
	Status      AgentStatus  `json:"status"`
	Waiting     WaitingFor   `json:"waiting,omitempty"`
	Since       time.Time    `json:"since"`
	Source      StatusSource `json:"source"`
	Tool        string       `json:"tool,omitempty"`
	Input       string       `json:"input,omitempty"`
	Message     string       `json:"message,omitempty"`
	Unread      bool         `json:"unread,omitempty"`
	Unconfirmed bool         `json:"unconfirmed,omitempty"`
	Children    []ChildAgent `json:"children,omitempty"`
	Tab         TabID        `json:"tab,omitempty"`
	TabTitle    string       `json:"tabTitle,omitempty"`
	Pane        PaneID       `json:"pane,omitempty"`
	Session     SessionID    `json:"sessionId,omitempty"` // of a chat
	Directory   string       `json:"directory"`
	Branch      string       `json:"branch,omitempty"`
}
