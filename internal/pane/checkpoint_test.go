package pane

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"davit"
	"davit/screen"
)

func sample(t testing.TB) []byte {
	t.Helper()
	s := screen.New(20, 5, screen.Options{})
	s.Write([]byte("\x1b[1mhello\r\n"))
	exit := 3
	b, err := encodeCheckpoint(kept{
		Offset: s.Offset(), Directory: "/src", Resumable: 4, Exit: &davit.Exit{Code: 3, At: time.Unix(9, 0).UTC()},
		Blocks: blocks{State: blockEnded, Ended: 1, Last: &exit, List: []block{{Block: davit.Block{Command: "make", Exit: &exit}}}},
	}, s.Save())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCheckpointRoundTrip(t *testing.T) {
	b := sample(t)
	k, body, err := decodeCheckpoint(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := encodeCheckpoint(k, body)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("encoded again it differs: %v", err)
	}
	if k.Directory != "/src" || *k.Blocks.List[0].Exit != 3 || k.Exit.Code != 3 {
		t.Errorf("%+v", k)
	}
}

// field bug 22: every damaged byte is noticed, nothing is taken for a screen.
func TestADamagedCheckpointIsNone(t *testing.T) {
	good := sample(t)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, _, err := decodeCheckpoint(bad); !errors.Is(err, errNoCheckpoint) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, _, err := decodeCheckpoint(good[:i]); !errors.Is(err, errNoCheckpoint) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

// A host that was superseded ends with an older state; the newer host's stays.
func TestANewerCheckpointStays(t *testing.T) {
	l := newLog()
	dir := t.TempDir()
	in := func(c *Config) { c.Dir = dir }
	first := start(t, l, in)
	l.print("one")
	first.folded(3)
	newer := sample(t) // of offset 13
	path := filepath.Join(dir, checkpointFile)
	if err := os.WriteFile(path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	first.stop()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, newer) {
		t.Errorf("the newer checkpoint was replaced: %v", err)
	}
	newer[len(newer)-1] ^= 1 // unreadable: no reason to keep it
	if err := os.WriteFile(path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	second := start(t, l, in)
	second.folded(3)
	second.stop()
	if got, err := os.ReadFile(path); err != nil || bytes.Equal(got, newer) {
		t.Errorf("a damaged checkpoint stays: %v", err)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte(checkpointMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := len(data) - 4; n > 0 { // past the checksum, so that the rest is met
			binary.BigEndian.PutUint32(data[n:], crc32.Checksum(data[:n], castagnoli))
		}
		if _, body, err := decodeCheckpoint(data); err == nil {
			if s, err := screen.Load(body, screen.Options{}); err == nil {
				s.Write([]byte("x\r\n"))
				s.Snapshot(screen.SnapshotOptions{Lines: 10})
			}
		}
	})
}
