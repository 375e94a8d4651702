package screen

import (
	"slices"
	"sort"
)

// Resize changes the size, clamped to 1×1 and MaxColumns×MaxRows. Lines of
// the main screen and of the scrollback are wrapped anew, both ways; the
// alternate screen is cut or filled with blanks. Margins are reset. The result
// holds the report to a program that asked for it (mode 2048); its At is
// Offset and it answers no query.
func (s *Screen) Resize(cols, rows int) Result {
	cols, rows = clamp(cols, 1, MaxColumns), clamp(rows, 1, MaxRows)
	if cols == s.cols && rows == s.rows {
		return Result{}
	}
	s.join, s.repeatable = joinState{}, joinState{}
	if s.alt != nil {
		s.resizeAlternate(cols, rows)
	}
	s.resizeMain(cols, rows)
	if cols > s.cols {
		s.tabs = defaultTabs(s.tabs, cols)
	} else {
		s.tabs = s.tabs[:cols]
	}
	s.cols, s.rows = cols, rows
	clampCursor(&s.altSaved, cols, rows)
	s.main.resetMargins(cols, rows)
	if s.alt != nil {
		s.alt.resetMargins(cols, rows)
	}
	if s.modes.inBandResize {
		return Result{Replies: []Reply{{At: s.offset, Data: []byte(s.sizeReport())}}}
	}
	return Result{}
}

// resizeAlternate cuts or extends the alternate screen: rows go below the
// cursor first, then at the top.
func (s *Screen) resizeAlternate(cols, rows int) {
	old := s.alt
	first := clamp(old.cursor.y-rows+1, 0, max(s.rows-rows, 0))
	g := newGrid(cols, rows)
	for y := range g.rows {
		if first+y >= len(old.rows) {
			break
		}
		src, dst := old.rows[first+y], g.rows[y]
		n := copy(dst.cells, src.cells[:src.used])
		if n > 0 && dst.cells[n-1]&cellWide != 0 {
			dst.cells[n-1] = 0
		}
		dst.used = n
		dst.wrapped = src.wrapped && cols == s.cols
	}
	g.cursor, g.saved, g.kitty = old.cursor, old.saved, old.kitty
	g.cursor.y -= first
	clampCursor(&g.cursor, cols, rows)
	clampCursor(&g.saved, cols, rows)
	if s.g == s.alt {
		s.g = g
	}
	s.alt = g
}

// clampCursor brings a cursor into another size. One behind the last column
// goes on in a new column where there is one.
func clampCursor(c *cursor, cols, rows int) {
	c.pending = false
	c.x, c.y = clamp(c.x, 0, cols-1), clamp(c.y, 0, rows-1)
}

// place is a position that a reflow keeps: in lines from the oldest of the
// scrollback, and then in the new lines.
type place struct {
	line, col       int
	toLine, toCol   int
	found, atMargin bool
}

// resizeMain packs the rows of the screen behind the scrollback, wraps all
// lines anew when the width changed, and unpacks the end of it.
func (s *Screen) resizeMain(cols, rows int) {
	g := s.main
	cur := place{line: s.hist.lines + g.cursor.y, col: g.cursor.x, atMargin: g.cursor.pending}
	saved := place{line: s.hist.lines + g.saved.y, col: g.saved.x}
	top := place{line: s.hist.lines}
	places := []*place{&cur, &saved, &top}
	s.marks = s.liveMarks(s.rows)
	marks := make([]place, len(s.marks))
	for i, m := range s.marks {
		marks[i] = place{line: int(m.row - s.hist.first), col: m.col}
		places = append(places, &marks[i])
	}

	lines := &history{first: s.hist.first, maxLines: 1 << 30, maxBytes: 1 << 40}
	if cols == s.cols {
		lines.blocks, lines.lines, lines.bytes = s.hist.blocks, s.hist.lines, s.hist.bytes
		lines.last = s.hist.last
		s.addScreen(lines)
		for _, p := range places {
			p.toLine, p.toCol = p.line, p.col
		}
	} else {
		s.addScreen(&s.hist)
		s.rewrap(lines, cols, places)
	}
	s.settle(lines, cols, rows, &cur, &saved, top.toLine)
	for i := range s.marks {
		s.marks[i].row, s.marks[i].col = lines.first+uint64(marks[i].toLine), min(marks[i].toCol, cols-1)
	}
	s.marks = s.liveMarks(rows)
}

// liveMarks are the marks whose line is kept, on a main screen of that height.
func (s *Screen) liveMarks(rows int) []mark {
	end := s.hist.first + uint64(s.hist.lines+rows)
	return slices.DeleteFunc(slices.Clone(s.marks), func(m mark) bool { return m.row < s.hist.first || m.row >= end })
}

// addScreen appends the rows of the main screen without any bound.
func (s *Screen) addScreen(h *history) {
	maxLines, maxBytes := h.maxLines, h.maxBytes
	h.maxLines, h.maxBytes = 1<<30, 1<<40
	for _, r := range s.main.rows {
		b := h.tail()
		before := len(b.data)
		b.data = s.packRow(b.data, r)
		h.added(b, before)
	}
	h.maxLines, h.maxBytes = maxLines, maxBytes
}

// rewrap writes the lines of s.hist into to, at most cols columns wide.
func (s *Screen) rewrap(to *history, cols int, places []*place) {
	sort.SliceStable(places, func(i, j int) bool { return places[i].line < places[j].line })
	w := rewrapper{to: to, cols: cols, old: s.cols}
	var group [][]byte
	first := 0
	flush := func() {
		if len(group) == 0 {
			return
		}
		n := 0
		for n < len(places) && places[n].line < first+len(group) {
			n++
		}
		w.group(group, first, places[:n])
		places = places[n:]
		first += len(group)
		group = group[:0]
	}
	s.hist.each(0, s.hist.lines, func(_ int, line []byte) bool {
		if line[0]&lineWrapped == 0 {
			flush()
		}
		group = append(group, line)
		return true
	})
	flush()
}

// settle cuts the lines into scrollback and screen, so that the cursor is
// seen, blank rows below it go first, and the bottom stays at the bottom.
func (s *Screen) settle(lines *history, cols, rows int, cur, saved *place, top int) {
	g := s.main
	total := lines.lines
	blank := s.blankBelow(lines, cur.toLine)
	if rows > s.rows && cur.toLine < total-1 {
		// Not at the bottom: grow by blank rows instead of old lines.
		blank += rows - s.rows
		total += rows - s.rows
	}
	if total-top > rows {
		total -= min(total-top-rows, blank)
	}
	start := max(0, total-rows)
	if start > cur.toLine {
		start = cur.toLine
	}
	// What no longer fits below the cursor is lost.
	for lines.lines > start+rows {
		lines.takeLast()
	}
	packed := make([][]byte, 0, rows)
	for lines.lines > start {
		line, _ := lines.takeLast()
		packed = append(packed, append([]byte(nil), line...))
	}
	fresh := newGrid(cols, rows)
	fresh.kitty, fresh.cursor, fresh.saved = g.kitty, g.cursor, g.saved
	if s.g == s.main {
		s.g = fresh
	}
	s.main = fresh
	for i, line := range packed {
		s.unpackRow(fresh.rows[len(packed)-1-i], line)
	}
	put := func(c *cursor, p *place) {
		c.pending = false
		c.x, c.y = p.toCol, p.toLine-start
		if p.atMargin && p.toCol >= cols {
			c.x, c.pending = cols, true
			c.y = clamp(c.y, 0, rows-1)
			return
		}
		clampCursor(c, cols, rows)
	}
	put(&fresh.cursor, cur)
	put(&fresh.saved, saved)
	lines.maxLines, lines.maxBytes, lines.spare = s.hist.maxLines, s.hist.maxBytes, s.hist.spare
	s.hist = *lines
	for s.hist.lines > s.hist.maxLines || s.hist.bytes > s.hist.maxBytes && s.hist.lines > 0 {
		s.hist.dropFirst()
	}
}

// blankBelow counts the blank lines at the end that lie below a line.
func (s *Screen) blankBelow(lines *history, line int) int {
	n := 0
	for i := len(lines.blocks) - 1; i >= 0; i-- {
		b := lines.blocks[i]
		for k := len(b.ends) - 1; k >= b.gone; k-- {
			if lines.lines-1-n <= line || len(b.line(k)) > lineHeader {
				return n
			}
			n++
		}
	}
	return n
}
