package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// cleanupScene is a scene with a repository, whose cleanups are disturbed by one victim.
type cleanupScene struct {
	*scene
	victim   string
	branch   bool // the plans of tabs opened from now on delete the branch
	last     wire.HostInfo
	checks   []func() // what must still hold at the end
	expected map[string]bool
}

// closing is one tab with its close plan.
type closing struct {
	s        *cleanupScene
	name     string
	tab      davit.TabID
	tree     string
	commands []string
	branch   bool
	pid      int // of its process, once it was seen
}

func newCleanupScene(t *testing.T, victim string) *cleanupScene {
	s := &cleanupScene{scene: newScene(t), victim: victim, expected: map[string]bool{}}
	t.Cleanup(func() { // before the scene's own: what a failed test left stopped could not be ended
		s.signal(s.last.KeeperPid, syscall.SIGCONT)
		if s.host != nil {
			s.signal(s.host.Process.Pid, syscall.SIGCONT)
		}
	})
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	// Every call of git is written down.
	script := "#!/bin/sh\necho \"$*\" >> '" + s.dir + "/git.log'\nexec '" + git + "' \"$@\"\n"
	for _, dir := range []string{"bin", "home/config/tab_configs"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "bin", "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, v := range s.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			s.env[i] = "PATH=" + filepath.Join(s.dir, "bin") + ":" + path
		}
	}
	s.env = append(s.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	for _, repo := range []string{"repo", "repo-asked", "repo-unrecorded"} {
		s.git(".", "init", "-q", "-b", "main", repo)
		s.git(repo, "commit", "-q", "--allow-empty", "-m", "first")
	}
	return s
}

// repo is the repository of a tab: one of its own where the keeper is stopped, so that no
// earlier cleanup, which the host has not settled yet, is in the way.
func (s *cleanupScene) repo(name string) string {
	if _, err := os.Stat(filepath.Join(s.dir, "repo-"+name)); err == nil {
		return "repo-" + name
	}
	return "repo"
}

// commands are a close plan. Each writes down that it ran; the first and the last wait
// while they are held.
func (s *cleanupScene) commands(name string) []string {
	name, then, _ := strings.Cut(name, ";")
	mark := func(step string) string { return fmt.Sprintf(`echo %s >> "$HOME/ran.%s"`, step, name) }
	wait := func(step string) string {
		return mark(step) + fmt.Sprintf(`; echo $$ > "$HOME/pid.%s"; while test -e "$HOME/hold.%s.%s"; do sleep 0.1; done`, name, name, step)
	}
	first := wait("first")
	if then != "" {
		first += ";" + then
	}
	list := []string{first, mark("middle"), "git worktree remove " + s.treeOf(name)}
	if s.branch {
		list = append(list, "git branch -d "+name)
	}
	return append(list, wait("last"))
}

func (s *cleanupScene) treeOf(name string) string {
	if name == "merged" {
		return filepath.Join(s.dir, "merged")
	}
	return "{{worktree_path}}"
}

// open opens a tab with a worktree of its own.
func (s *cleanupScene) open(name string, commands []string) *closing {
	s.t.Helper()
	return s.openConfig(name, "[worktree]\nrepo = '"+filepath.Join(s.dir, s.repo(name))+"'\nbranch = \""+name+"\"\n", commands, filepath.Join(s.dir, s.repo(name)))
}

// openIn opens a tab in a worktree that is there.
func (s *cleanupScene) openIn(name string, commands []string, tree string) *closing {
	s.t.Helper()
	return s.openConfig(name, "", commands, tree)
}

func (s *cleanupScene) openConfig(name, worktree string, commands []string, dir string) *closing {
	s.t.Helper()
	var quoted []string
	for _, c := range commands {
		quoted = append(quoted, "'''"+c+"'''")
	}
	config := "name = \"" + name + "\"\ntitle = \"" + name + "\"\n" + worktree + "[[panes]]\nid = \"main\"\ntype = \"terminal\"\n[on_close]\ndirectory = '" +
		filepath.Join(s.dir, s.repo(name)) + "'\ncommands = [" + strings.Join(quoted, ", ") + "]\n"
	if err := os.WriteFile(filepath.Join(s.dir, "home", "config", "tab_configs", name+".toml"), []byte(config), 0o600); err != nil {
		s.t.Fatal(err)
	}
	var opened wire.Opened
	if err := s.client.Call(s.t.Context(), "config.open", wire.OpenRequest{Config: name, Dir: dir}, &opened); err != nil {
		s.t.Fatal(err)
	}
	c := &closing{s: s, name: name, tab: opened.TabID, tree: dir, commands: commands, branch: s.branch}
	if opened.Worktree != nil {
		c.tree = opened.Worktree.Path
	}
	return c
}

func (s *cleanupScene) plain(dir string) davit.TabID {
	s.t.Helper()
	var opened wire.Opened
	if err := s.client.Call(s.t.Context(), "tab.open", wire.TabOpen{Directory: dir}, &opened); err != nil {
		s.t.Fatal(err)
	}
	return opened.TabID
}

func (s *cleanupScene) close(tabs ...davit.TabID) {
	s.t.Helper()
	if err := s.client.Call(s.t.Context(), "tab.close", wire.TabClose{Tabs: tabs, Yes: true}, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *cleanupScene) info() wire.HostInfo {
	s.t.Helper()
	if err := s.client.Call(s.t.Context(), "host.info", wire.None{}, &s.last); err != nil {
		s.t.Fatal(err)
	}
	return s.last
}

// keeper is the keeper's pid, which must be there.
func (s *cleanupScene) keeper() int {
	s.t.Helper()
	if pid := s.info().KeeperPid; pid > 0 {
		return pid
	}
	s.t.Fatal("there is no keeper")
	return 0
}

func (s *cleanupScene) stopKeeper() int {
	s.t.Helper()
	pid := s.keeper()
	s.signal(pid, syscall.SIGSTOP)
	return pid
}

func (s *cleanupScene) signal(pid int, sig syscall.Signal) {
	if pid > 0 {
		_ = syscall.Kill(pid, sig)
	}
}

// end kills a process and waits until it is gone.
func (s *cleanupScene) end(pid int) {
	s.t.Helper()
	s.signal(pid, syscall.SIGKILL)
	s.blindly("a killed process is gone", func() bool {
		text := state(pid)
		return text == "" || strings.Contains(text, ") Z ")
	})
}

func (s *cleanupScene) killVictim(c *closing) { s.killing(c, func() {}) }

// killing kills the victim, does what is to be done while it is dead, and starts a host
// again when that was one.
func (s *cleanupScene) killing(c *closing, meanwhile func()) {
	s.t.Helper()
	keeper := s.last.KeeperPid
	if s.host.ProcessState == nil && !strings.Contains(state(s.host.Process.Pid), ") T ") && !strings.Contains(state(keeper), ") T ") {
		keeper = s.keeper()
	}
	if s.victim != "keeper" {
		s.kill()
	}
	if s.victim != "host" {
		s.end(keeper)
	}
	if s.victim == "all" {
		if pid := c.process(); pid > 0 {
			s.end(pid)
		}
		if pid, _ := strconv.Atoi(strings.TrimSpace(s.read("pid." + c.name))); pid > 1 {
			s.signal(-pid, syscall.SIGKILL) // the command's session
		}
	}
	meanwhile()
	if s.victim != "keeper" {
		s.start()
		s.await()
	}
}

func (s *cleanupScene) hold(c *closing, step string) {
	s.t.Helper()
	s.touch("hold." + c.name + "." + step)
}

func (s *cleanupScene) letGo(c *closing, step string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, "hold."+c.name+"."+step)); err != nil {
		s.t.Fatal(err)
	}
}

// wantDone waits until the cleanup is done: each command once, the worktree gone, the
// branch as the plan has it.
func (s *cleanupScene) wantDone(c *closing) {
	s.t.Helper()
	s.eventually(c.name+" is done, with "+s.victim, c.done)
	s.check(func() {
		for _, step := range []string{"first", "middle", "last"} {
			if n := c.ran(step); n != 1 {
				s.t.Errorf("%s: the command %s ran %d times", c.name, step, n)
			}
		}
		if _, err := os.Stat(c.tree); err == nil {
			s.t.Errorf("%s: the worktree is there", c.name)
		}
		if has := s.hasBranch(c.name); has == c.branch {
			s.t.Errorf("%s: the branch is there: %t", c.name, has)
		}
	})
}

// wantInterrupted waits until the cleanup is told as interrupted, with the command, its
// state, and how many did not begin.
func (s *cleanupScene) wantInterrupted(c *closing, command, says string, skipped int) {
	s.t.Helper()
	title := fmt.Sprintf("Cleanup of %q was interrupted", c.name)
	s.expected[title] = true
	find := func() (davit.Notice, bool) {
		for _, n := range s.cleanupNotices() {
			if n.Title == title {
				return n, true
			}
		}
		return davit.Notice{}, false
	}
	s.eventually(title, func() bool { _, told := find(); return told })
	begun := []string{"first", "middle", "last"}
	if skipped > 0 {
		begun = begun[:1]
	}
	s.check(func() {
		n, _ := find()
		if !n.Persistent || !strings.Contains(n.Body, command) || !strings.Contains(n.Body, says) || skipped > 0 != strings.Contains(n.Body, fmt.Sprintf("%d commands were skipped", skipped)) {
			s.t.Errorf("%s: %q", n.Title, n.Body)
		}
		for i, step := range []string{"first", "middle", "last"} {
			want := 0
			if i < len(begun) {
				want = 1
			}
			if n := c.ran(step); n != want {
				s.t.Errorf("%s: the command %s ran %d times", c.name, step, n)
			}
		}
		if _, err := os.Stat(c.tree); (err == nil) != (skipped > 0) {
			s.t.Errorf("%s: the worktree: %v", c.name, err)
		}
		if has := s.hasBranch(c.name); has == (c.branch && skipped == 0) {
			s.t.Errorf("%s: the branch is there: %t", c.name, has)
		}
	})
}

// check looks now, and at the end again.
func (s *cleanupScene) check(look func()) {
	look()
	s.checks = append(s.checks, look)
}

func (s *cleanupScene) hasBranch(name string) bool {
	return strings.TrimSpace(s.git(s.repo(name), "branch", "--list", name)) != ""
}

// dir is the folder of the cleanup, "" before there is one.
func (c *closing) dir() string {
	plans, _ := filepath.Glob(filepath.Join(c.s.dir, "home", "state", "cleanups", "*", "plan.json"))
	for _, plan := range plans {
		if data, _ := os.ReadFile(plan); bytes.Contains(data, []byte(c.tab)) {
			return filepath.Dir(plan)
		}
	}
	return ""
}

// process is the pid of the cleanup's own process, 0 for none.
func (c *closing) process() int {
	dir := c.dir()
	if dir == "" {
		return 0
	}
	is := func(pid int) bool {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && bytes.Contains(args, []byte("cleanup-run\x00"+dir))
	}
	if c.pid > 0 {
		if is(c.pid) {
			return c.pid
		}
		return 0
	}
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		if pid, err := strconv.Atoi(p.Name()); err == nil && is(pid) {
			c.pid = pid
			return pid
		}
	}
	return 0
}

func (c *closing) steps() string {
	data, _ := os.ReadFile(filepath.Join(c.dir(), "steps.jsonl"))
	return string(data)
}

// done says whether every step is recorded as done.
func (c *closing) done() bool {
	done := 0
	for _, line := range strings.Split(c.steps(), "\n") {
		var step struct{ State string }
		if json.Unmarshal([]byte(line), &step) == nil && step.State == "done" {
			done++
		}
	}
	return done == len(c.commands)
}

// ran is how often a command of the plan has begun.
func (c *closing) ran(step string) (n int) {
	for _, line := range strings.Split(c.s.read("ran."+c.name), "\n") {
		if line == step {
			n++
		}
	}
	return n
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
	testenv.Eventually(s.t, patience, func() (bool, string) {
		if holds() {
			return true, ""
		}
		return false, "not yet: " + what + "; notices: " + s.notices()
	})
}

// blindly is eventually, of a host that may not answer.
func (s *scene) blindly(what string, holds func() bool) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) { return holds(), "not yet: " + what })
}

func (s *scene) notices() string {
	var text strings.Builder
	for _, n := range s.noticeList() {
		fmt.Fprintf(&text, "%s: %s\n", n.Title, n.Body)
	}
	return text.String()
}

func (s *scene) noticeList() []davit.Notice {
	var list wire.NoticeList
	if err := s.client.Call(s.t.Context(), "notice.list", wire.None{}, &list); err != nil {
		return []davit.Notice{{Title: err.Error()}}
	}
	return list.Notices
}

// cleanupNotices are those of cleanups that did not end well.
func (s *scene) cleanupNotices() (told []davit.Notice) {
	for _, n := range s.noticeList() {
		if n.Kind == "cleanup_failed" {
			told = append(told, n)
		}
	}
	return told
}

func state(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(data)
}
