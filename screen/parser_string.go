package screen

func (s *Screen) startString(kind byte) {
	ps := &s.parser
	ps.state, ps.kind = stateString, kind
	ps.buf, ps.last, ps.dropped = ps.buf[:0], 0, false
}

// stringBound is how much of the string is collected.
func (p *parser) stringBound() int {
	switch p.kind {
	case ']':
		return maxOSC
	case 'P':
		if p.final == 'q' && p.ninter == 0 {
			return 0 // sixel
		}
		return maxDCS
	case '_':
		return maxAPC
	}
	return 0
}

func (s *Screen) feedString(p []byte, i int) int {
	ps := &s.parser
	bound := ps.stringBound()
	for ; i < len(p); i++ {
		c := p[i]
		switch {
		case c == 0x1b:
			ps.state = stateStringEsc
			return i + 1
		case c == 0x07 && ps.kind == ']':
			ps.bell = true
			s.endString(i + 1)
			return i + 1
		case c == 0x18 || c == 0x1a:
			ps.state = stateGround
			ps.forget()
			return i + 1
		case c == 0x9c && ps.last == 0xc2:
			if n := len(ps.buf); n > 0 && !ps.dropped {
				ps.buf = ps.buf[:n-1]
			}
			ps.bell = false
			s.endString(i + 1)
			return i + 1
		}
		ps.last = c
		if c < 0x20 && ps.kind == ']' {
			continue
		}
		if len(ps.buf) < bound {
			ps.buf = append(ps.buf, c)
		} else {
			ps.dropped = true
		}
	}
	return i
}

// endEscaped ends a string at an ESC: "ESC \" is its terminator, any other
// byte begins a new sequence.
func (s *Screen) endEscaped(c byte, i int) int {
	s.parser.bell = false
	if c == '\\' {
		s.endString(i + 1)
		return i + 1
	}
	s.endString(i - 1)
	s.parser.start = s.offset + uint64(i) - 1
	s.parser.clear()
	s.parser.state = stateEscape
	return i
}

// endString dispatches the collected string; its end lies at i.
func (s *Screen) endString(i int) {
	ps := &s.parser
	ps.state = stateGround
	s.at = s.offset + uint64(i)
	if !ps.dropped || ps.kind == '_' {
		switch ps.kind {
		case ']':
			s.osc(ps.buf)
		case 'P':
			s.dcs(ps.buf)
		case '_':
			s.apc(ps.buf)
		}
	}
	ps.forget()
}

// forget drops what was collected of a string.
func (p *parser) forget() {
	if cap(p.buf) > 64<<10 {
		p.buf = nil
	}
	p.buf = p.buf[:0]
	p.kind, p.last, p.final, p.dropped, p.bell = 0, 0, 0, false, false
}
