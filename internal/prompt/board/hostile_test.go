package board_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit/internal/prompt"
	"davit/internal/testenv"

	"pgregory.net/rapid"
)

func waitFor(t *testing.T, term *terminal, says func(line string) bool) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		last := term.last()
		return says(last), fmt.Sprintf("the line is %q; all:\n%s", last, term.text())
	})
}

func waitRaw(t *testing.T, term *terminal, text string) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { return strings.Contains(term.seen(), text), term.seen() })
}

// pieces are what a hostile repository would make names of.
var pieces = []string{
	"$(touch pwned)", "`touch pwned`", "${HOME}", "$HOME", "$((1+1))", "%F{red}", "%n", "%%", "%{", "%(?.a.b)", "%1v", "\\u", "\\w", "\\[", "\\]", "\\e[31m", "\\\\",
	"\\$(touch pwned)", "!", "!!", "!1", "'", "\"", "*", "?", "~", "[a]", "{a,b}", "; touch pwned", "| x", "& x", "> x", "#", "a b", "é", "日本", "\x1b[31mred", "\a", "\x01", "\x02",
	"\u202e", "\u200b", "\u009b31m", "=ls", "(touch pwned)", "<(touch pwned)", "\\n", "\r", "\t", "x",
}

// What is drawn is the value, whatever it is called: no shell expands it, and nothing in
// it steers the terminal.
func TestHostileNamesAreDrawnAsTheyAre(t *testing.T) {
	t.Parallel()
	before := map[prompt.Shell][]string{
		prompt.Bash: {"", "shopt -u promptvars", "set -o posix"},
		prompt.Zsh:  {"", "setopt prompt_subst", "setopt prompt_bang prompt_subst"},
		prompt.Fish: {""},
	}
	shells(t, func(t *testing.T, kind prompt.Shell) {
		for i, options := range before[kind] {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				dir, at := repository(t), filepath.Join(t.TempDir(), "b")
				h := startHost(t, at, "git_branch")
				term := open(t, kind, start{dir: dir, before: options, options: prompt.Options{Board: at}})
				term.until(sign(kind))
				for _, name := range pieces {
					drawn(t, h, term, kind, dir, name)
				}
				rapid.Check(t, func(r *rapid.T) {
					drawn(t, h, term, kind, dir, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5).Draw(r, "name"), ""))
				})
				for _, place := range []string{dir, term.home} {
					if _, err := os.Stat(filepath.Join(place, "pwned")); err == nil {
						t.Error("a name was run")
					}
				}
			})
		}
	})
}

// drawn tells a name, and waits until it is drawn as it is.
func drawn(t *testing.T, h *host, term *terminal, kind prompt.Shell, dir, name string) {
	t.Helper()
	text := "git:(" + prompt.Clean(name) + ")"
	h.tell(t, dir, branch(text))
	term.send("\f") // on an empty screen, by a prompt of its own
	term.run("")
	term.until(text + " " + sign(kind))
}

// A directory, a virtual environment and a user may be called what they like, too.
func TestHostilePlacesAreDrawnAsTheyAre(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		for _, name := range []string{"$(touch pwned)", "%F{red}%n", "\\u\\w", "`touch pwned`", "a\x1b[31mb", "tab\there", "rtl\u202e\u200b", "c1\u009b1m", "ends in a blank "} {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(top, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			term := open(t, kind, start{dir: dir, env: []string{"VIRTUAL_ENV=/opt/" + name}, options: prompt.Options{Board: "/nonexistent", Layout: []string{"venv", "cwd"}}})
			shown := prompt.Clean(name)
			term.until(shown + " " + short(top) + "/" + shown + " " + sign(kind))
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Error("a name was run")
			}
		}
	})
}
