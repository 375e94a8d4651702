package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The files beside the store (docs/store.md, "Versions and damage").
const (
	copySuffix      = ".last-good"
	restoringSuffix = ".restoring"
	damagedInfix    = ".damaged-"
)

// replace sets a damaged store aside and puts the last good copy in its place, or
// leaves the place free for an empty one. The copy is made complete under its own name
// first, so that being killed anywhere here loses neither file: resume goes on.
func replace(ctx context.Context, c Config, reason string) (Recovery, error) {
	c.Log.Warn("the store is damaged", "path", c.Path, "reason", reason)
	recovery := Recovery{Reason: reason}
	good := c.Path + copySuffix
	if usable(ctx, c, good) {
		info, err := os.Stat(good)
		if err != nil {
			return recovery, unusable(c.Path, err)
		}
		recovery.Copy, recovery.CopyTime = true, info.ModTime()
		if err := duplicate(good, c.Path+restoringSuffix); err != nil {
			return recovery, unusable(c.Path, err)
		}
	}
	aside, err := moveAside(c.Path, c.Now())
	if err != nil {
		return recovery, unusable(c.Path, err)
	}
	recovery.SetAside = aside
	if recovery.Copy {
		if err := place(c.Path); err != nil {
			return recovery, unusable(c.Path, err)
		}
		return recovery, nil
	}
	return recovery, unusable(c.Path, create(c))
}

// usable checks a copy as strictly as a store. One that fails is set aside as well.
func usable(ctx context.Context, c Config, good string) bool {
	if !exists(good) {
		return false
	}
	reason, version, err := inspect(ctx, good)
	if err == nil && reason == "" && version > 0 && version <= schemaVersion {
		return true
	}
	c.Log.Warn("the last good copy cannot be used", "path", good, "reason", reason, "version", version, "err", err)
	if reason != "" {
		if _, err := moveAside(good, c.Now()); err != nil {
			c.Log.Warn("set the copy aside", "path", good, "err", err)
		}
	}
	return false
}

// resume goes on where a replace was interrupted: with a copy made and no store there,
// the copy takes the place. With a store there, the copy was not needed yet.
func resume(ctx context.Context, c Config) (Recovery, error) {
	restoring := c.Path + restoringSuffix
	info, err := os.Lstat(restoring)
	if errors.Is(err, fs.ErrNotExist) {
		return Recovery{}, nil
	}
	if err != nil {
		return Recovery{}, err
	}
	if exists(c.Path) {
		// The damaged store is still in its place and is found again; this is our own
		// unfinished copy of a file that is still there.
		return Recovery{}, os.Remove(restoring)
	}
	if reason, _, err := inspect(ctx, restoring); err != nil || reason != "" {
		_, moved := moveAside(restoring, c.Now())
		return Recovery{}, errors.Join(err, moved)
	}
	aside, err := lastDamaged(c.Path)
	if err != nil {
		return Recovery{}, err
	}
	if taken(c.Path) {
		if _, err := moveAside(c.Path, c.Now()); err != nil {
			return Recovery{}, err
		}
	}
	if err := place(c.Path); err != nil {
		return Recovery{}, err
	}
	return Recovery{SetAside: aside, Reason: "found by a start that was interrupted", Copy: true, CopyTime: info.ModTime()}, nil
}

func lastDamaged(path string) (string, error) {
	found, err := filepath.Glob(path + damagedInfix + "*[0-9Z]")
	if err != nil || len(found) == 0 {
		return path + damagedInfix + "unknown", err
	}
	return found[len(found)-1], nil
}

// place renames the complete copy into the store's place and syncs the directory.
func place(path string) error {
	if err := os.Rename(path+restoringSuffix, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// moveAside renames a file and its -wal and -shm to a name that is free. A -wal left
// behind by being killed in between is moved by the next start, before any other file
// gets the store's name: SQLite would play it into that one.
func moveAside(path string, now time.Time) (string, error) {
	base := path + damagedInfix + now.UTC().Format("20060102T150405Z")
	aside := base
	for i := 2; taken(aside); i++ {
		aside = fmt.Sprintf("%s-%d", base, i)
	}
	for _, part := range []string{"", "-wal", "-shm"} {
		err := os.Rename(path+part, aside+part)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set the damaged store aside: %w", err)
		}
	}
	return aside, syncDir(filepath.Dir(path))
}

func taken(path string) bool {
	for _, part := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(path + part); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// duplicate copies a file to a synced new one. What a former try left is replaced.
func duplicate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// copier renews the last good copy: once after the start, whose check the store has
// just passed, and then whenever its time has come and something was written.
type copier struct {
	stop  context.CancelFunc
	ended chan struct{}
	first chan struct{} // closed after the first try
}

func startCopier(s *Store, every time.Duration) *copier {
	ctx, stop := context.WithCancel(context.Background())
	c := &copier{stop: stop, ended: make(chan struct{}), first: make(chan struct{})}
	go func() {
		defer close(c.ended)
		// Read before the copy: what was committed by then is in it. The files' times and
		// sizes would not do, for they change before the commit is seen.
		last := s.writer.commits.Load()
		ok := s.copyLogged(ctx)
		close(c.first)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now := s.writer.commits.Load(); now != last || !ok {
				last, ok = now, s.copyLogged(ctx)
			}
		}
	}()
	return c
}

func (c *copier) close() {
	c.stop()
	<-c.ended
}

// copyLogged says whether there is a copy now; one that failed is tried again.
func (s *Store) copyLogged(ctx context.Context) bool {
	err := s.copyTo(ctx, s.path+copySuffix)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("renew the last good copy of the store", "err", err)
	}
	return err == nil
}

// copyTo makes a copy of the last commit under a temporary name, checks and syncs it,
// then renames it. Writers do not wait for it.
func (s *Store) copyTo(ctx context.Context, to string) error {
	tmp := to + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The file is made here for its mode; VACUUM INTO takes an empty one.
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	// A connection of its own: those of the pool may write nothing at all, the copy included.
	db, err := sql.Open("sqlite", dsn(s.path, "rw"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", tmp)
	if err := errors.Join(err, db.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if reason, _, err := inspect(ctx, tmp); err != nil || reason != "" {
		return errors.Join(fmt.Errorf("the copy is not sound: %s", reason), err, os.Remove(tmp))
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(tmp, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}
