package runner

import (
	"context"
	"os/exec"
	"strconv"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/github"
)

// forge is where the pull requests of one repository are, for all of its work trees.
type forge struct {
	found   github.Forge
	known   bool
	stale   bool // to be read again
	looking bool
	again   time.Time // when to read it again although nothing changed; zero: never
}

// forgeAgain is how soon remotes that could not be read are read again.
const forgeAgain = 30 * time.Second

type forgeFound struct {
	common string
	found  github.Forge
	err    error
}

// findForge reads the remotes of a tree's repository.
func (l *loop) findForge(f *forge, t *tree) {
	f.looking, f.stale, f.again = true, false, time.Time{}
	repo := t.repo
	l.spawn(func(send func(any)) {
		ctx, cancel := context.WithTimeout(l.ctx, l.cfg.Cap)
		defer cancel()
		found, err := l.cfg.GitHub.Forge(ctx, repo)
		send(forgeFound{repo.CommonDir, found, err})
	})
}

// forgetForge forgets a repository that no tree is of any more.
func (l *loop) forgetForge(common string) {
	for _, t := range l.trees {
		if t.repo.CommonDir == common {
			return
		}
	}
	delete(l.forges, common)
}

func (l *loop) forgeFound(r forgeFound) {
	f := l.forges[r.common]
	if f == nil {
		return
	}
	f.looking, f.known = false, true
	f.found = r.found
	if r.err != nil {
		// Row 3 and its like: nothing is asked, and nothing is decided for good.
		f.found = github.Forge{Decided: "the remotes cannot be read: " + r.err.Error()}
		f.again = l.cfg.Now().Add(forgeAgain)
	}
	for _, t := range l.trees {
		if t.repo.CommonDir == r.common {
			l.attach(t)
			l.mark(t)
		}
	}
}

// tools are the programs that a PATH has.
type tools struct {
	path    string // the PATH
	gh, git string // "" is not there
	at      time.Time
	looking bool
}

type toolsFound struct {
	path, gh, git string
	began         time.Time
}

// toolsOf gives what a PATH has, not older than since; nil while it is looked up.
func (l *loop) toolsOf(path string, since, now time.Time) *tools {
	t := l.tools[path]
	if t == nil {
		if len(l.tools) > maxPulls {
			clear(l.tools)
		}
		t = &tools{path: path}
		l.tools[path] = t
	}
	if !t.at.IsZero() && !t.at.Before(since) {
		return t
	}
	if !t.looking {
		t.looking = true
		own := l.cfg.Git.Path
		l.spawn(func(send func(any)) {
			found := toolsFound{path: path, began: now}
			found.gh, _ = github.Find("gh", path)
			found.git, _ = github.Find("git", path)
			if found.git == "" { // the host's own does the work all the same
				found.git, _ = exec.LookPath(own)
			}
			send(found)
		})
	}
	return nil
}

func (l *loop) toolsFound(f toolsFound) {
	t := l.tools[f.path]
	if t == nil {
		return
	}
	if (t.gh == "") != (f.gh == "") || t.at.IsZero() {
		for _, s := range l.surfaces {
			s.changed = s.changed || s.show.PullRequest
		}
	}
	t.gh, t.git, t.at, t.looking = f.gh, f.git, f.began, false
}

// pathOf is the PATH of a surface's session, else the login shell's (spec chips C2.6).
func (l *loop) pathOf(s *surface) (string, bool) {
	if s.show.Path != "" {
		return s.show.Path, true
	}
	return l.cfg.Login()
}

// firstWithGh finds the first asking surface whose PATH has gh (spec chips C2.6); the
// first one when none has. ready is false while that is not known.
func (l *loop) firstWithGh(askers []*surface, since, now time.Time) (where *surface, found *tools, ready bool) {
	unknown := false
	for _, s := range askers {
		path, known := l.pathOf(s)
		if !known {
			unknown = true
			continue
		}
		t := l.toolsOf(path, since, now)
		if t == nil {
			return nil, nil, false // what is found brings us here again
		}
		if t.gh != "" {
			return s, t, true
		}
		if found == nil {
			where, found = s, t
		}
	}
	if unknown { // an unknown PATH counts as fine, and will be known soon
		l.wakeBy(now.Add(loginAgain))
		return nil, nil, false
	}
	return where, found, found != nil
}

// judgeMissing says that gh is missing when no asking session's PATH has it, wherever the
// sessions are (spec chips C2.6; C4.2, line 2 comes before line 4).
func (l *loop) judgeMissing(now time.Time) {
	asked, missing := false, true
	for _, s := range l.surfaces {
		if !s.asks() {
			continue
		}
		path, known := l.pathOf(s)
		if !known {
			l.wakeBy(now.Add(loginAgain))
			missing = false
			continue
		}
		since := time.Time{}
		if s.question != nil && s.question.Force {
			since = s.question.asked
		}
		t := l.toolsOf(path, since, now)
		if t == nil || t.gh != "" {
			missing = false
		}
		asked = true
	}
	if !asked {
		l.missing = false
		return
	}
	if missing && !l.missing {
		l.cfg.Judge(chip.Classify(chip.PRFacts{}, chip.PRRun{}))
	}
	l.missing = missing
}

// unable says why a surface's own session cannot have the chip, "" when it can or that is
// not known (spec chips C2.6, C3.1).
func (l *loop) unable(s *surface) string {
	policy, _ := chip.PolicyOf(chip.GitHubPR)
	facts := chip.Facts{Remote: &s.show.Remote}
	path, known := l.pathOf(s)
	if t := l.tools[path]; known && t != nil && !t.at.IsZero() {
		facts.Found = map[string]bool{"gh": t.gh != "", "git": t.git != ""}
	}
	return chip.Available(policy, facts)
}

// pullChip is the chip of a surface as it stands, with the reason when it has no value.
func (l *loop) pullChip(s *surface) davit.Chip {
	c := davit.Chip{Kind: string(chip.GitHubPR), Status: davit.ChipLoading}
	with := func(status davit.ChipStatus, reason string) davit.Chip {
		c.Status, c.Reason = status, reason
		return c
	}
	if reason := l.unable(s); reason != "" {
		return with(davit.ChipDisabled, reason)
	}
	switch {
	case s.place == nil:
		return c
	case s.tree == nil:
		return with(davit.ChipIdle, "the directory is not in a git repository")
	case s.tree.noPull != "":
		return with(davit.ChipIdle, s.tree.noPull)
	case s.tree.pull == nil:
		return c
	}
	p := s.tree.pull
	if p.value != nil {
		c = chip.NewPullRequest(*p.value)
	}
	status, reason := p.state.Status, p.state.Reason
	switch {
	case p.run != nil && p.value != nil:
		status = davit.ChipCached // the last value stays until a new one lands
	case p.run != nil:
		status, reason = davit.ChipLoading, ""
	case status == "" || status == davit.ChipIdle || status == davit.ChipLoading:
		status = davit.ChipIdle
		if until := l.limits[p.key.host]; until.After(l.cfg.Now()) {
			status, reason = davit.ChipError, "GitHub's rate limit holds until "+until.Format("15:04:05")
		}
	case p.value == nil && (status == davit.ChipReady || status == davit.ChipCached) && reason == "":
		reason = "there is no pull request for " + p.key.branch
	}
	return with(status, reason)
}

func present(t *tools) string {
	word := ""
	if t.gh != "" {
		word += "gh "
	}
	if t.git != "" {
		word += "git"
	}
	return word
}

func itoa(n int) string { return strconv.Itoa(n) }
