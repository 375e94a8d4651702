package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// TestKilledCleanup: host or keeper are killed at each step of a cleanup, in a real
// repository, for the worktree alone and for worktree and branch. What was queued or ran
// goes on when only the host dies; when the keeper dies it is told as interrupted and never
// run again; no command runs twice (spec tabs T5.4, T5.5, T5.7; cases 8, 18, 30).
func TestKilledCleanup(t *testing.T) {
	testenv.Require(t, "git")
	for _, at := range []string{"first", "between"} { // in the first command; in the second
		for _, branch := range []bool{false, true} {
			for _, victim := range []string{"host", "keeper"} {
				t.Run(fmt.Sprintf("%s in the %s step, branch %t", victim, at, branch), func(t *testing.T) {
					t.Parallel()
					killedCleanup(t, at, branch, victim)
				})
			}
		}
	}
}

func killedCleanup(t *testing.T, at string, branch bool, victim string) {
	s := newScene(t)
	s.env = append(s.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	repo, dir := filepath.Join(s.dir, "repo"), filepath.Join(s.dir, "home", "config", "tab_configs")
	s.git(".", "init", "-q", "-b", "main", "repo")
	s.git("repo", "commit", "-q", "--allow-empty", "-m", "first")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	wait := func(step string) string {
		if step != at {
			return fmt.Sprintf(`echo %s >> "$HOME/ran"`, step)
		}
		return fmt.Sprintf(`echo %s >> "$HOME/ran"; while ! test -e "$HOME/go"; do sleep 0.02; done`, step)
	}
	commands := []string{wait("first"), wait("between"), "git worktree remove {{worktree_path}}"}
	if branch {
		commands = append(commands, "git branch -D needle")
	}
	var quoted []string
	for _, c := range commands {
		quoted = append(quoted, "'"+c+"'")
	}
	config := "name = \"Tree\"\n[worktree]\nrepo = '" + repo + "'\nbranch = \"needle\"\n[[panes]]\nid = \"main\"\ntype = \"terminal\"\n[on_close]\ndirectory = '" + repo + "'\ncommands = [" + strings.Join(quoted, ", ") + "]\n"
	if err := os.WriteFile(filepath.Join(dir, "tree.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.up()
	var opened wire.Opened
	if err := s.client.Call(t.Context(), "config.open", wire.OpenRequest{Config: "tree", Dir: repo}, &opened); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Call(t.Context(), "tab.close", wire.TabClose{Tabs: []davit.TabID{opened.TabID}, Yes: true}, nil); err != nil {
		t.Fatal(err)
	}
	s.eventually("the step begins", func() bool { return strings.Contains(s.read("ran"), at) })
	var info wire.HostInfo
	if err := s.client.Call(t.Context(), "host.info", wire.None{}, &info); err != nil {
		t.Fatal(err)
	}
	tree := opened.Worktree.Path
	if victim == "keeper" {
		s.kill()
		if err := syscall.Kill(info.KeeperPid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.eventually("the keeper is gone", func() bool { return syscall.Kill(info.KeeperPid, 0) != nil || strings.Contains(state(info.KeeperPid), "Z") })
	} else {
		s.kill()
	}
	s.start()
	s.await()
	s.touch("go")
	s.eventually("the cleanup has ended", func() bool {
		if _, err := os.Stat(tree); victim == "host" || err != nil {
			return err != nil && !(branch && strings.Contains(s.git("repo", "branch"), "needle"))
		}
		return strings.Contains(s.notices(), "Cleanup of")
	})
	for _, step := range []string{"first", "between"} {
		if n := strings.Count(s.read("ran"), step); n > 1 || n == 0 && (victim == "host" || step == "first") {
			t.Errorf("the step %s ran %d times", step, n)
		}
	}
	if has := strings.Contains(s.git("repo", "branch"), "needle"); victim == "host" && has == branch {
		t.Errorf("the branch is there: %t", has)
	}
	if told := s.notices(); victim == "host" && strings.Contains(told, "Cleanup of") {
		t.Errorf("told as failed: %s", told)
	}
	s.kill()
	s.start()
	s.await()
	if n := strings.Count(s.read("ran"), at); n != 1 {
		t.Errorf("after another start the step %s ran %d times", at, n)
	}
	s.down()
}

func (s *scene) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = filepath.Join(s.dir, dir), s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *scene) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(data)
}

func (s *scene) touch(name string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) eventually(what string, holds func() bool) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) { return holds(), "not yet: " + what + "; notices: " + s.notices() })
}

func (s *scene) notices() string {
	var list wire.NoticeList
	if err := s.client.Call(s.t.Context(), "notice.list", wire.None{}, &list); err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, n := range list.Notices {
		fmt.Fprintf(&text, "%s: %s\n", n.Title, n.Body)
	}
	return text.String()
}

func state(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(data)
}
