package screen

import "unicode/utf8"

// The parser is the state machine of a VT500, for UTF-8: bytes 0x80 to 0x9F
// are parts of characters, never controls; the code points U+0080 to U+009F
// are the C1 controls. A string (OSC, DCS, APC, PM, SOS) is collected up to a
// bound and swallowed to its end whatever its length.
type parser struct {
	state state
	start uint64 // offset of the sequence or character being parsed

	// Character being decoded.
	need         uint8 // continuation bytes still to come
	lower, upper byte  // bounds of the next one
	code         rune

	// Sequence.
	prefix byte // one of < = > ?
	inter  [2]byte
	ninter uint8
	params params

	// String.
	kind    byte // ']' OSC, 'P' DCS, '_' APC, '^' PM, 'X' SOS
	buf     []byte
	last    byte // byte before, to find U+009C
	dropped bool // the string was longer than its bound
	final   byte // of a DCS
	bell    bool // the string ended with BEL
}

type state uint8

const (
	stateGround state = iota
	stateEscape
	stateEscapeInter
	stateCSI       // parameters
	stateCSIInter  // intermediates
	stateCSIIgnore // malformed, to its final byte
	stateDCS       // parameters of a DCS
	stateDCSInter
	stateString    // collecting
	stateStringEsc // ESC inside of a string
)

// Bounds of strings. What is longer is swallowed and has no effect.
const (
	maxOSC = 1 << 20 // a clipboard
	maxDCS = 4 << 10 // requests only: sixel is swallowed
	maxAPC = 4 << 10
)

func (p *parser) reset() {
	*p = parser{buf: p.buf[:0]}
}

// clear starts a sequence.
func (p *parser) clear() {
	p.prefix, p.ninter = 0, 0
	p.params.clear()
}

// feed runs the machine over p. Its loops keep the common cases together:
// runs of ASCII, whole UTF-8 characters, parameters of a sequence.
func (s *Screen) feed(p []byte) {
	for i := 0; i < len(p); {
		switch s.parser.state {
		case stateGround:
			i = s.feedGround(p, i)
		case stateCSI:
			i = s.feedCSI(p, i)
		case stateString:
			i = s.feedString(p, i)
		default:
			i = s.feedOther(p, i)
		}
	}
}

func (s *Screen) feedGround(p []byte, i int) int {
	if s.parser.need > 0 {
		return s.feedRune(p, i)
	}
	for i < len(p) {
		c := p[i]
		switch {
		case c >= 0x20 && c < 0x7f:
			j := i + 1
			for j < len(p) && p[j]-0x20 < 0x7f-0x20 {
				j++
			}
			s.printASCII(p[i:j])
			i = j
		case c == 0x1b:
			s.parser.start = s.offset + uint64(i)
			s.repeatable, s.join = s.join, joinState{}
			if i+1 < len(p) && p[i+1] == '[' {
				s.parser.clear()
				s.parser.state = stateCSI
				return s.feedCSI(p, i+2)
			}
			s.parser.clear()
			s.parser.state = stateEscape
			return i + 1
		case c < 0x80:
			s.at = s.offset + uint64(i) + 1
			s.execute(c)
			i++
		default:
			r, size := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && size == 1 {
				return s.startRune(p, i)
			}
			if r < 0xa0 {
				s.parser.start = s.offset + uint64(i)
				s.at = s.offset + uint64(i+size)
				s.c1(r)
				return i + size
			}
			s.print(r)
			i += size
		}
	}
	return i
}

// startRune takes the first byte of a character that is cut or broken.
func (s *Screen) startRune(p []byte, i int) int {
	ps := &s.parser
	c := p[i]
	ps.clear()
	ps.start = s.offset + uint64(i)
	switch {
	case c >= 0xc2 && c <= 0xdf:
		ps.need, ps.code, ps.lower, ps.upper = 1, rune(c&0x1f), 0x80, 0xbf
	case c >= 0xe0 && c <= 0xef:
		ps.need, ps.code, ps.lower, ps.upper = 2, rune(c&0x0f), 0x80, 0xbf
		switch c {
		case 0xe0:
			ps.lower = 0xa0
		case 0xed:
			ps.upper = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		ps.need, ps.code, ps.lower, ps.upper = 3, rune(c&0x07), 0x80, 0xbf
		switch c {
		case 0xf0:
			ps.lower = 0x90
		case 0xf4:
			ps.upper = 0x8f
		}
	default:
		s.print(utf8.RuneError)
	}
	return i + 1
}

// feedRune takes continuation bytes; each maximal subpart that is no
// character becomes one U+FFFD.
func (s *Screen) feedRune(p []byte, i int) int {
	ps := &s.parser
	for i < len(p) && ps.need > 0 {
		c := p[i]
		if c < ps.lower || c > ps.upper {
			ps.need, ps.code, ps.lower, ps.upper = 0, 0, 0, 0
			s.print(utf8.RuneError)
			return i
		}
		ps.lower, ps.upper = 0x80, 0xbf
		ps.code = ps.code<<6 | rune(c&0x3f)
		ps.need--
		i++
	}
	if ps.need == 0 {
		r := ps.code
		ps.code, ps.lower, ps.upper = 0, 0, 0
		if r < 0xa0 {
			s.at = s.offset + uint64(i)
			s.c1(r)
		} else {
			s.print(r)
		}
	}
	return i
}

// c1 runs a C1 control given as a code point.
func (s *Screen) c1(r rune) {
	s.repeatable, s.join = s.join, joinState{}
	s.parser.clear()
	switch r {
	case 0x84:
		s.index()
	case 0x85:
		s.nextLine()
	case 0x88:
		s.setTab()
	case 0x8d:
		s.reverseIndex()
	case 0x8e, 0x8f:
		s.single = uint8(r - 0x8c)
	case 0x90:
		s.parser.state = stateDCS
	case 0x9b:
		s.parser.state = stateCSI
	case 0x98:
		s.startString('X')
	case 0x9d:
		s.startString(']')
	case 0x9e:
		s.startString('^')
	case 0x9f:
		s.startString('_')
	}
}

// feedCSI takes parameters and the final byte of a CSI sequence.
func (s *Screen) feedCSI(p []byte, i int) int {
	ps := &s.parser
	pr := &ps.params
	for ; i < len(p); i++ {
		c := p[i]
		switch {
		case c >= '0' && c <= '9':
			pr.digit(c)
		case c == ';':
			pr.next(false)
		case c == ':':
			pr.next(true)
		case c >= 0x40 && c < 0x7f:
			ps.state = stateGround
			s.at = s.offset + uint64(i) + 1
			if pr.n > maxParams {
				pr.n = maxParams
			}
			if c == 'm' && ps.prefix == 0 && ps.ninter == 0 {
				s.sgr()
			} else {
				s.csi(c)
			}
			return i + 1
		case c >= '<' && c <= '?':
			if pr.n > 0 || ps.prefix != 0 {
				ps.state = stateCSIIgnore
				return i + 1
			}
			ps.prefix = c
		case c >= 0x20 && c < 0x30:
			ps.state = stateCSIInter
			return i
		default:
			return s.inSequence(p, i)
		}
	}
	return i
}

// inSequence handles a byte that is no part of the sequence being parsed:
// controls run at once, ESC, CAN and SUB end it, characters end it and are
// printed.
func (s *Screen) inSequence(p []byte, i int) int {
	ps := &s.parser
	switch c := p[i]; {
	case c == 0x1b:
		ps.start = s.offset + uint64(i)
		ps.clear()
		ps.state = stateEscape
	case c == 0x18 || c == 0x1a:
		ps.state = stateGround
	case c < 0x20:
		s.at = s.offset + uint64(i) + 1
		if ps.state != stateDCS && ps.state != stateDCSInter {
			s.execute(c)
		}
	case c >= 0x80:
		if ps.state == stateCSIIgnore {
			return i + 1
		}
		ps.state = stateGround
		return i
	}
	return i + 1
}

// feedOther takes one byte in the states that are rare.
func (s *Screen) feedOther(p []byte, i int) int {
	ps := &s.parser
	c := p[i]
	if ps.state == stateStringEsc {
		return s.endEscaped(c, i)
	}
	if c < 0x20 || c >= 0x7f {
		return s.inSequence(p, i)
	}
	switch ps.state {
	case stateEscape:
		s.feedEscape(c, i)
	case stateEscapeInter:
		if c < 0x30 {
			ps.collect(c)
		} else {
			ps.state = stateGround
			s.at = s.offset + uint64(i) + 1
			s.escape(c)
		}
	case stateCSIInter, stateDCSInter:
		switch {
		case c < 0x30:
			ps.collect(c)
		case c < 0x40:
			if ps.state == stateDCSInter {
				ps.final = 0
				s.startString('P')
			} else {
				ps.state = stateCSIIgnore
			}
		case ps.state == stateDCSInter:
			ps.final = c
			s.startString('P')
		default:
			ps.state = stateGround
			s.at = s.offset + uint64(i) + 1
			s.csi(c)
		}
	case stateCSIIgnore:
		if c >= 0x40 {
			ps.state = stateGround
		}
	case stateDCS:
		s.feedDCS(c)
	}
	return i + 1
}

func (s *Screen) feedEscape(c byte, i int) {
	ps := &s.parser
	switch {
	case c < 0x30:
		ps.collect(c)
		ps.state = stateEscapeInter
	case c == '[':
		ps.state = stateCSI
	case c == 'P':
		ps.state = stateDCS
	case c == ']' || c == '_' || c == '^' || c == 'X':
		s.startString(c)
	default:
		ps.state = stateGround
		s.at = s.offset + uint64(i) + 1
		s.escape(c)
	}
}

func (s *Screen) feedDCS(c byte) {
	ps := &s.parser
	switch {
	case c >= '0' && c <= '9':
		ps.params.digit(c)
	case c == ';' || c == ':':
		ps.params.next(c == ':')
	case c >= '<' && c <= '?':
		ps.prefix = c
	case c < 0x30:
		ps.collect(c)
		ps.state = stateDCSInter
	default:
		ps.final = c
		s.startString('P')
	}
}

func (p *parser) collect(c byte) {
	if int(p.ninter) < len(p.inter) {
		p.inter[p.ninter] = c
	}
	if p.ninter < 255 {
		p.ninter++
	}
}

// intermediates are what was collected; more than two match nothing.
func (p *parser) intermediates() string {
	if int(p.ninter) > len(p.inter) {
		return "too many"
	}
	return string(p.inter[:p.ninter])
}
