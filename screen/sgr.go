package screen

// sgr is SGR with 256 and true colours, in the semicolon and colon forms.
func (s *Screen) sgr() {
	p := &s.parser.params
	st := &s.g.cursor.pen
	s.penDirty = true
	if p.n == 0 {
		*st = style{link: st.link}
		return
	}
	for i := 0; i < p.n; i++ {
		v := p.v[i]
		switch {
		case p.sub&(1<<i) != 0:
			// A part of what was before and not known.
		case v == 0:
			*st = style{link: st.link}
		case v >= 30 && v <= 37:
			st.fg = Palette(uint8(v - 30))
		case v >= 40 && v <= 47:
			st.bg = Palette(uint8(v - 40))
		case v >= 90 && v <= 97:
			st.fg = Palette(uint8(v - 90 + 8))
		case v >= 100 && v <= 107:
			st.bg = Palette(uint8(v - 100 + 8))
		case v == 38:
			i = p.color(i, &st.fg)
		case v == 48:
			i = p.color(i, &st.bg)
		case v == 58:
			i = p.color(i, &st.ul)
		case v == 4:
			st.underline = UnderlineSingle
			if i+1 < p.n && p.sub&(1<<(i+1)) != 0 {
				i++
				if p.v[i] <= 5 {
					st.underline = Underline(p.v[i])
				}
			}
		default:
			st.attribute(int(v))
		}
	}
}

func (st *style) attribute(v int) {
	switch v {
	case 1:
		st.attrs |= Bold
	case 2:
		st.attrs |= Faint
	case 3:
		st.attrs |= Italic
	case 5, 6:
		st.attrs |= Blink
	case 7:
		st.attrs |= Inverse
	case 8:
		st.attrs |= Invisible
	case 9:
		st.attrs |= Strike
	case 21:
		st.underline = UnderlineDouble
	case 22:
		st.attrs &^= Bold | Faint
	case 23:
		st.attrs &^= Italic
	case 24:
		st.underline = UnderlineNone
	case 25:
		st.attrs &^= Blink
	case 27:
		st.attrs &^= Inverse
	case 28:
		st.attrs &^= Invisible
	case 29:
		st.attrs &^= Strike
	case 39:
		st.fg = 0
	case 49:
		st.bg = 0
	case 53:
		st.attrs |= Overline
	case 55:
		st.attrs &^= Overline
	case 59:
		st.ul = 0
	}
}

// color reads the colour that follows parameter i (38, 48 or 58) into c and
// gives the last parameter that belongs to it. Forms: 38;5;n, 38;2;r;g;b,
// 38:5:n, 38:2:r:g:b, 38:2:space:r:g:b, and 38;2 or 38;5 mixed with colons.
func (p *params) color(i int, c *Color) int {
	if i+1 >= p.n {
		return i
	}
	if p.sub&(1<<(i+1)) == 0 {
		switch p.v[i+1] {
		case 5:
			if i+2 < p.n {
				*c = Palette(uint8(p.v[i+2]))
				return i + 2
			}
			*c = Palette(0)
		case 2:
			at := func(k int) uint8 {
				if k < p.n {
					return uint8(p.v[k])
				}
				return 0
			}
			*c = RGB(at(i+2), at(i+3), at(i+4))
			return min(i+4, p.n-1)
		}
		return i + 1
	}
	end := i + 1
	for end+1 < p.n && p.sub&(1<<(end+1)) != 0 {
		end++
	}
	part := p.v[i+1 : end+1]
	switch {
	case part[0] == 5 && len(part) >= 2:
		*c = Palette(uint8(part[1]))
	case part[0] == 2 && len(part) == 4:
		*c = RGB(uint8(part[1]), uint8(part[2]), uint8(part[3]))
	case part[0] == 2 && len(part) >= 5:
		*c = RGB(uint8(part[2]), uint8(part[3]), uint8(part[4]))
	}
	return end
}
