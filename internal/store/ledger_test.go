package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"davit"
)

func opID(at time.Time, n int) string { return fmt.Sprintf("%013d-%032x", at.UnixMilli(), n) }

func admit(t testing.TB, s *Store, r AdmitRequest) Admission {
	t.Helper()
	a, err := s.Admit(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAdmission(t *testing.T) { // spec launch L6.2
	s := fresh(t)
	known := AdmitRequest{Caller: "local", OperationID: opID(day, 1), Fingerprint: "f", Intent: []byte(`{}`), Now: day,
		Minted: Minted{PaneKey: "t_1:p_1", TabID: "t_1", PaneID: "p_1", SessionID: "s", WorktreeInstance: "wi"}}
	first := admit(t, s, known)
	if first.Kind != AdmitFresh {
		t.Fatal(first.Kind)
	}
	id := func(at time.Time) string { return opID(at, 2) }
	for _, c := range []struct {
		name string
		r    AdmitRequest
		want AdmissionKind
	}{
		{"same", known, AdmitReplay},
		{"same, two days later", AdmitRequest{Caller: "local", OperationID: known.OperationID, Fingerprint: "f", Now: day.Add(48 * time.Hour)}, AdmitReplay},
		{"other fingerprint", AdmitRequest{Caller: "local", OperationID: known.OperationID, Fingerprint: "g", Now: day}, AdmitConflict},
		{"other caller's", AdmitRequest{Caller: "phone", OperationID: known.OperationID, Fingerprint: "g", Now: day}, AdmitFresh},
		{"no id", AdmitRequest{Now: day}, AdmitInvalid},
		{"upper case", AdmitRequest{OperationID: strings.ToUpper(opID(day, 10)), Now: day}, AdmitInvalid},
		{"12 digits", AdmitRequest{OperationID: opID(day, 1)[1:], Now: day}, AdmitInvalid},
		{"newline after", AdmitRequest{OperationID: opID(day, 1) + "\n", Now: day}, AdmitInvalid},
		{"5 min ahead", AdmitRequest{OperationID: id(day.Add(5 * time.Minute)), Now: day}, AdmitFresh},
		{"over 5 min ahead", AdmitRequest{OperationID: id(day.Add(5*time.Minute + time.Millisecond)), Now: day}, AdmitInvalid},
		{"24 h old", AdmitRequest{OperationID: id(day.Add(-24 * time.Hour)), Now: day}, AdmitFresh},
		{"over 24 h old", AdmitRequest{OperationID: id(day.Add(-24*time.Hour - time.Millisecond)), Now: day}, AdmitExpired},
		{"replay only", AdmitRequest{OperationID: id(day), Now: day, ReplayOnly: true}, AdmitMissing},
		{"still not claimed", AdmitRequest{OperationID: id(day), Now: day}, AdmitFresh},
	} {
		if got := admit(t, s, c.r); got.Kind != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.Kind, c.want)
		}
	}
	row, ok, err := s.Operation(t.Context(), "local", known.OperationID)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	// The claim leaves the row unknown, and everything minted can be found in it.
	if row.State != OperationUnknown {
		t.Errorf("state %s", row.State)
	}
	if diff := cmp.Diff(known.Minted, row.Minted); diff != "" {
		t.Error(diff)
	}
	if want := day.Add(24*time.Hour + 5*time.Minute); !row.ExpiresAt.Equal(want) {
		t.Errorf("expires %s, want %s", row.ExpiresAt, want)
	}
}

func TestRowsLivePastTheLaterOfTheirTimes(t *testing.T) { // spec launch L6.3
	s := fresh(t)
	old, ahead := opID(day.Add(-23*time.Hour), 1), opID(day.Add(4*time.Minute), 2)
	for _, id := range []string{old, ahead} {
		admit(t, s, AdmitRequest{OperationID: id, Now: day})
	}
	life := 24*time.Hour + 5*time.Minute
	for _, c := range []struct {
		at   time.Time
		want int64
	}{{day.Add(life - time.Millisecond), 0}, {day.Add(life), 1}, {day.Add(life + 4*time.Minute), 1}} {
		if gone, err := s.Sweep(t.Context(), c.at); err != nil || gone != c.want {
			t.Errorf("at %s: %d gone, want %d (%v)", c.at, gone, c.want, err)
		}
	}
	// Once forgotten, an id is too old to run again.
	if a := admit(t, s, AdmitRequest{OperationID: ahead, Now: day.Add(life + 4*time.Minute)}); a.Kind != AdmitExpired {
		t.Errorf("a forgotten id is %s", a.Kind)
	}
}

func TestOneOfManyIsFresh(t *testing.T) {
	s := fresh(t)
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if a, err := s.Admit(context.Background(), AdmitRequest{OperationID: opID(day, 1), Fingerprint: "f", Now: day}); err == nil && a.Kind == AdmitFresh {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d claims", won.Load())
	}
}

// TestSettlementIsMonotone runs random writes against the table of docs/store.md.
func TestSettlementIsMonotone(t *testing.T) { // spec launch L6.3
	s := fresh(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := opID(day, n)
		admit(t, s, AdmitRequest{OperationID: id, Now: day})
		state, result, failure := OperationUnknown, "", ""
		for i := range rapid.IntRange(0, 8).Draw(rt, "writes") {
			body := []byte(fmt.Sprintf(`{"n":%d}`, i))
			move := rapid.SampledFrom([]string{"plan", "record", "settle", "fail"}).Draw(rt, "write")
			var err error
			switch move {
			case "plan":
				err = s.Plan(context.Background(), "", id, body)
				if state == OperationUnknown {
					result = string(body)
				}
			case "record":
				err = s.Record(context.Background(), "", id, body)
				if state == OperationUnknown {
					state, result = OperationRecorded, string(body)
				}
			case "settle":
				err = s.Settle(context.Background(), "", id, body)
				if state == OperationUnknown || state == OperationRecorded {
					state, result = OperationSettled, string(body)
				}
			case "fail":
				err = s.Fail(context.Background(), "", id, body)
				if state == OperationUnknown {
					state, failure = OperationFailed, string(body)
				}
			}
			row, ok, readErr := s.Operation(context.Background(), "", id)
			if err != nil || !ok || readErr != nil {
				rt.Fatal(err, ok, readErr)
			}
			if row.State != state || string(row.Result) != result || string(row.Error) != failure {
				rt.Fatalf("after %s: %s %s %s; want %s %s %s", move, row.State, row.Result, row.Error, state, result, failure)
			}
		}
	})
}

func TestUnsettledAreThoseWithoutAnEnd(t *testing.T) { // spec launch L6.5
	s := fresh(t)
	ctx := t.Context()
	for i, end := range []func(string) error{
		func(string) error { return nil },
		func(id string) error { return s.Record(ctx, "", id, []byte("{}")) },
		func(id string) error { return s.Settle(ctx, "", id, []byte("{}")) },
		func(id string) error { return s.Fail(ctx, "", id, []byte("{}")) },
		func(id string) error { return s.NoteWorktree(ctx, "", id, "/w", "b") },
	} {
		id := opID(day, i)
		admit(t, s, AdmitRequest{OperationID: id, Now: day.Add(time.Duration(i) * time.Second)})
		if err := end(id); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.Unsettled(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprint(row.OperationID[len(row.OperationID)-1:], " ", row.State, row.WorktreePath, row.WorktreeBranch))
	}
	if diff := cmp.Diff([]string{"0 unknown", "1 recorded", "4 unknown/wb"}, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestIDsOfALostStoreAreNotRunAgain(t *testing.T) {
	// docs/store.md: an id from before a store was lost may have run without being known.
	for _, copied := range []bool{true, false} {
		path := filled(t, copied)
		overwrite(t, path, damages["half"])
		s, err := Open(t.Context(), Config{Path: path, Now: func() time.Time { return day }})
		if err != nil {
			t.Fatal(err)
		}
		check := func() {
			t.Helper()
			if a := admit(t, s, AdmitRequest{OperationID: opID(day, 1), Now: day}); a.Kind != AdmitLost {
				t.Errorf("copy %v: an id from before is %s", copied, a.Kind)
			}
			if a := admit(t, s, AdmitRequest{OperationID: opID(day.Add(time.Second), 1), Now: day.Add(time.Second), ReplayOnly: true}); a.Kind != AdmitMissing {
				t.Errorf("copy %v: a new id is %s", copied, a.Kind)
			}
		}
		check()
		s.Close()
		s = open(t, path)
		check()
	}
}

// TestAnsweredCommitsOutliveTheProcess kills a writing process with SIGKILL and looks
// for every write that it was told is done.
func TestAnsweredCommitsOutliveTheProcess(t *testing.T) {
	if path := os.Getenv("STORE_TEST_WRITER"); path != "" {
		writeForEver(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "davit.db")
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAnsweredCommitsOutliveTheProcess$")
		cmd.Env = append(os.Environ(), "STORE_TEST_WRITER="+path, fmt.Sprintf("STORE_TEST_ROUND=%d", round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var told []string
		lines := bufio.NewScanner(out)
		for lines.Scan() && len(told) < 100 {
			told = append(told, lines.Text())
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			told = append(told, lines.Text())
		}
		_ = cmd.Wait()
		if len(told) < 100 {
			t.Fatalf("only %d writes", len(told))
		}
		s := open(t, path)
		if s.SetAside() != "" {
			t.Fatalf("round %d: %+v", round, s.Recovery())
		}
		stored := map[string]bool{}
		for _, act := range mustLoad(t, s).Acts {
			stored[act.ID] = true
		}
		s.Close()
		for i, id := range told {
			whole := strings.HasSuffix(id, ".") // the last line may be cut
			if !stored[strings.TrimSuffix(id, ".")] && (whole || i < len(told)-1) {
				t.Fatalf("round %d: %s was told as stored and is gone", round, id)
			}
		}
	}
}

func writeForEver(t *testing.T, path string) {
	s := open(t, path)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("a%s-%d-%d", os.Getenv("STORE_TEST_ROUND"), g, i)
				if err := s.Commit(context.Background(), Batch{PutActs: []ActRow{{ID: id, Pane: davit.PaneID("p_1"), Kind: "input", Created: day}}}); err != nil {
					return
				}
				if _, err := os.Stdout.WriteString(id + ".\n"); err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkAdmit is the throughput of claims by 16 callers at once.
func BenchmarkAdmit(b *testing.B) {
	s := fresh(b)
	var n atomic.Int64
	now := time.Now()
	intent := []byte(`{"agent":"practice","target":{"kind":"existing","worktree":"active"},"prompt":{"text":"` + strings.Repeat("x", 200) + `"}}`)
	b.SetParallelism(max(1, 16/maxProcs()))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			a, err := s.Admit(context.Background(), AdmitRequest{Caller: "local", OperationID: opID(now, int(n.Add(1))), Fingerprint: "f", Intent: intent, Now: now})
			if err != nil || a.Kind != AdmitFresh {
				b.Error(a.Kind, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}

func maxProcs() int { return runtime.GOMAXPROCS(0) }

// An operation id that is refused is told what is wrong with it.
func TestOperationFault(t *testing.T) { // spec launch L1
	now := time.UnixMilli(1_700_000_000_000)
	id := func(at time.Time) string { return fmt.Sprintf("%013d-%032x", at.UnixMilli(), 7) }
	for text, want := range map[string]string{
		id(now): "", id(now.Add(4 * time.Minute)): "", id(now.Add(-48 * time.Hour)): "",
		"abc": "is malformed", id(now.Add(6 * time.Minute)): "lies in the future",
	} {
		fault := OperationFault(text, now)
		if (fault == nil) != (want == "") || fault != nil && (fault.Code != davit.CodeOperationInvalid || !strings.Contains(fault.Message, want)) {
			t.Errorf("%s: %v, want %q", text, fault, want)
		}
	}
}
