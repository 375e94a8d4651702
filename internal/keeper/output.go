package keeper

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	burst       = 64 << 10 // read at most so much before it is told
	drainMost   = 1 << 20  // a barrier gives up on a program that never stops printing
	retryLog    = time.Second
	reopenFirst = 20 * time.Millisecond // a child closed its terminal and may open it again
	reopenMost  = time.Second
)

// output reads one descriptor into one log. run is its goroutine; whoever holds turn may
// read and mark instead, which is what makes a resize and an exit barriers (P1.5, P1.8).
type output struct {
	log      *outlog
	file     *os.File // non-blocking; never Fd()
	raw      syscall.RawConn
	pty      bool
	ahead    uint64        // P1.3's bound
	hold     func() bool   // a host is there or waited for
	went     chan struct{} // closed when the child has ended
	news     chan struct{} // one token: acknowledgement, hold or trouble changed
	quit     chan struct{} // closed when the pane is dropped
	quitting sync.Once
	slog     *slog.Logger

	turn sync.Mutex // over reads that do not block and the log write
	gone bool       // the descriptor is closed; under turn
	// retrying: a timer will try the log again; under turn
	retrying bool

	mu    sync.Mutex // guards acked
	acked uint64
}

func newOutput(l *outlog, file *os.File, pty bool, ahead uint64, hold func() bool, went chan struct{}, log *slog.Logger) (*output, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &output{
		log: l, file: file, raw: raw, pty: pty, ahead: ahead, hold: hold,
		went: went, news: make(chan struct{}, 1), quit: make(chan struct{}), slog: log,
	}, nil
}

// state of a drain.
type drained int

const (
	drainedEmpty drained = iota // EAGAIN
	drainedFull                 // the bound was reached
	drainedEOF                  // EIO or end of file
)

// run reads until nobody holds the other end, or the pane is dropped.
func (o *output) run() {
	reopen := reopenFirst
	for o.wait() {
		eof := false
		err := o.raw.Read(func(fd uintptr) bool {
			for {
				o.turn.Lock()
				total, state := o.drain(int(fd), burst)
				o.settle()
				o.turn.Unlock()
				if total > 0 {
					reopen = reopenFirst
				}
				if eof = state == drainedEOF; eof || o.paused() {
					return true
				}
				if state == drainedEmpty {
					return false // wait for more
				}
			}
		})
		if err != nil {
			break // the pane was dropped
		}
		if eof {
			// A session leader that closed its terminal may open it again.
			if !o.pty || !o.sleep(reopen) {
				break
			}
			reopen = min(2*reopen, reopenMost)
		}
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	o.gone = true
	o.file.Close()
	o.log.setEOF()
}

// sleep waits; false when the child has ended, and nobody will open the terminal again.
func (o *output) sleep(d time.Duration) bool {
	select {
	case <-o.went:
		return false
	case <-time.After(d):
		return true
	}
}

// drain reads until EAGAIN, the end, or most bytes. By the turn's holder.
func (o *output) drain(fd, most int) (total int, state drained) {
	for total < most {
		space := o.log.space()
		filled := 0
		for filled < len(space) {
			n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, space[filled:]) })
			if err == nil && n > 0 {
				filled += n
				continue
			}
			state = drainedEOF // EIO: nobody holds the other end
			if errors.Is(err, unix.EAGAIN) {
				state = drainedEmpty
			}
			if filled > 0 {
				o.log.append(space[:filled])
			}
			return total + filled, state
		}
		o.log.append(space)
		total += filled
	}
	return total, drainedFull
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// settle does what follows an append: old bytes go when nobody is waited for, and a log
// in trouble is tried again. By the turn's holder.
func (o *output) settle() {
	if o.pty && !o.hold() {
		if span := o.log.span(); span.End-span.Start > o.ahead {
			o.cut(span.End - o.ahead)
			o.compact()
		}
	}
	if o.log.trouble != nil && !o.retrying {
		o.retrying = true
		o.slog.Warn("a log cannot be written; trying again each second", "err", o.log.trouble)
		time.AfterFunc(retryLog, o.retry)
	}
}

// retry tries the log again each second until it takes bytes (P1.9), also when the
// program has ended meanwhile.
func (o *output) retry() {
	o.turn.Lock()
	defer o.turn.Unlock()
	select {
	case <-o.quit:
		return
	default:
	}
	if !o.log.retry() {
		time.AfterFunc(retryLog, o.retry)
		return
	}
	o.retrying = false
	o.nudge()
}

func (o *output) cut(before uint64) {
	if err := o.log.retain(before); err != nil {
		o.slog.Warn("drop a segment of a log", "err", err)
	}
}

// compact keeps the index from growing for ever. By the turn's holder.
func (o *output) compact() {
	if o.gone { // closeFiles may have been
		return
	}
	if err := o.log.compact(); err != nil {
		o.slog.Warn("write the index anew", "err", err)
	}
}

// wait blocks while the host is to catch up, or while a pipe's log is in trouble; false
// when the pane was dropped.
func (o *output) wait() bool {
	for o.paused() {
		select {
		case <-o.news:
		case <-o.quit:
			return false
		}
	}
	return true
}

func (o *output) paused() bool {
	if !o.pty && o.log.troubled() != nil {
		return true
	}
	o.mu.Lock()
	acked := o.acked
	o.mu.Unlock()
	return o.log.span().End >= acked+o.ahead && (!o.pty || o.hold())
}

// nudge makes a paused reader look again.
func (o *output) nudge() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// ack notes how far the host is. It never goes back: an acknowledgement is about what the
// program may print, not about what is kept.
func (o *output) ack(offset uint64) {
	o.mu.Lock()
	o.acked = max(o.acked, min(offset, o.log.span().End))
	o.mu.Unlock()
	o.nudge()
}

func (o *output) ackedTo() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acked
}

// barrier reads what has been printed so far and then acts on the descriptor, with
// nothing read in between. act gets -1 when the descriptor is closed.
func (o *output) barrier(act func(fd int)) {
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.gone {
		act(-1)
		return
	}
	err := o.raw.Control(func(fd uintptr) {
		o.drain(int(fd), drainMost)
		o.settle()
		act(int(fd))
	})
	if err != nil {
		act(-1)
	}
}

// quitNow ends run although somebody may still hold the other end.
func (o *output) quitNow() {
	o.quitting.Do(func() {
		close(o.quit)
		o.file.Close()
	})
}
