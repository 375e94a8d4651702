package screen

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// throughTTY is what a terminal in its usual mode makes of LF.
func throughTTY(p []byte) []byte { return bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")) }

func trimRows(rows []string) []string {
	out := slices.Clone(rows)
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// fixtureDifferences are the xterm fixtures that differ on purpose, with the
// reason in docs/screen.md (spec terminal P2.4: at most 6).
var fixtureDifferences = map[string]string{
	"t0103-reverse_wrap": "reverse wrap goes back over wrapped rows only, as in newer xterm and xterm.js",
	"t0504-vim":          "the text is of another moment than the recording",
}

// TestXtermFixtures: what xterm shows (spec terminal P2.4).
func TestXtermFixtures(t *testing.T) {
	inputs, err := filepath.Glob("testdata/xterm-escape/*.in")
	if err != nil || len(inputs) < 70 {
		t.Fatalf("fixtures: %d, %v", len(inputs), err)
	}
	if len(fixtureDifferences) > 6 {
		t.Errorf("%d fixtures differ, at most 6 may", len(fixtureDifferences))
	}
	for _, in := range inputs {
		name := strings.TrimSuffix(filepath.Base(in), ".in")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(strings.TrimSuffix(in, ".in") + ".text")
			if err != nil {
				t.Fatal(err)
			}
			s := New(80, 25, Options{})
			s.Write(throughTTY(data))
			got, want := trimRows(s.Text()), trimRows(strings.Split(string(text), "\n"))
			same := slices.Equal(got, want)
			reason, differs := fixtureDifferences[name]
			switch {
			case !same && !differs:
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			case same && differs:
				t.Errorf("agrees now, take it off the list (%s)", reason)
			}
		})
	}
}

type vtCase struct {
	Name   string
	Writes []json.RawMessage
	Rows   []string
	Cur    *[2]int
	Resp   *string
	Hex    bool
}

func vtCases(t *testing.T) []vtCase {
	t.Helper()
	data, err := os.ReadFile("testdata/vt-cases/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []vtCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// steps runs the writes of a case: data gets bytes, resize gets sizes.
func (c vtCase) steps(t *testing.T, data func([]byte), resize func(cols, rows int)) {
	t.Helper()
	for _, raw := range c.Writes {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			p := []byte(text)
			if c.Hex {
				var err error
				if p, err = hex.DecodeString(text); err != nil {
					t.Fatal(err)
				}
			}
			data(p)
			continue
		}
		var size struct{ Resize [2]int }
		if err := json.Unmarshal(raw, &size); err != nil {
			t.Fatal(err)
		}
		resize(size.Resize[0], size.Resize[1])
	}
}

func TestVTCases(t *testing.T) {
	for _, c := range vtCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			s := New(20, 5, Options{})
			var replies strings.Builder
			c.steps(t, func(p []byte) {
				for _, r := range s.Write(p).Replies {
					replies.Write(r.Data)
				}
			}, func(cols, rows int) { s.Resize(cols, rows) })
			if got, want := trimRows(s.Text()), trimRows(c.Rows); !slices.Equal(got, want) {
				t.Errorf("rows %q, want %q", got, want)
			}
			if x, y := s.Cursor(); c.Cur != nil && [2]int{x, y} != *c.Cur {
				t.Errorf("cursor %d,%d, want %v", x, y, *c.Cur)
			}
			if got := replies.String(); c.Resp == nil && got != "" || c.Resp != nil && !matches(got, *c.Resp) {
				t.Errorf("replies %q, want %v", got, c.Resp)
			}
		})
	}
}

func matches(got, pattern string) bool {
	if rest, ok := strings.CutPrefix(pattern, "*"); ok {
		return got != "" && strings.HasSuffix(got, rest)
	}
	return got == pattern
}
