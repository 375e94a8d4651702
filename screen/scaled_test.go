package screen

import (
	"flag"
	"testing"
)

var rounds = flag.Int("rounds", 1, "multiply the rounds of tests with random input")

// scaled is how many of n rounds a test does: fewer when it must be short or
// runs under the race detector, which can find nothing here but slowness.
func scaled(n int) int {
	switch {
	case *rounds > 1:
		return n * *rounds
	case testing.Short():
		return max(1, n/10)
	case raceDetector:
		return max(1, n/8)
	}
	return n
}
