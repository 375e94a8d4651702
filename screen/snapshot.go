package screen

import (
	"maps"
	"slices"
	"strconv"
)

// SnapshotOptions says how much a Snapshot holds.
type SnapshotOptions struct {
	// Lines is how many lines of scrollback at most go before the screen.
	Lines int
	// Input is where a shell said that its prompt ends, on the main screen: it is said
	// there once more (OSC 133 B), so that who follows knows the line that is typed.
	Input *Place
}

// Place is a cell of the screen, both counted from 0.
type Place struct{ Column, Row int }

// Snapshot is bytes which, written to a freshly reset terminal of the same
// size, show what is seen here: lines of scrollback, the main screen, the
// alternate one when it is on, then modes, title and cursor. It holds no
// query, and so leaves mode 2048 out, which is answered when it is set. Offset goes with it: SafeOffset, from where a display follows (spec
// terminal P3.1).
func (s *Screen) Snapshot(o SnapshotOptions) []byte {
	w := &writer{s: s}
	for _, index := range slices.Sorted(maps.Keys(s.palette)) {
		w.color(index, s.palette[index])
	}
	w.main(clamp(o.Lines, 0, s.hist.lines))
	if at := o.Input; at != nil && at.Row >= 0 && at.Row < s.rows {
		w.move(clamp(at.Column, 0, s.cols-1), at.Row)
		w.osc("133;B")
		w.join = joinState{}
	}
	w.kitty(&s.main.kitty)
	if s.g == s.main {
		w.saved(&s.main.saved)
		w.margins(s.main)
	} else {
		w.margins(s.main)
		w.tabs()
		w.cursor(&s.main.saved)
		w.csi("?1049h")
		w.charsets(s.main.saved, newCursor())
		if s.main.saved.origin {
			w.csi("?6l")
		}
		w.setProtected(false)
		w.setStyle(style{})
		w.csi("2J") // it took the background of the pen
		w.csi("H")
		w.rows(s.alt.rows, false)
		w.kitty(&s.alt.kitty)
		w.saved(&s.alt.saved)
		w.margins(s.alt)
	}
	w.tabs()
	w.title()
	w.modes()
	w.last()
	return w.out
}

func (w *writer) color(index int, rgb uint32) {
	code := "4;" + strconv.Itoa(index)
	if index >= paletteFg {
		code = strconv.Itoa(index - paletteFg + 10)
	}
	w.osc(code + ";" + colorReply(rgb))
}

// main writes the last lines of the scrollback and the main screen.
func (w *writer) main(lines int) {
	s := w.s
	packed := make([][]byte, 0, lines)
	s.hist.each(s.hist.lines-lines, s.hist.lines, func(_ int, line []byte) bool {
		packed = append(packed, line)
		return true
	})
	tmp := &row{cells: make([]cell, s.cols)}
	for i, line := range packed {
		if s.styles.full() || s.clusters.full() {
			w.setStyle(style{})
			s.collect()
		}
		s.unpackRow(tmp, line)
		w.row(tmp)
		if i+1 < len(packed) {
			lr, wrapped := readLine(packed[i+1])
			text, width, style, ok := lr.next()
			wrapped = wrapped && ok && text[len(text)-1] != markEmpty
			w.between(tmp, wrapped, width, s.unpackStyle(style))
		} else {
			w.before(tmp, s.main.rows[0])
		}
	}
	w.rows(s.main.rows, lines > 0)
}

// rows writes rows one below the other; all of them when what is above has to
// scroll, else up to the last that shows something.
func (w *writer) rows(rows []*row, all bool) {
	n := len(rows)
	for !all && n > 1 && len(trimmed(rows[n-1])) == 0 {
		n--
	}
	for y := range n {
		if y > 0 {
			w.before(rows[y-1], rows[y])
		}
		w.row(rows[y])
	}
	w.setProtected(false)
	w.setStyle(style{})
}

func (w *writer) before(r, next *row) {
	c := next.cells[0]
	w.between(r, next.wrapped && !c.empty(), c.width(), w.s.styles.values[c.style()])
}

// between goes from row r, which was just written, to the next. One that
// continues r and begins with a character of that width and style wraps by
// itself when r is full: to its last column, or to the one before when a wide
// character follows, which leaves a blank of its own style.
func (w *writer) between(r *row, wrapped bool, width int, st style) {
	last := r.cells[len(r.cells)-1]
	full := last&(cellContent|cellTail) != 0
	if !full && width == 2 && len(r.cells) > 1 && w.s.styles.values[last.style()] == st {
		full = r.cells[len(r.cells)-2]&(cellContent|cellTail) != 0
	}
	if wrapped && full {
		w.wrapping = true
		return
	}
	w.lineBreak()
}

func (w *writer) lineBreak() {
	w.setProtected(false)
	w.setStyle(style{})
	w.out = append(w.out, '\r', '\n')
	w.join = joinState{}
}

// row writes a row from its first column on.
func (w *writer) row(r *row) {
	cells := trimmed(r)
	x := 0
	switch wrapping := w.wrapping; {
	case wrapping && (len(cells) == 0 || cells[0].empty()):
		w.wrapping = false
		w.lineBreak()
	case wrapping:
		w.wrapping = false
		c := cells[0]
		w.cell(c, 0)
		x = max(c.width(), 1)
		if w.style.bg != 0 && x < len(r.cells) {
			// A row that scrolled in took the colour of its first character.
			w.setProtected(false)
			w.setStyle(style{})
			w.csi("K")
		}
	}
	w.cells(cells[x:], x)
}

// saved writes what DECSC saved, when it is not what it is at first.
func (w *writer) saved(c *cursor) {
	if *c == newCursor() {
		return
	}
	w.cursor(c)
	w.esc("7")
	w.setProtected(false)
	w.setStyle(style{})
	w.charsets(*c, newCursor())
	if c.origin {
		w.csi("?6l")
	}
}

// cursor makes the terminal's cursor c, with pen, character sets and origin.
func (w *writer) cursor(c *cursor) {
	w.charsets(newCursor(), *c)
	if c.origin {
		w.csi("?6h")
	}
	w.move(min(c.x, w.s.cols-1), c.y)
	w.setProtected(c.protected)
	w.setStyle(c.pen)
}

func (w *writer) charsets(was, is cursor) {
	for i := range is.charsets {
		if was.charsets[i] != is.charsets[i] {
			w.esc(string([]byte{"()*+"[i], is.charsets[i]}))
		}
	}
	if was.gl != is.gl {
		w.out = append(w.out, [...]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[is.gl]...)
		w.join = joinState{}
	}
}

func (w *writer) margins(g *grid) {
	s := w.s
	if g.top != 0 || g.bottom != s.rows-1 {
		w.csi(strconv.Itoa(g.top+1) + ";" + strconv.Itoa(g.bottom+1) + "r")
	}
	if s.modes.leftRight && g == s.g {
		w.csi("?69h")
		w.csi(strconv.Itoa(g.left+1) + ";" + strconv.Itoa(g.right+1) + "s")
	}
}

// tabs writes the tab stops unless they are every eight columns.
func (w *writer) tabs() {
	s := w.s
	if slices.Equal(s.tabs, defaultTabs(nil, s.cols)) {
		return
	}
	w.csi("3g")
	for x, on := range s.tabs {
		if on {
			w.csi("1;" + strconv.Itoa(x+1) + "H")
			w.esc("H")
		}
	}
}

func (w *writer) title() {
	if w.s.title != "" {
		w.osc("2;" + w.s.title)
	}
	if w.s.icon != "" {
		w.osc("1;" + w.s.icon)
	}
}

// kitty writes the stack of keyboard flags of one screen.
func (w *writer) kitty(k *kittyStack) {
	for i, flags := range append(slices.Clone(k.stack), k.flags) {
		switch {
		case i > 0:
			w.csi(">" + strconv.Itoa(int(flags)) + "u")
		case flags != 0:
			w.csi("=" + strconv.Itoa(int(flags)) + "u")
		}
	}
}

// modes writes the switches that differ from those of a fresh terminal; what
// would disturb the last characters comes in last.
func (w *writer) modes() {
	m := &w.s.modes
	fresh := defaultModes()
	for _, mode := range []int{1, 5, 7, 45, 1004, 1007, 2004, 2027, 2031} {
		if on := *m.flag(mode); on != *fresh.flag(mode) {
			w.private(mode, on)
		}
	}
	if m.appKeypad {
		w.esc("=")
	}
	if m.mouseTracking != 0 {
		w.private(m.mouseTracking, true)
	}
	if m.mouseEncoding != 0 {
		w.private(m.mouseEncoding, true)
	}
	if m.modifyOtherKeys != 0 {
		w.csi(">4;" + strconv.Itoa(m.modifyOtherKeys) + "m")
	}
	if m.newLine {
		w.csi("20h")
	}
	if m.cursorShape != 0 {
		w.csi(strconv.Itoa(m.cursorShape) + " q")
	}
	if m.cursorBlink != (m.cursorShape%2 == 1) {
		w.private(12, m.cursorBlink)
	}
	if !m.cursorVisible {
		w.private(25, false)
	}
}

func (w *writer) private(mode int, on bool) {
	if on {
		w.csi("?" + strconv.Itoa(mode) + "h")
	} else {
		w.csi("?" + strconv.Itoa(mode) + "l")
	}
}

// last places the cursor. When the next byte may wrap or join the character
// before it, that character is written once more, so that the terminal is in
// the same state; then comes what follows from the pen.
func (w *writer) last() {
	s := w.s
	c := &s.g.cursor
	if c.origin {
		w.csi("?6h")
	}
	x0, y0 := 0, 0
	if c.origin {
		y0 = s.g.top
		if s.modes.leftRight {
			x0 = s.g.left
		}
	}
	again := c.pending || s.join.valid
	x := c.x - 1
	if again && x >= 0 {
		if s.g.rows[c.y].cells[x]&cellTail != 0 {
			x--
		}
	}
	switch {
	case again && x >= 0 && !s.g.rows[c.y].cells[x].empty():
		w.move(x-x0, c.y-y0)
		w.cell(s.g.rows[c.y].cells[x], x)
	case c.pending:
		// The character was erased: only a blank brings the state back.
		w.move(x-x0, c.y-y0)
		w.setStyle(s.styles.values[s.g.rows[c.y].cells[x].style()])
		w.out = append(w.out, ' ')
	default:
		w.move(c.x-x0, c.y-y0)
	}
	w.setProtected(c.protected)
	w.setStyle(c.pen)
	w.charsets(newCursor(), *c)
	if s.modes.insert {
		w.csi("4h")
	}
	if s.single != 0 {
		w.esc(string("NO"[s.single-2]))
	}
	if s.modes.syncOutput {
		w.private(2026, true)
	}
}
