package daemon

import (
	"context"
	"path/filepath"
	"testing"

	"davit"
)

// TestLockOfADyingHost: a host that was killed holds its lock for a moment longer; the one
// that is started right behind it waits for that instead of taking it for a living one
// (spec terminal P1.1).
func TestLockOfADyingHost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.lock")
	release, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock(ctx, path); err == nil {
		t.Fatal("two hosts have the lock")
	}
	type taken struct {
		unlock func()
		err    error
	}
	second := make(chan taken)
	go func() {
		unlock, err := lock(t.Context(), path)
		second <- taken{unlock, err}
	}()
	release()
	got := <-second
	if got.err != nil {
		t.Fatalf("the lock of a host that has gone: %v (%s)", got.err, davit.CodeOf(got.err))
	}
	got.unlock()
}
