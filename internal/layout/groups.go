package layout

import (
	"fmt"
	"slices"
)

// Group lists the tabs of a group, in order.
func (o Order) Group(group string) []string {
	var ids []string
	for _, t := range o {
		if group != "" && t.Group == group {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// MoveGroup puts the whole of a group behind a tab, or behind that tab's group, "" = to
// the front; on its side of the pins.
func (o Order) MoveGroup(group, after string) (Order, error) {
	from, to, ok := o.groupRange(group)
	if !ok {
		return o, fmt.Errorf("move group %q: %w", group, ErrNoTab)
	}
	run := slices.Clone(o[from:to])
	rest := slices.Delete(slices.Clone(o), from, to)
	at := 0
	if after != "" {
		i := o.Index(after)
		if i < 0 {
			return o, fmt.Errorf("move group %q after tab %q: %w", group, after, ErrNoTab)
		}
		if i >= from && i < to {
			return o, nil
		}
		if at = rest.Index(after) + 1; o[i].Group != "" {
			_, at, _ = rest.groupRange(o[i].Group)
		}
	}
	low, high := 0, rest.pins()
	if !run[0].Pinned {
		low, high = high, len(rest)
	}
	return slices.Insert(rest, max(low, min(at, high)), run...), nil
}

// Dissolve takes all tabs out of a group and leaves them where they stand.
func (o Order) Dissolve(group string) Order {
	o = slices.Clone(o)
	for i := range o {
		if o[i].Group == group {
			o[i].Group = ""
		}
	}
	return o
}

// Repair is the order that keeps pins and groups and is nearest to this one, which may
// break them: a group stands where its first tab stands, and is pinned when that is.
func (o Order) Repair() Order {
	var out Order
	for _, t := range o {
		if t.ID == "" || out.Index(t.ID) >= 0 {
			continue
		}
		out = out.insertAt(len(out), t)
	}
	return out
}
