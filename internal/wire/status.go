package wire

import (
	"davit"
)

// AgentStatuses is agent.status: all agents, in terminals and chats, those that wait first.
type AgentStatuses struct {
	Agents []davit.AgentRow `json:"agents"`
}

// AgentReport is agent.report: what an agent's hook has told. It is said by
// `davit agent report`, which the hook runs (docs/agent-status.md).
type AgentReport struct {
	Pane       davit.PaneID `json:"pane"`
	Agent      string       `json:"agent" doc:"claude, codex, gemini, opencode: whose words these are"`
	Event      string       `json:"event" doc:"the agent's own name of it"`
	Session    string       `json:"session,omitempty" doc:"the agent's own id of its conversation"`
	Tool       string       `json:"tool,omitempty"`
	ToolUse    string       `json:"toolUse,omitempty" doc:"the agent's own id of the tool call"`
	Input      string       `json:"input,omitempty" doc:"what the tool was given"`
	Message    string       `json:"message,omitempty"`
	Kind       string       `json:"kind,omitempty" doc:"which notification, what began a session or a compaction, how a session ended"`
	Child      string       `json:"child,omitempty" doc:"the id of the child agent that it is about"`
	ChildType  string       `json:"childType,omitempty"`
	Interrupts bool         `json:"interrupts,omitempty" doc:"the user interrupted the turn or the tool"`
}

// AgentReported answers it.
type AgentReported struct {
	Changed bool `json:"changed" doc:"the state of the pane's agent is another one now"`
}
