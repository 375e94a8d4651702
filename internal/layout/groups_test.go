package layout

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func inRow(tabs ...Tab) Order { return tabs }

func ids(o Order) []string {
	var list []string
	for _, t := range o {
		list = append(list, t.ID)
	}
	return list
}

// A group moves as a whole, past other groups, and stays on its side of the pins (spec
// tabs T6.5).
func TestMoveGroup(t *testing.T) {
	o := inRow(Tab{"p", "", true}, Tab{"a", "g", false}, Tab{"b", "g", false}, Tab{"c", "h", false}, Tab{"d", "h", false}, Tab{"e", "", false})
	for name, c := range map[string]struct {
		group, after string
		want         []string
	}{
		"to the front":      {"h", "", []string{"p", "c", "d", "a", "b", "e"}},
		"behind a tab":      {"g", "e", []string{"p", "c", "d", "e", "a", "b"}},
		"behind a group":    {"g", "c", []string{"p", "c", "d", "a", "b", "e"}},
		"behind its own":    {"g", "a", []string{"p", "a", "b", "c", "d", "e"}},
		"never before pins": {"g", "p", []string{"p", "a", "b", "c", "d", "e"}},
	} {
		got, err := o.MoveGroup(c.group, c.after)
		if err != nil || !slices.Equal(ids(got), c.want) || got.Check() != nil {
			t.Errorf("%s: %v %v %v, want %v", name, ids(got), err, got.Check(), c.want)
		}
	}
	for _, c := range [][2]string{{"x", ""}, {"g", "x"}} {
		if _, err := o.MoveGroup(c[0], c[1]); !errors.Is(err, ErrNoTab) {
			t.Errorf("group %q after %q: %v", c[0], c[1], err)
		}
	}
	if got := o.Dissolve("g"); !slices.Equal(ids(got), ids(o)) || len(got.Group("g")) != 0 || got.Check() != nil {
		t.Errorf("dissolved: %v", got)
	}
}

// Whatever was stored, the repaired order keeps pins and groups and every tab once.
func TestRepairProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Order
		for range rapid.IntRange(0, 12).Draw(t, "tabs") {
			o = append(o, Tab{rapid.StringMatching(`[a-h]`).Draw(t, "id"), rapid.SampledFrom([]string{"", "g", "h"}).Draw(t, "group"), rapid.Bool().Draw(t, "pinned")})
		}
		got := o.Repair()
		if err := got.Check(); err != nil {
			t.Fatalf("%v becomes %v: %v", o, got, err)
		}
		for _, tab := range o {
			if got.Index(tab.ID) < 0 {
				t.Fatalf("%v lost %q: %v", o, tab.ID, got)
			}
		}
		if o.Check() == nil && !slices.Equal(o, got) {
			t.Fatalf("%v was right and became %v", o, got)
		}
		for _, group := range []string{"g", "h"} {
			if len(got.Group(group)) == 0 {
				continue
			}
			moved, err := got.MoveGroup(group, rapid.SampledFrom(append(ids(got), "")).Draw(t, "after"))
			if err != nil || moved.Check() != nil || len(moved) != len(got) {
				t.Fatalf("%v moved is %v: %v, %v", got, moved, err, moved.Check())
			}
		}
	})
}
