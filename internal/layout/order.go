package layout

import (
	"errors"
	"fmt"
	"slices"
)

// Tab is a tab's place in the row: its group and whether it is pinned.
type Tab struct {
	ID     string `json:"id"`
	Group  string `json:"group,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
}

// Order is the row of tabs. Pinned ones come first; a group's tabs stand
// together. Every operation keeps both.
type Order []Tab

// Errors of the operations.
var (
	ErrNoTab        = errors.New("no such tab")
	ErrDuplicateTab = errors.New("tab is already there")
)

// Index is the tab's place, -1 when it is not there.
func (o Order) Index(id string) int {
	return slices.IndexFunc(o, func(t Tab) bool { return t.ID == id })
}

// Check tells which rule the order breaks.
func (o Order) Check() error {
	ids, groups := map[string]bool{}, map[string]bool{}
	for i, t := range o {
		if t.ID == "" || ids[t.ID] {
			return fmt.Errorf("tab %q: %w", t.ID, ErrDuplicateTab)
		}
		ids[t.ID] = true
		if i > 0 && t.Pinned && !o[i-1].Pinned {
			return fmt.Errorf("pinned tab %q follows one that is not", t.ID)
		}
		if t.Group == "" || i > 0 && o[i-1].Group == t.Group {
			if i > 0 && t.Group != "" && o[i-1].Pinned != t.Pinned {
				return fmt.Errorf("group %q is pinned in part", t.Group)
			}
			continue
		}
		if groups[t.Group] {
			return fmt.Errorf("group %q stands in two places", t.Group)
		}
		groups[t.Group] = true
	}
	return nil
}

// InsertAfter puts a tab after another, "" = at the end. With the default
// placement the new tab joins the other's group: the caller sets tab.Group. Its
// place gives way to pins and groups: a tab never lands inside a group of
// others or on the wrong side of the pins.
func (o Order) InsertAfter(after string, tab Tab) (Order, error) {
	if tab.ID == "" || o.Index(tab.ID) >= 0 {
		return o, fmt.Errorf("insert tab %q: %w", tab.ID, ErrDuplicateTab)
	}
	at := len(o)
	if after != "" {
		i := o.Index(after)
		if i < 0 {
			return o, fmt.Errorf("insert after tab %q: %w", after, ErrNoTab)
		}
		at = i + 1
	}
	return o.insertAt(at, tab), nil
}

// InsertAt puts a tab at an index, moved to the nearest place that keeps pins
// and groups. An undone close uses it.
func (o Order) InsertAt(index int, tab Tab) (Order, error) {
	if tab.ID == "" || o.Index(tab.ID) >= 0 {
		return o, fmt.Errorf("insert tab %q: %w", tab.ID, ErrDuplicateTab)
	}
	return o.insertAt(index, tab), nil
}

func (o Order) insertAt(at int, tab Tab) Order {
	if from, to, ok := o.groupRange(tab.Group); ok {
		tab.Pinned = o[from].Pinned
		return slices.Insert(slices.Clone(o), max(from, min(at, to)), tab)
	}
	low, high := 0, o.pins()
	if !tab.Pinned {
		low, high = high, len(o)
	}
	at = max(low, min(at, high))
	if at > 0 && at < len(o) && o[at].Group != "" && o[at-1].Group == o[at].Group {
		_, at, _ = o.groupRange(o[at].Group)
	}
	return slices.Insert(slices.Clone(o), at, tab)
}

func (o Order) pins() int {
	n := slices.IndexFunc(o, func(t Tab) bool { return !t.Pinned })
	if n < 0 {
		return len(o)
	}
	return n
}

func (o Order) groupRange(group string) (from, to int, ok bool) {
	if group == "" {
		return 0, 0, false
	}
	for i, t := range o {
		if t.Group != group {
			continue
		}
		if !ok {
			from, ok = i, true
		}
		to = i + 1
	}
	return from, to, ok
}

// Remove takes a tab out.
func (o Order) Remove(id string) (Order, error) {
	i := o.Index(id)
	if i < 0 {
		return o, fmt.Errorf("remove tab %q: %w", id, ErrNoTab)
	}
	return slices.Delete(slices.Clone(o), i, i+1), nil
}

// Move puts a tab at an index of the row without it, within its group and on
// its side of the pins.
func (o Order) Move(id string, index int) (Order, error) {
	i := o.Index(id)
	if i < 0 {
		return o, fmt.Errorf("move tab %q: %w", id, ErrNoTab)
	}
	return slices.Delete(slices.Clone(o), i, i+1).insertAt(index, o[i]), nil
}

// SetGroup puts a tab at the end of a group, or with "" out of its group.
func (o Order) SetGroup(id, group string) (Order, error) {
	i := o.Index(id)
	if i < 0 {
		return o, fmt.Errorf("group tab %q: %w", id, ErrNoTab)
	}
	tab := o[i]
	if tab.Group == group {
		return o, nil
	}
	tab.Group = group
	rest := slices.Delete(slices.Clone(o), i, i+1)
	if _, to, ok := rest.groupRange(group); ok {
		i = to
	}
	return rest.insertAt(i, tab), nil
}

// SetPinned pins or unpins a tab and with it its group. What is pinned goes to
// the end of the pins, what is not to the front of the rest.
func (o Order) SetPinned(id string, pinned bool) (Order, error) {
	i := o.Index(id)
	if i < 0 {
		return o, fmt.Errorf("pin tab %q: %w", id, ErrNoTab)
	}
	if o[i].Pinned == pinned {
		return o, nil
	}
	from, to, ok := o.groupRange(o[i].Group)
	if !ok {
		from, to = i, i+1
	}
	run := slices.Clone(o[from:to])
	for j := range run {
		run[j].Pinned = pinned
	}
	rest := slices.Delete(slices.Clone(o), from, to)
	return slices.Insert(rest, rest.pins(), run...), nil
}

// AfterClose is the tab that becomes active when the given ones close and the
// active one is among them: the one that now stands at its place, else the
// last; "" when none is left.
func (o Order) AfterClose(active string, closed ...string) string {
	gone := func(id string) bool { return slices.Contains(closed, id) }
	i := o.Index(active)
	if i >= 0 && !gone(active) {
		return active
	}
	last := ""
	for j, t := range o {
		if gone(t.ID) {
			continue
		}
		if j > i && i >= 0 {
			return t.ID
		}
		last = t.ID
	}
	return last
}
