package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/chip"
)

// Question asks for the pull request of one directory, and is a surface while it waits
// (spec chips C3.3).
type Question struct {
	Dir    string
	Path   string // the asker's PATH
	Remote bool
	Force  bool // ask gh now, whatever is known, unless a rate limit holds
}

// Answer is what is known at the end.
type Answer struct {
	Chip  davit.Chip
	Judge chip.Judgement // of the last question to gh that was taken; zero: gh was not asked
}

type question struct {
	Question
	asked  time.Time
	forced bool        // it has been told to its pull request
	answer chan Answer // capacity 1: one answer
}

// questions numbers the surfaces of questions.
type questions struct{ n atomic.Uint64 }

// PullRequest answers a question, at the latest when ctx ends. Run must be running.
func (r *Runner) PullRequest(ctx context.Context, q Question) Answer {
	key := fmt.Sprintf("question %d", r.questions.n.Add(1))
	asked := &question{Question: q, asked: r.cfg.Now(), answer: make(chan Answer, 1)}
	r.ask(key, func(a *ask) {
		*a = ask{dir: q.Dir, show: &Show{PullRequest: true, NoDiff: true, Path: q.Path, Remote: q.Remote}, question: asked}
	})
	defer r.Drop(key)
	select {
	case answer := <-asked.answer:
		return answer
	case <-ctx.Done():
		return Answer{Chip: davit.Chip{Kind: string(chip.GitHubPR), Status: davit.ChipTimedOut, Reason: "there was no answer in time"}}
	}
}

// answer answers the questions that can be.
func (l *loop) answer() {
	now := l.cfg.Now()
	for _, s := range l.surfaces {
		q := s.question
		if q == nil || s.place == nil || len(q.answer) > 0 || !l.toolsKnown(s) {
			continue
		}
		if s.tree != nil && s.tree.pull != nil && l.unable(s) == "" {
			l.answerFrom(s.tree.pull, s, now)
			continue
		}
		c := l.pullChip(s)
		switch {
		case c.Status == davit.ChipLoading:
		case c.Reason == chip.ReasonNoGh:
			q.answer <- Answer{Chip: c, Judge: chip.Classify(chip.PRFacts{}, chip.PRRun{})}
		default:
			q.answer <- Answer{Chip: c, Judge: chip.Judgement{Verdict: chip.VerdictNoChange, Reason: c.Reason}}
		}
	}
}

// answerFrom answers with what is known of a pull request once nothing is on its way.
func (l *loop) answerFrom(p *pull, s *surface, now time.Time) {
	q := s.question
	if q.Force && !q.forced {
		q.forced = true
		if p.run == nil { // one under way serves as well
			p.forced = now
		}
		l.wakeBy(now)
		return
	}
	if p.run != nil || !p.forced.IsZero() {
		return
	}
	if at, ever := l.dueOf(p); ever && !at.After(now) {
		return // it is about to be asked
	}
	judge := p.last
	if judge.Verdict == "" || l.limits[p.key.host].After(now) {
		judge = chip.Judgement{Verdict: chip.VerdictNoChange, Reason: l.pullChip(s).Reason}
	}
	q.answer <- Answer{Chip: l.pullChip(s), Judge: judge}
}

// toolsKnown says that the PATH of a question has been looked along: since it was asked,
// when it was asked anew.
func (l *loop) toolsKnown(s *surface) bool {
	path, known := l.pathOf(s)
	if s.show.Remote || !known {
		return true
	}
	t := l.tools[path]
	return t != nil && !t.at.IsZero() && !(s.question.Force && t.at.Before(s.question.asked))
}
