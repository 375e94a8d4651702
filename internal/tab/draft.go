package tab

import (
	"slices"

	"davit"
	"davit/internal/host"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/store"
)

// draft is a change under way: its events are applied to m as they are added, so that each
// step of a decision sees what the steps before it did. It lives on the host loop, within
// one decision.
type draft struct {
	m      host.Model
	change host.Change
}

func newDraft(m host.Model) *draft { return &draft{m: m} }

func (d *draft) add(events ...davit.Event) {
	for _, e := range events {
		d.m.State = model.Apply(d.m.State, e)
		d.change.Events = append(d.change.Events, e)
	}
}

func (d *draft) putTab(t davit.Tab) { d.add(davit.Event{Kind: davit.EventTab, Tab: &t}) }

func (d *draft) putGroup(g davit.Group) { d.add(davit.Event{Kind: davit.EventGroup, Group: &g}) }

// tab finds an open tab.
func (d *draft) tab(id davit.TabID) (davit.Tab, error) {
	t, ok := model.Tab(d.m.State, id)
	if !ok {
		return t, noTab(id)
	}
	return t, nil
}

func noTab(id davit.TabID) error {
	return davit.Errorf(davit.CodeTabNotFound, "there is no open tab %q", id).WithHint("`davit tab list` shows what there is")
}

func (d *draft) group(id davit.GroupID) (davit.Group, error) {
	g, ok := model.Group(d.m.State, id)
	if !ok {
		return g, davit.Errorf(davit.CodeGroupNotFound, "there is no group %q", id).WithHint("`davit group list` shows what there is")
	}
	return g, nil
}

// order is the row of tabs. A group that is not there is none.
func (d *draft) order() layout.Order { return orderOf(d.m.State) }

func orderOf(s davit.State) layout.Order {
	o := make(layout.Order, 0, len(s.Tabs))
	for _, t := range s.Tabs {
		o = append(o, placeOf(s, t))
	}
	return o
}

func placeOf(s davit.State, t davit.Tab) layout.Tab {
	p := layout.Tab{ID: string(t.ID), Group: string(t.Group), Pinned: t.Pinned}
	if _, ok := model.Group(s, t.Group); !ok {
		p.Group = ""
	}
	return p
}

// arrange brings the tabs into a new order: their groups and pins, their places, the pins
// of groups, and the end of groups that have no tab any more (spec tabs T6.5).
func (d *draft) arrange(o layout.Order) {
	ids := make([]davit.TabID, len(o))
	for i, p := range o {
		ids[i] = davit.TabID(p.ID)
		t, ok := model.Tab(d.m.State, ids[i])
		if ok && (string(t.Group) != p.Group || t.Pinned != p.Pinned) {
			t.Group, t.Pinned = davit.GroupID(p.Group), p.Pinned
			d.putTab(t)
		}
	}
	if !slices.Equal(ids, model.Order(d.m.State)) {
		d.add(davit.Event{Kind: davit.EventTabOrder, Order: ids})
	}
	for _, g := range d.m.State.Groups {
		i := slices.IndexFunc(o, func(p layout.Tab) bool { return p.Group == string(g.ID) })
		switch {
		case i < 0:
			d.add(davit.Event{Kind: davit.EventGroupRemoved, GroupID: g.ID})
		case o[i].Pinned != g.Pinned:
			g.Pinned = o[i].Pinned
			d.putGroup(g)
		}
	}
}

// insert puts a new tab where the rule says, which gets the row without it.
func (d *draft) insert(t davit.Tab, rule func(layout.Order, layout.Tab) (layout.Order, error)) error {
	o, err := rule(d.order(), placeOf(d.m.State, t))
	if err != nil {
		return davit.Errorf(davit.CodeInternal, "the tab %s has no place: %w", t.ID, err)
	}
	d.putTab(t)
	d.arrange(o)
	return nil
}

// behind is the rule of new tabs: after a tab, or at the end of its group, or of all.
func behind(after davit.TabID) func(layout.Order, layout.Tab) (layout.Order, error) {
	return func(o layout.Order, p layout.Tab) (layout.Order, error) {
		if o.Index(string(after)) < 0 {
			after = ""
		}
		return o.InsertAfter(string(after), p)
	}
}

// closed brings the stack of what undo can bring back up to date.
func (d *draft) closed() {
	rows := d.m.Rows.With(d.change.Batch)
	closed := make(map[davit.TabID]store.TabRow, len(rows.Closed))
	for id, row := range rows.Closed {
		if _, open := model.Tab(d.m.State, id); !open {
			closed[id] = row
		}
	}
	rows.Closed = closed
	d.add(davit.Event{Kind: davit.EventClosed, Closed: Closed(rows)})
}
