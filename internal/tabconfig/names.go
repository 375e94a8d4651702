package tabconfig

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"davit/internal/template"
)

// builtins are the names that need no parameter (spec tabs T3.1).
func builtins() []string {
	return []string{BranchName, "repo_root", "start_dir", "home", "date", "config_dir", "worktree_path"}
}

// names checks every placeholder and every parameter's use.
func (l *loader) names() {
	for _, u := range l.uses {
		for _, r := range u.Names() {
			l.name(u, r)
		}
		l.spaced(u)
		if u.kind == useCommand {
			l.quoting(u)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.params)) {
		p := l.params[name]
		switch {
		case name == BranchName:
			l.fault(p.at, Warning, CodeParamUnused, "give the parameter another name", "the generated branch name is used instead of the parameter %q", name)
		case slices.Contains(builtins(), name):
			l.fault(p.at, Warning, CodeParamBuiltin, "give the parameter another name if the built-in one is meant",
				"the parameter %q is called like the built-in {{%s}}, and its value is used instead of it", name, name)
		case p.used:
		case !template.ValidName(name):
			l.fault(p.at, Warning, CodeParamUnused, "a name is letters, digits, - and _, and does not start with a digit", "no placeholder can name the parameter %q", name)
		default:
			l.fault(p.at, Warning, CodeParamUnused, fmt.Sprintf("write {{%s}} where it belongs", name), "the parameter %q is not used", name)
		}
	}
}

// name checks one placeholder.
func (l *loader) name(u use, r template.Ref) {
	fault := func(severity Severity, code Code, hint, format string, args ...any) {
		l.fault(l.within(u.node, r.Offset, r.Offset+len(r.Name)+4), severity, code, hint, format, args...)
	}
	p, isParam := l.params[r.Name]
	if isParam && !p.used {
		p.used = true
		l.params[r.Name] = p
	}
	switch {
	case isParam && p.Type == Secret && u.kind != useEnv:
		hint := fmt.Sprintf(`use env = {TOKEN = "{{%s}}"} in the pane and $TOKEN in its commands`, r.Name)
		fault(Error, CodeSecretUse, hint, "the secret %q may only stand in a pane's env: elsewhere it would be shown", r.Name)
	case isParam:
	case r.Name == "worktree_path" && l.cfg.Worktree == nil:
		fault(Warning, CodeUnknownName, "add a [worktree] table", "{{worktree_path}} names nothing without [worktree]; it stays as it is")
	case r.Name == "worktree_path" && u.kind == useWorktree:
		fault(Warning, CodeUnknownName, "", "{{worktree_path}} names nothing in [worktree] itself; it stays as it is")
	case !slices.Contains(builtins(), r.Name):
		known := append(slices.Sorted(maps.Keys(l.params)), builtins()...)
		fault(Warning, CodeUnknownName, l.nearest(r.Name, known, nil), "{{%s}} names nothing; it stays as it is", r.Name)
	}
}

// within is the place of a part of a string, or of all of it when nobody will
// see the place.
func (l *loader) within(n *node, from, to int) span {
	if len(l.faults) >= maxFaults {
		return n.at
	}
	return n.within(l.src, from, to)
}

// maxSpaced is how far behind its opening a placeholder with blanks may close.
const maxSpaced = 200

// spaced warns of {{ name }}, which is text by the grammar.
func (l *loader) spaced(u use) {
	text := u.Text()
	for from := 0; ; {
		open := strings.Index(text[from:], "{{")
		if open < 0 {
			return
		}
		open += from
		from = open + 2
		inner, _, ok := strings.Cut(text[from:min(from+maxSpaced, len(text))], "}}")
		name := strings.Trim(inner, " \t")
		if _, isParam := l.params[name]; !ok || name == inner || !isParam && !slices.Contains(builtins(), name) {
			continue
		}
		l.fault(l.within(u.node, open, from+len(inner)+2), Warning, CodeUnknownName, fmt.Sprintf("write {{%s}}", name),
			"a placeholder has no blanks; {{%s}} stays as it is", inner)
	}
}

// quoting refuses placeholders where a value could not be quoted (T3.2).
func (l *loader) quoting(u use) {
	if l.env.ShellInstalled != nil && !l.env.ShellInstalled(u.shell) {
		u.shell = cmp.Or(l.env.DefaultShell, "sh") // which will take its place
	}
	kind, known := template.ShellOf(u.shell)
	if !known {
		for _, r := range u.Names() {
			if !l.neverQuoted(r.Name) {
				l.fault(l.within(u.node, r.Offset, r.Offset+len(r.Name)+4), Error, CodeShellQuoting,
					`set shell to sh, bash, zsh, fish or pwsh, or pass the value in env`, "how to quote {{%s}} for the shell %q is not known", r.Name, u.shell)
			}
		}
		return
	}
	for _, f := range u.CheckQuoting(kind, l.neverQuoted) {
		l.fault(l.within(u.node, f.Offset, f.Offset+len(f.Name)+4), Error, CodeQuoting,
			`pass the value in env and use the variable there`, "{{%s}} cannot be quoted %s (%s)", f.Name, f.Where, kind)
	}
}

// neverQuoted says whether a name's values need no quotes in any shell. What
// names nothing stays text, and a secret was refused already.
func (l *loader) neverQuoted(name string) bool {
	if name == BranchName {
		return true
	}
	if p, ok := l.params[name]; ok {
		return p.Type == Boolean || p.Type == Secret
	}
	return name == "date" || !slices.Contains(builtins(), name) || name == "worktree_path" && l.cfg.Worktree == nil
}

// machine warns of what this machine lacks.
func (l *loader) machine() {
	root := l.rootShell
	if l.env.ShellInstalled != nil {
		if root != nil && !l.env.ShellInstalled(root.text) {
			l.shellMissing(root)
		}
		for _, n := range l.panes {
			if s := n.get("shell", nodeString); s != nil && !l.env.ShellInstalled(s.text) {
				l.shellMissing(s)
			}
		}
	}
	for i, n := range l.panes {
		a := n.get("agent", nodeString)
		if a != nil && l.env.KnownAgent != nil && !l.env.KnownAgent(a.text) && l.cfg.Panes[i].Type == Agent {
			l.fault(a.at, Warning, CodeAgentUnknown, "see the list of agents with: davit agent list", "no agent is called %q", a.text)
		}
	}
}

func (l *loader) shellMissing(n *node) {
	l.fault(n.at, Warning, CodeShellMissing, "", "the shell %q is not installed; your default shell is used", n.text)
}
