package practice

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// faults are the ways to misbehave; the package comment says what each does.
type faults struct {
	late, work, mountLate, exitAfter          time.Duration
	timedExit                                 bool // exit-after was given
	ends                                      bool // exit or crash was given
	exit                                      int
	crash                                     string
	exitAt                                    string // initialize, new, permission
	dialog                                    string
	flood, hugeLine                           int
	earlyPaste, swallowKey, absorbEnter       bool
	noEffect, silent, never, double, twice    bool
	cutLines, halfLine, garbage, login, child bool
	ignoreTerm                                bool
}

func parseFaults(list string) (faults, error) {
	f := faults{work: 600 * time.Millisecond}
	switches := map[string]*bool{
		"early-paste-mode": &f.earlyPaste, "swallow-first-key": &f.swallowKey, "absorb-enter": &f.absorbEnter,
		"no-effect": &f.noEffect, "silent": &f.silent, "never": &f.never, "double": &f.double, "answer-twice": &f.twice,
		"cut-lines": &f.cutLines, "half-line": &f.halfLine, "garbage": &f.garbage, "login": &f.login, "child": &f.child,
		"ignore-sigterm": &f.ignoreTerm,
	}
	durations := map[string]*time.Duration{
		"late": &f.late, "work": &f.work, "mount-late": &f.mountLate, "exit-after": &f.exitAfter,
	}
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch {
		case switches[name] != nil:
			*switches[name] = true
		case durations[name] != nil:
			*durations[name], err = time.ParseDuration(value)
			f.timedExit = f.timedExit || name == "exit-after"
		case name == "exit":
			f.ends = true
			f.exit, err = strconv.Atoi(value)
		case name == "exit-at":
			f.exitAt = value
			if value != "initialize" && value != "new" && value != "permission" {
				err = fmt.Errorf("no such place")
			}
		case name == "crash":
			f.ends = true
			if f.crash = strings.TrimPrefix(value, "SIG"); f.crash == "" {
				f.crash = "SEGV"
			}
			_, err = signalNamed(f.crash)
		case name == "dialog":
			f.dialog = value
		case name == "flood":
			f.flood, err = parseSize(value, 1<<20)
		case name == "huge-line":
			f.hugeLine, err = parseSize(value, 50<<20)
		default:
			err = fmt.Errorf("no such fault")
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", word, err)
		}
	}
	return f, nil
}

func parseSize(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	factor := 1
	for suffix, f := range map[string]int{"KB": 1 << 10, "MB": 1 << 20} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = number, f
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<30/factor {
		return 0, fmt.Errorf("not a size up to 1024MB")
	}
	return n * factor, nil
}
