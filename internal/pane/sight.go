package pane

import (
	"context"
	"errors"
	"strings"

	"davit"
	"davit/internal/keeper"
)

// MaxWrite is what a pane takes in one write: the keeper holds no more for it (P1.2).
const MaxWrite = 4 << 20

// Sight is what the pane shows at one moment, and to whom it listens.
type Sight struct {
	Rows   []string // the screen, trailing blanks cut
	Cursor [2]int   // column, row
	Title  string
	Framed bool // bracketed paste is on
	Offset uint64
	Front  keeper.Foreground // of a moment later; zero when nobody could tell
	View   davit.Pane
}

// Sight looks at the screen, then at the foreground.
func (p *Pane) Sight(ctx context.Context) (Sight, error) {
	var seen Sight
	err := p.look(ctx, func() {
		s := p.fold.screen
		seen.Rows = append(seen.Rows, s.Text()...)
		for i, row := range seen.Rows {
			seen.Rows[i] = strings.TrimRight(row, " ")
		}
		x, y := s.Cursor()
		seen.Cursor, seen.Title, seen.Framed, seen.Offset = [2]int{x, y}, s.Title(), s.Modes().BracketedPaste, s.Offset()
	})
	if err != nil {
		return seen, err
	}
	if front, err := p.cfg.Keeper.Foreground(ctx, string(p.id)); err == nil {
		seen.Front = front
	} else if ctx.Err() == nil {
		p.log.Debug("nobody can tell who is in the foreground", "err", err)
	}
	seen.View = p.View()
	return seen, nil
}

// OutputAfter waits for output behind an offset, and for the program's end.
func (p *Pane) OutputAfter(ctx context.Context, offset uint64) error {
	return p.until(ctx, func() bool { return p.fold.screen.Offset() != offset })
}

// Write gives bytes of the host's own to the program, once per id (P1.2): unlike Input it
// is no client's, so it says nothing of the pane's size. With an error, none says that it
// is proven that not a byte was taken.
func (p *Pane) Write(ctx context.Context, id string, data []byte) (none bool, err error) {
	if err := p.takesInput(); err != nil {
		return true, err
	}
	if len(data) > MaxWrite {
		return true, davit.Errorf(davit.CodePaneInputTooLarge, "%d bytes are more than the %d that a pane takes at once", len(data), MaxWrite)
	}
	err = p.cfg.Keeper.Input(ctx, keeper.Input{ID: id, Pane: string(p.id), Data: data})
	if err == nil {
		return false, nil
	}
	var e *davit.Error
	if errors.As(err, &e) {
		switch e.Code {
		case davit.CodePaneBusy, davit.CodeInvalid, davit.CodePaneInputTooLarge, davit.CodePaneNotFound:
			return true, err
		case davit.CodePaneEnded:
			return e.Details["written"] == nil || e.Details["written"] == 0 || e.Details["written"] == float64(0), err
		}
	}
	return false, err
}
