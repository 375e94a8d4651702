package davit

import "time"

// State is everything a client shows, in one value: the answer to host.state and the
// first thing on the stream. Seq orders it among the events: those with a greater
// number come after it.
type State struct {
	HostID  HostID            `json:"hostId"`
	Seq     uint64            `json:"seq"`
	Tabs    []Tab             `json:"tabs"` // in the order shown
	Panes   map[PaneID]Pane   `json:"panes"`
	Notices []Notice          `json:"notices"` // oldest first
	Chips   map[PaneID][]Chip `json:"chips"`
	Closed  []ClosedTab       `json:"closed"` // what undo can bring back, newest first
	Groups  []Group           `json:"groups"` // of tabs; a group stands where its tabs stand, which are together

	Sessions map[SessionID]Session `json:"sessions"` // every chat that is kept, shown in a tab or not
	Layout   ChipLayout            `json:"layout"`   // which chips are shown where
	TabView  TabView               `json:"tabView"`  // how the vertical tabs are drawn
}

// Tab is one tab.
type Tab struct {
	ID       TabID     `json:"id"`
	Title    string    `json:"title"`           // shown: the given one, else from what runs in it
	Given    string    `json:"given,omitempty"` // set by config or user
	Color    string    `json:"color,omitempty"`
	Icon     string    `json:"icon,omitempty"`
	Group    GroupID   `json:"group,omitempty"`
	Pinned   bool      `json:"pinned,omitempty"` // pinned tabs stand before all others
	Tree     *Split    `json:"tree"`             // nil only while it opens
	Focused  PaneID    `json:"focused,omitempty"`
	Worktree *Worktree `json:"worktree,omitempty"`
	OnClose  *OnClose  `json:"onClose,omitempty"`
	Config   string    `json:"config,omitempty"` // name of the tab config that opened it
	Launches []Result  `json:"launches,omitempty"`
	Fault    string    `json:"fault,omitempty"` // why the opening failed
	Created  time.Time `json:"created"`
}

// Group is some tabs that stand together under one name (spec tabs T6.5). It ends with
// its last tab; undo brings both back.
type Group struct {
	ID        GroupID `json:"id"`
	Name      string  `json:"name"`
	Color     string  `json:"color,omitempty"`
	Collapsed bool    `json:"collapsed,omitempty"`
	Pinned    bool    `json:"pinned,omitempty"`
}

// Split is a node of a tab's pane tree: a leaf when Pane is set, else a row
// (horizontal, left to right) or column (vertical, top to bottom) of children with
// weights.
type Split struct {
	Pane      PaneID    `json:"pane,omitempty"`
	Direction Direction `json:"direction,omitempty"`
	Children  []Split   `json:"children,omitempty"`
	Sizes     []float64 `json:"sizes,omitempty"` // weights, as many as children; only their ratios count
}

// Direction is how a split lays its children out.
type Direction string

// The two directions.
const (
	Horizontal Direction = "horizontal" // left to right
	Vertical   Direction = "vertical"   // top to bottom
)

// PaneStatus is the life of a pane's program.
type PaneStatus string

// The statuses of a pane.
const (
	PaneStarting PaneStatus = "starting"
	PaneRunning  PaneStatus = "running"
	PaneEnded    PaneStatus = "ended" // exit status known
	PaneLost     PaneStatus = "lost"  // the keeper went away, or the machine restarted
	PaneFailed   PaneStatus = "failed"
)

// Pane is one pane as clients see it.
type Pane struct {
	ID        PaneID     `json:"id"`
	Tab       TabID      `json:"tab"`
	Kind      string     `json:"kind"`              // shell | agent | chat
	Session   SessionID  `json:"session,omitempty"` // of a chat
	Agent     string     `json:"agent,omitempty"`
	Practice  bool       `json:"practice,omitempty"` // the practice agent: labelled as such everywhere
	Argv      []string   `json:"argv,omitempty"`
	Directory string     `json:"directory"`         // where its shell is, or where it started
	Title     string     `json:"title,omitempty"`   // set by the program
	Command   string     `json:"command,omitempty"` // the running foreground command, when the shell told
	Running   bool       `json:"running"`           // a command other than an idle shell is in the foreground
	Status    PaneStatus `json:"status"`
	Exit      *Exit      `json:"exit,omitempty"`
	Fault     string     `json:"fault,omitempty"`
	Pid       int        `json:"pid,omitempty"`
	Cols      int        `json:"cols"`
	Rows      int        `json:"rows"`
	Offset    uint64     `json:"offset"`         // end of its log, as of the last change of this value
	Note      string     `json:"note,omitempty"` // "restored approximately", "started in home: …"
	Shell     string     `json:"shell,omitempty"`
	OnExit    string     `json:"onExit,omitempty"`
	PaneKey   PaneKey    `json:"paneKey,omitempty"`

	Startup *StartupFault `json:"startup,omitempty"` // a startup command failed, and the rest was not run

	AgentState *AgentState `json:"agentState,omitempty"` // what the agent in it does; nil where none is known
	Seen       *time.Time  `json:"seen,omitempty"`       // of a chat: since when it was what somebody has last looked at
}

// StartupFault is a command of a config's pane that failed, and what was not run after it
// (spec tabs T4.1). It stays with the pane until its program is started again.
type StartupFault struct {
	Command string   `json:"command"`
	Exit    int      `json:"exit"`              // exit status; 128+signal when a signal ended it; -1 when the shell did not tell
	Skipped []string `json:"skipped,omitempty"` // the commands after it, in order
}

// Exit is how a program ended.
type Exit struct {
	Code   int       `json:"code"`             // exit status; 128+signal when a signal ended it
	Signal string    `json:"signal,omitempty"` // SIGTERM …
	At     time.Time `json:"at"`
}

// Worktree is a git worktree that a tab is about.
type Worktree struct {
	ID            string `json:"id"`
	Path          string `json:"path"`
	Branch        string `json:"branch"`
	Repo          string `json:"repo"` // path of the main checkout or bare repository
	Base          string `json:"base,omitempty"`
	RemoveOnClose bool   `json:"removeOnClose,omitempty"`
	Included      int    `json:"included,omitempty"` // ignored files that .worktreeinclude brought along
	Warning       string `json:"warning,omitempty"`
}

// OnClose is the close plan of a tab, resolved when it opened (spec tabs T5.1).
type OnClose struct {
	Directory      string        `json:"directory"`
	Commands       []string      `json:"commands"`
	Shell          string        `json:"shell"`
	ShellKind      string        `json:"shellKind"` // posix | bash | zsh | fish
	Timeout        time.Duration `json:"timeout"`   // nanoseconds, for each command
	RemoveWorktree *Worktree     `json:"removeWorktree,omitempty"`
	Worktree       *Worktree     `json:"worktree,omitempty"` // the tab's own: a command that removes it does so by davit's rules
	Ran            bool          `json:"ran,omitempty"`      // cleanup_was_run
}

// ClosedTab is a tab, or one pane of an open tab, that undo can bring back. Those that
// one act closed share a batch, and come back together (spec tabs T6.1).
type ClosedTab struct {
	ID      TabID     `json:"id"`   // of the tab; of a pane the tab that it is from
	Kind    string    `json:"kind"` // tab | pane
	Pane    PaneID    `json:"pane,omitempty"`
	Group   GroupID   `json:"group,omitempty"` // the whole of this group was closed
	Batch   string    `json:"batch"`
	Title   string    `json:"title"`
	Until   time.Time `json:"until"`
	Cleanup string    `json:"cleanup,omitempty"` // none queued held running done failed interrupted
}

// Notice is one message to the user that stays until it is dismissed or its time is over.
type Notice struct {
	ID         string         `json:"id"`
	Kind       string         `json:"kind"`  // cleanup_failed, tab_closed, config_error, …
	Level      string         `json:"level"` // info | warning | error
	Title      string         `json:"title"`
	Body       string         `json:"body,omitempty"`
	Persistent bool           `json:"persistent"`
	Until      *time.Time     `json:"until,omitempty"`
	Tab        TabID          `json:"tab,omitempty"`
	Actions    []NoticeAction `json:"actions,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Created    time.Time      `json:"created"`
}

// NoticeAction is one button of a notice; Kind "copy" and "open" are the client's own
// to do with Text, every other kind is asked of the host by notice.act.
type NoticeAction struct {
	ID    string `json:"id"` // undo, run_again, copy_commands, open_terminal, dismiss, create_and_open
	Label string `json:"label"`
	Kind  string `json:"kind"` // host | copy | open
	Text  string `json:"text,omitempty"`
}

// Chip is one small fact about where a pane is (spec chips).
type Chip struct {
	Kind   string     `json:"kind"`             // cwd, git_branch, git_diff, …
	Value  string     `json:"value"`            // the raw value, for copying
	Text   string     `json:"text"`             // as shown
	Status ChipStatus `json:"status"`           // C3.3
	Reason string     `json:"reason,omitempty"` // why it is disabled, stale or an error
	Title  string     `json:"title,omitempty"`  // of a chip of the user's own (custom:<name>)
	Icon   string     `json:"icon,omitempty"`   // of such a chip
	Data   *ChipData  `json:"data,omitempty"`
}

// ChipData are a chip's parts for those who draw them.
type ChipData struct {
	Files     int    `json:"files"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Untracked int    `json:"untracked"`
	Branch    string `json:"branch,omitempty"`
	Detached  bool   `json:"detached,omitempty"`
	Unborn    bool   `json:"unborn,omitempty"`

	// Of git_status, with Branch. Rebased: both sides hold the same changes in other
	// commits. CountsUnavailable: there is an upstream, and it cannot be counted against.
	Upstream          string `json:"upstream,omitempty"`
	Ahead             int    `json:"ahead,omitempty"`
	Behind            int    `json:"behind,omitempty"`
	Rebased           bool   `json:"rebased,omitempty"`
	CountsUnavailable bool   `json:"countsUnavailable,omitempty"`

	// WhileTyping: the chip is drawn only while the first word of what is typed, or of the
	// command that runs, is one of these.
	WhileTyping []string `json:"whileTyping,omitempty"`

	PullRequest *PullRequest `json:"pullRequest,omitempty"`
}

// PullRequest is what the github_pr chip shows.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	Title  string `json:"title"`
	State  string `json:"state"` // open draft merged closed
	Base   string `json:"base,omitempty"`
	Head   string `json:"head,omitempty"`
	Checks string `json:"checks,omitempty"` // passing failing pending, "" without checks
	Passed int    `json:"passed,omitempty"`
	Failed int    `json:"failed,omitempty"`
	Open   int    `json:"open,omitempty"` // checks that have not ended
}

// PRValidation says whether gh has proven that the pull-request chip works here (spec
// chips C4.1).
type PRValidation string

// The three states of C4.1. Only suppressed changes what is shown.
const (
	PRUnvalidated PRValidation = "unvalidated"
	PRValidated   PRValidation = "validated"
	PRSuppressed  PRValidation = "suppressed"
)

// ChipLayout is which chips and footer items are shown where, resolved by the host: the
// one answer for the prompt, its text, footers, badges and popups (spec chips C4.6).
type ChipLayout struct {
	Validation PRValidation `json:"validation"`
	PRChip     bool         `json:"prChip"`          // the flag github_pr_chip; off: the kind does not exist
	Cause      string       `json:"cause,omitempty"` // of the last transition, for a person
	Prompt     []string     `json:"prompt"`          // kinds in order; unknown ones are kept, and skipped on screen
	Footer     FooterItems  `json:"footer"`          // of a chat
	CLIFooter  FooterItems  `json:"cliFooter"`       // of a terminal that runs an agent
	Badge      bool         `json:"badge"`           // the pull-request badge may be drawn (C6.1)
	Custom     []string     `json:"custom"`          // which of prompt, footer, cliFooter are the user's own
}

// FooterItems are the two ends of a footer.
type FooterItems struct {
	Left  []string `json:"left"`
	Right []string `json:"right"`
}

// TabView is how the vertical tabs are drawn (spec chips C6). The zero value is not the
// default: DefaultTabView is.
type TabView struct {
	Granularity    string `json:"granularity"` // panes | tabs
	Density        string `json:"density"`     // expanded | compact
	Title          string `json:"title"`       // command | directory | branch
	ShowPRLink     bool   `json:"showPrLink"`
	ShowDiffStats  bool   `json:"showDiffStats"`
	DetailsOnHover bool   `json:"detailsOnHover"`
}

// DefaultTabView is the view of a new home.
func DefaultTabView() TabView {
	return TabView{Granularity: "panes", Density: "expanded", Title: "command", ShowPRLink: true, ShowDiffStats: true, DetailsOnHover: true}
}

// ChipStatus is where a chip is in its life (spec chips C3.3).
type ChipStatus string

// The statuses of C3.3.
const (
	ChipIdle     ChipStatus = "idle"
	ChipLoading  ChipStatus = "loading"
	ChipReady    ChipStatus = "ready"
	ChipCached   ChipStatus = "cached"
	ChipStale    ChipStatus = "stale"
	ChipDisabled ChipStatus = "disabled"
	ChipTimedOut ChipStatus = "timed_out"
	ChipError    ChipStatus = "error"
)

// EventKind says which part of the state an event replaces. Events carry the new value
// whole, so that applying one twice is harmless.
type EventKind string

// The kinds of events. The payload is the field of Event with the same noun.
const (
	EventTab           EventKind = "tab"           // made or changed
	EventTabRemoved    EventKind = "tabRemoved"    // TabID
	EventTabOrder      EventKind = "tabOrder"      // Order
	EventPane          EventKind = "pane"          // made or changed
	EventPaneRemoved   EventKind = "paneRemoved"   // PaneID
	EventNotice        EventKind = "notice"        // made or changed
	EventNoticeRemoved EventKind = "noticeRemoved" // NoticeID
	EventChips         EventKind = "chips"         // PaneID, Chips
	EventClosed        EventKind = "closed"        // Closed
	EventLaunched      EventKind = "agentStarted"  // Launched (spec launch L1, launchSource)
	EventSession       EventKind = "session"       // made or changed
	EventLayout        EventKind = "layout"        // Layout
	EventTabView       EventKind = "tabView"       // TabView
	EventGroup         EventKind = "group"         // made or changed
	EventGroupRemoved  EventKind = "groupRemoved"  // GroupID
)

// Event is one change of the state.
type Event struct {
	Seq      uint64      `json:"seq"`
	HostID   HostID      `json:"hostId"`
	Kind     EventKind   `json:"kind"`
	At       time.Time   `json:"at"`
	Tab      *Tab        `json:"tab,omitempty"`
	TabID    TabID       `json:"tabId,omitempty"`
	Order    []TabID     `json:"order,omitempty"`
	Pane     *Pane       `json:"pane,omitempty"`
	PaneID   PaneID      `json:"paneId,omitempty"`
	Notice   *Notice     `json:"notice,omitempty"`
	NoticeID string      `json:"noticeId,omitempty"`
	Chips    []Chip      `json:"chips,omitempty"`
	Closed   []ClosedTab `json:"closed,omitempty"`
	Launched *Launched   `json:"launched,omitempty"`
	Session  *Session    `json:"session,omitempty"`
	Layout   *ChipLayout `json:"layout,omitempty"`
	TabView  *TabView    `json:"tabView,omitempty"`
	Group    *Group      `json:"group,omitempty"`
	GroupID  GroupID     `json:"groupId,omitempty"`
}

// Launched is the one local event that a launch makes.
type Launched struct {
	Agent        string  `json:"agent"`
	Mode         Surface `json:"mode"`
	LaunchSource string  `json:"launchSource,omitempty"`
}

// Block is one command of a shell, from its marks (spec terminal P4).
type Block struct {
	Command   string     `json:"command"`
	Directory string     `json:"directory"`
	Start     time.Time  `json:"start"`
	End       *time.Time `json:"end,omitempty"`
	Exit      *int       `json:"exit,omitempty"`
	FirstRow  uint64     `json:"firstRow"` // rows of the screen, counted over its scrollback
	LastRow   uint64     `json:"lastRow"`
	From      uint64     `json:"from"` // log offsets: hints
	To        uint64     `json:"to"`

	Prompt *BlockPrompt `json:"prompt,omitempty"` // only where blocks are asked for with it
}

// BlockPrompt is what the chips of a pane's prompt said when a command started, as its user
// saw them (spec chips C5.1).
type BlockPrompt struct {
	Text    string `json:"text,omitempty"`    // the chips as one line, to copy
	Chips   []Chip `json:"chips,omitempty"`   // in the order shown
	Missing string `json:"missing,omitempty"` // why there are none
}
