package screen

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checked is the steps for one stream with a check at its end.
func checked(data []byte) []xtermStep { return []xtermStep{{Data: data}, {Check: true}} }

// snapshotsOf gives each screen of the jobs again as a snapshot, as a browser
// gets it (spec terminal P3.1).
func snapshotsOf(jobs []xtermJob) []xtermJob {
	var out []xtermJob
	for _, job := range jobs {
		if job.differs != "" {
			continue
		}
		s := New(job.Cols, job.Rows, Options{})
		for _, step := range job.Step {
			if step.Resize != nil {
				s.Resize(step.Resize[0], step.Resize[1])
			} else {
				s.Write(step.Data)
			}
		}
		out = append(out, xtermJob{name: job.name + ", snapshot", Cols: s.cols, Rows: s.rows, of: s, skip: skipScrollback | skipWraps | skipModes,
			Step: checked(s.Snapshot(SnapshotOptions{Lines: 50}))})
	}
	return out
}

// TestAgreesWithXtermJS: cell by cell with the browser's emulator (spec
// terminal P2.4): fixtures, cases, recordings of agents.
func TestAgreesWithXtermJS(t *testing.T) {
	t.Parallel()
	var jobs []xtermJob
	// Fixtures where xterm.js is not like xterm: the fixtures win.
	fixtures, _ := filepath.Glob("testdata/xterm-escape/*.in")
	for _, path := range fixtures {
		name := strings.TrimSuffix(filepath.Base(path), ".in")
		jobs = append(jobs, xtermJob{name: name, Cols: 80, Rows: 25, differs: xtermJSDifferences[name],
			Step: checked(throughTTY(readFile(t, path)))})
	}
	for _, c := range vtCases(t) {
		job := xtermJob{name: c.Name, Cols: 20, Rows: 5, differs: xtermJSDifferences[c.Name]}
		c.steps(t, func(p []byte) { job.Step = append(job.Step, xtermStep{Data: p}) },
			func(cols, rows int) { job.Step = append(job.Step, xtermStep{Resize: &[2]int{cols, rows}}) })
		job.Step = append(job.Step, xtermStep{Check: true})
		jobs = append(jobs, job)
	}
	recordings, _ := filepath.Glob("testdata/agent-tty/*.tty")
	if len(fixtures) < 70 || len(recordings) != 3 {
		t.Fatalf("%d fixtures, %d recordings", len(fixtures), len(recordings))
	}
	for _, path := range recordings {
		data := readFile(t, path)
		job := xtermJob{name: filepath.Base(path), Cols: 120, Rows: 40}
		for part := range 20 {
			job.Step = append(job.Step, xtermStep{Data: data[len(data)*part/20 : len(data)*(part+1)/20]}, xtermStep{Check: true})
		}
		jobs = append(jobs, job)
	}
	differences(t, append(jobs, snapshotsOf(jobs)...))
}

// TestXtermJSGenerated: the same for generated streams.
func TestXtermJSGenerated(t *testing.T) {
	t.Parallel()
	var jobs []xtermJob
	for seed := range int64(scaled(160)) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 2+r.Intn(40), 2+r.Intn(12)
		jobs = append(jobs, xtermJob{name: fmt.Sprintf("generated %d", seed), Cols: cols, Rows: rows,
			Step: checked(generate(r, cols, rows, 10+r.Intn(400), true))})
	}
	differences(t, append(jobs, snapshotsOf(jobs)...))
}

// prose makes lines of text that end with the cursor in a line of its own.
func prose(r *rand.Rand, lines int) []byte {
	var out []byte
	for range lines {
		for range r.Intn(50) {
			word := []string{"a", "word", " ", "x", "日", "é", "👩\u200d👩\u200d👧", "\x1b[3%dm", "\x1b[0m"}[r.Intn(9)]
			if strings.Contains(word, "%") {
				word = fmt.Sprintf(word, r.Intn(8))
			}
			out = append(out, word...)
		}
		out = append(out, "\x1b[m|\r\n"...)
	}
	return out
}

// TestXtermJSReflow: text with scrollback is wrapped anew as in the browser's
// emulator, both ways, as long as no text is below the cursor and its own line
// is empty (spec terminal P2.1).
func TestXtermJSReflow(t *testing.T) {
	t.Parallel()
	var jobs []xtermJob
	for seed := range int64(scaled(60)) {
		r := rand.New(rand.NewSource(seed))
		job := xtermJob{name: fmt.Sprintf("reflow %d", seed), Cols: 4 + r.Intn(60), Rows: 1 + r.Intn(20), skip: flattened}
		for range 1 + r.Intn(5) {
			job.Step = append(job.Step, xtermStep{Data: prose(r, 1+r.Intn(20))}, xtermStep{Resize: &[2]int{2 + r.Intn(80), 1 + r.Intn(30)}}, xtermStep{Check: true})
		}
		jobs = append(jobs, job)
	}
	differences(t, jobs)
}

// TestXtermJSAlternate: the alternate screen is cut and filled as in the
// browser's emulator, whatever is on it.
func TestXtermJSAlternate(t *testing.T) {
	t.Parallel()
	var jobs []xtermJob
	for seed := range int64(scaled(60)) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 2+r.Intn(40), 2+r.Intn(12)
		job := xtermJob{name: fmt.Sprintf("generated alternate %d", seed), Cols: cols, Rows: rows, skip: skipScrollback | skipWraps | skipReplies,
			Step: []xtermStep{{Data: []byte("\x1b[?1049h")}}}
		for more := 1 + r.Intn(4); more > 0; more-- {
			job.Step = append(job.Step, xtermStep{Data: generateOn(r, cols, rows, 10+r.Intn(200))}, xtermStep{Check: true})
			before := cols
			if cols, rows = 2+r.Intn(40), 2+r.Intn(12); cols < before {
				more = 0 // what was cut may come back there
			}
			job.Step = append(job.Step, xtermStep{Resize: &[2]int{cols, rows}}, xtermStep{Check: true})
		}
		jobs = append(jobs, job)
	}
	differences(t, jobs)
}

// TestXtermJSOnPurpose: what differs on purpose still does, and stands in
// docs/screen.md by its name (spec terminal P2.4).
func TestXtermJSOnPurpose(t *testing.T) {
	t.Parallel()
	told := string(readFile(t, "../docs/screen.md"))
	var jobs []xtermJob
	for _, c := range xtermJSOnPurpose {
		if !strings.Contains(told, "\n| "+c.name+" |") {
			t.Errorf("docs/screen.md does not tell of %q", c.name)
		}
		job := xtermJob{name: c.name, Cols: 20, Rows: 5, differs: "see docs/screen.md"}
		for i, part := range strings.Split(c.input, resized) {
			if i > 0 {
				var size [2]int
				var rest string
				if _, err := fmt.Sscanf(part, "%dx%d", &size[0], &size[1]); err != nil {
					t.Fatal(err)
				}
				_, rest, _ = strings.Cut(part, " ")
				job.Step, part = append(job.Step, xtermStep{Resize: &size}), rest
			}
			if part != "" {
				job.Step = append(job.Step, xtermStep{Data: []byte(part)})
			}
		}
		job.Step = append(job.Step, xtermStep{Check: true})
		jobs = append(jobs, job)
	}
	differences(t, jobs)
}

// resized stands before "COLSxROWS " in an input.
const resized = "\x00resize "

// xtermJSDifferences are the fixtures and cases where xterm.js differs, with
// the reason; docs/screen.md says more.
var xtermJSDifferences = map[string]string{
	"t0055-EL":     "erasing to the right ends a pending wrap, as in xterm",
	"t0084-CBT":    "a pending wrap survives CBT, as in xterm",
	"invalid utf8": "a broken character is shown as U+FFFD",
}

// xtermJSOnPurpose are inputs that show the differences on purpose.
var xtermJSOnPurpose = []struct{ name, input string }{
	{"erasing to the right behind the last column", "0123456789ABCDEFGHIJ\x1b[K"},
	{"CBT behind the last column", "0123456789ABCDEFGHIJ\x1b[Z"},
	{"broken UTF-8", "a\xffb"},
	{"national character sets", "\x1b(K[x"},
	{"CPR behind the last column", "0123456789ABCDEFGHIJ\x1b[6n"},
	{"left-right margins", "\x1b[?69h\x1b[3;6sabcdefghij"},
	{"DECSC saves origin mode", "\x1b7\x1b[?6h\x1b[2;4r\x1b8\x1b[1;1Hx"},
	{"DECSC saves a place on the screen", "\x1b[3;1H\x1b7\x1b[5;1H\n\n\x1b8x"},
	{"tab stops are the terminal's", "\x1b[3g\x1b[?1049h\tx"},
	{"inserting within a wide character", "ab日cd\x1b[4G\x1b[3@"},
	{"UTF-8 ends a sequence and is printed", "\x1b[3日x"},
	{"relative moves in origin mode", "\x1b[2;4r\x1b[?6h\x1b[3;1H\x1b[1Ax"},
	{"DECSC saves the underline's style", "\x1b[4:3m\x1b7\x1b[m\x1b8x"},
	{"DECSC saves the shift", "\x1b7\x0e\x1b8\x1b(0q"},
	{"columns cut from the alternate screen", "\x1b[?1049h0123456789ABCDEFGHIJ" + resized + "10x5 " + resized + "20x5 "},
	{"wide character cut by a resize", "\x1b[?1049habcd日" + resized + "5x5 "},
	{"resize with text below the cursor", "1\r\n2\r\n3\r\n4\r\n5\x1b[3;1H" + resized + "20x2 "},
	{"resize of the line with the cursor", "0123456789abc" + resized + "10x5 "},
	{"wide character cut without autowrap", "\x1b[?7l\x1b[19G日x"},
	{"DECALN resets the margins", "\x1b[2;3r\x1b#8\x1b[5;1H\nx"},
}

// TestWidthsOfThePage: the width table is that of the add-on which the page
// loads, and the oracle is the page's emulator without a browser (P2.1).
func TestWidthsOfThePage(t *testing.T) {
	t.Parallel()
	cmd := xtermHeadless(t)
	cmd.Args[1] = "testdata/xterm-headless/widths.mjs"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != string(readFile(t, "testdata/xterm-headless/widths.txt")) {
		t.Error("the page's add-on has other widths: write testdata/xterm-headless/widths.txt anew, then -run WidthTable -update")
	}
	var page struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal(readFile(t, "../web/package.json"), &page); err != nil {
		t.Fatal(err)
	}
	if here, there := page.DevDependencies["@xterm/headless"], page.Dependencies["@xterm/xterm"]; here != there {
		t.Errorf("the oracle is %s, the page has %s", here, there)
	}
}
