package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"davit"

	"github.com/spf13/cobra"
)

var (
	writtenCommand = regexp.MustCompile("`(davit(?: [^`]*)?)`|\\b(davit [a-z-]+ [^`.;]*)")
	longFlag       = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// commandAt follows the words of a command line as far as they are commands.
func commandAt(root *cobra.Command, words []string) (*cobra.Command, []string) {
	for len(words) > 0 {
		i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == words[0] })
		if i < 0 {
			break
		}
		root, words = root.Commands()[i], words[1:]
	}
	return root, words
}

// Every command that a text of davit's names is one that there is, with flags that it has.
func TestHintsNameCommandsThatExist(t *testing.T) {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	checked := 0
	check := func(place, text string, hint bool) {
		for _, m := range writtenCommand.FindAllStringSubmatch(text, -1) {
			inCode := m[1] != ""
			line := m[1] + m[2]
			if !inCode && !hint {
				continue
			}
			words := strings.Fields(line)[1:]
			cmd, rest := commandAt(root, words)
			if cmd == root && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
				if inCode {
					t.Errorf("%s: %q names no command", place, line)
				}
				continue // a sentence about davit
			}
			checked++
			if cmd.HasSubCommands() && len(rest) > 0 && cmd != root && inCode && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%s: %q names no verb of davit %s", place, line, cmd.Name())
			}
			cmd.InitDefaultHelpFlag()
			for _, word := range rest {
				if f := longFlag.FindStringSubmatch(word); f != nil && cmd.Flags().Lookup(f[1]) == nil && cmd.InheritedFlags().Lookup(f[1]) == nil {
					t.Errorf("%s: %q: davit %s has no --%s", place, line, cmd.Name(), f[1])
				}
			}
		}
	}
	for _, info := range davit.Codes() {
		check("codes.go "+string(info.Code), info.Do, true)
	}
	eachText(t, check)
	if checked < 60 {
		t.Errorf("%d commands were found in all texts: the search does not find them", checked)
	}
}

// eachText gives every string literal of davit's own code, and whether it is a hint.
func eachText(t *testing.T, give func(place, text string, hint bool)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			if err == nil && path != root {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // being written; the compiler tells
		}
		hints := map[*ast.BasicLit]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && len(c.Args) > 0 {
				if s, ok := c.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "WithHint" {
					if lit, ok := c.Args[0].(*ast.BasicLit); ok {
						hints[lit] = true
					}
				}
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					give(set.Position(lit.Pos()).String(), text, hints[lit])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A hint that is made for several commands loses what the one that was typed cannot do.
func TestFitHint(t *testing.T) {
	root := (&app{}).root()
	for _, c := range []struct{ command, hint, want string }{
		{"open", "For a plain folder use --folder /tmp/x.", ""},
		{"worktree list", "For a plain folder use --folder /tmp/x.", ""},
		{"launch", "For a plain folder use --folder /tmp/x.", "For a plain folder use --folder /tmp/x."},
		{"open", "a-2 is free. To work on it, give it as the base: --base a.", "a-2 is free."},
		{"worktree create", "To work on it, give it as the base: --base a.", "To work on it, give it as the base: --base a."},
		{"open", "`davit tab close t_1 --yes` closes it", "`davit tab close t_1 --yes` closes it"},
		{"worktree rm", "lose it: davit worktree rm --force=12 '/a b'", "lose it: davit worktree rm --force=12 '/a b'"},
		{"worktree list", "make a worktree of it (--worktree)", ""},
		{"tab list", "(`git commit --allow-empty -m start`)", "(`git commit --allow-empty -m start`)"},
		{"pane list", "nothing to say", "nothing to say"},
	} {
		cmd, rest := commandAt(root, strings.Fields(c.command))
		if len(rest) > 0 {
			t.Fatalf("there is no command %q", c.command)
		}
		if got := fitHint(cmd, &davit.Error{Hint: c.hint}).Hint; got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.command, c.hint, got, c.want)
		}
	}
}

// One row each, and nothing that a terminal would obey.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain Wörter 日本": "plain Wörter 日本", "a\nb\tc": `a\nb\tc`, "\x1b[2J": `\x1b[2J`, "it's \"x\"": `it's "x"`, "a\u202eb": `a\u202eb`, "\x00": `\x00`,
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	for _, c := range []struct{ shell, value, want string }{
		{"/bin/bash", "plain-1", "plain-1"}, {"/bin/bash", "it's $HOME", `'it'\''s $HOME'`}, {"/usr/bin/fish", `a'b\`, `'a\'b\\'`}, {"/bin/unknown", "a b", "'a b'"}, {"", "", "''"},
	} {
		a := &app{getenv: func(string) string { return c.shell }}
		if got := a.word(c.value); got != c.want {
			t.Errorf("%s: %q is written %s, want %s", c.shell, c.value, got, c.want)
		}
	}
}
