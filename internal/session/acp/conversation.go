package acp

import (
	"encoding/json"

	"davit"
)

const (
	viaMode   = "mode"
	viaModel  = "model"
	viaConfig = "config"
)

// Conversation folds frames into rows.
type Conversation struct {
	session davit.SessionID
	view    View
}

func NewConversation(session davit.SessionID) *Conversation { return &Conversation{session: session} }

// Apply rebuilds the state from a stored row.
func (c *Conversation) Apply(row davit.JournalRow) {}

// Take folds one frame.
func (c *Conversation) Take(f Frame) Step { return Step{} }

// View is what the session shows of its agent.
func (c *Conversation) View() View { return c.view }

// SetView gives back, after a restart, what was stored of View.
func (c *Conversation) SetView(v View) { c.view = v }

func (c *Conversation) UserMessage(operation, text string) Row { return Row{} }

func (c *Conversation) BeginTurn(id string) Row { return Row{} }

func (c *Conversation) EndTurn(reason, message, stderr string) []Row { return nil }

func (c *Conversation) Decide(item string, revision uint64, state, choice, by, reason string) (Row, *Ask, error) {
	return Row{}, nil, nil
}

func (c *Conversation) Open() []Ask { return nil }

func (c *Conversation) Note(kind davit.JournalKind, body davit.JournalBody) Row { return Row{} }

// DropRequests is for a process that is gone: our open requests are cancelled.
func (c *Conversation) DropRequests() []Row { return nil }

// ReadSession reads the result of session/new and session/load.
func (c *Conversation) ReadSession(result json.RawMessage) (resume string, err error) { return "", nil }

// ReadOption reads the result of setting an option: the value is the current one.
func (c *Conversation) ReadOption(o davit.AgentOption, value string, result json.RawMessage) {}

// Initialized is what an agent says of itself.
type Initialized struct {
	CanLoad      bool
	Protocol     int
	AgentName    string
	AgentVersion string
	SignIn       []AuthMethod
}

// AuthMethod is a way to sign in that the agent offers.
type AuthMethod struct{ ID, Name, Description string }

func ReadInitialize(result json.RawMessage) (Initialized, error) { return Initialized{}, nil }

// ReadPrompt gives a turn's stop reason.
func ReadPrompt(result json.RawMessage) (reason string, err error) { return "", nil }

// Merge joins neighbouring rows of the same item in one step.
func Merge(rows []Row) []Row { return rows }
