package keeper

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// Frames come out as they went in, however the bytes are cut.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire []byte
		type sent struct {
			kind byte
			body []byte
		}
		var want []sent
		for range rapid.IntRange(0, 12).Draw(t, "frames") {
			at := len(wire)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				data := rapid.SliceOfN(rapid.Byte(), 1, 3000).Draw(t, "data")
				wire = append(AppendDataHeader(wire, rapid.Uint64().Draw(t, "offset"), len(data)), data...)
			case 1:
				wire = AppendMarkFrame(wire, Mark{Kind: MarkResize, Offset: 7, Value: 8, Time: 9})
			case 2:
				wire = AppendAck(wire, rapid.Uint64().Draw(t, "ack"))
			case 3:
				var err error
				wire, err = AppendMessage(wire, &Message{N: 3, Verb: "input"}, rapid.SliceOf(rapid.Byte()).Draw(t, "payload"))
				if err != nil {
					t.Fatal(err)
				}
			}
			want = append(want, sent{wire[at+4], wire[at+5:]})
		}
		var r io.Reader = bytes.NewReader(wire)
		if rapid.Bool().Draw(t, "cut") {
			r = iotest.OneByteReader(r)
		}
		frames := NewFrameReader(r, rapid.IntRange(4, 64).Draw(t, "buffer"))
		for i, w := range want {
			kind, body, err := frames.Next()
			if err != nil || kind != w.kind || !bytes.Equal(body, w.body) {
				t.Fatalf("frame %d: type %d, %d bytes, %v; want type %d, %d bytes", i, kind, len(body), err, w.kind, len(w.body))
			}
		}
		if _, _, err := frames.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("at the end: %v", err)
		}
	})
}

func TestMarks(t *testing.T) {
	exit := &ExitStatus{Code: 3, Offset: 99, Time: time.Unix(5, 6)}
	signal := &ExitStatus{Code: -1, Signal: 11, Core: true, Offset: 99, Time: time.Unix(5, 6)}
	for _, e := range []*ExitStatus{exit, signal} {
		b := AppendMark(nil, Mark{Kind: MarkExit, Offset: e.Offset, Value: packExit(e), Time: e.Time.UnixNano()})
		m, ok := ParseMark(b)
		if got := m.Frame().Exit; !ok || !reflect.DeepEqual(got, e) {
			t.Errorf("%+v came back as %+v", e, got)
		}
		for i := range b {
			bad := bytes.Clone(b)
			bad[i] ^= 0x10
			if _, ok := ParseMark(bad); ok {
				t.Errorf("a flipped bit in byte %d goes unnoticed", i)
			}
		}
	}
	f := Mark{Kind: MarkResize, Offset: 4, Value: packSize(321, 43)}.Frame()
	if f.Kind != Resize || f.Cols != 321 || f.Rows != 43 || f.From != 4 || f.To != 4 {
		t.Errorf("%+v", f)
	}
}

// A damaged record costs itself only.
func TestIndexSkipsDamage(t *testing.T) {
	var b []byte
	for i := range uint64(5) {
		b = AppendMark(b, Mark{Kind: MarkResize, Offset: i, Value: 1})
	}
	b[2*MarkSize+9] ^= 1
	marks, damaged := ParseIndex(b[:len(b)-3])
	if len(marks) != 3 || damaged != 2 || marks[2].Offset != 3 {
		t.Errorf("%+v, %d damaged", marks, damaged)
	}
}

// Whatever comes: no panic, no frame beyond its bounds, and memory by what came, not by
// what was announced.
func FuzzFrames(f *testing.F) {
	seed, _ := AppendMessage(nil, &Message{N: 1, Verb: "hello"}, []byte("x"))
	f.Add(seed)
	f.Add(AppendAck(nil, 1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0, 0x40, 0, 0, 2, 1})
	f.Add(AppendMarkFrame(nil, Mark{Kind: MarkGap, Offset: 1, Value: 2}))
	f.Fuzz(func(t *testing.T, b []byte) {
		frames := NewFrameReader(bytes.NewReader(b), 16)
		total := 0
		for {
			kind, body, err := frames.Next()
			if err != nil {
				break
			}
			total += 5 + len(body)
			switch kind {
			case TypeMessage:
				if m, payload, err := ParseMessage(body); err == nil && (m == nil || len(payload) > len(body)) {
					t.Fatalf("message %+v with a payload of %d", m, len(payload))
				}
			case TypeData, TypeAck:
				_, _, _ = ParseOffset(body)
			case TypeMark:
				if m, ok := ParseMark(body); ok && !bytes.Equal(AppendMark(nil, m), body) {
					t.Fatal("a mark is not what it was read from")
				}
			}
		}
		if total > len(b) || len(frames.buf) > 2*len(b)+64 {
			t.Fatalf("%d bytes of frames, a buffer of %d, from %d bytes", total, len(frames.buf), len(b))
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(AppendMark(AppendMark(nil, Mark{Kind: MarkStart}), Mark{Kind: MarkExit, Value: 1 << 32}))
	f.Add([]byte{0xD7})
	f.Fuzz(func(t *testing.T, b []byte) {
		marks, damaged := ParseIndex(b)
		if whole := (len(b) + MarkSize - 1) / MarkSize; len(marks)+damaged != whole {
			t.Fatalf("%d marks and %d damaged of %d", len(marks), damaged, whole)
		}
		for _, m := range marks {
			_ = m.Frame()
		}
	})
}

func TestStrings(t *testing.T) {
	want := []string{"/bin/sh", "", "a\nb", "\xff\xfe", "é"}
	b, ok := AppendStrings(nil, want...)
	got, ok2 := ParseStrings(b, len(want))
	if !ok || !ok2 || !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if _, ok := AppendStrings(nil, "a\x00b"); ok {
		t.Error("a NUL passed")
	}
	for _, n := range []int{-1, 0, 4, 6, 1 << 30} {
		if _, ok := ParseStrings(b, n); ok {
			t.Errorf("%d strings passed", n)
		}
	}
}
