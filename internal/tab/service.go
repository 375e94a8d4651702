// Package tab opens, closes, restores and cleans up tabs.
//
//	open:   file ─► tabconfig ─► worktree ─► plan ─► one Change (tab, panes, acts owed) ─► spawns ─► startup commands
//	close:  ids ─► warnings ─► one Change (plan taken, tabs gone) ─► answer ┄► foreground ended ─► cleanup queue
//	later:  undo brings a tab back; when its time is over its programs are ended (spec terminal P5)
//
// Service owns no state of its own but who waits for what: the model, and the rows behind
// it, belong to the host loop. Run owns the goroutines: one that watches the undo times,
// one that starts cleanups, and one per thing under way; it returns after all of them.
//
// It refuses to force, to delete by path, to guess commands, and to run a cleanup twice
// (spec tabs T5.9).
package tab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/configs"
	"davit/internal/git"
	"davit/internal/home"
	"davit/internal/host"
	"davit/internal/tabconfig"
	"davit/internal/template"
	"davit/internal/workspace"
)

// Launcher starts an agent by the one launch operation (spec tabs T4.3).
type Launcher interface {
	Launch(ctx context.Context, intent davit.Intent) (davit.Result, error)
}

// Chips hears which directory a pane is in and what was run there.
type Chips interface {
	Pane(id davit.PaneID, dir string)
	Command(id davit.PaneID, line string)
	Gone(id davit.PaneID)
}

// Config is what the Service needs.
type Config struct {
	Host       *host.Host
	Panes      *host.Panes
	Home       home.Home
	Workspaces *workspace.Workspaces
	Git        git.Runner
	Launcher   Launcher
	Chats      Chats
	Chips      Chips
	Unread     []davit.TabID        // tabs whose rows could not be read
	Settings   Settings             // nil: nothing is kept, Undo below counts
	Files      func() configs.Files // finds the config files, read anew each time
	// DefaultAgent is what an agent pane that names no agent runs, "" for none; may be nil.
	DefaultAgent func(ctx context.Context) string

	Socket    string                   // of the host, for DAVIT_SOCKET
	Self      string                   // this binary, for `davit cleanup-run`
	UserHome  string                   // the user's home directory
	UserShell string                   // the login shell's path
	Scripts   string                   // where the shell integration lies; "" = none
	LoginEnv  func() map[string]string // of the login shell; waits until it is known
	Undo      time.Duration            // how long undo keeps what was closed, unless the user set it (T6.1)
	Failpoint func(name string)        // for crash tests; may be nil
	Now       func() time.Time
	Log       *slog.Logger
}

// Service opens and closes tabs.
type Service struct {
	cfg Config

	mu     sync.Mutex                   // guards what follows; a leaf
	caller map[string]string            // session variables of the last CLI caller (P3.7)
	ctx    context.Context              // of Run
	ended  bool                         // Run waits for what is under way: nothing is begun any more
	ends   map[davit.PaneID][]time.Time // of programs that start again by themselves

	undo  atomic.Int64 // nanoseconds that undo keeps what was closed
	group sync.WaitGroup
	wake  chan struct{} // capacity 1: the queue, or an undo time, may have changed
	begun chan struct{} // closed when Run has begun
}

// New makes a Service; Run starts it.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, wake: make(chan struct{}, 1), begun: make(chan struct{})}
	s.undo.Store(int64(cfg.Undo))
	return s
}

// SetLauncher joins the launch operation, which needs the Service itself for its
// terminals. It must be called before Run.
func (s *Service) SetLauncher(l Launcher) { s.cfg.Launcher = l }

// Run restores what a former host left, then serves until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.loadSettings(ctx)
	close(s.begun)
	defer s.waitAll()
	select {
	case <-s.cfg.Panes.Ready():
	case <-ctx.Done():
		return nil
	}
	s.restore(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-s.wake:
		}
		s.startCleanups(ctx)
		next := s.expire(ctx)
		timer.Reset(next)
	}
}

// SetCaller notes the session variables of the last CLI caller.
func (s *Service) SetCaller(vars map[string]string) {
	if len(vars) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caller = vars
}

func (s *Service) lastCaller() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caller
}

// later runs work in the background; Run waits for it. It gets the Service's own context,
// so that no caller's going away cuts an effect short.
func (s *Service) later(work func(ctx context.Context)) {
	<-s.begun
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.ctx
	if s.ended || ctx.Err() != nil {
		return // the host stops: what is left is taken up by the next one, from the rows
	}
	s.group.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				s.cfg.Log.Error("work in the background panicked", "panic", p)
			}
		}()
		work(ctx)
	})
}

// waitAll ends Run: what is under way may have begun more, until here.
func (s *Service) waitAll() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.group.Wait()
}

func (s *Service) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// NewTabID mints a tab's id.
func NewTabID() davit.TabID { return davit.TabID("t_" + randomHex(8)) }

// NewPaneID mints a pane's id.
func NewPaneID() davit.PaneID { return davit.PaneID("p_" + randomHex(8)) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand does not fail
	return hex.EncodeToString(b)
}

// defaultShell is the user's login shell as tab configs see it.
func (s *Service) defaultShell() tabconfig.Shell {
	return shellAt(s.cfg.UserShell)
}

func shellAt(path string) tabconfig.Shell {
	kind, _ := template.ShellOf(path)
	return tabconfig.Shell{Path: path, Kind: kind}
}

// actBody is what a spawn's act row holds: enough to know what is owed. The environment
// is rebuilt from the pane's spec, because it holds what no row may.
type actBody struct {
	Pane davit.PaneID `json:"pane"`
}

// spawnAct names the act of one start of a pane's program: another start is another act.
func spawnAct(id davit.PaneID, starts int) (actID string, body []byte) {
	body, _ = json.Marshal(actBody{Pane: id})
	if starts == 0 {
		return "spawn-" + string(id), body
	}
	return fmt.Sprintf("spawn-%s-%d", id, starts), body
}
