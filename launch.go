package davit

import "encoding/json"

// Intent is what a caller asks of agent.launch (spec launch L1). The host decodes it
// strictly: an unknown field is refused by name.
type Intent struct {
	Agent             string            `json:"agent,omitempty"` // absent: the setting agent.default
	OperationID       string            `json:"operationId,omitempty"`
	Host              HostID            `json:"host,omitempty"`
	Target            Target            `json:"target"`
	Prompt            *Prompt           `json:"prompt,omitempty"`
	SessionOptions    map[string]string `json:"sessionOptions,omitempty"`
	ReuseTerminal     *ReuseTerminal    `json:"reuseTerminal,omitempty"`
	AgentArgs         OptionalString    `json:"agentArgs,omitzero"`
	Cwd               string            `json:"cwd,omitempty"`
	Resume            string            `json:"resume,omitempty"` // the agent's own id of a session to continue
	LaunchSource      string            `json:"launchSource,omitempty"`
	PaneKey           PaneKey           `json:"paneKey,omitempty"`
	SessionID         string            `json:"sessionId,omitempty"`
	AccountEnv        map[string]string `json:"accountEnv,omitempty"`
	NativeChatDefault *bool             `json:"nativeChatDefault,omitempty"`
	Surface           Surface           `json:"surface,omitempty"`
	Placement         *Placement        `json:"placement,omitempty"`
	Presentation      string            `json:"presentation,omitempty"` // focused | background
}

// OptionalString keeps the three states of agentArgs apart: absent, null, a string.
type OptionalString struct {
	Present bool
	Null    bool
	Value   string
}

// IsZero makes `omitzero` leave an absent value out.
func (o OptionalString) IsZero() bool { return !o.Present }

// MarshalJSON writes null or the string.
func (o OptionalString) MarshalJSON() ([]byte, error) {
	if o.Null || !o.Present {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON notes that the field was there; encoding/json calls it for null too.
func (o *OptionalString) UnmarshalJSON(data []byte) error {
	*o = OptionalString{Present: true}
	if string(data) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// Surface is the kind of place an agent shows up in.
type Surface string

// The two surfaces.
const (
	Structured Surface = "structured"
	Terminal   Surface = "terminal"
)

// TargetKind says where a launch goes.
type TargetKind string

// The three targets.
const (
	TargetExisting TargetKind = "existing"
	TargetWorktree TargetKind = "create-worktree"
	TargetFolder   TargetKind = "create-folder-workspace"
)

// Target is the tagged union of L1: `worktree` with existing, `create` with the others.
// The payload of create stays raw until it is checked, so that stripped and refused keys
// can be told apart (L1.1).
type Target struct {
	Kind     TargetKind      `json:"kind"`
	Worktree string          `json:"worktree,omitempty"` // a selector, L4
	Create   json.RawMessage `json:"create,omitempty"`
}

// CreateWorktree is the payload of create-worktree (L9.1).
type CreateWorktree struct {
	Repo             string `json:"repo"` // a selector
	Name             string `json:"name,omitempty"`
	NameWasGenerated bool   `json:"nameWasGenerated,omitempty"`
	Branch           string `json:"branch,omitempty"`
	BaseBranch       string `json:"baseBranch,omitempty"`
	SetupDecision    string `json:"setupDecision,omitempty"` // run | skip | inherit
	SetupPolicy      string `json:"setupPolicy,omitempty"`   // wait-for-setup | start-immediately
	RemoveOnClose    bool   `json:"removeOnClose,omitempty"`
}

// CreateFolder is the payload of create-folder-workspace.
type CreateFolder struct {
	Path string `json:"path"`
	Name string `json:"name,omitempty"`
}

// Prompt is the first thing said to the agent.
type Prompt struct {
	Text     string `json:"text"`
	Delivery string `json:"delivery"` // submit | draft
}

// ReuseTerminal names a running terminal.
type ReuseTerminal struct {
	Handle string `json:"handle"`
}

// Placement is a wish for where the tab goes; it never fails a launch.
type Placement struct {
	GroupID    string `json:"groupId,omitempty"`
	AfterTabID TabID  `json:"afterTabId,omitempty"`
}

// Result is what a launch did (spec launch L2).
type Result struct {
	Outcome    Outcome          `json:"outcome"`
	WorktreeID string           `json:"worktreeId"`
	Warning    string           `json:"warning,omitempty"`
	Receipt    Receipt          `json:"receipt"`
	Prompt     *PromptReceipt   `json:"prompt,omitempty"`
	Placement  *PlacementResult `json:"placement,omitempty"`
	Worktree   *WorktreeRef     `json:"worktree,omitempty"` // path and branch, for people and scripts
}

// WorktreeRef tells where the launch went.
type WorktreeRef struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
}

// Outcome names the surface that was made.
type Outcome struct {
	Kind      Surface `json:"kind"`
	SessionID string  `json:"sessionId,omitempty"`
	Handle    string  `json:"handle"`
	TabID     TabID   `json:"tabId,omitempty"`
	PaneKey   PaneKey `json:"paneKey,omitempty"`
}

// Receipt says which mode was preferred, which was taken, and why.
type Receipt struct {
	Mode      Surface `json:"mode"`
	Preferred Surface `json:"preferred"`
	Reason    Reason  `json:"reason"`
	Detail    string  `json:"detail"`
}

// Reason is why a mode was taken (L3). Newer words are accepted in stored rows.
type Reason string

// The reasons of L3.
const (
	ReasonRequested             Reason = "requested"
	ReasonUserDefault           Reason = "user_default"
	ReasonRemoteHost            Reason = "remote_execution_host"
	ReasonReusedTerminal        Reason = "reused_terminal"
	ReasonNoDriver              Reason = "agent_without_structured_session"
	ReasonLaunchCommand         Reason = "tui_launch_command"
	ReasonWSL                   Reason = "wsl_execution_runtime"
	ReasonSessionsUnavailable   Reason = "structured_sessions_unavailable"
	ReasonSupportUnknown        Reason = "structured_support_unknown"
	ReasonUnsupportedOnHost     Reason = "structured_unsupported_on_host"
	ReasonCodexOnWindowsHistory Reason = "codex_on_windows"
)

// PromptReceipt says what became of the prompt. It may say less than the truth, never
// more (L2.2).
type PromptReceipt struct {
	Delivery    string        `json:"delivery"`
	Outcome     PromptOutcome `json:"outcome"`
	MessageID   string        `json:"messageId,omitempty"`
	DraftPlaced bool          `json:"draftPlaced,omitempty"`
}

// PromptOutcome is a closed set.
type PromptOutcome string

// The outcomes of L2.2.
const (
	PromptJournaled    PromptOutcome = "journaled"
	PromptHanded       PromptOutcome = "handed-to-terminal"
	PromptNotDelivered PromptOutcome = "not-delivered"
	PromptUnconfirmed  PromptOutcome = "unconfirmed"
)

// PlacementResult says where the tab went.
type PlacementResult struct {
	GroupID  string `json:"groupId"`
	Fallback string `json:"fallback,omitempty"`
}

// Capabilities that a caller can state in the Davit-Capabilities header (L1.2).
const (
	CapLaunch            = "agent.launch.v2"
	CapPromptUnconfirmed = "agent.launch.prompt-unconfirmed.v1"
	CapRenderChat        = "agentSession.render.v1"
)
