// Package home finds the directories of one davit instance: configuration, state and
// runtime. `DAVIT_HOME` puts all three below one directory, so that instances run side
// by side; else they follow the XDG base directories (spec interfaces A3.3).
//
// It makes directories, and refuses ones that belong to somebody else. It removes nothing.
package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"davit"
)

// maxSocketPath is how long a socket's path may be (spec terminal P1.6): the kernel
// takes 107 bytes, macOS 103.
const maxSocketPath = 100

// Home is one davit instance's place on disk. Fields are absolute paths.
type Home struct {
	Root    string // DAVIT_HOME, or "" for the user's ordinary one
	Config  string // config.toml, agents.toml, tab_configs/
	State   string // store, panes, worktrees, keeper's lock and record
	Runtime string // sockets; "" where the machine has no runtime directory
}

// Find works out the directories from the environment; it touches no disk.
func Find(getenv func(string) string) (Home, error) {
	if root := getenv("DAVIT_HOME"); root != "" {
		abs, err := filepath.Abs(root)
		if err != nil {
			return Home{}, davit.Errorf(davit.CodeHomeUnusable, "DAVIT_HOME %q cannot be made absolute: %w", root, err)
		}
		return Home{Root: abs, Config: filepath.Join(abs, "config"), State: filepath.Join(abs, "state"), Runtime: filepath.Join(abs, "run")}, nil
	}
	user := getenv("HOME")
	if user == "" {
		return Home{}, davit.Errorf(davit.CodeHomeUnusable, "neither DAVIT_HOME nor HOME is set").WithHint("set DAVIT_HOME to a directory of your own")
	}
	h := Home{Config: filepath.Join(user, ".config", "davit"), State: filepath.Join(user, ".local", "state", "davit")}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		h.Config = filepath.Join(dir, "davit")
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		h.State = filepath.Join(dir, "davit")
	}
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		h.Runtime = filepath.Join(dir, "davit")
	}
	return h, nil
}

// Name is what people are shown for the home: its root, or "~" for the ordinary one.
func (h Home) Name() string {
	if h.Root != "" {
		return h.Root
	}
	return "~"
}

// Make creates the directories with mode 0700 where they are missing, and refuses ones
// that another user owns.
func (h Home) Make() error {
	for _, dir := range []string{h.Root, h.Config, h.State, h.Runtime} {
		if dir == "" {
			continue
		}
		if err := makePrivate(dir); err != nil {
			return err
		}
	}
	return nil
}

func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return davit.Errorf(davit.CodeHomeUnusable, "make %s: %w", dir, err).WithHint("check the rights of the directory above it, or set DAVIT_HOME to one of your own")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return davit.Errorf(davit.CodeHomeUnusable, "look at %s: %w", dir, err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return davit.Errorf(davit.CodeHomeUnusable, "%s belongs to user %d, not to you", dir, stat.Uid).WithHint("set DAVIT_HOME to a directory of your own")
	}
	return nil
}

// SocketDir gives the directory for sockets, made with mode 0700 and checked: the runtime
// directory, or `<tmp>/davit-<uid>/<hash of home>` where there is none or a socket's path
// in it would pass 100 bytes (spec terminal P1.6).
func (h Home) SocketDir() (string, error) {
	if h.Runtime != "" && len(filepath.Join(h.Runtime, "keeper.sock.12345678")) <= maxSocketPath {
		return h.Runtime, makePrivate(h.Runtime)
	}
	top := filepath.Join(os.TempDir(), "davit-"+strconv.Itoa(os.Geteuid()))
	sum := sha256.Sum256([]byte(h.State))
	dir := filepath.Join(top, hex.EncodeToString(sum[:8]))
	for _, d := range []string{top, dir} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", davit.Errorf(davit.CodeHomeUnusable, "make %s: %w", d, err)
		}
		info, err := os.Lstat(d)
		if err != nil {
			return "", davit.Errorf(davit.CodeHomeUnusable, "look at %s: %w", d, err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || (ok && int(stat.Uid) != os.Geteuid()) {
			return "", davit.Errorf(davit.CodeHomeUnusable, "%s is not a private directory of yours", d).WithHint("remove it, or set XDG_RUNTIME_DIR or a shorter DAVIT_HOME")
		}
	}
	return dir, nil
}

// Socket is the path of the host's socket.
func (h Home) Socket() (string, error) {
	dir, err := h.SocketDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "davit.sock"), nil
}

// Worktrees is where new worktrees go, below the state directory (spec launch L9.2).
func (h Home) Worktrees() string { return filepath.Join(h.State, "worktrees") }

// Panes is where the keeper and the host keep what belongs to a pane.
func (h Home) Panes() string { return filepath.Join(h.State, "panes") }

// Store is the database file.
func (h Home) Store() string { return filepath.Join(h.State, "davit.db") }

// TabConfigs is the user's folder of tab configs (spec tabs T1.1).
func (h Home) TabConfigs() string { return filepath.Join(h.Config, "tab_configs") }
