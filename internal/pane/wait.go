package pane

import (
	"context"
	"strings"

	"davit"
)

// Condition is what Wait waits for.
type Condition struct {
	For  string // exit | prompt | text
	Text string // of text: seen on the screen
}

// waiter is one who waits; its condition is looked at by the owner after each chunk.
type waiter struct {
	ctx   context.Context
	holds func() bool
	done  chan error // capacity 1
}

// Wait returns when the condition holds. pane_ended or pane_lost when it cannot hold any
// more.
func (p *Pane) Wait(ctx context.Context, c Condition) error {
	switch c.For {
	case "exit":
		return p.until(ctx, func() bool { return p.view.Load().Exit != nil })
	case "prompt":
		return p.until(ctx, func() bool { return p.fold.blocks.State == blockInput })
	case "text":
		return p.until(ctx, func() bool { return p.shows(c.Text) })
	}
	return davit.Errorf(davit.CodeInvalid, "a pane can be waited for exit, prompt or text, not %q", c.For)
}

// shows looks for text on the screen. A line that wraps counts as one.
func (p *Pane) shows(text string) bool {
	s := p.fold.screen
	var all strings.Builder
	for i, row := range s.Text() {
		if i > 0 {
			if line := s.Lines(s.ScrollbackLen()+i, s.ScrollbackLen()+i+1); len(line) == 0 || !line[0].Wrapped {
				all.WriteByte('\n')
			}
		}
		all.WriteString(row)
	}
	return strings.Contains(all.String(), text)
}

// until has the owner watch a condition, which may look at everything that it owns.
func (p *Pane) until(ctx context.Context, holds func() bool) error {
	w := waiter{ctx: ctx, holds: holds, done: make(chan error, 1)}
	if err := p.do(ctx, func() { p.fold.waiters = append(p.fold.waiters, w) }); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.done:
		return p.stopped()
	}
}

func (p *Pane) checkWaiters() {
	f := &p.fold
	if len(f.waiters) == 0 || !f.caught {
		return
	}
	keep := f.waiters[:0]
	for _, w := range f.waiters {
		switch {
		case w.ctx.Err() != nil:
		case w.holds():
			w.done <- nil
		case !p.running():
			w.done <- p.takesInput()
		default:
			keep = append(keep, w)
		}
	}
	clear(f.waiters[len(keep):])
	f.waiters = keep
}
