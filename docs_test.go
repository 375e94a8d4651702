package davit_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"davit"
)

var update = flag.Bool("update", false, "write the generated parts of docs/ anew")

// exitMeaning says in words what each exit status stands for (spec interfaces A3.4). The
// codes behind it come from the table in codes.go.
var exitMeaning = map[int]string{
	1:  "A file that was checked or opened has faults; with `davit try`, a step did not hold",
	2:  "The command line or a field was wrong",
	3:  "What was named is not there, or is not the only one",
	4:  "The caller may not",
	5:  "This version does not do it",
	6:  "No host, no keeper, or no home to work with",
	7:  "The pane cannot do it",
	8:  "Refused as it stands: look first, then say so explicitly",
	9:  "The launch was refused, or it cannot be known what it did",
	10: "git, a worktree or a directory is in the way",
	70: "A fault of davit",
}

func TestErrorsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Errors\n\n")
	b.WriteString("<!-- Written by `go test . -update` from codes.go; do not edit. -->\n\n")
	b.WriteString("An error is `{code, message, hint, details}`. Scripts match on `code`: it is stable; message and hint are for people and may change. ")
	b.WriteString("Over HTTP an error is a problem document (RFC 9457) with these fields and the status below; the command line prints `davit: error: …` and `davit: hint: …`, ")
	b.WriteString("or with `--json` `{\"error\": {…}}` on stdout, and ends with the exit status below. ([Faults of tab configs](guide/tab-configs.md) have codes of their own.)\n\n")
	b.WriteString("| Code | HTTP | Exit | Meaning | Made | What to do |\n|---|---|---|---|---|---|\n")
	for _, c := range davit.Codes() {
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s | %s |\n", c.Code, c.HTTP, c.Exit, c.Meaning, c.Made, c.Do)
	}
	b.WriteString("\n“Made” says whether anything may have been made or changed before the error. “maybe”: look before you repeat it.\n")
	hold(t, "docs/errors.md", b.String())
}

func TestExitStatusTable(t *testing.T) {
	byExit := map[int][]string{}
	for _, c := range davit.Codes() {
		byExit[c.Exit] = append(byExit[c.Exit], "`"+string(c.Code)+"`")
	}
	exits := []int{}
	for exit := range byExit {
		if exitMeaning[exit] == "" {
			t.Errorf("exit status %d has no meaning in docs_test.go", exit)
		}
		exits = append(exits, exit)
	}
	slices.Sort(exits)
	var b strings.Builder
	b.WriteString("| Status | Meaning | Codes |\n|---|---|---|\n| 0 | It was done. `davit attach` ends with its program's own exit status | |\n")
	for _, exit := range exits {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", exit, exitMeaning[exit], strings.Join(byExit[exit], " "))
	}
	const from, to = "<!-- exit status: written by `go test . -update` from codes.go -->\n", "<!-- end of exit status -->"
	page, err := os.ReadFile("docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), from)
	_, tail, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatal("docs/cli.md has no place for the exit status table")
	}
	hold(t, "docs/cli.md", head+from+b.String()+to+tail)
}

// hold compares a page with what it must be, or writes it.
func hold(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err == nil && string(got) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is stale: run `go test . -update`", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCodeTable holds the constants of codes.go and its table together.
func TestCodeTable(t *testing.T) {
	constants := codeConstants(t)
	inTable := map[davit.Code]bool{}
	for _, c := range davit.Codes() {
		if inTable[c.Code] {
			t.Errorf("%s stands twice in the table", c.Code)
		}
		inTable[c.Code] = true
		if !constants[c.Code] {
			t.Errorf("%s is in the table, but no constant", c.Code)
		}
		if c.HTTP < 400 || c.HTTP > 599 || c.Exit < 1 || c.Exit > 125 {
			t.Errorf("%s: HTTP status %d, exit status %d", c.Code, c.HTTP, c.Exit)
		}
		for name, text := range map[string]string{"Meaning": c.Meaning, "Made": c.Made, "Do": c.Do} {
			if text == "" || strings.ContainsAny(text, "|\n") {
				t.Errorf("%s: %s is %q", c.Code, name, text)
			}
		}
	}
	for code := range constants {
		if !inTable[code] {
			t.Errorf("%s is a constant, but not in the table", code)
		}
		if code.Info().Code != code {
			t.Errorf("Info of %s is that of %s", code, code.Info().Code)
		}
	}
	if unknown := davit.Code("no_such_code"); unknown.Info().Code != davit.CodeInternal {
		t.Errorf("an unknown code is shown as %s, not as internal", unknown.Info().Code)
	}
}

// codeConstants reads the Code constants of codes.go.
func codeConstants(t *testing.T) map[davit.Code]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[davit.Code]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind, typed := spec.Type.(*ast.Ident)
		for i, name := range spec.Names {
			if !typed || kind.Name != "Code" || i >= len(spec.Values) {
				continue
			}
			literal, ok := spec.Values[i].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is not a plain string", name.Name)
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if code := davit.Code(value); found[code] {
				t.Errorf("two constants are %q", value)
			} else {
				found[code] = true
			}
		}
		return true
	})
	if len(found) == 0 {
		t.Fatal("codes.go has no Code constants")
	}
	return found
}
