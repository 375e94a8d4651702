package screen

import "strconv"

// Modes is what programs asked the terminal to do, as far as others care.
type Modes struct {
	BracketedPaste, AppCursor, AppKeypad, FocusEvents, SyncOutput bool
	// MouseTracking is 0, 9, 1000, 1001, 1002 or 1003; MouseEncoding is 0,
	// 1005, 1006, 1015 or 1016.
	MouseTracking, MouseEncoding                                 int
	AltScroll                                                    bool // 1007
	KittyFlags                                                   int
	ModifyOtherKeys                                              int
	Insert, NewLine, Origin, AutoWrap, ReverseWrap, ReverseVideo bool
	LeftRightMargins, GraphemeClusters                           bool
	ColorSchemeUpdates, InBandResize                             bool
	CursorVisible, CursorBlink                                   bool
	CursorShape                                                  int // DECSCUSR 0 to 6
}

// modes is what is set; the zero value is not the default.
type modes struct {
	appCursor, appKeypad, bracketedPaste, focusEvents, syncOutput bool
	mouseTracking, mouseEncoding                                  int
	altScroll, insert, newLine, autoWrap, reverseWrap             bool
	reverseVideo, leftRight, clusters, schemeUpdates              bool
	inBandResize, cursorVisible, cursorBlink                      bool
	cursorShape, modifyOtherKeys                                  int
	saved                                                         map[int]bool // XTSAVE
}

func defaultModes() modes {
	return modes{autoWrap: true, cursorVisible: true}
}

// Modes is what programs set.
func (s *Screen) Modes() Modes {
	m := &s.modes
	return Modes{
		BracketedPaste: m.bracketedPaste, AppCursor: m.appCursor, AppKeypad: m.appKeypad,
		FocusEvents: m.focusEvents, SyncOutput: m.syncOutput,
		MouseTracking: m.mouseTracking, MouseEncoding: m.mouseEncoding, AltScroll: m.altScroll,
		KittyFlags: int(s.g.kitty.flags), ModifyOtherKeys: m.modifyOtherKeys,
		Insert: m.insert, NewLine: m.newLine, Origin: s.g.cursor.origin, AutoWrap: m.autoWrap,
		ReverseWrap: m.reverseWrap, ReverseVideo: m.reverseVideo,
		LeftRightMargins: m.leftRight, GraphemeClusters: m.clusters,
		ColorSchemeUpdates: m.schemeUpdates, InBandResize: m.inBandResize,
		CursorVisible: m.cursorVisible, CursorBlink: m.cursorBlink, CursorShape: m.cursorShape,
	}
}

// flag is the switch of a DEC private mode that is nothing but a switch.
func (m *modes) flag(mode int) *bool {
	switch mode {
	case 1:
		return &m.appCursor
	case 5:
		return &m.reverseVideo
	case 7:
		return &m.autoWrap
	case 12:
		return &m.cursorBlink
	case 25:
		return &m.cursorVisible
	case 45:
		return &m.reverseWrap
	case 66:
		return &m.appKeypad
	case 1004:
		return &m.focusEvents
	case 1007:
		return &m.altScroll
	case 2004:
		return &m.bracketedPaste
	case 2026:
		return &m.syncOutput
	case 2027:
		return &m.clusters
	case 2031:
		return &m.schemeUpdates
	}
	return nil
}

// setPrivate is DECSET and DECRST of one mode.
func (s *Screen) setPrivate(mode int, on bool) {
	m := &s.modes
	if f := m.flag(mode); f != nil {
		*f = on
		return
	}
	switch mode {
	case 2:
		if on {
			s.g.cursor.charsets = newCursor().charsets
		}
	case 6:
		s.g.cursor.origin = on
		s.moveTo(0, 0)
	case 69:
		s.restrict()
		m.leftRight = on
		s.g.left, s.g.right = 0, s.cols-1
	case 9, 1000, 1001, 1002, 1003:
		m.mouseTracking = 0
		if on {
			m.mouseTracking = mode
		}
	case 1005, 1006, 1015, 1016:
		if on {
			m.mouseEncoding = mode
		} else if m.mouseEncoding == mode || mode == 1006 || mode == 1016 {
			m.mouseEncoding = 0
		}
	case 47, 1047:
		s.useAlternate(on)
	case 1048:
		if on {
			s.saveCursor()
		} else {
			s.restoreCursor()
		}
	case 1049:
		if on {
			s.saveCursor()
			s.useAlternate(true)
		} else {
			s.useAlternate(false)
			s.restoreCursor()
		}
	case 2048:
		m.inBandResize = on
		if on {
			s.reply(s.sizeReport())
		}
	}
}

// private tells the state of a DEC private mode as DECRPM does: 0 unknown,
// 1 set, 2 reset, 3 always set, 4 never set.
func (s *Screen) private(mode int) int {
	m := &s.modes
	on := false
	if f := m.flag(mode); f != nil {
		on = *f
	} else {
		switch mode {
		case 6:
			on = s.g.cursor.origin
		case 69:
			on = m.leftRight
		case 9, 1000, 1001, 1002, 1003:
			on = m.mouseTracking == mode
		case 1005, 1006, 1015, 1016:
			on = m.mouseEncoding == mode
		case 47, 1047, 1049:
			on = s.g != s.main
		case 1048:
			on = true
		case 2048:
			on = m.inBandResize
		case 8:
			return 3
		case 3, 67:
			return 4
		default:
			return 0
		}
	}
	if on {
		return 1
	}
	return 2
}

// setANSI is SM and RM of one mode.
func (s *Screen) setANSI(mode int, on bool) {
	switch mode {
	case 4:
		s.modes.insert = on
	case 20:
		s.modes.newLine = on
	}
}

func (s *Screen) ansi(mode int) int {
	on := false
	switch mode {
	case 2:
		return 4
	case 12:
		return 3
	case 4:
		on = s.modes.insert
	case 20:
		on = s.modes.newLine
	default:
		return 0
	}
	if on {
		return 1
	}
	return 2
}

// saveModes is XTSAVE, restoreModes XTRESTORE.
func (s *Screen) saveModes() {
	for i := range s.parser.params.n {
		mode := s.parser.params.get(i, 0)
		if state := s.private(mode); state == 1 || state == 2 {
			if s.modes.saved == nil {
				s.modes.saved = map[int]bool{}
			}
			s.modes.saved[mode] = state == 1
		}
	}
}

func (s *Screen) restoreModes() {
	for i := range s.parser.params.n {
		mode := s.parser.params.get(i, 0)
		if on, ok := s.modes.saved[mode]; ok {
			s.setPrivate(mode, on)
		}
	}
}

// sizeReport is the report of mode 2048; pixels are not known.
func (s *Screen) sizeReport() string {
	return "\x1b[48;" + strconv.Itoa(s.rows) + ";" + strconv.Itoa(s.cols) + ";0;0t"
}

// kitty runs the kitty keyboard protocol (CSI > < = ? ... u).
func (s *Screen) kitty(prefix byte) {
	k := &s.g.kitty
	p := &s.parser.params
	flags := uint8(p.get(0, 0)) & 0x1f
	switch prefix {
	case '?':
		s.reply("\x1b[?" + strconv.Itoa(int(k.flags)) + "u")
	case '>':
		if len(k.stack) >= kittyDepth {
			k.stack = append(k.stack[:0], k.stack[1:]...)
		}
		k.stack = append(k.stack, k.flags)
		k.flags = flags
	case '<':
		for range min(p.get(0, 1), kittyDepth+1) {
			if n := len(k.stack); n > 0 {
				k.flags = k.stack[n-1]
				k.stack = k.stack[:n-1]
			} else {
				k.flags = 0
			}
		}
	case '=':
		switch p.get(1, 1) {
		case 1:
			k.flags = flags
		case 2:
			k.flags |= flags
		case 3:
			k.flags &^= flags
		}
	}
}
