package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/store"
)

// TestDefiniteFailuresAreStored: what is proven not to have run answers the same again.
func TestDefiniteFailuresAreStored(t *testing.T) { // spec launch L5.1, L5.8, L6.3
	for name, c := range map[string]struct {
		change func(*stage, *davit.Intent)
		code   davit.Code
		kept   bool // a worktree is there and named
	}{
		"no such workspace": {func(s *stage, i *davit.Intent) { i.Target.Worktree = "path:/nowhere" }, davit.CodeWorkspaceNotFound, false},
		"no such directory": {func(s *stage, i *davit.Intent) { i.Cwd = "gone" }, davit.CodeDirectoryMissing, false},
		"a file":            {func(s *stage, i *davit.Intent) { i.Cwd = s.path("davit.db") }, davit.CodeDirectoryMissing, false},
		"taken branch": {func(s *stage, i *davit.Intent) {
			*i = s.worktree(1, "taken")
			_ = os.Mkdir(s.path("worktrees", "taken"), 0o700)
		}, davit.CodeWorktreeCollision, false},
		"no such directory in the worktree": {func(s *stage, i *davit.Intent) { *i = s.worktree(1, "w"); i.Cwd = "gone" }, davit.CodeDirectoryMissing, true},
		"a link out of the worktree": {func(s *stage, i *davit.Intent) {
			*i = s.worktree(1, "w")
			i.Cwd = "link"
			s.created = func(davit.CreateWorktree, string) error { return os.Symlink("/", s.path("worktrees", "w", "link")) }
		}, davit.CodeDirectoryMissing, true},
		"made, unverified": {func(s *stage, i *davit.Intent) {
			*i = s.worktree(1, "w")
			s.created = func(davit.CreateWorktree, string) error {
				return davit.Errorf(davit.CodeWorktreeUnverified, "HEAD is not the base that was meant")
			}
		}, davit.CodeWorktreeUnverified, true},
		"program not started": {func(s *stage, i *davit.Intent) {
			s.openErr = errors.Join(davit.Errorf(davit.CodePaneSpawnFailed, "exec: no such file").WithHint("check it"), ErrNothingMade)
		}, davit.CodePaneSpawnFailed, false},
		"program not started in the worktree": {func(s *stage, i *davit.Intent) {
			*i = s.worktree(1, "w")
			s.openErr = fmt.Errorf("no room: %w", ErrNothingMade)
		}, davit.CodeLaunchFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			db := s.store(t)
			x := s.executor(t, db)
			in := s.existing(1)
			c.change(s, &in)
			_, err := x.Launch(t.Context(), local, in)
			first := wantCode(t, err, c.code)
			_, named := first.Details["worktree"]
			if named != c.kept || c.kept && !strings.Contains(first.Message, s.path("worktrees", "w")) {
				t.Errorf("%s, details %v", first.Message, first.Details)
			}
			if _, err := os.Stat(s.path("worktrees", "w")); c.kept && err != nil {
				t.Error("the worktree is gone:", err)
			}
			// The cause goes away; the stored answer stays.
			s.openErr, s.created = nil, nil
			for i, ask := range asks(x, in) {
				_, err := ask()
				if diff := cmp.Diff(string(intent.Encode(first)), string(intent.Encode(davit.AsError(err)))); diff != "" {
					t.Errorf("ask %d: %s", i, diff)
				}
			}
			s.wantAgents(t)
		})
	}
}

// TestUnknownStaysUnknown: an error that proves nothing is never turned into a second
// agent or into a failure.
func TestUnknownStaysUnknown(t *testing.T) { // spec launch L5.6
	s := newStage(t)
	s.openErr = errors.New("the keeper does not answer")
	x := s.executor(t, s.store(t))
	in := s.worktree(1, "w")
	_, err := x.Launch(t.Context(), local, in)
	e := wantCode(t, err, davit.CodeOperationUnknown)
	if !strings.Contains(e.Message, "the keeper does not answer") || e.Details["worktree"] == nil || e.Details["paneKey"] == nil {
		t.Errorf("%s %v", e.Message, e.Details)
	}
	s.openErr = nil
	for _, ask := range asks(x, in) {
		_, err := ask()
		if e := wantCode(t, err, davit.CodeOperationUnknown); e.Details["worktree"] == nil {
			t.Errorf("%v", e.Details)
		}
	}
	if len(s.asked) != 1 {
		t.Fatalf("asked for %d surfaces", len(s.asked))
	}
	// Then the keeper is found to hold it after all (L6.5).
	if err := os.WriteFile(s.path("agents", string(s.asked[0].Pane)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := x.Launch(t.Context(), local, in)
	if err != nil || got.Outcome.PaneKey != s.asked[0].PaneKey {
		t.Fatal(got, err)
	}
	if len(s.asked) != 1 {
		t.Fatal("a second agent was started")
	}
}

// forgetful is a ledger whose later writes fail.
type forgetful struct{ Ledger }

var errDisk = errors.New("the disk is full")

func (forgetful) NoteWorktree(context.Context, string, string, string, string) error { return errDisk }
func (forgetful) Plan(context.Context, string, string, []byte) error                 { return errDisk }
func (forgetful) Record(context.Context, string, string, []byte) error               { return errDisk }
func (forgetful) Settle(context.Context, string, string, []byte) error               { return errDisk }

func TestFailedLedgerWriteIsASuccess(t *testing.T) { // spec launch L5.7
	s := newStage(t)
	s.ledger = func(l Ledger) Ledger { return forgetful{l} }
	db := s.store(t)
	x := s.executor(t, db)
	in := s.worktree(1, "w")
	if _, err := x.Launch(t.Context(), local, in); err != nil {
		t.Fatal(err)
	}
	// Its claim is stored, so that it never runs again, and its worktree is found.
	_, err := x.Launch(t.Context(), local, in)
	if e := wantCode(t, err, davit.CodeOperationUnknown); e.Details["worktree"] == nil {
		t.Errorf("%v", e.Details)
	}
	s.wantAgents(t, hardText)
}

func TestCallersPaneKey(t *testing.T) { // spec launch L1
	s := newStage(t)
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	in.PaneKey = "t_0123456789abcdef:p_0123456789abcdef"
	got, err := x.Launch(t.Context(), local, in)
	if err != nil || got.Outcome.PaneKey != in.PaneKey || got.Outcome.TabID != "t_0123456789abcdef" {
		t.Fatal(got, err)
	}
	again := s.existing(2)
	again.PaneKey = in.PaneKey
	_, err = x.Launch(t.Context(), local, again)
	wantCode(t, err, davit.CodeLaunchPaneLive)
	s.wantAgents(t, hardText)
	// A crash between such a claim and its refusal must not take the other's pane for its own.
	third := s.existing(3)
	third.PaneKey = in.PaneKey
	killHost(t, s, third, "after-claim")
	_, err = x.Launch(t.Context(), local, third)
	wantCode(t, err, davit.CodeOperationUnknown)
}

func TestReplayFitsTheCaller(t *testing.T) { // spec launch L1.2, L2.2
	s := newStage(t)
	db := s.store(t)
	x := s.executor(t, db)
	in := s.existing(1)
	got, err := x.Launch(t.Context(), local, in)
	if err != nil {
		t.Fatal(err)
	}
	// As a version that pastes leaves it when it dies while pasting.
	other := s.existing(2)
	r, err := intent.Check(other)
	if err != nil {
		t.Fatal(err)
	}
	a, err := db.Admit(t.Context(), store.AdmitRequest{Caller: local.Key, OperationID: other.OperationID,
		Fingerprint: intent.Fingerprint(r.Intent, db.FingerprintKey()), Intent: intent.Stored(r.Intent, db.FingerprintKey()), Minted: mint(r.Intent), Now: time.Now()})
	if err != nil || a.Kind != store.AdmitFresh {
		t.Fatal(a.Kind, err)
	}
	got.Prompt = &davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptUnconfirmed}
	if err := db.Record(t.Context(), local.Key, other.OperationID, intent.Encode(got)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		capabilities []string
		code         davit.Code
	}{
		{nil, ""}, {[]string{davit.CapPromptUnconfirmed}, ""}, {[]string{}, davit.CodeOperationUnknown}, {[]string{davit.CapLaunch}, davit.CodeOperationUnknown},
	} {
		replayed, err := x.Launch(t.Context(), Caller{Key: local.Key, Capabilities: c.capabilities}, other)
		if davit.CodeOf(err) != c.code || err == nil && replayed.Prompt.Outcome != davit.PromptUnconfirmed {
			t.Errorf("%v: %+v %v", c.capabilities, replayed.Prompt, err)
		}
	}
	s.wantAgents(t, hardText)
}

func TestUnreadableRowLosesItsReplayOnly(t *testing.T) { // spec launch L2.4
	s := newStage(t)
	db := s.store(t)
	x := s.executor(t, db)
	in := s.existing(1)
	r, err := intent.Check(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Admit(t.Context(), store.AdmitRequest{Caller: local.Key, OperationID: in.OperationID,
		Fingerprint: intent.Fingerprint(r.Intent, db.FingerprintKey()), Minted: mint(r.Intent), Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := db.Settle(t.Context(), local.Key, in.OperationID, intent.Encode(davit.Result{})); err != nil {
		t.Fatal(err)
	}
	for _, ask := range asks(x, in) {
		_, err := ask()
		wantCode(t, err, davit.CodeOperationUnknown)
	}
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Launch(t.Context(), local, s.existing(2)); err != nil {
		t.Fatal(err)
	}
	s.wantAgents(t, hardText)
}

func TestReplayHasTheHandleOfNow(t *testing.T) { // spec launch L6.3
	s := newStage(t)
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	first, err := x.Launch(t.Context(), local, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("life"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := x.Launch(t.Context(), local, in)
	if err != nil || again.Outcome.Handle == first.Outcome.Handle {
		t.Fatal("the handle is stale", err)
	}
	again.Outcome.Handle = first.Outcome.Handle
	if diff := cmp.Diff(first, again); diff != "" {
		t.Fatal(diff)
	}
}
