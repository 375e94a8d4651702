package run

import (
	"context"
	"encoding/json"
	"time"

	"davit"
	"davit/internal/store"
	"davit/internal/wire"
)

// answer is what an id that is not new gets: what it did, and never anything new (spec
// launch L6.2, L6.3).
func (s *Service) answer(ctx context.Context, in wire.PaneRun, a store.Admission, now time.Time) (wire.PaneRan, error) {
	id := in.ClientOperationID
	switch a.Kind {
	case store.AdmitReplay:
		return s.replay(ctx, in, a.Row)
	case store.AdmitConflict:
		return wire.PaneRan{}, davit.Errorf(davit.CodeOperationConflict, "the operation id %s was used for another request", id).WithHint("mint a new one")
	case store.AdmitExpired, store.AdmitLost:
		return wire.PaneRan{}, davit.Errorf(davit.CodeOperationExpired, "the operation id %s is too old to be known", id).WithHint("mint a new one")
	case store.AdmitInvalid:
		if fault := store.OperationFault(id, now); fault != nil {
			return wire.PaneRan{}, fault
		}
	}
	return wire.PaneRan{}, davit.Errorf(davit.CodeInternal, "the ledger answered %q", a.Kind)
}

func (s *Service) replay(ctx context.Context, in wire.PaneRun, row store.OperationRow) (wire.PaneRan, error) {
	switch row.State {
	case store.OperationSettled, store.OperationRecorded:
		var ran wire.PaneRan
		if err := json.Unmarshal(row.Result, &ran); err != nil {
			return ran, davit.Errorf(davit.CodeOperationUnknown, "what the operation %s did cannot be read: %w", row.OperationID, err)
		}
		ran.Replayed = true
		return ran, nil
	case store.OperationFailed:
		var failed davit.Error
		if err := json.Unmarshal(row.Error, &failed); err != nil {
			return wire.PaneRan{}, davit.Errorf(davit.CodeOperationUnknown, "how the operation %s failed cannot be read: %w", row.OperationID, err)
		}
		return wire.PaneRan{}, &failed
	}
	return s.found(ctx, in, row)
}

// found is for an operation whose host ended in the middle: the claim says whether the
// shell took the command, and if it has not it never will.
func (s *Service) found(ctx context.Context, in wire.PaneRun, row store.OperationRow) (wire.PaneRan, error) {
	ran := wire.PaneRan{Pane: in.Pane, How: wire.RanByKey, Replayed: true}
	unknown := davit.Errorf(davit.CodeOperationUnknown, "whether the command of operation %s ran is not known: davit ended meanwhile", row.OperationID).
		WithHint("look at the pane %s", in.Pane)
	var was intent
	if json.Unmarshal(row.Intent, &was) != nil || was.How != wire.RanByKey || s.cfg.Scripts == "" {
		return ran, unknown // one that was typed plainly makes no claim
	}
	withdrawn, err := s.offer(in).Withdraw()
	if err != nil {
		return ran, unknown
	}
	if withdrawn {
		err := noPrompt(in.Pane, "no_answer", "davit ended before the shell of pane %s took the command: nothing was run", in.Pane).
			WithHint("run it again with a new id")
		s.settle(ctx, row, ran, err)
		return ran, err
	}
	s.settle(ctx, row, ran, nil)
	return ran, nil
}

// settle stores the end of an operation. The line stays out of the store: it may hold what
// no row should.
func (s *Service) settle(ctx context.Context, row store.OperationRow, ran wire.PaneRan, failed error) {
	var err error
	if failed != nil {
		text, _ := json.Marshal(davit.AsError(failed))
		err = s.cfg.Ledger.Fail(ctx, row.Caller, row.OperationID, text)
	} else {
		ran.Line = ""
		if ran.Block != nil {
			block := *ran.Block
			block.Command = ""
			ran.Block = &block
		}
		text, _ := json.Marshal(ran)
		err = s.cfg.Ledger.Settle(ctx, row.Caller, row.OperationID, text)
	}
	if err != nil {
		s.cfg.Log.Warn("the end of a command could not be stored", "operation", row.OperationID, "err", err)
	}
}
