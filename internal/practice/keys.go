package practice

import (
	"bytes"
	"unicode/utf8"
)

// key is one thing that was typed or pasted.
type key struct {
	kind keyKind
	text string
}

type keyKind int

const (
	keyText keyKind = iota
	keyPaste
	keyEnter
	keyNewline // Alt-Enter, Ctrl-J
	keyBackspace
	keyClear // Ctrl-U
	keyInterrupt
	keyEOF
	keyEscape
	keyOther // arrows, focus reports, …: without effect
)

// keyReader turns bytes into keys. Input may be cut anywhere; what is not complete
// waits for more.
type keyReader struct {
	buffer []byte
}

var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// feed takes bytes and gives the keys that are complete.
func (r *keyReader) feed(data []byte) []key {
	r.buffer = append(r.buffer, data...)
	var keys []key
	for len(r.buffer) > 0 {
		k, n := next(r.buffer)
		if n == 0 {
			break
		}
		r.buffer = r.buffer[n:]
		keys = append(keys, k)
	}
	return keys
}

// loneEscape tells whether only an ESC waits: the Escape key, when nothing follows.
func (r *keyReader) loneEscape() bool { return len(r.buffer) == 1 && r.buffer[0] == 0x1b }

func (r *keyReader) drop() { r.buffer = nil }

func next(b []byte) (key, int) {
	switch c := b[0]; {
	case c == 0x1b:
		return nextEscape(b)
	case c == '\r':
		return key{kind: keyEnter}, 1
	case c == '\n':
		return key{kind: keyNewline}, 1
	case c == 0x7f || c == 0x08:
		return key{kind: keyBackspace}, 1
	case c == 0x03:
		return key{kind: keyInterrupt}, 1
	case c == 0x04:
		return key{kind: keyEOF}, 1
	case c == 0x15:
		return key{kind: keyClear}, 1
	case c < 0x20 && c != '\t':
		return key{kind: keyOther}, 1
	}
	// A run of text.
	n := 0
	for n < len(b) && (b[n] >= 0x20 || b[n] == '\t') && b[n] != 0x7f {
		if !utf8.FullRune(b[n:]) {
			break
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return key{kind: keyText, text: string(b[:n])}, n
}

func nextEscape(b []byte) (key, int) {
	if bytes.HasPrefix(b, pasteStart) {
		end := bytes.Index(b, pasteEnd)
		if end < 0 {
			return key{}, 0
		}
		return key{kind: keyPaste, text: string(b[len(pasteStart):end])}, end + len(pasteEnd)
	}
	if len(b) == 1 {
		return key{}, 0
	}
	switch b[1] {
	case '\r', '\n':
		return key{kind: keyNewline}, 2
	case 'O':
		if len(b) < 3 {
			return key{}, 0
		}
		return key{kind: keyOther}, 3
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return key{kind: keyOther}, i + 1
			}
		}
		return key{}, 0
	case 0x1b:
		return key{kind: keyEscape}, 1
	}
	return key{kind: keyOther}, 2
}
