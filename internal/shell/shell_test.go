package shell_test

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"davit/internal/shell"
	"davit/internal/testenv"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal is a real shell on a real PTY. The marks are read with an own small parser,
// so that these tests do not depend on the emulator.
type terminal struct {
	t       *testing.T
	pty     *os.File
	command *exec.Cmd
	mu      sync.Mutex // guards seen
	seen    []byte
	ended   chan struct{}
	scripts string
}

// mark is one OSC: code "133;A", "133;D", "7", "633;P", and what follows.
type mark struct{ code, text string }

var oscPattern = regexp.MustCompile(`\x1b\](133;[ABCD]|633;P|7);?([^\x07\x1b]*)(\x07|\x1b\\)`)

type startup struct {
	home  map[string]string // files of the home
	login bool
	env   []string
	dir   string
}

func open(t *testing.T, kind shell.Kind, in startup) *terminal {
	t.Helper()
	testenv.Require(t, string(kind))
	path, _ := exec.LookPath(string(kind))
	home := t.TempDir()
	for name, content := range in.home {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := in.home[".zshrc"]; !ok && kind == shell.Zsh {
		// Without any file zsh asks about making one.
		if err := os.WriteFile(filepath.Join(home, ".zshrc"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scripts := filepath.Join(t.TempDir(), "it's a dir")
	if err := shell.WriteScripts(scripts); err != nil {
		t.Fatal(err)
	}
	env := append([]string{
		"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "USER=sailor",
	}, in.env...)
	for i, pair := range env {
		env[i] = strings.ReplaceAll(pair, "$HOME", home)
	}
	spawn, integrated := shell.Prepare(shell.PrepareInput{Shell: path, Dir: scripts, Login: in.login, Env: env})
	if !integrated {
		t.Fatalf("%s is not integrated", kind)
	}
	command := exec.Command(spawn.Argv[0], spawn.Argv[1:]...)
	command.Env = append(env, spawn.Env...)
	command.Dir = home
	if in.dir != "" {
		command.Dir = in.dir
	}
	file, err := pty.StartWithSize(command, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, scripts: scripts, pty: file, command: command, ended: make(chan struct{})}
	go func() {
		defer close(term.ended)
		buffer := make([]byte, 64<<10)
		for {
			n, err := file.Read(buffer)
			term.mu.Lock()
			term.seen = append(term.seen, buffer[:n]...)
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		// Whatever holds the terminal's other end keeps the reader in its read: end the
		// foreground job first, then the shell. Both are ours.
		if group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP); err == nil && group > 1 {
			_ = unix.Kill(-group, unix.SIGKILL)
		}
		_ = unix.Kill(-command.Process.Pid, unix.SIGKILL)
		_ = command.Process.Kill()
		_ = command.Wait()
		select {
		case <-term.ended:
			_ = file.Close()
		case <-time.After(5 * time.Second):
			t.Errorf("something of this test still holds its terminal; it showed:\n%s", term.output())
		}
	})
	term.prompts(1)
	return term
}

func (term *terminal) output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.seen)
}

func (term *terminal) marks() []mark {
	var marks []mark
	for _, m := range oscPattern.FindAllStringSubmatch(term.output(), -1) {
		marks = append(marks, mark{m[1], m[2]})
	}
	return marks
}

func (term *terminal) of(code string) []string {
	var texts []string
	for _, m := range term.marks() {
		if m.code == code {
			texts = append(texts, m.text)
		}
	}
	return texts
}

// settled counts prompts that are complete: a prompt's end after its start, counted
// once however often the shell drew it again.
func (term *terminal) settled() int {
	count, since := 0, false
	for _, m := range term.marks() {
		switch m.code {
		case "7":
			since = true
		case "133;B":
			if since {
				count++
			}
			since = false
		}
	}
	return count
}

func (term *terminal) prompts(n int) {
	term.t.Helper()
	testenv.Eventually(term.t, 10*time.Second, func() (bool, string) {
		return term.settled() >= n, fmt.Sprintf("%d of %d prompts: %q", term.settled(), n, term.output())
	})
}

// run types a line and waits for the next prompt.
func (term *terminal) run(line string) {
	term.t.Helper()
	before := term.settled()
	term.write(line + "\r")
	term.prompts(before + 1)
}

func (term *terminal) write(text string) {
	term.t.Helper()
	if _, err := io.WriteString(term.pty, text); err != nil {
		term.t.Fatal(err)
	}
}

// interrupt presses Ctrl-C until there is a prompt: fish misses one while it colours
// the line.
func (term *terminal) interrupt(prompts int) {
	term.t.Helper()
	pressed := time.Time{}
	testenv.Eventually(term.t, 10*time.Second, func() (bool, string) {
		if time.Since(pressed) > time.Second {
			term.write("\x03")
			pressed = time.Now()
		}
		return term.settled() >= prompts, term.output()
	})
}

// commands are the texts of the marks C, decoded.
func (term *terminal) commands() []string {
	var commands []string
	for _, text := range term.of("133;C") {
		value, _ := strings.CutPrefix(text, "cmdline_url=")
		value, _, _ = strings.Cut(value, ";")
		decoded, err := url.PathUnescape(value)
		if err != nil {
			term.t.Fatalf("%q: %v", text, err)
		}
		commands = append(commands, decoded)
	}
	return commands
}

func (term *terminal) property(key string) (string, bool) {
	value, told := "", false
	for _, text := range term.of("633;P") {
		if rest, ok := strings.CutPrefix(text, key+"="); ok {
			value, told = rest, true
		}
	}
	return value, told
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

var kinds = []shell.Kind{shell.Bash, shell.Zsh, shell.Fish}

func each(t *testing.T, test func(t *testing.T, kind shell.Kind)) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

func TestBlocks(t *testing.T) { // spec terminal P4
	each(t, func(t *testing.T, kind shell.Kind) {
		term := open(t, kind, startup{})
		if got := term.of("133;D"); len(got) != 0 {
			t.Errorf("an end before any command: %q", got)
		}
		term.run("echo anchor; sh -c 'exit 7'")
		term.run("true")
		want := []string{"echo anchor; sh -c 'exit 7'", "true"}
		if got := term.commands(); !slices.Equal(got, want) {
			t.Errorf("commands %q, want %q", got, want)
		}
		if got := term.of("133;D"); !slices.Equal(got, []string{"7", "0"}) {
			t.Errorf("exit statuses %q", got)
		}
		// The output is between C and D, and nothing else of ours is.
		_, rest, _ := strings.Cut(term.output(), "\x1b]133;C")
		_, rest, _ = strings.Cut(rest, "\x07")
		body, _, _ := strings.Cut(rest, "\x1b]133;D")
		if !strings.Contains(body, "anchor\r\n") {
			t.Errorf("output of the first block is %q", body)
		}
		order := ""
		for _, m := range term.marks() {
			if code, ok := strings.CutPrefix(m.code, "133;"); ok && !strings.HasSuffix(order, code) {
				order += code
			}
		}
		for strings.HasPrefix(order, "ABAB") { // redrawn
			order = order[2:]
		}
		if order = strings.ReplaceAll(order, "ABAB", "AB"); order != "ABCDABCDAB" {
			t.Errorf("marks in the order %s", order)
		}
	})
}

func TestEmptyLineAndInterruptAreNoCommands(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		term := open(t, kind, startup{})
		term.run("")
		before := term.settled()
		term.write("echo never")
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			return strings.Contains(term.output(), "never"), term.output()
		})
		term.interrupt(before + 1)
		term.run("echo after")
		if got := term.commands(); !slices.Equal(got, []string{"echo after"}) {
			t.Errorf("commands %q", got)
		}
		if got := term.of("133;D"); !slices.Equal(got, []string{"0"}) {
			t.Errorf("exit statuses %q", got)
		}
	})
}

func TestDirectory(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		odd := filepath.Join(t.TempDir(), `a b;c%41"d#e?ü🚢`)
		if err := os.Mkdir(odd, 0o755); err != nil {
			t.Fatal(err)
		}
		term := open(t, kind, startup{env: []string{"ODD=" + odd}})
		term.run(`cd "$ODD"`)
		told, err := url.Parse(last(term.of("7")))
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		if told.Path != odd || told.Host != host || told.RawQuery != "" || told.Fragment != "" {
			t.Errorf("told %q on %q, want %q", told.Path, told.Host, odd)
		}
	})
}

func TestCommandTextIsWhole(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		term := open(t, kind, startup{})
		multi := "for i in 1 2\ndo echo $i\ndone"
		wantMulti := []string{multi, "for i in 1 2; do echo $i; done"}
		if kind == shell.Fish {
			multi = "for i in 1 2\necho $i\nend"
			wantMulti = []string{multi, "for i in 1 2\n    echo $i\nend"}
		}
		lines := []string{
			`echo "a;b" %41 'ü🚢' \\ \a # trail`,
			"echo 'tab\there'",
			"echo " + strings.Repeat("long ", 200),
		}
		for _, line := range lines {
			before := term.settled()
			term.write(string(shell.TypedLine(kind, line, true)))
			term.prompts(before + 1)
		}
		before := term.settled()
		term.write(strings.ReplaceAll(multi, "\n", "\r") + "\r")
		term.prompts(before + 1)
		got := term.commands()
		if len(got) != len(lines)+1 {
			t.Fatalf("commands %q", got)
		}
		for i, line := range lines {
			if strings.TrimRight(got[i], " ") != strings.TrimRight(line, " ") {
				t.Errorf("command %q, want %q", got[i], line)
			}
		}
		if !slices.Contains(wantMulti, got[len(lines)]) {
			t.Errorf("of several lines: %q", got[len(lines)])
		}
		if !strings.Contains(term.output(), "tab\there\r\n") {
			t.Error("a TAB in a pasted line was eaten")
		}
	})
}

func TestProperties(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		term := open(t, kind, startup{})
		if path, told := term.property("PATH"); !told || !strings.Contains(path, "/usr/bin") {
			t.Errorf("PATH at the start: %q", path)
		}
		if _, told := term.property("VIRTUAL_ENV"); told {
			t.Error("a virtual environment that is not there was told")
		}
		set := func(name, value string) {
			if kind == shell.Fish {
				term.run("set -gx " + name + " " + value)
			} else {
				term.run("export " + name + "=" + value)
			}
		}
		set("VIRTUAL_ENV", `'/v;e n\v'`)
		set("CONDA_DEFAULT_ENV", "base")
		set("NVM_BIN", "/home/s/.nvm/versions/node/v20.11.1/bin")
		for key, want := range map[string]string{
			"VIRTUAL_ENV": `/v\x3be n\x5cv`, "CONDA_DEFAULT_ENV": "base", "NODE_VERSION": "v20.11.1",
		} {
			if got, _ := term.property(key); !strings.EqualFold(got, want) {
				t.Errorf("%s told as %q, want %q", key, got, want)
			}
		}
		told := len(term.of("633;P"))
		term.run("true")
		if again := len(term.of("633;P")); again != told {
			t.Errorf("%d properties told again without a change", again-told)
		}
		if kind == shell.Fish {
			term.run("set -gx PATH $HOME/bin $PATH; set -e VIRTUAL_ENV")
		} else {
			term.run("PATH=$HOME/bin:$PATH; unset VIRTUAL_ENV")
		}
		if path, _ := term.property("PATH"); !strings.Contains(path, "/bin:/usr/local/bin") {
			t.Errorf("PATH after its change: %q", path)
		}
		if value, _ := term.property("VIRTUAL_ENV"); value != "" {
			t.Errorf("VIRTUAL_ENV after it was unset: %q", value)
		}
	})
}

// TestAliasesAndPlaces: what chips need of a session: aliases (spec chips C2.3), where ssh
// leads to, and which clusters kubectl knows (C1). Told once, and again when they change.
func TestAliasesAndPlaces(t *testing.T) {
	each(t, func(t *testing.T, kind shell.Kind) {
		term := open(t, kind, startup{env: []string{"SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22", "KUBECONFIG=/k/a:/k/b"}})
		if far, _ := term.property("SSH"); !regexp.MustCompile(`^.+@.+$`).MatchString(far) { // fish sets USER itself
			t.Errorf("SSH: %q", far)
		}
		if files, _ := term.property("KUBECONFIG"); files != "/k/a:/k/b" {
			t.Errorf("KUBECONFIG: %q", files)
		}
		term.run("alias gp='git push; x'")
		term.run(`alias q='echo "a b" c'`)
		table, _ := term.property("ALIASES")
		lines := strings.Split(unescapeProperty(table), "\n")
		for _, want := range []string{"gp=git push; x", `q=echo "a b" c`} {
			if !slices.Contains(lines, want) {
				t.Errorf("aliases are told as %q, without %q", lines, want)
			}
		}
		told := len(term.of("633;P"))
		term.run("true")
		if again := len(term.of("633;P")); again != told {
			t.Errorf("%d properties told again without a change", again-told)
		}
		if kind == shell.Fish {
			term.run("functions -e gp")
			term.run("set -e SSH_CONNECTION")
		} else {
			term.run("unalias gp")
			term.run("unset SSH_CONNECTION")
		}
		if table, _ = term.property("ALIASES"); strings.Contains(table, "gp=") {
			t.Errorf("an alias that is gone is told: %q", table)
		}
		if far, _ := term.property("SSH"); far != "" {
			t.Errorf("SSH after it was unset: %q", far)
		}
		many := `for i in $(seq 300); do alias a$i=b; done; alias long=$(printf %5000d 7)`
		if kind == shell.Fish {
			many = `for i in (seq 300); alias a$i b; end; alias long (printf %5000d 7)`
		}
		term.run(many)
		table, _ = term.property("ALIASES")
		if n := strings.Count(table, "=b"); n < 200 || n > 256 || len(table) > 64<<10 || strings.Contains(table, "00000") {
			t.Errorf("%d aliases, %d bytes are told", n, len(table))
		}
	})
}

func unescapeProperty(text string) string {
	return regexp.MustCompile(`\\x[0-9a-fA-F]{2}`).ReplaceAllStringFunc(text, func(hex string) string {
		n, _ := strconv.ParseUint(hex[2:], 16, 8)
		return string([]byte{byte(n)})
	})
}
