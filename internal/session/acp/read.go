package acp

import (
	"encoding/json"
	"math"
	"strings"
)

// object is a JSON object that is read field by field: one field of the wrong kind costs
// that field, not the whole message. bad names such fields.
type object struct {
	fields map[string]json.RawMessage
	bad    []string
}

func readObject(raw json.RawMessage) (*object, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, false
	}
	return &object{fields: fields}, true
}

// get reads a field; false when it is absent, null, or of another kind.
func get[T any](o *object, key string) (value T, ok bool) {
	raw := o.fields[key]
	if isNull(raw) {
		return value, false
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		var zero T
		if len(o.bad) < 20 {
			o.bad = append(o.bad, key)
		}
		return zero, false
	}
	return value, true
}

// word reads a string, at most limit bytes of it.
func word(o *object, key string, limit int) string {
	text, _ := get[string](o, key)
	return short(text, limit)
}

// whole reads a number that counts something.
func whole(o *object, key string) int64 {
	n, _ := get[float64](o, key)
	if !(n > 0) { // also NaN, which JSON has not
		return 0
	}
	return int64(math.Min(n, 1<<53))
}

// unread says which fields could not be read, "" when all could.
func (o *object) unread() string {
	if len(o.bad) == 0 {
		return ""
	}
	return "davit could not read " + strings.Join(o.bad, ", ") + " of what the agent sent."
}
