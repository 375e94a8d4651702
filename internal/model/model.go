// Package model is the state of a host as a pure value: what State a list of Events
// makes. It decides nothing and does nothing; the host loop (internal/host) owns the one
// live State, everyone else gets copies that are never changed again.
//
// Events carry new values whole, so applying one twice is harmless.
package model

import (
	"maps"
	"slices"

	"davit"
)

// Apply gives the state after the event. The given state is not changed, and what is
// shared between the two is never changed afterwards: both stay valid for readers.
func Apply(s davit.State, e davit.Event) davit.State {
	s.Seq = e.Seq
	switch e.Kind {
	case davit.EventTab:
		if e.Tab != nil {
			s.Tabs = put(s.Tabs, *e.Tab, func(t davit.Tab) bool { return t.ID == e.Tab.ID })
		}
	case davit.EventTabRemoved:
		s.Tabs = without(s.Tabs, func(t davit.Tab) bool { return t.ID == e.TabID })
	case davit.EventTabOrder:
		s.Tabs = ordered(s.Tabs, e.Order)
	case davit.EventPane:
		if e.Pane != nil {
			s.Panes = maps.Clone(s.Panes)
			if s.Panes == nil {
				s.Panes = map[davit.PaneID]davit.Pane{}
			}
			s.Panes[e.Pane.ID] = *e.Pane
		}
	case davit.EventPaneRemoved:
		s.Panes = maps.Clone(s.Panes)
		delete(s.Panes, e.PaneID)
		s.Chips = maps.Clone(s.Chips)
		delete(s.Chips, e.PaneID)
	case davit.EventNotice:
		if e.Notice != nil {
			s.Notices = put(s.Notices, *e.Notice, func(n davit.Notice) bool { return n.ID == e.Notice.ID })
		}
	case davit.EventNoticeRemoved:
		s.Notices = without(s.Notices, func(n davit.Notice) bool { return n.ID == e.NoticeID })
	case davit.EventChips:
		s.Chips = maps.Clone(s.Chips)
		if s.Chips == nil {
			s.Chips = map[davit.PaneID][]davit.Chip{}
		}
		s.Chips[e.PaneID] = e.Chips
	case davit.EventClosed:
		s.Closed = e.Closed
	case davit.EventSession:
		if e.Session != nil {
			s.Sessions = maps.Clone(s.Sessions)
			if s.Sessions == nil {
				s.Sessions = map[davit.SessionID]davit.Session{}
			}
			s.Sessions[e.Session.ID] = *e.Session
		}
	case davit.EventLayout:
		if e.Layout != nil {
			s.Layout = *e.Layout
		}
	case davit.EventGroup:
		if e.Group != nil {
			s.Groups = put(s.Groups, *e.Group, func(g davit.Group) bool { return g.ID == e.Group.ID })
		}
	case davit.EventGroupRemoved:
		s.Groups = without(s.Groups, func(g davit.Group) bool { return g.ID == e.GroupID })
	case davit.EventTabView:
		if e.TabView != nil {
			s.TabView = *e.TabView
		}
	}
	return s
}

// put replaces the element that match finds, or appends the new one.
func put[T any](list []T, value T, match func(T) bool) []T {
	list = slices.Clone(list)
	if i := slices.IndexFunc(list, match); i >= 0 {
		list[i] = value
		return list
	}
	return append(list, value)
}

func without[T any](list []T, match func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), match)
}

// ordered sorts tabs by a list of ids; tabs that the list does not name keep their order
// behind those that it does.
func ordered(tabs []davit.Tab, order []davit.TabID) []davit.Tab {
	place := make(map[davit.TabID]int, len(order))
	for i, id := range order {
		place[id] = i
	}
	tabs = slices.Clone(tabs)
	slices.SortStableFunc(tabs, func(a, b davit.Tab) int {
		ia, oka := place[a.ID]
		ib, okb := place[b.ID]
		switch {
		case oka && okb:
			return ia - ib
		case oka:
			return -1
		case okb:
			return 1
		}
		return 0
	})
	return tabs
}

// Tab finds a tab.
func Tab(s davit.State, id davit.TabID) (davit.Tab, bool) {
	i := slices.IndexFunc(s.Tabs, func(t davit.Tab) bool { return t.ID == id })
	if i < 0 {
		return davit.Tab{}, false
	}
	return s.Tabs[i], true
}

// Notice finds a notice.
func Notice(s davit.State, id string) (davit.Notice, bool) {
	i := slices.IndexFunc(s.Notices, func(n davit.Notice) bool { return n.ID == id })
	if i < 0 {
		return davit.Notice{}, false
	}
	return s.Notices[i], true
}

// Group finds a group.
func Group(s davit.State, id davit.GroupID) (davit.Group, bool) {
	i := slices.IndexFunc(s.Groups, func(g davit.Group) bool { return g.ID == id })
	if i < 0 {
		return davit.Group{}, false
	}
	return s.Groups[i], true
}

// Order lists the ids of the tabs as shown.
func Order(s davit.State) []davit.TabID {
	order := make([]davit.TabID, len(s.Tabs))
	for i, t := range s.Tabs {
		order[i] = t.ID
	}
	return order
}

// PanesOf lists the panes of a tab in the order of its tree.
func PanesOf(t davit.Tab) []davit.PaneID {
	var ids []davit.PaneID
	if t.Tree == nil {
		return nil
	}
	var walk func(davit.Split)
	walk = func(n davit.Split) {
		if n.Pane != "" {
			ids = append(ids, n.Pane)
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(*t.Tree)
	return ids
}
