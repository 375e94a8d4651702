// Package layout is the arithmetic of where panes and tabs are: the split tree
// of a tab and the order of tabs with their groups and pins.
//
// It is pure: every operation returns a new value and leaves its receiver as
// it was. It refuses what would leave a split with fewer than two children, a
// pane in two places or a group torn apart.
package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Direction is the way in which a split's children follow each other.
type Direction string

// Horizontal is left to right, Vertical top to bottom.
const (
	Horizontal Direction = "horizontal"
	Vertical   Direction = "vertical"
)

// Side is where a new pane goes, seen from another.
type Side string

// The sides.
const (
	Left  Side = "left"
	Right Side = "right"
	Up    Side = "up"
	Down  Side = "down"
)

func (s Side) direction() Direction {
	if s == Left || s == Right {
		return Horizontal
	}
	return Vertical
}

func (s Side) before() bool { return s == Left || s == Up }

// Node is a leaf (Pane) or a split (Split, Children, Weights). A tree is its
// root Node; the zero Node is the tree without panes.
type Node struct {
	Pane     string    `json:"pane,omitempty"`
	Split    Direction `json:"split,omitempty"`
	Children []Node    `json:"children,omitempty"`
	Weights  []float64 `json:"weights,omitempty"` // one per child; only their ratios count
}

// Errors of the operations.
var (
	ErrNoPane    = errors.New("no such pane")
	ErrDuplicate = errors.New("pane is already in the tree")
)

// Leaf is a tree of one pane.
func Leaf(pane string) Node { return Node{Pane: pane} }

// IsZero says whether the tree has no panes.
func (n Node) IsZero() bool { return n.Pane == "" && n.Split == "" }

// Panes lists the panes, depth first.
func (n Node) Panes() []string {
	var panes []string
	n.each(func(l Node) { panes = append(panes, l.Pane) })
	return panes
}

func (n Node) each(f func(leaf Node)) {
	if n.Split == "" && n.Pane != "" {
		f(n)
	}
	for _, c := range n.Children {
		c.each(f)
	}
}

// Has says whether the pane is in the tree.
func (n Node) Has(pane string) bool { return pane != "" && slices.Contains(n.Panes(), pane) }

// Check tells why the tree is not valid: a node that is neither leaf nor split
// or both, a split of fewer than two, weights that do not fit, a pane twice.
func (n Node) Check() error {
	if n.IsZero() && len(n.Children)+len(n.Weights) == 0 {
		return nil
	}
	return n.check(map[string]bool{})
}

func (n Node) check(seen map[string]bool) error {
	if n.Split == "" {
		switch {
		case n.Pane == "":
			return errors.New("a node is neither a pane nor a split")
		case len(n.Children)+len(n.Weights) > 0:
			return fmt.Errorf("pane %q has children", n.Pane)
		case seen[n.Pane]:
			return fmt.Errorf("pane %q: %w", n.Pane, ErrDuplicate)
		}
		seen[n.Pane] = true
		return nil
	}
	switch {
	case n.Split != Horizontal && n.Split != Vertical:
		return fmt.Errorf("unknown split %q", n.Split)
	case n.Pane != "":
		return fmt.Errorf("pane %q is a split too", n.Pane)
	case len(n.Children) < 2:
		return fmt.Errorf("a split has %d children", len(n.Children))
	case len(n.Weights) != len(n.Children):
		return fmt.Errorf("a split of %d children has %d weights", len(n.Children), len(n.Weights))
	}
	for i, c := range n.Children {
		if !goodWeight(n.Weights[i]) {
			return fmt.Errorf("weight %v is not a positive number", n.Weights[i])
		}
		if err := c.check(seen); err != nil {
			return err
		}
	}
	return nil
}

func goodWeight(w float64) bool { return w > 0 && !math.IsInf(w, 0) && !math.IsNaN(w) }

// Insert puts a new pane beside another, which gives it half of its room. In a
// split of that direction it becomes one more child.
func (n Node) Insert(beside string, side Side, pane string) (Node, error) {
	if pane == "" || n.Has(pane) {
		return n, fmt.Errorf("insert pane %q: %w", pane, ErrDuplicate)
	}
	if n.IsZero() && beside == "" {
		return Leaf(pane), nil
	}
	if !n.Has(beside) {
		return n, fmt.Errorf("insert beside pane %q: %w", beside, ErrNoPane)
	}
	return n.insert(beside, side, pane), nil
}

func (n Node) insert(beside string, side Side, pane string) Node {
	if n.Split == "" {
		if n.Pane != beside {
			return n
		}
		pair := []Node{n, Leaf(pane)}
		if side.before() {
			slices.Reverse(pair)
		}
		return Node{Split: side.direction(), Children: pair, Weights: []float64{1, 1}}
	}
	out := n.clone()
	for i, c := range n.Children {
		if c.Pane == beside && n.Split == side.direction() {
			half := n.Weights[i] / 2
			if half <= 0 { // underflow: make room by scaling everything up
				half = n.Weights[i]
			} else {
				out.Weights[i] = half
			}
			at := i + 1
			if side.before() {
				at = i
			}
			out.Children = slices.Insert(out.Children, at, Leaf(pane))
			out.Weights = slices.Insert(out.Weights, at, half)
			return out
		}
		out.Children[i] = c.insert(beside, side, pane)
	}
	return out
}

func (n Node) clone() Node {
	n.Children = slices.Clone(n.Children)
	n.Weights = slices.Clone(n.Weights)
	return n
}

// Remove takes a pane out. Its neighbours in the split share its room; a split
// left with one child gives way to it. The last pane leaves the zero Node.
func (n Node) Remove(pane string) (Node, error) {
	if !n.Has(pane) {
		return n, fmt.Errorf("remove pane %q: %w", pane, ErrNoPane)
	}
	return n.remove(pane).Flatten(), nil
}

func (n Node) remove(pane string) Node {
	if n.Split == "" {
		if n.Pane == pane {
			return Node{}
		}
		return n
	}
	out := Node{Split: n.Split}
	for i, c := range n.Children {
		if c = c.remove(pane); !c.IsZero() {
			out.Children = append(out.Children, c)
			out.Weights = append(out.Weights, n.Weights[i])
		}
	}
	return out
}

// Flatten is the same picture with no needless node: no split of one, no split
// directly in another of its direction, no empty one.
func (n Node) Flatten() Node {
	if n.Split == "" {
		return Node{Pane: n.Pane}
	}
	out := Node{Split: n.Split}
	for i, c := range n.Children {
		c = c.Flatten()
		w := weightAt(n.Weights, i)
		if c.Split == n.Split {
			sum := total(c.Weights)
			for j, grand := range c.Children {
				out.Children = append(out.Children, grand)
				out.Weights = append(out.Weights, positive(w*(c.Weights[j]/sum)))
			}
		} else if !c.IsZero() {
			out.Children = append(out.Children, c)
			out.Weights = append(out.Weights, w)
		}
	}
	switch len(out.Children) {
	case 0:
		return Node{}
	case 1:
		return out.Children[0]
	}
	return out
}

func weightAt(ws []float64, i int) float64 {
	if i < len(ws) && goodWeight(ws[i]) {
		return ws[i]
	}
	return 1
}

// positive keeps a weight valid where a division left nothing of it.
func positive(w float64) float64 { return max(w, math.SmallestNonzeroFloat64) }

func total(ws []float64) float64 {
	sum := 0.0
	for _, w := range ws {
		sum += w
	}
	if math.IsInf(sum, 0) {
		return math.MaxFloat64
	}
	return sum
}

// Move takes a pane out and puts it beside another.
func (n Node) Move(pane, beside string, side Side) (Node, error) {
	if pane == beside {
		return n, fmt.Errorf("move pane %q beside itself: %w", pane, ErrDuplicate)
	}
	if !n.Has(beside) {
		return n, fmt.Errorf("move beside pane %q: %w", beside, ErrNoPane)
	}
	out, err := n.Remove(pane)
	if err != nil {
		return n, err
	}
	return out.Insert(beside, side, pane)
}

// Swap exchanges two panes.
func (n Node) Swap(a, b string) (Node, error) {
	for _, p := range []string{a, b} {
		if !n.Has(p) {
			return n, fmt.Errorf("swap pane %q: %w", p, ErrNoPane)
		}
	}
	return n.mapPanes(func(p string) string {
		switch p {
		case a:
			return b
		case b:
			return a
		}
		return p
	}), nil
}

func (n Node) mapPanes(f func(string) string) Node {
	if n.Split == "" {
		n.Pane = f(n.Pane)
		return n
	}
	out := n.clone()
	for i, c := range n.Children {
		out.Children[i] = c.mapPanes(f)
	}
	return out
}

// Resize sets the weights of the split at a path of child indices from the root.
func (n Node) Resize(path []int, weights []float64) (Node, error) {
	out := n.clone()
	if len(path) > 0 {
		if path[0] < 0 || path[0] >= len(n.Children) {
			return n, errors.New("no such split")
		}
		child, err := n.Children[path[0]].Resize(path[1:], weights)
		if err != nil {
			return n, err
		}
		out.Children[path[0]] = child
		return out, nil
	}
	if n.Split == "" || len(weights) != len(n.Children) {
		return n, fmt.Errorf("%d weights for a split of %d children", len(weights), len(n.Children))
	}
	if slices.ContainsFunc(weights, func(w float64) bool { return !goodWeight(w) }) {
		return n, errors.New("a weight is not a positive number")
	}
	out.Weights = slices.Clone(weights)
	return out, nil
}
