package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"
)

// files gives the content of everything in a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = string(data)
	}
	return all
}

// filled makes a store with a tab, and a last good copy that has it when copied is set.
func filled(t *testing.T, copied bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "davit.db")
	s := open(t, path)
	rows := []TabRow{tabRow("t_1", 0)}
	for i := range 200 { // several pages
		rows = append(rows, tabRow(fmt.Sprintf("t_many%d", i), i+1))
	}
	mustCommit(t, s, Batch{PutTabs: rows})
	<-s.copier.first
	if copied {
		if err := s.copyTo(t.Context(), path+copySuffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !copied {
		if err := os.Remove(path + copySuffix); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func overwrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// damages are ways for a store to become unreadable.
var damages = map[string]func([]byte) []byte{
	"text": func([]byte) []byte {
		return []byte("this is no database, but more than a hundred bytes of text: " + strings.Repeat("x", 100))
	},
	"short":          func(b []byte) []byte { return b[:50] },
	"half":           func(b []byte) []byte { return b[:len(b)/2] },
	"zeroed pages":   func(b []byte) []byte { return append(b[:4096:4096], make([]byte, len(b)-4096)...) },
	"garbage inside": func(b []byte) []byte { copy(b[8192:], bytes.Repeat([]byte{0xa5}, 8192)); return b },
	"first page":     func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte{0xff}, 3000)); return b },
}

func TestDamagedStoreIsSetAside(t *testing.T) { // spec tabs T6.2
	for name, damage := range damages {
		for _, copied := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, copy %v", name, copied), func(t *testing.T) {
				path := filled(t, copied)
				overwrite(t, path, damage)
				damaged := files(t, filepath.Dir(path))["davit.db"]

				s := open(t, path)
				aside, err := os.ReadFile(s.SetAside())
				if err != nil {
					t.Fatal(err)
				}
				if string(aside) != damaged {
					t.Error("the damaged file was changed")
				}
				if !strings.HasPrefix(s.SetAside(), path+".damaged-") || s.Recovery().Reason == "" || s.Recovery().Copy != copied {
					t.Errorf("recovery %+v", s.Recovery())
				}
				want := 0
				if copied {
					want = 201
				}
				if got := len(mustLoad(t, s).Tabs); got != want {
					t.Errorf("%d tabs, want %d", got, want)
				}
				// The next start finds a sound store and says nothing.
				identity := s.Identity()
				s.Close()
				s = open(t, path)
				if s.SetAside() != "" || s.Identity() != identity {
					t.Errorf("again: %+v", s.Recovery())
				}
			})
		}
	}
}

func TestEmptiedStoreIsNotANewOne(t *testing.T) {
	path := filled(t, true)
	overwrite(t, path, func([]byte) []byte { return nil })
	s := open(t, path)
	if got := len(mustLoad(t, s).Tabs); got != 201 || s.SetAside() == "" {
		t.Errorf("%d tabs, %+v", got, s.Recovery())
	}
}

func TestSetAsideNeverOverwrites(t *testing.T) {
	path := filled(t, false)
	now := func() time.Time { return day }
	seen := map[string]string{}
	for i := range 3 {
		content := strings.Repeat(fmt.Sprint(i), 200)
		overwrite(t, path, func([]byte) []byte { return []byte(content) })
		s, err := Open(t.Context(), Config{Path: path, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		seen[s.SetAside()] = content
		s.Close()
	}
	if len(seen) != 3 {
		t.Fatalf("names: %v", seen)
	}
	for name, content := range seen {
		if data, err := os.ReadFile(name); err != nil || string(data) != content {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWALGoesAlong(t *testing.T) {
	path := filled(t, true)
	overwrite(t, path, damages["text"])
	if err := os.WriteFile(path+"-wal", []byte("a log"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if data, err := os.ReadFile(s.SetAside() + "-wal"); err != nil || string(data) != "a log" {
		t.Fatalf("%q %v", data, err)
	}
}

func TestDamagedCopyIsNotUsed(t *testing.T) {
	path := filled(t, true)
	overwrite(t, path, damages["half"])
	overwrite(t, path+copySuffix, damages["garbage inside"])
	copied := files(t, filepath.Dir(path))["davit.db"+copySuffix]
	s := open(t, path)
	if s.Recovery().Copy || s.SetAside() == "" || len(mustLoad(t, s).Tabs) != 0 {
		t.Fatalf("recovery %+v", s.Recovery())
	}
	kept, err := filepath.Glob(path + copySuffix + damagedInfix + "*")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if data, _ := os.ReadFile(kept[0]); string(data) != copied {
		t.Fatal("the damaged copy was changed")
	}
}

func TestForeignDatabaseIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "davit.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE theirs (x)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before := files(t, filepath.Dir(path))["davit.db"]
	s := open(t, path)
	if data, err := os.ReadFile(s.SetAside()); err != nil || string(data) != before {
		t.Fatal("their file was not kept", err)
	}
}

// TestInterruptedReplace stops a replacement after each of its steps and starts again.
func TestInterruptedReplace(t *testing.T) {
	damaged := strings.Repeat("damaged ", 40)
	steps := map[string]func(t *testing.T, path string){
		"half a copy made": func(t *testing.T, path string) {
			overwrite(t, path, func([]byte) []byte { return []byte(damaged) })
			if err := os.WriteFile(path+restoringSuffix, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"copy made": func(t *testing.T, path string) {
			overwrite(t, path, func([]byte) []byte { return []byte(damaged) })
			if err := duplicate(path+copySuffix, path+restoringSuffix); err != nil {
				t.Fatal(err)
			}
		},
		"store moved, its log not": func(t *testing.T, path string) {
			if err := duplicate(path+copySuffix, path+restoringSuffix); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+"-wal", []byte("a log of the damaged one"), 0o600); err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, func([]byte) []byte { return []byte(damaged) })
			if err := os.Rename(path, path+damagedInfix+"20260101T000000Z"); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, prepare := range steps {
		t.Run(name, func(t *testing.T) {
			path := filled(t, true)
			prepare(t, path)
			s := open(t, path)
			if got := len(mustLoad(t, s).Tabs); got != 201 || !s.Recovery().Copy {
				t.Errorf("%d tabs, %+v", got, s.Recovery())
			}
			if data, err := os.ReadFile(s.SetAside()); err != nil || string(data) != damaged {
				t.Errorf("the damaged file: %q, %v", data, err)
			}
			if _, err := os.Lstat(path + restoringSuffix); err == nil {
				t.Error("the copy under way was left")
			}
		})
	}
}

func TestNewerStoreKeepsItsBytes(t *testing.T) {
	path := filled(t, true)
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before := files(t, filepath.Dir(path))
	_, err = Open(t.Context(), Config{Path: path})
	if davit.CodeOf(err) != davit.CodeStoreNewer || davit.AsError(err).Hint == "" {
		t.Fatalf("got %v", err)
	}
	after := files(t, filepath.Dir(path))
	delete(after, "davit.db-shm")
	if after["davit.db-wal"] == "" {
		delete(after, "davit.db-wal")
	}
	if !maps.Equal(before, after) {
		t.Fatal("the newer store was changed")
	}
}

func TestNewerStoreWithItsLogKeepsItsBytes(t *testing.T) {
	// A host that was killed leaves a log that is not written back yet: the version may
	// stand in it alone.
	path := filled(t, true)
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "davit.db")
	for _, part := range []string{"", "-wal"} {
		if err := duplicate(path+part, killed+part); err != nil {
			t.Fatal(err)
		}
	}
	before := files(t, filepath.Dir(killed))
	_, err = Open(t.Context(), Config{Path: killed})
	if davit.CodeOf(err) != davit.CodeStoreNewer {
		t.Fatalf("got %v", err)
	}
	after := files(t, filepath.Dir(killed))
	for name, data := range before {
		if after[name] != data {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestWhatIsNotDamageMovesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "davit.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{Path: path})
	if davit.CodeOf(err) != davit.CodeHomeUnusable || davit.AsError(err).Hint == "" {
		t.Fatalf("got %v", err)
	}
	under := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(under, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: filepath.Join(under, "davit.db")}); davit.CodeOf(err) != davit.CodeHomeUnusable {
		t.Fatalf("got %v", err)
	}
}

func TestCopyIsRenewedWhenSomethingChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "davit.db")
	s, err := Open(t.Context(), Config{Path: path, CopyEvery: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustCommit(t, s, Batch{PutTabs: []TabRow{tabRow("t_1", 0)}})
	deadline := time.Now().Add(10 * time.Second)
	for tabsIn(path+copySuffix) != 1 {
		if time.Now().After(deadline) {
			t.Fatal("the copy never had the tab")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// tabsIn counts the tabs of a file that nobody writes to; -1 when it cannot.
func tabsIn(path string) int {
	if _, err := os.Stat(path); err != nil {
		return -1
	}
	db, err := sql.Open("sqlite", dsn(path, "ro"))
	if err != nil {
		return -1
	}
	defer db.Close()
	var n int
	if db.QueryRowContext(context.Background(), `SELECT count(*) FROM tabs`).Scan(&n) != nil {
		return -1
	}
	return n
}

func TestSchemaVersionIsTheLastMigration(t *testing.T) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(names) != schemaVersion {
		t.Fatal(names, err)
	}
}
