package screen_test

import (
	"fmt"
	"strings"

	"davit/screen"
)

// A terminal of 20 columns and 3 rows, fed with what a program printed.
func Example() {
	s := screen.New(20, 3, screen.Options{})
	s.Write([]byte("\x1b[1;32mok\x1b[0m  3 tests\r\nwide: 日本\x1b[2;1HWIDE"))
	for _, row := range s.Text() {
		fmt.Printf("%q\n", row)
	}
	x, y := s.Cursor()
	fmt.Println("cursor:", x, y)
	// Output:
	// "ok  3 tests"
	// "WIDE: 日本"
	// ""
	// cursor: 4 1
}

// Replies go back to the program; effects are for whoever shows the terminal.
// The ranges of Queries are what another display that follows the same bytes
// must not see, for it would answer a second time.
func ExampleScreen_Write() {
	s := screen.New(80, 24, screen.Options{Version: "1.0"})
	stream := "\x1b]0;build\a\x1b[6n\a\x1b]133;D;2\a"
	result := s.Write([]byte(stream))
	for _, reply := range result.Replies {
		fmt.Printf("reply %q to what ends at %d\n", reply.Data, reply.At)
	}
	for _, effect := range result.Effects {
		fmt.Println(effect.Kind, effect.Text, effect.Params)
	}
	for _, q := range result.Queries {
		fmt.Printf("query %q\n", stream[q.From:q.To])
	}
	// Output:
	// reply "\x1b[1;1R" to what ends at 14
	// title build map[]
	// iconName build map[]
	// bell  map[]
	// commandEnd  map[exit:2]
	// query "\x1b[6n"
}

// Lines are wrapped anew, both ways, scrollback included.
func ExampleScreen_Resize() {
	s := screen.New(20, 2, screen.Options{})
	s.Write([]byte("a line that is long\r\n$ "))
	s.Resize(10, 2)
	fmt.Printf("%q above %q\n", s.ScrollbackText(), s.Text())
	s.Resize(40, 2)
	fmt.Printf("%q above %q\n", s.ScrollbackText(), s.Text())
	// Output:
	// ["a line tha"] above ["t is long" "$"]
	// [] above ["a line that is long" "$"]
}

// A display that joins late gets a snapshot, then the bytes from SafeOffset on:
// it shows what one shows that saw everything.
func ExampleScreen_Snapshot() {
	stream := []byte("one\r\n\x1b[31mtwo\x1b[0m\r\n\x1b[4mthr")
	rest := []byte("ee\x1b[0m done")
	s := screen.New(20, 4, screen.Options{})
	s.Write(stream)

	display := screen.New(20, 4, screen.Options{})
	display.Write(s.Snapshot(screen.SnapshotOptions{Lines: 1000}))
	display.SetOffset(s.SafeOffset())
	display.Write(rest)
	fmt.Printf("%q\n", strings.Join(display.Text(), "|"))
	// Output: "one|two|three done|"
}

// Save may come between any two bytes, even within a character or a sequence.
func ExampleScreen_Save() {
	s := screen.New(20, 2, screen.Options{})
	s.Write([]byte("caf\xc3"))
	checkpoint := s.Save()

	again, err := screen.Load(checkpoint, screen.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	again.Write([]byte("\xa9 \x1b[7m!"))
	fmt.Println(again.Text()[0], again.Offset())
	// Output: café ! 11
}

// Each column of a row: a wide character has two, the second without text.
func ExampleScreen_Cell() {
	s := screen.New(20, 1, screen.Options{})
	s.Write([]byte("\x1b[1;38;2;255;100;0;4:3m日\x1b]8;;https://example.org\aa\x1b]8;;\a"))
	for x := range 3 {
		c := s.Cell(x, 0)
		r, g, b, _ := c.Style.Foreground.RGB()
		fmt.Printf("%q width %d, bold %v, curly %v, #%02x%02x%02x, link %q\n", c.Text, c.Width,
			c.Style.Attrs&screen.Bold != 0, c.Style.Underline == screen.UnderlineCurly, r, g, b, c.Style.Link)
	}
	// Output:
	// "日" width 2, bold true, curly true, #ff6400, link ""
	// "" width 0, bold true, curly true, #ff6400, link ""
	// "a" width 1, bold true, curly true, #ff6400, link "https://example.org"
}

// Lines reads scrollback and screen as one; index 0 is the oldest line.
func ExampleScreen_Lines() {
	s := screen.New(10, 2, screen.Options{ScrollbackLines: 100})
	s.Write([]byte("a line of 22 columns, \r\nlast"))
	for i, line := range s.Lines(0, s.ScrollbackLen()+s.Rows()) {
		fmt.Println(s.FirstRow()+uint64(i), len(line.Cells), line.Wrapped)
	}
	fmt.Println(s.Find("columns", 1), s.Find("last", 1))
	// Output:
	// 0 10 false
	// 1 10 true
	// 2 2 true
	// 3 4 false
	// [1] [3]
}

// What a program asked for decides how keys and pastes are to be sent to it.
func ExampleScreen_Modes() {
	s := screen.New(80, 24, screen.Options{})
	s.Write([]byte("\x1b[?2004h\x1b[?1002;1006h\x1b[>1u\x1b[?25l"))
	m := s.Modes()
	fmt.Println(m.BracketedPaste, m.MouseTracking, m.MouseEncoding, m.KittyFlags, m.CursorVisible)
	// Output: true 1002 1006 1 false
}

// A shell's marks stay on their lines, whatever scrolls and however wide.
func ExampleScreen_MarkRow() {
	s := screen.New(20, 3, screen.Options{})
	result := s.Write([]byte("a long line before it\r\n\x1b]133;A\a$ make\r\n1\r\n2\r\n3"))
	s.Resize(10, 3)
	for _, e := range result.Effects {
		if row, kept := s.MarkRow(e.Mark); kept {
			fmt.Println(e.Kind, s.TextOf(int(row-s.FirstRow()), int(row-s.FirstRow())+1))
		}
	}
	// Output: promptStart [$ make]
}
