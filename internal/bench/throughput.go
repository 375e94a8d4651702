package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"davit"
)

// throughput is `cat` of coloured text: the time from its start to its end, as the shell
// around it saw it, however much still waits to be shown.
func (b *bench) throughput() error {
	file := filepath.Join(b.dir, "coloured")
	if err := coloured(file, b.size); err != nil {
		return err
	}
	in, err := b.instance("t")
	if err != nil {
		return err
	}
	defer in.down()
	type variant struct {
		name string
		run  func(*cat) error
	}
	variants := []variant{
		{"bare", b.catBare}, {"attach", in.catAttach}, {"tmux", b.catTmux},
		{"reader", in.catReader}, {"slow", in.catSlow},
	}
	for _, name := range others() {
		variants = append(variants, variant{name, b.catOther(name)})
	}
	took, cpu := map[string][]float64{}, map[string][]float64{}
	for i := range b.runs {
		for _, v := range variants {
			if v.name == "tmux" && !hasTmux() {
				continue
			}
			c := &cat{b: b, file: file, mark: filepath.Join(b.dir, fmt.Sprintf("%s-%d", v.name, i))}
			if err := v.run(c); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			took[v.name] = append(took[v.name], c.took.Seconds())
			cpu[v.name] = append(cpu[v.name], c.cpu.Seconds()*1000/(float64(b.size)/1e6))
			b.note("  %-6s %.2f s, %.0f MB/s, %.1f ms CPU per MB", v.name, c.took.Seconds(), float64(b.size)/1e6/c.took.Seconds(), last(cpu[v.name]))
		}
	}
	b.tellThroughput(took, cpu)
	return nil
}

func last(values []float64) float64 { return values[len(values)-1] }

func (b *bench) tellThroughput(took, cpu map[string][]float64) {
	mb := float64(b.size) / 1e6
	speed := func(name string) string { return fmt.Sprintf("%.0f MB/s", mb/median(took[name])) }
	ratio := func(name, to string) float64 { return median(took[to]) / median(took[name]) }
	text := fmt.Sprintf("%.0f MB coloured `cat`", mb)
	beside := fmt.Sprintf("bare %s, tmux %s", speed("bare"), speed("tmux"))
	beside += besideOthers(speed)
	told := func(name string, bare, peer float64) (goal, figure, verdict string) {
		goal = fmt.Sprintf("≥ %.2g × bare, ≥ %.2g × tmux", bare, peer)
		figure = fmt.Sprintf("%s = %.2f × bare", speed(name), ratio(name, "bare"))
		verdict = atLeast(ratio(name, "bare"), bare)
		if len(took["tmux"]) > 0 {
			figure += fmt.Sprintf(", %.2f × tmux", ratio(name, "tmux"))
			verdict += ", " + atLeast(ratio(name, "tmux"), peer)
		}
		return goal, figure, verdict
	}
	goal, figure, verdict := told("attach", 0.8, 1.5)
	b.add(text+", one `davit attach`", goal, figure, beside, verdict)
	goal, figure, verdict = told("reader", 0.55, 1.3)
	b.add("the same, `davit pane read --follow` beside it", goal, figure, beside, verdict)
	if len(cpu["tmux"]) > 0 {
		b.add("CPU of host + keeper per MB of it", "≤ tmux's server", fmt.Sprintf("%.1f ms", median(cpu["attach"])),
			fmt.Sprintf("tmux %.1f ms", median(cpu["tmux"])), atMost(median(cpu["attach"]), median(cpu["tmux"])))
	}
	slow := ratio("slow", "attach")
	b.add("the same `cat` and attach, with a client beside it that takes 10 kB/s", "within 10 %", fmt.Sprintf("%s = %.2f × without", speed("slow"), slow), "–", atLeast(slow, 0.9))
}

// cat is one run.
type cat struct {
	b         *bench
	file      string
	mark      string // prefix of the files by which harness and shell talk
	took, cpu time.Duration
}

// argv waits for the go, notes the time, runs cat, notes the time, waits to be ended.
func (c *cat) argv() []string {
	script := `echo ready; while ! test -e "$1.go"; do sleep 0.01; done; date +%s%N >"$1.begin"; cat "$2"; date +%s%N >"$1.new"; mv "$1.new" "$1.end"; while ! test -e "$1.over"; do sleep 0.02; done`
	return []string{"sh", "-c", script, "sh", c.mark, c.file}
}

// measure gives the go and takes the times. used tells the CPU of what is measured.
func (c *cat) measure(t *terminal, used func() time.Duration) error {
	before := used()
	if err := c.touch("go"); err != nil {
		return err
	}
	if err := c.b.until("cat ends", func() bool { _, err := os.Stat(c.mark + ".end"); return err == nil }); err != nil {
		return err
	}
	begin, err := c.at("begin")
	if err != nil {
		return err
	}
	end, err := c.at("end")
	if err != nil {
		return err
	}
	c.took = time.Duration(end - begin)
	// What is still on its way belongs to the CPU of this run.
	for quiet, at := 0, t.read.Load(); quiet < 5; {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-c.b.ctx.Done():
			return c.b.ctx.Err()
		}
		if now := t.read.Load(); now != at {
			quiet, at = 0, now
		} else {
			quiet++
		}
	}
	c.cpu = used() - before
	if err := c.touch("over"); err != nil {
		return err
	}
	select { // the program ends, and with it what shows it
	case <-t.done:
	case <-time.After(patience):
		return errLate
	}
	return nil
}

func (c *cat) touch(what string) error { return os.WriteFile(c.mark+"."+what, nil, 0o600) }

func (c *cat) at(what string) (int64, error) {
	data, err := os.ReadFile(c.mark + "." + what)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
}

func (b *bench) catBare(c *cat) error {
	t, err := b.terminal(environ(), c.argv()...)
	if err != nil {
		return err
	}
	defer t.end()
	t.drain()
	return c.measure(t, func() time.Duration { return 0 })
}

func (b *bench) catTmux(c *cat) error {
	m := b.tmux()
	defer m.end()
	t, err := m.start(c.argv()...)
	if err != nil {
		return err
	}
	defer t.end()
	t.drain()
	return c.measure(t, func() time.Duration { return cpuOf(m.pid) })
}

// attached starts the run's program and shows it by `davit attach`.
func (in *instance) attached(c *cat) (*terminal, davit.PaneID, error) {
	pane, err := in.open(c.argv()...)
	if err != nil {
		return nil, "", err
	}
	t, err := in.b.terminal(in.env, in.b.davit, "attach", string(pane))
	if err != nil {
		return nil, "", err
	}
	t.drain()
	return t, pane, in.b.until("attach shows the pane", func() bool { return t.seen("ready") })
}

func (in *instance) catAttach(c *cat) error {
	t, _, err := in.attached(c)
	if err != nil {
		return err
	}
	defer t.end()
	return c.measure(t, in.cpu)
}

func (in *instance) catReader(c *cat) error {
	t, pane, err := in.attached(c)
	if err != nil {
		return err
	}
	defer t.end()
	cmd := in.command("pane", "read", "--follow", string(pane))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	got := make(chan int64, 1)
	first := make(chan struct{})
	go func() {
		one := make([]byte, 1)
		_, _ = io.ReadFull(out, one)
		close(first)
		n, _ := io.Copy(io.Discard, out)
		got <- n + 1
	}()
	<-first
	err = c.measure(t, in.cpu)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	n := <-got
	if ended := cmd.Wait(); err == nil && (ended != nil || n < int64(c.b.size)) {
		return fmt.Errorf("the reader of every byte had %d of %d bytes: %w", n, c.b.size, ended)
	}
	return err
}

// catSlow has a second client, which takes 10 kB/s.
func (in *instance) catSlow(c *cat) error {
	t, pane, err := in.attached(c)
	if err != nil {
		return err
	}
	defer t.end()
	ctx, cancel := context.WithCancel(in.b.ctx)
	defer cancel()
	s, err := in.client.Attach(ctx, "slow", pane, nil, 0, 0)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			frame, err := s.Next(ctx)
			if err != nil {
				return
			}
			select {
			case <-time.After(time.Duration(len(frame.Data)) * time.Second / 10_000):
			case <-ctx.Done():
				return
			}
			if s.Ack(ctx, frame.To) != nil {
				return
			}
		}
	}()
	err = c.measure(t, in.cpu)
	cancel()
	_ = s.Close()
	<-done
	return err
}

// coloured writes a file of coloured log lines.
func coloured(path string, size int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i, n := 0, 0; n < size; i++ {
		wrote, err := fmt.Fprintf(w, "\x1b[2m12:%02d:%02d.%03d\x1b[0m \x1b[1;3%dm%-5s\x1b[0m \x1b[38;5;%dmmodule_%d\x1b[0m request %08x took \x1b[33m%dms\x1b[0m and gave \x1b[4m%d\x1b[0m bytes\n",
			i/60000%60, i/1000%60, i%1000, i%7+1, []string{"INFO", "WARN", "DEBUG"}[i%3], i%256, i%50, i*2654435761%(1<<32), i%977, i*7919%100000)
		if err != nil {
			f.Close()
			return err
		}
		n += wrote
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
