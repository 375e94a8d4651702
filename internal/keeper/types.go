// Package keeper is the process that owns terminals: it opens PTYs and pipes, spawns
// children and is their parent, records every byte they print in an append-only log,
// does each asked act at most once, and streams bytes and marks in order. It never
// parses what it records and never decides (spec terminal P1; docs/keeper.md).
//
//	host ──control──► server ──► pane ◄──reader goroutine── PTY, pipes ◄── children
//	     ◄─follow──── log (segments, ring, marks) ◄──append──┘
//
// Run owns every goroutine it starts and returns after them. One lock (children.mu) is
// held over fork and wait, so that no exit status is lost (P1.8); each output has a turn
// lock held over its non-blocking reads and the log write, so that a resize is a barrier.
// A gate before every act is shut for an upgrade in place, which the loop carries out with
// every turn and children.mu held; greeting is held over a claim; every other lock is a
// leaf. It refuses: os/exec, a second keeper of a home, peers of
// another user, removing anything that it did not make itself.
package keeper

import (
	"encoding/json"
	"time"

	"davit"
)

// Protocol is the version spoken; it only ever gains optional fields and verbs (P1.7).
const Protocol = 1

// Kinds of connection, stated in hello.
const (
	KindHost   = "host"   // the one acting host
	KindFollow = "follow" // one followed pane of the host
	KindReader = "reader" // looks only
)

// Kinds of pane. A shell keeps its daemons when it is closed; the others do not (P5.1).
const (
	PaneShell   = "shell"
	PaneAgent   = "agent"
	PaneChat    = "chat"
	PaneSetup   = "setup"
	PaneCleanup = "cleanup"
)

// Stderr as `which` names the second log of a pane with pipes (spec session S1.1).
const Stderr = "stderr"

// Features that this build serves beyond the protocol's first verbs.
var features = [...]string{"pipes", "labels", "replyTo", "eof", "foreground-close", "upgrade"}

// ClientHello opens every connection.
type ClientHello struct {
	Min      int      `json:"min"`
	Max      int      `json:"max"`
	Kind     string   `json:"kind"`
	Build    string   `json:"build,omitempty"`
	Features []string `json:"features,omitempty"`
	Home     string   `json:"home,omitempty"`  // checked when given
	Fence    uint64   `json:"fence,omitempty"` // of a follow connection
}

// Hello is the keeper's answer: who it is, what it can, and the fence of the host.
type Hello struct {
	Protocol  int      `json:"protocol"`
	Min       int      `json:"min"`
	Max       int      `json:"max"`
	Build     string   `json:"build"`
	Features  []string `json:"features"`
	Pid       int      `json:"pid"`
	StartTime uint64   `json:"startTime"` // the operating system's own units
	BootID    string   `json:"bootId"`
	Home      string   `json:"home"`
	Fence     uint64   `json:"fence"`    // grows with each new host
	AckEvery  uint64   `json:"ackEvery"` // bytes; more often is of no use
	// Generation counts the upgrades in place that this process has been through (P1.7).
	Generation int `json:"generation,omitempty"`
	// Refused is why the build that was to take over last gave the keeper back at once.
	Refused string `json:"refused,omitempty"`
}

// SpawnRequest asks for one child. Argv, Env, Dir and Path may hold any bytes but NUL.
type SpawnRequest struct {
	ID         string
	Pane       string
	Kind       string
	Path       string // resolved executable
	Argv       []string
	Env        []string
	Dir        string
	Cols, Rows int
	Pipes      bool // three pipes instead of a PTY; stdout and stderr have logs of their own
	Labels     map[string]string
}

// PaneInfo is one row of the keeper.
type PaneInfo struct {
	Pane      string            `json:"pane"`
	Kind      string            `json:"kind"`
	Pid       int               `json:"pid"`
	StartTime uint64            `json:"startTime"`
	Started   time.Time         `json:"started"`
	Pipes     bool              `json:"pipes,omitempty"`
	Cols      int               `json:"cols,omitempty"`
	Rows      int               `json:"rows,omitempty"`
	Start     uint64            `json:"start"` // first offset still kept
	End       uint64            `json:"end"`
	Acked     uint64            `json:"acked"`
	Queued    int               `json:"queued,omitempty"` // bytes of input that wait
	Stderr    *Range            `json:"stderr,omitempty"` // the second log of pipes
	Exit      *ExitStatus       `json:"exit,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Trouble   string            `json:"trouble,omitempty"` // the log cannot be written (P1.9)
}

// Range is what a log keeps: [Start, End).
type Range struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

// ExitStatus says how a child ended.
type ExitStatus struct {
	Code   int       `json:"code"`             // of exit(); -1 when a signal ended it
	Signal int       `json:"signal,omitempty"` // 0 when it exited
	Core   bool      `json:"core,omitempty"`
	Offset uint64    `json:"offset"` // of the log when it had been read to its end
	Time   time.Time `json:"time"`
}

// Input is bytes for a program. ReplyTo is the offset just past the query that this
// answers, 0 for ordinary input (P2.3). EOF closes a pipe's stdin behind it.
type Input struct {
	ID      string
	Pane    string
	Data    []byte
	ReplyTo uint64
	EOF     bool
}

// CloseOptions say how a pane is closed; zero times mean P5.1's 2 s and 3 s.
type CloseOptions struct {
	Foreground bool          // end only what is in the foreground; an idle shell stays
	Hangup     time.Duration // between SIGHUP and SIGTERM
	Term       time.Duration // between SIGTERM and SIGKILL
}

// CloseReport says what a close ended and what it left.
type CloseReport struct {
	Ended     []Process   `json:"ended"`
	Remaining []Process   `json:"remaining"` // still alive after SIGKILL
	Kept      []Process   `json:"kept"`      // daemons that a user's shell started
	Exit      *ExitStatus `json:"exit,omitempty"`
}

// Process is one process as the operating system names it.
type Process struct {
	Pid       int    `json:"pid"`
	StartTime uint64 `json:"startTime"`
	Name      string `json:"name"`
	Command   string `json:"command,omitempty"`
	Signal    int    `json:"signal,omitempty"` // the last that it was sent by a close
	// Pane and Since are of adopted ones in a status: what made it, "" when that cannot be
	// told, and when it was started.
	Pane  string    `json:"pane,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// Foreground is who a terminal listens to, and how.
type Foreground struct {
	Pid       int      `json:"pid"` // 0 when there is none
	Group     int      `json:"group"`
	Name      string   `json:"name"`
	Argv      []string `json:"argv"`
	StartTime uint64   `json:"startTime"`
	Dir       string   `json:"dir,omitempty"`
	OwnChild  bool     `json:"ownChild"`  // it is the program that the pane was made for
	Canonical bool     `json:"canonical"` // the terminal reads whole lines (P3.5)
	Echo      bool     `json:"echo"`
}

// HostInfo is the host as the keeper sees it.
type HostInfo struct {
	Pid   int       `json:"pid"`
	Build string    `json:"build"`
	Since time.Time `json:"since"`
	Heard time.Time `json:"heard"`
	There bool      `json:"there"`
}

// Status is what `davit keeper status` prints.
type Status struct {
	Hello
	Socket  string     `json:"socket"`
	Started time.Time  `json:"started"`
	Host    *HostInfo  `json:"host,omitempty"`
	Panes   []PaneInfo `json:"panes"`
	Adopted []Process  `json:"adopted"` // orphans that came to the keeper
	Files   int        `json:"files"`   // open descriptors, 0 when unknown
	Cgroup  *Cgroup    `json:"cgroup,omitempty"`
}

// FrameKind is what a followed pane tells.
type FrameKind int

// The kinds of Frame. Start, Resize, Gap and Exit are marks.
const (
	Bytes FrameKind = iota
	Start
	Resize
	Gap  // [From, To) is not kept any more
	Exit // more bytes may follow from background holders
)

// Frame is one thing told of a followed pane, in log order.
type Frame struct {
	Kind       FrameKind
	From, To   uint64
	Data       []byte // of Bytes; valid until the next call
	Cols, Rows int    // of Start and Resize
	Time       time.Time
	Exit       *ExitStatus
}

// WireError is an error on the wire.
type WireError struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// wireBusy is P1.2's word; users read pane_busy.
const wireBusy = "busy"

// ErrorToWire gives err the wire's shape.
func ErrorToWire(err error) *WireError {
	e := davit.AsError(err)
	w := &WireError{Code: string(e.Code), Message: e.Error(), Hint: e.Hint, Details: e.Details}
	if e.Code == davit.CodePaneBusy {
		w.Code = wireBusy
	}
	return w
}

// Err gives back the domain's error.
func (w *WireError) Err() error {
	code := davit.Code(w.Code)
	if w.Code == wireBusy {
		code = davit.CodePaneBusy
	}
	return &davit.Error{Code: code, Message: w.Message, Hint: w.Hint, Details: w.Details}
}

// Message is the JSON header of a message frame: a request (Verb), an answer (Re) or an
// event (Event).
type Message struct {
	N     uint64          `json:"n,omitempty"`
	Verb  string          `json:"verb,omitempty"`
	Re    uint64          `json:"re,omitempty"`
	Event string          `json:"event,omitempty"`
	Error *WireError      `json:"error,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
}

// Bodies of requests and answers that are not types of their own above.
type (
	// SpawnBody goes before the payload of NUL-ended strings.
	SpawnBody struct {
		ID     string            `json:"id"`
		Pane   string            `json:"pane"`
		Kind   string            `json:"kind"`
		Argc   int               `json:"argc"`
		Envc   int               `json:"envc"`
		Cols   int               `json:"cols,omitempty"`
		Rows   int               `json:"rows,omitempty"`
		Pipes  bool              `json:"pipes,omitempty"`
		Labels map[string]string `json:"labels,omitempty"`
	}
	// InputBody goes before the payload; More says that parts follow, At how many bytes
	// of the input went before this one.
	InputBody struct {
		ID      string `json:"id"`
		Pane    string `json:"pane"`
		ReplyTo uint64 `json:"replyTo,omitempty"`
		EOF     bool   `json:"eof,omitempty"`
		More    bool   `json:"more,omitempty"`
		At      int    `json:"at,omitempty"`
	}
	// InputAnswer tells a reply that was dropped by P2.3, and why.
	InputAnswer struct {
		Dropped string `json:"dropped,omitempty"`
	}
	// ActBody is what resize, signal and close say.
	ActBody struct {
		ID         string `json:"id"`
		Pane       string `json:"pane"`
		Cols       int    `json:"cols,omitempty"`
		Rows       int    `json:"rows,omitempty"`
		Signal     int    `json:"sig,omitempty"`
		Group      bool   `json:"group,omitempty"`
		Foreground bool   `json:"foreground,omitempty"`
		HangupMs   int64  `json:"hangupMs,omitempty"`
		TermMs     int64  `json:"termMs,omitempty"`
	}
	// PaneBody is what foreground, retain, forget and follow say.
	PaneBody struct {
		Pane   string `json:"pane"`
		Which  string `json:"which,omitempty"`
		Offset uint64 `json:"offset,omitempty"`
		From   uint64 `json:"from,omitempty"`
	}
	// ListAnswer holds the rows.
	ListAnswer struct {
		Panes []PaneInfo `json:"panes"`
	}
	// ControlBody is what shutdown and upgrade say.
	ControlBody struct {
		Force bool   `json:"force,omitempty"`
		Path  string `json:"path,omitempty"`
	}
	// SupersededBody is what a host that was replaced is told.
	SupersededBody struct {
		Fence uint64 `json:"fence"`
	}
)
