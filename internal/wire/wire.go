// Package wire holds the shapes of the API's operations: what a client sends and what it
// gets. The server (internal/api), the Go client (internal/client) and, by way of the
// OpenAPI description made from these types, the page's generated client all use them.
// It has no behaviour. Source: spec interfaces A1.
package wire

import (
	"encoding/json"
	"time"

	"davit"
)

// None is the body of an operation that takes or gives nothing.
type None struct{}

// HostInfo is host.info, and `davit status --json` (spec interfaces A3.5).
type HostInfo struct {
	Version      string       `json:"version"`
	HostID       davit.HostID `json:"hostId"`
	Pid          int          `json:"pid"`
	KeeperPid    int          `json:"keeperPid"`
	Socket       string       `json:"socket"`
	URL          string       `json:"url"`
	Home         string       `json:"home"`
	Panes        int          `json:"panes" doc:"panes whose program runs"`
	Tabs         int          `json:"tabs"`
	Started      time.Time    `json:"started"`
	Directory    string       `json:"directory" doc:"where the host was started: the page's default place for new tabs"`
	Capabilities []string     `json:"capabilities"`
}

// ShutdownRequest is host.shutdown.
type ShutdownRequest struct {
	All bool `json:"all,omitempty" doc:"end the programs and the keeper too"`
}

// Login is POST /v1/login: the one-time token of a login link.
type Login struct {
	Token string `json:"token"`
}

// LoggedIn answers it; the cookie comes beside it. Both are needed with each request.
type LoggedIn struct {
	Key string `json:"key" doc:"kept in localStorage, sent as the Davit-Key header and in a WebSocket's first frame"`
}

// LoginLink is host.loginLink, over the socket only.
type LoginLink struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

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

// InRequest names a repository or workspace by selector (spec launch L4).
type InRequest struct {
	In  string `json:"in,omitempty" doc:"a selector; the caller's directory when empty"`
	Dir string `json:"dir,omitempty" doc:"the caller's directory"`
}

// WorktreeInfo is one of worktree.list (spec interfaces A3.5).
type WorktreeInfo struct {
	Path      string      `json:"path"`
	Branch    string      `json:"branch"`
	Head      string      `json:"head"`
	Base      string      `json:"base,omitempty" doc:"what it was made from, or its upstream"`
	Ahead     int         `json:"ahead" doc:"commits that its base does not have"`
	Behind    int         `json:"behind"`
	Dirty     bool        `json:"dirty"`
	Untracked int         `json:"untracked"`
	Unpushed  int         `json:"unpushed"`
	Stashes   int         `json:"stashes"`
	OwnerTab  davit.TabID `json:"ownerTab,omitempty"`
	Main      bool        `json:"main,omitempty"`
	Made      bool        `json:"made,omitempty" doc:"made by davit"`
	Size      *int64      `json:"size,omitempty" doc:"bytes on disk, when sizes were asked for"`
	Locked    string      `json:"locked,omitempty" doc:"why git keeps it locked"`
	Missing   bool        `json:"missing,omitempty" doc:"git still lists it, but its folder is gone"`
	Fault     string      `json:"fault,omitempty" doc:"what could not be found out, and why"`
}

// WorktreeListRequest is worktree.list. Sizes are read from the disk, which may take
// seconds: they are not read unless asked for.
type WorktreeListRequest struct {
	InRequest
	Sizes bool `json:"sizes,omitempty"`
}

// WorktreeOpen is worktree.open, the "New worktree" form: a config is written, or an equal
// one used, and opened with a fresh worktree (spec tabs T5.10).
type WorktreeOpen struct {
	InRequest
	Base          string        `json:"base,omitempty" doc:"what the branch starts from; the main branch when empty"`
	Branch        string        `json:"branch,omitempty" doc:"name of the new branch; drawn when empty"`
	Agent         string        `json:"agent,omitempty" doc:"of the catalogue; a terminal when empty"`
	Surface       davit.Surface `json:"surface,omitempty"`
	Prompt        string        `json:"prompt,omitempty" doc:"first turn of the agent"`
	RemoveOnClose *bool         `json:"removeOnClose,omitempty" doc:"true when absent; git refuses while it is dirty"`
	DeleteBranch  bool          `json:"deleteBranch,omitempty" doc:"an [on_close] command that deletes the branch: destructive"`
	Background    bool          `json:"background,omitempty"`
}

// WorktreeOpened answers it.
type WorktreeOpened struct {
	Opened
	Config string `json:"config" doc:"path of the config"`
	Reused bool   `json:"reused" doc:"an equal config was there"`
}

// BranchList is workspace.branches, for pickers: newest first, the main one in front.
type BranchList struct {
	Branches []Branch `json:"branches" doc:"at most 100"`
	Main     string   `json:"main"`
	Current  string   `json:"current,omitempty"`
	Repo     string   `json:"repo"`
	More     bool     `json:"more,omitempty"`
}

// Branch is one local branch.
type Branch struct {
	Name     string    `json:"name"`
	Head     string    `json:"head,omitempty"`
	Date     time.Time `json:"date,omitzero"`
	Worktree string    `json:"worktree,omitempty" doc:"where it is checked out"`
}

// WorkspaceAdd is workspace.add and workspace.forget: a repository to know, or not to list
// any more.
type WorkspaceAdd struct {
	Path string `json:"path"`
}

// WorktreeList is worktree.list.
type WorktreeList struct {
	Worktrees []WorktreeInfo `json:"worktrees"`
}

// WorktreeRemove is worktree.remove.
type WorktreeRemove struct {
	Selector     string `json:"selector"`
	Dir          string `json:"dir,omitempty"`
	Force        string `json:"force,omitempty" doc:"the digest that a refusal printed with its list"`
	External     bool   `json:"external,omitempty"`
	DeleteBranch bool   `json:"deleteBranch,omitempty"`
}

// WorktreeRemoved answers it.
type WorktreeRemoved struct {
	Path          string   `json:"path"`
	Kept          []string `json:"kept"`
	DeletedBranch string   `json:"deletedBranch,omitempty"`
	DeletedHead   string   `json:"deletedHead,omitempty"`
}

// WorkspaceList is workspace.list: the repositories that davit has seen.
type WorkspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace is one place to launch into.
type Workspace struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Name   string `json:"name"`
	Branch string `json:"branch,omitempty"`
	Git    bool   `json:"git"`
}

// ConfigList is config.list, sorted by name without regard to case.
type ConfigList struct {
	Configs []Config `json:"configs"`
	Faults  []Fault  `json:"faults" doc:"of the files that are not in the list"`
	Dirs    []string `json:"dirs" doc:"where configs are looked for"`

	Default     string `json:"default,omitempty" doc:"path of the config that a new tab opens; a plain shell when empty"`
	DefaultGone bool   `json:"defaultGone,omitempty" doc:"that file is not there any more: config.open without a name opens a shell and says so"`
}

// ConfigsRequest is config.list. Dir is where the caller is: the repository there may have
// configs of its own.
type ConfigsRequest struct {
	Dir string `json:"dir,omitempty"`
}

// Config is one tab config that can be opened.
type Config struct {
	Name        string  `json:"name"`
	Path        string  `json:"path"`
	Description string  `json:"description,omitempty"`
	Icon        string  `json:"icon,omitempty"`
	Color       string  `json:"color,omitempty"`
	Worktree    bool    `json:"worktree"`
	OnClose     bool    `json:"onClose"`
	Params      []Param `json:"params"`
	Warnings    []Fault `json:"warnings,omitempty"`
	Source      string  `json:"source"` // own | warp | repository
	Trust       string  `json:"trust,omitempty" doc:"of a repository's config: trusted, untrusted, or changed since it was trusted"`
	Digest      string  `json:"digest"`
	Default     bool    `json:"default,omitempty" doc:"what a new tab opens"`
}

// ConfigRef names a config file of config.list, by path. Digest, when given, is of the text
// that the caller saw: an act on another text is refused.
type ConfigRef struct {
	Path   string `json:"path" doc:"empty for config.setDefault: back to a plain shell"`
	Digest string `json:"digest,omitempty"`
}

// ConfigFile is the text of one config, and what is wrong with it: the answer of
// config.read, config.save, config.new and config.saveTab.
type ConfigFile struct {
	Path     string  `json:"path"`
	Text     string  `json:"text"`
	Digest   string  `json:"digest"`
	Faults   []Fault `json:"faults"`
	Editable bool    `json:"editable"`
	Trust    string  `json:"trust,omitempty"`
}

// ConfigSave is config.save. A text with faults is saved all the same, as an editor would;
// one that was changed on disk meanwhile is refused.
type ConfigSave struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	Digest string `json:"digest" doc:"of the text that this one replaces"`
}

// ConfigCheck is config.check: a text as it would be loaded, or a file.
type ConfigCheck struct {
	Path string  `json:"path,omitempty"`
	Text *string `json:"text,omitempty"`
}

// Faults answers it.
type Faults struct {
	Faults []Fault `json:"faults"`
}

// ConfigNew is config.new: a commented template. A name that is taken gets a number.
type ConfigNew struct {
	Name string `json:"name"`
}

// ConfigSaveTab is config.saveTab: tree, sizes, titles, colours, directories and focus of
// a tab; no commands, no [on_close] (spec tabs T6.4).
type ConfigSaveTab struct {
	Tab  davit.TabID `json:"tab"`
	Name string      `json:"name,omitempty" doc:"the tab's title when empty"`
}

// ConfigTrusted answers config.trust.
type ConfigTrusted struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// SkillList is skill.list; Skill is skill.get: texts for agents, such as the one that tells
// how tab configs are written.
type SkillList struct {
	Skills []Skill `json:"skills"`
}

// Skill is one of them; the list leaves the text out.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Text        string `json:"text,omitempty"`
}

// Param is one question of a config's form, in form order.
type Param struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Default     *string  `json:"default,omitempty"`
	Options     []string `json:"options,omitempty"`
	Last        *string  `json:"last,omitempty" doc:"the value of the last opening, to be offered; never of a secret"`
}

// Fault is one fault of a config file (spec tabs T1.3).
type Fault struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error | warning
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Text     string `json:"text,omitempty" doc:"the fault as the CLI prints it, with the line and a caret"`
}

// OpenRequest is config.open.
type OpenRequest struct {
	Config            string            `json:"config" doc:"a file (with a slash or ending in .toml) or a name; the default config when empty, a plain shell when there is none"`
	Named             bool              `json:"named,omitempty" doc:"a person wrote the path of the file down: that is consent to a repository's config. Never for one chosen from a list"`
	Params            map[string]string `json:"params,omitempty"`
	Dir               string            `json:"dir,omitempty" doc:"the tab's start directory"`
	Print             bool              `json:"print,omitempty" doc:"answer the plan and run nothing"`
	CreateDirectories bool              `json:"createDirectories,omitempty"`
	Background        bool              `json:"background,omitempty"`
}

// Opened answers config.open without print; with print the answer is {plan}.
type Opened struct {
	TabID    davit.TabID     `json:"tabId,omitempty"`
	Panes    []davit.PaneID  `json:"panes,omitempty"`
	Worktree *davit.Worktree `json:"worktree,omitempty"`
	Launches []davit.Result  `json:"launches"`
	Plan     any             `json:"plan,omitempty"`
	Warnings []Fault         `json:"warnings,omitempty"`
}

// TabOpen is tab.open: a plain terminal tab, or one that runs a command.
type TabOpen struct {
	Directory  string   `json:"directory,omitempty"`
	Argv       []string `json:"argv,omitempty" doc:"run directly; the login shell when empty"`
	Title      string   `json:"title,omitempty"`
	Background bool     `json:"background,omitempty"`
	Cols       int      `json:"cols,omitempty"`
	Rows       int      `json:"rows,omitempty"`
}

// TabList is tab.list and `davit tab list --json`.
type TabList struct {
	Tabs   []TabSummary  `json:"tabs"`
	Groups []davit.Group `json:"groups" doc:"in the order in which they stand"`
}

// TabSummary is one row of it.
type TabSummary struct {
	ID       davit.TabID     `json:"id"`
	Title    string          `json:"title"`
	Color    string          `json:"color,omitempty"`
	Panes    []davit.PaneID  `json:"panes"`
	Worktree *davit.Worktree `json:"worktree,omitempty"`
	OnClose  *davit.OnClose  `json:"onClose,omitempty"`
	Config   string          `json:"config,omitempty"`
	Group    davit.GroupID   `json:"group,omitempty"`
	Pinned   bool            `json:"pinned,omitempty"`
}

// TabClose is tab.close. What it names is made one list of ids, once; a refusal carries
// that list as details.tabs, so that what is confirmed is what was shown.
type TabClose struct {
	Tabs    []davit.TabID `json:"tabs,omitempty"`
	Others  davit.TabID   `json:"others,omitempty" doc:"every tab but this one and pinned ones"`
	After   davit.TabID   `json:"after,omitempty" doc:"those behind this one, pinned ones left out"`
	Group   davit.GroupID `json:"group,omitempty" doc:"those of this group"`
	Outside davit.GroupID `json:"outside,omitempty" doc:"those not of this group, pinned ones left out"`
	Yes     bool          `json:"yes,omitempty" doc:"close although programs run"`
}

// TabClosed answers it.
type TabClosed struct {
	Closed []davit.TabID `json:"closed"`
	Undo   time.Time     `json:"undo" doc:"until when undo can bring them back"`
	Batch  string        `json:"batch,omitempty"`
}

// TabRef names one tab; empty for tab.undoClose means what was closed last.
type TabRef struct {
	Tab   davit.TabID `json:"tab,omitempty"`
	Batch string      `json:"batch,omitempty" doc:"of what was closed, for tab.undoClose"`
}

// TabBack answers tab.undoClose: what one act had closed comes back together.
type TabBack struct {
	Tab  davit.TabID   `json:"tab"`
	Tabs []davit.TabID `json:"tabs"`
	Pane davit.PaneID  `json:"pane,omitempty"`
}

// TabEdit is tab.rename, tab.recolor, tab.move and tab.pin; absent fields stay as they are.
type TabEdit struct {
	Tab    davit.TabID    `json:"tab"`
	Title  *string        `json:"title,omitempty"` // "" takes a given title back
	Color  *string        `json:"color,omitempty"`
	After  *davit.TabID   `json:"after,omitempty"` // "" moves it to the front
	Group  *davit.GroupID `json:"group,omitempty" doc:"joins it, at the place of after when that is in the group; empty leaves the group"`
	Pinned *bool          `json:"pinned,omitempty"`
}

// GroupMake is group.make: tabs into a new group, at the place of the first.
type GroupMake struct {
	Tabs  []davit.TabID `json:"tabs"`
	Name  string        `json:"name,omitempty"`
	Color string        `json:"color,omitempty"`
}

// GroupEdit is group.edit; absent fields stay as they are.
type GroupEdit struct {
	Group     davit.GroupID `json:"group"`
	Name      *string       `json:"name,omitempty"`
	Color     *string       `json:"color,omitempty"`
	Collapsed *bool         `json:"collapsed,omitempty"`
	Pinned    *bool         `json:"pinned,omitempty"`
	After     *davit.TabID  `json:"after,omitempty" doc:"moves the whole group behind this tab, or behind its group; empty moves it to the front"`
}

// GroupRef is group.dissolve, whose tabs stay, and answers group.make.
type GroupRef struct {
	Group davit.GroupID `json:"group"`
}

// PaneRestart is pane.restart: the ended program of a pane once more. A pane whose
// environment holds secrets asks for them again: they are kept nowhere (spec tabs T2.1).
type PaneRestart struct {
	Pane    davit.PaneID      `json:"pane"`
	Secrets map[string]string `json:"secrets,omitempty" doc:"values by parameter name"`
}

// PaneMove is pane.move: beside another pane, or into a tab of its own. No close plan runs.
type PaneMove struct {
	Pane   davit.PaneID `json:"pane"`
	Beside davit.PaneID `json:"beside,omitempty"`
	Side   string       `json:"side,omitempty" enum:"left,right,up,down"`
	After  davit.TabID  `json:"after,omitempty" doc:"without beside: where the new tab stands"`
}

// TabFocus is tab.focus: which pane of a tab is the active one.
type TabFocus struct {
	Tab  davit.TabID  `json:"tab"`
	Pane davit.PaneID `json:"pane"`
}

// PaneList is pane.list.
type PaneList struct {
	Panes []davit.Pane `json:"panes"`
}

// PaneRef names one pane.
type PaneRef struct {
	Pane davit.PaneID `json:"pane"`
}

// PaneRead is pane.read.
type PaneRead struct {
	Pane       davit.PaneID `json:"pane"`
	Scrollback int          `json:"scrollback,omitempty" doc:"rows of scrollback before the screen"`
}

// PaneText answers it.
type PaneText struct {
	Rows   []string      `json:"rows"`
	Cursor [2]int        `json:"cursor"`
	Title  string        `json:"title"`
	Offset uint64        `json:"offset"`
	Cols   int           `json:"cols"`
	Blocks []davit.Block `json:"blocks,omitempty"`
}

// PaneWrite is pane.write. An id sent again is not written again.
type PaneWrite struct {
	Pane  davit.PaneID `json:"pane"`
	ID    string       `json:"id,omitempty" doc:"minted by the caller; without one there is no protection against doubling"`
	Text  string       `json:"text"`
	Paste bool         `json:"paste,omitempty" doc:"frame it as a paste if the program asked for that"`
	Enter bool         `json:"enter,omitempty" doc:"a carriage return after it"`
}

// PaneResize is pane.resize.
type PaneResize struct {
	Pane davit.PaneID `json:"pane"`
	Cols int          `json:"cols"`
	Rows int          `json:"rows"`
}

// PaneClose is pane.close.
type PaneClose struct {
	Pane davit.PaneID `json:"pane"`
	Yes  bool         `json:"yes,omitempty" doc:"close although a program runs"`
}

// PaneSplit is pane.split.
type PaneSplit struct {
	Pane      davit.PaneID `json:"pane"`
	Direction string       `json:"direction"` // horizontal | vertical
	Argv      []string     `json:"argv,omitempty"`
}

// PaneSizes is pane.sizes: new weights of the split that holds these children in order.
type PaneSizes struct {
	Tab   davit.TabID `json:"tab"`
	Path  []int       `json:"path" doc:"child indices from the root to the split"`
	Sizes []float64   `json:"sizes"`
}

// PaneWait is pane.wait: answers when the condition holds.
type PaneWait struct {
	Pane    davit.PaneID `json:"pane"`
	For     string       `json:"for"` // exit | prompt | text
	Text    string       `json:"text,omitempty"`
	Timeout int          `json:"timeout,omitempty" doc:"seconds; 30 when absent, at most 600"`
}

// ChipsRequest is chips.get, by pane or by directory.
type ChipsRequest struct {
	Pane davit.PaneID `json:"pane,omitempty"`
	Dir  string       `json:"dir,omitempty"`
	Path string       `json:"path,omitempty" doc:"the caller's PATH"`
}

// Chips answers it.
type Chips struct {
	Chips      []davit.Chip `json:"chips"`
	Validation string       `json:"validation" doc:"unvalidated, validated or suppressed (spec chips C4.1)"`
	Shown      []string     `json:"shown,omitempty" doc:"the kinds of the effective prompt, in order"`
}

// NoticeList is notice.list.
type NoticeList struct {
	Notices []davit.Notice `json:"notices"`
}

// NoticeRef names one.
type NoticeRef struct {
	ID string `json:"id"`
}

// NoticeAct is notice.act.
type NoticeAct struct {
	ID     string `json:"id"`
	Action string `json:"action"`
}

// Problem is an error on the wire: RFC 9457 with our code, hint and details.
type Problem struct {
	Type    string         `json:"type"`
	Title   string         `json:"title"`
	Status  int            `json:"status"`
	Detail  string         `json:"detail"`
	Code    davit.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// Setting is settings.get and settings.set.
type Setting struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
}

// SessionRef names one chat.
type SessionRef struct {
	Session davit.SessionID `json:"sessionId"`
}

// SessionList is agentSession.list.
type SessionList struct {
	Sessions []davit.Session `json:"sessions"`
}

// SessionMutation is what every change of a chat carries (spec session S1.6). The same
// operation id again gives the first answer.
type SessionMutation struct {
	Session   davit.SessionID `json:"sessionId"`
	Operation string          `json:"clientOperationId" doc:"minted by the caller, a new one for each change"`
	Fence     uint64          `json:"expectedFence" doc:"of the session as the caller saw it; a stale one is refused with the current one"`
}

// SessionCancelled answers agentSession.cancel.
type SessionCancelled struct {
	Asked bool `json:"asked" doc:"false: no turn runs, and nobody was asked"`
}

// SessionSend is agentSession.send.
type SessionSend struct {
	SessionMutation
	Text string `json:"text"`
}

// SessionRespond is agentSession.respond: the answer to a permission question.
type SessionRespond struct {
	SessionMutation
	Item     string `json:"item" doc:"the question's item in the journal"`
	Revision uint64 `json:"revision" doc:"of the item as the caller saw it"`
	Option   string `json:"option" doc:"one of the options' ids; empty cancels"`
}

// SessionSetDraft is agentSession.setDraft. A draft that was written meanwhile is refused
// with the current one.
type SessionSetDraft struct {
	Session  davit.SessionID `json:"sessionId"`
	Text     string          `json:"text"`
	Revision uint64          `json:"revision" doc:"of the draft that this one replaces"`
}

// SessionSetOption is agentSession.setOption.
type SessionSetOption struct {
	SessionMutation
	Option string `json:"option"`
	Value  string `json:"value"`
}

// SessionSupport is agentSession.createSupport: can this agent be a chat in this place
// (spec launch L3.3).
type SessionSupport struct {
	Agent string `json:"agent"`
	Dir   string `json:"dir,omitempty" doc:"the workspace's path"`
}

// SessionSupported answers it.
type SessionSupported struct {
	Verdict string `json:"verdict"` // supported refused remote wsl unknown
	Reason  string `json:"reason,omitempty"`
}

// SessionHistory is agentSession.history: rows after a cursor, or the newest ones before
// it.
type SessionHistory struct {
	Session davit.SessionID `json:"sessionId"`
	After   *davit.Cursor   `json:"after,omitempty"`
	Before  *davit.Cursor   `json:"before,omitempty"`
	Limit   int             `json:"limit,omitempty" doc:"rows; 500 when absent, at most 5000"`
}

// SessionRows answers it.
type SessionRows struct {
	Rows   []davit.JournalRow `json:"rows"`
	Cursor davit.Cursor       `json:"cursor" doc:"of the last row"`
	More   bool               `json:"more,omitempty"`
	Reset  string             `json:"reset,omitempty" doc:"why the cursor asked for is no good: take the rows as the whole"`
}

// SessionPayload is agentSession.payload.
type SessionPayload struct {
	Session davit.SessionID `json:"sessionId"`
	Digest  string          `json:"digest"`
}

// Payload answers it.
type Payload struct {
	Data []byte `json:"data"`
	Mime string `json:"mime,omitempty"`
}

// ChipLayoutSet is chips.setLayout. Absent parts stay as they are; a part that is the
// default of the moment is stored as the default (spec chips C4.6).
type ChipLayoutSet struct {
	Prompt    *[]string          `json:"prompt,omitempty"`
	Footer    *davit.FooterItems `json:"footer,omitempty"`
	CLIFooter *davit.FooterItems `json:"cliFooter,omitempty"`
	Reset     []string           `json:"reset,omitempty" doc:"prompt, footer or cliFooter: back to the default"`
}

// ChipRevalidated is chips.revalidate.
type ChipRevalidated struct {
	Layout  davit.ChipLayout `json:"layout"`
	Outcome string           `json:"outcome" doc:"validated, missing_gh, unauthenticated_gh or no_change (spec chips C4.2)"`
	Reason  string           `json:"reason,omitempty"`
}
