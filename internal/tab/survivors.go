package tab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/store"
)

// NoticeSurvivors tells of programs whose keeper is gone.
const NoticeSurvivors = "survivors"

// survivor names one process for good: a number alone may be another's by the time the
// user decides.
type survivor struct {
	Pid   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Lost hears that panes lost their keeper. What still runs of them is listed with a button
// to end it; nothing is ended, and nothing restarted, by itself (spec terminal P1.9).
func (s *Service) Lost(rows []store.PaneRow) {
	s.later(func(ctx context.Context) {
		ids, tabs := []string{}, map[string]davit.TabID{}
		for _, row := range rows {
			ids = append(ids, string(row.Pane.ID))
			tabs[string(row.Pane.ID)] = row.Pane.Tab
		}
		found, err := keeper.Survivors(ids)
		if err != nil {
			s.cfg.Log.Warn("what survives of lost panes could not be looked up", "err", err)
			return
		}
		for id, processes := range found {
			s.noticeSurvivors(ctx, id, tabs[id], processes)
		}
	})
}

func (s *Service) noticeSurvivors(ctx context.Context, pane string, tab davit.TabID, processes []keeper.Process) {
	names, which := listed(processes)
	s.notify(ctx, davit.Notice{
		ID: "survivors-" + pane, Kind: NoticeSurvivors, Level: "warning", Persistent: true, Tab: tab,
		Title: "Still running without a terminal: " + names,
		Body:  "The keeper that held its terminal is gone: it cannot be shown or typed into any more.",
		Actions: []davit.NoticeAction{
			{ID: "end_processes", Label: "End", Kind: "host", Text: which}, {ID: "dismiss", Label: "Dismiss", Kind: "host"},
		},
	})
}

// listed names processes for a person, and for the button that ends them.
func listed(processes []keeper.Process) (names, which string) {
	var texts []string
	var list []survivor
	for _, p := range processes {
		texts = append(texts, fmt.Sprintf("%s (%d)", p.Name, p.Pid))
		list = append(list, survivor{p.Pid, p.StartTime})
	}
	b, _ := json.Marshal(list) // numbers: it cannot fail
	return strings.Join(texts, ", "), string(b)
}

// endSurvivors ends the listed processes with P5.1's signals and times, each only while it
// is still the very process that was listed.
func (s *Service) endSurvivors(ctx context.Context, id, which string) error {
	var list []survivor
	if err := json.Unmarshal([]byte(which), &list); err != nil {
		return davit.Errorf(davit.CodeInternal, "the notice %s does not say what to end: %w", id, err)
	}
	s.later(func(ctx context.Context) {
		for _, step := range []struct {
			signal syscall.Signal
			wait   time.Duration
		}{{syscall.SIGHUP, 2 * time.Second}, {syscall.SIGTERM, 3 * time.Second}, {syscall.SIGKILL, 0}} {
			for _, p := range list {
				_ = keeper.SignalProcess(p.Pid, p.Start, step.signal) // one that has ended is what was wanted
			}
			if s.allEnd(ctx, list, step.wait) {
				return
			}
		}
	})
	return s.Dismiss(ctx, id)
}

// allEnd waits until none of the processes lives any more, or the time is over.
func (s *Service) allEnd(ctx context.Context, list []survivor, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for {
		alive := false
		for _, p := range list {
			alive = alive || keeper.ProcessAlive(p.Pid, p.Start)
		}
		if !alive || !time.Now().Before(deadline) || ctx.Err() != nil {
			return !alive
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}
