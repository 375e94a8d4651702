package screen

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrNotCheckpoint and ErrVersion say why Load refused.
var (
	ErrNotCheckpoint = errors.New("screen: not a checkpoint, or a damaged one")
	ErrVersion       = errors.New("screen: checkpoint of another version")
)

// loader reads what saver wrote. Its first error sticks, and everything that
// is read after it is zero.
type loader struct {
	p   []byte
	err error
}

func (l *loader) fail(what string) {
	if l.err == nil {
		l.err = fmt.Errorf("%w (%s)", ErrNotCheckpoint, what)
	}
	l.p = nil
}

func (l *loader) uint() uint64 {
	v, n := binary.Uvarint(l.p)
	if n <= 0 {
		l.fail("number")
		return 0
	}
	l.p = l.p[n:]
	return v
}

// int reads a number of [low, high].
func (l *loader) int(low, high int) int {
	v, n := binary.Varint(l.p)
	if n <= 0 || v < int64(low) || v > int64(high) {
		l.fail("number out of its range")
		return low
	}
	l.p = l.p[n:]
	return int(v)
}

// count reads how many parts follow, each of at least one byte.
func (l *loader) count(most int) int {
	v := l.uint()
	if v > uint64(most) || v > uint64(len(l.p)) {
		l.fail("count")
		return 0
	}
	return int(v)
}

func (l *loader) bool(to ...*bool) {
	bits := l.uint()
	for i, b := range to {
		*b = bits&(1<<i) != 0
	}
}

// bytes is valid as long as the input is.
func (l *loader) bytes(most int) []byte {
	n := l.count(most)
	p := l.p[:n:n]
	l.p = l.p[n:]
	return p
}

func (l *loader) string(most int) string { return string(l.bytes(most)) }

func (l *loader) strings(most, each int) []string {
	n := l.count(most)
	var out []string
	for range n {
		out = append(out, l.string(each))
	}
	return out
}

func (l *loader) raw(n int) []byte {
	if len(l.p) < n {
		l.fail("end")
		return make([]byte, n)
	}
	p := l.p[:n:n]
	l.p = l.p[n:]
	return p
}

// Load makes the Screen that Save saved. Damaged or hostile data gives an
// error or an odd screen, never a panic, and no more memory than its own size
// and the bounds of Options allow. Bounds of opts apply to what is loaded.
func Load(data []byte, opts Options) (*Screen, error) {
	l := &loader{p: data}
	if [4]byte(l.raw(4)) != saveMagic {
		l.fail("magic")
		return nil, l.err
	}
	if v := l.uint(); l.err == nil && v != saveVersion {
		return nil, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, v, saveVersion)
	}
	offset := l.uint()
	cols, rows := l.int(1, MaxColumns), l.int(1, MaxRows)
	if l.err != nil {
		return nil, l.err
	}
	s := New(cols, rows, opts)
	s.offset = offset
	l.history(s)
	l.grid(s, s.main)
	var alternate bool
	l.bool(&alternate)
	if alternate {
		s.alt = newGrid(cols, rows)
		l.grid(s, s.alt)
		s.g = s.alt
	}
	l.cursor(s, &s.altSaved)
	l.modes(&s.modes)
	l.tabs(s.tabs)
	l.session(s)
	l.parser(s)
	s.join, s.repeatable = l.join(), l.join()
	s.single = uint8(l.upTo(3))
	if s.single == 1 || s.join.valid && s.join.width == 0 || s.repeatable.valid && s.repeatable.width == 0 {
		l.fail("state of printing")
	}
	s.penDirty = true
	if l.err != nil {
		return nil, l.err
	}
	return s, nil
}

// upTo reads a number of [0, most].
func (l *loader) upTo(most uint64) uint64 {
	v := l.uint()
	if v > most {
		l.fail("number out of its range")
		return 0
	}
	return v
}

func (l *loader) tabs(tabs []bool) {
	packed := l.bytes(MaxColumns)
	for i := range tabs {
		tabs[i] = i/8 < len(packed) && packed[i/8]&(1<<(i%8)) != 0
	}
}

func (l *loader) history(s *Screen) {
	s.hist.first = l.uint()
	n := l.count(1 << 30)
	for range n {
		line := l.bytes(1 << 24)
		if len(line) < lineHeader {
			l.fail("line")
			return
		}
		if s.hist.maxLines == 0 {
			s.hist.first++
			continue
		}
		s.hist.append(line)
	}
}

func (l *loader) grid(s *Screen, g *grid) {
	for _, r := range g.rows {
		line := l.bytes(1 << 24)
		if l.err != nil {
			return
		}
		s.unpackRow(r, line)
	}
	g.top, g.bottom = l.int(0, s.rows-1), l.int(0, s.rows-1)
	g.left, g.right = l.int(0, s.cols-1), l.int(0, s.cols-1)
	if g.top > g.bottom || g.left > g.right {
		l.fail("margins")
	}
	l.cursor(s, &g.cursor)
	l.cursor(s, &g.saved)
	g.kitty.flags = uint8(l.upTo(0x1f))
	g.kitty.stack = append([]uint8(nil), l.bytes(kittyDepth)...)
}

func (l *loader) cursor(s *Screen, c *cursor) {
	c.x, c.y = l.int(0, s.cols), l.int(0, s.rows-1)
	l.bool(&c.pending, &c.protected, &c.origin)
	if c.x == 0 {
		c.pending = false
	}
	if c.x == s.cols {
		c.pending = true
	}
	c.pen = s.unpackStyle(l.bytes(2*maxLink + 64))
	charsets := l.bytes(4)
	if len(charsets) != 4 {
		l.fail("character sets")
		return
	}
	for i, b := range charsets {
		c.charsets[i] = charset(b)
	}
	c.gl = uint8(l.upTo(3))
}

func (l *loader) modes(m *modes) {
	l.bool(m.switches()...)
	m.mouseTracking = l.int(0, 1003)
	m.mouseEncoding = l.int(0, 1016)
	m.cursorShape = l.int(0, 6)
	m.modifyOtherKeys = l.int(0, 3)
	n := l.count(maxParams * 4)
	for range n {
		mode := l.int(0, maxParam)
		var on bool
		l.bool(&on)
		if m.saved == nil {
			m.saved = map[int]bool{}
		}
		m.saved[mode] = on
	}
}

func (l *loader) session(s *Screen) {
	for _, v := range []*string{&s.title, &s.icon, &s.dir, &s.host, &s.notice.id, &s.notice.title, &s.notice.body} {
		*v = l.string(4 * maxTitle)
	}
	s.titles = l.strings(titleDepth, maxTitle)
	s.icons = l.strings(titleDepth, maxTitle)
	n := l.count(paletteCursor + 1)
	for range n {
		index := l.int(0, paletteCursor)
		s.setColor(index, uint32(l.upTo(0xffffff)))
	}
	s.lastMark = l.uint()
	n = l.count(maxMarks)
	for range n {
		m := mark{l.uint(), l.uint(), l.int(0, s.cols)}
		end := s.hist.first + uint64(s.hist.lines+s.rows)
		if m.row >= s.hist.first && m.row < end {
			s.marks = append(s.marks, m)
		}
	}
}

func (l *loader) parser(s *Screen) {
	p := &s.parser
	p.state = state(l.upTo(uint64(stateStringEsc)))
	var started bool
	l.bool(&started)
	if !started {
		return
	}
	p.start = l.uint()
	b := l.raw(10)
	p.need, p.lower, p.upper, p.prefix = min(b[0], 3), b[1], b[2], b[3]
	p.inter, p.ninter = [2]byte{b[4], b[5]}, b[6]
	p.kind, p.last, p.final = b[7], b[8], b[9]
	p.code = rune(l.upTo(0x10ffff))
	l.bool(&p.dropped, &p.bell)
	p.params.n = l.int(0, maxParams+1)
	for i := range min(p.params.n, maxParams) {
		p.params.v[i] = int32(l.int(0, maxParam))
	}
	p.params.sub, p.params.set = uint32(l.uint()), uint32(l.uint())
	p.buf = append([]byte(nil), l.bytes(maxOSC)...)
}

func (l *loader) join() joinState {
	var j joinState
	l.bool(&j.valid)
	j.class = uint8(l.upTo(classPictographic))
	j.width = uint8(l.upTo(2))
	return j
}
