package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/model"
)

// The setting that says of what notices tell, and its values.
const (
	keyNotify = "agent.notify"
	notifyAll = "waiting,done"
	notifyOff = "off"
)

// Kinds of notices about agents. There is one for each agent, replaced and not stacked.
const (
	noticeWaiting = "agent_waiting"
	noticeDone    = "agent_done"
)

// notifyText reads the setting, in one order.
func notifyText(value json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return "", false
	}
	if text == notifyOff || text == "" {
		return notifyOff, true
	}
	var words []string
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if word != "waiting" && word != "done" {
			return "", false
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	slices.Reverse(words)
	return strings.Join(words, ","), true
}

// raised is what a notice was raised for: it is not raised again for the same.
type raised struct {
	kind  string
	since time.Time
}

// about is what there is to tell of a pane's agent, in a terminal or a chat.
func (s *statuses) about(state davit.State, p davit.Pane) (kind string, row davit.AgentRow) {
	row, shown := s.row(state, p)
	if !shown || !row.Unread {
		return "", row
	}
	switch row.Status {
	case davit.AgentWaiting:
		return noticeWaiting, row
	case davit.AgentDone:
		return noticeDone, row
	}
	return "", row
}

// tellNotice raises, replaces or takes away the notice of one agent.
func (s *statuses) tellNotice(ctx context.Context, id davit.PaneID) {
	state := s.d.host.State()
	p, there := state.Panes[id]
	kind, row := "", davit.AgentRow{}
	if there {
		kind, row = s.about(state, p)
	}
	if word := strings.TrimPrefix(kind, "agent_"); kind != "" && !slices.Contains(strings.Split(s.notify.Load().(string), ","), word) {
		kind = ""
	}
	if kind == "" {
		s.unnotice(ctx, id)
		return
	}
	s.mu.Lock()
	before := s.raised[id]
	now := raised{kind, row.Since}
	s.raised[id] = now
	s.mu.Unlock()
	if before.kind == kind && before.since.Equal(row.Since) || row.Since.Before(s.started) {
		return // it was told, and may have been dismissed; by a former host, too
	}
	n := noticeOf(kind, row)
	n.Created = time.Now()
	err := s.d.host.Change(ctx, func(host.Model) (host.Change, error) {
		return host.Change{Events: []davit.Event{{Kind: davit.EventNotice, Notice: &n}}}, nil
	})
	if err != nil {
		s.d.log.Debug("a notice about an agent was not stored", "pane", id, "err", err)
	}
}

// unnotice takes the notice of an agent away, if there is one.
func (s *statuses) unnotice(ctx context.Context, id davit.PaneID) {
	notice := noticeID(id)
	if _, there := model.Notice(s.d.host.State(), notice); !there {
		return
	}
	_ = s.d.host.Change(ctx, func(m host.Model) (host.Change, error) {
		if _, there := model.Notice(m.State, notice); !there {
			return host.Change{}, nil
		}
		return host.Change{Events: []davit.Event{{Kind: davit.EventNoticeRemoved, NoticeID: notice}}}, nil
	})
}

func noticeID(id davit.PaneID) string { return "agent-" + string(id) }

func noticeOf(kind string, row davit.AgentRow) davit.Notice {
	title := fmt.Sprintf("%s is done", row.AgentName)
	body := row.Message
	if kind == noticeWaiting {
		title = fmt.Sprintf("%s waits for %s", row.AgentName, waitsFor(row.Waiting))
		if body == "" && row.Tool != "" {
			body = strings.TrimSpace(row.Tool + " " + row.Input)
		}
	}
	if row.TabTitle != "" {
		title += " (" + row.TabTitle + ")"
	}
	if lines := strings.SplitN(strings.TrimSpace(body), "\n", 2); len([]rune(lines[0])) > 200 || len(lines) > 1 {
		body = string([]rune(lines[0])[:min(200, len([]rune(lines[0])))]) + " …"
	}
	return davit.Notice{
		ID: noticeID(row.Pane), Kind: kind, Level: "info", Persistent: true, Title: title, Body: body, Tab: row.Tab,
		Actions: []davit.NoticeAction{{ID: "dismiss", Label: "Dismiss", Kind: "host"}},
		Details: map[string]any{"pane": row.Pane, "agent": row.Agent, "status": row.Status, "waiting": row.Waiting, "since": row.Since},
	}
}

func waitsFor(w davit.WaitingFor) string {
	switch w {
	case davit.WaitingPermission:
		return "your permission"
	case davit.WaitingQuestion:
		return "your answer"
	}
	return "you"
}

// row is one agent of the list; shown says that there is one in the pane.
func (s *statuses) row(state davit.State, p davit.Pane) (row davit.AgentRow, shown bool) {
	row = davit.AgentRow{Kind: davit.Terminal, Tab: p.Tab, Pane: p.ID, Directory: p.Directory}
	if t, open := model.Tab(state, p.Tab); open {
		row.TabTitle = t.Title
	}
	if p.Kind == keeper.PaneChat {
		v, known := state.Sessions[p.Session]
		if !known {
			return row, false
		}
		s.fillChat(&row, v, hasSeen(p, v))
		return row, true
	}
	if p.AgentState == nil {
		return row, false
	}
	a := *p.AgentState
	row.Agent, row.AgentName, row.Practice = a.Agent, a.Agent, p.Practice
	if entry, known := s.catalogue().Find(a.Agent); known {
		row.AgentName = entry.Name
	}
	row.Status, row.Waiting, row.Since, row.Source = a.Status, a.Waiting, a.Since, a.Source
	row.Tool, row.Input, row.Message, row.Children = a.Tool, a.Input, a.Message, a.Children
	row.Unread, row.Unconfirmed = a.Unread, a.Unconfirmed
	return row, true
}

func (s *statuses) fillChat(row *davit.AgentRow, v davit.Session, seen bool) {
	row.Kind, row.Session, row.Directory = davit.Structured, v.ID, v.Directory
	row.Agent, row.AgentName, row.Practice = v.Agent, v.AgentName, v.Practice
	row.Status, row.Waiting, row.Since, row.Source = v.Status, v.Waiting, v.Since, davit.StatusFromProtocol
	row.Unread = v.Status == davit.AgentDone || v.Status == davit.AgentWaiting && !seen
	if v.Fault != nil {
		row.Message = v.Fault.Message
	}
}
