package agent

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"davit"
)

// MaxPrompt is the longest prompt that rides a command line, in bytes. The kernel
// takes 131,072 for one word (spec launch L7).
const MaxPrompt = 100_000

const selfWord = "{self}"

// CommandInput is what decides how an agent is started in a terminal.
type CommandInput struct {
	// Prompt is the first turn, or the draft when Draft is set; nil for none. A blank
	// one counts as none.
	Prompt *string
	Draft  bool
	// Args has the three states of agentArgs: absent uses the saved arguments, null
	// none, a string replaces them (spec launch L1).
	Args    davit.OptionalString
	Options map[string]string
	// Resume is the agent's own id of the session to continue, "" for a new one.
	Resume string
	// SelfExe is the davit binary, for "{self}".
	SelfExe string
	// Exe is where Detect found the program; it takes the place of the first word.
	Exe string
}

// Command is what to execute, directly and without a shell (spec launch L7.1).
type Command struct {
	Argv []string
	Env  []string // NAME=value, to add to the pane's
	// PromptRides says that the text is in Argv or Env: as the first turn, or as the
	// agent's own prefill when it was a draft. Otherwise the caller pastes it.
	PromptRides bool
	// Warning is one sentence for the receipt, "" for none.
	Warning string
}

// Command builds the command of a terminal launch. It is pure. Errors: arguments that
// cannot be split into words (invalid_request).
func (a Agent) Command(in CommandInput) (Command, error) {
	var warnings []string
	argv := a.start(in)
	if in.Resume != "" {
		if len(a.Resume) == 0 {
			return Command{}, davit.Errorf(davit.CodeUnsupported, "%s cannot resume a session from its command line", a.Name)
		}
		argv = append(argv, fill(a.Resume, "{id}", in.Resume)...)
	}
	saved := a.Args
	if in.Args.Present {
		saved = in.Args.Value
		if in.Args.Null {
			saved = ""
		}
	}
	words, err := splitWords(saved)
	if err != nil {
		return Command{}, davit.Errorf(davit.CodeInvalid, "the arguments of %s: %w", a.Name, err)
	}
	argv = append(argv, words...)

	keys := make([]string, 0, len(in.Options))
	for key := range in.Options {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		value := in.Options[key]
		if len(a.Options[key]) == 0 || strings.ContainsRune(value, 0) {
			warnings = append(warnings, fmt.Sprintf("%s has no flag for the session option %q; it was left out", a.Name, key))
			continue
		}
		argv = append(argv, fill(a.Options[key], "{value}", value)...)
	}

	command := Command{Argv: argv, Env: a.environment()}
	if in.Prompt != nil && strings.TrimSpace(*in.Prompt) != "" {
		command.carry(a, *in.Prompt, in.Draft, words, in.Resume != "")
	}
	if i := slices.IndexFunc(command.Argv, func(w string) bool { return strings.ContainsRune(w, 0) }); i >= 0 {
		return Command{}, davit.Errorf(davit.CodeInvalid, "an argument of %s has a NUL byte", a.Name)
	}
	command.Warning = strings.Join(warnings, "; ")
	return command, nil
}

func (a Agent) start(in CommandInput) []string {
	if a.ShellCommand != "" {
		// $0 is the agent's name in the shell's messages; what follows arrives as "$@".
		return []string{"/bin/sh", "-c", a.ShellCommand + ` "$@"`, a.ID}
	}
	argv := fill(a.Argv, selfWord, in.SelfExe)
	if in.Exe != "" && slices.Contains(a.Detect, a.Argv[0]) {
		argv[0] = in.Exe
	}
	return argv
}

func (a Agent) environment() []string {
	env := make([]string, 0, len(a.Env))
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	sort.Strings(env)
	return env
}

// carry puts the text on the command when the agent can take it there unharmed.
func (c *Command) carry(a Agent, text string, draft bool, words []string, resumed bool) {
	if resumed && !strings.HasPrefix(a.Resume[0], "-") {
		return // behind a subcommand nobody has said what a further word is
	}
	if len(text) > MaxPrompt || strings.ContainsRune(text, 0) {
		return
	}
	mode := a.Prompt
	if draft {
		mode = a.Draft
	}
	// A text that starts with a dash would be read as a flag, a lone word may be read
	// as a subcommand: those are pasted where the agent gives no way around it.
	dashed := strings.HasPrefix(text, "-")
	word := a.SubcommandWords && !strings.ContainsAny(strings.TrimSpace(text), " \t\n")
	word = word || slices.ContainsFunc(a.Taken, func(start string) bool { return strings.HasPrefix(text, start) })
	switch flag, isFlag := mode.Flag(); {
	case isFlag && strings.HasSuffix(flag, "="):
		c.Argv = append(c.Argv, flag+text)
	case isFlag && !dashed:
		c.Argv = append(c.Argv, flag, text)
	case mode == ModeArgv && !dashed && !word:
		c.Argv = append(c.Argv, text)
	case mode == ModeDashes && !word:
		// Saved arguments that have a "--" of their own have ended the flags already.
		if !slices.Contains(words, "--") {
			c.Argv = append(c.Argv, "--")
		}
		c.Argv = append(c.Argv, text)
	default:
		name, isEnv := mode.Env()
		if !isEnv {
			return
		}
		c.Env = append(c.Env, name+"="+text)
	}
	c.PromptRides = true
}

// StructuredCommand is what to execute for a chat of the acp driver. The saved
// arguments are not part of it: Args holds them for the drivers that take them (spec
// launch L1, agentArgs).
func (a Agent) StructuredCommand(selfExe string) Command {
	env := a.environment()
	for name, value := range a.Structured.Env {
		env = append(env, name+"="+value)
	}
	sort.Strings(env)
	return Command{Argv: fill(a.Structured.Argv, selfWord, selfExe), Env: env}
}

// fill copies words with the placeholder replaced by the value.
func fill(words []string, placeholder, value string) []string {
	filled := make([]string, len(words))
	for i, word := range words {
		filled[i] = strings.ReplaceAll(word, placeholder, value)
	}
	return filled
}
