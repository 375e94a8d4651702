package wire

// AgentList is agent.list.
type AgentList struct {
	Agents []Agent `json:"agents"`
}

// Agent is one agent of the catalogue and whether it can be launched here.
type Agent struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Installed   bool     `json:"installed"`
	Path        string   `json:"path,omitempty"`
	Version     string   `json:"version,omitempty"`
	Missing     string   `json:"missing,omitempty" doc:"what was looked for, and where"`
	InstallHint string   `json:"installHint,omitempty"`
	Practice    bool     `json:"practice,omitempty" doc:"the scripted practice agent: no model behind it"`
	Surfaces    []string `json:"surfaces"`
}

// ReplayRequest is agent.launchReplay by a stored intent (`davit launch --replay`).
type ReplayRequest struct {
	OperationID string `json:"operationId"`
}
