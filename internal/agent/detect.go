package agent

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"davit"
)

// Where is where to look for an agent's program.
type Where struct {
	Path    string // the PATH of the login shell, as that is what a pane gets
	SelfExe string // the davit binary, for the practice agent
}

// Found is an agent's program on this machine.
type Found struct {
	Path    string // absolute
	Version string // filled by Version only
}

// Detect looks for the agent's program, without a shell and without running anything.
// Missing: agent_not_installed, naming what was looked for and where.
func Detect(a Agent, where Where) (Found, error) {
	if a.ShellCommand != "" {
		return Found{Path: "/bin/sh"}, nil // what it runs is the user's own business
	}
	if len(a.Detect) == 0 {
		return Found{Path: where.SelfExe}, nil
	}
	directories := filepath.SplitList(where.Path)
	for _, name := range a.Detect {
		if filepath.IsAbs(name) {
			if executable(name) {
				return Found{Path: name}, nil
			}
			continue
		}
		for _, directory := range directories {
			// A relative entry of PATH would mean another program in each workspace.
			if file := filepath.Join(directory, name); filepath.IsAbs(file) && executable(file) {
				return Found{Path: file}, nil
			}
		}
	}
	return Found{}, davit.Errorf(davit.CodeAgentNotInstalled, "%s is not installed: looked for %s in %s",
		a.Name, strings.Join(a.Detect, ", "), where.Path).
		WithHint("Install it: %s", a.Install).
		With("agent", a.ID).With("lookedFor", a.Detect).With("lookedIn", directories)
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// Version asks the program for its version, for `davit agent list` only: some agents
// take over a second to say it. The context bounds it, 5 s at most; "" when it does not
// say.
func Version(ctx context.Context, a Agent, found Found, env []string) string {
	if len(a.Detect) == 0 {
		return davit.Version
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
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
	said := make(chan string, 1)
	go func() { said <- firstLine(out) }()
	line := ""
	select {
	case line = <-said:
	case <-ctx.Done():
	}
	// Not yet waited for, so the number is still its own. A launcher often leaves its
	// real program behind; the group goes with it.
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	_ = command.Wait()
	return line
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
