package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"davit/internal/git"
)

// A prompt of the bench ends like davit's, so that both are seen by the same bytes.
const promptEnd = "#\x1b[0m "

// prompts measures what davit's prompt costs a shell (spec chips C7): from Enter on an
// empty line until the next prompt is there, in turns with a prompt of one sign. The
// host has values of the work tree, of 5,000 files.
func (b *bench) prompts() error {
	program, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	in, err := b.instance("p", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if err != nil {
		return err
	}
	defer in.down()
	repo, files := filepath.Join(b.dir, "prompt-repo"), 5_000
	if b.quick {
		files = 100
	}
	m := chipBench{bench: b, program: program, env: append(environ("HOME="+b.dir), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")}
	if err := m.make(repo, files); err != nil {
		return err
	}
	if _, err := git.Discover(repo); err != nil {
		return err
	}
	plain := map[string]string{
		"bash": `PS1='\[\e[32m\]#\[\e[0m\] '`, "zsh": "PS1=$'%{\\e[32m%}#%{\\e[0m%} '", "fish": "function fish_prompt; printf '\\e[32m#\\e[0m '; end; set -g fish_greeting",
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			b.note("prompt: %s is not installed", shell)
			continue
		}
		code, err := in.command("prompt", "init", shell).Output()
		if err != nil {
			return err
		}
		took := map[string][]float64{}
		for _, way := range []struct{ name, text string }{{"plain", plain[shell]}, {"davit", plain[shell] + "\n" + string(code)}} {
			times, err := b.promptTimes(shell, path, repo, way.text)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", shell, way.name, err)
			}
			took[way.name] = times
		}
		cost := median(took["davit"]) - median(took["plain"])
		b.add("a prompt in "+shell, "≤ 5 ms, no git", fmt.Sprintf("%.2f ms more", cost), fmt.Sprintf("one sign: %.2f ms", median(took["plain"])), atMost(cost, 5))
	}
	return b.promptCommand(in, repo)
}

// promptTimes starts a shell with a text in its start-up file and presses Enter.
func (b *bench) promptTimes(shell, path, dir, text string) ([]float64, error) {
	user, err := os.MkdirTemp(b.dir, "user-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(user, map[string]string{"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}[shell])
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text+"\ncd '"+dir+"'\n"), 0o600)); err != nil {
		return nil, err
	}
	t, err := b.terminal(environ("HOME="+user, "SHELL="+path, "USER=sailor"), path, "-i")
	if err != nil {
		return nil, err
	}
	out := promptReader(t)
	defer func() {
		_ = t.cmd.Process.Kill()
		_ = t.cmd.Wait()
		_ = t.tty.Close()
		for len(out) > 0 { // lets the reader end
			<-out
		}
	}()
	turns := 120
	if b.quick {
		turns = 30
	}
	var times []float64
	for i := range turns {
		if i > 0 {
			if _, err := t.tty.Write([]byte("\r")); err != nil {
				return nil, err
			}
		}
		began := time.Now()
		if err := promptEnds(out); err != nil {
			return nil, err
		}
		drawn := time.Now()
		if last := promptQuiet(out); shell == "fish" {
			drawn = last // it draws the old prompt once more before the next one
		}
		if i >= 10 { // the first ones are of a cold shell, and of a host that still counts
			times = append(times, drawn.Sub(began).Seconds()*1000)
		}
	}
	return times, nil
}

// promptReader passes on what a terminal prints; a PTY knows no deadline. It ends with the
// terminal.
func promptReader(t *terminal) <-chan []byte {
	out := make(chan []byte, 64) // full: the shell waits
	go func() {
		defer close(out)
		for {
			buf := make([]byte, 16<<10)
			n, err := t.tty.Read(buf)
			if err != nil {
				return
			}
			out <- buf[:n]
		}
	}()
	return out
}

// promptEnds reads until the end of a prompt.
func promptEnds(out <-chan []byte) error {
	var seen []byte
	limit := time.After(10 * time.Second)
	for !bytes.Contains(seen, []byte(promptEnd)) {
		select {
		case data, open := <-out:
			if !open {
				return fmt.Errorf("the shell ended; it printed %q", seen)
			}
			seen = append(seen, data...)
		case <-limit:
			return fmt.Errorf("%w; it printed %q", errLate, seen)
		}
	}
	return nil
}

// promptQuiet reads until nothing has come for a while, and says when the last came.
func promptQuiet(out <-chan []byte) (last time.Time) {
	last = time.Now()
	for {
		select {
		case <-out:
			last = time.Now()
		case <-time.After(20 * time.Millisecond):
			return last
		}
	}
}

// promptCommand measures `davit prompt` as a process, which no prompt starts.
func (b *bench) promptCommand(in *instance, dir string) error {
	var times []float64
	for range 15 {
		cmd := in.command("prompt")
		cmd.Dir = dir
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds()*1000)
	}
	b.add("`davit prompt` as a command", "–", fmt.Sprintf("%.1f ms", median(times)), "–", "–")
	return nil
}
