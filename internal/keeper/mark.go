package keeper

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// MarkSize is the size of a mark in the index and on the wire.
const MarkSize = 32

const markMagic = 0xD7

// MarkKind is what a mark says.
type MarkKind byte

// The kinds of mark (docs/keeper.md, On disk).
const (
	MarkStart  MarkKind = 1
	MarkResize MarkKind = 2
	MarkGap    MarkKind = 3
	MarkExit   MarkKind = 4
)

// Mark is one event of a log at an offset.
type Mark struct {
	Kind   MarkKind
	Offset uint64
	Value  uint64
	Time   int64 // Unix ns
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendMark appends the 32 bytes of m.
func AppendMark(dst []byte, m Mark) []byte {
	at := len(dst)
	dst = append(dst, markMagic, byte(m.Kind), 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, m.Offset)
	dst = binary.BigEndian.AppendUint64(dst, m.Value)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Time))
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// ParseMark reads a mark and says whether it is whole and of a known kind.
func ParseMark(b []byte) (Mark, bool) {
	if len(b) != MarkSize || b[0] != markMagic || b[2] != 0 || b[3] != 0 ||
		binary.BigEndian.Uint32(b[28:]) != crc32.Checksum(b[:28], castagnoli) {
		return Mark{}, false
	}
	m := Mark{
		Kind:   MarkKind(b[1]),
		Offset: binary.BigEndian.Uint64(b[4:]),
		Value:  binary.BigEndian.Uint64(b[12:]),
		Time:   int64(binary.BigEndian.Uint64(b[20:])),
	}
	return m, m.Kind >= MarkStart && m.Kind <= MarkExit
}

// ParseIndex reads a whole index; records that do not check are skipped and counted.
func ParseIndex(b []byte) (marks []Mark, damaged int) {
	for len(b) >= MarkSize {
		if m, ok := ParseMark(b[:MarkSize]); ok {
			marks = append(marks, m)
		} else {
			damaged++
		}
		b = b[MarkSize:]
	}
	if len(b) > 0 {
		damaged++
	}
	return marks, damaged
}

// Frame gives a mark the shape that a follower reads.
func (m Mark) Frame() Frame {
	f := Frame{From: m.Offset, To: m.Offset, Time: time.Unix(0, m.Time)}
	switch m.Kind {
	case MarkStart, MarkResize:
		f.Kind = Resize
		if m.Kind == MarkStart {
			f.Kind = Start
		}
		f.Cols, f.Rows = unpackSize(m.Value)
	case MarkGap:
		f.Kind, f.To = Gap, m.Value
	case MarkExit:
		f.Kind = Exit
		f.Exit = unpackExit(m)
	}
	return f
}

func packSize(cols, rows int) uint64 { return uint64(cols)<<16 | uint64(rows) }

func unpackSize(v uint64) (cols, rows int) { return int(v >> 16 & 0xffff), int(v & 0xffff) }

func packExit(e *ExitStatus) uint64 {
	v := uint64(e.Signal) << 32
	if e.Core {
		v |= 1 << 40
	}
	if e.Code > 0 {
		v |= uint64(uint32(e.Code))
	}
	return v
}

func unpackExit(m Mark) *ExitStatus {
	e := &ExitStatus{
		Code:   int(uint32(m.Value)),
		Signal: int(m.Value >> 32 & 0xff),
		Core:   m.Value>>40&1 == 1,
		Offset: m.Offset,
		Time:   time.Unix(0, m.Time),
	}
	if e.Signal != 0 {
		e.Code = -1
	}
	return e
}
