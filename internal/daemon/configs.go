package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"davit"
	"davit/internal/agent"
	"davit/internal/configs"
	"davit/internal/host"
	"davit/internal/tabconfig"
	"davit/internal/workspace"

	"github.com/fsnotify/fsnotify"
)

// settled is how long a folder of configs must be quiet before it is read: an editor's
// save is several events. A save is seen within 1 s (spec tabs T1.1).
const settled = 300 * time.Millisecond

// noticeConfig is the kind of the notices about faults in tab configs (spec tabs T1.3).
const noticeConfig = "config_error"

// watchConfigs tells the faults of tab configs, at the start and after each save, one
// persistent notice per file. A file that is mended, or gone, takes its notice away.
func (d *daemon) watchConfigs(ctx context.Context) error {
	select {
	case <-d.panes.Ready():
	case <-ctx.Done():
		return nil
	}
	dirs := []string{d.cfg.Home.TabConfigs()}
	if err := os.MkdirAll(dirs[0], 0o700); err != nil {
		d.log.Warn("the folder of tab configs cannot be made", "err", err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		d.log.Warn("tab configs are not watched; faults are told at open", "err", err)
		d.tellFaults(ctx)
		return nil
	}
	defer watcher.Close()
	watch := func() {
		for _, dir := range d.files().Dirs {
			_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() {
					_ = watcher.Add(path) // adding one that is watched is harmless
				}
				return nil
			})
		}
	}
	watch()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			timer.Reset(settled)
		case err := <-watcher.Errors:
			d.log.Warn("watching tab configs", "err", err)
		case <-timer.C:
			watch()
			d.tellFaults(ctx)
		}
	}
}

func (d *daemon) tellFaults(ctx context.Context) {
	want := map[string]davit.Notice{}
	for _, loaded := range d.files().All("") {
		if !tabconfig.HasErrors(loaded.Faults) {
			continue
		}
		var lines []string
		for _, f := range configs.WireFaults(loaded.Faults, loaded.Source) {
			if f.Severity == string(tabconfig.Error) {
				lines = append(lines, f.Text)
			}
		}
		sum := sha256.Sum256([]byte(loaded.Path))
		id := "config-" + hex.EncodeToString(sum[:6])
		want[id] = davit.Notice{
			ID: id, Kind: noticeConfig, Level: "error", Persistent: true, Title: "Tab config " + filepath.Base(loaded.Path) + " cannot be used",
			Body: strings.Join(lines, "\n"), Details: map[string]any{"file": loaded.Path},
			Actions: []davit.NoticeAction{{ID: "copy_path", Label: "Copy path", Kind: "copy", Text: loaded.Path}, {ID: "dismiss", Label: "Dismiss", Kind: "host"}},
		}
	}
	err := d.host.Change(ctx, func(m host.Model) (host.Change, error) {
		var change host.Change
		for _, n := range m.State.Notices {
			if n.Kind != noticeConfig {
				continue
			}
			if w, still := want[n.ID]; !still {
				change.Events = append(change.Events, davit.Event{Kind: davit.EventNoticeRemoved, NoticeID: n.ID})
			} else if w.Body == n.Body {
				delete(want, n.ID)
			}
		}
		for _, n := range want {
			n.Created = time.Now()
			change.Events = append(change.Events, davit.Event{Kind: davit.EventNotice, Notice: &n})
		}
		return change, nil
	})
	if err != nil && ctx.Err() == nil {
		d.log.Warn("faults of tab configs were not told", "err", err)
	}
}

// configsConfig joins the config files to the rest.
func (d *daemon) configsConfig(spaces *workspace.Workspaces, a *agents) configs.Config {
	return configs.Config{
		Files: d.files, Settings: access{d.store}, Opener: d.tabs, State: d.host.State, Workspaces: spaces,
		Made: func() []configs.Made {
			var list []configs.Made
			for _, row := range d.host.Model().Worktrees {
				list = append(list, configs.Made{Worktree: row.Worktree, Created: row.Created})
			}
			return list
		},
		CheckAgent: func(_ context.Context, id string) error {
			catalogue, _ := a.catalogue()
			entry, ok := catalogue.Find(id)
			if !ok {
				return unknownAgent(catalogue, id)
			}
			_, err := agent.Detect(entry, a.where())
			return err
		},
		Directory: d.cfg.Directory, Now: time.Now, Log: d.log,
	}
}
