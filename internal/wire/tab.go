package wire

import (
	"time"

	"davit"
)

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

	Going []WorktreeGoing `json:"going" doc:"worktrees that the cleanups of these tabs remove, and what goes with them; of the first few, as far as it was found out at once"`

	Cleanups []CleanupAhead `json:"cleanups" doc:"cleanups of these tabs that wait for another tab, or delete a branch"`
}

// CleanupAhead is what a cleanup will do, or waits for, that a user may not expect.
type CleanupAhead struct {
	Tab      davit.TabID `json:"tab"`
	Title    string      `json:"title"`
	Deletes  []string    `json:"deletes,omitempty" doc:"its commands that delete a branch, as they will run; what a script does cannot be told"`
	HeldBy   davit.TabID `json:"heldBy,omitempty" doc:"an open tab that uses the same worktree: the cleanup waits until the last such tab closes"`
	Worktree string      `json:"worktree,omitempty" doc:"that worktree"`
	Text     string      `json:"text" doc:"the same for a person"`
}

// WorktreeGoing is a worktree that a close removes, and what git ignores there: it is in no
// commit, and goes too (spec launch L9.6).
type WorktreeGoing struct {
	Tab          davit.TabID `json:"tab"`
	Path         string      `json:"path"`
	Branch       string      `json:"branch,omitempty" doc:"it stays, unless a command deletes it: see cleanups"`
	Ignored      []string    `json:"ignored" doc:"by path: at most 20, files first; not those that the main checkout has alike"`
	IgnoredCount int         `json:"ignoredCount"`
	Text         string      `json:"text" doc:"the same for a person"`
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

	Notes []string `json:"notes" doc:"what is not as it was before the close, for a person: a cleanup that goes on, programs that were ended"`
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

// TabEdited answers it.
type TabEdited struct {
	Tab   davit.TabID `json:"tab"`
	Notes []string    `json:"notes" doc:"what the edit did besides, for a person: a tab that joins a group takes its pin"`
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

// GroupMade answers group.make.
type GroupMade struct {
	Group davit.GroupID `json:"group"`
	Notes []string      `json:"notes" doc:"what it did besides, for a person: which tabs are not pinned any more, or are now"`
}

// GroupRef is group.dissolve, whose tabs stay.
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
