package pane

import (
	"context"
	"maps"
	"strings"

	"davit"
	"davit/screen"
)

// drawn is the last snapshot, shared by those who ask at the same offset.
type drawn struct {
	frame  Frame
	offset uint64 // of the whole screen
	lines  int
	ok     bool
}

// draw gives a snapshot. Owner only.
func (p *Pane) draw(lines int) Frame {
	f := &p.fold
	offset := f.screen.Offset()
	d := &f.drawn
	if d.ok && d.offset == offset && d.lines == lines && d.frame.Cols == f.screen.Cols() && d.frame.Rows == f.screen.Rows() {
		return d.frame
	}
	safe := p.ring.safe()
	*d = drawn{ok: true, offset: offset, lines: lines, frame: Frame{
		Snapshot: true, From: safe, To: safe, Cols: f.screen.Cols(), Rows: f.screen.Rows(),
		Data: f.screen.Snapshot(screen.SnapshotOptions{Lines: lines, Input: f.inputPlace()}),
	}}
	return d.frame
}

// Snapshot draws the screen with at most lines of scrollback.
func (p *Pane) Snapshot(ctx context.Context, lines int) (Frame, error) {
	var frame Frame
	err := p.look(ctx, func() { frame = p.draw(max(lines, 0)) })
	return frame, err
}

// Text is the screen in words.
type Text struct {
	Rows   []string // scrollback asked for, then the screen; trailing blanks cut
	Cursor [2]int   // column, row of the screen
	Title  string
	Offset uint64
	Cols   int
	Blocks []davit.Block
}

// Text reads the screen after at most lines of scrollback.
func (p *Pane) Text(ctx context.Context, lines int) (Text, error) {
	var t Text
	err := p.look(ctx, func() {
		s := p.fold.screen
		if lines > 0 {
			back := s.ScrollbackText()
			t.Rows = append(t.Rows, back[max(0, len(back)-lines):]...)
		}
		t.Rows = append(t.Rows, s.Text()...)
		for i, row := range t.Rows {
			t.Rows[i] = strings.TrimRight(row, " ")
		}
		x, y := s.Cursor()
		t.Cursor, t.Title, t.Offset, t.Cols = [2]int{x, y}, s.Title(), s.Offset(), s.Cols()
		t.Blocks = p.fold.blocks.rows(s.MarkRow)
	})
	return t, err
}

// Blocks are the newest commands of the pane's shell, oldest first (P4).
func (p *Pane) Blocks(ctx context.Context) ([]davit.Block, error) {
	var out []davit.Block
	err := p.look(ctx, func() { out = p.fold.blocks.rows(p.fold.screen.MarkRow) })
	return out, err
}

// Modes are what the program asked of its terminal.
func (p *Pane) Modes(ctx context.Context) (screen.Modes, error) {
	var m screen.Modes
	err := p.look(ctx, func() { m = p.fold.screen.Modes() })
	return m, err
}

// Properties are what the pane's shell last told of its environment: PATH, VIRTUAL_ENV,
// CONDA_DEFAULT_ENV, NODE_VERSION (P4). A property that is gone is not in it.
func (p *Pane) Properties(ctx context.Context) (map[string]string, error) {
	var out map[string]string
	err := p.look(ctx, func() { out = maps.Clone(p.fold.props) })
	return out, err
}

// Note says something in the pane's own place, in place of what was said there before.
func (p *Pane) Note(ctx context.Context, text string) error {
	return p.look(ctx, func() {
		if p.view.Load().Note == text {
			return
		}
		p.change(func(v *davit.Pane) { v.Note = text })
		p.emit(Event{Kind: EventNote})
	})
}
