// Package client is how the host speaks with the keeper: requests over one control
// connection, each followed pane over one of its own (docs/keeper.md). It also finds
// and starts the keeper (spec terminal P1.6).
//
// Dial starts one goroutine that reads the control connection; it ends when the
// connection does, and Done says so. A Stream has none of its own: who calls Next reads
// the socket. The package never repeats an act by itself: after a lost connection the
// host sends again what its rows say is owed, under the same ids (P1.2).
package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"davit"
	"davit/internal/keeper"
)

// helloTimeout is how long what answers on the socket has to say that it is a keeper.
const helloTimeout = 10 * time.Second

// Config says which keeper to speak with, and as what.
type Config struct {
	Socket string
	Build  string
	Home   string // when given, a keeper of another home is refused
	Reader bool   // only look; never becomes the host
	Log    *slog.Logger
}

// Client is a control connection. Safe for concurrent use.
type Client struct {
	cfg   Config
	conn  *net.UnixConn
	hello keeper.Hello
	turn  chan struct{} // holds one token: whose frame is being written
	done  chan struct{} // closed after the reader has ended

	mu    sync.Mutex // guards what follows
	last  uint64
	calls map[uint64]chan answer
	err   error
}

type answer struct {
	body json.RawMessage
	err  error
}

// Dial connects and says hello. As a host (not a Reader) it takes over from the host
// before it, if there is one. Errors: keeper_unreachable, keeper_socket_foreign,
// keeper_version, keeper_wrong_home.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	kind := keeper.KindHost
	if cfg.Reader {
		kind = keeper.KindReader
	}
	conn, frames, hello, err := dial(ctx, cfg, kind, 0)
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg: cfg, conn: conn, hello: hello,
		turn: make(chan struct{}, 1), done: make(chan struct{}),
		calls: map[uint64]chan answer{},
	}
	go c.read(frames)
	return c, nil
}

// Hello is what the keeper said of itself.
func (c *Client) Hello() keeper.Hello { return c.hello }

// Done is closed when the connection has ended; Err then says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is nil while the connection lives, then keeper_unreachable or keeper_superseded.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Disconnect ends the connection without a word, as a crash would; the keeper waits for
// the host to come back. It returns after the reader has ended.
func (c *Client) Disconnect() {
	c.fail(&davit.Error{Code: davit.CodeKeeperUnreachable, Message: "the connection to the keeper was closed by this host"})
	<-c.done
}

// dial connects, checks who listens, and says hello.
func dial(ctx context.Context, cfg Config, kind string, fence uint64) (*net.UnixConn, *keeper.FrameReader, keeper.Hello, error) {
	var none keeper.Hello
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "unix", cfg.Socket)
	if err != nil {
		return nil, nil, none, unreachable(cfg.Socket, err)
	}
	conn := raw.(*net.UnixConn)
	if err := keeper.CheckPeer(conn); err != nil {
		conn.Close()
		return nil, nil, none, foreign(cfg.Socket, err)
	}
	deadline := time.Now().Add(helloTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	frames, hello, err := sayHello(conn, cfg, kind, fence)
	if !stop() && err == nil {
		err = unreachable(cfg.Socket, context.Cause(ctx))
	}
	if err != nil {
		conn.Close()
		return nil, nil, none, err
	}
	conn.SetDeadline(time.Time{})
	return conn, frames, hello, nil
}

func sayHello(conn net.Conn, cfg Config, kind string, fence uint64) (*keeper.FrameReader, keeper.Hello, error) {
	var hello keeper.Hello
	frames := keeper.NewFrameReader(conn, 16<<10)
	body, err := json.Marshal(keeper.ClientHello{
		Min: keeper.Protocol, Max: keeper.Protocol, Kind: kind,
		Build: cfg.Build, Home: cfg.Home, Fence: fence,
	})
	if err != nil {
		return nil, hello, davit.AsError(err)
	}
	frame, err := keeper.AppendMessage(nil, &keeper.Message{N: 1, Verb: "hello", Body: body}, nil)
	if err != nil {
		return nil, hello, davit.AsError(err)
	}
	// A failed write is no answer yet: what it said before it closed tells who it is.
	_, writeErr := conn.Write(frame)
	m, err := nextMessage(frames)
	switch {
	case err != nil && writeErr != nil && !errors.Is(err, keeper.ErrFrame):
		return nil, hello, unreachable(cfg.Socket, writeErr)
	case errors.Is(err, keeper.ErrFrame):
		return nil, hello, foreign(cfg.Socket, err)
	case err != nil && isTimeout(err):
		return nil, hello, foreign(cfg.Socket, errors.New("it accepted the connection and said nothing"))
	case err != nil:
		return nil, hello, unreachable(cfg.Socket, err)
	case m.Error != nil:
		return nil, hello, m.Error.Err()
	}
	if err := json.Unmarshal(m.Body, &hello); err != nil || hello.Protocol != keeper.Protocol || hello.Pid == 0 {
		return nil, hello, foreign(cfg.Socket, errors.New("its hello is not a keeper's"))
	}
	return frames, hello, nil
}

func nextMessage(frames *keeper.FrameReader) (*keeper.Message, error) {
	kind, body, err := frames.Next()
	if err != nil {
		return nil, err
	}
	if kind != keeper.TypeMessage {
		return nil, keeper.ErrFrame
	}
	m, _, err := keeper.ParseMessage(body)
	return m, err
}

// read hands answers to their callers until the connection ends.
func (c *Client) read(frames *keeper.FrameReader) {
	defer close(c.done)
	for {
		m, err := nextMessage(frames)
		if err != nil {
			c.fail(unreachable(c.cfg.Socket, err))
			return
		}
		switch {
		case m.Re != 0:
			c.settle(m)
		case m.Event == "superseded":
			c.fail(davit.Errorf(davit.CodeKeeperSuperseded, "a newer host has taken over this keeper").
				WithHint("Stop this host; `davit status` shows the newer one."))
			return
		case m.Verb == "ping":
			c.pong(m.N)
		case m.Error != nil:
			c.fail(davit.AsError(m.Error.Err()))
			return
		}
	}
}

func (c *Client) settle(m *keeper.Message) {
	a := answer{body: m.Body}
	if m.Error != nil {
		a.err = m.Error.Err()
	}
	c.mu.Lock()
	call := c.calls[m.Re]
	delete(c.calls, m.Re)
	c.mu.Unlock()
	if call != nil {
		call <- a // has room for one, and gets one
	}
}

func (c *Client) pong(n uint64) {
	frame, err := keeper.AppendMessage(nil, &keeper.Message{Re: n}, nil)
	if err == nil {
		err = c.write(context.Background(), frame)
	}
	if err != nil {
		c.cfg.Log.Debug("answer the keeper's ping", "err", err)
	}
}

// fail ends the connection; every open call gets err. The first reason stays.
func (c *Client) fail(err *davit.Error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	calls := c.calls
	c.calls = nil
	first := c.err
	c.mu.Unlock()
	c.conn.Close()
	for _, call := range calls {
		call <- answer{err: first}
	}
}

// call sends one request and waits for its answer. When ctx ends first the request may
// still take effect: the caller asks again with the same id.
func (c *Client) call(ctx context.Context, verb string, body any, payload []byte, into any) error {
	call, err := c.send(ctx, verb, body, payload)
	if err != nil {
		return err
	}
	return c.await(ctx, call, into)
}

func (c *Client) send(ctx context.Context, verb string, body any, payload []byte) (chan answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, davit.Errorf(davit.CodeInternal, "encode %s: %w", verb, err)
	}
	call := make(chan answer, 1)
	c.mu.Lock()
	if c.calls == nil {
		err := c.err
		c.mu.Unlock()
		return nil, err
	}
	c.last++
	n := c.last
	c.calls[n] = call
	c.mu.Unlock()
	frame, err := keeper.AppendMessage(nil, &keeper.Message{N: n, Verb: verb, Body: raw}, payload)
	if err != nil {
		err = davit.Errorf(davit.CodeInvalid, "%s: %w", verb, err)
	} else {
		err = c.write(ctx, frame)
	}
	if err != nil {
		c.mu.Lock()
		delete(c.calls, n)
		c.mu.Unlock()
		return nil, err
	}
	return call, nil
}

func (c *Client) await(ctx context.Context, call chan answer, into any) error {
	select {
	case a := <-call:
		if a.err != nil || into == nil {
			return a.err
		}
		if err := json.Unmarshal(a.body, into); err != nil {
			return davit.Errorf(davit.CodeKeeperProtocol, "read the keeper's answer: %w", err)
		}
		return nil
	case <-ctx.Done():
		return davit.Errorf(davit.CodeKeeperUnreachable, "wait for the keeper's answer: %w", context.Cause(ctx))
	}
}

// write puts one whole frame on the wire.
func (c *Client) write(ctx context.Context, frame []byte) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return davit.Errorf(davit.CodeKeeperUnreachable, "send to the keeper: %w", context.Cause(ctx))
	}
	_, err := c.conn.Write(frame)
	<-c.turn
	if err != nil {
		return unreachable(c.cfg.Socket, err)
	}
	return nil
}

func unreachable(socket string, err error) *davit.Error {
	if errors.Is(err, io.EOF) {
		err = errors.New("the keeper closed the connection")
	}
	return davit.Errorf(davit.CodeKeeperUnreachable, "the keeper at %s does not answer: %w", socket, err).
		WithHint("`davit keeper status` shows whether it lives; `davit up` starts one.")
}

func foreign(socket string, err error) *davit.Error {
	return davit.Errorf(davit.CodeKeeperForeign, "the socket %s is not this user's keeper: %w", socket, err).
		WithHint("Move it away, or choose another DAVIT_HOME.")
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
