package shell_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit/internal/shell"
	"davit/internal/template"
	"davit/internal/testenv"

	"pgregory.net/rapid"
)

// argumentsFile names the file that the test program writes its arguments to.
const argumentsFile = "DAVIT_TEST_ARGUMENTS"

// writeArguments is this test binary as the program that is called: each argument as hex, a
// line for each call, whole before the next prompt comes.
func writeArguments() {
	var words []string
	for _, arg := range os.Args[1:] {
		words = append(words, "x"+hex.EncodeToString([]byte(arg)))
	}
	f, err := os.OpenFile(os.Getenv(argumentsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, err = fmt.Fprintln(f, strings.Join(words, " "))
	if err != nil || f.Close() != nil {
		panic("the arguments could not be written")
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(argumentsFile) != "" {
		writeArguments()
		return
	}
	os.Exit(m.Run())
}

// typedValues are hard for a prompt: history, aliases, completion, globs, comments.
func typedValues() []string {
	return []string{
		"", " ", "-n", "--", "~", "~root", "!", "!!", "a!b", "!-1", "^a^b", "#", "#x", "$HOME", "$(id)", "`id`", "'", "''", `"`, `\`, `a\`, `\'`,
		"\n", "a\nb\n", "\t", "a\tb", "\t\t", "*", "?", "[a]", "{a,b}", "=ls", "%self", "a b", "if", "a;b", "a&", "a|b", "(a)", "<a>", ">x",
		"日本語", "🙂", "é", "“”", "a=b", ":", "1", "{{y}}", "Ünï\ncödé 'q' \"d\" $x `y` !z ~ *",
	}
}

// What a program gets as its argument is the value, typed at a prompt the way that startup
// commands are: bare, inside either kind of quotes, and glued to text (spec tabs T3.2). A
// control byte other than TAB and newline cannot be typed, and is not tried.
func TestTypedArgumentsAreTheValues(t *testing.T) {
	for kind, quoting := range map[shell.Kind]template.Shell{shell.Bash: template.Bash, shell.Zsh: template.Zsh, shell.Fish: template.Fish} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			testenv.Require(t, string(kind))
			dir := t.TempDir()
			file := filepath.Join(dir, "arguments")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			// A link has a plain name, which no shell has to quote.
			if err := os.Symlink(self, filepath.Join(dir, "take")); err != nil {
				t.Fatal(err)
			}
			term := open(t, kind, startup{env: []string{argumentsFile + "=" + file}, dir: dir})
			calls := 0
			typed := func(values []string) {
				command, want := []string{"./take"}, []string{}
				named := map[string]string{}
				for i, value := range values {
					name := fmt.Sprintf("v%d", i)
					named[name] = value
					for _, w := range []struct{ text, before, after string }{
						{"{{x}}", "", ""}, {`"{{x}}"`, "", ""}, {`'{{x}}'`, "", ""}, {`--k={{x}}`, "--k=", ""}, {`"a b/{{x}}/c"`, "a b/", "/c"}, {`p{{x}}s`, "p", "s"},
					} {
						command = append(command, strings.ReplaceAll(w.text, "{{x}}", "{{"+name+"}}"))
						want = append(want, w.before+value+w.after)
					}
				}
				line, err := template.Parse(strings.Join(command, " ")).Quoted(quoting, named)
				if err != nil {
					t.Fatal(err)
				}
				before := term.settled()
				term.write(string(shell.TypedLine(kind, line, true)))
				calls++
				testenv.Eventually(t, 20*time.Second, func() (bool, string) {
					lines := callsIn(file)
					return len(lines) >= calls && term.settled() > before, fmt.Sprintf("%d of %d calls; typed %q; shown %q", len(lines), calls, line, tail(term.output()))
				})
				if got := callsIn(file)[calls-1]; !slices.Equal(got, want) {
					t.Fatalf("typed %q\n got %q\nwant %q", line, got, want)
				}
			}
			for values := range slices.Chunk(typedValues(), 8) {
				typed(values)
			}
			typed([]string{strings.Repeat("a ü'\n", 20)}) // not longer: fish draws a long paste anew line by line
			drawn := rapid.Custom(func(t *rapid.T) string {
				return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(typedValues()),
					rapid.StringOfN(rapid.RuneFrom([]rune("'\"\\$`!(){}[]<>|&;*?~#=%^-:/. \n\tabé1")), 0, 8, -1)), 0, 5).Draw(t, "pieces"), "")
			})
			for seed := range 6 {
				typed(rapid.SliceOfN(drawn, 1, 6).Example(seed))
			}
		})
	}
}

func callsIn(file string) [][]string {
	data, _ := os.ReadFile(file)
	var calls [][]string
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			break // not whole yet
		}
		var args []string
		for _, word := range strings.Fields(line) {
			text, err := hex.DecodeString(word[1:])
			if err != nil {
				return calls
			}
			args = append(args, string(text))
		}
		calls = append(calls, args)
	}
	return calls
}

func tail(text string) string { return text[max(0, len(text)-600):] }

// 60 kB of what needs quoting, as one argument, in a script, by each shell's own quoting (spec tabs T3.2).
func TestLongArguments(t *testing.T) {
	value := strings.Repeat("long 'text' $x\n", 4000)[:60_000]
	for name, quoting := range map[string]template.Shell{"dash": template.Sh, "bash": template.Bash, "zsh": template.Zsh, "fish": template.Fish} {
		t.Run(name, func(t *testing.T) {
			testenv.Require(t, name)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "arguments")
			short, err := template.Parse("{{self}} {{x}}").Quoted(quoting, map[string]string{"self": self, "x": value})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(name, "-c", short)
			cmd.Env = append(os.Environ(), argumentsFile+"="+file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := callsIn(file); len(got) != 1 || !slices.Equal(got[0], []string{value}) {
				t.Errorf("%d calls, or another argument", len(got))
			}
		})
	}
}
