// Package configs finds the tab config files of a home and manages them for the user:
// list, check, read, save, new, remove, default, save-tab; which texts of a repository's
// own configs the user has trusted; the values of the last opening; the known
// repositories; and the "New worktree" form, which writes a config and opens it.
//
// Files reads; Service answers the API's operations. It owns no goroutine; one lock keeps
// its settings whole, and another the files that it writes. It runs nothing by itself:
// opening is the Opener's. It writes and deletes only below the user's own folders of
// configs, writes a file whole or not at all, and never one that changed meanwhile. A
// repository's config is refused until its very text was trusted.
package configs

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"davit"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// Settings keeps small values durably.
type Settings interface {
	Setting(ctx context.Context, key string) (value []byte, found bool, err error)
	SetSetting(ctx context.Context, key string, value []byte) error
}

// The keys of what is kept.
const (
	settingTrust   = "configs.trusted"   // by key of repositoryFile: digests
	settingDefault = "configs.default"   // a path
	settingLast    = "configs.last"      // by path: values of the last opening
	settingRepos   = "repositories.seen" // by path: when
)

// Opener opens tabs.
type Opener interface {
	OpenConfig(ctx context.Context, req wire.OpenRequest) (wire.Opened, error)
	OpenPlain(ctx context.Context, req wire.TabOpen) (wire.Opened, error)
}

// Made is a worktree that davit made.
type Made struct {
	davit.Worktree
	Created time.Time
}

// Config joins a Service to the rest.
type Config struct {
	Files      func() Files
	Settings   Settings
	Opener     Opener
	State      func() davit.State
	Made       func() []Made
	Workspaces *workspace.Workspaces
	CheckAgent func(ctx context.Context, id string) error // why it cannot be launched here
	Directory  string                                     // where the host was started
	Now        func() time.Time
	Log        *slog.Logger
}

// Service manages the config files of a home.
type Service struct {
	cfg   Config
	mu    sync.Mutex // settings: read, change, write
	write sync.Mutex // files: look for a free name, write
}

// New makes a Service. It starts nothing.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg}
}

// List answers config.list.
func (s *Service) List(ctx context.Context, dir string) (wire.ConfigList, error) {
	files := s.cfg.Files()
	list := wire.ConfigList{Configs: []wire.Config{}, Faults: []wire.Fault{}, Dirs: files.Dirs}
	if folder, ok := RepositoryFolder(dir); ok {
		list.Dirs = append(list.Dirs[:len(list.Dirs):len(list.Dirs)], folder)
	}
	s.stored(ctx, settingDefault, &list.Default)
	last := s.lastValues(ctx)
	gone := list.Default != ""
	for _, l := range files.All(dir) {
		faults := WireFaults(l.Faults, l.Source)
		gone = gone && l.Path != list.Default
		if l.Config == nil {
			list.Faults = append(list.Faults, faults...)
			continue
		}
		c := wire.Config{
			Name: l.Config.Name, Path: l.Path, Description: l.Config.Description, Icon: l.Config.Icon, Color: l.Config.Color,
			Worktree: l.Config.Worktree != nil, OnClose: l.Config.OnClose != nil, Params: []wire.Param{}, Warnings: faults,
			Source: l.From, Trust: string(l.Trust), Digest: l.Digest, Default: l.Path == list.Default,
		}
		for _, p := range l.Config.Params() {
			param := wire.Param{Name: p.Name, Type: string(p.Type), Description: p.Description, Options: p.Options}
			if p.HasDefault {
				value := p.Default
				param.Default = &value
			}
			if value, known := last[l.Path].Values[p.Name]; known {
				param.Last = &value
			}
			c.Params = append(c.Params, param)
		}
		list.Configs = append(list.Configs, c)
	}
	list.DefaultGone = gone
	return list, nil
}

// Check answers config.check: a text as it would be loaded from path, or the file there.
func (s *Service) Check(_ context.Context, in wire.ConfigCheck) (wire.Faults, error) {
	files := s.cfg.Files()
	switch {
	case in.Text != nil:
		l := files.loadAny(cmp.Or(in.Path, "config.toml"), cmp.Or(in.Path, "config.toml"), []byte(*in.Text))
		return wire.Faults{Faults: WireFaults(l.Faults, l.Source)}, nil
	case !filepath.IsAbs(in.Path):
		return wire.Faults{}, davit.Errorf(davit.CodeInvalid, "config.check takes a text, or the absolute path of a file, and %q is neither", in.Path)
	}
	l := files.ReadAny(in.Path, in.Path)
	return wire.Faults{Faults: WireFaults(l.Faults, l.Source)}, nil
}
