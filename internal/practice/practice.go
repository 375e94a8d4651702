// Package practice is the practice agent: a stand-in for a coding agent, shipped in
// the binary as the hidden command `davit practice-agent`, for trying davit out
// without a model and for its tests. It says of itself, always, that it is no real
// model. It has a terminal interface and speaks the Agent Client Protocol over stdio
// (--acp).
//
//	davit practice-agent [flags] [-- PROMPT]
//
//	--acp            the Agent Client Protocol over stdin and stdout
//	--inline         draw below the shell's output, not on the alternate screen
//	--prefill TEXT   text that waits in the composer
//	--model, --effort, --mode VALUE   shown, otherwise without effect
//	--resume ID      shown; a chat is continued with session/load
//	--faults LIST    misbehave, as DAVIT_PRACTICE does
//
// What a prompt can ask for, each on a line of its own:
//
//	write FILE       write PRACTICE.md (or the plain file name given) into the
//	                 directory; a file that is there is left alone
//	ask              ask for permission to do nothing
//	plan             (chat) show a plan
//	count N          (chat) say the numbers from 1 to N, each in a piece of its own
//	wait             work until it is interrupted or cancelled
//	refuse, fail     (chat) end the turn as refused, or with an error
//
// DAVIT_PRACTICE makes it misbehave: a list of words, separated by commas.
//
//	late=DUR           answers begin that much later
//	work=DUR           how long an answer takes (600ms)
//	mount-late=DUR     the composer (chat: the answer to initialize) comes late; what is
//	                   typed before is lost
//	early-paste-mode   bracketed paste is on before the composer is there
//	dialog=NAME        a dialog comes first: trust, update; permission comes in the turn
//	login              (chat) session/new says that one must log in
//	swallow-first-key  the first byte typed is lost
//	absorb-enter       the first Enter after each paste is lost
//	no-effect          a submitted prompt is taken, and nothing is to be seen of it
//	silent             says nothing at all, ever
//	never              a turn never ends, whatever one does
//	double             everything said is said twice
//	answer-twice       (chat) each request is answered twice
//	cut-lines          output comes in pieces of a few bytes
//	half-line          in a turn, half a line is written and then nothing more
//	garbage            bytes that mean nothing, between the others
//	flood=SIZE         that much text in each turn (1MB)
//	huge-line=SIZE     one line that long in each turn (50MB)
//	exit=N, crash=SIG  ends with the status, or kills itself by the signal (SEGV): in
//	                   the first turn, or after exit-after
//	exit-after=DUR     when; alone: exit status 0
//	exit-at=PLACE      (chat) where: when asked to initialize, for a new session, or after
//	                   it asked for permission
//	ignore-sigterm     neither SIGTERM, SIGHUP nor the loss of its terminal ends it
//	child              leaves a process in a session of its own that ignores SIGHUP and
//	                   lives for five minutes
//
// DAVIT_PRACTICE_TRANSCRIPT names a file that gets, as JSON lines, what was received:
// {"event":"prompt","via":"argv|paste|typed|mixed|acp","text":…} for each submitted
// prompt, and start, paste, prefill, lost, dialog, permission, cancel, signal, child,
// exit. DAVIT_PRACTICE_SESSIONS names a folder where chats are kept for session/load.
//
// Main owns all goroutines. The one that reads stdin cannot be interrupted and ends
// with the process.
package practice

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// label is shown wherever the practice agent shows itself.
const label = "practice agent — not a real model"

type options struct {
	acp, inline           bool
	prefill, resume       string
	model, effort, mode   string
	prompt                string
	faults                faults
	transcript, sessions  string
	hasPrompt, hasPrefill bool
}

// Main runs the hidden command `davit practice-agent`. The arguments are those after
// the command's name, the environment is as of os.Environ. It gives the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	opts, err := parse(args, stderr, env)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "practice agent:", err)
		return 2
	}
	record, err := openTranscript(opts.transcript)
	if err != nil {
		fmt.Fprintln(stderr, "practice agent:", err)
		return 1
	}
	defer record.close()
	directory, _ := os.Getwd()
	record.write(event{Event: "start", Text: directory, Args: args})
	if opts.faults.child {
		pid, err := startChild()
		record.write(event{Event: "child", Pid: pid, Text: errorText(err)})
	}
	if opts.faults.silent {
		stdout = io.Discard
	} else if opts.faults.cutLines {
		stdout = &cutWriter{to: stdout}
	}
	var status int
	if opts.acp {
		status = serveACP(opts, stdin, stdout, stderr, record)
	} else {
		status = runTerminal(opts, stdin, stdout, record)
	}
	record.write(event{Event: "exit", Pid: status})
	return status
}

func parse(args []string, stderr io.Writer, env []string) (options, error) {
	var opts options
	set := flag.NewFlagSet("practice-agent", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.BoolVar(&opts.acp, "acp", false, "speak the Agent Client Protocol over stdio")
	set.BoolVar(&opts.inline, "inline", false, "draw below the shell's output")
	set.StringVar(&opts.prefill, "prefill", "", "text that waits in the composer")
	set.StringVar(&opts.resume, "resume", "", "session to continue")
	set.StringVar(&opts.model, "model", "", "shown only")
	set.StringVar(&opts.effort, "effort", "", "shown only")
	set.StringVar(&opts.mode, "mode", "", "shown only")
	list := set.String("faults", "", "how to misbehave")
	if err := set.Parse(args); err != nil {
		return opts, err
	}
	set.Visit(func(f *flag.Flag) { opts.hasPrefill = opts.hasPrefill || f.Name == "prefill" })
	opts.prompt = strings.Join(set.Args(), " ")
	opts.hasPrompt = strings.TrimSpace(opts.prompt) != ""
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "DAVIT_PRACTICE":
			*list += "," + value
		case "DAVIT_PRACTICE_TRANSCRIPT":
			opts.transcript = value
		case "DAVIT_PRACTICE_SESSIONS":
			opts.sessions = value
		}
	}
	var err error
	opts.faults, err = parseFaults(*list)
	return opts, err
}

// event is one line of the transcript.
type event struct {
	Event string   `json:"event"`
	Via   string   `json:"via,omitempty"`
	Text  string   `json:"text"`
	Args  []string `json:"args,omitempty"`
	Pid   int      `json:"pid,omitempty"` // of a child; the exit status of exit
	Raw   []byte   `json:"raw,omitempty"` // the bytes, when Text cannot hold them
}

// transcript writes what was received; without a file it drops it. The mutex guards
// the file.
type transcript struct {
	mu   sync.Mutex
	file *os.File
}

func openTranscript(name string) (*transcript, error) {
	if name == "" {
		return &transcript{}, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &transcript{file: file}, nil
}

// write appends one whole line in one write.
func (t *transcript) write(e event) {
	if t.file == nil {
		return
	}
	if !utf8.ValidString(e.Text) {
		e.Raw = []byte(e.Text)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.file.Write(append(line, '\n'))
}

func (t *transcript) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// cutWriter passes bytes on in pieces that respect neither lines, characters nor
// escape sequences.
type cutWriter struct {
	to io.Writer
	n  int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	sizes := [...]int{1, 3, 2, 7, 5}
	for done := 0; done < len(p); {
		size := min(sizes[w.n%len(sizes)], len(p)-done)
		if _, err := w.to.Write(p[done : done+size]); err != nil {
			return done, err
		}
		done += size
		if w.n++; w.n%16 == 0 {
			time.Sleep(time.Millisecond) // so that a reader really sees pieces
		}
	}
	return len(p), nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
