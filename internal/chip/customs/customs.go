// Package customs reads the user's own chips from config.toml: what they run, and by which
// policy (spec chips C1, C2.1). It is pure: the text comes in, chips and faults with their
// places come out. A chip with a fault is left out; the others work.
package customs

import (
	"slices"
	"strings"
	"time"

	"davit/internal/chip"
	"davit/internal/tabconfig"
)

// Example is a file as it may look; docs/guide/chips.md shows it.
const Example = `[[chips.custom]]
name = "weather"                   # in layouts: custom:weather
title = "Weather"
icon = "sun"                       # one sign, or the name of a drawing
command = ["curl", "-s", "https://wttr.in/?format=1"]   # or one line for sh
requires = ["curl"]                # programs that must be on the PATH
deadline = "5s"                    # after which it is ended
refresh = "10m"                    # "on_demand", or a time of 1 s and more
invalidated_by = ["git push", "make"]
fingerprint = ["cwd", "git_branch"]  # run again only when one of these is another
local_only = false                 # not in a session on another machine
suppress_on_failure = false        # do not try again under the same facts
`

// Bounds.
const (
	maxChips    = 32
	maxName     = 40
	maxTitle    = 80
	maxWords    = 64
	maxCommand  = 16 << 10
	inPrompt    = time.Second // after which the last value is shown as stale
	usual       = 5 * time.Second
	leastTime   = 50 * time.Millisecond
	mostTime    = time.Minute
	leastEvery  = time.Second
	mostEvery   = 24 * time.Hour
	onDemand    = "on_demand"
	commandName = "a custom chip"
)

// inputs are the names of what a fingerprint may be made of.
func inputs() []string {
	return []string{string(chip.InputCwd), string(chip.InputSession), string(chip.InputRepository), string(chip.InputBranch), string(chip.InputPath),
		string(chip.InputExecutables), string(chip.InputInvalidated)}
}

// Load reads a file's text. path is for messages.
func Load(path string, src []byte) ([]chip.CustomChip, []tabconfig.Fault) {
	d := tabconfig.OpenDocument(path, src)
	root := d.Root()
	var list []chip.CustomChip
	if section := root.Table("chips"); section != nil {
		lines := map[string]int{}
		for _, t := range section.Tables("custom", commandName) {
			c := read(t)
			if first, taken := lines[string(c.Policy.Kind)]; taken {
				t.Fault("name", tabconfig.Error, tabconfig.CodeValue, "", "a chip of this name stands on line %d", first)
			} else if len(list) >= maxChips {
				t.Fault("name", tabconfig.Error, tabconfig.CodeValue, "", "there are more than %d chips", maxChips)
			}
			lines[string(c.Policy.Kind)] = t.Line()
			if !t.Bad() {
				list = append(list, c)
			}
		}
		section.Close(tabconfig.Error)
	}
	root.Close(tabconfig.Warning)
	return list, d.Faults()
}

func read(t *tabconfig.Table) chip.CustomChip {
	name := t.Text("name")
	if t.Has("name") && !validName(name) {
		t.Fault("name", tabconfig.Error, tabconfig.CodeValue, "use lower case letters, digits, - and _", "%q cannot be the name of a chip", name)
	}
	c := chip.CustomChip{Policy: chip.Policy{
		Kind: chip.CustomKind(name), Title: chip.Line(t.Text("title"), maxTitle), Icon: chip.Line(t.Text("icon"), maxTitle),
		Requires: programs(t), LocalOnly: t.Flag("local_only"), SuppressOnFailure: t.Flag("suppress_on_failure"),
		Cap: t.Duration("deadline", usual, leastTime, mostTime),
	}}
	if c.Policy.Title == "" {
		c.Policy.Title = name
	}
	c.Policy.Deadline = min(inPrompt, c.Policy.Cap)
	c.Source.Shell, c.Source.Argv = t.TextOrTexts("command")
	if t.Has("command") && strings.TrimSpace(c.Source.Shell) == "" && (len(c.Source.Argv) == 0 || c.Source.Argv[0] == "") {
		t.Fault("command", tabconfig.Error, tabconfig.CodeValue, `for example ["date", "+%Z"]`, "the command is empty")
	}
	if size := len(c.Source.Shell) + len(strings.Join(c.Source.Argv, "")); size > maxCommand || strings.Contains(c.Source.Shell+strings.Join(c.Source.Argv, ""), "\x00") {
		t.Fault("command", tabconfig.Error, tabconfig.CodeValue, "put it into a script", "the command is too long, or has a NUL in it")
	}
	if t.Text("refresh") != onDemand {
		c.Policy.Refresh.Every = t.Duration("refresh", 0, leastEvery, mostEvery)
	}
	fingerprint(t, &c.Policy)
	t.Close(tabconfig.Error, "name", "command")
	return c
}

func programs(t *tabconfig.Table) []string {
	list := t.Texts("requires")
	for _, name := range list {
		if name == "" || strings.ContainsAny(name, "/ \t\n") {
			t.Fault("requires", tabconfig.Error, tabconfig.CodeValue, "name programs as the PATH has them", "%q is not the name of a program", name)
		}
	}
	if len(list) > maxWords {
		t.Fault("requires", tabconfig.Error, tabconfig.CodeValue, "", "it names more than %d programs", maxWords)
	}
	return list
}

// fingerprint reads what makes a chip run again.
func fingerprint(t *tabconfig.Table, p *chip.Policy) {
	for _, text := range t.Texts("invalidated_by") {
		words := strings.Fields(text)
		if len(words) == 0 || len(words) > 2 {
			t.Fault("invalidated_by", tabconfig.Error, tabconfig.CodeValue, `a program, or a program and its verb: "git push"`, "%q is not the name of a command", text)
			continue
		}
		p.InvalidatedBy = append(p.InvalidatedBy, chip.Invalidator{Command: words[0], Verbs: words[1:]})
	}
	for _, name := range t.Texts("fingerprint") {
		if !slices.Contains(inputs(), name) {
			t.Fault("fingerprint", tabconfig.Error, tabconfig.CodeValue, t.Nearest(name, inputs()), "a fingerprint is not made of %q", name)
			continue
		}
		p.Fingerprint = append(p.Fingerprint, chip.Input(name))
	}
	switch {
	case p.Fingerprint == nil && p.InvalidatedBy != nil:
		t.Fault("invalidated_by", tabconfig.Warning, tabconfig.CodeWithoutEffect, `add fingerprint = ["cwd"]`, "without a fingerprint the chip runs after every command anyway")
	case p.Fingerprint == nil && p.SuppressOnFailure:
		t.Fault("suppress_on_failure", tabconfig.Warning, tabconfig.CodeWithoutEffect, `add fingerprint = ["cwd"]`, "without a fingerprint no failure is remembered")
	case p.Fingerprint != nil && !slices.Contains(p.Fingerprint, chip.InputInvalidated):
		p.Fingerprint = append(p.Fingerprint, chip.InputInvalidated) // its commands, and its timer
	}
}

func validName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}
