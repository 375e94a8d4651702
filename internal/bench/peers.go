package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// others are programs that do a part of the same, beside tmux: measured where they are
// installed, told beside the goals' peers.
func others() []string {
	var list []string
	for _, name := range []string{"screen", "dtach"} {
		if _, err := exec.LookPath(name); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// startOther runs a command under one of the others, shown in a terminal; end ends it.
func (b *bench) startOther(name, key string, argv ...string) (t *terminal, end func(), err error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	env := environ("SCREENDIR="+dir, "SYSSCREENRC=/dev/null")
	// dtach ends with its program, which no client's end ends.
	note := filepath.Join(dir, key+".pid")
	argv = append([]string{"sh", "-c", `echo $$ >"$0"; exec "$@"`, note}, argv...)
	command := append([]string{"dtach", "-A", filepath.Join(dir, key), "-E", "-z", "-r", "none"}, argv...)
	end = func() {
		text, _ := os.ReadFile(note)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGHUP)
		}
	}
	if name == "screen" {
		session := "davit-bench-" + key
		command = append([]string{"screen", "-c", "/dev/null", "-S", session, "-m", "--"}, argv...)
		end = func() {
			cmd := exec.Command("screen", "-S", session, "-X", "quit")
			cmd.Env = env
			_ = cmd.Run() // it has ended when its program has
		}
	}
	t, err = b.terminal(env, command...)
	return t, end, err
}

// catOther is the throughput of one of the others.
func (b *bench) catOther(name string) func(*cat) error {
	return func(c *cat) error {
		t, end, err := b.startOther(name, filepath.Base(c.mark), c.argv()...)
		if err != nil {
			return err
		}
		defer end()
		defer t.end()
		t.drain()
		if err := b.until(name+" starts", func() bool { return t.seen("ready") }); err != nil {
			return err
		}
		return c.measure(t, func() time.Duration { return 0 })
	}
}

// besideOthers tells figures of the others in one cell.
func besideOthers(tell func(name string) string) string {
	var out strings.Builder
	for _, name := range others() {
		fmt.Fprintf(&out, ", %s %s", name, tell(name))
	}
	return out.String()
}
