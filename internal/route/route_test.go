package route

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"davit"
)

var update = flag.Bool("update", false, "write the golden files")

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// chat are facts under which a chat is chosen.
func chat() Facts {
	return Facts{AgentName: "Claude Code", HasDriver: true, Root: "/w", Sessions: SupportYes, CallerRenders: true}
}

func TestPreference(t *testing.T) { // spec launch L3.1
	for _, c := range []struct {
		name      string
		change    func(*Facts)
		preferred davit.Surface
		reason    davit.Reason
	}{
		{"nothing said", func(*Facts) {}, davit.Structured, davit.ReasonUserDefault},
		{"setting terminal", func(f *Facts) { f.DefaultSurface = davit.Terminal }, davit.Terminal, davit.ReasonUserDefault},
		{"setting structured", func(f *Facts) { f.DefaultSurface = davit.Structured }, davit.Structured, davit.ReasonUserDefault},
		{"device before setting", func(f *Facts) { f.NativeChatDefault, f.DefaultSurface = yes(), davit.Terminal }, davit.Structured, davit.ReasonUserDefault},
		{"device no", func(f *Facts) { f.NativeChatDefault = no() }, davit.Terminal, davit.ReasonUserDefault},
		{"pick before device", func(f *Facts) { f.Surface, f.NativeChatDefault = davit.Structured, no() }, davit.Structured, davit.ReasonRequested},
		{"pick terminal", func(f *Facts) { f.Surface, f.NativeChatDefault = davit.Terminal, yes() }, davit.Terminal, davit.ReasonRequested},
		{"no driver", func(f *Facts) { f.HasDriver = false }, davit.Terminal, davit.ReasonUserDefault},
		{"no driver, setting structured", func(f *Facts) { f.HasDriver, f.DefaultSurface = false, davit.Structured }, davit.Terminal, davit.ReasonUserDefault},
		{"no driver, chat picked", func(f *Facts) { f.HasDriver, f.Surface = false, davit.Structured }, davit.Structured, davit.ReasonNoDriver},
		{"no driver, device chat", func(f *Facts) { f.HasDriver, f.NativeChatDefault = false, yes() }, davit.Structured, davit.ReasonNoDriver},
	} {
		f := chat()
		c.change(&f)
		d := Decide(f)
		if d.Preferred != c.preferred || d.Reason != c.reason {
			t.Errorf("%s: %s %s, want %s %s", c.name, d.Preferred, d.Reason, c.preferred, c.reason)
		}
	}
}

func TestPreferredTerminalAsksNothingElse(t *testing.T) { // spec launch L3.1
	f := Facts{Surface: davit.Terminal, ForeignHost: "h", Reuse: true, Cwd: "/else", SSH: true, WSL: true, Sessions: SupportNo}
	if d := Decide(f); d.Mode != davit.Terminal || d.Reason != davit.ReasonRequested || d.AskHost {
		t.Fatalf("%+v", d)
	}
	f.Surface, f.NativeChatDefault = "", no()
	if d := Decide(f); d.Mode != davit.Terminal || d.Reason != davit.ReasonUserDefault || d.AskHost {
		t.Fatalf("%+v", d)
	}
}

// hinders are the rows of L3.2 in their order, each as the change that makes it hold.
var hinders = []struct {
	name   string
	change func(*Facts)
	reason davit.Reason
}{
	{"1 foreign host", func(f *Facts) { f.ForeignHost = "build-box" }, davit.ReasonRemoteHost},
	{"2 reuse", func(f *Facts) { f.Reuse = true }, davit.ReasonReusedTerminal},
	{"3 no driver", func(f *Facts) { f.HasDriver = false }, davit.ReasonNoDriver},
	{"4 cwd", func(f *Facts) { f.Cwd = "sub" }, davit.ReasonLaunchCommand},
	{"4 resume", func(f *Facts) { f.Resume = true }, davit.ReasonLaunchCommand},
	{"5 ssh", func(f *Facts) { f.SSH = true }, davit.ReasonRemoteHost},
	{"6 wsl", func(f *Facts) { f.WSL = true }, davit.ReasonWSL},
	{"7 no sessions", func(f *Facts) { f.Sessions = SupportNo }, davit.ReasonSessionsUnavailable},
	{"8 unknown", func(f *Facts) { f.Sessions = SupportUnknown }, davit.ReasonSupportUnknown},
	{"9 cannot show", func(f *Facts) { f.CallerRenders = false }, davit.ReasonSessionsUnavailable},
}

// TestFirstRowThatHoldsWins goes through every combination of the nine rows (the fourth has two
// causes) under every preference: 1024 × 3 decisions, and the verdicts after those that ask.
func TestFirstRowThatHoldsWins(t *testing.T) { // spec launch L3.2, L3.3
	wants := []struct {
		change func(*Facts)
		reason davit.Reason
	}{
		{func(f *Facts) { f.Surface = davit.Structured }, davit.ReasonRequested},
		{func(f *Facts) { f.NativeChatDefault = yes() }, davit.ReasonUserDefault},
		{func(f *Facts) { f.DefaultSurface = davit.Structured }, davit.ReasonUserDefault},
	}
	verdicts := map[Verdict]davit.Reason{
		VerdictRefused: davit.ReasonUnsupportedOnHost, VerdictRemote: davit.ReasonRemoteHost,
		VerdictWSL: davit.ReasonWSL, VerdictUnknown: davit.ReasonSupportUnknown, "": davit.ReasonSupportUnknown, "newer word": davit.ReasonSupportUnknown,
	}
	for set := range 1 << len(hinders) {
		for w, want := range wants {
			f := chat()
			want.change(&f)
			first := -1
			for i, h := range hinders {
				if set&(1<<i) == 0 || (i == 7 && set&(1<<8) != 0) { // 7 and 8 are two values of one fact
					continue
				}
				h.change(&f)
				if first < 0 {
					first = i
				}
			}
			d := Decide(f)
			if d.Detail == "" || !strings.HasSuffix(d.Detail, ".") || strings.Count(d.Detail, ".") != 1 {
				t.Fatalf("not one sentence: %q", d.Detail)
			}
			if w == 2 && !f.HasDriver { // L3.1: nobody asked for a chat
				if d.Preferred != davit.Terminal || d.Mode != davit.Terminal || d.Reason != davit.ReasonUserDefault {
					t.Fatalf("%+v: %+v", f, d)
				}
				continue
			}
			if d.Preferred != davit.Structured {
				t.Fatalf("%+v: preferred %s", f, d.Preferred)
			}
			if first >= 0 {
				if d.Mode != davit.Terminal || d.Reason != hinders[first].reason || d.AskHost {
					t.Fatalf("%s first: %+v", hinders[first].name, d)
				}
				if again := Settle(d, VerdictSupported, ""); again != d {
					t.Fatalf("half two changed what half one decided: %+v", again)
				}
				continue
			}
			if d.Mode != davit.Structured || d.Reason != want.reason || !d.AskHost {
				t.Fatalf("nothing hinders: %+v", d)
			}
			if s := Settle(d, VerdictSupported, ""); s.Mode != davit.Structured || s.Reason != want.reason || s.AskHost {
				t.Fatalf("supported: %+v", s)
			}
			for verdict, reason := range verdicts {
				if s := Settle(d, verdict, ""); s.Mode != davit.Terminal || s.Reason != reason || s.Preferred != davit.Structured || s.AskHost {
					t.Fatalf("%s: %+v", verdict, s)
				}
			}
		}
	}
}

func TestCwd(t *testing.T) { // spec launch L3.2 row 4
	for _, c := range []struct {
		cwd, root string
		elsewhere bool
	}{
		{"", "/w", false}, {"  ", "/w", false}, {"", "", false}, {" ", "", false},
		{"/w", "/w", false}, {"/w/", "/w", false}, {"/w", "/w/", false}, {"/w/a/..", "/w", false}, {"//w", "/w", false},
		{".", "/w", false}, {"./", "/w", false}, {"a/..", "/w", false},
		{"a", "/w", true}, {"/w/a", "/w", true}, {"..", "/w", true}, {"/", "/w", true}, {"/w2", "/w", true},
		{"/w", "", true}, {".", "", true},
	} {
		f := chat()
		f.Cwd, f.Root = c.cwd, c.root
		if d := Decide(f); (d.Reason == davit.ReasonLaunchCommand) != c.elsewhere {
			t.Errorf("cwd %q in %q: %s", c.cwd, c.root, d.Reason)
		}
	}
}

func TestSentences(t *testing.T) { // spec launch L3.4
	var text strings.Builder
	tell := func(name string, d Decision) {
		fmt.Fprintf(&text, "%-28s %-10s %-34s %s\n", name, d.Mode, d.Reason, d.Detail)
	}
	wishes := []struct {
		name   string
		change func(*Facts)
	}{
		{"pick chat", func(f *Facts) { f.Surface = davit.Structured }},
		{"pick terminal", func(f *Facts) { f.Surface = davit.Terminal }},
		{"device chat", func(f *Facts) { f.NativeChatDefault = yes() }},
		{"device terminal", func(f *Facts) { f.NativeChatDefault = no() }},
		{"setting chat", func(*Facts) {}},
		{"setting terminal", func(f *Facts) { f.DefaultSurface = davit.Terminal }},
		{"no driver", func(f *Facts) { f.HasDriver = false }},
	}
	for _, w := range wishes {
		for _, reuse := range []bool{false, true} {
			f := chat()
			w.change(&f)
			f.Reuse = reuse
			name := w.name
			if reuse {
				name += ", reuse"
			}
			tell(name, Decide(f))
		}
	}
	for _, h := range hinders {
		f := chat()
		f.Surface = davit.Structured
		h.change(&f)
		tell(h.name, Decide(f))
	}
	for _, v := range []Verdict{VerdictSupported, VerdictRefused, VerdictRemote, VerdictWSL, VerdictUnknown} {
		tell("host: "+string(v), Settle(Decide(chat()), v, ""))
	}
	f := chat()
	f.AgentName, f.HasDriver = "", false
	tell("nameless", Decide(f))

	const golden = "testdata/sentences.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Fatal(diff)
	}
}

// TestPromptNeverOverclaims goes through every combination of facts.
func TestPromptNeverOverclaims(t *testing.T) { // spec launch L2.2, L7
	for bits := range 1 << 5 {
		for _, mode := range []davit.Surface{davit.Structured, davit.Terminal} {
			for _, delivery := range []string{Submit, Draft} {
				d := Delivered{Mode: mode, Delivery: delivery, Rode: bits&1 != 0, Pasted: bits&2 != 0, Placed: bits&4 != 0, Owed: bits&8 != 0}
				if bits&16 != 0 {
					d.MessageID = "m"
				}
				r := Prompt(d)
				if r.Delivery != delivery {
					t.Fatalf("%+v: %+v", d, r)
				}
				if (r.Outcome == davit.PromptJournaled) != (r.MessageID != "") {
					t.Fatalf("only journaled, and always, carries a message id: %+v", r)
				}
				want := davit.PromptNotDelivered
				switch {
				case delivery == Draft:
				case mode == davit.Structured && d.MessageID != "":
					want = davit.PromptJournaled
				case mode == davit.Terminal && (d.Rode || d.Pasted):
					want = davit.PromptHanded
				case d.Owed:
					want = davit.PromptUnconfirmed
				}
				if r.Outcome != want || r.DraftPlaced != (delivery == Draft && d.Placed) {
					t.Fatalf("%+v: %+v, want %s", d, r, want)
				}
			}
		}
	}
}

func TestUnconfirmedIsForThoseWhoKnowIt(t *testing.T) { // spec launch L1.2, L2.2
	unconfirmed := &davit.PromptReceipt{Delivery: Submit, Outcome: davit.PromptUnconfirmed}
	for _, c := range []struct {
		prompt       *davit.PromptReceipt
		capabilities []string
		told         bool
	}{
		{unconfirmed, nil, true},
		{unconfirmed, []string{}, false},
		{unconfirmed, []string{davit.CapLaunch}, false},
		{unconfirmed, []string{davit.CapLaunch, davit.CapPromptUnconfirmed}, true},
		{nil, []string{}, true},
		{&davit.PromptReceipt{Outcome: davit.PromptHanded}, []string{}, true},
	} {
		if got := ReplayedPrompt(c.prompt, c.capabilities); got != c.told {
			t.Errorf("%+v to %v: %v", c.prompt, c.capabilities, got)
		}
	}
}
