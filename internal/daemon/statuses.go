package daemon

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"davit"
	"davit/internal/agent"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/pane"
	"davit/internal/paste"
	"davit/internal/status"
	"davit/internal/wire"
)

// statuses knows what each agent does (spec session S3). What is decided is in
// internal/status; this hears and carries out.
//
//	hooks (API) ──report──────────────┐
//	panes ──OSC 7501, title, end──────┤
//	run: a look at screens, each second ┤─► change: one decision on the host loop ──► event ─► feed
//	                                    │                                                │
//	                     notices ◄──────┴── changed panes and chats (publisher) ◄────────┘
//
// run owns its goroutines. Under its leaf lock it keeps who looks at which pane, and what
// the next decision of a pane needs.
type statuses struct {
	d       *daemon
	agents  *agents
	notify  atomic.Value // string: the setting agent.notify
	started time.Time

	mu     sync.Mutex // guards what follows
	looks  map[davit.PaneID]int
	memory map[davit.PaneID]status.Memory
	offset map[davit.PaneID]uint64 // of the last look at its screen
	dirty  map[davit.PaneID]bool   // changed since run has last been there
	raised map[davit.PaneID]raised // what a notice was raised for
	cached *agent.Catalogue
	loaded time.Time
	wake   chan struct{} // capacity 1
}

// lookEvery is how often the screens of agents are looked at whose hooks do not tell.
const lookEvery = time.Second

func newStatuses(ctx context.Context, d *daemon, a *agents, loaded *host.Model) (*statuses, error) {
	s := &statuses{
		d: d, agents: a, started: time.Now(), looks: map[davit.PaneID]int{}, memory: map[davit.PaneID]status.Memory{}, offset: map[davit.PaneID]uint64{},
		dirty: map[davit.PaneID]bool{}, raised: map[davit.PaneID]raised{}, wake: make(chan struct{}, 1),
	}
	s.notify.Store(notifyAll)
	value, found, err := d.store.Setting(ctx, keyNotify)
	if err != nil {
		return nil, err
	}
	if text, ok := notifyText(value); found && ok {
		s.notify.Store(text)
	}
	for id, p := range loaded.State.Panes {
		loaded.State.Panes[id] = s.restored(p)
		s.dirty[id] = true // it may have ended while no host was there
	}
	for id, row := range loaded.Rows.Panes { // what is adopted is taken from the rows
		row.Pane = s.restored(row.Pane)
		loaded.Rows.Panes[id] = row
	}
	return s, nil
}

func (s *statuses) restored(p davit.Pane) davit.Pane {
	if p.AgentState != nil {
		known := status.Restored(*p.AgentState, s.started)
		p.AgentState = &known.AgentState
	}
	return p
}

// run serves until ctx ends.
func (s *statuses) run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	s.settle(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
			s.settle(ctx)
		case <-ticker.C:
			s.tick(ctx)
		}
	}
}

// changed hears of each event that the host loop has applied. It never waits.
func (s *statuses) changed(e davit.Event) {
	var id davit.PaneID
	switch e.Kind {
	case davit.EventPane:
		id = e.Pane.ID
	case davit.EventPaneRemoved:
		id = e.PaneID
	case davit.EventSession:
		id = e.Session.Pane
	}
	if id == "" {
		return
	}
	s.mu.Lock()
	s.dirty[id] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// settle brings what changed in order: the life of its program, and its notice.
func (s *statuses) settle(ctx context.Context) {
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = map[davit.PaneID]bool{}
	s.mu.Unlock()
	for id := range dirty {
		p, there := s.d.host.State().Panes[id]
		if !there {
			s.forget(id)
		} else {
			s.live(ctx, p)
			s.inView(ctx, id)
		}
		s.tellNotice(ctx, id)
	}
}

func (s *statuses) forget(id davit.PaneID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.memory, id)
	delete(s.offset, id)
	delete(s.raised, id)
}

// live follows the program of an agent's pane: from its start to its end.
func (s *statuses) live(ctx context.Context, p davit.Pane) {
	if p.Kind != keeper.PaneAgent && p.AgentState == nil {
		return
	}
	over := p.Status == davit.PaneEnded || p.Status == davit.PaneLost || p.Status == davit.PaneFailed
	exited := p.AgentState != nil && p.AgentState.Status == davit.AgentExited
	byHook := exited && p.AgentState.Source == davit.StatusFromHook
	switch {
	case over && p.AgentState != nil && (!exited || byHook):
		s.change(ctx, p.ID, status.Ended)
	case p.Kind == keeper.PaneAgent && p.Status == davit.PaneRunning && (p.AgentState == nil || exited && !byHook):
		s.change(ctx, p.ID, func(_ status.State, now time.Time) status.State { return status.Began(p.Agent, now) })
	}
}

// change decides about one pane's agent on the host loop, and tells. A state without an
// agent is none.
func (s *statuses) change(ctx context.Context, id davit.PaneID, decide func(status.State, time.Time) status.State) (changed bool) {
	err := s.d.host.Change(ctx, func(m host.Model) (host.Change, error) {
		p, there := m.State.Panes[id]
		if !there {
			return host.Change{}, nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		var was status.State
		if p.AgentState != nil {
			was.AgentState = *p.AgentState
		}
		was.Memory = s.memory[id]
		if was.Memory.Confirmed.IsZero() {
			was.Memory.Confirmed = s.started
		}
		next := decide(was, time.Now())
		s.memory[id] = next.Memory
		if next.Unread && s.looks[id] > 0 {
			next = status.Seen(next)
		}
		if next.Agent == "" {
			if changed = p.AgentState != nil; !changed {
				return host.Change{}, nil
			}
			p.AgentState = nil
			delete(s.memory, id)
			return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &p}}}, nil
		}
		if changed = p.AgentState == nil || !status.Equal(was.AgentState, next.AgentState); !changed {
			return host.Change{}, nil
		}
		// A tool call that is lost with the host says itself with the next one.
		volatile := was.Status == next.Status && was.Unread == next.Unread
		p.AgentState = &next.AgentState
		return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &p}}, Volatile: volatile}, nil
	})
	if err != nil {
		s.d.log.Debug("an agent's status was not stored", "pane", id, "err", err)
		return false
	}
	return changed
}

// tick lets time pass, and looks at the screens of those that do not tell.
func (s *statuses) tick(ctx context.Context) {
	for id, p := range s.d.host.State().Panes {
		if p.AgentState == nil || p.AgentState.Status == davit.AgentExited || p.Status != davit.PaneRunning {
			continue
		}
		live, err := s.d.panes.Get(id)
		if err != nil {
			continue
		}
		s.mu.Lock()
		before, seen := s.offset[id]
		offset := live.View().Offset
		s.offset[id] = offset
		memory := s.memory[id]
		s.mu.Unlock()
		moved := seen && before != offset
		if !seen || moved || p.AgentState.Status == davit.AgentStarting || !memory.Doubt.IsZero() {
			s.look(ctx, p, live, moved)
		}
		now := time.Now()
		if next := status.Tick(status.State{AgentState: *p.AgentState, Memory: s.memoryOf(id)}, now); !status.Equal(next.AgentState, *p.AgentState) {
			s.change(ctx, id, status.Tick)
		}
	}
}

func (s *statuses) memoryOf(id davit.PaneID) status.Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	memory := s.memory[id]
	if memory.Confirmed.IsZero() {
		memory.Confirmed = s.started
	}
	return memory
}

// look takes what the terminal shows of its agent.
func (s *statuses) look(ctx context.Context, p davit.Pane, live *pane.Pane, moved bool) {
	entry, known := s.catalogue().Find(p.AgentState.Agent)
	if !known {
		return
	}
	seen := status.Look{Moving: moved}
	byHook := p.AgentState.Source == davit.StatusFromHook && p.AgentState.Status != davit.AgentWaiting && p.Kind == keeper.PaneAgent
	if byHook { // nothing on its screen would be believed
		if title, told := entry.StatusOfTitle(p.Title); told {
			seen.Title = davit.AgentStatus(title)
		}
	} else if !s.read(ctx, p, live, entry, &seen) {
		return
	}
	s.change(ctx, p.ID, func(was status.State, now time.Time) status.State {
		if was.Agent == "" {
			return was
		}
		if moved {
			was = status.Alive(was, now)
		}
		return status.Screen(was, seen, now)
	})
}

// read takes what is on the screen. An agent that was started by hand is over when the
// shell is in front again.
func (s *statuses) read(ctx context.Context, p davit.Pane, live *pane.Pane, entry agent.Agent, seen *status.Look) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	sight, err := live.Sight(ctx)
	if err != nil {
		return false
	}
	if front, _ := (terminal{pane: live, entry: entry}).front(sight.Front); p.Kind == keeper.PaneShell && front == paste.FrontShell {
		s.change(ctx, p.ID, func(status.State, time.Time) status.State { return status.State{} })
		return false
	}
	shown := agent.Look{Title: sight.Title, Lines: sight.Rows, Paste: sight.Framed}
	if title, told := entry.StatusOfTitle(sight.Title); told {
		seen.Title = davit.AgentStatus(title)
	}
	seen.Dialog, _ = entry.Dialog(shown)
	signed := len(entry.Ready.Screen)+len(entry.Ready.Title) > 0
	seen.Ready = signed && entry.IsReady(shown)
	return true
}

// PaneEvent hears what a pane's program tells, after the model knows it.
func (s *statuses) PaneEvent(id davit.PaneID, e pane.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p, there := s.d.host.State().Panes[id]
	if !there {
		return
	}
	switch e.Kind {
	case pane.EventAgentState:
		s.signal(ctx, p, e.Text, e.Params["app"])
	case pane.EventTitle:
		if p.AgentState == nil {
			return
		}
		if entry, known := s.catalogue().Find(p.AgentState.Agent); known {
			if title, told := entry.StatusOfTitle(e.Text); told {
				s.change(ctx, id, func(was status.State, now time.Time) status.State {
					if was.Agent == "" || was.Source == davit.StatusFromScreen && was.Status == davit.AgentWaiting {
						return was // a dialog is on the screen: the next look tells
					}
					return status.Screen(was, status.Look{Title: davit.AgentStatus(title)}, now)
				})
			}
		}
	case pane.EventCommandFinished:
		if p.Kind == keeper.PaneShell && p.AgentState != nil { // it was started by hand, and has ended
			s.change(ctx, id, func(status.State, time.Time) status.State { return status.State{} })
		}
	}
}

// signal takes an OSC 7501, when it is of the agent in this pane, or of one that was
// started in a shell.
func (s *statuses) signal(ctx context.Context, p davit.Pane, state, app string) {
	which := p.Agent
	if p.AgentState != nil {
		which = p.AgentState.Agent
	}
	catalogue := s.catalogue()
	entry, known := catalogue.Find(which)
	if which == "" {
		for _, each := range catalogue.List() {
			if each.App != "" && each.App == app {
				entry, known = each, true
			}
		}
	}
	if !known {
		return
	}
	told, fits := entry.StatusOfSignal(state, app)
	if !fits {
		return
	}
	s.change(ctx, p.ID, func(was status.State, now time.Time) status.State {
		if was.Agent == "" || was.Status == davit.AgentExited {
			was = status.Began(entry.ID, now)
		}
		return status.Signal(was, davit.AgentStatus(told), now)
	})
}

// catalogue is read anew at most every few seconds: it is asked for with every look.
func (s *statuses) catalogue() *agent.Catalogue {
	s.mu.Lock()
	cached, fresh := s.cached, time.Since(s.loaded) < 5*time.Second
	s.mu.Unlock()
	if cached != nil && fresh {
		return cached
	}
	read, _ := s.agents.catalogue()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached, s.loaded = read, time.Now()
	return read
}

// Report takes what a hook has told (api.Status). A chat's own protocol tells better.
func (s *statuses) Report(ctx context.Context, in wire.AgentReport) (bool, error) {
	p, there := s.d.host.State().Panes[in.Pane]
	if !there {
		return false, davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", in.Pane)
	}
	if !status.Known(in.Agent) {
		return false, davit.Errorf(davit.CodeAgentUnknown, "davit does not know the hooks of %q", in.Agent).WithHint("`davit agent hooks status` lists those that it knows")
	}
	if p.Kind == keeper.PaneChat || p.Status != davit.PaneRunning {
		return false, nil
	}
	said := status.Said{
		Agent: in.Agent, Event: in.Event, Session: in.Session, Tool: in.Tool, ToolUse: in.ToolUse, Input: in.Input, Message: in.Message,
		Kind: in.Kind, Child: in.Child, ChildType: in.ChildType, Interrupts: in.Interrupts,
	}
	return s.change(ctx, in.Pane, func(was status.State, now time.Time) status.State {
		fresh := was
		if was.Agent == "" {
			fresh = status.Began(in.Agent, now)
		}
		next := status.Hook(fresh, said, now)
		switch {
		case was.Agent == "" && status.Equal(next.AgentState, fresh.AgentState):
			return was // an event that says nothing begins no state
		case p.Kind == keeper.PaneShell && next.Status == davit.AgentExited:
			return status.State{} // it was started by hand, and the shell goes on
		}
		return next
	}), nil
}

// Look says that a client shows a pane, until done is called (api.Status).
func (s *statuses) Look(id davit.PaneID) (done func()) {
	s.mu.Lock()
	s.looks[id]++
	s.mu.Unlock()
	s.Seen(context.Background(), id)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.looks[id]--; s.looks[id] <= 0 {
			delete(s.looks, id)
		}
	})
}

// Seen says that somebody has looked at a pane (api.Status).
func (s *statuses) Seen(ctx context.Context, id davit.PaneID) {
	state := s.d.host.State()
	p, there := state.Panes[id]
	if !there {
		return
	}
	if v, chat := state.Sessions[p.Session]; chat && !hasSeen(p, v) {
		s.keepSeen(ctx, id, v.Since)
	}
	if p.AgentState != nil && p.AgentState.Unread {
		s.change(ctx, id, func(was status.State, _ time.Time) status.State { return status.Seen(was) })
	}
	s.unnotice(ctx, id)
}

// keepSeen stores that somebody has seen a chat as it is since a time: every client is told,
// and it outlives the host.
func (s *statuses) keepSeen(ctx context.Context, id davit.PaneID, since time.Time) {
	err := s.d.host.Change(ctx, func(m host.Model) (host.Change, error) {
		p, there := m.State.Panes[id]
		if !there || p.Seen != nil && p.Seen.Equal(since) {
			return host.Change{}, nil
		}
		p.Seen = &since
		return host.Change{Events: []davit.Event{{Kind: davit.EventPane, Pane: &p}}}, nil
	})
	if err != nil {
		s.d.log.Debug("a look at a chat was not stored", "pane", id, "err", err)
	}
}

// inView keeps what a chat that somebody looks at has become as seen.
func (s *statuses) inView(ctx context.Context, id davit.PaneID) {
	s.mu.Lock()
	looked := s.looks[id] > 0
	s.mu.Unlock()
	state := s.d.host.State()
	p := state.Panes[id]
	if v, chat := state.Sessions[p.Session]; looked && chat && v.Status == davit.AgentWaiting && !hasSeen(p, v) {
		s.keepSeen(ctx, id, v.Since)
	}
}

// hasSeen says that somebody has looked at a chat since it is what it is.
func hasSeen(p davit.Pane, v davit.Session) bool { return p.Seen != nil && p.Seen.Equal(v.Since) }

// Setting is settings.get of agent.notify (api.Status).
func (s *statuses) Setting(key string) (json.RawMessage, bool) {
	if key != keyNotify {
		return nil, false
	}
	value, _ := json.Marshal(s.notify.Load()) // a string cannot fail
	return value, true
}

// SetSetting is settings.set of agent.notify (api.Status).
func (s *statuses) SetSetting(ctx context.Context, key string, value json.RawMessage) (bool, error) {
	if key != keyNotify {
		return false, nil
	}
	text, ok := notifyText(value)
	if !ok {
		return true, davit.Errorf(davit.CodeInvalid, "%s is waiting, done, both with a comma, or off", keyNotify)
	}
	stored, _ := json.Marshal(text)
	if err := s.d.store.SetSetting(ctx, keyNotify, stored); err != nil {
		return true, err
	}
	s.notify.Store(text)
	return true, nil
}
