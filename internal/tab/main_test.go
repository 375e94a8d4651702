package tab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/configs"
	"davit/internal/git"
	"davit/internal/home"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/model"
	"davit/internal/pane"
	"davit/internal/shell"
	"davit/internal/store"
	"davit/internal/tabconfig"
	"davit/internal/testenv"
	"davit/internal/wire"
	"davit/internal/workspace"
)

const keeperIn = "DAVIT_TEST_KEEPER_IN"

// TestMain makes the test binary the programs that the tests start: the keeper, and the
// process of a cleanup.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "cleanup-run" {
		os.Exit(exitOf(cleanup.Run(context.Background(), os.Args[2], removeWorktree, time.Now)))
	}
	if dir := os.Getenv(keeperIn); dir != "" {
		os.Exit(exitOf(keeper.Run(context.Background(), keeper.Config{
			StateDir: filepath.Join(dir, "state"), RuntimeDir: filepath.Join(dir, "run"), TempDir: filepath.Join(dir, "tmp"),
			Home: dir, Build: "test", Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		})))
	}
	os.Exit(m.Run())
}

func exitOf(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func removeWorktree(ctx context.Context, state string, w davit.Worktree) (cleanup.Removed, error) {
	spaces := workspace.New(workspace.Config{Git: git.Runner{}, State: state, Owned: func(path string) bool { return path == w.Path }})
	report, err := spaces.Remove(ctx, workspace.RemoveRequest{Path: w.Path, Repo: w.Repo, ID: w.ID})
	return cleanup.Removed{
		Kept: slices.Concat(report.Notes, workspace.KeptText(report.Kept)), Ignored: report.Ignored.Paths, IgnoredCount: report.Ignored.Count,
	}, err
}

// patience is for conditions that hold soon on a quiet machine.
const patience = 30 * time.Second

// stage is a home on which hosts come and go: a store, a keeper of its own, real shells,
// a repository, configs.
type stage struct {
	tb   testing.TB
	dir  string
	repo string
	undo time.Duration
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	testenv.Require(tb, "git", "bash")
	dir, err := os.MkdirTemp("", "dt") // short: t.TempDir passes the socket's 100 bytes
	if err != nil {
		tb.Fatal(err)
	}
	st := &stage{tb: tb, dir: dir, repo: filepath.Join(dir, "home", "repo"), undo: time.Minute}
	for _, name := range []string{"tmp", "home/repo", "configs", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	st.git("init", "-q", "-b", "main")
	st.write("home/repo/README.md", "hello\n")
	st.git("add", ".")
	st.git("commit", "-q", "-m", "first")
	tb.Cleanup(func() {
		st.endKeeper()
		if tb.Failed() {
			log, _ := os.ReadFile(st.path("state/keeper.log"))
			tb.Logf("keeper.log:\n%s", log)
		}
		os.RemoveAll(dir)
	})
	return st
}

func (st *stage) path(name string) string { return filepath.Join(st.dir, name) }

func (st *stage) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + st.path("home"), "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
}

func (st *stage) login() map[string]string {
	env := map[string]string{}
	for _, pair := range st.env() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

func (st *stage) git(args ...string) string {
	st.tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = st.repo, st.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		st.tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (st *stage) write(name, text string) string {
	st.tb.Helper()
	path := st.path(name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		st.tb.Fatal(err)
	}
	return path
}

func (st *stage) read(name string) string {
	data, _ := os.ReadFile(st.path(name)) // not there yet is empty
	return string(data)
}

// keeper finds the stage's keeper, and says whether it lives.
func (st *stage) keeper() (keeper.Record, bool) {
	record, alive, err := client.Find(st.path("state"))
	if err != nil {
		st.tb.Fatal(err)
	}
	return record, alive
}

// endKeeper shuts the keeper down with all that it holds.
func (st *stage) endKeeper() {
	record, alive := st.keeper()
	if !alive {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	last, err := client.Dial(ctx, client.Config{Socket: record.Socket})
	if err == nil {
		err = last.Shutdown(ctx, true)
		last.Disconnect()
	}
	if err != nil {
		st.tb.Errorf("shut the keeper down: %v", err)
	}
	testenv.Eventually(st.tb, patience, func() (bool, string) { return !keeper.Alive(record), "the keeper lives" })
}

// reboot is what a machine's going down does, while no host runs: every program and the
// keeper end without a word, and another boot begins.
func (st *stage) reboot() {
	record, alive := st.keeper()
	if !alive {
		st.tb.Fatal("no keeper runs")
	}
	c, err := client.Dial(st.tb.Context(), client.Config{Socket: record.Socket})
	if err != nil {
		st.tb.Fatal(err)
	}
	infos, err := c.List(st.tb.Context())
	if err != nil {
		st.tb.Fatal(err)
	}
	c.Disconnect()
	if err := syscall.Kill(record.Pid, syscall.SIGKILL); err != nil {
		st.tb.Fatal(err)
	}
	for _, info := range infos {
		if info.Exit != nil || info.Pid <= 0 {
			continue // its number may be another's by now
		}
		if err := syscall.Kill(info.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			st.tb.Fatal(err)
		}
	}
	testenv.Eventually(st.tb, patience, func() (bool, string) { return !keeper.Alive(record), "the keeper lives" })
	path := st.path("state/keeper.json")
	text := st.read("state/keeper.json")
	if !strings.Contains(text, record.BootID) {
		st.tb.Fatalf("%s does not hold the boot id: %s", path, text)
	}
	st.write("state/keeper.json", strings.ReplaceAll(text, record.BootID, "00000000-another-boot"))
}

// start runs a host on the stage, as the daemon joins one.
func (st *stage) start() *tabsHost {
	st.tb.Helper()
	state := st.path("state")
	log := slog.New(slog.NewTextHandler(st.tb.Output(), nil))
	opened, err := store.Open(st.tb.Context(), store.Config{Path: filepath.Join(state, "davit.db"), Log: log})
	if err != nil {
		st.tb.Fatal(err)
	}
	all, err := opened.Load(st.tb.Context())
	if err != nil {
		st.tb.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		st.tb.Fatal(err)
	}
	scripts := filepath.Join(state, "shell")
	if err := shell.WriteScripts(scripts); err != nil {
		st.tb.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		st.tb.Fatal(err)
	}
	x := &tabsHost{tb: st.tb, store: opened, chips: &places{at: map[davit.PaneID]string{}}}
	x.host = host.New(host.Config{HostID: "h_1", Store: opened, Feed: silent{}, Now: time.Now, Log: log}, Load(all))
	x.panes = host.NewPanes(host.PanesConfig{
		Host: x.host, Dir: filepath.Join(state, "panes"), Persist: opened.SetPaneOffsets, Watcher: watcher{x}, Log: log,
		Lost:  func(rows []store.PaneRow) { x.s.Lost(rows) },
		Start: client.StartConfig{Exe: self, Env: append(os.Environ(), keeperIn+"="+st.dir), StateDir: state},
		Dial:  client.Config{Build: "test", Log: log},
	})
	runner := git.Runner{Env: st.env()}
	x.s = New(Config{
		Host: x.host, Panes: x.panes, Home: home.Home{State: state}, Git: runner, Workspaces: x.workspaces(runner, state, st.path("home")), Settings: opened, Chips: x.chips, Unread: Unread(all),
		Files: func() configs.Files {
			return configs.Files{Dirs: []string{st.path("configs")}, Env: tabconfig.LoadEnv{DefaultShell: bash}}
		},
		Self: self, UserHome: st.path("home"), UserShell: bash, Scripts: scripts, LoginEnv: st.login, Undo: st.undo, Log: log,
	})
	x.run()
	return x
}

// places is what the chips were told: where each pane is.
type places struct {
	silent
	mu sync.Mutex
	at map[davit.PaneID]string
}

func (p *places) Pane(id davit.PaneID, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[id] = dir
}

func (p *places) dirs() map[davit.PaneID]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.at)
}

// watcher is joined before its service is made.
type watcher struct{ x *tabsHost }

func (w watcher) PaneEvent(id davit.PaneID, e pane.Event) { w.x.s.PaneEvent(id, e) }

func (x *tabsHost) workspaces(runner git.Runner, state, userHome string) *workspace.Workspaces {
	return workspace.New(workspace.Config{
		Git: runner, State: state, Home: userHome,
		Owned: func(path string) bool { _, ours := x.host.Model().Worktrees[path]; return ours },
		Record: func(w davit.Worktree, stage workspace.Stage) error {
			return x.host.Change(context.Background(), func(m host.Model) (host.Change, error) {
				row, known := m.Worktrees[w.Path]
				if !known {
					row = store.WorktreeRow{ID: w.ID, Instance: w.ID, Created: time.Now()}
				}
				row.Worktree = w
				return host.Change{Batch: store.Batch{PutWorktrees: []store.WorktreeRow{row}}}, nil
			})
		},
	})
}

// config writes a config file with one shell pane, and what is given beside it.
func (st *stage) config(name, text string) {
	st.tb.Helper()
	st.write("configs/"+name+".toml", "name = \""+name+"\"\n"+text)
}

const onePane = "[[panes]]\nid = \"main\"\ntype = \"terminal\"\n"

// openConfig opens a config in the repository and waits for its first shells' prompts.
func (x *tabsHost) openConfig(st *stage, name string, params map[string]string) wire.Opened {
	x.tb.Helper()
	opened, err := x.s.OpenConfig(x.tb.Context(), wire.OpenRequest{Config: name, Dir: st.repo, Params: params})
	x.must(err)
	for _, id := range opened.Panes {
		x.wait(id, pane.Condition{For: "prompt"})
	}
	return opened
}

func (x *tabsHost) wait(id davit.PaneID, c pane.Condition) {
	x.tb.Helper()
	p, err := x.panes.Get(id)
	x.must(err)
	ctx, cancel := context.WithTimeout(x.tb.Context(), patience)
	defer cancel()
	if err := p.Wait(ctx, c); err != nil {
		text, _ := p.Text(context.Background(), 50)
		x.tb.Fatalf("pane %s: %+v: %v\n%+v", id, c, err, text)
	}
}

func (x *tabsHost) typed(id davit.PaneID, line string) {
	x.tb.Helper()
	p, err := x.panes.Get(id)
	x.must(err)
	x.must(p.Input(x.tb.Context(), "test", "i-"+randomHex(8), []byte(line+"\r")))
}

func (x *tabsHost) eventually(what string, holds func() bool) {
	x.tb.Helper()
	testenv.Eventually(x.tb, patience, func() (bool, string) {
		if holds() {
			return true, ""
		}
		m := x.host.Model()
		state := "not yet: " + what
		for id, c := range m.Cleanups {
			state += fmt.Sprintf("\n%s of %s: %s", id, c.TabTitle, c.State)
		}
		for _, n := range m.State.Notices {
			state += fmt.Sprintf("\nnotice %s: %s: %s", n.ID, n.Title, n.Body)
		}
		for id, p := range m.State.Panes {
			state += fmt.Sprintf("\npane %s: %s in %s, %+v, %s", id, p.Status, p.Directory, p.Exit, p.Fault)
		}
		return false, state
	})
}

// cleanups lists the states of the cleanups of a tab, oldest first.
func (x *tabsHost) cleanups(id davit.TabID) []store.CleanupState {
	var rows []store.CleanupRow
	for _, row := range x.host.Model().Cleanups {
		if row.Tab == id {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b store.CleanupRow) int { return a.Created.Compare(b.Created) })
	var states []store.CleanupState
	for _, row := range rows {
		states = append(states, row.State)
	}
	return states
}

func (x *tabsHost) cleaned(id davit.TabID, want ...store.CleanupState) {
	x.tb.Helper()
	x.eventually(fmt.Sprintf("cleanups of %s: %v", id, want), func() bool { return slices.Equal(x.cleanups(id), want) })
}

func (x *tabsHost) notice(kind string) (davit.Notice, bool) {
	for _, n := range x.host.State().Notices {
		if n.Kind == kind {
			return n, true
		}
	}
	return davit.Notice{}, false
}

func (x *tabsHost) tab(id davit.TabID) davit.Tab {
	x.tb.Helper()
	t, ok := model.Tab(x.host.State(), id)
	if !ok {
		x.tb.Fatalf("the tab %s is not open", id)
	}
	return t
}

func asJSON(tb testing.TB, v any) string {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
