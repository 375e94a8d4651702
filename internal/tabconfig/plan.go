package tabconfig

import (
	"time"

	"davit/internal/template"
)

// Input is one opening's values. Rendering is in two steps, because a worktree
// is made before panes open and its branch name may be drawn under a lock:
// RenderWorktree(in), then Plan(in) with WorktreePath and GeneratedBranch as
// they came to be (spec tabs T3.3).
type Input struct {
	Values map[string]string // by parameter; a secret's presence here is a fault

	StartDir  string // absolute: the directory that the tab is opened from
	Home      string // absolute
	ConfigDir string // absolute: the folder of the config file
	Date      string // YYYY-MM-DD

	// RepoRoot is the main folder of the repository that Config.RepositoryDir
	// lies in; "" outside of one.
	RepoRoot        string
	WorktreePath    string // of the worktree made for [worktree]; "" before
	GeneratedBranch string // when Config.NeedsBranchName

	DefaultShell Shell // of panes without `shell`
	CleanupShell Shell // the user's shell, for on_close (spec tabs T5.1)

	// ResolveShell finds a `shell` of the file; false when it is not
	// installed: the default shell takes its place and the load warned of it.
	// nil = every shell is at its name.
	ResolveShell func(name string) (Shell, bool)
}

// Shell is a shell program and how it reads quotes.
type Shell struct {
	Path string         `json:"path"`
	Kind template.Shell `json:"kind"` // "" when unknown
}

// WorktreeRequest is what [worktree] asks for, rendered.
type WorktreeRequest struct {
	Repo          string `json:"repo"` // absolute path
	Base          string `json:"base,omitempty"`
	Branch        string `json:"branch"`
	Name          string `json:"name"`
	NameGenerated bool   `json:"nameGenerated"`
	RemoveOnClose bool   `json:"removeOnClose"`
}

// Plan is a rendered config: what opening it will do. It holds no secret.
type Plan struct {
	Config   string           `json:"config"` // path of the file
	Name     string           `json:"name"`
	Title    string           `json:"title,omitempty"`
	Color    string           `json:"color,omitempty"`
	Icon     string           `json:"icon,omitempty"`
	Group    string           `json:"group,omitempty"`
	Worktree *WorktreeRequest `json:"worktree,omitempty"`
	Root     PlanNode         `json:"panes"`
	OnClose  *ClosePlan       `json:"onClose,omitempty"`
}

// PlanNode is a split (Split, Children, Sizes) or a leaf (Pane).
type PlanNode struct {
	ID       string     `json:"id"`
	Split    Split      `json:"split,omitempty"`
	Children []PlanNode `json:"children,omitempty"`
	Sizes    []float64  `json:"sizes,omitempty"` // one weight per child, always there
	Pane     *PlanPane  `json:"pane,omitempty"`
}

// PlanPane is a leaf.
type PlanPane struct {
	Type      PaneType `json:"type"`
	Directory string   `json:"directory"` // absolute
	Commands  []string `json:"commands,omitempty"`
	Shell     Shell    `json:"shell"`
	Env       []EnvVar `json:"env,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	OnExit    OnExit   `json:"onExit,omitempty"`
	Host      string   `json:"host,omitempty"`
	Focused   bool     `json:"focused"`
}

// EnvVar is a variable; where a secret belongs Value still has {{name}}.
type EnvVar struct {
	Name    string     `json:"name"`
	Value   string     `json:"value"`
	Secrets []SecretAt `json:"secrets,omitempty"` // in the order of their places
}

// SecretAt is the place of a secret in EnvVar.Value.
type SecretAt struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"` // bytes, of the first brace
}

// ClosePlan is on_close, pinned when the tab opens (spec tabs T5.1).
type ClosePlan struct {
	Directory string   `json:"directory"` // absolute
	Commands  []string `json:"commands"`
	Shell     Shell    `json:"shell"`
	Timeout   Duration `json:"timeout"` // of each command
}

// Duration is written as "15m0s".
type Duration time.Duration

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}
