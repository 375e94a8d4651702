package wire

import (
	"bytes"
	"testing"

	"davit"
)

// A binary frame survives the way, and garbage is refused without a panic.
func FuzzParseOutput(f *testing.F) {
	good := Output{Kind: OutputSnapshot, Pane: "p_1", From: 7, To: 9, Cols: 80, Rows: 24}
	f.Add(append(good.AppendHeader(nil), "hello"...))
	f.Add([]byte{1, 255, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, frame []byte) {
		o, err := ParseOutput(frame)
		if err != nil {
			return
		}
		if again := append(o.AppendHeader(nil), o.Data...); !bytes.Equal(again, frame) {
			t.Errorf("%v: read and written anew it is %x, not %x", o.Kind, again, frame)
		}
	})
}

func TestOutputFrame(t *testing.T) {
	sent := Output{Kind: OutputDelta, Pane: davit.PaneID("p_0123456789abcdef"), From: 1 << 40, To: 1<<40 + 5, Cols: 120, Rows: 40}
	got, err := ParseOutput(append(sent.AppendHeader(nil), "bytes"...))
	if err != nil || got.Pane != sent.Pane || got.From != sent.From || got.To != sent.To || got.Cols != 120 || got.Rows != 40 || string(got.Data) != "bytes" {
		t.Errorf("%+v %v", got, err)
	}
}

// The caller header is a hint: what cannot be read is an empty one.
func TestCallerHeader(t *testing.T) {
	c := Caller{Dir: "/tmp/ä b", Env: map[string]string{"SSH_AUTH_SOCK": "/run/agent"}}
	if got := ParseCaller(c.Encode()); got.Dir != c.Dir || got.Env["SSH_AUTH_SOCK"] != "/run/agent" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"", "%", "eyJ", "bnVsbA=="} {
		if got := ParseCaller(bad); got.Dir != "" || len(got.Env) != 0 {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}
