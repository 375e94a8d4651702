package screen

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// dcs runs a device control string: DECRQSS and XTGETTCAP. Others (sixel, …)
// were swallowed.
func (s *Screen) dcs(data []byte) {
	ps := &s.parser
	if ps.final != 'q' || ps.prefix != 0 {
		return
	}
	switch ps.intermediates() {
	case "$":
		s.requestStatus(string(data))
	case "+":
		s.requestCapabilities(string(data))
	}
}

// apc knows kitty's graphics only as a query that nobody must answer.
func (s *Screen) apc(data []byte) {
	control, _, _ := bytes.Cut(data, []byte(";"))
	if len(control) > 0 && control[0] == 'G' && bytes.Contains(control, []byte("a=q")) {
		s.query()
	}
}

// requestStatus is DECRQSS.
func (s *Screen) requestStatus(what string) {
	g := s.g
	value := ""
	switch what {
	case "m":
		value = strings.Join(append([]string{"0"}, sgrParts(g.cursor.pen)...), ";") + "m"
	case "r":
		value = fmt.Sprintf("%d;%dr", g.top+1, g.bottom+1)
	case "s":
		value = fmt.Sprintf("%d;%ds", g.left+1, g.right+1)
	case " q":
		value = strconv.Itoa(s.modes.cursorShape) + " q"
	case `"q`:
		value = `0"q`
		if g.cursor.protected {
			value = `1"q`
		}
	case `"p`:
		value = `64;1"p`
	case "t":
		value = strconv.Itoa(s.rows) + "t"
	case "$|":
		value = strconv.Itoa(s.cols) + "$|"
	case "*|":
		value = strconv.Itoa(s.rows) + "*|"
	case ">4m":
		value = fmt.Sprintf(">4;%dm", s.modes.modifyOtherKeys)
	default:
		s.reply("\x1bP0$r\x1b\\")
		return
	}
	s.reply("\x1bP1$r" + value + "\x1b\\")
}

// capability is what XTGETTCAP tells of one terminfo name.
func capability(name string) (string, bool) {
	switch name {
	case "TN", "name":
		return "xterm-256color", true
	case "Co", "colors":
		return "256", true
	case "RGB":
		return "8/8/8", true
	case "Tc", "Su", "XT", "AX":
		return "", true
	case "Smulx":
		return "\x1b[4:%p1%dm", true
	case "Setulc":
		return "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m", true
	case "Ms":
		return "\x1b]52;%p1%s;%p2%s\x07", true
	case "Ss":
		return "\x1b[%p1%d q", true
	case "Se":
		return "\x1b[2 q", true
	}
	return "", false
}

// requestCapabilities is XTGETTCAP: names in hex between semicolons.
func (s *Screen) requestCapabilities(data string) {
	for n, code := range strings.Split(data, ";") {
		name, err := hex.DecodeString(code)
		if err != nil || n >= maxPairs {
			s.reply("\x1bP0+r\x1b\\")
			return
		}
		value, known := capability(string(name))
		switch {
		case !known:
			s.reply("\x1bP0+r" + code + "\x1b\\")
		case value == "":
			s.reply("\x1bP1+r" + code + "\x1b\\")
		default:
			s.reply("\x1bP1+r" + code + "=" + strings.ToUpper(hex.EncodeToString([]byte(value))) + "\x1b\\")
		}
	}
}
