package screen

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

func TestCheckpoint(t *testing.T) {
	s := New(20, 5, Options{})
	s.SetOffset(1 << 40)
	s.Write([]byte("one\r\ntwo \x1b[31mred\x1b]2;half a tit"))
	want := Checkpoint{Pane: "pane-1", Offset: s.Offset(), EffectsThrough: s.Offset() - 3, Approximate: true, Body: s.Save()}
	data := want.Encode()
	got, err := DecodeCheckpoint(data)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	loaded, err := Load(got.Body, Options{})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Write([]byte("le\a!"))
	if loaded.Title() != "half a title" || loaded.Text()[1] != "two red!" || loaded.Offset() != want.Offset+4 {
		t.Errorf("%q %q %d", loaded.Title(), loaded.Text(), loaded.Offset())
	}

	// Any damage is seen: every byte changed, every length cut.
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x10
		if _, err := DecodeCheckpoint(bad); err == nil {
			t.Fatalf("byte %d changed and nobody saw it", i)
		}
		if _, err := DecodeCheckpoint(data[:i]); !errors.Is(err, ErrCheckpointDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	newer := slices.Clone(data)
	newer[len(checkpointMagic)] = checkpointVersion + 1
	if _, err := DecodeCheckpoint(newer); !errors.Is(err, ErrCheckpointNewer) {
		t.Errorf("newer: %v", err)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(Checkpoint{Pane: "p", Body: New(3, 2, Options{}).Save()}.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := DecodeCheckpoint(data); err == nil && !slices.Equal(c.Encode(), data) {
			t.Errorf("%q decodes but is not what Encode writes", data)
		}
	})
}
