package acp

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyCutOfTheBytes: however output is cut, and wherever the host is killed and goes on
// from the place that it stored, the lines and rows are the same.
func TestAnyCutOfTheBytes(t *testing.T) { // spec session S1.1
	rapid.Check(t, func(t *rapid.T) {
		var output []byte
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(words), 1, 30).Draw(t, "lines") {
			output = append(output, line...)
			output = append(output, '\n')
		}
		want := newFold()
		for _, line := range NewLines(Position{}).Feed(output) {
			want.rows = append(want.rows, want.c.Take(Decode(line)).Rows...)
		}
		got, lines, read := newFold(), NewLines(Position{}), 0
		for read < len(output) {
			if rapid.IntRange(0, 5).Draw(t, "killed") == 0 {
				at := lines.Position()
				lines, read = NewLines(at), int(at.Offset)
			}
			n := rapid.IntRange(1, len(output)-read).Draw(t, "piece")
			piece := bytes.Clone(output[read : read+n])
			for _, line := range lines.Feed(piece) {
				got.rows = append(got.rows, got.c.Take(Decode(line)).Rows...)
			}
			clear(piece) // a line is its own
			read += n
		}
		if g, w := showAll(got.rows), showAll(want.rows); g != w {
			t.Fatalf("rows\n%s\nwant\n%s", g, w)
		}
		if len(lines.Rest()) != 0 || lines.Position().Offset != uint64(len(output)) || lines.Read() != uint64(len(output)) {
			t.Fatalf("it ended at %+v with %q", lines.Position(), lines.Rest())
		}
	})
}

func TestHalfALine(t *testing.T) { // spec session S1.10
	l := NewLines(Position{Offset: 100})
	lines := l.Feed([]byte("a\r\n\nhalf"))
	want := []Line{{Data: []byte("a\r"), From: 100, To: 103}, {Data: []byte{}, From: 103, To: 104}}
	if !reflect.DeepEqual(lines, want) || string(l.Rest()) != "half" || l.Position() != (Position{Offset: 104}) {
		t.Errorf("%+v, rest %q, at %+v", lines, l.Rest(), l.Position())
	}
	if f := Decode(lines[1]); !f.Blank() {
		t.Errorf("%+v is not blank", f)
	}
}

// TestLongLineIsSkipped: 50 MB without a newline cost no memory, are acknowledged as they
// are read, and become one row; what follows is read.
func TestLongLineIsSkipped(t *testing.T) { // spec session S1.3
	const long = 50 << 20
	lines, c := NewLines(Position{}), NewConversation("s")
	piece := bytes.Repeat([]byte("="), 64<<10)
	var got []Line
	got = append(got, lines.Feed([]byte("{}\n"))...)
	var before, after runtime.MemStats
	for read := 0; read < long; read += len(piece) {
		got = append(got, lines.Feed(piece)...)
		if read > MaxLine {
			at := lines.Position()
			if !at.Skipping || at.SkipFrom != 3 || at.Offset != uint64(3+read+len(piece)) || len(lines.Rest()) != 0 {
				t.Fatalf("at %+v with %d bytes held", at, len(lines.Rest()))
			}
			if read == 40<<20 { // the host is killed here, and goes on
				lines = NewLines(at)
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 1<<20 {
		t.Errorf("skipping took %d bytes", grown)
	}
	got = append(got, lines.Feed([]byte("tail\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n"))...)
	want := []Line{{Data: []byte("{}"), To: 3}, {From: 3, To: 3 + long + 5, Skipped: true}, {Data: []byte(`{"jsonrpc":"2.0","method":"x"}`), From: 3 + long + 5, To: 3 + long + 5 + 31}}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v", got)
	}
	s := c.Take(Decode(got[1]))
	if len(s.Rows) != 1 || s.Rows[0].Body.Lifecycle.Event != "skipped" || s.Rows[0].Body.Lifecycle.Bytes != long+5 || !strings.Contains(s.Rows[0].Body.Text, fmt.Sprint(long+5)) {
		t.Errorf("rows %+v", s.Rows)
	}
}

// TestLongLineInOnePiece: the limit is the same when the whole line comes at once.
func TestLongLineInOnePiece(t *testing.T) { // spec session S1.3
	for _, c := range []struct {
		length  int
		skipped bool
	}{{MaxLine, false}, {MaxLine + 1, true}} {
		data := append(bytes.Repeat([]byte("x"), c.length), '\n')
		whole := NewLines(Position{}).Feed(data)
		l := NewLines(Position{})
		l.Feed(data[:MaxLine/2])
		cut := l.Feed(data[MaxLine/2:])
		for _, got := range [][]Line{whole, cut} {
			if len(got) != 1 || got[0].Skipped != c.skipped || got[0].To != uint64(c.length)+1 || len(got[0].Data) != map[bool]int{false: c.length}[c.skipped] {
				t.Errorf("%d bytes: %d lines, skipped %v, to %d", c.length, len(got), got[0].Skipped, got[0].To)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	for text, want := range map[string]FrameKind{
		`{"jsonrpc":"2.0","id":1,"method":"a"}`:                             Request,
		`{"jsonrpc":"2.0","id":"x","method":"a","params":[]}`:               Request,
		`{"jsonrpc":"2.0","method":"a"}`:                                    Notification,
		`{"jsonrpc":"2.0","id":null,"method":"a"}`:                          Notification,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                            Response,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":null}`:                 Response,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`:         Response,
		`{"jsonrpc":"2.0","id":1,"error":"a word"}`:                         Response,
		`{"jsonrpc":"2.0","id":1,"error":{"code":"E1","message":{"a":[]}}}`: Response,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`:               Response,
		`{"jsonrpc":"2.0","id":null,"result":1}`:                            Garbage,
		`{"jsonrpc":"2.0","id":1}`:                                          Garbage,
		`{"jsonrpc":"2.0"}`:                                                 Garbage,
		`{"jsonrpc":"2.0","id":{},"method":"a"}`:                            Garbage,
		`{"jsonrpc":"2.0","id":true,"method":"a"}`:                          Garbage,
		`{"jsonrpc":"2.0","method":""}`:                                     Garbage,
		`{"jsonrpc":"2.0","method":7}`:                                      Garbage,
		`{"jsonrpc":"1.0","id":1,"method":"a"}`:                             Garbage,
		`{"level":"info","id":1,"method":"GET"}`:                            Garbage,
		`[{"jsonrpc":"2.0","id":1,"method":"a"}]`:                           Garbage,
		"null": Garbage, "{": Garbage, "7": Garbage, "\x00": Garbage,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5000) + `","method":"a"}`: Garbage,
		strings.Repeat("[", 100000): Garbage,
	} {
		f := Decode(Line{Data: []byte(text)})
		if f.Kind != want || f.Blank() {
			t.Errorf("%.80s is %s, want %s", text, f.Kind, want)
		}
		if f.Kind == Response && (f.Err == nil) == (f.Result == nil) {
			t.Errorf("%.80s: %+v", text, f)
		}
	}
}

// FuzzFrames: whatever an agent prints, nothing panics, and rows are bounded.
func FuzzFrames(f *testing.F) {
	for _, word := range words {
		f.Add([]byte(word+"\n"), 3)
	}
	for _, lines := range scripts(f) {
		f.Add([]byte(strings.Join(lines, "\n")+"\n"), 100)
	}
	f.Fuzz(func(t *testing.T, output []byte, cut int) {
		one, many := newFold(), newFold()
		whole := NewLines(Position{}).Feed(output)
		for _, line := range whole {
			one.rows = append(one.rows, one.c.Take(Decode(line)).Rows...)
		}
		lines := NewLines(Position{})
		for rest := output; len(rest) > 0; {
			n := min(max(cut, 1), len(rest))
			for _, line := range lines.Feed(rest[:n]) {
				many.rows = append(many.rows, many.c.Take(Decode(line)).Rows...)
			}
			rest = rest[n:]
		}
		if showAll(one.rows) != showAll(many.rows) {
			t.Fatalf("cut by %d: other rows", cut)
		}
		for _, r := range one.rows {
			if size := len(show(r)); size > 4<<20 {
				t.Fatalf("a row of %d bytes", size)
			}
		}
		again := rebuilt(t, one, true)
		if !reflect.DeepEqual(again.c.Open(), one.c.Open()) {
			t.Fatalf("open %+v, want %+v", again.c.Open(), one.c.Open())
		}
		one.rows = one.rows[:0]
		again.rows = again.rows[:0]
		for _, word := range words {
			one.do(word)
			again.do(word)
		}
		if g, w := showAll(again.rows), showAll(one.rows); g != w {
			t.Fatalf("rebuilt\n%s\nwant\n%s", g, w)
		}
	})
}
