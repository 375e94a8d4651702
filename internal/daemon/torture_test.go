package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/client"
	"davit/internal/launch"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// tortures is how many operations are launched: DAVIT_TORTURE, or a number that fits a
// test run.
func tortures(t *testing.T) int {
	if text := os.Getenv("DAVIT_TORTURE"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DAVIT_TORTURE=%q is not a number of operations", text)
		}
		return n
	}
	if testing.Short() {
		return 20
	}
	if raceDetector { // everything takes several times as long
		return 60
	}
	return 100
}

// TestTorture launches at random, several operations at a time and each by up to twenty
// callers, some of whom vanish; the host dies at a named point, at a random moment, or is
// asked to stop, and so does the keeper; old operations are asked for again in every way.
// A model holds what each operation has answered so far, and the world is compared with
// it: never two agents for one operation, never a prompt twice, never a worktree that no
// answer names, and no answer that takes back what another said (spec launch L5, L6).
func TestTorture(t *testing.T) {
	testenv.Require(t, "git")
	m := &torture{launchScene: newLaunchScene(t)}
	m.up()
	total := tortures(t)
	for len(m.ops) < total {
		m.round()
		if t.Failed() {
			t.Fatalf("after %d operations; the trace ends:\n%s", len(m.ops), strings.Join(m.trace[max(0, len(m.trace)-40):], "\n"))
		}
	}
	m.settle("at the end")
	t.Logf("%d operations by %d calls: %d started, %d unknown, %d refused; the host ended %d times at a point, %d times at a moment, %d times when asked; the keeper %d times",
		len(m.ops), m.calls.n, m.count(told), m.count(unknown), m.count(refused), m.points, m.moments, m.stops, m.keepers)
	m.down()
}

// verdict is what is known of an operation. It only ever grows.
type verdict int

const (
	open    verdict = iota // no answer yet
	unknown                // nobody can tell
	refused                // nothing ran
	told                   // a receipt
)

// operation is the model of one launch.
type operation struct {
	in       davit.Intent
	dir      string // where its agent starts: no other operation's does
	worktree bool
	said     verdict
	result   davit.Result
	lossy    bool // its keeper was killed: what ran may be gone before it wrote a word
	resolved bool // it was looked at for good
}

type torture struct {
	*launchScene
	ops                             []*operation
	trace                           []string
	points, moments, stops, keepers int
	calls                           counter
}

// counter counts from many goroutines.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (m *torture) note(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

func (m *torture) count(v verdict) (n int) {
	for _, o := range m.ops {
		if o.said == v {
			n++
		}
	}
	return n
}

// next makes an operation of a random kind with a place of its own.
func (m *torture) next() *operation {
	n := len(m.ops)
	o := &operation{in: davit.Intent{
		Agent: "practice", OperationID: fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), m.rand.Uint64()), LaunchSource: "api",
		Surface: []davit.Surface{davit.Terminal, davit.Structured}[m.rand.IntN(2)],
	}}
	switch m.rand.IntN(5) {
	case 0: // none
	case 1:
		o.in.Prompt = &davit.Prompt{Text: fmt.Sprintf("draft %d", n), Delivery: "draft"}
	default:
		o.in.Prompt = &davit.Prompt{Text: fmt.Sprintf("prompt %d", n), Delivery: "submit"}
	}
	switch m.rand.IntN(3) {
	case 0:
		o.worktree = true
		o.in.Target = davit.Target{Kind: davit.TargetWorktree, Create: json.RawMessage(fmt.Sprintf(`{"repo":%q,"name":"w%d"}`, "path:"+m.repo, n))}
	default:
		o.dir = filepath.Join(m.dir, "places", fmt.Sprintf("p%d", n))
		if err := os.MkdirAll(o.dir, 0o700); err != nil {
			m.t.Fatal(err)
		}
		o.in.Target = davit.Target{Kind: davit.TargetExisting, Worktree: "folder:" + o.dir}
		if m.rand.IntN(2) == 0 {
			o.in.Target = davit.Target{Kind: davit.TargetFolder, Create: json.RawMessage(fmt.Sprintf(`{"path":%q}`, o.dir))}
		}
	}
	m.ops = append(m.ops, o)
	return o
}

// round launches a few operations while something may happen to the host, and then asks
// for some of all operations again.
func (m *torture) round() {
	end := m.rand.IntN(10)
	point := ""
	if end < 4 {
		points := append(launch.Failpoints(), "chat-before-spawn", "chat-after-spawn", "chat-message-stored")
		point = points[m.rand.IntN(len(points))]
		m.restart("to die "+point, append(slices.Clone(m.plain), "DAVIT_FAILPOINT="+point))
	}
	var batch []*operation
	for range 1 + m.rand.IntN(3) {
		batch = append(batch, m.next())
	}
	answers := m.launch(batch)
	died := false
	if end == 4 || end == 5 {
		m.letLive(time.Now(), 400*time.Millisecond)
		m.note("the host is killed")
		m.moments++
		m.kill()
		died = true
	}
	if end == 6 {
		m.letLive(time.Now(), 400*time.Millisecond)
		m.killKeeper()
	}
	given := answers()
	if point != "" && m.ended() {
		m.note("the host died %s", point)
		m.points++
		died = true
	}
	for i, o := range batch {
		m.judge(o, given[i], died || end == 6)
	}
	switch {
	case died:
		m.env = m.plain
		m.up()
	case point != "":
		m.restart("to live", m.plain)
	case end == 6 || end == 7:
		m.restart("when asked", m.plain)
	}
	for range 3 {
		m.again(m.ops[m.rand.IntN(len(m.ops))])
	}
	for _, o := range batch {
		m.again(o)
	}
	if len(m.ops)%25 < 3 {
		m.settle(fmt.Sprintf("after %d operations", len(m.ops)))
	}
}

// answer is what one call got.
type answer struct {
	result davit.Result
	err    error
}

// launch calls for each operation from several clients at once; some go away before they
// have their answer. It gives a function that waits for all that stay.
func (m *torture) launch(batch []*operation) func() [][]answer {
	given := make([][]answer, len(batch))
	var calls sync.WaitGroup
	for i, o := range batch {
		n := 1
		if m.rand.IntN(3) == 0 {
			n = 2 + m.rand.IntN(19)
		}
		m.note("launch %s %s %s by %d", o.in.OperationID, o.in.Surface, o.in.Target.Kind, n)
		given[i] = make([]answer, n)
		for k := range n {
			ctx, cancel := context.WithCancel(m.t.Context())
			if k > 0 && m.rand.IntN(4) == 0 {
				leaves := time.Duration(m.rand.IntN(200)) * time.Millisecond
				time.AfterFunc(leaves, cancel)
			}
			c := client.New(client.Config{Socket: m.scene.socket, Caller: wire.Caller{Dir: m.dir}})
			calls.Go(func() {
				defer cancel()
				m.calls.add()
				a := &given[i][k]
				a.err = c.Call(ctx, "agent.launch", o.in, &a.result)
				if ctx.Err() != nil {
					a.err = context.Canceled
				}
			})
		}
	}
	return func() [][]answer {
		calls.Wait()
		return given
	}
}

// ended says whether the host has ended by itself, as it does at its point. One that has
// answered every call without getting there lives.
func (m *torture) ended() bool {
	err := m.client.Call(m.t.Context(), "host.info", wire.None{}, nil)
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if err := m.host.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		m.t.Fatalf("the host ended by itself: %v", err)
	}
	return true
}

// restart asks the host to stop, and starts the next.
func (m *torture) restart(why string, env []string) {
	m.t.Helper()
	m.note("the host is started anew %s", why)
	m.stops++
	ended := make(chan error, 1)
	go func() { ended <- m.host.Wait() }()
	if out, err := m.command("down").CombinedOutput(); err != nil {
		m.t.Fatalf("down: %v\n%s", err, out)
	}
	if err := <-ended; err != nil {
		m.t.Fatalf("the host's end: %v", err)
	}
	m.env = env
	m.up()
}

// killKeeper ends the keeper as a crash would, and every program with it.
func (m *torture) killKeeper() {
	var info wire.HostInfo
	if err := m.client.Call(m.t.Context(), "host.info", wire.None{}, &info); err != nil || info.KeeperPid <= 1 {
		return
	}
	m.note("the keeper is killed")
	m.keepers++
	for _, o := range m.ops {
		o.lossy = true
	}
	_ = syscall.Kill(info.KeeperPid, syscall.SIGKILL)
}

// judge takes the answers of one operation's first calls. Those of callers that stayed
// agree; a call that the host's end cut off has none.
func (m *torture) judge(o *operation, given []answer, cut bool) {
	for _, a := range given {
		code := davit.CodeOf(a.err)
		switch {
		case errors.Is(a.err, context.Canceled), code == davit.CodeHostDown && cut:
		case cut && a.err != nil && (code == davit.CodeKeeperUnreachable || code == davit.CodeLaunchFailed || code == davit.CodeShuttingDown):
			m.learn(o, refused, davit.Result{}, a.err)
		default:
			m.take(o, a)
		}
	}
}

// take holds an answer against those before it.
func (m *torture) take(o *operation, a answer) {
	switch code := davit.CodeOf(a.err); {
	case a.err == nil:
		m.learn(o, told, a.result, nil)
	case code == davit.CodeOperationUnknown:
		m.learn(o, unknown, davit.Result{}, a.err)
	case code == davit.CodeKeeperUnreachable && o.lossy, code == davit.CodeLaunchFailed && o.lossy:
		m.learn(o, refused, davit.Result{}, a.err)
	default:
		m.t.Errorf("%s: %v", o.in.OperationID, a.err)
	}
}

// learn adds a verdict: a receipt is never taken back and never changes; what is refused
// stays refused; only what nobody knew may become known.
func (m *torture) learn(o *operation, v verdict, r davit.Result, err error) {
	switch {
	case o.said == told && v != told, o.said == refused && v != refused:
		m.t.Errorf("%s was %d and is %d now: %v", o.in.OperationID, o.said, v, err)
		return
	case o.said == told:
		a, b := bare(o.result, r), bare(r, o.result)
		if !bytes.Equal(a, b) {
			m.t.Errorf("%s answers\n%s\nand before\n%s", o.in.OperationID, b, a)
		}
	}
	if o.worktree && v != told && err != nil {
		if kept, ok := davit.AsError(err).Details["worktree"].(map[string]any); ok {
			o.dir, _ = kept["path"].(string)
		}
	}
	if v == told {
		o.result = r
		if r.Worktree != nil {
			o.dir = r.Worktree.Path
		}
	}
	o.said = v
}

// bare is a receipt without what is minted anew. A prompt of which one of the two answers
// says that it is unconfirmed is left out: it may turn out to be journaled.
func bare(r, other davit.Result) []byte {
	r.Outcome.Handle = ""
	for _, one := range []davit.Result{r, other} {
		if one.Prompt != nil && one.Prompt.Outcome == davit.PromptUnconfirmed {
			r.Prompt = nil
		}
	}
	out, _ := json.Marshal(r)
	return out
}

// again asks for an operation in every way; nothing is started by it but what never was.
func (m *torture) again(o *operation) {
	for _, name := range []string{"agent.launchReplay", "agent.replayStored", "agent.launch"} {
		var a answer
		m.calls.add()
		a.err = m.ask(m.client, name, o.in, &a.result)
		if davit.CodeOf(a.err) == davit.CodeNotFound && name != "agent.launch" && o.said == open {
			continue // the host died before the claim: it runs as new below
		}
		m.take(o, a)
	}
}

// settle compares the world with the model, and closes what is done so that agents do not
// pile up.
func (m *torture) settle(when string) {
	t := m.t
	t.Helper()
	var tabs []davit.TabID
	for _, o := range m.ops {
		if !o.resolved {
			m.look(o, when)
			o.resolved = true
			if o.said == told && o.result.Outcome.TabID != "" {
				tabs = append(tabs, o.result.Outcome.TabID)
			}
		}
	}
	m.worktrees(when)
	starts, prompts := m.started()
	for dir, n := range starts {
		if n > 1 {
			t.Errorf("%s: %d agents were started in %s", when, n, dir)
		}
	}
	for text, n := range prompts {
		if n > 1 {
			t.Errorf("%s: %q arrived %d times", when, text, n)
		}
	}
	for _, id := range tabs {
		var closed wire.TabClosed
		if err := m.client.Call(t.Context(), "tab.close", wire.TabClose{Tabs: []davit.TabID{id}, Yes: true}, &closed); err != nil && davit.CodeOf(err) != davit.CodeTabNotFound {
			t.Errorf("%s: close %s: %v", when, id, err)
		}
	}
}

// look holds one operation against what really ran.
func (m *torture) look(o *operation, when string) {
	t := m.t
	t.Helper()
	if o.said == open { // only a call that was cut off has asked so far
		m.again(o)
	}
	want := -1
	switch {
	case o.said == told && !o.lossy:
		want = 1
	case o.said == refused:
		want = 0
	}
	if want >= 0 && o.dir != "" {
		testenv.Eventually(t, patience, func() (bool, string) {
			starts, _ := m.started()
			return starts[o.dir] == want, fmt.Sprintf("%s: %s was answered %d, and %d agents were started in %s", when, o.in.OperationID, o.said, starts[o.dir], o.dir)
		})
	}
	if o.said != told || o.in.Prompt == nil || o.result.Prompt == nil {
		return
	}
	arrives := -1
	switch o.result.Prompt.Outcome {
	case davit.PromptHanded, davit.PromptJournaled:
		arrives = 1
	case davit.PromptNotDelivered:
		arrives = 0
	}
	if arrives < 0 || arrives == 1 && o.lossy {
		return
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		_, prompts := m.started()
		return prompts[o.in.Prompt.Text] == arrives, fmt.Sprintf("%s: %s says %s, and %q arrived %d times",
			when, o.in.OperationID, o.result.Prompt.Outcome, o.in.Prompt.Text, prompts[o.in.Prompt.Text])
	})
}

// worktrees: each that git has belongs to an operation that names it, and each that was
// named is there.
func (m *torture) worktrees(when string) {
	cmd := exec.Command("git", "-C", m.repo, "worktree", "list", "--porcelain", "-z")
	cmd.Env = m.plain
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatal(err)
	}
	there := map[string]bool{}
	for _, field := range strings.Split(string(out), "\x00") {
		if path, ok := strings.CutPrefix(field, "worktree "); ok && path != m.repo {
			there[path] = true
		}
	}
	for _, o := range m.ops {
		if !o.worktree {
			continue
		}
		if o.dir == "" {
			continue
		}
		if !there[o.dir] {
			m.t.Errorf("%s: %s names the worktree %s, which is not there", when, o.in.OperationID, o.dir)
		}
		delete(there, o.dir)
	}
	for path := range there {
		m.t.Errorf("%s: no answer names the worktree %s", when, path)
	}
}

// started counts by the transcript how many agents began in each directory, and how often
// each prompt arrived.
func (m *torture) started() (starts, prompts map[string]int) {
	data, err := os.ReadFile(m.transcript)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Fatal(err)
	}
	starts, prompts = map[string]int{}, map[string]int{}
	for line := range bytes.Lines(data) {
		var e struct{ Event, Text string }
		if json.Unmarshal(line, &e) != nil {
			continue // half written
		}
		switch e.Event {
		case "start":
			starts[e.Text]++
		case "prompt":
			prompts[e.Text]++
		}
	}
	return starts, prompts
}
