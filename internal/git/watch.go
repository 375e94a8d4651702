package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WatchConfig configures a Watch. The zero value is fine.
type WatchConfig struct {
	Log   *slog.Logger
	Quiet time.Duration // a change is told after this much quiet; default 40 ms
	Most  time.Duration // and at most this long after its first sign; default 150 ms
	Poll  time.Duration // between looks where the system gives no events; default 200 ms

	newWatcher func() (*fsnotify.Watcher, error) // tests take the system's events away
}

// Watch tells when the git side of a repository changes: HEAD, index and refs, by
// whomever (spec chips C1.1). One per host: subscriptions of one repository share its
// watched directories.
//
//	Subscribe ──ask──► Run ◄──events── file watcher
//	    ▲               │ 40 ms of quiet, or 150 ms
//	    └──── C (1) ────┘ coalesced: one waiting sign stands for all
//
// Run owns the file watcher and every map. Files of the work tree are not watched.
type Watch struct {
	cfg     WatchConfig
	asks    chan ask      // blocks: Run is always near its select
	done    chan struct{} // closed when Run has ended
	polling atomic.Pointer[string]
}

type ask struct {
	repo   Repository
	sub    chan struct{}
	remove bool
	served chan struct{}
}

// NewWatch makes a Watch; Run starts it.
func NewWatch(cfg WatchConfig) *Watch {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Quiet == 0 {
		cfg.Quiet = 40 * time.Millisecond
	}
	if cfg.Most == 0 {
		cfg.Most = 150 * time.Millisecond
	}
	if cfg.Poll == 0 {
		cfg.Poll = 200 * time.Millisecond
	}
	if cfg.newWatcher == nil {
		cfg.newWatcher = fsnotify.NewWatcher
	}
	return &Watch{cfg: cfg, asks: make(chan ask), done: make(chan struct{})}
}

// Polling says why repositories are looked at by timer instead of by event, "" when none
// is.
func (w *Watch) Polling() string {
	if reason := w.polling.Load(); reason != nil {
		return *reason
	}
	return ""
}

// Subscribe gives a channel that gets a sign after each change in the repository of dir;
// signs not taken are merged into one. When it returns, no later change is missed. It
// needs a running Run. A dir outside of any repository gets a channel that stays silent.
// The returned function ends the subscription, and may be called twice.
func (w *Watch) Subscribe(ctx context.Context, dir string) (<-chan struct{}, func()) {
	sub := make(chan struct{}, 1)
	repo, err := Discover(dir)
	if err != nil {
		return sub, func() {}
	}
	if !w.send(ctx, ask{repo: repo, sub: sub, served: make(chan struct{})}) {
		return sub, func() {}
	}
	var ended atomic.Bool
	return sub, func() {
		if ended.CompareAndSwap(false, true) {
			w.send(context.Background(), ask{repo: repo, sub: sub, remove: true, served: make(chan struct{})})
		}
	}
}

func (w *Watch) send(ctx context.Context, a ask) bool {
	select {
	case w.asks <- a:
	case <-w.done:
		return false
	case <-ctx.Done():
		return false
	}
	<-a.served
	return true
}

// Run serves subscriptions until ctx ends. It is called once.
func (w *Watch) Run(ctx context.Context) error {
	defer close(w.done)
	loop := &watchLoop{Watch: w, trees: map[string]*watchedTree{}, dirs: map[string]map[*watchedTree]bool{}}
	var events chan fsnotify.Event
	var faults chan error
	if watcher, err := w.cfg.newWatcher(); err != nil {
		loop.say(fmt.Sprintf("the system gives no file events: %v", err))
	} else {
		loop.watcher, events, faults = watcher, watcher.Events, watcher.Errors
		defer watcher.Close()
	}
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	poll := time.NewTicker(w.cfg.Poll)
	defer poll.Stop()
	poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case a := <-w.asks:
			loop.serve(a)
			close(a.served)
			loop.pollOrNot(poll)
		case event := <-events:
			loop.take(event)
			loop.pollOrNot(poll)
		case err := <-faults:
			// An overflow lost events: everything may have changed.
			w.cfg.Log.Warn("file events were lost", "err", err)
			for _, tree := range loop.trees {
				loop.touch(tree)
			}
		case <-poll.C:
			loop.look()
			loop.pollOrNot(poll)
		case <-due.C:
			loop.fire()
		}
		loop.arm(due)
	}
}

// watchLoop is what Run owns.
type watchLoop struct {
	*Watch
	watcher *fsnotify.Watcher // nil when the system gives none
	trees   map[string]*watchedTree
	dirs    map[string]map[*watchedTree]bool // watched directory → who wants it
	ticking bool
}

// watchedTree is one work tree that somebody subscribed to.
type watchedTree struct {
	repo    Repository
	subs    map[chan struct{}]bool
	polled  bool
	last    string    // signature at the last look
	first   time.Time // of the change not told yet; zero when none
	due     time.Time
	missing bool // its git directory is gone
}

func (l *watchLoop) serve(a ask) {
	tree := l.trees[a.repo.GitDir]
	if a.remove {
		if tree == nil {
			return
		}
		delete(tree.subs, a.sub)
		if len(tree.subs) == 0 {
			delete(l.trees, a.repo.GitDir)
			l.forget(tree)
		}
		return
	}
	if tree == nil {
		tree = &watchedTree{repo: a.repo, subs: map[chan struct{}]bool{}}
		l.trees[a.repo.GitDir] = tree
		l.add(tree)
	}
	tree.subs[a.sub] = true
}

// maxWatched bounds the directories of one repository's refs that are watched. In those
// beyond it a change is still seen when it is the work tree's own: that writes logs/HEAD
// or the index.
const maxWatched = 256

// wanted lists the directories whose files tell of changes.
func wanted(repo Repository) []string {
	dirs := []string{repo.GitDir, filepath.Join(repo.GitDir, "logs"), repo.CommonDir,
		filepath.Join(repo.CommonDir, "reftable"), filepath.Join(repo.CommonDir, "refs")}
	for _, kind := range []string{"heads", "remotes"} {
		top := filepath.Join(repo.CommonDir, "refs", kind)
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it went away meanwhile
			}
			if len(dirs) >= maxWatched {
				return fs.SkipAll
			}
			if d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
	}
	return dirs
}

// add watches what the tree wants and is not watched yet.
func (l *watchLoop) add(tree *watchedTree) {
	if l.watcher == nil {
		l.fallBack(tree)
		return
	}
	for _, dir := range wanted(tree.repo) {
		if l.dirs[dir][tree] {
			continue
		}
		if l.dirs[dir] == nil {
			if err := l.watcher.Add(dir); err != nil {
				if !errors.Is(err, fs.ErrNotExist) {
					l.say(fmt.Sprintf("%s cannot be watched: %v", dir, err))
					l.fallBack(tree)
				}
				continue
			}
			l.dirs[dir] = map[*watchedTree]bool{}
		}
		l.dirs[dir][tree] = true
	}
}

func (l *watchLoop) forget(tree *watchedTree) {
	for dir, users := range l.dirs {
		if !users[tree] {
			continue
		}
		delete(users, tree)
		if len(users) == 0 {
			delete(l.dirs, dir)
			_ = l.watcher.Remove(dir) // gone already is as good
		}
	}
}

func (l *watchLoop) fallBack(tree *watchedTree) {
	if !tree.polled {
		tree.polled, tree.last = true, signature(tree.repo)
	}
}

func (l *watchLoop) say(reason string) {
	if l.polling.CompareAndSwap(nil, &reason) {
		l.cfg.Log.Warn("repositories are looked at by timer", "reason", reason, "every", l.cfg.Poll)
	}
}

// take judges one file event.
func (l *watchLoop) take(event fsnotify.Event) {
	if event.Op == fsnotify.Chmod {
		return
	}
	if users, itself := l.dirs[event.Name]; itself && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)) {
		_ = l.watcher.Remove(event.Name)
		delete(l.dirs, event.Name)
		for tree := range users {
			l.touch(tree)
			if event.Name == tree.repo.GitDir || event.Name == tree.repo.CommonDir {
				// It may come back (a clone done again): only a timer can see that.
				tree.missing = true
				l.forget(tree)
				l.fallBack(tree)
			}
		}
	}
	dir, name := filepath.Split(event.Name)
	dir = filepath.Clean(dir)
	for tree := range l.dirs[dir] {
		if !tells(tree.repo, dir, name) {
			continue
		}
		l.touch(tree)
		if event.Has(fsnotify.Create) {
			if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
				l.add(tree)
			}
		}
	}
}

// tells says whether a name in a watched directory is about HEAD, index or refs.
func tells(repo Repository, dir, name string) bool {
	if strings.HasSuffix(name, ".lock") {
		return false
	}
	switch dir {
	case repo.GitDir:
		switch name {
		case "HEAD", "index", "logs", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply":
			return true
		}
		if repo.Linked() {
			return false
		}
		return name == "packed-refs" || name == "refs" || name == "reftable" || name == "config"
	case repo.CommonDir:
		return name == "packed-refs" || name == "refs" || name == "reftable" || name == "config"
	case filepath.Join(repo.GitDir, "logs"):
		return name == "HEAD"
	}
	return true
}

func (l *watchLoop) touch(tree *watchedTree) {
	now := time.Now()
	if tree.first.IsZero() {
		tree.first = now
	}
	tree.due = now.Add(l.cfg.Quiet)
	if latest := tree.first.Add(l.cfg.Most); tree.due.After(latest) {
		tree.due = latest
	}
}

func (l *watchLoop) fire() {
	now := time.Now()
	for _, tree := range l.trees {
		if tree.first.IsZero() || tree.due.After(now) {
			continue
		}
		tree.first = time.Time{}
		for sub := range tree.subs {
			select {
			case sub <- struct{}{}:
			default: // one sign waits already
			}
		}
	}
}

func (l *watchLoop) arm(due *time.Timer) {
	var next time.Time
	for _, tree := range l.trees {
		if !tree.first.IsZero() && (next.IsZero() || tree.due.Before(next)) {
			next = tree.due
		}
	}
	if next.IsZero() {
		due.Stop()
		return
	}
	due.Reset(time.Until(next))
}

// pollOrNot runs the ticker only while a tree needs it.
func (l *watchLoop) pollOrNot(poll *time.Ticker) {
	need := false
	for _, tree := range l.trees {
		need = need || tree.polled
	}
	if need == l.ticking {
		return
	}
	l.ticking = need
	if need {
		poll.Reset(l.cfg.Poll)
	} else {
		poll.Stop()
	}
}

// look compares the polled trees with what they were.
func (l *watchLoop) look() {
	for _, tree := range l.trees {
		if !tree.polled {
			continue
		}
		now := signature(tree.repo)
		if now == tree.last {
			continue
		}
		tree.last = now
		l.touch(tree)
		if tree.missing && isGitDir(tree.repo.GitDir) {
			tree.missing, tree.polled = false, false
			l.add(tree)
		}
	}
}

// signature is a word for the state of HEAD, index and refs that changes with them.
func signature(repo Repository) string {
	var b strings.Builder
	head, err := ReadHead(repo)
	fmt.Fprintf(&b, "%v %v", head, err)
	for _, file := range []string{"index", "logs/HEAD", "MERGE_HEAD"} {
		stamp(&b, filepath.Join(repo.GitDir, file))
	}
	for _, file := range []string{"packed-refs", "refs/heads", "reftable/tables.list"} {
		stamp(&b, filepath.Join(repo.CommonDir, file))
	}
	return b.String()
}

func stamp(b *strings.Builder, file string) {
	if info, err := os.Stat(file); err == nil {
		fmt.Fprintf(b, " %d:%d", info.ModTime().UnixNano(), info.Size())
	} else {
		b.WriteString(" -")
	}
}
