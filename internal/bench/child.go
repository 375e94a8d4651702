package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"
)

// child is this binary inside a terminal that is measured.
func child(what string, args []string) int {
	switch what {
	case "child-echo":
		return childEcho()
	case "child-flood":
		return childLines(0)
	case "child-lines":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return 2
		}
		if status := childLines(n); status != 0 {
			return status
		}
		fmt.Print("\r\nprinted")
		time.Sleep(time.Hour)
		return 0
	case "child-colours":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return 2
		}
		return childColours(n)
	}
	return 2
}

// childEcho gives back each byte that comes, without the terminal's help.
func childEcho() int {
	if _, err := term.MakeRaw(0); err != nil {
		return 1
	}
	fmt.Print("ready")
	buf := make([]byte, 256)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 0
		}
		if _, err := os.Stdout.Write(buf[:n]); err != nil {
			return 0
		}
	}
}

// childLines prints n lines of 100 columns, or lines without end.
func childLines(n int) int {
	out := bufio.NewWriterSize(os.Stdout, 32<<10)
	for i := 0; n == 0 || i < n; i++ {
		fmt.Fprintf(out, "\x1b[2m%010d\x1b[m \x1b[3%dmINFO\x1b[m  a line of a log that says something of a hundred columns, and what it says is: %06d\n", i, 1+i%6, i*7919%1000000)
		if out.Buffered() > 16<<10 && out.Flush() != nil {
			return 0
		}
	}
	if out.Flush() != nil {
		return 0
	}
	return 0
}

// childColours prints n bytes in which each word has one of 256 colours, then fills the
// screen with them and waits.
func childColours(n int) int {
	out := bufio.NewWriterSize(os.Stdout, 32<<10)
	for i, printed := 0, 0; printed < n; i++ {
		wrote, err := fmt.Fprintf(out, "\x1b[38;5;%d;48;5;%dmword%03d\x1b[m ", i%256, i/7%256, i%1000)
		if err != nil {
			return 0
		}
		if printed += wrote; i%20 == 19 {
			fmt.Fprint(out, "\n")
		}
	}
	fmt.Fprint(out, "\nprinted")
	if out.Flush() != nil {
		return 0
	}
	time.Sleep(time.Hour)
	return 0
}
