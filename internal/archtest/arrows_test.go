// Package archtest holds the tree to its arrows: which package may import which, and
// what pure packages must not touch (docs/STYLE in CONTRIBUTING.md, rule 2).
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

const module = "davit"

var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/sys/unix"}

type rules struct {
	pure   []string
	arrows map[string][]string
}

func readRules(t *testing.T) rules {
	t.Helper()
	f, err := os.Open("arrows.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rules{arrows: map[string][]string{}}
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
			r.arrows[from] = strings.Fields(to)
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

func TestArrows(t *testing.T) {
	r, tree := readRules(t), readTree(t, filepath.Join("..", ".."))
	for name, p := range tree {
		allowed, listed := r.arrows[name]
		if !listed && name != "internal/archtest" {
			t.Errorf("%s has no line in arrows.txt", name)
			continue
		}
		for path, file := range p.imports {
			if to, ok := local(path); ok && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: no such arrow", file, to)
			}
		}
		for _, to := range allowed {
			path := module + "/" + to
			if to == "." {
				path = module
			}
			_, used := p.imports[path]
			if _, tested := p.testImports[path]; !used && !tested {
				t.Errorf("arrows.txt: %s -> %s is not used by any file", name, to)
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
