package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLaunchTellsWhatItDid(t *testing.T) { // spec launch L2, L7.1
	s := newStage(t)
	var events []davit.Launched
	s.started = func(l davit.Launched) { events = append(events, l) }
	x := s.executor(t, s.store(t))
	in := s.worktree(1, "topic")
	in.LaunchSource, in.Cwd = "cli", "."
	in.Placement, in.Presentation = &davit.Placement{GroupID: "g"}, "background"
	got, err := x.Launch(t.Context(), local, in)
	if err != nil {
		t.Fatal(err)
	}
	o := got.Outcome
	want := davit.Result{
		Outcome:    davit.Outcome{Kind: davit.Terminal, Handle: o.Handle, TabID: o.TabID, PaneKey: o.PaneKey},
		WorktreeID: got.WorktreeID, Warning: "The base is behind its remote.",
		Receipt: davit.Receipt{Mode: davit.Terminal, Preferred: davit.Terminal, Reason: davit.ReasonUserDefault,
			Detail: "There is no chat driver for Practice, so its default is a terminal; one was started."},
		Prompt:   &davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptHanded},
		Worktree: &davit.WorktreeRef{Path: s.path("worktrees", "topic"), Branch: "topic"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if tab, _, ok := intent.SplitPaneKey(o.PaneKey); !ok || tab != o.TabID || !strings.HasPrefix(o.Handle, "term_") {
		t.Errorf("outcome %+v", o)
	}
	s.wantAgents(t, hardText)
	r := s.asked[0]
	if r.Dir != s.path("worktrees", "topic") || !r.RemoveOnClose || r.Worktree == nil || r.Focus || r.Operation != in.OperationID || r.Placement == nil || !r.Practice {
		t.Errorf("asked for %+v", r)
	}
	if diff := cmp.Diff([]davit.Launched{{Agent: "practice", Mode: davit.Terminal, LaunchSource: "cli"}}, events); diff != "" {
		t.Error(diff)
	}
	wantSame(t, x, in, got)
	s.wantAgents(t, hardText)
	if len(events) != 1 {
		t.Errorf("a replay told %d events", len(events)-1)
	}
}

func TestWithoutAnIDThereIsNoReplay(t *testing.T) { // spec launch L1
	s := newStage(t)
	db := s.store(t)
	x := s.executor(t, db)
	in := s.existing(1)
	in.OperationID = ""
	for range 2 {
		if _, err := x.Launch(t.Context(), local, in); err != nil {
			t.Fatal(err)
		}
	}
	s.wantAgents(t, hardText, hardText)
	if _, err := x.Replay(t.Context(), local, in); davit.CodeOf(err) != davit.CodeOperationInvalid {
		t.Error(err)
	}
	if rows, err := db.Unsettled(t.Context()); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
}

func TestChatIsAskedFor(t *testing.T) { // spec launch L3.2 row 3: no driver yet
	s := newStage(t)
	in := s.existing(1)
	in.Surface = davit.Structured
	got, err := s.executor(t, s.store(t)).Launch(t.Context(), local, in)
	want := davit.Receipt{Mode: davit.Terminal, Preferred: davit.Structured, Reason: davit.ReasonNoDriver,
		Detail: "You asked for a chat, but there is no chat driver for Practice; a terminal was started instead."}
	if diff := cmp.Diff(want, got.Receipt); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
}

// TestRefusedBeforeAnythingIsMade: each leaves no agent, and an id that is still free.
func TestRefusedBeforeAnythingIsMade(t *testing.T) {
	s := newStage(t)
	s.command = func(in CommandInput, c *Command) {}
	x := s.executor(t, s.store(t))
	for name, c := range map[string]struct {
		change func(*davit.Intent)
		code   davit.Code
	}{
		"unknown agent": {func(i *davit.Intent) { i.Agent = "nobody" }, davit.CodeAgentUnknown},
		"other host":    {func(i *davit.Intent) { i.Host = "h_other" }, davit.CodeNotServedYet},
		"reuse":         {func(i *davit.Intent) { i.ReuseTerminal = &davit.ReuseTerminal{Handle: " "} }, davit.CodeInvalid},
		"malformed id":  {func(i *davit.Intent) { i.OperationID = "7" }, davit.CodeOperationInvalid},
		"from the future": {func(i *davit.Intent) {
			i.OperationID = fmt.Sprintf("%013d-%032x", time.Now().Add(6*time.Minute).UnixMilli(), 1)
		}, davit.CodeOperationInvalid},
		"old": {func(i *davit.Intent) {
			i.OperationID = fmt.Sprintf("%013d-%032x", time.Now().Add(-25*time.Hour).UnixMilli(), 1)
		}, davit.CodeOperationExpired},
	} {
		t.Run(name, func(t *testing.T) {
			in := s.existing(1)
			prompt := *in.Prompt
			in.Prompt = &prompt
			c.change(&in)
			_, err := x.Launch(t.Context(), local, in)
			if e := wantCode(t, err, c.code); e.Hint == "" && c.code != davit.CodeAgentUnknown {
				t.Error("there is no hint")
			}
			s.wantAgents(t)
		})
	}
}

func TestIdenticalCallsShareOneAnswer(t *testing.T) { // spec launch L6.3
	s := newStage(t)
	inside, release := make(chan struct{}), make(chan struct{})
	s.open = func(TerminalRequest) { close(inside); <-release }
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	results := make(chan string, 9)
	ask := func(do func() (davit.Result, error)) {
		go func() {
			got, err := do()
			if err != nil {
				results <- err.Error()
				return
			}
			results <- string(intent.Encode(got))
		}()
	}
	ask(func() (davit.Result, error) { return x.Launch(context.Background(), local, in) })
	<-inside
	for _, do := range append(asks(x, in), asks(x, in)...) {
		ask(do)
	}
	other := in
	other.Prompt = nil
	if _, err := x.Launch(t.Context(), local, other); davit.CodeOf(err) != davit.CodeOperationConflict {
		t.Error("another launch under the id in flight:", err)
	}
	if _, err := x.Replay(t.Context(), local, other); davit.CodeOf(err) != davit.CodeOperationConflict {
		t.Error("another replay under the id in flight:", err)
	}
	close(release)
	first := <-results
	for range 8 {
		if next := <-results; next != first {
			t.Errorf("%s\nand %s", first, next)
		}
	}
	if _, err := x.Launch(t.Context(), local, other); davit.CodeOf(err) != davit.CodeOperationConflict {
		t.Error("another launch under the id afterwards:", err)
	}
	s.wantAgents(t, hardText)
}

func TestIDsOfCallersAreApart(t *testing.T) { // spec launch L6.1
	s := newStage(t)
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	for _, caller := range []Caller{local, {Key: "phone"}} {
		if _, err := x.Launch(t.Context(), caller, in); err != nil {
			t.Fatal(err)
		}
	}
	s.wantAgents(t, hardText, hardText)
	if _, err := x.ReplayStored(t.Context(), Caller{Key: "stranger"}, in.OperationID); davit.CodeOf(err) != davit.CodeNotFound {
		t.Error(err)
	}
}

func TestLaunchOutlivesItsCaller(t *testing.T) { // spec launch L5.9
	s := newStage(t)
	inside, release := make(chan struct{}), make(chan struct{})
	s.open = func(TerminalRequest) { close(inside); <-release }
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { _, err := x.Launch(ctx, local, in); gone <- err }()
	<-inside
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(release)
	if _, err := x.Launch(t.Context(), local, in); err != nil {
		t.Fatal(err)
	}
	s.wantAgents(t, hardText)
}

func TestDrainWaits(t *testing.T) {
	s := newStage(t)
	inside, release := make(chan struct{}), make(chan struct{})
	s.open = func(TerminalRequest) { close(inside); <-release }
	x := s.executor(t, s.store(t))
	answered := make(chan error, 1)
	go func() { _, err := x.Launch(context.Background(), local, s.existing(1)); answered <- err }()
	<-inside
	drained := make(chan struct{})
	go func() { x.Drain(context.Background()); close(drained) }()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.drained, "it still takes launches"
	})
	if _, err := x.Launch(t.Context(), local, s.existing(2)); davit.CodeOf(err) != davit.CodeShuttingDown {
		t.Error("taken while it drains:", err)
	}
	select {
	case <-drained:
		t.Fatal("it did not wait for the launch")
	default:
	}
	close(release)
	<-drained
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	s.wantAgents(t, hardText)
}

func TestThePromptThatDoesNotRideIsPasted(t *testing.T) { // spec launch L7
	s := newStage(t)
	in := s.existing(1)
	in.Prompt = &davit.Prompt{Text: strings.Repeat("x", rides), Delivery: "submit"}
	got, err := s.executor(t, s.store(t)).Launch(t.Context(), local, in)
	if err != nil || got.Prompt.Outcome != davit.PromptHanded {
		t.Fatalf("the longest: %+v %v", got.Prompt, err)
	}
	s.wantAgents(t, in.Prompt.Text)
}

func TestAccountEnvReachesTheAgentAndNothingElse(t *testing.T) { // spec launch L1
	s := newStage(t)
	const secret = "sk-very-secret-0123456789"
	s.command = func(_ CommandInput, c *Command) {
		c.Argv = []string{"/bin/sh", "-c", `test "$ACCOUNT" = ` + secret + ` && printf seen > "$AGENTS/$PANE" && printf '%s\n' "$PANE" >> "$AGENTS/../started"`}
		c.PromptRides = true
	}
	db := s.store(t)
	x := s.executor(t, db)
	in := s.existing(1)
	in.AccountEnv = map[string]string{"ACCOUNT": secret}
	if _, err := x.Launch(t.Context(), local, in); err != nil {
		t.Fatal(err)
	}
	s.wantAgents(t, "seen")
	// Another account under the same id is another launch.
	in.AccountEnv = map[string]string{"ACCOUNT": "other"}
	if _, err := x.Launch(t.Context(), local, in); davit.CodeOf(err) != davit.CodeOperationConflict {
		t.Error(err)
	}
	files, err := filepath.Glob(s.path("davit.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), secret) {
			t.Errorf("%s has it in clear", file)
		}
	}
}

// TestOrderOfWork looks at what is there at each arrow.
func TestOrderOfWork(t *testing.T) { // spec launch L5
	s := newStage(t)
	db := s.store(t)
	in := s.worktree(1, "w")
	var got []string
	s.failpoint = func(name string) {
		row, ok, err := db.Operation(context.Background(), local.Key, in.OperationID)
		if err != nil {
			t.Error(err)
		}
		state := "-"
		if ok {
			state = string(row.State)
		}
		_, made := os.Stat(s.path("worktrees", "w"))
		got = append(got, fmt.Sprintf("%s: row %s, plan %v, worktree %v, agents %d", name, state, len(row.Result) > 0, made == nil, len(s.agents(t))))
	}
	if _, err := s.executor(t, db).Launch(t.Context(), local, in); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"after-validate: row -, plan false, worktree false, agents 0",
		"after-claim: row unknown, plan false, worktree false, agents 0",
		"after-resolve: row unknown, plan false, worktree false, agents 0",
		"after-half1: row unknown, plan false, worktree false, agents 0",
		"after-create: row unknown, plan false, worktree true, agents 0",
		"after-half2: row unknown, plan false, worktree true, agents 0",
		"surface-before-spawn: row unknown, plan true, worktree true, agents 0",
		"surface-after-spawn: row unknown, plan true, worktree true, agents 1",
		"after-surface: row unknown, plan true, worktree true, agents 1",
		"after-record: row recorded, plan true, worktree true, agents 1",
		"after-deliver: row recorded, plan true, worktree true, agents 1",
		"after-settle: row settled, plan true, worktree true, agents 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestFolderTarget(t *testing.T) { // spec launch L5.5
	s := newStage(t)
	in := s.existing(1)
	in.Target = davit.Target{Kind: davit.TargetFolder, Create: intent.Encode(davit.CreateFolder{Path: s.path("repo")})}
	in.Cwd = "sub"
	got, err := s.executor(t, s.store(t)).Launch(t.Context(), local, in)
	if err != nil || s.asked[0].Dir != s.path("repo", "sub") || got.WorktreeID != "folder:"+s.path("repo") {
		t.Fatal(got, err)
	}
}

func TestPanicEndsOneLaunch(t *testing.T) {
	s := newStage(t)
	var once sync.Once
	s.open = func(TerminalRequest) { once.Do(func() { panic("boom") }) }
	x := s.executor(t, s.store(t))
	in := s.existing(1)
	_, err := x.Launch(t.Context(), local, in)
	wantCode(t, err, davit.CodeInternal)
	_, err = x.Launch(t.Context(), local, in)
	wantCode(t, err, davit.CodeOperationUnknown)
	if _, err := x.Launch(t.Context(), local, s.existing(2)); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkLaunch is a whole launch but for the surface, by 16 callers at once.
func BenchmarkLaunch(b *testing.B) {
	s := newStage(b)
	x := s.executor(b, s.store(b))
	x.cfg.Surfaces = instant{s}
	b.SetParallelism(8)
	var n sync.Mutex
	next := 0
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.Lock()
			next++
			in := s.existing(next)
			n.Unlock()
			if _, err := x.Launch(context.Background(), local, in); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "launches/s")
}

type instant struct{ *stage }

func (instant) OpenTerminal(_ context.Context, r TerminalRequest) (TerminalOpened, error) {
	return TerminalOpened{Handle: TerminalHandle(r.Pane, "")}, nil
}
