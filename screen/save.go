package screen

import (
	"encoding/binary"
	"maps"
	"slices"
)

// saveVersion is the version of what Save writes; docs/checkpoint.md has the
// format. Load takes this one only: an older one is migrated here or refused.
const saveVersion = 1

var saveMagic = [4]byte{'d', 'v', 's', 'c'}

// saver writes the parts of a checkpoint body: varints, and bytes with their
// length before them.
type saver struct{ out []byte }

func (w *saver) uint(v uint64) { w.out = binary.AppendUvarint(w.out, v) }
func (w *saver) int(v int)     { w.out = binary.AppendVarint(w.out, int64(v)) }

func (w *saver) bool(v ...bool) {
	var bits uint64
	for i, b := range v {
		if b {
			bits |= 1 << i
		}
	}
	w.uint(bits)
}

func (w *saver) bytes(p []byte) {
	w.uint(uint64(len(p)))
	w.out = append(w.out, p...)
}

func (w *saver) string(v string) {
	w.uint(uint64(len(v)))
	w.out = append(w.out, v...)
}

func (w *saver) strings(v []string) {
	w.uint(uint64(len(v)))
	for _, x := range v {
		w.string(x)
	}
}

// Save is the whole state as a checkpoint body: both screens, scrollback,
// modes, parser and offset (spec terminal P1.4). Equal screens save equal
// bytes.
func (s *Screen) Save() []byte {
	w := &saver{out: make([]byte, 0, s.hist.bytes+s.hist.lines+64<<10)}
	w.out = append(w.out, saveMagic[:]...)
	w.uint(saveVersion)
	w.uint(s.offset)
	w.int(s.cols)
	w.int(s.rows)
	w.history(s)
	w.grid(s, s.main)
	w.bool(s.alt != nil)
	if s.alt != nil {
		w.grid(s, s.alt)
	}
	w.cursor(s, &s.altSaved)
	w.modes(&s.modes)
	w.tabs(s.tabs)
	w.session(s)
	w.parser(&s.parser)
	w.join(s.join)
	w.join(s.repeatable)
	w.uint(uint64(s.single))
	return w.out
}

// tabs are too many for bool.
func (w *saver) tabs(tabs []bool) {
	packed := make([]byte, (len(tabs)+7)/8)
	for i, on := range tabs {
		if on {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	w.bytes(packed)
}

func (w *saver) history(s *Screen) {
	w.uint(s.hist.first)
	w.uint(uint64(s.hist.lines))
	s.hist.each(0, s.hist.lines, func(_ int, line []byte) bool {
		w.bytes(line)
		return true
	})
}

func (w *saver) grid(s *Screen, g *grid) {
	var line []byte
	for _, r := range g.rows {
		line = s.packRow(line[:0], r)
		w.bytes(line)
	}
	for _, v := range []int{g.top, g.bottom, g.left, g.right} {
		w.int(v)
	}
	w.cursor(s, &g.cursor)
	w.cursor(s, &g.saved)
	w.uint(uint64(g.kitty.flags))
	w.bytes(g.kitty.stack)
}

func (w *saver) cursor(s *Screen, c *cursor) {
	w.int(c.x)
	w.int(c.y)
	w.bool(c.pending, c.protected, c.origin)
	w.bytes(s.appendStyle(nil, c.pen))
	w.bytes(c.charsets[:])
	w.uint(uint64(c.gl))
}

// switches are the modes that are on or off, in the order they are saved in;
// new ones go to the end.
func (m *modes) switches() []*bool {
	return []*bool{
		&m.appCursor, &m.appKeypad, &m.bracketedPaste, &m.focusEvents, &m.syncOutput,
		&m.altScroll, &m.insert, &m.newLine, &m.autoWrap, &m.reverseWrap,
		&m.reverseVideo, &m.leftRight, &m.clusters, &m.schemeUpdates,
		&m.inBandResize, &m.cursorVisible, &m.cursorBlink,
	}
}

func (w *saver) modes(m *modes) {
	var on []bool
	for _, f := range m.switches() {
		on = append(on, *f)
	}
	w.bool(on...)
	for _, v := range []int{m.mouseTracking, m.mouseEncoding, m.cursorShape, m.modifyOtherKeys} {
		w.int(v)
	}
	w.uint(uint64(len(m.saved)))
	for _, mode := range slices.Sorted(maps.Keys(m.saved)) {
		w.int(mode)
		w.bool(m.saved[mode])
	}
}

// session is what outlives a reset of the screen.
func (w *saver) session(s *Screen) {
	for _, v := range []string{s.title, s.icon, s.dir, s.host, s.notice.id, s.notice.title, s.notice.body} {
		w.string(v)
	}
	w.strings(s.titles)
	w.strings(s.icons)
	w.uint(uint64(len(s.palette)))
	for _, index := range slices.Sorted(maps.Keys(s.palette)) {
		w.int(index)
		w.uint(uint64(s.palette[index]))
	}
	w.uint(s.lastMark)
	live := s.liveMarks(s.rows)
	w.uint(uint64(len(live)))
	for _, m := range live {
		w.uint(m.id)
		w.uint(m.row)
		w.int(m.col)
	}
}

func (w *saver) parser(p *parser) {
	w.uint(uint64(p.state))
	started := p.state != stateGround || p.need > 0
	w.bool(started)
	if !started {
		return
	}
	w.uint(p.start)
	var inter [2]byte
	copy(inter[:], p.inter[:min(int(p.ninter), 2)])
	w.out = append(w.out, p.need, p.lower, p.upper, p.prefix, inter[0], inter[1], p.ninter, p.kind, p.last, p.final)
	w.uint(uint64(p.code))
	w.bool(p.dropped, p.bell)
	w.int(p.params.n)
	for i := range min(p.params.n, maxParams) {
		w.int(int(p.params.v[i]))
	}
	w.uint(uint64(p.params.sub))
	w.uint(uint64(p.params.set))
	w.bytes(p.buf)
}

func (w *saver) join(j joinState) {
	w.bool(j.valid)
	w.uint(uint64(j.class))
	w.uint(uint64(j.width))
}
