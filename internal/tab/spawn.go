package tab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/pane"
	"davit/internal/shell"
	"davit/internal/store"
)

// starting makes the rows of a pane whose program is about to be asked for: the pane, and
// the act that owes it to the keeper (spec terminal P1.2).
func (s *Service) starting(p davit.Pane, spec store.PaneSpec) (store.PaneRow, store.ActRow) {
	p.Status, p.Directory = davit.PaneStarting, spec.Directory
	if p.Cols < pane.MinCols || p.Rows < pane.MinRows {
		p.Cols, p.Rows = pane.DefaultCols, pane.DefaultRows
	}
	id, body := spawnAct(p.ID, spec.Starts)
	return store.PaneRow{Pane: p, Spec: spec}, store.ActRow{ID: id, Pane: p.ID, Kind: "spawn", Body: body, Created: s.cfg.Now()}
}

// spawn asks for the program of a pane whose rows are durable. transient are variables
// that no row may hold: secrets, and an account's environment.
func (s *Service) spawn(ctx context.Context, row store.PaneRow, transient []string) error {
	req, err := s.spawnRequest(row, transient)
	if err != nil {
		s.failPane(ctx, row.Pane.ID, err)
		return err
	}
	if row.Spec.Starts > 0 {
		if err := s.clearFormer(ctx, row); err != nil {
			s.failPane(ctx, row.Pane.ID, err)
			return err
		}
	}
	if err := s.cfg.Panes.Spawn(ctx, req); err != nil {
		return err
	}
	s.cfg.Chips.Pane(row.Pane.ID, row.Spec.Directory)
	return nil
}

// spawnRequest builds the keeper's request from a pane's spec.
func (s *Service) spawnRequest(row store.PaneRow, transient []string) (keeper.SpawnRequest, error) {
	p, spec := row.Pane, row.Spec
	act, _ := spawnAct(p.ID, spec.Starts)
	req := keeper.SpawnRequest{
		ID: act, Pane: string(p.ID), Kind: p.Kind, Dir: spec.Directory, Cols: p.Cols, Rows: p.Rows,
		Labels: map[string]string{"tab": string(p.Tab), "paneKey": string(p.PaneKey), "operation": spec.OperationID},
	}
	if start := host.StartOf(row); start != "" {
		req.Labels[host.StartLabel] = start
	}
	env := shell.EnvInput{Login: s.cfg.LoginEnv(), Caller: s.lastCaller(), Pane: p.ID, Socket: s.cfg.Socket}
	for name, value := range spec.Env {
		env.Extra = append(env.Extra, name+"="+value)
	}
	slices.Sort(env.Extra)
	env.Extra = append(env.Extra, transient...)
	if len(spec.Argv) == 0 {
		env.Shell = spec.Shell
		started, _ := shell.Prepare(shell.PrepareInput{
			Shell: spec.Shell, Kind: shell.Kind(spec.ShellKind), Dir: s.cfg.Scripts, Login: true, Env: shell.PaneEnv(env),
		})
		env.Extra = append(env.Extra, started.Env...)
		req.Path, req.Argv = spec.Shell, started.Argv
	} else {
		req.Argv = spec.Argv
		path, err := lookPath(spec.Argv[0], spec.Directory, s.cfg.LoginEnv()["PATH"])
		if err != nil {
			return req, err
		}
		req.Path = path
	}
	req.Env = shell.PaneEnv(env)
	return req, nil
}

// Installed says whether a program is on a PATH.
func Installed(name, path string) bool {
	_, err := lookPath(name, "/", path)
	return err == nil
}

// lookPath finds a program on the PATH that the pane will have, not the host's own.
func lookPath(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if _, err := exec.LookPath(name); err != nil {
			return "", davit.Errorf(davit.CodePaneSpawnFailed, "%s cannot be run: %w", name, err).WithHint("check the path and its rights")
		}
		return name, nil
	}
	for _, d := range filepath.SplitList(path) {
		if d == "" || !filepath.IsAbs(d) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return found, nil
		}
	}
	return "", davit.Errorf(davit.CodePaneSpawnFailed, "there is no program %q on the login shell's PATH", name).
		WithHint("give its full path, or add its folder to PATH in your shell's start files and restart davit")
}

func (s *Service) failPane(ctx context.Context, id davit.PaneID, cause error) {
	err := s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		act, _ := spawnAct(id, m.Rows.Panes[id].Spec.Starts)
		v, ok := m.State.Panes[id]
		if !ok {
			return host.Change{}, nil
		}
		v.Status, v.Fault = davit.PaneFailed, davit.AsError(cause).Message
		return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &v}}, Batch: store.Batch{DoneActs: []string{act}}}, nil
	})
	if err != nil {
		s.cfg.Log.Error("a failed start could not be stored", "pane", id, "err", err)
	}
}

// startup types a pane's startup commands, one after the other, each only when the last
// exited 0 (spec tabs T4.1). Each is a stored act before it is typed, so that a restarted
// host goes on where this one stopped and types none twice.
func (s *Service) startup(id davit.PaneID, kind string, commands []string) {
	if len(commands) == 0 {
		return
	}
	s.later(func(ctx context.Context) {
		if err := s.runStartup(ctx, id, shell.Kind(kind), commands); err != nil && ctx.Err() == nil {
			s.cfg.Log.Info("startup commands ended early", "pane", id, "err", err)
		}
		_ = s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
			row, ok := m.Rows.Panes[id]
			if !ok || ctx.Err() != nil {
				return host.Change{}, nil
			}
			row.Spec.Startup, row.Spec.StartupSent = nil, 0 // done, or stopped for good at a failure that the pane shows
			return host.Change{Batch: store.Batch{PutPanes: []store.PaneRow{row}}}, nil
		})
	})
}

// directory checks where a pane is to start. One that does not exist is told: the pane
// opens in home and says why (spec tabs T4.2).
func (s *Service) directory(dir string) (use, note string) {
	if dir == "" {
		return s.cfg.UserHome, ""
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, ""
	}
	return s.cfg.UserHome, fmt.Sprintf("started in %s: %s does not exist", s.cfg.UserHome, dir)
}

// runStartup types the commands that are left. StartupSent of the pane's spec is stored
// before a command is typed: after a crash that one is looked for among the blocks, and
// typed (under the same id) only when it is not there.
func (s *Service) runStartup(ctx context.Context, id davit.PaneID, kind shell.Kind, commands []string) error {
	p, err := s.cfg.Panes.Get(id)
	if err != nil {
		return err
	}
	actID := "startup-" + string(id)
	if kind == shell.Posix {
		return p.Input(ctx, "davit", actID, shell.JoinedLine(kind, commands))
	}
	sent := s.cfg.Host.Model().Rows.Panes[id].Spec.StartupSent
	for i := max(sent-1, 0); i < len(commands); i++ {
		if i == sent-1 {
			if ended, ok := lastRun(ctx, p, commands[i]); ended && ok {
				continue
			} else if ended {
				return nil // it failed before the restart; the pane shows it
			}
		}
		if err := s.noteStartup(ctx, id, i+1); err != nil {
			return err
		}
		_, failed, err := p.RunCommands(ctx, pane.Commands{
			ID: actID + "-" + strconv.Itoa(i), Lines: commands[i : i+1],
			Typed: func(line string, framed bool) []byte { return shell.TypedLine(kind, line, framed) },
		})
		if err != nil || failed != nil {
			return err
		}
	}
	return nil
}

// lastRun says whether the newest command of a shell is this one, and how it ended.
func lastRun(ctx context.Context, p *pane.Pane, command string) (ended, ok bool) {
	if err := p.Wait(ctx, pane.Condition{For: "prompt"}); err != nil {
		return false, false
	}
	blocks, err := p.Blocks(ctx)
	if err != nil || len(blocks) == 0 {
		return false, false
	}
	last := blocks[len(blocks)-1]
	if strings.TrimSpace(last.Command) != strings.TrimSpace(command) || last.Exit == nil {
		return false, false
	}
	return true, *last.Exit == 0
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
