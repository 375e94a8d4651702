package configs

import (
	"context"
	"path/filepath"
	"time"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
)

// Open answers config.open: what was asked for, or the default. The values are remembered
// for the next time (spec tabs T2.1).
func (s *Service) Open(ctx context.Context, req wire.OpenRequest) (wire.Opened, error) {
	files := s.cfg.Files()
	var told []wire.Fault
	if req.Config == "" {
		req.Config = s.defaultPath(ctx)
		if gone := s.defaultGone(files, req.Config); gone != nil {
			told, req.Config = append(told, *gone), ""
			if err := s.SetDefault(ctx, wire.ConfigRef{}); err != nil {
				return wire.Opened{}, err
			}
		}
		if req.Config == "" {
			opened, err := s.openPlain(ctx, req)
			opened.Warnings = append(told, opened.Warnings...)
			return opened, err
		}
	}
	loaded, err := files.ForOpen(req)
	if err != nil {
		return wire.Opened{}, err
	}
	opened, err := s.cfg.Opener.OpenConfig(ctx, req)
	if err != nil || req.Print {
		return opened, err
	}
	s.remember(ctx, loaded, req.Params)
	s.used(ctx, req.Dir)
	for _, p := range loaded.Config.Params() {
		if p.Type == tabconfig.Repo && filepath.IsAbs(req.Params[p.Name]) {
			s.used(ctx, req.Params[p.Name])
		}
	}
	return opened, nil
}

func (s *Service) openPlain(ctx context.Context, req wire.OpenRequest) (wire.Opened, error) {
	if len(req.Params) > 0 || req.Print {
		return wire.Opened{}, davit.Errorf(davit.CodeConfigNotFound, "there is no default tab config").
			WithHint("name one; `davit config list` shows them, `davit config default NAME` chooses what a new tab opens")
	}
	return s.cfg.Opener.OpenPlain(ctx, wire.TabOpen{Directory: req.Dir, Background: req.Background})
}

// defaultGone is what to tell when the default's file is not there any more.
func (s *Service) defaultGone(files Files, path string) *wire.Fault {
	if path == "" {
		return nil
	}
	l := files.Read(path)
	if l.Digest != "" {
		return nil
	}
	message := "the default tab config is gone (" + l.Faults[0].Message + "), so a plain shell was opened; new tabs are plain shells from now on"
	return &wire.Fault{File: path, Severity: string(tabconfig.Warning), Code: string(codeUnreadable), Message: message, Text: path + ": warning: " + message}
}

// lastOpening is what the last opening of a config was given.
type lastOpening struct {
	Values map[string]string `json:"values"`
	At     time.Time         `json:"at"`
}

const (
	maxLast      = 200  // configs whose values are remembered
	maxLastValue = 4096 // bytes of one value
)

func (s *Service) lastValues(ctx context.Context) map[string]lastOpening {
	last := map[string]lastOpening{}
	s.stored(ctx, settingLast, &last)
	return last
}

// remember keeps the values of an opening, secrets never. That it could not is no fault of
// the opening.
func (s *Service) remember(ctx context.Context, l Loaded, given map[string]string) {
	values := map[string]string{}
	for _, p := range l.Config.Params() {
		if value, ok := given[p.Name]; ok && p.Type != tabconfig.Secret && len(value) <= maxLastValue {
			values[p.Name] = value
		}
	}
	if len(values) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.lastValues(ctx)
	last[l.Path] = lastOpening{values, s.cfg.Now()}
	for len(last) > maxLast {
		oldest := ""
		for path, o := range last {
			if oldest == "" || o.At.Before(last[oldest].At) {
				oldest = path
			}
		}
		delete(last, oldest)
	}
	if err := s.store(ctx, settingLast, last); err != nil {
		s.cfg.Log.Warn("the values of an opening are not remembered", "config", l.Path, "err", err)
	}
}
