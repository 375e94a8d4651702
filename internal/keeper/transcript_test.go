package keeper_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"davit/internal/keeper"
)

// Every recorded conversation in protocol 1 still goes as it went (spec terminal P1.7).
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/keeper/v1/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := startKeeper(t, nil)
			r := &replay{t: t, socket: in.rec.Socket, conns: map[string]*rawConn{}}
			for i, line := range strings.Split(string(b), "\n") {
				if line != "" && line[0] != '#' {
					r.line = fmt.Sprintf("%s:%d: %s", file, i+1, line)
					r.step(line)
				}
			}
		})
	}
}

type replay struct {
	t      *testing.T
	socket string
	conns  map[string]*rawConn
	now    *rawConn
	line   string
}

func (r *replay) fail(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("%s\n\t%s", r.line, fmt.Sprintf(format, args...))
}

func (r *replay) step(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch {
	case line[0] == '=':
		if r.conns[line] == nil {
			r.conns[line] = dialRaw(r.t, r.socket)
		}
		r.now = r.conns[line]
	case verb == ">ack":
		offset, err := strconv.ParseUint(rest, 10, 64)
		if err != nil {
			r.fail("%v", err)
		}
		r.now.conn.Write(binary.BigEndian.AppendUint64([]byte{0, 0, 0, 9, 4}, offset))
	case verb == ">":
		payload := ""
		if at := strings.LastIndex(rest, `} "`); at >= 0 {
			var err error
			if payload, err = strconv.Unquote(rest[at+2:]); err != nil {
				r.fail("payload: %v", err)
			}
			rest = rest[:at+1]
		}
		r.now.say(rest, payload)
	case verb == "<":
		m, _ := r.now.hear(r.t)
		raw, err := json.Marshal(m)
		if err != nil {
			r.fail("%v", err)
		}
		var want, got any
		if err := json.Unmarshal([]byte(rest), &want); err != nil {
			r.fail("%v", err)
		}
		_ = json.Unmarshal(raw, &got)
		if err := covers(want, got); err != nil {
			r.fail("heard %s: %v", raw, err)
		}
	case verb == "<mark":
		r.expectMark(rest)
	case verb == "<data":
		r.expectData(rest)
	case verb == "<end":
		if _, err := r.now.frames.ReadByte(); err != io.EOF {
			r.fail("%v", err)
		}
	default:
		r.fail("not understood")
	}
}

func (r *replay) expectMark(want string) {
	kind, body := r.now.next(r.t)
	m, ok := keeper.ParseMark(body)
	if kind != 3 || !ok {
		r.fail("a frame of type %d: %q", kind, body)
	}
	f := m.Frame()
	got := ""
	switch m.Kind {
	case keeper.MarkStart:
		got = fmt.Sprintf("start %dx%d", f.Cols, f.Rows)
	case keeper.MarkResize:
		got = fmt.Sprintf("resize %dx%d", f.Cols, f.Rows)
	case keeper.MarkGap:
		got = fmt.Sprint("gap ", f.To)
	case keeper.MarkExit:
		got = fmt.Sprint("exit ", f.Exit.Code)
	}
	if got != want {
		r.fail("mark %s", got)
	}
}

func (r *replay) expectData(quoted string) {
	want, err := strconv.Unquote(quoted)
	if err != nil {
		r.fail("%v", err)
	}
	got := ""
	for len(got) < len(want) {
		kind, body := r.now.next(r.t)
		if kind != 2 || len(body) < 9 {
			r.fail("a frame of type %d after %q", kind, got)
		}
		got += string(body[8:])
	}
	if got != want {
		r.fail("data %q", got)
	}
}

// covers says whether everything that want names is in got.
func covers(want, got any) error {
	switch w := want.(type) {
	case string:
		if w == "*" && got != nil {
			return nil
		}
	case map[string]any:
		g, _ := got.(map[string]any)
		for key, value := range w {
			if err := covers(value, g[key]); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		return nil
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Errorf("%d entries, want %d", len(g), len(w))
		}
		for i := range w {
			if err := covers(w[i], g[i]); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("%v, want %v", got, want)
	}
	return nil
}
