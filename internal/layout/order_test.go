package layout

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// row reads "a* b/g c": a is pinned, b in group g.
func row(text string) Order {
	var o Order
	for _, f := range strings.Fields(text) {
		id, pinned := strings.CutSuffix(f, "*")
		id, group, _ := strings.Cut(id, "/")
		o = append(o, Tab{ID: id, Group: group, Pinned: pinned})
	}
	return o
}

func (o Order) String() string {
	var fields []string
	for _, t := range o {
		f := t.ID
		if t.Group != "" {
			f += "/" + t.Group
		}
		if t.Pinned {
			f += "*"
		}
		fields = append(fields, f)
	}
	return strings.Join(fields, " ")
}

func TestOrderOperations(t *testing.T) {
	for _, c := range []struct {
		what string
		in   string
		op   func(Order) (Order, error)
		want string
	}{
		{"after the active one", "a b c", func(o Order) (Order, error) { return o.InsertAfter("a", Tab{ID: "n"}) }, "a n b c"},
		{"at the end", "a b", func(o Order) (Order, error) { return o.InsertAfter("", Tab{ID: "n"}) }, "a b n"},
		{"not among the pins", "a* b* c", func(o Order) (Order, error) { return o.InsertAfter("a", Tab{ID: "n"}) }, "a* b* n c"},
		{"a pinned one", "a* b", func(o Order) (Order, error) { return o.InsertAfter("b", Tab{ID: "n", Pinned: true}) }, "a* n* b"},
		{"not inside a group", "a/g b/g c", func(o Order) (Order, error) { return o.InsertAfter("a", Tab{ID: "n"}) }, "a/g b/g n c"},
		{"into the group", "a/g b/g c", func(o Order) (Order, error) { return o.InsertAfter("a", Tab{ID: "n", Group: "g"}) }, "a/g n/g b/g c"},
		{"into a group far off", "a/g b c", func(o Order) (Order, error) { return o.InsertAfter("c", Tab{ID: "n", Group: "g"}) }, "a/g n/g b c"},
		{"undo, index too large", "a b", func(o Order) (Order, error) { return o.InsertAt(9, Tab{ID: "n"}) }, "a b n"},
		{"undo, index too small", "a* b", func(o Order) (Order, error) { return o.InsertAt(-1, Tab{ID: "n"}) }, "a* n b"},
		{"move to the right", "a b c", func(o Order) (Order, error) { return o.Move("a", 2) }, "b c a"},
		{"move into the pins", "a* b c", func(o Order) (Order, error) { return o.Move("c", 0) }, "a* c b"},
		{"move within the group", "a/g b/g c", func(o Order) (Order, error) { return o.Move("a", 9) }, "b/g a/g c"},
		{"move through a group", "a/g b/g c", func(o Order) (Order, error) { return o.Move("c", 1) }, "a/g b/g c"},
		{"join a group", "a b/g c/g d", func(o Order) (Order, error) { return o.SetGroup("d", "g") }, "a b/g c/g d/g"},
		{"join from the left", "a b/g c/g d", func(o Order) (Order, error) { return o.SetGroup("a", "g") }, "b/g c/g a/g d"},
		{"leave from the middle", "a/g b/g c/g", func(o Order) (Order, error) { return o.SetGroup("b", "") }, "a/g c/g b"},
		{"join a pinned group", "a/g* b", func(o Order) (Order, error) { return o.SetGroup("b", "g") }, "a/g* b/g*"},
		{"pin", "a* b c", func(o Order) (Order, error) { return o.SetPinned("c", true) }, "a* c* b"},
		{"pin a group", "a b/g c/g", func(o Order) (Order, error) { return o.SetPinned("c", true) }, "b/g* c/g* a"},
		{"unpin", "a* b* c", func(o Order) (Order, error) { return o.SetPinned("a", false) }, "b* a c"},
		{"remove", "a b c", func(o Order) (Order, error) { return o.Remove("b") }, "a c"},
	} {
		in := row(c.in)
		got, err := c.op(in)
		if err != nil || got.String() != c.want || in.String() != c.in {
			t.Errorf("%s: %s to %s (%v), want %s", c.what, in, got, err, c.want)
		}
	}
}

func TestOrderRefuses(t *testing.T) {
	o := row("a b")
	for _, c := range []struct {
		op   func() (Order, error)
		want error
	}{
		{func() (Order, error) { return o.InsertAfter("x", Tab{ID: "n"}) }, ErrNoTab},
		{func() (Order, error) { return o.InsertAfter("a", Tab{ID: "b"}) }, ErrDuplicateTab},
		{func() (Order, error) { return o.InsertAt(0, Tab{}) }, ErrDuplicateTab},
		{func() (Order, error) { return o.Move("x", 0) }, ErrNoTab},
		{func() (Order, error) { return o.Remove("x") }, ErrNoTab},
		{func() (Order, error) { return o.SetGroup("x", "g") }, ErrNoTab},
		{func() (Order, error) { return o.SetPinned("x", true) }, ErrNoTab},
	} {
		if got, err := c.op(); !errors.Is(err, c.want) || got.String() != "a b" {
			t.Errorf("%v %s, want %v", err, got, c.want)
		}
	}
	for _, bad := range []string{"a a", "a b*", "a/g b c/g", "a/g* b/g"} {
		if row(bad).Check() == nil {
			t.Errorf("%s is valid", bad)
		}
	}
}

func TestAfterClose(t *testing.T) {
	for _, c := range []struct{ row, active, closed, want string }{
		{"a b c", "b", "b", "c"}, {"a b c", "c", "c", "b"}, {"a b c", "b", "a", "b"}, {"a b c", "b", "b c", "a"}, {"a", "a", "a", ""}, {"a b c d", "b", "b c", "d"}, {"a b", "x", "a", "b"},
	} {
		if got := row(c.row).AfterClose(c.active, strings.Fields(c.closed)...); got != c.want {
			t.Errorf("%s, active %s, closed %s: %q, want %q", c.row, c.active, c.closed, got, c.want)
		}
	}
}

func TestOrderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, next := Order{}, 0
		group := func() string { return rapid.SampledFrom([]string{"", "", "g", "h"}).Draw(t, "group") }
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			id := ""
			if len(o) > 0 {
				id = rapid.SampledFrom(o).Draw(t, "tab").ID
			}
			was := o.String()
			old, count, err := o, len(o), error(nil)
			switch op := rapid.IntRange(0, 6).Draw(t, "operation"); {
			case id == "" || op <= 1:
				next++
				o, err = o.InsertAfter(id, Tab{ID: strconv.Itoa(next), Group: group(), Pinned: rapid.Bool().Draw(t, "pinned")})
				count++
			case op == 2:
				next++
				o, err = o.InsertAt(rapid.IntRange(-1, 12).Draw(t, "index"), Tab{ID: strconv.Itoa(next), Group: group(), Pinned: rapid.Bool().Draw(t, "pinned")})
				count++
			case op == 3:
				o, err = o.Move(id, rapid.IntRange(-1, 12).Draw(t, "index"))
			case op == 4:
				o, err = o.SetGroup(id, group())
			case op == 5:
				o, err = o.SetPinned(id, rapid.Bool().Draw(t, "pinned"))
			default:
				o, err = o.Remove(id)
				count--
			}
			if err == nil {
				err = o.Check()
			}
			if err != nil || len(o) != count || old.String() != was {
				t.Fatalf("%s to %s: %v", was, o, err)
			}
			text, _ := json.Marshal(o)
			back := Order{}
			if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(o, back) {
				t.Fatalf("read back: %s", cmp.Diff(o, back))
			}
		}
	})
}
