package screen

// restrict ends a pending wrap and brings the cursor back into the screen, or
// into the margins in origin mode.
func (s *Screen) restrict() {
	g := s.g
	c := &g.cursor
	if c.pending {
		c.pending = false
		c.x--
	}
	c.x = clamp(c.x, 0, s.cols-1)
	if c.origin {
		c.y = clamp(c.y, g.top, g.bottom)
		if s.modes.leftRight {
			c.x = clamp(c.x, g.left, g.right)
		}
	} else {
		c.y = clamp(c.y, 0, s.rows-1)
	}
}

// moveTo places the cursor; origin mode counts from the margins.
func (s *Screen) moveTo(x, y int) {
	g := s.g
	c := &g.cursor
	c.pending = false
	c.x, c.y = x, y
	if c.origin {
		c.y += g.top
		if s.modes.leftRight {
			c.x += g.left
		}
	}
	s.restrict()
}

// moveColumn places the cursor in its row.
func (s *Screen) moveColumn(x int) {
	c := &s.g.cursor
	c.pending = false
	c.x = x
	if c.origin && s.modes.leftRight {
		c.x += s.g.left
	}
	s.restrict()
}

// moveRow places the cursor in its column.
func (s *Screen) moveRow(y int) {
	s.restrict()
	c := &s.g.cursor
	c.y = y
	if c.origin {
		c.y += s.g.top
	}
	s.restrict()
}

func (s *Screen) up(n int) {
	s.restrict()
	c := &s.g.cursor
	if c.y >= s.g.top {
		c.y = max(c.y-n, s.g.top)
	} else {
		c.y = max(c.y-n, 0)
	}
	s.restrict()
}

func (s *Screen) down(n int) {
	s.restrict()
	c := &s.g.cursor
	if c.y <= s.g.bottom {
		c.y = min(c.y+n, s.g.bottom)
	} else {
		c.y = min(c.y+n, s.rows-1)
	}
	s.restrict()
}

func (s *Screen) right(n int) {
	s.restrict()
	c := &s.g.cursor
	if s.modes.leftRight && c.x <= s.g.right {
		c.x = min(c.x+n, s.g.right)
	} else {
		c.x = min(c.x+n, s.cols-1)
	}
	s.restrict()
}

func (s *Screen) left(n int) {
	c := &s.g.cursor
	s.restrict()
	if s.modes.leftRight && c.x >= s.g.left {
		c.x = max(c.x-n, s.g.left)
	} else {
		c.x = max(c.x-n, 0)
	}
	s.restrict()
}

// backspace goes back one column; in reverse wrap mode also from the start of
// a row that was wrapped to the end of the one before.
func (s *Screen) backspace() {
	g := s.g
	c := &g.cursor
	if !s.modes.reverseWrap {
		s.restrict()
		if c.x > 0 && !(s.modes.leftRight && c.x == g.left) {
			c.x--
		}
		return
	}
	if c.pending {
		// The last column is addressed by one BS, as in xterm.
		c.pending = false
		c.x--
		return
	}
	if c.x > 0 {
		c.x--
		return
	}
	if c.y > g.top && c.y <= g.bottom && g.rows[c.y].wrapped {
		g.rows[c.y].wrapped = false
		c.y--
		c.x = s.cols - 1
		if c.x > 0 && g.rows[c.y].cells[c.x].empty() && g.rows[c.y].cells[c.x]&cellTail == 0 {
			c.x-- // left free by a wide character that wrapped
		}
	}
}

func (s *Screen) carriageReturn() {
	c := &s.g.cursor
	c.pending = false
	if s.modes.leftRight && (c.origin || c.x >= s.g.left) {
		c.x = s.g.left
		return
	}
	c.x = 0
}

// index is IND and the vertical part of LF.
func (s *Screen) index() {
	g := s.g
	c := &g.cursor
	if c.pending {
		c.pending = false
		c.x--
	}
	switch {
	case c.y == g.bottom:
		if !s.modes.leftRight || c.x >= g.left && c.x <= g.right {
			s.scrollUpOne(false)
		}
	case c.y < s.rows-1:
		c.y++
	}
}

// lineFeed begins a line, even in a row that continued the one before.
func (s *Screen) lineFeed() {
	if s.modes.newLine {
		s.carriageReturn()
	}
	y := s.g.cursor.y
	s.index()
	if s.g.cursor.y > y {
		s.g.rows[y+1].wrapped = false
	}
}

func (s *Screen) nextLine() {
	s.carriageReturn()
	s.index()
}

func (s *Screen) reverseIndex() {
	s.restrict()
	g := s.g
	c := &g.cursor
	switch {
	case c.y == g.top:
		if !s.modes.leftRight || c.x >= g.left && c.x <= g.right {
			s.scrollDown(1, g.top, s.eraseCell())
		}
	case c.y > 0:
		c.y--
	}
}

// defaultTabs are stops every eight columns; those in old stay.
func defaultTabs(old []bool, cols int) []bool {
	tabs := make([]bool, cols)
	for x := range tabs {
		tabs[x] = x%8 == 0 && x > 0
	}
	copy(tabs, old)
	return tabs
}

func (s *Screen) setTab() {
	if x := s.g.cursor.x; x < s.cols {
		s.tabs[x] = true
	}
}

func (s *Screen) forwardTab(n int) {
	g := s.g
	c := &g.cursor
	if c.pending {
		return
	}
	last := s.cols - 1
	if s.modes.leftRight && c.x <= g.right {
		last = g.right
	}
	for ; n > 0 && c.x < last; n-- {
		for c.x++; c.x < last && !s.tabs[c.x]; c.x++ {
		}
	}
}

// backwardTab keeps a pending wrap, as xterm does: what is printed next goes
// to the row below, whatever the column is until then.
func (s *Screen) backwardTab(n int) {
	g := s.g
	c := &g.cursor
	pending := c.pending && s.modes.autoWrap
	s.restrict()
	first := 0
	if s.modes.leftRight && c.origin {
		first = g.left
	}
	for ; n > 0 && c.x > first; n-- {
		for c.x--; c.x > first && !s.tabs[c.x]; c.x-- {
		}
	}
	if pending {
		c.x, c.pending = c.x+1, true
	}
}

// saveCursor is DECSC, restoreCursor DECRC.
func (s *Screen) saveCursor() { s.g.saved = s.g.cursor }

func (s *Screen) restoreCursor() {
	s.g.cursor = s.g.saved
	s.penDirty = true
	s.restrict()
}
