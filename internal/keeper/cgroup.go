package keeper

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Cgroup says whether processes are attributed to panes by control groups (P5.1).
type Cgroup struct {
	Used   bool   `json:"used"`
	Path   string `json:"path,omitempty"`   // the keeper's directory; each pane's is below it
	Reason string `json:"reason,omitempty"` // why it is not used
}

// groups are the keeper's control groups: below its own one `davit-<hash of home>`, and in
// that one for each pane. A pane's program starts in it, so that whatever it starts is
// known by it, environment and session or not (P5.1). No controller is enabled, nothing is
// ever ended through a group, and a directory goes by rmdir only, which the kernel refuses
// while a process is in it.
type groups struct {
	log *slog.Logger

	mu      sync.Mutex          // guards what follows; held over directory calls of cgroupfs only
	dir     string              // absolute; "" when there is none
	reason  string              // why not
	pending map[string]struct{} // pane directories to be removed when they are empty
}

// groupName names a home among its siblings, as in the socket's path.
func groupName(home string) string {
	sum := sha256.Sum256([]byte(home))
	return "davit-" + hex.EncodeToString(sum[:8])
}

var groupsName = regexp.MustCompile(`^davit-[0-9a-f]{16}$`)

// openGroups makes the keeper's directory, or says why there is none. before is that of
// the keeper that went before, "" when there was none.
func openGroups(home, before string, log *slog.Logger) *groups {
	g := &groups{log: log, pending: map[string]struct{}{}}
	own, err := ownGroup()
	if err == nil {
		g.dir = filepath.Join(own, groupName(home))
		if err = makeGroup(g.dir); err != nil {
			g.dir = ""
		}
	}
	if err != nil {
		g.reason = err.Error()
		log.Info("no control groups: orphans are told by session and environment", "reason", g.reason)
		return g
	}
	g.leftovers(g.dir)
	// Of a keeper that died elsewhere: a record is text, so only what a keeper of this
	// home would have made is looked at.
	if before != "" && before != g.dir && filepath.Base(before) == groupName(home) && isGroup(before) {
		g.leftovers(before)
		_ = os.Remove(before)
	}
	g.siblings(own)
	return g
}

// leftovers removes what a keeper that died left, as far as it is empty. What is not is
// tried again, for as long as this keeper lives.
func (g *groups) leftovers(dir string) {
	for _, pane := range groupsBelow(dir) {
		if paneName.MatchString(filepath.Base(pane)) && unix.Rmdir(pane) != nil {
			g.pending[pane] = struct{}{}
		}
	}
}

// siblingAge keeps the sweep from directories that are just being made; one that was
// removed all the same is made again by its keeper's next spawn.
const siblingAge = time.Minute

// siblings removes empty groups of other homes whose keepers died.
func (g *groups) siblings(own string) {
	for _, dir := range groupsBelow(own) {
		if dir == g.dir || !groupsName.MatchString(filepath.Base(dir)) || !olderThan(dir, siblingAge) {
			continue
		}
		for _, pane := range groupsBelow(dir) {
			if olderThan(pane, siblingAge) {
				_ = unix.Rmdir(pane) // one with a process in it stays
			}
		}
		_ = unix.Rmdir(dir)
	}
}

func olderThan(dir string, age time.Duration) bool {
	st, err := os.Lstat(dir)
	return err == nil && time.Since(st.ModTime()) > age
}

func groupsBelow(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(dir, e.Name()))
		}
	}
	return dirs
}

func makeGroup(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK); err != nil {
		return &os.PathError{Op: "write", Path: filepath.Join(dir, "cgroup.procs"), Err: err}
	}
	return nil
}

// enter makes a pane's directory and opens it for a fork. "" when there are no groups, or
// not for this pane.
func (g *groups) enter(pane string) (dir string, file *os.File) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dir == "" {
		return "", nil
	}
	err := makeGroup(g.dir)
	dir = filepath.Join(g.dir, pane)
	if err == nil {
		_ = unix.Rmdir(dir) // of a forgotten pane of this name, when it is empty
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		delete(g.pending, dir)
		if file, err = openGroup(dir); err == nil {
			return dir, file
		}
		_ = unix.Rmdir(dir)
	}
	g.log.Warn("no control group for a pane", "pane", pane, "err", err)
	return "", nil
}

// forGood are a kernel's or an administrator's no.
var forGood = []unix.Errno{unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.EACCES, unix.EBUSY, unix.EOPNOTSUPP}

// refused notes that a program could not be started in its group and was started without.
// Where the kernel or the permissions do not allow it, it is not tried again.
func (g *groups) refused(pane, dir string, err error) {
	g.log.Warn("a pane's program could not be started in its control group", "pane", pane, "err", err)
	g.leave(dir)
	if slices.ContainsFunc(forGood, func(why unix.Errno) bool { return errors.Is(err, why) }) {
		g.mu.Lock()
		_ = unix.Rmdir(g.dir)
		g.dir, g.reason = "", "start a program in a control group: "+err.Error()
		g.mu.Unlock()
	}
}

// leave removes a pane's directory, now or when it is empty.
func (g *groups) leave(dir string) {
	if dir == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		g.pending[dir] = struct{}{}
	}
}

// sweep tries again what could not be removed; called when something has ended.
func (g *groups) sweep() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for dir := range g.pending {
		if err := unix.Rmdir(dir); err == nil || errors.Is(err, unix.ENOENT) {
			delete(g.pending, dir)
		}
	}
}

// end removes what is empty when the keeper goes.
func (g *groups) end() {
	g.sweep()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dir != "" {
		_ = unix.Rmdir(g.dir) // a daemon that was kept is still in there, or it goes
	}
}

func (g *groups) status() *Cgroup {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &Cgroup{Used: g.dir != "", Path: g.dir, Reason: g.reason}
}

// path is what the record and the table keep.
func (g *groups) path() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dir
}
