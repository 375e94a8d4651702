package pane

import (
	"strings"
	"time"

	"davit"
	"davit/internal/shell"
	"davit/screen"
)

// effect turns one effect of the screen into state and, when it is new, an event. Those
// at or below the store's effects_through change state only (P2.3).
func (p *Pane) effect(e *screen.Effect) {
	ev := Event{At: e.At, Text: e.Text, Params: e.Params}
	switch e.Kind {
	case screen.Title:
		if p.view.Load().Title == e.Text {
			return
		}
		p.change(func(v *davit.Pane) { v.Title = e.Text })
		ev.Kind = EventTitle
	case screen.Directory:
		ev.Kind = EventDirectory
		ev.Remote = p.isRemote(e.Params["host"])
		if !ev.Remote {
			if p.view.Load().Directory == e.Text {
				return
			}
			p.change(func(v *davit.Pane) { v.Directory = e.Text })
		}
	case screen.ShellProperty:
		if e.Text != "" {
			p.fold.blocks.typed(e.Text)
		}
		if len(e.Params) == 0 {
			return
		}
		p.fold.property(e.Params)
		if _, answered := e.Params[shell.PropertyRun]; answered {
			p.fold.answeredAt = e.At
		}
		ev.Kind = EventProperty
	case screen.PromptStart, screen.CommandStart, screen.OutputStart, screen.CommandEnd:
		p.mark(e)
		return
	case screen.Bell:
		ev.Kind = EventBell
	case screen.Notification:
		ev.Kind = EventNotification
	case screen.Clipboard:
		ev.Kind = EventClipboard
	case screen.Progress:
		ev.Kind = EventProgress
	case screen.AgentState:
		ev.Kind = EventAgentState
	default:
		return
	}
	if e.At > p.cfg.EffectsThrough {
		p.emit(ev)
	}
}

// maxProperties bounds what a program can make a checkpoint hold.
const maxProperties = 64

func (f *fold) property(params map[string]string) {
	for key, value := range params {
		switch _, known := f.props[key]; {
		case value == "":
			delete(f.props, key)
		case len(key)+len(value) <= 64<<10 && (known || len(f.props) < maxProperties):
			if f.props == nil {
				f.props = map[string]string{}
			}
			f.props[key] = value
		}
	}
}

func (p *Pane) isRemote(host string) bool {
	if host == "" || p.cfg.Hostname == "" || strings.EqualFold(host, "localhost") {
		return false
	}
	short, _, _ := strings.Cut(p.cfg.Hostname, ".")
	other, _, _ := strings.Cut(host, ".")
	return !strings.EqualFold(short, other)
}

// mark moves the blocks by a shell mark and tells it.
func (p *Pane) mark(e *screen.Effect) {
	f := &p.fold
	at := place{mark: e.Mark, row: e.Row, column: e.Column, offset: e.At}
	now := p.cfg.Now()
	ev := Event{At: e.At}
	switch e.Kind {
	case screen.PromptStart:
		if ev.Block = f.blocks.prompt(at, now); ev.Block == nil {
			return
		}
		ev.Kind = EventCommandFinished
		p.change(func(v *davit.Pane) { v.Command, v.Running = "", false })
	case screen.CommandStart:
		f.blocks.input(at)
		ev.Kind = EventPromptReady
	case screen.OutputStart:
		command := f.blocks.line
		if command == "" {
			command = commandOf(e.Params)
		}
		if command == "" {
			command = p.typedBetween(f.blocks.inputAt, at)
		}
		ev.Block = f.blocks.start(at, command, p.view.Load().Directory, p.shown(e.At, command), now)
		ev.Kind = EventCommandStarted
		p.change(func(v *davit.Pane) { v.Command, v.Running = command, true })
	case screen.CommandEnd:
		ev.Block = f.blocks.finish(at, exitOf(e.Params), now)
		ev.Kind = EventCommandFinished
		p.change(func(v *davit.Pane) { v.Command, v.Running = "", false })
		if ev.Block == nil {
			return
		}
	}
	if e.At > p.cfg.EffectsThrough {
		p.emit(ev)
	}
}

// shown gives what the pane's chips say now, for a command that starts now: nil for one that
// the log already had when this host came (spec chips C5.1).
func (p *Pane) shown(at uint64, command string) *davit.BlockPrompt {
	f := &p.fold
	if p.cfg.Prompt == nil || !f.begun || at <= f.goal {
		return nil
	}
	if f.save.prompted.IsZero() {
		f.save.prompted = time.Now()
	}
	return p.cfg.Prompt(command)
}

// typedBetween reads a command line off the screen, for shells that do not tell it.
func (p *Pane) typedBetween(from, to place) string {
	s := p.fold.screen
	if from.mark == 0 {
		return ""
	}
	first, ok := s.MarkRow(from.mark)
	last, ok2 := s.MarkRow(to.mark)
	if !ok || !ok2 || first < s.FirstRow() || last < first || last-first > 200 {
		return ""
	}
	if to.column == 0 && last > first {
		last--
	}
	base := int(first - s.FirstRow())
	lines := s.Lines(base, base+int(last-first)+1)
	var text strings.Builder
	for i, line := range lines {
		if i > 0 && !line.Wrapped {
			text.WriteByte('\n')
		}
		for x, cell := range line.Cells {
			if i == 0 && x < from.column {
				continue
			}
			switch {
			case cell.Text != "":
				text.WriteString(cell.Text)
			case cell.Width == 1:
				text.WriteByte(' ')
			}
		}
	}
	return strings.TrimSpace(text.String())
}
