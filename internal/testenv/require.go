// Package testenv is what tests of davit share: guards for programs that a machine may
// lack, leak checks, and stand-in servers on 127.0.0.1. Nothing outside of tests
// imports it.
package testenv

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// Require skips the test when a program is not on PATH. Under DAVIT_REQUIRE_ALL=1, as
// in CI, it fails instead: a skipped test must not hide there.
func Require(tb testing.TB, programs ...string) {
	tb.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("DAVIT_REQUIRE_ALL") == "1" {
				tb.Fatalf("%s is not installed, and DAVIT_REQUIRE_ALL=1 forbids skipping", program)
			}
			tb.Skipf("%s is not installed", program)
		}
	}
}

// Eventually polls a condition until it holds, and fails with what it last said. It is
// the way to wait in tests: it ends as soon as the condition holds.
func Eventually(tb testing.TB, limit time.Duration, condition func() (ok bool, state string)) {
	tb.Helper()
	deadline := time.Now().Add(limit)
	for {
		ok, state := condition()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("not within %s: %s", limit, state)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Lacks skips the test on a machine without something that no package brings, such as a
// control group that may be written, and says so. It skips under DAVIT_REQUIRE_ALL=1 too.
func Lacks(tb testing.TB, what string) {
	tb.Helper()
	tb.Skipf("this machine has no %s", what)
}
