package chip

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Pace is how often one shared thing is fetched (spec chips C2.5).
type Pace struct {
	Every  time.Duration // by timer, at most
	After  time.Duration // between two fetches when something invalidated the first
	Spread time.Duration // by timer: room for each thing of the same forge, so that many do not eat its quota
	Slow   time.Duration // the longest wait after failures
}

// PullRequestPace is that of pull requests: a minute by timer, ten seconds when
// something was pushed; at most ten calls a minute by timer at one forge.
func PullRequestPace() Pace {
	return Pace{Every: time.Minute, After: 10 * time.Second, Spread: 6 * time.Second, Slow: 16 * time.Minute}
}

// Past is what is known of the fetches so far.
type Past struct {
	Began       time.Time // the last one; zero: never
	Failures    int       // in a row
	Invalidated bool      // since it began
	Settled     bool      // it cannot come out otherwise until something changes
	Until       time.Time // of a rate limit
	Peers       int       // things that are fetched from the same forge
}

// Due says when the next fetch may begin; ever is false while only a change can bring one.
func (p Pace) Due(past Past) (at time.Time, ever bool) {
	switch {
	case past.Began.IsZero():
	case past.Invalidated:
		at = past.Began.Add(p.After)
	case past.Settled:
		return time.Time{}, false
	default:
		wait := max(p.Every, p.Spread*time.Duration(past.Peers))
		for range min(past.Failures, 10) {
			wait = min(2*wait, max(p.Slow, p.Every))
		}
		at = past.Began.Add(wait)
	}
	if past.Until.After(at) {
		at = past.Until
	}
	return at, true
}

// How long a rate limit holds that names no time, and at most.
const (
	primaryLimit   = 15 * time.Minute
	secondaryLimit = 5 * time.Minute
	longestLimit   = 65 * time.Minute
)

var (
	resetSeconds = regexp.MustCompile(`(?i)x-ratelimit-reset"?: *"?(\d{9,11})\b`)
	resetTime    = regexp.MustCompile(`(?i)\b(?:resets?|until|again|after)\b[^0-9\n]{0,24}(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:Z| ?UTC|[+-]\d\d:\d\d)?)`)
	resetIn      = regexp.MustCompile(`(?i)\b(?:retry[- ]after|resets? in|again in|wait)\b[":]* *"?((?:\d+ *(?:h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)? *)+)`)
	amount       = regexp.MustCompile(`(?i)(\d+) *(h|m|s)?`)
)

// RateLimit says until when a rate limit holds, by what its message names: a time, or a
// span from now. A message that names neither holds for some minutes. No limit holds
// longer than an hour and five minutes: that is how long GitHub counts.
func RateLimit(stderr string, now time.Time) time.Time {
	until := now.Add(primaryLimit)
	if strings.Contains(strings.ToLower(stderr), "secondary") {
		until = now.Add(secondaryLimit)
	}
	if m := resetSeconds.FindStringSubmatch(stderr); m != nil {
		if seconds, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			until = time.Unix(seconds, 0)
		}
	} else if m := resetTime.FindStringSubmatch(stderr); m != nil {
		text := strings.TrimSuffix(strings.TrimSuffix(strings.Replace(m[1], " ", "T", 1), "UTC"), " ")
		if !strings.HasSuffix(text, "Z") && !strings.ContainsAny(text[19:], "+-") {
			text += "Z"
		}
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			until = at
		}
	} else if m := resetIn.FindStringSubmatch(stderr); m != nil {
		until = now.Add(span(m[1]))
	}
	if latest := now.Add(longestLimit); until.After(latest) {
		return latest
	}
	if earliest := now.Add(time.Second); until.Before(earliest) {
		return earliest
	}
	return until
}

// span reads "35m12s", "5 minutes", "60" (seconds).
func span(text string) time.Duration {
	var sum time.Duration
	for _, m := range amount.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > 100_000 {
			return longestLimit
		}
		unit := time.Second
		switch strings.ToLower(m[2]) {
		case "h":
			unit = time.Hour
		case "m":
			unit = time.Minute
		}
		sum += time.Duration(n) * unit
	}
	return sum
}
