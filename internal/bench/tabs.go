package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"
)

// benchPrompt is what the measured shells show when they are ready.
const benchPrompt = "bench-ready>"

// tabs is what tab configs must reach (spec tabs T7): a config of four panes against its
// shells started bare, many files listed, many tabs closed.
func (b *bench) tabs() error {
	user, err := b.userHome()
	if err != nil {
		return err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	in, err := b.instance("c", "HOME="+user, "SHELL="+bash)
	if err != nil {
		return err
	}
	defer in.down()
	folder := in.home.TabConfigs()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, part := range []func(*instance, string, string) error{b.openFour, b.listConfigs, b.closeTabs} {
		if err := part(in, folder, user); err != nil {
			return err
		}
	}
	return nil
}

// userHome is a home directory whose bash shows the prompt that is waited for, and nothing
// of the machine's own set-up.
func (b *bench) userHome() (string, error) {
	dir := filepath.Join(b.dir, "user")
	text := []byte("PS1='" + benchPrompt + " '\n")
	return dir, errors.Join(os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, ".bashrc"), text, 0o600),
		os.WriteFile(filepath.Join(dir, ".bash_profile"), []byte(". ~/.bashrc\n"), 0o600))
}

// openFour: from the request to the last of four prompts, in turns with four login shells
// started at once, each in a bare terminal.
func (b *bench) openFour(in *instance, folder, user string) error {
	config := "name = \"four\"\n[[panes]]\nid = \"root\"\nsplit = \"horizontal\"\nchildren = [\"a\", \"b\", \"c\", \"d\"]\n"
	for _, id := range []string{"a", "b", "c", "d"} {
		config += fmt.Sprintf("[[panes]]\nid = %q\ntype = \"terminal\"\nshell = \"bash\"\n", id)
	}
	if err := os.WriteFile(filepath.Join(folder, "four.toml"), []byte(config), 0o600); err != nil {
		return err
	}
	runs := 10
	if b.quick {
		runs = 2
	}
	if _, err := in.openOnce(); err != nil { // starts the keeper
		return err
	}
	var ours, bare []float64
	for range runs {
		took, err := in.openOnce()
		if err != nil {
			return err
		}
		ours = append(ours, took)
		if took, err = b.bareShells(4, user); err != nil {
			return err
		}
		bare = append(bare, took)
	}
	ratio := median(ours) / median(bare)
	b.add("a config with four panes: until all four prompts are shown", "≤ 1.2 × the slowest of them bare",
		fmt.Sprintf("%.0f ms = %.2f × bare", median(ours), ratio), fmt.Sprintf("four bash at once: %.0f ms", median(bare)), atMost(ratio, 1.2))
	return nil
}

func (in *instance) openOnce() (ms float64, err error) {
	begun := time.Now()
	var opened wire.Opened
	if err := in.client.Call(in.b.ctx, "config.open", wire.OpenRequest{Config: "four", Dir: in.b.dir}, &opened); err != nil {
		return 0, err
	}
	shown := make(chan error, len(opened.Panes)) // one answer each
	for _, pane := range opened.Panes {
		go func() { shown <- in.shows(pane, benchPrompt) }()
	}
	for range opened.Panes {
		err = errors.Join(err, <-shown)
	}
	ms = time.Since(begun).Seconds() * 1000
	return ms, errors.Join(err, in.client.Call(in.b.ctx, "tab.close", wire.TabClose{Tabs: []davit.TabID{opened.TabID}, Yes: true}, nil))
}

// bareShells starts login shells at once and waits for the last prompt.
func (b *bench) bareShells(n int, user string) (ms float64, err error) {
	begun := time.Now()
	var shells []*terminal
	defer func() {
		for _, t := range shells {
			t.end()
		}
	}()
	for range n {
		t, err := b.terminal(environ("HOME="+user), "bash", "-l")
		if err != nil {
			return 0, err
		}
		t.drain()
		shells = append(shells, t)
	}
	err = b.until("the shells start", func() bool {
		for _, t := range shells {
			if !t.seen(benchPrompt) {
				return false
			}
		}
		return true
	})
	return time.Since(begun).Seconds() * 1000, err
}

// listConfigs is config.list over the socket: every file is read and checked anew.
func (b *bench) listConfigs(in *instance, folder, _ string) error {
	const files = 200
	for i := range files {
		text := strings.Replace(worktreeConfig, "%N%", fmt.Sprint(i), 1)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("many-%03d.toml", i)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	var took []float64
	for range 20 {
		var list wire.ConfigList
		begun := time.Now()
		if err := in.client.Call(b.ctx, "config.list", wire.ConfigsRequest{}, &list); err != nil {
			return err
		}
		took = append(took, time.Since(begun).Seconds()*1000)
		if len(list.Configs) != files+1 {
			return fmt.Errorf("%d of %d configs are listed: %v", len(list.Configs), files+1, list.Faults)
		}
	}
	b.add(fmt.Sprintf("%d tab configs loaded and checked", files), "≤ 100 ms", fmt.Sprintf("%.0f ms (worst of 20: %.0f)", median(took), quantile(took, 1)), "–", atMost(median(took), 100))
	return nil
}

// worktreeConfig has a bit of everything that is checked.
const worktreeConfig = `name = "Many %N%"
description = "A branch in its own worktree"
title = "{{branch}}"
[params.repo]
type = "repo"
[params.branch]
type = "branch"
default = "main"
[worktree]
repo = "{{repo}}"
base = "{{branch}}"
remove_on_close = true
[[panes]]
id = "root"
split = "vertical"
children = ["work", "test"]
sizes = [2, 1]
[[panes]]
id = "work"
type = "terminal"
is_focused = true
commands = ["git status", "echo {{autogenerated_branch_name}}"]
[[panes]]
id = "test"
type = "terminal"
env = {CI = "{{branch}}"}
commands = ["make test"]
[on_close]
commands = ["git branch -d {{autogenerated_branch_name}}"]
`

// closeTabs is tab.close of many tabs with idle shells, warnings looked for.
func (b *bench) closeTabs(in *instance, _, _ string) error {
	tabs, runs := 50, 5
	if b.quick {
		tabs, runs = 10, 1
	}
	var took []float64
	for range runs {
		var list []davit.TabID
		for range tabs {
			var opened wire.Opened
			if err := in.client.Call(b.ctx, "tab.open", wire.TabOpen{Directory: b.dir}, &opened); err != nil {
				return err
			}
			list = append(list, opened.TabID)
			if err := in.client.Call(b.ctx, "pane.wait", wire.PaneWait{Pane: opened.Panes[0], For: "text", Text: benchPrompt, Timeout: 60}, nil); err != nil {
				return err
			}
		}
		begun := time.Now()
		if err := in.client.Call(b.ctx, "tab.close", wire.TabClose{Tabs: list}, nil); err != nil {
			return err
		}
		took = append(took, time.Since(begun).Seconds()*1000)
	}
	b.add(fmt.Sprintf("close of %d tabs with idle shells: the answer", tabs), "≤ 50 ms", fmt.Sprintf("%.0f ms (worst of %d: %.0f)", median(took), runs, quantile(took, 1)), "–", atMost(median(took), 50))
	return nil
}
