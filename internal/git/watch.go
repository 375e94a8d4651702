package git

import (
	"context"
	"log/slog"
	"time"
)

// WatchConfig configures a Watch. The zero value is fine.
type WatchConfig struct {
	Log   *slog.Logger
	Quiet time.Duration // an event is told after this much quiet; default 40 ms
	Most  time.Duration // and at most this long after its first sign; default 150 ms
	Poll  time.Duration // between looks where the system gives no events; default 200 ms
}

// Watch tells when the git side of a repository changes.
type Watch struct{ cfg WatchConfig }

// NewWatch makes a Watch; Run starts it.
func NewWatch(cfg WatchConfig) *Watch { return &Watch{cfg: cfg} }

// Run serves subscriptions until ctx ends.
func (w *Watch) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Subscribe tells of changes in the repository that dir is in.
func (w *Watch) Subscribe(ctx context.Context, dir string) (<-chan struct{}, func()) {
	return make(chan struct{}), func() {}
}
