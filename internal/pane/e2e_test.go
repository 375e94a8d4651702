package pane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
	"davit/internal/shell"
	"davit/internal/testenv"
)

// TestMain makes the test binary the keeper that the tests start.
func TestMain(m *testing.M) {
	if raw := os.Getenv("DAVIT_TEST_KEEPER"); raw != "" {
		var cfg keeper.Config
		err := json.Unmarshal([]byte(raw), &cfg)
		if err == nil {
			err = keeper.Run(context.Background(), cfg)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// realKeeperOf starts a keeper process, which the test's end shuts down with all it holds.
func realKeeperOf(t testing.TB) *client.Client {
	t.Helper()
	c, _, _ := keeperAt(t)
	return c
}

// keeperAt also tells which process it is, and where its panes lie.
func keeperAt(t testing.TB) (*client.Client, keeper.Record, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "dp") // short: a socket's path has 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cfg := keeper.Config{StateDir: filepath.Join(dir, "state"), RuntimeDir: filepath.Join(dir, "run"), Home: dir, Build: "test"}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	record, err := client.Start(ctx, client.StartConfig{
		Exe: exe, Env: append(os.Environ(), "DAVIT_TEST_KEEPER="+string(raw)), StateDir: cfg.StateDir, RuntimeDir: cfg.RuntimeDir,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := dialKeeper(t, record)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if !keeper.Alive(record) {
			return // its test has killed it
		}
		last, err := client.Dial(ctx, client.Config{Socket: record.Socket})
		if err == nil {
			err = last.Shutdown(ctx, true)
			last.Disconnect()
		}
		if err != nil {
			t.Errorf("shut the keeper down: %v", err)
		}
		testenv.Eventually(t, 10*time.Second, func() (bool, string) { return !keeper.Alive(record), "the keeper lives" })
	})
	return c, record, filepath.Join(cfg.StateDir, "panes")
}

func dialKeeper(t testing.TB, record keeper.Record) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Config{Socket: record.Socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Disconnect)
	return c
}

// spawn starts a program in pane p_1.
func spawn(t testing.TB, c *client.Client, env []string, argv ...string) {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}, env...)
	_, err = c.Spawn(t.Context(), keeper.SpawnRequest{
		ID: "spawn-1", Pane: "p_1", Kind: keeper.PaneShell, Path: path, Argv: argv, Env: env, Dir: home, Cols: testCols, Rows: testRows,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A real shell with its marks: commands become blocks, run one after the other, and the
// first that fails stops the rest (spec terminal P4, spec tabs T4.1).
func TestStartupCommandsAreBlocks(t *testing.T) {
	for _, kind := range []shell.Kind{shell.Bash, shell.Zsh, shell.Fish} {
		t.Run(string(kind), func(t *testing.T) {
			testenv.Require(t, string(kind))
			c := realKeeperOf(t)
			path, _ := exec.LookPath(string(kind))
			scripts := t.TempDir()
			if err := shell.WriteScripts(scripts); err != nil {
				t.Fatal(err)
			}
			start0, ok := shell.Prepare(shell.PrepareInput{Shell: path, Kind: kind, Dir: scripts})
			if !ok {
				t.Fatal("no integration")
			}
			spawn(t, c, start0.Env, start0.Argv...)
			var mu sync.Mutex
			told := map[EventKind]int{}
			r := start(t, FromClient(c), func(cfg *Config) {
				cfg.Events = func(e Event) { mu.Lock(); told[e.Kind]++; mu.Unlock() }
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			commands := Commands{
				ID:    "open-1",
				Lines: []string{"echo one", "", "  # why", "cd /tmp && echo 'two\ttabs'", "sh -c 'exit 3'", "echo never"},
				Typed: func(line string, framed bool) []byte { return shell.TypedLine(kind, line, framed) },
			}
			ran, failed, err := r.RunCommands(ctx, commands)
			if err != nil || ran != 4 || failed == nil || failed.Exit == nil || *failed.Exit != 3 {
				text, _ := r.Text(ctx, 100)
				t.Fatalf("ran %d, failed %+v, %v\n%s", ran, failed, err, strings.Join(text.Rows, "\n"))
			}
			if err := r.Wait(ctx, Condition{For: "prompt"}); err != nil {
				t.Fatal(err)
			}
			text, err := r.Text(ctx, 100)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range text.Blocks {
				output := strings.Join(text.Rows[b.FirstRow:b.LastRow+1], "|")
				got = append(got, fmt.Sprintf("%s → %d %s", b.Command, *b.Exit, output))
			}
			want := []string{"echo one → 0 one", "cd /tmp && echo 'two\ttabs' → 0 two     tabs", "sh -c 'exit 3' → 3 "}
			if strings.Join(got[:2], "\n") != strings.Join(want[:2], "\n") || len(got) != 3 || !strings.HasPrefix(got[2], want[2]) {
				t.Errorf("blocks\n%s\nwant\n%s\nscreen\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(text.Rows, "\n"))
			}
			if v := r.View(); v.Directory != "/tmp" || v.Running {
				t.Errorf("directory %q, running %v", v.Directory, v.Running)
			}
			testenv.Eventually(t, 5*time.Second, func() (bool, string) {
				mu.Lock()
				defer mu.Unlock()
				return told[EventCommandStarted] == 3 && told[EventCommandFinished] == 3 && told[EventPromptReady] == 4 && told[EventDirectory] > 0, fmt.Sprint(told)
			})
		})
	}
}

// The host goes with kill -9 while a program prints: the next one's page shows every
// byte once, in order, and the reader of every byte has them all (spec terminal P1.1).
func TestHostDeathUnderLoad(t *testing.T) {
	const lines = 200_000
	c := realKeeperOf(t)
	spawn(t, c, nil, "sh", "-c", fmt.Sprintf("stty -onlcr; read x; seq 1 %d; read x", lines))
	dir := t.TempDir()
	in := func(cfg *Config) { cfg.Dir = dir }
	first := start(t, FromClient(c), in)
	reader, err := first.Output(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	read := make(chan error, 1)
	go func() { read <- readSeq(reader, lines) }()
	if err := first.Input(t.Context(), "c", "go", []byte("\n")); err != nil {
		t.Fatal(err)
	}
	first.folded(100_000)
	first.cancel()
	<-first.Done()
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}

	second := start(t, FromClient(c), in)
	d := second.display(nil)
	testenv.Eventually(t, 20*time.Second, func() (bool, string) {
		for d.step(time.Millisecond) {
		}
		if d.screen == nil {
			return false, "nothing came"
		}
		rows := strings.Join(d.screen.Text(), "\n")
		return strings.Contains(rows, fmt.Sprint(lines)), rows
	})
	if got := seen(d.screen); got != second.shows() {
		t.Errorf("the page shows\n%s\nthe pane\n%s", got, second.shows())
	}
	if err := second.Input(t.Context(), "c", "end", []byte("\n")); err != nil {
		t.Errorf("input after the restart: %v", err)
	}
	if err := second.Wait(t.Context(), Condition{For: "exit"}); err != nil {
		t.Error(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// readSeq checks that a log has the numbers 1 to n, each on its line.
func readSeq(o *OutputReader, n int) error {
	var rest []byte
	next := 1
	for {
		frame, err := o.Next()
		if errors.Is(err, io.EOF) || frame.Exit != nil {
			if next <= n {
				return fmt.Errorf("ended before %d", next)
			}
			return nil
		}
		if err != nil {
			return err
		}
		rest = append(rest, frame.Data...)
		for {
			before, after, ok := bytes.Cut(rest, []byte("\n"))
			if !ok {
				break
			}
			rest = after
			if line := strings.TrimSpace(string(before)); next <= n && line != "" {
				if line != fmt.Sprint(next) {
					return fmt.Errorf("got %q, want %d", line, next)
				}
				next++
			}
		}
	}
}

// A program asks its terminal, and reads the answer: once, though a client is there.
func TestARealProgramAsks(t *testing.T) {
	c := realKeeperOf(t)
	spawn(t, c, nil, "bash", "-c", `stty raw -echo; printf '\e[5n'; IFS= read -rsd n -t 5 a; printf '%q.' "$a"; read -rsN 1 -t 0.3 b; printf 'more:%q.' "$b"; sleep 60`)
	r := start(t, FromClient(c), nil)
	d := r.display(nil)
	if err := r.Wait(t.Context(), Condition{For: "text", Text: "more:"}); err != nil {
		t.Fatal(err)
	}
	d.until(r)
	if rows := strings.Join(d.screen.Text(), "\n"); !strings.Contains(rows, `$'\E[0'.more:''.`) {
		t.Errorf("shows %s", rows)
	}
}

// Input to a program that has ended is refused, and a shell's exit is told with its status.
func TestARealExit(t *testing.T) {
	c := realKeeperOf(t)
	spawn(t, c, nil, "sh", "-c", "read x; kill -TERM $$")
	r := start(t, FromClient(c), nil)
	if err := r.Input(t.Context(), "c", "1", []byte("\n")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.Wait(ctx, Condition{For: "exit"}); err != nil {
		t.Fatal(err)
	}
	v := r.View()
	if v.Status != davit.PaneEnded || v.Exit.Signal != "SIGTERM" || v.Exit.Code != 143 {
		t.Errorf("status %s, exit %+v", v.Status, v.Exit)
	}
	if err := r.Input(ctx, "c", "2", []byte("x")); davit.CodeOf(err) != davit.CodePaneEnded {
		t.Errorf("input: %v", err)
	}
}

// Host and keeper die together, as in a power cut: what the log has behind the last
// checkpoint is shown, and the program is told as lost (spec terminal P1.5, P1.9).
func TestWhatADeadKeeperLeft(t *testing.T) {
	c, record, panes := keeperAt(t)
	spawn(t, c, nil, "sh", "-c", "echo before; read x; seq 1 20000; echo last words; read x")
	dir := t.TempDir()
	in := func(cfg *Config) { cfg.Dir = dir }
	first := start(t, FromClient(c), in)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := first.Wait(ctx, Condition{For: "text", Text: "before"}); err != nil {
		t.Fatal(err)
	}
	first.stop()
	saved, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	second := start(t, FromClient(c), in)
	second.Claim("c", 50, 10)
	if err := second.Input(ctx, "c", "go", []byte("\n")); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(ctx, Condition{For: "text", Text: "last words"}); err != nil {
		t.Fatal(err)
	}
	want := second.shows()
	second.stop()
	if err := os.WriteFile(filepath.Join(dir, checkpointFile), saved, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(record.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, func() (bool, string) { return !keeper.Alive(record), "the keeper lives" })

	third := start(t, FromDisk(panes), in)
	if _, err := third.Text(ctx, 0); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, func() (bool, string) {
		v := third.View()
		return v.Status == davit.PaneLost && v.Note == "", fmt.Sprintf("%s %q", v.Status, v.Note)
	})
	if got := third.shows(); got != want {
		t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
	if err := third.Input(ctx, "c", "x", []byte("x")); davit.CodeOf(err) != davit.CodePaneLost {
		t.Errorf("input: %v", err)
	}
}
