package keeper

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"davit"
)

// follow sends a log until it has ended, and takes acknowledgements meanwhile. It is the
// last verb of its connection.
func (c *conn) follow(ctx context.Context, r *request) error {
	c.open.Add(1)
	body, p, ok := parsePane(c.k, r)
	if !ok {
		c.flushed()
		return nil
	}
	o := p.output(body.Which)
	if o == nil {
		r.reply(nil, davit.Errorf(davit.CodeInvalid, "follow: pane %s has no log %q", body.Pane, body.Which))
		c.flushed()
		return nil
	}
	if end := o.log.span().End; body.From > end {
		r.reply(nil, davit.Errorf(davit.CodeInvalid, "follow: the log of pane %s ends at %d, before %d", body.Pane, end, body.From).With("end", end))
		c.flushed()
		return nil
	}
	t := o.log.follow(body.From)
	defer t.close()
	if c.acts() { // to ask from here on says that what is before it has been taken in
		o.ack(body.From)
	}
	span := o.log.span()
	answer, err := json.Marshal(span)
	if err != nil {
		return err
	}
	r.answer(answer, nil)
	if !c.flushed() { // from here on this goroutine writes to the connection itself
		return nil
	}
	var acks sync.WaitGroup
	acks.Go(func() { c.takeAcks(o) })
	err = c.sendLog(ctx, t)
	c.hangUp()
	acks.Wait()
	return err
}

// acts says whether this is a follow of the acting host; others only look.
func (c *conn) acts() bool { return c.kind == KindFollow && c.k.host.check(c.fence) == nil }

// takeAcks counts acknowledgements.
func (c *conn) takeAcks(o *output) {
	defer c.hangUp()
	for {
		kind, body, err := c.frames.Next()
		if err != nil || kind != TypeAck {
			return
		}
		offset, _, err := ParseOffset(body)
		if err != nil {
			return
		}
		if !c.acts() {
			continue
		}
		o.ack(offset)
		if c.k.host.hear(c.fence, time.Now()) {
			c.k.nudge()
		}
	}
}

// sendLog writes bytes and marks in log order.
func (c *conn) sendLog(ctx context.Context, t *tail) error {
	header := make([]byte, 0, 64)
	for {
		it, err := t.next()
		if err != nil {
			return err
		}
		switch it.kind {
		case itemWait:
			select {
			case <-t.wake:
			case <-c.ended:
				return nil
			case <-ctx.Done():
				return nil
			}
		case itemBytes:
			frame := net.Buffers{AppendDataHeader(header, it.at, len(it.data)), it.data}
			_, err = frame.WriteTo(c.c)
		case itemMark:
			_, err = c.c.Write(AppendMarkFrame(header, it.mark))
		case itemEnd:
			frame, _ := AppendMessage(nil, &Message{Event: "end"}, nil)
			_, err = c.c.Write(frame)
			return err
		}
		if err != nil {
			return err
		}
	}
}
