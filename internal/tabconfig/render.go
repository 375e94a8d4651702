package tabconfig

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"davit/internal/template"
)

// renderer carries one rendering.
type renderer struct {
	c      *Config
	in     Input
	values map[string]string
	base   string
	faults []Fault
}

func (c *Config) renderer(in Input) *renderer {
	r := &renderer{c: c, in: in}
	r.values, r.faults = c.allValues(in)
	r.base = c.base(in, r.values)
	return r
}

func (r *renderer) fault(field string, code Code, hint, format string, args ...any) {
	p := r.c.places[field]
	r.faults = append(r.faults, Fault{File: r.c.Path, Line: p.line, Column: p.column, width: p.width,
		Severity: Error, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// RepositoryDir is the directory whose repository Input.RepoRoot names:
// [worktree]'s repo, else the first repo parameter's value, else StartDir.
func (c *Config) RepositoryDir(in Input) string {
	r := c.renderer(in)
	if c.Worktree != nil && !c.Worktree.Repo.Mentions("repo_root") {
		return directory(c.Worktree.Repo.Raw(r.values), r.base, in.Home)
	}
	return r.base
}

// RenderWorktree renders [worktree]; nil without the table. It is the first
// step: its branch may still be refused or changed when the worktree is made.
// Without Input.GeneratedBranch a name that is still to be drawn stays as its
// placeholder, for showing.
func (c *Config) RenderWorktree(in Input) (*WorktreeRequest, []Fault) {
	r := c.renderer(in)
	w := r.worktree()
	if HasErrors(r.faults) {
		return nil, r.faults
	}
	return w, r.faults
}

func (r *renderer) worktree() *WorktreeRequest {
	w := r.c.Worktree
	if w == nil {
		return nil
	}
	// worktree_path names nothing here, whatever the second step knows.
	path, known := r.values["worktree_path"]
	if _, isParam := r.c.param("worktree_path"); known && !isParam {
		delete(r.values, "worktree_path")
		defer func() { r.values["worktree_path"] = path }()
	}
	generated := "{{" + BranchName + "}}"
	if v, ok := r.values[BranchName]; ok {
		generated = v
	}
	q := &WorktreeRequest{RemoveOnClose: w.RemoveOnClose,
		Repo: directory(r.raw(w.Repo, "worktree/repo"), r.base, r.in.Home), Base: r.raw(w.Base, "worktree/base"),
		Branch: r.raw(w.Branch, "worktree/branch"), Name: r.raw(w.Name, "worktree/name")}
	source := w.Branch
	switch {
	case w.Branch.Text() == "" && w.Name.Text() == "":
		q.Branch, q.NameGenerated = generated, true
	case w.Branch.Text() == "":
		source, q.Branch = w.Name, q.Name
	}
	q.NameGenerated = q.NameGenerated || source.Mentions(BranchName)
	if w.Name.Text() == "" {
		q.Name = q.Branch
	}
	for _, f := range []struct{ field, value string }{{"branch", q.Branch}, {"name", q.Name}, {"base", q.Base}} {
		switch {
		case !validBranchValue(f.value):
			r.fault("worktree/"+f.field, CodeRender, "", "the %s of the worktree has a line break", f.field)
		case isBlank(f.value) && f.field == "branch":
			r.fault("worktree/"+f.field, CodeRender, "", "the branch of the worktree is empty")
		}
	}
	return q
}

// Plan renders everything. With an error among the faults there is no plan.
func (c *Config) Plan(in Input) (*Plan, []Fault) {
	r := c.renderer(in)
	p := &Plan{Config: c.Path, Name: c.Name, Title: r.raw(c.Title, "title"), Color: c.Color, Icon: c.Icon, Group: c.Group, Worktree: r.worktree()}
	t := planTree{r: r, index: map[string]int{}, shown: map[int]bool{}}
	for i, pane := range c.Panes {
		if _, ok := t.index[pane.ID]; !ok {
			t.index[pane.ID] = i
		}
	}
	if root := t.node(0); root != nil {
		p.Root = *root
	}
	t.focus()
	p.OnClose = r.closePlan()
	if HasErrors(r.faults) {
		return nil, r.faults
	}
	return p, r.faults
}

// raw renders a template whose values stay as they are.
func (r *renderer) raw(t template.Template, field string) string {
	r.checkNames(t, field)
	return t.Raw(r.values)
}

// checkNames tells of a placeholder that has no value at this opening.
func (r *renderer) checkNames(t template.Template, field string) {
	if _, ok := r.values["repo_root"]; !ok && t.Mentions("repo_root") && !r.isParam("repo_root") {
		r.fault(field, CodeNoRepository, "open it from a repository, or choose one", "{{repo_root}} has no value: %s is in no repository", r.base)
	}
}

func (r *renderer) isParam(name string) bool {
	_, ok := r.c.param(name)
	return ok
}

// commands renders for the shell that will run them (spec tabs T3.2).
func (r *renderer) commands(ts []template.Template, shell Shell, field string) []string {
	var commands []string
	for i, t := range ts {
		commands = append(commands, r.command(t, shell, fmt.Sprintf("%s/%d", field, i)))
	}
	return commands
}

func (r *renderer) command(t template.Template, shell Shell, field string) string {
	r.checkNames(t, field)
	if shell.Kind == "" {
		for _, ref := range t.Names() {
			if v, ok := r.values[ref.Name]; ok && !template.Bare(v) {
				r.fault(field, CodeShellQuoting, "", "how to quote {{%s}} for the shell %q is not known", ref.Name, shell.Path)
				return ""
			}
		}
		text := t.Raw(r.values)
		if len(text) > template.MaxCommand {
			r.fault(field, CodeCommandLength, "", "the command has more than %d bytes", template.MaxCommand)
		}
		return text
	}
	text, err := t.Quoted(shell.Kind, r.values)
	switch {
	case errors.Is(err, template.ErrTooLong):
		r.fault(field, CodeCommandLength, "put long text in a file, or in env", "%v", err)
	case err != nil:
		r.fault(field, CodeRender, "", "%v", err)
	}
	return text
}

// closePlan pins on_close (spec tabs T5.1); no commands are no plan.
func (r *renderer) closePlan() *ClosePlan {
	c := r.c.OnClose
	if c == nil || len(c.Commands) == 0 {
		return nil
	}
	p := &ClosePlan{Directory: r.base, Shell: r.in.CleanupShell, Timeout: Duration(c.Timeout)}
	if dir := r.raw(c.Directory, "on_close/directory"); dir != "" {
		p.Directory = directory(dir, r.base, r.in.Home)
	}
	p.Commands = r.commands(c.Commands, p.Shell, "on_close/commands")
	return p
}

// planTree builds the panes, each once, in the order in which Load went.
type planTree struct {
	r      *renderer
	index  map[string]int
	shown  map[int]bool
	leaves []*PlanPane
}

func (t *planTree) node(i int) *PlanNode {
	p := t.r.c.Panes[i]
	t.shown[i] = true
	if p.Split == "" {
		pane := t.pane(i, p)
		t.leaves = append(t.leaves, pane)
		return &PlanNode{ID: p.ID, Pane: pane}
	}
	n := &PlanNode{ID: p.ID, Split: p.Split}
	for j, id := range p.Children {
		if t.shown[t.index[id]] {
			continue
		}
		if child := t.node(t.index[id]); child != nil {
			n.Children = append(n.Children, *child)
			n.Sizes = append(n.Sizes, sizeAt(p.Sizes, j))
		}
	}
	switch len(n.Children) {
	case 0:
		return nil
	case 1:
		return &n.Children[0] // its other children are shown elsewhere
	}
	return n
}

func sizeAt(sizes []float64, i int) float64 {
	if i < len(sizes) {
		return sizes[i]
	}
	return 1
}

func (t *planTree) pane(i int, p Pane) *PlanPane {
	r, field := t.r, fmt.Sprintf("panes/%d/", i)
	out := &PlanPane{Type: p.Type, Agent: p.Agent, OnExit: p.OnExit, Host: p.Host, Focused: p.Focused,
		Shell: r.shell(cmp.Or(p.Shell, r.c.Shell)), Directory: r.startOfPanes(), Prompt: r.raw(p.Prompt, field+"prompt")}
	if dir := r.raw(p.Directory, field+"directory"); dir != "" {
		out.Directory = directory(dir, r.base, r.in.Home)
	}
	out.Commands = r.commands(p.Commands, out.Shell, field+"commands")
	for _, e := range p.Env {
		out.Env = append(out.Env, r.env(e, field+"env/"+e.Name))
	}
	return out
}

// startOfPanes is where panes without a directory start (spec tabs T1.2).
func (r *renderer) startOfPanes() string {
	switch {
	case r.c.Worktree == nil:
		return r.in.StartDir
	case r.in.WorktreePath == "":
		return "{{worktree_path}}" // only shown: the worktree is not made yet
	}
	return r.in.WorktreePath
}

func (r *renderer) shell(name string) Shell {
	if name == "" {
		return r.in.DefaultShell
	}
	if r.in.ResolveShell != nil {
		if s, ok := r.in.ResolveShell(name); ok {
			return s
		}
		return r.in.DefaultShell
	}
	kind, _ := template.ShellOf(name)
	return Shell{Path: name, Kind: kind}
}

// env renders a variable and leaves secrets as placeholders with their places.
func (r *renderer) env(e Env, field string) EnvVar {
	r.checkNames(e.Value, field)
	v := EnvVar{Name: e.Name}
	text, at := e.Value.Text(), 0
	var b strings.Builder
	for _, ref := range e.Value.Names() {
		end := ref.Offset + len(ref.Name) + 4
		b.WriteString(text[at:ref.Offset])
		value, ok := r.values[ref.Name]
		if p, isParam := r.c.param(ref.Name); isParam && p.Type == Secret && !ok {
			v.Secrets = append(v.Secrets, SecretAt{Name: ref.Name, Offset: b.Len()})
		}
		if !ok {
			value = text[ref.Offset:end]
		}
		b.WriteString(value)
		at = end
	}
	v.Value = b.String() + text[at:]
	return v
}

// Resolve is the value with the secrets in their places.
func (v EnvVar) Resolve(secrets map[string]string) (string, error) {
	var b strings.Builder
	at := 0
	for _, s := range v.Secrets {
		secret, ok := secrets[s.Name]
		end := s.Offset + len(s.Name) + 4
		switch {
		case !ok:
			return "", fmt.Errorf("the secret %q has no value", s.Name)
		case strings.ContainsRune(secret, 0):
			return "", fmt.Errorf("the secret %q contains a NUL byte", s.Name)
		case s.Offset < at || end > len(v.Value):
			return "", fmt.Errorf("the secret %q has no place in %s", s.Name, v.Name)
		}
		b.WriteString(v.Value[at:s.Offset])
		b.WriteString(secret)
		at = end
	}
	return b.String() + v.Value[at:], nil
}

func (t *planTree) focus() {
	focused := false
	for _, leaf := range t.leaves {
		leaf.Focused = leaf.Focused && !focused
		focused = focused || leaf.Focused
	}
	if !focused && len(t.leaves) > 0 {
		t.leaves[0].Focused = true
	}
}
