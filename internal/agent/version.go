package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"davit"
)

// Versions remembers what programs say of themselves. The zero value is ready.
type Versions struct {
	mu   sync.Mutex // guards said; never held while a program runs
	said map[string]said
}

// said is a program's answer, for as long as its file stays the same.
type said struct {
	stamp   string
	version string
	at      time.Time
}

// Bounds of asking.
const (
	versionWithin = 3 * time.Second  // for one program
	versionAtOnce = 8                // programs that run side by side
	versionSilent = 10 * time.Minute // how long one that said nothing is not asked again
)

// Of gives what the program says of itself, "" when it does not say in time. It is asked
// once for as long as its file does not change. The practice agent has davit's version.
func (v *Versions) Of(ctx context.Context, a Agent, found Found, env []string) string {
	if len(a.Detect) == 0 {
		return davit.Version
	}
	info, err := os.Stat(found.Path)
	if err != nil || a.ShellCommand != "" {
		return ""
	}
	stamp := fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
	v.mu.Lock()
	known, there := v.said[found.Path]
	v.mu.Unlock()
	if there && known.stamp == stamp && (known.version != "" || time.Since(known.at) < versionSilent) {
		return known.version
	}
	version := ask(ctx, a, found, env)
	if version == "" && ctx.Err() != nil {
		return "" // whoever asked went away; the program may be fine
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.said == nil {
		v.said = map[string]said{}
	}
	v.said[found.Path] = said{stamp, version, time.Now()}
	return version
}

// All fills in the versions of what was found, side by side. One whose name other programs
// are known to have, and that has nothing to be told by, is not run.
func (v *Versions) All(ctx context.Context, agents []Agent, found []Found, env []string) {
	slots := make(chan struct{}, versionAtOnce)
	var group sync.WaitGroup
	for i, a := range agents {
		if found[i].Path == "" || a.Namesake != "" && a.Proof == "" {
			continue
		}
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i].Version = v.Of(ctx, a, found[i], env)
		})
	}
	group.Wait()
}

// ask runs the program for its version, and ends it with all that it started: a launcher
// often leaves its real program behind.
func ask(ctx context.Context, a Agent, found Found, env []string) string {
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	args := a.Version
	if len(args) == 0 {
		args = []string{"--version"}
	}
	command := exec.Command(found.Path, args...)
	command.Env = env
	command.Dir = os.TempDir()
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := command.StdoutPipe()
	if err != nil {
		return ""
	}
	if err := command.Start(); err != nil {
		return ""
	}
	line := make(chan string, 1)
	go func() { line <- firstLine(out) }() // ends with the pipe, which Wait closes
	told := ""
	select {
	case told = <-line:
	case <-ctx.Done():
	}
	// Not yet waited for, so the number is still its own.
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	_ = command.Wait()
	return told
}

// firstLine gives the first line that is not blank, at most 100 bytes of it.
func firstLine(from io.Reader) string {
	lines := bufio.NewScanner(io.LimitReader(from, 64<<10))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			return strings.ToValidUTF8(line[:min(len(line), 100)], "")
		}
	}
	return ""
}
