// Package docs_test holds the documentation to the code: its links, its tab configs, its
// command lines, and the list of commands.
package docs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"davit/internal/api"
	"davit/internal/cli"
	"davit/internal/tabconfig"
)

var update = flag.Bool("update", false, "write the generated parts of docs/ anew")

const root = ".."

// files gives the paths below the root that have one of the endings, without what is
// built or fetched.
func files(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (slices.Contains([]string{"node_modules", "testdata", "dist", "bin", "test-results"}, name) || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains(endings, filepath.Ext(name)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("there are no files ending in %v", endings)
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// block is one fenced block of a page.
type block struct {
	path string
	line int // of its first line of text
	kind string
	text string
}

func (b block) place() string { return fmt.Sprintf("%s:%d", b.path, b.line) }

func blocks(path, text string) []block {
	var list []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && open == nil:
			open = &block{path: path, line: i + 2, kind: strings.TrimSpace(fence)}
		case isFence:
			list = append(list, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return list
}

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// anchor is how a heading is linked to.
func anchor(heading string) string {
	heading = strings.ToLower(strings.NewReplacer("`", "", "*", "").Replace(heading))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || ('a' <= r && r <= 'z') || ('0' <= r && r <= '9') || r > 0x7f:
			return r
		}
		return -1
	}, heading)
}

func TestLinksResolve(t *testing.T) {
	for _, path := range files(t, ".md") {
		text := code.ReplaceAllString(read(t, path), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: the link %q does not parse", path, m[1])
				continue
			}
			if u.Scheme != "" {
				continue // the network is not asked
			}
			target := path
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(path), u.Path)
			}
			if rel, err := filepath.Rel(root, target); err != nil || strings.HasPrefix(rel, "..") {
				t.Errorf("%s: the link %q leads out of the project", path, m[1])
				continue
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %q leads nowhere", path, m[1])
				continue
			}
			if u.Fragment == "" || filepath.Ext(target) != ".md" {
				continue
			}
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(read(t, target), -1) {
				anchors = append(anchors, anchor(h[1]))
			}
			if !slices.Contains(anchors, u.Fragment) {
				t.Errorf("%s: %s has no heading for %q", path, target, m[1])
			}
		}
	}
}

// TestTabConfigs loads every TOML block that is a tab config: without errors and without
// warnings.
func TestTabConfigs(t *testing.T) {
	loaded := 0
	for _, path := range files(t, ".md") {
		for _, b := range blocks(path, read(t, path)) {
			if b.kind != "toml" || !strings.Contains(b.text, "[[panes]]") {
				continue
			}
			loaded++
			_, faults := tabconfig.Load(b.place(), []byte(b.text), tabconfig.LoadEnv{DefaultShell: "/bin/bash"})
			for _, f := range faults {
				t.Errorf("%s: %s at its line %d: %s", b.place(), f.Severity, f.Line, f.Message)
			}
		}
	}
	if loaded < 3 {
		t.Errorf("the pages have %d tab configs; where are the others?", loaded)
	}
}

// TestCommandLines checks each davit command line of the pages: the command is there, and
// so are its flags.
func TestCommandLines(t *testing.T) {
	commands := map[string]cli.Command{}
	for _, c := range cli.Commands() {
		commands[c.Path] = c
	}
	checked := 0
	for _, path := range files(t, ".md") {
		if strings.Contains(path, "/spec/") {
			continue // what will be
		}
		for _, b := range blocks(path, read(t, path)) {
			if b.kind != "sh" && b.kind != "console" {
				continue
			}
			for _, words := range commandLines(b) {
				checked++
				if err := check(commands, words); err != nil {
					t.Errorf("%s: davit %s: %v", b.place(), strings.Join(words, " "), err)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("the pages have %d command lines; where are the others?", checked)
	}
}

// commandLines gives the words behind each `davit` of a block. In a console block only
// lines that begin with "$ " are typed.
func commandLines(b block) [][]string {
	var lines [][]string
	for _, line := range strings.Split(strings.ReplaceAll(b.text, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if b.kind == "console" {
			typed, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			line = typed
		}
		for _, words := range shellWords(line) {
			for len(words) > 0 && strings.Contains(words[0], "=") {
				words = words[1:] // an assignment before the command
			}
			if len(words) > 0 && (words[0] == "davit" || words[0] == "bin/davit") {
				lines = append(lines, words[1:])
			}
		}
	}
	return lines
}

// shellWords splits a line into commands and their words, as far as the pages need it.
func shellWords(line string) [][]string {
	var commands [][]string
	var words []string
	var word strings.Builder
	quote, some := rune(0), false
	endWord := func() {
		if some {
			words = append(words, word.String())
		}
		word.Reset()
		some = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, some = r, true
		case r == ' ' || r == '\t':
			endWord()
		case r == '|' || r == ';' || r == '&' || r == '<' || r == '>':
			endCommand()
		case r == '#' && !some:
			endCommand()
			return commands
		default:
			word.WriteRune(r)
			some = true
		}
	}
	endCommand()
	return commands
}

func check(commands map[string]cli.Command, words []string) error {
	c, path := commands[""], ""
	for len(words) > 0 {
		next := strings.TrimSpace(path + " " + words[0])
		found, ok := commands[next]
		if !ok {
			break
		}
		c, path, words = found, next, words[1:]
	}
	if nouns := slices.ContainsFunc(slices.Collect(keys(commands)), func(p string) bool { return strings.HasPrefix(p, path+" ") || path == "" }); nouns && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		return fmt.Errorf("there is no command %q", strings.TrimSpace(path+" "+words[0]))
	}
	for _, word := range words {
		if word == "--" {
			break
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		known := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool {
			if strings.HasPrefix(word, "--") {
				return f.Name == name
			}
			return f.Shorthand != "" && strings.HasPrefix(name, f.Shorthand)
		})
		if !known {
			return fmt.Errorf("it has no flag %s", word)
		}
	}
	return nil
}

func keys(m map[string]cli.Command) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestCommandList holds the list of commands in cli.md to the commands that there are.
func TestCommandList(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n")
	for _, c := range cli.Commands() {
		if c.Hidden || strings.HasPrefix(c.Path, "completion ") {
			continue
		}
		use := strings.TrimSuffix(c.Use, " [flags]")
		fmt.Fprintf(&b, "**`%s`** — %s\n", use, c.Short)
		for _, f := range c.Flags {
			if f.Name == "json" || f.Name == "help" || f.Name == "version" {
				continue
			}
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fmt.Fprintf(&b, "  * `%s`: %s\n", name, f.Usage)
		}
		b.WriteString("\n")
	}
	hold(t, "cli.md", "commands", b.String())
}

// TestOperations holds the list of operations in api.md to the description that the API
// gives of itself.
func TestOperations(t *testing.T) {
	raw, err := api.Description()
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Paths map[string]map[string]struct{ Summary string }
	}
	if err := json.Unmarshal(raw, &description); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for path, methods := range description.Paths {
		lines = append(lines, fmt.Sprintf("| `%s` | %s |\n", strings.TrimPrefix(path, "/v1/"), methods["post"].Summary))
	}
	slices.Sort(lines)
	hold(t, "api.md", "operations", "\n| Operation | |\n|---|---|\n"+strings.Join(lines, "")+"\n")
}

// hold compares a generated part of a page with what it must be, or writes it.
func hold(t *testing.T, path, what, want string) {
	t.Helper()
	from, to := "<!-- "+what+": written by `go test ./docs -update` -->\n", "<!-- end of "+what+" -->"
	head, rest, ok := strings.Cut(read(t, path), from)
	had, tail, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatalf("%s has no place for the %s", path, what)
	}
	if had == want {
		return
	}
	if !*update {
		t.Fatalf("the %s in docs/%s are stale: run `go test ./docs -update`", what, path)
	}
	if err := os.WriteFile(path, []byte(head+from+want+to+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDependenciesAreDecided: every module that the code imports, and every package of the
// page, is named by a decision.
func TestDependenciesAreDecided(t *testing.T) {
	pages, err := filepath.Glob("adr/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no decisions: %v", err)
	}
	var decided string
	for _, path := range pages {
		decided += read(t, path)
	}
	needed := map[string]string{}
	for _, path := range files(t, ".go") {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			name := strings.Trim(i.Path.Value, "\"")
			host, rest, _ := strings.Cut(name, "/")
			if !strings.Contains(host, ".") {
				continue // the standard library, or ours
			}
			parts := 1
			if host == "github.com" || host == "golang.org" {
				parts = 2
			}
			needed[host+"/"+strings.Join(strings.SplitN(rest, "/", parts+1)[:parts], "/")] = path
		}
	}
	var page struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(root, "web", "package.json"))), &page); err != nil {
		t.Fatal(err)
	}
	for _, list := range []map[string]string{page.Dependencies, page.DevDependencies} {
		for name := range list {
			needed[name] = "web/package.json"
		}
	}
	for name, path := range needed {
		if !strings.Contains(decided, "`"+name+"`") && !strings.Contains(decided, "`"+name+"/v") {
			t.Errorf("%s uses %s, and no page of docs/adr says why", path, name)
		}
	}
}

// TestRulesExist: a rule that a comment cites is in the specification.
func TestRulesExist(t *testing.T) {
	cited := regexp.MustCompile(`spec (launch|tabs|terminal|chips|interfaces|session),? ([LPTCSA][0-9]+(?:\.[0-9]+)?)`)
	rules := map[string]string{}
	found := 0
	for _, path := range files(t, ".go", ".ts", ".tsx", ".md") {
		for _, m := range cited.FindAllStringSubmatch(read(t, path), -1) {
			page, rule := m[1], m[2]
			if rules[page] == "" {
				rules[page] = read(t, filepath.Join("spec", page+".md"))
			}
			found++
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(rule) + `\b`).MatchString(rules[page]) {
				t.Errorf("%s cites spec %s %s, which is not there", path, page, rule)
			}
		}
	}
	if found == 0 {
		t.Error("nothing cites the specification")
	}
}

// TestStandsAlone: the tree names no place outside of it, and no workplace of its makers.
func TestStandsAlone(t *testing.T) {
	words := regexp.MustCompile(`(?i)helper session|subagent|(^|[\s"'(=:` + "`" + `.])/work/|(^|[\s"'(/` + "`" + `])shared/`)
	events := strings.NewReplacer("SubagentStart", "", "SubagentStop", "") // Claude Code's own names
	list := files(t, ".md", ".go", ".ts", ".tsx", ".css", ".sh", ".bash", ".zsh", ".fish", ".sql", ".toml", ".txt", ".mjs")
	for _, path := range append(list, filepath.Join(root, "Makefile"), filepath.Join(root, ".ci", "run")) {
		if filepath.Base(path) == "docs_test.go" {
			continue // it has the words
		}
		for i, line := range strings.Split(read(t, path), "\n") {
			if found := words.FindString(events.Replace(line)); found != "" {
				t.Errorf("%s:%d says %q", path, i+1, found)
			}
		}
	}
}
