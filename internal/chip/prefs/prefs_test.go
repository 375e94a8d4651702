package prefs

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"davit"
	"davit/internal/chip"
	"davit/internal/store"
)

// TestStateIsKept: spec chips C4.1 and C4.3: one state per home, kept over restarts; each
// move is counted once with its cause; what cannot be read counts as not set.
func TestStateIsKept(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "davit.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var moves []string
	load := func() *Prefs {
		t.Helper()
		p, err := Load(t.Context(), Config{Store: s, Moved: func(from, to davit.PRValidation, verdict chip.Verdict) {
			moves = append(moves, string(from)+">"+string(to)+":"+string(verdict))
		}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := load()
	if l := p.Layout(); l.Validation != davit.PRUnvalidated || !l.PRChip || p.View() != davit.DefaultTabView() {
		t.Errorf("a new home: %+v", l)
	}
	for _, c := range []struct {
		verdict chip.Verdict
		moved   bool
	}{{chip.VerdictNoChange, false}, {chip.VerdictMissing, true}, {chip.VerdictUnauthenticated, false}, {chip.VerdictValidated, true}, {chip.VerdictValidated, false}, {chip.VerdictUnauthenticated, true}} {
		if moved, err := p.Judge(t.Context(), c.verdict, "why"); err != nil || moved != c.moved {
			t.Errorf("%s: %v %v", c.verdict, moved, err)
		}
	}
	want := []string{"unvalidated>suppressed:missing_gh", "suppressed>validated:validated", "validated>suppressed:unauthenticated_gh"}
	if len(moves) != 3 || moves[0] != want[0] || moves[1] != want[1] || moves[2] != want[2] {
		t.Errorf("moves %v", moves)
	}
	own := []string{"github_pr"}
	if err := p.SetLayout(t.Context(), chip.Edit{Prompt: &own}); err != nil {
		t.Fatal(err)
	}
	if err := p.SetView(t.Context(), json.RawMessage(`{"showPrLink":false}`)); err != nil {
		t.Fatal(err)
	}
	p = load()
	if l := p.Layout(); l.Validation != davit.PRSuppressed || l.Cause != "why" || p.Verdict() != chip.VerdictUnauthenticated || len(l.Custom) != 1 || p.View().ShowPRLink {
		t.Errorf("after a restart: %+v %+v", l, p.View())
	}
	for _, key := range []string{KeyFlag, KeyView, keyLayout, keyValidation} {
		if err := s.SetSetting(t.Context(), key, json.RawMessage(`["from tomorrow"]`)); err != nil {
			t.Fatal(err)
		}
	}
	p = load()
	if l := p.Layout(); l.Validation != davit.PRUnvalidated || !l.PRChip || len(l.Custom) != 0 || p.View() != davit.DefaultTabView() {
		t.Errorf("rows that cannot be read: %+v %+v", l, p.View())
	}
	for _, bad := range []string{`1`, `null`, `"yes"`, ``} {
		if err := p.SetFlag(t.Context(), json.RawMessage(bad)); davit.CodeOf(err) != davit.CodeInvalid {
			t.Errorf("flag %q: %v", bad, err)
		}
	}
}
