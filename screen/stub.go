package screen

import "errors"

// Screen is one terminal. The zero value is not usable; call New or Load.
type Screen struct {
	cols, rows int
	offset     uint64
}

// Modes is what programs asked the terminal to do, as far as others care.
type Modes struct {
	BracketedPaste, AppCursor, AppKeypad, FocusEvents, SyncOutput bool
	// MouseTracking is 0, 9, 1000, 1001, 1002 or 1003; MouseEncoding is 0, 1005, 1006, 1015 or 1016.
	MouseTracking, MouseEncoding                                 int
	AltScroll                                                    bool // 1007
	KittyFlags                                                   int
	ModifyOtherKeys                                              int
	Insert, NewLine, Origin, AutoWrap, ReverseWrap, ReverseVideo bool
	LeftRightMargins, GraphemeClusters                           bool
	ColorSchemeUpdates, InBandResize                             bool
	CursorVisible, CursorBlink                                   bool
	CursorShape                                                  int // DECSCUSR 0-6
}

// SnapshotOptions says how much a Snapshot holds.
type SnapshotOptions struct {
	// Lines is how many lines of scrollback at most go before the screen.
	Lines int
}

// Report is what davit screen render prints (spec interfaces A3.5).
type Report struct {
	Rows    []string `json:"rows"`
	Cursor  [2]int   `json:"cursor"`
	Title   string   `json:"title"`
	Replies string   `json:"replies"`
}

func New(cols, rows int, opts Options) *Screen { return &Screen{cols: cols, rows: rows} }
func Load(data []byte, opts Options) (*Screen, error) {
	return nil, errors.New("screen: not a checkpoint")
}
func (s *Screen) Write(p []byte) Result                                 { s.offset += uint64(len(p)); return Result{} }
func (s *Screen) Offset() uint64                                        { return s.offset }
func (s *Screen) SetOffset(o uint64)                                    { s.offset = o }
func (s *Screen) SafeOffset() uint64                                    { return s.offset }
func (s *Screen) Resize(cols, rows int) Result                          { return Result{} } // replies: in-band resize (mode 2048)
func (s *Screen) SetTheme(t Theme) Result                               { return Result{} } // replies: mode 2031
func (s *Screen) Gap(n uint64)                                          {}
func (s *Screen) Save() []byte                                          { return nil }
func (s *Screen) Snapshot(o SnapshotOptions) []byte                     { return nil }
func (s *Screen) Cols() int                                             { return s.cols }
func (s *Screen) Rows() int                                             { return s.rows }
func (s *Screen) Cursor() (x, y int)                                    { return 0, 0 }
func (s *Screen) CursorVisible() bool                                   { return true }
func (s *Screen) Title() string                                         { return "" }
func (s *Screen) IconName() string                                      { return "" }
func (s *Screen) Directory() string                                     { return "" }
func (s *Screen) AltScreen() bool                                       { return false }
func (s *Screen) Text() []string                                        { return nil }
func (s *Screen) ScrollbackLen() int                                    { return 0 }
func (s *Screen) ScrollbackText() []string                              { return nil }
func (s *Screen) Lines(from, to int) []Line                             { return nil } // 0 = oldest scrollback line; ScrollbackLen() = top row of the screen
func (s *Screen) FirstRow() uint64                                      { return 0 }   // absolute id of Lines' index 0
func (s *Screen) MarkRow(mark uint64) (row uint64, ok bool)             { return 0, false }
func (s *Screen) Modes() Modes                                          { return Modes{} }
func (s *Screen) Cell(x, y int) Cell                                    { return Cell{} }
func (s *Screen) RowANSI(y int) string                                  { return "" } // the row with SGR, ends reset; no cursor movement
func (s *Screen) LineANSI(i int) string                                 { return "" } // the same, index as in Lines
func RenderReport(input []byte, cols, rows int, scrollback bool) Report { return Report{} }
