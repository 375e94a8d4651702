package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"davit"
)

const (
	helloWithin = 10 * time.Second
	openMost    = 8192    // requests under way on a connection; beyond that: busy
	stagedMost  = 8 << 20 // bytes of inputs whose last part has not come
)

// conn is one connection. Its reader is the goroutine that serves it; a writer goroutine
// takes frames from out, so that nobody who answers ever waits for a peer. A peer that
// does not read its answers fills out with at most one for each open request.
type conn struct {
	k      *Keeper
	c      *net.UnixConn
	frames *FrameReader
	pid    int
	kind   string
	fence  uint64
	open   atomic.Int64
	pings  uint64 // by the keeper's loop
	staged map[string][]byte
	held   int           // bytes staged
	ended  chan struct{} // closed when the writer is to stop
	once   sync.Once
	wake   chan struct{} // one token: out has grown
	idle   *sync.Cond    // of mu: out is empty and written, or the connection has ended

	mu      sync.Mutex // guards what follows; a leaf
	out     [][]byte   // bounded by openMost: each open request is answered once
	writing bool
	over    bool
}

// request is one message that asks for something.
type request struct {
	c       *conn
	n       uint64
	verb    string
	body    json.RawMessage
	payload []byte // valid until the verb's function returns
}

func newConn(k *Keeper, sock *net.UnixConn, pid int) *conn {
	c := &conn{
		k: k, c: sock, pid: pid, frames: NewFrameReader(sock, 4<<10), staged: map[string][]byte{},
		ended: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	c.idle = sync.NewCond(&c.mu)
	return c
}

// hangUp ends the connection.
func (c *conn) hangUp() {
	c.once.Do(func() {
		close(c.ended)
		c.c.Close()
		c.mu.Lock()
		c.over = true
		c.idle.Broadcast()
		c.mu.Unlock()
	})
}

// send puts a frame before the writer.
func (c *conn) send(m *Message) {
	frame, err := AppendMessage(nil, m, nil)
	if err != nil {
		c.k.cfg.Log.Error("encode an answer", "err", err)
		c.hangUp()
		return
	}
	c.mu.Lock()
	c.out = append(c.out, frame)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write is the writer goroutine.
func (c *conn) write() {
	for {
		select {
		case <-c.wake:
		case <-c.ended:
			return
		}
		for {
			c.mu.Lock()
			frames := net.Buffers(c.out)
			c.out = nil
			c.writing = len(frames) > 0
			if !c.writing {
				c.idle.Broadcast()
			}
			c.mu.Unlock()
			if len(frames) == 0 {
				break
			}
			if _, err := frames.WriteTo(c.c); err != nil {
				c.hangUp()
				return
			}
		}
	}
}

// flushed waits until everything queued has been written; false when the connection has
// ended.
func (c *conn) flushed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for (c.writing || len(c.out) > 0) && !c.over {
		c.idle.Wait()
	}
	return !c.over
}

// ping asks for a sign of life. By the keeper's loop only.
func (c *conn) ping() {
	c.pings++
	c.send(&Message{N: c.pings, Verb: "ping"})
}

// answer ends one request. err may be nil.
func (r *request) answer(body json.RawMessage, err *WireError) {
	r.c.open.Add(-1)
	m := &Message{Re: r.n, Error: err}
	if err == nil {
		m.Body = body
	}
	r.c.send(m)
}

// reply is answer with a value still to be encoded.
func (r *request) reply(result any, err error) {
	var body json.RawMessage
	if err == nil {
		body, err = json.Marshal(result)
	}
	if err != nil {
		r.answer(nil, ErrorToWire(err))
		return
	}
	r.answer(body, nil)
}

// serveConn serves one connection to its end.
func (k *Keeper) serveConn(ctx context.Context, sock *net.UnixConn) {
	uid, pid, err := peer(sock)
	if err != nil || uid != os.Getuid() {
		k.cfg.Log.Warn("a peer of another user was refused", "uid", uid, "err", err)
		sock.Close()
		return
	}
	c := newConn(k, sock, pid)
	if !k.register(c) {
		sock.Close()
		return
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	err = c.serve(ctx)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		k.cfg.Log.Info("connection ended", "kind", c.kind, "pid", pid, "err", err)
	}
	c.hangUp()
	writer.Wait()
	k.unregister(c)
}

func (k *Keeper) register(c *conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return false
	}
	k.conns[c] = struct{}{}
	return true
}

func (k *Keeper) unregister(c *conn) {
	k.mu.Lock()
	delete(k.conns, c)
	k.mu.Unlock()
	k.host.leave(c, false, time.Now())
	k.nudge()
}

// serve says hello, then does what is asked. A frame that cannot be understood gets one
// error and ends this connection only.
func (c *conn) serve(ctx context.Context) error {
	c.c.SetReadDeadline(time.Now().Add(helloWithin))
	m, _, err := c.next()
	if err == nil {
		err = c.greet(m)
	}
	if err != nil {
		return c.refuse(err)
	}
	c.c.SetReadDeadline(time.Time{})
	for {
		m, payload, err := c.next()
		if err != nil {
			return c.refuse(err)
		}
		if m.Verb == "" { // an answer to a ping
			continue
		}
		r := &request{c: c, n: m.N, verb: m.Verb, body: m.Body, payload: payload}
		if m.Verb == "follow" && c.kind != KindHost {
			return c.follow(ctx, r)
		}
		c.dispatch(r)
	}
}

// next reads one message. Anything heard is a sign of life.
func (c *conn) next() (*Message, []byte, error) {
	kind, body, err := c.frames.Next()
	if err != nil {
		return nil, nil, err
	}
	if kind != TypeMessage {
		return nil, nil, ErrFrame
	}
	if c.kind == KindHost && c.k.host.hear(c.fence, time.Now()) {
		c.k.nudge()
	}
	return ParseMessage(body)
}

// refuse tells the peer once what was wrong, and gives err back.
func (c *conn) refuse(err error) error {
	var e *davit.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, ErrFrame):
		e = davit.Errorf(davit.CodeKeeperProtocol, "%w", err).WithHint("Bring both sides to the same version.")
	default:
		return err
	}
	m := &Message{Error: ErrorToWire(e)}
	if c.kind == "" { // after hello no answer to a request may be faked
		m.Re = 1
	}
	c.c.SetWriteDeadline(time.Now().Add(time.Second))
	c.send(m)
	c.flushed()
	return err
}

// greet checks a hello and answers it.
func (c *conn) greet(m *Message) error {
	var hello ClientHello
	if m.Verb != "hello" || m.N == 0 {
		return davit.Errorf(davit.CodeKeeperProtocol, "the first message is not a hello")
	}
	if err := json.Unmarshal(m.Body, &hello); err != nil {
		return davit.Errorf(davit.CodeKeeperProtocol, "a hello that cannot be read: %w", err)
	}
	k := c.k
	switch {
	case hello.Min > Protocol || hello.Max < Protocol:
		return davit.Errorf(davit.CodeKeeperVersion, "the keeper (%s) speaks protocol %d, the host %d to %d",
			k.cfg.Build, Protocol, hello.Min, hello.Max).
			WithHint("Run the other version, or end the keeper with `davit down --all`.")
	case hello.Home != "" && hello.Home != k.cfg.Home:
		return davit.Errorf(davit.CodeKeeperWrongHome, "this keeper serves %s, not %s", k.cfg.Home, hello.Home)
	}
	k.greeting.Lock()
	defer k.greeting.Unlock()
	answer := k.hello
	answer.Fence = k.host.current()
	switch hello.Kind {
	case KindHost:
		fence, before := k.host.claim(c, hello.Build, time.Now())
		c.fence, answer.Fence = fence, fence
		if before != nil {
			body, _ := json.Marshal(SupersededBody{Fence: fence})
			before.send(&Message{Event: "superseded", Body: body})
		}
		k.cfg.Log.Info("host", "pid", c.pid, "build", hello.Build, "fence", fence)
		k.nudge()
	case KindFollow:
		c.fence = hello.Fence
	case KindReader:
	default:
		return davit.Errorf(davit.CodeKeeperProtocol, "a hello of unknown kind %q", hello.Kind)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	c.kind = hello.Kind
	c.send(&Message{Re: m.N, Body: body})
	return nil
}
