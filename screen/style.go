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
	RapidBlink
	protected // DECSCA: selective erase leaves the cell
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
