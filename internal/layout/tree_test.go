package layout

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func split(d Direction, weights []float64, children ...Node) Node {
	return Node{Split: d, Children: children, Weights: weights}
}

func TestInsertMakesASplitOrJoinsOne(t *testing.T) {
	n, err := Node{}.Insert("", Right, "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		beside string
		side   Side
		pane   string
		want   Node
	}{
		{"a", Right, "b", split(Horizontal, []float64{1, 1}, Leaf("a"), Leaf("b"))},
		{"a", Left, "c", split(Horizontal, []float64{0.5, 0.5, 1}, Leaf("c"), Leaf("a"), Leaf("b"))},
		{"b", Down, "d", split(Horizontal, []float64{0.5, 0.5, 1}, Leaf("c"), Leaf("a"), split(Vertical, []float64{1, 1}, Leaf("b"), Leaf("d")))},
		{"b", Up, "e", split(Horizontal, []float64{0.5, 0.5, 1}, Leaf("c"), Leaf("a"), split(Vertical, []float64{0.5, 0.5, 1}, Leaf("e"), Leaf("b"), Leaf("d")))},
	} {
		if n, err = n.Insert(s.beside, s.side, s.pane); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.want, n); d != "" {
			t.Fatalf("%s %s of %s: %s", s.pane, s.side, s.beside, d)
		}
	}
	if got, want := n.Panes(), []string{"c", "a", "e", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRemoveGivesTheRoomToTheRest(t *testing.T) {
	n := split(Horizontal, []float64{1, 3}, Leaf("a"), split(Vertical, []float64{1, 1}, Leaf("b"), split(Horizontal, []float64{1, 2}, Leaf("c"), Leaf("d"))))
	got, err := n.Remove("b")
	if err != nil {
		t.Fatal(err)
	}
	// The inner row joins the outer one and keeps its proportions.
	if d := cmp.Diff(split(Horizontal, []float64{1, 1, 2}, Leaf("a"), Leaf("c"), Leaf("d")), got); d != "" {
		t.Error(d)
	}
	if got, err := Leaf("a").Remove("a"); err != nil || !got.IsZero() {
		t.Errorf("the last pane: %v %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	n := split(Horizontal, []float64{1, 1}, Leaf("a"), Leaf("b"))
	for name, c := range map[string]struct {
		op   func() (Node, error)
		want error
	}{
		"insert twice":      {func() (Node, error) { return n.Insert("a", Left, "b") }, ErrDuplicate},
		"insert nameless":   {func() (Node, error) { return n.Insert("a", Left, "") }, ErrDuplicate},
		"insert at nothing": {func() (Node, error) { return n.Insert("x", Left, "c") }, ErrNoPane},
		"remove nothing":    {func() (Node, error) { return n.Remove("x") }, ErrNoPane},
		"move nothing":      {func() (Node, error) { return n.Move("x", "a", Up) }, ErrNoPane},
		"move to nothing":   {func() (Node, error) { return n.Move("a", "x", Up) }, ErrNoPane},
		"move to itself":    {func() (Node, error) { return n.Move("a", "a", Up) }, ErrDuplicate},
		"swap nothing":      {func() (Node, error) { return n.Swap("a", "x") }, ErrNoPane},
	} {
		got, err := c.op()
		if !errors.Is(err, c.want) || !cmp.Equal(got, n) {
			t.Errorf("%s: %v, want %v and no change", name, err, c.want)
		}
	}
	for name, ws := range map[string][]float64{"few": {1}, "zero": {0, 1}, "negative": {1, -1}, "infinite": {1, math.Inf(1)}, "no number": {math.NaN(), 1}} {
		if _, err := n.Resize(nil, ws); err == nil {
			t.Errorf("weights taken: %s", name)
		}
	}
	if _, err := n.Resize([]int{0}, []float64{1, 1}); err == nil {
		t.Error("a leaf was resized")
	}
}

func TestCheck(t *testing.T) {
	for name, n := range map[string]Node{
		"split of one":     split(Horizontal, []float64{1}, Leaf("a")),
		"split of none":    {Split: Vertical},
		"empty child":      split(Horizontal, []float64{1, 1}, Leaf("a"), Node{}),
		"pane twice":       split(Horizontal, []float64{1, 1}, Leaf("a"), Leaf("a")),
		"no weights":       {Split: Vertical, Children: []Node{Leaf("a"), Leaf("b")}},
		"weight zero":      split(Horizontal, []float64{1, 0}, Leaf("a"), Leaf("b")),
		"odd direction":    split("diagonal", []float64{1, 1}, Leaf("a"), Leaf("b")),
		"leaf with child":  {Pane: "a", Children: []Node{Leaf("b")}},
		"pane and split":   {Pane: "a", Split: Vertical, Children: []Node{Leaf("b"), Leaf("c")}, Weights: []float64{1, 1}},
		"weights and none": {Weights: []float64{1}},
	} {
		if n.Check() == nil {
			t.Errorf("%s is valid", name)
		}
	}
}

func TestRects(t *testing.T) {
	n := split(Horizontal, []float64{1, 3}, Leaf("a"), split(Vertical, []float64{1, 1}, Leaf("b"), Leaf("c")))
	want := map[string]Rect{"a": {0, 0, 0.25, 1}, "b": {0.25, 0, 0.75, 0.5}, "c": {0.25, 0.5, 0.75, 0.5}}
	if d := cmp.Diff(want, n.Rects()); d != "" {
		t.Error(d)
	}
}

// After any operations the tree is valid, is read back as it was written, holds
// the panes that it should, and they fill the tab without overlap.
func TestTreeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, panes, next := Node{}, []string{}, 0
		pick := func(label string) string { return rapid.SampledFrom(panes).Draw(t, label) }
		side := func() Side { return rapid.SampledFrom([]Side{Left, Right, Up, Down}).Draw(t, "side") }
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			var err error
			before := asJSON(t, n)
			was := n
			switch op := rapid.IntRange(0, 6).Draw(t, "operation"); {
			case len(panes) == 0 || op <= 2:
				beside := ""
				if len(panes) > 0 {
					beside = pick("beside")
				}
				next++
				pane := strconv.Itoa(next)
				n, err = n.Insert(beside, side(), pane)
				panes = append(panes, pane)
			case op == 3:
				pane := pick("remove")
				n, err = n.Remove(pane)
				panes = slices.DeleteFunc(panes, func(p string) bool { return p == pane })
			case op == 4 && len(panes) > 1:
				a, b := pick("move"), pick("to")
				if a != b {
					n, err = n.Move(a, b, side())
				}
			case op == 5:
				n, err = n.Swap(pick("swap"), pick("with"))
			case n.Split != "":
				n, err = n.Resize(nil, rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), len(n.Children), len(n.Children)).Draw(t, "weights"))
			}
			if err != nil {
				t.Fatal(err)
			}
			checkTree(t, n, panes)
			if after := asJSON(t, was); after != before {
				t.Fatalf("the old tree changed from %s to %s", before, after)
			}
		}
	})
}

func checkTree(t *rapid.T, n Node, panes []string) {
	if err := n.Check(); err != nil {
		t.Fatalf("%v in %s", err, asJSON(t, n))
	}
	got := n.Panes()
	slices.Sort(got)
	want := slices.Sorted(slices.Values(panes))
	if !slices.Equal(got, want) {
		t.Fatalf("panes %v, want %v", got, want)
	}
	var back Node
	if err := json.Unmarshal([]byte(asJSON(t, n)), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(n, back); d != "" {
		t.Fatalf("read back: %s", d)
	}
	if d := cmp.Diff(n, n.Flatten()); d != "" {
		t.Fatalf("there was something to flatten: %s", d)
	}
	area := 0.0
	for _, r := range n.Rects() {
		area += r.W * r.H
	}
	if len(panes) > 0 && math.Abs(area-1) > 1e-9 {
		t.Fatalf("the panes fill %v of the tab", area)
	}
}

func asJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A tree from anywhere is repaired by Flatten or refused by Check; neither panics.
func FuzzNode(f *testing.F) {
	for _, s := range []string{`{}`, `{"pane":"a"}`, `{"split":"horizontal","children":[{"pane":"a"},{"pane":"b"}],"weights":[1,2]}`,
		`{"split":"vertical","children":[{"split":"vertical","children":[{"pane":"a"}]},{}],"weights":[-1]}`,
		`{"split":"vertical","children":[{"split":"vertical","children":[{"pane":"a"},{"pane":"b"}],"weights":[1e308,1e308]},{"pane":"c"}],"weights":[1e308,5e-324]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var n Node
		if json.Unmarshal(text, &n) != nil {
			return
		}
		flat := n.Flatten()
		panes := flat.Panes()
		duplicate := len(slices.Compact(slices.Sorted(slices.Values(panes)))) != len(panes)
		if err := flat.Check(); err != nil && !duplicate && !oddDirection(n) {
			t.Fatalf("%s: %v", text, err)
		}
		if n.Check() == nil && !slices.Equal(n.Panes(), panes) {
			t.Fatalf("%s: flattening changed the panes", text)
		}
		n.Rects()
	})
}

func oddDirection(n Node) bool {
	return n.Split != "" && n.Split != Horizontal && n.Split != Vertical || slices.ContainsFunc(n.Children, oddDirection)
}
