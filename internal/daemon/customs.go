package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/customs"
	"davit/internal/configs"
	"davit/internal/host"
	"davit/internal/tabconfig"
)

// owns are the user's own chips, read from config.toml again when it has changed. Only
// while somebody looks is the file looked at.
type owns struct {
	c     *chips
	file  string
	wake  chan struct{} // 1: look now
	table atomic.Pointer[ownTable]
}

// ownTable is what a file said; it is never changed in place.
type ownTable struct {
	stamp  string
	list   []chip.CustomChip
	faults []string
}

// noticeChips is the kind of the notice about a config.toml that cannot be used whole.
const noticeChips = "chips"

// ownEvery is how often the file is looked at while somebody looks.
const ownEvery = time.Second

func newOwns(c *chips) *owns {
	o := &owns{c: c, file: filepath.Join(c.d.cfg.Home.Config, "config.toml"), wake: make(chan struct{}, 1)}
	o.table.Store(&ownTable{})
	return o
}

// look reads the file soon.
func (o *owns) look() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *owns) run(ctx context.Context) {
	ticker := time.NewTicker(ownEvery)
	defer ticker.Stop()
	o.read(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-ticker.C:
			if !o.c.looked() {
				continue
			}
		}
		o.read(ctx)
	}
}

// read takes the file when it is another one than before.
func (o *owns) read(ctx context.Context) {
	stamp := "none"
	if info, err := os.Stat(o.file); err == nil {
		stamp = fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
	}
	if stamp == o.table.Load().stamp {
		return
	}
	t, faults, err := readOwns(o.file)
	if err != nil {
		o.c.d.log.Warn("config.toml cannot be read", "err", err)
	}
	t.stamp = stamp
	o.table.Store(t)
	for _, f := range faults {
		o.c.d.log.Warn("config.toml", "fault", f.String())
	}
	o.c.runner.Own(t.list)
	o.tell(ctx, t.faults)
}

// readOwns reads a config.toml; one that is not there has no chips.
func readOwns(file string) (*ownTable, []tabconfig.Fault, error) {
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &ownTable{}, nil, nil
	}
	if err != nil {
		return &ownTable{faults: []string{err.Error()}}, nil, err
	}
	list, faults := customs.Load(file, src)
	t := &ownTable{list: list}
	for _, f := range configs.WireFaults(faults, src) {
		t.faults = append(t.faults, f.Text)
	}
	return t, faults, nil
}

// tell shows what is wrong with the file, and takes it back when nothing is any more.
func (o *owns) tell(ctx context.Context, faults []string) {
	body := strings.Join(faults, "\n")
	err := o.c.d.host.Change(ctx, func(m host.Model) (host.Change, error) {
		at := slices.IndexFunc(m.State.Notices, func(n davit.Notice) bool { return n.Kind == noticeChips })
		switch {
		case body == "" && at < 0, at >= 0 && m.State.Notices[at].Body == body:
			return host.Change{}, nil
		case body == "":
			return host.Change{Volatile: true, Events: []davit.Event{{Kind: davit.EventNoticeRemoved, NoticeID: m.State.Notices[at].ID}}}, nil
		}
		return host.Change{Volatile: true, Events: []davit.Event{{Kind: davit.EventNotice, Notice: &davit.Notice{
			ID: "chips-config", Kind: noticeChips, Level: "warning", Persistent: true, Title: "Something in config.toml cannot be used", Body: body, Created: time.Now(),
			Details: map[string]any{"file": o.file},
			Actions: []davit.NoticeAction{{ID: "copy_path", Label: "Copy path", Kind: "copy", Text: o.file}, {ID: "dismiss", Label: "Dismiss", Kind: "host"}},
		}}}}, nil
	})
	if err != nil && ctx.Err() == nil {
		o.c.d.log.Warn("faults of config.toml were not shown", "err", err)
	}
}
