package attach

import (
	"bytes"
	"testing"
)

// claude-squad's attach threw typed-ahead keys away to be rid of replies; only reply
// sequences are taken out, wherever a read cuts them.
func TestKeyFilter(t *testing.T) {
	for _, c := range []struct {
		name   string
		reads  []string
		want   string
		detach bool
	}{
		{"plain", []string{"ls -la\r"}, "ls -la\r", false},
		{"escape alone", []string{"\x1b"}, "\x1b", false},
		{"alt keys", []string{"\x1bP\x1b]\x1b[\x1bx"}, "\x1bP\x1b]\x1b[\x1bx", false},
		{"arrows, F keys, modified F3", []string{"\x1b[A\x1bOP\x1b[15~\x1b[1;2R\x1b[1;5C"}, "\x1b[A\x1bOP\x1b[15~\x1b[1;2R\x1b[1;5C", false},
		{"mouse and focus", []string{"\x1b[<0;10;20M\x1b[I\x1b[O\x1b[M abc"}, "\x1b[<0;10;20M\x1b[I\x1b[O\x1b[M abc", false},
		{"kitty keys", []string{"\x1b[97;5u\x1b[57441;2:3u"}, "\x1b[97;5u\x1b[57441;2:3u", false},
		{"colour scheme was asked for", []string{"\x1b[?997;1n"}, "\x1b[?997;1n", false},
		{"device attributes among keys", []string{"a\x1b[?62;22cb\x1b[>1;10;0cc"}, "abc", false},
		{"cursor position", []string{"\x1b[12;40Rx\x1b[?3;4;1Ry"}, "xy", false},
		{"modes, status, kitty flags, in-band resize", []string{"\x1b[?2026;2$y\x1b[4;1$y\x1b[0n\x1b[?5u\x1b[48;24;80;0;0tz"}, "z", false},
		{"colours and strings", []string{"\x1b]11;rgb:1c1c/1e1e/2626\x1b\\a\x1b]10;rgb:0/0/0\ab\x1bP>|xterm(1)\x1b\\c\x1bP1$r0m\x1b\\"}, "abc", false},
		{"a reply in two reads", []string{"a\x1b]11;rgb:1c", "1c/1e1e/2626\ab"}, "ab", false},
		{"another in two reads", []string{"a\x1b[?62", ";22cb"}, "ab", false},
		{"no reply after all", []string{"\x1b]1\x1b[A"}, "\x1b]1\x1b[A", false},
		{"the key", []string{"ab\x1ccd"}, "ab", true},
		{"the key, kitty", []string{"ab\x1b[92;5ucd"}, "ab", true},
		{"the key, kitty with num lock, pressed", []string{"\x1b[92::124;133:1u"}, "", true},
		{"the key, kitty, released", []string{"\x1b[92;5:3u"}, "\x1b[92;5:3u", false},
		{"the key, modifyOtherKeys", []string{"\x1b[27;5;92~"}, "", true},
		{"alt-backslash is another", []string{"\x1b[92;3u\x1b\\"}, "\x1b[92;3u\x1b\\", false},
		{"in a paste it is text", []string{"\x1b[200~a\x1cb\x1b[?1;2c\x1b[20", "1~c\x1b[?1;2c"}, "\x1b[200~a\x1cb\x1b[?1;2c\x1b[201~c", false},
	} {
		f := keyFilter{detach: DefaultDetachKey}
		got, detach := "", false
		for _, read := range c.reads {
			data, d := f.pass([]byte(read))
			got, detach = got+string(data), detach || d
		}
		if got != c.want || detach != c.detach {
			t.Errorf("%s: %q, detach %v; want %q, %v", c.name, got, detach, c.want, c.detach)
		}
	}
}

func FuzzKeyFilter(f *testing.F) {
	for _, seed := range []string{"abc", "\x1b[200~x\x1b[201~", "\x1b]11;rgb:0/0/0\a", "\x1b[?62;1c", "\x1bP1$r\x1b\\", "\x1c"} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		if len(data) > 0 {
			cut = int(uint(cut) % uint(len(data)))
		} else {
			cut = 0
		}
		k := keyFilter{detach: DefaultDetachKey}
		a, gone := k.pass(data[:cut])
		var b []byte
		if !gone {
			b, gone = k.pass(data[cut:])
		}
		if got := len(a) + len(b) + len(k.held); got > len(data) {
			t.Fatalf("%d bytes became %d", len(data), got)
		}
		if len(k.held) > maxHeld {
			t.Fatalf("%d bytes are held", len(k.held))
		}
		if !gone && !bytes.ContainsRune(data, 0x1b) && string(a)+string(b) != string(data) {
			t.Fatalf("%q became %q", data, string(a)+string(b))
		}
	})
}
