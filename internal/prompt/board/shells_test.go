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
)

func branch(text string) prompt.Value { return prompt.Value{Kind: "git_branch", Text: text} }

// Without a host a prompt has what the shell knows itself, and nothing waits.
func TestPromptWithoutHost(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir := repository(t)
		term := open(t, kind, start{dir: dir, options: prompt.Options{Board: filepath.Join(t.TempDir(), "none"), Layout: []string{"venv", "cwd", "git_branch"}},
			env: []string{"VIRTUAL_ENV=/opt/my env/"}})
		term.until("my env " + short(dir) + " " + sign(kind))
		term.run("cd")
		term.until("my env ~ " + sign(kind))
	})
}

// short is a directory as a wide prompt shows it.
func short(dir string) string { return dir }

// Values come from the board, a subdirectory has those of its work tree, and the host
// hears where the shell is (spec chips C7).
func TestPromptWithHost(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir, at := repository(t), filepath.Join(t.TempDir(), "b")
		below := filepath.Join(dir, "pier")
		if err := os.Mkdir(below, 0o700); err != nil {
			t.Fatal(err)
		}
		h := startHost(t, at, "cwd", "git_branch", "from_tomorrow")
		h.tell(t, dir, branch("git:(main)"), prompt.Value{Kind: "git_diff", Text: "never shown"})
		term := open(t, kind, start{dir: below, options: prompt.Options{Board: at, Layout: []string{"cwd"}}})
		term.until(short(below) + " git:(main) " + sign(kind))
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			found := false
			for _, a := range h.asked() {
				found = found || a.Shell == kind && a.Key == dir && a.Dir == below && strings.Contains(a.Path, "/usr/bin")
			}
			return found, fmt.Sprintf("the host heard %+v", h.asked())
		})
		h.stop()
		term.run("")
		term.until(short(below) + " " + sign(kind))
		if left, _ := filepath.Glob(at + "/values/*"); len(left) > 0 {
			t.Errorf("a host that has ended leaves %q", left)
		}
	})
}

// Newer values are drawn without a key, with what is being typed (spec chips C7): where
// the shell can, which bash cannot.
func TestPromptIsDrawnAnew(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir, at := repository(t), filepath.Join(t.TempDir(), "b")
		h := startHost(t, at, "cwd", "git_branch")
		term := open(t, kind, start{dir: dir, options: prompt.Options{Board: at}})
		term.until(short(dir) + " " + sign(kind))
		if kind == prompt.Bash {
			h.tell(t, dir, branch("git:(main)"))
			term.run("")
			term.until(short(dir) + " git:(main) " + sign(kind))
			return
		}
		term.send("echo half")
		term.until(short(dir) + " " + sign(kind) + " echo half")
		for _, name := range []string{"git:(main)", "git:(other)"} {
			h.tell(t, dir, branch(name))
			term.until(short(dir) + " " + name + " " + sign(kind) + " echo half")
		}
	})
}

// The status of the last command stays, and the user's own hooks run, with "set -u" too.
func TestPromptLeavesTheShellAlone(t *testing.T) {
	t.Parallel()
	before := map[prompt.Shell]string{
		prompt.Bash: "set -u\nalias local=false printf=false read=false\nfirst() { one=1; }\nsecond() { two=$?; }\nPROMPT_COMMAND=(first second)",
		prompt.Zsh:  "set -u\nsetopt ksh_arrays sh_word_split prompt_subst no_clobber\nalias local=false builtin=false typeset=false\nfirst() { one=1 }\nprecmd_functions=(first)",
		prompt.Fish: "function first --on-event fish_prompt; set -g one 1; end",
	}
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir, at := repository(t), filepath.Join(t.TempDir(), "b")
		h := startHost(t, at, "cwd", "git_branch")
		h.tell(t, dir, branch("git:(main)"))
		term := open(t, kind, start{dir: dir, before: before[kind], options: prompt.Options{Board: at}})
		ready := short(dir) + " git:(main) " + sign(kind)
		term.until(ready)
		status := map[prompt.Shell]string{prompt.Bash: "$?", prompt.Zsh: "$?", prompt.Fish: "$status"}[kind]
		term.run("sh -c 'exit 7'")
		term.run("echo is-" + status + "-$one")
		term.shows("is-7-1")
		term.until(ready)
		if kind == prompt.Bash {
			term.run("(exit 9)")
			term.run("echo two=$two n=${#PROMPT_COMMAND[@]}")
			term.shows("two=9 n=4")
		}
		// A second time changes nothing.
		again := `eval "$(<~/davit-prompt)"`
		if kind == prompt.Fish {
			again = "source ~/davit-prompt"
		}
		term.run(again)
		term.until(ready)
		switch kind {
		case prompt.Bash:
			term.run("clear; echo n=${#PROMPT_COMMAND[@]}")
			term.shows("n=4")
		case prompt.Zsh:
			term.run("clear; echo n=${#precmd_functions[@]}")
			term.shows("n=2")
		}
		term.until(ready)
	})
}

// A prompt needs no program: with an empty PATH it is the same (spec chips C7).
func TestPromptRunsNoProgram(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir, at := repository(t), filepath.Join(t.TempDir(), "b")
		h := startHost(t, at, "cwd", "git_branch")
		h.tell(t, dir, branch("git:(main)"))
		term := open(t, kind, start{dir: dir, options: prompt.Options{Board: at}})
		ready := short(dir) + " git:(main) " + sign(kind)
		term.until(ready)
		term.run(map[prompt.Shell]string{prompt.Bash: "PATH=", prompt.Zsh: "PATH=", prompt.Fish: "set -gx PATH /nonexistent"}[kind])
		term.run("echo a line")
		term.shows("\na line")
		term.until(ready)
		if all := strings.ToLower(term.text()); strings.Contains(all, "not found") || strings.Contains(all, "unknown") {
			t.Errorf("something was run:\n%s", all)
		}
	})
}

// The prompt at the right, the sign on a line of its own, and past prompts that shrink.
func TestPromptForms(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir, at := repository(t), filepath.Join(t.TempDir(), "b")
		h := startHost(t, at, "cwd", "git_branch")
		h.tell(t, dir, branch("git:(main)"))
		term := open(t, kind, start{dir: dir, options: prompt.Options{Board: at, Right: []string{"git_branch"}, Newline: true, Transient: true}})
		if kind == prompt.Bash {
			term.until(sign(kind))
			term.shows(short(dir) + " git:(main)\n#")
			return
		}
		term.shows(short(dir))
		testRight(t, term, kind)
		term.run("echo one")
		term.shows("\none\n")
		testRight(t, term, kind)
		if text := term.text(); strings.Count(text, short(dir)) != 1 || !strings.Contains(text, sign(kind)+" echo one\none\n") {
			t.Errorf("the past prompt did not shrink:\n%s", text)
		}
	})
}

// testRight waits for the sign with the branch at the line's end.
func testRight(t *testing.T, term *terminal, kind prompt.Shell) {
	t.Helper()
	waitFor(t, term, func(line string) bool {
		return strings.HasPrefix(line, sign(kind)+"   ") && strings.HasSuffix(line, " git:(main)") && len(line) > 210
	})
}

// davit's own marks stay around the prompt, as many as there are prompts.
func TestPromptInADavitPane(t *testing.T) {
	t.Parallel()
	shells(t, func(t *testing.T, kind prompt.Shell) {
		dir, at := repository(t), filepath.Join(t.TempDir(), "b")
		h := startHost(t, at, "cwd", "git_branch")
		h.tell(t, dir, branch("git:(main)"))
		term := open(t, kind, start{dir: dir, integrated: true, options: prompt.Options{Board: at}})
		ready := short(dir) + " git:(main) " + sign(kind)
		term.until(ready)
		if kind != prompt.Bash {
			h.tell(t, dir, branch("git:(other)"))
			ready = short(dir) + " git:(other) " + sign(kind)
			term.until(ready)
		}
		fails := "(exit 3)"
		if kind == prompt.Fish {
			fails = "sh -c 'exit 3'"
		}
		term.run(fails)
		waitRaw(t, term, "\x1b]133;D;3")
		term.until(ready)
		raw := term.seen()
		a, b := strings.LastIndex(raw, "\x1b]133;A"), strings.LastIndex(raw, "\x1b]133;B")
		if text := raw[max(a, 0):max(b, 0)]; a < 0 || b < a || !strings.Contains(text, short(dir)) || !strings.Contains(text, "133;A") {
			t.Errorf("the last prompt is not between its marks: %q", raw[max(0, len(raw)-600):])
		}
	})
}
