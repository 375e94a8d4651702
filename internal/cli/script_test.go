package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary also the command davit: host, keeper, cleanup and
// practice agent of a story are real processes of it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"davit": func() { os.Exit(Main(os.Args[1:])) },
	})
}

// TestScripts runs the stories in testdata/script, each in a davit home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: setupStory, Condition: storyCondition, Cmds: storyCommands(),
	})
}

// storyVariables are what a story's programs get. testscript tells the value of a
// variable, not which there are, so every one that a story sets stands here.
var storyVariables = []string{
	"DAVIT_HOME", "HOME", "PATH", "SHELL", "TERM", "TMPDIR", "LANG", "LC_ALL", "GIT_CONFIG_NOSYSTEM",
	"DAVIT_FAILPOINT", "DAVIT_NO_BROWSER", "GORACE", "WORK",
}

// setupStory makes a story's place: a short path for the home, so that its sockets lie in
// it, and a user whose shells find git, a name for commits, and the practice agent's
// transcript (which shells hand on, as they do for a person who sets it there).
func setupStory(env *testscript.Env) error {
	self, err := exec.LookPath("davit")
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "dv")
	if err != nil {
		return err
	}
	home := filepath.Join(root, "h")
	env.Defer(func() {
		homes, _ := filepath.Glob(filepath.Join(home, "*", "state")) // a story's other instances
		for _, other := range append(homes, filepath.Join(home, "state")) {
			endHome(env, filepath.Dir(other))
		}
		tellRaces(env, root)
		removeStory(root)
	})
	user := filepath.Join(env.WorkDir, "user")
	for name, value := range map[string]string{
		"DAVIT_HOME": home, "H": home, "HOME": user, "SHELL": "/bin/bash", "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
		"GIT_CONFIG_NOSYSTEM": "1", "DAVIT_NO_BROWSER": "1", "TRANSCRIPT": filepath.Join(env.WorkDir, "transcript.jsonl"),
		"PWD": env.WorkDir, "DAVITBIN": filepath.Dir(self),
		// Of a race build: no second of sleep at each program's end, and reports where they are found.
		"GORACE": "atexit_sleep_ms=0 log_path=" + filepath.Join(root, "race"),
	} {
		env.Setenv(name, value)
	}
	profile := fmt.Sprintf("export PATH='%s' DAVIT_PRACTICE_TRANSCRIPT='%s' GIT_CONFIG_NOSYSTEM=1 GORACE='%s'\n", env.Getenv("PATH"), env.Getenv("TRANSCRIPT"), env.Getenv("GORACE"))
	for name, text := range map[string]string{
		".gitconfig":               "[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n",
		".bash_profile":            profile + ". ~/.bashrc\n",
		".bashrc":                  "PS1='$ '\n",
		".zshenv":                  profile,
		".zshrc":                   "PS1='$ '\n",
		".config/fish/config.fish": "set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\n",
	} {
		path := filepath.Join(user, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if _, err := os.Stat(path); err == nil {
			continue // the story brings its own
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// endHome ends whatever a story left running, also when it failed.
func endHome(env *testscript.Env, home string) {
	davit, err := exec.LookPath("davit")
	if err != nil {
		return
	}
	cmd := exec.Command(davit, "down", "--all")
	cmd.Dir = env.WorkDir
	for _, name := range storyVariables {
		cmd.Env = append(cmd.Env, name+"="+env.Getenv(name))
	}
	cmd.Env = append(cmd.Env, "DAVIT_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "socket_taken") {
		env.T().Log("down --all: ", err, ": ", string(out))
	}
}

// tellRaces fails a story in which the race detector found something, in whatever process.
func tellRaces(env *testscript.Env, root string) {
	reports, _ := filepath.Glob(filepath.Join(root, "race.*"))
	logs, _ := filepath.Glob(filepath.Join(root, "h", "state", "*.log"))
	for _, path := range append(reports, logs...) {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "DATA RACE") {
			env.T().Fatal(path, ": ", string(data))
		}
	}
}

// removeStory removes the folder that setupStory made. A keeper that is just ending may
// still write into it.
func removeStory(root string) {
	for range 50 {
		if os.RemoveAll(root) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// storyCondition is [missing:zsh]: the program is not there and the story may be skipped.
// Under DAVIT_REQUIRE_ALL=1 it is an error instead.
func storyCondition(cond string) (bool, error) {
	program, ok := strings.CutPrefix(cond, "missing:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	if _, err := exec.LookPath(program); err == nil {
		return false, nil
	}
	if os.Getenv("DAVIT_REQUIRE_ALL") == "1" {
		return false, fmt.Errorf("%s is not installed, and DAVIT_REQUIRE_ALL=1 forbids skipping", program)
	}
	return true, nil
}
