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
		if isBlank(given[p.Name]) && !p.HasDefault {
			missing = append(missing, p.Name)
		}
	}
	return missing
}

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
		case isBlank(v) && p.HasDefault:
			v = p.Default
		case isBlank(v):
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
