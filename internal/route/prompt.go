package route

import (
	"slices"

	"davit"
)

// The two deliveries of a prompt (L1).
const (
	Submit = "submit"
	Draft  = "draft"
)

// Delivered is what is known to have become of a prompt. Each field is a fact that was
// seen, so that a receipt made of them can say too little and never too much (L2.2).
type Delivered struct {
	Mode      davit.Surface
	Delivery  string // Submit or Draft
	Rode      bool   // on the launch command of a program that was started
	Pasted    bool   // written into the terminal, its Enter included
	MessageID string // of the journal's row, "" when there is none
	Placed    bool   // the draft was seen in the composer
	Owed      bool   // delivery is still to come, or nobody knows how far it got
}

// Prompt is the prompt's part of the receipt (L2.2, L7).
func Prompt(d Delivered) davit.PromptReceipt {
	r := davit.PromptReceipt{Delivery: d.Delivery, Outcome: davit.PromptNotDelivered}
	if d.Delivery == Draft {
		// A draft is never submitted, so it is never delivered.
		r.DraftPlaced = d.Placed
		return r
	}
	switch {
	case d.Mode == davit.Structured && d.MessageID != "":
		r.Outcome, r.MessageID = davit.PromptJournaled, d.MessageID
	case d.Mode == davit.Terminal && (d.Rode || d.Pasted):
		r.Outcome = davit.PromptHanded
	case d.Owed:
		r.Outcome = davit.PromptUnconfirmed
	}
	return r
}

// ReplayedPrompt says whether a stored prompt receipt may be told to a caller: the word
// unconfirmed only to those who know it, the others get
// agent_session_operation_unknown (L2.2). nil capabilities are those of a caller that
// sent no header and is taken as able to do all (L1.2).
func ReplayedPrompt(r *davit.PromptReceipt, capabilities []string) bool {
	if r == nil || r.Outcome != davit.PromptUnconfirmed {
		return true
	}
	return Capable(capabilities, davit.CapPromptUnconfirmed)
}

// Capable says whether a caller can do what the word names (L1.2).
func Capable(capabilities []string, word string) bool {
	return capabilities == nil || slices.Contains(capabilities, word)
}
