package agent

import (
	"regexp"
	"slices"
	"strings"
)

// Look is what a terminal shows at one moment.
type Look struct {
	Title string
	Lines []string // the screen's rows, top to bottom, trailing blanks cut
	Paste bool     // bracketed paste is on
}

// IsReady tells whether the agent's composer takes a paste now: its signature holds, no
// dialog is in the way and its title does not say that it works (spec launch L7.2, and
// L7's "once idle"). An agent without a signature is ready once bracketed paste is on.
func (a Agent) IsReady(look Look) bool {
	if _, blocked := a.Dialog(look); blocked {
		return false
	}
	if status, told := a.StatusOfTitle(look.Title); told && status != StatusIdle {
		return false
	}
	ready := a.Ready
	unsigned := len(ready.Screen) == 0 && len(ready.Title) == 0
	if (ready.Paste || unsigned) && !look.Paste {
		return false
	}
	if len(ready.Not) > 0 && matchAny(ready.Not, look.Lines) {
		return false
	}
	return matchAny(ready.Screen, look.Lines) && matchAny(ready.Title, []string{look.Title})
}

// Dialog names the dialog that stands in the way of a paste.
func (a Agent) Dialog(look Look) (string, bool) {
	lines := slices.DeleteFunc(slices.Clone(look.Lines), func(l string) bool { return strings.TrimSpace(l) == "" })
	for _, dialog := range slices.Concat(a.Dialogs, a.common) {
		seen := lines
		if dialog.Last > 0 && len(seen) > dialog.Last {
			seen = seen[len(seen)-dialog.Last:]
		}
		all := true
		for _, pattern := range dialog.All {
			all = all && matchAny([]string{pattern}, seen)
		}
		if all {
			return dialog.Name, true
		}
	}
	return "", false
}

// StatusOfTitle reads the window title; a guess, weaker than hooks and OSC 7501.
func (a Agent) StatusOfTitle(title string) (Status, bool) {
	for _, status := range []Status{StatusWaiting, StatusWorking, StatusIdle} {
		if pattern := a.Titles[status]; pattern != "" && matchAny([]string{pattern}, []string{title}) {
			return status, true
		}
	}
	return "", false
}

// StatusOfSignal reads an OSC 7501 signal: its state, when it is this agent's.
func (a Agent) StatusOfSignal(state, app string) (Status, bool) {
	if a.App == "" || app != a.App {
		return "", false
	}
	status := Status(state)
	return status, slices.Contains([]Status{StatusWorking, StatusWaiting, StatusIdle}, status)
}

func matchAny(patterns, texts []string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, pattern := range patterns {
		// Checked when the catalogue was loaded; regexp.Compile is a few microseconds
		// and a look is taken a few times per second at most.
		compiled, err := regexp.Compile(pattern)
		if err == nil && slices.ContainsFunc(texts, compiled.MatchString) {
			return true
		}
	}
	return false
}
