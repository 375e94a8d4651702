// Package wire holds the shapes of the API's operations: what a client sends and what it
// gets. The server (internal/api), the Go client (internal/client) and, by way of the
// OpenAPI description made from these types, the page's generated client all use them.
// It has no behaviour. Source: spec interfaces A1.
package wire

import (
	"encoding/json"
	"time"

	"davit"
)

// None is the body of an operation that takes or gives nothing.
type None struct{}

// HostInfo is host.info, and `davit status --json` (spec interfaces A3.5).
type HostInfo struct {
	Version      string       `json:"version"`
	HostID       davit.HostID `json:"hostId"`
	Pid          int          `json:"pid"`
	KeeperPid    int          `json:"keeperPid"`
	Socket       string       `json:"socket"`
	URL          string       `json:"url"`
	Home         string       `json:"home"`
	Panes        int          `json:"panes" doc:"panes whose program runs"`
	Tabs         int          `json:"tabs"`
	Started      time.Time    `json:"started"`
	Directory    string       `json:"directory" doc:"where the host was started: the page's default place for new tabs"`
	Capabilities []string     `json:"capabilities"`
}

// ShutdownRequest is host.shutdown.
type ShutdownRequest struct {
	All bool `json:"all,omitempty" doc:"end the programs and the keeper too"`
}

// Login is POST /v1/login: the one-time token of a login link.
type Login struct {
	Token string `json:"token"`
}

// LoggedIn answers it; the cookie comes beside it. Both are needed with each request.
type LoggedIn struct {
	Key string `json:"key" doc:"kept in localStorage, sent as the Davit-Key header and in a WebSocket's first frame"`
}

// LoginLink is host.loginLink, over the socket only.
type LoginLink struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Problem is an error on the wire: RFC 9457 with our code, hint and details.
type Problem struct {
	Type    string         `json:"type"`
	Title   string         `json:"title"`
	Status  int            `json:"status"`
	Detail  string         `json:"detail"`
	Code    davit.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// Setting is settings.get and settings.set.
type Setting struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
}
