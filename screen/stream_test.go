package screen

import (
	"bytes"
	"fmt"
	"math/rand"
)

// generate makes a stream of everything that programs print, from a seed.
// With browser it keeps to what xterm.js does in the same way on purpose, see
// docs/screen.md.
func generate(r *rand.Rand, cols, rows, n int, browser bool) []byte {
	g := &generator{Rand: r, cols: cols, rows: rows, browser: browser}
	kinds := []func(){
		g.text, g.text, g.text, g.text, g.wide, g.cluster, g.newline, g.newline, g.sgr, g.sgr,
		g.move, g.move, g.erase, g.edit, g.scroll, g.control, g.tab, g.margins, g.mode, g.cursor,
	}
	if !browser {
		kinds = append(kinds, g.query, g.osc, g.screens, g.rare, g.broken, g.noise)
	} else {
		kinds = append(kinds, g.told)
	}
	if !browser {
		// Nothing is left out.
	} else if g.stops = r.Intn(2) == 0; !g.stops {
		kinds = append(kinds, g.alternate)
	}
	for g.out.Len() < n {
		kinds[g.Intn(len(kinds))]()
	}
	return g.out.Bytes()
}

// generateOn is generate for the browser on the screen that is shown, without
// wide characters: a resize there leaves halves of them.
func generateOn(r *rand.Rand, cols, rows, n int) []byte {
	g := &generator{Rand: r, cols: cols, rows: rows, browser: true, stops: false}
	kinds := []func(){g.text, g.text, g.newline, g.sgr, g.move, g.move, g.erase, g.edit, g.scroll, g.control, g.margins, g.mode, g.told}
	for g.out.Len() < n {
		kinds[g.Intn(len(kinds))]()
	}
	return g.out.Bytes()
}

type generator struct {
	*rand.Rand
	out        bytes.Buffer
	cols, rows int
	browser    bool // keep to what xterm.js does alike
	stops      bool // may set tab stops: xterm.js has them for each screen
	alt        bool
}

func (g *generator) f(format string, args ...any) { fmt.Fprintf(&g.out, format, args...) }

func (g *generator) pick(choices ...string) { g.out.WriteString(choices[g.Intn(len(choices))]) }

func (g *generator) n() int {
	switch g.Intn(6) {
	case 0:
		return 0
	case 1:
		return 1 + g.Intn(max(g.cols, g.rows)*2)
	}
	return 1 + g.Intn(5)
}

func (g *generator) text() {
	for range 1 + g.Intn(g.cols+g.cols/2) {
		g.out.WriteByte(byte(0x20 + g.Intn(0x5f)))
	}
}

func (g *generator) wide() {
	for range 1 + g.Intn(5) {
		g.pick("日", "本", "語", "한", "😀", "a", "é", "─", "✳", "⠂", "■")
	}
}

func (g *generator) cluster() {
	g.pick("e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "🇩", "❤\ufe0f", "👍🏽", "1\ufe0f\u20e3", "\u0301", "\u200d", "क\u094dष", "\u0600a", "한\u1100\u1161", "\ufe0f")
}

func (g *generator) newline() { g.pick("\r\n", "\n", "\r", "\r\n\r\n") }

func (g *generator) sgr() {
	switch g.Intn(8) {
	case 0:
		g.f("\x1b[m")
	case 1:
		g.f("\x1b[0;1;3%dm", g.Intn(8))
	case 2:
		g.f("\x1b[38;5;%d;48;2;%d;%d;%dm", g.Intn(256), g.Intn(256), g.Intn(256), g.Intn(256))
	case 3:
		g.f("\x1b[38:2::%d:%d:%dm", g.Intn(256), g.Intn(256), g.Intn(256))
	case 4:
		g.f("\x1b[4%d;9%dm", g.Intn(8), g.Intn(8))
	case 5:
		g.f("\x1b[%dm", []int{1, 2, 3, 4, 5, 7, 8, 9, 21, 22, 23, 24, 25, 27, 28, 29, 39, 49, 53, 55}[g.Intn(20)])
	case 6:
		g.f("\x1b[4:%d;58;5;%dm", g.Intn(6), g.Intn(256))
	case 7:
		g.f("\x1b[10%d;7m", g.Intn(8))
	}
}

func (g *generator) move() {
	if g.Intn(2) == 0 {
		g.f("\x1b[%d;%dH", g.Intn(g.rows+3), g.Intn(g.cols+3))
		return
	}
	g.f("\x1b[%d%c", g.n(), "ABCDEFGade`"[g.Intn(11)])
}

func (g *generator) erase() {
	how, what := g.Intn(3), "JK"[g.Intn(2)]
	switch {
	case g.browser && how == 0:
		g.f("\x1b[D") // a pending wrap differs
	case g.browser && how == 1 && what == 'J':
		g.f("\r") // at the edge it touches the scrollback, or throws
	}
	g.f("\x1b[%d%c", how, what)
}

func (g *generator) edit() {
	final := "@PXLM"[g.Intn(5)]
	if g.browser && final == '@' {
		g.f("\r") // inserting within a wide character differs
	}
	g.f("\x1b[%d%c", g.n(), final)
}

func (g *generator) scroll() { g.f("\x1b[%d%c", g.n(), "ST"[g.Intn(2)]) }

func (g *generator) control() { g.pick("\b", "\t", "\x0b", "\x0c", "\a", "\x1bD", "\x1bE", "\x1bM") }

func (g *generator) tab() {
	kind := g.Intn(4)
	if g.browser && !g.stops {
		kind |= 2
	}
	switch kind {
	case 0:
		g.f("\x1bH")
	case 1:
		g.f("\x1b[%dg", []int{0, 0, 3}[g.Intn(3)])
	case 2:
		g.f("\x1b[%dI", 1+g.Intn(3))
	case 3:
		g.f("\r\x1b[%dC\x1b[%dZ", 1+g.Intn(g.cols), 1+g.Intn(3))
	}
}

func (g *generator) margins() {
	if g.Intn(3) == 0 {
		g.f("\x1b[r")
		return
	}
	g.f("\x1b[%d;%dr", 1+g.Intn(g.rows), 1+g.Intn(g.rows))
}

func (g *generator) mode() {
	if g.browser && g.Intn(8) == 0 {
		// xterm.js counts relative moves from the margin, too.
		g.f("\x1b[?6h\x1b[%d;%dHo\x1b[?6l", 1+g.Intn(g.rows), 1+g.Intn(g.cols))
		return
	}
	if g.browser && g.Intn(6) == 0 {
		// xterm.js leaves half a wide character at the edge.
		g.f("\r\x1b[?7l")
		g.text()
		g.f("\x1b[?7h")
		return
	}
	names := g.switches()
	g.f("\x1b[%s%c", names[g.Intn(len(names))], "hhl"[g.Intn(3)])
	if g.Intn(2) == 0 {
		g.f("\x1b[4l\x1b[?7h")
	}
}

func (g *generator) switches() []string {
	if g.browser {
		return []string{"4", "?25", "?2004", "?1", "?9", "?1000", "?1002", "?1003", "?1006", "?1016", "?1004", "?2026", "?66"}
	}
	return []string{"4", "?7", "?6", "?2004", "?1", "?1000", "?1006"}
}

func (g *generator) cursor() {
	if g.browser && g.cols < 8 {
		return
	}
	if g.browser {
		// xterm.js moves the saved cursor when lines scroll.
		g.f("\x1b7\x1b[%d;%dHsaved\x1b8", 1+g.Intn(g.rows), 1+g.Intn(max(1, g.cols-5)))
	} else {
		g.pick("\x1b7", "\x1b8")
	}
	g.pick("\x1b(0qx\x1b(B", "\x0e", "\x0f", "\x1b[b", "\x1b[3b")
}

// told is what shows outside of the grid, and links.
func (g *generator) told() {
	g.pick("\x1b]0;✳ Claude Code\a", "\x1b]2;title\x1b\\", "\x1b]8;id=1;http://a/\x1b\\link\x1b]8;;\x1b\\", "\x1b]8;;http://b/\x1b\\",
		"\x1b]8;;\x1b\\", "\x1b[4 q", "\x1b[2 q", "\x1b[5 q", "\x1b=", "\x1b>", "\x1b]9;4;1;50\a", "\x1bPq#0~~\x1b\\", "\x1b_Ga=T;AAAA\x1b\\",
		"\x1b]133;A\a", "\x1b]7;file://h/p\a", "\x1b[12\x18", "\x1b[?2026h", "\x1b[6n")
}

// alternate goes to the other screen; xterm.js saves neither origin mode nor
// the underline's style and colour, nor a link, nor the shift.
func (g *generator) alternate() {
	g.alt = !g.alt
	g.f("\x0f\x1b[?6l\x1b[24;59m\x1b]8;;\a\x1b[?1049%c", map[bool]byte{true: 'h', false: 'l'}[g.alt])
}

func (g *generator) screens() {
	g.f("\x1b[?%d%c", []int{47, 1047, 1049, 1048}[g.Intn(4)], "hl"[g.Intn(2)])
}

func (g *generator) query() {
	g.pick("\x1b[c", "\x1b[6n", "\x1b[?6n", "\x1b[?2026$p", "\x1b[>q", "\x1bP$qm\x1b\\", "\x1bP+q544e;5463\x1b\\",
		"\x1b]11;?\a", "\x1b]4;1;?;2;?\x1b\\", "\x1b[?u", "\x1b[18t", "\x1b]52;c;?\a", "\x1b[14t", "\x1b_Gi=1,a=q;AAAA\x1b\\")
}

func (g *generator) osc() {
	g.pick("\x1b]0;✳ Claude Code\a", "\x1b]2;title\x1b\\", "\x1b]8;id=1;http://a/\x1b\\link\x1b]8;;\x1b\\", "\x1b]8;;http://b/\a",
		"\x1b]7;file://host/a%20b\a", "\x1b]133;A\a", "\x1b]133;C\a", "\x1b]133;D;1;x=y\a", "\x1b]52;c;aGk=\a", "\x1b]9;note\a",
		"\x1b]9;4;1;50\a", "\x1b]777;notify;t;b\a", "\x1b]99;i=1:d=0;hel\a\x1b]99;i=1;lo\a", "\x1b]7501;state=idle:app=codex\a",
		"\x1b]1337;CurrentDir=/x\a", "\x1b]4;3;rgb:ff/00/00\a", "\x1b]104\a", "\x1b]633;E;a\\x3bb\a", "\x1b]66;s=2;big\a")
}

func (g *generator) rare() {
	switch g.Intn(12) {
	case 0:
		g.f("\x1b[?69h\x1b[%d;%ds", 1+g.Intn(g.cols), 1+g.Intn(g.cols))
	case 1:
		g.f("\x1b[?69l")
	case 2:
		g.f("\x1b[%d%s", g.n(), []string{" @", " A", "'}", "'~", "^"}[g.Intn(5)])
	case 3:
		g.pick("\x1b6", "\x1b9", "\x1b#8", "\x1bc", "\x1b[!p")
	case 4:
		g.f("\x1b[1\"qprot\x1b[0\"q\x1b[?%dK", g.Intn(3))
	case 5:
		g.f("\x1b[?%dJ", g.Intn(3))
	case 6:
		g.f("\x1b[>%du\x1b[=%d;%du\x1b[<u", g.Intn(32), g.Intn(32), 1+g.Intn(3))
	case 7:
		g.f("\x1b[?%d%c", []int{45, 66, 1002, 1003, 1004, 1007, 1016, 2026, 2027, 2031, 2048, 5, 12}[g.Intn(13)], "hl"[g.Intn(2)])
	case 8:
		g.pick("\x1bNx", "\x1b*0\x1bn`\x1bo", "\x1b[>4;2m", "\x1b[%dq", "\x1b[4 q", "\x1b=", "\x1b>")
	case 9:
		g.pick("\x1b[22t", "\x1b[23t", "\x1b[?1;7s", "\x1b[?1;7r", "\x1b[20h", "\x1b[20l", "\x1b[3J")
	case 10:
		g.f("\x1b[%db", g.n())
	case 11:
		g.f("\u0084\u0085\u0088\u008d\u009b3C\u009d0;x\u009c")
	}
}

func (g *generator) broken() {
	g.pick("\x1b[3\x1b[2C", "\x1b[12\x18", "\x1b]0;cut\x1a", "\x1bPq#0~~\x1b\\", "\x1b[<1;2>m", "\x1b[1;2", "\x1b", "\x1b]2;open",
		"\xff\xfe", "\xe6\x97", "\xf0\x9f\x98", "\xc2", "\x1b[;;;;m", "\x1b[:::m", "\x1b[38;2;1m", "\x1b[38m", "\x1b[38:5m", "\x1bX swallowed \x1b\\")
}

func (g *generator) noise() {
	for range g.Intn(12) {
		g.out.WriteByte(byte(g.Intn(256)))
	}
}
