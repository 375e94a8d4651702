// Package pane folds the log of one pane into its screen and serves it.
//
//	keeper ──follow──► reader ──chunks──► owner ──► screen.Write
//	                   (1 copy)             │ ├─ replies ──► replier ──► keeper input (replyTo)
//	                                        │ ├─ effects ──► outbox  ──► Config.Events
//	                                        │ ├─ marks   ──► blocks
//	                                        │ └─ bytes − queries ──► ring ◄──pull── subscriptions
//	clients ──► Input, Paste ──► keeper input (never through the owner)
//	        ──► Claim, Leave ──► sizes ──► resizer ──► keeper resize ──► mark in the log ──► owner
//
// Run owns every goroutine and returns after them; New starts nothing. The owner
// goroutine alone touches the screen, the blocks and the checkpoint state; others ask it
// through a mailbox or read what it published: the view (an atomic pointer) and the ring
// (a leaf mutex). Subscribers pull at their own pace from the shared ring, so that no
// client slows the program or another client (spec terminal P3.2). A panic in a pane's
// goroutines ends this pane only.
//
// It refuses: input to a program that has ended, over-long lines to a terminal that reads
// whole lines, sizes below 20×5. It opens no log; the keeper's stream is its only source
// (P1.5).
package pane

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/screen"
)

// Keeper is what a pane asks of the keeper. FromClient makes one of the real client.
type Keeper interface {
	// Input takes bytes whole or not at all and at most once per id (P1.2).
	Input(ctx context.Context, in keeper.Input) error
	// Inputs gives several small ones in order, each as Input does, without a wait between.
	Inputs(ctx context.Context, in []keeper.Input) error
	Resize(ctx context.Context, id string, pane string, cols, rows int) error
	// Retain says that nothing before offset is needed.
	Retain(ctx context.Context, pane string, offset uint64) error
	Foreground(ctx context.Context, pane string) (keeper.Foreground, error)
	// Follow streams the log from an offset until ctx ends.
	Follow(ctx context.Context, pane string, from uint64) (Stream, error)
}

// Stream is a followed log. Next gives io.EOF after the terminal's last holder has gone;
// its data is valid until the next call. Ack and Close may be called from any goroutine.
type Stream interface {
	Next() (keeper.Frame, error)
	Ack(offset uint64)
	Close()
}

// FromClient is the real keeper.
func FromClient(c *client.Client) Keeper { return realKeeper{c} }

type realKeeper struct{ *client.Client }

func (k realKeeper) Follow(ctx context.Context, pane string, from uint64) (Stream, error) {
	stream, err := k.Client.Follow(ctx, pane, from, "")
	if err != nil {
		return nil, err // not a nil *client.Stream, which is no nil Stream
	}
	return stream, nil
}

// Bounds of a pane. Each queue says what happens when it is full.
const (
	DefaultCols, DefaultRows = 120, 40 // P3.4
	MinCols, MinRows         = 20, 5   // P3.4
	maxCols, maxRows         = 2000, 1000

	// Window is how much of a client's output may be unacknowledged (P3.2).
	Window = 512 << 10
	// ringBytes bounds what is kept for resuming and for clients that lag; one that
	// falls behind it gets a snapshot.
	ringBytes = 1 << 20
	// checkpointEvery is how much output makes a checkpoint due (P1.4).
	checkpointEvery = 4 << 20
	quietFor        = time.Second
	// retainMax bounds what is kept for readers of every byte (P3.2).
	retainMax = 64 << 20

	chunkQueue = 4   // full: the reader waits, the keeper holds the program (P1.3)
	replyQueue = 256 // full: the oldest reply is dropped; its program does not read
	eventQueue = 1024
	maxBlocks  = 500 // the oldest goes first
	// Prompts are kept for so many of the newest blocks, and so many bytes (spec chips C5.1).
	maxPrompts, maxPromptBytes = 200, 512 << 10
)

// Config is what a pane needs. Pane gives its identity and what is already known of it.
type Config struct {
	Pane   davit.Pane
	Keeper Keeper
	// Dir is the pane's folder; the checkpoint lies in it (docs/pane.md).
	Dir string
	// Adopted: a host before this one served the pane, perhaps to readers of every byte
	// who are on their way back.
	Adopted bool
	// Base is where the log of this start of the program begins: an exit in a checkpoint
	// that does not lie behind it is a former program's.
	Base uint64
	// EffectsThrough is the store's: effects at or below it change state only (P2.3).
	EffectsThrough uint64
	// Persist stores the offset of a readable checkpoint (0: unchanged) and the offset
	// below which effects are never let go again (0: unchanged). Called before those
	// effects are; from two goroutines.
	Persist func(checkpoint, effectsThrough uint64) error
	// Events is told what happened, in order, from one goroutine. It may block: then
	// events queue up to a bound, the oldest repeatable ones go first, and View stays right.
	Events func(Event)
	// Prompt gives what the pane's chips say while a command starts, for its block (spec
	// chips C5.1); nil keeps nothing. Called from the owner's goroutine: it must not wait.
	Prompt func(command string) *davit.BlockPrompt
	// Hostname tells our own OSC 7 directories from those of a remote shell.
	Hostname string
	Screen   screen.Options
	Log      *slog.Logger
	Now      func() time.Time
	NewID    func() string
}

// Pane is one pane of the host.
type Pane struct {
	cfg  Config
	id   davit.PaneID
	log  *slog.Logger
	view atomic.Pointer[davit.Pane]
	head atomic.Uint64 // end of what was folded

	requests chan func()   // to the owner; unbuffered: the asker waits
	chunks   chan chunk    // reader → owner
	live     chan struct{} // closed when the fold has caught up with the log
	done     chan struct{} // closed when Run has ended
	started  atomic.Bool

	ring    ring
	out     outbox
	replies replyQ
	size    sizer
	readers readers
	fold    fold // the owner's alone
}

// New makes a pane; Run starts it.
func New(cfg Config) (*Pane, error) {
	if cfg.Keeper == nil || cfg.Pane.ID == "" || cfg.Dir == "" {
		return nil, davit.Errorf(davit.CodeInternal, "a pane needs a keeper, an id and a directory")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	if cfg.Pane.Cols < 1 || cfg.Pane.Rows < 1 {
		cfg.Pane.Cols, cfg.Pane.Rows = DefaultCols, DefaultRows
	}
	p := &Pane{
		cfg: cfg, id: cfg.Pane.ID, log: cfg.Log.With("pane", cfg.Pane.ID),
		requests: make(chan func()), chunks: make(chan chunk, chunkQueue), live: make(chan struct{}), done: make(chan struct{}),
	}
	p.ring.init()
	p.out.init()
	p.replies.init()
	p.size.init(cfg.Pane.Cols, cfg.Pane.Rows)
	view := cfg.Pane
	p.view.Store(&view)
	return p, nil
}

// ID is the pane's name.
func (p *Pane) ID() davit.PaneID { return p.id }

// View is the pane as clients see it, as of now.
func (p *Pane) View() davit.Pane {
	v := *p.view.Load()
	v.Offset = p.head.Load()
	return v
}

// Done is closed when Run has returned.
func (p *Pane) Done() <-chan struct{} { return p.done }

// Run restores the screen, follows the log and serves until ctx ends. It returns nil
// then, after a last checkpoint; a panic of the pane is its error.
func (p *Pane) Run(ctx context.Context) error {
	if !p.started.CompareAndSwap(false, true) {
		return davit.Errorf(davit.CodeInternal, "pane %s runs already", p.id)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	child := func(name string, run func(context.Context)) {
		wait.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					cancel(p.broken(name, r))
				}
			}()
			run(ctx)
		})
	}
	child("owner", func(ctx context.Context) {
		p.restore()
		defer close(p.fold.save.jobs)
		child("reader", p.read)
		child("writer", p.writeCheckpoints)
		child("outbox", p.out.run(p))
		child("replier", p.reply)
		child("resizer", p.resize)
		p.own(ctx)
	})
	wait.Wait()
	close(p.done)
	p.ring.close()
	if cause := context.Cause(ctx); cause != nil && !isStop(cause) {
		return cause
	}
	return nil
}

// isStop tells an ordinary end of the context from a reason of our own.
func isStop(cause error) bool {
	var broken *brokenError
	return !errors.As(cause, &broken)
}

// brokenError is a panic of one pane (style 16).
type brokenError struct {
	where string
	what  any
}

func (b *brokenError) Error() string { return fmt.Sprintf("pane %s: %v", b.where, b.what) }

func (p *Pane) broken(where string, what any) error {
	p.log.Error("the pane broke", "where", where, "panic", fmt.Sprint(what), "stack", string(debug.Stack()))
	p.change(func(v *davit.Pane) { v.Fault = fmt.Sprintf("the pane's %s broke: %v", where, what) })
	return &brokenError{where, what}
}

// look is do once the fold has caught up with what the log held when this host came: a
// restart shows nothing older than what was shown before it.
func (p *Pane) look(ctx context.Context, fn func()) error {
	select {
	case <-p.live:
	case <-p.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return p.do(ctx, fn)
}

// do runs fn on the owner's goroutine and waits for it.
func (p *Pane) do(ctx context.Context, fn func()) error {
	finished := make(chan struct{})
	select {
	case p.requests <- func() { defer close(finished); fn() }:
	case <-p.done:
		return p.stopped()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-finished:
		return nil
	case <-p.done:
		return p.stopped()
	}
}

func (p *Pane) stopped() error {
	return davit.Errorf(davit.CodeShuttingDown, "pane %s is not served any more", p.id)
}

// change replaces the view. The owner calls it, and whoever breaks; edit may run twice.
func (p *Pane) change(edit func(*davit.Pane)) {
	for {
		old := p.view.Load()
		v := *old
		edit(&v)
		if p.view.CompareAndSwap(old, &v) {
			return
		}
	}
}
