package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"davit"
	"davit/internal/configs"
	"davit/internal/feed"
	"davit/internal/git"
	"davit/internal/host"
	"davit/internal/launch"
	"davit/internal/names"
	"davit/internal/pane"
	"davit/internal/route"
	"davit/internal/session"
	"davit/internal/shell"
	"davit/internal/store"
	"davit/internal/tab"
	"davit/internal/tabconfig"
	"davit/internal/workspace"

	"math/rand/v2"
)

// publisher gives the loop's events to the feed, and tells who follows agents.
type publisher struct {
	feed     *feed.Feed
	statuses *statuses
}

func (p publisher) Publish(e davit.Event) {
	p.feed.Publish(e)
	p.statuses.changed(e)
}

// late passes what panes tell to the tabs, which are made after the panes.
type late struct{ d *daemon }

func (l late) PaneEvent(id davit.PaneID, e pane.Event) {
	l.d.tabs.PaneEvent(id, e)
	l.d.chips.PaneEvent(id, e)
	l.d.statuses.PaneEvent(id, e)
}

// access is the store as the API needs it.
type access struct{ *store.Store }

func (a access) Setting(ctx context.Context, key string) ([]byte, bool, error) {
	return a.Store.Setting(ctx, key)
}

func (a access) SetSetting(ctx context.Context, key string, value []byte) error {
	return a.Store.SetSetting(ctx, key, json.RawMessage(value))
}

// launcher is the launch operation as tab configs call it: as the host's own user.
type launcher struct{ executor *launch.Executor }

func (l launcher) Launch(ctx context.Context, in davit.Intent) (davit.Result, error) {
	return l.executor.Launch(ctx, launch.Caller{Key: "tab-config"}, in)
}

func (d *daemon) defaultSurface(ctx context.Context) davit.Surface {
	var surface davit.Surface
	if value, found, err := d.store.Setting(ctx, "agent.default_surface"); err == nil && found && json.Unmarshal(value, &surface) == nil {
		return surface
	}
	return davit.Structured
}

// captureLogin asks the login shell for its environment once, in the background: the host
// answers before it is there, and the first pane waits for it (spec terminal P3.7).
func (d *daemon) captureLogin() func() map[string]string {
	path, environ := userShell(d.cfg.Getenv), d.cfg.Environ
	capture := sync.OnceValue(func() map[string]string {
		env, err := shell.LoginEnv(context.Background(), path, environ)
		if err != nil {
			d.log.Warn("the login shell did not tell its environment; the host's own is used", "err", err)
		}
		return env
	})
	go capture()
	return capture
}

// userShell is the user's login shell: of the environment, else of the password file.
func userShell(getenv func(string) string) string {
	if path := getenv("SHELL"); filepath.IsAbs(path) {
		return path
	}
	if runtime.GOOS == "darwin" {
		return "/bin/zsh"
	}
	if u, err := user.Current(); err == nil {
		if data, err := os.ReadFile("/etc/passwd"); err == nil {
			for line := range strings.Lines(string(data)) {
				fields := strings.Split(strings.TrimSpace(line), ":")
				if len(fields) == 7 && fields[0] == u.Username && filepath.IsAbs(fields[6]) && !strings.HasSuffix(fields[6], "nologin") {
					return fields[6]
				}
			}
		}
	}
	return "/bin/sh"
}

// gitRunner is the git on the PATH of the `up` that started the host, else the login
// shell's (spec chips C2.6). Only without the first is the login shell waited for.
func (d *daemon) gitRunner(login func() map[string]string) (git.Runner, error) {
	if path, found := program("git", d.cfg.Getenv("PATH")); found {
		return git.Runner{Path: path, Env: d.cfg.Environ}, nil
	}
	if path, found := program("git", login()["PATH"]); found {
		return git.Runner{Path: path, Env: d.cfg.Environ}, nil
	}
	return git.Runner{Path: "git", Env: d.cfg.Environ}, davit.Errorf(davit.CodeGitMissing, "there is no git on the PATH of the host").WithHint("install git, and restart davit")
}

// program finds an executable file on a PATH.
func program(name, search string) (path string, found bool) {
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// keeperEnv is what the keeper gets: what it needs to find its home, and no more.
func keeperEnv(cfg Config) []string {
	var env []string
	for _, name := range []string{"HOME", "PATH", "DAVIT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "USER", "LOGNAME"} {
		if value := cfg.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (d *daemon) workspaceConfig(runner git.Runner) workspace.Config {
	return workspace.Config{
		Git: runner, State: d.cfg.Home.State, Home: d.cfg.Getenv("HOME"), Log: d.log,
		Draw: func(taken func(string) bool) (string, error) {
			return names.Generate(func(n int) int { return rand.IntN(n) }, taken), nil
		},
		Owned: func(path string) bool {
			_, ours := d.host.Model().Worktrees[path]
			return ours
		},
		OwnerTab: func(path string) davit.TabID {
			for _, t := range d.host.State().Tabs {
				if t.Worktree != nil && t.Worktree.Path == path {
					return t.ID
				}
			}
			return ""
		},
		Record: d.recordWorktree,
		Known: func() []string {
			var repos []string
			for _, w := range d.host.Model().Worktrees {
				repos = append(repos, w.Worktree.Repo, w.Worktree.Path)
			}
			return append(repos, d.cfg.Directory)
		},
	}
}

// recordWorktree keeps the row of a worktree in step with its stage: before git acts, and
// after (spec launch L9.6: what davit made is what it may remove).
func (d *daemon) recordWorktree(w davit.Worktree, stage workspace.Stage) error {
	return d.host.Change(context.Background(), func(m host.Model) (host.Change, error) {
		row, known := m.Worktrees[w.Path]
		switch stage {
		case workspace.StageFailed, workspace.StageRemoved:
			if !known {
				return host.Change{}, nil
			}
			return host.Change{Batch: store.Batch{DeleteWorktrees: []string{row.ID}}}, nil
		case workspace.StageRemoving, workspace.StageKept:
			return host.Change{}, nil // the row stays until the folder is gone
		}
		if !known {
			row = store.WorktreeRow{ID: w.ID, Instance: w.ID, Created: time.Now()}
		}
		row.Worktree = w
		return host.Change{Batch: store.Batch{PutWorktrees: []store.WorktreeRow{row}}}, nil
	})
}

// places are the workspaces as a launch needs them.
type places struct {
	spaces *workspace.Workspaces
	d      *daemon
}

func (p places) Resolve(ctx context.Context, selector, callerDir string) (launch.Place, error) {
	w, err := p.spaces.Resolve(ctx, selector, callerDir)
	return launch.Place{ID: w.ID, Path: w.Path, Branch: w.Branch, Bare: w.Bare}, err
}

func (p places) Create(ctx context.Context, in davit.CreateWorktree, instance string) (davit.Worktree, string, error) {
	req := workspace.CreateRequest{
		ID: instance, Repo: "path:" + in.Repo, CallerDir: in.Repo, Name: in.Name, NameWasGenerated: in.NameWasGenerated || in.Name == "",
		Branch: in.Branch, Base: in.BaseBranch, RemoveOnClose: in.RemoveOnClose,
	}
	if in.SetupDecision == configs.SetupRun {
		found, err := p.d.files().SetupOf(ctx, p.spaces, req)
		if err == nil {
			err = found.Refuse()
		}
		if err != nil {
			return davit.Worktree{}, "", err
		}
	}
	made, err := p.spaces.Create(ctx, req)
	return made, made.Warning, err
}

// Setup decides by the text that the worktree has now.
func (p places) Setup(_ context.Context, made davit.Worktree, decision string) (script, warning string, err error) {
	script, warning = p.d.files().Setup(made.Path).Decide(decision)
	return script, warning, nil
}

func (p places) Folder(ctx context.Context, in davit.CreateFolder, callerDir string) (launch.Place, error) {
	return p.Resolve(ctx, "folder:"+in.Path, callerDir)
}

// Made finds what a cut-off Create left: its row was written before git ran.
func (p places) Made(_ context.Context, instance string) (davit.Worktree, bool, error) {
	for _, row := range p.d.host.Model().Worktrees {
		if row.Instance != instance {
			continue
		}
		if _, err := os.Stat(filepath.Join(row.Worktree.Path, ".git")); err != nil {
			return davit.Worktree{}, false, nil
		}
		return row.Worktree, true, nil
	}
	return davit.Worktree{}, false, nil
}

// held is what the keeper holds, of either surface (launch.Held).
type held struct {
	*tab.Service
	sessions *session.Service
}

func (h held) HoldsChat(ctx context.Context, id davit.SessionID) (bool, error) {
	return h.sessions.Holds(ctx, id)
}

// chats are the sessions as a launch needs them.
type chats struct{ sessions *session.Service }

func (c chats) Support(ctx context.Context, agent, dir string) (route.Verdict, string, error) {
	return c.sessions.Support(ctx, agent, dir)
}

func (c chats) Known(id davit.SessionID) bool {
	_, err := c.sessions.Get(id)
	return err == nil
}

func (c chats) Submit(ctx context.Context, id davit.SessionID, message, text string) error {
	_, err := c.sessions.Send(ctx, session.Mutation{Session: id, Operation: message, By: "launch"}, text)
	return err
}

func (c chats) Submitted(ctx context.Context, id davit.SessionID, message string) (bool, error) {
	return c.sessions.Submitted(ctx, id, message)
}

func (c chats) Draft(ctx context.Context, id davit.SessionID, text string) error {
	now, err := c.sessions.Get(id)
	if err != nil {
		return err
	}
	_, err = c.sessions.SetDraft(ctx, id, text, now.Draft.Revision)
	return err
}

// modelOf makes the loop's first model of what the store holds. Rows that could not be
// read, and a store that was set aside, are told as notices (spec tabs T6.2).
func modelOf(e store.Everything, r store.Recovery, now time.Time) host.Model {
	m := tab.Load(e)
	m.State.Sessions = map[davit.SessionID]davit.Session{}
	if r.SetAside != "" {
		m.State.Notices = append(m.State.Notices, restoreNotice("store", now, "The store was damaged and set aside",
			fmt.Sprintf("It lies at %s. %s", r.SetAside, recoveredFrom(r))))
	}
	for _, f := range e.Faults {
		m.State.Notices = append(m.State.Notices, restoreNotice(f.Table+"-"+f.ID, now, fmt.Sprintf("A stored %s could not be read", strings.TrimSuffix(f.Table, "s")),
			fmt.Sprintf("%s: %v. It is left as it is; everything else was restored.", f.ID, f.Err)))
	}
	return m
}

func restoreNotice(id string, now time.Time, title, body string) davit.Notice {
	return davit.Notice{
		ID: "restore-" + id, Kind: tab.NoticeRestore, Level: "warning", Persistent: true, Title: title, Body: body, Created: now,
		Actions: []davit.NoticeAction{{ID: "dismiss", Label: "Dismiss", Kind: "host"}},
	}
}

// loadEnv is what checking a config needs to know of the machine.
func (d *daemon) tabFiles(userShell string, login func() map[string]string, a *agents) configs.Files {
	catalogue, _ := a.catalogue()
	files := configs.NewFiles(d.cfg.Home.TabConfigs(), d.cfg.Getenv("HOME"), d.cfg.Getenv, tabconfig.LoadEnv{
		DefaultShell:   userShell,
		ShellInstalled: func(name string) bool { return tab.Installed(name, login()["PATH"]) },
		KnownAgent: func(id string) bool {
			_, known := catalogue.Find(id)
			return known
		},
	})
	files.Trusted = sync.OnceValue(func() map[string][]string { return d.configs.Trusts(context.Background()) })
	return files
}

func recoveredFrom(r store.Recovery) string {
	if r.Copy {
		return "The copy of " + r.CopyTime.Format(time.DateTime) + " took its place: what changed since then is not there."
	}
	return "There was no good copy, so davit starts empty; programs that still run are listed by `davit keeper status`."
}
