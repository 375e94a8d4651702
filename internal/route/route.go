// Package route decides in which surface an agent shows up and what may be said of its
// prompt (spec launch L2.2, L3). It is pure: facts in, a decision with its reason and a
// sentence for a person out. It has no state and no goroutine, touches nothing, and
// never guesses: a fact that is not known is given as unknown.
package route

import (
	"path"
	"strings"

	"davit"
)

// Support is what is known of a host's structured sessions.
type Support string

// The states of knowledge. The zero value counts as unknown.
const (
	SupportYes     Support = "yes"
	SupportNo      Support = "no"
	SupportUnknown Support = "unknown"
)

// Facts are everything that decides. Nothing else does (L3.4).
type Facts struct {
	AgentName string // for the sentence

	// The preference (L3.1).
	Surface           davit.Surface // the user's pick, "" for none
	NativeChatDefault *bool         // the calling device's default
	DefaultSurface    davit.Surface // the setting agent.default_surface; "" is structured
	HasDriver         bool          // the agent has a structured driver

	// Half one (L3.2), in the order of its rows.
	ForeignHost   string  // a named host that is not a davit host, "" for none
	Reuse         bool    // a running terminal is reused
	Cwd           string  // as asked for, "" for none
	Root          string  // of the workspace, "" when it is not known
	Resume        bool    // a session of the agent's own is continued
	SSH           bool    // the workspace is on a plain SSH connection
	WSL           bool    // the workspace runs in WSL
	Sessions      Support // structured sessions of the executing host
	CallerRenders bool    // the caller can show this chat
}

// Decision is a mode and why. AskHost says that half two is still to be asked.
type Decision struct {
	Mode      davit.Surface
	Preferred davit.Surface
	Reason    davit.Reason
	Detail    string
	AskHost   bool

	facts Facts
}

// Receipt is the decision as the result tells it.
func (d Decision) Receipt() davit.Receipt {
	return davit.Receipt{Mode: d.Mode, Preferred: d.Preferred, Reason: d.Reason, Detail: d.Detail}
}

// source is where a preference came from; it only shapes the sentence.
type source string

const (
	fromPick    source = "pick"
	fromDevice  source = "device"
	fromSetting source = "setting"
	fromAgent   source = "agent" // no driver, and nobody asked for a chat
)

// prefer gives the preference, its reason and where it came from (L3.1).
func prefer(f Facts) (davit.Surface, davit.Reason, source) {
	switch {
	case f.Surface != "":
		return f.Surface, davit.ReasonRequested, fromPick
	case f.NativeChatDefault != nil && *f.NativeChatDefault:
		return davit.Structured, davit.ReasonUserDefault, fromDevice
	case f.NativeChatDefault != nil:
		return davit.Terminal, davit.ReasonUserDefault, fromDevice
	case f.DefaultSurface == davit.Terminal:
		return davit.Terminal, davit.ReasonUserDefault, fromSetting
	case !f.HasDriver:
		return davit.Terminal, davit.ReasonUserDefault, fromAgent
	}
	return davit.Structured, davit.ReasonUserDefault, fromSetting
}

// row is one line of the table of L3.2.
type row struct {
	holds  func(Facts) bool
	reason davit.Reason
	clause func(Facts) string // why not, in words
}

func says(text string) func(Facts) string { return func(Facts) string { return text } }

// halfOne is the table of L3.2: the first row that holds wins.
var halfOne = [...]row{
	{func(f Facts) bool { return f.ForeignHost != "" }, davit.ReasonRemoteHost,
		func(f Facts) string { return f.ForeignHost + " is not a davit host" }},
	{func(f Facts) bool { return f.Reuse }, davit.ReasonReusedTerminal,
		says("a running terminal is reused")},
	{func(f Facts) bool { return !f.HasDriver }, davit.ReasonNoDriver,
		func(f Facts) string { return "there is no chat driver for " + name(f) }},
	{elsewhere, davit.ReasonLaunchCommand,
		func(f Facts) string { return "it is to start in " + f.Cwd + ", which is not the workspace's root" }},
	{func(f Facts) bool { return f.Resume }, davit.ReasonLaunchCommand,
		says("a session of its own is continued by its command line")},
	{func(f Facts) bool { return f.SSH }, davit.ReasonRemoteHost,
		says("the workspace is on an SSH connection")},
	{func(f Facts) bool { return f.WSL }, davit.ReasonWSL,
		says("the workspace runs in WSL")},
	{func(f Facts) bool { return f.Sessions == SupportNo }, davit.ReasonSessionsUnavailable,
		says("this host cannot run chats")},
	{func(f Facts) bool { return f.Sessions != SupportYes }, davit.ReasonSupportUnknown,
		says("it is not known whether this host can run chats")},
	{func(f Facts) bool { return !f.CallerRenders }, davit.ReasonSessionsUnavailable,
		says("this client cannot show the chat")},
}

// elsewhere says whether the agent would start outside of the workspace's root. Blank
// or equal after normalising does not count; with an unknown root any directory does.
func elsewhere(f Facts) bool {
	cwd := strings.TrimSpace(f.Cwd)
	if cwd == "" {
		return false
	}
	if f.Root == "" {
		return true
	}
	root := path.Clean(f.Root)
	if !path.IsAbs(cwd) {
		cwd = path.Join(root, cwd)
	}
	return path.Clean(cwd) != root
}

// Decide is half one (L3.1, L3.2): it needs no workspace. A decision for a chat asks
// for half two once the workspace exists.
func Decide(f Facts) Decision {
	preferred, reason, from := prefer(f)
	d := Decision{Mode: preferred, Preferred: preferred, Reason: reason, facts: f}
	if preferred == davit.Terminal {
		d.Detail = honoured(f, davit.Terminal, from)
		return d
	}
	for _, r := range halfOne {
		if r.holds(f) {
			return d.terminal(r.reason, r.clause(f))
		}
	}
	d.Detail, d.AskHost = honoured(f, davit.Structured, from), true
	return d
}

// Verdict is what the executing host says of a chat in a workspace that exists (L3.3).
type Verdict string

// The verdicts. What is no verdict, an error or silence, is VerdictUnknown.
const (
	VerdictSupported Verdict = "supported"
	VerdictRefused   Verdict = "refused"
	VerdictRemote    Verdict = "remote"
	VerdictWSL       Verdict = "wsl"
	VerdictUnknown   Verdict = "unknown"
)

// Settle is half two (L3.3). It leaves a decision that asked for nothing as it is. Why is
// what the host says of its verdict, a clause for a person, "" for nothing.
func Settle(d Decision, v Verdict, why string) Decision {
	if !d.AskHost {
		return d
	}
	d.AskHost = false
	switch v {
	case VerdictSupported:
		return d
	case VerdictRemote:
		return d.terminal(davit.ReasonRemoteHost, "the host says that the workspace is remote"+because(why))
	case VerdictWSL:
		return d.terminal(davit.ReasonWSL, "the host says that the workspace runs in WSL"+because(why))
	case VerdictRefused:
		return d.terminal(davit.ReasonUnsupportedOnHost, "the host does not support this chat here"+because(why))
	}
	return d.terminal(davit.ReasonSupportUnknown, "the host did not say whether it supports this chat here"+because(why))
}

// Refused is for a chat that was decided on and whose making was then refused, with the
// proof that nothing was made (L5.6). It leaves a terminal as it is.
func Refused(d Decision, why string) Decision {
	if d.Mode != davit.Structured || d.AskHost {
		return d
	}
	return d.terminal(davit.ReasonUnsupportedOnHost, "the host could not make this chat"+because(why))
}

// because puts what somebody else says into a clause of ours.
func because(why string) string {
	why = strings.TrimRight(strings.Join(strings.Fields(why), " "), ".;:!? ")
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// terminal turns a preferred chat into a terminal.
func (d Decision) terminal(reason davit.Reason, why string) Decision {
	_, _, from := prefer(d.facts)
	instead := "a terminal was started instead"
	if d.facts.Reuse {
		instead = "the running terminal was used instead"
	}
	d.Mode, d.Reason, d.AskHost = davit.Terminal, reason, false
	d.Detail = wish(d.facts, davit.Structured, from) + ", but " + why + "; " + instead + "."
	return d
}

func name(f Facts) string {
	if f.AgentName == "" {
		return "the agent"
	}
	return f.AgentName
}

var nouns = map[davit.Surface]string{davit.Structured: "a chat", davit.Terminal: "a terminal"}

// wish says who preferred what.
func wish(f Facts, preferred davit.Surface, from source) string {
	switch from {
	case fromPick:
		return "You asked for " + nouns[preferred]
	case fromDevice:
		return "This device's default is " + nouns[preferred]
	case fromAgent:
		return "There is no chat driver for " + name(f) + ", so its default is a terminal"
	}
	return "The default is " + nouns[preferred]
}

// honoured is the sentence of a preference that was followed.
func honoured(f Facts, mode davit.Surface, from source) string {
	done := name(f) + " was started in " + nouns[mode]
	if f.Reuse {
		done = "the running terminal of " + name(f) + " was used"
	}
	if from == fromAgent {
		done = "one was started"
		if f.Reuse {
			done = "the running one was used"
		}
	}
	return wish(f, mode, from) + "; " + done + "."
}
