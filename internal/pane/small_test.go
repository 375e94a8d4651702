package pane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/testenv"
)

// orca#15799, #4221: who owns the size, and who gets it next (spec terminal P3.4).
func TestOwners(t *testing.T) {
	var o owners
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"nobody: the last size stays", func() {}, "0x0 false"},
		{"the first asks", func() { o.claim("desk", 200, 50) }, "200x50 true"},
		{"a phone asks", func() { o.claim("phone", 45, 30) }, "45x30 true"},
		{"the desk types", func() { o.typed("desk") }, "200x50 true"},
		{"a viewer types without a claim", func() { o.typed("viewer") }, "200x50 true"},
		{"the desk grows", func() { o.claim("desk", 210, 60) }, "210x60 true"},
		{"the phone turns, and so asks", func() { o.claim("phone", 80, 20) }, "80x20 true"},
		{"the phone is killed", func() { o.leave("phone") }, "210x60 true"},
		{"a stranger leaves", func() { o.leave("viewer") }, "210x60 true"},
		{"far too small", func() { o.claim("watch", 3, 2) }, "20x5 true"},
		{"far too large", func() { o.claim("wall", 1<<20, 1<<20) }, fmt.Sprintf("%dx%d true", maxCols, maxRows)},
		{"all leave", func() { o.leave("wall"); o.leave("watch"); o.leave("desk") }, "0x0 false"},
	} {
		step.do()
		cols, rows, ok := o.size()
		if got := fmt.Sprintf("%dx%d %v", cols, rows, ok); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

func TestTheOwnersSizeIsAsked(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	is := func(cols, rows int) {
		t.Helper()
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			v := r.View()
			return v.Cols == cols && v.Rows == rows, fmt.Sprintf("%dx%d", v.Cols, v.Rows)
		})
	}
	r.Claim("desk", 100, 30)
	is(100, 30)
	r.Claim("phone", 40, 20)
	is(40, 20)
	if err := r.Input(t.Context(), "desk", "k1", []byte("x")); err != nil {
		t.Fatal(err)
	}
	is(100, 30)
	r.Leave("desk")
	is(40, 20)
	r.Leave("phone")
	r.Claim("phone", 40, 20)
	l.print(".")
	r.folded(1)
	if asked := len(l.asked()); asked != 4 {
		t.Errorf("%d resizes: %v", asked, l.asked())
	}
}

func TestInput(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	ctx := t.Context()
	for _, id := range []string{"a", "b", "b", "c"} { // b is sent again after a reconnect
		if err := r.Input(ctx, "c", id, []byte(id)); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, in := range l.inputs {
		got += string(in.Data)
	}
	if got != "abc" {
		t.Errorf("the program got %q", got)
	}
	long := []byte(strings.Repeat("x", MaxCanonicalLine+1))
	if err := r.Input(ctx, "c", "d", long); err != nil {
		t.Errorf("a long line to a raw terminal: %v", err)
	}
	l.canonical = true
	if err := r.Input(ctx, "c", "e", long); !errors.Is(err, &davit.Error{Code: davit.CodePaneLineTooLong}) {
		t.Errorf("a long line to a canonical terminal: %v", err)
	}
	lines := []byte(strings.Repeat(strings.Repeat("x", MaxCanonicalLine)+"\n", 3))
	if err := r.Input(ctx, "c", "f", lines); err != nil {
		t.Errorf("lines that fit: %v", err)
	}
}

// A paste cannot end its own frame, and its line ends are the Enter key's.
func TestPasteBytes(t *testing.T) {
	for _, c := range []struct {
		text   string
		framed bool
		want   string
	}{
		{"a\nb\r\nc\rd\te", false, "a\rb\rc\rd\te"},
		{"x", true, "\x1b[200~x\x1b[201~"},
		{"evil\x1b[201~rm\n", true, "\x1b[200~evil␛[201~rm\r\x1b[201~"},
		{"\x03\x7f\u009b201~é漢", true, "\x1b[200~␃␡\ufffd201~é漢\x1b[201~"},
		{"bad \xff utf-8", false, "bad \xff utf-8"},
	} {
		if got := string(PasteBytes(c.text, c.framed)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestPasteIsFramedAsTheProgramAsked(t *testing.T) {
	l := newLog()
	r := start(t, l, nil)
	for i, mode := range []string{"", "\x1b[?2004h", "\x1b[?2004l"} {
		l.print(mode)
		r.folded(l.head())
		if err := r.Paste(t.Context(), "c", fmt.Sprint(i), "p"); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, in := range l.inputs {
		got += string(in.Data) + "|"
	}
	if want := "p|\x1b[200~p\x1b[201~|p|"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestBlocks(t *testing.T) {
	now := time.Unix(100, 0)
	zero, two := 0, 2
	var b blocks
	b.prompt(place{}, now)
	b.input(place{mark: 1, row: 4, column: 2})
	b.typed("make all")
	if b.State != blockInput || b.line != "make all" {
		t.Fatalf("%+v", b)
	}
	b.start(place{mark: 2, row: 5}, b.line, "/src", nil, now)
	b.finish(place{mark: 3, row: 9}, &zero, now)
	b.prompt(place{}, now)
	b.input(place{})
	if got := b.finish(place{}, &two, now); got != nil || b.Ended != 2 || *b.Last != 2 {
		t.Errorf("a D without a C made %+v", got)
	}
	b.start(place{mark: 4, row: 12}, "top", "/src", nil, now)
	if got := b.prompt(place{row: 14}, now); got == nil || got.Exit != nil || got.End == nil { // interrupted: no D
		t.Errorf("a prompt ended %+v", got)
	}
	if len(b.List) != 2 || b.Open != nil || b.Ended != 3 || b.Last != nil {
		t.Fatalf("%d blocks, open %v", len(b.List), b.Open)
	}
	if one := b.List[0]; one.FirstRow != 5 || one.LastRow != 8 || *one.Exit != 0 || one.Command != "make all" {
		t.Errorf("%+v", one.Block)
	}
	if two := b.List[1]; two.End == nil || two.Exit != nil || two.LastRow != 13 {
		t.Errorf("%+v", two.Block)
	}
	moved := b.rows(func(mark uint64) (uint64, bool) { return mark * 100, mark != 4 })
	if moved[0].FirstRow != 200 || moved[0].LastRow != 299 || moved[1].FirstRow != 12 {
		t.Errorf("after a reflow %+v", moved)
	}
	for range maxBlocks + 10 {
		b.start(place{}, "x", "/", nil, now)
	}
	if len(b.List) != maxBlocks {
		t.Errorf("%d blocks are kept", len(b.List))
	}
}

// TestPromptsOfBlocks: spec chips C5.1: the prompts of the newest commands are kept, by
// number and by size, and what has none says why.
func TestPromptsOfBlocks(t *testing.T) {
	var b blocks
	now := time.Unix(100, 0)
	b.start(place{}, "unseen", "/", nil, now)
	shown := func(n int) *davit.BlockPrompt {
		return &davit.BlockPrompt{Text: "x", Chips: []davit.Chip{{Kind: "cwd", Value: strings.Repeat("x", n), Text: "x"}}}
	}
	for range maxPrompts + 1 {
		b.start(place{}, "x", "/", shown(1), now)
	}
	list := b.rows(func(uint64) (uint64, bool) { return 0, false })
	if list[0].Prompt == nil || list[0].Prompt.Missing != promptUnseen || list[1].Prompt.Missing != promptOld || list[2].Prompt.Text != "x" {
		t.Errorf("%+v %+v %+v", list[0].Prompt, list[1].Prompt, list[2].Prompt)
	}
	for range 10 {
		b.start(place{}, "big", "/", shown(maxPromptBytes/8), now)
	}
	size := 0
	for _, one := range b.List {
		if one.Prompt != nil {
			size += promptSize(one.Prompt)
		}
	}
	last := b.List[len(b.List)-1].Prompt
	if limit := maxPromptBytes + len(b.List)*len(promptOld); size > limit || len(last.Chips) != 1 {
		t.Errorf("%d bytes of prompts are kept, at most %d; the last is %+v", size, limit, last.Missing)
	}
}

// Effects that would be noticed twice are stored first; a host that comes later, or a
// store that does not take them, leaves them out (spec terminal P2.3).
func TestEffectsHappenAtMostOnce(t *testing.T) {
	l := newLog()
	dir := t.TempDir()
	told := make(chan Event, 100)
	stored := make(chan uint64, 100)
	var fault error
	in := func(through uint64) func(*Config) {
		return func(c *Config) {
			c.Dir, c.EffectsThrough = dir, through
			c.Events = func(e Event) { told <- e }
			c.Persist = func(_, effects uint64) error {
				if effects > 0 && fault == nil {
					stored <- effects
				}
				return fault
			}
		}
	}
	r := start(t, l, in(0))
	l.print("\x1b]9;done\x07")
	e := <-told
	if e.Kind != EventNotification || e.Text != "done" {
		t.Fatalf("told %+v", e)
	}
	through := <-stored // before it was told, and not below it
	if through < e.At {
		t.Errorf("stored %d, told at %d", through, e.At)
	}
	r.stop()

	fault = errors.New("disk full")
	removeCheckpoint(t, dir) // the next host folds everything again
	r = start(t, l, in(through))
	l.print("\x1b]2;t\x07", "\a")
	if e := <-told; e.Kind != EventTitle || e.View.Title != "t" {
		t.Errorf("told %+v", e)
	}
	r.folded(l.head())
	r.stop()
	select {
	case e := <-told:
		t.Errorf("told %+v", e)
	default:
	}
}

func removeCheckpoint(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil {
		t.Fatal(err)
	}
}
