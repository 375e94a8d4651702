package pane

import (
	"time"

	"davit"
)

// EventKind says what an Event is.
type EventKind string

// The kinds of events. The payload is told beside each.
const (
	EventTitle           EventKind = "title"           // Text
	EventDirectory       EventKind = "directory"       // Text: path; Remote
	EventProperty        EventKind = "property"        // Params: what the shell told (VIRTUAL_ENV, PATH, …)
	EventPromptReady     EventKind = "promptReady"     // the shell takes a command line
	EventCommandStarted  EventKind = "commandStarted"  // Block
	EventCommandFinished EventKind = "commandFinished" // Block, with its exit when told
	EventBell            EventKind = "bell"
	EventNotification    EventKind = "notification" // Text: body; Params: title, source
	EventClipboard       EventKind = "clipboard"    // Text; Params: selection
	EventProgress        EventKind = "progress"     // Params: state, value
	EventAgentState      EventKind = "agentState"   // Text: state; Params: app
	EventResized         EventKind = "resized"      // View.Cols, View.Rows
	EventNote            EventKind = "note"         // View.Note changed
	EventExit            EventKind = "exit"         // View.Exit
	EventLost            EventKind = "lost"         // the keeper does not answer for this pane
)

// Event is one thing that happened in a pane, after it changed View.
type Event struct {
	Kind   EventKind
	At     uint64 // log offset just past its cause
	Time   time.Time
	View   davit.Pane
	Text   string
	Params map[string]string
	Remote bool // Directory is on another machine
	Block  *davit.Block
}
