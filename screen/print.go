package screen

import "unicode/utf8"

// limit is one past the last column that printing may reach: the right
// margin, or the edge of the screen when the cursor is outside of margins.
func (s *Screen) limit() int {
	g := s.g
	if s.modes.leftRight && g.cursor.x <= g.right+1 {
		if g.cursor.x == g.right+1 && !g.cursor.pending {
			return s.cols
		}
		return g.right + 1
	}
	return s.cols
}

// printASCII prints a run of bytes 0x20 to 0x7e.
func (s *Screen) printASCII(run []byte) {
	g := s.g
	c := &g.cursor
	if s.join.class == classPrepend || s.modes.insert || s.single != 0 || c.charsets[c.gl] != 'B' {
		for _, b := range run {
			s.print(rune(b))
		}
		return
	}
	base := s.penCell()
	s.join = joinState{class: classOther, width: 1, valid: true}
	limit := s.limit()
	for {
		if c.x >= limit || c.pending {
			if !s.modes.autoWrap {
				c.x, c.pending = limit-1, false
				if len(run) > 1 {
					run = run[len(run)-1:]
				}
			} else {
				s.wrap()
				limit = s.limit()
			}
		}
		r := g.rows[c.y]
		n := min(len(run), limit-c.x)
		dst := r.cells[c.x : c.x+n]
		if dst[0]&cellTail != 0 {
			r.cells[c.x-1] = base &^ cellProtected
		}
		src := run[:len(dst)]
		for i := range dst {
			dst[i] = base | cell(src[i])
		}
		c.x += n
		if c.x > r.used {
			r.used = c.x
		} else if c.x < s.cols && r.cells[c.x]&cellTail != 0 {
			r.cells[c.x] = base &^ cellProtected
		}
		if run = run[n:]; len(run) == 0 {
			c.pending = c.x >= limit
			return
		}
	}
}

// wrap goes to the start of the next row, which then continues this one.
func (s *Screen) wrap() {
	g := s.g
	c := &g.cursor
	c.pending = false
	c.x = 0
	if s.modes.leftRight {
		c.x = g.left
	}
	if c.y == g.bottom {
		s.scrollUpOne(true)
	} else {
		if c.y < s.rows-1 {
			c.y++
		}
		g.rows[c.y].wrapped = true
	}
	if s.modes.leftRight && (g.left > 0 || g.right < s.cols-1) {
		g.rows[c.y].wrapped = false
	}
}

// print prints one code point: alone, or joined to the cluster before it.
func (s *Screen) print(r rune) {
	g := s.g
	c := &g.cursor
	if r < 0x80 {
		r = s.translate(r)
	}
	props := runeProps(r)
	class := props & propClass
	width := 1
	if props&propWide != 0 {
		width = 2
	}
	oldWidth := 0
	if s.join.valid && joins(s.join.class, class) {
		oldWidth = int(s.join.width)
		if class == classRegional {
			width, class = 2, classOther
		}
		width = max(width, oldWidth)
	}
	s.join = joinState{class: class, width: uint8(width), valid: true}
	base := s.penCell()
	limit := s.limit()
	if c.x+width-oldWidth > limit || c.pending && oldWidth == 0 {
		if !s.makeRoom(width, oldWidth, limit, base) {
			return
		}
		limit = s.limit()
	}
	row := g.rows[c.y]
	if oldWidth > 0 && c.x > 0 {
		s.extend(row, r, width, oldWidth, base)
		c.pending = c.x >= limit
		return
	}
	if s.modes.insert {
		right := s.cols - 1
		if s.modes.leftRight && c.x <= g.right {
			right = g.right
		}
		row.insert(c.x, right, width, base&^cellProtected)
	}
	s.place(row, c.x, width, base, cell(r))
	c.x += width
	c.pending = c.x >= limit
}

// place writes one character and mends wide ones that it cuts.
func (s *Screen) place(row *row, x, width int, base, content cell) {
	if row.cells[x]&cellTail != 0 && x > 0 {
		row.put(x-1, base&^cellProtected)
	}
	if width == 2 {
		row.put(x, base|content|cellWide)
		row.put(x+1, base|cellTail)
	} else {
		row.put(x, base|content)
	}
	if end := x + width; end < len(row.cells) && row.cells[end]&cellTail != 0 {
		row.put(end, base&^cellProtected)
	}
}

// makeRoom wraps for a character that does not fit; a cluster that grows past
// the edge moves along. It tells whether there is room now.
func (s *Screen) makeRoom(width, oldWidth, limit int, base cell) bool {
	g := s.g
	c := &g.cursor
	room := limit
	if s.modes.leftRight && c.x <= g.right+1 {
		room -= g.left
	}
	if !s.modes.autoWrap || width > room {
		if width > room && width == 2 && oldWidth == 0 {
			// A wide character on a screen of one column: a blank.
			if c.x >= limit && s.modes.autoWrap {
				s.wrap()
			}
			c.x = min(c.x, limit-1)
			s.place(g.rows[c.y], c.x, 1, base, ' ')
			s.join = joinState{width: 1, valid: true}
			c.x++
			c.pending = c.x >= limit
			return false
		}
		if !s.modes.autoWrap {
			c.x = limit - 1
			c.pending = false
			if width == 1 && oldWidth == 0 {
				return true
			}
		}
		s.join = joinState{}
		return false
	}
	old := g.rows[c.y]
	from := c.x - oldWidth
	var moved [2]cell
	copy(moved[:], old.cells[from:from+oldWidth])
	old.fill(from, limit, base&^cellProtected)
	s.wrap()
	if oldWidth > 0 {
		row := g.rows[c.y]
		row.fill(c.x, c.x+oldWidth, base&^cellProtected) // mends what it cuts
		for i, m := range moved[:oldWidth] {
			row.put(c.x+i, m)
		}
		c.x += oldWidth
	}
	return true
}

// extend joins r to the character before the cursor.
func (s *Screen) extend(row *row, r rune, width, oldWidth int, base cell) {
	c := &s.g.cursor
	at := c.x - 1
	if row.cells[at]&cellTail != 0 && at > 0 {
		at--
	}
	was := row.cells[at]
	content := was & cellContent
	switch {
	case was.empty():
		content = cell(r)
	default:
		text := utf8.AppendRune(s.appendText(s.scratch[:0], was), r)
		s.scratch = text[:0]
		if len(text) <= maxCluster {
			if k, ok := s.cluster(text); ok {
				content = k
			}
		}
	}
	is := was&^(cellContent|cellWide) | content
	if width == 2 {
		is |= cellWide
	}
	row.put(at, is)
	if width > oldWidth && c.x < len(row.cells) {
		if row.cells[c.x]&cellWide != 0 && c.x+1 < len(row.cells) {
			row.put(c.x+1, base&^cellProtected)
		}
		row.put(c.x, base|cellTail)
		c.x++
	}
}

// appendText appends what c shows, nothing for an empty cell.
func (s *Screen) appendText(dst []byte, c cell) []byte {
	switch {
	case c&cellCluster != 0:
		return append(dst, s.clusters.values[c&cellRune]...)
	case c.empty():
		return dst
	}
	return utf8.AppendRune(dst, rune(c&cellRune))
}

// repeat is REP: the character before the cursor n times more.
func (s *Screen) repeat(n int, join joinState) {
	c := &s.g.cursor
	x := c.x - int(join.width)
	if !join.valid || x < 0 {
		return
	}
	text := s.appendText(nil, s.g.rows[c.y].cells[x])
	for range min(n, s.cols*s.rows) {
		for _, r := range string(text) {
			s.print(r)
		}
	}
	s.join = joinState{}
}

// graphics is the DEC special character set from 0x5f on.
var graphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate maps a byte through the character set in use.
func (s *Screen) translate(r rune) rune {
	c := &s.g.cursor
	set := c.charsets[c.gl]
	if s.single != 0 {
		set = c.charsets[s.single]
		s.single = 0
	}
	switch {
	case set == '0' && r >= 0x5f && r < 0x7f:
		return graphics[r-0x5f]
	case set == 'A' && r == '#':
		return '£'
	}
	return r
}
