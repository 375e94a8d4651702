package host

import (
	"context"

	"davit/internal/keeper"
	"davit/internal/pane"
)

// shifted is the keeper as a pane sees it whose program was started again: the keeper's log
// begins at 0 with each start, the pane's offsets go on where the former log ended. So
// checkpoints, blocks and clients' places stay in one order, and the old output above.
func shifted(k pane.Keeper, base uint64) pane.Keeper {
	if base == 0 {
		return k
	}
	return shiftedKeeper{k, base}
}

type shiftedKeeper struct {
	pane.Keeper
	base uint64
}

func (k shiftedKeeper) down(offset uint64) uint64 {
	if offset < k.base {
		return 0
	}
	return offset - k.base
}

func (k shiftedKeeper) Input(ctx context.Context, in keeper.Input) error {
	return k.Inputs(ctx, []keeper.Input{in})
}

// Inputs leaves answers out that were meant for the former program.
func (k shiftedKeeper) Inputs(ctx context.Context, inputs []keeper.Input) error {
	own := make([]keeper.Input, 0, len(inputs))
	for _, in := range inputs {
		if in.ReplyTo != 0 {
			if in.ReplyTo <= k.base {
				continue
			}
			in.ReplyTo -= k.base
		}
		own = append(own, in)
	}
	switch len(own) {
	case 0:
		return nil
	case 1:
		return k.Keeper.Input(ctx, own[0]) // of any size
	}
	return k.Keeper.Inputs(ctx, own)
}

func (k shiftedKeeper) Retain(ctx context.Context, id string, offset uint64) error {
	return k.Keeper.Retain(ctx, id, k.down(offset))
}

func (k shiftedKeeper) Follow(ctx context.Context, id string, from uint64) (pane.Stream, error) {
	s, err := k.Keeper.Follow(ctx, id, k.down(from))
	if err != nil {
		return nil, err
	}
	return shiftedStream{s, k}, nil
}

type shiftedStream struct {
	pane.Stream
	k shiftedKeeper
}

func (s shiftedStream) Next() (keeper.Frame, error) {
	f, err := s.Stream.Next()
	f.From, f.To = f.From+s.k.base, f.To+s.k.base
	return f, err
}

func (s shiftedStream) Ack(offset uint64) { s.Stream.Ack(s.k.down(offset)) }

// Range is what the log holds.
func (s shiftedStream) Range() keeper.Range {
	inner, ok := s.Stream.(interface{ Range() keeper.Range })
	if !ok {
		return keeper.Range{}
	}
	r := inner.Range()
	return keeper.Range{Start: r.Start + s.k.base, End: r.End + s.k.base}
}
