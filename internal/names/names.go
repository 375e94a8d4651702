// Package names makes readable names for branches: two words, then three, then
// words with a number (spec tabs T6.3).
//
// It is pure: the caller brings the random source and knows which names are
// taken.
package names

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

//go:embed words.txt
var words string

// Words is the list that names are made of: lower-case ASCII letters only.
func Words() []string { return strings.Fields(words) }

// Tries of each length before the next.
const (
	triesOfTwo   = 8
	triesOfThree = 8
)

// Generate makes a name that is not taken. pick(n) is a random number in
// [0,n); taken says whether a name is in use or in the way of one that is. It
// must answer no for some name with a number, or Generate never returns.
func Generate(pick func(n int) int, taken func(name string) bool) string {
	list := Words()
	for try := range triesOfTwo + triesOfThree {
		count := 2
		if try >= triesOfTwo {
			count = 3
		}
		if name := compose(list, count, pick); !taken(name) {
			return name
		}
	}
	base := compose(list, 3, pick)
	for n := 2; ; n++ {
		if name := base + "-" + strconv.Itoa(n); !taken(name) {
			return name
		}
	}
}

// compose joins count different words.
func compose(list []string, count int, pick func(n int) int) string {
	var chosen []string
	at := pick(len(list))
	for len(chosen) < count {
		word := list[at%len(list)]
		if slices.Contains(chosen, word) {
			at++ // the next word: ends even when pick always answers the same
			continue
		}
		chosen = append(chosen, word)
		at = pick(len(list))
	}
	return strings.Join(chosen, "-")
}
