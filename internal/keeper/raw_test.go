package keeper_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"davit/internal/keeper"
)

// rawConn speaks the protocol without the client, so that tests do not check the client
// against itself.
type rawConn struct {
	conn   net.Conn
	frames *bufio.Reader
}

func dialRaw(t testing.TB, socket string) *rawConn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &rawConn{conn, bufio.NewReader(conn)}
}

// frame is a message frame, built by hand from docs/keeper.md.
func frame(header, payload string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(1+4+len(header)+len(payload)))
	b = append(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(len(header)))
	return string(b) + header + payload
}

func (r *rawConn) say(header, payload string) {
	r.conn.Write([]byte(frame(header, payload)))
}

// next reads one frame.
func (r *rawConn) next(t testing.TB) (kind byte, body []byte) {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(r.frames, length[:]); err != nil {
		t.Fatalf("read a frame: %v", err)
	}
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r.frames, b); err != nil {
		t.Fatalf("read a frame: %v", err)
	}
	return b[0], b[1:]
}

// hear reads one message, answering pings.
func (r *rawConn) hear(t testing.TB) (keeper.Message, []byte) {
	t.Helper()
	for {
		kind, body := r.next(t)
		if kind != 1 {
			t.Fatalf("a frame of type %d", kind)
		}
		n := binary.BigEndian.Uint32(body)
		var m keeper.Message
		if err := json.Unmarshal(body[4:4+n], &m); err != nil {
			t.Fatal(err)
		}
		if m.Verb != "ping" {
			return m, body[4+n:]
		}
		pong, _ := json.Marshal(keeper.Message{Re: m.N})
		r.say(string(pong), "")
	}
}
