package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/term"

	"davit"
	"davit/internal/client"
	"davit/internal/pane"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// How a pane is served, over the real API, with real programs (spec terminal P3).
func TestServing(t *testing.T) {
	s := newScene(t)
	s.env = append(s.env, "HOST_ONLY=secret")
	s.up()
	for _, story := range []struct {
		name string
		run  func(*scene, *testing.T)
	}{
		{"flow control", flowControl}, {"a reader too far behind", readerTooFarBehind}, {"size", sizeOwners}, {"earlier lines", earlierLines},
		{"input", inputInOrder}, {"refused input", refusedInput}, {"on exit", onExit}, {"environment", environment},
	} {
		t.Run(story.name, func(t *testing.T) {
			here := *s
			here.t = t
			story.run(&here, t)
		})
	}
	s.down()
}

// open opens a tab with a program and gives its pane.
func (s *scene) open(argv ...string) davit.PaneID {
	s.t.Helper()
	var opened wire.Opened
	if err := s.client.Call(s.t.Context(), "tab.open", wire.TabOpen{Directory: s.dir, Argv: argv}, &opened); err != nil {
		s.t.Fatal(err)
	}
	return opened.Panes[0]
}

func (s *scene) pane(id davit.PaneID) (davit.Pane, bool) {
	s.t.Helper()
	var list wire.PaneList
	if err := s.client.Call(s.t.Context(), "pane.list", wire.None{}, &list); err != nil {
		s.t.Fatal(err)
	}
	i := slices.IndexFunc(list.Panes, func(p davit.Pane) bool { return p.ID == id })
	if i < 0 {
		return davit.Pane{}, false
	}
	return list.Panes[i], true
}

func (s *scene) stream(id davit.PaneID, name string, cols, rows int) *client.Stream {
	s.t.Helper()
	conn, err := s.client.Attach(s.t.Context(), name, id, nil, cols, rows)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A client that acknowledges nothing gets 512 KiB, and a snapshot when it is ready again;
// the program and another client are not slowed by it (spec terminal P3.2).
func flowControl(s *scene, t *testing.T) {
	size := 12 << 20
	if raceDetector { // everything takes several times as long
		size = 4 << 20
	}
	run := func(stalled bool) (took time.Duration) {
		id := s.open("/bin/sh", "-c", fmt.Sprintf("stty raw; read x; yes 0123456789abcdef0123456789abcdef | head -c %d; echo over; read x", size))
		fast := s.stream(id, "fast", 0, 0)
		var slow *client.Stream
		if stalled {
			slow = s.stream(id, "slow", 0, 0)
			if frame, err := slow.Next(t.Context()); err != nil || !frame.Snapshot {
				t.Fatalf("the first frame is %+v, %v", frame, err)
			}
		}
		if frame, err := fast.Next(t.Context()); err != nil || !frame.Snapshot {
			t.Fatalf("the first frame is %+v, %v", frame, err)
		}
		begun := time.Now()
		if err := fast.Input(t.Context(), "go-"+string(id), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		var last davit.Pane
		for seen, snapshots := uint64(0), 0; seen < uint64(size); {
			frame, err := fast.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if frame.Snapshot {
				snapshots++
			}
			seen = frame.To
			if err := fast.Ack(t.Context(), frame.To); err != nil {
				t.Fatal(err)
			}
		}
		took = time.Since(begun)
		if !stalled {
			return took
		}
		got, offset := 0, uint64(0)
		for {
			short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			frame, err := slow.Next(short)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			if err != nil || frame.Snapshot {
				t.Fatalf("a client that is not ready got a snapshot of %d, or %v", frame.To, err)
			}
			got, offset = got+int(frame.To-frame.From), frame.To
		}
		if got == 0 || got > pane.Window {
			t.Errorf("%d bytes went to a client that acknowledged nothing, at most %d may", got, pane.Window)
		}
		if err := slow.Ack(t.Context(), offset); err != nil {
			t.Fatal(err)
		}
		frame, err := slow.Next(t.Context())
		if err != nil || !frame.Snapshot || frame.To < uint64(size) || !bytes.Contains(frame.Data, []byte("over")) {
			t.Errorf("when it is ready again it gets %v of %d, %v", frame.Snapshot, frame.To, err)
		}
		if last, _ = s.pane(id); last.Status != davit.PaneRunning {
			t.Errorf("the program is %s", last.Status)
		}
		return took
	}
	alone := min(run(false), run(false))
	beside := min(run(true), run(true))
	t.Logf("%d MiB take %s alone, %s beside one that does not read", size>>20, alone, beside)
	if beside > 3*alone+time.Second { // it would be for ever
		t.Errorf("%s beside a client that does not read, %s alone", beside, alone)
	}
}

// 64 MiB are kept for a reader of every byte; what is further behind is told as a gap, and
// the reading ended (spec terminal P3.2).
func readerTooFarBehind(s *scene, t *testing.T) {
	for _, c := range []struct {
		size int
		ends davit.Code
	}{{16 << 20, ""}, {80 << 20, davit.CodeOutputGap}} {
		if raceDetector && c.ends == "" {
			continue // takes long, and nothing is told that the other case does not tell
		}
		id := s.open("/bin/sh", "-c", fmt.Sprintf("stty raw; echo ready; read x; yes 0123456789abcdef0123456789abcdef | head -c %d; read x", c.size))
		out, err := s.client.Output(t.Context(), id, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		typed := func() {
			if err := s.client.Call(t.Context(), "pane.write", wire.PaneWrite{Pane: id, Text: "\n"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		typed()
		if _, err := io.ReadFull(out, first); err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, 5*patience, func() (bool, string) {
			p, _ := s.pane(id)
			return p.Offset >= uint64(c.size), fmt.Sprintf("%d of %d are printed", p.Offset, c.size)
		})
		typed()
		n, err := io.Copy(io.Discard, out)
		if err != nil || c.ends == "" && n+1 < int64(c.size) {
			t.Errorf("of %d MiB %d bytes came, %v", c.size>>20, n, err)
		}
		if _, code := out.Trailer(); code != c.ends {
			t.Errorf("%d MiB behind, the reading ended with %q, not %q", c.size>>20, code, c.ends)
		}
		out.Close()
	}
}

// One client owns the size: the last that typed or asked. Its leaving gives it to the next,
// viewers change nothing, 20×5 is the least, and with nobody there the last size stays
// (spec terminal P3.4).
func sizeOwners(s *scene, t *testing.T) {
	id := s.open("/bin/cat")
	sees := func(when string, cols, rows int) {
		t.Helper()
		testenv.Eventually(t, patience, func() (bool, string) {
			p, _ := s.pane(id)
			return p.Cols == cols && p.Rows == rows, fmt.Sprintf("%s: %d×%d, not %d×%d", when, p.Cols, p.Rows, cols, rows)
		})
	}
	sees("nobody was there yet", 120, 40)
	desk := s.stream(id, "desk", 200, 50)
	sees("the desk asks", 200, 50)
	phone := s.stream(id, "phone", 45, 30)
	sees("the phone asks", 45, 30)
	viewer := s.stream(id, "viewer", 0, 0)
	if err := viewer.Input(t.Context(), "v-1", []byte("viewed\n")); err != nil {
		t.Fatal(err)
	}
	sees("a viewer types", 45, 30)
	if err := desk.Input(t.Context(), "d-1", []byte("desk\n")); err != nil {
		t.Fatal(err)
	}
	sees("the desk types", 200, 50)
	if err := phone.Resize(t.Context(), 3, 2); err != nil {
		t.Fatal(err)
	}
	sees("the phone asks for too little", 20, 5)
	_ = viewer.Close()
	sees("the viewer leaves", 20, 5)
	_ = phone.Close()
	sees("the phone leaves", 200, 50)
	_ = desk.Close()
	again := s.stream(id, "again", 0, 0)
	if frame, err := again.Next(t.Context()); err != nil || frame.Cols != 200 || frame.Rows != 50 {
		t.Errorf("nobody is there: %d×%d, %v", frame.Cols, frame.Rows, err)
	}
}

// A snapshot holds as many lines above the screen as are asked for (spec terminal P3.3).
func earlierLines(s *scene, t *testing.T) {
	const printed = 3000
	id := s.open("/bin/sh", "-c", fmt.Sprintf("seq 1 %d; exec cat", printed))
	if err := s.client.Call(t.Context(), "pane.wait", wire.PaneWait{Pane: id, For: "text", Text: strconv.Itoa(printed)}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lines, most int }{{0, 40}, {100, 140}, {5000, printed}} {
		var text wire.PaneText
		if err := s.client.Call(t.Context(), "pane.read", wire.PaneRead{Pane: id, Scrollback: c.lines}, &text); err != nil {
			t.Fatal(err)
		}
		shown := trim(text.Rows)
		for i, row := range shown {
			if want := strconv.Itoa(printed - len(shown) + 1 + i); row != want {
				t.Fatalf("%d lines were asked for: row %d is %q, not %q", c.lines, i, row, want)
			}
		}
		if len(shown) > c.most || len(shown) < c.most-1 {
			t.Errorf("%d rows came, %d lines above the screen were asked for", len(shown), c.lines)
		}
	}
}

// What one client types comes in its order, each once, whatever others type between; written
// means that the terminal has it (spec terminal P3.5).
func inputInOrder(s *scene, t *testing.T) {
	const clients, each = 4, 100
	got := filepath.Join(s.dir, "got")
	id := s.open(filepath.Join(filepath.Dir(s.printer), "keeper-of-lines"), got)
	if err := s.client.Call(t.Context(), "pane.wait", wire.PaneWait{Pane: id, For: "text", Text: "ready"}, nil); err != nil {
		t.Fatal(err)
	}
	var typing sync.WaitGroup
	for c := range clients {
		conn := s.stream(id, fmt.Sprint("typist-", c), 0, 0)
		typing.Go(func() {
			for n := range each {
				if err := conn.Input(t.Context(), fmt.Sprintf("%d-%d", c, n), fmt.Appendf(nil, "%d %d\r", c, n)); err != nil {
					t.Errorf("client %d, input %d: %v", c, n, err)
					return
				}
			}
		})
	}
	typing.Wait()
	if err := s.client.Call(t.Context(), "pane.write", wire.PaneWrite{Pane: id, Text: "end\r"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Call(t.Context(), "pane.wait", wire.PaneWait{Pane: id, For: "exit"}, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\r"), "\r")
	var next [clients]int
	for _, line := range lines[:len(lines)-1] {
		var c, n int
		if _, err := fmt.Sscanf(line, "%d %d", &c, &n); err != nil || c >= clients || n != next[c] {
			t.Fatalf("the program read %q, when %v were to come", line, next)
		}
		next[c]++
	}
	if next != [clients]int{each, each, each, each} || lines[len(lines)-1] != "end" {
		t.Errorf("the program read %v and %q", next, lines[len(lines)-1])
	}
}

// lineKeeper writes what it is typed into a file, in raw mode, until a line says "end".
func lineKeeper(args []string) int {
	file, err := os.Create(args[0])
	if err != nil {
		return 125
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 125
	}
	fmt.Print("ready")
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadString('\r')
		if err != nil {
			return 124
		}
		if _, err := file.WriteString(line); err != nil {
			return 124
		}
		if line == "end\r" {
			return 0
		}
	}
}

// A line that the kernel would cut is refused, a paste is framed as the program asked, and
// what is typed into a program that has ended is refused (spec terminal P3.5).
func refusedInput(s *scene, t *testing.T) {
	id := s.open("/bin/sh", "-c", `echo ready; read a; stty raw -echo; printf '\033[?2004hraw'; dd bs=1 count=5000 2>/dev/null | wc -c; dd bs=1 count=18 2>/dev/null | od -An -c; exit 3`)
	wait := func(what, text string) {
		t.Helper()
		if err := s.client.Call(t.Context(), "pane.wait", wire.PaneWait{Pane: id, For: what, Text: text}, nil); err != nil {
			t.Fatal(err)
		}
	}
	write := func(w wire.PaneWrite) error {
		w.Pane = id
		return s.client.Call(t.Context(), "pane.write", w, nil)
	}
	wait("text", "ready")
	long := strings.Repeat("x", pane.MaxCanonicalLine+1)
	if err := write(wire.PaneWrite{Text: long}); davit.CodeOf(err) != davit.CodePaneLineTooLong {
		t.Errorf("a line that the kernel would cut: %v", err)
	}
	if err := write(wire.PaneWrite{Text: "short", Enter: true}); err != nil {
		t.Error(err)
	}
	wait("text", "raw")
	if err := write(wire.PaneWrite{Text: strings.Repeat("y", 5000)}); err != nil {
		t.Errorf("a long line to a terminal that is raw: %v", err)
	}
	wait("text", "5000")
	if err := write(wire.PaneWrite{Text: "a\nb\x1bc", Paste: true}); err != nil {
		t.Error(err)
	}
	wait("exit", "")
	var text wire.PaneText
	if err := s.client.Call(t.Context(), "pane.read", wire.PaneRead{Pane: id}, &text); err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(strings.Fields(strings.Join(text.Rows, " ")), " ")
	if want := `033 [ 2 0 0 ~ a \r b 342 220 233 c 033 [ 2 0 1`; !strings.Contains(shown, want) {
		t.Errorf("the paste came as\n%s\nnot %s", shown, want)
	}
	if err := write(wire.PaneWrite{Text: "x"}); davit.CodeOf(err) != davit.CodePaneEnded {
		t.Errorf("typing into a program that has ended: %v", err)
	}
}

// A shell's pane closes when it exits with 0, and else stays with its status; the config may
// have it stay (spec terminal P3.6).
func onExit(s *scene, t *testing.T) {
	config := filepath.Join(s.dir, "stays.toml")
	if err := os.WriteFile(config, []byte("name = \"stays\"\n[[panes]]\nid = \"one\"\ntype = \"terminal\"\ncommands = [\"exit 0\"]\non_exit = \"keep\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var configured wire.Opened
	if err := s.client.Call(t.Context(), "config.open", wire.OpenRequest{Config: config, Named: true, Dir: s.dir}, &configured); err != nil {
		t.Fatal(err)
	}
	well, badly := s.open("/bin/sh", "-c", "exit 0"), s.open("/bin/sh", "-c", "exit 3")
	testenv.Eventually(t, patience, func() (bool, string) {
		_, there := s.pane(well)
		return !there, "a shell that ended well is still there"
	})
	for id, status := range map[davit.PaneID]int{badly: 3, configured.Panes[0]: 0} {
		testenv.Eventually(t, patience, func() (bool, string) {
			p, there := s.pane(id)
			return there && p.Exit != nil && p.Exit.Code == status, fmt.Sprintf("%s: %v, %+v", id, there, p.Exit)
		})
	}
}

// A program has the login shell's environment, the last caller's sockets and its pane's
// name; nothing else of the host's (spec terminal P3.7).
func environment(s *scene, t *testing.T) {
	caller := client.New(client.Config{Socket: s.socket, Caller: wire.Caller{Dir: s.dir, Env: map[string]string{
		"SSH_AUTH_SOCK": "/run/agent.of.caller", "DISPLAY": ":7", "OTHER": "not taken",
	}}})
	out := filepath.Join(s.dir, "env")
	var opened wire.Opened
	req := wire.TabOpen{Directory: s.dir, Argv: []string{"/bin/sh", "-c", "env > " + out + ".new && mv " + out + ".new " + out + "; exec cat"}}
	if err := caller.Call(t.Context(), "tab.open", req, &opened); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	testenv.Eventually(t, patience, func() (bool, string) {
		text, err := os.ReadFile(out)
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			env[key] = value
		}
		return err == nil, fmt.Sprint(err)
	})
	for key, want := range map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "davit", "DAVIT_PANE": string(opened.Panes[0]), "DAVIT_SOCKET": s.socket,
		"SSH_AUTH_SOCK": "/run/agent.of.caller", "DISPLAY": ":7", "HOME": s.dir, "OTHER": "", "HOST_ONLY": "", "DAVIT_HOME": "",
	} {
		if env[key] != want {
			t.Errorf("%s=%q, not %q", key, env[key], want)
		}
	}
	if env["TERM_PROGRAM_VERSION"] == "" {
		t.Error("no TERM_PROGRAM_VERSION")
	}
	s.checkCallers(t)
}

// checkCallers: the next caller's sockets are those of the next program.
func (s *scene) checkCallers(t *testing.T) {
	next := client.New(client.Config{Socket: s.socket, Caller: wire.Caller{Dir: s.dir, Env: map[string]string{"SSH_AUTH_SOCK": "/run/agent.of.next"}}})
	if err := next.Call(t.Context(), "host.info", wire.None{}, nil); err != nil {
		t.Fatal(err)
	}
	id := s.open("/bin/sh", "-c", "echo sock=$SSH_AUTH_SOCK; exec cat")
	if err := s.client.Call(t.Context(), "pane.wait", wire.PaneWait{Pane: id, For: "text", Text: "sock=/run/agent.of.next"}, nil); err != nil {
		var text wire.PaneText
		_ = s.client.Call(t.Context(), "pane.read", wire.PaneRead{Pane: id}, &text)
		t.Errorf("%v: %s", err, strings.Join(trim(text.Rows), " "))
	}
}
