package tab

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"davit"
	"davit/internal/pane"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// A startup command that fails stops those after it, and its pane says which it was, its
// own exit status, and what was not run; it stays over a restart of the host, and goes
// when the pane's program is started again (spec tabs T4.1).
func TestStartupCommandFails(t *testing.T) {
	t.Parallel()
	testenv.Require(t, "zsh", "fish")
	st := newStage(t)
	x := st.start()
	st.write("home/.zshrc", "PS1='%% '\n")
	type want struct {
		commands []string
		exit     int
		skipped  []string
	}
	cases := map[string]want{
		"status": {[]string{"echo one", "sh -c 'exit 7'", "echo two", "# a note", "", "echo three"}, 7, []string{"echo two", "echo three"}},
		"signal": {[]string{"sh -c 'kill -KILL $$'"}, 137, nil},
		"absent": {[]string{"no-such-program-here", "echo two"}, 127, []string{"echo two"}},
		"exits":  {[]string{"exit 9", "echo two"}, 9, []string{"echo two"}},
	}
	panes := map[davit.PaneID]want{}
	for _, sh := range []string{"bash", "zsh", "fish"} {
		for name, c := range cases {
			var quoted []string
			for _, line := range c.commands {
				quoted = append(quoted, fmt.Sprintf("%q", line))
			}
			config := sh + name
			st.config(config, onePane+"shell = \""+sh+"\"\non_exit = \"keep\"\ncommands = ["+strings.Join(quoted, ", ")+"]\n")
			opened, err := x.s.OpenConfig(t.Context(), wire.OpenRequest{Config: config, Dir: st.repo})
			x.must(err)
			panes[opened.Panes[0]] = c
		}
	}
	told := func(when string) {
		t.Helper()
		for id, c := range panes {
			x.eventually(when+": the failure is told", func() bool { return x.host.State().Panes[id].Startup != nil })
			p := x.host.State().Panes[id]
			i := slices.IndexFunc(c.commands, func(line string) bool { return line == p.Startup.Command })
			if i < 0 || p.Startup.Exit != c.exit || !slices.Equal(p.Startup.Skipped, c.skipped) {
				t.Errorf("%s: %s: told %+v, want %+v", when, p.Shell, p.Startup, c)
			}
		}
	}
	told("at once")
	x.stop()
	x = st.start()
	told("after a restart")
	for id, c := range panes {
		if c.exit != 7 {
			continue
		}
		x.wait(id, pane.Condition{For: "prompt"})
		x.typed(id, "exit 1")
		x.eventually("the shell has ended", func() bool { return x.host.State().Panes[id].Status == davit.PaneEnded })
		x.must(x.s.RestartPane(t.Context(), wire.PaneRestart{Pane: id}))
		if p := x.host.State().Panes[id]; p.Startup != nil {
			t.Errorf("%s: started again, and still told: %+v", p.Shell, p.Startup)
		}
	}
}

// Commands that all succeed leave nothing to be told, and a line that the shell cannot
// read is told like one that failed.
func TestStartupCommandsSucceed(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	x := st.start()
	st.write("home/.zshrc", "PS1='%% '\n")
	st.config("fine", onePane+"commands = [\"true\", \"echo a''ll-done\"]\n")
	id := x.openConfig(st, "fine", nil).Panes[0]
	x.wait(id, pane.Condition{For: "text", Text: "all-done"})
	x.eventually("they are done", func() bool { return len(x.host.Model().Rows.Panes[id].Spec.Startup) == 0 })
	if p := x.host.State().Panes[id]; p.Startup != nil {
		t.Errorf("told %+v", p.Startup)
	}
	for _, sh := range []string{"bash", "zsh", "fish"} {
		if _, err := exec.LookPath(sh); err != nil {
			continue
		}
		st.config("syntax"+sh, onePane+"shell = \""+sh+"\"\ncommands = [\"echo )\", \"echo n''ever\"]\n")
		id := x.openConfig(st, "syntax"+sh, nil).Panes[0]
		x.eventually(sh+" tells the failure", func() bool { return x.host.State().Panes[id].Startup != nil })
		if p := x.host.State().Panes[id].Startup; p.Exit == 0 || len(p.Skipped) != 1 {
			t.Errorf("%s: told %+v", sh, p)
		}
	}
}
