package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"davit"
)

// lockWait is how long one caller waits for the others before it is told so.
const lockWait = 10 * time.Minute

// lock takes the lock of a repository, which holds across processes (spec launch L9.3).
// The file stays: deleting it would let two holders in. The kernel frees the lock of a
// process that dies.
func (w *Workspaces) lock(ctx context.Context, commonDir string) (unlock func(), err error) {
	dir := filepath.Join(w.cfg.State, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "cannot make %s: %w", dir, err)
	}
	name := filepath.Join(dir, "repo-"+short(commonDir, 16)+".lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "cannot open the repository's lock: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, davit.Errorf(davit.CodeHomeUnusable, "cannot lock %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, davit.Errorf(davit.CodeWorktreeGit, "gave up waiting for another davit operation in the repository %s: %w", commonDir, ctx.Err()).
				WithHint("Nothing was made. Try again when the other one has ended.")
		case <-time.After(pause):
		}
	}
}
