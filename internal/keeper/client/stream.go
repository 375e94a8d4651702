package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"

	"davit"
	"davit/internal/keeper"
)

// Stream is one followed log over a connection of its own. Next is for one goroutine;
// Ack and Close may be called from any.
type Stream struct {
	conn   *net.UnixConn
	socket string
	frames *keeper.FrameReader
	every  uint64
	rng    keeper.Range
	stop   func() bool

	mu    sync.Mutex // guards what follows
	acked uint64     // asked for
	sent  uint64     // told to the keeper
}

// Follow streams a pane's log from an offset: "" is the terminal (or stdout), "stderr"
// the second log of pipes. The stream ends when ctx does.
func (c *Client) Follow(ctx context.Context, pane string, from uint64, which string) (*Stream, error) {
	kind := keeper.KindFollow
	if c.cfg.Reader {
		kind = keeper.KindReader
	}
	conn, frames, hello, err := dial(ctx, c.cfg, kind, c.hello.Fence)
	if err != nil {
		return nil, err
	}
	s := &Stream{conn: conn, socket: c.cfg.Socket, frames: frames, every: max(hello.AckEvery, 1)}
	s.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if err := s.open(keeper.PaneBody{Pane: pane, Which: which, From: from}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stream) open(body keeper.PaneBody) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return davit.AsError(err)
	}
	frame, err := keeper.AppendMessage(nil, &keeper.Message{N: 2, Verb: "follow", Body: raw}, nil)
	if err != nil {
		return davit.AsError(err)
	}
	if _, err := s.conn.Write(frame); err != nil {
		return unreachable(s.socket, err)
	}
	m, err := nextMessage(s.frames)
	if err != nil {
		return unreachable(s.socket, err)
	}
	if m.Error != nil {
		return m.Error.Err()
	}
	if err := json.Unmarshal(m.Body, &s.rng); err != nil {
		return davit.Errorf(davit.CodeKeeperProtocol, "read the keeper's answer: %w", err)
	}
	return nil
}

// Range is what the log held when the follow began.
func (s *Stream) Range() keeper.Range { return s.rng }

// Next gives the next frame in log order, waiting for it. io.EOF: the pane has ended,
// nobody holds its terminal, and everything was told. Data is valid until the next call.
func (s *Stream) Next() (keeper.Frame, error) {
	kind, body, err := s.frames.Next()
	if err != nil {
		return keeper.Frame{}, unreachable(s.socket, err)
	}
	switch kind {
	case keeper.TypeData:
		from, data, err := keeper.ParseOffset(body)
		if err != nil {
			return keeper.Frame{}, davit.Errorf(davit.CodeKeeperProtocol, "follow: %w", err)
		}
		return keeper.Frame{Kind: keeper.Bytes, From: from, To: from + uint64(len(data)), Data: data}, nil
	case keeper.TypeMark:
		mark, ok := keeper.ParseMark(body)
		if !ok {
			return keeper.Frame{}, davit.Errorf(davit.CodeKeeperProtocol, "follow: a mark that does not check")
		}
		return mark.Frame(), nil
	case keeper.TypeMessage:
		m, _, err := keeper.ParseMessage(body)
		if err == nil && m.Event == "end" {
			return keeper.Frame{}, io.EOF
		}
		if err == nil && m.Error != nil {
			return keeper.Frame{}, m.Error.Err()
		}
	}
	return keeper.Frame{}, davit.Errorf(davit.CodeKeeperProtocol, "follow: an unexpected frame of type %d", kind)
}

// Buffered says whether Next would return without waiting for the keeper.
func (s *Stream) Buffered() bool { return s.frames.Buffered() }

// Ack says that everything before offset has been taken in. Cheap: the keeper is told
// each time as much has come together as it asked for in its hello, so not for each key.
func (s *Stream) Ack(offset uint64) {
	s.mu.Lock()
	s.acked = max(s.acked, offset)
	due := s.acked >= s.sent+s.every
	s.mu.Unlock()
	if due {
		s.flush()
	}
}

func (s *Stream) flush() {
	s.mu.Lock()
	offset := s.acked
	fresh := offset > s.sent
	s.sent = offset
	s.mu.Unlock()
	if !fresh {
		return
	}
	// A lost connection shows in Next; acknowledgements out of order are harmless.
	if _, err := s.conn.Write(keeper.AppendAck(nil, offset)); err != nil && !errors.Is(err, net.ErrClosed) {
		s.conn.CloseWrite()
	}
}

// Close ends the stream; a Next that waits returns an error.
func (s *Stream) Close() {
	s.stop()
	s.conn.Close()
}
