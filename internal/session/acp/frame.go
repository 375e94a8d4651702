package acp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FrameKind says what a line is.
type FrameKind string

// The kinds of frames.
const (
	Request      FrameKind = "request"
	Notification FrameKind = "notification"
	Response     FrameKind = "response"
	Garbage      FrameKind = "garbage" // no JSON-RPC 2.0
	Skipped      FrameKind = "skipped" // longer than MaxLine
)

// Frame is one line as JSON-RPC 2.0 has it.
type Frame struct {
	Kind   FrameKind
	ID     json.RawMessage // of a request or response; "null" in an answer to what could not be read
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Err    *RPCError
	Line   Line
}

// RPCError is an error as JSON-RPC has it.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RPCError) Error() string {
	if e.Message == "" {
		return "error " + strconv.Itoa(e.Code)
	}
	return e.Message
}

// Codes of JSON-RPC and of the protocol.
const (
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeSignIn         = -32000
	CodeCancelled      = -32800
)

// Blank says that the line has nothing on it: it is not worth a row.
func (f Frame) Blank() bool {
	return f.Kind == Garbage && !f.Line.Skipped && len(bytes.TrimSpace(f.Line.Data)) == 0
}

// Decode reads a line. What is no JSON-RPC is garbage, never an error.
func Decode(line Line) Frame {
	garbage := Frame{Kind: Garbage, Line: line}
	if line.Skipped {
		return Frame{Kind: Skipped, Line: line}
	}
	var raw struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line.Data, &raw) != nil || raw.Version != "2.0" || !idShape(raw.ID) {
		return garbage
	}
	f := Frame{ID: raw.ID, Params: raw.Params, Line: line}
	switch {
	case raw.Method != nil && *raw.Method == "":
		return garbage
	case raw.Method != nil && isNull(raw.ID):
		f.Kind, f.Method, f.ID = Notification, *raw.Method, nil
	case raw.Method != nil:
		f.Kind, f.Method = Request, *raw.Method
	case raw.ID == nil:
		return garbage
	case !isNull(raw.Error):
		f.Kind, f.Err = Response, readError(raw.Error)
	case raw.Result != nil && !isNull(raw.ID):
		f.Kind, f.Result = Response, raw.Result
	default:
		return garbage
	}
	return f
}

// idShape says that an id is absent, null, a string or a number.
func idShape(id json.RawMessage) bool {
	if len(id) > maxName || !utf8.Valid(id) {
		return false
	}
	return isNull(id) || id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readError takes any error: an answer that reports one must not be lost over its shape.
func readError(raw json.RawMessage) *RPCError {
	var e RPCError
	if json.Unmarshal(raw, &e) == nil {
		e.Message, _ = cut(e.Message, blobHead)
		return &e
	}
	text, _ := cut(valid(string(raw)), maxName)
	return &RPCError{Message: text}
}

// SignInNeeded says that the agent wants its user to sign in first.
func SignInNeeded(e *RPCError) bool {
	if e == nil {
		return false
	}
	text := strings.ToLower(e.Message)
	return e.Code == CodeSignIn && !strings.Contains(text, "rate limit") ||
		strings.Contains(text, "authentication required") || strings.Contains(text, "auth_required")
}

// NoMethod says that the agent does not know the method (spec launch L5.6).
func NoMethod(e *RPCError) bool { return e != nil && e.Code == CodeNoMethod }
