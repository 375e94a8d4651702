// Package runner runs the chips of the surfaces that somebody looks at.
package runner

import (
	"context"
	"log/slog"
	"time"

	"davit"
	"davit/internal/git"
)

// Watcher tells of changes in a repository; *git.Watch is one.
type Watcher interface {
	Subscribe(ctx context.Context, dir string) (<-chan struct{}, func())
}

// Config says what to run and whom to tell. Push is called from Run's goroutine, one
// call at a time; it must not block for long.
type Config struct {
	Git      git.Runner
	Watch    Watcher // nil: only Watch and Refresh cause reads
	Home     string  // shortened to ~ in the cwd chip
	Push     func(Update)
	Log      *slog.Logger
	Now      func() time.Time
	Deadline time.Duration // 200 ms
	Cap      time.Duration // 5 s
	Coalesce time.Duration // 50 ms
}

// Update is the chips of one surface, all of them, as they are now.
type Update struct {
	Key   string
	Chips []davit.Chip
}

// Runner runs chips.
type Runner struct{ cfg Config }

// New makes a Runner; Run starts it.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Run serves until ctx ends, and returns after its children did.
func (r *Runner) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Watch shows a surface's chips for dir from now on; again with another dir after a cd.
func (r *Runner) Watch(key, dir string) {}

// Refresh looks again: a command of that surface has finished.
func (r *Runner) Refresh(key string) {}

// Drop ends it: nobody looks any more.
func (r *Runner) Drop(key string) {}

// Once gives the chips of a directory without a running Runner.
func (r *Runner) Once(ctx context.Context, dir string) []davit.Chip { return nil }
