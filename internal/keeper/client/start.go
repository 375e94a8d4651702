package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"davit"
	"davit/internal/keeper"
)

// StartConfig says how to start a keeper: Exe Args… with Env, in a session of its own,
// in the directory /. What it prints goes to StateDir/keeper.log.
type StartConfig struct {
	Exe      string // "" starts none: only one that lives is waited for
	Args     []string
	Env      []string
	StateDir string
	// RuntimeDir as the keeper is told it; "" when there is none. When the start fails
	// it is looked at for somebody else's socket.
	RuntimeDir string
}

// lateStart is how long a keeper that got the lock before ours may take to be there.
const lateStart = 1500 * time.Millisecond

// Find reads the record of the keeper of a state directory and says whether that very
// process lives (same pid, start time and boot id). No record is not an error.
func Find(stateDir string) (keeper.Record, bool, error) {
	rec, err := keeper.ReadRecord(stateDir)
	if errors.Is(err, os.ErrNotExist) {
		return rec, false, nil
	}
	if err != nil {
		return rec, false, davit.Errorf(davit.CodeHomeUnusable, "read the keeper's record: %w", err)
	}
	return rec, keeper.Alive(rec), nil
}

// Start makes sure that a keeper answers, and returns its record. One that lives but has
// lost its socket is signalled and waited for; a second one is never left running, since
// it does not get the lock (P1.6).
func Start(ctx context.Context, cfg StartConfig) (keeper.Record, error) {
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return keeper.Record{}, davit.Errorf(davit.CodeHomeUnusable, "make the state directory: %w", err)
	}
	var child chan error
	var childPid int
	var childErr error
	var signalled, ended time.Time
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		rec, alive, err := Find(cfg.StateDir)
		if err != nil {
			return rec, err
		}
		switch {
		case alive:
			err := probe(ctx, rec.Socket)
			if err != nil && davit.CodeOf(err) != davit.CodeKeeperUnreachable {
				return rec, err
			}
			if err == nil && (child == nil || childErr != nil || rec.Pid == childPid) {
				return rec, nil
			}
			if err == nil {
				break // another one won: ours is to have ended, so that it cannot succeed that
			}
			if time.Since(signalled) > time.Second {
				signalled = time.Now()
				// An error means that it has gone meanwhile, which the next look shows.
				_ = keeper.SignalProcess(rec.Pid, rec.StartTime, syscall.SIGUSR1)
			}
		case child == nil && cfg.Exe == "":
			return rec, davit.Errorf(davit.CodeKeeperUnreachable, "no keeper runs for %s", cfg.StateDir)
		case child == nil:
			if child, childPid, err = launch(cfg); err != nil {
				return rec, err
			}
		case childErr != nil && time.Since(ended) > lateStart:
			return rec, startFailed(ctx, cfg, fmt.Errorf("it ended at once: %w", childErr))
		}
		select {
		case childErr = <-child: // perhaps another one holds the lock: give that its time
			ended = time.Now()
		case <-time.After(wait):
		case <-ctx.Done():
			return rec, startFailed(ctx, cfg, context.Cause(ctx))
		}
	}
}

// probe says whether a keeper answers at the socket.
func probe(ctx context.Context, socket string) error {
	conn, _, _, err := dial(ctx, Config{Socket: socket}, keeper.KindReader, 0)
	if err != nil {
		return err
	}
	return conn.Close()
}

func launch(cfg StartConfig) (chan error, int, error) {
	out, err := os.OpenFile(filepath.Join(cfg.StateDir, "keeper.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, davit.Errorf(davit.CodeHomeUnusable, "open the keeper's log: %w", err)
	}
	defer out.Close()
	cmd := exec.Command(cfg.Exe, cfg.Args...)
	cmd.Env = cfg.Env
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, 0, startFailed(context.Background(), cfg, err)
	}
	ended := make(chan error, 1)
	go func() { // outlives Start on purpose: it reaps the keeper should that end first
		if err := cmd.Wait(); err != nil {
			ended <- err
			return
		}
		ended <- errors.New("exit status 0")
	}()
	return ended, cmd.Process.Pid, nil
}

func startFailed(ctx context.Context, cfg StartConfig, err error) *davit.Error {
	if cfg.RuntimeDir != "" {
		taken := probe(ctx, filepath.Join(cfg.RuntimeDir, keeper.SocketName))
		if davit.CodeOf(taken) == davit.CodeKeeperForeign {
			return davit.AsError(taken)
		}
	}
	return davit.Errorf(davit.CodeKeeperStart, "start the keeper %s: %w", cfg.Exe, err).
		WithHint("Read %s.", filepath.Join(cfg.StateDir, "keeper.log"))
}
