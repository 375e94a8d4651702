package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"davit"
	"davit/internal/pane"
	"davit/internal/session"
	"davit/internal/wire"

	"github.com/coder/websocket"
)

// Bounds of one stream.
const (
	maxFrame     = 4 << 20 // a client's text frame
	inputQueue   = 256     // inputs of one pane under way; full: the client's frames wait
	maxSubs      = 200     // panes of one client
	helloWithin  = 10 * time.Second
	closeWithin  = 250 * time.Millisecond
	writeWithin  = 60 * time.Second // a client that takes no byte for so long is cut off
	defaultLines = 1000             // P3.3
)

// stream serves one client's WebSocket (wire/stream.go draws the protocol).
//
//	reader (this goroutine) ──frames──► subs: one goroutine per pane ──binary──► client
//	                            │        inputs: one goroutine per pane (in order)
//	                            └──────► events: one goroutine
//
// All of them end with the connection, and this function returns after them.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the guard has checked the origin more strictly
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxFrame)
	s.streams.Add(1)
	defer s.streams.Done()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stop()
	c := &client{server: s, conn: conn, ctx: ctx, cancel: cancel, name: "ws-" + randomToken()[:12], subs: map[davit.PaneID]*sub{}, chats: map[davit.SessionID]*session.Subscription{}, looks: map[davit.SessionID]func(){}, rooms: map[davit.SessionID]davit.PaneID{}}
	err = c.run(r)
	cancel(err)
	c.leave()
	c.group.Wait()
	c.close(err)
}

// client is one connection. Frames may be written from any of its goroutines.
type client struct {
	server *Server
	conn   *websocket.Conn
	ctx    context.Context
	cancel context.CancelCauseFunc
	name   string
	page   bool // a browser: it hears events, and its emulator is xterm.js
	group  sync.WaitGroup

	subs  map[davit.PaneID]*sub                     // the reader's own
	chats map[davit.SessionID]*session.Subscription // likewise
	looks map[davit.SessionID]func()                // likewise: they end the looks at chats

	viewer Viewer                           // nil for a client without events
	look   wire.ClientFrame                 // the last of type look
	rooms  map[davit.SessionID]davit.PaneID // panes of the chats
	away   bool                             // nobody is at the client
}

// sees tells what the client shows: the panes that it is subscribed to, the chats that it
// follows, and what it says of itself (spec chips C2.4).
func (c *client) sees() {
	if c.viewer == nil {
		return
	}
	if c.look.Hidden {
		c.viewer.Shows(Sight{})
		return
	}
	sight := Sight{Tabs: c.look.Tabs == nil || *c.look.Tabs, Panes: slices.Clone(c.look.Panes)}
	for id, s := range c.subs {
		if s.output != nil {
			sight.Panes = append(sight.Panes, id)
		}
	}
	for _, id := range c.rooms {
		sight.Panes = append(sight.Panes, id)
	}
	c.viewer.Shows(sight)
}

type sub struct {
	pane   *pane.Pane
	output *pane.Subscription // nil before subscribe
	looked func()             // ends the look that began with subscribe; nil before
	inputs chan wire.ClientFrame
}

func (c *client) run(r *http.Request) error {
	hello, err := c.hello(r)
	if err != nil {
		c.say(wire.ServerFrame{Type: "error", Error: davit.AsError(err)})
		return err
	}
	if c.page = hello.Events == nil || *hello.Events; c.page { // a client without events shows no chips
		c.viewer = c.server.cfg.Viewers.Look()
		defer c.viewer.Done()
		c.sees()
		c.group.Go(func() { c.events(hello.After) })
	} else {
		c.say(wire.ServerFrame{Type: "hello", HostID: c.server.cfg.Host.State().HostID})
	}
	for {
		frame, err := c.read(c.ctx)
		if errors.Is(err, errGarbage) {
			c.say(wire.ServerFrame{Type: "error", Error: errGarbage})
		}
		if err != nil {
			return err
		}
		if err := c.handle(frame); err != nil {
			c.say(wire.ServerFrame{Type: "error", Pane: frame.Pane, ID: frame.ID, Error: davit.AsError(err)})
		}
	}
}

// hello demands the first frame, and over TCP the key in it.
func (c *client) hello(r *http.Request) (wire.ClientFrame, error) {
	ctx, cancel := context.WithTimeout(c.ctx, helloWithin)
	defer cancel()
	frame, err := c.read(ctx)
	if err != nil {
		return frame, err
	}
	if frame.Type != "hello" {
		return frame, davit.Errorf(davit.CodeInvalid, "the first frame is %q, not hello", frame.Type)
	}
	if !caller(r.Context()).Local {
		if err := c.server.checkLogin(r, frame.Key); err != nil {
			return frame, err
		}
	}
	if frame.Client != "" && len(frame.Client) <= 64 {
		c.name = frame.Client
	}
	return frame, nil
}

// errGarbage ends a connection whose frames cannot be understood.
var errGarbage = davit.Errorf(davit.CodeInvalid, "a frame could not be understood").WithHint("frames are described in docs/api.md")

func (c *client) read(ctx context.Context) (wire.ClientFrame, error) {
	var frame wire.ClientFrame
	kind, data, err := c.conn.Read(ctx)
	if err != nil {
		return frame, err
	}
	if kind != websocket.MessageText || json.Unmarshal(data, &frame) != nil {
		return frame, errGarbage
	}
	return frame, nil
}

func (c *client) handle(f wire.ClientFrame) error {
	switch f.Type {
	case "ping":
		c.say(wire.ServerFrame{Type: "pong"})
		return nil
	case "unsubscribe":
		if s, ok := c.subs[f.Pane]; ok {
			c.end(f.Pane, s)
			c.sees()
		}
		return nil
	case "look":
		if len(f.Panes) > maxSubs {
			return davit.Errorf(davit.CodeInvalid, "a client shows at most %d panes at once", maxSubs)
		}
		c.look = f
		c.attend(f.Away || f.Hidden)
		c.sees()
		return nil
	case "follow":
		if err := c.follow(f); err != nil {
			c.say(wire.ServerFrame{Type: "error", Session: f.Session, Error: davit.AsError(err)})
		}
		c.sees()
		return nil
	case "unfollow":
		c.unfollow(f.Session)
		c.sees()
		return nil
	case "ack":
		if s, ok := c.subs[f.Pane]; ok && s.output != nil {
			s.output.Ack(f.Offset)
		}
		return nil
	}
	s, err := c.sub(f.Pane)
	if err != nil {
		return err
	}
	switch f.Type {
	case "subscribe":
		c.subscribe(s, f)
		c.sees()
		return nil
	case "input", "paste":
		select {
		case s.inputs <- f:
			return nil
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	case "size":
		s.pane.Claim(c.name, f.Cols, f.Rows)
		return nil
	}
	return davit.Errorf(davit.CodeUnsupported, "a frame of type %q is not known", f.Type)
}

func (c *client) sub(id davit.PaneID) (*sub, error) {
	if s, ok := c.subs[id]; ok {
		select {
		case <-s.pane.Done(): // the host follows this pane anew: take the new one
			c.end(id, s)
		default:
			return s, nil
		}
	}
	if len(c.subs) >= maxSubs {
		return nil, davit.Errorf(davit.CodeInvalid, "a client shows at most %d panes at once", maxSubs)
	}
	p, err := c.server.cfg.Panes.Get(id)
	if err != nil {
		return nil, err
	}
	s := &sub{pane: p, inputs: make(chan wire.ClientFrame, inputQueue)}
	c.subs[id] = s
	c.group.Go(func() { c.typing(id, s) })
	return s, nil
}

func (c *client) end(id davit.PaneID, s *sub) {
	delete(c.subs, id)
	close(s.inputs)
	s.pane.Leave(c.name)
	if s.output != nil {
		_ = s.output.Close()
		s.looked()
	}
}

func (c *client) leave() {
	for id, s := range c.subs {
		c.end(id, s)
	}
	for id := range c.chats {
		c.unfollow(id)
	}
}

func (c *client) subscribe(s *sub, f wire.ClientFrame) {
	lines := defaultLines
	if f.Lines != nil {
		lines = min(max(*f.Lines, 0), 100_000)
	}
	if s.output != nil {
		_ = s.output.Close()
	} else {
		s.looked = func() {}
		if !c.away {
			s.looked = c.server.cfg.Status.Look(f.Pane)
		}
	}
	if f.Cols > 0 && f.Rows > 0 {
		s.pane.Claim(c.name, f.Cols, f.Rows)
	}
	s.output = s.pane.Subscribe(pane.SubscribeOptions{From: f.From, Lines: lines, NoMargins: c.page})
	output, id := s.output, f.Pane
	c.group.Go(func() { c.show(id, output) })
}

// show sends one pane's output. A slow client holds up this goroutine alone. When the
// host follows the pane anew (its connection to the keeper was remade), the client is told
// to subscribe again from what it has shown.
func (c *client) show(id davit.PaneID, output *pane.Subscription) {
	var buffer []byte
	for {
		frame, err := output.Next(c.ctx)
		if err != nil {
			if davit.CodeOf(err) == davit.CodeShuttingDown && c.ctx.Err() == nil && c.server.ctx.Err() == nil {
				c.say(wire.ServerFrame{Type: "again", Pane: id})
			}
			return
		}
		if frame.Exit != nil {
			c.say(wire.ServerFrame{Type: "exit", Pane: id, Offset: frame.To, Exit: frame.Exit})
			continue
		}
		head := wire.Output{Kind: wire.OutputDelta, Pane: id, From: frame.From, To: frame.To, Cols: frame.Cols, Rows: frame.Rows}
		if frame.Snapshot {
			head.Kind = wire.OutputSnapshot
		}
		buffer = append(head.AppendHeader(buffer[:0]), frame.Data...)
		if err := c.write(websocket.MessageBinary, buffer); err != nil {
			c.cancel(err)
			return
		}
	}
}

// typing gives one pane's inputs in order and answers each.
func (c *client) typing(id davit.PaneID, s *sub) {
	for f := range s.inputs {
		var err error
		data := f.Bytes
		if len(data) == 0 {
			data = []byte(f.Data)
		}
		if f.Type == "paste" {
			err = s.pane.Paste(c.ctx, c.name, f.ID, f.Data)
		} else {
			err = s.pane.Input(c.ctx, c.name, f.ID, data)
		}
		answer := wire.ServerFrame{Type: "written", Pane: id, ID: f.ID}
		if err != nil {
			if c.ctx.Err() != nil {
				continue // nobody is there to be told; drain the queue
			}
			answer.Error = davit.AsError(err)
		}
		c.say(answer)
	}
}

// events sends the state and what changes it.
func (c *client) events(after *uint64) {
	events := c.server.cfg.Feed.Subscribe(after, c.server.cfg.Host.State)
	defer events.Close()
	first := true
	for {
		update, err := events.Next(c.ctx)
		if err != nil {
			if c.ctx.Err() == nil {
				c.cancel(err)
			}
			return
		}
		if first {
			c.say(wire.ServerFrame{Type: "hello", HostID: c.server.cfg.Host.State().HostID, Seq: update.Seq, State: update.State})
			first = false
		} else if update.State != nil {
			c.say(wire.ServerFrame{Type: "resync", Seq: update.Seq, State: update.State})
		}
		for i := range update.Events {
			c.say(wire.ServerFrame{Type: "event", Seq: update.Events[i].Seq, Event: &update.Events[i]})
		}
	}
}

func (c *client) say(f wire.ServerFrame) {
	data, err := json.Marshal(f)
	if err == nil {
		err = c.write(websocket.MessageText, data)
	}
	if err != nil {
		c.cancel(err)
	}
}

func (c *client) write(kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), writeWithin)
	defer cancel()
	return c.conn.Write(ctx, kind, data)
}

func (c *client) close(err error) {
	status, reason := websocket.StatusNormalClosure, ""
	var e *davit.Error
	if errors.As(err, &e) {
		status, reason = websocket.StatusPolicyViolation, string(e.Code)
		if e.Code == davit.CodeShuttingDown {
			status = websocket.StatusGoingAway
		}
	}
	// A client that is gone does not answer the close; nobody waits for it long.
	timer := time.AfterFunc(closeWithin, func() { _ = c.conn.CloseNow() })
	defer timer.Stop()
	_ = c.conn.Close(status, reason)
}
