package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/testenv"
)

// A resize is a barrier: no byte that a program printed in the new size stands before its
// mark; at most 20 a second happen, and the last one does (spec terminal P1.5).
func TestResizeBarrier(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.role("p", "sizes"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "80x24")
	for i := range 10 {
		if err := c.Resize(ctx(t), in.id(), "p", 90+i, 30); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	answers := make(chan error, 60)
	for i := range 60 {
		id := in.id()
		go func() { answers <- c.Resize(ctx(t), id, "p", 200+i, 40) }()
	}
	for range 60 {
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Resize(ctx(t), in.id(), "p", 321, 43); err != nil {
		t.Fatal(err)
	}
	burst := time.Since(begun)
	f.waitFor(t, "321x43")
	if err := c.Signal(ctx(t), in.id(), "p", int(syscall.SIGUSR2), false); err != nil {
		t.Fatal(err)
	}
	f.waitExit(t)
	marks := f.marks(keeper.Resize)
	if most := 10 + int(burst/(50*time.Millisecond)) + 2; len(marks) > most {
		t.Errorf("%d resizes reached the terminal, at most %d may have", len(marks), most)
	}
	out := f.output()
	for i, m := range marks {
		size := fmt.Sprintf(" %dx%d\r", m.Cols, m.Rows)
		repeated := false
		for _, earlier := range marks[:i] {
			repeated = repeated || earlier.Cols == m.Cols
		}
		if at := strings.Index(out, size); !repeated && at >= 0 && uint64(at) < m.From {
			t.Errorf("%q is at %d, before its mark at %d", size, at, m.From)
		}
	}
	if last := marks[len(marks)-1]; last.Cols != 321 || in.info(c, "p").Cols != 321 {
		t.Errorf("the last mark is %dx%d", last.Cols, last.Rows)
	}
}

// A program waits for a host that does not keep up, also for one that went without bye;
// after bye it runs on and the oldest bytes go. A pipe waits in any case (P1.3).
func TestBackPressure(t *testing.T) {
	t.Parallel()
	const ahead = 1 << 20
	in := startKeeper(t, func(c *keeper.Config) { c.PTYAhead, c.PipeAhead = ahead, ahead })
	c := in.dial()
	in.spawn(c, in.shell("pty", "stty raw; exec yes"))
	pipe := in.shell("pipe", "exec yes")
	pipe.Pipes = true
	in.spawn(c, pipe)
	// settled waits until a log reaches at least and then stands still.
	settled := func(pane string, least uint64) uint64 {
		t.Helper()
		var last uint64
		since := time.Now()
		testenv.Eventually(t, 20*time.Second, func() (bool, string) {
			end := in.info(c, pane).End
			if end != last {
				last, since = end, time.Now()
			}
			return last >= least && time.Since(since) > 150*time.Millisecond, fmt.Sprintf("%s is at %d", pane, end)
		})
		return last
	}
	for _, pane := range []string{"pty", "pipe"} {
		if end := settled(pane, ahead); end > ahead+128<<10 {
			t.Fatalf("%s stopped at %d, the bound is %d", pane, end, ahead)
		}
		s, err := c.Follow(ctx(t), pane, 0, "")
		if err != nil {
			t.Fatal(err)
		}
		s.Ack(600_000)
		if next := settled(pane, 600_000+ahead); next > 600_000+ahead+128<<10 {
			t.Fatalf("%s stopped at %d after an acknowledgement of 600000", pane, next)
		}
		s.Close()
	}
	c.Disconnect() // without bye: they still wait
	c = in.dial()
	stopped := settled("pipe", 600_000+ahead)
	if err := c.Bye(ctx(t)); err != nil {
		t.Fatal(err)
	}
	c = in.reader()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		p := in.info(c, "pty")
		return p.End > 40<<20 && p.Start > 0, fmt.Sprintf("the terminal holds [%d, %d)", p.Start, p.End)
	})
	if p := in.info(c, "pty"); p.End-p.Start > ahead+3<<20 {
		t.Errorf("the terminal's log holds %d bytes", p.End-p.Start)
	}
	if p := in.info(c, "pipe"); p.End != stopped || p.Start != 0 {
		t.Errorf("the pipe holds [%d, %d), it stopped at %d", p.Start, p.End, stopped)
	}
	s, err := c.Follow(ctx(t), "pty", 100, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gap, err := s.Next()
	if err != nil || gap.Kind != keeper.Gap || gap.From != 100 || gap.To == 100 {
		t.Fatalf("first frame %+v (%v), want a gap from 100", gap, err)
	}
	size, err := s.Next()
	if err != nil || size.Kind != keeper.Resize || size.Cols != 80 || size.From != gap.To {
		t.Fatalf("second frame %+v (%v), want the size at %d", size, err, gap.To)
	}
}

// A host that went without bye is waited for, and then not (P1.3).
func TestHoldEnds(t *testing.T) {
	t.Parallel()
	const ahead = 256 << 10
	in := startKeeper(t, func(c *keeper.Config) {
		c.PTYAhead, c.Hold, c.Heard, c.Ping = ahead, 700*time.Millisecond, 400*time.Millisecond, 100*time.Millisecond
	})
	c := in.dial()
	in.spawn(c, in.shell("p", "stty raw; exec yes"))
	r := in.reader()
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return in.info(r, "p").End >= ahead, "it does not print" })
	// The client answers pings, so its silence is none.
	still := time.Now().Add(1500 * time.Millisecond)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return time.Now().After(still), "" })
	if end := in.info(r, "p").End; end > ahead+128<<10 {
		t.Fatalf("it went on to %d although its host is there", end)
	}
	c.Disconnect()
	begun := time.Now()
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { return in.info(r, "p").End > 10*ahead, "it does not go on" })
	if waited := time.Since(begun); waited < 600*time.Millisecond {
		t.Errorf("it went on after %s", waited)
	}
}

// Retain drops whole segments, and nothing that is needed (spec terminal P1.4).
func TestRetain(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.role("p", "lines", "COUNT=250000"))
	f := in.follow(c, "p", 0, "")
	f.waitEnd(t)
	want := f.output()
	if err := c.Retain(ctx(t), "p", 5<<20); err != nil {
		t.Fatal(err)
	}
	p := in.info(c, "p")
	if p.Start == 0 || p.Start > 5<<20 {
		t.Fatalf("the log holds [%d, %d)", p.Start, p.End)
	}
	files, err := filepath.Glob(filepath.Join(in.cfg.StateDir, "panes", "p", "log.*"))
	if err != nil {
		t.Fatal(err)
	}
	var total uint64
	for _, file := range files {
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		total += uint64(st.Size())
	}
	if total != p.End-p.Start {
		t.Errorf("%d bytes on disk, %d in the log", total, p.End-p.Start)
	}
	f = in.follow(c, "p", 5<<20, "")
	f.waitEnd(t)
	if f.output() != want[5<<20:] {
		t.Error("what was retained is not what was printed")
	}
}

// Stdout and stderr of pipes are two logs (spec session S1.1).
func TestPipes(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	req := in.shell("p", "cat; echo complaint >&2; exit 4")
	req.Pipes = true
	req.Labels = map[string]string{"paneKey": "k1"}
	in.spawn(c, req)
	in.send(c, "p", "to stdout")
	if err := c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", EOF: true}); err != nil {
		t.Fatal(err)
	}
	out, errs := in.follow(c, "p", 0, ""), in.follow(c, "p", 0, keeper.Stderr)
	out.waitEnd(t)
	errs.waitEnd(t)
	if out.output() != "to stdout" || errs.output() != "complaint\n" {
		t.Fatalf("stdout %q, stderr %q", out.output(), errs.output())
	}
	if e := errs.waitExit(t); e.Code != 4 {
		t.Fatalf("exit %+v", e)
	}
	if p := in.info(c, "p"); p.Labels["paneKey"] != "k1" || p.Stderr.End != uint64(len("complaint\n")) {
		t.Fatalf("row %+v", p)
	}
	wantCode(t, c.Resize(ctx(t), in.id(), "p", 80, 24), davit.CodeInvalid)
}

// A reply to a query goes once, and not late (spec terminal P2.3).
func TestReplies(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	in.spawn(c, in.shell("p", "stty raw -echo; printf query; exec cat"))
	f := in.follow(c, "p", 0, "")
	f.waitFor(t, "query")
	reply := func(text string, to uint64) {
		t.Helper()
		if err := c.Input(ctx(t), keeper.Input{ID: in.id(), Pane: "p", Data: []byte(text), ReplyTo: to}); err != nil {
			t.Fatal(err)
		}
	}
	reply("<a>", 3)
	reply("<again>", 3)
	reply("<older>", 2)
	reply("<b>", 5)
	f.waitFor(t, "<b>")
	logged := time.Now()
	in.send(c, "p", "more")
	f.waitFor(t, "more")
	late := uint64(len(f.output()))
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return time.Since(logged) > 2200*time.Millisecond, "" })
	reply("<late>", late)
	in.send(c, "p", "end")
	f.waitFor(t, "end")
	if got := f.output(); got != "query<a><b>moreend" {
		t.Fatalf("the program got %q", got)
	}
}

// What a background program prints after the shell's end is still recorded (P1.8).
func TestBackgroundHolder(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	gate := filepath.Join(t.TempDir(), "gate")
	in.spawn(c, in.shell("p", "trap '' HUP; (while ! test -e "+gate+"; do sleep 0.02; done; echo later) & exit 3"))
	f := in.follow(c, "p", 0, "")
	if e := f.waitExit(t); e.Code != 3 {
		t.Fatalf("exit %+v", e)
	}
	if strings.Contains(f.output(), "later") {
		t.Fatal("the exit came after it")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.waitEnd(t)
	if !strings.Contains(f.output(), "later") {
		t.Fatalf("recorded %q", f.output())
	}
}
