package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"davit"
)

// Names below the state directory.
const (
	lockName   = "keeper.lock"
	recordName = "keeper.json"
	panesName  = "panes"
)

// Record says which process is the keeper of a state directory, and where it listens.
type Record struct {
	Pid       int    `json:"pid"`
	StartTime uint64 `json:"startTime"`
	BootID    string `json:"bootId"`
	Socket    string `json:"socket"`
	Build     string `json:"build"`
	Home      string `json:"home"`
	Protocol  int    `json:"protocol"`
	Cgroup    string `json:"cgroup,omitempty"` // the directory below which its panes have theirs
}

// ReadRecord reads what the last keeper of a state directory wrote of itself.
func ReadRecord(stateDir string) (Record, error) {
	var rec Record
	b, err := os.ReadFile(filepath.Join(stateDir, recordName))
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(b, &rec); err != nil {
		return rec, fmt.Errorf("%s: %w", filepath.Join(stateDir, recordName), err)
	}
	return rec, nil
}

// Alive says whether the very process of a record lives: same pid, start time and boot
// id, and no zombie (P1.9).
func Alive(rec Record) bool {
	return rec.Pid > 0 && rec.BootID == BootID() && ProcessAlive(rec.Pid, rec.StartTime)
}

func writeRecord(stateDir string, rec Record) error {
	b, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(stateDir, recordName)
	temp := fmt.Sprintf("%s.%d", path, rec.Pid)
	if err := os.WriteFile(temp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// takeLock takes the state directory's lock for the life of the returned file.
func takeLock(stateDir string) (*os.File, error) {
	path := filepath.Join(stateDir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "open the keeper's lock: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, davit.Errorf(davit.CodeKeeperStart, "another keeper holds %s", path)
	}
	return nil, davit.Errorf(davit.CodeHomeUnusable, "lock %s: %w", path, err)
}
