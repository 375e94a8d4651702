package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	Version string // what it says of itself; filled by Versions only
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
	path := where.find(a.Detect)
	if path == "" {
		return Found{}, notInstalled(a, where, a.Name+" is not installed", a.Detect)
	}
	for _, name := range a.Needs {
		if where.find([]string{name}) == "" {
			return Found{}, notInstalled(a, where, fmt.Sprintf("%s needs %s, which is not installed", a.Name, name), []string{name})
		}
	}
	return Found{Path: path}, nil
}

// Doubt is one sentence on why what was found may be another program of the same name, ""
// for none. A name on the PATH proves nothing (spec launch L8).
func (a Agent) Doubt(found Found) string {
	switch {
	case len(a.Detect) == 0 || found.Path == "" || a.ShellCommand != "":
		return ""
	case a.Proof != "" && found.Version != "":
		if matchAny([]string{a.Proof}, []string{found.Version}) {
			return ""
		}
		return fmt.Sprintf("%s says %q of itself, which %s does not: it may be another program of that name", found.Path, found.Version, a.Name)
	case a.Namesake != "":
		return fmt.Sprintf("%s may be %s, which has the same name", found.Path, a.Namesake)
	}
	return ""
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
