package screen

import (
	"strconv"
	"unicode/utf8"
)

// writer turns cells back into bytes for a terminal. It knows what the
// terminal's pen is, so that it writes changes only.
type writer struct {
	s         *Screen
	out       []byte
	style     style
	protected bool
	join      joinState
	wrapping  bool // the next row begins by wrapping from the one above
}

// csi appends a control sequence; it ends any cluster.
func (w *writer) csi(seq string) {
	w.out = append(w.out, "\x1b["...)
	w.out = append(w.out, seq...)
	w.join = joinState{}
}

func (w *writer) esc(seq string) {
	w.out = append(w.out, '\x1b')
	w.out = append(w.out, seq...)
	w.join = joinState{}
}

func (w *writer) osc(text string) {
	w.out = append(w.out, "\x1b]"...)
	for i := range len(text) {
		if text[i] >= 0x20 && text[i] != 0x7f {
			w.out = append(w.out, text[i])
		}
	}
	w.out = append(w.out, "\x1b\\"...)
	w.join = joinState{}
}

func (w *writer) move(x, y int) {
	w.csi(strconv.Itoa(y+1) + ";" + strconv.Itoa(x+1) + "H")
}

// setStyle writes the sequences from the pen to st.
func (w *writer) setStyle(st style) {
	if st == w.style {
		return
	}
	was := w.style
	w.style = st
	if st.link != was.link {
		l := w.s.links.values[st.link]
		params := ""
		if l.id != "" {
			params = "id=" + l.id
		}
		w.osc("8;" + params + ";" + l.uri)
	}
	was.link, st.link = 0, 0
	if st == was {
		return
	}
	w.join = joinState{}
	w.out = append(w.out, "\x1b["...)
	switch {
	case st == style{}:
	case st.attrs == was.attrs && st.underline == was.underline:
		// Only colours change.
		sep := false
		w.out, sep = appendChange(w.out, sep, was.fg, st.fg, 30)
		w.out, sep = appendChange(w.out, sep, was.bg, st.bg, 40)
		w.out, _ = appendChange(w.out, sep, was.ul, st.ul, 50)
	default:
		if was != (style{}) {
			w.out = append(w.out, '0', ';')
		}
		w.out = appendSGR(w.out, st)
	}
	w.out = append(w.out, 'm')
}

func appendChange(out []byte, sep bool, was, is Color, base int) ([]byte, bool) {
	if was == is {
		return out, sep
	}
	if sep {
		out = append(out, ';')
	}
	if is.IsDefault() {
		return strconv.AppendInt(out, int64(base+9), 10), true
	}
	return appendColor(out, is, base), true
}

// appendColor appends a colour; base is 30, 40 or 50 (underline).
func appendColor(out []byte, c Color, base int) []byte {
	if i, ok := c.Index(); ok {
		switch {
		case i < 8 && base < 50:
			return strconv.AppendInt(out, int64(base)+int64(i), 10)
		case i < 16 && base < 50:
			return strconv.AppendInt(out, int64(base+60)+int64(i-8), 10)
		}
		out = strconv.AppendInt(out, int64(base+8), 10)
		out = append(out, ";5;"...)
		return strconv.AppendInt(out, int64(i), 10)
	}
	r, g, b, _ := c.RGB()
	out = strconv.AppendInt(out, int64(base+8), 10)
	out = append(out, ";2;"...)
	out = strconv.AppendInt(out, int64(r), 10)
	out = append(out, ';')
	out = strconv.AppendInt(out, int64(g), 10)
	out = append(out, ';')
	return strconv.AppendInt(out, int64(b), 10)
}

// attrCodes are the SGR numbers of the attributes, by bit.
var attrCodes = [...]byte{1, 2, 3, 5, 7, 8, 9, 53}

// appendSGR appends the parameters that make st of the default style.
func appendSGR(out []byte, st style) []byte {
	start := len(out)
	sep := func() {
		if len(out) > start {
			out = append(out, ';')
		}
	}
	for i, code := range attrCodes {
		if st.attrs&(1<<i) != 0 {
			sep()
			out = strconv.AppendInt(out, int64(code), 10)
		}
	}
	if st.underline != 0 {
		sep()
		out = append(out, '4')
		if st.underline != UnderlineSingle {
			out = append(out, ':', '0'+byte(st.underline))
		}
	}
	for _, c := range []struct {
		color Color
		base  int
	}{{st.fg, 30}, {st.bg, 40}, {st.ul, 50}} {
		if !c.color.IsDefault() {
			sep()
			out = appendColor(out, c.color, c.base)
		}
	}
	return out
}

func (w *writer) setProtected(on bool) {
	if on != w.protected {
		w.protected = on
		if on {
			w.csi(`1"q`)
		} else {
			w.csi(`0"q`)
		}
	}
}

// cells writes the cells of a row from column x on; the cursor is there. It
// ends behind the last one, or anywhere when the row ends in erased columns.
func (w *writer) cells(cells []cell, x int) {
	for i := 0; i < len(cells); {
		c := cells[i]
		if c.empty() {
			n := 1
			for i+n < len(cells) && cells[i+n] == c {
				n++
			}
			w.empties(c, n, i+n == len(cells))
			i += n
			continue
		}
		w.cell(c, x+i)
		i += max(c.width(), 1)
	}
}

// empties leaves n columns empty: skipped, or erased when they have a colour.
func (w *writer) empties(c cell, n int, last bool) {
	st := w.s.styles.values[c.style()]
	if st != (style{bg: st.bg}) {
		// Left by a cut wide character in the pen's full style.
		w.setStyle(st)
		for range n {
			w.out = append(w.out, ' ')
		}
		w.join = joinState{width: 1, valid: true}
		return
	}
	if st.bg != 0 {
		w.setStyle(style{bg: st.bg})
		w.csi(strconv.Itoa(n) + "X")
	}
	if !last {
		w.csi(strconv.Itoa(n) + "C")
	}
}

// cell writes one character at column x.
func (w *writer) cell(c cell, x int) {
	w.setProtected(c&cellProtected != 0)
	w.setStyle(w.s.styles.values[c.style()])
	if r := rune(c & cellRune); c&(cellCluster|cellWide) == 0 && r < 0x7f && w.join.class != classPrepend {
		w.out = append(w.out, byte(r))
		w.join = joinState{width: 1, valid: true}
		return
	}
	start := len(w.out)
	w.out = w.s.appendText(w.out, c)
	first, _ := utf8.DecodeRune(w.out[start:])
	if w.join.valid && joins(w.join.class, runeProps(first)&propClass) {
		// Not one cluster with the cell before: a sequence without effect
		// keeps them apart.
		text := string(w.out[start:])
		w.out = append(w.out[:start], "\x1b[10m"...)
		w.out = append(w.out, text...)
		start += len("\x1b[10m")
	}
	w.join = joinState{}
	for p := w.out[start:]; len(p) > 0; {
		r, size := utf8.DecodeRune(p)
		p = p[size:]
		w.join = w.join.next(runeProps(r))
	}
	if int(w.join.width) != c.width() {
		w.csi(strconv.Itoa(x+c.width()+1) + "G")
	}
}

// next is the state after one more code point of the same run.
func (j joinState) next(props uint8) joinState {
	class, width := props&propClass, uint8(1)
	if props&propWide != 0 {
		width = 2
	}
	if j.valid && joins(j.class, class) {
		if class == classRegional {
			width, class = 2, classOther
		}
		width = max(width, j.width)
	}
	return joinState{class: class, width: width, valid: true}
}

// sgrParts are the parameters of st for a report, without the leading 0.
func sgrParts(st style) []string {
	st.link = 0
	if out := appendSGR(nil, st); len(out) > 0 {
		return []string{string(out)}
	}
	return nil
}
