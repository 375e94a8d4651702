package davit

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// FuzzStreamedText: pieces never panic, the length is what a browser counts, and the last
// piece again changes nothing.
func FuzzStreamedText(f *testing.F) {
	f.Add("Grüße 👋", 7, "x", 3, "👋👋")
	f.Add("", -1, "a", 1<<40, "b")
	f.Fuzz(func(t *testing.T, a string, at int, b string, then int, c string) {
		// Bodies are JSON, which holds no other text.
		a, b, c = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")
		var one, two StreamedText
		for _, x := range []*StreamedText{&one, &two} {
			x.Put(0, a)
			x.Put(at, b)
			x.Put(then, c)
		}
		if then >= 0 && then <= one.Len()-len(utf16.Encode([]rune(c))) {
			two.Put(then, c)
		}
		if one.String() != two.String() || one.Len() != len(utf16.Encode([]rune(one.String()))) {
			t.Errorf("%q (%d), %q", one.String(), one.Len(), two.String())
		}
	})
}
