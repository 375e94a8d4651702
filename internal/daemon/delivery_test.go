package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/paste"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// deliveries is how many prompts are delivered: DAVIT_DELIVERIES, or one of each kind.
func deliveries(t *testing.T) int {
	text := os.Getenv("DAVIT_DELIVERIES")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("DAVIT_DELIVERIES=%q is not a number of prompts", text)
	}
	return n
}

// composerFaults are the ways of the composer to misbehave, and whether a text reaches it
// by a paste all the same.
var composerFaults = []struct {
	name    string
	arrives bool
}{
	{"none", true}, {"absorb", true}, {"mount-late", true}, {"early-paste", true}, {"dialog", true}, {"swallow", false}, {"no-effect", true},
	{"exit", false}, {"exit-mid", false}, {"shell", false}, {"shell-mid", false}, {"placeholder", true}, {"redraw", true}, {"slow", true}, {"title", true},
}

// payload is a text of n bytes with all that a shell, a terminal or a frame would make
// something else of.
func payload(kind, n int, r *rand.Rand) string {
	switch {
	case n <= 10:
		return []string{"it's \"a\" b", "\nhi $(x) \\", "🙂 say: ü", "--help me"}[kind%4]
	case kind%5 == 4:
		return strings.Repeat("one line of words ", 300)[:4096-4] + " end"
	}
	hard := []string{"it's \"quoted\"", "$(touch pwned); `touch pwned`", "emoji 🙂👩‍💻 ü", "\x1b[201~ESC\x1b[31m", "\ttabs\\", "-dash %s {{x}}", "CR\rLF\r\nend", "touch pwned"}
	var b strings.Builder
	if kind%2 == 0 {
		b.WriteString("\n\n") // leading newlines
	}
	for b.Len() < n-40 {
		fmt.Fprintf(&b, "%d %s\n", r.IntN(1000), hard[r.IntN(len(hard))])
	}
	b.WriteString("the end of it " + strings.Repeat("z", max(0, n-b.Len()-16)) + ` \`) // at 100 kB the last that rides a command line, or one that just does not
	return b.String()
}

// delivery is one launch and what has to become of its prompt.
type delivery struct {
	n            int
	fault, route string // argv, paste, draft
	text         string
	arrives      bool
	out, id      string // id of the operation
	result       davit.Result
	err          error
}

// hidden: the frame's first byte was lost, and the composer shows the end of the text
// alone. Nobody can tell, so it is submitted with the rest of the mark before it: the one
// case known in which a text arrives, once and whole, with something added.
func (d *delivery) hidden() bool {
	return d.fault == "swallow" && d.route != "argv" && strings.Count(d.text, "\n")+len(d.text)/60 > 5
}

func (d *delivery) String() string {
	return fmt.Sprintf("%d: %s, %d bytes by %s", d.n, d.fault, len(d.text), d.route)
}

// TestDelivery launches a scripted agent that misbehaves, with texts of all sizes, on its
// command line and by pastes. Its own record of what it got has to agree with the receipt:
// nothing that was handed over is lost, nothing arrives twice, in parts or as something
// else, and what was not delivered was not submitted (spec launch L2.2, L7).
func TestDelivery(t *testing.T) {
	if os.Getenv("DAVIT_DELIVERIES") == "" {
		t.Parallel()
	}
	s := newComposerScene(t)
	s.up()
	total := deliveries(t)
	r := rand.New(rand.NewPCG(uint64(total), 7))
	all := make([]*delivery, total)
	sizes := []int{10, 1000, 20_000, 100_000}
	for i := range all {
		f := composerFaults[i%len(composerFaults)]
		d := &delivery{n: i, fault: f.name, arrives: f.arrives, route: []string{"paste", "paste", "argv", "draft"}[(i/len(composerFaults)+i)%4], out: filepath.Join(s.dir, fmt.Sprintf("got-%d", i))}
		size := sizes[i%len(sizes)]
		if total > 60 {
			size = sizes[r.IntN(len(sizes))]
		}
		d.text = payload(r.IntN(20), size, r)
		if d.route == "argv" && len(d.text) <= 100_000 { // a longer one is pasted
			d.arrives = true
		}
		all[i] = d
	}
	slots := make(chan struct{}, 12)
	var wait sync.WaitGroup
	for _, d := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			s.deliver(d)
			s.judgeReceipt(d)
			if total > 60 && d.result.Outcome.TabID != "" { // so many would keep the machine busy
				s.judgeArrival(d)
				closing := wire.TabClose{Tabs: []davit.TabID{d.result.Outcome.TabID}, Yes: true}
				if err := s.client.Call(t.Context(), "tab.close", closing, nil); err != nil {
					t.Errorf("%s: close its tab: %v", d, err)
				}
			}
		})
	}
	wait.Wait()
	lost, told := 0, map[davit.PromptOutcome]int{}
	for _, d := range all { // again: nothing has come late, or twice
		lost += s.judgeArrival(d)
		if d.result.Prompt != nil {
			told[d.result.Prompt.Outcome]++
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "pwned")); err == nil {
		t.Error("a part of a prompt was run by a shell")
	}
	t.Logf("%d deliveries: %v; %d lost, doubled, split or changed", total, told, lost)
	s.down()
}

// newComposerScene is a scene with the scripted agent, once with its prompt on its command
// line and once pasted.
func newComposerScene(t *testing.T) *scene {
	s := newScene(t)
	composer := filepath.Join(filepath.Dir(s.davit), "composer")
	var b strings.Builder
	for id, mode := range map[string]string{"by-argv": "argv-dashdash", "by-paste": "stdin-after-start"} {
		fmt.Fprintf(&b, "[agents.%s]\ndetect = [%q]\nargv = [%q]\nprompt = %q\n[agents.%s.ready]\nscreen = ['^│ >']\npaste = true\n[agents.%s.titles]\nworking = '^working'\n", id, composer, composer, mode, id, id)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "home", "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "home", "config", "agents.toml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) deliver(d *delivery) {
	d.id = fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), d.n)
	in := davit.Intent{
		Agent: "by-paste", OperationID: d.id, Surface: davit.Terminal,
		Target:    davit.Target{Kind: davit.TargetFolder, Create: json.RawMessage(fmt.Sprintf(`{"path":%q}`, s.dir))},
		Prompt:    &davit.Prompt{Text: d.text, Delivery: "submit"},
		AgentArgs: davit.OptionalString{Present: true, Value: d.out + " " + d.fault},
	}
	switch d.route {
	case "argv":
		in.Agent = "by-argv"
	case "draft":
		in.Prompt.Delivery = "draft"
	}
	d.err = s.client.Call(s.t.Context(), "agent.launch", in, &d.result)
}

// judgeReceipt: what is answered is known of each fault.
func (s *scene) judgeReceipt(d *delivery) {
	if d.err != nil || d.result.Prompt == nil {
		s.t.Errorf("%s: %v", d, d.err)
		return
	}
	p, warning := *d.result.Prompt, d.result.Warning
	if d.hidden() && p.Outcome == davit.PromptHanded {
		d.arrives = true
	}
	want := davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptNotDelivered}
	switch {
	case d.route == "draft":
		want.Delivery, want.DraftPlaced = "draft", d.arrives || d.hidden() && p.DraftPlaced
	case d.arrives:
		want.Outcome = davit.PromptHanded
	}
	if p != want {
		s.t.Errorf("%s: %+v %q, want %+v", d, p, warning, want)
	}
	if !d.arrives && warning == "" || d.fault == "no-effect" && d.route == "paste" && !strings.Contains(warning, "Nothing was seen") {
		s.t.Errorf("%s: nothing is said: %q", d, warning)
	}
	s.judgeArrival(d)
}

// judgeArrival holds the program's own record to the receipt.
func (s *scene) judgeArrival(d *delivery) int {
	var want []string
	if d.result.Prompt != nil && d.result.Prompt.Outcome == davit.PromptHanded {
		text := d.text
		if d.route != "argv" || len(text) > 100_000 {
			text = string(paste.Frame(text))
			text = text[len("\x1b[200~") : len(text)-len("\x1b[201~")]
		}
		want = []string{text}
		testenv.Eventually(s.t, patience, func() (bool, string) { return len(received(d.out)) > 0, d.String() + ": lost" })
	}
	got := received(d.out)
	if slices.Equal(got, want) || d.hidden() && len(got) == 1 && len(want) == 1 && got[0] == "[200~"+want[0] {
		return 0
	}
	s.t.Errorf("%s: it got %d prompts, %.120q; want %d, %.120q (%s)", d, len(got), got, len(want), want, d.result.Warning)
	return 1
}

func received(file string) (prompts []string) {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return []string{err.Error()}
	}
	for line := range bytes.Lines(data) {
		var text string
		if json.Unmarshal(line, &text) == nil {
			prompts = append(prompts, text)
		}
	}
	return prompts
}

// TestReusedTerminal: a running agent gets one prompt after the other, each once, by the
// handle of its launch or by its pane; two at the same time do not mix. When the agent is
// gone from its terminal, that is refused (spec launch L5.2, L7.3).
func TestReusedTerminal(t *testing.T) {
	t.Parallel()
	s := newComposerScene(t)
	s.up()
	d := &delivery{n: 1, fault: "none", route: "paste", text: "the first", arrives: true, out: filepath.Join(s.dir, "got")}
	s.deliver(d)
	s.judgeReceipt(d)
	_, pane, _ := strings.Cut(string(d.result.Outcome.PaneKey), ":")
	again := func(n int, handle, text string) (r davit.Result, err error) {
		err = s.client.Call(t.Context(), "agent.launch", davit.Intent{
			Agent: "by-paste", OperationID: fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), n), Target: davit.Target{Kind: davit.TargetExisting, Worktree: "active"},
			ReuseTerminal: &davit.ReuseTerminal{Handle: handle}, Prompt: &davit.Prompt{Text: text, Delivery: "submit"},
		}, &r)
		return r, err
	}
	want := []string{"the first"}
	var wait sync.WaitGroup
	for i, handle := range []string{d.result.Outcome.Handle, pane, pane} {
		text := strings.Repeat(fmt.Sprintf("text %d\n", i), 500) + "end of " + strconv.Itoa(i)
		want = append(want, text)
		wait.Go(func() {
			r, err := again(10+i, handle, text)
			if err != nil || r.Prompt.Outcome != davit.PromptHanded || r.Receipt.Mode != davit.Terminal || r.Outcome.PaneKey != d.result.Outcome.PaneKey || r.Outcome.Handle != d.result.Outcome.Handle {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	wait.Wait()
	got := received(d.out)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it got %.60q", got)
	}
	other, err := again(20, "term_nobody", "x")
	if davit.CodeOf(err) != davit.CodeLaunchReuseNotRunning {
		t.Errorf("%+v %v", other, err)
	}
	gone := &delivery{n: 2, fault: "shell", route: "paste", text: "x", out: filepath.Join(s.dir, "gone")}
	s.deliver(gone)
	s.judgeReceipt(gone)
	if _, err := again(21, gone.result.Outcome.Handle, "touch pwned"); davit.CodeOf(err) != davit.CodeLaunchReuseNotRunning || !strings.Contains(err.Error(), "a shell") {
		t.Errorf("a shell was reused: %v", err)
	}
	s.down()
}

// TestHostIsKilledInAPaste: the host kills itself at each step of a paste. Whoever asks
// again is told that nobody knows, and the text is in the terminal at most once.
func TestHostIsKilledInAPaste(t *testing.T) { // spec launch L6.3, L7.2
	t.Parallel()
	s := newComposerScene(t)
	plain := s.env
	for i, point := range []string{"paste-before-write", "paste-after-text", "paste-after-enter"} {
		s.env = append(slices.Clone(plain), "DAVIT_FAILPOINT="+point)
		s.up()
		d := &delivery{n: i, fault: "none", route: "paste", text: "at " + point, out: filepath.Join(s.dir, "got-"+point)}
		s.deliver(d)
		var exit *exec.ExitError
		if err := s.host.Wait(); davit.CodeOf(d.err) != davit.CodeHostDown || !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("%s: the host lived: %v %v", point, d.err, err)
		}
		s.env = plain
		s.up()
		for range 2 {
			d.result = davit.Result{}
			err := s.client.Call(t.Context(), "agent.replayStored", wire.ReplayRequest{OperationID: d.id}, &d.result)
			if err != nil || d.result.Prompt == nil || d.result.Prompt.Outcome != davit.PromptUnconfirmed {
				t.Errorf("%s: %+v %v", point, d.result, err)
			}
		}
		arrives := 0
		if point == "paste-after-enter" {
			arrives = 1
			testenv.Eventually(t, patience, func() (bool, string) { return len(received(d.out)) == 1, point + ": it did not arrive" })
		}
		if got := received(d.out); len(got) != arrives {
			t.Errorf("%s: it got %q", point, got)
		}
		s.kill()
	}
	s.up()
	s.down()
}
