package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"davit"
	"davit/internal/testenv"
	"davit/internal/wire"
)

// lateAfter is when a reply comes too late and is dropped (spec terminal P2.3);
// answersWithin is enough for a host that lives, also on a machine that is busy.
const lateAfter, answersWithin = 2 * time.Second, time.Second

// TestQueriesAreNeverAnsweredTwice: programs ask their terminal in numbered rounds and
// count what they get, while the host is killed with SIGKILL around them. No query is
// answered twice or late, and one is left without an answer only when no host lived to
// give it within 2 s (spec terminal P2.3).
//
// DAVIT_QUERY_KILLS is how often (default: what fits a test run).
func TestQueriesAreNeverAnsweredTwice(t *testing.T) {
	kills := 40
	switch text := os.Getenv("DAVIT_QUERY_KILLS"); {
	case text != "":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DAVIT_QUERY_KILLS=%q is not a number of kills", text)
		}
		kills = n
	case testing.Short():
		kills = 5
	case raceDetector: // everything takes several times as long
		kills = 10
	}
	s := newScene(t)
	s.up()
	var askers []*asking
	for _, name := range []string{"quiet", "busy"} {
		askers = append(askers, s.ask(name))
	}
	began := time.Now()
	var lives []span
	for i := range kills {
		switch {
		case i%3 == 0: // perhaps before it answers
			s.letLive(s.began, 2*s.usual)
			s.countEarly()
			s.kill()
		case i%8 == 7: // long enough for all that was asked
			s.awaitPanes(askers)
			ready := time.Now()
			s.letLive(ready.Add(answersWithin), 300*time.Millisecond)
			lives = append(lives, span{ready, time.Now()})
			s.kill()
		default:
			s.awaitPanes(askers)
			s.letLive(time.Now(), 200*time.Millisecond)
			s.kill()
		}
		s.start()
	}
	s.awaitPanes(askers)
	lives = append(lives, span{time.Now(), time.Now().Add(time.Hour)})
	for _, a := range askers {
		a.check(s, lives)
	}
	t.Logf("%d kills, %d of them before the host answered (usually within %s), in %s", kills, s.early, s.usual.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	s.down()
}

// span is a time in which a host lived on and showed its panes.
type span struct{ from, to time.Time }

// asking is a pane whose program asks.
type asking struct {
	name        string
	id          davit.PaneID
	stop, asked string // files
}

func (s *scene) ask(name string) *asking {
	s.t.Helper()
	a := &asking{name: name, stop: filepath.Join(s.dir, name+".stop"), asked: filepath.Join(s.dir, name+".asked")}
	var opened wire.Opened
	req := wire.TabOpen{Directory: s.dir, Argv: []string{filepath.Join(filepath.Dir(s.printer), "asker"), a.stop, a.asked, name}, Cols: cols, Rows: rows}
	if err := s.client.Call(s.t.Context(), "tab.open", req, &opened); err != nil {
		s.t.Fatal(err)
	}
	a.id = opened.Panes[0]
	return a
}

// awaitPanes waits until the host has folded what the panes printed.
func (s *scene) awaitPanes(askers []*asking) {
	s.t.Helper()
	testenv.Eventually(s.t, patience, func() (bool, string) {
		for _, a := range askers {
			ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
			err := s.client.Call(ctx, "pane.read", wire.PaneRead{Pane: a.id}, nil)
			cancel()
			if err != nil {
				return false, fmt.Sprint(a.name, " cannot be read: ", err)
			}
		}
		return true, ""
	})
}

// check ends the program and judges its rounds.
func (a *asking) check(s *scene, lives []span) {
	t := s.t
	t.Helper()
	if err := os.WriteFile(a.stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var rounds []round
	testenv.Eventually(t, patience, func() (bool, string) {
		file, err := os.Open(a.asked)
		if err != nil {
			return false, err.Error()
		}
		defer file.Close()
		rounds = rounds[:0]
		for d := json.NewDecoder(file); ; {
			var r round
			if err := d.Decode(&r); err != nil {
				return false, fmt.Sprintf("%s: %d rounds, no end: %v", a.name, len(rounds), err)
			}
			if r.Over {
				return true, ""
			}
			rounds = append(rounds, r)
		}
	})
	if len(rounds) < 2*len(lives) {
		t.Errorf("%s: only %d rounds while %d hosts lived on", a.name, len(rounds), len(lives))
	}
	replies, lost := 0, 0
	for _, r := range rounds {
		for kind, q := range questions {
			n := r.Got[kind]
			replies += n
			switch {
			case n > 1:
				t.Errorf("%s: round %d had %d replies to %q: %v", a.name, r.N, n, q.ask, r)
			case n == 0:
				lost++
				if life, ok := answerable(r.At, lives); ok {
					t.Errorf("%s: round %d had no reply to %q, though a host lived %s", a.name, r.N, q.ask, life)
				}
			}
		}
		if r.Stray != "" {
			t.Errorf("%s: round %d got what it did not ask for: %q", a.name, r.N, r.Stray)
		}
	}
	t.Logf("%s: %d rounds, %d replies, %d lost while no host lived", a.name, len(rounds), replies, lost)
}

// answerable says whether a host that lived on was there soon enough after a question.
func answerable(at time.Time, lives []span) (string, bool) {
	for _, l := range lives {
		from := l.from
		if from.Before(at) {
			from = at
		}
		if from.Sub(at) < lateAfter-answersWithin && l.to.Sub(from) >= answersWithin {
			return fmt.Sprintf("from %s to %s after it", l.from.Sub(at), l.to.Sub(at)), true
		}
	}
	return "", false
}

// round is what a program got for one set of questions.
type round struct {
	N     int       `json:"n"`
	At    time.Time `json:"at"`
	Got   [4]int    `json:"got"` // replies, by question
	Stray string    `json:"stray,omitempty"`
	Over  bool      `json:"over,omitempty"`
}

// questions are asked in each round. The place of the cursor tells rounds apart.
var questions = [4]struct {
	ask        string
	begin, end string // of the reply
}{
	{"\x1b[c", "\x1b[?", "c"},        // DA1
	{"\x1b[5n", "\x1b[0", "n"},       // DSR
	{"\x1b[>q", "\x1bP>|", "\x1b\\"}, // XTVERSION
	{"\x1b[6n", "\x1b[", "R"},        // CPR
}

// asker asks in rounds, until a file is there, and writes what it got into another.
//
//	asker STOP ASKED busy|quiet
//
// busy prints much between its questions, so that checkpoints fall among them.
func asker(args []string) int {
	stop, busy := args[0], args[2] == "busy"
	if _, err := term.MakeRaw(0); err != nil {
		return 125
	}
	told, err := os.Create(args[1])
	if err != nil {
		return 125
	}
	got := make(chan string)
	go func() {
		defer close(got)
		for in := bufio.NewReader(os.Stdin); ; {
			reply, err := readReply(in)
			if err != nil {
				return
			}
			got <- reply
		}
	}()
	write := json.NewEncoder(told)
	filler := bytes.Repeat([]byte("\x1b[32mwhat is printed between questions\x1b[m\r\n"), 3000)
	for n := 0; ; n++ {
		if _, err := os.Stat(stop); err == nil && n > 0 {
			break
		}
		row, col := 1+n%rows, 1+n/rows%cols
		text := fmt.Sprintf("\x1b[%d;%dH", row, col)
		for _, q := range questions {
			text += q.ask
		}
		if busy {
			if _, err := os.Stdout.Write(filler); err != nil {
				return 124
			}
		}
		r := round{N: n, At: time.Now()}
		if _, err := os.Stdout.WriteString(text); err != nil {
			return 124
		}
		r.listen(got, fmt.Sprintf("\x1b[%d;%dR", row, col))
		if err := write.Encode(r); err != nil {
			return 123
		}
	}
	over := round{Over: true, N: -1}
	over.listen(got, "") // nothing comes any more
	if over.Stray != "" {
		over.Over = false
		_ = write.Encode(over)
	}
	if write.Encode(round{Over: true}) != nil || told.Close() != nil {
		return 123
	}
	return 0
}

// listen waits for each question's reply, and longer than a late one may take.
func (r *round) listen(got <-chan string, cursor string) {
	limit := time.NewTimer(lateAfter + lateAfter/2)
	defer limit.Stop()
	for left := len(questions); left > 0; {
		select {
		case reply, ok := <-got:
			if !ok {
				return
			}
			kind := slices.IndexFunc(questions[:], func(q struct{ ask, begin, end string }) bool {
				return strings.HasPrefix(reply, q.begin) && strings.HasSuffix(reply, q.end)
			})
			if kind < 0 || cursor == "" || strings.HasSuffix(reply, "R") && reply != cursor {
				r.Stray += reply
				continue
			}
			if r.Got[kind]++; r.Got[kind] == 1 {
				left--
			}
		case <-limit.C:
			return
		}
	}
}

// readReply reads one sequence: CSI up to its final byte, or DCS up to ST.
func readReply(in *bufio.Reader) (string, error) {
	var reply []byte
	for {
		b, err := in.ReadByte()
		if err != nil {
			return "", err
		}
		reply = append(reply, b)
		switch {
		case len(reply) < 3:
		case reply[1] == '[' && b >= 0x40:
			return string(reply), nil
		case reply[1] == 'P' && bytes.HasSuffix(reply, []byte("\x1b\\")):
			return string(reply), nil
		}
	}
}
