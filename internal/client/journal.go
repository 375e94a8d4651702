package client

import (
	"context"
	"encoding/json"

	"davit"
	"davit/internal/wire"

	"github.com/coder/websocket"
)

// Journal is one WebSocket that follows one chat. It has no goroutine: Next reads.
type Journal struct {
	conn    *websocket.Conn
	session davit.SessionID
}

// Follow opens a stream for a chat's journal: the rows after a cursor, or without one the
// newest tail rows (0: all), then every row as it is stored.
func (c *Client) Follow(ctx context.Context, name string, session davit.SessionID, after *davit.Cursor, tail int) (*Journal, error) {
	conn, _, err := websocket.Dial(ctx, "ws://davit/v1/stream", &websocket.DialOptions{HTTPClient: c.http, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	conn.SetReadLimit(-1)
	j, no := &Journal{conn: conn, session: session}, false
	for _, f := range []wire.ClientFrame{
		{Type: "hello", Client: name, Events: &no},
		{Type: "follow", Session: session, Cursor: after, Tail: tail},
	} {
		data, err := json.Marshal(f)
		if err == nil {
			err = conn.Write(ctx, websocket.MessageText, data)
		}
		if err != nil {
			j.Close()
			return nil, lostOn(ctx, err)
		}
	}
	return j, nil
}

// Next waits for rows. A lost connection is host_not_running: whoever follows may open it
// again, from the last cursor.
func (j *Journal) Next(ctx context.Context) (wire.SessionRows, error) {
	for {
		_, data, err := j.conn.Read(ctx)
		if err != nil {
			return wire.SessionRows{}, lostOn(ctx, err)
		}
		var f wire.ServerFrame
		if err := json.Unmarshal(data, &f); err != nil {
			return wire.SessionRows{}, davit.Errorf(davit.CodeInternal, "a frame of the stream cannot be read: %w", err)
		}
		switch {
		case f.Type == "error" && f.Error != nil:
			return wire.SessionRows{}, f.Error
		case f.Type == "journal" && f.Session == j.session:
			rows := wire.SessionRows{Rows: f.Rows, Reset: f.Reset}
			if f.Cursor != nil {
				rows.Cursor = *f.Cursor
			}
			return rows, nil
		}
	}
}

// lostOn tells an end that was asked for from one that was not.
func lostOn(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return davit.Errorf(davit.CodeHostDown, "the connection to the host was lost: %w", err).WithHint("start it again with `davit up --detach`")
}

// Close ends it.
func (j *Journal) Close() { _ = j.conn.CloseNow() }
