package pane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/testenv"
	"davit/screen"
)

// scriptedLog is a keeper whose log the test writes itself, byte by byte: the pane's
// rules about splits and offsets cannot be driven through a real terminal. It does what
// docs/keeper.md says of input, replies and resize, and outlives the panes that follow it.
type scriptedLog struct {
	mu        sync.Mutex
	changed   chan struct{}
	frames    []keeper.Frame
	end       uint64
	kept      uint64 // first offset that a follower can still have
	done      bool   // nobody holds the terminal any more
	inputs    []keeper.Input
	replies   []keeper.Input // taken, once each
	highest   uint64
	seen      map[string]bool
	sizes     [][2]int
	retained  uint64
	canonical bool
	follows   int
	breakage  func() // called by Follow
	held      bool   // streams give nothing
}

func newLog() *scriptedLog {
	return &scriptedLog{changed: make(chan struct{}), seen: map[string]bool{}}
}

func (l *scriptedLog) add(f keeper.Frame) {
	l.frames = append(l.frames, f)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *scriptedLog) print(parts ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range parts {
		l.add(keeper.Frame{Kind: keeper.Bytes, From: l.end, To: l.end + uint64(len(s)), Data: []byte(s)})
		l.end += uint64(len(s))
	}
}

func (l *scriptedLog) resize(cols, rows int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(keeper.Frame{Kind: keeper.Resize, From: l.end, To: l.end, Cols: cols, Rows: rows, Time: time.Now()})
}

func (l *scriptedLog) exit(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(keeper.Frame{Kind: keeper.Exit, From: l.end, To: l.end, Exit: &keeper.ExitStatus{Code: code, Offset: l.end, Time: time.Now()}})
}

// forget drops the log before an offset, as retention and bounds do.
func (l *scriptedLog) forget(offset uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = offset
}

// hold makes the keeper slow, until it is let go.
func (l *scriptedLog) hold(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *scriptedLog) head() uint64 { l.mu.Lock(); defer l.mu.Unlock(); return l.end }

func (l *scriptedLog) Input(_ context.Context, in keeper.Input) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[in.ID] {
		return nil
	}
	l.seen[in.ID] = true
	if in.ReplyTo == 0 {
		l.inputs = append(l.inputs, in)
	} else if in.ReplyTo > l.highest {
		l.highest = in.ReplyTo
		l.replies = append(l.replies, in)
	}
	return nil
}

func (l *scriptedLog) Inputs(ctx context.Context, inputs []keeper.Input) error {
	for _, in := range inputs {
		if err := l.Input(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

func (l *scriptedLog) Resize(_ context.Context, _ string, _ string, cols, rows int) error {
	l.mu.Lock()
	l.sizes = append(l.sizes, [2]int{cols, rows})
	l.mu.Unlock()
	l.resize(cols, rows)
	return nil
}

func (l *scriptedLog) asked() [][2]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([][2]int(nil), l.sizes...)
}

func (l *scriptedLog) Retain(_ context.Context, _ string, offset uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retained = max(l.retained, offset)
	return nil
}

func (l *scriptedLog) Foreground(context.Context, string) (keeper.Foreground, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return keeper.Foreground{Canonical: l.canonical}, nil
}

func (l *scriptedLog) Follow(ctx context.Context, _ string, from uint64) (Stream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follows++
	if l.breakage != nil {
		l.breakage()
	}
	s := &scriptedStream{log: l, ctx: ctx, from: from, end: l.end, closed: make(chan struct{})}
	if from < l.kept {
		s.first = &keeper.Frame{Kind: keeper.Gap, From: from, To: l.kept}
		s.from = l.kept
	}
	return s, nil
}

type scriptedStream struct {
	log    *scriptedLog
	ctx    context.Context
	from   uint64
	end    uint64
	next   int
	first  *keeper.Frame
	once   sync.Once
	closed chan struct{}
	buf    []byte
}

func (s *scriptedStream) Ack(uint64) {}

func (s *scriptedStream) Range() keeper.Range { return keeper.Range{Start: s.log.kept, End: s.end} }
func (s *scriptedStream) Close()              { s.once.Do(func() { close(s.closed) }) }

func (s *scriptedStream) Next() (keeper.Frame, error) {
	for {
		if f := s.first; f != nil {
			s.first = nil
			return *f, nil
		}
		s.log.mu.Lock()
		changed, done := s.log.changed, s.log.done
		var frame keeper.Frame
		got := false
		for !got && !s.log.held && s.next < len(s.log.frames) {
			frame = s.log.frames[s.next]
			s.next++
			got = frame.To > s.from || frame.Kind != keeper.Bytes && frame.From >= s.from
		}
		s.log.mu.Unlock()
		if got {
			if frame.Kind == keeper.Bytes && frame.From < s.from {
				frame.Data, frame.From = frame.Data[s.from-frame.From:], s.from
			}
			// As the real stream: valid until the next call only.
			for i := range s.buf {
				s.buf[i] = 'X'
			}
			s.buf = append(s.buf[:0], frame.Data...)
			frame.Data = s.buf
			return frame, nil
		}
		if done {
			return keeper.Frame{}, io.EOF
		}
		select {
		case <-changed:
		case <-s.closed:
			return keeper.Frame{}, errors.New("closed")
		case <-s.ctx.Done():
			return keeper.Frame{}, s.ctx.Err()
		}
	}
}

// running is a pane in a running host; stop ends it as a shutdown does.
type running struct {
	*Pane
	t      testing.TB
	cancel context.CancelFunc
	ended  chan error
}

const testCols, testRows = 60, 12

func start(t testing.TB, l Keeper, edit func(*Config)) *running {
	t.Helper()
	cfg := Config{Pane: davit.Pane{ID: "p_1", Status: davit.PaneRunning, Cols: testCols, Rows: testRows}, Keeper: l, Dir: t.TempDir()}
	if edit != nil {
		edit(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Pane: p, t: t, cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- p.Run(ctx) }()
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	r.cancel()
	select {
	case <-r.Done():
	case <-time.After(10 * time.Second):
		r.t.Error("Run has not returned")
	}
}

// folded waits until the pane has taken the log in.
func (r *running) folded(offset uint64) {
	r.t.Helper()
	testenv.Eventually(r.t, 10*time.Second, func() (bool, string) {
		at := r.View().Offset
		return at >= offset, fmt.Sprintf("the pane is at %d of %d", at, offset)
	})
}

// shows is what a user sees of a pane.
func (r *running) shows() string {
	r.t.Helper()
	var text string
	if err := r.do(r.t.Context(), func() { text = seen(r.fold.screen) }); err != nil {
		r.t.Fatal(err)
	}
	return text
}

// seen is all that a screen shows, with colours, cursor and what keys would do.
func seen(s *screen.Screen) string {
	x, y := s.Cursor()
	text := fmt.Sprintf("%dx%d cursor %d,%d %v alt %v title %q modes %+v\n", s.Cols(), s.Rows(), x, y, s.CursorVisible(), s.AltScreen(), s.Title(), s.Modes())
	for row := range s.Rows() {
		text += s.RowANSI(row) + "\n"
	}
	return text
}

// display is a client's terminal: it does what a browser's does with frames.
type display struct {
	t         testing.TB
	sub       *Subscription
	screen    *screen.Screen
	offset    uint64
	snapshots int
	bytes     int
	exit      *davit.Exit
}

func (r *running) display(from *uint64) *display {
	d := &display{t: r.t, sub: r.Subscribe(SubscribeOptions{From: from, Lines: 50})}
	if from != nil {
		d.offset = *from
	}
	r.t.Cleanup(func() { d.sub.Close() })
	return d
}

// step takes one frame, or says that there is none now.
func (d *display) step(wait time.Duration) bool {
	d.t.Helper()
	return d.stepAs(wait, func(data []byte) []byte { return data })
}

// stepAs shows what an emulator makes of a frame.
func (d *display) stepAs(wait time.Duration, known func([]byte) []byte) bool {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	frame, err := d.sub.Next(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if err != nil {
		d.t.Fatalf("next frame: %v", err)
	}
	frame.Data = known(frame.Data)
	d.take(frame)
	d.sub.Ack(d.offset)
	return true
}

func (d *display) take(frame Frame) {
	d.t.Helper()
	switch {
	case frame.Exit != nil:
		d.exit = frame.Exit
		return
	case frame.Snapshot:
		d.snapshots++
		d.screen = screen.New(frame.Cols, frame.Rows, screen.Options{})
		d.offset = frame.To
	case d.screen == nil && d.offset == 0:
		d.screen = screen.New(frame.Cols, frame.Rows, screen.Options{})
		fallthrough
	default:
		if frame.From != d.offset {
			d.t.Fatalf("a frame from %d for a client at %d", frame.From, d.offset)
		}
		d.offset = frame.To
	}
	d.bytes += len(frame.Data)
	if res := d.screen.Write(frame.Data); len(res.Replies) > 0 {
		d.t.Fatalf("a client was asked %q", res.Replies[0].Data)
	}
}

// until shows everything up to what the pane has published.
func (d *display) until(r *running) {
	d.t.Helper()
	testenv.Eventually(d.t, 10*time.Second, func() (bool, string) {
		for d.step(time.Millisecond) {
		}
		end := r.ring.safe()
		r.ring.mu.Lock()
		d.sub.mu.Lock()
		same := d.sub.epoch == r.ring.epoch
		d.sub.mu.Unlock()
		r.ring.mu.Unlock()
		return d.screen != nil && same && d.offset >= end, fmt.Sprintf("the client is at %d of %d", d.offset, end)
	})
}
