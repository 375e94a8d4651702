package store

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"davit"
)

// versionOne makes a store as the first release did.
func versionOne(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "davit.db")
	db, err := sql.Open("sqlite", dsn(path, "rwc"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		`INSERT INTO meta (key, value) VALUES ('host_id', 'h_0123456789abcdef')`,
		`INSERT INTO tabs (id, position, body) VALUES ('t_1', 0, '{"id":"t_1","title":"old"}')`,
		`INSERT INTO acts (id, pane, kind, body, created) VALUES ('a_1', 'p_1', 'spawn', x'6162', 5)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAVersionOneStoreMigrates(t *testing.T) {
	s := open(t, versionOne(t))
	e := mustLoad(t, s)
	if len(e.Tabs) != 1 || e.Tabs[0].Tab.Title != "old" || len(e.Acts) != 1 || string(e.Acts[0].Body) != "ab" ||
		s.Identity().HostID != "h_0123456789abcdef" || s.SetAside() != "" {
		t.Fatalf("%+v, %+v", e, s.Identity())
	}
	row := chatRow("a_1")
	mustAppend(t, s, JournalBatch{Session: "a_1", Put: &row, Rows: []davit.JournalRow{journalRow("a_1", 1, 1)}})
}

func TestTheNextVersionIsRefused(t *testing.T) {
	path := filled(t, false)
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)`, schemaVersion+1); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before := files(t, filepath.Dir(path))["davit.db"]
	if _, err := Open(t.Context(), Config{Path: path}); davit.CodeOf(err) != davit.CodeStoreNewer {
		t.Fatalf("got %v", err)
	}
	if files(t, filepath.Dir(path))["davit.db"] != before {
		t.Fatal("the newer store was changed")
	}
}

// After a damaged store was replaced by its copy, no cursor and no rpc id that the lost
// part may have given out comes again (spec session S1.2, S1.4).
func TestTheCopyStartsANewEpoch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "davit.db")
	s := open(t, path)
	row := chatRow("a_1")
	mustAppend(t, s, JournalBatch{Session: "a_1", Put: &row, Rows: []davit.JournalRow{journalRow("a_1", 1, 1)}})
	<-s.copier.first
	if err := s.copyTo(t.Context(), path+copySuffix); err != nil {
		t.Fatal(err)
	}
	row.NextRPC = 900
	mustAppend(t, s, JournalBatch{Session: "a_1", Put: &row, Rows: []davit.JournalRow{journalRow("a_1", 1, 2)}}) // will be lost
	s.Close()
	overwrite(t, path, damages["text"])

	s = open(t, path)
	chat := mustChats(t, s)[0]
	if chat.Row.Session.Cursor != (davit.Cursor{Epoch: 2}) || chat.Row.NextRPC <= 900 {
		t.Fatalf("%+v", chat.Row)
	}
	mustAppend(t, s, JournalBatch{Session: "a_1", Rows: []davit.JournalRow{journalRow("a_1", 2, 1)}})
	refused(t, s, davit.CodeInternal, JournalBatch{Session: "a_1", Rows: []davit.JournalRow{journalRow("a_1", 1, 2)}})
	s.Close()
	if got := mustChats(t, open(t, path))[0].Row.Session.Cursor; got != (davit.Cursor{Epoch: 2, Seq: 1}) {
		t.Fatal("again", got)
	}
}

// TestStepsOutliveTheProcess kills a process that appends, with SIGKILL, and looks for
// every step that it was told is stored; the one under way is there whole or not at all.
func TestStepsOutliveTheProcess(t *testing.T) { // spec session S1.1
	if path := os.Getenv("STORE_TEST_APPENDER"); path != "" {
		appendForEver(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "davit.db")
	for round := range 3 {
		last := killAppender(t, path)
		s := open(t, path)
		if s.SetAside() != "" {
			t.Fatalf("round %d: %+v", round, s.Recovery())
		}
		chat := mustChats(t, s)[0]
		rows := mustJournal(t, s, "a_1")
		for i, row := range rows {
			if row.Seq != uint64(i+1) {
				t.Fatalf("row %d has seq %d", i, row.Seq)
			}
		}
		n := chat.Row.Session.Cursor.Seq
		if n < last || n != uint64(len(rows)) || n%2 != 0 {
			t.Errorf("%d was told as stored; the cursor is at %d, with %d rows", last, n, len(rows))
		}
		if chat.Folds[0].Offset != n || chat.Row.NextRPC != n || uint64(len(chat.Acts)) != n/2 || uint64(len(chat.Submissions)) != n/2 {
			t.Errorf("at %d: folds %+v, next rpc %d, %d acts, %d messages", n, chat.Folds, chat.Row.NextRPC, len(chat.Acts), len(chat.Submissions))
		}
		s.Close()
	}
}

// killAppender gives the last seq that it was told of.
func killAppender(t *testing.T, path string) (last uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStepsOutliveTheProcess$")
	cmd.Env = append(os.Environ(), "STORE_TEST_APPENDER="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "%d.", &last); err == nil {
			told++
		}
		if told == 40 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if told < 40 {
		t.Fatalf("only %d steps", told)
	}
	return last
}

func appendForEver(t *testing.T, path string) {
	s := open(t, path)
	row := chatRow("a_1")
	if chats := mustChats(t, s); len(chats) == 1 {
		row = chats[0].Row
	}
	for n := row.Session.Cursor.Seq; ; n += 2 {
		row.NextRPC = n + 2
		mustAppend(t, s, JournalBatch{
			Session: "a_1", Put: &row,
			Rows:        []davit.JournalRow{journalRow("a_1", 1, n+1), journalRow("a_1", 1, n+2)},
			Requests:    []RPCRow{{Direction: "ours", ID: fmt.Sprint(n + 1), Method: "session/prompt", State: "open", Asked: day}},
			Submissions: []davit.Submission{{ID: fmt.Sprint(n), State: davit.SubmissionPending}},
			Folded:      []FoldRow{{Keeper: "k", Stream: "stdout", Offset: n + 2}},
			PutActs:     []ActRow{{ID: fmt.Sprint("s", n), Pane: "k", Kind: "input", Body: bytes.Repeat([]byte("x"), 5000), Created: day}},
		})
		if _, err := fmt.Printf("%d.\n", n+2); err != nil {
			return
		}
	}
}
