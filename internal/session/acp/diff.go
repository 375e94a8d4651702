package acp

import (
	"fmt"
	"reflect"
	"strings"

	"davit"
)

// toolDiff takes one diff of a tool call's content. The n-th diff of a path goes on with the
// n-th one that is known of it; a row is made when it is new or has changed.
func (c *Conversation) toolDiff(s *Step, one *tool, o *object, used map[string]bool, notes *[]string) ([]Row, bool) {
	path, ok := get[string](o, "path")
	text, fine := get[string](o, "newText")
	if !ok || !fine {
		return nil, false
	}
	old, there := get[string](o, "oldText")
	diff := davit.FileDiff{Tool: one.item, Path: short(path, maxPath)}
	diff.Added, diff.Removed = countLines(valid(old), valid(text))
	var payloads []*Payload
	var p *Payload
	diff.New, p = textBlob(text, "text/plain")
	payloads = append(payloads, p)
	if there {
		blob, p := textBlob(old, "text/plain")
		diff.Old = &blob
		payloads = append(payloads, p)
	}
	known := one.diffOf(diff.Path, used)
	switch {
	case known != nil && reflect.DeepEqual(known.diff, diff):
		return nil, true
	case known == nil && len(one.diffs) == maxDiffs:
		*notes = append(*notes, fmt.Sprintf("These are the first %d of its diffs.", maxDiffs))
		return nil, true
	case known == nil:
		c.interrupt()
		known = &fileDiff{ref: c.mint(davit.JournalDiff)}
		one.diffs = append(one.diffs, known)
		used[known.item] = true
		one.call.Diffs = append(one.call.Diffs[:len(one.call.Diffs):len(one.call.Diffs)], known.item)
	}
	for _, p := range payloads {
		s.keep(p)
	}
	known.diff = diff
	return []Row{known.row(davit.JournalDiff, davit.JournalBody{Diff: &diff})}, true
}

// diffOf finds the next diff of a path that this update has not met yet.
func (t *tool) diffOf(path string, used map[string]bool) *fileDiff {
	for _, d := range t.diffs {
		if d.diff.Path == path && !used[d.item] {
			used[d.item] = true
			return d
		}
	}
	return nil
}

// diffWork bounds the comparisons of one diff, diffEdits its length; past them every line
// between the common beginning and end counts as changed.
const (
	diffWork  = 4 << 20
	diffEdits = 2000
)

// countLines counts the lines that a diff adds and removes.
func countLines(old, text string) (added, removed int) {
	a, b := splitLines(old), splitLines(text)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return len(b), len(a)
	}
	ids := map[string]int{}
	edits, ok := shortestEdit(number(ids, a), number(ids, b))
	if !ok {
		return len(b), len(a)
	}
	added = (edits + len(b) - len(a)) / 2
	return added, edits - added
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// number gives equal lines equal numbers, so that comparing them costs the same at any length.
func number(ids map[string]int, lines []string) []int {
	numbers := make([]int, len(lines))
	for i, line := range lines {
		id, ok := ids[line]
		if !ok {
			id = len(ids)
			ids[line] = id
		}
		numbers[i] = id
	}
	return numbers
}

// shortestEdit is the length of the shortest edit script (Myers, O(ND)), within bounds.
func shortestEdit(a, b []int) (int, bool) {
	limit := min(len(a)+len(b), diffEdits)
	reach := make([]int, 2*limit+2)
	work := 0
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			at := k + limit
			var x int
			switch {
			case d == 0:
			case k == -d || k != d && reach[at-1] < reach[at+1]:
				x = reach[at+1]
			default:
				x = reach[at-1] + 1
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
				work++
			}
			reach[at] = x
			if x >= len(a) && x-k >= len(b) {
				return d, true
			}
		}
		if work += d; work > diffWork {
			return 0, false
		}
	}
	return 0, false
}
