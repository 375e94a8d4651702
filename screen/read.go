package screen

import (
	"strings"
	"unicode/utf8"
)

// Cell is one column of a row as a reader sees it.
type Cell struct {
	// Text is the character or grapheme cluster, "" for a column that was
	// never written or that is the second half of a wide character.
	Text string
	// Width is 1 or 2, and 0 for the second half of a wide character.
	Width int
	Style Style
}

// Line is one row with its styles.
type Line struct {
	Cells []Cell
	// Wrapped tells that the line continues the one before it.
	Wrapped bool
}

// Cols is the width in columns.
func (s *Screen) Cols() int { return s.cols }

// Rows is the height in rows.
func (s *Screen) Rows() int { return s.rows }

// Cursor is the column and row of the cursor, from 0. After the last column
// was printed it is that column.
func (s *Screen) Cursor() (x, y int) {
	c := &s.g.cursor
	if c.pending {
		return c.x - 1, c.y
	}
	return c.x, c.y
}

// CursorVisible tells mode 25.
func (s *Screen) CursorVisible() bool { return s.modes.cursorVisible }

// Title is what OSC 0 or 2 set.
func (s *Screen) Title() string { return s.title }

// IconName is what OSC 0 or 1 set.
func (s *Screen) IconName() string { return s.icon }

// Directory is the directory that the shell told last, "" when none did.
func (s *Screen) Directory() string { return s.dir }

// AltScreen tells whether the alternate screen is shown.
func (s *Screen) AltScreen() bool { return s.g != s.main }

// FirstRow is the absolute id of the oldest line: index 0 of Lines.
func (s *Screen) FirstRow() uint64 { return s.hist.first }

// ScrollbackLen is the number of lines above the main screen.
func (s *Screen) ScrollbackLen() int { return s.hist.lines }

// MarkRow is the absolute row of a shell mark now, false when it has gone.
func (s *Screen) MarkRow(id uint64) (row uint64, ok bool) {
	for i := len(s.marks) - 1; i >= 0 && s.marks[i].id >= id; i-- {
		if m := s.marks[i]; m.id == id {
			return m.row, m.row >= s.hist.first
		}
	}
	return 0, false
}

// Cell is the cell at column x and row y of what is shown; the zero Cell
// outside of it.
func (s *Screen) Cell(x, y int) Cell {
	if x < 0 || y < 0 || x >= s.cols || y >= s.rows {
		return Cell{}
	}
	return s.publicCell(s.g.rows[y].cells[x])
}

func (s *Screen) publicCell(c cell) Cell {
	out := Cell{Width: c.width(), Style: s.public(s.styles.values[c.style()])}
	if c&cellTail == 0 {
		out.Text = string(s.appendText(nil, c))
	}
	return out
}

// Text is the rows of what is shown, without blanks at their ends, a wide
// character once.
func (s *Screen) Text() []string {
	out := make([]string, s.rows)
	var buf []byte
	for y, r := range s.g.rows {
		buf = s.appendRowText(buf[:0], r)
		out[y] = string(buf)
	}
	return out
}

func (s *Screen) appendRowText(dst []byte, r *row) []byte {
	start := len(dst)
	for _, c := range r.cells[:r.used] {
		switch {
		case c&cellTail != 0:
		case c.empty():
			dst = append(dst, ' ')
		default:
			dst = s.appendText(dst, c)
		}
	}
	return trimSpaces(dst, start)
}

func trimSpaces(dst []byte, start int) []byte {
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// ScrollbackText is the lines above the main screen, oldest first.
func (s *Screen) ScrollbackText() []string { return s.TextOf(0, s.hist.lines) }

// TextOf is the text of lines [from, to), indexed as in Lines.
func (s *Screen) TextOf(from, to int) []string {
	from, to = s.span(from, to)
	out := make([]string, 0, to-from)
	var buf []byte
	s.hist.each(from, to, func(_ int, line []byte) bool {
		buf = buf[:0]
		lr, _ := readLine(line)
		for {
			text, _, _, ok := lr.next()
			if !ok {
				break
			}
			before := len(buf)
			if buf = cellText(buf, text); len(buf) == before {
				buf = append(buf, ' ')
			}
		}
		out = append(out, strings.ToValidUTF8(string(trimSpaces(buf, 0)), "\uFFFD"))
		return true
	})
	for i := max(from, s.hist.lines); i < to; i++ {
		out = append(out, string(s.appendRowText(buf[:0], s.main.rows[i-s.hist.lines])))
	}
	return out
}

func (s *Screen) span(from, to int) (int, int) {
	from = clamp(from, 0, s.hist.lines+s.rows)
	return from, clamp(to, from, s.hist.lines+s.rows)
}

// Lines is lines [from, to) of scrollback and main screen: 0 is the oldest
// line of the scrollback, ScrollbackLen the top row of the main screen. What
// lies outside is left out.
func (s *Screen) Lines(from, to int) []Line {
	from, to = s.span(from, to)
	out := make([]Line, 0, to-from)
	s.eachRow(from, to, func(r *row) {
		line := Line{Cells: make([]Cell, 0, r.used), Wrapped: r.wrapped}
		for _, c := range r.cells[:r.used] {
			line.Cells = append(line.Cells, s.publicCell(c))
		}
		out = append(out, line)
	})
	return out
}

// eachRow calls f with lines [from, to) as rows, valid during the call.
func (s *Screen) eachRow(from, to int, f func(r *row)) {
	tmp := &row{cells: make([]cell, s.cols)}
	s.hist.each(from, to, func(_ int, line []byte) bool {
		if s.styles.full() || s.clusters.full() {
			s.collect()
		}
		s.unpackRow(tmp, line)
		f(tmp)
		return true
	})
	for i := max(from, s.hist.lines); i < to; i++ {
		f(s.main.rows[i-s.hist.lines])
	}
}

// RowANSI is row y of what is shown with SGR sequences; it begins in the
// default style, ends reset, and moves no cursor. Empty columns at the end
// are left out unless they have a background.
func (s *Screen) RowANSI(y int) string {
	if y < 0 || y >= s.rows {
		return ""
	}
	return string(s.appendANSI(nil, s.g.rows[y]))
}

// LineANSI is RowANSI for a line indexed as in Lines.
func (s *Screen) LineANSI(i int) string {
	if i < 0 || i >= s.hist.lines+s.rows {
		return ""
	}
	var out []byte
	s.eachRow(i, i+1, func(r *row) { out = s.appendANSI(out, r) })
	return string(out)
}

func (s *Screen) appendANSI(dst []byte, r *row) []byte {
	w := writer{s: s, out: dst}
	w.cells(trimmed(r), 0)
	w.setStyle(style{})
	return w.out
}

// trimmed is the cells of r without the empty ones at its end.
func trimmed(r *row) []cell {
	cells := r.cells[:r.used]
	for len(cells) > 0 && cells[len(cells)-1] == 0 {
		cells = cells[:len(cells)-1]
	}
	return cells
}

// Find gives the indices (as in Lines) of the lines that hold text, newest
// first, at most limit of them. A line is searched as it is wrapped.
func (s *Screen) Find(text string, limit int) []int {
	var found []int
	if text == "" || !utf8.ValidString(text) {
		return nil
	}
	for i, line := range s.TextOf(0, s.hist.lines+s.rows) {
		if strings.Contains(line, text) {
			found = append(found, i)
		}
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found[:min(limit, len(found))]
}
