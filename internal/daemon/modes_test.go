package daemon_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
)

// standIns are agents of each prompt mode, and the four whose modes are known best, all of
// them the scripted composer: started by a real host, in a real terminal.
var standIns = map[string]string{
	"mode-argv": "argv", "mode-dashes": "argv-dashdash", "mode-flag": "flag:--ask", "mode-joined": "flag:--ask=", "mode-env": "env:COMPOSER_PROMPT",
	"mode-stdin": "stdin-after-start",
	"claude":     "", "codex": "", "gemini": "", "opencode": "", // as the catalogue has it
}

// hostile are prompts that command lines, environments and terminals get wrong.
func hostile() map[string]string {
	all := "\n\tit's \"quoted\" 'and' \\\"both\\\"\n$(touch pwned) `touch pwned` ${HOME} ~ * ? [a] {b,c} ; & | > <\n\nemoji 🙂 👩‍💻 e\u0301\nC:\\new\\table\\"
	most := strings.ToValidUTF8(strings.Repeat("Zeile mit \"Zeichen\" und ümläuten\n", 3000)[:99_990], "")
	return map[string]string{
		"all":       all,
		"dash":      "--help me; -v is broken\nand so on",
		"100,000 B": most + strings.Repeat("!", 100_000-len(most)),
		"100,001 B": strings.Repeat("a line of words\n", 7000)[:99_990] + "!the  end!!",
	}
}

// Each prompt mode gives each prompt to its agent, once and byte for byte, on its command
// line, in its environment or by a paste, and the receipt says so (spec launch L7, L7.1, L8).
func TestPromptModes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	composer := filepath.Join(filepath.Dir(s.davit), "composer")
	var b strings.Builder
	for id, mode := range standIns {
		fmt.Fprintf(&b, "[agents.%s]\ndetect = [%q]\nargv = [%q]\n", id, composer, composer)
		if mode != "" {
			fmt.Fprintf(&b, "prompt = %q\n", mode)
		}
		fmt.Fprintf(&b, "[agents.%s.ready]\nscreen = ['^│ >']\nnot = []\npaste = true\n", id)
	}
	file := filepath.Join(s.dir, "home", "config", "agents.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.up()
	slots := make(chan struct{}, 6)
	var wait sync.WaitGroup
	n := 0
	for id := range standIns {
		for name, text := range hostile() {
			if name == "100,001 B" && id != "mode-dashes" || name == "100,000 B" && id == "mode-stdin" {
				continue // a paste of that size takes its time; TestDelivery has more
			}
			n++
			i := n
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				s.given(id, name, text, i)
			})
		}
	}
	wait.Wait()
	if _, err := os.Stat(filepath.Join(s.dir, "pwned")); err == nil {
		t.Error("a part of a prompt was run by a shell")
	}
	s.down()
}

// given launches an agent with a prompt and holds what it got to the receipt.
func (s *scene) given(id, name, text string, n int) {
	out := filepath.Join(s.dir, fmt.Sprintf("given-%d", n))
	var result davit.Result
	err := s.client.Call(s.t.Context(), "agent.launch", davit.Intent{
		Agent: id, OperationID: fmt.Sprintf("%013d-%032x", time.Now().UnixMilli(), n), Surface: davit.Terminal,
		Target:    davit.Target{Kind: davit.TargetFolder, Create: json.RawMessage(fmt.Sprintf(`{"path":%q}`, s.dir))},
		Prompt:    &davit.Prompt{Text: text, Delivery: "submit"},
		AgentArgs: davit.OptionalString{Present: true, Value: out + " none"},
	}, &result)
	if err != nil || result.Prompt == nil || result.Prompt.Outcome != davit.PromptHanded {
		s.t.Errorf("%s, %s: %+v %q %v", id, name, result.Prompt, result.Warning, err)
		return
	}
	testenv.Eventually(s.t, patience, func() (bool, string) { return len(received(out)) > 0, id + ", " + name + ": lost" })
	if got := received(out); !slices.Equal(got, []string{text}) {
		s.t.Errorf("%s, %s: it got %d prompts, %.120q, want %.120q", id, name, len(got), got, text)
	}
	if err := s.client.Call(s.t.Context(), "tab.close", map[string]any{"tabs": []davit.TabID{result.Outcome.TabID}, "yes": true}, nil); err != nil {
		s.t.Errorf("%s: close its tab: %v", id, err)
	}
}
