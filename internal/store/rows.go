package store

import (
	"encoding/json"
	"time"

	"davit"
)

// Batch is one transaction over the layout: all of it is stored, or nothing. PutX
// inserts or replaces by id; deleting what is not there is no error.
type Batch struct {
	PutTabs         []TabRow
	DeleteTabs      []davit.TabID
	PutGroups       []davit.Group
	DeleteGroups    []davit.GroupID
	Order           []davit.TabID // positions by index; nil leaves every position as it is
	PutPanes        []PaneRow
	DeletePanes     []davit.PaneID // takes the acts owed for the pane along
	PutNotices      []davit.Notice
	DeleteNotices   []string
	PutCleanups     []CleanupRow
	DeleteCleanups  []string
	PutOpenings     []OpeningRow
	DeleteOpenings  []string
	PutWorktrees    []WorktreeRow
	DeleteWorktrees []string
	PutActs         []ActRow
	DoneActs        []string
}

// TabRow is a tab as stored. Closed is nil while it is open.
type TabRow struct {
	Tab      davit.Tab
	Position int
	Closed   *Closing
}

// Closing is what undo needs of a closed tab (spec tabs T5.8, T6.1).
type Closing struct {
	At        time.Time   `json:"at"`
	Until     time.Time   `json:"until"`
	Position  int         `json:"position"`
	After     davit.TabID `json:"after,omitempty"` // the tab it stood after
	CleanupID string      `json:"cleanupId,omitempty"`
	Batch     string      `json:"batch,omitempty"` // of what one act closed

	Group *davit.Group `json:"group,omitempty"` // that it was in, as it was then
	Whole bool         `json:"whole,omitempty"` // the whole of that group was closed in the batch

	Ignored      []string `json:"ignored,omitempty"` // what git ignores in the worktree that goes, by path, the first of
	IgnoredCount int      `json:"ignoredCount,omitempty"`
	Ended        []string `json:"ended,omitempty"` // programs that were ended before the cleanup
}

// PaneClosing is what undo needs of a closed pane whose tab is open, or was when the pane
// was closed (spec tabs T6.1).
type PaneClosing struct {
	At      time.Time    `json:"at"`
	Until   time.Time    `json:"until"`
	Batch   string       `json:"batch"`
	Title   string       `json:"title"`
	Tree    davit.Split  `json:"tree"` // of the tab before it was closed
	Left    davit.Split  `json:"left"` // and after
	Beside  davit.PaneID `json:"beside,omitempty"`
	Side    string       `json:"side,omitempty"` // where it stood, seen from that neighbour
	Focused bool         `json:"focused,omitempty"`
}

// PaneRow is a pane as stored. Checkpoint and EffectsThrough never go back (spec
// terminal P1.4, P2.3), unless NewLog says that the pane's log starts anew.
type PaneRow struct {
	Pane           davit.Pane
	Spec           PaneSpec
	Checkpoint     uint64
	EffectsThrough uint64
	KeeperBoot     string       // pid, start time and boot id of the keeper that spawned it
	Closed         *PaneClosing // nil while it is in its tab's tree
	NewLog         bool         // write only: take the two offsets as given
}

// PaneSpec is what it takes to start the pane's program again. It holds no secret:
// values that came from one keep their placeholder (spec tabs T2.1), and accountEnv is
// never in it (spec launch L1).
type PaneSpec struct {
	Argv        []string          `json:"argv,omitempty"`
	Directory   string            `json:"directory"`
	Shell       string            `json:"shell,omitempty"`
	ShellKind   string            `json:"shellKind,omitempty"`
	Startup     []string          `json:"startup,omitempty"`     // commands, in order
	StartupSent int               `json:"startupSent,omitempty"` // how many were typed, the last perhaps
	Env         map[string]string `json:"env,omitempty"`         // secrets as {{name}}
	Secrets     []string          `json:"secrets,omitempty"`     // names of the variables in Env that hold a placeholder
	Agent       string            `json:"agent,omitempty"`
	OperationID string            `json:"operationId,omitempty"`
	Starts      int               `json:"starts,omitempty"`  // how often its program was started anew
	LogBase     uint64            `json:"logBase,omitempty"` // offset of the pane at which the keeper's log begins

	SecretPlaces []SecretPlace `json:"secretPlaces,omitempty"` // where the parameters' values go

	Setup *SetupSpec   `json:"setup,omitempty"` // runs before the first start of the program
	After davit.PaneID `json:"after,omitempty"` // the pane whose setup the startup commands wait for
}

// SetupSpec is the setup script of a worktree that runs in a pane's terminal before its
// program (spec launch L5.3), allowed by the user.
type SetupSpec struct {
	Script    string `json:"script"`
	Directory string `json:"directory"`     // the worktree's root
	Anyway    bool   `json:"anyway"`        // the program starts however the script ends
	Alone     bool   `json:"alone"`         // there is no program: the pane is the script's
	For       string `json:"for,omitempty"` // who waits for it, in words
}

// SecretPlace is where the value of a secret parameter goes in a variable of Env.
type SecretPlace struct {
	Variable string `json:"variable"`
	Param    string `json:"param"`
	Offset   int    `json:"offset"` // of its {{name}}
}

// CleanupState is where a cleanup is (docs/store.md shows the moves).
type CleanupState string

// The states of a cleanup.
const (
	CleanupQueued      CleanupState = "queued"
	CleanupHeld        CleanupState = "held"
	CleanupRunning     CleanupState = "running"
	CleanupDone        CleanupState = "done"
	CleanupFailed      CleanupState = "failed"
	CleanupInterrupted CleanupState = "interrupted"
	CleanupGivenBack   CleanupState = "given_back"
	CleanupMerged      CleanupState = "merged"
)

// CleanupRow is one cleanup of one closed tab (spec tabs T5.4–T5.8).
type CleanupRow struct {
	ID       string
	Tab      davit.TabID
	TabTitle string
	Repo     string
	Worktree string
	Plan     davit.OnClose
	State    CleanupState
	Steps    json.RawMessage // what cleanup-run recorded; nil before it ran
	Pane     string          // the keeper's pane that runs it
	Created  time.Time
	Changed  time.Time
}

// WorktreeRow is a worktree that davit made, which is what makes it davit's to remove
// (spec launch L9.6). Instance finds it again after a crash between git and the row.
type WorktreeRow struct {
	ID        string
	Worktree  davit.Worktree
	Instance  string
	Operation string // the launch that asked for it, "" for other ways
	Created   time.Time
}

// OpeningRow is a tab config that is being opened and makes a worktree for it: the row is
// there before git runs and goes away with the tab's own row, so that a worktree whose tab
// never came is told after a crash.
type OpeningRow struct {
	ID       string // of the opening
	Config   string // its name
	Worktree string // instance of the worktree
	Created  time.Time
}

// ActRow is an act owed to the keeper until it is done (spec terminal P1.2). An id
// names one body for ever.
type ActRow struct {
	ID      string
	Pane    davit.PaneID
	Kind    string // spawn input resize close signal
	Body    []byte
	Created time.Time
}

// Everything is what a starting host reads. A row that cannot be decoded is in Faults
// and nowhere else (spec tabs T6.2).
type Everything struct {
	Tabs      []TabRow  // open and closed, by position
	Panes     []PaneRow // by id
	Groups    []davit.Group
	Openings  []OpeningRow // oldest first
	Notices   []davit.Notice
	Cleanups  []CleanupRow  // oldest first
	Worktrees []WorktreeRow // oldest first
	Acts      []ActRow      // in the order they were put in
	Faults    []RowFault
}

// RowFault tells of one stored row that could not be read. The row is left as it is.
type RowFault struct {
	Table    string
	ID       string
	Tab      davit.TabID // of a tab or pane
	Position int         // of a tab
	Closed   bool        // of a tab: it was
	Err      error
}
