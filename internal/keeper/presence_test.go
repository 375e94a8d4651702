package keeper

import (
	"testing"
	"time"

	"davit"
)

// When a host is there, awaited and gone (spec terminal P1.3).
func TestPresence(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	p := presence{heardWithin: 10 * time.Second, holdFor: time.Minute, lost: at(0)}
	check := func(when float64, want hostState) {
		t.Helper()
		if got, _ := p.state(at(when)); got != want {
			t.Errorf("at %v: %v, want %v", when, got, want)
		}
	}
	check(59, hostAwaited) // a fresh keeper waits for its first host
	check(60, hostGone)
	first, second := &conn{pid: 1}, &conn{pid: 2}
	fence, before := p.claim(first, "one", at(100))
	if fence != 1 || before != nil || p.check(1) != nil {
		t.Errorf("first claim: fence %d before %v", fence, before)
	}
	check(109, hostThere)
	check(111, hostAwaited) // silent
	check(171, hostGone)
	if c, _ := p.silent(3*time.Second, at(102)); c != nil {
		t.Error("pinged although heard 2 s ago")
	}
	if c, _ := p.silent(3*time.Second, at(104)); c != first {
		t.Error("not pinged after 4 s")
	}
	if c, _ := p.silent(3*time.Second, at(105)); c != nil {
		t.Error("pinged again after 1 s")
	}
	if !p.hear(1, at(171)) {
		t.Error("its coming back was not noticed")
	}
	check(172, hostThere)
	if fence, before = p.claim(second, "two", at(200)); fence != 2 || before != first {
		t.Errorf("second claim: fence %d before %v", fence, before)
	}
	if err := p.check(1); davit.CodeOf(err) != davit.CodeKeeperSuperseded {
		t.Errorf("the first host is answered %v", err)
	}
	p.hear(1, at(300)) // of no effect
	p.leave(first, true, at(201))
	check(209, hostThere)
	p.leave(second, false, at(209))
	check(268, hostAwaited)
	check(269, hostGone)
	p.claim(second, "two", at(300))
	p.leave(second, true, at(301))
	check(301, hostGone)
}
