package chip

import (
	"fmt"
	"strconv"
	"strings"

	"davit"
)

// mostCounted is the largest count that is written out: more is 999+.
const mostCounted = 999

// Tracking is where a branch stands against its upstream.
type Tracking struct {
	Upstream    string // short name, "" without one
	Ahead       int
	Behind      int
	Rebased     bool // nothing but commits that say the same
	Unavailable bool // there is an upstream that cannot be counted against
}

// NewStatus is the branch with how far it is ahead of and behind its upstream. Without an
// upstream, or without counts, it is the branch alone.
func NewStatus(branch davit.Chip, t Tracking) davit.Chip {
	c := branch
	c.Kind = string(GitStatus)
	data := davit.ChipData{}
	if branch.Data != nil {
		data = *branch.Data
	}
	data.Upstream, data.Ahead, data.Behind, data.Rebased, data.CountsUnavailable = t.Upstream, t.Ahead, t.Behind, t.Rebased, t.Unavailable
	c.Data = &data
	switch {
	case t.Upstream == "":
		c.Reason = "no upstream is configured"
	case t.Unavailable:
		c.Reason = "the upstream " + Line(t.Upstream, maxTold) + " cannot be counted against"
	}
	c.Text = StatusText(branch.Text, t)
	c.Value = c.Text
	return c
}

// StatusText writes a branch with its counts: `main • ↑1 ↓2`, `main • ⇅`, `main`.
func StatusText(branch string, t Tracking) string {
	switch {
	case t.Upstream == "" || t.Unavailable:
		return branch
	case t.Rebased && t.Ahead == 0 && t.Behind == 0:
		return branch + " • ⇅"
	}
	var parts []string
	if t.Ahead > 0 {
		parts = append(parts, "↑"+counted(t.Ahead))
	}
	if t.Behind > 0 {
		parts = append(parts, "↓"+counted(t.Behind))
	}
	if len(parts) == 0 {
		return branch
	}
	return branch + " • " + strings.Join(parts, " ")
}

func counted(n int) string {
	if n > mostCounted {
		return fmt.Sprintf("%d+", mostCounted)
	}
	return strconv.Itoa(n)
}

// ParseStatus reads what StatusText wrote. It looks from the right, and only at what is
// made of counts alone: a branch may have ` • ` in its own name. 999+ reads as 1000.
func ParseStatus(text string) (branch string, t Tracking) {
	i := strings.LastIndex(text, " • ")
	if i < 0 {
		return text, Tracking{}
	}
	branch, counts := text[:i], text[i+len(" • "):]
	for _, part := range strings.Split(counts, " ") {
		n, arrow := 0, ""
		for _, mark := range []string{"↑", "↓"} {
			if digits, ok := strings.CutPrefix(part, mark); ok {
				n, arrow = uncounted(digits), mark
			}
		}
		switch {
		case part == "⇅":
			t.Rebased = true
		case arrow == "↑" && n > 0:
			t.Ahead = n
		case arrow == "↓" && n > 0:
			t.Behind = n
		default:
			return text, Tracking{}
		}
	}
	return branch, t
}

func uncounted(digits string) int {
	if digits == fmt.Sprintf("%d+", mostCounted) {
		return mostCounted + 1
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > mostCounted || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}
