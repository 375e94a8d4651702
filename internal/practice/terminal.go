package practice

import (
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// phase is where the terminal agent is in its life.
type phase int

const (
	mounting phase = iota // started, no composer yet
	blocked               // a dialog is in the way
	idle
	working
	asking // a permission question in the turn
)

// terminalAgent is the agent in a terminal. Its loop owns all of it.
type terminalAgent struct {
	opts     options
	out      io.Writer
	record   *transcript
	size     func() (cols, rows int)
	phase    phase
	keys     keyReader
	composer string
	pasted   bool // something of the composer's text came by a paste
	typed    bool // something was typed
	absorb   bool // the next Enter is lost
	dialog   string
	messages []message
	queue    []string
	turn     turn
	spinner  int
	hint     string
	leaving  time.Time // of the first Ctrl-C
	frozen   bool      // no-effect: nothing is drawn any more
	status   int
	over     bool
	paint    painter
}

// turn is the answer that is being given.
type turn struct {
	prompt string
	text   string
	began  time.Time
	shown  int
	asked  request
	loud   bool // the flood has been let loose
}

// message is one part of the conversation.
type message struct {
	role string // you, agent, tool, note
	text string
}

const frame = 80 * time.Millisecond

// runTerminal runs the agent in a terminal until it is left. Without a terminal it
// answers the prompt and ends.
func runTerminal(opts options, stdin io.Reader, stdout io.Writer, record *transcript) int {
	file, ok := stdin.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return answerOnce(opts, stdin, stdout, record)
	}
	fd := int(file.Fd())
	saved, err := term.MakeRaw(fd)
	if err != nil {
		return 1
	}
	defer func() { _ = term.Restore(fd, saved) }()
	agent := &terminalAgent{
		opts: opts, out: stdout, record: record,
		size: func() (int, int) {
			cols, rows, err := term.GetSize(fd)
			if err != nil || cols < 20 || rows < 6 {
				return 80, 24
			}
			return cols, rows
		},
	}
	agent.paint.inline = opts.inline
	input := make(chan []byte) // unbuffered: what is not taken waits in the kernel
	go readAll(stdin, input)
	return agent.run(input)
}

func readAll(from io.Reader, to chan<- []byte) {
	defer close(to)
	for {
		chunk := make([]byte, 4096)
		n, err := from.Read(chunk)
		if n > 0 {
			to <- chunk[:n]
		}
		if err != nil {
			return
		}
	}
}

func (a *terminalAgent) run(input <-chan []byte) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGWINCH)
	defer signal.Stop(signals)
	if a.opts.faults.earlyPaste {
		a.say("\x1b[?2004h")
	}
	mount := time.After(a.opts.faults.mountLate)
	var exit <-chan time.Time
	if a.opts.faults.timedExit {
		exit = time.After(a.opts.faults.exitAfter)
	}
	ticks := time.NewTicker(frame)
	defer ticks.Stop()
	var escape <-chan time.Time
	for !a.over {
		select {
		case <-mount:
			a.mount()
		case chunk, open := <-input:
			if !open {
				input = nil // the terminal is gone
				if !a.opts.faults.ignoreTerm {
					a.leave(0)
				}
				continue
			}
			a.take(chunk)
			escape = nil
			if a.keys.loneEscape() {
				escape = time.After(50 * time.Millisecond)
			}
		case <-escape:
			escape = nil
			if a.keys.loneEscape() {
				a.keys.drop()
				a.press(key{kind: keyEscape})
			}
		case s := <-signals:
			a.signal(s)
		case <-exit:
			a.end()
		case <-ticks.C:
			if a.phase != working {
				continue // nothing moves
			}
			a.advance()
		}
		a.draw()
	}
	a.unmount()
	return a.status
}

func (a *terminalAgent) mount() {
	a.say(a.paint.open())
	a.say("\x1b[?2004h")
	if !a.opts.inline {
		a.say("\x1b[?1004h") // focus reports, as the real ones ask for
	}
	a.phase = idle
	if a.opts.hasPrefill {
		a.composer = a.opts.prefill
		a.pasted = true
		a.record.write(event{Event: "prefill", Via: "argv", Text: a.opts.prefill})
	}
	if a.opts.resume != "" {
		a.messages = append(a.messages, message{"note", "continued session " + a.opts.resume})
	}
	if d := a.opts.faults.dialog; d == "trust" || d == "update" {
		a.dialog = d
		a.phase = blocked
	}
	a.signalState()
	if a.phase == idle {
		a.first()
	}
}

// first submits the prompt that came with the command.
func (a *terminalAgent) first() {
	if a.opts.hasPrompt {
		a.submit("argv", a.opts.prompt)
	}
}

func (a *terminalAgent) unmount() {
	a.say("\x1b]7501;state=idle:app=practice\a\x1b]0;\a\x1b[?2004l\x1b[?1004l" + a.paint.close())
}

func (a *terminalAgent) say(text string) {
	if !a.frozen {
		_, _ = io.WriteString(a.out, text)
	}
}

func (a *terminalAgent) signal(s os.Signal) {
	if s == syscall.SIGWINCH {
		a.paint.resized()
		return
	}
	a.record.write(event{Event: "signal", Text: s.String()})
	if s != syscall.SIGINT && a.opts.faults.ignoreTerm {
		return
	}
	a.leave(128 + int(s.(syscall.Signal)))
}

func (a *terminalAgent) leave(status int) {
	a.over = true
	a.status = status
}

// end is the end that a fault asks for.
func (a *terminalAgent) end() {
	if a.opts.faults.crash != "" {
		a.record.write(event{Event: "exit", Text: "crash"})
		crash(a.opts.faults.crash)
	}
	a.leave(a.opts.faults.exit)
}

// take reads what was typed. Before the composer is there, it is lost.
func (a *terminalAgent) take(chunk []byte) {
	if a.phase == mounting {
		a.record.write(event{Event: "lost", Text: string(chunk)})
		return
	}
	if a.opts.faults.swallowKey {
		a.opts.faults.swallowKey = false
		a.record.write(event{Event: "lost", Text: string(chunk[:1])})
		chunk = chunk[1:]
	}
	for _, k := range a.keys.feed(chunk) {
		if k.kind == keyPaste {
			a.record.write(event{Event: "paste", Text: k.text})
		}
		a.press(k)
	}
}

func (a *terminalAgent) press(k key) {
	if k.kind != keyInterrupt {
		a.hint, a.leaving = "", time.Time{}
	}
	switch a.phase {
	case blocked, asking:
		a.pressDialog(k)
		return
	}
	switch k.kind {
	case keyText:
		a.composer += k.text
		a.typed = true
	case keyPaste:
		a.composer += k.text
		a.pasted, a.absorb = true, a.opts.faults.absorbEnter
	case keyNewline:
		a.composer += "\n"
	case keyBackspace:
		if runes := []rune(a.composer); len(runes) > 0 {
			a.composer = string(runes[:len(runes)-1])
		}
	case keyClear:
		a.composer = ""
	case keyEnter:
		a.enter()
	case keyEOF:
		if a.composer == "" {
			a.leave(0)
		}
	case keyEscape:
		a.interrupt()
	case keyInterrupt:
		switch {
		case a.phase == working:
			a.interrupt()
		case a.composer != "":
			a.composer, a.pasted, a.typed = "", false, false
		case time.Since(a.leaving) < 2*time.Second:
			a.leave(0)
		default:
			a.leaving, a.hint = time.Now(), "ctrl-c again to leave"
		}
	}
}

func (a *terminalAgent) enter() {
	if a.absorb {
		a.absorb = false
		a.record.write(event{Event: "lost", Text: "\r"})
		return
	}
	text := a.composer
	if strings.TrimSpace(text) == "" {
		return
	}
	via := "typed"
	if a.pasted {
		via = "paste"
		if a.typed {
			via = "mixed"
		}
	}
	a.composer, a.pasted, a.typed = "", false, false
	if strings.TrimSpace(text) == "/exit" {
		a.leave(0)
		return
	}
	a.submit(via, text)
}

func (a *terminalAgent) submit(via, text string) {
	if a.opts.faults.noEffect {
		a.frozen = true
	}
	a.record.write(event{Event: "prompt", Via: via, Text: text})
	if a.phase == working {
		a.queue = append(a.queue, text)
		return
	}
	a.begin(text)
}

func (a *terminalAgent) pressDialog(k key) {
	name := a.dialog
	var yes bool
	switch {
	case k.kind == keyEnter, k.kind == keyText && strings.HasPrefix(k.text, "1"):
		yes = true
	case k.kind == keyEscape, k.kind == keyInterrupt, k.kind == keyText && strings.HasPrefix(k.text, "2"):
	default:
		a.record.write(event{Event: "lost", Text: k.text})
		return
	}
	a.dialog = ""
	verdict := "no"
	if yes {
		verdict = "yes"
	}
	if a.phase == asking {
		a.record.write(event{Event: "permission", Text: verdict})
		a.permitted(yes)
		return
	}
	a.record.write(event{Event: "dialog", Text: name + ": " + verdict})
	if !yes && name == "trust" {
		a.leave(1)
		return
	}
	a.phase = idle
	a.signalState()
	a.first()
}

// answerOnce is the agent without a terminal: the prompt, or else stdin, is answered.
func answerOnce(opts options, stdin io.Reader, stdout io.Writer, record *transcript) int {
	prompt, via := opts.prompt, "argv"
	if !opts.hasPrompt {
		text, _ := io.ReadAll(io.LimitReader(stdin, 1<<20))
		prompt, via = string(text), "typed"
	}
	record.write(event{Event: "prompt", Via: via, Text: prompt})
	time.Sleep(opts.faults.late)
	if opts.faults.crash != "" {
		crash(opts.faults.crash)
	}
	_, _ = io.WriteString(stdout, "["+label+"] "+answer(prompt)+"\n")
	return opts.faults.exit
}
