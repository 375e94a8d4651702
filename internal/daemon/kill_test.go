package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"davit"
	"davit/internal/client"
	"davit/internal/home"
	"davit/internal/testenv"
	"davit/internal/wire"
	"davit/screen"
)

const (
	cols, rows = 100, 30
	patience   = time.Minute // for anything that has to come; everything is much quicker
)

// kills is how often the host is killed: DAVIT_KILLS, or a number that fits a test run.
func kills(t *testing.T) int {
	if text := os.Getenv("DAVIT_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DAVIT_KILLS=%q is not a number of kills", text)
		}
		return n
	}
	if testing.Short() {
		return 5
	}
	if raceDetector { // everything takes several times as long
		return 20
	}
	return 50
}

// TestKilledHost: panes print numbered lines at full speed while the host is killed with
// SIGKILL again and again at random moments, its start included. No line is lost, doubled
// or out of order for those who read every byte; an attached client ends on the same
// screen; every exit status is kept; no process is left (spec terminal P1.1, P6).
// Nothing here interrupts a program: a ^C makes the kernel drop what it holds.
func TestKilledHost(t *testing.T) {
	s := newScene(t)
	s.up()
	var panes []*printing
	for i, mode := range []string{"ask", "slow", "plain", "plain", "plain", "mute"} {
		panes = append(panes, s.print(fmt.Sprintf("p%d", i), 40+i, mode))
	}
	attached := s.attach(panes[0].id)
	for _, p := range panes {
		enough := int64(1 << 16)
		if p.mode == "mute" {
			enough = 1
		}
		testenv.Eventually(t, patience, func() (bool, string) { return p.taken.Load() >= enough, p.name + " does not print" })
	}

	total := kills(t)
	for i := range total {
		if i%3 == 0 {
			s.letLive(s.began, 2*s.usual)
			s.countEarly()
		} else {
			s.await()
			s.letLive(time.Now(), 300*time.Millisecond)
		}
		s.kill()
		switch i { // three programs end while nobody is there, at different times
		case total / 3:
			panes[5].stop(t)
		case total / 2:
			panes[4].stop(t)
		case total * 2 / 3:
			panes[3].stop(t)
		}
		s.start()
	}
	s.await()
	for _, p := range panes {
		p.stop(t)
	}
	for _, p := range panes[1:] {
		p.checkEnd(s)
	}
	attached.checkSame(s, panes[0])
	attached.typeLine("bye")
	panes[0].suffix.Store("bye\r\n" + panes[0].name + " got bye\r\n")
	panes[0].checkEnd(s)
	attached.checkEnd(panes[0].status)
	var read int64
	for _, p := range panes {
		read += p.taken.Load()
	}
	t.Logf("%d kills, %d of them before the host answered; %d MB read", total, s.early, read>>20)
	s.down()
}

// scene is one home with its host.
type scene struct {
	t              *testing.T
	davit, printer string
	dir            string
	env            []string
	client         *client.Client
	socket         string
	rand           *rand.Rand
	host           *exec.Cmd
	began          time.Time
	usual          time.Duration // how long a start takes here
	early          int           // kills of a host that did not answer yet
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir()}
	s.davit, s.printer = programs(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s.rand = rand.New(rand.NewPCG(seed, 1))
	root := filepath.Join(s.dir, "home")
	s.env = []string{"DAVIT_HOME=" + root, "HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=xterm-256color", "TMPDIR=" + os.TempDir()}
	h, err := home.Find(func(name string) string {
		if name == "DAVIT_HOME" {
			return root
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Make(); err != nil {
		t.Fatal(err)
	}
	socket, err := h.Socket()
	if err != nil {
		t.Fatal(err)
	}
	s.socket = socket
	s.client = client.New(client.Config{Socket: socket, Caller: wire.Caller{Dir: s.dir}})
	t.Cleanup(func() {
		_ = s.command("down", "--all").Run()
		if s.host != nil {
			_ = s.host.Process.Kill()
			_ = s.host.Wait()
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.dir, "host.log"))
			t.Logf("the hosts' log ends:\n%s", log[max(0, len(log)-8<<10):])
		}
	})
	return s
}

func (s *scene) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.davit, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// start starts a host as a child and does not wait for it.
func (s *scene) start() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "host.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.host = s.command("up", "--listen", "127.0.0.1:0")
	s.host.Stdout, s.host.Stderr = log, log
	if err := s.host.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.began = time.Now()
}

// await waits until the host answers.
func (s *scene) await() {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) {
		var info wire.HostInfo
		err := s.client.Call(s.t.Context(), "host.info", wire.None{}, &info)
		return err == nil && info.Pid == s.host.Process.Pid, fmt.Sprint("the host does not answer: ", err)
	})
}

func (s *scene) up() {
	s.t.Helper()
	s.start()
	s.await()
	s.usual = time.Since(s.began)
}

// letLive waits for a random time.
func (s *scene) letLive(from time.Time, most time.Duration) {
	life := time.Duration(s.rand.Int64N(int64(most)))
	select {
	case <-time.After(time.Until(from.Add(life))):
	case <-s.t.Context().Done():
	}
}

// countEarly notes whether the host does not answer yet.
func (s *scene) countEarly() {
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Millisecond)
	defer cancel()
	if s.client.Call(ctx, "host.info", wire.None{}, nil) != nil {
		s.early++
	}
}

// kill ends the host as a crash would.
func (s *scene) kill() {
	s.t.Helper()
	_ = s.host.Process.Kill()
	err := s.host.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		s.t.Fatalf("the host ended by itself: %v", err)
	}
}

// down ends everything; no process of the home is left.
func (s *scene) down() {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.host.Wait() }()
	if out, err := s.command("down", "--all").CombinedOutput(); err != nil {
		s.t.Fatalf("down --all: %v\n%s", err, out)
	}
	if err := <-ended; err != nil {
		s.t.Errorf("the host's end: %v", err)
	}
	s.host = nil
	testenv.Eventually(s.t, patience, func() (bool, string) {
		left := s.processes()
		return len(left) == 0, fmt.Sprint("processes are left: ", left)
	})
}

// processes are those that have this home in their environment.
func (s *scene) processes() []string {
	var left []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte(s.dir)) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		left = append(left, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(args), "\x00", " "))
	}
	return left
}

// printing is a pane with a printer, and one who reads every byte of it.
type printing struct {
	t        *testing.T
	name     string
	mode     string
	status   int
	id       davit.PaneID
	stopFile string
	taken    atomic.Int64
	suffix   atomic.Value // string: what comes after the last line
	done     chan struct{}
	fault    error // of the reader; after done
	stopOnce sync.Once
}

func (s *scene) print(name string, status int, mode string) *printing {
	s.t.Helper()
	p := &printing{t: s.t, name: name, mode: mode, status: status, stopFile: filepath.Join(s.dir, name+".stop"), done: make(chan struct{})}
	p.suffix.Store("")
	progress := filepath.Join(s.dir, name+".progress")
	var opened wire.Opened
	req := wire.TabOpen{Directory: s.dir, Argv: []string{s.printer, name, progress, p.stopFile, strconv.Itoa(status), mode}, Cols: cols, Rows: rows}
	if err := s.client.Call(s.t.Context(), "tab.open", req, &opened); err != nil {
		s.t.Fatal(err)
	}
	p.id = opened.Panes[0]
	cmd := s.command("pane", "read", "--follow", string(p.id))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); <-p.done })
	go func() {
		defer close(p.done)
		p.fault = p.check(out, progress)
		if p.fault != nil { // a reader that is not read from any more would wait for ever
			_ = cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && p.fault == nil {
			p.fault = fmt.Errorf("davit pane read: %w: %s", err, complaints.String())
		} else if p.fault != nil {
			p.fault = fmt.Errorf("%w; davit pane read says %q", p.fault, complaints.String())
		}
	}()
	return p
}

func (p *printing) stop(t *testing.T) {
	p.stopOnce.Do(func() {
		if err := os.WriteFile(p.stopFile, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
}

// check reads all output and compares it with what the printer printed, byte by byte.
func (p *printing) check(out io.Reader, progress string) error {
	told, err := os.Create(progress)
	if err != nil {
		return err
	}
	defer told.Close()
	r := bufio.NewReaderSize(out, 256<<10)
	var want, number []byte
	var mb int64
	for n := 0; ; n++ {
		got, err := r.ReadSlice('\n')
		p.taken.Add(int64(len(got)))
		if n%256 == 0 {
			number = binary.BigEndian.AppendUint64(number[:0], uint64(p.taken.Load()))
			if _, err := told.WriteAt(number, 0); err != nil {
				return err
			}
			if p.mode == "slow" && p.taken.Load()>>20 != mb { // its reader is always far behind
				mb = p.taken.Load() >> 20
				time.Sleep(50 * time.Millisecond)
			}
		}
		want = line(want[:0], p.name, n)
		want = append(want[:len(want)-1], "\r\n"...)
		if err == nil && bytes.Equal(got, want) {
			continue
		}
		if end := strings.ReplaceAll(last(p.name, n), "\n", "\r\n"); err != nil || string(got) != end {
			return fmt.Errorf("%s: line %d at byte %d is %q, not %q (%v)", p.name, n, p.taken.Load()-int64(len(got)), got, want, err)
		}
		rest, err := io.ReadAll(r)
		p.taken.Add(int64(len(rest)))
		if suffix := p.suffix.Load().(string); err == nil && string(rest) != suffix {
			err = fmt.Errorf("%s: after the last line came %q, not %q", p.name, rest, suffix)
		}
		return err
	}
}

// checkEnd: the reader has had everything, and the status is known.
func (p *printing) checkEnd(s *scene) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%s: its reader does not end; it has %d bytes", p.name, p.taken.Load())
	}
	if p.fault != nil {
		p.t.Error(p.fault)
	}
	testenv.Eventually(p.t, patience, func() (bool, string) {
		var list wire.PaneList
		err := s.client.Call(p.t.Context(), "pane.list", wire.None{}, &list)
		for _, v := range list.Panes {
			if v.ID == p.id && v.Exit != nil {
				return v.Exit.Code == p.status && v.Exit.Signal == "", fmt.Sprintf("%s ended with %+v, not %d", p.name, *v.Exit, p.status)
			}
		}
		return false, fmt.Sprint(p.name, " has no exit status: ", err)
	})
}

// attached is a `davit attach` in a terminal of ours.
type attached struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{} // the terminal's output has ended

	mu     sync.Mutex // guards screen
	screen *screen.Screen
}

func (s *scene) attach(pane davit.PaneID) *attached {
	s.t.Helper()
	a := &attached{t: s.t, cmd: s.command("attach", string(pane)), done: make(chan struct{}), screen: screen.New(cols, rows, screen.Options{})}
	tty, err := pty.StartWithSize(a.cmd, &pty.Winsize{Cols: cols, Rows: rows})
	if err != nil {
		s.t.Fatal(err)
	}
	a.tty = tty
	s.t.Cleanup(func() { _ = a.cmd.Process.Kill(); <-a.done; tty.Close() })
	go func() {
		defer close(a.done)
		buf := make([]byte, 64<<10)
		for {
			n, err := tty.Read(buf)
			a.mu.Lock()
			a.screen.Write(buf[:n])
			a.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return a
}

func (a *attached) shows() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.screen.Text()
}

// checkSame: the client shows what the host shows, and that is the program's last line.
func (a *attached) checkSame(s *scene, p *printing) {
	a.t.Helper()
	testenv.Eventually(a.t, patience, func() (bool, string) {
		var text wire.PaneText
		if err := s.client.Call(a.t.Context(), "pane.read", wire.PaneRead{Pane: p.id}, &text); err != nil {
			return false, err.Error()
		}
		shown := a.shows()
		return slices.Equal(trim(shown), trim(text.Rows)) && strings.Contains(strings.Join(shown, "\n"), p.name+" ends after"),
			fmt.Sprintf("the client shows\n%s\nthe host\n%s", strings.Join(shown, "\n"), strings.Join(text.Rows, "\n"))
	})
}

// trim leaves blanks at the ends of rows, and blank rows at the end, out.
func trim(text []string) []string {
	trimmed := make([]string, len(text))
	for i, row := range text {
		trimmed[i] = strings.TrimRight(row, " ")
	}
	for len(trimmed) > 0 && trimmed[len(trimmed)-1] == "" {
		trimmed = trimmed[:len(trimmed)-1]
	}
	return trimmed
}

func (a *attached) typeLine(text string) {
	a.t.Helper()
	if _, err := io.WriteString(a.tty, text+"\r"); err != nil {
		a.t.Fatal(err)
	}
}

// checkEnd: attach ends with the program's status.
func (a *attached) checkEnd(status int) {
	a.t.Helper()
	select {
	case <-a.done:
	case <-time.After(patience):
		a.t.Fatalf("attach does not end; it shows\n%s", strings.Join(a.shows(), "\n"))
	}
	if _ = a.cmd.Wait(); a.cmd.ProcessState.ExitCode() != status {
		a.t.Errorf("attach ended with %d, not with the program's status %d", a.cmd.ProcessState.ExitCode(), status)
	}
}
