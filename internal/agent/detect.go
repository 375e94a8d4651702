package agent

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	if path := where.find(a.Detect); path != "" {
		return Found{Path: path}, nil
	}
	return Found{}, notInstalled(a, where, a.Name+" is not installed", a.Detect)
}

// DetectChat looks for the program that an agent is started with as a chat, which may be
// another one than in a terminal. It gives its absolute path.
func DetectChat(a Agent, where Where) (string, error) {
	name := a.StructuredCommand(where.SelfExe).Argv[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return "", davit.Errorf(davit.CodeAgentNotInstalled, "%s cannot be a chat: %q in agents.toml is neither a name nor an absolute path", a.Name, name).
			WithHint("write the whole path into structured.argv").With("agent", a.ID)
	}
	if path := where.find([]string{name}); path != "" {
		return path, nil
	}
	return "", notInstalled(a, where, "the chat program of "+a.Name+" is not installed", []string{name})
}

// find gives the first of the names that is an executable file, "" for none.
func (w Where) find(names []string) string {
	for _, name := range names {
		if filepath.IsAbs(name) {
			if executable(name) {
				return name
			}
			continue
		}
		for _, directory := range filepath.SplitList(w.Path) {
			// A relative entry of PATH would mean another program in each workspace.
			if file := filepath.Join(directory, name); filepath.IsAbs(file) && executable(file) {
				return file
			}
		}
	}
	return ""
}

func notInstalled(a Agent, where Where, what string, names []string) *davit.Error {
	looked := strings.Join(names, ", ")
	if slices.ContainsFunc(names, func(name string) bool { return !filepath.IsAbs(name) }) {
		looked += " on the PATH of your login shell, " + where.Path
	}
	hint := "install it, or set its program in agents.toml"
	if a.Install != "" {
		hint = "Install it: " + a.Install
	}
	return davit.Errorf(davit.CodeAgentNotInstalled, "%s: looked for %s", what, looked).WithHint("%s", hint).
		With("agent", a.ID).With("lookedFor", names).With("lookedIn", filepath.SplitList(where.Path))
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
