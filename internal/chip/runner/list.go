package runner

import (
	"context"
	"slices"
	"time"

	"davit"
	"davit/internal/chip"
)

// ListRequest asks for everything that is known of one place, with the reasons (spec
// chips C3.3).
type ListRequest struct {
	Dir     string
	Path    string // the caller's PATH
	Remote  bool
	Session chip.Session
	Known   []davit.Chip // what a surface there shows already; what is missing is looked at
	Layout  davit.ChipLayout
	Verdict chip.Verdict // of the last move of the validation
}

// listWithin is a little more than gh's own deadline.
const listWithin = 300 * time.Millisecond

// List gives every kind of the effective prompt, and the pull request's in any case. It
// waits at most the longest deadline of a chip. Run must be running.
func (r *Runner) List(ctx context.Context, q ListRequest) []davit.Chip {
	pull := make(chan davit.Chip, 1)
	go func() { pull <- r.listPull(ctx, q) }() // bounded by its deadline, and waited for below
	show := Show{Remote: q.Remote, Path: q.Path, Session: q.Session, Kinds: chip.Others(q.Layout)}
	have := slices.Clone(q.Known)
	if len(have) == 0 {
		have = r.Once(ctx, q.Dir, show)
	} else {
		within, cancel := context.WithTimeout(ctx, r.cfg.Cap)
		show.Kinds = slices.DeleteFunc(show.Kinds, func(kind chip.Kind) bool {
			return slices.ContainsFunc(have, func(c davit.Chip) bool { return c.Kind == string(kind) })
		})
		have = append(have, r.direct(within, &place{dir: q.Dir}, show.Kinds, show)...)
		cancel()
	}
	return chip.Listing(q.Layout, have, <-pull)
}

// listPull is the pull request's chip of a place. A default that is suppressed runs
// nothing (C4.4).
func (r *Runner) listPull(ctx context.Context, q ListRequest) davit.Chip {
	if reason := chip.Withheld(q.Layout, q.Verdict); reason != "" {
		return davit.Chip{Kind: string(chip.GitHubPR), Status: davit.ChipDisabled, Reason: reason}
	}
	policy, _ := chip.PolicyOf(chip.GitHubPR)
	ctx, cancel := context.WithTimeout(ctx, policy.Deadline+listWithin)
	defer cancel()
	return r.PullRequest(ctx, Question{Dir: q.Dir, Path: q.Path, Remote: q.Remote}).Chip
}

// Revalidate asks gh now, whatever is known (C4.4).
func (r *Runner) Revalidate(ctx context.Context, q Question, layout davit.ChipLayout) chip.Judgement {
	if !layout.PRChip {
		return chip.Judgement{Verdict: chip.VerdictNoChange, Reason: "the pull-request chip is switched off"}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*r.cfg.Cap)
	defer cancel()
	q.Force = true
	answer := r.PullRequest(ctx, q)
	if answer.Judge.Verdict == "" {
		return chip.Judgement{Verdict: chip.VerdictNoChange, Reason: answer.Chip.Reason}
	}
	return answer.Judge
}
