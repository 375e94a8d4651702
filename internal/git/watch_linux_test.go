package git

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"davit/internal/testenv"
)

// TestWatchesUsedUp: where the system has no watch left, repositories are looked at by
// timer, and it is said why. The limit is real: that of a user namespace of our own.
func TestWatchesUsedUp(t *testing.T) {
	if os.Getenv("DAVIT_TEST_NO_WATCHES") != "" {
		watchWithoutWatches(t)
		return
	}
	testenv.Require(t, "git", "unshare", "sh")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	limit := "/proc/sys/user/max_inotify_watches"
	if out, err := exec.Command("unshare", "-Ur", "sh", "-c", "echo 2 > "+limit).CombinedOutput(); err != nil {
		t.Skipf("no user namespace here: %v %s", err, out)
	}
	cmd := exec.Command("unshare", "-Ur", "sh", "-c", "echo 2 > "+limit+` && exec "$0" -test.run '^TestWatchesUsedUp$' -test.v`, self)
	cmd.Env = append(os.Environ(), "DAVIT_TEST_NO_WATCHES=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestWatchesUsedUp") {
		t.Errorf("%v\n%s", err, out)
	}
}

func watchWithoutWatches(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := NewWatch(WatchConfig{Poll: 50 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	signs, end := w.Subscribe(ctx, repo)
	defer end()
	if why := w.Polling(); !strings.Contains(why, "cannot be watched") || !strings.Contains(why, "no space left on device") {
		t.Errorf("it is said: %q", why)
	}
	s.git(repo, "checkout", "-q", "-b", "other")
	select {
	case <-signs:
	case <-time.After(5 * time.Second):
		t.Error("a checkout was not seen")
	}
}
