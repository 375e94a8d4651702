package shell_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"davit/internal/shell"
)

// The user's own start-up files are read as without davit, and whatever they do to the
// prompt, the marks are there.
func TestUserFiles(t *testing.T) {
	starship := `
starship_precmd() { STARSHIP_STATUS=$?; PS1="multi
line [$STARSHIP_STATUS] \$(echo sub) > "; }
PROMPT_COMMAND="starship_precmd"
`
	cases := []struct {
		name string
		kind shell.Kind
		in   startup
		run  []string // lines to run
		want []string // what the terminal must show
		exit []string // the exit statuses told
	}{
		{"bash rc and alias", shell.Bash, startup{home: map[string]string{".bashrc": "alias anc='echo my$((1+1))anchor'\nPS1='me> '\n"}},
			[]string{"anc"}, []string{"my2anchor", "me> "}, []string{"0"}},
		{"bash login files, and no rc", shell.Bash, startup{login: true, home: map[string]string{".bash_profile": "WHO=profile", ".bashrc": "WHO=rc"}},
			[]string{"echo =$WHO="}, []string{"=profile="}, []string{"0"}},
		{"bash prompt framework", shell.Bash, startup{home: map[string]string{".bashrc": starship}},
			[]string{"false", "true"}, []string{"line [1] sub > ", "line [0] sub > "}, []string{"1", "0"}},
		{"bash PROMPT_COMMAND array", shell.Bash, startup{home: map[string]string{".bashrc": "PROMPT_COMMAND=('echo one$?' 'echo two$?')\n"}},
			[]string{"false"}, []string{"one1", "two1"}, []string{"1"}},
		{"bash PROMPT_COMMAND with an end", shell.Bash, startup{home: map[string]string{".bashrc": "PROMPT_COMMAND='echo pc$? ; '\n"}},
			[]string{"false"}, []string{"pc1"}, []string{"1"}},
		{"bash PROMPT_COMMAND replaced later", shell.Bash, startup{home: map[string]string{".bashrc": "PROMPT_COMMAND=('echo one')\n"}},
			[]string{"PROMPT_COMMAND='echo late$?'", "false"}, []string{"late1"}, []string{"0", "1"}},
		{"bash set -u", shell.Bash, startup{home: map[string]string{".bashrc": "set -u\n"}},
			[]string{"echo fine"}, []string{"fine"}, []string{"0"}},
		{"bash set -e", shell.Bash, startup{home: map[string]string{".bashrc": "set -e\n"}},
			[]string{"if false; then :; fi", "! true", "echo fine"}, []string{"fine"}, []string{"0", "1", "0"}},
		{"bash DEBUG trap", shell.Bash, startup{home: map[string]string{".bashrc": "trap 'case $BASH_COMMAND in echo*) echo \"<$BASH_COMMAND>\";; esac' DEBUG\n"}},
			[]string{"echo traced", "false"}, []string{"<echo traced>\r\n"}, []string{"0", "1"}},
		{"bash own PS0", shell.Bash, startup{home: map[string]string{".bashrc": "PS0='own-ps0 '\n"}},
			[]string{"echo a"}, []string{"own-ps0 "}, []string{"0"}},
		{"bash rc that returns", shell.Bash, startup{home: map[string]string{".bashrc": "X=early\nreturn 0\nX=late\n"}},
			[]string{"echo =$X="}, []string{"=early="}, []string{"0"}},

		{"zsh files", shell.Zsh, startup{home: map[string]string{".zshenv": "A=env", ".zshrc": "B=rc; PS1='me> '; RPROMPT='right'"}},
			[]string{"echo :$A$B:${ZDOTDIR-none}:"}, []string{":envrc:none:", "me> ", "right"}, []string{"0"}},
		{"zsh own ZDOTDIR", shell.Zsh, startup{env: []string{"ZDOTDIR=$HOME/z"}, home: map[string]string{"z/.zshenv": "A=env", "z/.zshrc": "B=rc"}},
			[]string{"echo :$A$B:${ZDOTDIR##*/}:"}, []string{":envrc:z:"}, []string{"0"}},
		{"zsh login files", shell.Zsh, startup{login: true, home: map[string]string{".zprofile": "A=profile", ".zlogin": "B=login"}},
			[]string{"echo :$A$B:"}, []string{":profilelogin:"}, []string{"0"}},
		{"zsh hooks assigned anew", shell.Zsh, startup{home: map[string]string{".zshrc": "mine() { echo mine$? }; precmd_functions=(mine)"}},
			[]string{"false"}, []string{"mine1"}, []string{"1"}},
		{"zsh prompt made by a hook", shell.Zsh, startup{home: map[string]string{".zshrc": "precmd() { PS1=\"multi\nline [$?] > \" }"}},
			[]string{"false", "true"}, []string{"line [1] > ", "line [0] > "}, []string{"1", "0"}},
		{"zsh set -eu", shell.Zsh, startup{home: map[string]string{".zshrc": "setopt no_unset; setopt prompt_subst; PS1='$(echo sub)> '"}},
			[]string{"echo fine"}, []string{"fine", "sub> "}, []string{"0"}},
		{"zsh ksh arrays", shell.Zsh, startup{home: map[string]string{".zshrc": "setopt ksh_arrays sh_word_split"}},
			[]string{"echo fine", "false"}, []string{"fine"}, []string{"0", "1"}},

		{"fish config", shell.Fish, startup{home: map[string]string{".config/fish/config.fish": "set -g A conf\nfunction fish_prompt; echo \"me[$status]> \"; end\n"}},
			[]string{"echo =$A=", "false"}, []string{"=conf=", "me[0]> ", "me[1]> "}, []string{"0", "1"}},
		{"fish prompt replaced later", shell.Fish, startup{},
			[]string{"function fish_prompt; echo \"late[$status]> \"; end", "false"}, []string{"late[1]> "}, []string{"0", "1"}},
		{"fish pipestatus and right prompt", shell.Fish, startup{home: map[string]string{".config/fish/config.fish": "function fish_prompt; echo \"p[$pipestatus]> \"; end\nfunction fish_right_prompt; echo right; end\n"}},
			[]string{"false | true"}, []string{"p[1 0]> ", "right"}, []string{"0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term := open(t, c.kind, c.in)
			for _, line := range c.run {
				term.run(line)
			}
			for _, want := range c.want {
				if !strings.Contains(strings.ReplaceAll(term.output(), "\x1b]133;B\x07", ""), want) {
					t.Errorf("the terminal does not show %q: %q", want, term.output())
				}
			}
			if got := term.of("133;D"); !slices.Equal(got, c.exit) {
				t.Errorf("exit statuses %q, want %q", got, c.exit)
			}
			if got := len(term.commands()); got != len(c.run) {
				t.Errorf("%d commands marked, want %d: %q", got, len(c.run), term.commands())
			}
			if strings.Contains(term.output(), "davit_") && !strings.Contains(term.output(), "<__davit") {
				t.Errorf("something of davit shows: %q", term.output())
			}
		})
	}
}

// A repeated command is not in the history a second time, one with a blank before it is
// not there at all; both are blocks.
func TestBashHistoryControl(t *testing.T) {
	t.Parallel()
	term := open(t, shell.Bash, startup{home: map[string]string{".bashrc": "HISTCONTROL=ignoredups\nHISTTIMEFORMAT='%F '\n"}})
	term.run("echo one")
	term.run("echo one")
	if got := term.commands(); !slices.Equal(got, []string{"echo one", "echo one"}) {
		t.Errorf("commands %q", got)
	}
	term.run("HISTCONTROL=ignorespace")
	term.run(" echo hidden")
	if got := term.commands(); last(got) != "" || len(got) != 4 {
		t.Errorf("a command kept out of the history was told as %q", got)
	}
	term.run("HISTCONTROL=ignoreboth")
	term.run("HISTCONTROL=ignoreboth")
	if got := last(term.of("133;C")); got != "cmdline_url=HISTCONTROL=ignoreboth;guess=1" {
		t.Errorf("a guess was told as %q", got)
	}
	if strings.Contains(readFile(t, term, ".bash_history"), "hidden") {
		t.Error("the history has the hidden command")
	}
}

func readFile(t *testing.T, term *terminal, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(term.command.Dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
}

// A shell below does not inherit the integration's switches.
func TestShellBelowIsPlain(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		term := open(t, kind, startup{})
		term.run(string(kind) + ` -i -c 'env' | grep -E '^(ZDOTDIR|DAVIT_|PROMPT_COMMAND|PS0|__davit)' ; echo none`)
		_, rest, _ := strings.Cut(term.output(), "\x1b]133;C")
		_, rest, _ = strings.Cut(rest, "\x07")
		body, _, _ := strings.Cut(rest, "\x1b]133;D")
		for _, leak := range []string{"ZDOTDIR=", "DAVIT_", "PROMPT_COMMAND=", "__davit"} {
			if strings.Contains(body, leak) {
				t.Errorf("%s reaches the shell below: %q", leak, body)
			}
		}
	})
}
