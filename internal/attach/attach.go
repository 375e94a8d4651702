// Package attach shows one pane in the terminal that it is started in (spec interfaces
// A3.4): raw mode, output as it comes, keys as they are typed, resize, and everything put
// back at the end.
//
//	terminal ──stdin──► keys ──► sender ──► Conn.Input      (one at a time, same id until answered)
//	         ◄─stdout── output loop ◄────── Conn.Next       (snapshot, deltas, exit) ──► Conn.Ack
//	SIGWINCH ──────────────────────────► Conn.Resize
//
// Run owns its goroutines and returns after them. It connects again when the host
// restarts, from the offset it has shown, and sends again what was not answered, so that
// nothing is shown or typed twice. It draws nothing of its own while attached and refuses
// to pass the terminal's replies to queries on as input (spec terminal P3.5).
package attach

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"davit"
)

// Frame is one thing that the host tells of the pane. Data is valid until the next call.
type Frame struct {
	// Snapshot: Data draws the screen as of To on a reset terminal; else it is the
	// log's bytes [From, To) without their queries.
	Snapshot   bool
	From, To   uint64
	Cols, Rows int
	Data       []byte
	Exit       *davit.Exit // the program has ended, and all before it was given
}

// Conn is a connection to the host for one pane. Next is for one goroutine, the others
// for any. A *davit.Error says what the host answered; any other error, and the codes of
// a host that is going away, that the connection is lost.
type Conn interface {
	Next(ctx context.Context) (Frame, error)
	// Input returns when the host has answered.
	Input(ctx context.Context, id string, data []byte) error
	Resize(ctx context.Context, cols, rows int) error
	Ack(ctx context.Context, offset uint64) error
	Close() error
}

// Dial connects, claims the size (unless it is 0×0) and subscribes: from the offset that
// was shown, nil for a snapshot.
type Dial func(ctx context.Context, from *uint64, cols, rows int) (Conn, error)

// DefaultDetachKey is Ctrl-\, as of dtach and abduco.
const DefaultDetachKey = 0x1c

// Config says what is attached to what.
type Config struct {
	Dial    Dial
	In, Out *os.File
	// DetachKey is a control character; 0 means DefaultDetachKey.
	DetachKey byte
	// Patience is how long to wait for a host that went away; 0 means 30 s.
	Patience time.Duration
	Log      *slog.Logger
	NewID    func() string
}

// Outcome is how it ended.
type Outcome struct {
	Detached bool        // by the key, or because the terminal went away
	Exit     *davit.Exit // of the program
	Offset   uint64      // what was shown
	// Refused are inputs that the host did not take, in its words: they could not be
	// shown while the screen was the program's.
	Refused []string
}

// ackEvery is well below what the host wants acknowledged at the latest (P3.2).
const ackEvery = 32 << 10

// lastWords is how long a detach waits for the host to take what was typed before it.
const lastWords = time.Second

// attachment is one Run.
type attachment struct {
	cfg    Config
	link   link
	offset uint64
	shown  bool // something was: offset counts
	acked  uint64
	// terminal: In is one. Asked once: a terminal that has gone is none any more.
	terminal bool
	mu       sync.Mutex // guards refused and claimed; a leaf
	refused  []string
	claimed  [2]int // size that the host was told last
}

var errDetached = errors.New("detached")

// Run attaches until the program ends, the key is pressed or ctx ends.
func Run(ctx context.Context, cfg Config) (Outcome, error) {
	if cfg.DetachKey == 0 {
		cfg.DetachKey = DefaultDetachKey
	}
	if cfg.Patience == 0 {
		cfg.Patience = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	c := &attachment{cfg: cfg}
	c.link.changed = make(chan struct{})
	conn, err := c.dial(ctx)
	if err != nil {
		return Outcome{}, err
	}
	c.link.set(conn)
	restore, err := c.raw()
	if err != nil {
		conn.Close()
		return Outcome{}, err
	}
	defer restore()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	typed := make(chan []byte) // unbuffered: unread keys stay in the terminal
	sent := make(chan struct{})
	wait.Go(func() {
		err := c.keys(ctx, typed)
		if err == nil {
			return
		}
		select { // what was typed before the key goes out first
		case <-sent:
		case <-time.After(lastWords):
		}
		cancel(err)
	})
	wait.Go(func() {
		defer close(sent)
		c.send(ctx, typed)
	})
	wait.Go(func() { c.watchSize(ctx) })
	exit, err := c.output(ctx)
	cancel(err)
	wait.Wait()
	c.link.close()

	out := Outcome{Exit: exit, Offset: c.offset, Refused: c.refused}
	if errors.Is(context.Cause(ctx), errDetached) || errors.Is(err, errDetached) {
		out.Detached, err = true, nil
	}
	return out, err
}

// raw puts the terminal into raw mode and gives what puts it back.
func (c *attachment) raw() (func(), error) {
	fd := int(c.cfg.In.Fd())
	if c.terminal = term.IsTerminal(fd); !c.terminal {
		return func() {}, nil
	}
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("put the terminal into raw mode: %w", err)
	}
	return func() {
		if c.shown {
			io.WriteString(c.cfg.Out, resetModes+popTitle+leaveScreen(c.cfg.Out))
		}
		if err := term.Restore(fd, before); err != nil {
			c.cfg.Log.Warn("restore the terminal", "err", err)
		}
	}, nil
}

// output writes what comes until the program ends. A lost connection is made again.
func (c *attachment) output(ctx context.Context) (*davit.Exit, error) {
	for {
		conn := c.link.conn()
		exit, err := c.show(ctx, conn)
		if exit != nil {
			return exit, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var broken *writeError
		if errors.As(err, &broken) {
			return nil, errDetached // the terminal went away
		}
		if !lost(err) {
			return nil, err
		}
		conn.Close()
		if conn, err = c.again(ctx); err != nil {
			return nil, err
		}
		c.link.set(conn)
	}
}

type writeError struct{ err error }

func (w *writeError) Error() string { return "write to the terminal: " + w.err.Error() }
func (w *writeError) Unwrap() error { return w.err }

// show writes frames of one connection.
func (c *attachment) show(ctx context.Context, conn Conn) (*davit.Exit, error) {
	for {
		frame, err := conn.Next(ctx)
		if err != nil {
			return nil, err
		}
		if frame.Exit != nil {
			return frame.Exit, nil
		}
		if frame.Snapshot {
			clear := resetModes + clearScreen
			if !c.shown {
				clear = pushTitle + scrollAway(c.cfg.Out) + clear
			}
			_, err = io.WriteString(c.cfg.Out, clear)
		}
		if err == nil && len(frame.Data) > 0 {
			_, err = c.cfg.Out.Write(frame.Data)
		}
		if err != nil {
			return nil, &writeError{err}
		}
		c.offset, c.shown = frame.To, true
		if frame.Snapshot || c.offset-c.acked >= ackEvery {
			c.acked = c.offset
			if err := conn.Ack(ctx, c.offset); err != nil {
				return nil, err
			}
		}
	}
}

// dial connects from where we are.
func (c *attachment) dial(ctx context.Context) (Conn, error) {
	var from *uint64
	if c.shown {
		from = &c.offset
	}
	cols, rows := c.size()
	c.mu.Lock()
	c.claimed = [2]int{cols, rows}
	c.mu.Unlock()
	return c.cfg.Dial(ctx, from, cols, rows)
}

// again connects until it works, or patience ends.
func (c *attachment) again(ctx context.Context) (Conn, error) {
	deadline := time.Now().Add(c.cfg.Patience)
	for wait := 10 * time.Millisecond; ; wait = min(wait*2, 500*time.Millisecond) {
		conn, err := c.dial(ctx)
		if err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !lost(err) || time.Now().After(deadline) {
			return nil, err
		}
		c.cfg.Log.Debug("connect again", "err", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// lost tells a connection that can be made again from an answer of the host.
func lost(err error) bool {
	var domain *davit.Error
	if !errors.As(err, &domain) {
		return true
	}
	switch domain.Code {
	case davit.CodeHostDown, davit.CodeShuttingDown, davit.CodeKeeperUnreachable:
		return true
	}
	return false
}

// size is the terminal's, 0×0 when it is none.
func (c *attachment) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(c.cfg.Out.Fd()))
	if err != nil {
		return 0, 0
	}
	return cols, rows
}

// link is the connection in use.
type link struct {
	mu      sync.Mutex // guards what follows; a leaf
	current Conn
	changed chan struct{} // closed when current is replaced
}

func (l *link) set(c Conn) {
	l.mu.Lock()
	l.current = c
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
}

func (l *link) conn() Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// after waits for a connection other than old.
func (l *link) after(ctx context.Context, old Conn) (Conn, error) {
	for {
		l.mu.Lock()
		current, changed := l.current, l.changed
		l.mu.Unlock()
		if current != old {
			return current, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (l *link) close() {
	if c := l.conn(); c != nil {
		c.Close()
	}
}
