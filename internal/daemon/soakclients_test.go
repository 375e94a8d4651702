package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/creack/pty"

	"davit"
	"davit/internal/attach"
	"davit/internal/client"
	"davit/internal/wire"
	"davit/screen"
)

// visitor comes and goes until ctx ends, each time as another kind of client.
func (s *soak) visitor(ctx context.Context, number int) {
	r := rand.New(rand.NewPCG(uint64(number), uint64(time.Now().UnixNano())))
	kinds := []func(context.Context, *rand.Rand) error{s.window, s.window, s.viewer, s.page, s.attachment}
	for n := number; ctx.Err() == nil && s.fault() == nil; n++ {
		if err := kinds[n%len(kinds)](ctx, r); err != nil && ctx.Err() == nil {
			s.fail("client %d, visit %d: %w", number, n, err)
		}
		s.visits.Add(1)
		pause(ctx, time.Duration(r.IntN(300))*time.Millisecond)
	}
}

// seen is a client's terminal, and where in the log it is.
type seen struct {
	name   string // of the client
	pane   *ticking
	screen *screen.Screen
	offset uint64
}

// take shows a frame: it must follow what is shown, or be a snapshot that is not older.
func (v *seen) take(snapshot bool, from, to uint64, cols, rows int, data []byte) error {
	switch {
	case snapshot && to < v.offset:
		return fmt.Errorf("%s: a snapshot of %d came to a client at %d", v.pane.name, to, v.offset)
	case snapshot:
		v.screen = screen.New(cols, rows, screen.Options{})
	case v.screen == nil || from != v.offset:
		return fmt.Errorf("%s: output from %d came to a client at %d", v.pane.name, from, v.offset)
	}
	v.offset = to
	v.screen.Write(data)
	return v.inOrder()
}

// inOrder: the rows are consecutive lines, the last perhaps in part.
func (v *seen) inOrder() error {
	shown := trim(v.screen.Text())
	next := -1
	for i, row := range shown {
		var n int
		if fields := strings.Fields(row); len(fields) > 1 {
			n, _ = strconv.Atoi(fields[1])
		}
		if next < 0 {
			next = n
		}
		whole := strings.TrimRight(plainLine(v.pane.name, next), " ")
		if row != whole && (i < len(shown)-1 || !strings.HasPrefix(whole, row)) {
			if v.pane.quit.Load() {
				return nil
			}
			return fmt.Errorf("%s: row %d is %q, not %q, in\n%s", v.pane.name, i, row, whole, strings.Join(shown, "\n"))
		}
		next++
	}
	return nil
}

// plainLine is a line without its colours.
func plainLine(pane string, n int) string {
	text := string(line(nil, pane, n))
	_, text, _ = strings.Cut(text, "m")
	return strings.TrimSuffix(strings.Replace(text, "\x1b[m", "", 1), "\n")
}

// window shows one pane at a size of its own and types; it drops the connection now and
// then, and comes back with its offset.
func (s *soak) window(ctx context.Context, r *rand.Rand) error {
	return s.stay(ctx, r, 100+r.IntN(60), 5+r.IntN(50), true)
}

// viewer claims no size, types nothing, and is slow to say what it has shown.
func (s *soak) viewer(ctx context.Context, r *rand.Rand) error { return s.stay(ctx, r, 0, 0, false) }

func (s *soak) stay(ctx context.Context, r *rand.Rand, cols, rows int, types bool) error {
	v := &seen{name: "soak-" + strconv.FormatUint(r.Uint64(), 36), pane: s.panes[r.IntN(len(s.panes))]}
	until := time.Now().Add(time.Duration(500+r.IntN(4000)) * time.Millisecond)
	for time.Now().Before(until) && ctx.Err() == nil {
		conn, err := s.connect(ctx, v, cols, rows)
		if err != nil {
			return err
		}
		drop := time.Now().Add(time.Duration(100+r.IntN(1500)) * time.Millisecond)
		err = s.show(ctx, conn, v, r, drop, types)
		_ = conn.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// connect waits for a host, and comes with what is shown.
func (s *soak) connect(ctx context.Context, v *seen, cols, rows int) (*client.Stream, error) {
	var from *uint64
	if v.screen != nil {
		from = &v.offset
	}
	for deadline := time.Now().Add(patience); ; {
		conn, err := s.client.Attach(ctx, v.name, v.pane.id, from, cols, rows)
		if err == nil || !goesOn(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return conn, err
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// show takes frames until a time, or until the host goes.
func (s *soak) show(ctx context.Context, conn *client.Stream, v *seen, r *rand.Rand, until time.Time, types bool) error {
	came := v.screen != nil
	for first := true; ; first = false {
		short, cancel := context.WithDeadline(ctx, until)
		frame, err := conn.Next(short)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
			return nil
		case err != nil && goesOn(err):
			return nil
		case err != nil:
			return err
		case frame.Exit != nil:
			return fmt.Errorf("%s has ended with %+v", v.pane.name, *frame.Exit)
		case frame.Snapshot:
			s.snapshots.Add(1)
		default:
			s.deltas.Add(1)
			if first && came {
				s.resumed.Add(1)
			}
		}
		if err := v.take(frame.Snapshot, frame.From, frame.To, frame.Cols, frame.Rows, frame.Data); err != nil {
			return err
		}
		if types || r.IntN(4) == 0 {
			if conn.Ack(ctx, v.offset) != nil {
				return nil
			}
		}
		if types && r.IntN(20) == 0 {
			if err := s.typeOnce(ctx, conn, v.pane); err != nil {
				return err
			}
		}
	}
}

// typeOnce gives the program one byte: with the same id until it is answered, by whatever
// host.
func (s *soak) typeOnce(ctx context.Context, conn attach.Conn, p *ticking) error {
	id := "soak-" + strconv.FormatInt(s.typed.Add(1), 10)
	err := conn.Input(ctx, id, []byte("x"))
	ctx = context.WithoutCancel(ctx) // what was begun is brought to its end
	for deadline := time.Now().Add(patience); err != nil; {
		if time.Now().After(deadline) || ctx.Err() == nil && !goesOn(err) && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s: input %s: %w", p.name, id, err)
		}
		pause(ctx, 20*time.Millisecond)
		err = s.client.Call(ctx, "pane.write", wire.PaneWrite{Pane: p.id, ID: id, Text: "x"}, nil)
	}
	p.inputs.Add(1)
	return nil
}

// page is a browser: it hears events, shows several panes with their scrollback, and
// changes which.
func (s *soak) page(ctx context.Context, r *rand.Rand) error {
	var d net.Dialer
	unix := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", s.socket)
	}}}
	conn, _, err := websocket.Dial(ctx, "ws://davit/v1/stream", &websocket.DialOptions{HTTPClient: unix})
	if err != nil {
		return nil // no host; another visit comes
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	say := func(f wire.ClientFrame) error {
		data, err := json.Marshal(f)
		if err != nil {
			return err
		}
		return conn.Write(ctx, websocket.MessageText, data)
	}
	shown := map[davit.PaneID]*seen{}
	err = say(wire.ClientFrame{Type: "hello", Client: "page"})
	for _, i := range r.Perm(len(s.panes))[:5] {
		p := s.panes[i]
		shown[p.id] = &seen{pane: p}
		err = errors.Join(err, say(wire.ClientFrame{Type: "subscribe", Pane: p.id}))
	}
	for until := time.Now().Add(time.Duration(500+r.IntN(4000)) * time.Millisecond); err == nil && time.Now().Before(until); {
		short, cancel := context.WithDeadline(ctx, until)
		kind, data, failed := conn.Read(short)
		cancel()
		if failed != nil {
			return nil
		}
		if kind != websocket.MessageBinary {
			var f wire.ServerFrame
			if json.Unmarshal(data, &f) == nil && f.Type == "error" && !goesOn(f.Error) {
				return fmt.Errorf("the page was told %w", f.Error)
			}
			continue
		}
		o, failed := wire.ParseOutput(data)
		if failed != nil {
			return failed
		}
		if v := shown[o.Pane]; v != nil {
			if o.Kind == wire.OutputSnapshot {
				s.snapshots.Add(1)
			} else {
				s.deltas.Add(1)
			}
			if failed := v.take(o.Kind == wire.OutputSnapshot, o.From, o.To, o.Cols, o.Rows, o.Data); failed != nil {
				return failed
			}
			err = say(wire.ClientFrame{Type: "ack", Pane: o.Pane, Offset: o.To})
		}
	}
	return nil
}

// attachment is `davit attach` in a terminal; it ends by its key, also when the host was
// killed meanwhile.
func (s *soak) attachment(ctx context.Context, r *rand.Rand) error {
	p := s.panes[r.IntN(len(s.panes))]
	cmd := s.command("attach", string(p.id))
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(100 + r.IntN(60)), Rows: uint16(10 + r.IntN(40))})
	if err != nil {
		return err
	}
	defer tty.Close()
	var output bytes.Buffer
	read := make(chan struct{})
	shows := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 64<<10)
		for begun := false; ; {
			n, err := tty.Read(buf)
			output.Write(buf[max(0, n-2048):n])
			output.Next(output.Len() - min(output.Len(), 4096))
			if !begun && bytes.Contains(buf[:n], []byte(p.name)) {
				begun = true
				close(shows)
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-shows:
		pause(ctx, time.Duration(r.IntN(3000))*time.Millisecond)
		_, _ = io.WriteString(tty, "\x1c")
	case <-read: // started while there was no host: it says so and ends
	case <-time.After(patience):
	}
	select {
	case <-read:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
		return fmt.Errorf("%s: attach does not end; it printed %q", p.name, output.String())
	}
	err = cmd.Wait()
	select {
	case <-shows:
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: attach ended with %w; it printed %q", p.name, err, output.String())
	}
	s.detached.Add(1)
	return nil
}
