package pane

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/screen"
)

// replyQ carries the screen's answers to the keeper. Full: the oldest goes; its program
// does not read, and the keeper would call the reply late (P2.3).
type replyQ struct {
	mu     sync.Mutex // guards queue and flight; a leaf
	queue  []keeper.Input
	flight []keeper.Input // given to the keeper, who has not said that it has them
	wake   chan struct{}  // capacity 1
}

func (q *replyQ) init() { q.wake = make(chan struct{}, 1) }

func (q *replyQ) push(in keeper.Input) {
	q.mu.Lock()
	if n := len(q.queue); n > 0 && in.ReplyTo != 0 && q.queue[n-1].ReplyTo == in.ReplyTo {
		q.queue[n-1].Data = append(q.queue[n-1].Data, in.Data...) // of one query: one input
	} else {
		if n >= replyQueue {
			q.queue = append(q.queue[:0], q.queue[1:]...)
		}
		q.queue = append(q.queue, in)
	}
	q.mu.Unlock()
}

// take gives all, in order. Answers to different queries are never put together into one
// input: some may have been given by the host before this one.
func (q *replyQ) take() []keeper.Input {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flight, q.queue = q.queue, nil
	return q.flight
}

func (q *replyQ) landed() {
	q.mu.Lock()
	q.flight = nil
	q.mu.Unlock()
}

// owed is an answer to a query that the keeper is not known to have. A checkpoint holds
// them: the host that begins behind such a query does not fold it again.
type owed struct {
	At   uint64 `json:"at"` // replyTo
	Data []byte `json:"data"`
}

// owed are the answers that are under way, oldest first.
func (q *replyQ) owed() (all []owed) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, in := range slices.Concat(q.flight, q.queue) {
		if in.ReplyTo != 0 {
			all = append(all, owed{in.ReplyTo, bytes.Clone(in.Data)})
		}
	}
	return all
}

// answerOwed sends what a former host owed. The keeper drops what it has, and what is late.
func (p *Pane) answerOwed(all []owed) {
	var replies []screen.Reply
	for _, o := range all {
		replies = append(replies, screen.Reply{At: o.At, Data: o.Data})
	}
	p.answer(replies)
}

// answer queues replies to queries. The id and replyTo follow from the log, so that a
// host that folds the same bytes again answers nothing twice.
func (p *Pane) answer(replies []screen.Reply) {
	if len(replies) == 0 || p.view.Load().Status == davit.PaneEnded {
		return
	}
	for _, r := range replies {
		p.replies.push(keeper.Input{
			ID: fmt.Sprintf("reply-%d", r.At), Pane: string(p.id), Data: append([]byte(nil), r.Data...), ReplyTo: r.At,
		})
	}
	poke(p.replies.wake)
}

// report queues what a program asked to be told of a resize (mode 2048). It answers no
// query, so replyTo does not fit it; its mark's time makes the id.
func (p *Pane) report(replies []screen.Reply, frame keeper.Frame) {
	if len(replies) == 0 || p.cfg.Now().Sub(frame.Time) > 2*time.Second {
		return
	}
	var data []byte
	for _, r := range replies {
		data = append(data, r.Data...)
	}
	p.replies.push(keeper.Input{ID: fmt.Sprintf("report-%d-%d", frame.From, frame.Time.UnixNano()), Pane: string(p.id), Data: data})
	poke(p.replies.wake)
}

// reply sends them: all that wait at once, as a new host has many that the keeper will
// drop before the one that a program waits for.
func (p *Pane) reply(ctx context.Context) {
	for {
		select {
		case <-p.replies.wake:
		case <-ctx.Done():
			return
		}
		for {
			batch := p.replies.take()
			if len(batch) == 0 {
				break
			}
			switch err := p.cfg.Keeper.Inputs(ctx, batch); {
			case err == nil:
				p.replies.landed()
			case ctx.Err() == nil: // owed still, until the next
				p.log.Debug("answer queries", "n", len(batch), "err", err)
			}
		}
	}
}
