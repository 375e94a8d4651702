package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/testenv"
)

// grouped skips where control groups cannot be used, and gives the keeper's directory.
func (in *instance) grouped(c *client.Client) string {
	in.t.Helper()
	s, err := c.Status(ctx(in.t))
	if err != nil || s.Cgroup == nil {
		in.t.Fatalf("the status does not say whether control groups are used: %+v, %v", s.Cgroup, err)
	}
	if !s.Cgroup.Used {
		testenv.Lacks(in.t, "writable control group: "+s.Cgroup.Reason)
	}
	return s.Cgroup.Path
}

// wiped starts a daemon that nothing but its control group tells: own session, no
// terminal, an empty environment, parents that have gone.
func wiped(t testing.TB, pidfile string) string {
	return fmt.Sprintf("(env -i DAVIT_TEST_ROLE=stubborn OWN_SESSION=1 PIDFILE=%s %s </dev/null >/dev/null 2>&1 &)", pidfile, self(t))
}

func (in *instance) killLater(pid int) {
	in.t.Cleanup(func() {
		if !gone(pid) {
			kill(in.t, pid, syscall.SIGKILL)
		}
	})
}

// members reads a control group.
func members(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	return string(b)
}

// awaitNoGroup waits until a control group has been removed.
func awaitNoGroup(t testing.TB, dir string) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		_, err := os.Stat(dir)
		return os.IsNotExist(err), dir + " is still there, with " + members(dir)
	})
}

// An orphan with its environment wiped, in a session of its own, belongs to its pane by the
// control group: it is ended with an agent, chat, setup or cleanup, and kept and told of a
// user's shell; the group goes with its last process (spec terminal P5.1).
func TestCloseWipedOrphan(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{keeper.PaneAgent, keeper.PaneChat, keeper.PaneSetup, keeper.PaneCleanup, keeper.PaneShell} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			in := startKeeper(t, nil)
			c := in.dial()
			dir := in.grouped(c)
			pidfile := filepath.Join(t.TempDir(), "pid")
			req := in.shell("p", wiped(t, pidfile)+"; exec sleep 1000")
			req.Kind = kind
			shell := in.spawn(c, req)
			orphan := pidIn(t, pidfile)
			in.killLater(orphan)
			group := filepath.Join(dir, "p")
			for _, pid := range []int{shell.Pid, orphan} {
				if !strings.Contains(members(group), fmt.Sprintln(pid)) {
					t.Errorf("%d is not in %s: %q", pid, group, members(group))
				}
			}
			report, err := c.Close(ctx(t), in.id(), "p", quick)
			if err != nil || !gone(shell.Pid) {
				t.Fatalf("%+v, %v", report, err)
			}
			if kind == keeper.PaneShell {
				if gone(orphan) || len(report.Kept) != 1 || report.Kept[0].Pid != orphan {
					t.Fatalf("the user's daemon: gone %v, %+v", gone(orphan), report)
				}
				s, err := c.Status(ctx(t))
				if err != nil || len(s.Adopted) != 1 || s.Adopted[0].Pid != orphan || s.Adopted[0].Pane != "p" || time.Since(s.Adopted[0].Since) > time.Hour {
					t.Errorf("the status tells %+v, %v", s.Adopted, err)
				}
				kill(t, orphan, syscall.SIGKILL)
			} else if !gone(orphan) || len(report.Kept)+len(report.Remaining) != 0 {
				t.Errorf("the orphan: gone %v, %+v", gone(orphan), report)
			}
			awaitNoGroup(t, group)
			in.end()
			awaitNoGroup(t, dir)
		})
	}
}

// What a pane's program started is not taken for another pane's, nested keepers included
// (spec terminal P5.1).
func TestCloseSparesOtherGroups(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.grouped(c)
	files := t.TempDir()
	var orphans []int
	for _, pane := range []string{"p", "p2"} { // one name begins like the other
		file := filepath.Join(files, pane)
		in.spawn(c, in.shell(pane, wiped(t, file)+"; exec sleep 1000"))
		orphans = append(orphans, pidIn(t, file))
		in.killLater(orphans[len(orphans)-1])
	}
	if _, err := c.Close(ctx(t), in.id(), "p", quick); err != nil || !gone(orphans[0]) || gone(orphans[1]) {
		t.Errorf("gone: %v and %v, %v", gone(orphans[0]), gone(orphans[1]), err)
	}
	if _, err := c.Close(ctx(t), in.id(), "p2", quick); err != nil || !gone(orphans[1]) {
		t.Errorf("gone: %v, %v", gone(orphans[1]), err)
	}
}

// Control groups are kept over an upgrade in place; after a keeper that was killed the next
// one removes what is empty of them, and only that (spec terminal P5.1, P1.7).
func TestGroupsOutliveTheKeeper(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	dir := in.grouped(c)
	files := t.TempDir()
	for _, pane := range []string{"p", "q"} {
		in.spawn(c, in.shell(pane, wiped(t, filepath.Join(files, pane))+"; exec sleep 1000"))
		in.killLater(pidIn(t, filepath.Join(files, pane)))
	}
	in.upgrade(rebuilt(t, "davit-next"))
	c = in.dial()
	if again := in.grouped(c); again != dir {
		t.Errorf("after the upgrade the groups are in %s, before in %s", again, dir)
	}
	if _, err := c.Close(ctx(t), in.id(), "p", quick); err != nil || !gone(pidIn(t, filepath.Join(files, "p"))) {
		t.Errorf("the orphan of before the upgrade lives (%v)", err)
	}
	survivor := pidIn(t, filepath.Join(files, "q"))
	ended := in.spawn(c, in.shell("r", "exec sleep 1000"))
	kill(t, in.rec.Pid, syscall.SIGKILL)
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		return gone(in.rec.Pid) && gone(ended.Pid), "the keeper or its terminal's program lives"
	})
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { // q's own program ends with its terminal
		found, err := keeper.Survivors([]string{"q", "r"})
		return err == nil && len(found["q"]) == 1 && found["q"][0].Pid == survivor && len(found["r"]) == 0,
			fmt.Sprintf("what survives the keeper: %+v, %v", found, err)
	})
	in.start()
	if _, err := os.Stat(filepath.Join(dir, "r")); !os.IsNotExist(err) {
		t.Errorf("the empty group of a dead keeper's pane stays: %v", err)
	}
	if gone(survivor) || !strings.Contains(members(filepath.Join(dir, "q")), fmt.Sprintln(survivor)) {
		t.Error("the survivor was not left alone")
	}
	kill(t, survivor, syscall.SIGKILL)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		b, _ := os.ReadFile(filepath.Join(dir, "q", "cgroup.events"))
		return strings.Contains(string(b), "populated 0"), string(b)
	})
	in.end()
	awaitNoGroup(t, dir)
}

// A stopped process is continued to be told, and ends; a zombie is not alive, and nothing
// waits for it (spec terminal P5.1).
func TestCloseStoppedAndZombie(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	file := filepath.Join(t.TempDir(), "pid")
	stopped := in.spawn(c, in.shell("stopped", fmt.Sprintf("trap 'exit 0' HUP; printf $$ >%s; while :; do sleep 0.05; done", file)))
	pid := pidIn(t, file)
	kill(t, pid, syscall.SIGSTOP)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return strings.Contains(string(b), ") T "), string(b)
	})
	report, err := c.Close(ctx(t), in.id(), "stopped", keeper.CloseOptions{Hangup: 5 * time.Second, Term: 5 * time.Second})
	if err != nil || !gone(stopped.Pid) || report.Exit == nil || report.Exit.Signal != 0 || report.Exit.Code != 0 {
		t.Errorf("a stopped program: %+v exit %+v, %v", report, report.Exit, err)
	}
	// A parent in another session that never waits keeps the zombie for as long as it lives.
	in.spawn(c, in.role("z", "undertaker", "PIDFILE="+file+"z"))
	zombie := pidIn(t, file+"z")
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return gone(zombie), "no zombie yet" })
	if keeper.ProcessAlive(zombie, 0) {
		t.Error("a zombie is alive")
	}
	started := time.Now()
	report, err = c.Close(ctx(t), in.id(), "z", keeper.CloseOptions{Hangup: 20 * time.Second, Term: 20 * time.Second})
	if err != nil || len(report.Remaining) != 0 || time.Since(started) > 15*time.Second {
		t.Errorf("with a zombie: %+v, %v after %s", report, err, time.Since(started))
	}
	for _, p := range report.Ended {
		if p.Pid == zombie {
			t.Error("a zombie was ended")
		}
	}
}
