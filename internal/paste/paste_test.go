package paste

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	start = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	signs = Signs{
		Name: "Agent", Signed: true,
		Ready: func(s Sight) bool {
			return slices.ContainsFunc(s.Lines, func(l string) bool { return strings.HasPrefix(l, "❯") })
		},
		Dialog: func(s Sight) (string, bool) {
			return "trust", slices.ContainsFunc(s.Lines, func(l string) bool { return strings.Contains(l, "Do you trust") })
		},
		Working:     func(title string) bool { return title == "working" },
		Placeholder: regexp.MustCompile(`(?i)\[pasted`),
	}
)

// scene is a paste whose clock and terminal the test turns by hand.
type scene struct {
	t     *testing.T
	state State
	now   time.Time
	seen  Sight
	act   Act
}

func newScene(t *testing.T, job Job) *scene {
	if job.Signs.Ready == nil {
		job.Signs = signs
	}
	job.ID = "op"
	return &scene{t: t, state: Begin(job, start), now: start, seen: Sight{Lines: []string{"❯"}, Framed: true, Front: FrontAgent}}
}

// show changes the screen.
func (s *scene) show(lines ...string) *scene {
	s.seen.Lines = lines
	s.seen.Offset++
	return s
}

// after lets time pass and looks.
func (s *scene) after(d time.Duration) *scene {
	s.now = s.now.Add(d)
	s.state, s.act = Next(s.state, s.seen, s.now)
	return s
}

func (s *scene) looks() *scene {
	s.t.Helper()
	if s.act.Kind != ActLook || !s.act.By.After(s.now) {
		s.t.Fatalf("%s %q, want another look", s.act.Kind, s.act.Data)
	}
	return s
}

// writes wants this written, and has it written.
func (s *scene) writes(id, data string) *scene {
	s.t.Helper()
	if s.act.Kind != ActWrite || s.act.ID != id || string(s.act.Data) != data {
		s.t.Fatalf("%s %s %q %v, want %s %q to be written", s.act.Kind, s.act.ID, s.act.Data, s.act.Report, id, data)
	}
	s.state = Wrote(s.state, nil, false, s.now)
	return s
}

func (s *scene) ends(outcome Outcome, words ...string) {
	s.t.Helper()
	if s.act.Kind != ActFinish || s.act.Report.Outcome != outcome {
		s.t.Fatalf("%s %q %+v, want the end: %s", s.act.Kind, s.act.Data, s.act.Report, outcome)
	}
	for _, word := range words {
		if !strings.Contains(s.act.Report.Warning, word) {
			s.t.Errorf("warning %q, want %q in it", s.act.Report.Warning, word)
		}
	}
	if len(words) == 0 && s.act.Report.Warning != "" {
		s.t.Errorf("warning %q", s.act.Report.Warning)
	}
	if _, again := Next(s.state, s.seen, s.now.Add(time.Hour)); again.Kind != ActFinish || again.Report != s.act.Report {
		s.t.Errorf("behind the end: %+v", again)
	}
}

// ready brings a paste as far as its text.
func (s *scene) ready() *scene {
	s.t.Helper()
	return s.after(0).looks().after(steadyFor).writes("op", string(Frame(s.state.job.Text)))
}

const lying = "may lie in the composer"

func TestSubmitted(t *testing.T) { // spec launch L7.2
	s := newScene(t, Job{Text: "fix the login test"}).ready()
	s.after(0).looks().show("❯ fix the login test").after(time.Second).looks().after(quietFor).writes("op-enter", "\r")
	s.after(0).looks().show("you: fix the login test", "❯").after(time.Second).ends(Submitted)
}

func TestDraftIsPlacedWhenSeen(t *testing.T) { // spec launch L7
	s := newScene(t, Job{Text: "fix the login test", Draft: true}).ready()
	s.show("❯ fix the lo", "  gin test").after(0).after(quietFor).ends(Placed)
	newScene(t, Job{Text: "fix the login test", Draft: true}).ready().after(echoWithin).ends(NotDelivered, "draft was not placed", lying)
}

func TestReady(t *testing.T) { // spec launch L7.2, L7.3
	for name, c := range map[string]struct {
		change func(*Sight)
		why    string
	}{
		"no composer":        {func(s *Sight) { s.Lines = []string{"loading"} }, "composer is not to be seen"},
		"dialog":             {func(s *Sight) { s.Lines = append(s.Lines, "Do you trust this folder?") }, "a dialog (trust) is in the way"},
		"no bracketed paste": {func(s *Sight) { s.Framed = false }, "no bracketed paste"},
		"whole lines":        {func(s *Sight) { s.Cooked = true }, "reads whole lines"},
		"other program":      {func(s *Sight) { s.Front, s.FrontName = FrontOther, "less" }, "another program (less)"},
		"nobody can tell":    {func(s *Sight) { s.Front = FrontUnknown }, "cannot be told"},
		"working":            {func(s *Sight) { s.Lines, s.Title = nil, "working" }, "it is working"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Job{Text: "x"})
			good := s.seen
			c.change(&s.seen)
			s.after(0).looks().after(time.Second).looks()
			// It passes: the text goes in, after the time that it has to hold.
			late := *s
			late.seen = good
			late.after(time.Second).looks().after(steadyFor-1).looks().after(1).writes("op", "\x1b[200~x\x1b[201~")
			// For a moment only is not enough.
			blink := *s
			blink.seen = good
			blink.after(time.Second).looks()
			blink.seen = s.seen
			blink.after(steadyFor).looks()
			// It stays: said why, and nothing was written.
			s.after(ReadyWithin-time.Second).ends(NotDelivered, "within 60 s", c.why)
			if strings.Contains(s.act.Report.Warning, lying) {
				t.Error("nothing was pasted:", s.act.Report.Warning)
			}
		})
	}
}

func TestAgentWithoutASignatureHasToBeSilent(t *testing.T) { // spec launch L7.2
	job := Job{Text: "x", Signs: signs}
	job.Signs.Signed, job.Signs.Ready = false, func(s Sight) bool { return s.Framed }
	s := newScene(t, job).after(0).looks()
	for i := range 20 {
		s.show(strings.Repeat("x", i)).after(500 * time.Millisecond).looks()
	}
	s.after(silentFor).looks().after(steadyFor).writes("op", "\x1b[200~x\x1b[201~")
}

func TestAShellInFrontEndsTheWait(t *testing.T) { // spec launch L7.3
	s := newScene(t, Job{Text: "rm -rf build"})
	s.seen.Front, s.seen.FrontName = FrontShell, "bash"
	s.after(0).looks().after(shellFor-1).looks().after(1).ends(NotDelivered, "a shell (bash) is in the foreground")
}

func TestWhatComesInTheWayOfTheEnter(t *testing.T) { // spec launch L7.2, L7.3
	for name, c := range map[string]struct {
		change func(*Sight)
		after  time.Duration
		why    []string
	}{
		"a shell":        {func(s *Sight) { s.Front, s.FrontName = FrontShell, "zsh" }, 0, []string{"a shell (zsh)", lying}},
		"a dialog":       {func(s *Sight) { s.Lines = []string{"Do you trust this folder?"} }, 0, []string{"a dialog (trust)", lying}},
		"the end":        {func(s *Sight) { s.Ended = "ended with exit status 1" }, 0, []string{"ended with exit status 1 before it was submitted"}},
		"a broken frame": {func(s *Sight) { s.Lines = []string{"❯ [200~fix the login test"} }, 0, []string{"arrived broken", lying}},
		"no echo":        {func(*Sight) {}, echoWithin, []string{"not seen to arrive", lying}},
		"never at rest":  {func(s *Sight) { s.Lines, s.Offset = []string{"new"}, s.Offset+1 }, echoMost, []string{"not seen to arrive", lying}},
		"another program": {func(s *Sight) {
			s.Lines, s.Front, s.FrontName = []string{"❯ fix the login test"}, FrontOther, "vi"
		}, echoMost, []string{"another program (vi)", lying}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Job{Text: "fix the login test"}).ready()
			c.change(&s.seen)
			if c.after > 0 {
				s.after(0).looks()
			}
			s.after(c.after).ends(NotDelivered, c.why...)
		})
	}
}

func TestEcho(t *testing.T) { // spec launch L7.2: composers wrap, cut and hide
	long := strings.Repeat("all work and no play makes a dull day\n", 40) + "the end of it all is here"
	for name, c := range map[string]struct {
		text   string
		before []string
		lines  []string
		wait   time.Duration // until the Enter; 0: never
	}{
		"one line":           {"fix the login test", nil, []string{"❯ fix the login test"}, quietFor},
		"wrapped":            {"fix the login test", nil, []string{"│ ❯ fix the │", "│   login   │", "│   test    │"}, quietFor},
		"its end":            {long, nil, []string{"│ the end of it all is here │"}, quietFor},
		"its beginning":      {long, nil, []string{"│ ❯ all work and no play makes a dull day │"}, partEchoFor},
		"a placeholder":      {long, nil, []string{"❯ [Pasted text #1 +41 lines]"}, quietFor},
		"a second one":       {long, []string{"❯ [Pasted text #1]"}, []string{"❯ [Pasted text #1][Pasted text #2]"}, quietFor},
		"an old one":         {long, []string{"[Pasted text #1]", "❯"}, []string{"[Pasted text #1]", "❯ ⠋"}, 0},
		"said before":        {"fix the login test", []string{"you: fix the login test", "❯"}, []string{"you: fix the login test", "❯ ⠋"}, 0},
		"said before, again": {"fix the login test", []string{"you: fix the login test", "❯"}, []string{"you: fix the login test", "❯ fix the login test"}, quietFor},
		"short":              {"y", nil, []string{"❯ y"}, quietFor},
		"short, by chance":   {"y", nil, []string{"❯ Type anything"}, 0},
		"control characters": {"a\x1b[201~b\x00c, and d", nil, []string{"❯ a␛[201~b␀c, and d"}, quietFor},
		"its own frame":      {"what does [200~ mean?", nil, []string{"❯ what does [200~ mean?"}, quietFor},
		"emoji and accents":  {"prüfe 🙂 das", nil, []string{"❯ pru\u0308fe 🙂 das"}, 0}, // composed and decomposed differ: no Enter
		"only blanks come":   {"fix the login test", nil, []string{"❯                  "}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Job{Text: c.text})
			if c.before != nil {
				s.show(c.before...)
			}
			s.ready()
			s.show(c.lines...).after(0).looks()
			if c.wait == 0 {
				s.after(echoWithin).ends(NotDelivered, "not seen to arrive", lying)
				return
			}
			s.after(c.wait-1).looks().after(1).writes("op-enter", "\r")
		})
	}
}

// A program that draws all the time, as a spinner or a clock does, is at rest all the same;
// one whose screen never comes to rest gets its Enter 5 s behind the text.
func TestEchoOnARestlessScreen(t *testing.T) { // spec launch L7.2
	s := newScene(t, Job{Text: "fix the login test"}).ready()
	s.show("❯ fix the login test", "⠋ 1 s").after(0).looks()
	s.show("❯ fix the login test", "⠙ 2 s").after(quietFor).writes("op-enter", "\r")
	s = newScene(t, Job{Text: "fix the login test"}).ready()
	for i := range 49 {
		s.show("❯ fix the login test", strings.Repeat("x", i)).after(100 * time.Millisecond).looks()
	}
	s.show("❯ fix the login test").after(100*time.Millisecond).writes("op-enter", "\r")
}

func TestTheCursorTellsAShortText(t *testing.T) {
	s := newScene(t, Job{Text: "ok"}).ready()
	s.show("❯ ok                    send ⏎")
	s.seen.Cursor = [2]int{4, 0}
	s.after(0).looks().after(quietFor).writes("op-enter", "\r")
}

func TestEffect(t *testing.T) { // spec launch L7.2: handed over either way, and once
	to := func(t *testing.T) *scene {
		return newScene(t, Job{Text: "fix the login test"}).ready().show("❯ fix the login test", "1 s ⠋").after(0).after(quietFor).writes("op-enter", "\r")
	}
	s := to(t)
	s.show("❯ fix the login test", "4 s ⠙").after(time.Second).looks().after(effectWithin).ends(Submitted, "Nothing was seen to happen", "not sent again")
	s = to(t)
	s.show("you: [200~fix the login test", "❯").after(time.Second).ends(Submitted, "arrived broken")
	s = to(t)
	s.seen.Title = "working"
	s.after(time.Second).ends(Submitted)
	s = to(t)
	s.seen.Ended = "ended with exit status 3"
	s.after(0).ends(Submitted, "ended with exit status 3 right after")
}

func TestWritesThatFail(t *testing.T) { // spec launch L2.2: under-claimed, never over
	err := errors.New("the keeper is gone.")
	fail := func(s *scene, none bool) *scene {
		s.state = Wrote(s.state, err, none, s.now)
		return s.after(0)
	}
	paste := func() *scene { return newScene(t, Job{Text: "fix the login test"}).after(0).after(steadyFor) }
	enter := func() *scene {
		return newScene(t, Job{Text: "fix the login test"}).ready().show("❯ fix the login test").after(0).after(quietFor)
	}
	fail(paste(), true).ends(NotDelivered, "the keeper is gone.")
	fail(paste(), false).ends(NotDelivered, "the keeper is gone.", lying)
	fail(enter(), true).ends(NotDelivered, lying)
	fail(enter(), false).ends(Unknown, "cannot be known")
}

func TestStop(t *testing.T) {
	s := newScene(t, Job{Text: "fix the login test"}).after(0)
	want := func(outcome Outcome, word string) {
		t.Helper()
		if r := Stop(s.state, "the host is stopping"); r.Outcome != outcome || !strings.Contains(r.Warning, word) {
			t.Errorf("%+v", r)
		}
	}
	want(NotDelivered, "not delivered: the host is stopping.")
	s.after(steadyFor)
	want(NotDelivered, lying)
	s.writes("op", string(Frame("fix the login test")))
	want(NotDelivered, lying)
	s.show("❯ fix the login test").after(0).after(quietFor)
	want(Unknown, "the host is stopping")
	s.writes("op-enter", "\r")
	want(Submitted, "")
}

// Whatever is seen: the text is written at most once, the Enter at most once and behind it,
// only while the agent is in front and no dialog is there; it comes to an end; and what is
// reported is what was written.
func TestAnythingSeen(t *testing.T) {
	lines := []string{"❯", "❯ fix the login test", "Do you trust", "[Pasted text #1]", "[200~fix", "⠋ working", ""}
	rapid.Check(t, func(t *rapid.T) {
		draft := rapid.Bool().Draw(t, "draft")
		state, now := Begin(Job{ID: "op", Text: "fix the login test", Draft: draft, Signs: signs}, start), start
		var written []string
		var tainted bool
		for step := 0; ; step++ {
			if step > 3000 {
				t.Fatal("it does not end")
			}
			seen := Sight{
				Lines: rapid.SliceOfN(rapid.SampledFrom(lines), 0, 3).Draw(t, "lines"), Framed: rapid.IntRange(0, 9).Draw(t, "framed") > 0,
				Front: rapid.SampledFrom([]Front{FrontAgent, FrontAgent, FrontAgent, FrontShell, FrontOther, FrontUnknown}).Draw(t, "front"),
				Title: rapid.SampledFrom([]string{"", "working"}).Draw(t, "title"), Offset: rapid.Uint64Range(0, 3).Draw(t, "offset"),
			}
			now = now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "ms")) * time.Millisecond)
			var act Act
			state, act = Next(state, seen, now)
			if act.Kind == ActFinish {
				want := map[Outcome]int{Submitted: 2, Placed: 1}
				if n, ok := want[act.Report.Outcome]; ok && (len(written) != n || tainted) {
					t.Fatalf("%+v after %q", act.Report, written)
				}
				if act.Report.Outcome == NotDelivered && slices.Contains(written, "op-enter") {
					t.Fatalf("%+v after an Enter", act.Report)
				}
				return
			}
			if act.Kind == ActLook {
				if !act.By.After(now) {
					t.Fatalf("it asks to look at once again: %v", act.By.Sub(now))
				}
				continue
			}
			if slices.Contains(written, act.ID) || act.ID == "op-enter" && (draft || len(written) != 1) {
				t.Fatalf("%s is written behind %q", act.ID, written)
			}
			if _, blocks := signs.Dialog(seen); blocks || seen.Front != FrontAgent {
				t.Fatalf("written to %+v", seen)
			}
			written = append(written, act.ID)
			var err error
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				err, tainted = errors.New("no"), true
			}
			state = Wrote(state, err, false, now)
		}
	})
}

func TestFrame(t *testing.T) { // spec launch L7.2: no text ends its own frame
	for text, want := range map[string]string{
		"a\nb":            "a\nb",
		"a\r\nb\rc":       "a\nb\nc",
		"\n\nx\\":         "\n\nx\\",
		"\x1b[201~ls\x7f": "␛[201~ls␡",
		"\x00\t\u009b":    "␀\t\ufffd",
		"bad \xff":        "bad \ufffd",
	} {
		if got := string(Frame(text)); got != "\x1b[200~"+want+"\x1b[201~" {
			t.Errorf("%q is framed as %q", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := string(Frame(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))))
		if strings.Count(got, "\x1b") != 2 || strings.ContainsRune(got, '\r') || !strings.HasSuffix(got, "\x1b[201~") {
			t.Fatalf("%q", got)
		}
	})
}
