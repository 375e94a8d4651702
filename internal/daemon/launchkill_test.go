package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/client"
	"davit/internal/launch"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// TestHostIsKilledAtEachArrowOfALaunch: the real host kills itself with SIGKILL at the
// named point of a launch; the next one is asked for the same launch in every way. What
// it answers is the table of L6.3, and no agent is ever started twice: the practice
// agent's transcript has each start, and each prompt that reached it.
func TestHostIsKilledAtEachArrowOfALaunch(t *testing.T) { // spec launch L5, L6.3, L6.4, L6.5
	testenv.Require(t, "git")
	for _, surface := range []davit.Surface{davit.Terminal, davit.Structured} {
		points := launch.Failpoints()
		if surface == davit.Structured {
			points = append(points, "chat-before-spawn", "chat-after-spawn", "chat-message-stored")
		}
		for _, target := range []davit.TargetKind{davit.TargetExisting, davit.TargetWorktree} {
			t.Run(string(surface)+" "+string(target), func(t *testing.T) {
				t.Parallel()
				s := newLaunchScene(t)
				for _, point := range points {
					if (testing.Short() || raceDetector) && target == davit.TargetWorktree && !slices.Contains(worktreePoints, point) {
						continue // as with an existing workspace
					}
					s.killAt(point, surface, target)
				}
				s.up()
				s.wantStarts("at the end")
				s.down()
			})
		}
	}
}

// worktreePoints are those around which a worktree changes what is answered.
var worktreePoints = []string{"after-half1", "after-create", "after-half2", "after-record"}

// launchScene is a scene with a repository and the practice agent's transcript.
type launchScene struct {
	*scene
	repo, transcript string
	plain            []string // the environment without a failpoint
	starts           int      // of agents, that there should have been
}

func newLaunchScene(t *testing.T) *launchScene {
	s := &launchScene{scene: newScene(t)}
	s.repo, s.transcript = filepath.Join(s.dir, "repo"), filepath.Join(s.dir, "transcript.jsonl")
	profile := "export DAVIT_PRACTICE_TRANSCRIPT='" + s.transcript + "'\n" // agents get the login shell's environment
	if err := os.WriteFile(filepath.Join(s.dir, ".profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.invalid", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.invalid")
	s.plain = s.env
	for _, args := range [][]string{{"init", "-q", "-b", "main", s.repo}, {"-C", s.repo, "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return s
}

// killAt launches into a host that dies at the point, and asks the next one.
func (s *launchScene) killAt(point string, surface davit.Surface, target davit.TargetKind) {
	t := s.t
	t.Helper()
	in := davit.Intent{
		Agent: "practice", OperationID: fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), s.rand.Uint64()), Surface: surface,
		Target: davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + s.repo},
		Prompt: &davit.Prompt{Text: "at " + point, Delivery: "submit"},
	}
	if target == davit.TargetWorktree {
		in.Target = davit.Target{Kind: target, Create: json.RawMessage(fmt.Sprintf(`{"repo":%q,"name":%q}`, "path:"+s.repo, point))}
	}
	s.env = append(slices.Clone(s.plain), "DAVIT_FAILPOINT="+point)
	s.up()
	err := s.client.Call(t.Context(), "agent.launch", in, nil)
	if davit.CodeOf(err) != davit.CodeHostDown {
		t.Fatalf("%s: the host lived: %v", point, err)
	}
	var exit *exec.ExitError
	if err := s.host.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("%s: the host was not killed: %v", point, err)
	}
	s.env = s.plain
	s.up()
	s.judge(point, in, target == davit.TargetWorktree)
	s.wantStarts(point)
	s.kill() // the next one starts with what this one left
}

// judge holds the answers to the table of L6.3.
func (s *launchScene) judge(point string, in davit.Intent, worktree bool) {
	t, chat := s.t, in.Surface == davit.Structured
	t.Helper()
	switch point {
	case "after-validate":
		for _, name := range []string{"agent.launchReplay", "agent.replayStored"} {
			if err := s.ask(s.client, name, in, nil); davit.CodeOf(err) != davit.CodeNotFound {
				t.Errorf("%s: %s answers %v", point, name, err)
			}
		}
	case "after-claim", "after-resolve", "after-half1", "after-create", "after-half2":
		made := worktree && (point == "after-create" || point == "after-half2")
		for _, name := range []string{"agent.launch", "agent.launchReplay", "agent.replayStored"} {
			s.wantUnknown(point, name, s.ask(s.client, name, in, nil), made)
		}
		s.wantPrompt(in.Prompt.Text, 0)
		return
	}
	var first davit.Result
	if err := s.ask(s.client, "agent.launch", in, &first); err != nil {
		t.Fatalf("%s: %v", point, err)
	}
	s.starts++
	want := davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptHanded}
	arrives := 1
	if chat {
		want = davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptJournaled, MessageID: in.OperationID}
		if slices.Contains([]string{"chat-before-spawn", "chat-after-spawn", "after-surface", "after-record"}, point) {
			want, arrives = davit.PromptReceipt{Delivery: "submit", Outcome: davit.PromptUnconfirmed}, 0
			old := client.New(client.Config{Socket: s.socket(), Caller: wire.Caller{Dir: s.dir}, Capabilities: []string{davit.CapLaunch, davit.CapRenderChat}})
			for _, name := range []string{"agent.launch", "agent.launchReplay", "agent.replayStored"} {
				s.wantUnknown(point, name, s.ask(old, name, in, nil), worktree)
			}
		}
	}
	if first.Outcome.Kind != in.Surface || first.Outcome.Handle == "" || chat != (first.Outcome.SessionID != "") || first.Prompt == nil || *first.Prompt != want {
		t.Errorf("%s: %+v %+v, want %+v", point, first.Outcome, first.Prompt, want)
	}
	for _, name := range []string{"agent.launch", "agent.launchReplay", "agent.replayStored"} {
		var again davit.Result
		err := s.ask(s.client, name, in, &again)
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(again)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %s answers %v\n%s\nbut first\n%s", point, name, err, b, a)
		}
	}
	if worktree {
		if _, err := os.Stat(first.Worktree.Path); err != nil {
			t.Errorf("%s: %v", point, err)
		}
	}
	if err := s.ask(s.client, "agent.launch", changed(in), nil); davit.CodeOf(err) != davit.CodeOperationConflict {
		t.Errorf("%s: another launch under the id answers %v", point, err)
	}
	s.wantPrompt(in.Prompt.Text, arrives)
	s.wantShown(point, first)
}

func changed(in davit.Intent) davit.Intent {
	in.Prompt = &davit.Prompt{Text: "something else", Delivery: "submit"}
	return in
}

func (s *launchScene) socket() string {
	var info wire.HostInfo
	if err := s.client.Call(s.t.Context(), "host.info", wire.None{}, &info); err != nil {
		s.t.Fatal(err)
	}
	return info.Socket
}

func (s *launchScene) ask(c *client.Client, name string, in davit.Intent, into any) error {
	if name == "agent.replayStored" {
		return c.Call(s.t.Context(), name, wire.ReplayRequest{OperationID: in.OperationID}, into)
	}
	return c.Call(s.t.Context(), name, in, into)
}

// wantUnknown: nobody knows, and the worktree that was made is kept and named.
func (s *launchScene) wantUnknown(point, name string, err error, made bool) {
	s.t.Helper()
	if davit.CodeOf(err) != davit.CodeOperationUnknown {
		s.t.Fatalf("%s: %s answers %v", point, name, err)
	}
	kept, named := davit.AsError(err).Details["worktree"].(map[string]any)
	if named != made {
		s.t.Errorf("%s: %s details %v", point, name, davit.AsError(err).Details)
	}
	if path, _ := kept["path"].(string); made {
		if _, gone := os.Stat(filepath.Join(path, ".git")); gone != nil || !strings.Contains(err.Error(), path) {
			s.t.Errorf("%s: the worktree is not kept and named: %v %v", point, gone, err)
		}
	}
}

// wantShown: the tab is there, and its pane tells of no fault.
func (s *launchScene) wantShown(point string, r davit.Result) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) {
		var state davit.State
		if err := s.client.Call(s.t.Context(), "host.state", wire.None{}, &state); err != nil {
			return false, err.Error()
		}
		for _, p := range state.Panes {
			if p.Tab == r.Outcome.TabID {
				return p.Status == davit.PaneRunning && p.Fault == "" && string(p.Session) == r.Outcome.SessionID, fmt.Sprintf("%s: the pane is %+v", point, p)
			}
		}
		return false, point + ": there is no pane"
	})
}

// events gives what the transcript says: each line's event and text.
func (s *launchScene) events() (starts int, prompts []string) {
	data, err := os.ReadFile(s.transcript)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var e struct{ Event, Text string }
		if json.Unmarshal(line, &e) != nil {
			continue // half written
		}
		switch e.Event {
		case "start":
			starts++
		case "prompt":
			prompts = append(prompts, e.Text)
		}
	}
	return starts, prompts
}

// wantPrompt waits for a prompt to arrive; one that must not come is looked for now and at
// the end.
func (s *launchScene) wantPrompt(text string, n int) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) {
		_, prompts := s.events()
		got := 0
		for _, p := range prompts {
			if p == text {
				got++
			}
		}
		return got == n, fmt.Sprintf("%q arrived %d times, want %d", text, got, n)
	})
}

func (s *launchScene) wantStarts(when string) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) {
		starts, prompts := s.events()
		return starts == s.starts, fmt.Sprintf("%s: %d agents were started, want %d; prompts %q", when, starts, s.starts, prompts)
	})
}
