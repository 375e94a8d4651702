package pane

import (
	"context"
	"fmt"
	"strings"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/shell"
	"davit/screen"
)

// Prompt is what can be told of a shell's prompt at one moment.
type Prompt struct {
	Open    bool       // the shell takes a line
	Marks   bool       // it tells where prompts and commands begin
	Keys    shell.Kind // whose keys are bound (shell.TakeKeys); "" = none
	Kept    bool       // a line of the user's waits to be given back
	Empty   bool       // nothing is typed, for certain
	Framed  bool       // it asked for framed pastes
	Command string     // of the program in front, when the shell told it
}

// Prompt waits at most so long for the pane's shell to take a line, with the user's own line
// given back, and tells what there is then. A shell that is between two prompts is waited
// for; one whose program runs is not.
func (p *Pane) Prompt(ctx context.Context, wait time.Duration) (Prompt, error) {
	var seen Prompt
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := p.until(waiting, func() bool {
		switch state := p.fold.blocks.State; {
		case state == blockPrompt || state == blockEnded || state == blockInput && p.fold.props[shell.PropertyKept] != "":
			return false
		}
		seen = p.prompt()
		return true
	})
	if err == nil || waiting.Err() == nil || ctx.Err() != nil {
		return seen, err
	}
	var late Prompt
	err = p.look(ctx, func() { late = p.prompt() })
	return late, err
}

// prompt looks at the owner's state.
func (p *Pane) prompt() Prompt {
	f := &p.fold
	return Prompt{
		Open: f.blocks.State == blockInput, Marks: f.blocks.State != blockNone,
		Keys: shell.Kind(f.props[shell.PropertyKeys]), Kept: f.props[shell.PropertyKept] != "",
		Empty: f.lineEmpty(), Framed: f.screen.Modes().BracketedPaste, Command: p.view.Load().Command,
	}
}

// inputPlace is where the line that the shell takes begins, nil when it takes none or that
// is above the screen.
func (f *fold) inputPlace() *screen.Place {
	at, s := f.blocks.inputAt, f.screen
	if f.blocks.State != blockInput || at.mark == 0 {
		return nil
	}
	row, ok := s.MarkRow(at.mark)
	top := s.FirstRow() + uint64(s.ScrollbackLen())
	if !ok || row < top {
		return nil
	}
	return &screen.Place{Column: at.column, Row: int(row - top)}
}

// lineEmpty says that nothing is typed at the prompt: the cursor stands where the prompt
// ended, and nothing is drawn behind it or below.
func (f *fold) lineEmpty() bool {
	at, s := f.inputPlace(), f.screen
	x, y := s.Cursor()
	if at == nil || *at != (screen.Place{Column: x, Row: y}) {
		return false
	}
	for i, line := range s.Lines(s.ScrollbackLen()+y, s.ScrollbackLen()+s.Rows()) {
		for column, cell := range line.Cells {
			if (i > 0 || column >= x) && strings.TrimSpace(cell.Text) != "" {
				return false
			}
		}
	}
	return true
}

// InFront is the program that the pane's terminal listens to.
func (p *Pane) InFront(ctx context.Context) (keeper.Foreground, error) {
	return p.cfg.Keeper.Foreground(ctx, string(p.id))
}

// Press is davit's own input to the pane's shell, and what comes of it.
type Press struct {
	ID     string // of the input: a repeat types nothing twice (P1.2)
	Data   []byte
	Answer string // the id under which the shell answers (shell.PropertyRun); "" = it does not
}

// Pressed tells what came of it.
type Pressed struct {
	Answer string       // of the shell; "" when none came in time
	Block  *davit.Block // the command that began, nil when none was seen
}

const (
	answerWait = 3 * time.Second // a shell that is busy drawing a slow prompt
	blockWait  = 2 * time.Second
)

// PressKeys gives davit's keys to the shell, waits for its answer, and when it took what was
// offered for the command's beginning.
func (p *Pane) PressKeys(ctx context.Context, in Press) (Pressed, error) {
	var out Pressed
	if err := p.takesInput(); err != nil {
		return out, err
	}
	f := &p.fold
	var from uint64
	if err := p.look(ctx, func() { from = f.screen.Offset() }); err != nil {
		return out, err
	}
	if err := p.cfg.Keeper.Input(ctx, keeper.Input{ID: in.ID, Pane: string(p.id), Data: in.Data}); err != nil {
		return out, err
	}
	if in.Answer != "" {
		answer, at, err := p.answerTo(ctx, in.Answer)
		if err != nil || answer != shell.AnswerTaken && answer != shell.AnswerKeptAndTaken {
			return Pressed{Answer: answer}, nil // no answer: whether the shell took it is known from the offer
		}
		out.Answer, from = answer, at
	}
	out.Block = p.began(ctx, from)
	return out, nil
}

// answerTo waits for the shell's answer to a request.
func (p *Pane) answerTo(ctx context.Context, id string) (answer string, at uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	var told string
	var toldAt uint64
	err = p.until(ctx, func() bool {
		text, ok := strings.CutPrefix(p.fold.props[shell.PropertyRun], id+" ")
		if ok {
			told, toldAt = text, p.fold.answeredAt
		}
		return ok
	})
	if err != nil {
		return "", 0, err
	}
	return told, toldAt, nil
}

// began waits for the command that begins behind an offset; nil when the shell tells none.
func (p *Pane) began(ctx context.Context, from uint64) *davit.Block {
	ctx, cancel := context.WithTimeout(ctx, blockWait)
	defer cancel()
	var block davit.Block
	err := p.until(ctx, func() bool {
		list := p.fold.blocks.List
		if n := len(list); n == 0 || list[n-1].From <= from {
			return false
		}
		block = p.fold.blocks.rows(p.fold.screen.MarkRow)[len(list)-1]
		return true
	})
	if err != nil {
		return nil
	}
	return &block
}

// giveBack has the shell put the user's line back at its next prompt (shell.KeyGive). The
// id follows from what was folded, so that a host that folds the same bytes again sends it
// once.
func (p *Pane) giveBack() {
	f := &p.fold
	if !f.caught || f.blocks.State != blockInput || f.props[shell.PropertyKept] == "" || f.gave == f.blocks.Ended+1 || !p.running() {
		return
	}
	f.gave = f.blocks.Ended + 1
	p.replies.push(keeper.Input{ID: fmt.Sprintf("give-%d", f.blocks.Ended), Pane: string(p.id), Data: []byte(shell.KeyGive)})
	poke(p.replies.wake)
}
