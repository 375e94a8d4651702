// Package shell joins davit with the user's shells: it starts them so that they mark
// their prompts and commands (spec terminal P4), captures the login shell's
// environment (P3.7), and says what to type for startup commands (spec tabs T4.1).
//
// The user's files are never touched, and are loaded as they would be without davit.
// Prepare, PaneEnv, TypedLine and JoinedLine are pure; WriteScripts writes below the
// folder it is given; LoginEnv runs one shell and ends what it started. No goroutine
// outlives a call.
package shell

import (
	"path"
	"strings"
)

// Kind is a family of shells.
type Kind string

// The kinds. Posix stands for every shell without integration that knows &&.
const (
	Bash  Kind = "bash"
	Zsh   Kind = "zsh"
	Fish  Kind = "fish"
	Posix Kind = "posix"
)

// KindOf tells a shell's kind from its path or its argv[0].
func KindOf(shell string) Kind {
	switch kind := Kind(strings.TrimPrefix(path.Base(shell), "-")); kind {
	case Bash, Zsh, Fish:
		return kind
	default:
		return Posix
	}
}

// PrepareInput is what decides how a shell is started.
type PrepareInput struct {
	Shell string // path of the shell
	Kind  Kind   // "" = KindOf(Shell)
	Dir   string // where WriteScripts put the scripts; "" = no integration
	Login bool   // a login shell
	Env   []string
}

// Spawn is how to start the shell: Env is added to (and wins over) the pane's.
type Spawn struct {
	Argv []string
	Env  []string
}
