package runner

import (
	"time"

	"davit/internal/chip"
)

type ask struct {
	dir      string // "" keeps the directory
	refresh  bool
	ran      time.Time // when a command ended, zero for none
	drop     bool
	show     *Show // nil keeps it
	bump     Bumped
	finished []finished // the last ones; more are dropped
	question *question  // of a surface that lives as long as its question
}

// finished is a command that has ended at a surface.
type finished struct {
	command string
	aliases map[string]string
}

// maxFinished bounds the commands that wait to be heard of one surface.
const maxFinished = 32

// Show is what a surface shows besides directory and branch, and what is known of its
// session.
type Show struct {
	PullRequest bool
	NoDiff      bool        // the size of the diff is not shown: git is not run for it
	Remote      bool        // the session is on another machine
	Path        string      // the session's PATH; "": not told, the login shell's
	Kinds       []chip.Kind // the others that it shows, in order (spec chips C2.4)
	Session     chip.Session
}

// Watch shows a surface's chips for dir from now on; again with another dir after a cd.
func (r *Runner) Watch(key, dir string) {
	r.ask(key, func(a *ask) { a.dir, a.drop = dir, false })
}

// Show says what else a surface shows.
func (r *Runner) Show(key string, show Show) { r.ask(key, func(a *ask) { a.show = &show }) }

// Refresh looks again: a command of that surface has finished. A surface that is not
// watched stays so.
func (r *Runner) Refresh(key string) { r.ask(key, func(a *ask) { a.refresh = true }) }

// Ran says that a command has ended at a surface: it may have changed any file. What the
// watch of the repository has measured since then is not measured again (spec chips C1.2).
func (r *Runner) Ran(key string) {
	now := r.cfg.Now()
	r.ask(key, func(a *ask) { a.ran = now })
}

// Finished says which command has ended at a surface, before Ran does: it may invalidate
// a chip that a program gives (spec chips C2.3).
func (r *Runner) Finished(key, command string, aliases map[string]string) {
	r.ask(key, func(a *ask) {
		if len(a.finished) < maxFinished {
			a.finished = append(a.finished, finished{command, aliases})
		}
	})
}

// Own takes the user's own chips, in place of those of before.
func (r *Runner) Own(list []chip.CustomChip) {
	table := map[chip.Kind]chip.CustomChip{}
	for _, c := range list {
		table[c.Policy.Kind] = c
	}
	r.mu.Lock()
	r.own, r.ownN = table, r.ownN+1
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Runner) ownOf(kind chip.Kind) (chip.CustomChip, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, known := r.own[kind]
	return own, known
}

// Bump says that a command of that surface may have changed its pull request (C2.3).
func (r *Runner) Bump(key string, what Bumped) {
	r.ask(key, func(a *ask) { a.bump = max(a.bump, what) })
}

// Drop ends it: nobody looks any more.
func (r *Runner) Drop(key string) { r.ask(key, func(a *ask) { *a = ask{drop: true} }) }

func (r *Runner) ask(key string, change func(*ask)) {
	r.mu.Lock()
	a := r.asks[key]
	change(&a)
	r.asks[key] = a
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Runner) takeAsks() (asks map[string]ask, own map[chip.Kind]chip.CustomChip, ownN int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asks = r.asks
	r.asks = map[string]ask{}
	return asks, r.own, r.ownN
}
