package intent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// object is one JSON object read strictly: names as they are spelled (Go's own decoder
// takes any case), each at most once, and null told apart from absent (L1.1, L2.4).
type object struct {
	where  string // "" for the outermost, else "target." and so on
	fields map[string]json.RawMessage
}

// fieldError names the field that is at fault.
type fieldError struct {
	Field  string
	Reason string
}

func (e *fieldError) Error() string { return e.Field + ": " + e.Reason }

func parseObject(where string, raw []byte) (object, error) {
	o := object{where: where, fields: map[string]json.RawMessage{}}
	self := strings.TrimSuffix(where, ".")
	if self == "" {
		self = "the whole"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return o, &fieldError{self, "is not a JSON object"}
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return o, &fieldError{self, "is not valid JSON"}
		}
		key := name.(string) // a name in an object is always a string
		if _, twice := o.fields[key]; twice {
			return o, &fieldError{where + key, "is given twice"}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return o, &fieldError{where + key, "is not valid JSON"}
		}
		o.fields[key] = value
	}
	if _, err := d.Token(); err != nil {
		return o, &fieldError{self, "is not valid JSON"}
	}
	if rest, err := d.Token(); err == nil {
		return o, &fieldError{self, fmt.Sprintf("is followed by %v", rest)}
	}
	if !json.Valid(raw) {
		return o, &fieldError{self, "is not valid JSON"}
	}
	return o, nil
}

// unknown gives the first name, in the order of the alphabet, that is not among known.
func (o object) unknown(known ...string) (string, bool) {
	names := make([]string, 0, len(o.fields))
	for name := range o.fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !contains(known, name) {
			return o.where + name, true
		}
	}
	return "", false
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// read decodes one field by its exact name. Absent leaves into alone; null and a wrong
// type are faults.
func read[T any](o object, name string, into *T) error {
	raw, ok := o.fields[name]
	if !ok {
		return nil
	}
	if isNull(raw) {
		return &fieldError{o.where + name, "is null; leave it out instead"}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &fieldError{o.where + name, fmt.Sprintf("is not %s", kind(*into))}
	}
	return nil
}

// need is read for a field that has to be there.
func need[T any](o object, name string, into *T) error {
	if _, ok := o.fields[name]; !ok {
		return &fieldError{o.where + name, "is missing"}
	}
	return read(o, name, into)
}

func kind(value any) string {
	switch value.(type) {
	case bool, *bool:
		return "true or false"
	case map[string]string:
		return "an object of strings"
	}
	return "a string"
}

// sub reads an object within the object; false when it is absent.
func (o object) sub(name string) (object, bool, error) {
	raw, ok := o.fields[name]
	if !ok {
		return object{}, false, nil
	}
	inner, err := parseObject(o.where+name+".", raw)
	return inner, true, err
}

// first gives the first error of a list: a table of reads in their order.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
