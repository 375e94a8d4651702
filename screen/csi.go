package screen

import (
	"fmt"
	"strconv"
)

// csi runs a control sequence other than plain SGR.
func (s *Screen) csi(final byte) {
	ps := &s.parser
	switch inter := ps.intermediates(); {
	case ps.prefix == 0 && inter == "":
		s.csiPlain(final)
	case inter == "":
		s.csiPrefixed(ps.prefix, final)
	default:
		s.csiIntermediate(ps.prefix, inter, final)
	}
}

func (s *Screen) csiPlain(final byte) {
	p := &s.parser.params
	n := p.get(0, 1)
	switch final {
	case '@':
		s.insertChars(n)
	case 'A':
		s.up(n)
	case 'B', 'e':
		s.down2(final, n)
	case 'C', 'a':
		s.right2(final, n)
	case 'D':
		s.left(n)
	case 'E':
		s.down(n)
		s.carriageReturn()
	case 'F':
		s.up(n)
		s.carriageReturn()
	case 'G', '`':
		s.moveColumn(n - 1)
	case 'H', 'f':
		s.moveTo(p.get(1, 1)-1, n-1)
	case 'I':
		s.forwardTab(n)
	case 'J':
		s.eraseDisplay(p.get(0, 0), false)
	case 'K':
		s.eraseLine(p.get(0, 0), false)
	case 'L':
		s.insertLines(n)
	case 'M':
		s.deleteLines(n)
	case 'P':
		s.deleteChars(n)
	case 'S':
		s.scrollUp(n, s.g.top, s.eraseCell())
	case 'T':
		if p.n <= 1 {
			s.scrollDown(n, s.g.top, 0)
		}
	case '^':
		s.scrollDown(n, s.g.top, 0)
	case 'X':
		s.eraseChars(n)
	case 'Z':
		s.backwardTab(n)
	case 'b':
		s.repeat(n, s.repeatable)
	case 'd':
		s.moveRow(n - 1)
	default:
		s.csiState(final)
	}
}

// down2 is CUD, which stops at the margin, and VPR, which does not.
func (s *Screen) down2(final byte, n int) {
	if final == 'B' {
		s.down(n)
		return
	}
	s.restrict()
	s.g.cursor.y += n
	s.restrict()
}

// right2 is CUF, which stops at the margin, and HPR, which does not.
func (s *Screen) right2(final byte, n int) {
	if final == 'C' {
		s.right(n)
		return
	}
	s.restrict()
	s.g.cursor.x += n
	s.restrict()
}

// csiState runs the plain sequences that set or tell a state.
func (s *Screen) csiState(final byte) {
	p := &s.parser.params
	switch final {
	case 'c':
		if p.get(0, 0) == 0 {
			// VT400 class with colour and clipboard writes.
			s.reply("\x1b[?62;22;52c")
		}
	case 'g':
		switch p.get(0, 0) {
		case 0:
			if x := s.g.cursor.x; x < s.cols {
				s.tabs[x] = false
			}
		case 3:
			clear(s.tabs)
		}
	case 'h', 'l':
		for i := range p.n {
			s.setANSI(p.get(i, 0), final == 'h')
		}
	case 'n':
		switch p.get(0, 0) {
		case 5:
			s.reply("\x1b[0n")
		case 6:
			s.cursorReport("")
		}
	case 'r':
		s.setMargins(p.get(0, 1), p.get(1, s.rows))
	case 's':
		if s.modes.leftRight {
			s.setSideMargins(p.get(0, 1), p.get(1, s.cols))
		} else {
			s.saveCursor()
		}
	case 't':
		s.window(p.get(0, 0))
	case 'u':
		s.restoreCursor()
	case 'x':
		if how := p.get(0, 0); how <= 1 {
			s.reply("\x1b[" + strconv.Itoa(how+2) + ";1;1;128;128;1;0x")
		}
	}
}

func (s *Screen) csiPrefixed(prefix, final byte) {
	p := &s.parser.params
	switch string([]byte{prefix, final}) {
	case "?J":
		s.eraseDisplay(p.get(0, 0), true)
	case "?K":
		s.eraseLine(p.get(0, 0), true)
	case "?h", "?l":
		for i := range p.n {
			s.setPrivate(p.get(i, 0), final == 'h')
		}
	case "?s":
		s.saveModes()
	case "?r":
		s.restoreModes()
	case "?n":
		s.deviceStatus(p.get(0, 0))
	case ">c":
		if p.get(0, 0) == 0 {
			// A VT220 with the version of an xterm that has SGR mouse, for vim and
			// emacs. A VT420 would get what a browser cannot show: margins at the
			// sides and rectangles, from tmux.
			s.reply("\x1b[>1;354;0c")
		}
	case "=c":
		if p.get(0, 0) == 0 {
			s.reply("\x1bP!|44415654\x1b\\") // DA3: "DAVT"
		}
	case ">q":
		if p.get(0, 0) == 0 {
			version := s.opts.Version
			if version == "" {
				version = "0"
			}
			s.reply("\x1bP>|davit(" + version + ")\x1b\\")
		}
	case ">m":
		if p.n == 0 {
			s.modes.modifyOtherKeys = 0
		} else if p.get(0, 0) == 4 {
			s.modes.modifyOtherKeys = clamp(p.get(1, 0), 0, 3)
		}
	case ">n":
		if p.n == 0 || p.get(0, 0) == 4 {
			s.modes.modifyOtherKeys = 0
		}
	case "?m":
		if p.get(0, 0) == 4 {
			s.reply("\x1b[>4;" + strconv.Itoa(s.modes.modifyOtherKeys) + "m")
		}
	case ">u", "<u", "=u", "?u":
		s.kitty(prefix)
	case "?S":
		// XTSMGRAPHICS: no graphics.
		s.reply("\x1b[?" + strconv.Itoa(p.get(0, 0)) + ";3;0S")
	}
}

func (s *Screen) csiIntermediate(prefix byte, inter string, final byte) {
	p := &s.parser.params
	n := p.get(0, 1)
	key := inter + string(final)
	if prefix != 0 {
		key = string(prefix) + key
	}
	switch key {
	case " @", " A":
		if s.g.cursor.y < s.g.top || s.g.cursor.y > s.g.bottom {
			return
		}
		if final == '@' {
			n = -n
		}
		s.columns(s.leftEdge(), n)
	case "'}", "'~":
		if !s.inRegion() && s.g.cursor.x < s.cols {
			return
		}
		if s.g.cursor.x >= s.cols {
			return
		}
		if final == '~' {
			n = -n
		}
		s.columns(s.g.cursor.x, n)
	case " q":
		s.setCursorShape(p.get(0, 0))
	case "!p":
		s.softReset()
	case `"q`:
		s.g.cursor.protected = p.get(0, 0) == 1
		s.penDirty = true
	case "$p":
		mode := p.get(0, 0)
		s.reply(fmt.Sprintf("\x1b[%d;%d$y", mode, s.ansi(mode)))
	case "?$p":
		mode := p.get(0, 0)
		state := s.private(mode)
		if mode == 69 && state == 2 {
			state = 4 // it works here and not in a browser: who asks shall do without
		}
		s.reply(fmt.Sprintf("\x1b[?%d;%d$y", mode, state))
	case "$w", "*y", "#R", "#S":
		// DECRQPSR, DECRQCRA and title reports echo what a program wrote.
		s.query()
	}
}

func (s *Screen) setCursorShape(shape int) {
	if shape > 6 {
		return
	}
	s.modes.cursorShape = shape
	s.modes.cursorBlink = shape%2 == 1
}

// setMargins is DECSTBM.
func (s *Screen) setMargins(top, bottom int) {
	bottom = min(bottom, s.rows)
	if bottom <= top {
		return
	}
	s.g.top, s.g.bottom = top-1, bottom-1
	s.moveTo(0, 0)
}

// setSideMargins is DECSLRM.
func (s *Screen) setSideMargins(left, right int) {
	right = min(right, s.cols)
	if right <= left {
		return
	}
	s.restrict()
	s.g.left, s.g.right = left-1, right-1
	s.moveTo(0, 0)
}

// cursorReport answers CPR (and DECXCPR with "?"), counted from the margins
// in origin mode.
func (s *Screen) cursorReport(mark string) {
	c := &s.g.cursor
	x, y := min(c.x, s.cols-1), c.y
	if c.pending {
		x = c.x - 1
	}
	if c.origin {
		y -= s.g.top
		if s.modes.leftRight {
			x -= s.g.left
		}
	}
	s.reply(fmt.Sprintf("\x1b[%s%d;%dR", mark, y+1, x+1))
}

// deviceStatus is DSR with "?".
func (s *Screen) deviceStatus(what int) {
	switch what {
	case 6:
		s.cursorReport("?")
	case 15:
		s.reply("\x1b[?13n") // no printer
	case 25:
		s.reply("\x1b[?21n") // keys locked
	case 26:
		s.reply("\x1b[?27;1;0;0n")
	case 53, 55:
		s.reply("\x1b[?53n") // no locator
	case 996:
		s.reply(s.schemeReport())
	}
}

func (s *Screen) schemeReport() string {
	if s.opts.Theme.Set && s.opts.Theme.Light {
		return "\x1b[?997;2n"
	}
	return "\x1b[?997;1n"
}

const titleDepth = 10

// window is XTWINOPS: the size in characters and the stacks of titles. Pixel
// sizes are not known here and the title is never told (spec terminal P2.3).
func (s *Screen) window(what int) {
	how := s.parser.params.get(1, 0)
	switch what {
	case 18, 19:
		s.reply(fmt.Sprintf("\x1b[%d;%d;%dt", what-10, s.rows, s.cols))
	case 11:
		s.reply("\x1b[1t")
	case 13, 14, 15, 16, 20, 21:
		s.query()
	case 22:
		if how == 0 || how == 2 {
			s.titles = pushTitle(s.titles, s.title)
		}
		if how == 0 || how == 1 {
			s.icons = pushTitle(s.icons, s.icon)
		}
	case 23:
		if n := len(s.titles); n > 0 && (how == 0 || how == 2) {
			s.setTitle(s.titles[n-1])
			s.titles = s.titles[:n-1]
		}
		if n := len(s.icons); n > 0 && (how == 0 || how == 1) {
			s.setIcon(s.icons[n-1])
			s.icons = s.icons[:n-1]
		}
	}
}

func pushTitle(stack []string, title string) []string {
	if len(stack) >= titleDepth {
		stack = append(stack[:0], stack[1:]...)
	}
	return append(stack, title)
}
