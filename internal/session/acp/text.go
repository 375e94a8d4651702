package acp

import (
	"strings"
	"unicode/utf8"
)

// cut gives at most limit bytes of text, whole characters, and whether that is not all.
func cut(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], true
}

// short is text for a title or a name: at most limit bytes, an ellipsis for what is left out.
func short(text string, limit int) string {
	if head, more := cut(text, limit-len("…")); more && len(text) > limit {
		return head + "…"
	}
	return text
}

// tail is the last of a text, whole characters.
func tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	at := len(text) - limit
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

// valid replaces what is no UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// units counts UTF-16 code units, as browsers do.
func units(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
