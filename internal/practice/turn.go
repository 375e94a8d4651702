package practice

import (
	"os"
	"strings"
	"time"
)

// begin starts a turn.
func (a *terminalAgent) begin(prompt string) {
	a.messages = append(a.messages, message{"you", prompt})
	a.phase = working
	a.turn = turn{prompt: prompt, text: answer(prompt), began: time.Now(), asked: read(prompt)}
	a.signalState()
	if a.opts.faults.ends && !a.opts.faults.timedExit {
		a.draw()
		a.end()
		return
	}
	if a.opts.faults.halfLine {
		a.say("\x1b[1mhalf of a li")
		a.frozen = true
	}
	if a.turn.asked.ask || a.opts.faults.dialog == "permission" {
		a.ask()
	}
}

func (a *terminalAgent) ask() {
	a.dialog, a.phase = "permission", asking
	a.signalState()
}

func (a *terminalAgent) permitted(yes bool) {
	a.phase = working
	note := "not allowed"
	if yes {
		note = "allowed"
	}
	a.messages = append(a.messages, message{"note", note})
	a.turn.began = time.Now()
	a.signalState()
}

// advance moves the turn on by one frame.
func (a *terminalAgent) advance() {
	a.spinner++
	a.signalState()
	f := a.opts.faults
	since := time.Since(a.turn.began) - f.late
	if since < 0 || f.never || a.turn.asked.wait {
		return
	}
	if !a.turn.loud {
		a.turn.loud = true
		a.makeNoise()
	}
	total := len(a.turn.text)
	if since < f.work {
		a.turn.shown = int(int64(total) * int64(since) / int64(f.work))
		return
	}
	a.finish()
}

// makeNoise writes what the faults flood, huge-line and garbage ask for.
func (a *terminalAgent) makeNoise() {
	f := a.opts.faults
	if f.garbage {
		a.say("\x1b[999;999;999z\x1b]999;\x00\x01\x07\xff\xfe\xc3\x28\x1bP+q\x1b\\\x9b12\x1b(")
	}
	if f.flood > 0 {
		a.say("\x1b[H" + strings.ReplaceAll(filler(f.flood), "\n", "\r\n"))
	}
	if f.hugeLine > 0 {
		a.say("\x1b[H")
		chunk := strings.Repeat("=", 64<<10)
		for left := f.hugeLine; left > 0; left -= len(chunk) {
			a.say(chunk[:min(left, len(chunk))])
		}
	}
	if f.garbage || f.flood > 0 || f.hugeLine > 0 {
		a.paint.resized() // everything is to be drawn anew
	}
}

func (a *terminalAgent) finish() {
	t := a.turn
	if t.asked.write != "" {
		directory, err := os.Getwd()
		said := ""
		if err == nil {
			said, err = writeFile(directory, t.asked.write)
		}
		if err != nil {
			said = "Writing failed: " + err.Error()
		}
		a.messages = append(a.messages, message{"tool", said})
	}
	a.messages = append(a.messages, message{"agent", t.text})
	if a.opts.faults.double {
		a.messages = append(a.messages, message{"agent", t.text})
	}
	a.turn = turn{}
	a.phase = idle
	a.signalState()
	a.dequeue()
}

func (a *terminalAgent) interrupt() {
	if a.phase != working || a.opts.faults.never {
		return
	}
	a.record.write(event{Event: "cancel"})
	a.messages = append(a.messages, message{"note", "interrupted"})
	a.turn = turn{}
	a.phase = idle
	a.signalState()
	a.dequeue()
}

func (a *terminalAgent) dequeue() {
	if len(a.queue) == 0 {
		return
	}
	text := a.queue[0]
	a.queue = a.queue[1:]
	a.begin(text)
}

// signalState tells the terminal what the agent does, in the title and by OSC 7501, as
// real agents do.
func (a *terminalAgent) signalState() {
	title, state := "◆ practice agent", "idle"
	switch a.phase {
	case working:
		title, state = string(spinnerFrames[a.spinner%len(spinnerFrames)])+" practice agent", "working"
	case asking, blocked:
		title, state = "? practice agent", "waiting"
	}
	if title != a.paint.title {
		a.paint.title = title
		a.say("\x1b]0;" + title + "\a")
	}
	if state != a.paint.state {
		a.paint.state = state
		a.say("\x1b]7501;state=" + state + ":app=practice\a")
	}
}

var spinnerFrames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
