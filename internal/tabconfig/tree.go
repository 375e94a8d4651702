package tabconfig

import (
	"fmt"
	"math"
)

// tree checks the pane tree (spec tabs T1.3). What no split reaches is only
// warned of, and not looked into.
func (l *loader) tree() {
	if len(l.cfg.Panes) == 0 {
		return
	}
	w := treeWalk{l: l, byID: map[string]int{}, state: make([]walkState, len(l.panes)), focused: -1}
	for i, p := range l.cfg.Panes {
		if i > 0 && p.ID == "" {
			w.nameless++
		}
		first, again := w.byID[p.ID]
		if !again {
			w.byID[p.ID] = i
		} else if p.ID != "" {
			at := l.panes[i].entry("id").value.at
			l.fault(at, Error, CodeDuplicateID, "", "the pane id %q is taken by the pane on line %d", p.ID, l.line(l.panes[first].at))
		}
	}
	w.visit(0)
	w.count()
	for i, p := range l.cfg.Panes {
		if w.state[i] == unvisited && w.byID[p.ID] == i && p.ID != "" { // without an id: told already
			hint := "name it in the children of a split"
			if l.cfg.Panes[0].Split == "" {
				hint = "the first pane is the root: make it a split to show several"
			}
			l.fault(l.panes[i].at, Warning, CodeUnreached, hint, "no split reaches the pane %q; it is not opened", p.ID)
		}
	}
}

// manyPanes is from how many on a config is warned of: each starts a shell at once.
const manyPanes = 50

func (w *treeWalk) count() {
	n := 0
	for i, p := range w.l.cfg.Panes {
		if w.state[i] != unvisited && p.Split == "" {
			n++
		}
	}
	if n >= manyPanes {
		w.l.fault(w.l.panes[0].at, Warning, CodeManyPanes, "", "%d panes: each starts a shell when the tab opens", n)
	}
}

type walkState int

const (
	unvisited walkState = iota
	open                // above the present one in the tree
	done
)

type treeWalk struct {
	l       *loader
	byID    map[string]int
	state   []walkState
	focused int // the first focused leaf, -1 = none yet

	nameless int // panes without an id that no split has named yet
}

func (w *treeWalk) visit(i int) {
	w.state[i] = open
	defer func() { w.state[i] = done }()
	l, p, n := w.l, w.l.cfg.Panes[i], w.l.panes[i]
	if n.entry("split") == nil {
		w.leaf(i)
		return
	}
	children := n.entry("children")
	written := n.list("children", nodeString)
	switch {
	case children == nil:
		l.fault(n.at, Error, CodeChildren, `add children = ["…", "…"]`, "the split %q has no children", p.ID)
		return
	case children.value.kind != nodeArray:
		return // told by its shape
	case len(children.value.items) < 2:
		l.fault(children.at, Error, CodeChildren, "", "the split %q needs at least two children and has %d", p.ID, len(children.value.items))
	}
	w.sizes(n, p, len(children.value.items))
	for _, child := range written {
		w.child(p, child)
	}
}

func (w *treeWalk) child(split Pane, child *node) {
	l := w.l
	i, ok := w.byID[child.text]
	switch {
	case !ok && w.nameless > 0:
		w.nameless-- // the id that it lacks: told already
	case !ok:
		var ids []string
		for _, p := range l.cfg.Panes {
			if p.ID != "" {
				ids = append(ids, p.ID)
			}
		}
		l.fault(child.at, Error, CodeUnknownChild, l.nearest(child.text, ids, nil), "the split %q names %q, which is no pane", split.ID, child.text)
	case w.state[i] == open:
		l.fault(child.at, Error, CodeCycle, "", "the split %q contains itself by way of %q", child.text, split.ID)
	case w.state[i] == done:
		l.fault(child.at, Warning, CodeChildTwice, "", "the pane %q is a child twice; it is shown once", child.text)
	default:
		w.visit(i)
	}
}

func (w *treeWalk) sizes(n *node, p Pane, children int) {
	e := n.entry("sizes")
	if e == nil || e.value.kind != nodeArray {
		return
	}
	if len(e.value.items) != children {
		w.l.fault(e.at, Error, CodeSizes, "give one size for each child", "the split %q has %d children and %d sizes", p.ID, children, len(e.value.items))
	}
	for _, item := range e.value.items {
		if item.kind == nodeNumber && !(item.number > 0 && item.number <= math.MaxFloat64) {
			w.l.fault(item.at, Error, CodeSizes, "", "a size must be a positive number")
		}
	}
}

func (w *treeWalk) leaf(i int) {
	l, p, n := w.l, w.l.cfg.Panes[i], w.l.panes[i]
	if n.entry("type") == nil {
		l.fault(n.at, Error, CodeLeafType, `add type = "terminal", "agent" or "cloud", or make it a split`, "the pane %q has no type", p.ID)
	}
	if p.Focused && w.focused >= 0 {
		l.fault(n.entry("is_focused").at, Warning, CodeFocusTwice, "", "the pane %q is focused already; the first one wins", l.cfg.Panes[w.focused].ID)
	} else if p.Focused {
		w.focused = i
	}
	if p.Type == Cloud {
		l.fault(n.entry("type").value.at, Warning, CodeCloud, "", "the pane %q will only say that cloud panes do not exist yet", p.ID)
	}
	w.withoutEffect(n, p)
}

// withoutEffect warns of keys of our own on a leaf that does not read them.
func (w *treeWalk) withoutEffect(n *node, p Pane) {
	of := func(want PaneType, keys ...string) {
		for _, key := range keys {
			if e := n.entry(key); e != nil && p.Type != want && p.Type != "" {
				w.l.fault(e.at, Warning, CodeWithoutEffect, fmt.Sprintf("set type = %q", want), "%q does nothing in a pane of type %s", key, p.Type)
			}
		}
	}
	of(Agent, "agent", "prompt")
	of(Cloud, "host")
	if e := n.entry("sizes"); e != nil {
		w.l.fault(e.at, Warning, CodeWithoutEffect, "", "\"sizes\" does nothing in a pane that is no split")
	}
}
