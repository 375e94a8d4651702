package shell_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"davit/internal/shell"
	"davit/internal/testenv"

	"pgregory.net/rapid"
)

func TestTypedLine(t *testing.T) { // spec tabs T4.1, terminal P4
	for _, c := range []struct {
		command string
		paste   bool
		want    string
	}{
		{"make all", true, "\x1b[200~make all\x1b[201~\r"},
		{"make all\n", false, "make all\r"},
		{"a\nb\tc", true, "\x1b[200~a\nb\tc\x1b[201~\r"},
		{"a\r\nb", false, "a\rb\r"},
		{"x\x1b[201~\x03y", true, "\x1b[200~x␛[201~␃y\x1b[201~\r"},
	} {
		if got := string(shell.TypedLine(shell.Bash, c.command, c.paste)); got != c.want {
			t.Errorf("%q typed as %q, want %q", c.command, got, c.want)
		}
	}
}

// Whatever the command is, the paste has one end and the line one Enter.
func TestTypedLineCannotBreakOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed := string(shell.TypedLine(shell.Zsh, rapid.String().Draw(t, "command"), true))
		body, ok := strings.CutSuffix(strings.TrimPrefix(typed, "\x1b[200~"), "\x1b[201~\r")
		if !ok || strings.ContainsAny(body, "\x1b\r\x03\x7f") {
			t.Fatalf("typed %q", typed)
		}
	})
}

// The joined line, fed to the plain shell itself, runs the commands in order and stops
// at the first failure.
func TestJoinedLine(t *testing.T) {
	commands := []string{"echo one # not two", "  ", "echo 'a\tb'; echo \"it's\"", "for i in 3 4; do\necho $i\ndone", "false || false", "echo never"}
	for _, kind := range []shell.Kind{"sh", shell.Bash, shell.Zsh} {
		testenv.Require(t, string(kind))
		line := strings.ReplaceAll(string(shell.JoinedLine(shell.KindOf(string(kind)), commands)), "\r", "\n")
		out, _ := exec.Command(string(kind), "-c", line).Output()
		if want := "one\na\tb\nit's\n3\n4\n"; string(out) != want {
			t.Errorf("%s printed %q, want %q, for %q", kind, out, want, line)
		}
	}
	testenv.Require(t, "fish")
	commands[3], commands[4] = "for i in 3 4\necho $i\nend", "false; or false"
	line := strings.ReplaceAll(string(shell.JoinedLine(shell.Fish, commands)), "\r", "\n")
	out, _ := exec.Command("fish", "-c", line).Output()
	if want := "one\na\tb\nit's\n3\n4\n"; string(out) != want {
		t.Errorf("fish printed %q, want %q, for %q", out, want, line)
	}
	if got := shell.JoinedLine(shell.Posix, []string{"", "\n"}); got != nil {
		t.Errorf("nothing to run is typed as %q", got)
	}
}

func TestPaneEnv(t *testing.T) { // spec terminal P3.7
	env := shell.PaneEnv(shell.EnvInput{
		Login: map[string]string{
			"HOME": "/home/s", "PATH": "/bin", "SSH_AUTH_SOCK": "/old", "DISPLAY": ":0", "TERM": "dumb", "GITHUB_TOKEN": "the user's own",
			"DAVIT_TOKEN": "secret", "DAVIT_PANE": "p_host", "TMUX": "/tmp/tmux", "NOTIFY_SOCKET": "/run/x", "VSCODE_PID": "1", "SHLVL": "3",
		},
		Caller: map[string]string{"SSH_AUTH_SOCK": "/new", "DAVIT_TOKEN": "secret", "PATH": "/evil"},
		Pane:   "p_1", Socket: "/run/davit.sock", Extra: []string{"FOO=bar"},
	})
	want := []string{
		"COLORTERM=truecolor", "DAVIT_PANE=p_1", "DAVIT_SOCKET=/run/davit.sock", "DISPLAY=:0", "FOO=bar", "GITHUB_TOKEN=the user's own",
		"HOME=/home/s", "PATH=/bin", "SSH_AUTH_SOCK=/new", "TERM=xterm-256color", "TERM_PROGRAM=davit", "TERM_PROGRAM_VERSION=0.1.0-dev",
	}
	if !slices.Equal(env, want) {
		t.Errorf("environment\n%q, want\n%q", env, want)
	}
}

func TestPrepareWithoutIntegration(t *testing.T) {
	spawn, integrated := shell.Prepare(shell.PrepareInput{Shell: "/bin/dash", Dir: "/x", Login: true})
	if integrated || !slices.Equal(spawn.Argv, []string{"/bin/dash", "-l"}) || spawn.Env != nil {
		t.Errorf("dash is started with %+v, %v", spawn, integrated)
	}
}

// A start-up file that prints, reads its input and leaves a job behind does not disturb
// the capture, and what it exports is there.
func TestLoginEnv(t *testing.T) {
	rc := "echo garbage; printf 'HOME=/nowhere\\0'; read -t 5 X; sleep 77 & \nexport MULTI='a\nb=c' FROM_RC=yes\n"
	files := map[shell.Kind]string{shell.Bash: ".bash_profile", shell.Zsh: ".zshrc", shell.Fish: ".config/fish/config.fish"}
	each(t, func(t *testing.T, kind shell.Kind) {
		testenv.Require(t, string(kind))
		path, _ := exec.LookPath(string(kind))
		home := t.TempDir()
		file := filepath.Join(home, files[kind])
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		content := rc
		if kind == shell.Fish {
			content = "echo garbage; sleep 77 &\nset -gx MULTI 'a\nb=c'; set -gx FROM_RC yes\n"
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		env, err := shell.LoginEnv(context.Background(), path, []string{
			"HOME=" + home, "PATH=/usr/bin:/bin", "USER=sailor", "LC_ALL=C.UTF-8", "DAVIT_TOKEN=secret", "STRAY=1",
		})
		if err != nil {
			t.Fatal(err)
		}
		if env["MULTI"] != "a\nb=c" || env["FROM_RC"] != "yes" || env["HOME"] != home {
			t.Errorf("captured %q", env)
		}
		for _, name := range []string{"DAVIT_TOKEN", "STRAY", "SHLVL", "_", "DAVIT_RESOLVING_ENVIRONMENT"} {
			if value, there := env[name]; there {
				t.Errorf("%s=%q is in the environment", name, value)
			}
		}
	})
}

func TestLoginEnvFallsBack(t *testing.T) {
	own := []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "STRAY=1"}
	hang := filepath.Join(t.TempDir(), "hang")
	if err := os.WriteFile(hang, []byte("#!/bin/sh\necho $$ > \"$0.pid\"\nsleep 300\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() { // once it is known to run, the time is over
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			content, err := os.ReadFile(hang + ".pid")
			return err == nil && len(content) > 1, "not started"
		})
		cancel(context.DeadlineExceeded)
	}()
	env, err := shell.LoginEnv(ctx, hang, own)
	if !errors.Is(err, context.DeadlineExceeded) || env["STRAY"] != "1" {
		t.Errorf("a shell that hangs gives %q, %v", env, err)
	}
	pid, _ := os.ReadFile(hang + ".pid")
	if exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() == nil {
		t.Errorf("the shell that hung still runs as %s", pid)
	}
	if env, err := shell.LoginEnv(context.Background(), "/bin/false", own); err == nil || env["STRAY"] != "1" {
		t.Errorf("a shell that says nothing gives %q, %v", env, err)
	}
	if env, err := shell.LoginEnv(context.Background(), "/nowhere/sh", own); err == nil || env["STRAY"] != "1" {
		t.Errorf("a shell that is not there gives %q, %v", env, err)
	}
}
