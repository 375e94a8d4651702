package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// chip waits until a pane's chip has a text on the page; "" is none.
func (v *viewer) chip(pane davit.PaneID, kind, text string) (c davit.Chip) {
	v.s.t.Helper()
	v.show(pane)
	testenv.Eventually(v.s.t, patience, func() (bool, string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		c = davit.Chip{}
		for _, have := range v.state.Chips[pane] {
			if have.Kind == kind {
				c = have
			}
		}
		return c.Text == text, fmt.Sprintf("%s is %+v, want %q; all: %+v", kind, c, text, v.state.Chips[pane])
	})
	return c
}

// TestChipsOfASession: spec chips C1 and C2.3 with a real host, a real shell and a page:
// what the shell tells, what runs in it, the user's own chips of config.toml, reloaded, and
// an alias that invalidates.
func TestChipsOfASession(t *testing.T) {
	s := newChipScene(t)
	s.gh(saysPull)
	runs := filepath.Join(s.dir, "runs")
	own := filepath.Join(s.bin, "depth")
	if err := os.WriteFile(own, []byte("#!/bin/sh\necho x >> '"+runs+"'\necho deep $(git rev-list --count HEAD)\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.up()
	var info wire.HostInfo
	if err := s.client.Call(t.Context(), "host.info", wire.None{}, &info); err != nil {
		t.Fatal(err)
	}
	prompt := []string{"conda", "venv", "ssh", "subshell", "cwd", "git_status", "custom:depth"}
	if err := s.client.Call(t.Context(), "chips.setLayout", wire.ChipLayoutSet{Prompt: &prompt}, nil); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(s.dir, "home", "config", "config.toml")
	put := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("[[chips.custom]]\nname = 'depth'\ntitle = 'Depth'\ncommand = ['depth']\nfingerprint = ['cwd']\ninvalidated_by = ['git commit']\n")
	pane := s.open()
	page := s.view()
	page.chip(pane, "custom:depth", "deep 1")
	page.chip(pane, "git_status", "feat")

	s.run(pane, "export VIRTUAL_ENV=/x/harbor CONDA_DEFAULT_ENV=base SSH_CONNECTION='1 2 3 4' USER=ada; alias gc='git commit -q --allow-empty'")
	s.prompt(pane)
	page.chip(pane, "venv", "harbor")
	page.chip(pane, "conda", "base")
	machine, _ := os.Hostname()
	if c := page.chip(pane, "ssh", "ada@"+machine); c.Value != c.Text {
		t.Errorf("%+v", c)
	}
	s.run(pane, "true; unset VIRTUAL_ENV SSH_CONNECTION")
	s.prompt(pane)
	page.chip(pane, "venv", "")
	page.chip(pane, "ssh", "")

	before, _ := os.ReadFile(runs)
	s.run(pane, "gc -m two")
	page.chip(pane, "custom:depth", "deep 2") // the alias is a git commit
	after, _ := os.ReadFile(runs)
	if n := strings.Count(string(after), "x") - strings.Count(string(before), "x"); n != 1 {
		t.Errorf("the chip ran %d times for one commit", n)
	}

	s.run(pane, "sh")
	page.chip(pane, "subshell", "sh")
	s.run(pane, "exit")
	page.chip(pane, "subshell", "")

	put("[[chips.custom]]\nname = 'depth'\ncommand = 'echo other'\n[[chips.custom]]\nname = 'Bad'\ncommand = 'x'\n")
	page.chip(pane, "custom:depth", "other")
	testenv.Eventually(t, patience, func() (bool, string) {
		page.mu.Lock()
		defer page.mu.Unlock()
		i := slices.IndexFunc(page.state.Notices, func(n davit.Notice) bool { return n.Kind == "chips" })
		return i >= 0 && strings.Contains(page.state.Notices[i].Body, "config.toml:5:8"), fmt.Sprintf("%+v", page.state.Notices)
	})
	var got wire.Chips
	if err := s.client.Call(t.Context(), "chips.get", wire.ChipsRequest{Dir: s.repo, Path: s.bin, Session: map[string]string{"VIRTUAL_ENV": "/y/pier"}}, &got); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, c := range got.Chips {
		texts[c.Kind] = c.Text
	}
	if texts["venv"] != "pier" || texts["custom:depth"] != "other" || texts["git_status"] != "feat" || len(got.Faults) != 1 {
		t.Errorf("%+v", got)
	}
	put("")
	page.chip(pane, "custom:depth", "")
	testenv.Eventually(t, patience, func() (bool, string) {
		page.mu.Lock()
		defer page.mu.Unlock()
		return !slices.ContainsFunc(page.state.Notices, func(n davit.Notice) bool { return n.Kind == "chips" }), fmt.Sprintf("%+v", page.state.Notices)
	})
	s.down()
}

// TestLoginShellIsAskedAgain: spec chips C2.6: the login shell's PATH is captured at the
// start, and again when a new session's differs. A question without a PATH of its own is
// looked along by the new one.
func TestLoginShellIsAskedAgain(t *testing.T) {
	s := newChipScene(t)
	s.write("repo/package.json", "{}\n")
	s.up()
	s.open()
	node := func() davit.Chip {
		t.Helper()
		var got wire.Chips
		if err := s.client.Call(t.Context(), "chips.get", wire.ChipsRequest{Dir: s.repo}, &got); err != nil {
			t.Fatal(err)
		}
		for _, c := range got.Chips {
			if c.Kind == "node" {
				return c
			}
		}
		return davit.Chip{}
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		c := node()
		return c.Status == davit.ChipDisabled && c.Reason == "Requires the `node` command", fmt.Sprintf("%+v", c)
	})
	more := filepath.Join(s.dir, "more")
	if err := os.MkdirAll(more, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(more, "node"), []byte("#!/bin/sh\necho v22.4.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(".bash_profile", "export PATH='"+more+":"+s.bin+"'\n. ~/.bashrc\n")
	pane := s.open()
	s.run(pane, ". ~/.bash_profile")
	s.prompt(pane)
	testenv.Eventually(t, patience, func() (bool, string) {
		c := node()
		return c.Text == "v22.4.0", fmt.Sprintf("%+v", c)
	})
	s.down()
}
