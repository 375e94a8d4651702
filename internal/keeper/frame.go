package keeper

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Frame types of the wire (docs/keeper.md, Frames).
const (
	TypeMessage byte = 1
	TypeData    byte = 2
	TypeMark    byte = 3
	TypeAck     byte = 4
)

const (
	// MaxBody bounds a frame's body, and so what a peer can make the other hold.
	MaxBody = 4<<20 + 63
	// MaxPart bounds the payload of one input frame; longer ones go in parts.
	MaxPart = 1 << 20
	// MaxData bounds the bytes of one data frame.
	MaxData = 64 << 10
	// DataHeader is what stands before a data frame's bytes on the wire.
	DataHeader = 5 + 8
)

// ErrFrame is the condition of bytes that are no frame of this protocol.
var ErrFrame = errors.New("not a frame of the keeper's protocol")

// FrameReader takes frames off a connection. What it returns is valid until the next
// call. Not safe for concurrent use.
type FrameReader struct {
	r          io.Reader
	buf        []byte
	start, end int
	max        int
}

// NewFrameReader reads with a buffer of size bytes at first, which grows to the largest
// frame met.
func NewFrameReader(r io.Reader, size int) *FrameReader {
	return &FrameReader{r: r, buf: make([]byte, size), max: MaxBody + 1}
}

// Buffered says whether a whole frame can be had without reading.
func (f *FrameReader) Buffered() bool {
	have := f.buf[f.start:f.end]
	return len(have) >= 4 && len(have)-4 >= int(binary.BigEndian.Uint32(have))
}

// Next gives the type and body of the next frame. A clean end between frames is io.EOF.
func (f *FrameReader) Next() (byte, []byte, error) {
	if err := f.need(4); err != nil {
		return 0, nil, err
	}
	length := int64(binary.BigEndian.Uint32(f.buf[f.start:]))
	if length < 1 || length > int64(f.max) {
		return 0, nil, fmt.Errorf("%w: length %d", ErrFrame, length)
	}
	if err := f.need(4 + int(length)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	frame := f.buf[f.start+4 : f.start+4+int(length)]
	f.start += 4 + int(length)
	if frame[0] < TypeMessage || frame[0] > TypeAck {
		return 0, nil, fmt.Errorf("%w: type %d", ErrFrame, frame[0])
	}
	return frame[0], frame[1:], nil
}

// need reads until n bytes are buffered. The buffer grows by what has come, never by
// what a length merely announces.
func (f *FrameReader) need(n int) error {
	for f.end-f.start < n {
		if f.start > 0 && (f.start == f.end || f.start+n > len(f.buf)) {
			copy(f.buf, f.buf[f.start:f.end])
			f.end -= f.start
			f.start = 0
		}
		if f.end == len(f.buf) {
			f.buf = append(f.buf, make([]byte, min(len(f.buf), f.max+4))...)
		}
		got, err := f.r.Read(f.buf[f.end:])
		f.end += got
		if err != nil && f.end-f.start < n {
			if errors.Is(err, io.EOF) && f.end > f.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// AppendMessage appends a message frame.
func AppendMessage(dst []byte, m *Message, payload []byte) ([]byte, error) {
	header, err := json.Marshal(m)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", m.Verb, err)
	}
	body := 4 + len(header) + len(payload)
	if body > MaxBody {
		return dst, fmt.Errorf("%w: a message of %d bytes", ErrFrame, body)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(body+1))
	dst = append(dst, TypeMessage)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(header)))
	dst = append(dst, header...)
	return append(dst, payload...), nil
}

// ParseMessage takes a message frame's body apart. The payload stays in body.
func ParseMessage(body []byte) (*Message, []byte, error) {
	if len(body) < 4 {
		return nil, nil, fmt.Errorf("%w: a message of %d bytes", ErrFrame, len(body))
	}
	n := int64(binary.BigEndian.Uint32(body))
	if n > int64(len(body)-4) {
		return nil, nil, fmt.Errorf("%w: a header of %d bytes in %d", ErrFrame, n, len(body))
	}
	m := new(Message)
	if err := json.Unmarshal(body[4:4+n], m); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return m, body[4+n:], nil
}

// AppendDataHeader appends what stands before n bytes of a log from offset on.
func AppendDataHeader(dst []byte, offset uint64, n int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(1+8+n))
	dst = append(dst, TypeData)
	return binary.BigEndian.AppendUint64(dst, offset)
}

// AppendMarkFrame appends a mark as a frame.
func AppendMarkFrame(dst []byte, m Mark) []byte {
	dst = binary.BigEndian.AppendUint32(dst, 1+MarkSize)
	return AppendMark(append(dst, TypeMark), m)
}

// AppendAck appends an acknowledgement.
func AppendAck(dst []byte, offset uint64) []byte {
	dst = binary.BigEndian.AppendUint32(dst, 1+8)
	dst = append(dst, TypeAck)
	return binary.BigEndian.AppendUint64(dst, offset)
}

// ParseOffset reads the offset of an ack, or the one before a data frame's bytes.
func ParseOffset(body []byte) (uint64, []byte, error) {
	if len(body) < 8 {
		return 0, nil, fmt.Errorf("%w: no offset", ErrFrame)
	}
	return binary.BigEndian.Uint64(body), body[8:], nil
}

// AppendStrings is the payload of a spawn: every string ends with NUL. It reports false
// when one holds a NUL itself.
func AppendStrings(dst []byte, strings ...string) ([]byte, bool) {
	for _, s := range strings {
		if bytes.IndexByte([]byte(s), 0) >= 0 {
			return dst, false
		}
		dst = append(append(dst, s...), 0)
	}
	return dst, true
}

// ParseStrings takes exactly n NUL-ended strings apart.
func ParseStrings(payload []byte, n int) ([]string, bool) {
	if n < 0 || n > len(payload) {
		return nil, false
	}
	out := make([]string, 0, n)
	for range n {
		i := bytes.IndexByte(payload, 0)
		if i < 0 {
			return nil, false
		}
		out = append(out, string(payload[:i]))
		payload = payload[i+1:]
	}
	return out, len(payload) == 0
}
