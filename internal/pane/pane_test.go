package pane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"davit"
	"davit/internal/keeper"
	"davit/internal/testenv"
	"davit/screen"
)

// Whatever is printed, however it is cut, whenever somebody comes, leaves, comes back or
// is slow, and whatever the size: a client that shows what it is given shows the pane
// (spec terminal P3.1).
func TestClientsShowThePane(t *testing.T) {
	fragments := []string{
		"plain text ", "line\r\n", "\x1b[31mred\x1b[m", "\x1b[2J\x1b[H", "wide 漢字 ", "é", "\x1b[3;7H", "\x1b[?1049h", "\x1b[?1049l",
		"\x1b]0;a title\x07", "\x1b]133;A\x1b\\", "\x1b[6n", "\x1b[c", "\x1b]11;?\x1b\\", "\x1b[?2004h", "\x1b[?2004l", "\x1b[5;9r", "\x1b[r",
		"\x1bP+q544e\x1b\\", "\tq", "\x1b[>c", strings.Repeat("long ", 40), "\x1b[?25l", "\x1b[?1000h", "\x1b7\x1b[1;1H*\x1b8",
	}
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLog()
		os.Remove(filepath.Join(dir, checkpointFile))
		r := start(t, l, func(c *Config) { c.Dir = dir })
		defer r.stop()
		var clients []*display
		for range rapid.IntRange(5, 40).Draw(rt, "acts") {
			switch rapid.IntRange(0, 9).Draw(rt, "act") {
			default:
				text := ""
				for range rapid.IntRange(1, 8).Draw(rt, "n") {
					text += rapid.SampledFrom(fragments).Draw(rt, "fragment")
				}
				cut := rapid.IntRange(0, len(text)).Draw(rt, "cut")
				l.print(text[:cut])
				l.print(text[cut:])
			case 1:
				l.resize(rapid.IntRange(20, 90).Draw(rt, "cols"), rapid.IntRange(5, 30).Draw(rt, "rows"))
			case 2, 3:
				clients = append(clients, r.display(nil))
			case 4, 5:
				if len(clients) > 0 {
					c := rapid.SampledFrom(clients).Draw(rt, "client")
					for range rapid.IntRange(1, 4).Draw(rt, "frames") {
						c.step(time.Millisecond)
					}
				}
			case 6:
				if len(clients) > 0 {
					c := rapid.SampledFrom(clients).Draw(rt, "client")
					if c.screen != nil { // the connection is lost; the page comes back
						c.sub.Close()
						c.sub = r.Subscribe(SubscribeOptions{From: &c.offset})
					}
				}
			}
		}
		l.print("end")
		r.folded(l.head())
		clients = append(clients, r.display(nil))
		want := r.shows()
		for i, c := range clients {
			c.until(r)
			if got := seen(c.screen); got != want {
				rt.Fatalf("client %d of %d shows\n%s\nthe pane\n%s", i, len(clients), got, want)
			}
			c.sub.Close()
		}
	})
}

// A client that comes back gets what it missed, byte by byte, without the query in it.
func TestResumeIsExact(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	d := r.display(nil)
	l.print("one ")
	r.folded(4)
	d.until(r)
	d.sub.Close()
	l.print("two \x1b[", "6nthree")
	r.folded(l.head())
	sub := r.Subscribe(SubscribeOptions{From: &d.offset})
	defer sub.Close()
	got := ""
	for got != "two three" {
		frame, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if frame.Snapshot || frame.From != d.offset {
			t.Fatalf("got %+v", frame)
		}
		d.offset = frame.To
		if got += string(frame.Data); !strings.HasPrefix("two three", got) {
			t.Fatalf("got %q", got)
		}
	}
	if d.offset != l.head() {
		t.Errorf("the frames end at %d, the log at %d", d.offset, l.head())
	}
}

// superset#7423: bytes laid out for one width replayed in another.
func TestAResizeIsASyncBoundary(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	d := r.display(nil)
	l.print("before")
	r.folded(6)
	d.until(r)
	l.resize(30, 8)
	l.print(" after")
	r.folded(l.head())
	d.until(r)
	if d.snapshots != 2 || d.screen.Cols() != 30 {
		t.Errorf("%d snapshots, %d columns", d.snapshots, d.screen.Cols())
	}
	late := uint64(6)
	back := r.display(&late)
	back.until(r)
	if back.snapshots != 1 || seen(back.screen) != r.shows() {
		t.Errorf("%d snapshots, shows\n%s", back.snapshots, seen(back.screen))
	}
}

// orca#16633: a reply comes once, and never from a client.
func TestQueriesAreAnsweredOnce(t *testing.T) {
	l := newLog()
	dir := t.TempDir()
	in := func(c *Config) { c.Dir = dir }
	r := start(t, l, in)
	l.print("ab\x1b[6", "n")
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.replies) == 1, fmt.Sprint(l.replies)
	})
	if got := l.replies[0]; string(got.Data) != "\x1b[1;3R" || got.ReplyTo != 6 {
		t.Errorf("reply %q to %d", got.Data, got.ReplyTo)
	}
	r.stop()
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil {
		t.Fatal(err)
	}
	again := start(t, l, in) // folds the same bytes again
	l.print("\x1b[5n")
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.replies) == 2, fmt.Sprint(l.replies)
	})
	if got := string(l.replies[1].Data); got != "\x1b[0n" {
		t.Errorf("reply %q", got)
	}
	again.stop()
}

// One that does not read gets a snapshot when it is ready again; another one's frames
// come meanwhile, and the pane does not wait (spec terminal P3.2).
func TestASlowClientHoldsUpNobody(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	slow, fast := r.display(nil), r.display(nil)
	l.print("start\r\n")
	r.folded(7)
	slow.until(r)
	fast.until(r)
	before := slow.bytes
	line := strings.Repeat("0123456789", 500) + "\r\n"
	ctx := t.Context()
	taken := 0
	for i := range 1000 { // 5 MB
		l.print(line)
		if i%40 == 39 {
			r.folded(l.head())
		}
		if taken < Window { // never acknowledged
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			if frame, err := slow.sub.Next(short); err == nil {
				slow.take(frame)
				taken = slow.bytes - before
			}
			cancel()
		}
		for fast.step(0) {
		}
	}
	r.folded(l.head())
	fast.until(r)
	if fast.snapshots != 1 {
		t.Errorf("the fast client had %d snapshots", fast.snapshots)
	}
	if taken == 0 || taken > Window {
		t.Errorf("%d bytes went to a client that acknowledged nothing", taken)
	}
	if slow.step(20 * time.Millisecond); slow.snapshots != 1 {
		t.Error("a snapshot went to a client that was not ready")
	}
	slow.sub.Ack(slow.offset)
	slow.until(r)
	if slow.snapshots != 2 || seen(slow.screen) != r.shows() || seen(fast.screen) != r.shows() {
		t.Errorf("snapshots %d; slow\n%s\nfast\n%s", slow.snapshots, seen(slow.screen), seen(fast.screen))
	}
}

// The host dies; a new one starts from the checkpoint, shows the same and goes on.
func TestHostDeath(t *testing.T) {
	l := newLog()
	dir := t.TempDir()
	var mu sync.Mutex
	checkpoint := uint64(0)
	in := func(c *Config) {
		c.Dir = dir
		c.Persist = func(offset, _ uint64) error {
			mu.Lock()
			defer mu.Unlock()
			checkpoint = max(checkpoint, offset)
			return nil
		}
	}
	first := start(t, l, in)
	l.print("\x1b]2;named\x07\x1b[32mgreen\r\n", "漢"[:1])
	first.folded(l.head())
	page := first.display(nil)
	page.until(first)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { // a quiet second
		mu.Lock()
		defer mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		return checkpoint == l.end && l.retained > 0 && l.retained <= l.end-1, fmt.Sprintf("checkpoint %d, retained %d of %d", checkpoint, l.retained, l.end)
	})
	saved, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	l.forget(l.retained) // the keeper drops what it may
	l.print("漢"[1:], " more")
	first.folded(l.head())
	want := first.shows()
	first.stop()
	if err := os.WriteFile(filepath.Join(dir, checkpointFile), saved, 0o600); err != nil { // as after kill -9
		t.Fatal(err)
	}

	second := start(t, l, in)
	second.folded(l.head())
	if got := second.shows(); got != want {
		t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
	if v := second.View(); v.Title != "named" || v.Note != "" {
		t.Errorf("title %q, note %q", v.Title, v.Note)
	}
	page.sub = second.Subscribe(SubscribeOptions{From: &page.offset})
	defer page.sub.Close()
	page.until(second)
	if page.snapshots != 1 || seen(page.screen) != want {
		t.Errorf("the page had %d snapshots and shows\n%s", page.snapshots, seen(page.screen))
	}
}

// Without a readable checkpoint: what there is, said so, and the program repaints (P1.4).
func TestWithoutACheckpoint(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"missing": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 50) },
		"damaged": func(path string) error {
			b, err := os.ReadFile(path)
			b[len(b)/2] ^= 0x40
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog()
			dir := t.TempDir()
			in := func(c *Config) { c.Dir = dir }
			r := start(t, l, in)
			l.print("whole\r\n", "log\r\n")
			r.folded(l.head())
			want := r.shows()
			r.stop()
			if err := spoil(filepath.Join(dir, checkpointFile)); err != nil {
				t.Fatal(err)
			}
			r = start(t, l, in)
			r.folded(l.head())
			if got := r.shows(); got != want || r.View().Note != "" {
				t.Errorf("the log is whole, yet note %q, shows\n%s", r.View().Note, got)
			}
			r.stop()
			if err := spoil(filepath.Join(dir, checkpointFile)); err != nil {
				t.Fatal(err)
			}
			l.forget(7)
			r = start(t, l, in)
			testenv.Eventually(t, 5*time.Second, func() (bool, string) {
				asked := fmt.Sprint(l.asked())
				return asked == fmt.Sprint([][2]int{{testCols - 1, testRows}, {testCols, testRows}}), asked
			})
			if note := r.View().Note; note != "restored approximately" {
				t.Errorf("note %q", note)
			}
			if err := r.Wait(t.Context(), Condition{For: "text", Text: "log"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The exit comes after every byte, also to those who come later.
func TestExitIsTheLast(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	early := r.display(nil)
	l.print("last words")
	l.exit(3)
	if err := r.Wait(t.Context(), Condition{For: "exit"}); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*display{early, r.display(nil)} {
		for d.exit == nil {
			if !d.step(5 * time.Second) {
				t.Fatal("no exit came")
			}
		}
		if d.exit.Code != 3 || d.offset != l.head() || !strings.Contains(seen(d.screen), "last words") {
			t.Errorf("exit %d at %d, shows\n%s", d.exit.Code, d.offset, seen(d.screen))
		}
	}
	err := r.Input(t.Context(), "c", "1", []byte("x"))
	if !errors.Is(err, &davit.Error{Code: davit.CodePaneEnded}) {
		t.Errorf("typing into it: %v", err)
	}
}

// One pane's panic ends that pane, with its reason, and no other (style 16).
func TestAPanicEndsOnePane(t *testing.T) {
	bad := newLog()
	bad.breakage = func() { panic("a broken invariant") }
	l := newLog()
	good := start(t, l, nil)
	r := start(t, bad, nil)
	select {
	case err := <-r.ended:
		if err == nil || !strings.Contains(err.Error(), "broken invariant") {
			t.Errorf("Run returned %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Run goes on")
	}
	if r.View().Fault == "" {
		t.Error("the view does not say it")
	}
	if _, err := r.Text(t.Context(), 0); davit.CodeOf(err) != davit.CodeShuttingDown {
		t.Errorf("asking it: %v", err)
	}
	l.print("fine")
	good.folded(4)
}

// A string that never ends is held back from nobody's memory; what follows its end comes.
func TestAVeryLongString(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	d := r.display(nil)
	l.print("a\x1bPq")
	for range 20 {
		l.print(strings.Repeat("#1~", 4000))
	}
	r.folded(l.head())
	held := 0
	if err := r.do(t.Context(), func() { held = len(r.fold.tail) }); err != nil {
		t.Fatal(err)
	}
	if held > 2 {
		t.Errorf("%d pieces are held back", held)
	}
	late := r.display(nil)
	late.until(r)
	l.print("rest\x1b", "\\b")
	r.folded(l.head())
	d.until(r)
	late.until(r)
	for _, c := range []*display{d, late} {
		if got := seen(c.screen); got != r.shows() || !strings.Contains(got, "ab") {
			t.Errorf("shows\n%s", got)
		}
	}
}

// The stream breaks while the keeper lives: followed again, nothing twice.
func TestTheStreamIsFollowedAgain(t *testing.T) {
	l := newLog()
	r := start(t, &flaky{scriptedLog: l}, nil)
	for i := range 50 {
		l.print(fmt.Sprintf("%d,", i))
	}
	r.folded(l.head())
	text, err := r.Text(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(text.Rows, "")
	want := ""
	for i := range 50 {
		want += fmt.Sprintf("%d,", i)
	}
	if got != want {
		t.Errorf("shows %q", got)
	}
	if l.follows < 2 {
		t.Error("the stream never broke: the test shows nothing")
	}
}

// flaky breaks each of the first streams after a few frames.
type flaky struct {
	*scriptedLog
	streams int
}

func (f *flaky) Follow(ctx context.Context, pane string, from uint64) (Stream, error) {
	s, err := f.scriptedLog.Follow(ctx, pane, from)
	f.streams++
	if f.streams > 3 {
		return s, err
	}
	return &flakyStream{Stream: s, left: 4}, err
}

type flakyStream struct {
	Stream
	left int
}

func (s *flakyStream) Next() (keeper.Frame, error) {
	if s.left--; s.left < 0 {
		return keeper.Frame{}, errors.New("connection reset")
	}
	return s.Stream.Next()
}

// A host that is just back has an old screen for a moment: it is not shown to anybody,
// and a page that was further goes on where it was.
func TestNothingOlderIsShownAfterARestart(t *testing.T) {
	l := newLog()
	dir := t.TempDir()
	in := func(c *Config) { c.Dir = dir }
	first := start(t, l, in)
	l.print("\x1b]633;P;VIRTUAL_ENV=/venv\x07", "old")
	first.folded(l.head())
	first.stop()
	l.print(" new")
	page := l.head()
	l.hold(true)
	second := start(t, l, in)
	d := second.display(&page)
	d.screen = screen.New(testCols, testRows, screen.Options{})
	if d.step(20 * time.Millisecond) {
		t.Error("a frame came before the fold had caught up")
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if text, err := second.Text(short, 0); err == nil {
		t.Errorf("read %q", text.Rows[0])
	}
	l.hold(false)
	text, err := second.Text(t.Context(), 0)
	if err != nil || text.Rows[0] != "old new" {
		t.Errorf("read %q, %v", text.Rows, err)
	}
	if d.step(20 * time.Millisecond) {
		t.Error("a frame came to a page that has everything")
	}
	if props, err := second.Properties(t.Context()); err != nil || props["VIRTUAL_ENV"] != "/venv" {
		t.Errorf("properties %v, %v", props, err)
	}
}
