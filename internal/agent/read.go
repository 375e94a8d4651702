package agent

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"davit/internal/tabconfig"
)

// reading is what a file gave, over what was there before.
type reading struct {
	agents  map[string]Agent
	dialogs []Dialog
	faults  []tabconfig.Fault
}

// maxAgents bounds a file.
const maxAgents = 500

// readFile reads a file over others. An agent with an error in its table stays as it was.
func readFile(path string, src []byte, before reading) reading {
	d := tabconfig.OpenDocument(path, src)
	root := d.Root()
	r := reading{agents: maps.Clone(before.agents), dialogs: before.dialogs}
	if r.agents == nil {
		r.agents = map[string]Agent{}
	}
	if list, bad := dialogs(root); root.Has("dialog") && !bad {
		r.dialogs = list
	}
	if section := root.Table("agents"); section != nil {
		ids := section.Keys()
		if len(ids) > maxAgents {
			section.Fault("", tabconfig.Error, tabconfig.CodeValue, "", "there are more than %d agents", maxAgents)
			ids = nil
		}
		for _, id := range ids {
			t := section.Table(id)
			if t == nil {
				continue
			}
			known, was := before.agents[id]
			known.ID = id
			if a, ok := readAgent(t, known.clone(), before.agents != nil, was); ok {
				r.agents[id] = a
			}
		}
		section.Close(tabconfig.Error)
	}
	root.Close(tabconfig.Error)
	r.faults = d.Faults()
	return r
}

// readAgent reads an agent's table over what was known of it.
func readAgent(t *tabconfig.Table, a Agent, users, was bool) (Agent, bool) {
	if !validID(a.ID) {
		t.Fault("", tabconfig.Error, tabconfig.CodeValue, "use lower-case letters, digits and dashes", "%q cannot be the id of an agent", a.ID)
	}
	if users {
		a.Own, a.Overrides, a.Line = !was, t.Keys(), t.Line()
	}
	text := func(key string, into *string) { set(t, key, t.Text, into) }
	texts := func(key string, into *[]string) { set(t, key, t.Texts, into) }
	flag := func(key string, into *bool) { set(t, key, t.Flag, into) }
	mode := func(key string, into *Mode) { text(key, (*string)(into)) }
	text("name", &a.Name)
	flag("practice", &a.Practice)
	if !users { // nobody else can say so
		flag("tested", &a.Tested)
	}
	flag("offered", &a.Offered)
	flag("disabled", &a.Disabled)
	texts("detect", &a.Detect)
	texts("needs", &a.Needs)
	text("proof", &a.Proof)
	text("namesake", &a.Namesake)
	texts("process", &a.Process)
	texts("argv", &a.Argv)
	text("shell_command", &a.ShellCommand)
	text("args", &a.Args)
	mode("prompt", &a.Prompt)
	flag("subcommand_words", &a.SubcommandWords)
	texts("taken", &a.Taken)
	mode("draft", &a.Draft)
	texts("resume", &a.Resume)
	text("pasted", &a.Pasted)
	text("app", &a.App)
	texts("version", &a.Version)
	text("install", &a.Install)
	bad := a.readTables(t)
	t.Close(tabconfig.Error)
	if t.Bad() || bad {
		return a, false
	}
	a.complete()
	a.check(t)
	return a, !t.Bad()
}

// set takes a key's value when it is there. It asks in any case: what was asked for is a
// known key.
func set[T any](t *tabconfig.Table, key string, ask func(string) T, into *T) {
	if value := ask(key); t.Has(key) {
		*into = value
	}
}

// readTables reads the tables of an agent's table.
func (a *Agent) readTables(t *tabconfig.Table) (bad bool) {
	bad = textTable(t, "env", &a.Env)
	if o := t.Table("options"); o != nil {
		if a.Options == nil {
			a.Options = map[string][]string{}
		}
		for _, key := range o.Keys() {
			a.Options[key] = o.Texts(key)
		}
		bad = bad || o.Bad()
	}
	var titles map[string]string
	bad = textTable(t, "titles", &titles) || bad
	for status, pattern := range titles {
		if a.Titles == nil {
			a.Titles = map[Status]string{}
		}
		a.Titles[Status(status)] = pattern
		if known := []string{string(StatusWorking), string(StatusWaiting), string(StatusIdle)}; !slices.Contains(known, status) {
			t.Fault("titles", tabconfig.Error, tabconfig.CodeUnknownKey, t.Nearest(status, known), "unknown key %q in [titles]", status)
		}
	}
	if s := t.Table("structured"); s != nil {
		a.Structured.read(s)
		bad = bad || s.Bad()
	}
	if r := t.Table("ready"); r != nil {
		a.Ready.read(r)
		bad = bad || r.Bad()
	}
	if h := t.Table("hooks"); h != nil {
		a.Hooks = Hooks{Kind: h.Text("kind"), File: h.Text("file")}
		h.Close(tabconfig.Error)
		bad = bad || h.Bad()
	}
	if list, wrong := dialogs(t); t.Has("dialog") {
		a.Dialogs = list
		bad = bad || wrong
	}
	return bad
}

// textTable reads a table of strings, key by key over what is there.
func textTable(t *tabconfig.Table, key string, into *map[string]string) (bad bool) {
	inner := t.Table(key)
	if inner == nil {
		return false
	}
	if *into == nil {
		*into = map[string]string{}
	}
	for _, name := range inner.Keys() {
		(*into)[name] = inner.Text(name)
	}
	return inner.Bad()
}

func (s *Structured) read(t *tabconfig.Table) {
	set(t, "driver", t.Text, &s.Driver)
	set(t, "argv", t.Texts, &s.Argv)
	set(t, "sign_in", t.Text, &s.SignIn)
	if textTable(t, "env", &s.Env) {
		t.Fault("env", tabconfig.Error, tabconfig.CodeType, "", "env has a value that is no string")
	}
	if drivers := []string{"acp", "claude", "codex"}; s.Driver != "" && !slices.Contains(drivers, s.Driver) {
		t.Fault("driver", tabconfig.Error, tabconfig.CodeValue, t.Nearest(s.Driver, drivers), "driver = %q is not a driver", s.Driver)
	}
	if s.Driver == "acp" && (len(s.Argv) == 0 || s.Argv[0] == "") {
		t.Fault("argv", tabconfig.Error, tabconfig.CodeMissingKey, `for example argv = ["mine", "acp"]`, "driver = \"acp\" needs argv: the command that speaks the protocol")
	}
	t.Close(tabconfig.Error)
}

func (s *Signature) read(t *tabconfig.Table) {
	set(t, "screen", t.Texts, &s.Screen)
	set(t, "not", t.Texts, &s.Not)
	set(t, "title", t.Texts, &s.Title)
	set(t, "paste", t.Flag, &s.Paste)
	patterns(t, "screen", s.Screen...)
	patterns(t, "not", s.Not...)
	patterns(t, "title", s.Title...)
	t.Close(tabconfig.Error)
}

func dialogs(t *tabconfig.Table) (list []Dialog, bad bool) {
	for _, d := range t.Tables("dialog", "a dialog") {
		dialog := Dialog{Name: d.Text("name"), All: d.Texts("all"), Last: d.Count("last", 1000)}
		patterns(d, "all", dialog.All...)
		if len(dialog.All) == 0 {
			d.Fault("all", tabconfig.Error, tabconfig.CodeValue, "say in `all` what it shows", "dialog %q matches everything", dialog.Name)
		}
		d.Close(tabconfig.Error, "name")
		bad = bad || d.Bad()
		list = append(list, dialog)
	}
	return list, bad
}

func patterns(t *tabconfig.Table, key string, list ...string) {
	for _, p := range list {
		if _, err := regexp.Compile(p); err != nil {
			t.Fault(key, tabconfig.Error, tabconfig.CodeValue, "write it between '…', where a backslash is one", "%s: %v", key, err)
		}
	}
}

// complete fills in what may be left out.
func (a *Agent) complete() {
	if a.Name == "" {
		a.Name = a.ID
	}
	if len(a.Argv) == 0 && a.ShellCommand == "" {
		a.Argv = []string{a.ID}
	}
	if len(a.Detect) == 0 && a.ShellCommand == "" && a.Argv[0] != selfWord {
		a.Detect = []string{a.Argv[0]}
	}
	if a.Prompt == "" {
		a.Prompt = ModeStdin
	}
	if a.Draft == "" {
		a.Draft = ModePaste
	}
	if a.Pasted == "" {
		a.Pasted = `(?i)\[pasted`
	}
}

// check tells what is wrong with the values of a complete entry.
func (a *Agent) check(t *tabconfig.Table) {
	fault := func(key, hint, format string, args ...any) {
		t.Fault(key, tabconfig.Error, tabconfig.CodeValue, hint, format, args...)
	}
	modes := []string{string(ModeArgv), string(ModeDashes), string(ModeStdin)}
	if !validMode(a.Prompt, ModeArgv, ModeDashes, ModeStdin) {
		hint := fmt.Sprintf("one of %s, flag:--…, env:NAME", strings.Join(modes, ", "))
		if near := tabconfig.Nearest(string(a.Prompt), modes); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		fault("prompt", hint, "prompt = %q is not a prompt mode", a.Prompt)
	}
	if !validMode(a.Draft, ModePaste) {
		fault("draft", "one of paste, flag:--…, env:NAME", "draft = %q is not a draft mode", a.Draft)
	}
	if _, err := splitWords(a.Args); err != nil {
		fault("args", "", "args: %v", err)
	}
	for name := range a.Env {
		if !validName(name) {
			fault("env", "a name is letters, digits and _", "%q cannot name a variable", name)
		}
	}
	for key, words := range map[string][]string{"argv": a.Argv, "detect": a.Detect} {
		if len(words) > 0 && words[0] == "" || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsRune(w, 0) }) {
			fault(key, "", "%s has an empty first word, or a NUL byte", key)
		}
	}
	for key, words := range a.Options {
		if !carries(words, "{value}") {
			fault("options", `for example ["--model", "{value}"]`, "option %q has no {value}", key)
		}
	}
	if len(a.Resume) > 0 && !carries(a.Resume, "{id}") {
		fault("resume", `for example ["--resume", "{id}"]`, "resume has no {id}")
	}
	patterns(t, "proof", a.Proof)
	patterns(t, "pasted", a.Pasted)
	patterns(t, "titles", slices.Collect(maps.Values(a.Titles))...)
}

func carries(words []string, placeholder string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, placeholder) })
}

func validMode(m Mode, plain ...Mode) bool {
	if slices.Contains(plain, m) {
		return true
	}
	if flag, ok := m.Flag(); ok {
		return strings.HasPrefix(flag, "-")
	}
	name, ok := m.Env()
	return ok && validName(name)
}

func validID(id string) bool {
	return id != "" && len(id) <= 64 && id[0] != '-' && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// validName says whether a text can name a variable of the environment.
func validName(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
