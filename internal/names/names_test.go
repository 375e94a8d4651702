package names

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWordsAreManyPlainAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	plain := regexp.MustCompile(`^[a-z]+$`)
	for _, w := range Words() {
		if seen[w] {
			t.Errorf("%q twice", w)
		}
		if !plain.MatchString(w) {
			t.Errorf("%q is not plain", w)
		}
		seen[w] = true
	}
	if len(seen) < 400 {
		t.Errorf("%d words, want at least 400 (spec tabs T6.3)", len(seen))
	}
}

func TestGenerateGrowsFromTwoWordsToANumber(t *testing.T) {
	parts := func(max int) string {
		return Generate(func(n int) int { return 0 }, func(name string) bool { return strings.Count(name, "-") < max })
	}
	list := Words()
	two := list[0] + "-" + list[1]
	for max, want := range map[int]string{1: two, 2: two + "-" + list[2], 3: two + "-" + list[2] + "-2"} {
		if got := parts(max); got != want {
			t.Errorf("with all names of %d words taken: %q, want %q", max, got, want)
		}
	}
	n := 0
	got := Generate(func(n int) int { return n - 1 }, func(name string) bool { n++; return n < 20 })
	if !regexp.MustCompile(`^[a-z]+-[a-z]+-[a-z]+-5$`).MatchString(got) {
		t.Errorf("after 19 taken names: %q", got)
	}
}

func TestGenerateProperty(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+){1,2}(-[0-9]+)?$`)
	rapid.Check(t, func(t *rapid.T) {
		taken := map[string]bool{}
		pick := func(n int) int { return rapid.IntRange(0, min(n-1, 3)).Draw(t, "pick") }
		for range 30 {
			name := Generate(pick, func(name string) bool { return taken[name] })
			if taken[name] || !form.MatchString(name) {
				t.Fatalf("%q: taken %v", name, taken[name])
			}
			words := strings.Split(name, "-")
			if words[0] == words[1] {
				t.Fatalf("%q repeats a word", name)
			}
			taken[name] = true
		}
	})
}
