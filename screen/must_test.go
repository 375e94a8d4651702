package screen

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestModes: each mode of P2.1 is set, told by DECRQM and in Modes, saved and
// restored, kept by a checkpoint, and off after RIS.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode int
		is   func(m Modes) bool
		on   bool // by default
	}{
		{1, func(m Modes) bool { return m.AppCursor }, false},
		{5, func(m Modes) bool { return m.ReverseVideo }, false},
		{6, func(m Modes) bool { return m.Origin }, false},
		{7, func(m Modes) bool { return m.AutoWrap }, true},
		{9, func(m Modes) bool { return m.MouseTracking == 9 }, false},
		{12, func(m Modes) bool { return m.CursorBlink }, false},
		{25, func(m Modes) bool { return m.CursorVisible }, true},
		{45, func(m Modes) bool { return m.ReverseWrap }, false},
		{66, func(m Modes) bool { return m.AppKeypad }, false},
		{69, func(m Modes) bool { return m.LeftRightMargins }, false},
		{1000, func(m Modes) bool { return m.MouseTracking == 1000 }, false},
		{1001, func(m Modes) bool { return m.MouseTracking == 1001 }, false},
		{1002, func(m Modes) bool { return m.MouseTracking == 1002 }, false},
		{1003, func(m Modes) bool { return m.MouseTracking == 1003 }, false},
		{1004, func(m Modes) bool { return m.FocusEvents }, false},
		{1005, func(m Modes) bool { return m.MouseEncoding == 1005 }, false},
		{1006, func(m Modes) bool { return m.MouseEncoding == 1006 }, false},
		{1007, func(m Modes) bool { return m.AltScroll }, false},
		{1015, func(m Modes) bool { return m.MouseEncoding == 1015 }, false},
		{1016, func(m Modes) bool { return m.MouseEncoding == 1016 }, false},
		{2004, func(m Modes) bool { return m.BracketedPaste }, false},
		{2026, func(m Modes) bool { return m.SyncOutput }, false},
		{2027, func(m Modes) bool { return m.GraphemeClusters }, false},
		{2031, func(m Modes) bool { return m.ColorSchemeUpdates }, false},
		{2048, func(m Modes) bool { return m.InBandResize }, false},
	} {
		t.Run(fmt.Sprint(c.mode), func(t *testing.T) {
			s := New(10, 3, Options{})
			expect := func(what string, on bool) {
				t.Helper()
				if got := c.is(s.Modes()); got != on {
					t.Errorf("%s: %v", what, got)
				}
				state := "2"
				switch {
				case on:
					state = "1"
				case c.mode == 69:
					state = "4"
				}
				res := s.Write(fmt.Appendf(nil, "\x1b[?%d$p", c.mode))
				if want := fmt.Sprintf("\x1b[?%d;%s$y", c.mode, state); len(res.Replies) != 1 || string(res.Replies[0].Data) != want {
					t.Errorf("%s: told %+v, want %q", what, res.Replies, want)
				}
			}
			expect("at first", c.on)
			s.Write(fmt.Appendf(nil, "\x1b[?%dh", c.mode))
			expect("set", true)
			s.Write(fmt.Appendf(nil, "\x1b[?%ds\x1b[?%dl", c.mode, c.mode))
			expect("reset", false)
			s.Write(fmt.Appendf(nil, "\x1b[?%dr", c.mode))
			expect("restored", true)
			loaded, err := Load(s.Save(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			s = loaded
			expect("loaded", true)
			s.Write([]byte("\x1bc"))
			expect("after RIS", c.on)
		})
	}
}

// TestAlternateScreen: 47, 1047 and 1049 leave the main screen, its scrollback
// and, with 1049, the cursor as they were.
func TestAlternateScreen(t *testing.T) {
	for mode, cursor := range map[int][2]int{47: {2, 2}, 1047: {2, 2}, 1049: {1, 1}} {
		s := New(10, 3, Options{})
		s.Write([]byte("old\r\none\r\ntwo\r\nthree\x1b[2;2H"))
		s.Write(fmt.Appendf(nil, "\x1b[?%dh", mode))
		if !s.AltScreen() || strings.Join(s.Text(), "") != "" {
			t.Errorf("%d: entered %v with %q", mode, s.AltScreen(), s.Text())
		}
		s.Write([]byte("\x1b[Ha\r\nb\r\nc\r\nd\r\ne\x1b[3;3H"))
		if s.ScrollbackLen() != 1 {
			t.Errorf("%d: %d lines above", mode, s.ScrollbackLen())
		}
		s.Write(fmt.Appendf(nil, "\x1b[?%dl", mode))
		x, y := s.Cursor()
		if got := s.Text(); s.AltScreen() || !slices.Equal(got, []string{"one", "two", "three"}) || [2]int{x, y} != cursor {
			t.Errorf("%d: back %v to %q, cursor %d,%d", mode, !s.AltScreen(), got, x, y)
		}
	}
}

// TestColours: OSC 4, 10, 11, 12 set and tell, 104 and 110 to 112 reset.
func TestColours(t *testing.T) {
	theme := Theme{Set: true, Foreground: 0x010203, Background: 0x040506, Cursor: 0x070809}
	for _, c := range []struct{ write, want string }{
		{"\x1b]10;?\a", "\x1b]10;rgb:0101/0202/0303\a"},
		{"\x1b]11;?\a", "\x1b]11;rgb:0404/0505/0606\a"},
		{"\x1b]12;?\x1b\\", "\x1b]12;rgb:0707/0808/0909\x1b\\"},
		{"\x1b]10;#fff\a\x1b]10;?\a", "\x1b]10;rgb:ffff/ffff/ffff\a"},
		{"\x1b]11;rgb:12/34/56\a\x1b]11;?\a", "\x1b]11;rgb:1212/3434/5656\a"},
		{"\x1b]12;#102030\a\x1b]12;?\a", "\x1b]12;rgb:1010/2020/3030\a"},
		{"\x1b]10;#111;#222;#333\a\x1b]12;?\a", "\x1b]12;rgb:3333/3333/3333\a"},
		{"\x1b]10;#fff\a\x1b]110\a\x1b]10;?\a", "\x1b]10;rgb:0101/0202/0303\a"},
		{"\x1b]11;#fff\a\x1b]111\a\x1b]11;?\a", "\x1b]11;rgb:0404/0505/0606\a"},
		{"\x1b]12;#fff\a\x1b]112\a\x1b]12;?\a", "\x1b]12;rgb:0707/0808/0909\a"},
		{"\x1b]4;7;#102030;200;rgb:a/b/c\a\x1b]4;7;?;200;?\a", "\x1b]4;7;rgb:1010/2020/3030\a\x1b]4;200;rgb:aaaa/bbbb/cccc\a"},
		{"\x1b]4;16;?;231;?;232;?\a", "\x1b]4;16;rgb:0000/0000/0000\a\x1b]4;231;rgb:ffff/ffff/ffff\a\x1b]4;232;rgb:0808/0808/0808\a"},
		{"\x1b]4;1;#102030;2;#102030\a\x1b]104\a\x1b]4;2;?\a", "\x1b]4;2;rgb:0000/cdcd/0000\a"},
		{"\x1b]4;1;#102030;2;#102030\a\x1b]104;1\a\x1b]4;2;?\a", "\x1b]4;2;rgb:1010/2020/3030\a"},
		{"\x1b]4;+1;?\a", "\x1b]4;1;rgb:cdcd/0000/0000\a"}, // not as it was written
		{"\x1b]4;256;?;-1;?;x;?\a", ""},
	} {
		var got strings.Builder
		for _, r := range New(10, 2, Options{Theme: theme}).Write([]byte(c.write)).Replies {
			got.Write(r.Data)
		}
		if got.String() != c.want {
			t.Errorf("%q: %q, want %q", c.write, got.String(), c.want)
		}
	}
}

// TestSchemeUpdates: mode 2031 and CSI ? 996 n.
func TestSchemeUpdates(t *testing.T) {
	s := New(10, 2, Options{})
	light := Theme{Set: true, Light: true}
	if res := s.SetTheme(light); len(res.Replies) != 0 {
		t.Errorf("nobody asked: %+v", res.Replies)
	}
	if res := s.Write([]byte("\x1b[?2031h\x1b[?996n")); len(res.Replies) != 1 || string(res.Replies[0].Data) != "\x1b[?997;2n" {
		t.Errorf("asked: %+v", res.Replies)
	}
	if res := s.SetTheme(Theme{}); len(res.Replies) != 1 || string(res.Replies[0].Data) != "\x1b[?997;1n" {
		t.Errorf("changed: %+v", res.Replies)
	}
}

// TestLinks: OSC 8 with and without an id, over lines, up to its end.
func TestLinks(t *testing.T) {
	s := New(10, 3, Options{})
	s.Write([]byte("a\x1b]8;id=x;http://h/1;2\x1b\\b\r\nc\x1b]8;;\x1b\\d\x1b]8;;file:///p\ae\x1b[mf\x1b]8;;\ag\x1b]8;;" + strings.Repeat("x", maxLink+1) + "\ah"))
	for at, want := range map[[2]int][2]string{
		{0, 0}: {}, {1, 0}: {"http://h/1;2", "x"}, {0, 1}: {"http://h/1;2", "x"}, {1, 1}: {},
		{2, 1}: {"file:///p", ""}, {3, 1}: {"file:///p", ""}, {4, 1}: {}, {5, 1}: {},
	} {
		if c := s.Cell(at[0], at[1]); [2]string{c.Style.Link, c.Style.LinkID} != want {
			t.Errorf("%v %q: link %.40q id %q, want %q", at, c.Text, c.Style.Link, c.Style.LinkID, want)
		}
	}
}

// TestAlignment: DECALN fills the screen and homes the cursor.
func TestAlignment(t *testing.T) {
	s := New(4, 2, Options{})
	s.Write([]byte("\x1b[2;2H\x1b#8"))
	if x, y := s.Cursor(); x != 0 || y != 0 || !slices.Equal(s.Text(), []string{"EEEE", "EEEE"}) {
		t.Errorf("%q, cursor %d,%d", s.Text(), x, y)
	}
}

// TestKeyboards: the kitty stack is of each screen and bounded; modifyOtherKeys
// is the terminal's.
func TestKeyboards(t *testing.T) {
	s := New(10, 2, Options{})
	for _, c := range []struct {
		write        string
		kitty, other int
	}{
		{"", 0, 0}, {"\x1b[>1u", 1, 0}, {"\x1b[>4;2m", 1, 2}, {"\x1b[=31;1u", 31, 2}, {"\x1b[=4;3u", 27, 2}, {"\x1b[?1049h", 0, 2}, {"\x1b[>3u", 3, 2}, {"\x1b[?1049l", 27, 2},
		{"\x1b[<u", 0, 2}, {"\x1b[<5u", 0, 2}, {strings.Repeat("\x1b[>1u", 40) + "\x1b[<15u", 1, 2}, {"\x1b[<u\x1b[<u", 0, 2}, {"\x1b[>4m", 0, 0}, {"\x1b[>4;1m", 0, 1}, {"\x1b[>4n", 0, 0}, {"\x1b[>1u\x1b[!p", 0, 0},
	} {
		s.Write([]byte(c.write))
		if m := s.Modes(); m.KittyFlags != c.kitty || m.ModifyOtherKeys != c.other {
			t.Errorf("after %.40q: kitty %d, modifyOtherKeys %d, want %d, %d", c.write, m.KittyFlags, m.ModifyOtherKeys, c.kitty, c.other)
		}
	}
}

// TestEveryRequirementHasATest: docs/screen.md names a test for each item of
// P2.1, and the tests are there.
func TestEveryRequirementHasATest(t *testing.T) {
	names := map[string]string{} // test → its source
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := goparser.ParseFile(set, path, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[f.Name.Name] = string(src[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
			}
		}
	}
	_, table, found := strings.Cut(string(readFile(t, "../docs/screen.md")), "\n## Tests\n")
	if !found {
		t.Fatal("docs/screen.md has no list of tests")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for _, row := range strings.Split(table, "\n") {
		columns := strings.Split(row, "|")
		if len(columns) < 4 || !strings.Contains(columns[2], "`") {
			continue
		}
		rows++
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(columns[2], -1) {
			test, part, _ := strings.Cut(name[1], "/")
			src, there := names[test]
			if !there {
				t.Errorf("%s: no test %s", strings.TrimSpace(columns[1]), test)
			}
			if part != "" && !strings.Contains(src, strconv.Quote(part)) && !strings.Contains(src, "{"+part+",") {
				t.Errorf("%s: no %q in %s", strings.TrimSpace(columns[1]), part, test)
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows", rows)
	}
}
