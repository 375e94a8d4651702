package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/chip"
)

// madeKey is what one run of a program is shared by: surfaces in one directory with one
// PATH show one value.
type madeKey struct {
	kind                    chip.Kind
	dir, search, kubeconfig string
	remote                  bool
}

// made is a chip whose value a program gives: node, kube, the svn kinds, the user's own.
type made struct {
	key     madeKey
	policy  chip.Policy
	source  chip.Source
	users   map[*surface]bool
	state   chip.State
	value   davit.Chip // the last one; without text there is none
	looking bool       // its facts are being gathered
	again   bool       // and must be once more
	counter int        // of invalidating commands
	run     *madeRun   // nil when none is under way
	due     time.Time  // by timer; zero: never
}

type madeRun struct {
	cancel context.CancelFunc
	late   bool // its deadline in a prompt is over
}

type madeFacts struct {
	made *made
	found
}

type madeLate struct {
	made *made
	run  *madeRun
}

type madeDone struct {
	made *made
	run  *madeRun
	produced
}

// sourceOf gives the policy and the program of a kind, of the user's own too.
func (l *loop) sourceOf(kind chip.Kind) (chip.Policy, chip.Source, bool) {
	if own, known := l.customs[kind]; known {
		return own.Policy, own.Source, true
	}
	source, known := chip.SourceOf(kind)
	policy, _ := chip.PolicyOf(kind)
	return policy, source, known
}

// settle brings a surface to the chips that it shows, where it is now. A chip of another
// place is left; its value stays shown until the new one's lands (spec chips C2.4).
func (l *loop) settle(s *surface) {
	s.unsettled = false
	wanted := map[chip.Kind]madeKey{}
	for _, kind := range s.show.Kinds {
		policy, _, known := l.sourceOf(kind)
		if !known || s.question != nil {
			continue
		}
		if ofRepository(policy) && (s.place == nil || s.place.look != s.look) { // where it is will be known at once
			s.unsettled = true
			continue
		}
		search, known := l.pathOf(s)
		if !known { // it will be
			s.unsettled = true
			l.wakeBy(l.cfg.Now().Add(loginAgain))
			continue
		}
		wanted[kind] = l.keyOf(kind, s.dir, search, s.show)
	}
	for kind, m := range s.mades {
		if key, still := wanted[kind]; !still || key != m.key {
			if m.value.Text != "" { // also for when it is shown here again
				s.kept[kind] = m.value
			} else {
				delete(s.kept, kind)
			}
			l.part(s, m)
		}
	}
	for kind, key := range wanted {
		if s.mades[kind] == nil {
			l.join(s, key)
		}
	}
}

// ofRepository says that a chip depends on where in a repository it is.
func ofRepository(p chip.Policy) bool {
	return slices.Contains(p.Fingerprint, chip.InputBranch) || slices.Contains(p.Fingerprint, chip.InputRepository)
}

// keyOf tells what a surface's value depends on. Only kube depends on KUBECONFIG: the
// session's own, or the login shell's while that has told nothing.
func (r *Runner) keyOf(kind chip.Kind, dir, search string, show Show) madeKey {
	key := madeKey{kind: kind, dir: dir, search: search, remote: show.Remote}
	if kind == chip.Kube {
		key.kubeconfig = show.Session.Kubeconfig
		if key.kubeconfig == "" && show.Path == "" {
			key.kubeconfig = variable(r.environ(), chip.PropertyKube)
		}
		if !slices.ContainsFunc(strings.Split(key.kubeconfig, ":"), func(file string) bool { return file != "" && !strings.HasPrefix(file, "/") }) {
			key.dir = "/" // the same wherever it is asked
		}
	}
	return key
}

func (l *loop) join(s *surface, key madeKey) {
	m := l.mades[key]
	if m == nil {
		policy, source, _ := l.sourceOf(key.kind)
		m = &made{key: key, policy: policy, source: source, users: map[*surface]bool{}, value: davit.Chip{Kind: string(key.kind)}}
		if every := policy.Refresh.Every; every > 0 {
			m.due = l.cfg.Now().Add(every)
		}
		l.mades[key] = m
	}
	m.users[s] = true
	s.mades[key.kind] = m
	s.changed = true
	l.look(m)
}

// part takes a surface off a chip; one that nobody shows ends with its run.
func (l *loop) part(s *surface, m *made) {
	delete(s.mades, m.key.kind)
	delete(m.users, s)
	s.changed = true
	if len(m.users) > 0 {
		return
	}
	delete(l.mades, m.key)
	m.end()
}

func (m *made) end() {
	if m.run != nil {
		m.run.cancel()
		m.run = nil
	}
}

// lookAll looks at every chip of a surface again.
func (l *loop) lookAll(s *surface) {
	for _, m := range s.mades {
		l.look(m)
	}
}

// lookBranch looks at the chips of a tree that depend on its branch.
func (l *loop) lookBranch(t *tree) {
	for s := range t.surfaces {
		for _, m := range s.mades {
			if ofRepository(m.policy) {
				l.look(m)
			}
		}
	}
}

// look gathers the facts about a chip; what they say is decided by judge.
func (l *loop) look(m *made) {
	if m.looking {
		m.again = true
		return
	}
	m.looking = true
	q := lookUp{madeKey: m.key, policy: m.policy, source: m.source, counter: m.counter}
	for s := range m.users {
		if s.tree != nil {
			q.branch, q.repository = s.tree.head.Branch, s.tree.repo.CommonDir
		}
	}
	l.spawn(func(send func(any)) { send(madeFacts{m, l.find(q)}) })
}

// judge decides about one fetch, in the order of spec chips C2.2.
func (l *loop) judge(f madeFacts) {
	m := f.made
	m.looking = false
	if len(m.users) == 0 {
		return
	}
	if m.again {
		m.again = false
		l.look(m)
		return
	}
	before := m.state
	if f.absent != "" {
		m.end()
		m.state = chip.State{Status: davit.ChipIdle, Reason: f.absent}
		m.value = davit.Chip{Kind: string(m.key.kind)}
		l.tell(m, before)
		return
	}
	var step chip.Step
	m.state, step = chip.Begin(f.policy, m.state, f.facts)
	switch step {
	case chip.StepDisabled, chip.StepSuppress:
		m.end()
		m.value = davit.Chip{Kind: string(m.key.kind)}
	case chip.StepRun:
		m.end()
		l.startMade(m, f.found)
	}
	l.tell(m, before)
}

func (l *loop) startMade(m *made, f found) {
	ctx, cancel := context.WithTimeout(l.ctx, m.policy.Cap)
	run := &madeRun{cancel: cancel}
	m.run = run
	policy := m.policy
	l.spawn(func(send func(any)) {
		defer cancel()
		ended := make(chan produced, 1)
		l.children.Go(func() { ended <- l.produce(ctx, policy, f) })
		late := time.NewTimer(policy.Deadline)
		defer late.Stop()
		for {
			select {
			case a := <-ended:
				send(madeDone{m, run, a})
				return
			case <-late.C:
				send(madeLate{m, run})
			}
		}
	})
}

func (l *loop) madeDone(d madeDone) {
	m := d.made
	if m.run != d.run { // another one took its place, or nobody looks any more
		return
	}
	m.run = nil
	before := m.state
	m.state = chip.Settle(m.policy, m.state, d.outcome, d.reason)
	m.value = d.value
	m.value.Kind = string(m.key.kind)
	for s := range m.users {
		delete(s.kept, m.key.kind)
		s.changed = true
	}
	if d.outcome == chip.Succeeded {
		m.state.Reason = d.value.Reason
	}
	l.tell(m, before)
}

func (l *loop) madeIsLate(d madeLate) {
	if d.made.run == d.run {
		d.run.late = true
		l.tell(d.made, chip.State{})
	}
}

func (l *loop) tell(m *made, before chip.State) {
	if m.state != before {
		for s := range m.users {
			s.changed = true
		}
	}
}

// ticks looks at what has its own time: programs by timer, and clocks.
func (l *loop) ticks(now time.Time) {
	for _, m := range l.mades {
		if m.due.IsZero() {
			continue
		}
		if !m.due.After(now) {
			m.due = now.Add(m.policy.Refresh.Every)
			m.counter++ // the timer is a reason of its own
			l.look(m)
		}
		l.wakeBy(m.due)
	}
	for _, s := range l.surfaces {
		if s.unsettled {
			l.settle(s)
		}
		for _, kind := range s.show.Kinds {
			next := chip.Tick(kind, now)
			if next.IsZero() || s.question != nil {
				continue
			}
			if s.ticked.Before(now) {
				s.changed = s.changed || !s.ticked.IsZero()
				s.ticked = next
			}
			if next.Before(s.ticked) {
				s.ticked = next
			}
			l.wakeBy(s.ticked)
		}
	}
}

// finished takes a command that has ended at a surface: it bumps the counters of the
// chips that it invalidates (spec chips C2.3).
func (l *loop) finished(s *surface, f finished) {
	for _, m := range s.mades {
		if chip.Invalidates(m.policy, f.command, f.aliases) {
			m.counter++
			l.look(m)
		}
	}
}

// ownChanged takes another table of the user's own chips: those of before end.
func (l *loop) ownChanged(customs map[chip.Kind]chip.CustomChip) {
	for _, s := range l.surfaces {
		for kind, m := range maps.Clone(s.mades) {
			if chip.IsCustom(kind) {
				l.part(s, m)
				delete(s.kept, kind)
			}
		}
	}
	l.customs = customs
	for _, s := range l.surfaces {
		l.settle(s)
	}
}

// others are the chips of a surface besides directory, branch, diff and pull request, in
// the order in which it shows them.
func (l *loop) others(s *surface) []davit.Chip {
	var list []davit.Chip
	for _, kind := range s.show.Kinds {
		if c, ok := chip.Builtin(kind, s.show.Session, l.cfg.Now()); ok {
			if c.Status != davit.ChipIdle {
				list = append(list, c)
			}
			continue
		}
		switch m := s.mades[kind]; {
		case kind == chip.GitStatus && s.tree != nil:
			list = append(list, s.tree.statusChip())
		case m != nil:
			if c := m.shown(s.kept[kind]); c.Status != davit.ChipIdle {
				list = append(list, c)
			}
		case s.unsettled && s.kept[kind].Text != "":
			c := s.kept[kind]
			c.Status = davit.ChipCached
			list = append(list, c)
		}
	}
	return list
}

// shown is the chip as it stands. kept is what the surface showed where it was before.
func (m *made) shown(kept davit.Chip) davit.Chip {
	c := m.value
	c.Status, c.Reason = m.state.Status, m.state.Reason
	if chip.IsCustom(m.key.kind) {
		c.Title, c.Icon = m.policy.Title, m.policy.Icon
	}
	if c.Status == "" {
		c.Status = davit.ChipLoading
	}
	if c.Status != davit.ChipLoading {
		return c
	}
	if c.Text == "" && kept.Text != "" {
		kept.Status, c = davit.ChipCached, kept
	}
	switch {
	case m.run != nil && m.run.late && c.Text != "":
		c.Status, c.Reason = davit.ChipStale, fmt.Sprintf("%s has not answered within %s", m.source.Program(), m.policy.Deadline)
	case c.Text != "":
		c.Status = davit.ChipCached // the last value stays until a new one lands
	}
	return c
}

func equalShow(a, b Show) bool {
	return a.PullRequest == b.PullRequest && a.NoDiff == b.NoDiff && a.Remote == b.Remote && a.Path == b.Path && a.Session == b.Session && slices.Equal(a.Kinds, b.Kinds)
}
