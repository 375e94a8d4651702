package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// agentScene is a repository that a real agent works in, in a terminal.
type agentScene struct {
	*launchScene
	agent string
	model *testenv.Model
}

func newAgentScene(t *testing.T, agent string, trusted bool) *agentScene {
	model := testenv.StartModel(t, func(q testenv.ModelQuestion) testenv.ModelAnswer {
		if strings.Contains(q.Body, "model_choice") { // Gemini CLI asks a model which model to ask
			return testenv.ModelAnswer{Text: []string{`{"reasoning":"It is short.","model_choice":"flash","complexity_reasoning":"It is short.","complexity_score":1}`}}
		}
		return testenv.ModelAnswer{Text: []string{"Hello ", "from the ", "stand-in."}}
	})
	s := &agentScene{launchScene: newLaunchScene(t), agent: agent, model: model}
	var profile strings.Builder // agents get the login shell's environment
	for _, variable := range testenv.AgentTerminal(t, agent, model, s.dir, s.repo, trusted) {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&profile, "export %s='%s'\n", name, value)
	}
	if err := os.WriteFile(filepath.Join(s.dir, ".profile"), []byte(profile.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.up()
	return s
}

// launch launches the agent with a prompt, "" for none.
func (s *agentScene) launch(text string) davit.Result {
	return s.run(davit.Intent{Surface: davit.Terminal}, text)
}

// paste gives a prompt to the agent that runs.
func (s *agentScene) paste(into davit.Result, text string) davit.Result {
	return s.run(davit.Intent{ReuseTerminal: &davit.ReuseTerminal{Handle: into.Outcome.Handle}}, text)
}

func (s *agentScene) run(in davit.Intent, text string) davit.Result {
	s.t.Helper()
	in.Agent, in.OperationID = s.agent, fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), s.rand.Uint64())
	in.Target = davit.Target{Kind: davit.TargetExisting, Worktree: "path:" + s.repo}
	if text != "" {
		in.Prompt = &davit.Prompt{Text: text, Delivery: "submit"}
	}
	var result davit.Result
	if err := s.client.Call(s.t.Context(), "agent.launch", in, &result); err != nil {
		s.t.Fatal(err)
	}
	return result
}

// wantHeard waits until the model has heard a prompt, whole and once.
func (s *agentScene) wantHeard(r davit.Result, text string) {
	s.t.Helper()
	if r.Prompt == nil || r.Prompt.Outcome != davit.PromptHanded {
		s.t.Errorf("the receipt says %+v %q; the screen:\n%s", r.Prompt, r.Warning, s.screen(r))
	}
	var torn string
	testenv.Eventually(s.t, time.Minute, func() (bool, string) {
		var n int
		n, torn = s.heard(text)
		return n > 0, fmt.Sprintf("the model heard %d questions; the screen:\n%s", len(s.model.Asked()), s.screen(r))
	})
	if torn != "" {
		s.t.Errorf("the model heard %.300q", torn)
	}
}

// heard counts the questions to the model whose user's words have the text, and finds one
// that has it twice or in part.
func (s *agentScene) heard(text string) (n int, torn string) {
	head := text[:min(len(text), 8)]
	for _, q := range s.model.Asked() {
		switch found := strings.Count(q.Text, text); {
		case found == 1:
			n++
		case found > 1, strings.Contains(q.Text, head):
			torn = q.Text
		}
	}
	return n, torn
}

func (s *agentScene) screen(r davit.Result) string {
	_, pane, _ := strings.Cut(string(r.Outcome.PaneKey), ":")
	var text wire.PaneText
	if err := s.client.Call(s.t.Context(), "pane.read", wire.PaneRead{Pane: davit.PaneID(pane)}, &text); err != nil {
		return err.Error()
	}
	return strings.Join(text.Rows, "\n")
}

// TestAgentTerminals delivers prompts into the real Claude Code, Codex and Gemini CLI, with a
// stand-in model: whole, once, and as the receipt says (spec launch L7, L8).
func TestAgentTerminals(t *testing.T) {
	prompts := map[string]string{
		"short":  "Say hello.",
		"hard":   "First: it's \"hard\" $(touch /tmp/never) `x` \\ end\n\n  second line, naïve ☕ 🙂\nlast \\",
		"20 kB":  "Long: " + strings.Repeat("a line of many words that goes on\n", 600) + "the end",
		"option": "--help is not meant",
	}
	for _, agent := range []string{"claude", "codex", "gemini"} {
		t.Run(agent, func(t *testing.T) {
			for name, text := range prompts {
				t.Run(name, func(t *testing.T) {
					s := newAgentScene(t, agent, true)
					s.wantHeard(s.launch(text), text)
				})
			}
			t.Run("pasted", func(t *testing.T) {
				s := newAgentScene(t, agent, true)
				r := s.launch("")
				for name, text := range prompts {
					t.Log(name)
					s.wantHeard(s.paste(r, text), text)
				}
			})
			// Nothing is pasted into the question whether to trust a folder.
			t.Run("new folder", func(t *testing.T) {
				s := newAgentScene(t, agent, false)
				r := s.launch("")
				testenv.Eventually(t, time.Minute, func() (bool, string) {
					screen := s.screen(r)
					return asksTrust.MatchString(screen), screen
				})
				asked := len(s.model.Asked())
				if r := s.paste(r, "Say it again."); r.Prompt == nil || r.Prompt.Outcome != davit.PromptNotDelivered {
					t.Errorf("the receipt says %+v %q; the screen:\n%s", r.Prompt, r.Warning, s.screen(r))
				}
				if n := len(s.model.Asked()); n > asked || !asksTrust.MatchString(s.screen(r)) {
					t.Errorf("behind a question to the user the model was asked %d times; the screen:\n%s", n-asked, s.screen(r))
				}
			})
		})
	}
}

// asksTrust is the question of each of them.
var asksTrust = regexp.MustCompile(`(?i)trust this folder|do you trust|safety check`)
