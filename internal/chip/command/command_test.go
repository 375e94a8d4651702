package command

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit/internal/testenv"
)

func script(t *testing.T, body string) string {
	t.Helper()
	testenv.Require(t, "sh")
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRun: spec chips C1.4: streams apart, no stdin, the exit as it is.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	r := Run(context.Background(), Command{Path: script(t, `cat; echo "$1 $WORD $PWD"; echo no >&2; exit 3`), Args: []string{"a b"}, Dir: dir, Env: []string{"WORD=x", "PATH=" + os.Getenv("PATH")}})
	if real, err := filepath.EvalSymlinks(dir); err != nil || !r.Ended || r.Exit != 3 || string(r.Stdout) != "a b x "+real+"\n" || r.Stderr != "no\n" {
		t.Errorf("%+v %v", r, err)
	}
	if r := Run(context.Background(), Command{Path: "/nonexistent"}); r.Ended || r.Why == "" {
		t.Errorf("%+v", r)
	}
	r = Run(context.Background(), Command{Path: script(t, "exec yes"), Env: os.Environ()})
	if r.Ended || r.Late || r.Why != ErrTooMuch.Error() || len(r.Stdout) > maxStdout {
		t.Errorf("too much: %v %s %d", r.Ended, r.Why, len(r.Stdout))
	}
}

// TestEndedWhole: spec chips C7: a killed run leaves no process; nor does one that ended
// and is to be ended whole.
func TestEndedWhole(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	body := "sleep 1000 >/dev/null 2>&1 & echo $! >> '" + pids + "'\n"
	if r := Run(ctx, Command{Path: script(t, "trap '' TERM\n"+body+"sleep 1000; sleep 1000"), Env: os.Environ()}); r.Ended || !r.Late {
		t.Errorf("%+v", r)
	}
	if r := Run(context.Background(), Command{Path: script(t, body+"echo done"), Env: os.Environ(), Whole: true}); !r.Ended || string(r.Stdout) != "done\n" {
		t.Errorf("%+v", r)
	}
	data, _ := os.ReadFile(pids)
	words := strings.Fields(string(data))
	if len(words) != 2 {
		t.Fatalf("children %q", words)
	}
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			stat, _ := os.ReadFile("/proc/" + word + "/stat")
			return syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z "), word + " still runs"
		})
	}
}
