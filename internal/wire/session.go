package wire

import (
	"davit"
)

// SessionRef names one chat.
type SessionRef struct {
	Session davit.SessionID `json:"sessionId"`
}

// SessionList is agentSession.list.
type SessionList struct {
	Sessions []davit.Session `json:"sessions"`
}

// SessionMutation is what every change of a chat carries (spec session S1.6). The same
// operation id again gives the first answer.
type SessionMutation struct {
	Session   davit.SessionID `json:"sessionId"`
	Operation string          `json:"clientOperationId" doc:"minted by the caller, a new one for each change"`
	Fence     uint64          `json:"expectedFence" doc:"of the session as the caller saw it; a stale one is refused with the current one"`
}

// SessionCancelled answers agentSession.cancel.
type SessionCancelled struct {
	Asked bool `json:"asked" doc:"false: no turn runs, and nobody was asked"`
}

// SessionSend is agentSession.send.
type SessionSend struct {
	SessionMutation
	Text string `json:"text"`
}

// SessionRespond is agentSession.respond: the answer to a permission question.
type SessionRespond struct {
	SessionMutation
	Item     string `json:"item" doc:"the question's item in the journal"`
	Revision uint64 `json:"revision" doc:"of the item as the caller saw it"`
	Option   string `json:"option" doc:"one of the options' ids; empty cancels"`
}

// SessionSetDraft is agentSession.setDraft. A draft that was written meanwhile is refused
// with the current one.
type SessionSetDraft struct {
	Session  davit.SessionID `json:"sessionId"`
	Text     string          `json:"text"`
	Revision uint64          `json:"revision" doc:"of the draft that this one replaces"`
}

// SessionSetOption is agentSession.setOption.
type SessionSetOption struct {
	SessionMutation
	Option string `json:"option"`
	Value  string `json:"value"`
}

// SessionSupport is agentSession.createSupport: can this agent be a chat in this place
// (spec launch L3.3).
type SessionSupport struct {
	Agent string `json:"agent"`
	Dir   string `json:"dir,omitempty" doc:"the workspace's path"`
}

// SessionSupported answers it.
type SessionSupported struct {
	Verdict string `json:"verdict"` // supported refused remote wsl unknown
	Reason  string `json:"reason,omitempty"`
}

// SessionHistory is agentSession.history: rows after a cursor, or the newest ones before
// it.
type SessionHistory struct {
	Session davit.SessionID `json:"sessionId"`
	After   *davit.Cursor   `json:"after,omitempty"`
	Before  *davit.Cursor   `json:"before,omitempty"`
	Limit   int             `json:"limit,omitempty" doc:"rows; 500 when absent, at most 5000"`
}

// SessionRows answers it.
type SessionRows struct {
	Rows   []davit.JournalRow `json:"rows"`
	Cursor davit.Cursor       `json:"cursor" doc:"of the last row"`
	More   bool               `json:"more,omitempty"`
	Reset  string             `json:"reset,omitempty" doc:"why the cursor asked for is no good: take the rows as the whole"`
}

// SessionPayload is agentSession.payload.
type SessionPayload struct {
	Session davit.SessionID `json:"sessionId"`
	Digest  string          `json:"digest"`
}

// Payload answers it.
type Payload struct {
	Data []byte `json:"data"`
	Mime string `json:"mime,omitempty"`
}
