package pane

import (
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"davit"
	"davit/internal/keeper"
)

// readersReturn is how long a new host keeps what may be kept for readers of every byte:
// those of the host before it come back within that time (`davit pane read --follow` waits
// as long for a host).
const readersReturn = 30 * time.Second

// readers holds back the keeper's log for those who read every byte (P3.2).
type readers struct {
	mu  sync.Mutex // guards what follows; a leaf
	set map[*OutputReader]uint64
	// returning: readers of a former host, nobody knows where, are waited for; held: and
	// something was kept for them.
	returning, held bool
}

func (r *readers) at(o *OutputReader, offset uint64) {
	r.mu.Lock()
	if r.set == nil {
		r.set = map[*OutputReader]uint64{}
	}
	r.set[o] = offset
	r.mu.Unlock()
}

func (r *readers) drop(o *OutputReader) {
	r.mu.Lock()
	delete(r.set, o)
	r.mu.Unlock()
}

// await begins to wait for the readers of a former host, when there was one; the channel
// tells when to end that.
func (r *readers) await(adopted bool) <-chan time.Time {
	if !adopted {
		return nil
	}
	r.mu.Lock()
	r.returning = true
	r.mu.Unlock()
	return time.After(readersReturn)
}

// waited ends the waiting, and says whether something was kept for it.
func (r *readers) waited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.returning = false
	return r.held
}

// floor is what must be kept, given the checkpoint's offset and the log's end: the
// slowest reader's, but at most retainMax.
func (r *readers) floor(checkpoint, head uint64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	bound := uint64(0)
	if head > retainMax {
		bound = head - retainMax
	}
	low := checkpoint
	if r.returning {
		low, r.held = min(low, bound), true
	}
	for _, offset := range r.set {
		low = min(low, max(offset, bound))
	}
	return low
}

// OutputReader gives the log itself, every byte, never a snapshot.
type OutputReader struct {
	pane   *Pane
	stream Stream
	pos    uint64
}

// Output reads the log from an offset until ctx ends. It holds no program back: one that
// reads too slowly is told output_gap and ended.
func (p *Pane) Output(ctx context.Context, from uint64) (*OutputReader, error) {
	o := &OutputReader{pane: p, pos: from}
	p.readers.at(o, from)
	stream, err := p.cfg.Keeper.Follow(ctx, string(p.id), from)
	if err != nil {
		p.readers.drop(o)
		return nil, err
	}
	o.stream = stream
	return o, nil
}

// Next gives the next bytes, or the exit. Data is valid until the next call. io.EOF: the
// pane has ended and everything was given.
func (o *OutputReader) Next() (Frame, error) {
	for {
		frame, err := o.stream.Next()
		if err != nil {
			return Frame{}, err
		}
		switch frame.Kind {
		case keeper.Bytes:
			if frame.To <= o.pos {
				continue
			}
			if frame.From < o.pos {
				frame.Data, frame.From = frame.Data[o.pos-frame.From:], o.pos
			}
			o.pos = frame.To
			o.pane.readers.at(o, o.pos)
			return Frame{From: frame.From, To: frame.To, Data: frame.Data}, nil
		case keeper.Gap:
			if frame.To <= o.pos {
				continue
			}
			return Frame{}, davit.Errorf(davit.CodeOutputGap, "the output from %d to %d is not kept any more", o.pos, frame.To).
				With("from", o.pos).With("to", frame.To).WithHint("Read on from %d.", frame.To)
		case keeper.Exit:
			return Frame{From: frame.From, To: frame.To, Exit: exitFrom(frame.Exit)}, nil
		}
	}
}

// Close ends the reading.
func (o *OutputReader) Close() error {
	o.pane.readers.drop(o)
	o.stream.Close()
	return nil
}

var _ io.Closer = (*OutputReader)(nil)

// exitFrom gives the keeper's word of an exit the shape that clients see.
func exitFrom(e *keeper.ExitStatus) *davit.Exit {
	exit := &davit.Exit{Code: e.Code, At: e.Time}
	if e.Signal != 0 {
		exit.Code = 128 + e.Signal
		exit.Signal = unix.SignalName(unix.Signal(e.Signal))
	}
	return exit
}
