package tabconfig

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// SplitSecrets parts what a person gave into values and secrets, for Input and
// for EnvVar.Resolve.
func (c *Config) SplitSecrets(given map[string]string) (values, secrets map[string]string) {
	values, secrets = map[string]string{}, map[string]string{}
	for name, v := range given {
		if p, ok := c.param(name); ok && p.Type == Secret {
			secrets[name] = v
		} else {
			values[name] = v
		}
	}
	return values, secrets
}

func (c *Config) param(name string) (Param, bool) {
	i := slices.IndexFunc(c.params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return c.params[i], true
}

// Missing lists the parameters that have neither a value nor a default, in
// form order. A secret counts as given when secrets holds it.
func (c *Config) Missing(values, secrets map[string]string) []string {
	var missing []string
	for _, p := range c.params {
		given := values
		if p.Type == Secret {
			given = secrets
		}
		v, there := given[p.Name]
		if _, ok := p.Value(v, there); !ok {
			missing = append(missing, p.Name)
		}
	}
	return missing
}

// Value is what a parameter is worth with a value given, or with none: a blank
// one takes the default. A text that is given as nothing at all is the empty
// string, and one that blanks were typed for has no value. False when a value is
// needed and not there.
func (p Param) Value(v string, given bool) (string, bool) {
	switch {
	case p.Type == Text && given && v == "":
		return "", true
	case !isBlank(v):
		return v, true
	case p.HasDefault:
		return p.Default, true
	}
	return "", false
}

// PlacesBranch says whether a parameter names the branch that [worktree] makes:
// that one need not be there yet.
func (c *Config) PlacesBranch(name string) bool {
	return c.Worktree != nil && (c.Worktree.Branch.Mentions(name) || c.Worktree.Name.Mentions(name))
}

// KnowsRepository says whether the repository of a tab is the one that
// RepositoryDir names: by a parameter or [worktree], or because no pane and no
// cleanup goes elsewhere.
func (c *Config) KnowsRepository() bool {
	if c.Worktree != nil || slices.ContainsFunc(c.params, func(p Param) bool { return p.Type == Repo }) {
		return true
	}
	elsewhere := slices.ContainsFunc(c.Panes, func(p Pane) bool { return p.Directory.Text() != "" })
	return !elsewhere && (c.OnClose == nil || c.OnClose.Directory.Text() == "")
}

// RepoPath is a value of a repo parameter as an absolute path.
func RepoPath(v, startDir, home string) string { return directory(v, startDir, home) }

// NeedsBranchName says whether opening needs a generated branch name: any
// field, on_close included, mentions it, or [worktree] names no branch (spec
// tabs T3.3).
func (c *Config) NeedsBranchName() bool { return c.needsBranch }

// paramValues are the parameters' values; a blank one takes its default.
func (c *Config) paramValues(in Input) (map[string]string, []Fault) {
	var faults []Fault
	fault := func(code Code, hint, format string, args ...any) {
		faults = append(faults, Fault{File: c.Path, Severity: Error, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(in.Values)) {
		if _, ok := c.param(name); !ok {
			var known []string
			for _, p := range c.params {
				known = append(known, p.Name)
			}
			fault(CodeParamUnknown, nearest(name, known, nil), "the tab config has no parameter %q", name)
		}
	}
	for _, p := range c.params {
		v, given := in.Values[p.Name]
		switch {
		case p.Type == Secret && given:
			fault(CodeValueInvalid, "", "the secret %q is not a value of a plan", p.Name)
			continue
		case p.Type == Secret:
			continue
		}
		v, ok := p.Value(v, given)
		if !ok {
			fault(CodeValueMissing, fmt.Sprintf("give it with --param %s=…", p.Name), "the parameter %q has no value", p.Name)
			continue
		}
		if problem := p.Refuses(v); problem != "" {
			fault(CodeValueInvalid, fmt.Sprintf("give another one with --param %s=…", p.Name), "the value of %q %s", p.Name, problem)
			continue
		}
		if p.Type == Repo {
			v = directory(v, in.StartDir, in.Home)
		}
		values[p.Name] = v
	}
	return values, faults
}

// Refuses tells why a value does not fit the parameter, "" when it does.
func (p Param) Refuses(v string) string {
	switch {
	case strings.ContainsRune(v, 0):
		return "contains a NUL byte"
	case p.Type == Branch && !validBranchValue(v):
		return "is a branch and has a line break"
	case p.Type == Boolean && v != "true" && v != "false":
		return "must be true or false"
	case p.Type == Choice && !slices.Contains(p.Options, v):
		return "must be one of " + strings.Join(p.Options, ", ")
	}
	return ""
}

// allValues adds the built-in names. A parameter hides a built-in of its name,
// so that files from elsewhere mean what they meant; the generated branch name
// hides a parameter.
func (c *Config) allValues(in Input) (map[string]string, []Fault) {
	values, faults := c.paramValues(in)
	for name, v := range map[string]string{
		"start_dir": in.StartDir, "home": in.Home, "date": in.Date, "config_dir": in.ConfigDir,
		"repo_root": in.RepoRoot, "worktree_path": in.WorktreePath,
	} {
		if _, isParam := c.param(name); !isParam && v != "" {
			values[name] = v
		}
	}
	delete(values, BranchName)
	if in.GeneratedBranch != "" {
		values[BranchName] = in.GeneratedBranch
	}
	return values, faults
}

// base is what relative directories start from (spec tabs T3.3).
func (c *Config) base(in Input, values map[string]string) string {
	for _, p := range c.params {
		if p.Type == Repo && values[p.Name] != "" {
			return values[p.Name]
		}
	}
	return in.StartDir
}

// directory is text as an absolute path.
func directory(text, base, home string) string {
	switch {
	case text == "~":
		return home
	case strings.HasPrefix(text, "~/"):
		return path.Join(home, text[2:])
	case path.IsAbs(text):
		return path.Clean(text)
	}
	return path.Join(base, text)
}
