package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// count puts a program in place that notes the directory of each of its runs that work on
// it, and gives those directories so far.
func (s *chipScene) count(name, real string) func() []string {
	s.t.Helper()
	runs := filepath.Join(s.dir, name+"-runs")
	path := filepath.Join(s.bin, name)
	_ = os.Remove(path)
	script := "#!/bin/sh\ncase \"$*\" in *--porcelain*|*numstat*|pr\\ view*|'') pwd >> '" + runs + "';; esac\n" + real + "\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return func() []string {
		data, _ := os.ReadFile(runs)
		var in []string
		for _, line := range strings.Fields(string(data)) {
			in = append(in, filepath.Base(line))
		}
		slices.Sort(in)
		return slices.Compact(in)
	}
}

// view sets how the vertical tabs are drawn.
func (s *chipScene) tabView(fields string) {
	s.t.Helper()
	if err := s.client.Call(s.t.Context(), "settings.set", wire.Setting{Key: "vertical_tabs", Value: []byte(fields)}, nil); err != nil {
		s.t.Fatal(err)
	}
}

// blocks are the commands of a pane's shell, with their prompts.
func (s *chipScene) blocks(pane davit.PaneID) []davit.Block {
	s.t.Helper()
	var got wire.PaneBlocks
	if err := s.client.Call(s.t.Context(), "pane.blocks", wire.PaneBlocksRequest{Pane: pane}, &got); err != nil {
		s.t.Fatal(err)
	}
	return got.Blocks
}

// TestOnlyWhatIsSeenRuns: spec chips C2.4 with a counting git, gh and chip of one's own:
// of twenty tabs in twenty repositories the kinds of the shown one run, and of the others
// those of their badges; for a hidden page and one that vanishes nothing runs at all.
func TestOnlyWhatIsSeenRuns(t *testing.T) {
	s := newChipScene(t)
	s.put("[[chips.custom]]\nname = 'depth'\ntitle = 'Depth'\ncommand = ['depth']\nfingerprint = ['cwd']\n")
	git, _ := os.Readlink(filepath.Join(s.bin, "git"))
	gits := s.count("git", "exec '"+git+"' \"$@\"")
	ghs := s.count("gh", "[ \"$1\" = pr ] || exit 0\n"+saysPull)
	depths := s.count("depth", "echo deep")
	s.up()
	prompt := []string{"cwd", "git_branch", "git_diff", "github_pr", "custom:depth"}
	if err := s.client.Call(t.Context(), "chips.setLayout", wire.ChipLayoutSet{Prompt: &prompt}, nil); err != nil {
		t.Fatal(err)
	}
	s.tabView(`{"density":"compact"}`)
	var panes []davit.PaneID
	var names []string
	for i := range 20 {
		name := fmt.Sprintf("r%02d", i)
		names = append(names, name)
		s.repo = filepath.Join(s.dir, name)
		s.git("init", "-q", s.repo)
		s.git("-C", s.repo, "checkout", "-q", "-b", "feat")
		s.git("-C", s.repo, "remote", "add", "origin", "git@github.com:o/"+name+".git")
		s.git("-C", s.repo, "commit", "-q", "--allow-empty", "-m", "x")
		var opened wire.Opened
		if err := s.client.Call(t.Context(), "tab.open", wire.TabOpen{Directory: s.repo, Argv: []string{"sleep", "600"}}, &opened); err != nil {
			t.Fatal(err)
		}
		panes = append(panes, opened.Panes[0])
	}
	if in := slices.Concat(gits(), ghs(), depths()); len(in) != 0 {
		t.Fatalf("with nobody looking programs ran in %v", in)
	}

	// A hidden page sees nothing, though it is subscribed.
	page := s.view()
	page.say(wire.ClientFrame{Type: "look", Hidden: true})
	page.show(panes[3])
	s.looksAt(page)
	if in := slices.Concat(gits(), ghs(), depths()); len(in) != 0 {
		t.Fatalf("for a hidden page programs ran in %v", in)
	}

	// Compact rows have no badges: one pane is shown, and only its kinds run.
	page.say(wire.ClientFrame{Type: "look"})
	page.chip(panes[3], "custom:depth", "deep")
	page.chip(panes[3], "git_diff", "0")
	page.chip(panes[3], "github_pr", "PR #12")
	for _, pane := range panes {
		page.branch(pane, "feat") // a row has its branch, which costs no process
	}
	want := []string{"r03"}
	for name, in := range map[string][]string{"git": gits(), "gh": ghs(), "depth": depths()} {
		if !slices.Equal(in, want) {
			t.Errorf("one pane is shown, and %s ran in %v", name, in)
		}
	}

	// Rows with the badge of the diff run git for each, and nothing else.
	s.tabView(`{"density":"expanded","showPrLink":false}`)
	testenv.Eventually(t, patience, func() (bool, string) {
		in := gits()
		return slices.Equal(in, names), fmt.Sprintf("git ran in %v", in)
	})
	for name, in := range map[string][]string{"gh": ghs(), "depth": depths()} {
		if !slices.Equal(in, want) {
			t.Errorf("rows show the diff only, and %s ran in %v", name, in)
		}
	}

	// A client that vanishes looks no more: soon what changes there runs nothing. The other
	// page shows another pane, which tells when the host has seen a change.
	other := s.view()
	other.say(wire.ClientFrame{Type: "look", Tabs: new(bool)})
	other.chip(panes[7], "custom:depth", "deep")
	_ = page.conn.CloseNow()
	ran := func(name string) int {
		data, _ := os.ReadFile(filepath.Join(s.dir, "git-runs"))
		return strings.Count(string(data), "/"+name+"\n")
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		unseen, seen := ran("r03"), ran("r07")
		for _, name := range []string{"r03", "r07"} {
			s.git("-C", filepath.Join(s.dir, name), "commit", "-q", "--allow-empty", "-m", "again")
		}
		testenv.Eventually(t, patience, func() (bool, string) { return ran("r07") > seen, "git did not run for a change of the shown pane" })
		time.Sleep(200 * time.Millisecond) // the first change may still be on its way
		return ran("r03") == unseen, "with nobody looking at it git goes on running for its changes"
	})
	if in := depths(); !slices.Equal(in, []string{"r03", "r07"}) {
		t.Errorf("two panes were shown, and depth ran in %v", in)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "r03", "new"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	// `davit chips` is a surface for that moment: it does not tell what was.
	var asked wire.Chips
	if err := s.client.Call(t.Context(), "chips.get", wire.ChipsRequest{Pane: panes[3]}, &asked); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(asked.Chips, func(c davit.Chip) bool { return c.Kind == "git_diff" }); i < 0 || asked.Chips[i].Text != "1 • +1" {
		t.Errorf("asked for, the pane's chips are %+v", asked.Chips)
	}
	s.down()
}

// put writes the user's config.toml.
func (s *chipScene) put(text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, "home", "config", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// branch waits until a pane's row has a branch.
func (v *viewer) branch(pane davit.PaneID, text string) {
	v.s.t.Helper()
	testenv.Eventually(v.s.t, patience, func() (bool, string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, c := range v.state.Chips[pane] {
			if c.Kind == "git_branch" && c.Text == text {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%s has %+v", pane, v.state.Chips[pane])
	})
}

// looksAt waits until the host has taken what a page said before.
func (s *chipScene) looksAt(page *viewer) {
	s.t.Helper()
	pongs := func() int {
		page.mu.Lock()
		defer page.mu.Unlock()
		return page.pongs
	}
	before := pongs()
	page.say(wire.ClientFrame{Type: "ping"})
	testenv.Eventually(s.t, patience, func() (bool, string) { return pongs() > before, "no pong came" })
}

// TestPromptOfACommand: spec chips C5.1, C4.6: the chips as the page showed them when a
// command started stay with its block, over a host that is killed; what ran while no host
// was there, or nobody looked, says so.
func TestPromptOfACommand(t *testing.T) {
	s := newChipScene(t)
	s.gh(saysPull)
	s.up()
	pane := s.open()
	s.run(pane, "true before")
	testenv.Eventually(t, patience, func() (bool, string) {
		list := s.blocks(pane)
		return len(list) == 1 && list[0].End != nil, fmt.Sprintf("%+v", list)
	})
	page := s.view()
	page.chip(pane, "github_pr", "PR #12")
	page.chip(pane, "git_diff", "0")
	s.run(pane, ": > new; while ! test -e ../go; do echo $((40+2)) ticks; sleep 0.2; done")
	if err := s.client.Call(t.Context(), "pane.wait", wire.PaneWait{Pane: pane, For: "text", Text: "42 ticks", Timeout: 60}, nil); err != nil {
		t.Fatal(err)
	}
	text := "~/repo git:(feat) PR #12"
	check := func(when string, want ...string) {
		t.Helper()
		list := s.blocks(pane)
		if len(list) != len(want) {
			t.Fatalf("%s: %d blocks, want %d: %+v", when, len(list), len(want), list)
		}
		for i, b := range list {
			got := b.Prompt.Text
			if got == "" {
				got = b.Prompt.Missing
			}
			if got != want[i] {
				t.Errorf("%s: the prompt of %q is %q, want %q", when, b.Command, got, want[i])
			}
		}
	}
	unseen := "nobody looked at the pane when this command started"
	check("while it runs", unseen, text)
	for _, c := range s.blocks(pane)[1].Prompt.Chips {
		want := map[string]string{"cwd": s.repo, "git_branch": "feat", "git_diff": "0", "github_pr": "https://github.com/o/r/pull/12"}[c.Kind]
		if c.Value != want || c.Reason != "" {
			t.Errorf("the raw value of %s is %q, want %q (%s)", c.Kind, c.Value, want, c.Reason)
		}
	}
	// Kept while the command goes on printing.
	testenv.Eventually(t, patience, func() (bool, string) {
		data, err := os.ReadFile(filepath.Join(s.dir, "home", "state", "panes", string(pane), "checkpoint"))
		return strings.Contains(string(data), "PR #12"), fmt.Sprintf("the checkpoint has %d bytes and no prompt: %v", len(data), err)
	})
	s.kill()
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.up()
	s.prompt(pane)
	check("after the host was killed", unseen, text)
	page = s.view()
	page.chip(pane, "git_diff", "1")
	layout := []string{"git_diff", "cwd", "from_tomorrow"}
	if err := s.client.Call(t.Context(), "chips.setLayout", wire.ChipLayoutSet{Prompt: &layout}, nil); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		page.mu.Lock()
		defer page.mu.Unlock()
		return slices.Equal(page.state.Layout.Prompt, layout), fmt.Sprint(page.state.Layout.Prompt)
	})
	s.run(pane, "sleep 0.1")
	testenv.Eventually(t, patience, func() (bool, string) { return len(s.blocks(pane)) == 3, "the command did not start" })
	check("by another layout", unseen, text, "1 ~/repo")
	s.prompt(pane)
	s.down()
}
