package screen

// Color is a terminal colour: the zero value is the default colour.
type Color uint32

// Attr is a set of character attributes.
type Attr uint16

// The attributes of a Style.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	Inverse
	Invisible
	Strike
	Overline
)

// Underline is the style of an underline.
type Underline uint8

// Underline styles.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// Style is how a cell looks.
type Style struct {
	Foreground, Background, UnderlineColor Color
	Attrs                                  Attr
	Underline                              Underline
	// Link is the target of a hyperlink (OSC 8), LinkID its id parameter.
	Link, LinkID string
}

// Palette is colour i of the 256.
func Palette(i uint8) Color { return 1<<24 | Color(i) }

// RGB is a true colour.
func RGB(r, g, b uint8) Color { return 2<<24 | Color(r)<<16 | Color(g)<<8 | Color(b) }

// IsDefault tells whether c is the terminal's default colour.
func (c Color) IsDefault() bool { return c>>24 == 0 }

// Index is the palette index of c.
func (c Color) Index() (uint8, bool) { return uint8(c), c>>24 == 1 }

// RGB are the parts of a true colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// Theme is the display's colours as far as programs may ask for them, as
// 0xRRGGBB. The zero value means a dark default theme.
type Theme struct {
	Set                            bool // the fields below count
	Light                          bool
	Foreground, Background, Cursor uint32
}

// style is Style inside the fold: comparable, the link as an index.
type style struct {
	fg, bg, ul Color
	attrs      Attr
	underline  Underline
	link       uint32 // index into the links of a Screen, 0 = none
}

type link struct{ id, uri string }

// interner gives equal values one small id, 0 being the zero value. What is
// no longer used is dropped by collect, so that a stream of ever new links
// stays within the size of the grid (spec terminal P2.2).
type interner[T comparable] struct {
	values []T
	ids    map[T]uint32
	free   []uint32
	limit  int // collect when this many are live
}

const internLimit = 4096

func newInterner[T comparable]() interner[T] {
	var zero T
	return interner[T]{values: []T{zero}, ids: map[T]uint32{zero: 0}, limit: internLimit}
}

func (n *interner[T]) full() bool { return len(n.ids) >= n.limit }

func (n *interner[T]) intern(v T) uint32 {
	if id, ok := n.ids[v]; ok {
		return id
	}
	var id uint32
	if last := len(n.free) - 1; last >= 0 {
		id = n.free[last]
		n.free = n.free[:last]
		n.values[id] = v
	} else {
		id = uint32(len(n.values))
		n.values = append(n.values, v)
	}
	n.ids[v] = id
	return id
}

// collect drops every value whose id is not marked.
func (n *interner[T]) collect(marked []bool) {
	var zero T
	n.free = n.free[:0]
	clear(n.ids)
	n.ids[zero] = 0
	for id := 1; id < len(n.values); id++ {
		if marked[id] {
			n.ids[n.values[id]] = uint32(id)
		} else {
			n.values[id] = zero
			n.free = append(n.free, uint32(id))
		}
	}
	n.limit = max(internLimit, 2*len(n.ids))
}

// penCell is the pen as the high bits of a cell.
func (s *Screen) penCell() cell {
	if s.penDirty {
		s.internPen()
	}
	return s.pen
}

func (s *Screen) internPen() {
	c := &s.g.cursor
	if s.styles.full() {
		s.collect()
	}
	s.pen = cell(s.styles.intern(c.pen)) << cellStyle
	if c.protected {
		s.pen |= cellProtected
	}
	s.penDirty = false
}

// eraseCell is what erasing leaves: the pen's background and nothing else.
func (s *Screen) eraseCell() cell {
	bg := s.g.cursor.pen.bg
	if bg == 0 {
		return 0
	}
	if bg != s.eraseBG || s.eraseFill == 0 {
		if s.styles.full() {
			s.collect()
		}
		s.eraseBG = bg
		s.eraseFill = cell(s.styles.intern(style{bg: bg})) << cellStyle
	}
	return s.eraseFill
}

// cluster interns a cluster of more than one code point.
func (s *Screen) cluster(text []byte) (cell, bool) {
	if id, ok := s.clusters.ids[string(text)]; ok {
		return cellCluster | cell(id), true
	}
	if s.clusters.full() {
		s.collect()
	}
	if len(s.clusters.values) >= maxClusters {
		return 0, false
	}
	return cellCluster | cell(s.clusters.intern(string(text))), true
}

// collect drops styles, links and clusters that no cell shows. Ids of live
// ones do not change.
func (s *Screen) collect() {
	styles := make([]bool, len(s.styles.values))
	clusters := make([]bool, len(s.clusters.values))
	links := make([]bool, len(s.links.values))
	for _, g := range []*grid{s.main, s.alt} {
		if g == nil {
			continue
		}
		for _, r := range g.rows {
			for _, c := range r.cells[:r.used] {
				styles[c.style()] = true
				if c&cellCluster != 0 {
					clusters[c&cellRune] = true
				}
			}
		}
		links[g.cursor.pen.link] = true
		links[g.saved.pen.link] = true
	}
	links[s.altSaved.pen.link] = true
	styles[s.pen.style()] = true
	s.eraseFill = 0
	s.styles.collect(styles)
	s.clusters.collect(clusters)
	for _, st := range s.styles.values {
		links[st.link] = true
	}
	s.links.collect(links)
	s.linkBytes = 0
	for _, l := range s.links.values {
		s.linkBytes += len(l.id) + len(l.uri)
	}
}

// Bounds of hyperlinks: a longer one is shown as plain text.
const (
	maxLink      = 2083
	maxLinkBytes = 4 << 20
)

// setLink starts or ends (empty uri) a hyperlink.
func (s *Screen) setLink(id, uri string) {
	s.penDirty = true
	s.g.cursor.pen.link = 0
	if uri == "" || len(uri)+len(id) > maxLink {
		return
	}
	l := link{id, uri}
	if s.links.full() || s.linkBytes > maxLinkBytes {
		s.collect()
		if s.linkBytes > maxLinkBytes {
			return
		}
	}
	if _, known := s.links.ids[l]; !known {
		s.linkBytes += len(id) + len(uri)
	}
	s.g.cursor.pen.link = s.links.intern(l)
}

// public is st as readers see it.
func (s *Screen) public(st style) Style {
	l := s.links.values[st.link]
	return Style{st.fg, st.bg, st.ul, st.attrs, st.underline, l.uri, l.id}
}
