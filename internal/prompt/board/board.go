// Package board keeps the small files by which shells learn what the host knows, without
// asking it (spec chips C7, `davit prompt`). All lies in one private directory:
//
//	host                who the host is, and what a prompt shows
//	values/DIR/=davit   the last values of a work tree, or of a directory outside of any
//	ask/PID             written by a shell at each prompt: where it is
//	w.PID               a socket of a zsh that would like to hear of newer values
//
//	shells ──ask/PID──► Run ──Asked──► host      host ──Values──► Run ──values/DIR──► shells
//	                                                               └──knock, SIGWINCH──►
//
// Run owns every map and writes every file but those of the shells; methods may be called
// from any goroutine and do not block. Files are put in place by a rename, are 0600 and
// of a bounded number. Nothing but files of these names is ever removed, one by one. A
// shell is told at most that there is something new: by a connection, or by SIGWINCH,
// which by default is ignored, so that a process that has taken a shell's number is not
// hurt.
package board

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"davit/internal/prompt"

	"github.com/fsnotify/fsnotify"
)

// Names below the directory.
const (
	headFile   = "host"
	valuesDir  = "values"
	valuesFile = "=davit"
	newFile    = "=davit.new"
	asksDir    = "ask"
	knockFile  = "w."
)

// Bounds.
const (
	MaxKeys   = 256 // work trees with values
	MaxShells = 256
	MaxAge    = 24 * time.Hour // values that nobody asked for since are removed
	tidyEvery = time.Minute    // asks of shells that have ended are removed
	pollEvery = time.Second    // where the system gives no file events
	knocking  = 50 * time.Millisecond
	// A fish that draws its prompt at the moment of a signal passes over it.
	knockAgain = 150 * time.Millisecond
	meanwhile  = time.Second // between a shell's reading and its ask, at most
)

// Config says where the board is and who hears of asks. Asked is called from Run's
// goroutine; it must not block.
type Config struct {
	Dir   string
	Pid   int // of the host
	Log   *slog.Logger
	Now   func() time.Time
	Asked func(prompt.Ask)
}

// Board is the host's side.
type Board struct {
	cfg    Config
	mu     sync.Mutex                // guards what follows
	layout []string                  // nil: as it was
	fresh  map[string][]prompt.Value // newest per key
	wake   chan struct{}             // 1: layout or fresh is new
}

// New makes a Board; Run starts it.
func New(cfg Config) *Board {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Asked == nil {
		cfg.Asked = func(prompt.Ask) {}
	}
	return &Board{cfg: cfg, fresh: map[string][]prompt.Value{}, wake: make(chan struct{}, 1)}
}

// Layout says what a prompt shows from now on.
func (b *Board) Layout(kinds []string) {
	b.mu.Lock()
	b.layout = append([]string{}, kinds...)
	b.mu.Unlock()
	b.sign()
}

// Values says what is known of a key from now on.
func (b *Board) Values(key string, values []prompt.Value) {
	b.mu.Lock()
	b.fresh[key] = values
	b.mu.Unlock()
	b.sign()
}

func (b *Board) sign() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// shell is one that has asked.
type shell struct {
	prompt.Ask
	pid int
}

// loop is what Run owns.
type loop struct {
	*Board
	shells map[int]shell
	told   map[string]string    // what a key's file says
	used   map[string]time.Time // when a key was asked for last
	seen   map[int]time.Time    // polled: when an ask's file was written
	wrote  map[string]time.Time // when a key's file was written; those of the last second
	twice  map[int]bool         // shells that are knocked at once more
	again  *time.Timer          // when that is
}

// Run keeps the board until ctx ends, and then takes down what it has put up.
func (b *Board) Run(ctx context.Context) error {
	l := &loop{Board: b, shells: map[int]shell{}, told: map[string]string{}, used: map[string]time.Time{}, seen: map[int]time.Time{}, wrote: map[string]time.Time{}, twice: map[int]bool{}, again: time.NewTimer(time.Hour)}
	defer l.again.Stop()
	for _, dir := range []string{"", asksDir, valuesDir} {
		if err := os.MkdirAll(filepath.Join(b.cfg.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	l.sweep() // what a host left that was killed
	defer l.takeDown()
	events, every, closeWatch := l.watch()
	defer closeWatch()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	tidied := b.cfg.Now()
	l.publish()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events:
			if e.Has(fsnotify.Create) || e.Has(fsnotify.Write) {
				l.read(filepath.Base(e.Name))
			}
		case <-b.wake:
			l.publish()
		case <-l.again.C:
			for pid := range l.twice {
				wince(pid)
			}
			clear(l.twice)
		case <-ticker.C:
			if every == pollEvery {
				l.poll()
			}
			if b.cfg.Now().Sub(tidied) >= tidyEvery {
				tidied = b.cfg.Now()
				l.tidy()
			}
		}
	}
}

// watch follows the asks by the system's events, else by timer.
func (l *loop) watch() (events <-chan fsnotify.Event, every time.Duration, end func()) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		if err = watcher.Add(filepath.Join(l.cfg.Dir, asksDir)); err == nil {
			return watcher.Events, tidyEvery, func() { _ = watcher.Close() }
		}
		_ = watcher.Close()
	}
	l.cfg.Log.Debug("prompts are looked at by timer", "err", err)
	return nil, pollEvery, func() {}
}

// read takes a shell's ask. One that is being written is read at its next event.
func (l *loop) read(name string) {
	pid, err := strconv.Atoi(name)
	if err != nil || pid < 1 {
		return
	}
	data, err := readSmall(filepath.Join(l.cfg.Dir, asksDir, name))
	if err != nil {
		return
	}
	ask, ok := prompt.DecodeAsk(data)
	if !ok {
		return
	}
	if _, known := l.shells[pid]; !known && len(l.shells) >= MaxShells {
		if l.tidy(); len(l.shells) >= MaxShells {
			return
		}
	}
	before := l.shells[pid]
	l.shells[pid] = shell{ask, pid}
	if wrote, lately := l.wrote[ask.Key]; lately && l.cfg.Now().Sub(wrote) < meanwhile || before.Key != ask.Key {
		l.knock(l.shells[pid]) // it may have been written since the shell has read it
	}
	l.used[ask.Key] = l.cfg.Now()
	l.cfg.Asked(ask)
}

// poll reads the asks that are new since the last look.
func (l *loop) poll() {
	entries, _ := os.ReadDir(filepath.Join(l.cfg.Dir, asksDir))
	for _, entry := range entries {
		info, err := entry.Info()
		pid, numErr := strconv.Atoi(entry.Name())
		if err != nil || numErr != nil || info.ModTime().Equal(l.seen[pid]) {
			continue
		}
		l.seen[pid] = info.ModTime()
		l.read(entry.Name())
	}
}

// publish writes what is new, and tells the shells that it concerns.
func (l *loop) publish() {
	l.mu.Lock()
	layout, fresh := l.layout, l.fresh
	l.layout, l.fresh = nil, map[string][]prompt.Value{}
	l.mu.Unlock()
	if layout != nil {
		data := prompt.Head{Pid: l.cfg.Pid, Layout: layout}.Encode()
		if err := replace(filepath.Join(l.cfg.Dir, headFile), filepath.Join(l.cfg.Dir, headFile+".new"), data); err != nil {
			l.cfg.Log.Warn("prompts are not told the layout", "err", err)
		}
	}
	changed := map[string]bool{}
	for key, values := range fresh {
		data := string(prompt.EncodeValues(values))
		if !prompt.IsKey(key) || l.told[key] == data {
			continue
		}
		if err := l.write(key, []byte(data)); err != nil {
			l.cfg.Log.Debug("a prompt's values were not written", "directory", key, "err", err)
			continue
		}
		l.told[key], l.wrote[key] = data, l.cfg.Now()
		changed[key] = true
	}
	for _, s := range l.shells {
		if changed[s.Key] || layout != nil {
			l.knock(s)
		}
	}
	maps.DeleteFunc(l.wrote, func(_ string, at time.Time) bool { return l.cfg.Now().Sub(at) >= meanwhile })
	l.bound()
}

// write puts a key's file in place.
func (l *loop) write(key string, data []byte) error {
	dir := filepath.Join(l.cfg.Dir, valuesDir, key)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replace(filepath.Join(dir, valuesFile), filepath.Join(dir, newFile), data)
}

// replace puts a file in place at once.
func replace(path, beside string, data []byte) error {
	if err := os.WriteFile(beside, data, 0o600); err != nil {
		return err
	}
	return os.Rename(beside, path)
}

// knock tells a shell that there is something new, if it can hear it.
func (l *loop) knock(s shell) {
	switch s.Shell {
	case prompt.Zsh:
		knock(filepath.Join(l.cfg.Dir, knockFile+strconv.Itoa(s.pid)))
	case prompt.Fish:
		wince(s.pid)
		l.twice[s.pid] = true
		l.again.Reset(knockAgain)
	}
}

// wince signals a fish, unless another program has its number by now.
func wince(pid int) {
	if name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil && strings.TrimSpace(string(name)) != "fish" {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGWINCH)
}

// bound removes the values that were asked for the longest time ago, while there are more
// than MaxKeys of them.
func (l *loop) bound() {
	if len(l.told) <= MaxKeys {
		return
	}
	keys := slices.SortedFunc(maps.Keys(l.told), func(a, b string) int { return l.used[a].Compare(l.used[b]) })
	for _, key := range keys[:len(keys)-MaxKeys] {
		l.forget(key)
	}
}

func (l *loop) forget(key string) {
	l.remove(key)
	delete(l.told, key)
	delete(l.used, key)
}

// tidy forgets shells that have ended and values that nobody asks for any more.
func (l *loop) tidy() {
	entries, _ := os.ReadDir(filepath.Join(l.cfg.Dir, asksDir))
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid < 1 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		_ = os.Remove(filepath.Join(l.cfg.Dir, asksDir, entry.Name()))
		removeSocket(filepath.Join(l.cfg.Dir, knockFile+entry.Name()))
		delete(l.shells, pid)
		delete(l.seen, pid)
	}
	for key := range l.told {
		if l.cfg.Now().Sub(l.used[key]) > MaxAge {
			l.forget(key)
		}
	}
}

// remove takes away a key's file, and the directories above it that are empty by then.
func (l *loop) remove(key string) {
	top := filepath.Join(l.cfg.Dir, valuesDir)
	dir := filepath.Join(top, key)
	_ = os.Remove(filepath.Join(dir, newFile))
	if err := os.Remove(filepath.Join(dir, valuesFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for ; dir != top && strings.HasPrefix(dir, top+"/"); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil { // not empty
			return
		}
	}
}

// sweep removes values that this host does not know.
func (l *loop) sweep() {
	top := filepath.Join(l.cfg.Dir, valuesDir)
	var keys []string
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() == valuesFile {
			keys = append(keys, strings.TrimPrefix(filepath.Dir(path), top))
		}
		return nil
	})
	for _, key := range keys {
		l.remove(key)
	}
	_ = os.Remove(filepath.Join(l.cfg.Dir, headFile))
}

// takeDown ends the board: without a host there are no values.
func (l *loop) takeDown() {
	_ = os.Remove(filepath.Join(l.cfg.Dir, headFile))
	for key := range l.told {
		l.remove(key)
	}
}
