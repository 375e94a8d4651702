package tab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/layout"
	"davit/internal/model"
	"davit/internal/wire"
)

// NewGroupID mints a group's id.
func NewGroupID() davit.GroupID { return davit.GroupID("g_" + randomHex(8)) }

// decide has the host loop carry out what a draft decides.
func (s *Service) decide(ctx context.Context, decide func(*draft) error) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		d := newDraft(m)
		if err := decide(d); err != nil {
			return host.Change{}, err
		}
		return d.change, nil
	})
}

// Edit changes title, colour, group, pin or place of a tab (spec tabs T6.5). A tab moves
// within its group and on its side of the pins; a tab that is pinned takes its group along,
// and one that joins a group takes the group's pin: the answer says so.
func (s *Service) Edit(ctx context.Context, req wire.TabEdit) (wire.TabEdited, error) {
	edited := wire.TabEdited{Tab: req.Tab, Notes: []string{}}
	err := s.decide(ctx, func(d *draft) error {
		t, err := d.tab(req.Tab)
		if err != nil {
			return err
		}
		if req.Title != nil {
			t.Given = strings.TrimSpace(*req.Title)
			t.Title = cmp.Or(t.Given, cmp.Or(t.Config, "tab"))
		}
		if req.Color != nil {
			if err := checkColor(*req.Color); err != nil {
				return err
			}
			t.Color = *req.Color
		}
		if req.Title != nil || req.Color != nil {
			d.putTab(t)
		}
		if req.Group != nil && *req.Group != "" {
			if _, err := d.group(*req.Group); err != nil {
				return err
			}
		}
		if req.After != nil && *req.After != "" {
			if _, err := d.tab(*req.After); err != nil {
				return err
			}
		}
		o, err := moved(d.order(), req)
		if err != nil {
			return davit.Errorf(davit.CodeInternal, "the tab %s cannot be moved: %w", t.ID, err)
		}
		d.arrange(o)
		if req.Pinned == nil {
			edited.Notes = d.pinNotes(t)
		}
		return nil
	})
	return edited, err
}

// pinNotes says which of tabs, as they were, joining a group has pinned or unpinned: a
// group stands on one side of the pins (spec tabs T6.5).
func (d *draft) pinNotes(before ...davit.Tab) []string {
	notes := []string{}
	for _, was := range before {
		t, err := d.tab(was.ID)
		if err != nil || t.Pinned == was.Pinned {
			continue
		}
		group := "its group"
		if g, ok := model.Group(d.m.State, t.Group); ok && g.Name != "" {
			group = fmt.Sprintf("its group %q", g.Name)
		}
		if t.Pinned {
			notes = append(notes, fmt.Sprintf("%q is pinned now, like %s", t.Title, group))
		} else {
			notes = append(notes, fmt.Sprintf("%q is not pinned any more: %s is not", t.Title, group))
		}
	}
	return notes
}

// moved is the row of tabs after the part of an edit that is about place.
func moved(o layout.Order, req wire.TabEdit) (layout.Order, error) {
	id := string(req.Tab)
	var err error
	if req.Group != nil {
		if o, err = o.SetGroup(id, string(*req.Group)); err != nil {
			return o, err
		}
	}
	if req.Pinned != nil {
		if o, err = o.SetPinned(id, *req.Pinned); err != nil {
			return o, err
		}
	}
	if req.After == nil || *req.After == req.Tab {
		return o, nil
	}
	rest, err := o.Remove(id)
	if err != nil {
		return o, err
	}
	return o.Move(id, rest.Index(string(*req.After))+1)
}

// Colors are the names that a tab or a group may have.
func Colors() []string {
	return []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
}

func checkColor(name string) error {
	if name != "" && !slices.Contains(Colors(), name) {
		return davit.Errorf(davit.CodeInvalid, "%q is not a colour", name).WithHint("one of %s", strings.Join(Colors(), ", "))
	}
	return nil
}

// MakeGroup puts tabs into a new group, at the place of the first (spec tabs T6.5).
func (s *Service) MakeGroup(ctx context.Context, req wire.GroupMake) (wire.GroupMade, error) {
	g := davit.Group{ID: NewGroupID(), Name: strings.TrimSpace(req.Name), Color: req.Color}
	if err := checkColor(g.Color); err != nil {
		return wire.GroupMade{}, err
	}
	if len(req.Tabs) == 0 {
		return wire.GroupMade{}, davit.Errorf(davit.CodeInvalid, "a group needs a tab")
	}
	made := wire.GroupMade{Group: g.ID}
	err := s.decide(ctx, func(d *draft) error {
		var before []davit.Tab
		for _, id := range req.Tabs {
			t, err := d.tab(id)
			if err != nil {
				return err
			}
			before = append(before, t)
		}
		d.putGroup(g)
		o := d.order()
		for _, id := range req.Tabs {
			var err error
			if o, err = o.SetGroup(string(id), string(g.ID)); err != nil {
				return davit.Errorf(davit.CodeInternal, "the tab %s cannot be grouped: %w", id, err)
			}
		}
		d.arrange(o)
		made.Notes = d.pinNotes(before...)
		return nil
	})
	return made, err
}

// EditGroup changes a group's name, colour, fold, pin or place.
func (s *Service) EditGroup(ctx context.Context, req wire.GroupEdit) error {
	return s.decide(ctx, func(d *draft) error {
		g, err := d.group(req.Group)
		if err != nil {
			return err
		}
		if req.Name != nil {
			g.Name = strings.TrimSpace(*req.Name)
		}
		if req.Color != nil {
			if err := checkColor(*req.Color); err != nil {
				return err
			}
			g.Color = *req.Color
		}
		if req.Collapsed != nil {
			g.Collapsed = *req.Collapsed
		}
		d.putGroup(g)
		o := d.order()
		if req.Pinned != nil {
			if o, err = o.SetPinned(o.Group(string(g.ID))[0], *req.Pinned); err != nil {
				return davit.Errorf(davit.CodeInternal, "the group %s cannot be pinned: %w", g.ID, err)
			}
		}
		if req.After != nil {
			if *req.After != "" {
				if _, err := d.tab(*req.After); err != nil {
					return err
				}
			}
			if o, err = o.MoveGroup(string(g.ID), string(*req.After)); err != nil {
				return davit.Errorf(davit.CodeInternal, "the group %s cannot be moved: %w", g.ID, err)
			}
		}
		d.arrange(o)
		return nil
	})
}

// DissolveGroup ends a group; its tabs stay where they stand. A tab that undo keeps does
// not bring it back.
func (s *Service) DissolveGroup(ctx context.Context, id davit.GroupID) error {
	return s.decide(ctx, func(d *draft) error {
		if _, err := d.group(id); err != nil {
			return err
		}
		d.arrange(d.order().Dissolve(string(id)))
		for _, row := range d.m.Rows.Closed {
			if row.Tab.Group != id {
				continue
			}
			c := *row.Closed
			c.Group, c.Whole = nil, false
			row.Tab.Group, row.Closed = "", &c
			d.change.Batch.PutTabs = append(d.change.Batch.PutTabs, row)
		}
		d.closed()
		return nil
	})
}

// join finds the open group of a name, without regard to case, or makes it (spec tabs
// T1.2: a config's group).
func (d *draft) join(name string) davit.GroupID {
	if name = strings.TrimSpace(name); name == "" {
		return ""
	}
	for _, g := range d.m.State.Groups {
		if strings.EqualFold(g.Name, name) {
			return g.ID
		}
	}
	g := davit.Group{ID: NewGroupID(), Name: name}
	d.putGroup(g)
	return g.ID
}

// MovePane moves a pane beside another, or into a tab of its own. No close plan runs (spec
// tabs T5.2): a tab whose last pane moves into a new tab is that new tab, with its plan,
// worktree, title and colour; into another tab such a pane moves only when no plan waits.
func (s *Service) MovePane(ctx context.Context, req wire.PaneMove) (wire.Opened, error) {
	opened := wire.Opened{Panes: []davit.PaneID{req.Pane}, Launches: []davit.Result{}}
	chat := false
	err := s.decide(ctx, func(d *draft) error {
		p, ok := d.m.State.Panes[req.Pane]
		if !ok {
			return davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", req.Pane).WithHint("`davit pane list` shows what there is")
		}
		if p.ID == standInPane(p.Tab) && d.m.Unread[string(p.ID)] {
			return davit.Errorf(davit.CodeInvalid, "pane %s stands for the tab %s, which could not be read", p.ID, p.Tab).WithHint("close the tab when you do not need it any more")
		}
		chat = p.Kind == keeper.PaneChat
		from, err := d.tab(p.Tab)
		if err != nil || from.Tree == nil {
			return cmp.Or(err, noTab(p.Tab))
		}
		if req.Beside != "" {
			opened.TabID, err = d.moveBeside(p, from, req)
		} else {
			opened.TabID, err = d.moveOut(p, from, req.After, s)
		}
		return err
	})
	if err == nil && chat {
		err = s.cfg.Chats.InTab(ctx, req.Pane, opened.TabID)
	}
	return opened, err
}

// moveBeside moves a pane beside another, of its own tab or of another one.
func (d *draft) moveBeside(p davit.Pane, from davit.Tab, req wire.PaneMove) (davit.TabID, error) {
	side := layout.Side(cmp.Or(req.Side, string(layout.Right)))
	if !slices.Contains([]layout.Side{layout.Left, layout.Right, layout.Up, layout.Down}, side) {
		return "", davit.Errorf(davit.CodeInvalid, "%q is not a side", req.Side).WithHint("one of left, right, up, down")
	}
	beside, ok := d.m.State.Panes[req.Beside]
	if !ok {
		return "", davit.Errorf(davit.CodePaneNotFound, "there is no pane %q", req.Beside).WithHint("`davit pane list` shows what there is")
	}
	to, err := d.tab(beside.Tab)
	if err != nil || to.Tree == nil {
		return "", cmp.Or(err, noTab(beside.Tab))
	}
	if to.ID == from.ID {
		tree, err := layout.Move(*from.Tree, p.ID, beside.ID, side)
		if err != nil {
			return "", davit.Errorf(davit.CodeInvalid, "the pane cannot be moved: %w", err)
		}
		from.Tree, from.Focused = &tree, p.ID
		d.putTab(from)
		return from.ID, nil
	}
	if slices.Equal(model.PanesOf(from), []davit.PaneID{p.ID}) && from.OnClose != nil && !from.OnClose.Ran {
		return "", davit.Errorf(davit.CodeClosePlanLost, "%s is the last pane of %q, which has a close plan: nothing would run it", p.ID, from.Title).
			WithHint("close %q instead, or move the other pane here", from.Title)
	}
	tree, err := layout.Insert(*to.Tree, beside.ID, side, p.ID)
	if err != nil {
		return "", davit.Errorf(davit.CodeInvalid, "the pane cannot be moved: %w", err)
	}
	to.Tree, to.Focused = &tree, p.ID
	to.Launches = slices.Concat(to.Launches, d.leave(p, &from, to.ID))
	d.putTab(to)
	d.rehome(p, to.ID)
	return to.ID, nil
}

// moveOut moves a pane into a tab of its own, behind a tab or behind the one that it was in.
func (d *draft) moveOut(p davit.Pane, from davit.Tab, after davit.TabID, s *Service) (davit.TabID, error) {
	if after != "" {
		if _, err := d.tab(after); err != nil {
			return "", err
		}
	}
	if slices.Equal(model.PanesOf(from), []davit.PaneID{p.ID}) {
		if after == "" || after == from.ID {
			return from.ID, nil
		}
		o, err := moved(d.order(), wire.TabEdit{Tab: from.ID, After: &after})
		if err != nil {
			return "", davit.Errorf(davit.CodeInternal, "the tab %s cannot be moved: %w", from.ID, err)
		}
		d.arrange(o)
		return from.ID, nil
	}
	after = cmp.Or(after, from.ID)
	beside, _ := d.tab(after)
	t := davit.Tab{ID: NewTabID(), Title: cmp.Or(p.Title, paneName(p)), Color: from.Color, Group: beside.Group, Pinned: beside.Pinned, Tree: &davit.Split{Pane: p.ID}, Focused: p.ID, Created: s.cfg.Now()}
	t.Launches = d.leave(p, &from, t.ID)
	if err := d.insert(t, behind(after)); err != nil {
		return "", err
	}
	d.rehome(p, t.ID)
	return t.ID, nil
}

// leave takes a pane out of a tab, which goes away with its last one, and gives the
// receipts of the pane's launches. Panes that undo keeps for a tab that goes away come
// back where the last one went.
func (d *draft) leave(p davit.Pane, from *davit.Tab, to davit.TabID) []davit.Result {
	ours := func(r davit.Result) bool {
		return r.Outcome.PaneKey != "" && r.Outcome.PaneKey == p.PaneKey || r.Outcome.SessionID != "" && r.Outcome.SessionID == string(p.Session)
	}
	var launches []davit.Result
	for _, r := range from.Launches {
		if ours(r) {
			launches = append(launches, r)
		}
	}
	if !slices.Contains(model.PanesOf(*from), p.ID) {
		return nil // the tab's tree could not be read, and stays as it is
	}
	tree, err := layout.Remove(*from.Tree, p.ID)
	if err == nil && tree.Pane == "" && len(tree.Children) == 0 {
		d.add(davit.Event{Kind: davit.EventTabRemoved, TabID: from.ID})
		for id, row := range d.m.Rows.Panes {
			if row.Pane.Tab == from.ID && row.Closed != nil && id != p.ID {
				row.Pane.Tab = to
				d.change.Batch.PutPanes = append(d.change.Batch.PutPanes, row)
			}
		}
		d.arrange(d.order())
		d.closed()
		return launches
	}
	from.Tree = &tree
	from.Launches = slices.DeleteFunc(slices.Clone(from.Launches), ours)
	if from.Focused == p.ID {
		from.Focused = model.PanesOf(*from)[0]
	}
	d.putTab(*from)
	return launches
}

// rehome notes which tab a pane is in now.
func (d *draft) rehome(p davit.Pane, to davit.TabID) {
	p.Tab = to
	d.add(davit.Event{Kind: davit.EventPane, Pane: &p})
}

// heldNoticeID names the notice of a cleanup that waits for another tab.
func heldNoticeID(cleanup string) string { return "held-" + cleanup }
