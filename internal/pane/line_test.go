package pane

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/shell"
	"davit/internal/testenv"
)

// userShell is a real shell with davit's keys, under a real keeper.
type userShell struct {
	*running
	t       *testing.T
	c       *client.Client
	kind    shell.Kind
	scripts string
	dir     string
	offers  int
}

// openShell starts one with the user's start-up file. `say WORD…` writes its words, in
// hex, to the file that said reads.
func openShell(t *testing.T, kind shell.Kind, rc string) *userShell {
	t.Helper()
	testenv.Require(t, string(kind))
	u := &userShell{t: t, c: realKeeperOf(t), kind: kind, scripts: t.TempDir(), dir: t.TempDir()}
	path, _ := exec.LookPath(string(kind))
	if err := shell.WriteScripts(u.scripts); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := map[shell.Kind]string{shell.Bash: ".bashrc", shell.Zsh: ".zshrc", shell.Fish: ".config/fish/config.fish"}[kind]
	u.write(filepath.Join(home, file), rc)
	u.write(filepath.Join(u.dir, "say"), "#!/bin/sh\nfor w; do printf %s \"$w\" | od -An -v -tx1 | tr -d ' \\n'; printf ' '; done >>\"$0.out\"; echo >>\"$0.out\"\n")
	start0, ok := shell.Prepare(shell.PrepareInput{Shell: path, Kind: kind, Dir: u.scripts})
	if !ok {
		t.Fatal("no integration")
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "DAVIT_PANE=p_1", "PATH=" + u.dir + ":" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}
	if _, err := u.c.Spawn(t.Context(), keeper.SpawnRequest{
		ID: "spawn-1", Pane: "p_1", Kind: keeper.PaneShell, Path: path, Argv: start0.Argv, Env: append(env, start0.Env...), Dir: home, Cols: testCols, Rows: testRows,
	}); err != nil {
		t.Fatal(err)
	}
	u.serve()
	return u
}

func (u *userShell) write(file, text string) {
	u.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		u.t.Fatal(err)
	}
}

// serve begins to serve the pane, as a new host does.
func (u *userShell) serve() {
	u.t.Helper()
	u.running = start(u.t, FromClient(u.c), func(cfg *Config) { cfg.Dir = u.dir })
	u.keys()
}

func (u *userShell) keys() {
	u.t.Helper()
	testenv.Eventually(u.t, 10*time.Second, func() (bool, string) {
		at, err := u.Prompt(u.t.Context(), time.Second)
		return err == nil && at.Open && at.Keys == u.kind, fmt.Sprintf("%+v, %v", at, err)
	})
}

// prompted waits for a prompt.
func (u *userShell) prompted() {
	u.t.Helper()
	if err := u.Wait(u.t.Context(), Condition{For: "prompt"}); err != nil {
		u.t.Fatal(err)
	}
}

func (u *userShell) typing(text string) {
	u.t.Helper()
	u.offers++
	if err := u.Input(u.t.Context(), "c", fmt.Sprintf("typed-%d", u.offers), []byte(text)); err != nil {
		u.t.Fatal(err)
	}
}

// run has the shell run a line by davit's key.
func (u *userShell) run(line string) Pressed {
	u.t.Helper()
	u.offers++
	id := fmt.Sprintf("%013d-%032x", u.offers, u.offers)
	if err := shell.NewOffer(u.scripts, "p_1", id).Put(line); err != nil {
		u.t.Fatal(err)
	}
	pressed, err := u.PressKeys(u.t.Context(), Press{ID: "run-" + id, Data: shell.TakeKeys(u.kind), Answer: id})
	if err != nil {
		u.t.Fatal(err)
	}
	return pressed
}

// said are the words of the calls of `say`.
func (u *userShell) said(n int) []string {
	u.t.Helper()
	var said []string
	testenv.Eventually(u.t, 10*time.Second, func() (bool, string) {
		data, _ := os.ReadFile(filepath.Join(u.dir, "say.out"))
		said = nil
		for line := range strings.Lines(string(data)) {
			var words []string
			for _, word := range strings.Fields(line) {
				text, _ := hex.DecodeString(word)
				words = append(words, string(text))
			}
			if strings.HasSuffix(line, "\n") {
				said = append(said, strings.Join(words, "|"))
			}
		}
		return len(said) >= n, fmt.Sprintf("%q of %d\n%s", said, n, u.shows())
	})
	return said
}

// The user's half-typed line is back after the command, text and cursor: what is typed next
// lands where it would have (spec chips C5.2).
func TestHalfTypedLineSurvives(t *testing.T) {
	const left = "\x1b[D"
	vi := map[shell.Kind]string{
		shell.Bash: "set -o vi\nbind 'set show-mode-in-prompt on'\n", shell.Zsh: "bindkey -v\nKEYTIMEOUT=1\nzle-keymap-select() { print -n '\\e]2;'$KEYMAP'\\a' }\nzle -N zle-keymap-select\n", shell.Fish: "fish_vi_key_bindings\n",
	}
	plugin := map[shell.Kind]string{
		// Like starship: it keeps what there was, sets PS1 each time, looks at $?.
		shell.Bash: "set -u\n_old_pc=(\"${PROMPT_COMMAND[@]-}\")\n_precmd() { local s=$?; PS1=\"[$s]\\n\\$ \"; }\nPROMPT_COMMAND=_precmd\ntrap ': \"$BASH_COMMAND\"' DEBUG\n",
		shell.Zsh:  "precmd() { PS1=\"[$?]\"$'\\n''%# '; RPS1='right' }\nzle-line-init() { : }\nzle -N zle-line-init\nzle-keymap-select() { zle reset-prompt }\nzle -N zle-keymap-select\n",
		shell.Fish: "function fish_prompt; printf '[%s]\\n> ' $status; end\nfunction fish_right_prompt; echo right; end\nabbr --add one another\n",
	}
	for _, c := range []struct {
		name, typed string
		rc          map[shell.Kind]string
		want        string
	}{
		{"cursor in the middle", "say 'head tail'" + strings.Repeat(left, 5), nil, "head MIDtail"},
		{"wide characters", "say '語🙂é tail'" + strings.Repeat(left, 5), nil, "語🙂é MIDtail"},
		{"several lines", "\x1b[200~say 'a\nb tail'\x1b[201~" + strings.Repeat(left, 5), nil, "a\nb MIDtail"},
		{"vi, inserting", "say 'head tail'" + strings.Repeat(left, 5), vi, "head MIDtail"},
		{"vi, commanding", "say 'head tail'\x1b", vi, "head tailMID"},
		{"a prompt of a plugin", "say 'head tail'" + strings.Repeat(left, 5), plugin, "head MIDtail"},
	} {
		for _, kind := range []shell.Kind{shell.Bash, shell.Zsh, shell.Fish} {
			t.Run(c.name+"/"+string(kind), func(t *testing.T) {
				t.Parallel()
				u := openShell(t, kind, c.rc[kind])
				u.typing(c.typed)
				last := c.typed[max(0, strings.Index(c.typed, "tail")):][:4]
				testenv.Eventually(t, 10*time.Second, func() (bool, string) { return strings.Contains(u.shows(), last), u.shows() })
				if c.name == "vi, commanding" {
					mode := map[shell.Kind]string{shell.Bash: "(cmd)", shell.Zsh: "vicmd", shell.Fish: "[N]"}[kind]
					testenv.Eventually(t, 10*time.Second, func() (bool, string) { return strings.Contains(u.shows(), mode), u.shows() })
				}
				pressed := u.run("say one")
				if pressed.Answer != shell.AnswerKeptAndTaken || pressed.Block == nil || strings.TrimSpace(pressed.Block.Command) != "say one" {
					t.Fatalf("%+v\n%s", pressed, u.shows())
				}
				u.said(1)
				u.prompted()
				at, err := u.Prompt(t.Context(), 5*time.Second)
				if err != nil || !at.Open || at.Kept {
					t.Fatalf("%+v, %v\n%s", at, err, u.shows())
				}
				u.typing("MID\r")
				if got := u.said(2); got[0] != "one" || got[1] != c.want {
					t.Errorf("said %q, want %q\n%s", got, c.want, u.shows())
				}
				// An empty line is not kept, and nothing comes back.
				u.prompted()
				if pressed := u.run("say two"); pressed.Answer != shell.AnswerTaken {
					t.Errorf("%+v", pressed)
				}
				u.said(3)
				u.prompted()
				if at, err := u.Prompt(t.Context(), 5*time.Second); err != nil || !at.Open {
					t.Errorf("%+v, %v", at, err)
				}
			})
		}
	}
}
