package screen

import (
	"encoding/binary"
	"unicode/utf8"
)

// A packed line is how a row lies in the scrollback and in a checkpoint:
//
//	flags byte | text length (3 bytes, little endian) | text | style runs
//
// Text is UTF-8, one character per cell, so that plain text is plain bytes;
// the marks below say the rest. A style run is a varint count of cells and a
// packed style; cells past the last run have the default style. Cells at the
// end that were never written are left out.
const (
	lineWrapped = 1 << 0 // continues the line before it
	lineHeader  = 4

	markEmpty   = 0x00 // a cell that was never written
	markJoin    = 0x01 // the next rune belongs to the cell before
	markWidth   = 0x02 // the next rune is as wide as its table does not say
	markProtect = 0x03 // the next cell is protected (DECSCA)
)

// Flags of a packed style; colours follow in order as 1 or 3 bytes.
const (
	packFgPalette = 1 << iota
	packFgRGB
	packBgPalette
	packBgRGB
	packAttrs     // 1 byte
	packUnderline // 1 byte style, 4 bytes colour
	packLink      // varint length and bytes of id, then of uri
)

// appendStyle packs st.
func (s *Screen) appendStyle(dst []byte, st style) []byte {
	at := len(dst)
	dst = append(dst, 0)
	var flags byte
	switch st.fg >> 24 {
	case 1:
		flags |= packFgPalette
		dst = append(dst, byte(st.fg))
	case 2:
		flags |= packFgRGB
		dst = append(dst, byte(st.fg>>16), byte(st.fg>>8), byte(st.fg))
	}
	switch st.bg >> 24 {
	case 1:
		flags |= packBgPalette
		dst = append(dst, byte(st.bg))
	case 2:
		flags |= packBgRGB
		dst = append(dst, byte(st.bg>>16), byte(st.bg>>8), byte(st.bg))
	}
	if st.attrs != 0 {
		flags |= packAttrs
		dst = append(dst, byte(st.attrs))
	}
	if st.underline != 0 || st.ul != 0 {
		flags |= packUnderline
		dst = append(dst, byte(st.underline))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(st.ul))
	}
	if st.link != 0 {
		flags |= packLink
		l := s.links.values[st.link]
		dst = binary.AppendUvarint(dst, uint64(len(l.id)))
		dst = append(dst, l.id...)
		dst = binary.AppendUvarint(dst, uint64(len(l.uri)))
		dst = append(dst, l.uri...)
	}
	dst[at] = flags
	return dst
}

// packedStyleLen is the length of the packed style at the front of p, or -1.
func packedStyleLen(p []byte) int {
	if len(p) == 0 {
		return -1
	}
	flags, n := p[0], 1
	if flags&packFgPalette != 0 {
		n++
	}
	if flags&packFgRGB != 0 {
		n += 3
	}
	if flags&packBgPalette != 0 {
		n++
	}
	if flags&packBgRGB != 0 {
		n += 3
	}
	if flags&packAttrs != 0 {
		n++
	}
	if flags&packUnderline != 0 {
		n += 5
	}
	if flags&packLink != 0 {
		for range 2 {
			if n > len(p) {
				return -1
			}
			length, size := binary.Uvarint(p[n:])
			if size <= 0 || length > maxLink {
				return -1
			}
			n += size + int(length)
		}
	}
	if n > len(p) {
		return -1
	}
	return n
}

// unpackStyle reads a packed style; what is broken reads as default.
func (s *Screen) unpackStyle(p []byte) style {
	var st style
	if packedStyleLen(p) < 0 {
		return st
	}
	flags := p[0]
	p = p[1:]
	color := func(palette, rgb byte) (c Color) {
		if flags&palette != 0 {
			c = Palette(p[0])
			p = p[1:]
		}
		if flags&rgb != 0 {
			c = RGB(p[0], p[1], p[2])
			p = p[3:]
		}
		return c
	}
	st.fg = color(packFgPalette, packFgRGB)
	st.bg = color(packBgPalette, packBgRGB)
	if flags&packAttrs != 0 {
		st.attrs = Attr(p[0])
		p = p[1:]
	}
	if flags&packUnderline != 0 {
		st.underline = min(Underline(p[0]), UnderlineDashed)
		st.ul = Color(binary.LittleEndian.Uint32(p[1:]))
		if st.ul>>24 > 2 {
			st.ul = 0
		}
		p = p[5:]
	}
	if flags&packLink != 0 {
		n, size := binary.Uvarint(p)
		id := string(p[size : size+int(n)])
		p = p[size+int(n):]
		n, size = binary.Uvarint(p)
		uri := string(p[size : size+int(n)])
		if l := (link{id, uri}); uri != "" {
			if _, known := s.links.ids[l]; !known {
				s.linkBytes += len(id) + len(uri)
			}
			st.link = s.links.intern(l)
		}
	}
	return st
}

// packRow appends r as a packed line.
func (s *Screen) packRow(dst []byte, r *row) []byte {
	cells := r.cells[:r.used]
	for len(cells) > 0 && cells[len(cells)-1] == 0 {
		cells = cells[:len(cells)-1]
	}
	at := len(dst)
	var flags byte
	if r.wrapped {
		flags = lineWrapped
	}
	dst = append(dst, flags, 0, 0, 0)
	n := 0
	if len(cells) > 0 {
		// The common case: ASCII (and empty cells, mark 0) in any style.
		text := len(dst)
		dst = append(dst, make([]byte, len(cells))...)
		out := dst[text:]
		for n < len(cells) && cells[n]&(1<<cellStyle-1) < 0x80 {
			if n >= len(out) {
				break
			}
			out[n] = byte(cells[n])
			n++
		}
		dst = dst[:text+n]
		if n < len(cells) {
			dst = s.packText(dst, cells[n:])
		}
	}
	putTextLen(dst[at:], len(dst)-at-lineHeader)
	return s.packRuns(dst, cells)
}

func putTextLen(line []byte, n int) {
	line[1], line[2], line[3] = byte(n), byte(n>>8), byte(n>>16)
}

func (s *Screen) packText(dst []byte, cells []cell) []byte {
	for _, c := range cells {
		if c&cellTail != 0 {
			continue
		}
		if c&cellProtected != 0 {
			dst = append(dst, markProtect)
		}
		switch {
		case c.empty():
			dst = append(dst, markEmpty)
		case c&cellCluster != 0:
			first := true
			for _, r := range s.clusters.values[c&cellRune] {
				if !first {
					dst = append(dst, markJoin)
				} else if runeWidth(r) != c.width() {
					dst = append(dst, markWidth)
				}
				first = false
				dst = utf8.AppendRune(dst, r)
			}
		default:
			r := rune(c & cellRune)
			if r < 0x80 && c&cellWide == 0 {
				dst = append(dst, byte(r))
				continue
			}
			if runeWidth(r) != c.width() {
				dst = append(dst, markWidth)
			}
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

func (s *Screen) packRuns(dst []byte, cells []cell) []byte {
	for len(cells) > 0 {
		id := cells[len(cells)-1].style()
		if id != 0 {
			break
		}
		cells = cells[:len(cells)-1]
	}
	for i := 0; i < len(cells); {
		id := cells[i].style()
		n := 0
		for i < len(cells) && (cells[i].style() == id || cells[i]&cellTail != 0) {
			if cells[i]&cellTail == 0 {
				n++
			}
			i++
		}
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = s.appendStyle(dst, s.styles.values[id])
	}
	return dst
}

// lineReader walks the cells of a packed line. Broken lines end early.
type lineReader struct {
	text, runs []byte
	left       int    // cells left in the style run
	packed     []byte // packed style of the run, nil = default
}

func readLine(line []byte) (lineReader, bool) {
	var lr lineReader
	if len(line) < lineHeader {
		return lr, false
	}
	n := int(line[1]) | int(line[2])<<8 | int(line[3])<<16
	if n > len(line)-lineHeader {
		n = len(line) - lineHeader
	}
	lr.text, lr.runs = line[lineHeader:lineHeader+n], line[lineHeader+n:]
	return lr, line[0]&lineWrapped != 0
}

// next gives the next cell as its packed text (marks included), its columns
// and its packed style.
func (lr *lineReader) next() (text []byte, width int, packed []byte, ok bool) {
	if len(lr.text) == 0 {
		return nil, 0, nil, false
	}
	if lr.left == 0 {
		lr.nextRun()
	}
	lr.left--
	n, width := lr.scan()
	text, lr.text = lr.text[:n], lr.text[n:]
	return text, width, lr.packed, true
}

func (lr *lineReader) nextRun() {
	lr.packed, lr.left = nil, 1<<30
	n, size := binary.Uvarint(lr.runs)
	if size <= 0 || n == 0 || n > MaxColumns {
		lr.runs = nil
		return
	}
	length := packedStyleLen(lr.runs[size:])
	if length < 0 {
		lr.runs = nil
		return
	}
	lr.packed, lr.left = lr.runs[size:size+length], int(n)
	lr.runs = lr.runs[size+length:]
	if length == 1 && lr.packed[0] == 0 {
		lr.packed = nil
	}
}

// scan finds the length of the cell at the front of the text and its columns.
func (lr *lineReader) scan() (n, width int) {
	p := lr.text
	i := 0
	if p[0] >= 0x20 && p[0] < 0x80 {
		i, width = 1, 1
	} else {
		if p[i] == markProtect && i+1 < len(p) {
			i++
		}
		other := false
		if p[i] == markWidth && i+1 < len(p) {
			other = true
			i++
		}
		if p[i] == markEmpty {
			return i + 1, 1
		}
		r, size := utf8.DecodeRune(p[i:])
		i += size
		width = runeWidth(r)
		if other {
			width = 3 - width
		}
	}
	for i+1 < len(p) && p[i] == markJoin {
		_, size := utf8.DecodeRune(p[i+1:])
		i += 1 + size
	}
	return i, width
}

// cellText strips the marks of a packed cell: what a user would copy.
func cellText(dst, text []byte) []byte {
	for _, b := range text {
		if b >= 0x20 {
			dst = append(dst, b)
		}
	}
	return dst
}

// unpackCell makes a grid cell of packed text; false for an empty one.
func (s *Screen) unpackCell(text []byte, width int) cell {
	var c cell
	if text[0] == markProtect {
		c |= cellProtected
	}
	var buf [2 * maxCluster]byte
	plain := cellText(buf[:0], text)
	if len(plain) == 0 {
		return c
	}
	if width == 2 {
		c |= cellWide
	}
	r, size := utf8.DecodeRune(plain)
	if size == len(plain) {
		return c | cell(r)
	}
	if len(plain) > maxCluster {
		return c | cell(r)
	}
	if k, ok := s.cluster(plain); ok {
		return c | k
	}
	return c | cell(r)
}

// unpackRow makes r show a packed line, cut at its width.
func (s *Screen) unpackRow(r *row, line []byte) {
	r.clear(0)
	lr, wrapped := readLine(line)
	r.wrapped = wrapped
	var lastPacked []byte
	var st cell
	for x := 0; ; {
		text, width, packed, ok := lr.next()
		if !ok || x+width > len(r.cells) {
			return
		}
		if len(packed) == 0 {
			st = 0
		} else if len(lastPacked) == 0 || &packed[0] != &lastPacked[0] {
			st = cell(s.styles.intern(s.unpackStyle(packed))) << cellStyle
		}
		lastPacked = packed
		c := s.unpackCell(text, width) | st
		r.put(x, c)
		if width == 2 {
			r.put(x+1, st|cellTail)
		}
		x += width
	}
}
