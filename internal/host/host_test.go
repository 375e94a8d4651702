package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"davit"
	"davit/internal/store"

	"github.com/google/go-cmp/cmp"
)

// table is a store that remembers what was committed, and can refuse.
type table struct {
	mu      sync.Mutex
	batches []store.Batch
	refuse  error
}

func (t *table) Commit(_ context.Context, b store.Batch) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse != nil {
		return t.refuse
	}
	t.batches = append(t.batches, b)
	return nil
}

func (t *table) refuseWith(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuse = err
}

func (t *table) all() []store.Batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]store.Batch(nil), t.batches...)
}

type told struct {
	mu     sync.Mutex
	events []davit.Event
}

func (t *told) Publish(e davit.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
}

func (t *told) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.events)
}

func newHost(t *testing.T) (*Host, *table, *told, context.Context) {
	t.Helper()
	rows, events := &table{}, &told{}
	h := New(Config{HostID: "h_1", Store: rows, Feed: events, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, Model{})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return h, rows, events, ctx
}

func putTab(title string, volatile bool) Decide {
	return func(Model) (Change, error) {
		return Change{Events: []davit.Event{{Kind: davit.EventTab, Tab: &davit.Tab{ID: "t_1", Title: title}}}, Volatile: volatile}, nil
	}
}

// A change is durable before it is told, and what the store refuses is told to nobody
// (STYLE 11).
func TestDurableBeforeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, rows, events, ctx := newHost(t)
		if err := h.Change(ctx, putTab("one", false)); err != nil {
			t.Fatal(err)
		}
		if len(rows.all()) != 1 || rows.all()[0].PutTabs[0].Tab.Title != "one" || !cmp.Equal(rows.all()[0].Order, []davit.TabID{"t_1"}) {
			t.Errorf("not committed as one batch with the order: %+v", rows.all())
		}
		rows.refuseWith(errors.New("the disk is full"))
		err := h.Change(ctx, putTab("two", false))
		if davit.CodeOf(err) != davit.CodeInternal || davit.AsError(err).Hint == "" {
			t.Errorf("a refused commit: %v", err)
		}
		if h.State().Tabs[0].Title != "one" || events.count() != 1 {
			t.Errorf("what was not stored was applied or told: %+v", h.State().Tabs)
		}
		rows.refuseWith(nil)
	})
}

// Volatile changes are told at once and stored within a second, the newest only; a durable
// change takes them along.
func TestVolatileChangesAreFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, rows, events, ctx := newHost(t)
		for _, title := range []string{"a", "b", "c"} {
			if err := h.Change(ctx, putTab(title, true)); err != nil {
				t.Fatal(err)
			}
		}
		if events.count() != 3 || len(rows.all()) != 0 {
			t.Fatalf("%d events and %d commits at once", events.count(), len(rows.all()))
		}
		time.Sleep(2 * flushAfter)
		synctest.Wait()
		if len(rows.all()) != 1 || len(rows.all()[0].PutTabs) != 1 || rows.all()[0].PutTabs[0].Tab.Title != "c" {
			t.Errorf("after a second: %+v", rows.all())
		}
	})
}

// Each request gets exactly one answer, also at shutdown (STYLE 10), and a decision that
// panics changes nothing and ends nothing.
func TestAnswersAtShutdownAndAfterPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows, events := &table{}, &told{}
		h := New(Config{HostID: "h_1", Store: rows, Feed: events, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, Model{})
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		err := h.Change(t.Context(), func(Model) (Change, error) { panic("a slip") })
		if davit.CodeOf(err) != davit.CodeInternal {
			t.Errorf("a panic: %v", err)
		}
		if err := h.Change(t.Context(), putTab("after", false)); err != nil {
			t.Errorf("after a panic: %v", err)
		}
		const callers = 50
		answers := make(chan error, callers)
		for range callers {
			go func() { answers <- h.Change(context.Background(), putTab("late", true)) }()
		}
		stop()
		for range callers {
			if err := <-answers; err != nil && !errors.Is(err, ErrStopped) {
				t.Errorf("at shutdown: %v", err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := h.Change(context.Background(), putTab("never", false)); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
		// What was answered well before the end is durable.
		if n := len(rows.all()); n == 0 {
			t.Error("nothing was flushed at the end")
		}
	})
}

// A merged batch has the effect of its parts in order.
func TestMergeKeepsOrder(t *testing.T) {
	row := func(id davit.TabID, title string) store.TabRow {
		return store.TabRow{Tab: davit.Tab{ID: id, Title: title}}
	}
	older := store.Batch{PutTabs: []store.TabRow{row("a", "1"), row("b", "1")}, DeleteTabs: []davit.TabID{"c"}, Order: []davit.TabID{"a", "b"}}
	newer := store.Batch{PutTabs: []store.TabRow{row("b", "2"), row("c", "2")}, DeleteTabs: []davit.TabID{"a"}}
	got := merge(older, newer)
	want := store.Batch{PutTabs: []store.TabRow{row("b", "2"), row("c", "2")}, DeleteTabs: []davit.TabID{"a"}, Order: []davit.TabID{"a", "b"}}
	if diff := cmp.Diff(want.PutTabs, got.PutTabs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.DeleteTabs, got.DeleteTabs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Order, got.Order); diff != "" {
		t.Error(diff)
	}
}
