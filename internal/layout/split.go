package layout

import "davit"

// FromSplit takes a tree as the vocabulary has it.
func FromSplit(s davit.Split) Node {
	n := Node{Pane: string(s.Pane), Split: Direction(s.Direction), Weights: s.Sizes}
	for _, c := range s.Children {
		n.Children = append(n.Children, FromSplit(c))
	}
	return n
}

// ToSplit gives the tree back in the vocabulary's words.
func (n Node) ToSplit() davit.Split {
	s := davit.Split{Pane: davit.PaneID(n.Pane), Direction: davit.Direction(n.Split), Sizes: n.Weights}
	for _, c := range n.Children {
		s.Children = append(s.Children, c.ToSplit())
	}
	return s
}

// Insert puts a new pane beside another of a tab's tree (Node.Insert).
func Insert(tree davit.Split, beside davit.PaneID, side Side, pane davit.PaneID) (davit.Split, error) {
	n, err := FromSplit(tree).Insert(string(beside), side, string(pane))
	return n.ToSplit(), err
}

// Remove takes a pane out of a tab's tree (Node.Remove).
func Remove(tree davit.Split, pane davit.PaneID) (davit.Split, error) {
	n, err := FromSplit(tree).Remove(string(pane))
	return n.ToSplit(), err
}

// Resize sets the weights of one split of a tab's tree (Node.Resize).
func Resize(tree davit.Split, path []int, sizes []float64) (davit.Split, error) {
	n, err := FromSplit(tree).Resize(path, sizes)
	return n.ToSplit(), err
}

// Move takes a pane of a tab's tree and puts it beside another (Node.Move).
func Move(tree davit.Split, pane, beside davit.PaneID, side Side) (davit.Split, error) {
	n, err := FromSplit(tree).Move(string(pane), string(beside), side)
	return n.ToSplit(), err
}

// Neighbour names a pane that stands in the same split as the given one, and on which side
// of it the given one stands: what it takes to put it back into a tree that has changed.
// Of a neighbour that is a split the nearest pane is meant. "" for the only pane.
func Neighbour(tree davit.Split, pane davit.PaneID) (beside davit.PaneID, side string) {
	id, at := FromSplit(tree).neighbour(string(pane))
	return davit.PaneID(id), string(at)
}

func (n Node) neighbour(pane string) (beside string, side Side) {
	for i, c := range n.Children {
		if c.Pane != pane {
			if id, at := c.neighbour(pane); id != "" {
				return id, at
			}
			continue
		}
		before, after := Left, Right
		if n.Split == Vertical {
			before, after = Up, Down
		}
		if i > 0 {
			left := n.Children[i-1].Panes()
			return left[len(left)-1], after
		}
		if len(n.Children) > 1 {
			return n.Children[1].Panes()[0], before
		}
	}
	return "", ""
}
