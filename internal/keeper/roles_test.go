package keeper_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"davit/internal/keeper"
	"davit/internal/keeper/client"
)

// roles are the programs that tests run, in panes or as hosts to be killed.
var roles = map[string]func() int{
	"digest":     digestRole,
	"sizes":      sizesRole,
	"lines":      linesRole,
	"host":       hostRole,
	"stubborn":   stubbornRole,
	"undertaker": undertakerRole,
}

// digestRole says how many bytes came on stdin and their digest, reading slowly at first.
func digestRole() int {
	h := sha256.New()
	fmt.Println("reading")
	if _, err := os.Stat(os.Getenv("GATE")); os.Getenv("GATE") != "" {
		for err != nil { // until the test opens the gate
			time.Sleep(5 * time.Millisecond)
			_, err = os.Stat(os.Getenv("GATE"))
		}
	}
	n, err := io.Copy(h, os.Stdin)
	fmt.Printf("%d %x %v\n", n, h.Sum(nil), err)
	return 0
}

// sizesRole prints the terminal's size without pause, until it is told to stop.
func sizesRole() int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR2)
	out := bufio.NewWriterSize(os.Stdout, 512)
	for n := 0; ; n++ {
		select {
		case <-stop:
			out.Flush()
			return 0
		default:
		}
		ws, err := unix.IoctlGetWinsize(1, unix.TIOCGWINSZ)
		if err != nil {
			return 1
		}
		fmt.Fprintf(out, "%d %dx%d\n", n, ws.Col, ws.Row)
	}
}

// linesRole prints COUNT numbered lines as fast as it can.
func linesRole() int {
	count, _ := strconv.Atoi(os.Getenv("COUNT"))
	out := bufio.NewWriter(os.Stdout)
	for i := range count {
		fmt.Fprintf(out, "line %d of a program that prints\n", i)
	}
	out.Flush()
	return 0
}

// stubbornRole ignores what it can, alone in a session of its own, and says its pid.
func stubbornRole() int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
	if os.Getenv("OWN_SESSION") != "" {
		if _, err := unix.Setsid(); err != nil {
			fmt.Println("setsid:", err)
		}
	}
	if err := os.WriteFile(os.Getenv("PIDFILE"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return 1
	}
	select {}
}

// hostRole follows a pane from an offset, writes down what it reads, and says on stdout
// how far that is; it sends OWED as one input first. It is there to be killed.
func hostRole() int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	c, err := client.Dial(ctx, client.Config{Socket: os.Getenv("SOCKET"), Build: "host"})
	if err != nil {
		return fail(err)
	}
	if size, _ := strconv.Atoi(os.Getenv("OWED")); size > 0 {
		fmt.Println("sending")
		data := []byte(strings.Repeat("0123456789abcdef", size/16))
		if err := c.Input(ctx, keeper.Input{ID: os.Getenv("OWED_ID"), Pane: os.Getenv("PANE"), Data: data}); err != nil {
			return fail(err)
		}
		fmt.Println("sent")
	}
	if os.Getenv("OUT") == "" {
		return 0
	}
	out, err := os.OpenFile(os.Getenv("OUT"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fail(err)
	}
	st, err := out.Stat()
	if err != nil {
		return fail(err)
	}
	s, err := c.Follow(ctx, os.Getenv("PANE"), uint64(st.Size()), "")
	if err != nil {
		return fail(err)
	}
	for {
		f, err := s.Next()
		if err != nil {
			return fail(err)
		}
		switch f.Kind {
		case keeper.Bytes:
			if _, err := out.Write(f.Data); err != nil {
				return fail(err)
			}
			s.Ack(f.To)
		case keeper.Gap:
			return fail(fmt.Errorf("gap [%d, %d)", f.From, f.To))
		case keeper.Exit:
			fmt.Println("exit", f.Exit.Code)
			return 0
		}
	}
}

// undertakerRole has a child that ended and that it never waits for, in another session.
func undertakerRole() int {
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return 1
	}
	if err := os.WriteFile(os.Getenv("PIDFILE"), []byte(strconv.Itoa(pid)), 0o600); err != nil {
		return 1
	}
	select {}
}
