// Command bench measures davit side by side with tmux and a bare terminal, in one run, and
// prints the table of docs/benchmarks.md (spec terminal P6).
//
//	go run ./internal/bench [-davit bin/davit] [-quick] [-only echo,idle]
//
// What is compared is run in turns, and medians are told, as ratios: on a busy machine
// single figures say little. It runs a davit home and a tmux server of its own and ends
// them; every program in their panes is this binary again, or `cat`. It asserts nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"davit"
)

func main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "child-") {
		os.Exit(child(os.Args[1], os.Args[2:]))
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run: where things are, and how much is measured.
type bench struct {
	ctx   context.Context
	davit string
	self  string
	dir   string
	quick bool
	runs  int // of each throughput
	size  int // bytes of coloured text
	keys  int // of each echo
	log   io.Writer
	rows  []row
}

// row is one line of the table.
type row struct{ measure, goal, figure, peer, verdict string }

func run() error {
	path := flag.String("davit", "bin/davit", "the program to measure")
	quick := flag.Bool("quick", false, "small sizes, one run of each: for CI, not for numbers")
	only := flag.String("only", "", "comma-separated: throughput, echo, screen, idle, memory, attach, restart, tabs, launches, chips, prompt")
	runs := flag.Int("runs", 5, "runs of each throughput")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{ctx: ctx, quick: *quick, runs: *runs, size: 60 << 20, keys: 600, log: os.Stderr}
	if b.quick {
		b.runs, b.size, b.keys = 1, 8<<20, 60
	}
	var err error
	if b.davit, err = filepath.Abs(*path); err != nil {
		return err
	}
	if _, err := os.Stat(b.davit); err != nil {
		return fmt.Errorf("%w: build it first (`make build`), or name it with -davit", err)
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	// Everything lies below one directory of ours with a short name: sockets are in it.
	if b.dir, err = os.MkdirTemp("", "davit-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	before := load()
	parts := []struct {
		name string
		run  func() error
	}{
		{"throughput", b.throughput}, {"echo", b.echo}, {"screen", b.screens},
		{"idle", b.idle}, {"memory", b.memory}, {"attach", b.firstScreen}, {"restart", b.restart}, {"tabs", b.tabs}, {"launches", b.launches}, {"chips", b.chips}, {"prompt", b.prompts},
	}
	for _, p := range parts {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		b.note("%s …", p.name)
		if err := p.run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.print(os.Stdout, before)
	return nil
}

func (b *bench) note(format string, args ...any) { fmt.Fprintf(b.log, "bench: "+format+"\n", args...) }

func (b *bench) add(measure, goal, figure, peer, verdict string) {
	b.rows = append(b.rows, row{measure, goal, figure, peer, verdict})
}

func (b *bench) print(w io.Writer, before string) {
	fmt.Fprintf(w, "davit %s, %s, %s, %s on %d cores, %s; load %s before, %s after; %s; %d runs\n\n", davit.Version, time.Now().UTC().Format(time.DateOnly),
		kernel(), processor(), runtime.NumCPU(), runtime.Version(), before, load(), peerVersion(), b.runs)
	fmt.Fprintln(w, "| Measure | Goal | davit | beside it | |\n|---|---|---|---|---|")
	for _, r := range b.rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.measure, r.goal, r.figure, r.peer, r.verdict)
	}
}

// atLeast and atMost say whether a goal holds, or by how much not.
func atLeast(got, goal float64) string {
	if got >= goal {
		return "met"
	}
	return fmt.Sprintf("**missed by %.0f %%**", (1-got/goal)*100)
}

func atMost(got, goal float64) string {
	if got <= goal {
		return "met"
	}
	if goal == 0 {
		return fmt.Sprintf("**missed by %.3g**", got)
	}
	return fmt.Sprintf("**missed by %.0f %%**", (got/goal-1)*100)
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile of values, which may be in any order.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(data))[0]
}

func kernel() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return runtime.GOOS + " " + strings.TrimSpace(string(data))
}

func processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func peerVersion() string {
	out, err := exec.Command("tmux", "-V").Output()
	if err != nil {
		return "no tmux"
	}
	return strings.TrimSpace(string(out))
}
