// Package prefs keeps what one home has stored about chips: the user's layouts, the flag of
// the pull-request chip, the view of the vertical tabs, and whether gh has proven that the
// chip works here (spec chips C4.1, C4.6, C6). The host and a `davit chips` that works
// alone use the same code and the same rows.
//
// A Prefs has one owner, who calls its methods one after the other; it starts no
// goroutine. Each change is stored before it holds. It never rewrites a layout because of
// what happened to a chip, and stores nothing that could not be read back.
package prefs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"davit"
	"davit/internal/chip"
)

// The settings that hold it. The first two have names that the user writes.
const (
	KeyFlag       = "github_pr_chip"
	KeyView       = "vertical_tabs"
	keyLayout     = "chips.layout"
	keyValidation = "chips.validation"
)

// Store is where settings are kept; *store.Store is one.
type Store interface {
	Setting(ctx context.Context, key string) (json.RawMessage, bool, error)
	SetSetting(ctx context.Context, key string, value json.RawMessage) error
}

// Config says where the settings are, and who hears of a transition.
type Config struct {
	Store Store
	Log   *slog.Logger
	Now   func() time.Time
	Moved func(from, to davit.PRValidation, verdict chip.Verdict) // counts it; nil is nobody
}

// validation is the stored row of C4.1.
type validation struct {
	State   davit.PRValidation `json:"state"`
	Verdict chip.Verdict       `json:"verdict,omitempty"` // of the last transition
	Cause   string             `json:"cause,omitempty"`   // for a person
	At      time.Time          `json:"at"`
}

// Prefs is what is stored, as it is now.
type Prefs struct {
	cfg   Config
	saved chip.Saved
	flag  bool
	view  davit.TabView
	valid validation
}

// Load reads what is stored. A row that cannot be read is told in the log and counts as
// not set; it stays as it is until it is set anew.
func Load(ctx context.Context, cfg Config) (*Prefs, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Prefs{cfg: cfg, flag: true, view: davit.DefaultTabView(), valid: validation{State: davit.PRUnvalidated}}
	var view json.RawMessage
	for key, into := range map[string]any{KeyFlag: &p.flag, KeyView: &view, keyLayout: &p.saved, keyValidation: &p.valid} {
		value, found, err := cfg.Store.Setting(ctx, key)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if err := json.Unmarshal(value, into); err != nil {
			cfg.Log.Warn("a setting about chips cannot be read; its default is used", "key", key, "err", err)
		}
	}
	if len(view) > 0 {
		stored, err := chip.SetView(p.view, view)
		if err != nil {
			cfg.Log.Warn("the view of the vertical tabs cannot be read; the default is used", "err", err)
		}
		p.view = stored
	}
	switch p.valid.State {
	case davit.PRUnvalidated, davit.PRValidated, davit.PRSuppressed:
	default:
		p.valid = validation{State: davit.PRUnvalidated}
	}
	return p, nil
}

// Layout is what is shown where, resolved.
func (p *Prefs) Layout() davit.ChipLayout {
	return chip.Resolve(p.saved, p.flag, p.valid.State, p.valid.Cause)
}

// View is how the vertical tabs are drawn.
func (p *Prefs) View() davit.TabView { return p.view }

// Verdict is that of the last transition, "" before the first.
func (p *Prefs) Verdict() chip.Verdict { return p.valid.Verdict }

// SetLayout changes layouts.
func (p *Prefs) SetLayout(ctx context.Context, edit chip.Edit) error {
	saved, err := p.saved.Apply(edit, p.flag, p.valid.State)
	if err != nil {
		return err
	}
	if err := p.put(ctx, keyLayout, saved); err != nil {
		return err
	}
	p.saved = saved
	return nil
}

// SetFlag turns the pull-request chip on or off.
func (p *Prefs) SetFlag(ctx context.Context, value json.RawMessage) error {
	var flag *bool
	if err := json.Unmarshal(value, &flag); err != nil || flag == nil {
		return davit.Errorf(davit.CodeInvalid, "%s is true or false", KeyFlag)
	}
	if err := p.put(ctx, KeyFlag, *flag); err != nil {
		return err
	}
	p.flag = *flag
	return nil
}

// SetView changes the view of the vertical tabs; absent fields keep their value. No
// validation ever does (spec chips C6.2).
func (p *Prefs) SetView(ctx context.Context, change json.RawMessage) error {
	view, err := chip.SetView(p.view, change)
	if err != nil {
		return err
	}
	if err := p.put(ctx, KeyView, view); err != nil {
		return err
	}
	p.view = view
	return nil
}

// Judge takes a verdict, and says whether the state moved (spec chips C4.3).
func (p *Prefs) Judge(ctx context.Context, verdict chip.Verdict, cause string) (moved bool, err error) {
	from := p.valid.State
	next := validation{State: chip.Next(from, verdict), Verdict: verdict, Cause: cause, At: p.cfg.Now()}
	if next.State == from {
		return false, nil
	}
	if err := p.put(ctx, keyValidation, next); err != nil {
		return false, err
	}
	p.valid = next
	p.cfg.Log.Info("the pull-request chip was validated anew", "from", from, "to", next.State, "verdict", verdict, "cause", cause)
	if p.cfg.Moved != nil {
		p.cfg.Moved(from, next.State, verdict)
	}
	return true, nil
}

func (p *Prefs) put(ctx context.Context, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return p.cfg.Store.SetSetting(ctx, key, data)
}
