package daemon

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/prefs"
	"davit/internal/host"
	"davit/internal/wire"
)

// choices is the one writer of what is stored about chips.
//
//	API, verdicts ──asks──► run ──row──► store, then ──event──► host loop ──► every client
//
// run owns the Prefs. A change is stored, then shown, then answered.
type choices struct {
	d     *daemon
	prefs *prefs.Prefs
	asks  chan choice // bounded; senders wait: a verdict is never dropped
	ended chan struct{}
	last  atomic.Pointer[chip.Verdict] // of the last move
}

type choice struct {
	change func(ctx context.Context, p *prefs.Prefs) error
	answer chan error // capacity 1: exactly one answer each
}

// newChoices reads what is stored, and puts it into the model that the loop starts with.
func newChoices(ctx context.Context, d *daemon, loaded *host.Model) (*choices, error) {
	p, err := prefs.Load(ctx, prefs.Config{Store: d.store, Log: d.log, Moved: func(from, to davit.PRValidation, verdict chip.Verdict) {
		d.metrics.add("davit_pr_chip_validation_total", "from", string(from), "to", string(to), "cause", string(verdict))
	}})
	if err != nil {
		return nil, err
	}
	loaded.State.Layout, loaded.State.TabView = p.Layout(), p.View()
	c := &choices{d: d, prefs: p, asks: make(chan choice, 64), ended: make(chan struct{})}
	verdict := p.Verdict()
	c.last.Store(&verdict)
	return c, nil
}

// run serves until ctx ends.
func (c *choices) run(ctx context.Context) {
	defer close(c.ended)
	for {
		select {
		case ask := <-c.asks:
			ask.answer <- c.serve(ctx, ask)
		case <-ctx.Done():
			return
		}
	}
}

func (c *choices) serve(ctx context.Context, ask choice) error {
	if err := ask.change(ctx, c.prefs); err != nil {
		return err
	}
	layout, view, verdict := c.prefs.Layout(), c.prefs.View(), c.prefs.Verdict()
	c.last.Store(&verdict)
	c.d.chips.resolved(layout, view)
	return c.d.host.Change(ctx, func(m host.Model) (host.Change, error) {
		change := host.Change{Volatile: true} // its row is stored
		if !sameLayout(m.State.Layout, layout) {
			change.Events = append(change.Events, davit.Event{Kind: davit.EventLayout, Layout: &layout})
		}
		if m.State.TabView != view {
			change.Events = append(change.Events, davit.Event{Kind: davit.EventTabView, TabView: &view})
		}
		return change, nil
	})
}

func sameLayout(a, b davit.ChipLayout) bool {
	x, _ := json.Marshal(a) // plain strings cannot fail
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func (c *choices) do(ctx context.Context, change func(ctx context.Context, p *prefs.Prefs) error) error {
	ask := choice{change: change, answer: make(chan error, 1)}
	select {
	case c.asks <- ask:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ended:
		return host.ErrStopped
	}
	select {
	case err := <-ask.answer:
		return err
	case <-c.ended:
		select {
		case err := <-ask.answer:
			return err
		default:
			return host.ErrStopped
		}
	}
}

// judge takes what a question to gh came to.
func (c *choices) judge(ctx context.Context, j chip.Judgement) error {
	if j.Verdict == chip.VerdictNoChange || j.Verdict == "" {
		return nil
	}
	return c.do(ctx, func(ctx context.Context, p *prefs.Prefs) error {
		_, err := p.Judge(ctx, j.Verdict, j.Reason)
		return err
	})
}

// verdict is that of the last move of the validation.
func (c *choices) verdict() chip.Verdict { return *c.last.Load() }

// SetLayout is chips.setLayout.
func (c *chips) SetLayout(ctx context.Context, in wire.ChipLayoutSet) (davit.ChipLayout, error) {
	err := c.choices.do(ctx, func(ctx context.Context, p *prefs.Prefs) error { return p.SetLayout(ctx, chip.Edit(in)) })
	return c.d.host.State().Layout, err
}

// Setting is settings.get of what is about chips: the effective value.
func (c *chips) Setting(key string) (value json.RawMessage, known bool) {
	var effective any
	switch key {
	case prefs.KeyFlag:
		effective = c.d.host.State().Layout.PRChip
	case prefs.KeyView:
		effective = c.d.host.State().TabView
	default:
		return nil, false
	}
	value, _ = json.Marshal(effective) // plain values cannot fail
	return value, true
}

// SetSetting is settings.set of what is about chips.
func (c *chips) SetSetting(ctx context.Context, key string, value json.RawMessage) (known bool, err error) {
	switch key {
	case prefs.KeyFlag:
		return true, c.choices.do(ctx, func(ctx context.Context, p *prefs.Prefs) error { return p.SetFlag(ctx, value) })
	case prefs.KeyView:
		return true, c.choices.do(ctx, func(ctx context.Context, p *prefs.Prefs) error { return p.SetView(ctx, value) })
	}
	return false, nil
}
