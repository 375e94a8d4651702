package layout

// Rect is the part of the tab that a pane has, as fractions of the whole.
type Rect struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// Rects places every pane in the unit square.
func (n Node) Rects() map[string]Rect {
	rects := map[string]Rect{}
	n.place(Rect{W: 1, H: 1}, rects)
	return rects
}

func (n Node) place(r Rect, rects map[string]Rect) {
	if n.Split == "" {
		if n.Pane != "" {
			rects[n.Pane] = r
		}
		return
	}
	sum := total(n.Weights)
	for i, c := range n.Children {
		part := weightAt(n.Weights, i) / sum
		at := r
		if n.Split == Horizontal {
			at.W = r.W * part
			r.X += at.W
			c.place(at, rects)
			continue
		}
		at.H = r.H * part
		r.Y += at.H
		c.place(at, rects)
	}
}
