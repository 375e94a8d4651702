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
