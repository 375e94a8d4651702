package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockTries is how far apart the tries for the lock of a cleanup are.
const lockTries = 20 * time.Millisecond

// lock takes the lock of a cleanup's folder, which the process holds while it lives. What
// it starts does not inherit it. Another run of the same plan is waited for.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the cleanup's lock: %w", err)
	}
	if err := take(ctx, f, unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("take the cleanup's lock: %w", err)
	}
	return func() { f.Close() }, nil
}

// Await waits until no process carries the cleanup out any more. Whatever its steps file
// says then is the last word, unless the plan is started once more.
func Await(ctx context.Context, state, id string) error {
	f, err := os.Open(filepath.Join(Dir(state, id), lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it never came so far
	}
	if err != nil {
		return fmt.Errorf("open the lock of cleanup %s: %w", id, err)
	}
	defer f.Close()
	return take(ctx, f, unix.LOCK_SH)
}

func take(ctx context.Context, f *os.File, how int) error {
	tick := time.NewTicker(lockTries)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
