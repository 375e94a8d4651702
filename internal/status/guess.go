package status

import (
	"time"

	"davit"
)

// Look is what a terminal shows of its agent at one moment.
type Look struct {
	Title  davit.AgentStatus // what the title says: working, waiting, idle, or "" for nothing
	Dialog string            // the name of the dialog on the screen, "" for none
	Ready  bool              // the composer of a known agent is there
	Moving bool              // the screen changed since the last look
}

// Signal is the state after the agent told its terminal what it does (OSC 7501).
func Signal(s State, told davit.AgentStatus, now time.Time) State {
	s.Memory.Signal = told
	return s.heard(told, waitingFor(told, ""), davit.StatusFromSignal, false, now)
}

// Screen is the state after a look at the terminal. The signal that the agent gave counts
// before its title, the title before the screen; but a dialog on the screen is a question
// whatever the title says: agents that do not tell of one say that they are idle, or work.
func Screen(s State, look Look, now time.Time) State {
	signal := s.Memory.Signal
	switch {
	case look.Dialog != "" && signal != davit.AgentIdle && signal != davit.AgentWaiting:
		return s.heard(davit.AgentWaiting, waitingFor(davit.AgentWaiting, look.Dialog), davit.StatusFromScreen, false, now)
	case signal != "":
		return s.heard(signal, waitingFor(signal, ""), davit.StatusFromSignal, look.Ready, now)
	case look.Title != "":
		return s.heard(look.Title, waitingFor(look.Title, ""), davit.StatusFromTitle, look.Ready, now)
	case look.Ready:
		return s.heard(davit.AgentIdle, "", davit.StatusFromScreen, true, now)
	case look.Moving && s.Status != davit.AgentStarting:
		return s.heard(davit.AgentWorking, "", davit.StatusFromScreen, false, now)
	}
	return s
}

// heard takes what the terminal tells. Against a hook it has one say: that a turn is over
// of which no hook told the end. Agents run no hook when the user interrupts them. Titles
// say idle while a question stands, too: that one is over when the composer is back.
func (s State) heard(told davit.AgentStatus, waiting davit.WaitingFor, source davit.StatusSource, composer bool, now time.Time) State {
	if s.Source == davit.StatusFromHook && s.Status != davit.AgentExited {
		over := told == davit.AgentIdle && (s.Status == davit.AgentWorking || s.Status == davit.AgentWaiting && composer)
		switch {
		case !over:
			s.Memory.Doubt = time.Time{}
			if told == s.Status {
				s.Memory.Confirmed, s.Unconfirmed = now, false
			}
		case s.Memory.Doubt.IsZero():
			s.Memory.Doubt = now
		}
		return s
	}
	switch told {
	case davit.AgentIdle:
		if s.Status == davit.AgentDone || s.Status == davit.AgentIdle {
			s.Source = source
			return s.confirmed(now)
		}
		return s.over(source, now)
	case davit.AgentWorking:
		s.Message = ""
		return s.to(told, "", source, now)
	case davit.AgentWaiting:
		return s.to(told, waiting, source, now)
	}
	return s
}

// waitingFor is what a waiting agent waits for, by the dialog that is seen.
func waitingFor(status davit.AgentStatus, dialog string) davit.WaitingFor {
	switch {
	case status != davit.AgentWaiting:
		return ""
	case dialog == "permission" || dialog == "trust" || dialog == "hooks":
		return davit.WaitingPermission
	case dialog != "":
		return davit.WaitingQuestion
	}
	return davit.WaitingInput
}
