package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
)

const (
	writeQueue = 256 // waiting writes; when it is full, callers wait
	groupLimit = 128 // writes that share one commit
)

// errClosed is answered to every write that the writer did not take before it ended.
var errClosed = errors.New("the store is closed")

// change is a piece of one transaction. It may run again never: it is called once.
type change func(*tx) error

// write is one caller's change and where its only answer goes.
type write struct {
	ctx  context.Context
	do   change
	done chan error // of one place, so that answering never blocks
}

// writer owns the one connection that writes. Every change that waits is run in the
// same transaction, each in its savepoint, and all are answered after the one commit:
// the price of a sync is shared (group commit).
type writer struct {
	conn    *sql.Conn
	log     *slog.Logger
	queue   chan write
	stop    chan struct{}        // closed by close: nothing new is taken
	ended   chan struct{}        // closed when run has returned
	stmts   map[string]*sql.Stmt // owned by run
	commits atomic.Int64         // made so far; a commit that is counted can be read
	onGroup func(size int)       // for tests; nil otherwise
}

func startWriter(conn *sql.Conn, log *slog.Logger) *writer {
	w := &writer{
		conn: conn, log: log,
		queue: make(chan write, writeQueue),
		stop:  make(chan struct{}),
		ended: make(chan struct{}),
		stmts: map[string]*sql.Stmt{},
	}
	go w.run()
	return w
}

// submit hands a change in and waits for its answer. When ctx ends first, the change
// may or may not be made.
func (w *writer) submit(ctx context.Context, do change) error {
	item := write{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case <-w.stop:
		return errClosed
	default:
	}
	select {
	case w.queue <- item:
	case <-w.stop:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-item.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.ended:
		// It may have been answered just before the end, or have come in just after it.
		select {
		case err := <-item.done:
			return err
		default:
			return errClosed
		}
	}
}

// close takes no more, makes what is queued, and waits for the goroutine.
func (w *writer) close() {
	close(w.stop)
	<-w.ended
}

func (w *writer) run() {
	defer close(w.ended)
	for {
		select {
		case first := <-w.queue:
			w.group(w.collect(first))
		case <-w.stop:
			w.drain()
			return
		}
	}
}

// drain makes what was queued before the stop, so that each got in by then has its
// answer. One that slips in after the last look is answered by submit itself.
func (w *writer) drain() {
	for {
		select {
		case first := <-w.queue:
			w.group(w.collect(first))
		default:
			for _, stmt := range w.stmts {
				stmt.Close()
			}
			return
		}
	}
}

func (w *writer) collect(first write) []write {
	group := []write{first}
	for len(group) < groupLimit {
		select {
		case next := <-w.queue:
			group = append(group, next)
		default:
			return group
		}
	}
	return group
}

// group runs the changes in one transaction and answers every one of them.
func (w *writer) group(group []write) {
	if w.onGroup != nil {
		w.onGroup(len(group))
	}
	results := make([]error, len(group))
	if err := w.transact(group, results); err != nil {
		for i := range results {
			results[i] = err
		}
	}
	for i, item := range group {
		item.done <- results[i]
	}
}

// transact gives an error when the whole group failed; a change that failed alone has
// its error in results.
func (w *writer) transact(group []write, results []error) error {
	// The group outlives each single caller: no caller's context may end it.
	ctx := context.Background()
	t := &tx{w: w, ctx: ctx}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for i, item := range group {
		if err := item.ctx.Err(); err != nil {
			results[i] = err
			continue
		}
		if err := t.part(item.do, &results[i]); err != nil {
			_ = t.exec("ROLLBACK")
			return err
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		_ = t.exec("ROLLBACK")
		return fmt.Errorf("commit: %w", err)
	}
	w.commits.Add(1)
	return nil
}

// tx is the running transaction as the changes see it.
type tx struct {
	w   *writer
	ctx context.Context
}

// part runs one change in a savepoint. The returned error is about the transaction,
// the change's own goes to result.
func (t *tx) part(do change, result *error) error {
	if err := t.exec("SAVEPOINT part"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	if *result = do(t); *result != nil {
		// A full disk or an I/O error may have ended the transaction already; then this
		// fails, and the whole group is told.
		if err := t.exec("ROLLBACK TO part"); err != nil {
			return fmt.Errorf("%w (and rolling back: %w)", *result, err)
		}
	}
	if err := t.exec("RELEASE part"); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

func (t *tx) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := t.w.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := t.w.conn.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = stmt
	return stmt, nil
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.affect(query, args...)
	return err
}

// affect gives the number of rows changed.
func (t *tx) affect(query string, args ...any) (int64, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row scans one row; sql.ErrNoRows when there is none.
func (t *tx) row(query string, args []any, into ...any) error {
	stmt, err := t.prepare(query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(t.ctx, args...).Scan(into...)
}
