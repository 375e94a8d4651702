package web_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit/internal/testenv"
	"davit/web"
)

// The browser stories (test/*.spec.ts) run in real Chromium on a real davit with a home,
// a repository and a user of its own.
func TestBrowserStories(t *testing.T) {
	testenv.Require(t, "node", "npm", "git", "bash", "chromium")
	if !web.Built() {
		t.Fatal("the page is not built: run `make web`")
	}
	if testing.Short() {
		t.Skip("the stories take minutes")
	}
	root, err := os.MkdirTemp("", "dv-web-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	user, repo, bin := filepath.Join(root, "user"), filepath.Join(root, "compass"), filepath.Join(root, "davit")
	for _, dir := range []string{user, repo} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	gitconfig := "[user]\n\tname = Story\n\temail = story@davit.invalid\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(user, ".gitconfig"), []byte(gitconfig), 0o644); err != nil {
		t.Fatal(err)
	}
	gh := scriptedGh(t, root, user)
	env := []string{
		"PATH=" + gh.dir + ":" + os.Getenv("PATH"), "DAVIT_GH=" + gh.says, "HOME=" + user, "DAVIT_HOME=" + filepath.Join(root, "h"), "SHELL=/bin/bash", "LANG=C.UTF-8",
		"DAVIT_BIN=" + bin, "DAVIT_NO_BROWSER=1",
	}
	for _, name := range []string{"CHROMIUM", "DAVIT_PICTURES", "DAVIT_PATIENCE"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	run := func(limit time.Duration, dir, name string, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = dir, env
		// A group of its own, so that what it started (node, the browser) ends with it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(limit time.Duration, dir, name string, args ...string) string {
		t.Helper()
		out, err := run(limit, dir, name, args...)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return out
	}
	build := exec.Command("go", "build", "-o", bin, "davit/cmd/davit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build davit: %v\n%s", err, out)
	}
	must(time.Minute, repo, "git", "init", "--quiet")
	if err := os.WriteFile(filepath.Join(repo, "north.txt"), []byte("north\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(time.Minute, repo, "git", "add", ".")
	must(time.Minute, repo, "git", "commit", "--quiet", "--message", "Begin")
	t.Cleanup(func() {
		if out, err := run(time.Minute, root, bin, "down", "--all"); err != nil {
			t.Errorf("the stories' davit did not end: %v\n%s", err, out)
		}
	})
	var info struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(must(time.Minute, repo, bin, "up", "--detach", "--listen", "127.0.0.1:0", "--json")), &info); err != nil {
		t.Fatal(err)
	}
	env = append(env, "DAVIT_URL="+info.URL)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// DAVIT_STORIES="tabs configs" runs these files alone, for whoever works on them.
	args := []string{"run", "--silent", "test:stories"}
	if some := strings.Fields(os.Getenv("DAVIT_STORIES")); len(some) > 0 {
		args = []string{"run", "--silent", "test:story", "--"}
		for _, name := range some {
			args = append(args, "test/"+name+".spec.ts")
		}
	}
	out, err := run(20*time.Minute, here, "npm", args...)
	t.Log(out)
	if err != nil {
		log, _ := run(time.Minute, repo, bin, "logs")
		t.Fatalf("stories failed: %v\nthe host's log:\n%s", err, log)
	}
	// node's runner ends well when it found nothing to run.
	if !strings.Contains(out, "ℹ pass ") || strings.Contains(out, "ℹ pass 0\n") {
		t.Fatal("no story ran")
	}
}

type gh struct {
	dir  string // for the PATH
	says string // its answer, written by the stories; none: nobody is signed in
}

// scriptedGh writes a gh that answers as a file says, and puts it first on the PATH of
// the host and of the user's shells.
func scriptedGh(t *testing.T, root, user string) gh {
	t.Helper()
	g := gh{dir: filepath.Join(root, "bin"), says: filepath.Join(root, "gh-says.json")}
	script := `#!/bin/sh
if [ ! -f '` + g.says + `' ]; then
	echo 'To get started with GitHub CLI, please run:  gh auth login' >&2
	exit 4
fi
case "$1 $2" in
"pr view") exec cat '` + g.says + `' ;;
esac
`
	files := map[string]string{
		filepath.Join(g.dir, "gh"):           script,
		filepath.Join(user, ".bashrc"):       "PATH='" + g.dir + "':$PATH\n",
		filepath.Join(user, ".bash_profile"): ". ~/.bashrc\n",
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return g
}
