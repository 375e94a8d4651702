// Package archtest holds the tree to its arrows: which package may import which, and
// what pure packages must not touch (STYLE 1 and 2).
package archtest

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/sys/unix"}

const module = "davit"

// tests is the package that every test file may import, and nothing else.
const tests = "internal/testenv"

type rules struct {
	pure   []string
	arrows map[string]arrow
}

// arrow is one line: what a package may import, and what its test files may besides.
type arrow struct{ code, tests []string }

func readRules(t *testing.T) rules {
	t.Helper()
	f, err := os.Open("arrows.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rules{arrows: map[string]arrow{}}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "pure:"):
			r.pure = strings.Fields(strings.TrimPrefix(line, "pure:"))
		default:
			from, to, ok := strings.Cut(line, "->")
			if !ok {
				t.Fatalf("arrows.txt: cannot read %q", line)
			}
			from = strings.TrimSpace(from)
			if _, twice := r.arrows[from]; twice {
				t.Fatalf("arrows.txt: %s stands twice", from)
			}
			code, testing, _ := strings.Cut(to, "|")
			r.arrows[from] = arrow{strings.Fields(code), strings.Fields(testing)}
		}
	}
	return r
}

// pkg is one folder's imports, those of its test files apart.
type pkg struct {
	imports, testImports map[string]string // path → file that has it
	clock                string            // where it calls time.Now, "" when nowhere
}

func readTree(t *testing.T, root string) map[string]*pkg {
	t.Helper()
	tree := map[string]*pkg{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || (strings.HasPrefix(d.Name(), ".") && path != root)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		rel, _ := filepath.Rel(root, filepath.Dir(path))
		p := tree[rel]
		if p == nil {
			p = &pkg{imports: map[string]string{}, testImports: map[string]string{}}
			tree[rel] = p
		}
		isTest := strings.HasSuffix(path, "_test.go")
		for _, imp := range file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			if isTest {
				p.testImports[name] = path
			} else {
				p.imports[name] = path
			}
		}
		if !isTest {
			ast.Inspect(file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Now" {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" {
						p.clock = path
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func local(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	rel, ok := strings.CutPrefix(path, module+"/")
	return rel, ok
}

func importPath(to string) string {
	if to == "." {
		return module
	}
	return module + "/" + to
}

func TestArrows(t *testing.T) {
	r, tree := readRules(t), readTree(t, filepath.Join("..", ".."))
	for name, p := range tree {
		allowed, listed := r.arrows[name]
		if !listed {
			t.Errorf("%s has no line in arrows.txt", name)
			continue
		}
		for path, file := range p.imports {
			if to, ok := local(path); ok && !slices.Contains(allowed.code, to) {
				t.Errorf("%s imports %s: no such arrow", file, to)
			}
		}
		for path, file := range p.testImports {
			to, ok := local(path)
			if ok && to != name && to != tests && !slices.Contains(allowed.code, to) && !slices.Contains(allowed.tests, to) {
				t.Errorf("%s imports %s: no such arrow, not for tests either", file, to)
			}
		}
		for _, to := range allowed.code {
			if _, used := p.imports[importPath(to)]; !used {
				t.Errorf("arrows.txt: %s -> %s is not used by any file but tests", name, to)
			}
		}
		for _, to := range allowed.tests {
			if _, used := p.testImports[importPath(to)]; !used {
				t.Errorf("arrows.txt: %s -> | %s is not used by any test", name, to)
			}
		}
	}
	for name := range r.arrows {
		if tree[name] == nil {
			t.Errorf("arrows.txt: there is no package %s", name)
		}
	}
}

func TestPurePackages(t *testing.T) {
	r, tree := readRules(t), readTree(t, filepath.Join("..", ".."))
	for _, name := range r.pure {
		p := tree[name]
		if p == nil {
			t.Errorf("arrows.txt: there is no pure package %s", name)
			continue
		}
		for path, file := range p.imports {
			if slices.Contains(impure, path) {
				t.Errorf("%s is pure, but %s imports %s", name, file, path)
			}
		}
		if p.clock != "" {
			t.Errorf("%s is pure, but %s reads the clock", name, p.clock)
		}
	}
}
