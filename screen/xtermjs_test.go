package screen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"davit/internal/testenv"
)

// xtermJob is one run of the browser's emulator, see
// testdata/xterm-headless/driver.mjs.
type xtermJob struct {
	name string
	Cols int         `json:"cols"`
	Rows int         `json:"rows"`
	Step []xtermStep `json:"steps"`
	// differs says that the job shows a difference on purpose.
	differs string
	// of is the screen that the steps are a snapshot of.
	of   *Screen
	skip parts
}

// parts are what of a state is not compared.
type parts uint

const (
	skipScrollback parts = 1 << iota // also the main screen below the alternate one
	skipWraps
	skipModes
	skipReplies // of a job that is resized
	skipMost    // all but the text and the cursor
	flattened   // scrollback and screen as one text, wherever the screen begins
)

type xtermStep struct {
	Data   []byte  `json:"data,omitempty"`
	Resize *[2]int `json:"resize,omitempty"`
	Check  bool    `json:"check,omitempty"`
}

type xtermAnswer struct {
	Checks []xtermState
	Failed string // xterm.js threw
}

type xtermLine struct {
	Text    string
	Wrapped bool
}

type xtermState struct {
	Rows, Scrollback, Below []xtermLine
	Cursor                  [2]int
	Alternate               bool
	Title                   string
	Bells                   int
	Replies                 string
	Modes                   xtermModes
}

type xtermModes struct {
	ApplicationCursorKeysMode, ApplicationKeypadMode, BracketedPasteMode bool
	InsertMode, OriginMode, ReverseWraparoundMode, SendFocusMode         bool
	SynchronizedOutputMode, WraparoundMode, CursorHidden                 bool
	MouseTrackingMode, MouseEncoding, CursorStyle                        string
}

// xtermHeadless is the driver's command. It skips without node or the page's
// packages, and fails instead with DAVIT_REQUIRE_ALL=1.
func xtermHeadless(t *testing.T) *exec.Cmd {
	t.Helper()
	testenv.Require(t, "node")
	if _, err := os.Stat("../web/node_modules/@xterm/headless/package.json"); err != nil {
		if os.Getenv("DAVIT_REQUIRE_ALL") == "1" {
			t.Fatalf("the page's packages are not installed (make web): %v", err)
		}
		t.Skipf("the page's packages are not installed (make web): %v", err)
	}
	return exec.Command("node", "testdata/xterm-headless/driver.mjs")
}

// askXterm runs the jobs through the browser's emulator, in one process.
func askXterm(t *testing.T, jobs []xtermJob) []xtermAnswer {
	t.Helper()
	cmd := xtermHeadless(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer // xterm.js logs what it cannot parse
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		enc := json.NewEncoder(in)
		for _, job := range jobs {
			if err := enc.Encode(job); err != nil {
				written <- err
				return
			}
		}
		written <- in.Close()
	}()
	answers := make([]xtermAnswer, 0, len(jobs))
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var a xtermAnswer
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil || len(answers) != len(jobs) {
		t.Fatalf("driver: %v, %d answers for %d jobs\n%s", err, len(answers), len(jobs), complaints.Bytes())
	}
	return answers
}

// xtermStyle is a style as the driver writes it.
func xtermStyle(s Style) string {
	color := func(c Color) string {
		if c.IsDefault() {
			return "-"
		}
		if i, ok := c.Index(); ok {
			return fmt.Sprint(i)
		}
		return fmt.Sprintf("#%d", uint32(c)&0xffffff)
	}
	flags := ""
	for i, name := range "bdikrhso" { // in the order of the attributes
		if s.Attrs&(1<<i) != 0 {
			flags += string(name)
		}
	}
	return fmt.Sprintf("%s %s %s %d %s %s", color(s.Foreground), color(s.Background), flags, s.Underline, color(s.UnderlineColor), s.Link)
}

// xtermText is a line as the driver writes it.
func xtermText(cells []Cell, cols int) string {
	var out strings.Builder
	var before Style
	for x := range cols {
		c := Cell{Width: 1}
		if x < len(cells) {
			c = cells[x]
		}
		if c.Width == 0 {
			out.WriteByte(1)
			continue
		}
		c.Style.LinkID = ""
		if c.Style.Underline == UnderlineNone {
			c.Style.UnderlineColor = 0 // seen nowhere
		}
		if c.Style != before {
			out.WriteString("\x02" + xtermStyle(c.Style) + "\x02")
			before = c.Style
		}
		if c.Text == "" {
			c.Text = " "
		}
		out.WriteString(c.Text)
	}
	return out.String()
}

// plain is a line without its styles and the blanks at its end.
func (l xtermLine) plain() string {
	var out strings.Builder
	for i, part := range strings.Split(l.Text, "\x02") {
		if i%2 == 0 {
			out.WriteString(strings.ReplaceAll(part, "\x01", ""))
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// compare tells the first difference between s and the state, "" for none.
func (job *xtermJob) compare(s *Screen, state xtermState, told *Result) string {
	if s.AltScreen() != state.Alternate {
		return "other screen"
	}
	lines := func(what string, here []Line, there []xtermLine) string {
		if len(here) != len(there) {
			return fmt.Sprintf("%d lines of %s, there %d", len(here), what, len(there))
		}
		for y, l := range here {
			is := xtermLine{xtermText(l.Cells, s.cols), l.Wrapped}
			if job.skip&skipMost != 0 {
				is, there[y] = xtermLine{Text: is.plain()}, xtermLine{Text: there[y].plain()}
			}
			if job.skip&skipWraps != 0 {
				there[y].Wrapped = is.Wrapped
			}
			if is != there[y] {
				return fmt.Sprintf("%s, line %d\n  here  %q %v\n  there %q %v", what, y, is.Text, is.Wrapped, there[y].Text, there[y].Wrapped)
			}
		}
		return ""
	}
	if job.skip&flattened != 0 {
		all := append(state.Scrollback, state.Rows...)
		for len(all) > 0 && all[len(all)-1].plain() == "" {
			all = all[:len(all)-1]
		}
		here := s.Lines(0, s.ScrollbackLen()+s.rows)
		for len(here) > len(all) && (xtermLine{Text: xtermText(here[len(here)-1].Cells, s.cols)}).plain() == "" {
			here = here[:len(here)-1]
		}
		if d := lines("all", here, all); d != "" {
			return d
		}
		_, y := s.Cursor()
		if y+s.ScrollbackLen() != state.Cursor[1]+len(state.Scrollback) {
			return fmt.Sprintf("cursor in line %d, there %d", y+s.ScrollbackLen(), state.Cursor[1]+len(state.Scrollback))
		}
		return ""
	}
	shown := make([]Line, s.rows)
	for y, r := range s.g.rows {
		shown[y].Wrapped = r.wrapped
		for x := range s.cols {
			shown[y].Cells = append(shown[y].Cells, s.Cell(x, y))
		}
	}
	if d := lines("screen", shown, state.Rows); d != "" {
		return d
	}
	x, y := s.Cursor()
	if ax := min(state.Cursor[0], s.cols-1); x != ax || y != state.Cursor[1] {
		return fmt.Sprintf("cursor %d,%d there %d,%d", x, y, ax, state.Cursor[1])
	}
	if pending := state.Cursor[0] >= s.cols; pending != s.g.cursor.pending && job.skip&skipMost == 0 {
		return fmt.Sprintf("a pending wrap: %v, there %v", s.g.cursor.pending, pending)
	}
	if job.skip&skipScrollback == 0 {
		if d := lines("scrollback", s.Lines(0, s.ScrollbackLen()), state.Scrollback); d != "" {
			return d
		}
		if s.AltScreen() {
			if d := lines("main screen below", s.Lines(s.ScrollbackLen(), s.ScrollbackLen()+s.rows), state.Below); d != "" {
				return d
			}
		}
	}
	if job.skip&(skipModes|skipMost) == 0 {
		if here := modesAsXterm(s); here != state.Modes {
			return fmt.Sprintf("modes\n  here  %+v\n  there %+v", here, state.Modes)
		}
		if s.Title() != state.Title {
			return fmt.Sprintf("title %q, there %q", s.Title(), state.Title)
		}
	}
	var replies []byte
	for _, r := range told.Replies {
		replies = append(replies, r.Data...)
	}
	if job.skip&skipReplies == 0 && cursorReports.Match(replies) && cursorReports.MatchString(state.Replies) && job.of == nil && string(replies) != job.atEdge(state.Replies) {
		return fmt.Sprintf("replies %q, there %q", replies, state.Replies)
	}
	bells := 0
	for _, e := range told.Effects {
		if e.Kind == Bell {
			bells++
		}
	}
	if bells != state.Bells && job.of == nil {
		return fmt.Sprintf("%d bells, there %d", bells, state.Bells)
	}
	return ""
}

// cursorReports are replies that both give alike, but behind the last column.
var cursorReports = regexp.MustCompile(`^(\x1b\[\d+;\d+R)*$`)

// atEdge counts the column behind the last one as the last, but not in the job
// that shows this difference.
func (job *xtermJob) atEdge(replies string) string {
	if job.differs != "" {
		return replies
	}
	return strings.ReplaceAll(replies, fmt.Sprintf(";%dR", job.Cols+1), fmt.Sprintf(";%dR", job.Cols))
}

// modesAsXterm are the modes that both know.
func modesAsXterm(s *Screen) xtermModes {
	m := s.Modes()
	shapes := []string{"", "block", "block", "underline", "underline", "bar", "bar"}
	return xtermModes{
		ApplicationCursorKeysMode: m.AppCursor, ApplicationKeypadMode: m.AppKeypad, BracketedPasteMode: m.BracketedPaste,
		InsertMode: m.Insert, OriginMode: m.Origin, ReverseWraparoundMode: m.ReverseWrap, SendFocusMode: m.FocusEvents,
		SynchronizedOutputMode: m.SyncOutput, WraparoundMode: m.AutoWrap, CursorHidden: !m.CursorVisible,
		MouseTrackingMode: map[int]string{0: "none", 9: "x10", 1000: "vt200", 1002: "drag", 1003: "any"}[m.MouseTracking],
		MouseEncoding:     map[int]string{0: "DEFAULT", 1006: "SGR", 1016: "SGR_PIXELS"}[m.MouseEncoding],
		CursorStyle:       shapes[m.CursorShape],
	}
}

// run replays the job here and tells the first difference from the answer.
func (job *xtermJob) run(a xtermAnswer) string {
	s := job.of
	if s == nil {
		s = New(job.Cols, job.Rows, Options{})
	}
	var told Result
	checks := 0
	for _, step := range job.Step {
		switch {
		case step.Check:
			if checks >= len(a.Checks) {
				return "too few answers"
			}
			if d := job.compare(s, a.Checks[checks], &told); d != "" {
				return fmt.Sprintf("check %d: %s", checks, d)
			}
			checks++
		case job.of != nil:
		case step.Resize != nil:
			s.Resize(step.Resize[0], step.Resize[1])
		default:
			told = told.merged(s.Write(step.Data))
		}
	}
	if checks == 0 {
		return "nothing was compared"
	}
	return ""
}

// differences runs the jobs on both sides. A job that differs on purpose must
// differ, any other must not.
func differences(t *testing.T, jobs []xtermJob) {
	t.Helper()
	answers := askXterm(t, jobs)
	failed, threw := 0, 0
	for i := range jobs {
		job := &jobs[i]
		if answers[i].Failed != "" {
			threw++
			if job.differs == "" && !strings.HasPrefix(job.name, "generated") {
				t.Errorf("%s: xterm.js threw %s", job.name, answers[i].Failed)
			}
			continue
		}
		difference := job.run(answers[i])
		switch {
		case difference == "" && job.differs != "":
			t.Errorf("%s agrees now, take it off the list (%s)", job.name, job.differs)
		case difference != "" && job.differs == "":
			if failed++; failed <= 12 {
				t.Errorf("%s (%dx%d): %s\n  input %.900q", job.name, job.Cols, job.Rows, difference, job.Step[0].Data)
			}
		}
	}
	t.Logf("%d jobs, xterm.js threw on %d", len(jobs), threw)
	if threw > len(jobs)/20 {
		t.Errorf("xterm.js threw on %d of %d", threw, len(jobs))
	}
	if failed > 0 {
		t.Errorf("%d of %d differ", failed, len(jobs))
	}
}
