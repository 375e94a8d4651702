package daemon_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"davit/internal/cli"
)

// TestMain is, by the name that it is started under, the tests, davit itself, or a
// program of the panes: so host and keeper are real processes, built with the
// race detector when the tests are.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "davit":
		if dir := os.Getenv(heapsIn); dir != "" {
			go tellHeap(dir)
		}
		os.Exit(cli.Main(os.Args[1:]))
	case "printer":
		os.Exit(printer(os.Args[1:]))
	case "ticker":
		os.Exit(ticker(os.Args[1:]))
	case "asker":
		os.Exit(asker(os.Args[1:]))
	case "composer":
		os.Exit(composerProgram(os.Args[1:]))
	case "keeper-of-lines":
		os.Exit(lineKeeper(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// programs puts davit and the panes' programs into a directory: links to, or copies of,
// this binary.
func programs(t *testing.T) (davit, printer string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"davit", "printer", "ticker", "asker", "composer", "keeper-of-lines"} {
		path := filepath.Join(dir, name)
		if os.Link(self, path) == nil {
			continue
		}
		if err := copyFile(self, path); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "davit"), filepath.Join(dir, "printer")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// line is the n-th line that a printer prints; the terminal makes CR LF of its end.
func line(dst []byte, pane string, n int) []byte {
	const filler = "the quick brown fox jumps over the lazy dog, again and again, until it is tired of it"
	dst = append(dst, "\x1b[3"...)
	dst = strconv.AppendInt(dst, int64(n%8), 10)
	dst = append(dst, 'm')
	dst = append(dst, pane...)
	dst = append(dst, "\x1b[m "...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ' ')
	dst = append(dst, filler[:n*7%len(filler)]...)
	return append(dst, '\n')
}

// last is the line before a printer's end.
func last(pane string, lines int) string { return fmt.Sprintf("%s ends after %d lines\n", pane, lines) }

// ahead is how far a printer may be before its reader: more than the host keeps for a
// checkpoint, less than the 64 MiB that are kept for a reader (spec terminal P3.2).
const ahead = 24 << 20

// printer prints numbered lines as fast as its terminal takes them, until a file is there.
//
//	printer NAME PROGRESS STOP STATUS [ask]
//
// PROGRESS holds, as 8 bytes, how much the reader has. With "ask" it waits for a line of
// input before it ends; with "mute" it prints one line and waits for the end; "slow" is for its reader.
func printer(args []string) int {
	name, progress, stop := args[0], args[1], args[2]
	status, err := strconv.Atoi(args[3])
	if err != nil || len(args) < 5 {
		return 125
	}
	mode := args[4]
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	stopped := func() bool { _, err := os.Stat(stop); return err == nil }
	printed, n := 0, 0
	for begun := false; !begun || mode != "mute" && !stopped(); begun = true {
		for end := printed + 256<<10; printed < end; n++ {
			text := line(out.AvailableBuffer(), name, n)
			printed += len(text) + 1 // CR
			if _, err := out.Write(text); err != nil {
				return 124
			}
			if !begun {
				n++
				break // the first line alone, for the reader to begin with
			}
		}
		if out.Flush() != nil {
			return 124
		}
		for !stopped() && (mode == "mute" || printed-readerAt(progress) > ahead || readerAt(progress) == 0) {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Print(last(name, n))
	if mode == "ask" {
		answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil {
			return 123
		}
		fmt.Printf("%s got %s\n", name, strings.TrimSpace(answer))
	}
	return status
}

func readerAt(path string) int {
	data, err := os.ReadFile(path)
	if err != nil || len(data) < 8 {
		return 0
	}
	return int(binary.BigEndian.Uint64(data))
}
