package wire

// AgentList is agent.list.
type AgentList struct {
	Agents  []Agent `json:"agents"`
	Default string  `json:"default,omitempty" doc:"the agent that is launched when none is named: the setting agent.default; left out when it is not set"`
	Suggest string  `json:"suggest,omitempty" doc:"what to choose first for a person: the default when it can be launched here, else the first that can"`
}

// Agent is one agent of the catalogue and whether it can be launched here.
type Agent struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Installed   bool     `json:"installed"`
	Offered     bool     `json:"offered,omitempty" doc:"a list names it even where it is not installed"`
	Disabled    bool     `json:"disabled,omitempty" doc:"switched off in the user's agents.toml: it cannot be launched"`
	Tested      bool     `json:"tested,omitempty" doc:"davit's own tests drive it; all else is as its documentation tells"`
	Path        string   `json:"path,omitempty"`
	Version     string   `json:"version,omitempty"`
	Doubt       string   `json:"doubt,omitempty" doc:"why what was found may be another program of that name"`
	Missing     string   `json:"missing,omitempty" doc:"what was looked for, and where"`
	InstallHint string   `json:"installHint,omitempty"`
	Practice    bool     `json:"practice,omitempty" doc:"the scripted practice agent: no model behind it"`
	Surfaces    []string `json:"surfaces"`
	Options     []string `json:"options,omitempty" doc:"the session options that it takes on its command line"`
	Resumes     bool     `json:"resumes,omitempty" doc:"a session of its own can be continued by its id"`
}

// AgentName names an agent of the catalogue.
type AgentName struct {
	Agent string `json:"agent"`
}

// AgentEntry is agent.show: one agent, and what the catalogue says of it.
type AgentEntry struct {
	Agent  Agent        `json:"agent"`
	Fields []AgentField `json:"fields"`
	File   string       `json:"file" doc:"the user's own agents.toml, whether it is there or not"`
	Line   int          `json:"line,omitempty" doc:"where that file has the agent; left out when it has not"`
}

// AgentField is one key of an entry of the catalogue.
type AgentField struct {
	Key    string `json:"key"`
	Value  any    `json:"value" doc:"text, a list of texts, or true; of a variable only that it is set"`
	Source string `json:"source" enum:"davit,yours"`
}

// ReplayRequest is agent.launchReplay by a stored intent (`davit launch --replay`).
type ReplayRequest struct {
	OperationID string `json:"operationId"`
}
