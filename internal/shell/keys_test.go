package shell_test

import (
	"fmt"
	"os"
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

// offered is a shell that takes commands of davit's by its key.
type offered struct {
	*terminal
	kind    shell.Kind
	file    string // of the arguments that its program got
	offers  int
	scripts string
}

func openOffered(t *testing.T, kind shell.Kind, in startup) *offered {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "take")); err != nil {
		t.Fatal(err)
	}
	o := &offered{kind: kind, file: filepath.Join(dir, "arguments")}
	in.dir = dir
	in.env = append(in.env, argumentsFile+"="+o.file, "DAVIT_PANE=p_1")
	o.terminal = open(t, kind, in)
	o.scripts = o.terminal.scripts
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		key, _ := o.property(shell.PropertyKeys)
		return key == string(kind), fmt.Sprintf("keys of %q", key)
	})
	return o
}

// take offers a line, presses the key and gives the shell's answer.
func (o *offered) take(line string) (answer string) {
	o.t.Helper()
	o.offers++
	id := fmt.Sprintf("%013d-%032x", o.offers, o.offers)
	if err := shell.NewOffer(o.scripts, "p_1", id).Put(line); err != nil {
		o.t.Fatal(err)
	}
	o.write(string(shell.TakeKeys(o.kind)))
	testenv.Eventually(o.t, 10*time.Second, func() (bool, string) {
		told, _ := o.property(shell.PropertyRun)
		var ours bool
		answer, ours = strings.CutPrefix(told, id+" ")
		return ours, fmt.Sprintf("%q; shown %q", told, tail(o.output()))
	})
	return answer
}

func (o *offered) calls(n int) [][]string {
	o.t.Helper()
	testenv.Eventually(o.t, 20*time.Second, func() (bool, string) {
		return len(callsIn(o.file)) >= n, fmt.Sprintf("%d of %d calls; shown %q", len(callsIn(o.file)), n, tail(o.output()))
	})
	return callsIn(o.file)
}

// What a program gets are the arguments that pane.run was given, in each shell, whatever
// they are (spec chips C5.2: "an argv, or quoted for the pane's own shell").
func TestTakenArgumentsAreTheValues(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		o := openOffered(t, kind, startup{home: map[string]string{".zshrc": "alias -g main='| never'\nalias -g L='| less'\nsetopt rc_quotes bang_hist\n"}})
		quoting, _ := template.ShellOf(string(kind))
		calls := 0
		run := func(values []string) {
			t.Helper()
			line, err := template.CommandLine(quoting, append([]string{"./take"}, values...))
			if err != nil {
				t.Fatalf("%q: %v", values, err)
			}
			before := o.settled()
			if answer := o.take(line); answer != shell.AnswerTaken {
				t.Fatalf("%q: answered %q", line, answer)
			}
			calls++
			if got := o.calls(calls)[calls-1]; !slices.Equal(got, values) {
				t.Fatalf("ran %q\n got %q\nwant %q", line, got, values)
			}
			o.prompts(before + 1)
		}
		run([]string{"main", "L", "-L", "L"})
		values := append(typedValues(), "\x00"[:0], "\x1b[31m", "\a", "\x7f", "\u0085", "\u202eevil", "a'b!c\n'd", "\r", "\r\n", "--", "-c", "a\u2028b", "\\\n!'")
		for some := range slices.Chunk(values, 16) {
			run(some)
		}
		drawn := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(values),
				rapid.StringOfN(rapid.RuneFrom([]rune("'\"\\$`!(){}[]<>|&;*?~#=%^-:/. \n\t\r\x01\x1b\u009babé1語\u200f")), 0, 8, -1)), 0, 5).Draw(t, "pieces"), "")
		})
		for seed := range 8 {
			run(rapid.SliceOfN(drawn, 1, 12).Example(seed))
		}
	})
}

// A shell that waits for the rest of a command, or whose offer was withdrawn, runs nothing,
// and what is typed stays as it is.
func TestTakeIsRefused(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		o := openOffered(t, kind, startup{})
		quoting, _ := template.ShellOf(string(kind))
		line, _ := template.CommandLine(quoting, []string{"./take", "never"})

		o.write("./take 'half'")
		id := "0000000000009-00000000000000000000000000000009"
		offer := shell.NewOffer(o.scripts, "p_1", id)
		if err := offer.Put(line); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if withdrawn, err := offer.Withdraw(); !withdrawn || err != nil {
				t.Fatalf("withdrawn %v, %v", withdrawn, err)
			}
		}
		o.write(string(shell.TakeKeys(kind)))
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			told, _ := o.property(shell.PropertyRun)
			return told == id+" "+shell.AnswerLate, told
		})
		offer.Forget()
		o.write(string(shell.TakeKeys(kind)))
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			told, _ := o.property(shell.PropertyRun)
			return told == " "+shell.AnswerNothing, told
		})
		o.write("\r")
		if got := o.calls(1); !slices.Equal(got[0], []string{"half"}) {
			t.Errorf("the user's own line ran as %q", got)
		}
		if kind == shell.Fish {
			return // it has no continuation prompt: the line goes on in the same buffer
		}
		o.write("./take 'a\r")
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			return strings.Contains(tail(o.output()), "> "), tail(o.output())
		})
		if answer := o.take(line); answer != shell.AnswerContinuation {
			t.Errorf("at a continuation prompt: %q", answer)
		}
		o.write("b'\r")
		if got := o.calls(2); !slices.Equal(got[1], []string{"a\nb"}) {
			t.Errorf("the user's command of two lines ran as %q", got)
		}
		o.prompts(3)
		if answer := o.take(line); answer != shell.AnswerTaken {
			t.Errorf("at the prompt behind it: %q", answer)
		}
		o.calls(3)
	})
}
