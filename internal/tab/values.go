package tab

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"davit"
	"davit/internal/git"
	"davit/internal/tabconfig"
	"davit/internal/wire"
)

// takeValues sorts the given values into ordinary ones and secrets. What is unknown, missing
// or does not fit is told at once, each with its parameter (spec tabs T2.1, T2.2).
func (o *opening) takeValues(ctx context.Context) error {
	params := o.config.Params()
	o.in.Values = map[string]string{}
	var faults valueFaults
	for _, name := range slices.Sorted(maps.Keys(o.req.Params)) {
		i := slices.IndexFunc(params, func(p tabconfig.Param) bool { return p.Name == name })
		switch {
		case i < 0:
			faults.unknown = append(faults.unknown, name)
		case params[i].Type == tabconfig.Secret:
			o.secrets[name] = o.req.Params[name]
		default:
			o.in.Values[name] = o.req.Params[name]
		}
	}
	if !o.req.Print { // a plan is shown without secrets; what else it lacks, it says
		faults.missing = o.config.Missing(o.in.Values, o.secrets)
	}
	faults.list = o.unfit(ctx, params)
	return faults.refusal(o.config.Name, params)
}

// unfit lists the values that do not fit their parameters, in the order of the form.
func (o *opening) unfit(ctx context.Context, params []tabconfig.Param) []wire.ValueFault {
	var list []wire.ValueFault
	lost := false // which repository the branches are of is not known
	for _, p := range params {
		v, given := o.req.Params[p.Name]
		v, ok := p.Value(v, given)
		if !ok {
			lost = lost || p.Type == tabconfig.Repo
			continue
		}
		problem := p.Refuses(v)
		switch {
		case problem != "":
		case p.Type == tabconfig.Repo:
			problem = noRepository(tabconfig.RepoPath(v, o.in.StartDir, o.in.Home))
			lost = lost || problem != ""
		case p.Type == tabconfig.Branch && !lost && !o.config.PlacesBranch(p.Name):
			problem = o.noBranch(ctx, v)
		}
		if problem != "" {
			list = append(list, wire.ValueFault{Param: p.Name, Problem: problem})
		}
	}
	return list
}

// noRepository says why a path is no repository, "" when it lies in one.
func noRepository(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "names no directory: " + path
	}
	if _, err := git.Discover(path); err != nil {
		return "is in no git repository: " + path
	}
	return ""
}

// noBranch says that a repository has no such branch, here or of a remote; "" also where
// that cannot be told. The branch of a repository without a commit is one.
func (o *opening) noBranch(ctx context.Context, name string) string {
	if !o.config.KnowsRepository() {
		return ""
	}
	dir := o.config.RepositoryDir(o.in)
	repo, err := git.Discover(dir)
	if err != nil {
		return ""
	}
	if head, err := git.ReadHead(repo); err == nil && head.Branch == name {
		return ""
	}
	refs, err := o.s.cfg.Git.Refs(ctx, dir, "refs/heads", "refs/remotes")
	if err != nil {
		o.s.cfg.Log.Warn("the branches of a repository could not be read", "repository", dir, "err", err)
		return ""
	}
	var known []string
	for _, ref := range refs {
		local, isLocal := strings.CutPrefix(ref.Name, "refs/heads/")
		remote := strings.TrimPrefix(ref.Name, "refs/remotes/")
		_, ofRemote, _ := strings.Cut(remote, "/")
		if name == ref.Name || isLocal && name == local || !isLocal && (name == remote || name == ofRemote) {
			return ""
		}
		if isLocal {
			known = append(known, local)
		}
	}
	problem := fmt.Sprintf("names no branch of %s: %q", dir, name)
	if near := tabconfig.Nearest(name, known); near != "" {
		problem += fmt.Sprintf(", did you mean %q?", near)
	}
	return problem
}

// valueFaults is all that is wrong with the values of an opening.
type valueFaults struct {
	unknown, missing []string
	list             []wire.ValueFault // those that do not fit
}

// refusal makes one error of them, nil when there are none.
func (f valueFaults) refusal(config string, params []tabconfig.Param) error {
	var lines, hints, again []string
	for _, name := range f.unknown {
		lines = append(lines, fmt.Sprintf("%s has no parameter %q", config, name))
	}
	if len(f.unknown) > 0 {
		hints = append(hints, "it has: "+orNone(paramNames(params)))
	}
	code := davit.CodeConfigOpenFault
	if len(f.missing) > 0 {
		code = davit.CodeConfigMissingParam
		lines = append(lines, fmt.Sprintf("%s needs a value for: %s", config, strings.Join(f.missing, ", ")))
		hints = append(hints, "give each with -p name=value")
	}
	for _, fault := range f.list {
		lines = append(lines, fmt.Sprintf("the value of %q %s", fault.Param, fault.Problem))
		again = append(again, fmt.Sprintf("--param %s=…", fault.Param))
	}
	switch {
	case len(again) == 1:
		hints = append(hints, "give another one with "+again[0])
	case len(again) > 1:
		hints = append(hints, "give others with "+strings.Join(again, " "))
	}
	if len(f.unknown) > 0 {
		code = davit.CodeConfigUnknownParam
	}
	if len(lines) == 0 {
		return nil
	}
	e := davit.Errorf(code, "%s", strings.Join(lines, "\n")).WithHint("%s", strings.Join(hints, "; "))
	if len(f.missing) > 0 {
		e = e.With("missing", f.missing)
	}
	if len(f.list) > 0 {
		e = e.With("values", f.list)
	}
	return e
}

func paramNames(params []tabconfig.Param) []string {
	var list []string
	for _, p := range params {
		list = append(list, p.Name)
	}
	return list
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
