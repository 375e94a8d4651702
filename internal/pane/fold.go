package pane

import (
	"bytes"
	"context"
	"io"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/screen"
)

// chunk is a frame of the keeper's stream whose bytes lie in a buffer of ours.
type chunk struct {
	frame keeper.Frame // Data is not used
	piece piece        // of Bytes
	goal  uint64       // a stream has begun; the log's end then
	begun bool
	err   error // the stream is over: io.EOF, or why
}

// fold is what the owner goroutine owns.
type fold struct {
	screen  *screen.Screen
	tail    []piece // read, but not published: the parser has not finished it
	blocks  blocks
	props   map[string]string
	waiters []waiter
	save    saver
	timer   *time.Timer
	armed   bool
	drawn   drawn
	goal    uint64 // where the log ended when this host came
	begun   bool   // goal is known
	caught  bool   // and reached

	sided      bool   // left-right margins are on (mode 69)
	answeredAt uint64 // where the shell last answered a request of davit's (line.go)
	gave       uint64 // which prompt the user's line was given back at

	swallow   bool   // inside a string too long to hold back
	swallowed uint64 // its start
	escaped   bool   // the last byte of it was ESC
}

// maxHeld is how much of an unfinished sequence is held back from clients.
const maxHeld = 64 << 10

// read copies the keeper's stream into buffers and hands it to the owner. A lost stream
// is followed again from where it broke; when that fails for a while the pane is lost.
func (p *Pane) read(ctx context.Context) {
	next := p.ring.safe()
	var buf []byte
	used := 0
	for attempt := 0; ctx.Err() == nil; attempt++ {
		if attempt > 0 && !sleep(ctx, min(time.Duration(attempt*attempt)*50*time.Millisecond, 2*time.Second)) {
			return
		}
		stream, err := p.cfg.Keeper.Follow(ctx, string(p.id), next)
		if err == nil && !p.hand(ctx, chunk{begun: true, goal: endOf(stream)}) {
			err = ctx.Err()
		}
		for err == nil {
			var frame keeper.Frame
			stream.Ack(p.head.Load())
			if frame, err = stream.Next(); err != nil {
				break
			}
			attempt = 0
			if frame.Kind != keeper.Bytes {
				next = max(next, frame.To)
				if !p.hand(ctx, chunk{frame: frame}) {
					break
				}
				continue
			}
			for data, from := frame.Data, frame.From; len(data) > 0 && ctx.Err() == nil; {
				if used == len(buf) {
					buf, used = make([]byte, chunkBytes), 0
				}
				n := copy(buf[used:], data)
				c := chunk{frame: keeper.Frame{Kind: keeper.Bytes}, piece: piece{from: from, buf: buf, at: used, n: n}}
				used, data, from = used+n, data[n:], from+uint64(n)
				next = from
				p.hand(ctx, c)
			}
		}
		if stream != nil {
			stream.Close()
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == io.EOF:
			p.hand(ctx, chunk{err: err})
			return
		case davit.CodeOf(err) == davit.CodeKeeperSuperseded:
			return // another host has the pane; it is not lost, and not ours to speak of
		case attempt >= 8 || davit.CodeOf(err) == davit.CodePaneNotFound:
			p.log.Warn("the keeper does not serve the pane", "err", err)
			p.hand(ctx, chunk{err: err})
			return
		}
	}
}

// endOf is where the log ended when the stream began, as far as it says so.
func endOf(s Stream) uint64 {
	if r, ok := s.(interface{ Range() keeper.Range }); ok {
		return r.Range().End
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Pane) hand(ctx context.Context, c chunk) bool {
	select {
	case p.chunks <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// own is the owner's loop.
func (p *Pane) own(ctx context.Context) {
	f := &p.fold
	f.timer = time.NewTimer(time.Hour)
	f.timer.Stop()
	defer f.timer.Stop()
	returned := p.readers.await(p.cfg.Adopted)
	for {
		select {
		case c := <-p.chunks:
			p.apply(c)
		case fn := <-p.requests:
			fn()
		case <-f.timer.C:
			f.armed = false
			p.quiet()
		case done := <-f.save.finished:
			p.saved(done)
		case <-returned: // what was kept for readers who did not come back can go
			if p.readers.waited() {
				f.save.dirty = true
				p.arm(quietFor)
			}
		case <-ctx.Done():
			p.finish()
			return
		}
		p.checkWaiters()
	}
}

// apply folds one chunk.
func (p *Pane) apply(c chunk) {
	f := &p.fold
	switch {
	case c.err != nil:
		p.over(c.err)
		p.catchUp()
		return
	case c.begun:
		if !f.begun {
			f.goal, f.begun = c.goal, true
		}
		if f.screen.Offset() >= f.goal {
			p.catchUp()
		}
		p.giveBack()
		return
	}
	switch frame := c.frame; frame.Kind {
	case keeper.Bytes:
		p.write(c.piece)
	case keeper.Start, keeper.Resize:
		p.resized(frame)
	case keeper.Gap:
		p.gap(frame.From, frame.To)
	case keeper.Exit:
		p.exited(frame)
	}
	if !f.caught && f.screen.Offset() >= f.goal {
		p.catchUp()
	}
	p.giveBack()
	p.touched()
}

// catchUp opens the pane to those who look at it.
func (p *Pane) catchUp() {
	if f := &p.fold; !f.caught {
		f.caught = true
		p.ring.goLive()
		close(p.live)
	}
}

// write folds output and publishes what the parser has finished.
func (p *Pane) write(c piece) {
	f := &p.fold
	offset := f.screen.Offset()
	switch {
	case c.to() <= offset: // after a restore: what the checkpoint's parser had begun
		p.keepTail(c)
		return
	case c.from > offset:
		p.gap(offset, c.from)
	case c.from < offset:
		p.keepTail(c.sub(c.from, offset))
		c = c.sub(offset, c.to())
	}
	for c.n > 0 {
		n := c.n
		if f.swallow {
			n = f.untilEnd(c.buf[c.at : c.at+c.n])
		}
		p.writePart(c.sub(c.from, c.from+uint64(n)))
		c = c.sub(c.from+uint64(n), c.to())
	}
}

func (p *Pane) writePart(c piece) {
	f := &p.fold
	f.tail = append(f.tail, c)
	sided := f.sided || bytes.Contains(c.buf[c.at:c.at+c.n], enterMargins)
	res := f.screen.Write(c.buf[c.at : c.at+c.n])
	p.head.Store(f.screen.Offset())
	if f.sided = f.screen.Modes().LeftRightMargins; sided || f.sided {
		p.ring.sided(c.to())
	}
	p.publish(res.Queries)
	f.save.grew(c.n)
	p.answer(res.Replies)
	for i := range res.Effects {
		p.effect(&res.Effects[i])
	}
}

// enterMargins is looked for because a program may leave the mode again in the same piece.
var enterMargins = []byte("\x1b[?69h")

// keepTail takes in bytes that the screen knows already, for clients that need them.
func (p *Pane) keepTail(c piece) {
	from := p.ring.safe()
	if n := len(p.fold.tail); n > 0 {
		from = p.fold.tail[n-1].to()
	}
	if c.to() > from {
		p.fold.tail = append(p.fold.tail, c.sub(max(c.from, from), c.to()))
	}
}

// publish gives clients everything before what the parser has not finished, without the
// queries. So a query is never given in half, and a snapshot never lies inside a
// character or sequence (P3.1). An unfinished string longer than maxHeld is given to
// nobody: its beginning was held back, and the rest is cut out up to its end.
func (p *Pane) publish(cuts []screen.Range) {
	f := &p.fold
	safe, offset := f.screen.SafeOffset(), f.screen.Offset()
	switch {
	case f.swallow:
		f.swallow = safe == f.swallowed && safe != offset
		if f.swallow {
			safe = offset
		}
		cuts = []screen.Range{{From: p.ring.safe(), To: safe}}
	case offset-safe > maxHeld:
		f.swallow, f.swallowed = true, safe
		cuts = append(cuts, screen.Range{From: safe, To: offset})
		safe = offset
	}
	p.ring.append(f.tail, cuts, safe)
	keep := 0
	for _, c := range f.tail {
		if c.to() > safe {
			f.tail[keep] = c.sub(max(c.from, safe), c.to())
			keep++
		}
	}
	clear(f.tail[keep:])
	f.tail = f.tail[:keep]
}

// floor is where clients follow from: SafeOffset, or the end while a long string is
// swallowed.
func (f *fold) floor() uint64 {
	if f.swallow {
		return f.screen.Offset()
	}
	return f.screen.SafeOffset()
}

// untilEnd is how much of data to fold before looking whether the swallowed string has
// ended: through the next byte that can end one.
func (f *fold) untilEnd(data []byte) int {
	n := len(data)
	if f.escaped {
		n = 1
	} else if i := bytes.IndexAny(data, "\a\x18\x1a\x1b"); i >= 0 {
		n = i + 1
	}
	f.escaped = data[n-1] == 0x1b
	return n
}

// resized is a sync boundary (P3.1; bytes laid out for one width are never shown in another).
func (p *Pane) resized(frame keeper.Frame) {
	f := &p.fold
	if frame.Cols < 1 || frame.Rows < 1 || frame.From < f.screen.Offset() ||
		frame.Cols == f.screen.Cols() && frame.Rows == f.screen.Rows() {
		return
	}
	res := f.screen.Resize(frame.Cols, frame.Rows)
	p.ring.bound(frame.From, f.floor(), frame.Cols, frame.Rows)
	f.save.resumable = frame.From + 1
	p.change(func(v *davit.Pane) { v.Cols, v.Rows = frame.Cols, frame.Rows })
	p.size.inForce(frame.Cols, frame.Rows)
	p.report(res.Replies, frame)
	p.emit(Event{Kind: EventResized, At: frame.From})
}

// gap says that a part of the log is not kept any more. The program repaints: what is
// shown of it may be wrong (P1.4).
func (p *Pane) gap(from, to uint64) {
	f := &p.fold
	offset := f.screen.Offset()
	if to <= offset {
		return
	}
	f.screen.Gap(to - max(from, offset))
	f.screen.SetOffset(to)
	f.tail, f.swallow, f.escaped = nil, false, false
	p.head.Store(to)
	p.ring.bound(to, to, f.screen.Cols(), f.screen.Rows())
	f.save.resumable = to + 1
	p.approximate()
}

const noteApproximate = "restored approximately"

// approximate says that the screen may differ from the program's, and has it repaint.
func (p *Pane) approximate() {
	p.change(func(v *davit.Pane) { v.Note = noteApproximate })
	p.emit(Event{Kind: EventNote})
	p.size.repaint()
}

func (p *Pane) exited(frame keeper.Frame) {
	if p.view.Load().Exit != nil || frame.Exit == nil {
		return
	}
	exit := exitFrom(frame.Exit)
	p.change(func(v *davit.Pane) {
		v.Status, v.Exit, v.Running, v.Command, v.Pid = davit.PaneEnded, exit, false, "", 0
	})
	p.ring.end(exit)
	p.emit(Event{Kind: EventExit, At: frame.From})
}

// over is the end of the stream: the terminal is gone, or the keeper is.
func (p *Pane) over(err error) {
	p.publish(nil)
	if err == io.EOF && p.view.Load().Exit != nil {
		return
	}
	if p.view.Load().Status == davit.PaneEnded {
		return
	}
	p.change(func(v *davit.Pane) { v.Status, v.Running = davit.PaneLost, false })
	p.emit(Event{Kind: EventLost})
}

// emit queues an event with the view as it is now.
func (p *Pane) emit(e Event) {
	e.Time, e.View = p.cfg.Now(), p.View()
	if e.At == 0 {
		e.At = p.head.Load()
	}
	p.out.push(e)
}
