package pane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"
)

// BenchmarkFlood is 60 MB of coloured output through keeper and pane to one client
// (spec terminal P6).
func BenchmarkFlood(b *testing.B) {
	var text bytes.Buffer
	for i := 0; text.Len() < 60<<20; i++ {
		fmt.Fprintf(&text, "\x1b[3%dm%8d\x1b[m some \x1b[1mordinary\x1b[m output of a build, %s\n", i%8, i, strings.Repeat("x", i%60))
	}
	file := filepath.Join(b.TempDir(), "text")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		b.StopTimer()
		c := realKeeperOf(b)
		spawn(b, c, nil, "sh", "-c", "read x; exec cat "+file)
		r := start(b, FromClient(c), nil)
		sub := r.Subscribe(SubscribeOptions{})
		if err := r.Input(b.Context(), "c", "go", []byte("\n")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		snapshots, bytes := 0, 0
		for {
			frame, err := sub.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if frame.Exit != nil {
				break
			}
			if frame.Snapshot {
				snapshots++
			}
			bytes += len(frame.Data)
			sub.Ack(frame.To)
		}
		b.StopTimer()
		b.ReportMetric(float64(snapshots), "snapshots")
		b.ReportMetric(float64(bytes)/1e6, "MB-sent")
		sub.Close()
		r.stop()
		b.StartTimer()
	}
}

// BenchmarkEcho is one key through pane, keeper, terminal and back to a client.
func BenchmarkEcho(b *testing.B) {
	c := realKeeperOf(b)
	spawn(b, c, nil, "sh", "-c", "stty raw -echo; printf ready; exec cat")
	r := start(b, FromClient(c), func(cfg *Config) { cfg.Pane.Status = davit.PaneRunning })
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if err := r.Wait(ctx, Condition{For: "text", Text: "ready"}); err != nil {
		b.Fatal(err)
	}
	sub := r.Subscribe(SubscribeOptions{})
	defer sub.Close()
	frame, err := sub.Next(ctx)
	if err != nil || !frame.Snapshot {
		b.Fatal(errors.Join(err, errors.New("no snapshot")))
	}
	i := 0
	for b.Loop() {
		i++
		if err := r.Input(ctx, "c", fmt.Sprint(i), []byte("x")); err != nil {
			b.Fatal(err)
		}
		frame, err := sub.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		sub.Ack(frame.To)
	}
}
