package tab

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"davit"
	"davit/internal/host"
	"davit/internal/pane"
	"davit/internal/shell"
	"davit/internal/store"
)

// exitUnknown is the status of a startup command that ended without the shell's telling.
const exitUnknown = -1

// startup types a pane's startup commands, one after the other, each only when the last
// exited 0; the one that did not is told with the pane, and what was not run after it
// (spec tabs T4.1). Each is a stored act before it is typed, so that a restarted host goes
// on where this one stopped and types none twice.
func (s *Service) startup(id davit.PaneID, kind string, commands []string) {
	if len(commands) == 0 {
		return
	}
	s.later(func(ctx context.Context) {
		starts := s.cfg.Host.Model().Rows.Panes[id].Spec.Starts
		fault, err := s.afterSetup(ctx, id, commands)
		if fault == nil && err == nil {
			fault, err = s.runStartup(ctx, id, shell.Kind(kind), commands)
		}
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Info("startup commands ended early", "pane", id, "err", err)
		}
		if ctx.Err() != nil {
			return // the next host goes on from the row
		}
		if err := s.endStartup(ctx, id, starts, fault); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("how startup commands ended could not be stored", "pane", id, "fault", fault, "err", err)
		}
	})
}

// endStartup stores that a pane's startup commands are done, or stopped for good at one
// that failed.
func (s *Service) endStartup(ctx context.Context, id davit.PaneID, starts int, fault *davit.StartupFault) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		row, ok := m.Rows.Panes[id]
		if !ok || row.Spec.Starts != starts {
			return host.Change{}, nil // it was closed, or its program was started again
		}
		var change host.Change
		v, shown := m.State.Panes[id]
		if shown {
			row.Pane = v
		}
		row.Spec.Startup, row.Spec.StartupSent, row.Pane.Startup = nil, 0, fault
		if shown && fault != nil {
			change.Events = []davit.Event{{Kind: davit.EventPane, Pane: &row.Pane}}
		}
		change.Batch = store.Batch{PutPanes: []store.PaneRow{row}}
		return change, nil
	})
}

// runStartup types the commands that are left. StartupSent of the pane's spec is stored
// before a command is typed: after a crash that one is looked for among the blocks, and
// typed (under the same id) only when it is not there. A shell without marks gets all of
// them as one line, and what became of it only its screen tells.
func (s *Service) runStartup(ctx context.Context, id davit.PaneID, kind shell.Kind, commands []string) (*davit.StartupFault, error) {
	p, err := s.cfg.Panes.Get(id)
	if err != nil {
		return nil, err
	}
	actID := "startup-" + string(id)
	if kind == shell.Posix {
		return nil, p.Input(ctx, "davit", actID, shell.JoinedLine(kind, commands))
	}
	sent := s.cfg.Host.Model().Rows.Panes[id].Spec.StartupSent
	for i := max(sent-1, 0); i < len(commands); i++ {
		if i == sent-1 {
			if exit, ended := lastRun(ctx, p, commands[i]); ended && exit == 0 {
				continue
			} else if ended {
				return startupFault(commands, i, exit), nil // it failed before the restart
			}
		}
		if err := s.noteStartup(ctx, id, i+1); err != nil {
			return nil, err
		}
		_, failed, err := p.RunCommands(ctx, pane.Commands{
			ID: actID + "-" + strconv.Itoa(i), Lines: commands[i : i+1],
			Typed: func(line string, framed bool) []byte { return shell.TypedLine(kind, line, framed) },
		})
		switch {
		case err != nil:
			if exit, ended := endedIn(ctx, p, commands[i]); ended {
				return startupFault(commands, i, exit), nil
			}
			return nil, err
		case failed != nil && failed.Exit == nil:
			return startupFault(commands, i, exitUnknown), nil
		case failed != nil:
			return startupFault(commands, i, *failed.Exit), nil
		}
	}
	return nil, nil
}

// startupFault tells the command that failed, and those after it that a shell would have
// run.
func startupFault(commands []string, i, exit int) *davit.StartupFault {
	skipped := slices.DeleteFunc(slices.Clone(commands[i+1:]), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || line[0] == '#'
	})
	return &davit.StartupFault{Command: commands[i], Exit: exit, Skipped: skipped}
}

// endedIn says whether the pane's program ended by itself, and not well, while it ran a
// command: `exit 3` is one.
func endedIn(ctx context.Context, p *pane.Pane, command string) (exit int, ended bool) {
	e := p.View().Exit
	if e == nil || e.Code == 0 || e.Signal != "" {
		return 0, false
	}
	blocks, err := p.Blocks(ctx)
	if err != nil || len(blocks) == 0 {
		return 0, false
	}
	return e.Code, strings.TrimSpace(blocks[len(blocks)-1].Command) == strings.TrimSpace(command)
}

// lastRun says whether the newest command of a shell is this one, and how it ended.
func lastRun(ctx context.Context, p *pane.Pane, command string) (exit int, ended bool) {
	if err := p.Wait(ctx, pane.Condition{For: "prompt"}); err != nil {
		return endedIn(ctx, p, command)
	}
	blocks, err := p.Blocks(ctx)
	if err != nil || len(blocks) == 0 {
		return 0, false
	}
	last := blocks[len(blocks)-1]
	if strings.TrimSpace(last.Command) != strings.TrimSpace(command) || last.Exit == nil {
		return 0, false
	}
	return *last.Exit, true
}

func (s *Service) noteStartup(ctx context.Context, id davit.PaneID, sent int) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		row, ok := m.Rows.Panes[id]
		if !ok {
			return host.Change{}, davit.Errorf(davit.CodePaneNotFound, "pane %s was closed", id)
		}
		row.Spec.StartupSent = sent
		return host.Change{Batch: store.Batch{PutPanes: []store.PaneRow{row}}}, nil
	})
}
