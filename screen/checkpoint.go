package screen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Checkpoint is what a checkpoint file holds: a saved screen and what the host
// must know beside it (spec terminal P1.4). docs/checkpoint.md has the format.
// Encoding and decoding are here; files are the host's.
type Checkpoint struct {
	Pane string
	// Offset is the log offset that Body stands at.
	Offset uint64
	// EffectsThrough is the offset up to which effects were carried out: those
	// at or below it change state only when bytes are folded again (P2.3).
	EffectsThrough uint64
	// Approximate says that the screen was folded from reset or over a gap.
	Approximate bool
	// Body is what Save gave.
	Body []byte
}

// Why DecodeCheckpoint refused.
var (
	ErrCheckpointDamaged = errors.New("screen: checkpoint file is damaged")
	ErrCheckpointNewer   = errors.New("screen: checkpoint file of a newer program")
)

const (
	checkpointMagic   = "davit-checkpoint\n"
	checkpointVersion = 1
	maxPaneID         = 256
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode is the file's bytes: magic, version, the fields, the body, and a
// checksum over all that goes before.
func (c Checkpoint) Encode() []byte {
	out := make([]byte, 0, len(c.Body)+len(c.Pane)+64)
	out = append(out, checkpointMagic...)
	out = binary.AppendUvarint(out, checkpointVersion)
	out = binary.AppendUvarint(out, uint64(len(c.Pane)))
	out = append(out, c.Pane...)
	out = binary.AppendUvarint(out, c.Offset)
	out = binary.AppendUvarint(out, c.EffectsThrough)
	var flags uint64
	if c.Approximate {
		flags = 1
	}
	out = binary.AppendUvarint(out, flags)
	out = binary.AppendUvarint(out, uint64(len(c.Body)))
	out = append(out, c.Body...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// DecodeCheckpoint reads what Encode wrote. A damaged file gives
// ErrCheckpointDamaged, one of a later version ErrCheckpointNewer: the reader
// then folds the log from reset and says so (spec terminal P1.4). The Body of
// the result is part of data.
func DecodeCheckpoint(data []byte) (Checkpoint, error) {
	var c Checkpoint
	rest, ok := cutPrefix(data, checkpointMagic)
	if !ok || len(rest) < 5 {
		return c, fmt.Errorf("%w: no such file format", ErrCheckpointDamaged)
	}
	// The version is looked at before the checksum: a later format may have
	// another one.
	l := &loader{p: rest[:len(rest)-4]}
	if v := l.uint(); l.err == nil && v > checkpointVersion {
		return c, fmt.Errorf("%w: version %d, this program reads %d", ErrCheckpointNewer, v, checkpointVersion)
	}
	sum := binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(data[:len(data)-4], castagnoli) != sum {
		return c, fmt.Errorf("%w: checksum", ErrCheckpointDamaged)
	}
	if c.Pane = l.string(maxPaneID); data[len(checkpointMagic)] == 0 {
		l.fail("version")
	}
	c.Offset, c.EffectsThrough = l.uint(), l.uint()
	l.bool(&c.Approximate)
	c.Body = l.bytes(1 << 30)
	if l.err != nil || len(l.p) != 0 {
		return Checkpoint{}, fmt.Errorf("%w: fields", ErrCheckpointDamaged)
	}
	return c, nil
}

func cutPrefix(p []byte, prefix string) ([]byte, bool) {
	if len(p) < len(prefix) || string(p[:len(prefix)]) != prefix {
		return nil, false
	}
	return p[len(prefix):], true
}
