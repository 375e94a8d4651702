package keeper

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// logName is where whoever starts a keeper lets it print.
const logName = "keeper.log"

// turnLog keeps the keeper's own log small: one that has passed most bytes becomes
// keeper.log.1, in place of the one before it, and what is printed from then on begins a
// new one. Only a log that this process really prints into is touched.
func turnLog(stateDir string, most int64) error {
	path := filepath.Join(stateDir, logName)
	var out, here unix.Stat_t
	if unix.Fstat(2, &out) != nil || out.Size <= most || unix.Lstat(path, &here) != nil || !sameFile(out, here) {
		return nil
	}
	fresh := path + ".new"
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := os.Rename(path, path+".1"); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	var stdout unix.Stat_t
	if unix.Fstat(1, &stdout) == nil && sameFile(stdout, out) {
		if err := unix.Dup2(int(file.Fd()), 1); err != nil {
			return err
		}
	}
	return unix.Dup2(int(file.Fd()), 2)
}

func sameFile(a, b unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// tendLog is turnLog for the loop.
func (k *Keeper) tendLog() {
	if err := turnLog(k.cfg.StateDir, k.cfg.LogMost); err != nil {
		k.cfg.Log.Warn("begin a new log", "err", err)
	}
}
