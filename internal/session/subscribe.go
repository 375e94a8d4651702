package session

import (
	"context"
	"fmt"
	"sync"

	"davit"
)

const (
	// batchRows is how many rows a subscriber gets at once.
	batchRows = 500
	// historyRows and historyMost bound a piece of history.
	historyRows = 200
	historyMost = 1000
)

// Rows is a piece of a journal.
type Rows struct {
	Rows   []davit.JournalRow
	Cursor davit.Cursor // of the last row
	More   bool
	Reset  string // why the cursor asked for is no good; Rows are the whole then
}

// whyReset says why a cursor is no place in a journal that ends at end; "" when it is one
// (S1.4).
func whyReset(after, end davit.Cursor) string {
	switch {
	case after == davit.Cursor{}:
		return "" // the beginning
	case after.Epoch != end.Epoch:
		return fmt.Sprintf("the journal was restored: its epoch is %d, the cursor's %d", end.Epoch, after.Epoch)
	case after.Seq > end.Seq:
		return fmt.Sprintf("the cursor is at row %d, the journal ends at %d", after.Seq, end.Seq)
	}
	return ""
}

func before(a, b davit.Cursor) bool { return a.Epoch < b.Epoch || a.Epoch == b.Epoch && a.Seq < b.Seq }

// History reads rows: after a cursor, or the newest before one (S1.4).
func (s *Service) History(ctx context.Context, id davit.SessionID, after, older *davit.Cursor, limit int) (Rows, error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return Rows{}, err
	}
	if after != nil && older != nil {
		return Rows{}, davit.Errorf(davit.CodeInvalid, "history is read after a cursor or before one, not both")
	}
	if limit <= 0 {
		limit = historyRows
	}
	limit = min(limit, historyMost)
	end := c.seen().Cursor
	out := Rows{Cursor: end}
	if after == nil {
		from := davit.Cursor{}
		if older != nil {
			from = *older
			if out.Reset = whyReset(from, end); out.Reset != "" {
				from = davit.Cursor{}
			}
		}
		out.Rows, err = s.cfg.Store.JournalBefore(ctx, id, from, limit)
		out.More = len(out.Rows) == limit && out.Rows[0].Seq > 1
	} else {
		from := *after
		if out.Reset = whyReset(from, end); out.Reset != "" {
			from = davit.Cursor{}
		}
		out.Rows, err = s.cfg.Store.Journal(ctx, id, from, limit)
		out.Cursor = from
		if n := len(out.Rows); n > 0 {
			out.More = before(davit.Cursor{Epoch: out.Rows[n-1].Epoch, Seq: out.Rows[n-1].Seq}, end)
		}
	}
	if err != nil {
		return Rows{}, davit.AsError(err)
	}
	if n := len(out.Rows); n > 0 {
		out.Cursor = davit.Cursor{Epoch: out.Rows[n-1].Epoch, Seq: out.Rows[n-1].Seq}
	}
	return out, nil
}

// Subscription gives the rows of a session as they come. Next is for one goroutine; Close
// may be called from any.
type Subscription struct {
	chat   *chat
	cursor davit.Cursor
	reset  string
	once   sync.Once
	closed chan struct{}

	mu    sync.Mutex // guards looks
	looks bool
}

// Subscribe follows a session: rows after the cursor, or without one the newest tail rows
// (0: all), then every row as it is stored. A subscriber that is too slow is not waited
// for: it reads from the store what it has missed.
func (s *Service) Subscribe(ctx context.Context, id davit.SessionID, after *davit.Cursor, tail int) (*Subscription, error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	end := c.seen().Cursor
	sub := &Subscription{chat: c, closed: make(chan struct{})}
	switch {
	case after != nil:
		sub.cursor = *after
		if sub.reset = whyReset(*after, end); sub.reset != "" {
			sub.cursor = davit.Cursor{}
		}
	case tail > 0 && uint64(tail) < end.Seq:
		sub.cursor = davit.Cursor{Epoch: end.Epoch, Seq: end.Seq - uint64(tail)}
	}
	return sub, nil
}

// Look says whether somebody looks at what the subscription shows: what is done then is
// idle. At first nobody does.
func (s *Subscription) Look(looks bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if looks == s.looks {
		return
	}
	s.looks = looks
	if looks {
		s.chat.look(1)
	} else {
		s.chat.look(-1)
	}
}

// Next waits for rows. It ends with ctx, with Close, or with the host.
func (s *Subscription) Next(ctx context.Context) (Rows, error) {
	c := s.chat
	for {
		changed, end := c.watch() // before the read, so that nothing between the two is missed
		if before(s.cursor, end) || s.reset != "" {
			rows, err := c.s.cfg.Store.Journal(ctx, c.id, s.cursor, batchRows)
			if err != nil {
				return Rows{}, davit.AsError(err)
			}
			if n := len(rows); n > 0 {
				s.cursor = davit.Cursor{Epoch: rows[n-1].Epoch, Seq: rows[n-1].Seq}
			}
			if len(rows) > 0 || s.reset != "" {
				out := Rows{Rows: rows, Cursor: s.cursor, More: before(s.cursor, end), Reset: s.reset}
				s.reset = ""
				return out, nil
			}
		}
		select {
		case <-changed:
		case <-s.closed:
			return Rows{}, davit.Errorf(davit.CodeInvalid, "the subscription was closed")
		case <-c.done:
			return Rows{}, c.ended()
		case <-ctx.Done():
			return Rows{}, context.Cause(ctx)
		}
	}
}

// Close ends it.
func (s *Subscription) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.Look(false)
	})
}
