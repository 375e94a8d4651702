package shell

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
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

	out := &markedBuffer{end: []byte(marker + "\x00end"), done: make(chan struct{}), limit: maxLoginOutput}
	command := exec.Command(shellPath, "-l", "-i", "-c",
		"printf '%s\\0start\\0' "+marker+"; command env -0; printf '%s\\0end' "+marker)
	command.Env = loginStart(own)
	command.Dir = "/"
	if home, ok := lookup(own, "HOME"); ok && home != "" {
		command.Dir = home
	}
	command.Stdout = out
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.WaitDelay = 100 * time.Millisecond // a start-up file's background job may hold stdout
	if err := command.Start(); err != nil {
		return parseEnv(own), fmt.Errorf("start login shell %s: %w", shellPath, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-out.done:
		// All is said. A logout file or an EXIT trap is given a moment, not more.
		err = endGroup(command.Process.Pid, ended, 500*time.Millisecond)
	case <-ctx.Done():
		_ = endGroup(command.Process.Pid, ended, 0)
		return parseEnv(own), fmt.Errorf("login shell %s: no answer: %w", shellPath, context.Cause(ctx))
	}
	env, ok := out.environment(marker)
	if !ok {
		if err == nil {
			err = errors.New("it printed no environment")
		}
		return parseEnv(own), fmt.Errorf("login shell %s: %w", shellPath, err)
	}
	return env, nil
}

// endGroup waits for the shell and kills its group when the grace is over.
func endGroup(pid int, ended <-chan error, grace time.Duration) error {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return <-ended
	}
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

// markedBuffer keeps bounded output and says when the end mark has come. It is written
// by one goroutine of os/exec and read after that has ended or done is closed.
type markedBuffer struct {
	end   []byte
	done  chan struct{}
	limit int
	bytes []byte
	over  bool
}

func (b *markedBuffer) Write(p []byte) (int, error) {
	if b.over {
		return len(p), nil
	}
	b.bytes = append(b.bytes, p...)
	if bytes.HasSuffix(b.bytes, b.end) || bytes.Contains(b.bytes[max(0, len(b.bytes)-len(p)-len(b.end)):], b.end) {
		b.over = true
		close(b.done)
	} else if len(b.bytes) > b.limit {
		// A flood before the mark: keep the tail, where the environment will be.
		b.bytes = append(b.bytes[:0], b.bytes[len(b.bytes)-b.limit/2:]...)
	}
	return len(p), nil
}

func (b *markedBuffer) environment(marker string) (map[string]string, bool) {
	_, rest, ok := bytes.Cut(b.bytes, []byte(marker+"\x00start\x00"))
	if !ok {
		return nil, false
	}
	body, _, ok := bytes.Cut(rest, b.end)
	if !ok {
		return nil, false
	}
	env := parseEnv(strings.Split(string(body), "\x00"))
	for _, name := range []string{"_", "SHLVL", "PWD", "OLDPWD", "TERM", "DAVIT_RESOLVING_ENVIRONMENT"} {
		delete(env, name)
	}
	return env, len(env) > 0
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
