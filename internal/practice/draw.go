package practice

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"davit"

	"github.com/clipperhouse/displaywidth"
)

// painter draws the agent. On the alternate screen each frame is the whole screen;
// inline, what is finished scrolls away with the shell's output and only the composer
// is drawn anew.
type painter struct {
	inline bool
	isOpen bool
	title  string
	state  string
	last   string // the last frame, to leave out one that is the same
	shown  int    // inline: messages already printed
	height int    // inline: rows of the live part above the cursor's row
}

const (
	reset  = "\x1b[0m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	accent = "\x1b[38;5;37m"
	warm   = "\x1b[38;5;179m"
	frameC = "\x1b[38;5;240m"
)

func (p *painter) open() string {
	p.isOpen = true
	if p.inline {
		return ""
	}
	return "\x1b[?1049h\x1b[2J\x1b[H"
}

func (p *painter) close() string {
	if !p.isOpen {
		return ""
	}
	if p.inline {
		return "\r\n" + reset + "\x1b[?25h"
	}
	return reset + "\x1b[?1049l\x1b[?25h"
}

func (p *painter) resized() { p.last = "" }

// draw brings the terminal up to date.
func (a *terminalAgent) draw() {
	if a.phase == mounting || a.over {
		return
	}
	cols, rows := a.size()
	text := ""
	if a.opts.inline {
		text = a.drawInline(cols)
	} else {
		text = a.drawScreen(cols, rows)
	}
	if text == a.paint.last {
		return
	}
	a.paint.last = text
	a.say("\x1b[?2026h" + text + "\x1b[?2026l")
}

func (a *terminalAgent) drawScreen(cols, rows int) string {
	head := []string{a.header(cols), ""}
	body := a.conversation(a.messages, cols)
	foot, x, y := a.footer(cols)
	room := rows - len(head) - len(foot)
	if len(body) > room {
		body = body[len(body)-max(room, 0):]
	}
	for len(body) < room {
		body = append(body, "")
	}
	lines := append(append(head, body...), foot...)
	top := len(head) + len(body)
	if len(lines) > rows {
		top -= len(lines) - rows
		lines = lines[len(lines)-rows:]
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		// Erased first: after a full row the cursor still stands on its last cell.
		b.WriteString("\x1b[2K" + line + reset)
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH", top+y+1, x+1)
	return b.String()
}

func (a *terminalAgent) drawInline(cols int) string {
	p := &a.paint
	var b strings.Builder
	b.WriteString("\r")
	if p.height > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", p.height)
	}
	b.WriteString("\x1b[J")
	if p.shown == 0 && p.last == "" && p.height == 0 {
		b.WriteString(a.header(cols) + reset + "\r\n\r\n")
	}
	for _, line := range a.conversation(a.messages[p.shown:], cols) {
		b.WriteString(line + reset + "\r\n")
	}
	p.shown = len(a.messages)
	foot, x, y := a.footer(cols)
	b.WriteString(strings.Join(foot, reset+"\r\n"))
	if up := len(foot) - 1 - y; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	fmt.Fprintf(&b, "\r\x1b[%dC", x)
	p.height = y
	return b.String()
}

func (a *terminalAgent) header(cols int) string {
	left := accent + bold + " ⚓ " + label + reset
	right := dim + a.settings() + "davit " + davit.Version + " "
	gap := cols - displaywidth.String(" ⚓ "+label) - displaywidth.String(a.settings()+"davit "+davit.Version+" ")
	if gap < 1 {
		return accent + bold + displaywidth.TruncateString(" ⚓ "+label, cols-1, "…")
	}
	return left + strings.Repeat(" ", gap) + right
}

func (a *terminalAgent) settings() string {
	text := ""
	for _, value := range []string{a.opts.model, a.opts.effort, a.opts.mode} {
		if value != "" {
			text += visible(value) + " · "
		}
	}
	return text
}

// conversation is the messages as rows, and the answer so far.
func (a *terminalAgent) conversation(messages []message, cols int) []string {
	var rows []string
	add := func(mark, color, text string) {
		for i, line := range wrap(text, max(cols-4, 10)) {
			if i > 0 {
				mark = " "
			}
			rows = append(rows, " "+color+mark+reset+" "+line)
		}
		rows = append(rows, "")
	}
	for _, m := range messages {
		switch m.role {
		case "you":
			add("❯", accent+bold, m.text)
		case "agent":
			add("●", warm, m.text)
		case "tool":
			add("▪", warm, m.text)
		default:
			add("·", dim, m.text)
		}
	}
	if a.turn.shown > 0 && !a.opts.inline {
		shown := a.turn.text[:a.turn.shown]
		for !utf8.ValidString(shown) {
			shown = shown[:len(shown)-1]
		}
		add("●", warm, shown)
	}
	return rows
}

// footer is the part below the conversation, and where the cursor is in it.
func (a *terminalAgent) footer(cols int) (rows []string, x, y int) {
	if a.phase == blocked || a.phase == asking {
		rows = a.box(dialogText(a.dialog), cols)
		return append(rows, dim+" practice — not a real model"), 2, len(rows) - 2
	}
	if a.phase == working {
		rows = append(rows, fmt.Sprintf(" %s%c%s practising… %s(esc interrupts)", warm, spinnerFrames[a.spinner%len(spinnerFrames)], reset, dim))
		for _, queued := range a.queue {
			rows = append(rows, dim+"   queued: "+displaywidth.TruncateString(visible(strings.Join(strings.Fields(queued), " ")), max(cols-14, 8), "…"))
		}
	}
	width := max(cols-6, 10)
	text := wrap(a.composer, width)
	if len(text) > 8 {
		text = text[len(text)-8:]
	}
	end := displaywidth.String(text[len(text)-1])
	if a.composer == "" {
		text[0] = dim + "Type a prompt, or `write FILE`"
	}
	y = len(rows) + len(text)
	rows = append(rows, a.box(text, cols)...)
	hint := a.hint
	if hint == "" {
		hint = "enter sends · alt-enter: new line · /exit leaves"
	}
	left := " practice — not a real model"
	gap := max(cols-displaywidth.String(left)-displaywidth.String(hint)-1, 1)
	rows = append(rows, warm+left+reset+dim+displaywidth.TruncateString(strings.Repeat(" ", gap)+hint, max(cols-displaywidth.String(left)-1, 0), "…"))
	return rows, min(4+end, cols-2), y
}

func (a *terminalAgent) box(lines []string, cols int) []string {
	width := max(cols-6, 10)
	rows := []string{frameC + "╭" + strings.Repeat("─", width+4) + "╮"}
	for i, line := range lines {
		mark := " "
		if i == 0 && a.phase != blocked && a.phase != asking {
			mark = accent + "❯" + reset
		}
		plain := strings.TrimPrefix(line, dim)
		if displaywidth.String(plain) > width {
			line = strings.TrimSuffix(line, plain) + displaywidth.TruncateString(plain, width, "…")
			plain = displaywidth.TruncateString(plain, width, "…")
		}
		pad := strings.Repeat(" ", max(width-displaywidth.String(plain), 0))
		rows = append(rows, frameC+"│"+reset+" "+mark+" "+line+reset+pad+" "+frameC+"│")
	}
	return append(rows, frameC+"╰"+strings.Repeat("─", width+4)+"╯")
}

func dialogText(name string) []string {
	switch name {
	case "trust":
		return []string{"Do you trust the files in this folder?", "", "1. Yes, go on", "2. No, leave", "", "Press enter to confirm"}
	case "update":
		return []string{"Update available! 0.1 → 0.2 (for practice)", "", "1. Update now", "2. Skip", "", "Press enter to continue"}
	default:
		return []string{"Permission required", "Do you want to proceed?", "", "1. Yes, allow once", "2. No"}
	}
}

// wrap breaks text into rows of a width; control bytes are made visible.
func wrap(text string, width int) []string {
	var rows []string
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for _, line := range strings.Split(text, "\n") {
		line = visible(strings.ReplaceAll(line, "\t", "    "))
		for displaywidth.String(line) > width {
			head := displaywidth.TruncateString(line, width, "")
			if head == "" {
				break
			}
			if cut := strings.LastIndexByte(head, ' '); cut > 0 && line[len(head)] != ' ' {
				head = head[:cut+1]
			}
			rows = append(rows, strings.TrimRight(head, " "))
			line = strings.TrimLeft(line[len(head):], " ")
		}
		rows = append(rows, line)
	}
	return rows
}

func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20:
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case r >= 0x80 && r < 0xa0:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
