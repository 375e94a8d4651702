package agent

import (
	"reflect"
	"slices"
	"sort"
	"strings"
)

// Field is one key of an entry, as agents.toml spells it: "argv", "options.model".
type Field struct {
	Key string
	// Value is text, a list of texts, or true.
	Value any
	// Own says that the user's file set it.
	Own bool
}

// Fields are the keys that are set in an entry, in the order of Agent, and who set each.
// Values of variables are not among them: they may be secrets.
func (a Agent) Fields() []Field {
	var known Agent
	if all, err := base(); err == nil {
		known = all.agents[a.ID]
	}
	before := map[string]any{}
	for _, f := range fields("", reflect.ValueOf(known)) {
		before[f.Key] = f.Value
	}
	list := fields("", reflect.ValueOf(a))
	for i, f := range list {
		top, _, inner := strings.Cut(f.Key, ".")
		value, there := before[f.Key]
		set := slices.Contains(a.Overrides, top)
		// A table of the user's replaces single keys of the one that is there.
		list[i].Own = set && (!inner || !there || !reflect.DeepEqual(value, f.Value))
		if strings.HasPrefix(f.Key, "env.") || strings.HasPrefix(f.Key, "structured.env.") {
			list[i].Value = "(set)"
		}
	}
	return list
}

// fields walks a struct whose fields have toml names. What is zero is not set.
func fields(prefix string, v reflect.Value) (list []Field) {
	for i := range v.NumField() {
		key, value := v.Type().Field(i).Tag.Get("toml"), v.Field(i)
		if key == "" || key == "-" || value.IsZero() {
			continue
		}
		key = prefix + key
		switch value.Kind() {
		case reflect.Struct:
			list = append(list, fields(key+".", value)...)
		case reflect.Map:
			var inner []Field
			for _, name := range value.MapKeys() {
				inner = append(inner, Field{Key: key + "." + name.String(), Value: plain(value.MapIndex(name))})
			}
			sort.Slice(inner, func(i, j int) bool { return inner[i].Key < inner[j].Key })
			list = append(list, inner...)
		default:
			list = append(list, Field{Key: key, Value: plain(value)})
		}
	}
	return list
}

// plain is a value as text, a list of texts, or true.
func plain(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() != reflect.Slice:
		return v.Interface()
	}
	texts := make([]string, v.Len())
	for i := range texts {
		if d, ok := v.Index(i).Interface().(Dialog); ok {
			texts[i] = d.Name
		} else {
			texts[i] = v.Index(i).String()
		}
	}
	return texts
}

// Fallback is the agent that a person most likely means where none is named and none is
// set: the first that is there, those that lists name before the others, the practice
// agent last. It gives "" when nothing is there.
func Fallback(agents []Agent, there func(i int) bool) string {
	best, rank := "", 3
	for i, a := range agents {
		mine := 1
		switch {
		case a.Disabled || !there(i):
			continue
		case a.Practice:
			mine = 2
		case a.Offered:
			mine = 0
		}
		if mine < rank {
			best, rank = a.ID, mine
		}
	}
	return best
}
