// Package paste decides how a text gets into an agent's composer and is submitted there
// (spec launch L7.2, L7.3). It is a state machine and pure: what is seen of a terminal and
// the time go in, the next state and one act come out.
//
//	          ready, for 150 ms          echo, and quiet        effect, or 5 s
//	waiting ───────────────────► pasted ─────────────────► entered ─────────────► submitted
//	   │ 60 s, a shell, an end      │ a broken frame, no echo, a shell, a dialog
//	   └──────────► not delivered ◄─┘ (a draft ends as placed behind its echo)
//
// The text is written once and the Enter once, whatever is seen afterwards. No Enter is
// pressed for a text that was not seen to arrive, none in front of another program than the
// agent, and none into a dialog. What a receipt may say is in Report. internal/paste/runner
// does the acts.
package paste

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// The times of L7.2.
const (
	ReadyWithin  = 60 * time.Second       // for the composer to come
	steadyFor    = 150 * time.Millisecond // the composer is ready for so long before it gets a text
	silentFor    = time.Second            // an agent without a signature has drawn nothing for so long
	shellFor     = 5 * time.Second        // a shell in front for so long: the agent is gone
	quietFor     = 150 * time.Millisecond // after the echo, before the Enter
	partEchoFor  = 500 * time.Millisecond // the same, when only the text's beginning is to be seen
	echoWithin   = 5 * time.Second        // of the last output, for an echo to come
	echoMost     = 20 * time.Second       // of the paste, however much is drawn
	effectWithin = 5 * time.Second        // of the Enter
	lookEach     = 250 * time.Millisecond // who is in front changes without a word
)

// Front is who the terminal listens to.
type Front string

// The fronts. The zero value is that it cannot be told.
const (
	FrontUnknown Front = ""
	FrontAgent   Front = "agent"
	FrontShell   Front = "shell"
	FrontOther   Front = "other"
)

// Sight is what is seen of a terminal at one moment.
type Sight struct {
	Lines     []string // the screen's rows, top to bottom
	Cursor    [2]int   // column, row
	Title     string
	Framed    bool // bracketed paste is on
	Cooked    bool // the terminal reads whole lines: no composer is there
	Offset    uint64
	Front     Front
	FrontName string // of a shell, or of another program
	Ended     string // how the program ended, "" while it runs
}

// Signs are how an agent's terminal looks. The functions are pure.
type Signs struct {
	Name        string // of the agent
	Signed      bool   // Ready knows its composer; otherwise its silence counts
	Ready       func(Sight) bool
	Dialog      func(Sight) (name string, blocks bool)
	Working     func(title string) bool
	Placeholder *regexp.Regexp // what stands for a long paste in the composer
}

// Job is one text to be pasted.
type Job struct {
	ID    string // of the writes: each is taken once, however often it is asked for
	Text  string
	Draft bool // without the Enter
	Signs Signs
}

// Outcome is how a paste ended.
type Outcome string

// The outcomes.
const (
	Submitted    Outcome = "submitted" // the Enter is in the terminal, behind the text
	Placed       Outcome = "placed"    // a draft was seen in the composer
	NotDelivered Outcome = "not-delivered"
	Unknown      Outcome = "unknown" // the Enter may be in the terminal: nobody knows
)

// Report is what became of a text. It may say too little and never too much.
type Report struct {
	Outcome Outcome
	Warning string // a sentence or two for a person, "" for nothing
}

// ActKind says what is to be done next.
type ActKind string

// The acts.
const (
	ActLook   ActKind = "look"   // look again when something changes, and at By
	ActWrite  ActKind = "write"  // write Data under ID, then tell Wrote
	ActFinish ActKind = "finish" // Report
)

// Act is one thing to do.
type Act struct {
	Kind   ActKind
	By     time.Time
	ID     string
	Data   []byte
	Report Report
}

// phase is where a paste is.
type phase string

const (
	waiting  phase = "waiting"
	pasting  phase = "pasting"
	pasted   phase = "pasted"
	entering phase = "entering"
	entered  phase = "entered"
	over     phase = "over"
)

// State is one paste on its way.
type State struct {
	job     Job
	marks   marks
	phase   phase
	began   time.Time
	last    Sight
	changed time.Time // when the screen last changed by more than a spinner
	steady  time.Time // since when it has been ready, zero: it is not
	shell   time.Time // since when a shell has been in front
	before  counts    // what of the text was there before
	at      time.Time // of the last write
	entered Sight     // the screen that the Enter went to
	told    []string
	report  Report
}

// Begin starts a paste. It gives the text its frame later, as the program asks then.
func Begin(job Job, now time.Time) State {
	s := State{job: job, phase: waiting, began: now, changed: now, marks: marksOf(shown(job.Text))}
	if strings.ContainsFunc(job.Text, isControl) {
		s.told = append(s.told, fmt.Sprintf("The %s has control characters, which were made visible, as ␀ and ␛ are.", s.noun()))
	}
	return s
}

// Next takes what is seen and gives what to do.
func Next(s State, seen Sight, now time.Time) (State, Act) {
	if seen.Offset != s.last.Offset && differs(s.last, seen) {
		s.changed = now
	}
	s.last = seen
	switch s.phase {
	case waiting:
		return s.await(seen, now)
	case pasted:
		return s.echo(seen, now)
	case entered:
		return s.effect(seen, now)
	case pasting: // the write was not told of
		return s.finish(s.lying("it is not known whether it was written"))
	case entering:
		return s.finish(s.lost("it is not known whether the Enter was written"))
	}
	return s, Act{Kind: ActFinish, Report: s.report}
}

// Wrote tells what became of a write. none: it is proven that not a byte was taken.
func Wrote(s State, err error, none bool, now time.Time) State {
	s.at, s.changed = now, now
	switch {
	case s.phase == pasting && err == nil:
		s.phase = pasted
	case s.phase == entering && err == nil:
		s.phase = entered
	case s.phase == pasting && none:
		s, _ = s.finish(s.kept(clause(err)))
	case s.phase == pasting, s.phase == entering && none:
		s, _ = s.finish(s.lying(clause(err)))
	case s.phase == entering:
		s, _ = s.finish(s.lost(clause(err)))
	}
	return s
}

// Stop ends a paste that nobody waits for any more: nothing is written after it.
func Stop(s State, why string) Report {
	switch s.phase {
	case waiting:
		return s.kept(why)
	case pasting, pasted:
		return s.lying(why)
	case entered:
		return Report{Submitted, s.warning()}
	case over:
		return s.report
	}
	return s.lost(why)
}

// await waits for the composer.
func (s State) await(seen Sight, now time.Time) (State, Act) {
	if seen.Ended != "" {
		return s.finish(s.kept(s.job.Signs.Name + " " + seen.Ended + " before it could be pasted"))
	}
	why := s.obstacle(seen, now)
	if why != "" {
		s.steady = time.Time{}
	} else if s.steady.IsZero() {
		s.steady = now
	}
	if seen.Front != FrontShell {
		s.shell = time.Time{}
	} else if s.shell.IsZero() {
		s.shell = now
	}
	switch {
	case why == "" && now.Sub(s.steady) >= steadyFor:
		s.phase, s.before = pasting, s.marks.count(seen, s.job.Signs.Placeholder)
		return s, Act{Kind: ActWrite, ID: s.job.ID, Data: Frame(s.job.Text)}
	case !s.shell.IsZero() && now.Sub(s.shell) >= shellFor:
		return s.finish(s.kept(why))
	case now.Sub(s.began) >= ReadyWithin:
		return s.finish(s.kept(fmt.Sprintf("%s was not ready for it within %d s: %s", s.job.Signs.Name, int(ReadyWithin.Seconds()), cmpOr(why, "it was for a moment only"))))
	}
	by := now.Add(lookEach)
	if !s.steady.IsZero() {
		by = earlier(by, s.steady.Add(steadyFor))
	}
	return s, Act{Kind: ActLook, By: earlier(by, s.began.Add(ReadyWithin))}
}

// obstacle says why a text cannot be pasted now, "" when it can (L7.2, L7.3).
func (s State) obstacle(seen Sight, now time.Time) string {
	if who := inFront(seen); who != "" {
		return who
	}
	if name, blocks := s.job.Signs.Dialog(seen); blocks {
		return fmt.Sprintf("a dialog (%s) is in the way", name)
	}
	switch {
	case seen.Cooked:
		return "its terminal reads whole lines, so its composer is not there"
	case !seen.Framed:
		return "it takes no bracketed paste"
	case s.job.Signs.Ready(seen) && (s.job.Signs.Signed || now.Sub(s.changed) >= silentFor):
		return ""
	case s.job.Signs.Working(seen.Title):
		return "it is working"
	case !s.job.Signs.Signed:
		return "its screen does not come to rest"
	}
	return "its composer is not to be seen, or it is working"
}

// inFront says who else the terminal listens to, "" for the agent.
func inFront(seen Sight) string {
	switch seen.Front {
	case FrontAgent:
		return ""
	case FrontShell:
		return fmt.Sprintf("a shell (%s) is in the foreground", seen.FrontName)
	case FrontOther:
		return fmt.Sprintf("another program (%s) is in the foreground", seen.FrontName)
	}
	return "it cannot be told who is in the foreground"
}

// echo waits until the text is to be seen in the composer.
func (s State) echo(seen Sight, now time.Time) (State, Act) {
	got := s.marks.count(seen, s.job.Signs.Placeholder)
	who := inFront(seen)
	limit := now.Sub(s.at) >= echoMost || now.Sub(s.changed) >= echoWithin
	dialog, blocks := s.job.Signs.Dialog(seen)
	switch {
	case seen.Ended != "":
		return s.finish(s.kept(s.job.Signs.Name + " " + seen.Ended + " before it was submitted"))
	case seen.Front == FrontShell, limit && who != "":
		return s.finish(s.lying(who))
	case got.broken(s.before, s.marks):
		return s.finish(s.lying("the frame of the paste arrived broken"))
	case blocks:
		return s.finish(s.lying(fmt.Sprintf("a dialog (%s) came in the way", dialog)))
	}
	whole, part := got.since(s.before)
	still := now.Sub(s.changed)
	switch {
	case who == "" && (whole && (still >= quietFor || now.Sub(s.at) >= echoWithin) || part && (still >= partEchoFor || limit)):
		if s.job.Draft {
			return s.finish(Report{Placed, s.warning()})
		}
		s.phase, s.entered = entering, seen
		return s, Act{Kind: ActWrite, ID: s.job.ID + "-enter", Data: []byte{'\r'}}
	case limit:
		return s.finish(s.lying("it was not seen to arrive"))
	}
	by := earlier(s.changed.Add(echoWithin), s.at.Add(echoMost))
	switch {
	case whole && who == "":
		by = earlier(earlier(by, s.changed.Add(quietFor)), s.at.Add(echoWithin))
	case part && who == "":
		by = earlier(by, s.changed.Add(partEchoFor))
	}
	return s, Act{Kind: ActLook, By: earlier(by, now.Add(lookEach))}
}

// effect watches what the Enter does. Nothing is written any more.
func (s State) effect(seen Sight, now time.Time) (State, Act) {
	if s.marks.count(seen, nil).broken(s.before, s.marks) {
		// A composer that showed the text's end alone hid this until now.
		s.told = append(s.told, fmt.Sprintf("The frame of the paste arrived broken: look at what %s got.", s.job.Signs.Name))
		return s.finish(Report{Submitted, s.warning()})
	}
	switch {
	case seen.Ended != "":
		s.told = append(s.told, fmt.Sprintf("%s %s right after the prompt was submitted.", s.job.Signs.Name, seen.Ended))
		return s.finish(Report{Submitted, s.warning()})
	case s.job.Signs.Working(seen.Title) && !s.job.Signs.Working(s.entered.Title), differs(s.entered, seen):
		return s.finish(Report{Submitted, s.warning()})
	case now.Sub(s.at) >= effectWithin:
		s.told = append(s.told, fmt.Sprintf("Nothing was seen to happen after the prompt was submitted: look at %s; it is not sent again.", s.job.Signs.Name))
		return s.finish(Report{Submitted, s.warning()})
	}
	return s, Act{Kind: ActLook, By: earlier(now.Add(lookEach), s.at.Add(effectWithin))}
}

func (s State) finish(r Report) (State, Act) {
	s.phase, s.report = over, r
	return s, Act{Kind: ActFinish, Report: r}
}

func (s State) noun() string {
	if s.job.Draft {
		return "draft"
	}
	return "prompt"
}

func (s State) verb() string {
	if s.job.Draft {
		return "placed"
	}
	return "delivered"
}

// kept is the report of a text of which nothing is in the terminal.
func (s State) kept(why string) Report {
	return Report{NotDelivered, fmt.Sprintf("The %s was not %s: %s.", s.noun(), s.verb(), why)}
}

// lying is that of one which may lie in the composer, unsent.
func (s State) lying(why string) Report {
	r := s.kept(why)
	r.Warning += " Its text may lie in the composer, unsent."
	return r
}

// lost is that of one which may have been submitted.
func (s State) lost(why string) Report {
	return Report{Unknown, fmt.Sprintf("It cannot be known whether the %s was submitted: %s.", s.noun(), why)}
}

func (s State) warning() string { return strings.Join(s.told, " ") }

// clause makes a part of a sentence of an error.
func clause(err error) string { return strings.TrimRight(err.Error(), ".") }

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
