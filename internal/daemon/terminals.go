package daemon

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"davit"
	"davit/internal/agent"
	"davit/internal/keeper"
	"davit/internal/launch"
	"davit/internal/pane"
	"davit/internal/paste"
	"davit/internal/paste/runner"
	"davit/internal/store"
)

// terminals are the panes in which agents run, as a launch needs them (launch.Terminals).
type terminals struct {
	d        *daemon
	agents   *agents
	pastes   runner.Runner
	stopping context.Context // ends when the host stops: a text that still waits is given back
}

// Running finds the living terminal of a handle or a pane's id, in which the agent is in
// front (spec launch L5.2).
func (t *terminals) Running(ctx context.Context, handle string, which launch.Agent) (launch.Running, error) {
	refuse := func(what string, args ...any) error {
		return davit.Errorf(davit.CodeLaunchReuseNotRunning, "the terminal %s %s", handle, fmt.Sprintf(what, args...)).
			WithHint("`davit pane list` shows what runs where; without reuse a new terminal is made").With("handle", handle)
	}
	row, now, ok := t.find(ctx, handle)
	switch {
	case !ok:
		return launch.Running{}, refuse("is not there: no living pane has this handle")
	case row.Pane.Kind != keeper.PaneAgent || row.Pane.Agent != which.ID:
		return launch.Running{}, refuse("is no terminal of %s", which.Name)
	case row.Pane.Status != davit.PaneRunning:
		return launch.Running{}, refuse("does not run any more: its program has %s", row.Pane.Status)
	}
	term, err := t.open(row.Pane.ID, which)
	if err != nil {
		return launch.Running{}, refuse("does not answer: %v", err)
	}
	seen, err := term.Look(ctx)
	switch {
	case err != nil:
		return launch.Running{}, refuse("does not answer: %v", err)
	case seen.Ended != "":
		return launch.Running{}, refuse("does not run any more: its program %s", seen.Ended)
	case seen.Front == paste.FrontShell:
		return launch.Running{}, refuse("does not run %s any more: a shell (%s) is in front", which.Name, seen.FrontName)
	}
	return launch.Running{Handle: now, Tab: row.Pane.Tab, PaneKey: row.Pane.PaneKey, Dir: row.Spec.Directory}, nil
}

func (t *terminals) find(ctx context.Context, handle string) (row store.PaneRow, now string, ok bool) {
	for id, row := range t.d.host.Model().Rows.Panes {
		now, has, err := t.d.tabs.Handle(ctx, davit.Outcome{Kind: davit.Terminal, PaneKey: row.Pane.PaneKey})
		if err == nil && has && row.Pane.PaneKey != "" && (now == handle || string(id) == handle) {
			return row, now, true
		}
	}
	return store.PaneRow{}, "", false
}

// Paste gives a text to an agent (spec launch L7.2).
func (t *terminals) Paste(ctx context.Context, r launch.PasteRequest) paste.Report {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.stopping, func() { cancel(errors.New("the host is stopping")) })()
	undone := func(err error) paste.Report {
		return paste.Stop(paste.Begin(paste.Job{Draft: r.Draft}, t.d.started), davit.AsError(err).Message)
	}
	for id, row := range t.d.host.Model().Rows.Panes {
		if row.Pane.PaneKey != r.PaneKey {
			continue
		}
		term, err := t.open(id, r.Agent)
		if err != nil {
			return undone(err)
		}
		return t.pastes.Run(ctx, id, term, paste.Job{ID: r.ID, Text: r.Text, Draft: r.Draft, Signs: signs(term.entry)})
	}
	return undone(fmt.Errorf("its pane is gone"))
}

func (t *terminals) open(id davit.PaneID, which launch.Agent) (terminal, error) {
	catalogue, _ := t.agents.catalogue()
	entry, ok := catalogue.Find(which.ID)
	if !ok {
		return terminal{}, davit.Errorf(davit.CodeAgentUnknown, "there is no agent %q in the catalogue any more", which.ID)
	}
	p, err := t.d.panes.Get(id)
	return terminal{p, entry, t.d.cfg.Failpoint}, err
}

// signs are what the catalogue says of an agent's terminal.
func signs(entry agent.Agent) paste.Signs {
	look := func(s paste.Sight) agent.Look { return agent.Look{Title: s.Title, Lines: s.Lines, Paste: s.Framed} }
	return paste.Signs{
		Name: entry.Name, Signed: len(entry.Ready.Screen)+len(entry.Ready.Title) > 0,
		Ready:  func(s paste.Sight) bool { return entry.IsReady(look(s)) },
		Dialog: func(s paste.Sight) (string, bool) { return entry.Dialog(look(s)) },
		Working: func(title string) bool {
			status, told := entry.StatusOfTitle(title)
			return told && status != agent.StatusIdle
		},
		Placeholder: regexp.MustCompile(entry.Pasted), // checked when the catalogue was read
	}
}

// terminal is a pane with an agent in it (runner.Terminal).
type terminal struct {
	pane      *pane.Pane
	entry     agent.Agent
	failpoint func(string)
}

func (t terminal) Look(ctx context.Context) (paste.Sight, error) {
	seen, err := t.pane.Sight(ctx)
	if err != nil {
		return paste.Sight{}, err
	}
	s := paste.Sight{Lines: seen.Rows, Cursor: seen.Cursor, Title: seen.Title, Framed: seen.Framed, Cooked: seen.Front.Canonical, Offset: seen.Offset}
	s.Front, s.FrontName = t.front(seen.Front)
	switch v := seen.View; {
	case v.Exit != nil && v.Exit.Signal != "":
		s.Ended = "was ended by " + v.Exit.Signal
	case v.Exit != nil:
		s.Ended = fmt.Sprintf("ended with exit status %d", v.Exit.Code)
	case v.Status != davit.PaneRunning && v.Status != davit.PaneStarting:
		s.Ended = "is not there any more"
	}
	return s, nil
}

// front tells the agent from a shell (L7.3). The program that the pane was made for is the
// agent whatever it is called, unless it has become a shell.
func (t terminal) front(fg keeper.Foreground) (paste.Front, string) {
	switch {
	case fg.Pid == 0:
		return paste.FrontUnknown, ""
	case t.entry.Owns(fg.Argv):
		return paste.FrontAgent, fg.Name
	case agent.IsShell(fg.Argv):
		return paste.FrontShell, fg.Name
	case fg.OwnChild:
		return paste.FrontAgent, fg.Name
	}
	return paste.FrontOther, fg.Name
}

func (t terminal) Changed(ctx context.Context, offset uint64) {
	if err := t.pane.OutputAfter(ctx, offset); err != nil {
		<-ctx.Done() // it has ended: what is left to be seen of it takes its time
	}
}

func (t terminal) Write(ctx context.Context, id string, data []byte) (none bool, err error) {
	t.fail("paste-before-write")
	none, err = t.pane.Write(ctx, id, data)
	if len(data) > 1 {
		t.fail("paste-after-text")
	} else {
		t.fail("paste-after-enter")
	}
	return none, err
}

func (t terminal) fail(name string) {
	if t.failpoint != nil {
		t.failpoint(name)
	}
}
