package attach

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"davit"
)

// keyChunk bounds one input; what is typed faster waits in the terminal.
const keyChunk = 32 << 10

// keys reads the terminal until ctx ends, and gives on what is meant for the program.
// The detach key ends the attachment; what was typed before it is given first.
func (c *attachment) keys(ctx context.Context, typed chan<- []byte) error {
	defer close(typed)
	read, done, err := reader(ctx, c.cfg.In, c.terminal)
	if err != nil {
		return err
	}
	defer done()
	filter := keyFilter{detach: c.cfg.DetachKey}
	buf := make([]byte, keyChunk)
	for {
		n, err := read(buf)
		if ctx.Err() != nil {
			return nil
		}
		if n > 0 {
			data, detach := filter.pass(buf[:n])
			if len(data) > 0 {
				select {
				case typed <- data:
				case <-ctx.Done():
					return nil
				}
			}
			if detach {
				return errDetached
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && !c.terminal:
			return nil // a pipe's end: go on showing
		default:
			return errDetached
		}
	}
}

// reader gives a function that reads from in until ctx ends. A terminal is opened anew when
// that can be done: a descriptor of our own may be non-blocking, so the runtime waits for it
// beside the connection, and no thread stands in a system call while a key is echoed.
func reader(ctx context.Context, in *os.File, terminal bool) (read func([]byte) (int, error), done func(), err error) {
	if terminal {
		if own := reopen(in); own != nil {
			stop := context.AfterFunc(ctx, func() { own.SetReadDeadline(time.Unix(1, 0)) })
			return own.Read, func() { stop(); own.Close() }, nil
		}
	}
	wake, stop, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cancelled := context.AfterFunc(ctx, func() { stop.Close() })
	done = func() {
		if cancelled() {
			stop.Close()
		}
		wake.Close()
	}
	return func(buf []byte) (int, error) { return readUnless(in, wake, buf) }, done, nil
}

// readUnless reads from in, or gives nothing once wake is at its end.
func readUnless(in, wake *os.File, buf []byte) (int, error) {
	fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		if fds[1].Revents != 0 {
			return 0, nil
		}
		if fds[0].Revents == 0 {
			continue
		}
		n, err := unix.Read(int(in.Fd()), buf)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return 0, err
		case n <= 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// send gives input to the host, one at a time: what is typed meanwhile goes together
// with the next, and the order stands whatever happens to the connection.
func (c *attachment) send(ctx context.Context, typed <-chan []byte) {
	var data []byte
	for typed != nil || len(data) > 0 {
		if len(data) == 0 {
			select {
			case more, ok := <-typed:
				if !ok {
					return
				}
				data = more
			case <-ctx.Done():
				return
			}
		}
		answered := make(chan struct{})
		go func(data []byte) {
			defer close(answered)
			c.deliver(ctx, data)
		}(data)
		data = nil
		for waiting := true; waiting; {
			from := typed
			if len(data) >= keyChunk {
				from = nil // enough for one input; the rest waits in the terminal
			}
			select {
			case more, ok := <-from:
				if !ok {
					typed = nil
				}
				data = append(data, more...)
			case <-answered:
				waiting = false
			}
		}
	}
}

// deliver gives one input until it is answered. A lost connection: the same id again
// (spec terminal P1.2). Busy: nothing was taken, so again, as a new input.
func (c *attachment) deliver(ctx context.Context, data []byte) {
	id := c.cfg.NewID()
	conn := c.link.conn()
	c.claim(ctx, conn) // what is typed after a change of size is read at that size
	for ctx.Err() == nil {
		err := conn.Input(ctx, id, data)
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case davit.CodeOf(err) == davit.CodePaneBusy:
			id = c.cfg.NewID()
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		case lost(err):
			conn.Close() // the output loop sees it and connects again
			if conn, err = c.link.after(ctx, conn); err != nil {
				return
			}
		default:
			c.refuse(err)
			return
		}
	}
}

// refuse rings the bell now and keeps the words for the end: the screen is the program's.
func (c *attachment) refuse(err error) {
	io.WriteString(c.cfg.Out, "\a")
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refused) < 10 {
		c.refused = append(c.refused, err.Error())
	}
}

// watchSize claims the terminal's size whenever it changes.
func (c *attachment) watchSize(ctx context.Context) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, unix.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		c.claim(ctx, c.link.conn())
	}
}

// claim tells the host the terminal's size unless it knows it. Two at once may both tell
// it, which is harmless; a lost connection claims the size when it is made again.
func (c *attachment) claim(ctx context.Context, conn Conn) {
	cols, rows := c.size()
	now := [2]int{cols, rows}
	c.mu.Lock()
	known := c.claimed == now
	c.mu.Unlock()
	if known || cols <= 0 || rows <= 0 {
		return
	}
	if err := conn.Resize(ctx, cols, rows); err != nil {
		c.cfg.Log.Debug("resize", "err", err)
		return
	}
	c.mu.Lock()
	c.claimed = now
	c.mu.Unlock()
}
