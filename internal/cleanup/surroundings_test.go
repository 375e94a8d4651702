package cleanup

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
)

// What a command finds around it: its directory, a session of its own, no stdin, and an
// environment of these names and no other (spec tabs T5.4; case 38).
func TestSurroundings(t *testing.T) {
	testenv.Require(t, "env")
	for _, name := range []string{"USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("DAVIT_SECRET_OF_THE_HOST", "must not pass")
	t.Setenv("GIT_DIR", "/must/not/pass")
	p := write(t, davit.OnClose{Commands: []string{
		"env -0 > env; pwd -P > pwd; cat > stdin; cut -d' ' -f1,4,6,7 /proc/self/stat > stat",
		"case $(ps -o sid= -p $$ | tr -d ' ') in $$) echo leads > session;; esac",
	}})
	p.Path = "/the/login/shells:" + p.Path
	if _, err := Write(p); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, p, nil); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(p.OnClose.Directory, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	got := map[string]string{}
	var names []string
	for _, v := range strings.Split(strings.TrimRight(read("env"), "\x00"), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		if name == "_" || name == "SHLVL" || name == "OLDPWD" {
			continue // the shell's own
		}
		got[name], names = value, append(names, name)
	}
	slices.Sort(names)
	want := []string{"GIT_TERMINAL_PROMPT", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "PWD", "SHELL", "SSH_AUTH_SOCK", "TERM", "TMPDIR", "TZ", "USER", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}
	if !slices.Equal(names, want) {
		t.Errorf("the environment has %v, want %v", names, want)
	}
	if got["PATH"] != p.Path || got["HOME"] != p.Home || got["SHELL"] != p.OnClose.Shell || got["TERM"] != "dumb" {
		t.Errorf("%v", got)
	}
	if dir, _ := filepath.EvalSymlinks(p.OnClose.Directory); strings.TrimSpace(read("pwd")) != dir {
		t.Errorf("it ran in %s", read("pwd"))
	}
	if read("stdin") != "" || strings.TrimSpace(read("session")) != "leads" {
		t.Errorf("stdin %q, session %q", read("stdin"), read("session"))
	}
	if fields := strings.Fields(read("stat")); len(fields) != 4 || fields[3] != "0" {
		t.Errorf("it has a terminal: %v", fields)
	}
}

// A time-out ends the command with everything that it started, also what ignores a polite
// signal, and says so (spec tabs T5.4, T5.5; case 37).
func TestTimeoutEndsTheGroup(t *testing.T) {
	p := write(t, davit.OnClose{Timeout: 300 * time.Millisecond, Commands: []string{
		"trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo $! > child; echo before; wait; while :; do sleep 1; done", "touch never",
	}})
	report, err := run(t, p, nil)
	step, _ := report.Failed()
	if err == nil || !step.TimedOut || step.State != StepFailed || report.Skipped != 1 || !strings.Contains(step.Error, "within 300ms") || step.Head != "before\n" {
		t.Fatalf("%v; %+v", err, report)
	}
	data, err := os.ReadFile(filepath.Join(p.OnClose.Directory, "child"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z "), "the command's child lives on"
	})
}

// A host whose keeper is gone tells by the lock whether a cleanup goes on without it (spec
// tabs T5.7), and a second process of the same plan waits and does nothing (T5.9).
func TestAwaitsOneThatRuns(t *testing.T) {
	p := write(t, davit.OnClose{Commands: []string{"echo ran >> log; while ! test -e go; do sleep 0.02; done"}})
	if err := Await(t.Context(), p.State, p.ID); err != nil {
		t.Fatalf("nothing runs: %v", err)
	}
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- Run(context.Background(), Dir(p.State, p.ID), nil, time.Now) }()
	}
	log := filepath.Join(p.OnClose.Directory, "log")
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { _, err := os.Stat(log); return err == nil, "it does not begin" })
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := Await(short, p.State, p.ID); err == nil {
		t.Error("what runs counts as ended")
	}
	if err := os.WriteFile(filepath.Join(p.OnClose.Directory, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one, two := <-ended, <-ended
	if (one == nil) == (two == nil) {
		t.Errorf("both or neither carried it out: %v, %v", one, two)
	}
	if err := Await(t.Context(), p.State, p.ID); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(log); string(data) != "ran\n" {
		t.Errorf("it ran as %q", data)
	}
}

// What was cut off is told from what failed and from what is done (spec tabs T5.7).
func TestCutOff(t *testing.T) {
	done, started, failed := Step{State: StepDone}, Step{State: StepStarted}, Step{State: StepFailed}
	for name, c := range map[string]struct {
		r    Report
		want bool
	}{
		"done":            {Report{Steps: []Step{done, done}}, false},
		"in a step":       {Report{Steps: []Step{done, started}, Skipped: 1}, true},
		"in the last":     {Report{Steps: []Step{done, started}}, true},
		"between":         {Report{Steps: []Step{done}, Skipped: 1}, true},
		"failed":          {Report{Steps: []Step{done, failed}, Skipped: 1}, false},
		"not begun":       {Report{Skipped: 2}, false},
		"was taken back":  {Report{Skipped: 2, Back: true}, false},
		"nothing in plan": {Report{}, false},
	} {
		if c.r.CutOff() != c.want {
			t.Errorf("%s: cut off = %t", name, c.r.CutOff())
		}
	}
}

// Nothing that a cleanup hands to git forces it, the removal of its worktree never carries
// a person's leave to force, and nothing here deletes by path (spec tabs T5.9).
func TestNothingForces(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "../tab/*.go", "../daemon/remove.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, list...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, bad := range []string{`"--force`, `"-f"`, `"-D"`, `"-fd"`, `"-ff"`, "os.RemoveAll("} {
				if bad == `"-f"` && strings.Contains(code, `"-c"`) {
					continue // zsh's own flag: no start files
				}
				if strings.Contains(code, bad) {
					t.Errorf("%s:%d: %s", file, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
}
