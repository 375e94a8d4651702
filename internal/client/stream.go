package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"davit"
	"davit/internal/attach"
	"davit/internal/wire"

	"github.com/coder/websocket"
)

// Stream is one WebSocket that shows one pane; it is what attach.Run needs.
//
//	reader goroutine ──► frames (8, blocks when full) ──► Next
//	                └──► waiting inputs: each gets its one answer
type Stream struct {
	conn   *websocket.Conn
	pane   davit.PaneID
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the reader has ended
	frames chan attach.Frame
	bufs   [framesAhead + 2]bytes.Buffer // of the frames in the queue, at the reader and at Next's caller

	mu      sync.Mutex // guards waiting
	waiting map[string]chan error
}

// Attach opens a stream for a pane and subscribes, from the offset that was shown or with
// a snapshot. A size of 0×0 claims none.
func (c *Client) Attach(ctx context.Context, name string, pane davit.PaneID, from *uint64, cols, rows int) (*Stream, error) {
	conn, _, err := websocket.Dial(ctx, "ws://davit/v1/stream", &websocket.DialOptions{HTTPClient: c.http, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	conn.SetReadLimit(-1)
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &Stream{conn: conn, pane: pane, ctx: life, cancel: cancel, done: make(chan struct{}), frames: make(chan attach.Frame, framesAhead), waiting: map[string]chan error{}}
	go s.read()
	no, lines := false, 0
	if err := s.send(ctx, wire.ClientFrame{Type: "hello", Client: name, Events: &no}); err != nil {
		_ = s.Close()
		return nil, err
	}
	if err := s.send(ctx, wire.ClientFrame{Type: "subscribe", Pane: pane, From: from, Lines: &lines, Cols: cols, Rows: rows}); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// framesAhead is how many frames are read before they are asked for.
const framesAhead = 8

func (s *Stream) read() {
	defer close(s.done)
	defer close(s.frames)
	for n := 0; ; {
		kind, data, err := s.message(&s.bufs[n%len(s.bufs)])
		if err != nil {
			s.cancel(err)
			return
		}
		var frame attach.Frame
		if kind == websocket.MessageBinary {
			o, err := wire.ParseOutput(data)
			if err != nil {
				s.cancel(err)
				return
			}
			frame = attach.Frame{Snapshot: o.Kind == wire.OutputSnapshot, From: o.From, To: o.To, Cols: o.Cols, Rows: o.Rows, Data: o.Data}
		} else {
			var f wire.ServerFrame
			if err := json.Unmarshal(data, &f); err != nil {
				s.cancel(err)
				return
			}
			switch {
			case f.Type == "written":
				s.answer(f)
				continue
			case f.Type == "exit":
				frame = attach.Frame{From: f.Offset, To: f.Offset, Exit: f.Exit}
			case f.Type == "again":
				s.cancel(errLost) // whoever shows the pane connects again, from its offset
				return
			case f.Type == "error" && f.Error != nil:
				s.cancel(f.Error)
				return
			default:
				continue
			}
		}
		select {
		case s.frames <- frame:
			n++
		case <-s.ctx.Done():
			return
		}
	}
}

// message reads one message into a buffer that is used again.
func (s *Stream) message(into *bytes.Buffer) (websocket.MessageType, []byte, error) {
	kind, r, err := s.conn.Reader(s.ctx)
	if err != nil {
		return kind, nil, err
	}
	into.Reset()
	into.Grow(readAtLeast)
	_, err = into.ReadFrom(r)
	return kind, into.Bytes(), err
}

// readAtLeast is more than the host puts into a frame of output, but for a snapshot.
const readAtLeast = 72 << 10

func (s *Stream) answer(f wire.ServerFrame) {
	s.mu.Lock()
	ch := s.waiting[f.ID]
	delete(s.waiting, f.ID)
	s.mu.Unlock()
	if ch == nil {
		return
	}
	if f.Error != nil {
		ch <- f.Error
		return
	}
	ch <- nil
}

// Next gives the next frame.
func (s *Stream) Next(ctx context.Context) (attach.Frame, error) {
	select {
	case f, ok := <-s.frames:
		if !ok {
			return f, s.lost()
		}
		return f, nil
	case <-ctx.Done():
		return attach.Frame{}, context.Cause(ctx)
	}
}

// errLost says that the connection ended without a word.
var errLost = errors.New("the connection to the host was lost")

func (s *Stream) lost() error {
	cause := context.Cause(s.ctx)
	var e *davit.Error
	if errors.As(cause, &e) {
		return e
	}
	return errors.Join(errLost, cause)
}

// Input sends bytes and returns when the host has answered.
func (s *Stream) Input(ctx context.Context, id string, data []byte) error {
	ch := make(chan error, 1)
	s.mu.Lock()
	s.waiting[id] = ch
	s.mu.Unlock()
	if err := s.send(ctx, wire.ClientFrame{Type: "input", Pane: s.pane, ID: id, Bytes: data}); err != nil {
		return err
	}
	select {
	case err := <-ch:
		return err
	case <-s.done:
		return s.lost()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Resize claims the pane's size.
func (s *Stream) Resize(ctx context.Context, cols, rows int) error {
	return s.send(ctx, wire.ClientFrame{Type: "size", Pane: s.pane, Cols: cols, Rows: rows})
}

// Ack says what was shown.
func (s *Stream) Ack(ctx context.Context, offset uint64) error {
	return s.send(ctx, wire.ClientFrame{Type: "ack", Pane: s.pane, Offset: offset})
}

func (s *Stream) send(ctx context.Context, f wire.ClientFrame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := s.conn.Write(ctx, websocket.MessageText, data); err != nil {
		return errors.Join(errLost, err)
	}
	return nil
}

// Close ends the stream and waits for its reader.
func (s *Stream) Close() error {
	s.cancel(errLost)
	err := s.conn.CloseNow()
	<-s.done
	return err
}

var _ attach.Conn = (*Stream)(nil)
