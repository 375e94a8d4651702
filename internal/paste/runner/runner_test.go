package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"davit/internal/paste"
	"davit/internal/testenv"
)

// board is a terminal whose composer shows what is written into it, and whose Enter empties
// it into what was said.
type board struct {
	mu       sync.Mutex
	ready    bool
	text     string
	said     []string
	ids      []string
	changes  uint64
	looked   int
	readable chan struct{} // closed when something changed
}

func newBoard(ready bool) *board { return &board{ready: ready, readable: make(chan struct{})} }

func (b *board) change(edit func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	edit()
	b.changes++
	close(b.readable)
	b.readable = make(chan struct{})
}

func (b *board) Look(context.Context) (paste.Sight, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked++
	s := paste.Sight{Framed: true, Front: paste.FrontAgent, Offset: b.changes, Lines: append([]string(nil), b.said...)}
	if b.ready {
		s.Lines = append(s.Lines, "> "+b.text)
	}
	return s, nil
}

func (b *board) Changed(ctx context.Context, offset uint64) {
	b.mu.Lock()
	readable, there := b.readable, b.changes != offset
	b.mu.Unlock()
	if there {
		return
	}
	select {
	case <-readable:
	case <-ctx.Done():
	}
}

func (b *board) Write(_ context.Context, id string, data []byte) (bool, error) {
	b.change(func() {
		b.ids = append(b.ids, id)
		if string(data) == "\r" {
			b.said, b.text = append(b.said, "you: "+b.text), ""
			return
		}
		b.text += strings.TrimSuffix(strings.TrimPrefix(string(data), "\x1b[200~"), "\x1b[201~")
	})
	return false, nil
}

func job(id, text string) paste.Job {
	return paste.Job{ID: id, Text: text, Signs: paste.Signs{
		Name: "Agent", Signed: true, Working: func(string) bool { return false }, Dialog: func(paste.Sight) (string, bool) { return "", false },
		Ready: func(s paste.Sight) bool {
			return len(s.Lines) > 0 && strings.HasPrefix(s.Lines[len(s.Lines)-1], ">")
		},
	}}
}

// Two texts for one terminal go in one after the other, those of another do not wait for it
// (spec launch L7.3).
func TestOneTextAtATime(t *testing.T) {
	var r Runner
	one, late := newBoard(true), newBoard(false)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := make(chan paste.Report, 1)
	go func() { stopped <- r.Run(ctx, "p_late", late, job("late", "never")) }()
	var wait sync.WaitGroup
	for _, id := range []string{"a", "b", "c"} {
		wait.Go(func() {
			if got := r.Run(t.Context(), "p_one", one, job(id, "the text of "+id)); got != (paste.Report{Outcome: paste.Submitted}) {
				t.Errorf("%s: %+v", id, got)
			}
		})
	}
	wait.Wait()
	if len(one.said) != 3 || len(one.ids) != 6 {
		t.Errorf("said %q, written %q", one.said, one.ids)
	}
	for i := 0; i < len(one.ids); i += 2 {
		if one.ids[i]+"-enter" != one.ids[i+1] {
			t.Errorf("written %q", one.ids)
		}
	}
	// Whoever waits is given the text back when the host stops: nothing is written.
	cancel(errors.New("the host is stopping"))
	if got := <-stopped; got.Outcome != paste.NotDelivered || !strings.Contains(got.Warning, "the host is stopping") || len(late.ids) != 0 {
		t.Errorf("%+v, written %q", got, late.ids)
	}
	if len(r.turns) != 0 {
		t.Errorf("%d turns are left", len(r.turns))
	}
}

// A terminal that waits is looked at when it changes and a few times a second, not all the
// time.
func TestWaitingIsCheap(t *testing.T) {
	var r Runner
	b := newBoard(false)
	done := make(chan paste.Report, 1)
	began := time.Now()
	go func() { done <- r.Run(t.Context(), "p", b, job("a", "the text")) }()
	looks := func() int { b.mu.Lock(); defer b.mu.Unlock(); return b.looked }
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { return looks() >= 4, "it is not looked at" })
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("4 looks took %v", took)
	}
	b.change(func() { b.ready = true })
	if got := <-done; got.Outcome != paste.Submitted {
		t.Errorf("%+v", got)
	}
}
