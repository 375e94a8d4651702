package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/runner"
	"davit/internal/git"
)

// chips is what the context chips must reach (spec chips C7), in repositories of three
// sizes, beside plain git and Debian's powerline-gitstatus where it is installed.
func (b *bench) chips() error {
	sizes := []int{1, 5_000, 50_000}
	if b.quick {
		sizes = sizes[:2]
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "chips")
	config := filepath.Join(dir, "gitconfig")
	err = errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(config, []byte("[user]\n\tname = A\n\temail = a@example.invalid\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"), 0o600))
	if err != nil {
		return err
	}
	m := chipBench{bench: b, program: program, env: append(environ("HOME="+dir), "GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1")}
	for _, files := range sizes {
		if err := m.repository(filepath.Join(dir, "repo-"+strconv.Itoa(files)), files); err != nil {
			return err
		}
	}
	return m.fiftyTabs(filepath.Join(dir, "repo-1"))
}

type chipBench struct {
	*bench
	program string
	env     []string
}

func (m chipBench) git(dir string, args ...string) error {
	cmd := exec.CommandContext(m.ctx, m.program, args...)
	cmd.Dir, cmd.Env = dir, m.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// make writes a repository with so many files, a hundred to a directory.
func (m chipBench) make(dir string, files int) error {
	for i := range files {
		file := filepath.Join(dir, fmt.Sprintf("d%d", i/100), fmt.Sprintf("f%d.txt", i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
		}
		if err := os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
			return err
		}
	}
	if err := errors.Join(m.git(dir, "init", "-q"), m.git(dir, "add", "."), m.git(dir, "commit", "-q", "-m", "first")); err != nil {
		return err
	}
	time.Sleep(1100 * time.Millisecond) // so that git need not look into files of the index's own second
	return errors.Join(m.git(dir, "status"), os.WriteFile(filepath.Join(dir, "d0", "f0.txt"), []byte("one\nother\nthree\n"), 0o600))
}

// running is a Runner with its watch.
type running struct {
	*runner.Runner
	stop   func()
	pushed chan runner.Update // bounded; full: dropped
}

func (m chipBench) start(program string) running {
	r := running{pushed: make(chan runner.Update, 1024)}
	watch := git.NewWatch(git.WatchConfig{})
	r.Runner = runner.New(runner.Config{Git: git.Runner{Path: program, Env: m.env}, Watch: watch, Deadline: time.Minute, Cap: time.Minute, Push: func(u runner.Update) {
		select {
		case r.pushed <- u:
		default:
		}
	}})
	ctx, cancel := context.WithCancel(m.ctx)
	var group sync.WaitGroup
	group.Go(func() { _ = watch.Run(ctx) })
	group.Go(func() { _ = r.Run(ctx) })
	r.stop = func() { cancel(); group.Wait() }
	return r
}

// until waits for an update of a surface that says what is asked.
func (r running) until(key string, says func([]davit.Chip) bool) error {
	limit := time.After(2 * time.Minute)
	for {
		select {
		case u := <-r.pushed:
			if u.Key == key && says(u.Chips) {
				return nil
			}
		case <-limit:
			return errors.New("the chips did not come")
		}
	}
}

func has(kind chip.Kind) func([]davit.Chip) bool {
	return func(chips []davit.Chip) bool {
		for _, c := range chips {
			if c.Kind == string(kind) && c.Text != "" && c.Status == davit.ChipReady {
				return true
			}
		}
		return false
	}
}

// repository measures one size.
func (m chipBench) repository(dir string, files int) error {
	m.note("chips: a repository of %d files", files)
	if err := m.make(dir, files); err != nil {
		return err
	}
	turns := 11
	if m.quick {
		turns = 3
	}
	r := m.start(m.program)
	defer r.stop()
	var branch, first, whole, plain []float64
	for i := range turns {
		took, err := m.elapsed(func() error {
			r.Watch("cd", filepath.Join(dir, fmt.Sprintf("d%d", i%((files+99)/100))))
			return r.until("cd", has(chip.GitBranch))
		})
		if err != nil {
			return err
		}
		branch = append(branch, took)
		if i == 0 {
			if err := r.until("cd", has(chip.GitDiff)); err != nil {
				return err
			}
		}
		took, err = m.elapsed(func() error {
			key := fmt.Sprintf("again %d", i)
			r.Watch(key, dir)
			return r.until(key, has(chip.GitDiff))
		})
		if err != nil {
			return err
		}
		first = append(first, took)
		r.Drop("cd")
		show := runner.Show{Kinds: chip.Others(davit.ChipLayout{Prompt: []string{"conda", "venv", "ssh", "subshell", "node", "git_status", "kube"}})}
		if took, err = m.elapsed(func() error { r.Once(m.ctx, dir, show); return nil }); err != nil {
			return err
		}
		whole = append(whole, took)
		if took, err = m.elapsed(func() error { return m.git(dir, "status", "--porcelain=v2", "-z") }); err != nil {
			return err
		}
		plain = append(plain, took)
	}
	name := fmt.Sprintf("%d files: ", files)
	m.add(name+"branch chip after `cd`", "≤ 1 ms, no process", fmt.Sprintf("%.2f ms", median(branch)), "–", atMost(median(branch), 1))
	m.add(name+"first paint with last values", "≤ 5 ms", fmt.Sprintf("%.2f ms", median(first)), "–", atMost(median(first), 5))
	beside := fmt.Sprintf("`git status` %.1f ms", median(plain))
	if times, processes, err := m.powerline(dir, turns); err == nil {
		beside += fmt.Sprintf(", powerline-gitstatus %.1f ms with %d processes", median(times), processes)
	} else {
		m.note("powerline-gitstatus is not measured: %v", err)
	}
	count, search, err := m.counting()
	if err != nil {
		return err
	}
	bin, _, _ := strings.Cut(search, ":")
	counted := m.start(filepath.Join(bin, "git"))
	counted.Once(m.ctx, dir, runner.Show{})
	counted.stop()
	ratio := median(whole) / median(plain)
	m.add(name+"whole prompt, warm", "≤ 1.6 × `git status`", fmt.Sprintf("%.1f ms = %.2f ×, %d processes", median(whole), ratio, count()), beside, atMost(ratio, 1.6))
	return m.cold(r, dir, name)
}

// cold measures with nothing of the repository in memory, where that can be had.
func (m chipBench) cold(r running, dir, name string) error {
	forget := func() error { return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0) }
	if err := forget(); err != nil {
		m.note("cold caches cannot be had: %v", err)
		return nil
	}
	ours, err := m.elapsed(func() error { r.Once(m.ctx, dir, runner.Show{}); return nil })
	if err == nil {
		err = forget()
	}
	if err != nil {
		return err
	}
	plain, err := m.elapsed(func() error { return m.git(dir, "status", "--porcelain=v2", "-z") })
	m.add(name+"whole prompt, cold", "–", fmt.Sprintf("%.0f ms = %.2f ×", ours, ours/plain), fmt.Sprintf("`git status` %.0f ms", plain), "–")
	return err
}

func (m chipBench) elapsed(work func() error) (ms float64, err error) {
	began := time.Now()
	err = work()
	return time.Since(began).Seconds() * 1000, err
}

// segment calls Debian's powerline-gitstatus as a running powerline does: Python and its
// modules are loaded already.
const segment = `import sys, time, logging
from powerline_gitstatus.segments import gitstatus
info = {'getcwd': lambda: sys.argv[1], 'environ': {}}
for _ in range(int(sys.argv[2])):
    began = time.time()
    gitstatus(logging.getLogger(), info)
    print((time.time() - began) * 1000)
`

func (m chipBench) powerline(dir string, turns int) (times []float64, processes int, err error) {
	count, search, err := m.counting()
	if err != nil {
		return nil, 0, err
	}
	for _, run := range []struct {
		path  string
		turns int
	}{{"", turns}, {search, 1}} {
		cmd := exec.CommandContext(m.ctx, "/usr/bin/python3", "-c", segment, dir, strconv.Itoa(run.turns))
		cmd.Env = m.env
		if run.path != "" {
			cmd.Env = append(cmd.Env, "PATH="+run.path)
		}
		out, err := cmd.Output()
		if err != nil {
			return nil, 0, err
		}
		for _, word := range strings.Fields(string(out)) {
			if ms, err := strconv.ParseFloat(word, 64); err == nil && run.path == "" {
				times = append(times, ms)
			}
		}
	}
	return times, count(), nil
}

// counting makes a git that counts its runs, in a directory before the PATH.
func (m chipBench) counting() (count func() int, search string, err error) {
	bin, err := os.MkdirTemp(m.dir, "bin-")
	if err != nil {
		return nil, "", err
	}
	calls := filepath.Join(bin, "calls")
	script := "#!/bin/sh\necho x >> '" + calls + "'\nexec '" + m.program + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		return nil, "", err
	}
	return func() int {
		data, _ := os.ReadFile(calls)
		return bytes.Count(data, []byte("\n"))
	}, bin + ":" + os.Getenv("PATH"), nil
}

// fiftyTabs counts the processes of one commit with fifty tabs in its repository.
func (m chipBench) fiftyTabs(dir string) error {
	count, search, err := m.counting()
	if err != nil {
		return err
	}
	bin, _, _ := strings.Cut(search, ":")
	r := m.start(filepath.Join(bin, "git"))
	defer r.stop()
	for i := range 50 {
		r.Watch(strconv.Itoa(i), dir)
	}
	if err := r.until("0", has(chip.GitDiff)); err != nil {
		return err
	}
	settle(count)
	before := count()
	if err := m.git(dir, "commit", "-q", "-a", "-m", "second"); err != nil {
		return err
	}
	settle(count)
	n := count() - before
	m.add("50 tabs in one repository, one commit", "≤ 2 git processes", fmt.Sprint(n), "–", atMost(float64(n), 2))
	return nil
}

// settle waits until a count stays as it is for a second.
func settle(count func() int) {
	n, since := count(), time.Now()
	for time.Since(since) < time.Second {
		time.Sleep(20 * time.Millisecond)
		if now := count(); now != n {
			n, since = now, time.Now()
		}
	}
}
