package pane

import (
	"context"
	"fmt"
	"strings"
	"time"

	"davit"
	"davit/internal/keeper"
)

// Commands are command lines to run in the pane's shell, one after the other.
type Commands struct {
	// ID makes the ids of the inputs: a repeat types nothing twice (P1.2).
	ID    string
	Lines []string
	// Typed is what is sent for a line; framed says that the shell asked for pastes to
	// be framed. nil: a paste and a carriage return.
	Typed func(line string, framed bool) []byte
}

// framedWait is how long a shell that has shown its prompt may take to ask for framed
// pastes; one that never does gets the line plainly.
const framedWait = 500 * time.Millisecond

// RunCommands types each line once the shell's mark says that it takes one, the next only
// when the last exited 0 (spec tabs T4.1). It gives how many ended well; the error of the
// one that did not is in the block. It waits for ever for a shell that gives no marks:
// those are for the caller to know (shell.Posix).
func (p *Pane) RunCommands(ctx context.Context, c Commands) (ran int, failed *davit.Block, err error) {
	typed := c.Typed
	if typed == nil {
		typed = func(line string, framed bool) []byte { return append(PasteBytes(line, framed), '\r') }
	}
	f := &p.fold
	for i, line := range c.Lines {
		if text := strings.TrimSpace(line); text == "" || text[0] == '#' {
			ran++ // a shell marks no command for it
			continue
		}
		var ended uint64
		if err := p.until(ctx, func() bool {
			ended = f.blocks.Ended
			return f.blocks.State == blockInput
		}); err != nil {
			return ran, nil, err
		}
		framed := p.untilFramed(ctx)
		in := keeper.Input{ID: fmt.Sprintf("%s/%d", c.ID, i), Pane: string(p.id), Data: typed(line, framed)}
		if err := p.takesInput(); err != nil {
			return ran, nil, err
		}
		if err := p.cfg.Keeper.Input(ctx, in); err != nil {
			return ran, nil, err
		}
		var last *int
		var block *davit.Block
		if err := p.until(ctx, func() bool {
			if f.blocks.Ended == ended || f.blocks.State == blockRunning {
				return false
			}
			last = f.blocks.Last
			if n := len(f.blocks.List); n > 0 {
				copied := f.blocks.List[n-1].Block
				block = &copied
			}
			return true
		}); err != nil {
			return ran, nil, err
		}
		if last == nil || *last != 0 {
			// A line that the shell could not read begins no block: the newest is another's.
			if block == nil || block.Command == "" || block.Exit != last {
				block = &davit.Block{Command: line, Exit: last}
			}
			return ran, block, nil
		}
		ran++
	}
	return ran, nil, nil
}

func (p *Pane) untilFramed(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, framedWait)
	defer cancel()
	return p.until(ctx, func() bool { return p.fold.screen.Modes().BracketedPaste }) == nil
}
