package wire

import (
	"davit"
)

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

// PaneBlocksRequest is pane.blocks.
type PaneBlocksRequest struct {
	Pane davit.PaneID `json:"pane"`
	Last int          `json:"last,omitempty" doc:"only so many of the newest; all when absent"`
}

// PaneBlocks answers it.
type PaneBlocks struct {
	Blocks []davit.Block `json:"blocks"`
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

// PaneRun is pane.run: a command typed for the user into the pane's shell, at its prompt
// (spec chips C5.2).
type PaneRun struct {
	Pane              davit.PaneID `json:"pane"`
	Argv              []string     `json:"argv" doc:"the command and its arguments; davit quotes them for the pane's own shell"`
	ClientOperationID string       `json:"clientOperationId" doc:"minted by the caller as for a launch; the same id never runs twice"`
}

// How a command was given to a shell.
const (
	RanByKey = "key"   // by davit's key: a half-typed line was put aside
	RanTyped = "typed" // typed at a prompt that was empty
)

// PaneRan answers it, once the command has begun.
type PaneRan struct {
	Pane     davit.PaneID `json:"pane"`
	Line     string       `json:"line" doc:"the command line, as the shell has it; empty when it is replayed"`
	How      string       `json:"how" enum:"key,typed"`
	Kept     bool         `json:"kept,omitempty" doc:"the user had typed something: it comes back at the next prompt"`
	Block    *davit.Block `json:"block,omitempty" doc:"the command as it began; absent when the shell told no beginning within two seconds"`
	Replayed bool         `json:"replayed,omitempty" doc:"this is the stored answer of an earlier request"`
}
