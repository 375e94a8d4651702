package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/command"
	"davit/internal/git"
)

// lookUp asks for the facts about one chip.
type lookUp struct {
	madeKey
	policy             chip.Policy
	source             chip.Source
	counter            int
	branch, repository string
}

// found is what is known before a program is started.
type found struct {
	lookUp
	facts  chip.Facts
	path   string // of the program
	start  string // the directory that it starts in
	absent string // why it has no value here; "" when the program has to say
}

// produced is what came of a program.
type produced struct {
	value   davit.Chip
	outcome chip.Outcome
	reason  string
}

// find reads, from files only, whether a chip has a value here and what it depends on.
func (r *Runner) find(q lookUp) found {
	f := found{lookUp: q, start: q.dir}
	if _, err := os.Stat(q.dir); err != nil {
		f.absent = "the directory is gone"
		return f
	}
	if f.absent = absent(q.source.Needs, q.dir); f.absent != "" {
		return f
	}
	if q.kind == chip.SVNBranch { // where it is may not be under version control itself
		f.start = above(q.dir, chip.NeedsSVN, fs.FileMode.IsDir)
	}
	program := q.source.Program()
	needed := slices.Clone(q.policy.Requires)
	if filepath.IsAbs(program) {
		f.path = program
	} else {
		f.path, _ = command.Find(program, q.search)
		if program == "sh" && f.path == "" {
			f.path = "/bin/sh" // POSIX has it there or on PATH
		} else if !slices.Contains(needed, program) {
			needed = append(needed, program)
		}
	}
	f.policy.Requires = needed
	f.facts = chip.Facts{Remote: &q.remote, Found: map[string]bool{}, Inputs: map[chip.Input]string{
		chip.InputSession: fmt.Sprint(q.remote), chip.InputCwd: q.dir, chip.InputPath: q.search, chip.InputBranch: q.branch,
		chip.InputRepository: q.repository, chip.InputInvalidated: fmt.Sprint(q.counter), // and the timer's
	}}
	var places []string
	for _, name := range needed {
		path, there := command.Find(name, q.search)
		f.facts.Found[name] = there
		places = append(places, path+"="+stampOf(path))
	}
	f.facts.Inputs[chip.InputExecutables] = strings.Join(places, " ")
	if q.kind == chip.Kube {
		stamps := []string{q.kubeconfig}
		for _, file := range chip.Kubeconfigs(q.kubeconfig, q.dir, r.cfg.Home) {
			stamps = append(stamps, stampOf(file))
		}
		f.facts.Inputs[chip.InputKube] = strings.Join(stamps, " ")
	}
	return f
}

// absent says why a chip has no value in a directory, "" when it may have one.
func absent(needs, dir string) string {
	switch needs {
	case chip.NeedsSVN:
		if above(dir, chip.NeedsSVN, fs.FileMode.IsDir) == "" {
			return "the directory is not in a Subversion working copy"
		}
	case chip.NeedsPackage:
		at := above(dir, chip.NeedsPackage, fs.FileMode.IsRegular)
		if at == "" {
			return "there is no package.json here or above"
		}
		if _, err := git.Discover(at); err != nil {
			return "its package.json is not in a git repository"
		}
	}
	return ""
}

// above finds the directory, dir or one above it, that has an entry of a name.
func above(dir, name string, is func(fs.FileMode) bool) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, name)); err == nil && is(info.Mode()) {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// produce runs the program of one chip (spec chips C1.4).
func (r *Runner) produce(ctx context.Context, policy chip.Policy, f found) produced {
	args := []string{"-c", f.source.Shell}
	if f.source.Shell == "" {
		args = f.source.Argv[1:]
	}
	result := command.Run(ctx, command.Command{Path: f.path, Args: args, Dir: f.start, Env: r.environmentFor(f.madeKey), Whole: true})
	name := f.source.Program()
	a := produced{outcome: chip.Failed, value: davit.Chip{Kind: string(f.kind)}}
	switch {
	case result.Late:
		a.outcome, a.reason = chip.TimedOut, fmt.Sprintf("%s did not answer within %s", name, policy.Cap)
	case !result.Ended:
		a.reason = name + ": " + result.Why
	case result.Exit != 0:
		a.reason = fmt.Sprintf("%s ended with status %d", name, result.Exit)
		for line := range strings.Lines(result.Stderr) {
			if words := strings.TrimSpace(chip.Line(line, 200)); words != "" {
				a.reason = words
				break
			}
		}
	default:
		a.outcome, a.value = chip.Succeeded, chip.FromOutput(policy, string(result.Stdout))
	}
	return a
}

// environmentFor is what a chip's program gets: the login shell's, without what leads git
// elsewhere, with the session's PATH.
func (r *Runner) environmentFor(key madeKey) []string {
	base := r.environ()
	env := slices.DeleteFunc(git.Environment(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "PATH" || name == chip.PropertyKube && key.kind == chip.Kube || name == "LC_ALL" && chip.IsCustom(key.kind)
	})
	env = append(env, "PATH="+key.search, "PWD="+key.dir)
	if key.kubeconfig != "" {
		env = append(env, chip.PropertyKube+"="+key.kubeconfig)
	}
	if all := variable(base, "LC_ALL"); all != "" && chip.IsCustom(key.kind) {
		env = append(env, "LC_ALL="+all)
	}
	return env
}

func (r *Runner) environ() []string {
	if r.cfg.GitHub.Environ == nil {
		return os.Environ()
	}
	return r.cfg.GitHub.Environ()
}

func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// direct gives the chips of some kinds at once, without a running Runner: side by side,
// each within its own cap.
func (r *Runner) direct(ctx context.Context, p *place, kinds []chip.Kind, show Show) []davit.Chip {
	chips := make([]davit.Chip, len(kinds))
	var group sync.WaitGroup
	for i, kind := range kinds {
		if c, ok := chip.Builtin(kind, show.Session, r.cfg.Now()); ok {
			chips[i] = c
			continue
		}
		policy, _ := chip.PolicyOf(kind)
		source, known := chip.SourceOf(kind)
		if own, custom := r.ownOf(kind); custom {
			policy, source, known = own.Policy, own.Source, true
		}
		if !known {
			continue
		}
		search := show.Path
		if search == "" {
			search, _ = r.cfg.Login()
		}
		q := lookUp{madeKey: r.keyOf(kind, p.dir, search, show), policy: policy, source: source, branch: p.head.Branch, repository: p.repo.CommonDir}
		group.Go(func() { chips[i] = r.directly(ctx, q) })
	}
	group.Wait()
	return slices.DeleteFunc(chips, func(c davit.Chip) bool { return c.Kind == "" })
}

func (r *Runner) directly(ctx context.Context, q lookUp) davit.Chip {
	f := r.find(q)
	m := made{key: q.madeKey, policy: f.policy, source: q.source, value: davit.Chip{Kind: string(q.kind)}}
	if f.absent != "" {
		m.state = chip.State{Status: davit.ChipIdle, Reason: f.absent}
		return m.shown(davit.Chip{})
	}
	var step chip.Step
	if m.state, step = chip.Begin(f.policy, m.state, f.facts); step == chip.StepRun {
		ctx, cancel := context.WithTimeout(ctx, q.policy.Cap)
		defer cancel()
		a := r.produce(ctx, q.policy, f)
		m.state, m.value = chip.Settle(q.policy, m.state, a.outcome, a.reason), a.value
		if a.outcome == chip.Succeeded {
			m.state.Reason = a.value.Reason
		}
	}
	return m.shown(davit.Chip{})
}
