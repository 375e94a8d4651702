package tab

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/model"
	"davit/internal/store"
)

// SettingUndo says for how many seconds undo keeps what was closed; 0 is off (spec tabs
// T6.1).
const SettingUndo = "undo_close_seconds"

const maxUndoSeconds = 24 * 60 * 60

// Settings is where settings are kept.
type Settings interface {
	Setting(ctx context.Context, key string) (json.RawMessage, bool, error)
	SetSetting(ctx context.Context, key string, value json.RawMessage) error
}

// Closed lists what undo can bring back, newest first; what one act closed stands in the
// order in which it stood.
func Closed(rows host.Rows) []davit.ClosedTab {
	type entry struct {
		davit.ClosedTab
		at       time.Time
		position int
	}
	var list []entry
	for id, row := range rows.Closed {
		if !row.Closed.Until.After(row.Closed.At) {
			continue // undo was off
		}
		e := entry{davit.ClosedTab{ID: id, Kind: "tab", Batch: batchOf(row), Title: row.Tab.Title, Until: row.Closed.Until, Cleanup: "none"}, row.Closed.At, row.Closed.Position}
		if row.Closed.Whole && row.Closed.Group != nil {
			e.Group = row.Closed.Group.ID
		}
		if c, ok := rows.Cleanups[row.Closed.CleanupID]; ok {
			e.Cleanup = string(c.State)
		}
		list = append(list, e)
	}
	for id, row := range rows.Panes {
		if c := row.Closed; c != nil && c.Until.After(c.At) {
			list = append(list, entry{davit.ClosedTab{ID: row.Pane.Tab, Kind: "pane", Pane: id, Batch: c.Batch, Title: c.Title, Until: c.Until}, c.At, 0})
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.Batch, b.Batch), a.position-b.position, cmp.Compare(a.Pane, b.Pane))
	})
	closed := make([]davit.ClosedTab, len(list))
	for i, e := range list {
		closed[i] = e.ClosedTab
	}
	return closed
}

// batchOf is the act that closed a tab; rows of before there were batches have their own.
func batchOf(row store.TabRow) string { return cmp.Or(row.Closed.Batch, "b_"+string(row.Tab.ID)) }

// Setting gives the value of a setting that is the tabs' own.
func (s *Service) Setting(key string) (json.RawMessage, bool) {
	if key != SettingUndo {
		return nil, false
	}
	value, _ := json.Marshal(int(s.undoTime().Seconds())) // a number: it cannot fail
	return value, true
}

// SetSetting stores and applies a setting of the tabs; known says whether it is one.
// Another time is for what is closed from then on; 0 lets go of all that is kept.
func (s *Service) SetSetting(ctx context.Context, key string, value json.RawMessage) (known bool, err error) {
	if key != SettingUndo {
		return false, nil
	}
	var seconds *int
	if err := json.Unmarshal(value, &seconds); err != nil || seconds == nil || *seconds < 0 || *seconds > maxUndoSeconds {
		return true, davit.Errorf(davit.CodeInvalid, "%s is a whole number of seconds, from 0 (off) to %d", SettingUndo, maxUndoSeconds)
	}
	if err := s.cfg.Settings.SetSetting(ctx, key, value); err != nil {
		return true, err
	}
	s.undo.Store(int64(time.Duration(*seconds) * time.Second))
	if *seconds == 0 {
		err = s.letAllGo(ctx)
	}
	s.poke()
	return true, err
}

// loadSettings takes over what the user had set.
func (s *Service) loadSettings(ctx context.Context) {
	s.undo.Store(int64(s.cfg.Undo))
	if s.cfg.Settings == nil {
		return
	}
	value, found, err := s.cfg.Settings.Setting(ctx, SettingUndo)
	var seconds int
	if err == nil && found {
		err = json.Unmarshal(value, &seconds)
	}
	if err != nil {
		s.cfg.Log.Warn("the time for undo could not be read", "err", err)
		return
	}
	if found {
		s.undo.Store(int64(time.Duration(seconds) * time.Second))
	}
}

func (s *Service) undoTime() time.Duration { return time.Duration(s.undo.Load()) }

// letAllGo ends the time of everything on the stack.
func (s *Service) letAllGo(ctx context.Context) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		d := newDraft(m)
		for _, row := range m.Rows.Closed {
			c := *row.Closed
			c.Until = c.At
			row.Closed = &c
			d.change.Batch.PutTabs = append(d.change.Batch.PutTabs, row)
		}
		for _, row := range m.Rows.Panes {
			if row.Closed == nil {
				continue
			}
			c := *row.Closed
			c.Until = c.At
			row.Closed = &c
			d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
		}
		for _, e := range m.State.Closed {
			d.dropNotice(closedNoticeID(e.Batch))
		}
		d.closed()
		return d.change, nil
	})
}

func (d *draft) dropNotice(id string) {
	if _, ok := model.Notice(d.m.State, id); ok {
		d.add(davit.Event{Kind: davit.EventNoticeRemoved, NoticeID: id})
	}
}

// tellClosed shows the one notice of a batch, or takes it away when nothing of the batch
// is kept any more.
func (d *draft) tellClosed(batch string, now time.Time) {
	var of []davit.ClosedTab
	for _, e := range d.m.State.Closed {
		if e.Batch == batch {
			of = append(of, e)
		}
	}
	if len(of) == 0 {
		d.dropNotice(closedNoticeID(batch))
		return
	}
	n := davit.Notice{
		ID: closedNoticeID(batch), Kind: NoticeClosed, Level: "info", Title: "Closed " + of[0].Title, Until: &of[0].Until, Created: now,
		Actions: []davit.NoticeAction{{ID: "undo", Label: "Undo", Kind: "host", Text: batch}},
		Details: map[string]any{"batch": batch},
	}
	if old, ok := model.Notice(d.m.State, n.ID); ok {
		n.Created = old.Created
	}
	if len(of) == 1 {
		n.Tab = of[0].ID
	} else {
		n.Title = fmt.Sprintf("Closed %d tabs", len(of))
	}
	n.Body = d.closedLines(of)
	d.add(davit.Event{Kind: davit.EventNotice, Notice: &n})
}

func closedNoticeID(batch string) string { return "closed-" + batch }

func newBatch() string { return "b_" + randomHex(8) }
