package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"davit"
	"davit/internal/wire"
)

func selfPid() int { return os.Getpid() }

// idle is the CPU of 100 panes in which nothing happens, with nobody there.
func (b *bench) idle() error {
	panes, agents, span := 100, 20, 10*time.Second
	if b.quick {
		panes, agents, span = 10, 2, 2*time.Second
	}
	in, err := b.instance("i")
	if err != nil {
		return err
	}
	defer in.down()
	var last davit.PaneID
	for i := range panes {
		argv := []string{"sh"}
		if i < agents {
			argv = []string{b.davit, "practice-agent"}
		}
		if last, err = in.open(argv...); err != nil {
			return err
		}
	}
	if err := in.client.Call(b.ctx, "pane.read", wire.PaneRead{Pane: last}, nil); err != nil {
		return err
	}
	// Starts, and the checkpoints after the first quiet second, are not idleness.
	settle := func(used func() time.Duration) (time.Duration, error) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		for at := used(); ; {
			if err := pause(ctx, 3*time.Second); err != nil {
				return 0, err
			}
			if now := used(); now == at {
				break
			} else if at = now; ctx.Err() != nil {
				break
			}
		}
		before := used()
		if err := pause(b.ctx, span); err != nil {
			return 0, err
		}
		return used() - before, nil
	}
	used, err := settle(in.cpu)
	if err != nil {
		return err
	}
	ticks := float64(used / (10 * time.Millisecond))
	peer, err := b.idleTmux(panes, settle)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("%d idle panes, %d of them agents: CPU ticks in %s", panes, agents, span), "0", fmt.Sprintf("%.0f", ticks), peer, atMost(ticks, 0))
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *bench) idleTmux(panes int, settle func(func() time.Duration) (time.Duration, error)) (string, error) {
	if !hasTmux() {
		return "tmux not there", nil
	}
	m := b.tmux()
	defer m.end()
	t, err := m.start("sh")
	if err != nil {
		return "", err
	}
	defer t.end()
	t.drain()
	for range panes - 1 {
		if out, err := m.command("new-window", "-d", "sh").CombinedOutput(); err != nil {
			return "", fmt.Errorf("tmux new-window: %w: %s", err, out)
		}
	}
	used, err := settle(func() time.Duration { return cpuOf(m.pid) })
	return fmt.Sprintf("tmux %d, one client", used/(10*time.Millisecond)), err
}

// memory is what host and keeper hold for panes with full scrollback.
func (b *bench) memory() error {
	panes, lines := 50, 10_000
	if b.quick {
		panes, lines = 5, 1000
	}
	in, err := b.instance("m")
	if err != nil {
		return err
	}
	defer in.down()
	var opened []davit.PaneID
	for range panes {
		id, err := in.open(b.self, "child-lines", strconv.Itoa(lines))
		if err != nil {
			return err
		}
		opened = append(opened, id)
	}
	for _, id := range opened {
		if err := in.shows(id, "printed"); err != nil {
			return err
		}
	}
	if err := pause(b.ctx, 5*time.Second); err != nil { // checkpoints
		return err
	}
	host, keeper := memoryOf(in.info.Pid)/1e6, memoryOf(in.info.KeeperPid)/1e6
	b.add(fmt.Sprintf("%d panes × %d log lines × 100 columns: memory", panes, lines), "≤ 400 MB",
		fmt.Sprintf("%.0f MB", host+keeper), fmt.Sprintf("host %.0f, keeper %.0f MB", host, keeper), atMost(host+keeper, 400))
	return nil
}

// firstScreen is the time from a connection to the first full screen of a pane that has
// printed much.
func (b *bench) firstScreen() error {
	output := 100 << 20
	if b.quick {
		output = 5 << 20
	}
	in, err := b.instance("a")
	if err != nil {
		return err
	}
	defer in.down()
	id, err := in.open(b.self, "child-colours", strconv.Itoa(output))
	if err != nil {
		return err
	}
	if err := in.shows(id, "printed"); err != nil {
		return err
	}
	if err := pause(b.ctx, 3*time.Second); err != nil {
		return err
	}
	var took []float64
	size := 0
	for range 20 {
		begun := time.Now()
		s, err := in.client.Attach(b.ctx, "bench", id, nil, 0, 0)
		if err != nil {
			return err
		}
		frame, err := s.Next(b.ctx)
		took = append(took, time.Since(begun).Seconds()*1000)
		_ = s.Close()
		if err != nil || !frame.Snapshot {
			return errors.Join(err, errors.New("the first frame is no screen"))
		}
		size = len(frame.Data)
	}
	b.add(fmt.Sprintf("attach after %d MB of output, %d×%d, 256 colours: first full screen", output>>20, cols, rows), "≤ 20 ms, ≤ 200 KB",
		fmt.Sprintf("%.1f ms (worst of 20: %.1f), %.0f KB", median(took), quantile(took, 1), float64(size)/1000), "–", atMost(median(took), 20)+", "+atMost(float64(size)/1000, 200))
	return nil
}

// restart is the time from the start of a new host to the first echo of a key, when the
// one before it was killed while five panes print at full speed.
func (b *bench) restart() error {
	in, err := b.instance("r")
	if err != nil {
		return err
	}
	defer in.down()
	pane, err := in.open(b.self, "child-echo")
	if err != nil {
		return err
	}
	if err := in.shows(pane, "ready"); err != nil {
		return err
	}
	for range 5 {
		id, err := in.open(b.self, "child-flood")
		if err != nil {
			return err
		}
		if err := in.shows(id, "INFO"); err != nil {
			return err
		}
	}
	var took []float64
	for range max(b.runs, 2) {
		if err := in.kill(); err != nil {
			return err
		}
		d, err := in.again(pane)
		if err != nil {
			return err
		}
		took = append(took, d.Seconds()*1000)
		b.note("  %.0f ms", last(took))
		if err := pause(b.ctx, time.Second); err != nil {
			return err
		}
	}
	b.add("host killed with -9 under full output of 5 panes: input works again", "≤ 1 s", fmt.Sprintf("%.0f ms (worst %.0f)", median(took), quantile(took, 1)), "–", atMost(median(took)/1000, 1))
	return nil
}

// again starts a host and types until a key comes back.
func (in *instance) again(pane davit.PaneID) (time.Duration, error) {
	begun := time.Now()
	host := in.command("up", "--listen", "127.0.0.1:0")
	if err := host.Start(); err != nil {
		return 0, err
	}
	go func() { _ = host.Wait() }()
	var s *socket
	err := in.b.until("the new host serves", func() bool {
		stream, err := in.client.Attach(in.b.ctx, "bench", pane, nil, 0, 0)
		if err != nil {
			return false
		}
		s = newSocket(in.b.ctx, stream)
		_, to, err := s.next()
		if err == nil {
			err = s.stream.Ack(in.b.ctx, to)
		}
		if err != nil {
			s.close()
		}
		return err == nil
	})
	if err != nil {
		return 0, err
	}
	defer s.close()
	if _, err := s.key('k'); err != nil {
		return 0, err
	}
	took := time.Since(begun)
	return took, in.client.Call(in.b.ctx, "host.info", wire.None{}, &in.info)
}
