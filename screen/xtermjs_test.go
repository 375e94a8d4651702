package screen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
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
	of      *Screen // the screen that the steps are a snapshot of
}

// screen is what the job must show.
func (job xtermJob) screen() *Screen {
	if job.of != nil {
		return job.of
	}
	s := New(job.Cols, job.Rows, Options{})
	for _, step := range job.Step {
		if step.Resize != nil {
			s.Resize(step.Resize[0], step.Resize[1])
		} else {
			s.Write(step.Data)
		}
	}
	return s
}

type xtermStep struct {
	Data   []byte  `json:"data,omitempty"`
	Resize *[2]int `json:"resize,omitempty"`
}

type xtermAnswer struct {
	Rows   []string
	Styles [][]string
	Cursor [2]int
	Alt    bool
	Failed string // xterm.js threw
}

// xtermHeadless installs the oracle once, into a cache, and gives the driver's
// command. It skips without node, and fails instead with DAVIT_REQUIRE_ALL=1.
func xtermHeadless(t *testing.T) *exec.Cmd {
	t.Helper()
	testenv.Require(t, "node", "npm")
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "davit-test", "xterm-headless-6.0.0")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "emulator.mjs", "driver.mjs"} {
		data, err := os.ReadFile(filepath.Join("testdata/xterm-headless", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@xterm", "addon-unicode-graphemes")); err != nil {
		npm := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			if os.Getenv("DAVIT_REQUIRE_ALL") == "1" {
				t.Fatalf("npm ci: %v\n%s", err, out)
			}
			t.Skipf("npm ci (no registry?): %v\n%s", err, out)
		}
	}
	cmd := exec.Command("node", "driver.mjs")
	cmd.Dir = dir
	return cmd
}

// askXterm runs the jobs through the browser's emulator.
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
	sc.Buffer(nil, 16<<20)
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
	for _, f := range []struct {
		on   bool
		name string
	}{
		{s.Attrs&Bold != 0, "b"}, {s.Attrs&Faint != 0, "d"}, {s.Attrs&Italic != 0, "i"}, {s.Underline != 0, "u"},
		{s.Attrs&Blink != 0, "k"}, {s.Attrs&Inverse != 0, "r"}, {s.Attrs&Invisible != 0, "h"},
		{s.Attrs&Strike != 0, "s"}, {s.Attrs&Overline != 0, "o"},
	} {
		if f.on {
			flags += f.name
		}
	}
	return strings.Join([]string{color(s.Foreground), color(s.Background), flags}, " ")
}

// compare tells the first difference between what s shows and the answer.
func compare(s *Screen, a xtermAnswer) string {
	text := s.Text()
	for y := range text {
		if text[y] != a.Rows[y] {
			return fmt.Sprintf("row %d\n  here  %q\n  there %q", y, text[y], a.Rows[y])
		}
	}
	for y := range s.rows {
		for x := range s.cols {
			c := s.Cell(x, y)
			if c.Text == "" {
				continue // xterm.js leaves attributes on what it erases
			}
			if here := xtermStyle(c.Style); here != a.Styles[y][x] {
				return fmt.Sprintf("style of %q at %d,%d\n  here  %s\n  there %s", c.Text, x, y, here, a.Styles[y][x])
			}
		}
	}
	x, y := s.Cursor()
	if ax := min(a.Cursor[0], s.cols-1); x != ax || y != a.Cursor[1] {
		return fmt.Sprintf("cursor %d,%d there %d,%d", x, y, ax, a.Cursor[1])
	}
	if s.AltScreen() != a.Alt {
		return "other screen"
	}
	return ""
}

// TestAgreesWithXtermJS: cell by cell with the browser's emulator (spec
// terminal P2.4): fixtures, cases, recordings of agents, generated streams.
func TestAgreesWithXtermJS(t *testing.T) {
	var jobs []xtermJob
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	// Fixtures where xterm.js is not like xterm: the fixtures win.
	fixtures, _ := filepath.Glob("testdata/xterm-escape/*.in")
	for _, path := range fixtures {
		name := strings.TrimSuffix(filepath.Base(path), ".in")
		jobs = append(jobs, xtermJob{name: name, Cols: 80, Rows: 25, differs: xtermJSDifferences[name],
			Step: []xtermStep{{Data: throughTTY(read(path))}}})
	}
	recordings, _ := filepath.Glob("testdata/agent-tty/*.tty")
	for _, path := range recordings {
		data := read(path)
		for part := range 4 {
			jobs = append(jobs, xtermJob{name: fmt.Sprintf("%s/%d", filepath.Base(path), part), Cols: 120, Rows: 40,
				Step: []xtermStep{{Data: data[:len(data)*(part+1)/4]}}})
		}
	}
	for _, c := range vtCases(t) {
		job := xtermJob{name: c.Name, Cols: 20, Rows: 5, differs: xtermJSDifferences[c.Name]}
		c.steps(t, func(p []byte) { job.Step = append(job.Step, xtermStep{Data: p}) },
			func(cols, rows int) { job.Step = append(job.Step, xtermStep{Resize: &[2]int{cols, rows}}) })
		jobs = append(jobs, job)
	}
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 2+r.Intn(40), 2+r.Intn(12)
		jobs = append(jobs, xtermJob{name: fmt.Sprintf("generated %d", seed), Cols: cols, Rows: rows,
			Step: []xtermStep{{Data: generate(r, cols, rows, 10+r.Intn(400), true)}}})
	}
	for _, c := range xtermJSOnPurpose {
		jobs = append(jobs, xtermJob{name: c.name, Cols: 20, Rows: 5, differs: "see docs/screen.md",
			Step: []xtermStep{{Data: []byte(c.input)}}})
	}
	// And each screen again as a snapshot, as a browser gets it (P3.1).
	for _, job := range jobs[:len(jobs):len(jobs)] {
		if job.differs == "" {
			s := job.screen()
			jobs = append(jobs, xtermJob{name: job.name + ", snapshot", Cols: s.cols, Rows: s.rows, of: s,
				Step: []xtermStep{{Data: s.Snapshot(SnapshotOptions{Lines: 50})}}})
		}
	}
	answers := askXterm(t, jobs)
	failed, threw := 0, 0
	for i, job := range jobs {
		if answers[i].Failed != "" {
			threw++
			continue
		}
		s := job.screen()
		difference := compare(s, answers[i])
		switch {
		case difference == "" && job.differs != "":
			t.Errorf("%s agrees now, take it off the list (%s)", job.name, job.differs)
		case difference != "" && job.differs == "":
			if failed++; failed <= 12 {
				t.Errorf("%s: %s\n  input %.600q", job.name, difference, job.Step[0].Data)
			}
		}
	}
	if threw > len(jobs)/20 {
		t.Errorf("xterm.js threw on %d of %d", threw, len(jobs))
	}
	if failed > 0 {
		t.Errorf("%d of %d differ", failed, len(jobs))
	}
}

// xtermJSDifferences are the fixtures and cases where xterm.js differs, with
// the reason; docs/screen.md says more.
var xtermJSDifferences = map[string]string{
	"t0055-EL":     "erasing to the right ends a pending wrap, as in xterm",
	"t0084-CBT":    "a pending wrap survives CBT, as in xterm",
	"invalid utf8": "a broken character is shown as U+FFFD",
}

// xtermJSOnPurpose are inputs that show the other differences.
var xtermJSOnPurpose = []struct{ name, input string }{
	{"left-right margins", "\x1b[?69h\x1b[3;6sabcdefghij"},
	{"DECSC saves origin mode", "\x1b7\x1b[?6h\x1b[2;4r\x1b8\x1b[1;1Hx"},
	{"DECSC saves a place on the screen", "\x1b[3;1H\x1b7\x1b[5;1H\n\n\x1b8x"},
	{"tab stops are the terminal's", "\x1b[3g\x1b[?1049h\tx"},
	{"inserting within a wide character", "ab日cd\x1b[4G\x1b[3@"},
	{"UTF-8 ends a sequence and is printed", "\x1b[3日x"},
	{"relative moves in origin mode", "\x1b[2;4r\x1b[?6h\x1b[3;1H\x1b[1Ax"},
	{"DECALN resets the margins", "\x1b[2;3r\x1b#8\x1b[5;1H\nx"},
}
