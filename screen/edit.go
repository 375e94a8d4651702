package screen

// narrow tells whether left-right margins make a scroll touch part of rows.
func (s *Screen) narrow() bool {
	return s.modes.leftRight && (s.g.left > 0 || s.g.right < s.cols-1)
}

// scrollUpOne scrolls the region by one row; what leaves the top of the main
// screen goes to the scrollback.
func (s *Screen) scrollUpOne(wrapped bool) {
	g := s.g
	fill := s.eraseCell()
	if s.narrow() {
		s.scrollUp(1, g.top, fill)
		return
	}
	if g.top == 0 && g == s.main {
		s.keep(g.rows[0])
	}
	r := g.rotateUp(g.top, g.bottom)
	r.clear(fill)
	r.wrapped = wrapped
}

// keep puts a row into the scrollback.
func (s *Screen) keep(r *row) {
	if s.hist.maxLines == 0 {
		s.hist.first++
		return
	}
	b := s.hist.tail()
	before := len(b.data)
	b.data = s.packRow(b.data, r)
	s.hist.added(b, before)
}

// scrollUp moves [top, bottom] up by n and keeps nothing (SU, DL).
func (s *Screen) scrollUp(n, top int, fill cell) {
	g := s.g
	n = min(n, g.bottom-top+1)
	if s.narrow() {
		for y := top; y <= g.bottom; y++ {
			s.copyBetween(y+n, y, fill)
		}
		return
	}
	for range n {
		g.rotateUp(top, g.bottom).clear(fill)
	}
}

// scrollDown moves [top, bottom] down by n (SD, IL, RI).
func (s *Screen) scrollDown(n, top int, fill cell) {
	g := s.g
	n = min(n, g.bottom-top+1)
	if s.narrow() {
		for y := g.bottom; y >= top; y-- {
			from := y - n
			if from < top {
				from = -1
			}
			s.copyBetween(from, y, fill)
		}
		return
	}
	for range n {
		g.rotateDown(top, g.bottom).clear(fill)
	}
}

// copyBetween copies the columns between the margins from one row to another;
// from outside of the region it blanks them.
func (s *Screen) copyBetween(from, to int, fill cell) {
	g := s.g
	dst := g.rows[to]
	dst.fill(g.left, g.right+1, fill)
	dst.wrapped = false
	if to+1 < s.rows {
		g.rows[to+1].wrapped = false
	}
	if from < 0 || from > g.bottom {
		return
	}
	src := g.rows[from]
	copy(dst.cells[g.left:g.right+1], src.cells[g.left:g.right+1])
	dst.used = max(dst.used, min(src.used, g.right+1))
	// Wide cells cut by a margin become blanks.
	if dst.cells[g.left]&cellTail != 0 {
		dst.put(g.left, fill)
	}
	if dst.cells[g.right]&cellWide != 0 {
		dst.put(g.right, fill)
	}
}

func (s *Screen) inRegion() bool {
	g := s.g
	c := &g.cursor
	return c.y >= g.top && c.y <= g.bottom &&
		(!s.modes.leftRight || c.x >= g.left && c.x <= g.right)
}

// leftEdge is where IL and DL put the cursor.
func (s *Screen) leftEdge() int {
	if s.modes.leftRight {
		return s.g.left
	}
	return 0
}

func (s *Screen) insertLines(n int) {
	s.restrict()
	if s.inRegion() {
		s.scrollDown(n, s.g.cursor.y, s.eraseCell())
		s.g.cursor.x = s.leftEdge()
	}
}

func (s *Screen) deleteLines(n int) {
	s.restrict()
	if s.inRegion() {
		s.scrollUp(n, s.g.cursor.y, s.eraseCell())
		s.g.cursor.x = s.leftEdge()
	}
}

// edgeRight is the last column that ICH and DCH touch, -1 for none.
func (s *Screen) edgeRight() int {
	g := s.g
	if !s.modes.leftRight {
		return s.cols - 1
	}
	if g.cursor.x < g.left || g.cursor.x > g.right {
		return -1
	}
	return g.right
}

func (s *Screen) insertChars(n int) {
	s.restrict()
	c := &s.g.cursor
	if right := s.edgeRight(); right >= 0 {
		s.g.rows[c.y].insert(c.x, right, n, s.eraseCell())
	}
}

func (s *Screen) deleteChars(n int) {
	s.restrict()
	c := &s.g.cursor
	if right := s.edgeRight(); right >= 0 {
		s.g.rows[c.y].remove(c.x, right, n, s.eraseCell())
	}
}

func (s *Screen) eraseChars(n int) {
	s.restrict()
	c := &s.g.cursor
	s.g.rows[c.y].fill(c.x, c.x+n, s.eraseCell())
}

// columns shifts the rows of the region sideways from x: right by n when
// positive, left by -n when negative (SL, SR, DECIC, DECDC, DECBI, DECFI).
func (s *Screen) columns(x, n int) {
	g := s.g
	right := s.cols - 1
	if s.modes.leftRight {
		right = g.right
	}
	fill := s.eraseCell()
	for y := g.top; y <= g.bottom; y++ {
		r := g.rows[y]
		if n > 0 {
			r.insert(x, right, n, fill)
		} else {
			r.remove(x, right, -n, fill)
		}
		r.wrapped = false
	}
}

// eraseRow blanks columns [from, to) of row y.
func (s *Screen) eraseRow(y, from, to int, selective bool) {
	r := s.g.rows[y]
	if selective {
		r.fillUnprotected(from, to, s.eraseCell())
		return
	}
	if from == 0 && to >= s.cols {
		wrapped := r.wrapped
		r.clear(s.eraseCell())
		r.wrapped = wrapped
		return
	}
	r.fill(from, to, s.eraseCell())
}

// eraseDisplay is ED and DECSED.
func (s *Screen) eraseDisplay(how int, selective bool) {
	g := s.g
	c := &g.cursor
	whole := func(y int) {
		s.eraseRow(y, 0, s.cols, selective)
		g.rows[y].wrapped = false
	}
	switch how {
	case 0:
		s.restrict() // xterm: erasing to the right ends a pending wrap
		s.eraseRow(c.y, c.x, s.cols, selective)
		if c.x == 0 {
			g.rows[c.y].wrapped = false
		}
		for y := c.y + 1; y < s.rows; y++ {
			whole(y)
		}
	case 1:
		s.eraseRow(c.y, 0, c.x+1, selective)
		g.rows[c.y].wrapped = false
		if c.x+1 >= s.cols && c.y+1 < s.rows {
			g.rows[c.y+1].wrapped = false
		}
		for y := range c.y {
			whole(y)
		}
	case 2:
		for y := range s.rows {
			whole(y)
		}
	case 3:
		if g == s.main {
			s.hist.clear()
			s.marks = pruneMarks(s.marks, s.hist.first)
		}
	}
}

func pruneMarks(marks []mark, first uint64) []mark {
	for len(marks) > 0 && marks[0].row < first {
		marks = marks[1:]
	}
	return marks
}

// eraseLine is EL and DECSEL.
func (s *Screen) eraseLine(how int, selective bool) {
	c := &s.g.cursor
	r := s.g.rows[c.y]
	switch how {
	case 0:
		s.restrict() // xterm: erasing to the right ends a pending wrap
		s.eraseRow(c.y, c.x, s.cols, selective)
		if c.x == 0 {
			r.wrapped = false
		}
	case 1:
		s.eraseRow(c.y, 0, c.x+1, selective)
	case 2:
		s.eraseRow(c.y, 0, s.cols, selective)
		r.wrapped = false
	}
}

// alignment is DECALN: the screen full of E.
func (s *Screen) alignment() {
	g := s.g
	g.resetMargins(s.cols, s.rows)
	g.cursor.origin = false
	base := s.penCell()
	for _, r := range g.rows {
		for x := range r.cells {
			r.cells[x] = base&^cellProtected | 'E'
		}
		r.used = len(r.cells)
		r.wrapped = false
	}
	s.moveTo(0, 0)
}

// useAlternate switches screens. The alternate one is blank when entered; the
// cursor comes along.
func (s *Screen) useAlternate(on bool) {
	if on == (s.g != s.main) {
		return
	}
	if on {
		fill := s.eraseCell()
		s.alt = newGrid(s.cols, s.rows)
		s.alt.cursor, s.alt.saved = s.main.cursor, s.altSaved
		s.g = s.alt
		for _, r := range s.alt.rows {
			r.clear(fill)
		}
	} else {
		s.main.cursor, s.altSaved = s.alt.cursor, s.alt.saved
		s.g, s.alt = s.main, nil
		s.penDirty = true
	}
	if s.g.cursor.origin {
		s.restrict() // the margins are each screen's own
	}
}
