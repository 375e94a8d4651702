// Package agent is the catalogue of coding agents: what each is called, how it is
// found, how it is started, how a prompt reaches it, and what its terminal looks like
// when it is ready, working or in the way. The catalogue is data: one TOML file in the
// binary, extended and overridden by the user's agents.toml (spec launch L8). An entry of
// that file with a fault is left out, or stays as it comes with davit; the others work.
//
// Everything but detection and versions is pure. The package starts no agent, and adds no
// flag that skips an agent's own permission questions or its question whether to trust a
// folder: only the user's agents.toml can. Versions has a leaf lock over what programs
// said; a program that is asked is ended with all that it started.
package agent

import (
	"maps"
	"strings"
)

// Agent is one entry of the catalogue. The TOML keys are the wire of agents.toml.
type Agent struct {
	ID   string `toml:"-"`
	Name string `toml:"name"`
	// Practice marks the agent that is no real model; it is labelled so everywhere.
	Practice bool `toml:"practice"`
	// Tested says that davit's own tests drive this agent. All else is what its maker's
	// documentation says.
	Tested bool `toml:"tested"`
	// Offered says that a list names it even where it is not installed.
	Offered bool `toml:"offered"`
	// Disabled is the user's switch.
	Disabled bool `toml:"disabled"`
	// Detect are the executables to look for; the first that is there counts.
	Detect []string `toml:"detect"`
	// Needs are further executables, each of which must be there too.
	Needs []string `toml:"needs"`
	// Proof is a regular expression that holds for the version it tells: an executable of
	// the name proves nothing, as other programs may have it. "" when none is known.
	Proof string `toml:"proof"`
	// Namesake is another program that is known to have the name.
	Namesake string `toml:"namesake"`
	// Process are further names its foreground process may have, for agents that are
	// scripts or start another program.
	Process []string `toml:"process"`
	// Argv starts the agent. "{self}" is the davit binary.
	Argv []string `toml:"argv"`
	// ShellCommand is the user's own command line, run by /bin/sh, in place of Argv
	// (spec launch L7.1). Arguments and prompt are appended as "$@".
	ShellCommand string `toml:"shell_command"`
	// Args are the saved arguments of this agent, split into words as a shell would,
	// without expanding anything.
	Args string `toml:"args"`
	// Env is added to the pane's environment.
	Env map[string]string `toml:"env"`
	// Prompt is how the first turn reaches the agent: see the Mode constants.
	Prompt Mode `toml:"prompt"`
	// SubcommandWords says that the agent may take a prompt of a single word for a
	// subcommand, even after "--". Such a prompt is pasted.
	SubcommandWords bool `toml:"subcommand_words"`
	// Taken are beginnings of a positional text that the agent reads as something else, a
	// file for one. Such a prompt is pasted.
	Taken []string `toml:"taken"`
	// Draft is how a draft is prefilled: "flag:<flag>", "env:<name>", or "paste".
	Draft Mode `toml:"draft"`
	// Options turn session options (model, effort, mode) into words; "{value}" is the
	// value.
	Options map[string][]string `toml:"options"`
	// Resume are the words that continue session "{id}", put after Argv.
	Resume []string `toml:"resume"`
	// Structured is how the agent is driven as a chat.
	Structured Structured `toml:"structured"`
	// Ready is what its screen shows when the composer takes a paste.
	Ready Signature `toml:"ready"`
	// Pasted is what its composer shows in place of a long paste, as a regular expression.
	Pasted string `toml:"pasted"`
	// Titles are what the window title says of its state, as regular expressions.
	Titles map[Status]string `toml:"titles"`
	// App is the name that OSC 7501 carries as app=, when the agent sends it.
	App string `toml:"app"`
	// Dialogs are what may stand in a paste's way, beside the catalogue's common ones.
	Dialogs []Dialog `toml:"dialog"`
	// Hooks says how status hooks are installed.
	Hooks Hooks `toml:"hooks"`
	// Version are the arguments that print the version; default --version.
	Version []string `toml:"version"`
	// Install is the hint shown when the agent is missing.
	Install string `toml:"install"`

	// Own says that the user's file added it; Overrides are the keys that file sets, and
	// Line is where it does, 0 when it does not.
	Own       bool     `toml:"-"`
	Overrides []string `toml:"-"`
	Line      int      `toml:"-"`

	common []Dialog
}

// clone gives a copy whose tables are its own.
func (a Agent) clone() Agent {
	a.Env, a.Options, a.Titles = maps.Clone(a.Env), maps.Clone(a.Options), maps.Clone(a.Titles)
	a.Structured.Env = maps.Clone(a.Structured.Env)
	return a
}

// Mode says how a text reaches an agent.
type Mode string

// The modes of spec launch L8. ModeFlag and ModeEnv are prefixes: "flag:--prompt",
// "env:NAME". A flag that ends in "=" gets the text in the same word.
const (
	ModeArgv    Mode = "argv"
	ModeDashes  Mode = "argv-dashdash"
	ModeStdin   Mode = "stdin-after-start" // pasted once ready
	ModePaste   Mode = "paste"             // the same, for drafts
	modeFlagPre      = "flag:"
	modeEnvPre       = "env:"
)

// Flag gives the flag of a "flag:" mode.
func (m Mode) Flag() (string, bool) { return strings.CutPrefix(string(m), modeFlagPre) }

// Env gives the variable of an "env:" mode.
func (m Mode) Env() (string, bool) { return strings.CutPrefix(string(m), modeEnvPre) }

// Structured names the driver of an agent's chats; an empty Driver means none.
type Structured struct {
	Driver string            `toml:"driver"` // claude | codex | acp
	Argv   []string          `toml:"argv"`   // for acp; "{self}" is the davit binary
	Env    map[string]string `toml:"env"`
	SignIn string            `toml:"sign_in"` // the command that a person runs to sign in
}

// Signature recognises a screen. Each part that is set must hold.
type Signature struct {
	// Screen: one of these regular expressions matches a line of the screen.
	Screen []string `toml:"screen"`
	// Not: none of these matches a line of the screen.
	Not []string `toml:"not"`
	// Title: one of these matches the window title.
	Title []string `toml:"title"`
	// Paste: bracketed paste is on.
	Paste bool `toml:"paste"`
}

// Dialog is something on the screen that a paste must not answer (spec launch L7.3).
type Dialog struct {
	Name string `toml:"name"` // trust | update | permission | login | …
	// All: every one of these regular expressions matches some line of the screen.
	All []string `toml:"all"`
	// Last limits the look to the last lines that are not blank; 0 means all.
	Last int `toml:"last"`
}

// Hooks says how davit installs its status hooks for the agent.
type Hooks struct {
	Kind string `toml:"kind"` // which installer, "" for none
	File string `toml:"file"` // the file it changes, "~" for the home
}

// Status is what an agent does, as its terminal tells.
type Status string

// The statuses that a terminal can tell of (spec session S3).
const (
	StatusWorking Status = "working"
	StatusWaiting Status = "waiting"
	StatusIdle    Status = "idle"
)
