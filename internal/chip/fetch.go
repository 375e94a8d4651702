package chip

import (
	"fmt"
	"slices"
	"strings"

	"davit"
)

// Facts is what is known when a chip is about to be fetched.
type Facts struct {
	Remote          *bool           // the session is on another machine; nil: not known
	Found           map[string]bool // which executables the PATH has; nil: not known
	Unauthenticated bool
	Inputs          map[Input]string
}

// State is what is kept of a chip between fetches.
type State struct {
	Status      davit.ChipStatus
	Reason      string
	Fingerprint string // of the last run begun; "" is none
	Failure     string // of the last run whose failure is remembered
}

// Step is what to do about one fetch.
type Step string

// The steps.
const (
	StepDisabled Step = "disabled" // end a run, no value
	StepCached   Step = "cached"   // the value stays as it is
	StepSuppress Step = "suppress" // it failed before under the same facts: no value, no run
	StepRun      Step = "run"      // end an older run of the same chip, then run
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Denied    Outcome = "denied" // its program is missing or not signed in
	TimedOut  Outcome = "timed_out"
	Failed    Outcome = "failed"
)

// Available gives the reason why a chip is disabled, "" when it is enabled (spec chips
// C3.1). What is not known counts as fine.
func Available(p Policy, f Facts) (reason string) {
	if p.LocalOnly && f.Remote != nil && *f.Remote {
		return ReasonRemote
	}
	for _, program := range p.Requires {
		if f.Found == nil || f.Found[program] {
			continue
		}
		if program == "gh" {
			return ReasonNoGh
		}
		return fmt.Sprintf("Requires the `%s` command", program)
	}
	if f.Unauthenticated {
		return ReasonSignedOut
	}
	return ""
}

// Fingerprint joins the inputs of a policy into one word, "" when it has none.
func Fingerprint(p Policy, inputs map[Input]string) string {
	var b strings.Builder
	for _, input := range p.Fingerprint {
		value := inputs[input]
		fmt.Fprintf(&b, "%s=%d:%s;", input, len(value), value)
	}
	return b.String()
}

// Begin decides about one fetch, in the order of spec chips C2.2. A run's fingerprint is
// in the state that it returns, before anything runs.
func Begin(p Policy, s State, f Facts) (State, Step) {
	if reason := Available(p, f); reason != "" {
		s.Status, s.Reason = davit.ChipDisabled, reason
		return s, StepDisabled
	}
	now := Fingerprint(p, f.Inputs)
	if now != "" && now == s.Fingerprint && s.Status != davit.ChipError && s.Status != davit.ChipTimedOut &&
		s.Status != davit.ChipDisabled {
		if s.Status != davit.ChipLoading { // a run under the same facts is on its way
			s.Status, s.Reason = davit.ChipCached, ""
		}
		return s, StepCached
	}
	s.Fingerprint = now
	if p.SuppressOnFailure && now != "" && now == s.Failure {
		s.Status = davit.ChipCached
		return s, StepSuppress
	}
	s.Status, s.Reason = davit.ChipLoading, ""
	return s, StepRun
}

// Settle takes the result of a run that Begin allowed.
func Settle(p Policy, s State, outcome Outcome, reason string) State {
	s.Reason = reason
	switch outcome {
	case Succeeded:
		s.Status, s.Reason = davit.ChipReady, ""
		s.Failure = ""
		return s
	case TimedOut:
		s.Status = davit.ChipTimedOut
	default:
		s.Status = davit.ChipError
	}
	remembered := p.SuppressOnFailure && (len(p.SuppressOnly) == 0 || slices.Contains(p.SuppressOnly, outcome))
	if remembered {
		s.Failure = s.Fingerprint
	} else if s.Failure == s.Fingerprint {
		s.Failure = ""
	}
	return s
}
