package screen

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestSequences: one table for each family, on a screen of 10×5.
func TestSequences(t *testing.T) {
	five := "11111\r\n22222\r\n33333\r\n44444\r\n55555"
	for _, c := range []struct {
		name, write string
		rows        []string
		x, y        int
	}{
		{"CUU stops at the margin", "\x1b[2;4r\x1b[4;1H\x1b[9Ax", []string{"", "x"}, 1, 1},
		{"CUD stops at the margin", "\x1b[2;4r\x1b[2;1H\x1b[9Bx", []string{"", "", "", "x"}, 1, 3},
		{"CUF stops at the edge", "\x1b[99Cx", []string{"         x"}, 9, 0},
		{"HPA VPA", "\x1b[4`\x1b[3dx", []string{"", "", "   x"}, 4, 2},
		{"HPR VPR", "\x1b[2a\x1b[2ex", []string{"", "", "  x"}, 3, 2},
		{"CNL CPL", "abc\x1b[2Ex\x1b[Fy", []string{"abc", "y", "x"}, 1, 1},
		{"wrap and erase the line", "0123456789ab\x1b[2Kx", []string{"0123456789", "  x"}, 3, 1},
		{"no autowrap", "\x1b[?7l0123456789abc", []string{"012345678c"}, 9, 0},
		{"ED 1", five + "\x1b[3;3H\x1b[1J", []string{"", "", "   33", "44444", "55555"}, 2, 2},
		{"DECSED leaves protected cells", "\x1b[1\"qab\x1b[0\"qcd\x1b[?2J", []string{"ab"}, 4, 0},
		{"DECSEL", "a\x1b[1\"qb\x1b[2\"qc\x1b[?2K", []string{" b"}, 3, 0},
		{"ED ignores protection", "\x1b[1\"qab\x1b[0\"qcd\x1b[2J", nil, 4, 0},
		{"ICH DCH ECH", "abcdef\x1b[3G\x1b[2@\x1b[7G\x1b[1P\x1b[1G\x1b[Xx", []string{"xb  cdf"}, 1, 0},
		{"wide cells cut become blanks", "日本\x1b[2Gx\x1b[4Gy", []string{" x y"}, 4, 0},
		{"DCH cuts a wide cell", "日本a\x1b[2G\x1b[P", []string{" 本a"}, 1, 0},
		{"SU SD", five + "\x1b[2S\x1b[T", []string{"", "33333", "44444", "55555"}, 5, 4},
		{"IL DL in a region", five + "\x1b[2;4r\x1b[3;1H\x1b[L\x1b[2;1H\x1b[M", []string{"11111", "", "33333", "", "55555"}, 0, 1},
		{"RI at the top scrolls", five + "\x1b[H\x1bMx", []string{"x", "11111", "22222", "33333", "44444"}, 1, 0},
		{"left-right margins wrap", "\x1b[?69h\x1b[3;6s\x1b[1;3Habcdefgh", []string{"  abcd", "  efgh"}, 5, 1},
		{"left-right margins scroll", five + "\x1b[?69h\x1b[2;3s\x1b[2;4r\x1b[4;2H\n", []string{"11111", "23322", "34433", "4  44", "55555"}, 1, 3},
		{"left-right margins insert", "abcdefgh\x1b[?69h\x1b[2;5s\x1b[1;3H\x1b[@x", []string{"abxcdfgh"}, 3, 0},
		{"SL SR", "abcde\x1b[2 @\x1b[ A", []string{" cde"}, 5, 0},
		{"DECIC DECDC", "abcde\x1b[2G\x1b['}x\x1b[4G\x1b['~", []string{"axbde"}, 3, 0},
		{"DECBI DECFI", "abc\r\x1b6x\x1b[10G\x1b9", []string{"abc"}, 9, 0},
		{"tabs", "\x1b[3g\x1b[5G\x1bH\r\tx\x1b[Zy", []string{"    y"}, 5, 0},
		{"origin", "\x1b[2;4r\x1b[?6h\x1b[9;1Hx\x1b[?6l\x1b[1;1Hy", []string{"y", "", "", "x"}, 1, 0},
		{"DEC graphics through SO", "\x1b)0\x0eqx\x0fqx", []string{"─│qx"}, 4, 0},
		{"single shift", "\x1b*0\x1bNqq", []string{"─q"}, 2, 0},
		{"UK", "\x1b(A#", []string{"£"}, 1, 0},
		{"REP", "ab\x1b[3bc", []string{"abbbbc"}, 6, 0},
		{"REP of a wide character", "日\x1b[2b", []string{"日日日"}, 6, 0},
		{"REP only after a character", "a\r\x1b[3bx", []string{"x"}, 1, 0},
		{"reverse wrap", "\x1b[?45h0123456789a\b\b\bx", []string{"01234567x9", "a"}, 9, 0},
		{"reverse wrap stops at a hard line", "\x1b[?45hab\r\n\b\bx", []string{"ab", "x"}, 1, 1},
		{"insert mode", "abc\r\x1b[4h日\x1b[4l", []string{"日abc"}, 2, 0},
		{"LNM", "\x1b[20ha\nb", []string{"a", "b"}, 1, 1},
		{"CAN and SUB end a sequence", "\x1b[3\x18a\x1b]0;x\x1ab", []string{"ab"}, 2, 0},
		{"controls within a sequence run", "ab\x1b[2\rCx", []string{"abx"}, 3, 0},
		{"strings are swallowed", "a\x1b_G1;x\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d\x1bPq~~\x1b\\e\x1b]66;s=2;t\af\x1b]99;;t\ag", []string{"abcdefg"}, 7, 0},
		{"a byte 9C in a title is text", "\x1b]0;✳ Claude Code\aok", []string{"ok"}, 2, 0},
		{"U+009C ends a string, U+009B is CSI", "\u009d0;x\u009ca\u009b2Cb", []string{"a  b"}, 4, 0},
		{"maximal subparts", "\xf0\x9f\x98a\xe6\x97b\xc3\xc3\xa9\xed\xa0\x80", []string{"�a�b�é���"}, 9, 0},
		{"a cluster grows over the edge", "012345678❤\ufe0f", []string{"012345678", "❤\ufe0f"}, 2, 1},
		{"a cluster grows over a margin into a wide character", "\x1b[2;1H日日\x1b[?69h\x1b[2;3s\x1b[1;3H❤\ufe0f", []string{"", " ❤\ufe0f"}, 2, 1},
		{"wide at the edge wraps", "012345678日", []string{"012345678", "日"}, 2, 1},
		{"wide at the edge without autowrap", "\x1b[?7l012345678日x", []string{"012345678x"}, 9, 0},
		{"skin tone, flag, keycap", "👍🏽🇩🇪1\ufe0f\u20e3|", []string{"👍🏽🇩🇪1\ufe0f\u20e3|"}, 7, 0},
		{"combining first", "\r\u0301x", []string{"\u0301x"}, 2, 0},
		{"DECSTR", "\x1b[2;3r\x1b[?6h\x1b[4h\x1b[!p\x1b[5;1Hxx\rx", []string{"", "", "", "", "xx"}, 1, 4},
		{"RIS", "abc\x1b[2;3r\x1b[31m\x1bcx", []string{"x"}, 1, 0},
		{"1047 takes the cursor along", "ab\x1b[?1047hcd\x1b[?1047le", []string{"ab  e"}, 5, 0},
		{"DECSC DECRC", "\x1b[2;3H\x1b7\x1b[Ha\x1b8x\x1b[s\x1b[H\x1b[uy", []string{"a", "  xy"}, 4, 1},
		{"DECALN", "\x1b#8\x1b[2J", nil, 0, 0},
		{"XTSAVE XTRESTORE", "\x1b[?7s\x1b[?7l\x1b[?7r0123456789a", []string{"0123456789", "a"}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(10, 5, Options{})
			s.Write([]byte(c.write))
			checkInvariants(t, s)
			if got := trimRows(s.Text()); !slices.Equal(got, c.rows) {
				t.Errorf("rows %q, want %q", got, c.rows)
			}
			if x, y := s.Cursor(); x != c.x || y != c.y {
				t.Errorf("cursor %d,%d, want %d,%d", x, y, c.x, c.y)
			}
		})
	}
}

func TestSGR(t *testing.T) {
	for _, c := range []struct {
		sgr  string
		want Style
	}{
		{"1;2;3;5;7;8;9;53", Style{Attrs: Bold | Faint | Italic | Blink | Inverse | Invisible | Strike | Overline}},
		{"31;104", Style{Foreground: Palette(1), Background: Palette(12)}},
		{"38;5;200;48;5;7", Style{Foreground: Palette(200), Background: Palette(7)}},
		{"38;2;1;2;3;1", Style{Foreground: RGB(1, 2, 3), Attrs: Bold}},
		{"38:2:1:2:3;1", Style{Foreground: RGB(1, 2, 3), Attrs: Bold}},
		{"38:2::1:2:3;1", Style{Foreground: RGB(1, 2, 3), Attrs: Bold}},
		{"38:2:0:1:2:3:0:0", Style{Foreground: RGB(1, 2, 3)}},
		{"48:5:9", Style{Background: Palette(9)}},
		{"4:3;58:2::255:0:0", Style{Underline: UnderlineCurly, UnderlineColor: RGB(255, 0, 0)}},
		{"4;58;5;3", Style{Underline: UnderlineSingle, UnderlineColor: Palette(3)}},
		{"21", Style{Underline: UnderlineDouble}},
		{"4:0", Style{}},
		{"1;31;4;0", Style{}},
		{"1;31;m", Style{}},
		{"1;22;3;23;4;24;7;27", Style{}},
		{"31;39;41;49;58;5;1;59", Style{}},
	} {
		s := New(10, 2, Options{})
		s.Write([]byte("\x1b[" + c.sgr + "mx"))
		if got := s.Cell(0, 0).Style; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.sgr, got, c.want)
		}
		if c.want != (Style{}) {
			again := New(10, 2, Options{})
			again.Write([]byte(s.RowANSI(0)))
			if got := again.Cell(0, 0).Style; got != c.want {
				t.Errorf("%s: RowANSI %q gives %+v", c.sgr, s.RowANSI(0), got)
			}
		}
	}
}

// TestReplies: answers, where they stand, and what a display must not see
// (spec terminal P2.3, P3.1).
func TestReplies(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"\x1b[c", "\x1b[?62;22;52c"}, {"\x1b[>c", "\x1b[>1;354;0c"}, {"\x1b[=c", "\x1bP!|44415654\x1b\\"},
		{"\x1b[5n", "\x1b[0n"}, {"\x1b[6n", "\x1b[1;1R"}, {"\x1b[?6n", "\x1b[?1;1R"}, {"\x1b[?996n", "\x1b[?997;1n"},
		{"\x1b[2;4r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R"},
		{"0123456789\x1b[6n", "\x1b[1;10R"},
		{"\x1b[?2026$p", "\x1b[?2026;2$y"}, {"\x1b[?2027$p", "\x1b[?2027;2$y"}, {"\x1b[?2031$p", "\x1b[?2031;2$y"},
		{"\x1b[?1016$p", "\x1b[?1016;2$y"}, {"\x1b[?1004h\x1b[?1004$p", "\x1b[?1004;1$y"}, {"\x1b[?4242$p", "\x1b[?4242;0$y"},
		{"\x1b[4$p", "\x1b[4;2$y"}, {"\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"}, {"\x1b[?2048$p", "\x1b[?2048;2$y"},
		{"\x1b[?69h\x1b[?69$p", "\x1b[?69;1$y"}, {"\x1b[?69$p", "\x1b[?69;4$y"},
		{"\x1b[>q", "\x1bP>|davit(1.2)\x1b\\"},
		{"\x1bP+q544e;5858\x1b\\", "\x1bP1+r544e=787465726D2D323536636F6C6F72\x1b\\\x1bP0+r5858\x1b\\"},
		{"\x1b[1;31m\x1bP$qm\x1b\\", "\x1bP1$r0;1;31m\x1b\\"}, {"\x1b[2;3r\x1bP$qr\x1b\\", "\x1bP1$r2;3r\x1b\\"},
		{"\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\"}, {"\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"},
		{"\x1b]11;?\a", "\x1b]11;rgb:1e1e/1e1e/1e1e\a"}, {"\x1b]10;?;?\x1b\\", "\x1b]10;rgb:d4d4/d4d4/d4d4\x1b\\\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"},
		{"\x1b]4;1;#102030\a\x1b]4;1;?\a", "\x1b]4;1;rgb:1010/2020/3030\a"}, {"\x1b]4;1;#102030\a\x1b]104;1\a\x1b]4;1;?\a", "\x1b]4;1;rgb:cdcd/0000/0000\a"},
		{"\x1b[>3u\x1b[?u", "\x1b[?3u"}, {"\x1b[>3u\x1b[>5u\x1b[<u\x1b[?u", "\x1b[?3u"}, {"\x1b[=5u\x1b[=2;2u\x1b[?u", "\x1b[?7u"},
		{"\x1b[>1u\x1b[?1049h\x1b[?u", "\x1b[?0u"},
		{"\x1b[>4;2m\x1b[?4m", "\x1b[>4;2m"}, {"\x1b[18t", "\x1b[8;5;10t"}, {"\x1b[?2048h", "\x1b[48;5;10;0;0t"},
		// Echo of what a program set is off, and so are sizes nobody knows.
		{"\x1b]2;evil\a\x1b[21t", ""}, {"\x1b]52;c;?\a", ""}, {"\x1b[14t", ""}, {"\x1b]1337;Capabilities\a", ""}, {"\x1b]99;i=1:p=?;\a", ""},
		{"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", ""}, {"\x1b]50;?\a", ""},
	} {
		s := New(10, 5, Options{Version: "1.2"})
		s.SetOffset(1000)
		before, after := "x", "y"
		res := s.Write([]byte(before + "\r" + c.query + after))
		var got strings.Builder
		for _, r := range res.Replies {
			got.Write(r.Data)
		}
		if got.String() != c.want {
			t.Errorf("%q: %q, want %q", c.query, got.String(), c.want)
		}
		end := s.Offset() - 1
		if c.want != "" && (len(res.Replies) != 1 || res.Replies[0].At != end) {
			t.Errorf("%q: reply %+v, its query ends at %d", c.query, res.Replies, end)
		}
		if len(res.Queries) != 1 || res.Queries[0].To != end {
			t.Errorf("%q: queries %+v, want one that ends at %d", c.query, res.Queries, end)
			continue
		}
		// What is left for a display asks nothing.
		from := res.Queries[0].From - 1000
		left := (before + "\r" + c.query + after)[:from] + after
		if res := New(10, 5, Options{}).Write([]byte(left)); res.Queries != nil || res.Replies != nil {
			t.Errorf("%q leaves %q, which asks", c.query, left)
		}
	}
}

func TestEffects(t *testing.T) {
	type m = map[string]string
	for _, c := range []struct {
		write string
		want  []Effect
	}{
		{"\a", []Effect{{Kind: Bell}}},
		{"\x1b]0;✳ Claude Code\a", []Effect{{Kind: Title, Text: "✳ Claude Code"}, {Kind: IconName, Text: "✳ Claude Code"}}},
		{"\x1b]2;a\x1b\\\x1b]2;a\x1b\\", []Effect{{Kind: Title, Text: "a"}}},
		{"\x1b]2;a\a\x1b[22;2t\x1b]2;b\a\x1b[23;2t", []Effect{{Kind: Title, Text: "a"}, {Kind: Title, Text: "b"}, {Kind: Title, Text: "a"}}},
		{"\x1b]7;file://box/tmp/a%20b\a", []Effect{{Kind: Directory, Text: "/tmp/a b", Params: m{"host": "box"}}}},
		{"\x1b]1337;CurrentDir=/x\a", []Effect{{Kind: Directory, Text: "/x"}}},
		{"\x1b]1337;RemoteHost=me@box\a", []Effect{{Kind: RemoteHost, Text: "me@box"}}},
		{"\x1b]9;9;\"C:\\x\"\a", []Effect{{Kind: Directory, Text: `C:\x`}}},
		{"\x1b]52;c;aGVsbG8=\a", []Effect{{Kind: Clipboard, Text: "hello", Params: m{"selection": "c"}}}},
		{"\x1b]9;done\a", []Effect{{Kind: Notification, Text: "done", Params: m{"source": "9"}}}},
		{"\x1b]777;notify;T;B;C\a", []Effect{{Kind: Notification, Text: "B;C", Params: m{"source": "777", "title": "T"}}}},
		{"\x1b]99;i=1:d=0;Hel\a\x1b]99;i=1:d=0;lo\a\x1b]99;i=1:p=body:e=1;d29ybGQ=\a", []Effect{{Kind: Notification, Text: "world", Params: m{"source": "99", "title": "Hello", "id": "1"}}}},
		{"\x1b]9;4;1;250\a\x1b]9;4;0\a", []Effect{{Kind: Progress, Params: m{"state": "normal", "value": "100"}}, {Kind: Progress, Params: m{"state": "none"}}}},
		{"\x1b]133;A;cl=m\a$ \x1b]133;B\als\r\n\x1b]133;C\a\x1b]133;D;2\a", []Effect{
			{Kind: PromptStart, Params: m{"cl": "m"}, Mark: 1}, {Kind: CommandStart, Column: 2, Mark: 2},
			{Kind: OutputStart, Row: 1, Mark: 3}, {Kind: CommandEnd, Params: m{"exit": "2"}, Row: 1, Mark: 4}}},
		{"\x1b]133;P;VIRTUAL_ENV=/v;k=a\\x3bb\a", []Effect{{Kind: ShellProperty, Params: m{"VIRTUAL_ENV": "/v", "k": "a;b"}}}},
		{"\x1b]633;E;echo a\\x3b b\\\\;nonce\a", []Effect{{Kind: ShellProperty, Text: `echo a; b\`}}},
		{"\x1b]7501;state=working:app=codex\a", []Effect{{Kind: AgentState, Text: "working", Params: m{"state": "working", "app": "codex"}}}},
		{"\x1b]8;;http://x\aa\x1b]8;;\a\x1b]12345;x\a", nil},
		{"\x1b]2;cut\x18", nil},
	} {
		s := New(10, 5, Options{})
		res := s.Write([]byte(c.write))
		for i := range res.Effects {
			if res.Effects[i].At == 0 || res.Effects[i].At > s.Offset() {
				t.Errorf("%q: at %d", c.write, res.Effects[i].At)
			}
			res.Effects[i].At = 0
		}
		if !reflect.DeepEqual(res.Effects, c.want) {
			t.Errorf("%q:\n%+v, want\n%+v", c.write, res.Effects, c.want)
		}
		if res.Replies != nil {
			t.Errorf("%q replies %+v", c.write, res.Replies)
		}
	}
}

func TestSafeOffset(t *testing.T) {
	s := New(10, 3, Options{})
	s.SetOffset(100)
	for _, c := range []struct {
		write string
		want  uint64
	}{
		{"ab", 102}, {"\x1b[3", 102}, {"1m", 107}, {"\xe6\x97", 107}, {"\xa5", 110},
		{"\x1b]0;tit", 110}, {"le", 110}, {"\x1b", 110}, {"\\", 121}, {"\x1bPq", 121},
	} {
		s.Write([]byte(c.write))
		if got := s.SafeOffset(); got != c.want {
			t.Errorf("after %q: %d, want %d", c.write, got, c.want)
		}
	}
	s.Gap(50)
	if s.SafeOffset() != s.Offset() || s.Offset() != 174 {
		t.Errorf("after a gap: %d of %d", s.SafeOffset(), s.Offset())
	}
}

// TestGapKeepsModes: a gap resets the parser, not the modes (P1.4).
func TestGapKeepsModes(t *testing.T) {
	s := New(10, 3, Options{})
	s.Write([]byte("\x1b[?2004h\x1b[?1049h\x1b[31m\x1b]0;unfinished"))
	s.Gap(10)
	s.Write([]byte("x"))
	if !s.Modes().BracketedPaste || !s.AltScreen() || s.Text()[0] != "x" || s.Cell(0, 0).Style.Foreground != Palette(1) {
		t.Errorf("%+v %q", s.Modes(), s.Text())
	}
}

// TestScrollbackBounds: lines and bytes, the oldest go, ids go on.
func TestScrollbackBounds(t *testing.T) {
	s := New(10, 3, Options{ScrollbackLines: 4})
	s.Write([]byte("0\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9"))
	if got := s.ScrollbackText(); !slices.Equal(got, []string{"3", "4", "5", "6"}) || s.FirstRow() != 3 {
		t.Errorf("%q from %d", got, s.FirstRow())
	}
	s.Write([]byte("\x1b[3J"))
	if s.ScrollbackLen() != 0 || s.FirstRow() != 7 || s.Text()[0] != "7" {
		t.Errorf("%d lines from %d", s.ScrollbackLen(), s.FirstRow())
	}
	none := New(10, 3, Options{ScrollbackLines: -1})
	none.Write([]byte("0\r\n1\r\n2\r\n3\r\n4"))
	if none.ScrollbackLen() != 0 || none.FirstRow() != 2 {
		t.Errorf("%d lines from %d", none.ScrollbackLen(), none.FirstRow())
	}
	few := New(100, 3, Options{ScrollbackBytes: 4 << 10})
	few.Write([]byte(strings.Repeat(strings.Repeat("x", 90)+"\r\n", 1000)))
	if n := few.ScrollbackLen(); n < 30 || n > 45 {
		t.Errorf("%d lines in 4 KiB", n)
	}
	// The alternate screen has none (upstream emulators keep a hidden one).
	s.Write([]byte("\x1b[?1049h" + strings.Repeat("x\r\n", 50)))
	if s.ScrollbackLen() != 0 {
		t.Error("the alternate screen scrolled into the scrollback")
	}
}

func TestRenderReport(t *testing.T) {
	got := RenderReport([]byte("\x1b]2;T\a1\r\n2\r\n日3\r\n4\x1b[6n"), 10, 2, true)
	want := Report{Rows: []string{"1", "2", "日3", "4"}, Cursor: [2]int{1, 1}, Title: "T", Replies: "\x1b[2;2R"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := RenderReport([]byte("a\nb"), 10, 2, false); !slices.Equal(got.Rows, []string{"a", " b"}) {
		t.Errorf("LF as it is: %q", got.Rows)
	}
}

// TestStylesAreCollected: ever new colours and links do not fill memory.
func TestStylesAreCollected(t *testing.T) {
	s := New(20, 4, Options{ScrollbackLines: 10})
	for i := range 20_000 {
		s.Write(fmt.Appendf(nil, "\x1b]8;;http://x/%d\aa\x1b[38;2;%d;%d;1mx%c", i, i%256, i/256, 0x300+i%0x30))
	}
	if n := len(s.styles.values); n > 2*internLimit {
		t.Errorf("%d styles", n)
	}
	if n := len(s.links.values); n > 2*internLimit {
		t.Errorf("%d links", n)
	}
	if n := len(s.clusters.values); n > 2*internLimit {
		t.Errorf("%d clusters", n)
	}
}
