package screen

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"davit/internal/testenv"

	"github.com/creack/pty"
)

var record = flag.Bool("record", false, "record the programs that are tested from recordings")

// program is a real program and what a user does with it.
type program struct {
	name     string
	argv     []string
	does     []act
	status   int  // that it ends with
	recorded bool // tested from testdata/programs, recorded once with -record
}

// act waits until the screen shows a text, then types keys or resizes.
type act struct {
	shows string
	keys  string
	size  [2]int
}

var programs = []program{
	{name: "vim", argv: []string{"vim", "-u", "NONE", "-i", "NONE", "-n", "-N", "--cmd", "set nocp ru nu hls sw=4 laststatus=2 t_RV= | syntax on", "code.c"}, does: []act{
		{shows: "include", keys: "G"}, {shows: "return 0", keys: "ggO/* 日本語 👍🏽 e\u0301 */\x1b"}, {shows: "日本語", keys: ":vsplit\r"},
		{shows: "2 ", keys: "\x06\x06\x02"}, {keys: "/printf\rn"}, {shows: "printf", keys: "Vjj>"}, {keys: ":%s/value/content/g\r"}, {shows: "content", keys: "u"},
		{size: [2]int{90, 24}, keys: "\x0c"}, {shows: "code.c", keys: ":set list wrap linebreak\r"}, {shows: "$", keys: "10dd"}, {keys: "\x0c:echo 'all '.'done'\r"}, {shows: "all done", keys: ":qa!\r"},
	}},
	{name: "less", argv: []string{"less", "-R", "-N", "colours.txt"}, does: []act{
		{shows: "colours.txt", keys: " "}, {shows: "line 60", keys: "b"}, {keys: "/line 77\r"}, {shows: "line 77", keys: "-S\r"}, {keys: "\x1b)\x1b("},
		{keys: "G"}, {shows: "(END)", keys: "50%kkkjj"}, {size: [2]int{70, 20}}, {keys: "g"}, {shows: "line 1 ", keys: "q"},
	}},
	{name: "htop", argv: []string{"htop", "-d", "3"}, does: []act{
		{shows: "F10", keys: "t"}, {shows: "Tree", keys: "\x1b[B\x1b[B\x1b[B"}, {keys: "P"}, {size: [2]int{80, 24}}, {shows: "CPU", keys: "\x1bOQ"}, {shows: "Setup", keys: "\x1b[B\x1b[B\x1b[21~"}, {shows: "F10", keys: "q"},
	}},
	{name: "tmux", argv: []string{"tmux", "-S", "socket", "-f", "tmux.conf", "new-session", "sh"}, status: 1, does: []act{
		{shows: "[0]", keys: "cat colours.txt\r"}, {shows: "line 120", keys: "\x02%"}, {shows: "│", keys: "printf '\\033[4:3mcurly\\033[m 日本語 \\033[7mx\\033[m\\n'; seq 200\r"}, {shows: "200", keys: "\x02\""},
		{keys: "cat wide.txt; tmux resize-pane -U 5\r"}, {shows: "👩", keys: "tmux copy-mode; tmux send-keys -X page-up; tmux send-keys -X cancel; echo ab''cd\r"}, {shows: "abcd", size: [2]int{100, 30}},
		{keys: "\x02c"}, {shows: "1:sh*", keys: "tmux kill-server\r"},
	}},
	{name: "fish", argv: []string{"fish", "--no-config"}, does: []act{
		{shows: "~", keys: "echo ab'cd' 日本"}, {shows: "日本", keys: "\x01\x05\r"}, {shows: "abcd", keys: "ls co\t"}, {shows: "code.c", keys: "\x03"}, {keys: "for i in 1 2 3\recho line$i | string upper\rend\r"},
		{shows: "LINE3", keys: "cat colours.txt wide.txt\r"}, {shows: "👩", keys: "ec"}, {keys: "\x1b[C"}, {keys: "\x15"}, {keys: "exit\r"},
	}},
	{name: "mc", argv: []string{"mc", "-u", "-d"}, recorded: true, does: []act{
		{shows: "10Quit", keys: "\x1bOB\x1bOB"}, {keys: "\t\x1bOB"}, {keys: "\x1b7"}, {shows: "Create", keys: "日本\r"}, {shows: "/日本", keys: "\x1b9"},
		{size: [2]int{100, 30}}, {keys: "\r"}, {shows: "Filter", keys: "\x1bOC"}, {keys: "\x1b\x1b"}, {keys: "\x1b0"},
	}},
}

// programFiles are what the programs work with.
func programFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var colours, code strings.Builder
	for i := range 120 {
		colours.WriteString("\x1b[3" + string(rune('0'+i%8)) + ";1mline " + strconv.Itoa(i+1) + " \x1b[0;48;5;" + strconv.Itoa(100+i) + "m some text\x1b[m with \x1b[38;2;200;" + strconv.Itoa(i) + ";9mtrue colours\x1b[0m that goes on until it is wider than most terminals are, and then some more\n")
	}
	code.WriteString("#include <stdio.h>\n\nint main(void)\n{\n")
	for i := range 60 {
		code.WriteString("\tint value" + strconv.Itoa(i) + " = " + strconv.Itoa(i*7) + "; /* a comment */ printf(\"%d\\n\", value" + strconv.Itoa(i) + ");\n")
	}
	code.WriteString("\treturn 0;\n}\n")
	for name, text := range map[string]string{
		"colours.txt": colours.String(), "code.c": code.String(),
		"tmux.conf": "set -g assume-paste-time 0\nset -g escape-time 0\n",
		"wide.txt":  "日本語のテキスト 한국어 e\u0301 ❤\ufe0f 👩\u200d👩\u200d👧 🇩🇪 end\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// play runs the program in a PTY with a Screen as its terminal and gives all
// that it printed, with a check wherever it was waited for.
func (p program) play(t *testing.T) []xtermStep {
	t.Helper()
	testenv.Require(t, p.argv[0])
	dir := programFiles(t)
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "PS1=$ ", "TMPDIR=" + dir}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.name == "tmux" && t.Failed() { // its server would stay
			end := exec.Command("tmux", "-S", "socket", "kill-server")
			end.Dir = dir
			t.Logf("kill-server: %v", end.Run())
		}
		cmd.Process.Kill() //nolint:errcheck // it has ended, or must
		tty.Close()        //nolint:errcheck // nothing is written any more
	})
	out := make(chan []byte, 64)
	go func() {
		defer close(out)
		for {
			p := make([]byte, 4096)
			n, err := tty.Read(p)
			if n > 0 {
				out <- p[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	s := New(120, 40, Options{})
	var steps []xtermStep
	take := func(data []byte) {
		for _, r := range s.Write(data).Replies {
			tty.Write(r.Data) //nolint:errcheck // a program that has ended asks no more
		}
		steps = append(steps, xtermStep{Data: data})
	}
	deadline := time.After(20 * time.Second)
	// until reads on until done holds and nothing came for a moment.
	until := func(what string, done func() bool) bool {
		quiet := time.NewTimer(time.Hour)
		for {
			if done() {
				quiet.Reset(30 * time.Millisecond)
			}
			select {
			case data, more := <-out:
				if !more {
					return false
				}
				take(data)
			case <-quiet.C:
				return true
			case <-deadline:
				t.Fatalf("%s does not show %q:\n%s", p.name, what, strings.Join(s.Text(), "\n"))
			}
		}
	}
	for _, act := range p.does {
		until(act.shows, func() bool { return strings.Contains(strings.Join(s.Text(), "\n"), act.shows) })
		steps = append(steps, xtermStep{Check: true})
		if size := act.size; size[0] > 0 {
			steps = append(steps, xtermStep{Resize: &size})
			s.Resize(size[0], size[1])
			if err := pty.Setsize(tty, &pty.Winsize{Cols: uint16(size[0]), Rows: uint16(size[1])}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tty.WriteString(act.keys); err != nil {
			t.Fatal(err)
		}
	}
	if until("its end", func() bool { return false }) {
		t.Fatal("unreachable")
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != p.status {
		t.Errorf("%s: %v", p.name, err)
	}
	return append(steps, xtermStep{Check: true})
}

// TestProgramsAgree: real programs, used for a while at a real PTY, show the
// same here and in the browser's emulator (spec terminal P2.4).
func TestProgramsAgree(t *testing.T) {
	t.Parallel()
	played := make([][]xtermStep, len(programs))
	t.Run("play", func(t *testing.T) {
		for i, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				played[i] = p.steps(t)
			})
		}
	})
	var jobs []xtermJob
	for i, p := range programs {
		job := xtermJob{name: p.name, Cols: 120, Rows: 40, Step: played[i]}
		for _, step := range job.Step {
			if step.Resize != nil {
				// A main screen that was resized differs, see docs/screen.md.
				job.skip |= skipScrollback | skipWraps | skipReplies
			}
		}
		if len(job.Step) > 0 { // else it was skipped
			jobs = append(jobs, job)
		}
	}
	differences(t, append(jobs, snapshotsOf(jobs)...))
}

// steps are what the program printed, now or when it was recorded.
func (p program) steps(t *testing.T) []xtermStep {
	path := filepath.Join("testdata/programs", p.name+".json")
	if p.recorded && !*record {
		var steps []xtermStep
		if err := json.Unmarshal(readFile(t, path), &steps); err != nil {
			t.Fatal(err)
		}
		return steps
	}
	steps := p.play(t)
	if p.recorded {
		data, err := json.MarshalIndent(steps, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return steps
}
