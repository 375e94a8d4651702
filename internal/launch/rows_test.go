package launch

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/store"

	"github.com/google/go-cmp/cmp"
)

// oldRow is a row of the ledger as some version has written it.
type oldRow struct {
	About       string
	Intent      json.RawMessage
	Fingerprint string
	State       store.OperationState
	Stored      json.RawMessage
	Answer      json.RawMessage // when it is not what is stored
	Code        davit.Code      // of the error that is answered in its place
}

// Rows that other versions have stored are found by the same intent and answer what they
// say, in each way of asking. The files do not change: a new version adds some.
func TestRowsOfOtherVersionsReplay(t *testing.T) { // spec launch L2.4, L6.2, L6.3, L6.4
	files, err := filepath.Glob("testdata/rows/*.json")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d rows, %v", len(files), err)
	}
	s := newStage(t)
	db := s.store(t)
	x := s.executor(t, db)
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var row oldRow
			if err := json.Unmarshal(raw, &row); err != nil {
				t.Fatal(err)
			}
			in, err := DecodeIntent(row.Intent)
			if err != nil {
				t.Fatal(err)
			}
			if got := intent.Fingerprint(in, db.FingerprintKey()); got != row.Fingerprint {
				t.Errorf("the intent has another fingerprint now, and its stored answer is lost: %s", got)
			}
			in.OperationID = newID(100 + i)
			row.put(t, db, in)
			for _, ask := range asks(x, in) {
				row.judge(t, ask)
			}
		})
	}
	s.wantAgents(t) // nothing was started
}

// put writes the row as its version did.
func (row oldRow) put(t *testing.T, db *store.Store, in davit.Intent) {
	ctx := context.Background()
	admission, err := db.Admit(ctx, store.AdmitRequest{
		Caller: local.Key, OperationID: in.OperationID, Fingerprint: row.Fingerprint, Intent: row.Intent, Minted: mint(in), Now: time.Now(),
	})
	if err != nil || admission.Kind != store.AdmitFresh {
		t.Fatalf("%+v %v", admission, err)
	}
	put := db.Settle
	switch row.State {
	case store.OperationRecorded:
		put = db.Record
	case store.OperationFailed:
		put = db.Fail
	}
	if err := put(ctx, local.Key, in.OperationID, row.Stored); err != nil {
		t.Fatal(err)
	}
}

func (row oldRow) judge(t *testing.T, ask func() (davit.Result, error)) {
	result, err := ask()
	if row.Code != "" {
		e := wantCode(t, err, row.Code)
		var stored davit.Error
		if row.State == store.OperationFailed && json.Unmarshal(row.Stored, &stored) == nil && (e.Message != stored.Message || e.Hint != stored.Hint) {
			t.Errorf("it says %q, %q", e.Message, e.Hint)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := row.Stored
	if row.Answer != nil {
		want = row.Answer
	}
	var got, wanted map[string]any
	if json.Unmarshal(intent.Encode(result), &got) != nil || json.Unmarshal(want, &wanted) != nil {
		t.Fatal("no JSON")
	}
	outcome := got["outcome"].(map[string]any)
	if outcome["handle"] == "" {
		t.Error("it has no handle")
	}
	outcome["handle"] = wanted["outcome"].(map[string]any)["handle"] // minted anew (L6.3)
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}

// An intent that names no agent starts the default one, and its operation stays that of
// the agent it started, whatever the setting becomes.
func TestDefaultAgent(t *testing.T) { // spec launch L1, L6.2
	s := newStage(t)
	db := s.store(t)
	x := s.executor(t, db)
	named := ""
	x.cfg.DefaultAgent = func(context.Context) string { return named }
	in := s.existing(1)
	in.Agent = ""
	_, err := x.Launch(t.Context(), local, in)
	if e := wantCode(t, err, davit.CodeInvalid); e.Hint == "" || e.Details["field"] != "agent" {
		t.Errorf("%+v", e)
	}
	named = "practice"
	first, err := x.Launch(t.Context(), local, in)
	if err != nil {
		t.Fatal(err)
	}
	named = "mute"
	wantSame(t, x, in, first)
	in.Agent = "practice" // the same launch, spelled out
	wantSame(t, x, in, first)
	s.wantAgents(t, hardText)
}
