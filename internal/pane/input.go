package pane

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"davit"
	"davit/internal/keeper"
)

// MaxCanonicalLine is what a terminal that reads whole lines takes of one (P3.5).
const MaxCanonicalLine = 4095

// Input gives a client's bytes to the program. It returns when they are in the
// terminal's buffer. The client mints the id and sends it again until it is answered;
// the keeper writes it once (P1.2). pane_busy: nothing was taken. Calls of one client
// come one after the other.
func (p *Pane) Input(ctx context.Context, client, id string, data []byte) error {
	if err := p.takesInput(); err != nil {
		return err
	}
	if id == "" {
		return davit.Errorf(davit.CodeInvalid, "input needs an id")
	}
	if len(data) == 0 {
		return nil
	}
	if longLine(data) {
		if err := p.refuseLongLine(ctx); err != nil {
			return err
		}
	}
	p.size.change(func(o *owners) bool { return o.typed(client) })
	p.size.settle(ctx)
	if ctx.Err() != nil { // of a connection that is gone: its later inputs must not pass this one
		return context.Cause(ctx)
	}
	return p.cfg.Keeper.Input(ctx, keeper.Input{ID: id, Pane: string(p.id), Data: data})
}

func (p *Pane) takesInput() error {
	switch v := p.view.Load(); v.Status {
	case davit.PaneEnded:
		return davit.Errorf(davit.CodePaneEnded, "the program of pane %s has ended", p.id)
	case davit.PaneLost:
		return davit.Errorf(davit.CodePaneLost, "pane %s was lost: nothing can be typed into it", p.id)
	case davit.PaneFailed:
		return davit.Errorf(davit.CodePaneEnded, "the program of pane %s was not started", p.id)
	}
	return nil
}

// longLine looks for a line that a canonical terminal would cut.
func longLine(data []byte) bool {
	for len(data) > MaxCanonicalLine {
		i := bytes.IndexAny(data, "\r\n")
		if i < 0 || i > MaxCanonicalLine {
			return true
		}
		data = data[i+1:]
	}
	return false
}

func (p *Pane) refuseLongLine(ctx context.Context) error {
	fg, err := p.cfg.Keeper.Foreground(ctx, string(p.id))
	if err != nil {
		return err
	}
	if fg.Canonical {
		return davit.Errorf(davit.CodePaneLineTooLong,
			"a line is longer than %d bytes, and the terminal reads whole lines: the kernel would cut it", MaxCanonicalLine).
			WithHint("Send shorter lines, or a file that the program reads.")
	}
	return nil
}

// Paste gives text to the program as a paste: framed when the program asked for that
// (P3.5), with line ends as the Enter key sends them and control characters made visible,
// so that no text can end its own frame.
func (p *Pane) Paste(ctx context.Context, client, id, text string) error {
	var framed bool
	if err := p.look(ctx, func() { framed = p.fold.screen.Modes().BracketedPaste }); err != nil {
		return err
	}
	return p.Input(ctx, client, id, PasteBytes(text, framed))
}

// PasteBytes is what a paste of text sends.
func PasteBytes(text string, framed bool) []byte {
	var b strings.Builder
	b.Grow(len(text) + 12)
	if framed {
		b.WriteString("\x1b[200~")
	}
	text = strings.ReplaceAll(text, "\r\n", "\r")
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte('\r')
		case r == '\t':
			b.WriteByte('\t')
		case r < 0x20:
			b.WriteRune(0x2400 + r) // its picture: ESC is ␛
		case r == 0x7f:
			b.WriteRune(0x2421)
		case r >= 0x80 && r < 0xa0: // C1: some programs take them for ESC sequences
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	if framed {
		b.WriteString("\x1b[201~")
	}
	return []byte(b.String())
}
