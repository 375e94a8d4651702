package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Tracking is where a branch stands against its upstream.
type Tracking struct {
	Upstream string // short name: origin/main; "" without one
	Counted  bool   // Ahead and Behind are known: the upstream is there
	Ahead    int
	Behind   int
	Same     int // changes that both sides have in commits of their own; only CherryMark tells
}

// StatusTracking is Status and, by the same call, how the branch stands.
func (r Runner) StatusTracking(ctx context.Context, dir string, o StatusOptions) ([]StatusEntry, Tracking, error) {
	out, err := r.Read(ctx, dir, append(statusArgs(o), "--branch")...)
	if err != nil {
		return nil, Tracking{}, err
	}
	entries, err := parseStatus(string(out))
	if err != nil {
		return nil, Tracking{}, err
	}
	tracking, err := parseTracking(string(out))
	return entries, tracking, err
}

// parseTracking reads the headers that stand before the entries.
func parseTracking(out string) (Tracking, error) {
	var t Tracking
	if !strings.HasPrefix(out, "# branch.") { // git has the header even where there is nothing else to say
		return t, fmt.Errorf("%w: status without a branch: %q", ErrGarbage, cut(out))
	}
	for strings.HasPrefix(out, "# ") {
		line, rest, _ := strings.Cut(out, "\x00")
		out = rest
		if name, ok := strings.CutPrefix(line, "# branch.upstream "); ok {
			t.Upstream = name
		}
		counts, ok := strings.CutPrefix(line, "# branch.ab ")
		if !ok {
			continue
		}
		ahead, behind, two := strings.Cut(counts, " ")
		a, errA := strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		b, errB := strconv.Atoi(strings.TrimPrefix(behind, "-"))
		if !two || errA != nil || errB != nil || a < 0 || b < 0 {
			return t, fmt.Errorf("%w: branch.ab %q", ErrGarbage, cut(counts))
		}
		t.Ahead, t.Behind, t.Counted = a, b, true
	}
	return t, nil
}

// CherryMark counts HEAD against its upstream, leaving out of both sides the changes that
// the other one has in a commit of its own: those of a rebased branch.
func (r Runner) CherryMark(ctx context.Context, dir string) (ahead, behind, same int, err error) {
	out, err := r.Read(ctx, dir, "rev-list", "--left-right", "--cherry-mark", "--count", "HEAD...@{upstream}", "--")
	if err != nil {
		return 0, 0, 0, err
	}
	if _, err := fmt.Sscanf(string(out), "%d\t%d\t%d", &ahead, &behind, &same); err != nil {
		return 0, 0, 0, fmt.Errorf("%w: counts %q", ErrGarbage, cut(string(out)))
	}
	return ahead, behind, same, nil
}

// UpstreamStamp is a word that changes when a remote branch of that short name moves:
// its loose ref and the packed ones, by time and size.
func UpstreamStamp(repo Repository, upstream string) string {
	var b strings.Builder
	for _, file := range []string{filepath.Join("refs", "remotes", upstream), filepath.Join("refs", "heads", upstream), "packed-refs", filepath.Join("reftable", "tables.list")} {
		if info, err := os.Stat(filepath.Join(repo.CommonDir, file)); err == nil {
			fmt.Fprintf(&b, "%d:%d ", info.ModTime().UnixNano(), info.Size())
		}
	}
	return b.String()
}
