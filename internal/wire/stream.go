package wire

import (
	"encoding/binary"
	"errors"

	"davit"
)

// The stream is one WebSocket at GET /v1/stream that carries events and all panes of a
// client (spec interfaces A1.2). Text frames are JSON, binary frames are pane output.
//
//	client                                server
//	  hello {key?, after?}        ──►
//	                              ◄──      hello {hostId, seq, state?}   (state unless resumed)
//	                              ◄──      event {event}                 (in order of seq)
//	                              ◄──      resync {state}                (after a gap)
//	  subscribe {pane, from?, lines?} ──►
//	                              ◄──      binary snapshot, then binary deltas
//	  ack {pane, offset}          ──►      (at most 512 KiB stay unacknowledged)
//	  input {pane, id, data}      ──►
//	                              ◄──      written {pane, id} or {pane, id, error}
//	  size {pane, cols, rows}     ──►      claims the size; a second client's claim takes it over
//	                              ◄──      exit {pane, offset, exit}
//	                              ◄──      again {pane}                  (subscribe anew from what was shown)
//	  unsubscribe {pane}          ──►
//	  look {hidden?, tabs?, panes?} ──►     (what is seen of it besides the panes and chats that it follows)
//	  follow {session, cursor?, tail?} ──►
//	                              ◄──      journal {session, rows, cursor, reset?}   (reset: drop what is shown)
//	  unfollow {session}          ──►
//	                              ◄──      error {error, pane?}
//
// The first frame must be hello. From a browser it carries the key of the login.

// ClientFrame is a text frame from the client.
type ClientFrame struct {
	Type   string       `json:"type"` // hello subscribe unsubscribe ack input paste size follow unfollow look ping
	Key    string       `json:"key,omitempty"`
	After  *uint64      `json:"after,omitempty"` // resume events after this seq
	Client string       `json:"client,omitempty"`
	Pane   davit.PaneID `json:"pane,omitempty"`
	From   *uint64      `json:"from,omitempty"`   // resume output from this log offset
	Lines  *int         `json:"lines,omitempty"`  // scrollback lines in a snapshot, 1000 when absent
	Offset uint64       `json:"offset,omitempty"` // of ack
	ID     string       `json:"id,omitempty"`     // of input: minted by the client, sent again until answered
	Data   string       `json:"data,omitempty"`   // of input and paste: text
	Bytes  []byte       `json:"bytes,omitempty"`  // of input that is not UTF-8: base64
	Cols   int          `json:"cols,omitempty"`
	Rows   int          `json:"rows,omitempty"`
	Events *bool        `json:"events,omitempty"` // of hello: false = panes only

	// Of look: chips are run for what is seen (spec chips C2.4). Without such a frame the
	// client is seen, and its vertical tabs with it.
	Hidden bool           `json:"hidden,omitempty"` // nobody sees the client at all
	Away   bool           `json:"away,omitempty"`   // it may be seen, and nobody is at it: what it shows is not looked at
	Tabs   *bool          `json:"tabs,omitempty"`   // false: its vertical tabs are not seen
	Panes  []davit.PaneID `json:"panes,omitempty"`  // panes that it tells about although it is not subscribed to them

	Session davit.SessionID `json:"session,omitempty"` // of follow and unfollow
	Cursor  *davit.Cursor   `json:"cursor,omitempty"`  // of follow: the last row that is shown
	Tail    int             `json:"tail,omitempty"`    // of follow without a cursor: at most so many rows; 0 is all
}

// ServerFrame is a text frame from the server.
type ServerFrame struct {
	Type   string       `json:"type"` // hello event resync written exit again journal error pong
	HostID davit.HostID `json:"hostId,omitempty"`
	Seq    uint64       `json:"seq,omitempty"`
	State  *davit.State `json:"state,omitempty"`
	Event  *davit.Event `json:"event,omitempty"`
	Pane   davit.PaneID `json:"pane,omitempty"`
	ID     string       `json:"id,omitempty"`
	Offset uint64       `json:"offset,omitempty"`
	Exit   *davit.Exit  `json:"exit,omitempty"`
	Error  *davit.Error `json:"error,omitempty"`

	Session davit.SessionID    `json:"session,omitempty"`
	Rows    []davit.JournalRow `json:"rows,omitempty"`
	Cursor  *davit.Cursor      `json:"cursor,omitempty"` // of the last row
	Reset   string             `json:"reset,omitempty"`
}

// OutputKind is the first byte of a binary frame.
type OutputKind byte

// The kinds of binary frames.
const (
	OutputDelta    OutputKind = 1 // bytes of the log [From, To), queries left out
	OutputSnapshot OutputKind = 2 // bytes that draw the screen as of offset To on a reset terminal of Cols×Rows
)

// Output is a binary frame: kind (1 byte), length of the pane id (1 byte), pane id, From
// and To (8 bytes each, big endian), Cols and Rows (2 bytes each), then the bytes.
type Output struct {
	Kind       OutputKind
	Pane       davit.PaneID
	From, To   uint64
	Cols, Rows int
	Data       []byte
}

// AppendHeader appends the frame's header to dst.
func (o Output) AppendHeader(dst []byte) []byte {
	dst = append(dst, byte(o.Kind), byte(len(o.Pane)))
	dst = append(dst, o.Pane...)
	dst = binary.BigEndian.AppendUint64(dst, o.From)
	dst = binary.BigEndian.AppendUint64(dst, o.To)
	dst = binary.BigEndian.AppendUint16(dst, uint16(o.Cols))
	return binary.BigEndian.AppendUint16(dst, uint16(o.Rows))
}

// ErrBadOutput is a binary frame that does not parse.
var ErrBadOutput = errors.New("output frame is malformed")

// ParseOutput reads a binary frame; Data aliases frame.
func ParseOutput(frame []byte) (Output, error) {
	if len(frame) < 2 {
		return Output{}, ErrBadOutput
	}
	o := Output{Kind: OutputKind(frame[0])}
	n := int(frame[1])
	rest := frame[2:]
	if len(rest) < n+20 || (o.Kind != OutputDelta && o.Kind != OutputSnapshot) {
		return Output{}, ErrBadOutput
	}
	o.Pane, rest = davit.PaneID(rest[:n]), rest[n:]
	o.From = binary.BigEndian.Uint64(rest)
	o.To = binary.BigEndian.Uint64(rest[8:])
	o.Cols = int(binary.BigEndian.Uint16(rest[16:]))
	o.Rows = int(binary.BigEndian.Uint16(rest[18:]))
	o.Data = rest[20:]
	return o, nil
}
