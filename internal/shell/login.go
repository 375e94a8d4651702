package shell

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// LoginTimeout bounds LoginEnv when its context has no nearer deadline.
const LoginTimeout = 10 * time.Second

// maxLoginOutput bounds what a start-up file may print before the rest is dropped.
const maxLoginOutput = 4 << 20

// LoginEnv captures the environment of the user's login shell, by running it once as
// `-l -i -c` in a session of its own and without a terminal or input. What start-up
// files print is told apart by markers. At the deadline the shell's group is killed.
//
// With an error the map is the caller's own environment: a pane can start all the same.
// own is as of os.Environ; of it the shell gets only what names the user and the place.
func LoginEnv(ctx context.Context, shellPath string, own []string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, LoginTimeout)
	defer cancel()
	token := make([]byte, 16)
	_, _ = rand.Read(token) // crypto/rand does not fail
	marker := "davit-env-" + hex.EncodeToString(token)

	command := exec.Command(shellPath, "-l", "-i", "-c",
		"printf '%s\\0start\\0' "+marker+"; command env -0; printf '%s\\0end' "+marker)
	command.Env = loginStart(own)
	command.Dir = "/"
	if home, ok := lookup(own, "HOME"); ok && home != "" {
		command.Dir = home
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	output, input, err := os.Pipe()
	if err != nil {
		return parseEnv(own), err
	}
	command.Stdout = input
	err = command.Start()
	_ = input.Close()
	if err != nil {
		_ = output.Close()
		return parseEnv(own), fmt.Errorf("start login shell %s: %w", shellPath, err)
	}
	said := make(chan []byte, 1)
	go func() { said <- readMarked(output, []byte(marker+"\x00end")) }()
	var text []byte
	select {
	case text = <-said: // all is said, or the shell and its children have closed stdout
		err = errors.New("it printed no environment")
	case <-ctx.Done():
		err = fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
	// Not yet waited for, so the number is still the shell's. What a start-up file left
	// in the background of this shell has no terminal to belong to; a daemon has its own
	// session and stays.
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	_ = command.Wait()
	_ = output.Close()
	if text == nil {
		<-said
	}
	env, ok := cutEnvironment(text, marker)
	if !ok {
		return parseEnv(own), fmt.Errorf("login shell %s: %w", shellPath, err)
	}
	return env, nil
}

// readMarked reads up to the mark, or to the end; of a flood before it the last part.
func readMarked(from io.Reader, end []byte) []byte {
	text := make([]byte, 0, 32<<10)
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		text = append(text, chunk[:n]...)
		if err != nil || bytes.Contains(text[max(0, len(text)-n-len(end)):], end) {
			return text
		}
		if len(text) > maxLoginOutput {
			text = append(text[:0], text[len(text)-maxLoginOutput/2:]...)
		}
	}
}

func cutEnvironment(text []byte, marker string) (map[string]string, bool) {
	_, rest, _ := bytes.Cut(text, []byte(marker+"\x00start\x00"))
	body, _, ok := bytes.Cut(rest, []byte(marker+"\x00end"))
	if !ok {
		return nil, false
	}
	env := parseEnv(strings.Split(string(body), "\x00"))
	for _, name := range []string{"_", "SHLVL", "PWD", "OLDPWD", "TERM", "DAVIT_RESOLVING_ENVIRONMENT"} {
		delete(env, name)
	}
	return env, len(env) > 0
}

// loginStart is what a login shell starts from: the user, the place, and a PATH for
// its own start-up files.
func loginStart(own []string) []string {
	env := []string{"TERM=xterm-256color", "DAVIT_RESOLVING_ENVIRONMENT=1"}
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		switch name {
		case "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "ZDOTDIR":
			env = append(env, pair)
		default:
			if strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
				env = append(env, pair)
			}
		}
	}
	return env
}

func parseEnv(pairs []string) map[string]string {
	env := map[string]string{}
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}
