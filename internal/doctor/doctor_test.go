package doctor

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func machine(files map[string]string) Machine {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Machine{
		Root: root, Files: 4096, State: "/home/u/.local/state/davit",
		LookPath: func(name string) (string, error) { return "/usr/bin/" + name, nil },
		Getenv:   func(string) string { return "" },
	}
}

// What ends programs from outside is named, with what to do (spec terminal P1.9).
func TestLook(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		edit    func(*Machine)
		finding string
		text    string
	}{
		"logout": {map[string]string{
			"etc/systemd/logind.conf":                "#KillUserProcesses=no\nKillUserProcesses=no\n",
			"etc/systemd/logind.conf.d/99-kill.conf": "[Login]\n KillUserProcesses=yes\n",
		}, nil, "logout", "KillUserProcesses=yes"},
		"service":      {map[string]string{"proc/self/cgroup": "0::/system.slice/builder.service\n"}, nil, "service", "builder.service"},
		"memory":       {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "104857600\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, nil, "memory", "100 MiB"},
		"descriptors":  {nil, func(m *Machine) { m.Files = 256 }, "descriptors", "256"},
		"watches":      {map[string]string{"proc/sys/fs/inotify/max_user_watches": "128\n"}, nil, "watches", "128"},
		"no git":       {nil, func(m *Machine) { m.LookPath = func(string) (string, error) { return "", errors.New("no") } }, "git", "no git"},
		"state in tmp": {nil, func(m *Machine) { m.State = "/tmp/x/state" }, "state", "/tmp/x/state"},
	} {
		m := machine(c.files)
		if c.edit != nil {
			c.edit(&m)
		}
		found := false
		for _, f := range Look(m) {
			if f.Name != c.finding {
				if !f.OK && f.Hint == "" {
					t.Errorf("%s: %q has no hint", name, f.Text)
				}
				continue
			}
			found = true
			if f.OK || f.Hint == "" || !strings.Contains(f.Text, c.text) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if !found {
			t.Errorf("%s: nothing is told", name)
		}
	}
	for _, f := range Look(machine(map[string]string{"proc/self/cgroup": "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n"})) {
		if !f.OK {
			t.Errorf("a machine that is well: %+v", f)
		}
	}
}
