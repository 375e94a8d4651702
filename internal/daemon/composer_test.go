package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// composer is a program of the panes: an agent's terminal with a composer, which misbehaves
// as its argument says. It writes into OUT, as JSON strings, each prompt that it was given.
//
//	composer OUT FAULT [-- PROMPT | PROMPT | --ask PROMPT | --ask=PROMPT]
//
// COMPOSER_PROMPT is a prompt too. Further flags are not understood.
//
//	absorb       an Enter within 120 ms of a paste becomes a part of it
//	mount-late   the composer comes after 800 ms; what came before is lost
//	early-paste  the same after 1.5 s, with bracketed paste on from the start
//	dialog       asks for three seconds whether the folder is to be trusted; Enter says yes
//	swallow      loses the first byte
//	no-effect    takes a prompt, and nothing is to be seen of it
//	exit, exit-mid     ends at once, in the middle of a paste
//	shell, shell-mid   becomes a shell, at once or when it has a paste
//	placeholder  shows a sign in place of a paste
//	redraw       draws everything anew every 40 ms, with a spinner, for 30 s
//	slow         shows a paste piece by piece
//	title        shows in its title alone that it works
func composerProgram(args []string) int {
	c := &composer{out: args[0], fault: args[1], began: time.Now()}
	if prompt, given := prompted(args[2:]); given {
		c.submit(prompt)
	}
	saved, err := term.MakeRaw(0)
	if err != nil {
		return 125
	}
	input := make(chan []byte)
	go func() {
		defer close(input)
		for {
			chunk := make([]byte, 4096)
			n, err := os.Stdin.Read(chunk)
			if err != nil {
				return
			}
			input <- chunk[:n]
		}
	}()
	if c.fault == "early-paste" {
		fmt.Print("\x1b[?2004h")
	}
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case chunk, ok := <-input:
			if !ok {
				return 0
			}
			c.take(chunk)
		case <-tick.C:
			c.tick()
		}
		switch {
		case c.becomes == "exit":
			return 3
		case c.becomes == "shell":
			fmt.Print("\x1b[2J\x1b[H\x1b[?2004h") // as a shell's line editor has it
			_ = term.Restore(0, saved)
			_ = syscall.Exec("/bin/sh", []string{"sh", "-i"}, os.Environ())
		}
		c.draw()
	}
}

// prompted reads a prompt as an agent's own parser would: a flag takes the next word, "--"
// ends the flags, and what begins with a dash before that is a flag.
func prompted(args []string) (prompt string, given bool) {
	if prompt, given = os.LookupEnv("COMPOSER_PROMPT"); given {
		return prompt, true
	}
	for i, word := range args {
		next := append(slices.Clone(args[i+1:]), "", "")[0]
		switch {
		case word == "--" || word == "--prompt" || word == "--prompt-interactive" || word == "--ask" && !strings.HasPrefix(next, "-"):
			return next, i+1 < len(args)
		case strings.HasPrefix(word, "--ask="):
			return strings.TrimPrefix(word, "--ask="), true
		case !strings.HasPrefix(word, "-"):
			return word, true
		}
	}
	return "", false
}

type composer struct {
	out, fault string
	began      time.Time
	mounted    bool
	swallowed  bool
	bytes      []byte // not understood yet
	inPaste    bool
	pastedAt   time.Time
	lines      int // of the last paste
	text       string
	visible    int // of text, for slow
	said       []string
	title      string
	spin       int
	becomes    string
	drawn      string
}

var mountsAfter = map[string]time.Duration{"mount-late": 800 * time.Millisecond, "early-paste": 1500 * time.Millisecond, "dialog": 3 * time.Second}

func (c *composer) tick() {
	if age := time.Since(c.began); !c.mounted && age >= mountsAfter[c.fault] {
		c.mounted, c.bytes = true, nil
		fmt.Print("\x1b[?2004h")
		switch c.fault {
		case "exit", "shell":
			c.becomes = c.fault
		}
	}
	c.visible = min(c.visible+max(1, len(c.text)/8), len(c.text))
	c.spin++
}

func (c *composer) take(chunk []byte) {
	switch {
	case !c.mounted && c.fault == "dialog":
		if bytes.ContainsAny(chunk, "\r\n") {
			c.record("ANSWERED THE DIALOG")
		}
		return
	case !c.mounted:
		return
	case c.fault == "swallow" && !c.swallowed:
		c.swallowed, chunk = true, chunk[1:]
	}
	c.bytes = append(c.bytes, chunk...)
	for c.step() {
	}
}

// step takes one key, or a piece of a paste; false when there is no whole one.
func (c *composer) step() bool {
	const begin, end = "\x1b[200~", "\x1b[201~"
	b := c.bytes
	switch {
	case len(b) == 0:
		return false
	case c.inPaste:
		at := bytes.Index(b, []byte(end))
		if at < 0 {
			c.pastedAt = time.Now()
			if c.fault == "exit-mid" {
				c.becomes = "exit"
			}
			return false
		}
		c.text += string(b[:at])
		c.lines, c.visible = strings.Count(c.text, "\n")+1, 0
		c.bytes, c.inPaste, c.pastedAt = b[at+len(end):], false, time.Now()
		switch c.fault {
		case "exit-mid":
			c.becomes = "exit"
		case "shell-mid":
			c.becomes = "shell"
		}
	case bytes.HasPrefix(b, []byte(begin)):
		c.bytes, c.inPaste = b[len(begin):], true
	case b[0] == 0x1b && len(b) < len(begin):
		return false
	case b[0] == 0x1b:
		c.bytes = b[min(len(b), len(end)):]
	case b[0] == '\r':
		c.bytes = b[1:]
		if c.fault == "absorb" && time.Since(c.pastedAt) < 120*time.Millisecond {
			c.text += "\n"
			break
		}
		if c.text != "" {
			c.submit(c.text)
		}
	default:
		c.text, c.bytes = c.text+string(b[:1]), b[1:]
	}
	return true
}

func (c *composer) submit(text string) {
	c.record(text)
	switch c.fault {
	case "no-effect":
		return // the text stays where it is
	case "title":
		c.title = "working"
		return
	}
	c.said, c.text = append(c.said, fmt.Sprintf("got %d bytes", len(text))), ""
}

func (c *composer) record(text string) {
	f, err := os.OpenFile(c.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(124)
	}
	line, _ := json.Marshal(text)
	_, _ = f.Write(append(line, '\n'))
	f.Close()
}

func (c *composer) draw() {
	var b strings.Builder
	switch {
	case !c.mounted && c.fault == "dialog":
		b.WriteString("Do you trust the files in this folder?\r\n\r\n1. Yes, go on\r\n2. No\r\n")
	case !c.mounted:
		b.WriteString("starting\r\n")
	default:
		for _, line := range c.said {
			b.WriteString(line + "\r\n")
		}
		b.WriteString("┌────\r\n")
		for i, line := range c.box() {
			b.WriteString([]string{"│ > ", "│   "}[min(i, 1)] + line + "\r\n")
		}
		b.WriteString("└────\r\n")
	}
	if c.fault == "redraw" && time.Since(c.began) < 30*time.Second {
		b.WriteString(string(rune(0x2801+c.spin%64)) + fmt.Sprintf(" %d s", c.spin/25))
	}
	if b.String()+c.title == c.drawn {
		return
	}
	c.drawn = b.String() + c.title
	fmt.Print("\x1b]2;" + c.title + "\a\x1b[H\x1b[2J" + b.String())
}

// box is the text as the composer shows it: wrapped, and the last lines only.
func (c *composer) box() []string {
	text := c.text
	switch {
	case c.fault == "placeholder" && text != "":
		return []string{fmt.Sprintf("[Pasted text #1 +%d lines]", c.lines)}
	case c.fault == "slow":
		text = strings.ToValidUTF8(text[:c.visible], "")
	}
	var rows []string
	for _, line := range strings.Split(strings.ReplaceAll(text, "\t", "  "), "\n") {
		runes := []rune(line)
		for len(runes) > 60 {
			rows, runes = append(rows, string(runes[:60])), runes[60:]
		}
		rows = append(rows, string(runes))
	}
	return rows[max(0, len(rows)-6):]
}
