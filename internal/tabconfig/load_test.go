package tabconfig

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"davit/internal/template"
)

var update = flag.Bool("update", false, "write the golden files")

func testEnv() LoadEnv {
	return LoadEnv{
		DefaultShell:   "/bin/bash",
		ShellInstalled: func(s string) bool { return !strings.Contains(s, "missing") },
		KnownAgent:     func(id string) bool { return id == "claude" || id == "codex" },
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, d)
	}
}

// file is one of an archive: "-- name --" and the text up to the next.
type file struct {
	name string
	data []byte
}

func faultCases(t testing.TB) []file {
	t.Helper()
	text, err := os.ReadFile("testdata/faults.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var files []file
	for _, part := range strings.Split(string(text), "\n-- ")[1:] {
		name, data, ok := strings.Cut(part, " --\n")
		if !ok {
			t.Fatalf("no file name in %q", part)
		}
		files = append(files, file{name, []byte(data + "\n")})
	}
	return files
}

// Every fault of T1.3, all of a file's at once, as a person sees them.
func TestFaults(t *testing.T) {
	var out strings.Builder
	told := map[Code]bool{}
	for _, f := range faultCases(t) {
		cfg, faults := Load(f.name, f.data, testEnv())
		var got []string
		var text strings.Builder
		for _, fault := range faults {
			got = append(got, string(fault.Code))
			told[fault.Code] = true
			text.WriteString(fault.Format(f.data))
		}
		var want []string
		for _, line := range strings.Split(string(f.data), "\n") {
			if regexp.MustCompile(`^# [a-z_ ]+$`).MatchString(line) {
				want = append(want, strings.Fields(line[2:])...)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v\n%s", f.name, got, want, text.String())
		}
		if (cfg == nil) != HasErrors(faults) {
			t.Errorf("%s: config %v with faults %v", f.name, cfg != nil, faults)
		}
		fmt.Fprintf(&out, "-- %s --\n%s", f.name, text.String())
	}
	golden(t, "testdata/faults.golden", []byte(out.String()))
	for _, code := range fileCodes(t) {
		if !told[code] && code != CodeTooLarge && code != CodeEncoding && code != CodeMore {
			t.Errorf("no case for %s", code)
		}
	}
}

// fileCodes reads the codes of file faults from their declaration.
func fileCodes(t *testing.T) []Code {
	src, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	declared, _, _ := strings.Cut(string(src), "// Faults of an opening")
	var codes []Code
	for _, m := range regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(declared, -1) {
		codes = append(codes, Code(m[1]))
	}
	if len(codes) < 25 {
		t.Fatalf("only %d codes found", len(codes))
	}
	return codes
}

func TestFilesThatAreNoText(t *testing.T) {
	for _, c := range []struct {
		src  string
		want string
	}{
		{"name = \"x\"\ntitle = \"a\xff\"\n", "x.toml:2:11: error: the file is not UTF-8"},
		{strings.Repeat("#", MaxFile+1), "x.toml: error: the file has more than 1048576 bytes"},
		{"\x00", "x.toml:1:1: error: invalid character at start of key: U+0000"},
	} {
		cfg, faults := Load("x.toml", []byte(c.src), testEnv())
		if cfg != nil || len(faults) != 1 || faults[0].String() != c.want {
			t.Errorf("%.20q: %v, want %s", c.src, faults, c.want)
		}
	}
}

// A file of hostile size is told of in time, and its faults are bounded.
func TestLargeFiles(t *testing.T) {
	many := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	leaf := ", {id = \"a\", type = \"terminal\"}, {id = \"b\", type = \"terminal\"}]\n"
	for name, src := range map[string]string{
		"keys":         minimal + many(30_000, func(i int) string { return fmt.Sprintf("k%d = 1\n", i) }),
		"one line":     "name = \"x\"\npanes = [" + many(8_000, func(i int) string { return fmt.Sprintf("{id = \"%d\", title = \"{{a}}\"},", i) }) + "]\n",
		"placeholders": "name = \"x\"\npanes = [{id = \"a\", type = \"terminal\", commands = [\"" + strings.Repeat("{{q}}", 60_000) + "\"]}]\n",
		"openings":     "name = \"" + "x\"\ntitle = \"" + strings.Repeat("{{ ", 300_000) + "\"\n" + minimal[len("name = \"x\"\n"):],
		"children":     "name = \"x\"\npanes = [{id = \"s\", split = \"vertical\", children = [" + strings.Repeat("\"zz\",", 40_000) + "]}" + leaf,
		"params":       minimal + "[params]\n" + many(20_000, func(i int) string { return fmt.Sprintf("p%d={}\n", i) }),
		"deep": "name = \"x\"\npanes = [" + many(4_000, func(i int) string {
			return fmt.Sprintf("{id=\"%d\",split=\"vertical\",children=[\"%d\",\"b\"]},", i, i+1)
		}) + "{id=\"4000\",type=\"terminal\"}" + leaf,
	} {
		start := time.Now()
		c, faults := Load("x.toml", []byte(src), testEnv())
		if len(src) > MaxFile {
			t.Errorf("%s: the case is too large", name)
		}
		if len(faults) > maxFaults+1 || c != nil && name != "placeholders" && name != "openings" && name != "deep" {
			t.Errorf("%s: %d faults, config %v", name, len(faults), c != nil)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %s", name, took)
		}
		if c != nil {
			c.Plan(testInput())
		}
		t.Logf("%s: %d KiB, %d faults, %s", name, len(src)>>10, len(faults), time.Since(start).Round(time.Millisecond))
	}
}

const minimal = "name = \"x\"\n[[panes]]\nid = \"a\"\ntype = \"terminal\"\n"

func TestByteOrderMarkAndLineEnds(t *testing.T) {
	src := bom + strings.ReplaceAll("colour = 1\n"+minimal, "\n", "\r\n")
	_, faults := Load("x.toml", []byte(src), testEnv())
	if len(faults) != 1 {
		t.Fatal(faults)
	}
	want := "x.toml:1:1: error: unknown key \"colour\" in the tab config\n 1 | colour = 1\n   | ^~~~~~\n  hint: did you mean \"color\"?\n"
	if got := faults[0].Format([]byte(src)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFaultAsJSON(t *testing.T) {
	_, faults := Load("x.toml", []byte(minimal+"colour = 1\n"), testEnv())
	got, err := json.Marshal(faults)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"file":"x.toml","line":5,"column":1,"severity":"error","code":"unknown_key","message":"unknown key \"colour\" in a pane",` +
		`"hint":"known here: id, type, split, children, sizes, is_focused, directory, commands, shell, agent, prompt, env, on_exit, host, worktree_name_autogenerated"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPlaceInString(t *testing.T) {
	for _, c := range []struct {
		value  string
		column int
	}{
		{`"{{q}}"`, 10}, {`'ab{{q}}'`, 12}, {`"\u00fc\t{{q}}"`, 18}, {`"\U0001F600\"{{q}}"`, 22}, {`'''{{q}}'''`, 12}, {`"""a{{q}}"""`, 13}, {`"\x41\e{{q}}"`, 16},
	} {
		_, faults := Load("x.toml", []byte("title = "+c.value+"\n"+minimal), testEnv())
		if len(faults) != 1 || faults[0].Column != c.column || faults[0].width != 5 {
			t.Errorf("%s: %+v, want column %d", c.value, faults, c.column)
		}
	}
	_, faults := Load("x.toml", []byte("title = \"\"\"\\\n  ab\n x{{q}}\"\"\"\n"+minimal), testEnv())
	if len(faults) != 1 || faults[0].Line != 3 || faults[0].Column != 3 {
		t.Errorf("%+v, want 3:3", faults)
	}
}

func TestLoadReadsEveryKey(t *testing.T) {
	c, faults := Load("/c/all-keys.toml", []byte(`
name = "All"
title = "{{issue}}"
description = "d"
icon = "i"
color = "cyan"
group = "g"
shell = "zsh"
panes = [{id = "s", split = "horizontal", children = ["a", "b"], sizes = [2, 1.5]}, {id = "a", type = "terminal", is_focused = true,
  directory = "~/x", commands = ["ls {{n}}"], shell = "fish", env.A = "{{tok}}", on_exit = "restart", worktree_name_autogenerated = true},
  {id = "b", type = "agent", agent = "claude", prompt = "do {{issue}}"}]
[worktree]
repo = "{{r}}"
base = "{{b}}"
branch = "{{issue}}"
name = "{{ch}}"
remove_on_close = true
[params]
issue = {description = "Issue", default = ""}
n.type = "boolean"
n.default = true
tok.type = "secret"
r.type = "repo"
b = {type = "branch", default = "main"}
ch = {type = "choice", options = ["x", "y"]}
[on_close]
directory = "{{repo_root}}"
commands = ["true"]
timeout = "90s"
`), testEnv())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	tm := template.Parse
	want := &Config{Path: "/c/all-keys.toml", Name: "All", Title: tm("{{issue}}"), Description: "d", Icon: "i", Color: "cyan", Group: "g", Shell: "zsh",
		Worktree: &Worktree{Repo: tm("{{r}}"), Base: tm("{{b}}"), Branch: tm("{{issue}}"), Name: tm("{{ch}}"), RemoveOnClose: true},
		Panes: []Pane{{ID: "s", Split: Horizontal, Children: []string{"a", "b"}, Sizes: []float64{2, 1.5}},
			{ID: "a", Type: Terminal, Focused: true, Directory: tm("~/x"), Commands: []template.Template{tm("ls {{n}}")}, Shell: "fish",
				Env: []Env{{"A", tm("{{tok}}")}}, OnExit: Restart, Generated: true},
			{ID: "b", Type: Agent, Agent: "claude", Prompt: tm("do {{issue}}")}},
		OnClose: &OnClose{Directory: tm("{{repo_root}}"), Commands: []template.Template{tm("true")}, Timeout: 90 * time.Second},
		params: []Param{{Name: "r", Type: Repo}, {Name: "b", Type: Branch, Default: "main", HasDefault: true}, {Name: "n", Type: Boolean, Default: "true", HasDefault: true},
			{Name: "ch", Type: Choice, Options: []string{"x", "y"}}, {Name: "issue", Type: Text, Description: "Issue", HasDefault: true}, {Name: "tok", Type: Secret}},
		needsBranch: true, places: c.places}
	if d := cmp.Diff(want, c, cmp.AllowUnexported(Config{}, template.Template{}, position{})); d != "" {
		t.Error(d)
	}
	if c.Stem() != "all-keys" {
		t.Error(c.Stem())
	}
}

func TestSortAndMatch(t *testing.T) {
	configs := []*Config{{Name: "b", Path: "/1/two.toml"}, {Name: "B", Path: "/1/three.toml"}, {Name: "a", Path: "/2/b.toml"}, {Name: "a", Path: "/1/one.toml"}}
	Sort(configs)
	var order []string
	for _, c := range configs {
		order = append(order, c.Name+c.Path)
	}
	if want := []string{"a/1/one.toml", "a/2/b.toml", "B/1/three.toml", "b/1/two.toml"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	for arg, want := range map[string]int{"B": 3, "one": 1, "TWO": 1, "nothing": 0} {
		if got := Match(configs, arg); len(got) != want {
			t.Errorf("%s: %d configs, want %d", arg, len(got), want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, c := range faultCases(f) {
		f.Add(c.data)
	}
	files, _ := filepath.Glob("testdata/warp/*.toml")
	for _, file := range files {
		if src, err := os.ReadFile(file); err == nil {
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, faults := Load("f.toml", src, testEnv())
		if (c == nil) != HasErrors(faults) {
			t.Fatalf("config %v with faults %v", c != nil, faults)
		}
		for _, fault := range faults {
			if text := fault.Format(src); strings.ContainsAny(strings.ReplaceAll(text, "\n", ""), "\x1b\x07\r") && !strings.ContainsAny(fault.Message+fault.Hint, "\x1b\x07\r") {
				t.Fatalf("control characters in %q", text)
			}
			if fault.Severity == Error && fault.Message == "" || fault.Code == "" {
				t.Fatalf("empty fault %+v", fault)
			}
		}
		if c != nil {
			c.Plan(Input{StartDir: "/s", Home: "/h", DefaultShell: Shell{Path: "/bin/bash", Kind: template.Bash}, CleanupShell: Shell{Path: "/bin/sh", Kind: template.Sh}})
			c.RepositoryDir(Input{})
		}
	})
}

// 200 configs load within 100 ms (spec tabs T7).
func BenchmarkLoad200(b *testing.B) {
	src := []byte(worktreeConfig)
	for b.Loop() {
		for range 200 {
			if c, faults := Load("t.toml", src, testEnv()); c == nil {
				b.Fatal(faults)
			}
		}
	}
}
