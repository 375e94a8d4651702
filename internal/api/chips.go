package api

import (
	"context"
	"encoding/json"
	"strings"

	"davit"
	"davit/internal/wire"
)

// Chips are the chips of a pane or an absolute directory, where they are shown, and the
// settings about them.
type Chips interface {
	Get(ctx context.Context, in wire.ChipsRequest) (wire.Chips, error)
	Bank(ctx context.Context, in wire.ChipsRequest) (wire.ChipBank, error)
	Revalidate(ctx context.Context, in wire.ChipsRequest) (wire.ChipRevalidated, error)
	SetLayout(ctx context.Context, in wire.ChipLayoutSet) (davit.ChipLayout, error)
	ChipSettings
}

// ChipSettings are settings that hold as soon as they are set. known is false for a key
// of somebody else.
type ChipSettings interface {
	Setting(key string) (value json.RawMessage, known bool)
	SetSetting(ctx context.Context, key string, value json.RawMessage) (known bool, err error)
}

// chipsPlace finds where chips are asked for: a pane, or an absolute directory.
func (s *Server) chipsPlace(ctx context.Context, in wire.ChipsRequest) (wire.ChipsRequest, error) {
	if in.Pane != "" {
		p, ok := s.cfg.Host.State().Panes[in.Pane]
		if !ok {
			return in, davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", in.Pane)
		}
		in.Dir = p.Directory
	}
	in.Dir = callerDir(ctx, in.Dir)
	if !strings.HasPrefix(in.Dir, "/") {
		return in, davit.Errorf(davit.CodeInvalid, "chips are of a pane or of an absolute directory")
	}
	return in, nil
}

func (s *Server) chipOperations() {
	op(s, "chips.get", "The chips of a pane or a directory", true, func(ctx context.Context, in wire.ChipsRequest) (wire.Chips, error) {
		in, err := s.chipsPlace(ctx, in)
		if err != nil {
			return wire.Chips{Chips: []davit.Chip{}}, err
		}
		return s.cfg.Chips.Get(ctx, in)
	})
	op(s, "chips.bank", "What the editors of prompt and footers offer, and why some of it shows nothing here", true, func(ctx context.Context, in wire.ChipsRequest) (wire.ChipBank, error) {
		in, err := s.chipsPlace(ctx, in)
		if err != nil {
			return wire.ChipBank{Items: []wire.ChipBankItem{}}, err
		}
		return s.cfg.Chips.Bank(ctx, in)
	})
	op(s, "chips.setLayout", "Choose which chips are shown where, or go back to the default", false, func(ctx context.Context, in wire.ChipLayoutSet) (davit.ChipLayout, error) {
		return s.cfg.Chips.SetLayout(ctx, in)
	})
	op(s, "chips.revalidate", "Ask gh anew whether the pull-request chip works here", false, func(ctx context.Context, in wire.ChipsRequest) (wire.ChipRevalidated, error) {
		in, err := s.chipsPlace(ctx, in)
		if err != nil {
			return wire.ChipRevalidated{}, err
		}
		return s.cfg.Chips.Revalidate(ctx, in)
	})
}
