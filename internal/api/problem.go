package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"davit"
	"davit/internal/wire"

	"github.com/danielgtaylor/huma/v2"
)

// problem is an error on its way out: RFC 9457 (spec interfaces A1.4).
type problem struct{ wire.Problem }

func (p *problem) Error() string             { return p.Message }
func (p *problem) GetStatus() int            { return p.Status }
func (p *problem) ContentType(string) string { return "application/problem+json" }
func (p *problem) MarshalJSON() ([]byte, error) {
	return json.Marshal(p.Problem)
}

func problemOf(err error) *problem {
	e := davit.AsError(err)
	info := e.Code.Info()
	return &problem{wire.Problem{
		Type: "about:blank", Title: http.StatusText(info.HTTP), Status: info.HTTP, Detail: e.Error(),
		Code: e.Code, Message: e.Error(), Hint: cmp.Or(e.Hint, info.Do), Details: e.Details,
	}}
}

// newProblem is what huma makes of a request that does not fit its description: the first
// fault is the message, all of them are in the details.
func newProblem(status int, message string, faults ...error) huma.StatusError {
	code := davit.CodeInvalid
	switch status {
	case http.StatusNotFound:
		code = davit.CodeNotFound
	case http.StatusUnauthorized:
		code = davit.CodeUnauthorized
	case http.StatusInternalServerError:
		code = davit.CodeInternal
	}
	var list []string
	for _, f := range faults {
		if d, ok := f.(huma.ErrorDetailer); ok {
			detail := d.ErrorDetail()
			list = append(list, strings.TrimPrefix(strings.TrimPrefix(detail.Location, "body"), ".")+": "+detail.Message)
		} else if f != nil {
			list = append(list, f.Error())
		}
	}
	e := davit.Errorf(code, "%s", message)
	if len(list) > 0 {
		e = davit.Errorf(code, "the request does not fit: %s", strings.Join(list, "; ")).With("faults", list)
	}
	p := problemOf(e.WithHint("GET /v1/openapi.json describes the operation"))
	p.Status, p.Title = status, http.StatusText(status)
	return p
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// decodeQuery gives a GET's query the shape of the operation's JSON body: numbers and
// booleans by how they look, lists by repetition.
func decodeQuery(query map[string][]string, into any) error {
	body := map[string]any{}
	for name, values := range query {
		if len(values) > 1 {
			body[name] = values
			continue
		}
		body[name] = values[0]
		if value := values[0]; value == "true" || value == "false" || isNumber(value) {
			body[name] = json.RawMessage(value)
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return davit.Errorf(davit.CodeInvalid, "the query does not fit: %w", fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: ")))
	}
	return nil
}

func isNumber(s string) bool {
	if s == "" || len(s) > 18 || (len(s) > 1 && s[0] == '0') {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
