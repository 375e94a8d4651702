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
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

const (
	soakPanes   = 20
	soakClients = 5
	soakLives   = 30 // a host's life is this part of the length, but at least shortLife
	shortLife   = 12 * time.Second
	heapsIn     = "DAVIT_TEST_HEAPS" // tells a host where to write what its heap is
)

// TestSoak: 20 panes print numbered lines while clients come and go, with snapshots and
// deltas, size claims, typing and `davit attach`, and the host is killed with SIGKILL
// again and again. Who reads every byte sees each line once (spec terminal P3.2), each
// answered input reaches the program once (P1.2), a client's screen never shows a line
// twice or leaves one out (P3.1), memory and descriptors do not grow, and nothing is left
// after `davit down --all` (P1.10).
//
// DAVIT_SOAK is its length (`make soak`: 30m), DAVIT_SOAK_LIFE how long each host lives.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("the soak takes a minute")
	}
	s := newSoak(t)
	s.up()
	for i := range soakPanes {
		s.tick(fmt.Sprintf("s%02d", i))
	}
	s.backgroundPrograms()
	for _, p := range s.panes {
		testenv.Eventually(t, patience, func() (bool, string) { return p.lines.Load() >= soakFill, p.name + " does not print" })
	}
	begun := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range soakClients {
		clients.Go(func() { s.visitor(ctx, i) })
	}
	for time.Since(begun) < s.length {
		s.live(begun, min(s.length, time.Since(begun)+s.life))
		if time.Since(begun) < s.length && s.fault() == nil {
			s.kill()
			s.start()
			s.await()
			s.restarts = append(s.restarts, time.Since(s.began))
		}
		if s.fault() != nil {
			break
		}
	}
	cancel()
	clients.Wait()
	s.check()
	s.report()
	s.end()
}

// soak is a scene that goes on for long.
type soak struct {
	*scene
	length, life time.Duration
	heaps        string // folder of tellHeap
	panes        []*ticking
	children     map[int]string // of the keeper: pid → start time
	keeper       int
	lives        []lived
	restarts     []time.Duration

	visits, snapshots, deltas, resumed, typed, detached atomic.Int64

	mu     sync.Mutex // guards faults; a leaf
	faults []error
}

// lived is what one host's life was like.
type lived struct {
	end                         time.Duration
	host, keeper, live          int // KiB over the second half: resident, and the host's live heap
	hostFiles, keeperFiles, log int
	lines                       int64
}

func newSoak(t *testing.T) *soak {
	s := &soak{scene: newScene(t), length: time.Minute, heaps: t.TempDir()}
	s.env = append(s.env, heapsIn+"="+s.heaps)
	text := os.Getenv("DAVIT_SOAK")
	if text != "" {
		length, err := time.ParseDuration(text)
		if err != nil || length < 2*shortLife {
			t.Fatalf("DAVIT_SOAK=%q is not a time of at least %s", text, 2*shortLife)
		}
		s.length = length
	}
	s.life = max(s.length/soakLives, shortLife)
	if text := os.Getenv("DAVIT_SOAK_LIFE"); text != "" {
		life, err := time.ParseDuration(text)
		if err != nil || life <= 0 {
			t.Fatalf("DAVIT_SOAK_LIFE=%q is not a time", text)
		}
		s.life = life
	}
	return s
}

// fail notes what went wrong beside the test's own goroutine.
func (s *soak) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) < 20 {
		s.faults = append(s.faults, fmt.Errorf(format, args...))
	}
}

func (s *soak) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.faults...)
}

// live lets a host live, and measures it in the second half of its life.
func (s *soak) live(begun time.Time, until time.Duration) {
	var info wire.HostInfo
	if err := s.client.Call(s.t.Context(), "host.info", wire.None{}, &info); err != nil {
		s.t.Fatal(err)
	}
	s.keeper = info.KeeperPid
	var host, keeper, live []int
	half := time.Since(begun) + (until-time.Since(begun))/2
	for tick := time.NewTicker(250 * time.Millisecond); time.Since(begun) < until && s.fault() == nil; {
		<-tick.C
		if time.Since(begun) > half {
			host, keeper = append(host, resident(s.host.Process.Pid)), append(keeper, resident(s.keeper))
			live = append(live, heapOf(s.heaps, s.host.Process.Pid))
		}
	}
	if len(host) == 0 {
		return
	}
	lines := int64(0)
	for _, p := range s.panes {
		lines += p.lines.Load()
	}
	s.lives = append(s.lives, lived{
		end: time.Since(begun), host: mean(host), keeper: mean(keeper), live: mean(live), lines: lines,
		hostFiles: files(s.host.Process.Pid), keeperFiles: files(s.keeper), log: sizeOf(filepath.Join(s.dir, "home")),
	})
}

func mean(values []int) (sum int) {
	for _, v := range values {
		sum += v
	}
	return sum / len(values)
}

// tellHeap writes a process's live heap into a file of its own, for as long as it lives.
func tellHeap(dir string) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
		metrics.Read(sample)
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), strconv.AppendUint(nil, sample[0].Value.Uint64()>>10, 10), 0o600)
	}
}

func heapOf(dir string, pid int) int {
	text, _ := os.ReadFile(filepath.Join(dir, strconv.Itoa(pid)))
	kib, _ := strconv.Atoi(string(text))
	return kib
}

// resident is what a process holds of the machine's memory, in KiB.
func resident(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(value)[0])
			return kib
		}
	}
	return 0
}

func files(pid int) int {
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(open)
}

func sizeOf(dir string) (size int) {
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil { // a segment may be dropped meanwhile
				size += int(info.Size())
			}
		}
		return nil
	})
	return size
}

// report prints what happened as a table, and judges memory and descriptors.
func (s *soak) report() {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "at\thost RSS MB\tlive heap MB\tkeeper RSS MB\thost files\tkeeper files\tdisk MB\tlines read\tstart ms\t")
	for i, l := range s.lives {
		start := "-"
		if i > 0 && i <= len(s.restarts) {
			start = strconv.FormatInt(s.restarts[i-1].Milliseconds(), 10)
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%d\t%d\t%.1f\t%d\t%s\t\n", l.end.Round(time.Second),
			float64(l.host)/1024, float64(l.live)/1024, float64(l.keeper)/1024, l.hostFiles, l.keeperFiles, float64(l.log)/(1<<20), l.lines, start)
	}
	w.Flush()
	s.t.Logf("%d kills; %d visits: %d snapshots, %d deltas, %d resumed, %d attached and detached; %d inputs\n%s",
		len(s.restarts), s.visits.Load(), s.snapshots.Load(), s.deltas.Load(), s.resumed.Load(), s.detached.Load(), s.typed.Load(), b.String())
	s.judge("host", func(l lived) int { return l.host }, func(l lived) int { return l.hostFiles })
	s.judge("host's live heap", func(l lived) int { return l.live }, nil)
	s.judge("keeper", func(l lived) int { return l.keeper }, func(l lived) int { return l.keeperFiles })
	if s.visits.Load() == 0 || s.snapshots.Load() == 0 || s.resumed.Load() == 0 || s.typed.Load() == 0 || s.detached.Load() == 0 {
		s.t.Error("a kind of client never came: the soak shows less than it says")
	}
}

// judge compares the end with what was at a sixth of the time: each the mean of five hosts
// when there are many, as one host's garbage comes and goes.
func (s *soak) judge(what string, memory, open func(lived) int) {
	s.t.Helper()
	early := slices.IndexFunc(s.lives, func(l lived) bool { return l.end >= s.length/6 })
	if early < 0 || early == len(s.lives)-1 {
		return
	}
	around := 0
	most := 1.5 // the heap has not settled at a sixth of a short time
	if len(s.lives) >= 20 {
		around, most = 2, 1.1
	}
	then, now := s.lives[max(early-around, 0):early+around+1], s.lives[len(s.lives)-1-2*around:]
	of := func(lives []lived, of func(lived) int) (sum int) {
		for _, l := range lives {
			sum += of(l)
		}
		return sum / len(lives)
	}
	ratio := float64(of(now, memory)) / float64(max(of(then, memory), 1))
	s.t.Logf("%s: %d KiB at %s, %d KiB at %s: %.3f of it (at most %.1f)", what, of(then, memory), s.lives[early].end.Round(time.Second),
		of(now, memory), s.length, ratio, most)
	if of(then, memory) == 0 || ratio > most {
		s.t.Errorf("the %s grew to %.3f of what it was", what, ratio)
	}
	if open != nil && of(now, open) > of(then, open)+3*soakClients+10 { // clients come and go
		s.t.Errorf("the %s has %d files open, %d before", what, of(now, open), of(then, open))
	}
}

// backgroundPrograms are alive when everything is ended.
func (s *soak) backgroundPrograms() {
	for _, script := range []string{"sleep 3000 & exec sleep 3000", "trap '' HUP; while :; do sleep 3000; done", "exec cat"} {
		req := wire.TabOpen{Directory: s.dir, Argv: []string{"/bin/sh", "-c", script}, Cols: cols, Rows: rows}
		if err := s.client.Call(s.t.Context(), "tab.open", req, nil); err != nil {
			s.t.Fatal(err)
		}
	}
}

// check ends the programs: each reader has had each line once and each program each input.
func (s *soak) check() {
	s.t.Helper()
	for _, p := range s.panes {
		p.quit.Store(true)
		if err := s.typeAtLast(p, "q"); err != nil {
			s.t.Errorf("%s cannot be ended: %v", p.name, err)
		}
	}
	for _, p := range s.panes {
		select {
		case <-p.done:
		case <-time.After(patience):
			s.t.Fatalf("%s: its reader does not end; it has %d lines", p.name, p.lines.Load())
		}
		if p.fault != nil {
			s.t.Error(p.fault)
		}
	}
	if err := s.fault(); err != nil {
		s.t.Error(err)
	}
}

func (s *soak) typeAtLast(p *ticking, text string) error {
	return s.client.Call(s.t.Context(), "pane.write", wire.PaneWrite{Pane: p.id, Text: text}, nil)
}

// end ends everything; no child that the keeper ever had then is left.
func (s *soak) end() {
	s.t.Helper()
	children := descendants(s.keeper)
	if len(children) < 3 {
		s.t.Errorf("the keeper has %d children, and should have those that go on", len(children))
	}
	s.down()
	for pid, began := range children {
		if startOf(pid) == began {
			s.t.Errorf("process %d of the keeper is left", pid)
		}
	}
}

// descendants are a process's children and theirs, with their start times.
func descendants(of int) map[int]string {
	found := map[int]string{}
	for again := true; again; {
		again = false
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, file := range stats {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			fields := statOf(pid)
			if len(fields) < 20 || found[pid] != "" {
				continue
			}
			parent, _ := strconv.Atoi(fields[1])
			if parent == of || found[parent] != "" {
				found[pid], again = fields[19], true
			}
		}
	}
	return found
}

// statOf is what /proc says after the name: state, parent, …
func statOf(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

func startOf(pid int) string {
	if fields := statOf(pid); len(fields) >= 20 {
		return fields[19]
	}
	return ""
}

// ticking is a pane whose program prints numbered lines, and its reader of every byte.
type ticking struct {
	name    string
	id      davit.PaneID
	lines   atomic.Int64
	inputs  atomic.Int64 // answered
	pending atomic.Int64 // sent, and not answered for good
	quit    atomic.Bool
	done    chan struct{}
	fault   error // after done
}

// tick opens a pane and begins to read.
func (s *soak) tick(name string) {
	s.t.Helper()
	p := &ticking{name: name, done: make(chan struct{})}
	every := "10ms"
	if raceDetector {
		every = "40ms"
	}
	var opened wire.Opened
	req := wire.TabOpen{Directory: s.dir, Argv: []string{filepath.Join(filepath.Dir(s.printer), "ticker"), name, every}, Cols: cols, Rows: rows}
	if err := s.client.Call(s.t.Context(), "tab.open", req, &opened); err != nil {
		s.t.Fatal(err)
	}
	p.id = opened.Panes[0]
	s.panes = append(s.panes, p)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.t.Cleanup(func() { cancel(); <-p.done })
	go func() {
		defer close(p.done)
		if p.fault = s.readAll(ctx, p); p.fault != nil {
			s.fail("%s: %w", p.name, p.fault)
		}
	}()
}

// readAll reads every byte of a pane, through all hosts.
func (s *soak) readAll(ctx context.Context, p *ticking) error {
	var offset uint64
	var rest []byte
	buf := make([]byte, 64<<10)
	next := 0
	for ctx.Err() == nil {
		out, err := s.client.Output(ctx, p.id, offset, true)
		if err != nil {
			if !goesOn(err) {
				return fmt.Errorf("read on from %d: %w", offset, err)
			}
			pause(ctx, 20*time.Millisecond)
			continue
		}
		for err == nil {
			var n int
			n, err = out.Read(buf)
			offset += uint64(n)
			if rest, next = eat(append(rest, buf[:n]...), p, next); next < 0 {
				out.Close()
				return fmt.Errorf("line %d at byte %d: %.200q", p.lines.Load(), offset, rest)
			}
		}
		exit, code := out.Trailer()
		out.Close()
		switch {
		case exit != "" && errors.Is(err, io.EOF):
			want := fmt.Sprintf("%s ends after %d lines and %d inputs\r\n", p.name, next, p.inputs.Load())
			if string(rest) != want || exit != "0" {
				return fmt.Errorf("its end (%s) is %q, not %q", exit, rest, want)
			}
			return nil
		case code != "":
			return fmt.Errorf("reading ended at %d with %s", offset, code)
		}
		pause(ctx, 5*time.Millisecond)
	}
	return ctx.Err()
}

// eat takes whole lines away; next is -1 when one is not the next.
func eat(text []byte, p *ticking, next int) ([]byte, int) {
	var want []byte
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return text, next
		}
		want = tickedLine(want[:0], p.name, next)
		if !bytes.Equal(text[:end+1], want) {
			if p.quit.Load() && bytes.HasPrefix(text, []byte(p.name+" ends after ")) {
				return text, next
			}
			return text, -1
		}
		text = text[end+1:]
		next++
		p.lines.Store(int64(next))
	}
}

// goesOn says whether an error is that of a host that goes away or has just come.
func goesOn(err error) bool {
	switch davit.CodeOf(err) {
	case davit.CodeHostDown, davit.CodeShuttingDown, davit.CodeKeeperUnreachable:
		return true
	}
	var e *davit.Error
	return !errors.As(err, &e)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// tickedLine is what a ticker prints: its terminal is raw.
func tickedLine(dst []byte, pane string, n int) []byte {
	dst = line(dst, pane, n)
	return append(dst[:len(dst)-1], "\r\n"...)
}

// soakFill is how many lines a ticker prints at once: more than a pane's scrollback and
// than what the keeper has of it in memory, so that both are full when the soak begins.
const soakFill = 20_000

// ticker prints many numbered lines, then two now and then, until it is given a q; it
// counts the other bytes that it is given.
//
//	ticker NAME EVERY
func ticker(args []string) int {
	name := args[0]
	every, err := time.ParseDuration(args[1])
	if err != nil {
		return 125
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 125
	}
	ended := make(chan int)
	go func() {
		inputs := 0
		for in := bufio.NewReader(os.Stdin); ; inputs++ {
			b, err := in.ReadByte()
			if err != nil || b == 'q' {
				ended <- inputs
				return
			}
		}
	}()
	var text []byte
	n := 0
	for out := bufio.NewWriter(os.Stdout); n < soakFill; n++ {
		text = tickedLine(text[:0], name, n)
		if _, err := out.Write(text); err != nil {
			return 124
		}
		if n == soakFill-1 && out.Flush() != nil {
			return 124
		}
	}
	for tick := time.NewTicker(every); ; {
		text = tickedLine(tickedLine(text[:0], name, n), name, n+1)
		n += 2
		if _, err := os.Stdout.Write(text); err != nil {
			return 124
		}
		select {
		case inputs := <-ended:
			fmt.Printf("%s ends after %d lines and %d inputs\r\n", name, n, inputs)
			return 0
		case <-tick.C:
		}
	}
}
