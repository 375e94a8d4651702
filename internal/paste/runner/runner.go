// Package runner pastes texts into terminals, as internal/paste decides.
//
//	caller ─ Run ─► pane's turn ─► look ─► paste.Next ─► wait for output │ write │ report
//
// It owns no goroutine; Run works on the caller's. Its one lock guards who is at work on
// which pane and is never held over work: one text at a time per pane, the others wait for
// their turn as long as they would wait for the composer. It writes each text and each Enter
// once and never answers a dialog.
package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"davit"
	"davit/internal/paste"
)

// Terminal is a pane as a paste sees it.
type Terminal interface {
	// Look gives what is to be seen now.
	Look(ctx context.Context) (paste.Sight, error)
	// Changed returns when there is output behind the offset, when the program has ended,
	// or when ctx ends.
	Changed(ctx context.Context, offset uint64)
	// Write gives bytes to the program, once per id. With an error, none says that it is
	// proven that not a byte was taken.
	Write(ctx context.Context, id string, data []byte) (none bool, err error)
}

const (
	// breath is the least time between two looks, so that a program that draws without end
	// does not keep the host busy.
	breath = 20 * time.Millisecond
	// writeWithin is how long a program may take to read a text.
	writeWithin = 30 * time.Second
)

// Runner pastes. The zero value is ready.
type Runner struct {
	mu    sync.Mutex // guards turns; a leaf
	turns map[davit.PaneID]*turn
}

// turn is the right to paste into a pane: whoever holds its token has it.
type turn struct {
	token chan struct{} // capacity 1
	users int
}

// Run pastes the job's text into the pane and tells what became of it. When ctx ends
// nothing more is written, but for an Enter that is on its way.
func (r *Runner) Run(ctx context.Context, pane davit.PaneID, t Terminal, job paste.Job) paste.Report {
	begun := paste.Begin(job, time.Now())
	leave, err := r.enter(ctx, pane)
	if err != nil {
		return paste.Stop(begun, err.Error())
	}
	defer leave()
	return run(ctx, t, paste.Begin(job, time.Now()))
}

// enter waits for the pane's turn.
func (r *Runner) enter(ctx context.Context, pane davit.PaneID) (leave func(), err error) {
	r.mu.Lock()
	if r.turns == nil {
		r.turns = map[davit.PaneID]*turn{}
	}
	mine := r.turns[pane]
	if mine == nil {
		mine = &turn{token: make(chan struct{}, 1)}
		r.turns[pane] = mine
	}
	mine.users++
	r.mu.Unlock()
	gone := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if mine.users--; mine.users == 0 {
			delete(r.turns, pane)
		}
	}
	late := time.NewTimer(paste.ReadyWithin)
	defer late.Stop()
	select {
	case mine.token <- struct{}{}:
		return func() { <-mine.token; gone() }, nil
	case <-late.C:
		err = fmt.Errorf("another text is being pasted into the terminal for over %d s", int(paste.ReadyWithin.Seconds()))
	case <-ctx.Done():
		err = errors.New(why(ctx))
	}
	gone()
	return nil, err
}

func run(ctx context.Context, t Terminal, state paste.State) paste.Report {
	for {
		seen, err := t.Look(ctx)
		switch {
		case ctx.Err() != nil:
			return paste.Stop(state, why(ctx))
		case err != nil:
			return paste.Stop(state, davit.AsError(err).Message)
		}
		var act paste.Act
		state, act = paste.Next(state, seen, time.Now())
		switch act.Kind {
		case paste.ActFinish:
			return act.Report
		case paste.ActLook:
			look(ctx, t, seen.Offset, act.By)
		case paste.ActWrite:
			none, err := write(ctx, t, act)
			state = paste.Wrote(state, err, none, time.Now())
		}
	}
}

// look waits for something to look at.
func look(ctx context.Context, t Terminal, offset uint64, by time.Time) {
	began := time.Now()
	waiting, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	t.Changed(waiting, offset)
	rest := time.NewTimer(breath - time.Since(began))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
}

// write is not cut short by its caller: what was begun is to be known.
func write(ctx context.Context, t Terminal, act paste.Act) (none bool, err error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), writeWithin, errors.New("the program does not read what is pasted"))
	defer cancel()
	return t.Write(ctx, act.ID, act.Data)
}

func why(ctx context.Context) string { return davit.AsError(context.Cause(ctx)).Message }
