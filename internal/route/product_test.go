package route

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"davit"
)

// product gives every combination of the preferences and the facts of L3.
func product(yield func(Facts)) {
	for _, surface := range []davit.Surface{"", davit.Structured, davit.Terminal} {
		for _, native := range []*bool{nil, yes(), no()} {
			for _, setting := range []davit.Surface{"", davit.Structured, davit.Terminal} {
				for _, sessions := range []Support{SupportYes, SupportNo, SupportUnknown, ""} {
					for set := range 1 << 7 {
						on := func(bit int) bool { return set>>bit&1 == 1 }
						f := Facts{
							AgentName: "Claude Code", Surface: surface, NativeChatDefault: native, DefaultSurface: setting, Sessions: sessions,
							HasDriver: on(0), Reuse: on(1), SSH: on(2), WSL: on(3), CallerRenders: on(4), Root: "/w",
						}
						if on(5) {
							f.ForeignHost = "build-box"
						}
						if on(6) {
							f.Cwd = "sub"
						}
						yield(f)
					}
				}
			}
		}
	}
}

// expected is L3 written down a second time, as the page says it.
func expected(f Facts, v Verdict) (mode, preferred davit.Surface, reason davit.Reason) {
	switch {
	case f.Surface != "":
		preferred, reason = f.Surface, davit.ReasonRequested
	case f.NativeChatDefault != nil:
		preferred, reason = map[bool]davit.Surface{true: davit.Structured, false: davit.Terminal}[*f.NativeChatDefault], davit.ReasonUserDefault
	case f.DefaultSurface == davit.Terminal || !f.HasDriver:
		preferred, reason = davit.Terminal, davit.ReasonUserDefault
	default:
		preferred, reason = davit.Structured, davit.ReasonUserDefault
	}
	if preferred == davit.Terminal {
		return davit.Terminal, preferred, reason
	}
	for _, r := range []struct {
		holds  bool
		reason davit.Reason
	}{
		{f.ForeignHost != "", "remote_execution_host"},
		{f.Reuse, "reused_terminal"},
		{!f.HasDriver, "agent_without_structured_session"},
		{f.Cwd != "", "tui_launch_command"},
		{f.SSH, "remote_execution_host"},
		{f.WSL, "wsl_execution_runtime"},
		{f.Sessions == SupportNo, "structured_sessions_unavailable"},
		{f.Sessions != SupportYes, "structured_support_unknown"},
		{!f.CallerRenders, "structured_sessions_unavailable"},
		{v == VerdictRefused, "structured_unsupported_on_host"},
		{v == VerdictRemote, "remote_execution_host"},
		{v == VerdictWSL, "wsl_execution_runtime"},
		{v != VerdictSupported, "structured_support_unknown"},
	} {
		if r.holds {
			return davit.Terminal, preferred, r.reason
		}
	}
	return davit.Structured, preferred, reason
}

// TestProduct decides under every preference × fact × verdict × driver, holds each
// decision to the rules, and files each sentence that can come of it.
func TestProduct(t *testing.T) { // spec launch L3.1, L3.2, L3.3, L3.4
	verdicts := []Verdict{VerdictSupported, VerdictRefused, VerdictRemote, VerdictWSL, VerdictUnknown, ""}
	said, decided := map[string]int{}, 0
	product(func(f Facts) {
		half := Decide(f)
		for _, v := range verdicts {
			d := Settle(half, v, "")
			decided++
			mode, preferred, reason := expected(f, v)
			if d.Mode != mode || d.Preferred != preferred || d.Reason != reason || d.AskHost {
				t.Fatalf("%+v, %s: %+v, want %s %s %s", f, v, d, mode, preferred, reason)
			}
			if d.Detail == "" || strings.Count(d.Detail, ".") != 1 || !strings.HasSuffix(d.Detail, ".") {
				t.Fatalf("not one sentence: %q", d.Detail)
			}
			said[fmt.Sprintf("%-10s %-10s %-34s %s", d.Preferred, d.Mode, d.Reason, d.Detail)]++
			if late := Refused(d, "it is too old."); d.Mode == davit.Terminal && late != d ||
				d.Mode == davit.Structured && (late.Mode != davit.Terminal || late.Reason != davit.ReasonUnsupportedOnHost || !strings.Contains(late.Detail, "(it is too old)")) {
				t.Fatalf("refused afterwards: %+v", late)
			}
		}
	})
	var text strings.Builder
	fmt.Fprintf(&text, "%d decisions, %d sentences\n", decided, len(said))
	for _, line := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprintf(&text, "%6d  %s\n", said[line], line)
	}
	const golden = "testdata/product.golden"
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
