package model

import (
	"testing"

	"davit"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// draw makes a random event over few ids, so that events hit each other.
func draw(t *rapid.T) davit.Event {
	tab := davit.TabID(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tab"))
	pane := davit.PaneID(rapid.SampledFrom([]string{"p", "q"}).Draw(t, "pane"))
	word := rapid.StringN(0, 3, -1).Draw(t, "word")
	switch rapid.SampledFrom([]davit.EventKind{davit.EventTab, davit.EventTabRemoved, davit.EventTabOrder, davit.EventPane, davit.EventPaneRemoved,
		davit.EventNotice, davit.EventNoticeRemoved, davit.EventChips, davit.EventClosed, davit.EventLaunched}).Draw(t, "kind") {
	case davit.EventTab:
		return davit.Event{Kind: davit.EventTab, Tab: &davit.Tab{ID: tab, Title: word}}
	case davit.EventTabRemoved:
		return davit.Event{Kind: davit.EventTabRemoved, TabID: tab}
	case davit.EventTabOrder:
		return davit.Event{Kind: davit.EventTabOrder, Order: []davit.TabID{tab, "c"}}
	case davit.EventPane:
		return davit.Event{Kind: davit.EventPane, Pane: &davit.Pane{ID: pane, Title: word}}
	case davit.EventPaneRemoved:
		return davit.Event{Kind: davit.EventPaneRemoved, PaneID: pane}
	case davit.EventNotice:
		return davit.Event{Kind: davit.EventNotice, Notice: &davit.Notice{ID: word, Title: word}}
	case davit.EventNoticeRemoved:
		return davit.Event{Kind: davit.EventNoticeRemoved, NoticeID: word}
	case davit.EventChips:
		return davit.Event{Kind: davit.EventChips, PaneID: pane, Chips: []davit.Chip{{Kind: "cwd", Text: word}}}
	case davit.EventClosed:
		return davit.Event{Kind: davit.EventClosed, Closed: []davit.ClosedTab{{ID: tab}}}
	}
	return davit.Event{Kind: davit.EventLaunched}
}

// Applying an event twice is harmless, and never changes the state that it was applied to:
// readers of the old one go on reading it.
func TestApplyIsIdempotentAndLeavesTheOldAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := davit.State{}
		for i := range rapid.IntRange(1, 20).Draw(t, "events") {
			e := draw(t)
			e.Seq = uint64(i + 1)
			before := cmpClone(s)
			once := Apply(s, e)
			if diff := cmp.Diff(before, cmpClone(s)); diff != "" {
				t.Fatalf("the old state changed:\n%s", diff)
			}
			if diff := cmp.Diff(cmpClone(once), cmpClone(Apply(once, e))); diff != "" {
				t.Fatalf("twice is not once:\n%s", diff)
			}
			if once.Seq != e.Seq {
				t.Fatalf("sequence %d after event %d", once.Seq, e.Seq)
			}
			s = once
		}
	})
}

// cmpClone copies what Apply may share.
func cmpClone(s davit.State) davit.State {
	out := s
	out.Tabs = append([]davit.Tab{}, s.Tabs...)
	out.Notices = append([]davit.Notice{}, s.Notices...)
	out.Closed = append([]davit.ClosedTab{}, s.Closed...)
	out.Panes, out.Chips = map[davit.PaneID]davit.Pane{}, map[davit.PaneID][]davit.Chip{}
	for k, v := range s.Panes {
		out.Panes[k] = v
	}
	for k, v := range s.Chips {
		out.Chips[k] = v
	}
	return out
}

func TestPanesOfInTreeOrder(t *testing.T) {
	tab := davit.Tab{Tree: &davit.Split{Direction: davit.Horizontal, Children: []davit.Split{
		{Pane: "1"}, {Direction: davit.Vertical, Children: []davit.Split{{Pane: "2"}, {Pane: "3"}}},
	}}}
	if diff := cmp.Diff([]davit.PaneID{"1", "2", "3"}, PanesOf(tab)); diff != "" {
		t.Error(diff)
	}
	if got := PanesOf(davit.Tab{}); got != nil {
		t.Errorf("a tab without a tree has panes: %v", got)
	}
}
