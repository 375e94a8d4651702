package tab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/store"
)

// startCleanups looks at the queue: of each repository the oldest cleanup is started when
// none runs there, its tab's programs have ended, and no open tab uses the worktree; while
// one does, it is held. One that is equal to an earlier one of the same worktree which
// waits as well is merged into that (spec tabs T5.6).
func (s *Service) startCleanups(ctx context.Context) {
	m := s.cfg.Host.Model()
	rows := slices.SortedFunc(maps.Values(m.Cleanups), func(a, b store.CleanupRow) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	busy := map[string]bool{}
	for _, row := range rows {
		if row.State == store.CleanupRunning {
			busy[row.Repo] = true
		}
	}
	var waiting []store.CleanupRow
	for _, row := range rows {
		if row.State != store.CleanupQueued && row.State != store.CleanupHeld {
			continue
		}
		if i := slices.IndexFunc(waiting, func(w store.CleanupRow) bool { return sameCleanup(w, row) }); i >= 0 {
			s.mergeCleanup(ctx, row)
			continue
		}
		waiting = append(waiting, row)
		if user, used := usedBy(m, row); used {
			s.hold(ctx, row, user)
			continue
		}
		if busy[row.Repo] || s.stillEnding(ctx, m, row) {
			continue
		}
		busy[row.Repo] = true
		s.start(ctx, row)
	}
}

// sameCleanup says whether one run does for both.
func sameCleanup(a, b store.CleanupRow) bool {
	return a.Worktree != "" && a.Worktree == b.Worktree && equalPlans(a.Plan, b.Plan)
}

// mergeCleanup gives a waiting cleanup up, because an equal one waits.
func (s *Service) mergeCleanup(ctx context.Context, row store.CleanupRow) {
	err := s.decide(ctx, func(d *draft) error {
		current := d.m.Cleanups[row.ID]
		if current.State != store.CleanupQueued && current.State != store.CleanupHeld {
			return nil
		}
		current.State, current.Changed = store.CleanupMerged, s.cfg.Now()
		d.change.Batch.PutCleanups = []store.CleanupRow{current}
		d.dropNotice(heldNoticeID(row.ID))
		d.closed()
		return nil
	})
	if err != nil {
		s.cfg.Log.Error("a cleanup could not be merged", "cleanup", row.ID, "err", err)
	}
}

// usedBy finds an open tab whose worktree or directory is that of the cleanup.
func usedBy(m host.Model, row store.CleanupRow) (davit.Tab, bool) {
	if row.Worktree == "" {
		return davit.Tab{}, false
	}
	inside := func(dir string) bool { return dir == row.Worktree || strings.HasPrefix(dir, row.Worktree+"/") }
	for _, t := range m.State.Tabs {
		if t.ID == row.Tab {
			continue
		}
		if t.Worktree != nil && inside(t.Worktree.Path) {
			return t, true
		}
		for _, p := range m.Rows.Panes {
			if p.Pane.Tab == t.ID && inside(p.Spec.Directory) {
				return t, true
			}
		}
	}
	return davit.Tab{}, false
}

// stillEnding says whether a program of the closed tab is still being ended. A program
// that survives SIGKILL holds nothing up for longer than ten seconds.
func (s *Service) stillEnding(ctx context.Context, m host.Model, row store.CleanupRow) bool {
	if s.cfg.Now().Sub(row.Created) > 10*time.Second {
		return false
	}
	for _, p := range m.Rows.Panes {
		if p.Pane.Tab != row.Tab {
			continue
		}
		if program, _ := s.running(ctx, p.Pane); program != "" {
			time.AfterFunc(100*time.Millisecond, s.poke)
			return true
		}
	}
	return false
}

// hold notes that a cleanup waits for another tab.
func (s *Service) hold(ctx context.Context, row store.CleanupRow, user davit.Tab) {
	if row.State == store.CleanupHeld {
		return
	}
	err := s.decide(ctx, func(d *draft) error {
		current := d.m.Cleanups[row.ID]
		if current.State != store.CleanupQueued {
			return nil
		}
		current.State, current.Changed = store.CleanupHeld, s.cfg.Now()
		d.change.Batch.PutCleanups = []store.CleanupRow{current}
		d.closed()
		d.add(davit.Event{Kind: davit.EventNotice, Notice: &davit.Notice{
			ID: heldNoticeID(row.ID), Kind: NoticeCleanupHeld, Level: "info", Persistent: true, Tab: row.Tab, Created: s.cfg.Now(),
			Title:   fmt.Sprintf("Cleanup of %q waits", row.TabTitle),
			Body:    fmt.Sprintf("%q uses %s; it runs when the last such tab closes.", user.Title, row.Worktree),
			Actions: []davit.NoticeAction{{ID: "dismiss", Label: "Dismiss", Kind: "host"}},
		}})
		return nil
	})
	if err != nil {
		s.cfg.Log.Error("a cleanup could not be held", "cleanup", row.ID, "err", err)
	}
}

func equalPlans(a, b davit.OnClose) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// cleanupPane is the keeper's name for a cleanup's process.
func cleanupPane(id string) string { return "cl-" + strings.ReplaceAll(id, "_", "-") }

// start notes that a cleanup runs, then has the keeper start it: once, whatever happens in
// between, because the keeper does the spawn's id once (spec tabs T5.4).
func (s *Service) start(ctx context.Context, row store.CleanupRow) {
	taken := false
	err := s.decide(ctx, func(d *draft) error {
		current := d.m.Cleanups[row.ID]
		taken = current.State == store.CleanupQueued || current.State == store.CleanupHeld
		if !taken {
			return nil
		}
		current.State, current.Pane, current.Changed = store.CleanupRunning, cleanupPane(row.ID), s.cfg.Now()
		row = current
		d.change.Batch.PutCleanups = []store.CleanupRow{current}
		d.dropNotice(heldNoticeID(row.ID))
		d.closed()
		return nil
	})
	if err != nil {
		s.cfg.Log.Error("a cleanup could not be started", "cleanup", row.ID, "err", err)
		return
	}
	if taken {
		s.later(func(ctx context.Context) { s.runCleanup(ctx, row) })
	}
}

// resumeCleanup goes on with a cleanup that was running when the host died (spec tabs T5.7).
func (s *Service) resumeCleanup(row store.CleanupRow) {
	s.later(func(ctx context.Context) {
		if report, _ := readSteps(s.cfg.Home.State, row); report.Back { // and the undo that took it back never came about
			s.requeue(ctx, row.ID)
			return
		}
		s.runCleanup(ctx, row)
	})
}

// How often, and how long apart, a cleanup that has not begun is asked for: its keeper may
// go away before it starts it. Whichever process is first carries it out, and no other.
const (
	asks     = 5
	askAfter = time.Second
)

// runCleanup has the keeper start a cleanup, or finds the one that was started before, and
// waits for its end. When the keeper is lost, the process may go on without it: its lock
// tells. One that nobody began is asked for again; one that has begun is never (spec tabs
// T5.7).
func (s *Service) runCleanup(ctx context.Context, row store.CleanupRow) {
	var cause error
	gaveUp := false
	for try := 1; ; try++ {
		ended, err := s.carryOutCleanup(ctx, row)
		if waited := cleanup.Await(ctx, s.cfg.Home.State, row.ID); waited != nil {
			err = errors.Join(err, waited)
		}
		if ctx.Err() != nil {
			return // the next host goes on from the row and the steps
		}
		report, unread := readSteps(s.cfg.Home.State, row)
		if cause = err; ended || unread != nil || report.Begun() || report.Back {
			break
		}
		s.cfg.Log.Warn("a cleanup could not be started, or its keeper is gone", "cleanup", row.ID, "err", err)
		if try == asks { // what is told as not begun must not begin later
			gaveUp, err = cleanup.TakeBack(s.cfg.Home.State, row.ID)
			cause = errors.Join(cause, err)
			break
		}
		select {
		case <-time.After(askAfter):
		case <-ctx.Done():
			return
		}
	}
	s.settleCleanup(ctx, row, cause, gaveUp)
	if c, linked := s.cfg.Panes.Linked(); linked {
		if err := c.Forget(ctx, row.Pane); err != nil && davit.CodeOf(err) != davit.CodePaneNotFound {
			s.cfg.Log.Debug("the keeper did not forget a cleanup", "cleanup", row.ID, "err", err)
		}
	}
}

// carryOutCleanup asks the keeper for a cleanup's process and waits for its end; ended says
// that the keeper saw it. One that has begun is asked for only of a keeper that holds it.
func (s *Service) carryOutCleanup(ctx context.Context, row store.CleanupRow) (ended bool, err error) {
	if report, err := readSteps(s.cfg.Home.State, row); err != nil || report.Begun() {
		c, linked := s.cfg.Panes.Linked()
		if !linked {
			return false, err
		}
		return waitExit(ctx, c, row.Pane)
	}
	c, err := s.cfg.Panes.Link(ctx)
	if err != nil {
		return false, err
	}
	err = s.spawnCleanup(ctx, c, row, "")
	if davit.CodeOf(err) == davit.CodePaneExists {
		err = s.spawnAgain(ctx, c, row)
	}
	if err != nil {
		return false, err
	}
	return waitExit(ctx, c, row.Pane)
}

// spawnAgain asks for a cleanup whose name is taken: by a log that a lost keeper left,
// beside which the keeper starts nothing, and by an act that failed for it. What the keeper
// holds itself is the cleanup.
func (s *Service) spawnAgain(ctx context.Context, c *client.Client, row store.CleanupRow) error {
	infos, err := c.List(ctx)
	if err != nil || slices.ContainsFunc(infos, func(i keeper.PaneInfo) bool { return i.Pane == row.Pane }) {
		return err
	}
	if err := c.Forget(ctx, row.Pane); err != nil && davit.CodeOf(err) != davit.CodePaneNotFound {
		return err
	}
	return s.spawnCleanup(ctx, c, row, "-again")
}

func (s *Service) spawnCleanup(ctx context.Context, c *client.Client, row store.CleanupRow, suffix string) error {
	dir, err := cleanup.Write(cleanup.Plan{
		ID: row.ID, Tab: row.Tab, Title: row.TabTitle, OnClose: row.Plan, Path: s.cfg.LoginEnv()["PATH"], Home: s.cfg.UserHome, State: s.cfg.Home.State,
	})
	if err != nil {
		return err
	}
	env := []string{"PATH=" + s.cfg.LoginEnv()["PATH"], "HOME=" + s.cfg.UserHome, "TERM=dumb"}
	for _, name := range []string{"USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"} {
		if value, ok := s.cfg.LoginEnv()[name]; ok {
			env = append(env, name+"="+value)
		}
	}
	_, err = c.Spawn(ctx, keeper.SpawnRequest{
		ID: "spawn-" + row.Pane + suffix, Pane: row.Pane, Kind: keeper.PaneCleanup, Path: s.cfg.Self, Argv: []string{"davit", "cleanup-run", dir},
		Env: env, Dir: s.cfg.Home.State, Pipes: true, Labels: map[string]string{"cleanup": row.ID, "tab": string(row.Tab)},
	})
	return err
}

// waitExit follows a pane's log to its exit; ended says that there was one.
func waitExit(ctx context.Context, c *client.Client, id string) (ended bool, err error) {
	stream, err := c.Follow(ctx, id, 0, "")
	if err != nil {
		return false, err
	}
	stop := context.AfterFunc(ctx, stream.Close)
	defer stop()
	defer stream.Close()
	for {
		frame, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return ended, nil
		}
		if err != nil {
			return ended, err
		}
		if frame.Kind == keeper.Exit {
			return true, nil
		}
		if frame.Kind == keeper.Bytes {
			stream.Ack(frame.To)
		}
	}
}

// settleCleanup stores how a cleanup ended, and tells a failure (spec tabs T5.5). gaveUp
// says that it has not begun, and was taken back so that it never does.
func (s *Service) settleCleanup(ctx context.Context, row store.CleanupRow, cause error, gaveUp bool) {
	report, err := cleanup.Read(s.cfg.Home.State, row.ID, row.Plan)
	if err != nil {
		cause = errors.Join(cause, err)
	}
	_, failed := report.Failed()
	switch {
	case report.CutOff():
		row.State = store.CleanupInterrupted
	case failed || report.Skipped > 0:
		row.State = store.CleanupFailed
	default:
		row.State = store.CleanupDone
	}
	if row.State != store.CleanupDone && !report.Back {
		step, _ := report.Failed()
		s.cfg.Log.Warn("a cleanup did not end well", "cleanup", row.ID, "tab", row.Tab, "state", row.State,
			"command", step.Command, "fault", step.Error, "skipped", report.Skipped, "err", cause)
	}
	row.Steps, _ = json.Marshal(report.Steps)
	row.Changed = s.cfg.Now()
	err = s.decide(ctx, func(d *draft) error {
		if report.Back && !gaveUp || d.m.Cleanups[row.ID].State != store.CleanupRunning {
			return nil // an undo has taken it back, and is about to say so or has
		}
		d.change.Batch.PutCleanups = []store.CleanupRow{row}
		d.closed()
		if row.State != store.CleanupDone {
			text := ""
			if cause != nil && !report.CutOff() {
				text = cause.Error()
			}
			n := failureNotice(row, report, text)
			n.Created = s.cfg.Now()
			d.add(davit.Event{Kind: davit.EventNotice, Notice: &n})
		} else if row.Plan.RemoveWorktree != nil {
			step, _ := removal(row)
			s.cfg.Log.Info("a worktree was removed", "path", row.Plan.RemoveWorktree.Path, "tab", row.Tab, "kept", step.Kept, "ignored", step.IgnoredCount)
			for _, w := range d.m.Worktrees {
				if w.Worktree.Path == row.Plan.RemoveWorktree.Path {
					d.change.Batch.DeleteWorktrees = append(d.change.Batch.DeleteWorktrees, w.ID)
				}
			}
		}
		d.retell(row.Tab, s.cfg.Now())
		return nil
	})
	if err != nil {
		s.cfg.Log.Error("how a cleanup ended could not be stored", "cleanup", row.ID, "state", row.State, "err", err)
	}
	s.afterCleanup(ctx, row)
	s.poke()
}

// afterCleanup looks again whether a tab that came back has lost its directory, and its
// worktree (T5.8).
func (s *Service) afterCleanup(ctx context.Context, row store.CleanupRow) {
	for _, t := range s.cfg.Host.State().Tabs {
		if t.ID == row.Tab {
			s.forgetWorktree(ctx, t)
			s.sendHome(ctx, t)
		}
	}
}
