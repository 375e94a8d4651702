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
		req.Labels[host.StartLabel], req.Labels[host.BaseLabel] = start, strconv.FormatUint(spec.LogBase, 10)
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
	if spec.Setup != nil && spec.Starts == 0 {
		return s.withSetup(row, req, transient)
	}
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
