package daemon_test

import (
	"os"
	"path/filepath"
	"testing"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// An agent's pane of a tab config goes through the launch operation, and its receipt is on
// the tab, after another start of the host too (spec tabs T4.3).
func TestReceiptOfAConfigsPane(t *testing.T) {
	testenv.Require(t, "git")
	t.Parallel()
	s := newLaunchScene(t)
	file := filepath.Join(s.dir, "agent.toml")
	text := "name = \"Agent\"\n[[panes]]\nid = \"main\"\ntype = \"agent\"\nagent = \"practice\"\nprompt = \"do it\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.up()
	var opened wire.Opened
	if err := s.client.Call(t.Context(), "config.open", wire.OpenRequest{Config: file, Named: true, Dir: s.repo}, &opened); err != nil {
		t.Fatal(err)
	}
	if len(opened.Launches) != 1 {
		t.Fatalf("launches: %+v", opened.Launches)
	}
	look := func() {
		t.Helper()
		for _, tab := range s.state().Tabs {
			if tab.ID != opened.TabID {
				continue
			}
			if len(tab.Launches) != 1 {
				t.Fatalf("the tab has %d receipts", len(tab.Launches))
			}
			got, want := tab.Launches[0], opened.Launches[0]
			if got.Receipt != want.Receipt || got.Receipt.Mode != davit.Terminal || got.Outcome.PaneKey != want.Outcome.PaneKey {
				t.Errorf("on the tab: %+v\nanswered: %+v", got, want)
			}
			if got.Prompt == nil || *got.Prompt != *want.Prompt || got.Prompt.Outcome != davit.PromptHanded {
				t.Errorf("of its prompt the tab tells %+v, and the answer %+v", got.Prompt, want.Prompt)
			}
			return
		}
		t.Error("the tab is not there")
	}
	look()
	s.kill()
	s.start()
	s.await()
	look()
	s.down()
}
