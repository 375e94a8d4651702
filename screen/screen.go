// Package screen is davit's own terminal emulator: a pure fold from the bytes
// that programs print to what a user sees (spec terminal P2). Bytes go in with
// Write; a grid with scrollback, modes, title and marks can be read at any
// time; replies to queries, effects and the byte ranges of queries come back
// as values.
//
// It starts no goroutine, takes no lock, reads no clock and does no I/O: one
// Screen belongs to one goroutine (a pane's), which serialises every call.
// Nothing here refuses input: hostile bytes may look odd but never panic, and
// memory stays within the bounds of Options.
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
// query (spec terminal P2.3). Several replies may share one At; they are then
// one input, in order.
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
