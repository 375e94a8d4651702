package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"davit/internal/client"
)

// echo is the time from a key's write to its arrival back, from a program that gives it
// back at once. Batches of the ways are run in turns.
func (b *bench) echo() error {
	in, err := b.instance("e")
	if err != nil {
		return err
	}
	defer in.down()
	took := map[string][]float64{}
	ways := map[string]func(key byte) (time.Duration, error){}
	var order []string
	add := func(name string, way func(byte) (time.Duration, error)) { ways[name], order = way, append(order, name) }

	bare, err := b.echoTerminal(b.terminal(environ(), b.self, "child-echo"))
	if err != nil {
		return err
	}
	defer bare.end()
	add("bare", bare.key)
	pane, err := in.open(b.self, "child-echo")
	if err != nil {
		return err
	}
	attached, err := b.echoTerminal(b.terminal(in.env, b.davit, "attach", string(pane)))
	if err != nil {
		return err
	}
	defer attached.end()
	add("attach", attached.key)
	if hasTmux() {
		m := b.tmux()
		defer m.end()
		t, err := b.echoTerminal(m.start(b.self, "child-echo"))
		if err != nil {
			return err
		}
		defer t.end()
		add("tmux", t.key)
	}
	for _, name := range others() {
		t, end, err := b.startOther(name, "echo", b.self, "child-echo")
		if err != nil {
			return err
		}
		defer end()
		typist, err := b.echoTerminal(t, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer typist.end()
		add(name, typist.key)
	}
	socket, err := in.echoSocket()
	if err != nil {
		return err
	}
	defer socket.close()
	add("websocket", socket.key)

	if err := b.echoRounds(order, ways, "", took); err != nil {
		return err
	}
	flood, err := in.open(b.self, "child-flood")
	if err != nil {
		return err
	}
	if err := in.shows(flood, "INFO"); err != nil {
		return err
	}
	if err := b.echoRounds([]string{"websocket", "attach"}, ways, " loaded", took); err != nil {
		return err
	}
	b.tellEcho(took)
	return nil
}

// echoRounds types the keys, in turns of 50 a way.
func (b *bench) echoRounds(order []string, ways map[string]func(byte) (time.Duration, error), suffix string, took map[string][]float64) error {
	const batch = 50
	for typed := 0; typed < b.keys; typed += batch {
		for _, name := range order {
			for i := range batch {
				d, err := ways[name](byte('a' + i%26))
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if i >= 5 { // the first few find everything asleep
					took[name+suffix] = append(took[name+suffix], float64(d.Microseconds()))
				}
				select {
				case <-time.After(3 * time.Millisecond):
				case <-b.ctx.Done():
					return b.ctx.Err()
				}
			}
		}
	}
	return nil
}

func (b *bench) tellEcho(took map[string][]float64) {
	text := func(name string) string {
		if len(took[name]) == 0 {
			return name + " not there"
		}
		return fmt.Sprintf("p50 %.0f µs, p99 %.2f ms", median(took[name]), quantile(took[name], 0.99)/1000)
	}
	p99 := func(name string) float64 { return quantile(took[name], 0.99) / 1000 }
	verdict := atMost(p99("attach"), 3)
	figure := text("attach")
	if len(took["tmux"]) > 0 {
		ratio := median(took["attach"]) / median(took["tmux"])
		verdict = atMost(ratio, 2) + ", " + verdict
		figure += fmt.Sprintf("; %.2f × tmux", ratio)
	}
	b.add("echo of a key through attach", "p50 ≤ 2 × tmux, p99 ≤ 3 ms", figure, "tmux "+text("tmux")+"; bare "+text("bare")+besideOthers(text), verdict)
	b.add("echo of a key through the WebSocket, idle", "p50 < 1 ms, p99 < 5 ms", text("websocket"), "–",
		atMost(median(took["websocket"])/1000, 1)+", "+atMost(p99("websocket"), 5))
	b.add("the same while another pane prints at full speed", "p99 < 20 ms", text("websocket loaded"), "attach "+text("attach loaded"), atMost(p99("websocket loaded"), 20))
}

// typist types into a terminal and reads what comes back itself: no goroutine between.
type typist struct {
	*terminal
	buf []byte
}

// echoTerminal waits until the program is ready. A lost echo ends the wait by ending the
// program.
func (b *bench) echoTerminal(t *terminal, err error) (*typist, error) {
	if err != nil {
		return nil, err
	}
	p := &typist{terminal: t, buf: make([]byte, 64<<10)}
	if err := p.until("ready"); err != nil {
		return nil, err
	}
	time.Sleep(300 * time.Millisecond) // what a client asks or draws at its start is not a key's echo
	return p, nil
}

func (p *typist) until(text string) error {
	watchdog := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	var got []byte
	for !bytes.Contains(got, []byte(text)) {
		n, err := p.tty.Read(p.buf)
		if got = append(got, p.buf[:n]...); err != nil {
			return fmt.Errorf("%q does not come: %w", text, err)
		}
	}
	return nil
}

func (p *typist) key(key byte) (time.Duration, error) {
	begun := time.Now()
	if _, err := p.tty.Write([]byte{key}); err != nil {
		return 0, err
	}
	if err := p.until(string(key)); err != nil {
		return 0, err
	}
	return time.Since(begun), nil
}

// socket is a client by WebSocket alone.
type socket struct {
	ctx    context.Context
	stream *client.Stream
	name   string
	n      int
}

func newSocket(ctx context.Context, s *client.Stream) *socket {
	return &socket{ctx: ctx, stream: s, name: fmt.Sprint(time.Now().UnixNano())}
}

func (s *socket) next() ([]byte, uint64, error) {
	f, err := s.stream.Next(s.ctx)
	return f.Data, f.To, err
}

// echoSocket opens a pane that echoes, shown by a WebSocket alone.
func (in *instance) echoSocket() (*socket, error) {
	pane, err := in.open(in.b.self, "child-echo")
	if err != nil {
		return nil, err
	}
	if err := in.shows(pane, "ready"); err != nil {
		return nil, err
	}
	stream, err := in.client.Attach(in.b.ctx, "bench", pane, nil, cols, rows)
	if err != nil {
		return nil, err
	}
	s := newSocket(in.b.ctx, stream)
	_, to, err := s.next() // the snapshot
	if err == nil {
		err = stream.Ack(in.b.ctx, to)
	}
	return s, err
}

func (s *socket) key(key byte) (time.Duration, error) {
	s.n++
	taken := make(chan error, 1)
	begun := time.Now()
	go func() { taken <- s.stream.Input(s.ctx, fmt.Sprintf("%s-%d", s.name, s.n), []byte{key}) }()
	for {
		data, to, err := s.next()
		if err != nil {
			return 0, err
		}
		took := time.Since(begun)
		_ = s.stream.Ack(s.ctx, to)
		if bytes.IndexByte(data, key) >= 0 {
			return took, <-taken
		}
	}
}

func (s *socket) close() { _ = s.stream.Close() }
