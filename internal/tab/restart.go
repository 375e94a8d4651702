package tab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/store"
	"davit/internal/wire"
)

// NoticeRestarts tells of a program that ends too often to be started again.
const NoticeRestarts = "restarts_stopped"

// How programs with on_exit = "restart" are started again (spec tabs T1.2).
const (
	firstPause  = time.Second
	longPause   = 30 * time.Second
	quickEnds   = 5 // within quickWithin: no more
	quickWithin = time.Minute
)

// RestartPane starts the program of an ended, failed or lost pane again, in the same pane:
// the old output stays above. Startup commands are not typed again. An agent is not started
// this way: its account and its prompt are the launch's (spec launch L6.3).
func (s *Service) RestartPane(ctx context.Context, req wire.PaneRestart) error {
	row, transient, err := s.restartable(req)
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.ends, req.Pane) // the user has looked
	s.mu.Unlock()
	return s.restartNow(ctx, row, transient)
}

// restartable says whether a pane's program can be started again, and resolves its secrets.
func (s *Service) restartable(req wire.PaneRestart) (row store.PaneRow, transient []string, err error) {
	m := s.cfg.Host.Model()
	p, shown := m.State.Panes[req.Pane]
	row = m.Rows.Panes[req.Pane]
	switch {
	case !shown || row.Pane.ID == "":
		return row, nil, davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", req.Pane).WithHint("`davit pane list` shows what there is")
	case p.Kind == keeper.PaneChat:
		return row, nil, davit.Errorf(davit.CodePaneIsChat, "pane %s is a chat: it is resumed, not restarted", req.Pane).WithHint("`davit session resume %s`", p.Session)
	case p.Kind == keeper.PaneAgent:
		return row, nil, davit.Errorf(davit.CodeInvalid, "pane %s is an agent's: starting it again would be another launch", req.Pane).WithHint("`davit launch %s` starts one with a receipt", p.Agent)
	case p.Status == davit.PaneRunning || p.Status == davit.PaneStarting:
		return row, nil, davit.Errorf(davit.CodePaneRunning, "the program of pane %s runs", req.Pane).WithHint("end it first")
	}
	transient, missing := resolveSecrets(row.Spec, req.Secrets)
	if len(missing) > 0 {
		return row, nil, davit.Errorf(davit.CodeConfigMissingParam, "pane %s needs a value for: %s", req.Pane, strings.Join(missing, ", ")).
			WithHint("secrets are kept nowhere: `davit pane restart %s` asks for them on a terminal", req.Pane).With("missing", missing)
	}
	return row, transient, nil
}

// resolveSecrets puts the values of secret parameters into the variables that want them.
func resolveSecrets(spec store.PaneSpec, values map[string]string) (transient, missing []string) {
	for _, name := range spec.Secrets {
		text, at, out := spec.Env[name], 0, strings.Builder{}
		for _, place := range spec.SecretPlaces {
			if place.Variable != name {
				continue
			}
			value, given := values[place.Param]
			end := place.Offset + len(place.Param) + len("{{}}")
			if !given || strings.ContainsRune(value, 0) || place.Offset < at || end > len(text) {
				if !slices.Contains(missing, place.Param) {
					missing = append(missing, place.Param)
				}
				continue
			}
			out.WriteString(text[at:place.Offset])
			out.WriteString(value)
			at = end
		}
		out.WriteString(text[at:])
		transient = append(transient, name+"="+out.String())
		if !slices.ContainsFunc(spec.SecretPlaces, func(p store.SecretPlace) bool { return p.Variable == name }) {
			missing = append(missing, name) // stored before places were: it cannot be filled in
		}
	}
	return transient, missing
}

// restartNow stores that a start is owed, then makes it: the former log goes, a new one
// begins where the pane's output ended.
func (s *Service) restartNow(ctx context.Context, row store.PaneRow, transient []string) error {
	id, base := row.Pane.ID, row.Spec.LogBase
	if live, err := s.cfg.Panes.Get(id); err == nil {
		s.cfg.Panes.Stop(id) // with a last checkpoint: the old output
		base = max(base, live.View().Offset)
	}
	err := s.decide(ctx, func(d *draft) error {
		v, shown := d.m.State.Panes[id]
		if !shown || v.Status == davit.PaneRunning || v.Status == davit.PaneStarting {
			return davit.Errorf(davit.CodePaneRunning, "the program of pane %s runs, or the pane is gone", id)
		}
		row = d.m.Rows.Panes[id]
		spec := row.Spec
		spec.Starts, spec.LogBase, spec.Startup, spec.StartupSent = spec.Starts+1, base, nil, 0
		v.Exit, v.Fault, v.Startup, v.Pid, v.Command, v.Running = nil, "", nil, 0, "", false
		spec.Directory, v.Note = s.directory(spec.Directory)
		made, act := s.starting(v, spec)
		row.Pane, row.Spec, row.KeeperBoot = made.Pane, made.Spec, ""
		d.change.Batch.PutPanes = []store.PaneRow{row}
		d.change.Batch.PutActs = []store.ActRow{act}
		d.add(davit.Event{Kind: davit.EventPane, Pane: &row.Pane})
		return nil
	})
	if err != nil {
		return err
	}
	return s.spawn(ctx, row, transient)
}

// clearFormer has the keeper forget the former program of a pane, and what a dead keeper
// left of its log, so that a new log can begin. A start that was made already is left: the
// spawn, which has its id, gives the first answer.
func (s *Service) clearFormer(ctx context.Context, row store.PaneRow) error {
	client, err := s.cfg.Panes.Link(ctx)
	if err != nil {
		return err
	}
	infos, err := client.List(ctx)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if info.Pane == string(row.Pane.ID) && info.Labels[host.StartLabel] == host.StartOf(row) {
			return nil
		}
	}
	if err := client.Forget(ctx, string(row.Pane.ID)); err != nil && davit.CodeOf(err) != davit.CodePaneNotFound {
		return err
	}
	return nil
}

// restartLater starts a program again that ended by itself and is to be restarted: after a
// pause that doubles, from one second to thirty. One that ended five times within a minute
// is left as it is, and told. An end by a signal never comes here: what ends everything
// must not be answered with new programs.
func (s *Service) restartLater(ctx context.Context, p davit.Pane) {
	pause, again := s.pause(p.ID)
	if !again {
		s.notify(ctx, davit.Notice{
			ID: "restarts-" + string(p.ID), Kind: NoticeRestarts, Level: "warning", Persistent: true, Tab: p.Tab,
			Title:   fmt.Sprintf("%s ended %d times within a minute", paneName(p), quickEnds),
			Body:    fmt.Sprintf("It is not started again by itself. `davit pane restart %s` starts it.", p.ID),
			Actions: []davit.NoticeAction{{ID: "dismiss", Label: "Dismiss", Kind: "host"}},
		})
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(pause):
	}
	row, transient, err := s.restartable(wire.PaneRestart{Pane: p.ID})
	if err == nil {
		err = s.restartNow(ctx, row, transient)
	}
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Info("a program was not started again", "pane", p.ID, "err", err)
		if davit.CodeOf(err) != davit.CodePaneRunning && davit.CodeOf(err) != davit.CodePaneNotFound { // else somebody was quicker
			s.notePane(ctx, p.ID, "not started again: "+davit.AsError(err).Message)
		}
	}
}

// pause says how long to wait before a program is started again, and whether at all.
func (s *Service) pause(id davit.PaneID) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	ends := slices.DeleteFunc(append(s.ends[id], now), func(at time.Time) bool { return now.Sub(at) > quickWithin })
	if s.ends == nil {
		s.ends = map[davit.PaneID][]time.Time{}
	}
	s.ends[id] = ends
	if len(ends) >= quickEnds {
		return 0, false
	}
	return min(firstPause<<(len(ends)-1), longPause), true
}
