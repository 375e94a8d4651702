package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// TestKilledCleanup: host, keeper, both, or with them the cleanup's own processes (as a
// restart of the machine does) are killed with SIGKILL at each step of a cleanup, in a real
// repository, for the worktree alone and for worktree and branch. Each point is reached for
// sure: processes are stopped, locks held, commands wait for a file.
//
// Whenever the cleanup's process lives, or never began, the cleanup is carried out to its
// end, each command once, and nothing is told. When it was cut off, it is told as
// interrupted with what it had done, and never goes on by itself (spec tabs T5.4 to T5.7,
// T5.9; cases 8, 18, 20, 30).
func TestKilledCleanup(t *testing.T) {
	testenv.Require(t, "git")
	halves := []int{0} // each point by turns with and without the branch
	if os.Getenv("DAVIT_KILLS") != "" {
		halves = []int{0, 1}
	}
	for i, victim := range []string{"host", "keeper", "both", "all"} {
		for _, half := range halves {
			t.Run(fmt.Sprintf("%s %d", victim, half), func(t *testing.T) {
				t.Parallel()
				s := newCleanupScene(t, victim)
				s.branch = (i/2+half)%2 == 1
				s.stored()
				for j, at := range []func(){s.asked, s.unrecorded, s.inFirst, s.between, s.inLast, s.ended, s.held, s.queued, s.merged} {
					if (testing.Short() || raceDetector) && len(halves) == 1 && (i+j)%2 == 1 {
						continue // each point still has two victims
					}
					s.branch = !s.branch
					at()
				}
				s.judge()
			})
		}
	}
}

// stored: the rows are there, the keeper was not asked. Of the keeper alone: it is gone
// when it is asked.
func (s *cleanupScene) stored() {
	if s.victim == "keeper" {
		s.up()
		c := s.open("stored", s.commands("stored"))
		s.killVictim(c)
		s.close(c.tab)
		s.wantDone(c)
		return
	}
	plain := s.env
	s.env = append(slices.Clone(s.env), "DAVIT_FAILPOINT=cleanup-stored")
	s.up()
	s.env = plain
	c := s.open("stored", s.commands("stored"))
	keeper := s.keeper()
	if err := s.client.Call(s.t.Context(), "tab.close", wire.TabClose{Tabs: []davit.TabID{c.tab}, Yes: true}, nil); err == nil {
		s.t.Fatal("the host outlived its failpoint")
	}
	_ = s.host.Wait()
	if s.victim != "host" {
		s.end(keeper)
	}
	if c.dir() != "" {
		s.t.Error("the keeper was asked before the rows were stored")
	}
	s.start()
	s.await()
	s.wantDone(c)
}

// asked: the keeper has been asked and has not acted.
func (s *cleanupScene) asked() {
	c := s.open("asked", s.commands("asked"))
	keeper := s.stopKeeper()
	s.close(c.tab)
	s.eventually("the plan is written", func() bool { return c.dir() != "" })
	s.killVictim(c)
	s.signal(keeper, syscall.SIGCONT)
	s.wantDone(c)
}

// unrecorded: the cleanup's process is there and has recorded nothing.
func (s *cleanupScene) unrecorded() {
	c := s.open("unrecorded", s.commands("unrecorded"))
	keeper := s.stopKeeper()
	s.close(c.tab)
	s.eventually("the plan is written", func() bool { return c.dir() != "" })
	lock, err := os.OpenFile(filepath.Join(c.dir(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		s.t.Fatal(err)
	}
	s.signal(keeper, syscall.SIGCONT)
	s.eventually("the process is there", func() bool { return c.process() != 0 })
	s.killVictim(c)
	if got := c.steps(); got != "" {
		s.t.Errorf("it has recorded %s", got)
	}
	lock.Close()
	s.wantDone(c)
}

// inFirst: in the first command.
func (s *cleanupScene) inFirst() {
	c := s.open("first", s.commands("first"))
	s.hold(c, "first")
	s.close(c.tab)
	s.eventually("the first command runs", func() bool { return c.ran("first") == 1 })
	s.killVictim(c)
	s.letGo(c, "first")
	if s.victim == "all" {
		s.wantInterrupted(c, "echo first", "whether it took effect is not known", len(c.commands)-1)
		return
	}
	s.wantDone(c)
}

// between: the first command has ended, the next has not begun. Of the processes all: the
// first one's end is recorded.
func (s *cleanupScene) between() {
	c := s.open("between", s.commands("between; kill -STOP $PPID"))
	s.close(c.tab)
	s.eventually("it is between two commands", func() bool { return strings.Contains(state(c.process()), ") T ") })
	process := c.process()
	s.killing(c, func() {
		if s.victim != "all" {
			return
		}
		f, err := os.OpenFile(filepath.Join(c.dir(), "steps.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintf(f, `{"index":0,"kind":"command","command":"echo first","state":"done","exit":0}`+"\n")
	})
	if s.victim == "all" {
		s.wantInterrupted(c, "echo first", "what it ran last has ended well", len(c.commands)-1)
		return
	}
	s.signal(process, syscall.SIGCONT)
	s.wantDone(c)
}

// inLast: in the last command.
func (s *cleanupScene) inLast() {
	c := s.open("last", s.commands("last"))
	s.hold(c, "last")
	s.close(c.tab)
	s.eventually("the last command runs", func() bool { return c.ran("last") == 1 })
	s.killVictim(c)
	s.letGo(c, "last")
	if s.victim == "all" {
		s.wantInterrupted(c, "echo last", "whether it took effect is not known", 0)
		return
	}
	s.wantDone(c)
}

// ended: after the last command, before the host has settled it.
func (s *cleanupScene) ended() {
	c := s.open("ended", s.commands("ended"))
	s.hold(c, "last")
	s.close(c.tab)
	s.eventually("the last command runs", func() bool { return c.ran("last") == 1 })
	host := s.host.Process.Pid
	s.info() // while it answers
	s.signal(host, syscall.SIGSTOP)
	s.letGo(c, "last")
	s.blindly("its process has ended", func() bool { return c.process() == 0 })
	s.killVictim(c)
	if s.victim == "keeper" {
		s.signal(host, syscall.SIGCONT)
	}
	s.wantDone(c)
}

// held: another tab is in its worktree.
func (s *cleanupScene) held() {
	c := s.open("held", s.commands("held"))
	other := s.plain(c.tree)
	s.close(c.tab)
	s.eventually("it is held", func() bool { return strings.Contains(s.notices(), `Cleanup of "held" waits`) })
	s.killVictim(c)
	s.eventually("it is held still", func() bool { return strings.Contains(s.notices(), `Cleanup of "held" waits`) })
	if c.ran("first") != 0 {
		s.t.Error("what is held has run")
	}
	s.close(other)
	s.wantDone(c)
}

// queued: another one of its repository runs.
func (s *cleanupScene) queued() {
	one := s.open("one", s.commands("one"))
	two := s.open("two", s.commands("two"))
	s.hold(one, "first")
	s.close(one.tab)
	s.eventually("the first runs", func() bool { return one.ran("first") == 1 })
	s.close(two.tab)
	s.killVictim(one)
	if s.victim == "all" {
		s.letGo(one, "first")
		s.wantInterrupted(one, "echo first", "whether it took effect is not known", len(one.commands)-1)
	} else {
		s.info() // it answers, and has looked at the queue
		if two.ran("first") != 0 {
			s.t.Error("two cleanups run in one repository")
		}
		s.letGo(one, "first")
		s.wantDone(one)
	}
	s.wantDone(two)
}

// merged: two equal plans of one worktree are held, and become one.
func (s *cleanupScene) merged() {
	tree := filepath.Join(s.dir, "merged")
	s.git("repo", "worktree", "add", "-q", "-b", "merged", tree)
	commands := s.commands("merged")
	one, two := s.openIn("merged", commands, tree), s.openIn("merged", commands, tree)
	other := s.plain(tree)
	s.close(one.tab, two.tab)
	s.eventually("one is held", func() bool { return strings.Contains(s.notices(), `Cleanup of "merged" waits`) })
	s.killVictim(one)
	s.eventually("one is held still", func() bool { return strings.Count(s.notices(), `Cleanup of "merged" waits`) == 1 })
	s.close(other)
	s.eventually("one of them is done", func() bool { return one.done() || two.done() })
	if one.dir() == "" {
		one.tab = two.tab
	} else if two.dir() != "" {
		s.t.Error("both have run")
	}
	s.wantDone(one)
}

// judge looks at everything once more, after one more death of the host.
func (s *cleanupScene) judge() {
	s.t.Helper()
	s.kill()
	s.start()
	s.await()
	for _, check := range s.checks {
		check()
	}
	told := s.cleanupNotices()
	for _, n := range told {
		if !s.expected[n.Title] {
			s.t.Errorf("told: %s: %s", n.Title, n.Body)
		}
	}
	if len(told) != len(s.expected) {
		s.t.Errorf("%d cleanups are told, should be %d", len(told), len(s.expected))
	}
	for _, line := range strings.Split(s.read("git.log"), "\n") {
		for _, arg := range strings.Fields(line) {
			if strings.HasPrefix(arg, "--force") || arg == "-f" || arg == "-D" {
				s.t.Errorf("git is forced: %s", line)
			}
		}
	}
	s.down()
}

// TestCleanupHoldsUpNoLaunch: while a command of a cleanup runs for long, a worktree of the
// same repository is made: the queue of cleanups is its own (spec tabs T5.6).
func TestCleanupHoldsUpNoLaunch(t *testing.T) {
	testenv.Require(t, "git")
	t.Parallel()
	s := newCleanupScene(t, "none")
	s.up()
	c := s.open("long", s.commands("long"))
	s.hold(c, "first")
	s.close(c.tab)
	s.eventually("the first command runs", func() bool { return c.ran("first") == 1 })
	began := time.Now()
	other := s.open("meanwhile", s.commands("meanwhile"))
	took := time.Since(began)
	if c.ran("middle") != 0 || c.process() == 0 {
		t.Error("the cleanup has ended meanwhile: nothing was shown")
	}
	if took > 20*time.Second { // git's own work, on a busy machine
		t.Errorf("a worktree took %s", took)
	}
	if _, err := os.Stat(other.tree); err != nil {
		t.Error(err)
	}
	s.letGo(c, "first")
	s.wantDone(c)
	s.judge()
}
