package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/practice"
	"davit/internal/session"
	"davit/internal/store"
	"davit/internal/testenv"
)

// TestMain makes the test binary the programs that the tests start: the keeper, the agent,
// and a host to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "practice-agent" {
		os.Exit(practice.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	switch os.Getenv("DAVIT_TEST_ROLE") {
	case "":
		os.Exit(m.Run())
	case "keeper":
		os.Exit(keeperMain())
	case "host":
		os.Exit(hostMain())
	}
	os.Exit(2)
}

func keeperMain() int {
	dir := os.Getenv("DAVIT_TEST_DIR")
	err := keeper.Run(context.Background(), keeper.Config{
		StateDir: filepath.Join(dir, "state"), RuntimeDir: filepath.Join(dir, "run"), TempDir: filepath.Join(dir, "tmp"),
		Home: dir, Build: "test", Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// stage is the home of a host: a store, a keeper, a folder to work in, a transcript of what
// agents were told. Hosts come and go on it.
type stage struct {
	dir string
}

func newStage(t testing.TB) stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "ds") // short: t.TempDir passes the socket's 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := stage{dir}
	for _, name := range []string{"tmp", "work", "sessions"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		s.endKeeper(t)
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "state", "keeper.log"))
			t.Logf("keeper.log:\n%s", log)
		}
		os.RemoveAll(dir)
	})
	return s
}

func (s stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s stage) endKeeper(t testing.TB) {
	t.Helper()
	rec, err := keeper.ReadRecord(s.path("state"))
	if err != nil || !keeper.Alive(rec) {
		return
	}
	c, err := client.Dial(context.Background(), client.Config{Socket: rec.Socket})
	if err == nil {
		_ = c.Shutdown(context.Background(), true)
		c.Disconnect()
	}
	testenv.Eventually(t, 15*time.Second, func() (bool, string) { return !keeper.Alive(rec), "the keeper does not end" })
}

// running is a host that runs: the parts of one that sessions need, all of them real.
type running struct {
	stage
	service *session.Service
	host    *host.Host
	store   *store.Store
	panes   *host.Panes
	agents  *agents
	refuse  *atomic.Bool // the store refuses steps
	lie     *atomic.Bool // it stores one and says that it did not
	stop    func()
}

// refusing is the store, on a disk that can be full.
type refusing struct {
	*store.Store
	refuse *atomic.Bool
	lie    *atomic.Bool // the next step is stored, and told as failed
}

func (r refusing) AppendJournal(ctx context.Context, b store.JournalBatch) error {
	if r.refuse.Load() {
		return errors.New("the disk is full")
	}
	err := r.Store.AppendJournal(ctx, b)
	if err == nil && r.lie.Swap(false) {
		return errors.New("I/O error")
	}
	return err
}

// agents are the catalogue: the practice agent, with what it is told in its environment.
type agents struct {
	stage stage
	mu    sync.Mutex // guards what follows
	env   []string
	err   error
	path  string
	argv  []string
}

func (a *agents) misbehave(faults string, more ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.env = append([]string{"DAVIT_PRACTICE=" + faults}, more...)
}

func (a *agents) Chat(context.Context, string) (session.Command, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return session.Command{}, a.err
	}
	path, argv := os.Args[0], []string{os.Args[0], "practice-agent", "--acp"}
	if a.path != "" {
		path, argv = a.path, a.argv
	}
	return session.Command{
		Agent: "practice", Name: "Practice agent", Practice: true, Driver: "acp", Path: path, Argv: argv, SignIn: "practice login",
		Env: append(slices.Clone(a.env), // of two that are the same the first counts
			"DAVIT_PRACTICE_TRANSCRIPT="+a.stage.path("transcript"), "DAVIT_PRACTICE_SESSIONS="+a.stage.path("sessions"), "GORACE=atexit_sleep_ms=0"),
	}, nil
}

type deaf struct{}

func (deaf) Publish(davit.Event) {}

// startHost runs a host on the stage. failpoint may be nil.
func (s stage) startHost(log *slog.Logger, faults string, failpoint func(string), edits ...func(*session.Config)) (*running, error) {
	db, err := store.Open(context.Background(), store.Config{Path: s.path("davit.db"), Log: log})
	if err != nil {
		return nil, err
	}
	r := &running{stage: s, store: db, refuse: &atomic.Bool{}, lie: &atomic.Bool{}, agents: &agents{stage: s, env: []string{"DAVIT_PRACTICE=" + faults}}}
	stored, err := db.Chats(context.Background())
	if err != nil {
		return nil, err
	}
	panes := map[davit.PaneID]davit.Pane{} // those that a former host left
	for _, chat := range stored {
		v := chat.Row.Session
		panes[v.Pane] = davit.Pane{ID: v.Pane, Tab: v.Tab, Kind: "chat", Session: v.ID, Status: davit.PaneRunning}
	}
	r.host = host.New(host.Config{HostID: "h_1", Store: db, Feed: deaf{}, Now: time.Now, Log: log}, host.Model{State: davit.State{Panes: panes}})
	r.panes = host.NewPanes(host.PanesConfig{
		Host: r.host, Dir: s.path("state/panes"), Log: log, Dial: client.Config{Build: "test", Log: log},
		Persist: func(context.Context, davit.PaneID, uint64, uint64) error { return nil },
		Start: client.StartConfig{
			Exe: os.Args[0], StateDir: s.path("state"), RuntimeDir: s.path("run"),
			Env: append(os.Environ(), "DAVIT_TEST_ROLE=keeper", "DAVIT_TEST_DIR="+s.dir, "GORACE=atexit_sleep_ms=0"),
		},
	})
	cfg := session.Config{
		Host: r.host, Store: refusing{db, r.refuse, r.lie}, Agents: r.agents, Keeper: r.panes.Link, Linked: r.panes.Linked, Ready: r.panes.Ready(),
		Environment: func(pane davit.PaneID, extra []string) []string {
			return append([]string{"PATH=/usr/bin:/bin", "DAVIT_PANE=" + string(pane)}, extra...)
		},
		StateDir: s.path("state"), Failpoint: failpoint, Now: time.Now, Log: log,
	}
	for _, edit := range edits {
		edit(&cfg)
	}
	r.service = session.New(cfg)
	loop, stopLoop := context.WithCancel(context.Background())
	linking, stopPanes := context.WithCancel(context.Background())
	sessions, stopSessions := context.WithCancel(context.Background())
	var loops, links, chats sync.WaitGroup
	loops.Go(func() { _ = r.host.Run(loop) })
	links.Go(func() { _ = r.panes.Run(linking) })
	chats.Go(func() { _ = r.service.Run(sessions) })
	r.stop = sync.OnceFunc(func() {
		stopSessions()
		chats.Wait()
		stopPanes()
		links.Wait()
		stopLoop()
		loops.Wait()
		_ = db.Close()
	})
	return r, nil
}

func (s stage) run(t testing.TB, faults string, edits ...func(*session.Config)) *running {
	t.Helper()
	r, err := s.startHost(slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo})), faults, nil, edits...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	return r
}

func begin(t testing.TB, faults string, edits ...func(*session.Config)) *running {
	t.Helper()
	return newStage(t).run(t, faults, edits...)
}

// patience is how long a test waits for what must come: a machine may be busy.
const patience = 60 * time.Second

const chatID = davit.SessionID("practice_1")

// addPane puts the pane into the model that a launch has made.
func (r *running) addPane(t testing.TB, id davit.PaneID) {
	t.Helper()
	err := r.host.Change(t.Context(), func(host.Model) (host.Change, error) {
		return host.Change{Volatile: true, Events: []davit.Event{{Kind: davit.EventPane, Pane: &davit.Pane{ID: id, Tab: "t_1", Kind: "chat", Session: chatID, Status: davit.PaneStarting}}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *running) request() session.StartRequest {
	return session.StartRequest{Session: chatID, Agent: "practice", Tab: "t_1", Pane: "p_1", Directory: r.path("work"), Operation: "op-1"}
}

func (r *running) startChat(t testing.TB) davit.Session {
	t.Helper()
	r.addPane(t, "p_1")
	started, err := r.service.Start(t.Context(), r.request())
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return started.Session
}

func (r *running) send(t testing.TB, operation, text string) davit.Submission {
	t.Helper()
	sub, err := r.service.Send(t.Context(), session.Mutation{Session: chatID, Operation: operation, By: "test"}, text)
	if err != nil {
		t.Fatalf("send %q: %v", text, err)
	}
	return sub
}

func (r *running) get(t testing.TB) davit.Session {
	t.Helper()
	v, err := r.service.Get(chatID)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rows is the whole journal, checked for holes.
func (r *running) rows(t testing.TB) []davit.JournalRow {
	t.Helper()
	rows, err := r.store.Journal(context.Background(), chatID, davit.Cursor{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if row.Seq != uint64(i)+1 {
			t.Fatalf("row %d has the number %d", i+1, row.Seq)
		}
	}
	return rows
}

// items is what the journal says of each thing, by kind.
func (r *running) items(t testing.TB, kind davit.JournalKind) []davit.JournalRow {
	t.Helper()
	all, err := r.store.JournalItems(context.Background(), chatID)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(row davit.JournalRow) bool { return row.Kind != kind })
}

// said is the text of the agent's messages, one string per item.
func (r *running) said(t testing.TB, role string) []string {
	t.Helper()
	var list []string
	for _, row := range r.items(t, davit.JournalMessage) {
		if row.Body.Role == role {
			list = append(list, row.Body.Text)
		}
	}
	return list
}

// until waits for a session to be as it should.
func (r *running) until(t testing.TB, what string, is func(davit.Session) bool) davit.Session {
	t.Helper()
	var v davit.Session
	testenv.Eventually(t, patience, func() (bool, string) {
		v = r.get(t)
		text, _ := json.Marshal(v)
		return is(v), what + ": " + string(text)
	})
	return v
}

func (r *running) untilStatus(t testing.TB, status ...davit.AgentStatus) davit.Session {
	t.Helper()
	return r.until(t, fmt.Sprint("status ", status), func(v davit.Session) bool { return slices.Contains(status, v.Status) })
}

// untilTurns waits until that many turns have ended, and gives the last.
func (r *running) untilTurns(t testing.TB, n int) davit.TurnState {
	t.Helper()
	var turns []davit.TurnState
	var read davit.Cursor
	testenv.Eventually(t, patience, func() (bool, string) {
		now := r.get(t)
		if now.Cursor == read || now.Status == davit.AgentWorking || now.Status == davit.AgentWaiting {
			return false, fmt.Sprintf("%s; %d turns have ended: %+v", now.Status, len(turns), turns)
		}
		read = now.Cursor
		turns = nil
		for _, row := range r.items(t, davit.JournalTurn) {
			if row.Body.TurnState.State == "ended" {
				turns = append(turns, *row.Body.TurnState)
			}
		}
		return len(turns) >= n, fmt.Sprintf("%d turns have ended: %+v", len(turns), turns)
	})
	return turns[len(turns)-1]
}

func (r *running) submission(t testing.TB, operation string) davit.Submission {
	t.Helper()
	sub, ok, err := r.store.Submission(context.Background(), chatID, operation)
	if err != nil || !ok {
		t.Fatalf("submission %s: %v %v", operation, ok, err)
	}
	return sub
}

// heard is what agents wrote down that they were told, of one kind.
func (s stage) heard(t testing.TB, event string) []string {
	t.Helper()
	text, err := os.ReadFile(s.path("transcript"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var list []string
	for _, line := range strings.Split(string(text), "\n") {
		var e struct{ Event, Text string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Event == event {
			list = append(list, e.Text)
		}
	}
	return list
}

// question waits for an open permission question.
func (r *running) question(t testing.TB) davit.JournalRow {
	t.Helper()
	var open davit.JournalRow
	testenv.Eventually(t, patience, func() (bool, string) {
		for _, row := range r.items(t, davit.JournalApproval) {
			if row.Body.Approval.State == "open" {
				open = row
				return true, ""
			}
		}
		return false, "no question is open"
	})
	return open
}

func wantCode(t testing.TB, err error, code davit.Code) *davit.Error {
	t.Helper()
	if davit.CodeOf(err) != code {
		t.Fatalf("got %v (%s), want %s", err, davit.CodeOf(err), code)
	}
	return davit.AsError(err)
}

func mutation(operation string, fence uint64) session.Mutation {
	return session.Mutation{Session: chatID, Operation: operation, Fence: &fence, By: "test"}
}

func findKeeper(s stage) (pid int, alive bool, err error) {
	rec, alive, err := client.Find(s.path("state"))
	return rec.Pid, alive, err
}

// killAgent ends the agent's own process, as a crash of its would.
func (r *running) killAgent(t testing.TB) {
	t.Helper()
	pid := r.host.State().Panes["p_1"].Pid
	if pid <= 1 {
		t.Fatalf("the pane tells the pid %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, patience, func() (bool, string) { return syscall.Kill(pid, 0) != nil, "the agent lives on" })
}
