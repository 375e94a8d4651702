package agent

import (
	"path"
	"slices"
	"strings"
)

// Owns tells whether a process with this command line is the agent. A script's name is
// the first word after an interpreter's flags (spec launch L7.3); any other program
// that was merely given the agent's name as an argument is not the agent.
func (a Agent) Owns(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	names := slices.Concat(a.Detect, a.Process)
	base := path.Base(argv[0])
	if slices.Contains(names, base) || slices.Contains(names, argv[0]) {
		return true
	}
	if a.Practice {
		return len(argv) > 1 && slices.Contains(a.Process, argv[1])
	}
	if a.ShellCommand != "" && slices.Equal(argv[:min(len(argv), 3)], a.start(CommandInput{})[:3]) {
		return true // the user's own command line, with the agent in its group
	}
	if IsShell(argv) {
		// A launcher that is a shell's script. A flag may mean anything, a command included.
		return len(argv) > 1 && !strings.HasPrefix(argv[1], "-") && slices.Contains(names, path.Base(argv[1]))
	}
	if !slices.Contains(interpreters, strings.TrimRight(base, "0123456789.")) {
		return false
	}
	for _, word := range argv[1:] {
		if strings.HasPrefix(word, "-") {
			continue
		}
		return slices.ContainsFunc(strings.Split(word, "/"), func(element string) bool {
			return slices.Contains(names, element) || slices.Contains(names, trimScript(element))
		})
	}
	return false
}

// IsShell tells whether a process with this command line is a shell, a login shell's
// leading dash included.
func IsShell(argv []string) bool {
	return len(argv) > 0 && slices.Contains(shells, strings.TrimPrefix(path.Base(argv[0]), "-"))
}

var (
	interpreters = []string{"node", "python", "bun", "deno", "ruby", "npx"}
	shells       = []string{"sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "nu", "elvish", "xonsh", "pwsh", "busybox"}
)

func trimScript(base string) string {
	return strings.TrimSuffix(base, path.Ext(base))
}
