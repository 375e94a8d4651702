package shell

import (
	"maps"
	"slices"
	"strings"

	"davit"
)

// EnvInput is what a pane's environment is made of (spec terminal P3.7).
type EnvInput struct {
	Login  map[string]string // of the login shell, from LoginEnv
	Caller map[string]string // of the last CLI caller; only the session's own variables are taken
	Pane   davit.PaneID
	Socket string
	Shell  string // the pane's shell, for SHELL; "" keeps the login shell's
	Extra  []string
}

// callerVars are the variables of the last CLI caller that a pane gets: they name
// things that come and go with a login, like a forwarded agent.
var callerVars = []string{"SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"}

// PaneEnv gives a pane's environment, sorted by name. It is pure. Nothing of a davit
// around it, of another terminal or multiplexer, or of a service manager goes through:
// a pane's program must not take the host's pane, token or socket for its own.
func PaneEnv(in EnvInput) []string {
	env := map[string]string{}
	for name, value := range in.Login {
		if !foreign(name) && !strings.ContainsRune(value, 0) {
			env[name] = value
		}
	}
	for _, name := range callerVars {
		if value := in.Caller[name]; value != "" && !strings.ContainsRune(value, 0) {
			env[name] = value
		}
	}
	env["TERM"] = "xterm-256color"
	env["COLORTERM"] = "truecolor"
	env["TERM_PROGRAM"] = "davit"
	env["TERM_PROGRAM_VERSION"] = davit.Version
	env["DAVIT_PANE"] = string(in.Pane)
	env["DAVIT_SOCKET"] = in.Socket
	if in.Shell != "" {
		env["SHELL"] = in.Shell
	}
	for _, pair := range in.Extra {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			env[name] = value
		}
	}
	pairs := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		pairs = append(pairs, name+"="+env[name])
	}
	return pairs
}

// foreign tells a variable that belongs to another program around this one.
func foreign(name string) bool {
	if name == "" || strings.ContainsAny(name, "=\x00") || slices.Contains(foreignNames, name) {
		return true
	}
	if strings.HasPrefix(name, "DAVIT_PRACTICE") {
		return false // what a person sets for the practice agent in a start-up file
	}
	return slices.ContainsFunc(foreignPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

var foreignNames = []string{
	"_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES", "WINDOWID", "TERMCAP",
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "ZELLIJ", "VTE_VERSION", "WT_SESSION", "WT_PROFILE_ID",
	"TERM_SESSION_ID", "LC_TERMINAL", "LC_TERMINAL_VERSION", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT",
	"INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "MAINPID", "MANAGERPID", "SYSTEMD_EXEC_PID",
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC",
}

var foreignPrefixes = []string{
	"DAVIT_", "TERM_PROGRAM", "ITERM_", "KITTY_", "WEZTERM_", "GHOSTTY_", "ALACRITTY_", "KONSOLE_", "VSCODE_", "ZELLIJ_",
}
