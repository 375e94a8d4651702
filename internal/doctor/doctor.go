// Package doctor looks for what ends terminals and agents from outside, and for what davit
// misses on a machine: `davit doctor` (spec terminal P1.9). It reads and changes nothing;
// it starts nothing and owns no state. What a system does not tell is left out, not
// guessed.
package doctor

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Finding is one thing that was looked at.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"` // what to do, when it is not well
}

// Machine is where the facts are read: the real machine, or a test's.
type Machine struct {
	Root     fs.FS // of the file system, paths without the leading slash
	LookPath func(string) (string, error)
	Getenv   func(string) string
	Files    uint64 // soft limit of open descriptors, 0 unknown
	State    string // the state directory
}

// This is the real machine.
func This(getenv func(string) string, state string) Machine {
	return Machine{Root: os.DirFS("/"), LookPath: exec.LookPath, Getenv: getenv, Files: fileLimit(), State: state}
}

// Bounds below which something is told.
const (
	fewFiles   = 1024
	fewWatches = 8192
	littleRAM  = 512 << 20
)

// Look examines the machine.
func Look(m Machine) []Finding {
	var all []Finding
	add := func(name string, ok bool, hint, format string, args ...any) {
		f := Finding{Name: name, OK: ok, Text: fmt.Sprintf(format, args...)}
		if !ok {
			f.Hint = hint
		}
		all = append(all, f)
	}
	if path, err := m.LookPath("git"); err == nil {
		add("git", true, "", "%s", path)
	} else {
		add("git", false, "install git: worktrees and git chips need it", "there is no git on the PATH")
	}
	if shell := m.Getenv("SHELL"); shell != "" {
		_, err := m.LookPath(shell)
		add("shell", err == nil, "set SHELL to a shell that is installed", "%s", shell)
	}
	if value, where, known := m.killUserProcesses(); known {
		add("logout", !value, "`loginctl enable-linger`, or KillUserProcesses=no in "+where, "KillUserProcesses=%s", yesNo(value))
	}
	if unit, ok := m.service(); ok {
		add("service", false, "give the unit KillMode=process, or start davit outside of it", "this runs in %s: stopping that ends every terminal", unit)
	}
	if limit, where, ok := m.memoryLimit(); ok {
		add("memory", limit >= littleRAM, "raise the limit: the kernel ends programs that pass it", "%d MiB, by %s", limit>>20, where)
	}
	if m.Files > 0 {
		add("descriptors", m.Files >= fewFiles, "raise it with `ulimit -n 4096`", "%d open files at most", m.Files)
	}
	if n, ok := m.number("proc/sys/fs/inotify/max_user_watches"); ok {
		add("watches", n >= fewWatches, "raise fs.inotify.max_user_watches with sysctl; until then chips are polled", "%d files can be watched", n)
	}
	if m.State != "" {
		temporary := strings.HasPrefix(m.State, os.TempDir()+"/")
		add("state", !temporary, "choose a DAVIT_HOME that is not cleared at a restart", "%s", m.State)
	}
	return all
}

// killUserProcesses reads logind's setting; the last file that sets it counts.
func (m Machine) killUserProcesses() (value bool, where string, known bool) {
	files := []string{"etc/systemd/logind.conf"}
	for _, dir := range []string{"usr/lib/systemd/logind.conf.d", "run/systemd/logind.conf.d", "etc/systemd/logind.conf.d"} {
		more, _ := fs.Glob(m.Root, dir+"/*.conf")
		files = append(files, more...)
	}
	for _, file := range files {
		data, err := fs.ReadFile(m.Root, file)
		if err != nil {
			continue
		}
		for scan := bufio.NewScanner(strings.NewReader(string(data))); scan.Scan(); {
			if text, ok := strings.CutPrefix(strings.TrimSpace(scan.Text()), "KillUserProcesses="); ok {
				value, where, known = isYes(text), "/"+file, true
			}
		}
	}
	return value, where, known
}

// service names the system service that this process runs in, which systemd ends whole.
func (m Machine) service() (string, bool) {
	data, err := fs.ReadFile(m.Root, "proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(data)) {
		unit := filepath.Base(strings.TrimSpace(line))
		if strings.HasSuffix(unit, ".service") && !strings.HasPrefix(unit, "user@") {
			return unit, true
		}
	}
	return "", false
}

func (m Machine) memoryLimit() (limit uint64, where string, ok bool) {
	data, err := fs.ReadFile(m.Root, "proc/self/cgroup")
	if err != nil {
		return 0, "", false
	}
	for line := range strings.Lines(string(data)) {
		group, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !found {
			continue
		}
		for dir := strings.Trim(group, "/"); ; dir = filepath.Dir(dir) {
			if dir == "." {
				dir = ""
			}
			file := filepath.Join("sys/fs/cgroup", dir, "memory.max")
			if n, set := m.number(file); set && (!ok || n < limit) {
				limit, where, ok = n, "/"+file, true
			}
			if dir == "" {
				break
			}
		}
	}
	return limit, where, ok
}

func (m Machine) number(file string) (uint64, bool) {
	data, err := fs.ReadFile(m.Root, file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}

func isYes(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "yes", "true", "1", "on":
		return true
	}
	return false
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}
