package screen

// execute runs a C0 control.
func (s *Screen) execute(c byte) {
	s.join, s.repeatable = joinState{}, joinState{}
	switch c {
	case 0x07:
		s.effect(Effect{Kind: Bell})
	case 0x08:
		s.backspace()
	case 0x09:
		s.forwardTab(1)
	case 0x0a, 0x0b, 0x0c:
		s.lineFeed()
	case 0x0d:
		s.carriageReturn()
	case 0x0e:
		s.g.cursor.gl = 1
	case 0x0f:
		s.g.cursor.gl = 0
	}
}

// escape runs an escape sequence that is no CSI and no string.
func (s *Screen) escape(final byte) {
	if inter := s.parser.intermediates(); inter != "" {
		s.escapeIntermediate(inter, final)
		return
	}
	c := &s.g.cursor
	switch final {
	case '6':
		s.backIndex()
	case '7':
		s.saveCursor()
	case '8':
		s.restoreCursor()
	case '9':
		s.forwardIndex()
	case '=':
		s.modes.appKeypad = true
	case '>':
		s.modes.appKeypad = false
	case 'D':
		s.restrict()
		s.index()
	case 'E':
		s.nextLine()
	case 'H':
		s.setTab()
	case 'M':
		s.reverseIndex()
	case 'N':
		s.single = 2
	case 'O':
		s.single = 3
	case 'Z':
		s.reply("\x1b[?62;22;52c")
	case 'c':
		title, icon := s.title, s.icon
		s.reset()
		s.title, s.icon = title, icon
	case 'n':
		c.gl = 2
	case 'o':
		c.gl = 3
	}
}

func (s *Screen) escapeIntermediate(inter string, final byte) {
	switch inter {
	case "#":
		if final == '8' {
			s.alignment()
		}
	case "(", ")", "*", "+":
		s.g.cursor.charsets[inter[0]-'('] = charset(final)
	case "-", ".", "/":
		s.g.cursor.charsets[inter[0]-','] = 'B' // 96-character sets: UTF-8 has them
	case "%":
		if final == 'G' || final == '@' {
			s.g.cursor.charsets = newCursor().charsets
			s.g.cursor.gl = 0
		}
	}
}

// charset is the designator as far as it matters: DEC graphics, UK or ASCII.
func charset(final byte) byte {
	if final == '0' || final == 'A' {
		return final
	}
	return 'B'
}

// backIndex is DECBI, forwardIndex DECFI.
func (s *Screen) backIndex() {
	s.restrict()
	if c := &s.g.cursor; c.x == s.leftEdge() && s.inRegion() {
		s.columns(c.x, 1)
	} else if c.x > 0 {
		c.x--
	}
}

func (s *Screen) forwardIndex() {
	s.restrict()
	last := s.cols - 1
	if s.modes.leftRight {
		last = s.g.right
	}
	if c := &s.g.cursor; c.x == last && s.inRegion() {
		s.columns(s.leftEdge(), -1)
	} else if c.x < s.cols-1 {
		c.x++
	}
}
