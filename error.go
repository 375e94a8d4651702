package davit

import (
	"errors"
	"fmt"
)

// Error is what crosses the edge of the domain: to a CLI, a page, a log. Message says
// what happened to what; Hint says what to do. Source: spec interfaces A1.4, spec
// launch L10.
type Error struct {
	Code    Code           `json:"code"`
	Op      string         `json:"-"` // the operation, for logs only
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`
	Err     error          `json:"-"`
}

// Error gives the message, with the cause behind it when the message does not say it.
func (e *Error) Error() string {
	if e.Message == "" && e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, &Error{Code: c}) a test for the code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

// Errorf makes an Error of a code with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint sets what the user can do and gives the error back.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// With adds one detail and gives the error back.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// AsError gives the domain error in err's chain, or wraps err as an internal one, so
// that every surface prints the same shape.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error(), Err: err}
}

// CodeOf gives the code of err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}
