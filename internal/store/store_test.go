package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"davit"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t testing.TB) *Store { return open(t, filepath.Join(t.TempDir(), "davit.db")) }

func mustCommit(t testing.TB, s *Store, b Batch) {
	t.Helper()
	if err := s.Commit(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

func mustLoad(t testing.TB, s *Store) Everything {
	t.Helper()
	e, err := s.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var day = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func tabRow(id string, position int) TabRow {
	return TabRow{
		Tab: davit.Tab{
			ID: davit.TabID(id), Title: "tab " + id, Created: day,
			Tree:    &davit.Split{Pane: davit.PaneID("p_" + id)},
			OnClose: &davit.OnClose{Directory: "/d", Commands: []string{`echo "x"`}, Shell: "/bin/sh", ShellKind: "posix", Timeout: time.Minute},
		},
		Position: position,
	}
}

func paneRow(id string) PaneRow {
	return PaneRow{
		Pane: davit.Pane{ID: davit.PaneID(id), Tab: "t_1", Kind: "shell", Directory: "/d", Status: davit.PaneRunning},
		Spec: PaneSpec{Argv: []string{"/bin/bash", "-i"}, Directory: "/d", Startup: []string{"make"}, Env: map[string]string{"TOKEN": "{{token}}"}},
	}
}

func TestFilesAreForTheUserOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "davit.db")
	s := open(t, path)
	mustCommit(t, s, Batch{PutTabs: []TabRow{tabRow("t_1", 0)}})
	<-s.copier.first
	for _, suffix := range []string{"", "-wal", "-shm", copySuffix} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", suffix, info.Mode())
		}
	}
}

func TestWideRightsAreNarrowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "davit.db")
	open(t, path).Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
}

func TestIdentityStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "davit.db")
	s := open(t, path)
	first, key := s.Identity(), s.FingerprintKey()
	if len(first.HostID) != 18 || len(first.Instance) != 12 || len(key) != 32 {
		t.Fatalf("identity %+v, key of %d bytes", first, len(key))
	}
	s.Close()
	s = open(t, path)
	if s.Identity() != first || string(s.FingerprintKey()) != string(key) {
		t.Fatalf("was %+v, is %+v", first, s.Identity())
	}
	if other := fresh(t).Identity(); other.HostID == first.HostID || other.Instance == first.Instance {
		t.Fatal("two stores share an identity")
	}
}

func TestPathWithEveryCharacter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20e'ü&mode=ro", "davit.db")
	s := open(t, path)
	mustCommit(t, s, Batch{PutTabs: []TabRow{tabRow("t_1", 0)}})
	<-s.copier.first
	s.Close()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, open(t, path)).Tabs; len(got) != 1 {
		t.Fatalf("got %d tabs", len(got))
	}
}

func TestEverythingComesBack(t *testing.T) { // spec tabs T6.2
	path := filepath.Join(t.TempDir(), "davit.db")
	s := open(t, path)
	closed := tabRow("t_2", 1)
	closed.Closed = &Closing{At: day, Until: day.Add(time.Minute), Position: 1, After: "t_1", CleanupID: "c_1"}
	want := Everything{
		Tabs:    []TabRow{tabRow("t_1", 0), closed},
		Panes:   []PaneRow{paneRow("p_1")},
		Notices: []davit.Notice{{ID: "n_1", Kind: "cleanup_failed", Title: "x", Persistent: true, Created: day}},
		Cleanups: []CleanupRow{{
			ID: "c_1", Tab: "t_2", TabTitle: "tab", Repo: "/r", Worktree: "/w", Plan: *closed.Tab.OnClose,
			State: CleanupFailed, Steps: json.RawMessage(`[{"exit":1}]`), Pane: "k_1", Created: day.Local(), Changed: day.Local(),
		}},
		Worktrees: []WorktreeRow{{ID: "wt_1", Worktree: davit.Worktree{ID: "wt_1", Path: "/w", Repo: "/r", Branch: "b"}, Instance: "wi_1", Operation: "op", Created: day.Local()}},
		Acts:      []ActRow{{ID: "a_2", Pane: "p_1", Kind: "spawn", Body: []byte{0, 1, 255}, Created: day.Local()}, {ID: "a_1", Pane: "p_1", Kind: "input", Created: day.Local()}},
	}
	want.Panes[0].Checkpoint, want.Panes[0].EffectsThrough, want.Panes[0].KeeperBoot = 1<<40, 7, "4711 boot"
	mustCommit(t, s, Batch{
		PutTabs: want.Tabs, PutPanes: want.Panes, PutNotices: want.Notices,
		PutCleanups: want.Cleanups, PutWorktrees: want.Worktrees, PutActs: want.Acts,
	})
	s.Close()
	if diff := cmp.Diff(want, mustLoad(t, open(t, path))); diff != "" {
		t.Fatal(diff)
	}
}

func TestOrderMovesTabs(t *testing.T) {
	s := fresh(t)
	mustCommit(t, s, Batch{PutTabs: []TabRow{tabRow("t_1", 0), tabRow("t_2", 1), tabRow("t_3", 2)}})
	mustCommit(t, s, Batch{Order: []davit.TabID{"t_3", "t_1", "t_2"}})
	mustCommit(t, s, Batch{DeleteTabs: []davit.TabID{"t_1", "t_gone"}})
	var got []davit.TabID
	for _, row := range mustLoad(t, s).Tabs {
		got = append(got, row.Tab.ID)
	}
	if diff := cmp.Diff([]davit.TabID{"t_3", "t_2"}, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestBatchIsAllOrNothing(t *testing.T) {
	s := fresh(t)
	mustCommit(t, s, Batch{PutActs: []ActRow{{ID: "a", Pane: "p_1", Kind: "input", Body: []byte("x")}}})
	err := s.Commit(t.Context(), Batch{
		PutTabs: []TabRow{tabRow("t_1", 0)},
		PutActs: []ActRow{{ID: "a", Pane: "p_1", Kind: "input", Body: []byte("other")}},
	})
	if err == nil {
		t.Fatal("an act was given another body")
	}
	e := mustLoad(t, s)
	if len(e.Tabs) != 0 || len(e.Acts) != 1 || string(e.Acts[0].Body) != "x" {
		t.Fatalf("half of the batch is stored: %+v", e)
	}
}

func TestActsAreOwedUntilDone(t *testing.T) { // spec terminal P1.2
	s := fresh(t)
	for i := range 5 {
		act := ActRow{ID: fmt.Sprint("a", 9-i), Pane: "p_1", Kind: "input", Body: []byte{byte(i)}}
		mustCommit(t, s, Batch{PutActs: []ActRow{act}})
		mustCommit(t, s, Batch{PutActs: []ActRow{act}}) // again: the same one
	}
	mustCommit(t, s, Batch{DoneActs: []string{"a9", "a7"}})
	var got []byte
	for _, act := range mustLoad(t, s).Acts {
		got = append(got, act.Body...)
	}
	if diff := cmp.Diff([]byte{1, 3, 4}, got); diff != "" {
		t.Fatal(diff)
	}
	mustCommit(t, s, Batch{PutPanes: []PaneRow{paneRow("p_1")}})
	mustCommit(t, s, Batch{DeletePanes: []davit.PaneID{"p_1"}})
	if acts := mustLoad(t, s).Acts; len(acts) != 0 {
		t.Fatalf("a deleted pane is owed %d acts", len(acts))
	}
}

func TestPaneOffsetsNeverGoBack(t *testing.T) { // spec terminal P1.4, P2.3
	s := fresh(t)
	row := paneRow("p_1")
	row.Checkpoint, row.EffectsThrough = 10, 20
	mustCommit(t, s, Batch{PutPanes: []PaneRow{row}})
	offsets := func(checkpoint, effects uint64) {
		t.Helper()
		if got := mustLoad(t, s).Panes[0]; got.Checkpoint != checkpoint || got.EffectsThrough != effects {
			t.Fatalf("offsets %d, %d; want %d, %d", got.Checkpoint, got.EffectsThrough, checkpoint, effects)
		}
	}
	for _, step := range []struct{ checkpoint, effects, wantCheckpoint, wantEffects uint64 }{
		{100, 5, 100, 20}, {50, 200, 100, 200},
	} {
		if err := s.SetPaneOffsets(t.Context(), "p_1", step.checkpoint, step.effects); err != nil {
			t.Fatal(err)
		}
		offsets(step.wantCheckpoint, step.wantEffects)
	}
	mustCommit(t, s, Batch{PutPanes: []PaneRow{row}}) // the model's older view of the pane
	offsets(100, 200)
	row.NewLog = true
	mustCommit(t, s, Batch{PutPanes: []PaneRow{row}})
	offsets(10, 20)
	if err := s.SetPaneOffsets(t.Context(), "p_gone", 1, 1); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedRowsAreTold(t *testing.T) { // spec tabs T6.2
	path := filepath.Join(t.TempDir(), "davit.db")
	s := open(t, path)
	mustCommit(t, s, Batch{
		PutTabs:  []TabRow{tabRow("t_1", 0), tabRow("t_2", 1), tabRow("t_3", 2), tabRow("t_4", 3)},
		PutPanes: []PaneRow{paneRow("p_1"), paneRow("p_2")},
	})
	for _, damage := range []string{
		`UPDATE tabs SET body = '{"id": "t_2", "title": 7}' WHERE id = 't_2'`,
		`UPDATE tabs SET body = replace(body, 't_3', 't_x') WHERE id = 't_3'`,
		`UPDATE tabs SET closing = '[' WHERE id = 't_4'`,
		`UPDATE panes SET spec = '' WHERE id = 'p_2'`,
	} {
		if err := s.write(t.Context(), "damage", statement(damage)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s = open(t, path)
	e := mustLoad(t, s)
	if len(e.Tabs) != 1 || e.Tabs[0].Tab.ID != "t_1" || len(e.Panes) != 1 || e.Panes[0].Pane.ID != "p_1" {
		t.Fatalf("the sound rows: %+v", e)
	}
	var got []string
	for _, f := range e.Faults {
		if f.Err == nil {
			t.Errorf("%s has no reason", f.ID)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d", f.Table, f.ID, f.Tab, f.Position))
	}
	if diff := cmp.Diff([]string{"tabs t_2 t_2 1", "tabs t_3 t_3 2", "tabs t_4 t_4 3", "panes p_2 t_1 0"}, got); diff != "" {
		t.Fatal(diff)
	}
	// A change elsewhere leaves the damaged rows alone; writing the row's own id mends it.
	mustCommit(t, s, Batch{PutTabs: []TabRow{tabRow("t_2", 1)}, Order: []davit.TabID{"t_2", "t_1"}})
	if e := mustLoad(t, s); len(e.Faults) != 3 || len(e.Tabs) != 2 {
		t.Fatalf("faults %v", e.Faults)
	}
}

func TestGroupCommit(t *testing.T) {
	s := fresh(t)
	const writes = 200
	// Hold the writer until all others wait, so that they have to share commits.
	held, waiting := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.write(context.Background(), "hold", func(*tx) error { close(held); <-waiting; return nil })
	}()
	<-held
	var failed atomic.Int64
	var wg sync.WaitGroup
	for i := range writes {
		wg.Go(func() {
			err := s.write(context.Background(), "count", func(t *tx) error {
				if err := t.exec(`INSERT INTO settings (key, value) VALUES (?, '1')`, fmt.Sprint(i)); err != nil {
					return err
				}
				if i%10 == 3 {
					return errors.New("mine alone")
				}
				return nil
			})
			if err != nil {
				failed.Add(1)
			}
		})
	}
	for len(s.writer.queue) < writes {
		time.Sleep(time.Millisecond)
	}
	close(waiting)
	wg.Wait()
	var stored int
	if err := s.readDB.QueryRow(`SELECT count(*) FROM settings`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if failed.Load() != writes/10 || stored != writes-writes/10 {
		t.Fatalf("%d failed, %d stored of %d", failed.Load(), stored, writes)
	}
	s.Close()
	if s.writer.commits.Load() > 6 { // meta, hold, and 200 in groups of up to 128
		t.Fatalf("%d commits for %d writes", s.writer.commits.Load(), writes)
	}
}

func TestEveryWriteIsAnsweredAtTheEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for range 20 {
		s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "davit.db")})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		begun := make(chan struct{}, 8)
		for range 8 {
			wg.Go(func() {
				for i := 0; ; i++ {
					err := s.SetSetting(context.Background(), "k", json.RawMessage("1"))
					if davit.CodeOf(err) == davit.CodeShuttingDown {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					if i == 0 {
						begun <- struct{}{}
					}
				}
			})
		}
		<-begun
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	}
}

func TestCallerThatIsGoneWritesNothing(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.SetSetting(ctx, "k", json.RawMessage("1")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := s.SetSetting(t.Context(), "other", json.RawMessage("1")); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s.Setting(t.Context(), "k"); ok {
		t.Fatal("it was written")
	}
}

func TestSettings(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	if _, ok, err := s.Setting(ctx, "k"); ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, value := range []string{`"a"`, `{"b":[1,2]}`} {
		if err := s.SetSetting(ctx, "k", json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Setting(ctx, "k")
		if string(got) != value || !ok || err != nil {
			t.Fatal(string(got), ok, err)
		}
	}
	if err := s.SetSetting(ctx, "k", json.RawMessage("{")); err == nil {
		t.Fatal("half a value was stored")
	}
	if err := s.SetSetting(ctx, "k", nil); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s.Setting(ctx, "k"); ok {
		t.Fatal("it is still there")
	}
}

func TestLoginIsTakenOnce(t *testing.T) { // spec interfaces A2.1
	s := fresh(t)
	ctx := t.Context()
	hash := Hash("token")
	if err := s.PutLogin(ctx, hash, day.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.TakeLogin(ctx, hash, day.Add(time.Minute)); ok || err != nil {
		t.Fatal("taken when its time was over", err)
	}
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if ok, err := s.TakeLogin(ctx, hash, day); err == nil && ok {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	if taken.Load() != 1 {
		t.Fatalf("taken %d times", taken.Load())
	}
}

func TestSessionsAndTokens(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	session := WebSessionRow{CookieHash: Hash("c"), KeyHash: Hash("k"), Label: "Firefox", Created: day.Local(), LastSeen: day.Local()}
	token := TokenRow{Hash: Hash("t"), Label: "ci", Scope: "drive", Created: day.Local(), LastUsed: day.Local()}
	for range 2 {
		if err := errors.Join(s.PutWebSession(ctx, session), s.PutToken(ctx, token)); err != nil {
			t.Fatal(err)
		}
		gotSession, ok, err := s.WebSession(ctx, session.CookieHash)
		if diff := cmp.Diff(session, gotSession); diff != "" || !ok || err != nil {
			t.Fatal(diff, ok, err)
		}
		gotToken, ok, err := s.Token(ctx, token.Hash)
		if diff := cmp.Diff(token, gotToken); diff != "" || !ok || err != nil {
			t.Fatal(diff, ok, err)
		}
		session.LastSeen, token.LastUsed = day.Add(time.Hour).Local(), day.Add(time.Hour).Local()
	}
	if err := errors.Join(s.DeleteSession(ctx, session.CookieHash), s.DeleteToken(ctx, token.Hash)); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.WebSession(ctx, session.CookieHash); ok || err != nil {
		t.Fatal("the session is still there", err)
	}
	if _, ok, err := s.Token(ctx, token.Hash); ok || err != nil {
		t.Fatal("the token is still there", err)
	}
}
