package attach

import (
	"bytes"
	"strconv"
	"strings"
)

// keyFilter looks for the detach key in what a terminal sends and takes out its replies
// to queries. Queries never reach the terminal (spec terminal P3.1), but modes that the
// program asked for make some terminals report unasked (in-band resize), and those
// reports are the host's to make.
//
// Everything else passes as it is: a sequence is only ever held back when it is certain
// to be the beginning of a reply, so that Escape and Alt keys are not delayed.
type keyFilter struct {
	detach byte
	held   []byte // beginning of a reply
	paste  bool   // inside a bracketed paste: text, not keys
}

// maxHeld bounds a reply; what is longer was none.
const maxHeld = 4 << 10

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// pass gives what is input, and whether the detach key was in it; what came before the
// key is input still.
func (f *keyFilter) pass(data []byte) (input []byte, detach bool) {
	data = append(f.held, data...)
	f.held = nil
	input = make([]byte, 0, len(data))
	for len(data) > 0 {
		if f.paste {
			end := bytes.Index(data, pasteEnd)
			if end < 0 {
				// The mark may be cut: stay in the paste; its rest comes with the next read.
				if cut := suffixOf(data, pasteEnd); cut > 0 && cut < len(data) {
					input = append(input, data[:len(data)-cut]...)
					f.held = append([]byte(nil), data[len(data)-cut:]...)
					return input, false
				}
				return append(input, data...), false
			}
			input = append(input, data[:end+len(pasteEnd)]...)
			data = data[end+len(pasteEnd):]
			f.paste = false
			continue
		}
		if data[0] == f.detach {
			return input, true
		}
		if data[0] != 0x1b {
			n := bytes.IndexAny(data, "\x1b"+string(rune(f.detach)))
			if n < 0 {
				n = len(data)
			}
			input = append(input, data[:n]...)
			data = data[n:]
			continue
		}
		n, what := f.sequence(data)
		switch what {
		case aDetach:
			return input, true
		case aReply:
		case unfinished:
			if len(data) > maxHeld {
				return append(input, data...), false
			}
			f.held = append([]byte(nil), data...)
			return input, false
		default:
			f.paste = bytes.Equal(data[:n], pasteStart)
			input = append(input, data[:n]...)
		}
		data = data[n:]
	}
	return input, false
}

// suffixOf is how much of the end of data is a beginning of mark.
func suffixOf(data, mark []byte) int {
	for n := min(len(mark)-1, len(data)); n > 0; n-- {
		if bytes.HasSuffix(data, mark[:n]) {
			return n
		}
	}
	return 0
}

type kind int

const (
	aKey kind = iota
	aReply
	aDetach
	unfinished // certainly the beginning of a reply
)

// sequence looks at what begins with ESC.
func (f *keyFilter) sequence(data []byte) (int, kind) {
	if len(data) < 3 {
		return len(data), aKey
	}
	switch data[1] {
	case '[':
		return f.csi(data)
	case ']': // a colour or the clipboard; Alt-] is not followed by a digit
		if data[2] >= '0' && data[2] <= '9' {
			return str(data, true)
		}
	case 'P': // DECRQSS, XTVERSION, XTGETTCAP
		if bytes.IndexByte([]byte("01>!"), data[2]) >= 0 {
			return str(data, false)
		}
	case '_':
		if data[2] == 'G' {
			return str(data, false)
		}
	}
	return 1, aKey
}

// str is a control string up to ST, or BEL where that ends it.
func str(data []byte, bell bool) (int, kind) {
	for i := 2; i < len(data); i++ {
		switch {
		case bell && data[i] == '\a':
			return i + 1, aReply
		case data[i] == 0x1b && i+1 < len(data) && data[i+1] == '\\':
			return i + 2, aReply
		case data[i] == 0x1b && i+1 < len(data):
			return 1, aKey // no string: another sequence begins
		}
	}
	return len(data), unfinished
}

// csi is a control sequence; the terminal's own replies are known by their form.
func (f *keyFilter) csi(data []byte) (int, kind) {
	end := 2
	for end < len(data) && data[end] >= 0x20 && data[end] <= 0x3f {
		end++
	}
	if end == len(data) {
		if data[2] == '?' && len(data) > 3 {
			return end, unfinished // no key begins so
		}
		return 1, aKey
	}
	params, final := string(data[2:end]), data[end]
	n := end + 1
	private := params != "" && strings.IndexByte("?>=", params[0]) >= 0
	switch {
	case f.isDetach(params, final):
		return n, aDetach
	case private && params[0] == '?' && params == "?997;1" || params == "?997;2":
		return n, aKey // a colour scheme changed: the program asked for that
	case private && strings.IndexByte("cnRuySt", final) >= 0:
		return n, aReply
	case final == 'y' && strings.HasSuffix(params, "$"):
		return n, aReply
	case final == 't' && params != "": // window reports, in-band resize
		return n, aReply
	case final == 'n' && (params == "0" || params == "3"):
		return n, aReply
	case final == 'R' && strings.Count(params, ";") == 1 && !strings.HasPrefix(params, "1;"):
		return n, aReply // a cursor position; 1;N is F3 with modifiers
	}
	return n, aKey
}

// isDetach knows the key in the kitty protocol (CSI 92;5u) and modifyOtherKeys
// (CSI 27;5;92~), with lock keys on, pressed or repeated.
func (f *keyFilter) isDetach(params string, final byte) bool {
	fields := strings.Split(params, ";")
	code, mods := "", ""
	switch {
	case final == 'u' && len(fields) >= 2:
		code, mods = fields[0], fields[1]
	case final == '~' && len(fields) == 3 && fields[0] == "27":
		code, mods = fields[2], fields[1]
	default:
		return false
	}
	code, _, _ = strings.Cut(code, ":")
	mods, event, _ := strings.Cut(mods, ":")
	c, err := strconv.Atoi(code)
	m, err2 := strconv.Atoi(mods)
	if err != nil || err2 != nil || event == "3" {
		return false
	}
	const locks = 64 | 128
	if (m-1)&^locks != 4 || c < 0x40 || c > 0x7f {
		return false
	}
	return byte(c)&0x1f == f.detach
}
