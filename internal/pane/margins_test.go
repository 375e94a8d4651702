package pane

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"davit/internal/testenv"
)

// blind is a display whose emulator, as xterm.js, does not know left-right margins.
func (r *running) blind(from *uint64, told bool) *display {
	d := &display{t: r.t, sub: r.Subscribe(SubscribeOptions{From: from, NoMargins: told})}
	r.t.Cleanup(func() { d.sub.Close() })
	return d
}

// stepBlind takes a frame as such an emulator shows it.
func (d *display) stepBlind(wait time.Duration) bool {
	return d.stepAs(wait, func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\x1b[?69h"), nil) })
}

func (d *display) shownText() string {
	if d.screen == nil {
		return ""
	}
	return strings.Join(d.screen.Text(), "\n")
}

// A client that does not know left-right margins shows what the pane shows: while a program
// draws with them it gets snapshots, and not too many; deltas go on behind them (spec
// terminal P3.1).
func TestAClientWithoutMargins(t *testing.T) {
	for name, sided := range map[string][]string{
		"on for long":          {"\x1b[?69h\x1b[11;30s\x1b[2;1H", "\x1b[3M", "more"},
		"on and off at once":   {"\x1b[?69h\x1b[11;30s\x1b[2;1H\x1b[3M\x1b[?69l"},
		"on, off much later":   {"\x1b[?69h\x1b[11;30s", "\x1b[1;1H\x1b[L", "\x1b[?69l"},
		"two rectangles moved": {"\x1b[?69h\x1b[1;20s\x1b[S\x1b[21;60s\x1b[2T", "\x1b[s"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog()
			r := start(t, l, nil)
			d, control := r.blind(nil, true), r.blind(nil, false)
			for row := range testRows {
				l.print(fmt.Sprintf("\x1b[%d;1H%s", row+1, strings.Repeat(fmt.Sprint(row%10), testCols)))
			}
			r.folded(l.head())
			wait := func(d *display) {
				t.Helper()
				testenv.Eventually(t, 5*time.Second, func() (bool, string) {
					for d.stepBlind(time.Millisecond) {
					}
					return d.offset == l.head(), fmt.Sprintf("at %d of %d", d.offset, l.head())
				})
			}
			wait(d)
			wait(control)
			l.print(sided...)
			l.print("\x1b[?69l\x1b[9;1H", "plain again")
			r.folded(l.head())
			want := strings.Join(textOf(t, r), "\n")
			testenv.Eventually(t, 5*time.Second, func() (bool, string) {
				d.stepBlind(time.Millisecond)
				return d.shownText() == want && d.offset == l.head(), fmt.Sprintf("it shows\n%s\nthe pane\n%s", d.shownText(), want)
			})
			wait(control)
			if control.shownText() == want {
				t.Error("one that gets deltas shows it too: the test shows nothing")
			}
			before := d.snapshots
			l.print("\r\nand on")
			wait(d)
			if d.snapshots != before {
				t.Error("a snapshot came though the margins are off")
			}
			back := r.blind(&d.offset, true)
			back.offset, back.screen = d.offset, d.screen
			d.sub.Close()
			l.print(" and back")
			wait(back)
			if back.snapshots != 0 || back.shownText() != strings.Join(textOf(t, r), "\n") {
				t.Errorf("coming back took %d snapshots and shows\n%s", back.snapshots, back.shownText())
			}
		})
	}
}

// A flood drawn with margins makes few snapshots.
func TestSnapshotsForMarginsAreFew(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	d := r.blind(nil, true)
	l.print("\x1b[?69h\x1b[5;50s")
	began := time.Now()
	for time.Since(began) < 500*time.Millisecond {
		l.print("a line of it\r\n")
		d.stepBlind(time.Millisecond)
	}
	if most := int(time.Since(began)/redrawEvery) + 2; d.snapshots < 2 || d.snapshots > most {
		t.Errorf("%d snapshots in %s, at most %d may come", d.snapshots, time.Since(began), most)
	}
}

func textOf(t *testing.T, r *running) []string {
	t.Helper()
	var rows []string
	if err := r.do(t.Context(), func() { rows = r.fold.screen.Text() }); err != nil {
		t.Fatal(err)
	}
	return rows
}
