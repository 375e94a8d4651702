package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"davit"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaVersion is the number of the last migration; a test holds it to the files.
const schemaVersion = 3

// applicationID marks a file as davit's ("davt").
const applicationID = 0x64617674

// readers bounds the pool of reading connections.
const readers = 4

// Open opens the store, making it when there is none. A damaged one is set aside and
// replaced (see Recovery); one from a newer davit is davit.CodeStoreNewer and keeps its
// bytes; what else is in the way is davit.CodeHomeUnusable, and nothing is moved.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.CopyEvery <= 0 {
		c.CopyEvery = time.Hour
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, unusable(c.Path, err)
	}
	c.Path = path
	recovery, err := prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &Store{path: c.Path, log: c.Log, now: c.Now, recovery: recovery}
	if err := s.connect(ctx); err != nil {
		return nil, unusable(c.Path, err)
	}
	s.copier = startCopier(s, c.CopyEvery)
	s.close = sync.OnceValue(s.end)
	return s, nil
}

// connect opens the connections on a file that prepare has passed.
func (s *Store) connect(ctx context.Context) (err error) {
	if s.writeDB, err = sql.Open("sqlite", dsn(s.path, "rw")); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if s.writer != nil {
				s.writer.close()
			}
			err = errors.Join(err, s.writeDB.Close())
		}
	}()
	s.writeDB.SetMaxOpenConns(1)
	if err := migrate(ctx, s.writeDB, s.log); err != nil {
		return err
	}
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = startWriter(conn, s.log)
	if err := s.loadMeta(ctx); err != nil {
		return err
	}
	if s.readDB, err = sql.Open("sqlite", dsn(s.path, "rw")+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.readDB.SetMaxOpenConns(readers)
	s.readDB.SetMaxIdleConns(readers)
	return nil
}

// dsn names the file for the driver. Every connection waits 5 s for a lock, syncs each
// commit and trusts nothing that the schema of a foreign file could bring.
func dsn(path, mode string) string {
	q := "mode=" + mode + "&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)"
	if mode != "ro" {
		q += "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q}
	return u.String()
}

func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(log))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	var id int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil || id == applicationID {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	return err
}

// prepare sees to it that there is a sound file of a known version at the path, and
// tells what it had to set aside for that.
func prepare(ctx context.Context, c Config) (Recovery, error) {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return Recovery{}, unusable(c.Path, err)
	}
	recovery, err := resume(ctx, c)
	if err != nil {
		return Recovery{}, unusable(c.Path, err)
	}
	info, err := os.Lstat(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return recovery, unusable(c.Path, create(c))
	case err != nil:
		return recovery, unusable(c.Path, err)
	case !info.Mode().IsRegular():
		return recovery, unusable(c.Path, fmt.Errorf("it is %s, not a file", info.Mode().Type()))
	}
	if info.Mode().Perm() != 0o600 {
		if err := os.Chmod(c.Path, 0o600); err != nil {
			return recovery, unusable(c.Path, err)
		}
	}
	reason, version, err := inspect(ctx, c.Path)
	switch {
	case err != nil:
		return recovery, unusable(c.Path, err)
	case reason != "":
		return replace(ctx, c, reason)
	case version > schemaVersion:
		return recovery, newer(c.Path, version)
	case version == 0 && exists(c.Path+copySuffix):
		return replace(ctx, c, "it is empty, and its copy is not")
	}
	return recovery, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func newer(path string, version int64) error {
	return davit.Errorf(davit.CodeStoreNewer, "the store %s has version %d; this davit knows %d", path, version, schemaVersion).
		WithHint("run the davit that wrote it, or choose another DAVIT_HOME; the store is left as it is").
		With("path", path).With("version", version).With("known", schemaVersion)
}

func unusable(path string, err error) error {
	var domain *davit.Error
	if err == nil || errors.As(err, &domain) {
		return err
	}
	return davit.Errorf(davit.CodeHomeUnusable, "open the store %s: %w", path, err).
		WithHint("mend the file or its directory (owner, rights, free space), or choose another DAVIT_HOME").
		With("path", path)
}

// create makes the empty file with the right mode: SQLite gives its -wal and -shm the
// same. A -wal without its store is of no use to anyone but not ours to drop.
func create(c Config) error {
	if taken(c.Path) {
		if _, err := moveAside(c.Path, c.Now()); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(c.Path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// inspect says what is wrong with the file ("" when it is sound) and its version, 0 for
// an empty one. It changes nothing. The error is for what is not the file's fault.
func inspect(ctx context.Context, path string) (reason string, version int64, err error) {
	reason, empty, err := header(path)
	if err != nil || reason != "" || empty {
		return reason, 0, err
	}
	db, err := sql.Open("sqlite", dsn(path, "ro"))
	if err != nil {
		return "", 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, step := range []func() (string, error){
		func() (string, error) { return integrity(ctx, db, path) },
		func() (found string, err error) { found, version, err = ownership(ctx, db); return found, err },
	} {
		found, err := step()
		if isDamage(err) {
			return err.Error(), 0, nil
		}
		if err != nil || found != "" {
			return found, 0, err
		}
	}
	return "", version, nil
}

// header looks at the first bytes itself: SQLite takes a file of text for an error of
// its own, and a cut one for an empty one.
func header(path string) (reason string, empty bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	var head [100]byte
	n, err := io.ReadFull(file, head[:])
	switch {
	case errors.Is(err, io.EOF):
		return "", true, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("it has only %d bytes", n), false, nil
	case err != nil:
		return "", false, err
	case string(head[:16]) != "SQLite format 3\x00":
		return "it is not an SQLite file", false, nil
	}
	return "", false, nil
}

// integrity runs SQLite's own check: the whole one while it takes no time to speak of.
func integrity(ctx context.Context, db *sql.DB, path string) (string, error) {
	pragma := "integrity_check(3)"
	if info, err := os.Stat(path); err == nil && info.Size() > 16<<20 {
		pragma = "quick_check(3)"
	}
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&found); err != nil {
		return "", err
	}
	if found == "ok" {
		return "", nil
	}
	return found, nil
}

// ownership gives the version of a store of ours; a file that is somebody else's
// database counts as unreadable.
func ownership(ctx context.Context, db *sql.DB) (string, int64, error) {
	var id, tables int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return "", 0, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return "", 0, err
	}
	if tables == 0 {
		return "", 0, nil
	}
	var versions int64
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = ?", goose.DefaultTablename).Scan(&versions)
	if err != nil {
		return "", 0, err
	}
	if versions == 0 || (id != 0 && id != applicationID) {
		return "it is a database of another program", 0, nil
	}
	var version sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+goose.DefaultTablename+" WHERE is_applied = 1").Scan(&version)
	var e *sqlite.Error
	if errors.As(err, &e) && !isDamage(err) {
		return "its table of versions cannot be read: " + err.Error(), 0, nil
	}
	return "", version.Int64, err
}
