package davit

import "unicode/utf8"

// StreamedText is the text of a message or thought as the pieces of its rows make it: each
// says the text from a place on (JournalRow). The zero value is empty. Text at its end, the
// usual place, costs nothing to find.
type StreamedText struct {
	bytes []byte
	units int
}

// Put replaces what stands from at on, in UTF-16 code units. A place beyond the end is the
// end, one inside of a character is before it.
func (t *StreamedText) Put(at int, s string) {
	if at < t.units {
		t.cut(max(at, 0))
	}
	t.bytes = append(t.bytes, s...)
	for _, r := range s {
		t.units += utf16Units(r)
	}
}

// String is the whole text.
func (t *StreamedText) String() string { return string(t.bytes) }

// Len is its length in UTF-16 code units.
func (t *StreamedText) Len() int { return t.units }

func (t *StreamedText) cut(at int) {
	units, i := 0, 0
	for i < len(t.bytes) {
		r, size := utf8.DecodeRune(t.bytes[i:])
		if units+utf16Units(r) > at {
			break
		}
		units += utf16Units(r)
		i += size
	}
	t.bytes, t.units = t.bytes[:i], units
}

func utf16Units(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}
