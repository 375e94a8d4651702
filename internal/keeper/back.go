package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"davit"
)

// A keeper tells the build that takes its place how to give the place back, and is told why
// it got it, by the environment: the table refuses what a build does not know.
const (
	backEnv    = "DAVIT_KEEPER_BACK"    // the program to execute
	refusedEnv = "DAVIT_KEEPER_REFUSED" // why it was executed
)

// wayBack names this very program for the next build, whatever has become of its file, and
// gives the descriptor that keeps it; nil where there is none or none is needed.
func wayBack() (path string, keep *os.File, err error) {
	if path, err = os.Executable(); err != nil {
		return "", nil, err
	}
	running, err := os.Open(runningProgram(path))
	if err != nil {
		return "", nil, err
	}
	var here, there unix.Stat_t
	if unix.Fstat(descriptorOf(running), &here) == nil && unix.Stat(path, &there) == nil && sameFile(here, there) {
		return path, nil, running.Close()
	}
	if descriptorPaths == "" {
		running.Close()
		return "", nil, fmt.Errorf("%s has been replaced", path)
	}
	return descriptorPaths + strconv.Itoa(descriptorOf(running)), running, nil
}

// handOver is this process's environment with the marks of a hand-over replaced.
func handOver(set ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, backEnv+"=") && !strings.HasPrefix(kv, refusedEnv+"=") {
			env = append(env, kv)
		}
	}
	return append(env, set...)
}

// inherit reads the table of the keeper before this one. Nothing has been touched yet: when
// it cannot be taken over, the build before goes on, and says why (P1.7).
func inherit(cfg Config) (*table, error) {
	back := os.Getenv(backEnv)
	defer os.Unsetenv(backEnv) // the next hand-over has its own; a defer, since it is read above
	file := os.NewFile(uintptr(cfg.Table), "table")
	if file == nil {
		return nil, davit.Errorf(davit.CodeUsage, "there is no table in descriptor %d", cfg.Table)
	}
	t, err := cfg.readTable(file)
	if err == nil {
		if n, err := strconv.Atoi(strings.TrimPrefix(back, descriptorPaths)); err == nil && n > 2 {
			unix.Close(n)
		}
		return t, file.Close()
	}
	refused := davit.Errorf(davit.CodeInternal, "take the keeper over: %w", err)
	if !filepath.IsAbs(back) {
		return nil, refused
	}
	cfg.Log.Error("the build before goes on", "err", refused)
	if _, err := file.Seek(0, 0); err != nil {
		return nil, refused
	}
	if err := syscall.Exec(back, append([]string{back}, os.Args[1:]...), handOver(refusedEnv+"="+err.Error())); err != nil {
		return nil, davit.Errorf(davit.CodeInternal, "%w; and the build before could not be executed: %w", refused, err)
	}
	panic("unreachable")
}

// readTable reads a table and refuses that of another home.
func (c Config) readTable(file *os.File) (*table, error) {
	t, err := readTable(file)
	if err == nil && (t.StateDir != c.StateDir || t.Home != c.Home) {
		err = fmt.Errorf("it is the table of %s, this keeper would be of %s", t.StateDir, c.StateDir)
	}
	return t, err
}

// fileMark tells whether a file is still the one that was looked at.
type fileMark struct {
	dev, ino uint64
	size     int64
	changed  unix.Timespec
}

func markOf(path string) (fileMark, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fileMark{}, err
	}
	return fileMark{uint64(st.Dev), st.Ino, st.Size, changeTime(st)}, nil
}
