// Package screen is a terminal emulator without a display: a pure fold from the
// bytes that programs print to what a user sees. Bytes go in with Write; a grid
// with scrollback, modes, title and marks can be read at any time; replies to
// queries, effects and the byte ranges of queries come back as values.
//
//	s := screen.New(80, 24, screen.Options{})
//	for {
//		n, err := pty.Read(buf)
//		result := s.Write(buf[:n])
//		for _, reply := range result.Replies {
//			pty.Write(reply.Data)
//		}
//		draw(s.Text())
//		…
//	}
//
// # A fold
//
// Any split of the same bytes gives the same state and the same results. The
// state can be saved and loaded between any two bytes (Save, Load), and shown
// by another terminal from any moment on (Snapshot, then the bytes from
// SafeOffset). Offsets count the bytes of the stream.
//
// # Rows
//
// Rows and columns count from 0. Cell, Text, RowANSI and Cursor speak of what
// is shown; Lines, TextOf, LineANSI and Find of the main screen below its
// scrollback, index 0 being the oldest line that is kept; FirstRow plus such an
// index is the id of a row for as long as nothing is wrapped anew.
//
// # Bounds
//
// It starts no goroutine, takes no lock, reads no clock and does no I/O: one
// Screen belongs to one goroutine (a pane's), which serialises every call.
// Nothing here refuses input: hostile bytes may look odd but never panic, and
// memory stays within the bounds of Options (spec terminal P2).
package screen

// Options sets the bounds of a Screen and how it presents itself to programs.
// The zero value is ready to use.
type Options struct {
	// ScrollbackBytes bounds the memory of the scrollback; the oldest lines
	// go first. 0 means DefaultScrollbackBytes (spec terminal P2.2).
	ScrollbackBytes int
	// ScrollbackLines bounds the number of scrollback lines.
	// 0 means DefaultScrollbackLines, negative means none.
	ScrollbackLines int
	// Version is told to programs that ask with XTVERSION ("davit(Version)").
	Version string
	// Theme answers colour queries (OSC 4, 10, 11, 12, CSI ?996n).
	Theme Theme
}

// Defaults of Options.
const (
	DefaultScrollbackLines = 10_000
	DefaultScrollbackBytes = 16 << 20
)

// Result is what one Write had to say beside the new state. Slices are nil
// when empty and belong to the caller.
type Result struct {
	Replies []Reply
	Effects []Effect
	// Queries are the byte ranges that ask the terminal something: a server
	// leaves them out of what it sends to a display (spec terminal P3.1).
	// Ranges are in order and do not overlap. One may start before the bytes
	// of this Write, when the query was split.
	Queries []Range
}

// Range is the bytes [From, To) of the stream.
type Range struct{ From, To uint64 }

// Reply is the terminal's answer to a query. At is the offset just past the
// query (spec terminal P2.3); it grows from reply to reply.
type Reply struct {
	At   uint64
	Data []byte
}

// EffectKind says what an Effect is. Kinds are stored, so they are strings.
type EffectKind string

// The kinds of Effect.
const (
	Bell          EffectKind = "bell"
	Title         EffectKind = "title"         // Text: the new title
	IconName      EffectKind = "iconName"      // Text: the new icon name
	Directory     EffectKind = "directory"     // Text: path; Params: host, when told
	RemoteHost    EffectKind = "remoteHost"    // Text: user@host (OSC 1337)
	Clipboard     EffectKind = "clipboard"     // Text: decoded text; Params: selection
	Notification  EffectKind = "notification"  // Text: body; Params: title, source (9, 99, 777), id
	Progress      EffectKind = "progress"      // Params: state (none, normal, error, busy, paused), value
	PromptStart   EffectKind = "promptStart"   // OSC 133 A (633 A)
	CommandStart  EffectKind = "commandStart"  // OSC 133 B (633 B)
	OutputStart   EffectKind = "outputStart"   // OSC 133 C (633 C)
	CommandEnd    EffectKind = "commandEnd"    // OSC 133 D (633 D); Params: exit, when told
	ShellProperty EffectKind = "shellProperty" // OSC 133 P / 633 P and E; Params: key=value; Text: command line of 633 E
	AgentState    EffectKind = "agentState"    // OSC 7501; Text: state; Params: app and what else was told
)

// Effect is something that bytes caused beside what is seen.
type Effect struct {
	// At is the offset just past the sequence.
	At   uint64
	Kind EffectKind
	Text string
	// Params are the key=value pairs of the sequence, nil when there are none.
	Params map[string]string
	// Row is the absolute id of the cursor's row at that moment: lines that
	// ever scrolled off + y. It grows with the scrollback; a reflow renumbers,
	// Mark does not.
	Row uint64
	// Column is the cursor's column at that moment.
	Column int
	// Mark names the place of a shell mark (OSC 133) for MarkRow, which stays
	// right over a reflow; 0 for other kinds and on the alternate screen.
	Mark uint64
}

// The size of a Screen is clamped to these.
const (
	MaxColumns = 1000
	MaxRows    = 1000
)

// Screen is one terminal. The zero value is not usable; call New or Load.
type Screen struct {
	cols, rows int
	opts       Options
	main, alt  *grid  // alt is nil until it is first used
	g          *grid  // the one that is shown
	altSaved   cursor // DECSC of the alternate screen while it is away
	hist       history

	styles    styleTable
	links     interner[link]
	clusters  interner[string]
	linkBytes int
	pen       cell // high bits of what is printed
	penDirty  bool
	eraseBG   Color
	eraseFill cell

	modes    modes
	tabs     []bool
	title    string
	icon     string
	titles   []string // pushed by CSI 22 t
	icons    []string
	dir      string
	host     string // of dir or RemoteHost, as told
	palette  map[int]uint32
	marks    []mark
	lastMark uint64
	notice   notice

	parser parser
	join   joinState
	// repeatable is join as REP needs it, from before its own sequence.
	repeatable joinState
	single     uint8 // single shift: G2 or G3 for the next character, 0 = none
	offset     uint64
	at         uint64 // offset just past the sequence being dispatched
	result     Result
	scratch    []byte
}

// joinState is what the next code point may join: the class and columns of
// the one just printed. Any control or sequence ends it.
type joinState struct {
	class, width uint8
	valid        bool
}

// mark is the place of a shell mark on the main screen.
type mark struct {
	id  uint64
	row uint64
	col int
}

const maxMarks = 4096 // the oldest go

// New makes a blank Screen. Sizes are clamped to 1×1 and MaxColumns×MaxRows.
func New(cols, rows int, opts Options) *Screen {
	s := &Screen{cols: clamp(cols, 1, MaxColumns), rows: clamp(rows, 1, MaxRows), opts: opts}
	s.hist.maxLines, s.hist.maxBytes = opts.ScrollbackLines, opts.ScrollbackBytes
	switch {
	case opts.ScrollbackLines == 0:
		s.hist.maxLines = DefaultScrollbackLines
	case opts.ScrollbackLines < 0:
		s.hist.maxLines = 0
	}
	if s.hist.maxBytes <= 0 {
		s.hist.maxBytes = DefaultScrollbackBytes
	}
	s.styles = newStyleTable()
	s.links = newInterner[link]()
	s.clusters = newInterner[string]()
	s.main = newGrid(s.cols, s.rows)
	s.g = s.main
	s.altSaved = newCursor()
	s.modes = defaultModes()
	s.tabs = defaultTabs(nil, s.cols)
	return s
}

func clamp(v, low, high int) int { return max(low, min(v, high)) }

// Write folds p into the screen. Any split of the same bytes gives the same
// state and the same results.
func (s *Screen) Write(p []byte) Result {
	s.feed(p)
	s.offset += uint64(len(p))
	res := s.result
	s.result = Result{}
	return res
}

// Offset is the count of bytes taken so far, from SetOffset on.
func (s *Screen) Offset() uint64 { return s.offset }

// SetOffset says at which offset of the stream the next byte lies.
func (s *Screen) SetOffset(o uint64) {
	if s.parser.state != stateGround {
		s.parser.start = o - (s.offset - s.parser.start)
	}
	s.offset = o
}

// SafeOffset is the start of what the parser has not finished, Offset when
// there is nothing: a display that is given a Snapshot follows from here.
func (s *Screen) SafeOffset() uint64 {
	if s.parser.state != stateGround || s.parser.need > 0 {
		return s.parser.start
	}
	return s.offset
}

// Gap says that n bytes of the stream are missing. The parser starts anew,
// the modes stay (spec terminal P1.4).
func (s *Screen) Gap(n uint64) {
	s.parser.reset()
	s.join = joinState{}
	s.single = 0
	s.offset += n
}

// reset is RIS.
func (s *Screen) reset() {
	s.main = newGrid(s.cols, s.rows)
	s.alt = nil
	s.g = s.main
	s.altSaved = newCursor()
	s.hist.clear()
	s.hist.first += uint64(s.rows)
	s.styles = newStyleTable()
	s.links = newInterner[link]()
	s.clusters = newInterner[string]()
	s.linkBytes = 0
	s.pen, s.penDirty, s.eraseFill = 0, false, 0
	s.modes = defaultModes()
	s.tabs = defaultTabs(nil, s.cols)
	s.palette = nil
	s.marks = nil
	s.titles, s.icons = nil, nil
	s.single = 0
	s.join, s.repeatable = joinState{}, joinState{}
}

// softReset is DECSTR.
func (s *Screen) softReset() {
	keep := s.modes
	s.modes = defaultModes()
	s.modes.mouseTracking, s.modes.mouseEncoding = keep.mouseTracking, keep.mouseEncoding
	s.modes.focusEvents, s.modes.clusters, s.modes.schemeUpdates = keep.focusEvents, keep.clusters, keep.schemeUpdates
	s.modes.inBandResize, s.modes.reverseVideo, s.modes.newLine = keep.inBandResize, keep.reverseVideo, keep.newLine
	s.g.resetMargins(s.cols, s.rows)
	c := newCursor()
	c.x, c.y, c.pending = s.g.cursor.x, s.g.cursor.y, s.g.cursor.pending
	s.g.cursor = c
	s.g.saved = newCursor()
	s.g.kitty = kittyStack{}
	s.penDirty = true
}

// reply answers the sequence being dispatched and marks it as a query.
func (s *Screen) reply(data string) {
	s.query()
	if n := len(s.result.Replies); n > 0 && s.result.Replies[n-1].At == s.at {
		s.result.Replies[n-1].Data = append(s.result.Replies[n-1].Data, data...)
		return
	}
	s.result.Replies = append(s.result.Replies, Reply{At: s.at, Data: []byte(data)})
}

// query marks the sequence being dispatched as a query: a display must not
// answer it a second time.
func (s *Screen) query() {
	r := Range{From: s.parser.start, To: s.at}
	if n := len(s.result.Queries); n > 0 && s.result.Queries[n-1] == r {
		return
	}
	s.result.Queries = append(s.result.Queries, r)
}

// effect reports something beside what is seen.
func (s *Screen) effect(e Effect) {
	e.At = s.at
	e.Row = s.hist.first + uint64(s.hist.lines+s.main.cursor.y)
	e.Column = min(s.main.cursor.x, s.cols-1)
	switch e.Kind {
	case PromptStart, CommandStart, OutputStart, CommandEnd:
		if s.g == s.main {
			s.lastMark++
			e.Mark = s.lastMark
			if len(s.marks) >= maxMarks {
				s.marks = append(s.marks[:0], s.marks[maxMarks/4:]...)
			}
			s.marks = append(s.marks, mark{e.Mark, e.Row, e.Column})
		}
	}
	s.result.Effects = append(s.result.Effects, e)
}
