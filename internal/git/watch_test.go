package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func startWatch(t *testing.T, cfg WatchConfig) *Watch {
	t.Helper()
	w := NewWatch(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return w
}

// within waits for a sign.
func within(t *testing.T, limit time.Duration, events <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-events:
	case <-time.After(limit):
		t.Errorf("%s: no sign within %s", what, limit)
	}
}

// quiet takes signs until none has come for a while.
func quiet(events <-chan struct{}) {
	for {
		select {
		case <-events:
		case <-time.After(250 * time.Millisecond):
			return
		}
	}
}

// TestWatchTellsWithin300ms: spec chips C1.1.
func TestWatchTellsWithin300ms(t *testing.T) {
	for name, cfg := range map[string]WatchConfig{
		"by event": {},
		"by timer": {newWatcher: func() (*fsnotify.Watcher, error) { return nil, errors.New("no inotify instances left") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			repo := s.repo("repo")
			linked := filepath.Join(s.dir, "linked")
			s.git(repo, "worktree", "add", "-q", "-b", "side", linked)
			w := startWatch(t, cfg)
			ctx := context.Background()
			main, endMain := w.Subscribe(ctx, repo)
			defer endMain()
			side, endSide := w.Subscribe(ctx, linked)
			defer endSide()
			again, endAgain := w.Subscribe(ctx, filepath.Join(linked, "."))
			endAgain()
			if by := w.Polling() != ""; by != (name == "by timer") {
				t.Errorf("Polling says %q", w.Polling())
			}
			for _, step := range [][]string{
				{"checkout", "-q", "-b", "deep/er/branch"},
				{"commit", "-q", "--allow-empty", "-m", "x"},
				{"branch", "-m", "renamed/twice"},
				{"checkout", "-q", "--detach"},
				{"pack-refs", "--all"},
			} {
				s.git(linked, step...)
				within(t, 300*time.Millisecond, side, strings.Join(step, " "))
				quiet(side)
			}
			quiet(main)
			s.git(linked, "checkout", "-q", "side")
			within(t, 300*time.Millisecond, side, "checkout side")
			select {
			case <-main:
				t.Error("a checkout in one work tree was told to another")
			case <-again:
				t.Error("an ended subscription got a sign")
			default:
			}
		})
	}
}

// TestOneCommitIsOneSign keeps the number of git processes down (spec chips C7).
func TestOneCommitIsOneSign(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := startWatch(t, WatchConfig{Quiet: 100 * time.Millisecond, Most: 500 * time.Millisecond})
	events, end := w.Subscribe(context.Background(), repo)
	defer end()
	s.write(filepath.Join(repo, "a.txt"), "changed\n")
	s.git(repo, "commit", "-q", "-a", "-m", "second")
	within(t, 2*time.Second, events, "commit")
	select {
	case <-events:
		t.Error("one commit gave two signs")
	case <-time.After(400 * time.Millisecond):
	}
}

func TestWatchOfVanishingRepository(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := startWatch(t, WatchConfig{})
	events, end := w.Subscribe(context.Background(), repo)
	defer end()
	away := filepath.Join(s.dir, "away")
	if err := os.Rename(filepath.Join(repo, ".git"), away); err != nil {
		t.Fatal(err)
	}
	within(t, time.Second, events, "the git directory went away")
	quiet(events)
	if err := os.Rename(away, filepath.Join(repo, ".git")); err != nil {
		t.Fatal(err)
	}
	within(t, time.Second, events, "it came back")
	quiet(events)
	s.git(repo, "checkout", "-q", "-b", "new")
	within(t, 300*time.Millisecond, events, "checkout after it came back")
}

func TestSubscriptionsShareAndEnd(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := startWatch(t, WatchConfig{})
	ctx := context.Background()
	silent, endSilent := w.Subscribe(ctx, s.dir)
	defer endSilent()
	for range 20 {
		_, end := w.Subscribe(ctx, repo)
		defer end()
		end()
		end()
	}
	events, end := w.Subscribe(ctx, repo)
	defer end()
	s.git(repo, "checkout", "-q", "-b", "x")
	within(t, 300*time.Millisecond, events, "after others came and went")
	select {
	case <-silent:
		t.Error("a plain directory got a sign")
	default:
	}
}
