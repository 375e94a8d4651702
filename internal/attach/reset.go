package attach

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// resetModes brings a terminal back to what a shell expects, whatever the program in the
// pane had asked for, without touching its scrollback (RIS clears that in some). It ends
// an unfinished string or sequence first.
const resetModes = "\x18" + // CAN
	"\x1b[?2026l" + // synchronised output: off first, so that the rest is shown
	"\x1b[?1049l\x1b[?1047l\x1b[?47l" + // alternate screen
	"\x1b[!p" + // soft reset: margins, origin, insert, cursor, character sets
	"\x1b[?69l\x1b[r" + // margins
	"\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l" + // mouse
	"\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1007l" +
	"\x1b[?1004l\x1b[?2004l" + // focus, bracketed paste
	"\x1b[?2027l\x1b[?2031l\x1b[?2048l" + // graphemes, colour scheme, in-band resize
	"\x1b[<99u\x1b[=0;1u\x1b[>4;0m" + // kitty keyboard, modifyOtherKeys
	"\x1b[?1l\x1b[?66l\x1b>\x1b[4l\x1b[20l\x1b[?5l\x1b[?6l\x1b[?45l\x1b[?7h" + // keys, insert, reverse, wrap
	"\x1b[0 q\x1b[?12l\x1b[?25h" + // cursor
	"\x1b]8;;\x1b\\\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\" + // link, colours
	"\x1b(B\x1b)B\x0f\x1b[m"

// clearScreen empties the screen for a snapshot.
const clearScreen = "\x1b[H\x1b[2J"

// The window's title is the user's: kept at the beginning, given back at the end.
const (
	pushTitle = "\x1b[22;0t"
	popTitle  = "\x1b[23;0t"
)

// scrollAway moves what the user had on the screen into the scrollback, so that the
// first snapshot does not wipe it out.
func scrollAway(out *os.File) string {
	_, rows, err := term.GetSize(int(out.Fd()))
	if err != nil || rows < 1 || rows > 1000 {
		return ""
	}
	return fmt.Sprintf("\x1b[%d;1H", rows) + strings.Repeat("\n", rows)
}

// leaveScreen goes below what is shown, so that the shell's prompt does not overwrite it.
func leaveScreen(out *os.File) string {
	_, rows, err := term.GetSize(int(out.Fd()))
	if err != nil {
		rows = 999
	}
	return fmt.Sprintf("\x1b[%d;1H\r\n", rows)
}
