// Package prompt is davit's own prompt for a user's shell, as far as it can be known
// without looking at anything: the code for each shell, what a board's files look like,
// and the text form of a prompt (spec chips C5.1, C7). It is pure.
//
// The shell draws its prompt by itself: no process, no git, no question that could block.
// What only the host knows it reads from a small file (see prompt/board); the directory,
// the user, the virtual environment and the clock are its own facts. A repository's data
// is hostile: it reaches a shell as data only, cleaned here and put where the shell does
// not look for code or for its own escapes.
//
// The package refuses shells that it does not know, and names that are no chip's.
package prompt

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"davit"
	"davit/internal/chip"
)

// Shell names a shell that davit can draw a prompt in.
type Shell string

// The shells.
const (
	Bash Shell = "bash"
	Zsh  Shell = "zsh"
	Fish Shell = "fish"
	Pwsh Shell = "pwsh"
)

// Shells lists them.
func Shells() []Shell { return []Shell{Bash, Zsh, Fish, Pwsh} }

//go:embed scripts
var scripts embed.FS

// Options says what a prompt looks like, and where its values are.
type Options struct {
	Board     string   // the directory of the board, absolute
	Layout    []string // what is shown when no host says it
	Right     []string // kinds that stand at the right
	Transient bool     // past prompts shrink to their sign
	Newline   bool     // the sign stands on a line of its own
}

// colours are the colours of kinds, as SGR numbers that every terminal has.
var colours = []struct {
	kind   chip.Kind
	colour int
}{
	{chip.Cwd, 34}, {chip.User, 36}, {chip.Host, 36}, {chip.SSH, 33}, {chip.Subshell, 90}, {chip.Venv, 32}, {chip.Conda, 32}, {chip.Node, 32},
	{chip.Date, 90}, {chip.Time12, 90}, {chip.Time24, 90}, {chip.GitBranch, 35}, {chip.GitStatus, 35}, {chip.GitDiff, 33}, {chip.GitHubPR, 36},
	{chip.Kube, 34}, {chip.SVNBranch, 35}, {chip.SVNDirty, 33},
}

// own are the kinds that a shell fills by itself.
var own = []chip.Kind{chip.Cwd, chip.User, chip.Host, chip.SSH, chip.Subshell, chip.Venv, chip.Conda, chip.Date, chip.Time12, chip.Time24}

// Own says that a kind is a fact of the shell's own.
func Own(kind chip.Kind) bool { return slices.Contains(own, kind) }

// Script gives the code for a shell's start-up file, and what it cannot do there.
func Script(shell Shell, o Options) (code string, notes []string, err error) {
	for _, kind := range o.Right {
		if _, known := chip.PolicyOf(chip.Kind(kind)); !known && !chip.IsCustom(chip.Kind(kind)) || !safeName(kind) {
			return "", nil, davit.Errorf(davit.CodeUsage, "%q is not the name of a chip", kind).WithHint("`davit chips --why` lists them")
		}
	}
	if !strings.HasPrefix(o.Board, "/") {
		return "", nil, davit.Errorf(davit.CodeInternal, "the prompt's directory %q is not absolute", o.Board)
	}
	if !slices.Contains(Shells(), shell) {
		return "", nil, davit.Errorf(davit.CodeUsage, "davit has no prompt for %q", shell).WithHint("it has one for bash, zsh, fish and pwsh")
	}
	body, err := scripts.ReadFile("scripts/davit." + string(shell))
	if err != nil {
		return "", nil, davit.Errorf(davit.CodeInternal, "the prompt for %s is not in this binary: %w", shell, err)
	}
	if shell == Bash || shell == Pwsh {
		if len(o.Right) > 0 {
			notes = append(notes, fmt.Sprintf("%s has no prompt at the right: what --right names stands at the end of the left one", shell))
		}
		if o.Transient {
			notes = append(notes, fmt.Sprintf("%s cannot shrink a past prompt: --transient has no effect", shell))
		}
	}
	o.Layout = slices.DeleteFunc(slices.Clone(o.Layout), func(name string) bool { return !safeName(name) })
	switch shell {
	case Zsh: // read without the user's aliases: eval would expand them in the text
		code = "() { 'builtin' 'emulate' '-L' 'zsh' '-o' 'no_aliases'; 'builtin' 'eval' \"$1\"; } " + quote(settings(o, zshSetting)+string(body)) + "\n"
	case Fish:
		code = settings(o, fishSetting) + string(body)
	case Pwsh:
		code = settings(o, pwshSetting) + string(body)
	default:
		code = settings(o, bashSetting) + string(body)
	}
	return code, notes, nil
}

// settings writes what Options says as assignments. Lists begin and end with a blank, so
// that a shell finds a whole word by a pattern.
func settings(o Options, write func(name, value string) string) string {
	flag := func(set bool) string {
		if set {
			return "1"
		}
		return ""
	}
	list := func(names []string) string { return " " + strings.Join(append(slices.Clone(names), ""), " ") }
	var palette []string
	for _, c := range colours {
		palette = append(palette, fmt.Sprintf("%s=%d", c.kind, c.colour))
	}
	var b strings.Builder
	for _, s := range [][2]string{
		{"board", o.Board}, {"default", list(o.Layout)}, {"right", list(o.Right)}, {"transient", flag(o.Transient)}, {"newline", flag(o.Newline)},
		{"colours", list(palette)},
	} {
		b.WriteString(write(s[0], s[1]))
	}
	return b.String()
}

func bashSetting(name, value string) string { return "__davitp_" + name + "=" + quote(value) + "\n" }

func zshSetting(name, value string) string {
	return "builtin typeset -g __davitp_" + name + "=" + quote(value) + "\n"
}

func fishSetting(name, value string) string {
	return "set -g __davitp_" + name + " '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'\n"
}

func pwshSetting(name, value string) string {
	return "$global:__davitp_" + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'\n"
}

// quote makes one word of bash and zsh.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// safeName is a name that a shell's list may hold.
func safeName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' && c != ':' {
			return false
		}
	}
	return name != ""
}
